//! The choice of k and the ridges where no k is given: `ksparse path DATA`, `ksparse fit DATA -k auto`.

use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::prepared::Prepared;
use crate::progress::Watcher;
use crate::report::{Facts, count, significant};
use crate::screen::Screen;
use ksparse::Solver;
use ksparse::path::{GridSolution, PathSolution};
use ksparse::select::{Choose, Chosen, Deal, Edge, Folds, Metric, Predictor, Refits, Rule};
use std::time::Duration;

/// Supports within this share of f are near ties.
const NEAR: f64 = 0.01;
/// Columns selected by this share of the halves of the rows are stable.
const STABLE: f64 = 0.9;

/// What was asked for.
pub struct Request {
    pub folds: Option<Deal>,
    pub metric: Metric,
    pub rule: Rule,
    /// Ridges to select under; `None`: from the data.
    pub lambdas: Option<Vec<f64>>,
    pub seed: u64,
    /// Random halves of the rows to fit the choice to as well, and whether the average of their models is the answer.
    pub resamples: usize,
    pub ensemble: bool,
    pub time_limit: Option<Duration>,
}

/// What was chosen, and by what.
pub struct Made {
    pub chosen: Chosen,
    /// In words.
    pub by: String,
    /// The random halves of the rows that it was fitted to as well, and whether the model is the average of theirs.
    pub halves: Option<usize>,
    pub ensemble: bool,
}

impl Request {
    /// Chooses. A solver of the user's own is used for every cell, and given ridges serve both ends.
    pub fn choose(&self, prepared: &Prepared, solver: &dyn Solver, screen: Screen) -> Result<Made> {
        let deal = self.folds.unwrap_or(Deal::of(prepared.task.y.len()));
        let folds = dealt(prepared, deal, self.seed)?;
        self.metric.check(&*prepared.task.loss)?;
        let choose = Choose {
            lambdas: self.lambdas.clone(),
            refits: if self.lambdas.is_some() { Refits::Same } else { Refits::FromData },
            keep: prepared.keep.clone(),
            metric: Some(self.metric),
            rule: self.rule,
            thorough: solver.name() != "auto" || self.lambdas.is_some(),
            resamples: self.resamples,
            time_limit: self.time_limit,
            cancel: interrupt::token(),
            ..Choose::default()
        };
        let watcher = Watcher::spinner(screen, "cross-validation");
        let chosen = interrupt::listening(|| {
            choose.solve(&[prepared.problem()], &folds.splits(), None, solver, &mut |at| watcher.fold(at))
        });
        drop(watcher);
        let mut chosen = chosen.map_err(|error| prepared.blame(error))?;
        let halves = chosen.predictors[0].resampled.as_ref().map(|_| self.resamples);
        if let Predictor { models, resampled: Some(resampled), .. } = &mut chosen.predictors[0]
            && self.ensemble
        {
            models.clone_from(&resampled.averages);
        }
        warn(&chosen, screen);
        let by = format!("{deal}: {} {}", words(self.rule), self.metric.name());
        Ok(Made { chosen, by, halves, ensemble: self.ensemble && halves.is_some() })
    }
}

/// Says what a choice may owe to where it was stopped or to the ends of its ranges.
pub fn warn(chosen: &Chosen, screen: Screen) {
    if interrupt::asked() {
        screen.warn("stopped: what was scored by then decides");
    }
    for edge in &chosen.edges {
        screen.warn(in_words(*edge));
    }
}

/// The rows dealt into folds.
pub fn dealt(prepared: &Prepared, deal: Deal, seed: u64) -> Result<Folds> {
    let folds = prepared.problem().folds(deal, seed);
    folds.map_err(|error| Failure::from(error).within(format!("--cv {}", deal.folds)))
}

/// A rule for people.
pub fn words(rule: Rule) -> &'static str {
    match rule {
        Rule::Best => "best mean of",
        Rule::OneStandardError => "one-standard-error rule on",
        _ => "lean rule on",
    }
}

fn in_words(edge: Edge) -> &'static str {
    match edge {
        Edge::LargestK => "the chosen k is the largest that was compared: a larger one may be better",
        Edge::LargestLambda => "the chosen lambda is the largest that was compared: a larger one may be better",
        Edge::SmallestLambda => "the chosen lambda is the smallest that was compared: a smaller one may be better",
        Edge::LargestRefit => "the ridge of the coefficients is the largest that was compared",
        Edge::SmallestRefit => "the ridge of the coefficients is the smallest that was compared",
    }
}

impl Made {
    /// The path on all rows under the ridge that selects.
    pub fn path(&self) -> GridSolution {
        let (ks, solutions) = self.chosen.predictors[0].path.iter().cloned().unzip();
        GridSolution { lambdas: vec![self.chosen.lambda], paths: vec![PathSolution { ks, solutions, stopped: None }] }
    }

    /// The best mean among the cells of this k, with its standard error.
    pub fn score(&self, k: usize) -> Option<(f64, Option<f64>)> {
        self.chosen.cell(k).map(|cell| (cell.mean, Some(cell.standard_error)))
    }

    /// For every column, the share of the folds, or of the halves, that select it.
    fn shares(&self) -> &[f64] {
        let Predictor { frequencies, resampled, .. } = &self.chosen.predictors[0];
        resampled.as_ref().map_or(frequencies, |resampled| &resampled.frequencies)
    }

    /// Columns that folds (or halves) have selected, the most frequent first, with their share.
    pub fn frequencies(&self) -> Vec<(usize, f64)> {
        let shares = self.shares().iter().copied().enumerate();
        let mut selected: Vec<(usize, f64)> = shares.filter(|(_, share)| *share > 0.0).collect();
        selected.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        selected
    }

    /// Other supports within a hundredth of f, with their f.
    pub fn near_ties(&self) -> Vec<(&[usize], f64)> {
        let predictor = &self.chosen.predictors[0];
        let bound = predictor.selected.value + NEAR * predictor.selected.value.abs();
        let near = predictor.alternatives.iter().filter(|other| other.value <= bound);
        near.map(|other| (&other.support[..], other.value)).collect()
    }

    /// What is worth knowing beside the model.
    pub fn facts(&self, facts: &mut Facts) {
        let chosen = &self.chosen;
        facts.add("lambda", significant(chosen.refit));
        if chosen.lambda != chosen.refit {
            facts.add("selected", format!("under lambda = {}", significant(chosen.lambda)));
        }
        if chosen.k > 0 {
            let model = chosen.model();
            let (least, often) = match self.halves {
                Some(halves) => (STABLE, format!("9 of 10 or more of {halves} halves of the rows")),
                None => (1.0, "every fold".to_string()),
            };
            let stable = model.support.iter().filter(|j| self.shares()[**j] >= least).count();
            facts.add("stable", format!("{stable} of {} selected in {often}", count(model.support.len(), "column")));
            if self.ensemble {
                facts.add("ensemble", "the average of the models of these halves, their columns united");
            }
            facts.add("near ties", format!("{} within 1 % of f", count(self.near_ties().len(), "other support")));
        }
    }
}

/// Ridges to select under, from `--lambdas` or `--lambda`.
pub fn ridges(lambdas: Option<&[f64]>, lambda: Option<f64>) -> Option<Vec<f64>> {
    lambdas.map(<[f64]>::to_vec).or_else(|| lambda.map(|lambda| vec![lambda]))
}
