//! The CSV of an experiment: finished cells only, appended one by one, read back after an interruption.
//!
//! Whoever keeps results may compress the file (`E1.csv.zst`): it is read where there is no plain one, and a run that
//! adds to it leaves it compressed.

use super::cell::{self, Cell, Row};
use super::{Experiment, Failure, Result, Settings};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Finished cells by key, on disk and in memory.
pub(super) struct Store {
    path: PathBuf,
    measures: usize,
    header: String,
    /// The keys in the order in which they were found or added.
    order: Vec<String>,
    finished: HashMap<String, Vec<Row>>,
    file: Option<File>,
}

impl Store {
    /// Reads what there is. Lines torn by a kill and cells not complete are forgotten; a file with other columns is
    /// refused.
    pub fn open(experiment: &dyn Experiment, settings: &Settings) -> Result<Self> {
        let path = settings.out.join(format!("{}.csv", experiment.id()));
        let measures = experiment.measures().len();
        let header = cell::header(experiment.measures());
        let text = match fs::read_to_string(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => unpacked(&packed(&path))?,
            text => text.map_err(|source| Failure::File { path: path.clone(), source })?,
        };
        let mut store = Self { path, measures, header, order: Vec::new(), finished: HashMap::new(), file: None };
        store.load(&text)?;
        Ok(store)
    }

    fn load(&mut self, text: &str) -> Result<()> {
        // A last line without its end is not whole, whatever it holds.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = whole.lines();
        match lines.next() {
            None => return Ok(()),
            Some(first) if first == self.header => {}
            Some(_) => {
                let problem = "its columns are not those of this version; move it away, or choose another --out";
                return Err(Failure::Content { path: self.path.clone(), problem: problem.to_string() });
            }
        }
        let mut parts: HashMap<String, Vec<(Row, usize, usize)>> = HashMap::new();
        for (row, key, number, count) in lines.filter_map(|line| cell::parse(line, self.measures)) {
            let found = parts.entry(key.clone()).or_default();
            // A cell written in part, then again: the second begins with number 1.
            if number == 1 {
                found.clear();
                self.order.retain(|k| *k != key);
                self.order.push(key);
            }
            found.push((row, number, count));
        }
        for (key, rows) in parts {
            let complete = rows.iter().enumerate().all(|(i, (_, number, _))| *number == i + 1)
                && rows.first().is_some_and(|(_, _, count)| *count == rows.len());
            if complete {
                self.finished.insert(key, rows.into_iter().map(|(row, _, _)| row).collect());
            }
        }
        self.order.retain(|key| self.finished.contains_key(key));
        Ok(())
    }

    pub fn has(&self, cell: &Cell) -> bool {
        self.finished.contains_key(&cell.key())
    }

    /// Appends a finished cell: in one write, flushed to disk.
    pub fn add(&mut self, cell: &Cell, rows: Vec<Row>) -> Result<()> {
        if self.file.is_none() {
            // Whatever was torn goes first.
            self.rewrite(&[])?;
            let opened = OpenOptions::new().append(true).open(&self.path);
            self.file = Some(opened.map_err(|source| self.failure(source))?);
        }
        let lines = cell::lines(cell, &rows, self.measures);
        if let Some(file) = &mut self.file {
            let written = file.write_all(lines.as_bytes()).and_then(|()| file.sync_data());
            written.map_err(|source| Failure::File { path: self.path.clone(), source })?;
        }
        self.order.push(cell.key());
        self.finished.insert(cell.key(), rows);
        Ok(())
    }

    /// Writes the file anew: these cells in this order, then all others in theirs.
    pub fn rewrite(&mut self, first: &[Cell]) -> Result<()> {
        let listed: Vec<String> = first.iter().map(Cell::key).collect();
        let mut place: HashMap<&String, usize> = HashMap::new();
        listed.iter().chain(&self.order).enumerate().for_each(|(i, key)| {
            place.entry(key).or_insert(i);
        });
        let mut order = self.order.clone();
        order.sort_by_key(|key| place.get(key).copied().unwrap_or(usize::MAX));
        let mut text = format!("{}\n", self.header);
        for key in &order {
            // The key of a cell is all that `lines` needs of it.
            text.push_str(&lines_of(key, &self.finished[key], self.measures));
        }
        self.order = order;
        self.file = None;
        write_file(&self.path, &text)
    }

    /// [`rewrite`](Self::rewrite) at the end of a run: compressed, where the file was.
    pub fn close(&mut self, first: &[Cell]) -> Result<()> {
        self.rewrite(first)?;
        let packed = packed(&self.path);
        if packed.exists() {
            let text = fs::read(&self.path).map_err(|source| self.failure(source))?;
            let bytes = zstd::encode_all(&text[..], 19).map_err(|source| self.failure(source))?;
            write_file(&packed, &bytes)?;
            fs::remove_file(&self.path).map_err(|source| self.failure(source))?;
        }
        Ok(())
    }

    /// All rows, cell by cell.
    pub fn rows(&self) -> Vec<Row> {
        self.order.iter().flat_map(|key| self.finished[key].iter().cloned()).collect()
    }

    fn failure(&self, source: Error) -> Failure {
        Failure::File { path: self.path.clone(), source }
    }
}

/// The lines of a cell known by its key.
fn lines_of(key: &str, rows: &[Row], measures: usize) -> String {
    let fields: Vec<&str> = key.split(',').collect();
    let [variant, seed, method, n, p, k, lambda] = fields[..] else { return String::new() };
    let cell = Cell {
        variant: variant.to_string(),
        seed: seed.parse().unwrap_or_default(),
        method: method.to_string(),
        n: n.parse().unwrap_or_default(),
        p: p.parse().unwrap_or_default(),
        k: k.parse().unwrap_or_default(),
        lambda: lambda.parse().unwrap_or_default(),
        timed: false,
    };
    cell::lines(&cell, rows, measures)
}

fn packed(path: &Path) -> PathBuf {
    path.with_extension("csv.zst")
}

/// What a compressed file holds; nothing where there is none.
fn unpacked(path: &Path) -> Result<String> {
    let text = match File::open(path) {
        Ok(file) => zstd::decode_all(file).and_then(|bytes| String::from_utf8(bytes).map_err(Error::other)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(e),
    };
    text.map_err(|source| Failure::File { path: path.to_path_buf(), source })
}

/// Writes beside and renames: there is the old file or the new one, never a part of it.
pub(super) fn write_file(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    let failure = |source| Failure::File { path: path.to_path_buf(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failure)?;
    }
    let beside = path.with_extension(format!("{}.tmp", path.extension().unwrap_or_default().to_string_lossy()));
    let mut file = File::create(&beside).map_err(failure)?;
    file.write_all(contents.as_ref()).and_then(|()| file.sync_all()).map_err(failure)?;
    fs::rename(&beside, path).map_err(failure)
}
