//! Pairs of rows to train on and rows to score.

use super::task::Task;
use super::{Folds, Metric};
use crate::error::{Result, check_option};
use crate::objective::LinearModel;
use std::collections::HashSet;

/// Rows to train on and rows to score, of any splitter: folds, groups, repeated or overlapping parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Rows to train on.
    pub training: Vec<usize>,
    /// Rows to score.
    pub held_out: Vec<usize>,
}

impl Folds {
    /// Each fold held out once.
    pub fn splits(&self) -> Vec<Split> {
        let split = |fold| Split { training: self.training(fold), held_out: self.held_out(fold) };
        (0..self.count()).map(split).collect()
    }
}

/// How many times a row is held out, in the mean over those that are at all.
pub(super) fn times(splits: &[Split]) -> f64 {
    let all: usize = splits.iter().map(|split| split.held_out.len()).sum();
    let rows: HashSet<usize> = splits.iter().flat_map(|split| split.held_out.iter().copied()).collect();
    all as f64 / rows.len().max(1) as f64
}

/// How models are scored: the predictors of one model, for a split. A cell with a score that is not finite never wins.
pub type OwnScore<'a> = dyn Fn(usize, &[LinearModel]) -> Result<f64> + Sync + 'a;

/// Scores models on the rows held out.
pub(super) struct Scorer<'a> {
    pub tasks: &'a [&'a dyn Task],
    pub splits: &'a [Split],
    pub metric: Metric,
    pub own: Option<&'a OwnScore<'a>>,
}

impl Scorer<'_> {
    /// The score of a model, the linear predictors of one task after those of the other: with several, the sum over
    /// them.
    pub fn score(&self, split: usize, mut models: &[LinearModel]) -> Result<f64> {
        if let Some(own) = self.own {
            return Ok(self.judged(own(split, models)?));
        }
        let mut sum = 0.0;
        for task in self.tasks {
            let (of_task, others) = models.split_at(task.outputs());
            models = others;
            sum += task.score(self.metric, of_task, &self.splits[split])?;
        }
        Ok(self.judged(sum))
    }

    /// A score, or that of a model that must not win.
    fn judged(&self, score: f64) -> f64 {
        match score.is_finite() {
            true => score,
            false if self.metric.is_gain() => f64::NEG_INFINITY,
            false => f64::INFINITY,
        }
    }

    /// The weight of every split; `Err` for one that cannot be trained on or scored.
    pub fn weights(&self) -> Result<Vec<f64>> {
        check_option(!self.splits.is_empty(), "splits", "empty", "at least one")?;
        let metric = self.own.is_none().then_some(self.metric);
        let weigh = |number: usize| {
            let of_task = |_: f64, task: &&dyn Task| task.weigh(&self.splits[number], number, metric);
            self.tasks.iter().try_fold(0.0, of_task)
        };
        (0..self.splits.len()).map(weigh).collect()
    }
}
