//! What cross-validation measured, and which cell that favours.

use super::Metric;
use crate::error::{Error, Result, check_option};
use std::collections::BTreeMap;

/// Which cell of a table wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Rule {
    /// The best mean. Predicts best; tends to keep a few features too many.
    #[default]
    Best,
    /// The smallest k nearly as good as the best: within a tenth of a standard error, or within 0.1 % (of the deviance
    /// of labels 3 %) of what the best gains over a model without features; means smoothed over neighbouring k, but
    /// for a regression by [`Choose`](super::Choose); of ridges to select under a strong one unless that is clearly
    /// worse. Predicts nearly as well or better, with fewer features.
    Lean,
    /// The smallest k (then the largest lambda) whose mean is within one standard error of the best.
    OneStandardError,
}

impl Rule {
    /// The names [`by_name`](Self::by_name) answers to.
    pub const NAMES: [&str; 3] = ["best", "lean", "1se"];

    /// A rule by its name.
    pub fn by_name(name: &str) -> Result<Self> {
        Ok(match name {
            "best" => Self::Best,
            "lean" => Self::Lean,
            "1se" => Self::OneStandardError,
            _ => {
                let choices = Self::NAMES.join(", ");
                return Err(Error::UnknownName { what: "rule", name: name.to_string(), choices });
            }
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Lean => "lean",
            Self::OneStandardError => "1se",
        }
    }

    /// How much worse than the best a smaller model may be, in standard errors.
    fn patience(self) -> f64 {
        match self {
            Self::Best => 0.0,
            Self::Lean => 0.1,
            Self::OneStandardError => 1.0,
        }
    }
}

/// Of what the best gains over a model without features, the lean rule gives so much away for a smaller k: by the
/// deviance of labels, and by any other score. The standard error alone sheds nothing where rows are many. Labels bear
/// it: with 3 % for 0.1 % held-out errors are .044 for .050 (leukemia), .139 for .142 (colon), and on text a half to a
/// tenth of the columns is enough for the error of L1. The error of a regression is what it is scored by, and feels it
/// (riboflavin .283 for .263; 500 rows of E8 at a signal-to-noise ratio of 6, 1 %: 1.032 for 1.023). (Nothing would let
/// k run up on data without noise.) Of more labels than two there is more to gain, and as much to give away as of two:
/// of 26 (Isolet) 3 % of all of it would be a third of the deviance that is left.
const OF_LABELS: f64 = 0.03;
const OF_OTHERS: f64 = 0.001;
/// A ridge is nearly as good as any when its best cell comes so many standard errors near that of all, those of the
/// differences fold by fold: where folds agree on what is better, that is chosen. (In units of the standard error of
/// the score itself, a half and one: riboflavin .279 and .263, but .263 is paid for by data with a few strong signals.
/// So: .271, and nothing lost there.)
const CLOSE: f64 = 1.0;
/// How a cell and its next, second and third neighbours count when means are smoothed (a regression gains
/// nothing by it: riboflavin .271 with and .263 without, E8 1.9, -1.2, -0.1 and 0.2 % above the relaxed lasso with and
/// 1.8, -1.3, -0.6 and 0.1 % without, by shape), and the most that a neighbour
/// pulls, in standard errors. (With seven real sets, 110 splits: error relative to the lasso's 1.17 without preferred
/// ridges, dips kept and a quarter of a standard error to give; 1.06 with what stands here.)
const NEIGHBOURS: [f64; 4] = [4.0, 3.0, 2.0, 1.0];
const PULL: f64 = 0.5;

/// One cell of a table.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CvCell {
    /// Its k.
    pub k: usize,
    /// The ridge its support was selected under.
    pub lambda: f64,
    /// The ridge its coefficients were fitted under: the same, unless two ridges are compared.
    pub refit: f64,
    /// The score on every fold.
    pub scores: Vec<f64>,
    /// Their weighted mean.
    pub mean: f64,
    /// The standard error of that mean.
    pub standard_error: f64,
    /// What comparing means may owe to the draw of the folds: the same, but less where rows are dealt several times.
    noise: f64,
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
        Self { k, lambda, refit: lambda, scores, mean, standard_error, noise: standard_error }
    }

    /// The same cell where a row was scored so many times: what it says each time is nearly the same, so that the error
    /// of the mean is that of the folds of one time. The noise of the draw has become less.
    pub fn scored(mut self, times: f64) -> Self {
        let folds = self.scores.len() as f64;
        self.standard_error *= ((folds - 1.0).max(1.0) / (folds / times - 1.0).max(1.0)).sqrt();
        self
    }

    /// The standard error of the mean difference to another cell, fold by fold.
    fn noise_beside(&self, other: &Self) -> f64 {
        let differences: Vec<f64> = self.scores.iter().zip(&other.scores).map(|(own, other)| own - other).collect();
        let even = vec![1.0; differences.len()];
        Self::new(self.k, self.lambda, differences, &even).standard_error
    }

    /// The same cell with its coefficients fitted under another ridge.
    pub fn refitted(mut self, refit: f64) -> Self {
        self.refit = refit;
        self
    }
}

