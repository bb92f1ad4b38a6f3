//! The search for the largest dual value: the relaxation on growing working sets, its derivatives as dual vectors.

use super::{CertifyOptions, Epoch};
use crate::dual::{Drift, Dual};
use crate::loss::Loss;
use crate::objective::Objective;
use crate::relaxation::part::Sampled;
use crate::relaxation::solve::{Goal, solve};
use crate::relaxation::support_norm::SupportNorm;
use crate::solver::Solution;
use crate::sparsity::top_by;
use std::ops::ControlFlow;
use std::time::Instant;

/// Epochs without noticeable progress that end the search.
const PATIENCE: usize = 5;

/// Corners are rounded off by no less than this fraction of f: sharper ones take first-order steps for ever.
const SHARPEST: f64 = 1e-6;

/// The best bound found.
pub(super) struct Found {
    pub bound: f64,
    pub vector: Vec<f64>,
    pub relaxation: f64,
    pub history: Vec<Epoch>,
}

struct Search<'a, 'b> {
    dual: &'b Dual<'a>,
    value: f64,
    options: &'b CertifyOptions,
    started: Instant,
    watch: &'b mut dyn FnMut(&Epoch) -> ControlFlow<()>,
    found: Found,
    /// u of the best dual vector.
    scores: Vec<f64>,
}

pub(super) fn ascend(
    dual: &Dual,
    fit: &Solution,
    value: f64,
    options: &CertifyOptions,
    started: Instant,
    watch: &mut dyn FnMut(&Epoch) -> ControlFlow<()>,
) -> Found {
    let found = Found { bound: f64::NEG_INFINITY, vector: Vec::new(), relaxation: value, history: Vec::new() };
    let mut search = Search { dual, value, options, started, watch, found, scores: Vec::new() };
    search.offer(dual.plug_in(fit.as_sparse()));
    if !search.note() {
        search.run(fit);
    }
    search.found
}

impl Search<'_, '_> {
    /// Keeps a feasible dual vector if its bound is better.
    fn offer(&mut self, vector: Vec<f64>) {
        let mut scores = vec![0.0; self.dual.risk().design().ncols()];
        self.dual.scores(&vector, &mut scores);
        let bound = self.dual.lower_bound_at(&vector, &scores, Drift::default());
        if bound > self.found.bound || self.found.vector.is_empty() {
            (self.found.bound, self.found.vector) = (bound, vector);
            self.scores = scores;
        }
    }

    /// Writes an epoch down; true when the search is over.
    fn note(&mut self) -> bool {
        let found = &mut self.found;
        let epoch = Epoch {
            epoch: found.history.len(),
            primal: self.value,
            dual: found.bound,
            gap: self.value - found.bound,
            relaxation: found.relaxation,
            seconds: self.started.elapsed().as_secs_f64(),
        };
        found.history.push(epoch);
        let unit = self.value.abs();
        let certified = epoch.gap <= self.options.tolerance * unit;
        // Where the relaxation is below the fit by more than the tolerance, no dual bound can certify.
        let hopeless = self.value - epoch.relaxation > self.options.tolerance * unit;
        let enough = hopeless && epoch.relaxation - epoch.dual <= self.options.precision * unit;
        (self.watch)(&epoch).is_break()
            || certified
            || enough
            || epoch.epoch >= self.options.max_epochs
            || out_of_time(self.options, self.started)
    }

