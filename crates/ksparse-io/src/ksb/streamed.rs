//! From svmlight text to the mapped form without the matrix in memory.
//!
//! Rows come in, columns go out. The text is read once to count the entries of each column, then again for the row
//! indices and again for the values, each time of as many columns as fit. The file is the same, byte for byte, as one
//! made from a table.

use super::write::{Entries, Frame};
use crate::error::{Error, Result};
use crate::options::{Need, ReadOptions};
use crate::output::write_atomically;
use crate::source::Source;
use crate::svmlight::{Reader, Survey};
use crate::table::Target;
use std::io;
use std::ops::Range;
use std::path::Path;

/// Converts a file, holding entries of at most `memory` bytes at a time (but at least one column).
pub(crate) fn from_svmlight(
    from: &Path,
    to: &Path,
    options: &ReadOptions,
    memory: usize,
    relabel: impl FnOnce(Target) -> Result<Target>,
) -> Result<()> {
    let (mut survey, mut counts) = (Survey::default(), Vec::new());
    // The limit is for entries; what the columns and labels take is checked against what the system has.
    let mut source = Source::open(from, None)?;
    let space = source.memory.clone();
    let reader = Reader::new(&source, options);
    reader.blocks(&mut source, |mut block| {
        space.take(block.label_bytes(), || "the labels".into())?;
        survey.add(&mut block);
        for &j in &block.rows.columns {
            let j = j as usize;
            if j >= counts.len() {
                // Twice as many at least, so that the next ones find room; three lists of this length are held below.
                let longer = (j + 1).max((2 * counts.len()).min(reader.most_columns()));
                space.take(24 * (longer - counts.len()), || format!("{longer} columns"))?;
                counts.resize(longer, 0usize);
            }
            counts[j] += 1;
        }
        Ok(())
    })?;
    let facts = survey.finish(&reader.name, options)?;
    crate::assemble::check_rows(&reader.name, facts.nrows)?;
    if facts.ncols == 0 {
        return Err(Error::input(&*reader.name, "there are no features", "the rows hold labels only"));
    }
    space.check_shape(facts.nrows, facts.ncols)?;
    counts.resize(facts.ncols, 0);
    let nnz = counts.iter().sum();
    let sparse = !options.storage.is_dense(facts.nrows, facts.ncols, nnz);
    if !sparse {
        crate::assemble::full_size(&reader.name, facts.nrows, facts.ncols)?;
        counts.fill(facts.nrows);
    }
    let target = facts.target.map(relabel).transpose().map_err(|error| error.within(&reader.name))?;
    let frame = Frame {
        sparse,
        nrows: facts.nrows,
        ncols: facts.ncols,
        stored: counts.iter().sum(),
        target: target.as_ref(),
        target_name: None,
        weights: None,
        names: None,
    };
    // Labels were read once; another time they may be anything, as long as the entries stay.
    let again = ReadOptions { need: Need::Absent, ..options.clone() };
    let mut text = Text { path: from, options: &again, counts, sparse, nnz, memory };
    write_atomically(to, |out| frame.write(&mut text, out))
}

/// A file of svmlight text, seen by columns.
struct Text<'a> {
    path: &'a Path,
    options: &'a ReadOptions,
    counts: Vec<usize>,
    sparse: bool,
    nnz: usize,
    memory: usize,
}

impl Entries for Text<'_> {
    fn count(&self, j: usize) -> usize {
        self.counts[j]
    }

    fn rows(&mut self, put: &mut dyn FnMut(&[u32]) -> io::Result<()>) -> io::Result<()> {
        self.sweeps(|i, _| i as u32, put)
    }

    fn values(&mut self, put: &mut dyn FnMut(&[f64]) -> io::Result<()>) -> io::Result<()> {
        self.sweeps(|_, v| v, put)
    }
}

impl Text<'_> {
    /// Reads the text as often as it takes to put one part of every entry.
    fn sweeps<T: Copy + Default>(
        &self,
        part: impl Fn(usize, f64) -> T,
        put: &mut dyn FnMut(&[T]) -> io::Result<()>,
    ) -> io::Result<()> {
        let room = (self.memory / size_of::<T>()).max(1);
        let mut columns = 0..0;
        while columns.end < self.counts.len() {
            columns = self.next_columns(columns.end, room);
            put(&self.sweep(columns.clone(), &part).map_err(io::Error::other)?)?;
        }
        Ok(())
    }

    /// As many columns from `start` on as have at most `room` entries; at least one.
    fn next_columns(&self, start: usize, room: usize) -> Range<usize> {
        let mut total = 0usize;
        let fit = self.counts[start..].iter().take_while(|&&count| {
            total += count;
            total <= room
        });
        start..start + fit.count().max(1)
    }

    /// One part of the entries of these columns.
    fn sweep<T: Copy + Default>(&self, columns: Range<usize>, part: &impl Fn(usize, f64) -> T) -> Result<Vec<T>> {
        let mut ends = Vec::with_capacity(columns.len());
        let mut next: Vec<usize> = Vec::with_capacity(columns.len());
        let mut total = 0;
        for &count in &self.counts[columns.clone()] {
            next.push(total);
            total += count;
            ends.push(total);
        }
        let mut source = Source::open(self.path, None)?;
        let mut entries = source.memory.zeros::<T>(total, || format!("{total} entries"))?;
        let (mut row, mut seen, mut fits) = (0, 0, true);
        Reader::new(&source, self.options).blocks(&mut source, |block| {
            seen += block.rows.columns.len();
            block.rows.for_entries(row, |i, j, v| {
                if columns.contains(&j) {
                    let j = j - columns.start;
                    let slot = if self.sparse { next[j] } else { next[j] + i };
                    next[j] += usize::from(self.sparse);
                    match entries[..ends[j]].get_mut(slot) {
                        Some(entry) => *entry = part(i, v),
                        None => fits = false,
                    }
                }
            });
            row += block.rows.ends.len();
            Ok(())
        })?;
        if fits && seen == self.nnz {
            return Ok(entries);
        }
        Err(Error::input(&*source.name, "the file changed while it was read", "convert it again"))
    }
}