/// The scores of all cells.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CvTable {
    metric: Metric,
    folds: Vec<usize>,
    cells: Vec<CvCell>,
    /// What a model without features scores, where that is known.
    scale: Option<f64>,
    /// How many labels the target is one of, where that is known; 0 for a target of numbers.
    labels: Option<usize>,
    /// Ridges to select under unless others are clearly better, the first first.
    preferred: Vec<f64>,
}

impl CvTable {
    /// A table of cells scored on these folds. A cell without a finite mean never wins; `Err` when there is no other.
    pub fn new(metric: Metric, folds: Vec<usize>, cells: Vec<CvCell>) -> Result<Self> {
        check_option(!cells.is_empty(), "cells", "empty", "at least one")?;
        if cells.iter().all(|cell| !cell.mean.is_finite()) {
            return Err(Error::NotFinite { what: "cross-validation score", index: 0 });
        }
        Ok(Self { metric, folds, cells, scale: None, labels: None, preferred: Vec::new() })
    }

    /// The same table, knowing what a model without features scores: what rounding is measured by.
    pub(super) fn scaled(mut self, null_score: f64) -> Self {
        self.scale = Some(null_score);
        self
    }

    /// The same table, of a target that is one of so many labels; of none.
    pub(super) fn of_labels(mut self, labels: usize) -> Self {
        self.labels = Some(labels);
        self
    }

    /// The same table with ridges to select under unless others are better by a standard error: choosing among
    /// them by the best score alone costs more, in noise, than it gains.
    pub(super) fn preferring(mut self, ridges: &[f64]) -> Self {
        self.preferred = ridges.to_vec();
        self
    }

    /// What the scores are.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The folds scored: all of them unless cross-validation was stopped.
    pub fn folds(&self) -> &[usize] {
        &self.folds
    }

    /// The cells: lambdas descending, for each lambda the k ascending, for each k the ridges of the refit descending.
    pub fn cells(&self) -> &[CvCell] {
        &self.cells
    }

    /// The mean with its sign such that lower is better.
    fn cost(&self, cell: &CvCell) -> f64 {
        let cost = self.signed(cell.mean);
        if cost.is_finite() { cost } else { f64::INFINITY }
    }

    fn signed(&self, score: f64) -> f64 {
        if self.metric.is_gain() { -score } else { score }
    }

    /// Differences of scores below this are rounding: 1e-9 of what the smallest model scores. On data without noise
    /// every large enough k is perfect, some more so by chance.
    fn rounding(&self) -> f64 {
        let smallest = self.cells.iter().map(|cell| cell.k).min();
        let costs = self.cells.iter().filter(|cell| Some(cell.k) == smallest).map(|cell| self.cost(cell));
        let scale = self.scale.unwrap_or_else(|| costs.fold(f64::INFINITY, f64::min));
        if scale.is_finite() { 1e-9 * scale.abs() } else { 0.0 }
    }

    /// The cell that wins by this rule.
    pub fn winner(&self, rule: Rule) -> &CvCell {
        self.winner_and_place(rule).1
    }

