//! Data in several mapped files, one after the other in memory.

mod choose;
pub mod fit;
pub mod path;
mod rounds;

use crate::args::data::DataArgs;
use crate::args::loss::LossArgs;
use crate::args::parse::Words;
use crate::args::solve::SolverArgs;
use crate::args::survival::SurvivalArgs;
use crate::data::Data;
use crate::failure::{Failure, Result};
use crate::joint::Task;
use crate::prepared::Prepared;
use crate::screen::Screen;
use ksparse::design::Sparse;
use ksparse::solver::{Limits, WorkingSet};
use ksparse_io::{Format, Matrix, Need, ReadOptions, Table, Target};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The files that a folder or a pattern of names stands for, in the order of their names; `None` for anything else.
pub fn find(data: &Path) -> Result<Option<Vec<PathBuf>>> {
    let (folder, pattern) = if data.is_dir() {
        (data, "*.ksb".to_string())
    } else {
        let Some(name) = data.file_name().and_then(|name| name.to_str()) else { return Ok(None) };
        if !name.contains(['*', '?']) || data.exists() {
            return Ok(None);
        }
        let parent = data.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        (parent, name.to_string())
    };
    let listing = std::fs::read_dir(folder)
        .map_err(|error| Failure::Input(format!("{}: cannot be listed: {error}", folder.display())))?;
    let mut files: Vec<PathBuf> = listing.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    files.retain(|file| file.is_file() && file.file_name().is_some_and(|name| fits(&pattern, &name.to_string_lossy())));
    files.sort();
    if files.is_empty() {
        let none = if data.is_dir() {
            "a folder stands for the files *.ksb in it, and there are none"
        } else {
            "no file fits"
        };
        let remedy = "give a data file; `ksparse convert DATA FOLDER --shards N` makes a folder of them";
        let message = format!("{}: {none}; {remedy}", data.display());
        return Err(Failure::Input(message));
    }
    Ok(Some(files))
}

/// Whether a name fits a pattern, in which * stands for any letters and ? for one.
fn fits(pattern: &str, name: &str) -> bool {
    let Some(first) = pattern.chars().next() else { return name.is_empty() };
    let rest = &pattern[first.len_utf8()..];
    let mut letters = name.chars();
    match first {
        '*' => fits(rest, name) || (letters.next().is_some() && fits(pattern, letters.as_str())),
        '?' => letters.next().is_some() && fits(rest, letters.as_str()),
        letter => letters.next() == Some(letter) && fits(rest, letters.as_str()),
    }
}

/// What is known of some files without their matrices.
pub struct Files {
    pub paths: Vec<PathBuf>,
    /// Where the rows of each begin among all, and the end.
    pub borders: Vec<usize>,
    /// Bytes of each.
    pub bytes: Vec<u64>,
    /// Columns of all.
    pub columns: usize,
    pub options: ReadOptions,
}

impl Files {
    /// Looks into every file: a table of the shape of all, with names, target, weights and offset, and no entries.
    pub fn open(paths: Vec<PathBuf>, options: ReadOptions, name: &Path, screen: Screen) -> Result<(Self, Data)> {
        let started = Instant::now();
        let mut files = Self { paths, borders: vec![0], bytes: Vec::new(), columns: 0, options };
        let mut rows = 0;
        let table = all(&files.paths, name, |path| {
            let table = ksparse_io::read(path, &files.options)?;
            if table.format != Format::Ksb {
                let message = "is no .ksb file; `ksparse convert DATA FOLDER --shards N` makes them";
                return Err(Failure::Input(format!("{}: {message}", path.display())));
            }
            rows += table.nrows();
            files.borders.push(rows);
            files.bytes.push(std::fs::metadata(path).map_or(0, |about| about.len()));
            Ok(table)
        })?;
        files.columns = table.ncols();
        files.check_room(screen)?;
        Ok((files, Data { table, seconds: started.elapsed().as_secs_f64(), behind: None }))
    }

    /// `Err` where the largest file and what is computed from it would not fit into the memory allowed.
    fn check_room(&self, screen: Screen) -> Result<()> {
        let (Some(allowed), Some(&largest)) = (self.options.memory, self.bytes.iter().max()) else { return Ok(()) };
        if 2 * largest > allowed {
            let parts = self.bytes.iter().sum::<u64>().div_ceil((allowed / 4).max(1));
            return Err(Failure::Input(format!(
                "a file of {} MB takes more than half of --memory {}: convert the data again with --shards {parts}",
                largest >> 20,
                allowed >> 20
            )));
        }
        let total = self.bytes.iter().sum::<u64>() >> 20;
        screen.note(&format!("{} files of {total} MB in all, one after the other", self.paths.len()));
        Ok(())
    }

    /// Bytes of all files.
    pub fn total(&self) -> u64 {
        self.bytes.iter().sum()
    }
}

/// What was asked about some files.
pub struct Asked<'a> {
    pub data: &'a DataArgs,
    pub loss: &'a LossArgs,
    pub survival: &'a SurvivalArgs,
    pub keep: Option<&'a Words>,
    pub solver: &'a SolverArgs,
}

