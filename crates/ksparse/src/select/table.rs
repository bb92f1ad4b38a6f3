//! What cross-validation measured, and which cell that favours.

use super::{Metric, Rule};
use crate::error::{Error, Result, check_option};

/// One cell of a table.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CvCell {
    /// Its k.
    pub k: usize,
    /// Its lambda.
    pub lambda: f64,
    /// The score on every fold.
    pub scores: Vec<f64>,
    /// Their weighted mean.
    pub mean: f64,
    /// The standard error of that mean.
    pub standard_error: f64,
}

impl CvCell {
    /// A cell from its scores, one per fold, and the weights of the folds. The error of a single fold is unknown: 0.
    pub fn new(k: usize, lambda: f64, scores: Vec<f64>, fold_weights: &[f64]) -> Self {
        let total: f64 = fold_weights.iter().sum();
        let average = |of: &dyn Fn(f64) -> f64| {
            scores.iter().zip(fold_weights).map(|(&score, weight)| weight * of(score)).sum::<f64>() / total
        };
        let mean = average(&|score| score);
        let variance = average(&|score| (score - mean) * (score - mean));
        let standard_error = (variance / (fold_weights.len() as f64 - 1.0).max(1.0)).sqrt();
        Self { k, lambda, scores, mean, standard_error }
    }
}

/// The scores of all cells.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CvTable {
    metric: Metric,
    folds: Vec<usize>,
    cells: Vec<CvCell>,
}

impl CvTable {
    /// A table of cells scored on these folds. A cell without a finite mean never wins; `Err` when there is no other.
    pub fn new(metric: Metric, folds: Vec<usize>, cells: Vec<CvCell>) -> Result<Self> {
        check_option(!cells.is_empty(), "cells", "empty", "at least one")?;
        if cells.iter().all(|cell| !cell.mean.is_finite()) {
            return Err(Error::NotFinite { what: "cross-validation score", index: 0 });
        }
        Ok(Self { metric, folds, cells })
    }

    /// What the scores are.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The folds scored: all of them unless cross-validation was stopped.
    pub fn folds(&self) -> &[usize] {
        &self.folds
    }

    /// The cells: lambdas descending, for each lambda the k ascending.
    pub fn cells(&self) -> &[CvCell] {
        &self.cells
    }

    /// The mean with its sign such that lower is better.
    fn cost(&self, cell: &CvCell) -> f64 {
        let cost = if self.metric.is_gain() { -cell.mean } else { cell.mean };
        if cost.is_finite() { cost } else { f64::INFINITY }
    }

    /// The cell that wins by this rule.
    pub fn winner(&self, rule: Rule) -> &CvCell {
        match rule {
            Rule::Best => self.best(),
            Rule::OneStandardError => self.one_standard_error(),
        }
    }

    /// The cell with the best mean; ties go to the smallest k, then to the largest lambda.
    pub fn best(&self) -> &CvCell {
        let order = |a: &CvCell, b: &CvCell| {
            self.cost(a).total_cmp(&self.cost(b)).then(a.k.cmp(&b.k)).then(b.lambda.total_cmp(&a.lambda))
        };
        self.cells.iter().min_by(|a, b| order(a, b)).unwrap_or(&self.cells[0])
    }

    /// The smallest k, and for it the largest lambda, whose mean is within one standard error (the best cell's) of the
    /// best.
    pub fn one_standard_error(&self) -> &CvCell {
        let best = self.best();
        let bound = self.cost(best) + best.standard_error;
        let near = self.cells.iter().filter(|cell| self.cost(cell) <= bound);
        near.min_by(|a, b| a.k.cmp(&b.k).then(b.lambda.total_cmp(&a.lambda))).unwrap_or(best)
    }
}
