//! Writing the mapped form, from start to end.

use super::{BORDER, Layout, MAGIC, Text};
use crate::table::{MatrixRef, Table, Target};
use ksparse::design::Design;
use std::io::{self, Write};

/// Everything of a file but the entries of its matrix.
pub(crate) struct Frame<'a> {
    pub sparse: bool,
    pub nrows: usize,
    pub ncols: usize,
    /// Stored entries: all of a dense matrix.
    pub stored: usize,
    pub target: Option<&'a Target>,
    pub target_name: Option<&'a str>,
    pub weights: Option<&'a [f64]>,
    pub names: Option<&'a [String]>,
}

/// Where the entries come from, column after column. The first two are asked of sparse matrices only.
pub(crate) trait Entries {
    /// How many there are in column `j`.
    fn count(&self, j: usize) -> usize;
    /// All row indices.
    fn rows(&mut self, put: &mut dyn FnMut(&[u32]) -> io::Result<()>) -> io::Result<()>;
    /// All values.
    fn values(&mut self, put: &mut dyn FnMut(&[f64]) -> io::Result<()>) -> io::Result<()>;
}

/// Writes a table.
pub(crate) fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let frame = Frame {
        sparse: matches!(table.matrix.view(), MatrixRef::Sparse(_)),
        nrows: table.nrows(),
        ncols: table.ncols(),
        stored: table.matrix.stored(),
        target: table.target.as_ref(),
        target_name: table.target_name.as_deref(),
        weights: table.weights.as_deref(),
        names: table.names.as_deref(),
    };
    frame.write(&mut table.matrix.view(), out)
}

impl Entries for MatrixRef<'_> {
    fn count(&self, j: usize) -> usize {
        match self {
            MatrixRef::Dense(dense) => dense.column(j).len(),
            MatrixRef::Sparse(sparse) => sparse.column(j).0.len(),
        }
    }

    fn rows(&mut self, put: &mut dyn FnMut(&[u32]) -> io::Result<()>) -> io::Result<()> {
        match self {
            MatrixRef::Dense(_) => Ok(()),
            MatrixRef::Sparse(sparse) => (0..sparse.ncols()).try_for_each(|j| put(sparse.column(j).0)),
        }
    }

    fn values(&mut self, put: &mut dyn FnMut(&[f64]) -> io::Result<()>) -> io::Result<()> {
        match self {
            MatrixRef::Dense(dense) => (0..dense.ncols()).try_for_each(|j| put(dense.column(j))),
            MatrixRef::Sparse(sparse) => (0..sparse.ncols()).try_for_each(|j| put(sparse.column(j).1)),
        }
    }
}

impl Frame<'_> {
    /// Writes a file from start to end.
    pub fn write(&self, entries: &mut impl Entries, out: &mut dyn Write) -> io::Result<()> {
        let (numbers, labels) = match self.target {
            Some(Target::Numbers(values)) => (values.as_slice(), None),
            Some(Target::Text(labels)) => (&[][..], Some(labels.clone())),
            None => (&[][..], None),
        };
        let names = self.names.map(<[String]>::to_vec);
        let text = serde_json::to_vec(&Text { target_name: self.target_name.map(str::to_string), labels, names })?;
        let weights = self.weights.unwrap_or_default();
        let (pointers, rows) = if self.sparse { (8 * (self.ncols + 1), 4 * self.stored) } else { (0, 0) };
        let lengths = [pointers, rows, 8 * self.stored, 8 * numbers.len(), 8 * weights.len(), text.len()];
        let layout = Layout::new(self.sparse, self.nrows, self.ncols, self.stored, lengths);
        out.write_all(&layout.header())?;
        let mut out = Sections { out, layout: &layout, sums: Vec::new(), hasher: crc32fast::Hasher::new() };
        if self.sparse {
            let mut end = 0u64;
            out.put(&end.to_le_bytes())?;
            for j in 0..self.ncols {
                end += entries.count(j) as u64;
                out.put(&end.to_le_bytes())?;
            }
        }
        out.end()?;
        if self.sparse {
            entries.rows(&mut |rows| out.indices(rows))?;
        }
        out.end()?;
        entries.values(&mut |values| out.numbers(values))?;
        out.end()?;
        out.numbers(numbers)?;
        out.end()?;
        out.numbers(weights)?;
        out.end()?;
        out.put(&text)?;
        out.end()?;
        let mut footer: Vec<u8> = out.sums.iter().flat_map(|s| s.to_le_bytes()).collect();
        footer.extend(crc32fast::hash(&footer).to_le_bytes());
        footer.extend(MAGIC);
        out.out.write_all(&footer)
    }
}

/// Writes sections with their padding and remembers their checksums.
struct Sections<'a> {
    out: &'a mut dyn Write,
    layout: &'a Layout,
    sums: Vec<u32>,
    hasher: crc32fast::Hasher,
}

impl Sections<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.out.write_all(bytes)
    }

    fn numbers(&mut self, values: &[f64]) -> io::Result<()> {
        if cfg!(target_endian = "little") {
            self.put(bytemuck::cast_slice(values))
        } else {
            values.iter().try_for_each(|v| self.put(&v.to_le_bytes()))
        }
    }

    fn indices(&mut self, rows: &[u32]) -> io::Result<()> {
        if cfg!(target_endian = "little") {
            self.put(bytemuck::cast_slice(rows))
        } else {
            rows.iter().try_for_each(|i| self.put(&i.to_le_bytes()))
        }
    }

    fn end(&mut self) -> io::Result<()> {
        let section = &self.layout.sections[self.sums.len()];
        let padding = section.end.next_multiple_of(BORDER) - section.end;
        self.sums.push(std::mem::take(&mut self.hasher).finalize());
        self.out.write_all(&[0; BORDER][..padding])
    }
}
