//! Rounds over mapped files: one is open at a time, the next is on its way from the disk.

use super::Files;
use ksparse::loss::Loss;
use ksparse::objective::{Frame, Question, Rounds, Shard, Tree};
use ksparse::{Cancel, Error, Result};
use ksparse_io::{Need, ReadOptions};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The files with what their rows have beside entries.
pub struct MappedRounds<'a> {
    pub files: &'a Files,
    pub loss: &'a dyn Loss,
    pub target: &'a [f64],
    pub weights: Option<&'a [f64]>,
    pub offset: Option<&'a [f64]>,
    pub cancel: Cancel,
    /// Bytes of matrices that questions took.
    pub read: AtomicU64,
}

impl MappedRounds<'_> {
    /// Whether all files together stay in the memory of the system once they were read.
    fn stay(&self) -> bool {
        self.files.total() < ksparse_io::free_memory() / 2
    }

    /// Asks file after file.
    fn walk(&self, question: &Question, frame: &Frame, mut take: impl FnMut(Vec<f64>) -> Result<()>) -> Result<()> {
        let whole = columns_read(question).is_none();
        for s in 0..self.files.paths.len() {
            if self.cancel.is_set() {
                return Err(Error::Cancelled);
            }
            let next = self.files.paths.get(s + 1).filter(|_| whole && !self.stay());
            let answer = std::thread::scope(|scope| {
                if let Some(next) = next {
                    scope.spawn(|| fetch(next));
                }
                self.answer(s, question, frame)
            })?;
            take(answer)?;
        }
        Ok(())
    }

    fn answer(&self, s: usize, question: &Question, frame: &Frame) -> Result<Vec<f64>> {
        let path = &self.files.paths[s];
        let rows = self.files.borders[s]..self.files.borders[s + 1];
        // Roles of columns stay as they were; the target is known.
        let options = ReadOptions { need: Need::Optional, ..self.files.options.clone() };
        let table = ksparse_io::read(path, &options).map_err(Error::evaluation)?;
        if table.nrows() != rows.len() {
            return Err(Error::evaluation(format!("{}: the file changed during the fit", path.display())));
        }
        let p = table.ncols().max(1) as u64;
        let share = columns_read(question).map_or(p, |columns| (columns as u64).min(p));
        self.read.fetch_add(self.files.bytes[s] / p * share, Ordering::Relaxed);
        let part = |all: Option<&[f64]>| all.map(|all| all[rows.clone()].to_vec().into());
        Shard::new(Box::new(table.design()), &self.target[rows.clone()])?
            .with_weights(part(self.weights))?
            .with_offset(part(self.offset))?
            .answer(self.loss, frame, question)
    }
}

/// How many columns a question takes; `None` for all.
fn columns_read(question: &Question) -> Option<usize> {
    match question {
        Question::Totals | Question::Deviations { .. } | Question::Full { .. } => None,
        Question::Value { x, .. } => Some(x.len()),
        Question::On { set, .. } | Question::Rows { set } => Some(set.len()),
        Question::Block { support, left, right, .. } => Some(support.len() + left.len() + right.len()),
    }
}

/// Brings a file into the memory of the system; what cannot be read now is an error when it is needed.
fn fetch(path: &Path) {
    if let Ok(mut file) = std::fs::File::open(path) {
        let _ = std::io::copy(&mut file, &mut std::io::sink());
    }
}

impl Rounds for MappedRounds<'_> {
    fn shards(&self) -> usize {
        self.files.paths.len()
    }

    fn ask(&self, question: &Question, frame: &Frame) -> Result<Vec<f64>> {
        let mut tree = Tree::default();
        self.walk(question, frame, |answer| tree.add(answer))?;
        Ok(tree.sum())
    }

    fn each(&self, question: &Question, frame: &Frame) -> Result<Vec<Vec<f64>>> {
        let mut answers = Vec::new();
        self.walk(question, frame, |answer| {
            answers.push(answer);
            Ok(())
        })?;
        Ok(answers)
    }
}
