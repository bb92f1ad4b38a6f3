//! What a choice learns from: rows to train on and rows to score, whatever is observed of each.

use super::problem::pick;
use super::{Metric, Problem, Split, Training, ranges};
use crate::error::{Error, Result};
use crate::loss::TargetKind;
use crate::objective::{LinearModel, Objective};
use crate::solver::Solution;
use crate::sparsity::Sparsity;

/// Data that can be split by rows.
pub(super) trait Task: Sync {
    /// `Err` when shapes or targets do not fit together.
    fn validate(&self) -> Result<()>;

    fn rows(&self) -> usize;

    fn columns(&self) -> usize;

    /// How many columns, or groups of them, there are beside those kept.
    fn units(&self, keep: &[usize]) -> usize;

    /// The constraint for k of them beside those kept.
    fn sparsity(&self, k: usize, keep: &[usize]) -> Sparsity;

    /// Whether columns are in or out by groups, so that as many units may be more or fewer columns.
    fn is_grouped(&self) -> bool;

    /// All rows.
    fn on_all(&self) -> Result<Box<dyn OnRows + '_>>;

    /// Some rows.
    fn on(&self, rows: &[usize]) -> Result<Box<dyn OnRows + '_>>;

    /// How many labels the target is one of; 0 where it is none.
    fn labels(&self) -> usize;

    /// What a row is to be like in every part of the data: its label, 0 for all where there is none.
    fn class(&self, row: usize) -> usize;

    /// What is measured unless something else is asked for.
    fn usual_metric(&self) -> Metric {
        Metric::Deviance
    }

    /// The weight of the rows that a split holds out; `Err` for one that cannot be trained on, or not scored by this
    /// metric (`None`: by one that is not ours to judge).
    fn weigh(&self, split: &Split, number: usize, metric: Option<Metric>) -> Result<f64>;

    /// How many linear predictors its models have.
    fn outputs(&self) -> usize {
        1
    }

    /// The score of a model, one linear predictor per output, on the rows that a split holds out; not finite where
    /// predictions are not.
    fn score(&self, metric: Metric, models: &[LinearModel], split: &Split) -> Result<f64>;
}

/// A [`Task`] made concrete on some rows.
pub(super) trait OnRows: Sync {
    /// What to minimise under this ridge.
    fn objective(&self, lambda: f64) -> Result<Box<dyn Objective + '_>>;

    /// A solution (under any ridge) as a model of the original columns, one linear predictor per output.
    fn models(&self, solution: &Solution) -> Vec<LinearModel>;

    /// How many coordinates a column has, neighbours of each other.
    fn outputs(&self) -> usize {
        1
    }

    /// The mean square of every column, a column of intercepts included.
    fn squares(&self) -> &[f64];

    /// The typical curvature of a column.
    fn curvature(&self) -> Result<f64>;

    /// The largest k worth asking for, of so many.
    fn largest_k(&self, units: usize) -> usize;
}

impl Task for Problem<'_> {
    fn validate(&self) -> Result<()> {
        Problem::validate(self)
    }

    fn rows(&self) -> usize {
        self.target.len()
    }

    fn columns(&self) -> usize {
        self.design.ncols()
    }

    fn units(&self, keep: &[usize]) -> usize {
        Problem::units(self, keep)
    }

    fn sparsity(&self, k: usize, keep: &[usize]) -> Sparsity {
        Problem::sparsity(self, k, keep)
    }

    fn is_grouped(&self) -> bool {
        self.groups.is_some()
    }

    fn on_all(&self) -> Result<Box<dyn OnRows + '_>> {
        Ok(Box::new(self.on_all_rows()?))
    }

    fn on(&self, rows: &[usize]) -> Result<Box<dyn OnRows + '_>> {
        Ok(Box::new(self.on_rows(rows.to_vec())?))
    }

    fn labels(&self) -> usize {
        self.loss.target().labels()
    }

    fn class(&self, row: usize) -> usize {
        usize::from(self.labels() > 0 && self.target[row] > 0.0)
    }

    fn weigh(&self, split: &Split, number: usize, metric: Option<Metric>) -> Result<f64> {
        metric.map_or(Ok(()), |metric| metric.check(self.loss))?;
        let weight = weigh(self.rows(), self.weights, split, number)?;
        let of = |i: usize| self.weights.map_or(1.0, |w| w[i]);
        let sum = |rows: &[usize], signs: &[f64]| {
            let counted = rows.iter().filter(|&&i| signs.iter().any(|sign| sign * self.target[i] > 0.0));
            counted.map(|&i| of(i)).sum::<f64>()
        };
        let mixed = |rows: &[usize]| sum(rows, &[1.0]) > 0.0 && sum(rows, &[-1.0]) > 0.0;
        if self.loss.target() == TargetKind::Sign && !mixed(&split.training) {
            return Err(Error::Data(format!(
                "split {number} has only one class to train on: stratify the folds, or take fewer"
            )));
        }
        if metric == Some(Metric::Auc) && !mixed(&split.held_out) {
            let undefined = "holds out one class only, which leaves its auc undefined";
            return Err(Error::Data(format!("split {number} {undefined}: stratify the folds, or take fewer")));
        }
        Ok(weight)
    }

    fn score(&self, metric: Metric, models: &[LinearModel], split: &Split) -> Result<f64> {
        let rows = &split.held_out;
        let z = self.predict(&models[0], rows)?;
        if z.iter().any(|z| !z.is_finite()) {
            return Ok(f64::NAN);
        }
        let weights = self.weights.map(|w| pick(w, rows));
        metric.score(self.loss, &z, &pick(self.target, rows), weights.as_deref())
    }
}

impl OnRows for Training<'_> {
    fn objective(&self, lambda: f64) -> Result<Box<dyn Objective + '_>> {
        Training::objective(self, lambda)
    }

    fn models(&self, solution: &Solution) -> Vec<LinearModel> {
        vec![self.model(solution)]
    }

    fn squares(&self) -> &[f64] {
        self.risk.weighted_squares()
    }

    fn curvature(&self) -> Result<f64> {
        ranges::typical_curvature(&self.risk)
    }

    fn largest_k(&self, units: usize) -> usize {
        ranges::largest_k(&self.risk, units)
    }
}

/// The weight of the rows held out; `Err` for rows that do not exist or weigh nothing.
pub(super) fn weigh(rows: usize, weights: Option<&[f64]>, split: &Split, number: usize) -> Result<f64> {
    if let Some(&index) = split.training.iter().chain(&split.held_out).find(|&&i| i >= rows) {
        return Err(Error::IndexOutOfRange { what: "row", index, bound: rows });
    }
    let total = |rows: &[usize]| rows.iter().map(|&i| weights.map_or(1.0, |w| w[i])).sum::<f64>();
    for (rows, role) in [(&split.training, "to train on"), (&split.held_out, "to score")] {
        if total(rows) <= 0.0 {
            return Err(Error::Data(format!("split {number} has no row of positive weight {role}: take fewer folds")));
        }
    }
    Ok(total(&split.held_out))
}
