//! What all experiments share: cells, rows, resuming, progress, pages.
//!
//! The contract of an [`Experiment`]:
//!
//! * **`cells`** lists every cell of a run with these settings, in the order in which results are written. The fields
//!   of a [`Cell`] decide its rows: the same cell gives the same rows in every run (but for the seconds), because a
//!   finished cell is never computed again. What changes a result (a size, a data set, a variant) therefore belongs
//!   into the cell; `variant` is free text for what has no field.
//! * **`run`** computes one cell, on the single thread it is called on, and measures with [`cpu`] what it wants to
//!   report as seconds. It returns one row, or several (a trace). Data that several cells share go into a [`Memo`].
//! * **`page`** sees all rows, of whatever replicas there are, and returns figures, tables and findings. It must cope
//!   with missing cells.

mod cell;
mod curves;
mod html;
mod machine;
mod markdown;
mod page;
mod run;
mod store;
mod summary;

pub use cell::{Cell, Row};
pub use curves::{Curves, verdict};
pub use html::report;
pub use machine::{CpuClock, cpu};
pub use page::{Figure, Finding, Page, Table, Verdict};
pub use run::run;
pub use summary::{Summary, by, mean_line, summarise};

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// One experiment of a paper.
pub trait Experiment: Sync {
    /// Its short name: `E1`.
    fn id(&self) -> &'static str;
    /// What it is, in a line.
    fn title(&self) -> &'static str;
    /// The names of its own measures: columns of the CSV between the settings and `objective`.
    fn measures(&self) -> &'static [&'static str];
    /// The cells of a run.
    fn cells(&self, settings: &Settings) -> Result<Vec<Cell>>;
    /// The rows of one cell.
    fn run(&self, cell: &Cell, settings: &Settings) -> Result<Vec<Row>>;
    /// Figures, tables and findings from all rows.
    fn page(&self, rows: &[Row]) -> Page;
}

/// The options of a run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Small sizes.
    pub quick: bool,
    /// Folder of the real data.
    pub data: Option<PathBuf>,
    /// Replicas asked for.
    pub replicas: Option<usize>,
    /// First seed.
    pub seed: u64,
    /// Where the results go.
    pub out: PathBuf,
    /// Cells at a time.
    pub jobs: usize,
    /// Timed cells too.
    pub together: bool,
    /// What the name of a cell must contain one of, as a run shows it; all cells without any.
    pub only: Vec<String>,
}

impl Settings {
    /// The seeds of the replicas: as many as asked for, or else these.
    pub fn seeds(&self, full: usize, quick: usize) -> impl Iterator<Item = u64> + Clone + use<> {
        let count = self.replicas.unwrap_or(if self.quick { quick } else { full }) as u64;
        let first = self.seed;
        (0..count).map(move |r| first.wrapping_add(r))
    }
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Something asked for that is not there.
    #[error("{0}")]
    Usage(String),
    /// The library refused.
    #[error(transparent)]
    Solver(#[from] ksparse::Error),
    /// A file could not be read or written.
    #[error("{path}: {source}", path = .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Data or results that cannot be understood.
    #[error("{path}: {problem}", path = .path.display())]
    Content {
        /// Which file.
        path: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
}

/// The result of anything here.
pub type Result<T> = std::result::Result<T, Failure>;

/// The last thing made, kept for the next cell that needs the same: data sets, mostly.
#[derive(Debug)]
pub struct Memo<K, V>(Mutex<Option<(K, Arc<V>)>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<K: PartialEq, V> Memo<K, V> {
    /// What `make` makes for `key`, or what it made last time.
    pub fn get(&self, key: K, make: impl FnOnce() -> Result<V>) -> Result<Arc<V>> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, value)) = last.as_ref().filter(|(known, _)| *known == key) {
            let _ = known;
            return Ok(value.clone());
        }
        // The old one goes before the new one comes: two large data sets need not fit at once.
        *last = None;
        let value = Arc::new(make()?);
        *last = Some((key, value.clone()));
        Ok(value)
    }
}
