//! Shards on this machine, one after the other.

use super::{Frame, Question, Rounds, Shard, Tree};
use crate::cancel::Cancel;
use crate::error::Result;
use crate::loss::Loss;
use std::sync::atomic::{AtomicU64, Ordering};

/// Shards that are opened, asked and let go one after the other: in memory, or mapped files of which no more than one
/// is needed at a time.
///
/// ```
/// use ksparse::objective::{Blocks, Shard, Summed, SummedOptions};
/// use ksparse::{Solver, Sparsity, design::{Design, Rows}, loss::Squared, simulate, solver::WorkingSet};
/// let data = simulate::linear(300, 100, 5, simulate::Correlation::Ar1(0.5), 0.1, 1);
/// let loss = Squared::default();
/// let shards = Blocks::new(3, &loss, |s| {
///     let rows: Vec<usize> = (100 * s..100 * s + 100).collect();
///     Shard::new(Box::new(Rows::new(&data.design, rows)?), &data.target[100 * s..100 * s + 100])
/// });
/// let summed = Summed::new(&shards, &loss, SummedOptions::default())?;
/// let solution = WorkingSet::default().fit(&summed, &Sparsity::new(5))?;
/// assert_eq!(summed.model(&solution).support, data.support);
/// assert!(summed.communication().rounds < 10);
/// # Ok::<(), ksparse::Error>(())
/// ```
pub struct Blocks<'a> {
    count: usize,
    loss: &'a dyn Loss,
    open: Box<Open<'a>>,
    cancel: Cancel,
    sent: AtomicU64,
}

type Open<'a> = dyn Fn(usize) -> Result<Shard<'a>> + Send + Sync + 'a;

impl<'a> Blocks<'a> {
    /// So many shards, each made by `open` whenever it is needed.
    pub fn new(count: usize, loss: &'a dyn Loss, open: impl Fn(usize) -> Result<Shard<'a>> + Send + Sync + 'a) -> Self {
        Self { count, loss, open: Box::new(open), cancel: Cancel::NEVER, sent: AtomicU64::new(0) }
    }

    /// With a token that is asked before every shard.
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }
}

impl Rounds for Blocks<'_> {
    fn shards(&self) -> usize {
        self.count
    }

    fn ask(&self, question: &Question, frame: &Frame) -> Result<Vec<f64>> {
        let mut tree = Tree::default();
        (0..self.count).try_for_each(|s| tree.add(self.answer(s, question, frame)?))?;
        self.sent.fetch_add(tree.bytes(), Ordering::Relaxed);
        Ok(tree.sum())
    }

    fn each(&self, question: &Question, frame: &Frame) -> Result<Vec<Vec<f64>>> {
        let answers = (0..self.count).map(|s| self.answer(s, question, frame)).collect::<Result<Vec<_>>>()?;
        self.sent.fetch_add(answers.iter().map(|answer| 8 * answer.len() as u64).sum(), Ordering::Relaxed);
        Ok(answers)
    }

    fn sent(&self) -> Option<u64> {
        Some(self.sent.load(Ordering::Relaxed))
    }
}

impl Blocks<'_> {
    fn answer(&self, s: usize, question: &Question, frame: &Frame) -> Result<Vec<f64>> {
        self.cancel.ask()?;
        (self.open)(s)?.answer(self.loss, frame, question)
    }
}