/// The files, all that a fit needs beside their matrices, and the solver unless another is named: it counts passes.
pub fn opened(asked: &Asked, paths: Vec<PathBuf>, screen: Screen) -> Result<(Files, Prepared, WorkingSet)> {
    let reading = &asked.data.reading;
    let (files, data) = Files::open(paths, reading.options(Need::Required)?, &asked.data.data, screen)?;
    if Task::asked(&data, asked.loss, asked.survival, reading.positive.as_deref())?.is_some() {
        let message = "survival times and more than two classes are not fitted over several files: fit one file, or \
                       make two classes with --positive";
        return Err(Failure::Input(message.to_string()));
    }
    let prepared = Prepared::new(data, reading, asked.loss, asked.keep, None, screen)?;
    let limits = asked.solver.limits(Limits::default());
    Ok((files, prepared, WorkingSet { limits }))
}

/// `Err` for the first option given of those that are not for several files.
fn refuse(options: &[(&str, bool)]) -> Result<()> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(Failure::Input(format!("{option} is not for data in several files: leave it out, or fit one file")))
        }
        None => Ok(()),
    }
}

/// A table of the shape of several, read one after the other, with names, target, weights and offset, and no entries.
pub fn all(paths: &[PathBuf], name: &Path, mut read: impl FnMut(&Path) -> Result<Table>) -> Result<Table> {
    let mut parts = Parts::default();
    paths.iter().try_for_each(|path| parts.add(read(path)?))?;
    let mut table = parts.table()?;
    table.source = name.display().to_string();
    Ok(table)
}

/// What every row of some files has beside its entries.
#[derive(Default)]
struct Parts {
    /// Shape, names and the like of the first.
    first: Option<Table>,
    rows: usize,
    targets: Vec<Option<Target>>,
    weights: Vec<Option<Vec<f64>>>,
    offset: Vec<Option<Vec<f64>>>,
}

impl Parts {
    fn add(&mut self, mut table: Table) -> Result<()> {
        self.rows += table.nrows();
        self.targets.push(table.target.take());
        self.weights.push(table.weights.take());
        self.offset.push(table.offset.take());
        let Some(first) = &self.first else {
            table.matrix = without_entries(0, table.ncols())?;
            self.first = Some(table);
            return Ok(());
        };
        let problem = if first.ncols() != table.ncols() {
            format!("{} columns, but {} has {}", table.ncols(), first.source, first.ncols())
        } else if first.names != table.names {
            format!("the columns have other names than those of {}", first.source)
        } else {
            return Ok(());
        };
        Err(Failure::Input(format!("{}: {problem}; all files must have the same", table.source)))
    }

    /// All of them together.
    fn table(self) -> Result<Table> {
        let columns = self.first.as_ref().map_or(0, Table::ncols);
        let mut table = Table::new(without_entries(self.rows, columns)?);
        if let Some(first) = self.first {
            (table.names, table.target_name, table.format) = (first.names, first.target_name, first.format);
        }
        table.target = joined_targets(self.targets);
        table.weights = joined(self.weights, self.rows, "weights")?;
        table.offset = joined(self.offset, self.rows, "offsets")?;
        Ok(table)
    }
}

/// A matrix of this shape that holds nothing.
fn without_entries(rows: usize, columns: usize) -> Result<Matrix> {
    let (pointers, indices, values) = (vec![0u64; columns + 1], Vec::<u32>::new(), Vec::<f64>::new());
    Ok(Matrix::Sparse(Sparse::from_columns(rows, columns, pointers, indices, values)?))
}

/// Numbers where all are numbers, words otherwise; nothing where a file has none.
fn joined_targets(parts: Vec<Option<Target>>) -> Option<Target> {
    let parts = parts.into_iter().collect::<Option<Vec<Target>>>()?;
    let numbers = |part: &Target| match part {
        Target::Numbers(values) => Some(values.clone()),
        Target::Text(_) => None,
    };
    Some(match parts.iter().map(numbers).collect::<Option<Vec<_>>>() {
        Some(numbers) => Target::Numbers(numbers.concat()),
        None => {
            let labels = parts.iter().flat_map(|part| (0..part.len()).map(|row| part.label(row).to_string()));
            Target::Text(labels.collect())
        }
    })
}

fn joined(parts: Vec<Option<Vec<f64>>>, rows: usize, what: &str) -> Result<Option<Vec<f64>>> {
    let found: Vec<f64> = parts.into_iter().flatten().flatten().collect();
    match found.len() {
        0 => Ok(None),
        count if count == rows => Ok(Some(found)),
        _ => Err(Failure::Input(format!("some of the files have {what} and others have none; all must have them"))),
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns() {
        for (pattern, name, fit) in [
            ("*.ksb", "part-00001.ksb", true),
            ("*.ksb", "part.ksb.tmp", false),
            ("part-0?.ksb", "part-01.ksb", true),
            ("part-0?.ksb", "part-0.ksb", false),
            ("*", "", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b", false),
        ] {
            assert_eq!(fits(pattern, name), fit, "{pattern} {name}");
        }
    }
}