    fn run(&mut self, fit: &Solution) {
        let (dual, risk) = (self.dual, self.dual.risk());
        let (lambda, unit) = (risk.ridge(), self.value.abs());
        let mut weights: Vec<(usize, f64)> = fit.as_sparse().iter().filter(|(j, _)| !risk.free().contains(j)).collect();
        let mut rounding = Rounding::new(risk.loss());
        // Solve loosely first: the first working sets are not the last.
        let mut slack = 0.1 * (self.value - self.found.bound).min(unit);
        let mut room = 2 * dual.k() + 50;
        let mut idle = 0;
        while idle < PATIENCE {
            let working = self.working_set(&weights, room);
            let whole = working.iter().map(|&j| dual.is_free(j)).collect();
            let norm = SupportNorm::of(dual.budget(), &working, dual.k(), whole);
            let mut start = vec![0.0; working.len()];
            for &(j, w) in &weights {
                if let Ok(place) = working.binary_search(&j) {
                    start[place] = w;
                }
            }
            let (options, started) = (self.options, self.started);
            let interrupted = || out_of_time(options, started);
            let goal = Goal { gap: slack, enough: f64::INFINITY, max_iterations: 1000, interrupted: &interrupted };
            let mut part = Sampled::new(risk, rounding.loss(), working.clone());
            let relaxed = solve(&mut part, &norm, lambda, start, &goal);
            let mut z = vec![0.0; dual.samples()];
            part.predictions(&relaxed.w, &mut z);
            drop(part);
            let before = self.found.relaxation - self.found.bound;
            self.offer(dual.plug_in_of(rounding.loss(), &mut z));
            // The relaxation of the loss itself, not of the rounded one.
            let value = loss_value(dual, &z) + lambda * norm.value(&relaxed.w);
            self.found.relaxation = self.found.relaxation.min(value);
            if self.note() {
                return;
            }
            weights = working.iter().copied().zip(relaxed.w).filter(|(_, w)| *w != 0.0).collect();
            room = room.max(weights.len() + dual.k() + 50);
            // What the working set leaves out, what its solution lacks and what rounding costs shrink together.
            let distance = self.found.relaxation - self.found.bound;
            idle = if distance > 0.9 * before { idle + 1 } else { 0 };
            slack = slack.min(0.1 * distance).max(0.1 * self.options.tolerance * unit);
            if rounding.error() > slack.max(SHARPEST * unit) {
                rounding.sharpen();
                idle = 0;
            }
        }
    }

    /// The coordinates in use, those that stay whole, and the largest scores of the best dual vector: ascending, groups
    /// complete.
    fn working_set(&self, weights: &[(usize, f64)], room: usize) -> Vec<usize> {
        let (free, budget) = (self.dual.risk().free(), self.dual.budget());
        let mut set: Vec<usize> = weights.iter().map(|(j, _)| *j).collect();
        if budget.is_grouped() {
            let mut units = budget.units_of(&set);
            units.extend(budget.top(room, |j| self.scores[j].abs()));
            set = units.into_iter().flat_map(|unit| budget.members(unit)).collect();
        } else {
            set.extend(top_by(self.scores.len(), room, |j| self.scores[j].abs()));
        }
        set.extend_from_slice(self.dual.whole());
        set.retain(|j| !free.contains(j));
        set.sort_unstable();
        set.dedup();
        set
    }
}

fn loss_value(dual: &Dual, z: &[f64]) -> f64 {
    dual.risk().loss().total(z, dual.risk().target(), dual.risk().weights())
}

/// Whether to end: by the token or by the clock.
fn out_of_time(options: &CertifyOptions, started: Instant) -> bool {
    options.cancel.is_set() || options.time_limit.is_some_and(|limit| started.elapsed() >= limit)
}

/// A loss with its corners rounded off, if it has any.
struct Rounding<'a> {
    loss: &'a dyn Loss,
    width: f64,
    rounded: Option<Box<dyn Loss>>,
}

impl<'a> Rounding<'a> {
    fn new(loss: &'a dyn Loss) -> Self {
        let width = 0.1;
        Self { loss, width, rounded: loss.rounded(width) }
    }

    fn loss(&self) -> &dyn Loss {
        self.rounded.as_deref().unwrap_or(self.loss)
    }

    /// How far the rounded loss is below the true one at most.
    fn error(&self) -> f64 {
        if self.rounded.is_some() { 0.5 * self.width } else { 0.0 }
    }

    fn sharpen(&mut self) {
        self.width *= 0.1;
        self.rounded = self.loss.rounded(self.width);
    }
}