    /// The same with its place among the cells.
    pub(super) fn winner_and_place(&self, rule: Rule) -> (usize, &CvCell) {
        let plain: Vec<f64> = self.cells.iter().map(|cell| self.cost(cell)).collect();
        let costs: Vec<f64> = match rule {
            Rule::Lean if self.labels != Some(0) => (0..plain.len()).map(|c| self.smoothed(c)).collect(),
            _ => plain,
        };
        let eligible = self.eligible(rule, &costs);
        let least = eligible.iter().copied().min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or(0);
        let share = match rule {
            Rule::Lean => match self.labels {
                Some(labels) if labels > 1 && self.metric == Metric::Deviance => OF_LABELS / (labels as f64).log2(),
                _ => OF_OTHERS,
            },
            _ => 0.0,
        };
        let gain = self.scale.map_or(0.0, |scale| (self.signed(scale) - costs[least]).max(0.0));
        let error = match rule {
            Rule::OneStandardError => self.cells[least].standard_error,
            _ => self.cells[least].noise,
        };
        let slack = (rule.patience() * error).max(share * gain);
        let bound = costs[least] + slack + self.rounding();
        let near = || eligible.iter().copied().filter(|&c| costs[c] <= bound);
        let smallest = near().map(|c| self.cells[c].k).min();
        let near = near().filter(|&c| Some(self.cells[c].k) == smallest);
        // Of one k the best score, but for the rule of one standard error, which prefers the larger ridge.
        let by_cost = |a: &usize, b: &usize| match rule {
            Rule::OneStandardError => std::cmp::Ordering::Equal,
            _ => costs[*a].total_cmp(&costs[*b]),
        };
        let larger = |a: &usize, b: &usize| {
            let (a, b) = (&self.cells[*a], &self.cells[*b]);
            b.lambda.total_cmp(&a.lambda).then(b.refit.total_cmp(&a.refit))
        };
        let winner = near.min_by(|a, b| by_cost(a, b).then_with(|| larger(a, b)));
        let winner = winner.unwrap_or(least);
        (winner, &self.cells[winner])
    }

    /// The cells among which a rule chooses: all, or for the lean rule those of the first preferred ridge (and k = 0,
    /// which knows no ridge) that is nearly as good as any.
    fn eligible(&self, rule: Rule, costs: &[f64]) -> Vec<usize> {
        let least = |of: &[usize]| of.iter().copied().min_by(|&a, &b| costs[a].total_cmp(&costs[b]));
        let all: Vec<usize> = (0..costs.len()).collect();
        let Some(best) = least(&all).filter(|_| rule == Rule::Lean) else { return all };
        let near = |c: usize| costs[c] <= costs[best] + CLOSE * self.cells[c].noise_beside(&self.cells[best]);
        for &ridge in &self.preferred {
            let of_ridge = |c: &usize| self.cells[*c].k == 0 || self.cells[*c].lambda == ridge;
            let of_ridge: Vec<usize> = all.iter().copied().filter(of_ridge).collect();
            if least(&of_ridge).is_some_and(|c| self.cells[c].k > 0 && near(c)) {
                return of_ridge;
            }
        }
        all
    }

    /// The cost of a cell averaged with those of the three next smaller and larger k at the same ridge to select under,
    /// 1 : 2 : 3 : 4 : 3 : 2 : 1. What is a dip by chance is no dip after that. A neighbour pulls by no more than half
    /// a standard error: where costs fall steeply down to the right k and no further, that k keeps what it has. k = 0
    /// is apart: it is not noisy, and far from its neighbours.
    fn smoothed(&self, c: usize) -> f64 {
        let (cell, own) = (&self.cells[c], self.cost(&self.cells[c]));
        if cell.k == 0 || !own.is_finite() {
            return own;
        }
        let mut others: BTreeMap<usize, f64> = BTreeMap::new();
        for other in self.cells.iter().filter(|other| other.lambda == cell.lambda && other.k > 0) {
            let least = others.entry(other.k).or_insert(f64::INFINITY);
            *least = least.min(self.cost(other));
        }
        let pull = PULL * cell.noise;
        let smaller = others.range(..cell.k).rev().map(|(_, cost)| cost);
        let larger = others.range(cell.k + 1..).map(|(_, cost)| cost);
        let (mut sum, mut weight) = (NEIGHBOURS[0] * own, NEIGHBOURS[0]);
        for (cost, share) in smaller.zip(&NEIGHBOURS[1..]).chain(larger.zip(&NEIGHBOURS[1..])) {
            sum += share * cost.clamp(own - pull, own + pull);
            weight += share;
        }
        sum / weight
    }

    /// The cell with the best mean; ties go to the smallest k, then to the largest lambda.
    pub fn best(&self) -> &CvCell {
        self.winner(Rule::Best)
    }

    /// The smallest k, and for it the largest lambda, whose mean is within one standard error (the best cell's) of the
    /// best.
    pub fn one_standard_error(&self) -> &CvCell {
        self.winner(Rule::OneStandardError)
    }
}
