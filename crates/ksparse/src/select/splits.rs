//! Pairs of rows to train on and rows to score.

use super::problem::pick;
use super::{Folds, Metric, Problem};
use crate::error::{Error, Result, check_option};
use crate::loss::TargetKind;
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
    pub problems: &'a [Problem<'a>],
    pub splits: &'a [Split],
    pub metric: Metric,
    pub own: Option<&'a OwnScore<'a>>,
}

impl Scorer<'_> {
    /// The score of a model, one predictor per problem: with several, the sum over them.
    pub fn score(&self, split: usize, models: &[LinearModel]) -> Result<f64> {
        if let Some(own) = self.own {
            let score = own(split, models)?;
            return Ok(if score.is_finite() { score } else { self.worst() });
        }
        let rows = &self.splits[split].held_out;
        let mut sum = 0.0;
        for (problem, model) in self.problems.iter().zip(models) {
            let z = problem.predict(model, rows)?;
            if z.iter().any(|z| !z.is_finite()) {
                return Ok(self.worst());
            }
            let weights = problem.weights.map(|w| pick(w, rows));
            sum += self.metric.score(problem.loss, &z, &pick(problem.target, rows), weights.as_deref())?;
        }
        Ok(sum)
    }

    /// The score of a model that must not win.
    fn worst(&self) -> f64 {
        if self.metric.is_gain() { f64::NEG_INFINITY } else { f64::INFINITY }
    }

    /// The weight of every split; `Err` for one that cannot be trained on or scored.
    pub fn weights(&self) -> Result<Vec<f64>> {
        check_option(!self.splits.is_empty(), "splits", "empty", "at least one")?;
        let weigh = |number: usize| {
            let mut weight = 0.0;
            for problem in self.problems {
                if self.own.is_none() {
                    self.metric.check(problem.loss)?;
                }
                weight =
                    check(problem, &self.splits[number], number, self.own.is_none() && self.metric == Metric::Auc)?;
            }
            Ok(weight)
        };
        (0..self.splits.len()).map(weigh).collect()
    }
}

/// The weight of the rows held out; `Err` for rows that do not exist, weigh nothing or leave only one class.
fn check(problem: &Problem, split: &Split, number: usize, both_held_out: bool) -> Result<f64> {
    let rows = problem.target.len();
    if let Some(&index) = split.training.iter().chain(&split.held_out).find(|&&i| i >= rows) {
        return Err(Error::IndexOutOfRange { what: "row", index, bound: rows });
    }
    let weight = |i: usize| problem.weights.map_or(1.0, |w| w[i]);
    let total = |rows: &[usize]| rows.iter().map(|&i| weight(i)).sum::<f64>();
    let positive = |rows: &[usize]| rows.iter().filter(|&&i| problem.target[i] > 0.0).map(|&i| weight(i)).sum::<f64>();
    let mixed = |rows: &[usize]| positive(rows) > 0.0 && positive(rows) < total(rows);
    for (rows, role) in [(&split.training, "to train on"), (&split.held_out, "to score")] {
        if total(rows) <= 0.0 {
            return Err(Error::Data(format!("split {number} has no row of positive weight {role}: take fewer folds")));
        }
    }
    if problem.loss.target() == TargetKind::Sign && !mixed(&split.training) {
        return Err(Error::Data(format!(
            "split {number} has only one class to train on: stratify the folds, or take fewer"
        )));
    }
    if both_held_out && !mixed(&split.held_out) {
        let problem = format!(
            "split {number} holds out one class only, which leaves its auc undefined: stratify the folds, or take fewer"
        );
        return Err(Error::Data(problem));
    }
    Ok(total(&split.held_out))
}
