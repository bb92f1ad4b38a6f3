//! SVR-GHT: stochastic variance-reduced gradient hard thresholding.
//!
//! ```text
//! snapshot v, g = grad f(v);  then, a fixed number of times, a random mini-batch B:
//!     w = H_k( w - eta (grad f_B(w) - grad f_B(v) + g) );      then v = w
//! ```
//!
//! X. Li, R. Arora, H. Liu, J. Haupt, T. Zhao, "Nonconvex Sparse Learning via Stochastic Optimization with Progressive
//! Variance Reduction", arXiv 1605.02711, 2016 (ICML 2016 as "Stochastic Variance Reduced Optimization for Nonconvex
//! Sparse Learning").
//!
//! **What a step costs.** With the ridge written apart, the point before thresholding is
//!
//! ```text
//! (1 - eta lambda) w - eta (sum over B of (l'(x_i'w) - l'(x_i'v)) x_i / |B|) - eta g,
//! g = the loss part of the gradient at v
//! ```
//!
//! Off the support of w and off the columns that the rows of B touch it is `-eta g`, whose order is that of |g| and the
//! same for all steps of a snapshot. So the k winners are among the support, the columns touched, and the first k of
//! the others in the order of |g|, which is made once per snapshot: a step costs the entries of its rows and O(k +
//! columns touched), never O(p). The predictions at v come once per snapshot from its k columns. A full matrix touches
//! everything and pays p. Where k counts groups, a column touched brings its whole group, and groups are ordered by the
//! lengths of their parts of g.
//!
//! What differs from the paper: by default the step starts at `1 / (L + Lmax/|B|)` (L, Lmax the smoothness of f and of
//! a single sample), a snapshot is kept only if f has fallen, and the step is halved if not: f never rises from
//! snapshot to snapshot. Where its noise leaves it does not only hang on the data, so the last support is improved by
//! swaps until none helps. On the hinge loss the gradients are subgradients and the method a heuristic.

mod entry;

pub(super) use entry::METHOD;

use super::ascent::spectral_estimate;
use super::grahtp::settle;
use super::run::{Iterate, Run};
use super::{Limits, Progress, Solution, Solver, Status};
use crate::error::{Error, Result, check_finite, check_option};
use crate::loss::weighed;
use crate::objective::{Objective, Risk};
use crate::restricted::InnerOptions;
use crate::sparsity::{Budget, Sparsity, better_first};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::ControlFlow;

/// How long a stochastic step is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum StochasticStep {
    /// `1 / (L + Lmax/|B|)` to begin with; longer while f falls from snapshot to snapshot, halved where it does not.
    #[default]
    Adaptive,
    /// `1 / (L + Lmax/|B|)` all along, whatever f does.
    Constant,
    /// This eta, on the mean loss.
    Fixed(f64),
}

/// SVR-GHT. Needs a [`Risk`](crate::Risk): samples to draw from.
///
/// An iteration is one snapshot with its inner steps.
///
/// ```
/// use ksparse::{Risk, Sparsity, loss::Logistic, simulate, solver::{Solver, Svrght}};
/// let data = simulate::logistic(500, 100, 5, simulate::Correlation::Independent, 7);
/// let risk = Risk::new(&data.design, &data.target, Logistic::default())?.with_ridge(1e-3)?;
/// let solution = Svrght { batch: Some(10), ..Svrght::default() }.fit(&risk, &Sparsity::new(5))?;
/// assert!(solution.trace.windows(2).all(|t| t[1].value <= t[0].value));
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Svrght {
    /// Rows in a mini-batch. Default: as many as hold 2k entries (H_k should not cost more than they do), and as many
    /// as it takes for the step not to suffer from the smallness of the batch.
    pub batch: Option<usize>,
    /// Inner steps between two snapshots. Default: as many as draw n rows.
    pub inner_steps: Option<usize>,
    /// The step. Default adaptive.
    pub step: StochasticStep,
    /// Of the mini-batches. Default 0.
    pub seed: u64,
    /// Minimise f on the last support before returning, and with the adaptive step go on by swaps. Default true.
    pub refit: bool,
    /// When to stop; the tolerance compares snapshots.
    pub limits: Limits,
}

impl Default for Svrght {
    fn default() -> Self {
        Self {
            batch: None,
            inner_steps: None,
            step: StochasticStep::Adaptive,
            seed: 0,
            refit: true,
            limits: Limits::default(),
        }
    }
}

/// Halvings of the step after which nothing more is to be had.
const HALVINGS: usize = 20;

impl Solver for Svrght {
    fn name(&self) -> &'static str {
        "svrght"
    }

    fn solve(
        &self,
        objective: &dyn Objective,
        sparsity: &Sparsity,
        start: Option<&Solution>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution> {
        let need = "samples to draw from (an empirical risk)";
        let risk = &Risk::of(objective.samples().ok_or(Error::Unsupported { solver: self.name(), need })?);
        let run = Run::without_gradient(objective, sparsity, &self.limits, watch)?;
        self.validate()?;
        run.unless_cancelled(start, |run| self.search(run, risk, start))
    }
}

impl Svrght {
    fn search(&self, run: &mut Run, risk: &Risk, start: Option<&Solution>) -> Result<Solution> {
        check_finite("square of a column", risk.weighted_squares())?;
        let mut at = run.begin_at(start)?;
        let mut best = at.clone();
        let smoothness = Smoothness::new(risk);
        let (batch, steps) = self.sizes(risk, &run.budget, &smoothness);
        let adaptive = self.step == StochasticStep::Adaptive;
        let mut eta = if let StochasticStep::Fixed(eta) = self.step { eta } else { smoothness.step(batch) };
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut inner = Inner::new(risk, run.budget.clone());
        let mut halvings = 0;
        loop {
            inner.snapshot(&at)?;
            for _ in 0..steps {
                run.cancel().ask()?;
                let rows: Vec<usize> = (0..batch).map(|_| rng.random_range(0..risk.target().len())).collect();
                inner.step(&rows, eta);
            }
            let (support, x) = inner.point();
            let next = run.evaluate(support, x)?;
            if !adaptive && !next.value.is_finite() {
                return self.finish(run, best, Status::Diverged);
            }
            if adaptive && (next.value.is_nan() || next.value > at.value) {
                // Too long: from the last snapshot again. The watcher and the limits hold all the same.
                eta *= 0.5;
                halvings += 1;
                let limit = run.poll(&at, 0, Some(eta));
                if halvings > HALVINGS || limit.is_some() {
                    return self.finish(run, best, limit.unwrap_or(Status::Tolerance));
                }
                continue;
            }
            halvings = 0;
            if next.value < best.value {
                best = next.clone();
            }
            let limit = run.record(&at, &next, Some(eta));
            let settled = run.settled(&at, &next).then_some(Status::Tolerance);
            if let Some(status) = limit.filter(|s| s.outranks_convergence()).or(settled).or(limit) {
                return self.finish(run, best, status);
            }
            at = next;
            if adaptive {
                eta *= 1.5;
            }
        }
    }
}

impl Svrght {
    fn finish(&self, run: &mut Run, best: Iterate, status: Status) -> Result<Solution> {
        if !self.refit {
            return run.finish(best, status);
        }
        if self.step == StochasticStep::Adaptive {
            return settle(run, best, status);
        }
        let refitted = run.refit(best.support.clone(), best.x.clone(), &InnerOptions::EXACT)?;
        run.finish(if refitted.value <= best.value { refitted } else { best }, status)
    }

    fn validate(&self) -> Result<()> {
        if let StochasticStep::Fixed(eta) = self.step {
            check_option(eta > 0.0 && eta.is_finite(), "step", eta, "positive and finite")?;
        }
        check_option(self.batch != Some(0), "batch", 0, "at least 1")?;
        check_option(self.inner_steps != Some(0), "inner_steps", 0, "at least 1")
    }

    /// Rows in a batch, batches between snapshots.
    fn sizes(&self, risk: &Risk, budget: &Budget, smoothness: &Smoothness) -> (usize, usize) {
        let n = risk.target().len();
        let row = (risk.design().cost() / n as f64).max(1.0);
        let entries = (2 * budget.k) as f64 * budget.mean_size();
        let balanced = (entries / row).max(smoothness.largest / smoothness.mean.max(f64::MIN_POSITIVE));
        let batch = self.batch.unwrap_or(balanced.min(n as f64).ceil() as usize).clamp(1, n);
        (batch, self.inner_steps.unwrap_or(n.div_ceil(batch)))
    }
}

/// How smooth f is, and the roughest of its samples.
struct Smoothness {
    mean: f64,
    largest: f64,
}

impl Smoothness {
    fn new(risk: &Risk) -> Self {
        // A loss with corners, or one that bends without bound, is taken for one rounded over a width of a quarter.
        let bend = risk.loss().smoothness().bound().unwrap_or(4.0);
        let all: Vec<usize> = (0..risk.target().len()).collect();
        let mut row = Vec::new();
        let mut square = |i: usize| {
            risk.design().row(i, &mut row);
            risk.weights()[i] * row.iter().map(|(_, v)| v * v).sum::<f64>()
        };
        let largest = all.iter().map(|&i| square(i)).fold(0.0, f64::max);
        let mean = bend * spectral_estimate(risk, &all) + risk.ridge();
        Self { mean, largest: bend * all.len() as f64 * largest + risk.ridge() }
    }

    /// One over the smoothness that a mini-batch shows in the mean.
    fn step(&self, batch: usize) -> f64 {
        let smoothness = self.mean + self.largest / batch as f64;
        if smoothness > 0.0 && smoothness.is_finite() { 1.0 / smoothness } else { 1.0 }
    }
}

/// The inner loop: the current point, what belongs to the snapshot, and scratch of length p that is clean between
/// steps.
struct Inner<'a> {
    risk: &'a Risk<'a>,
    budget: Budget,
    support: Vec<usize>,
    /// The current point, written out.
    w: Vec<f64>,
    /// l'(x_i'v).
    derivatives: Vec<f64>,
    /// The loss part of the gradient at v, and the units of the budget by its size, as many as have been needed.
    gradient: Vec<f64>,
    order: Vec<usize>,
    /// The gradient of the batch's loss less that at v, on the columns touched.
    change: Vec<f64>,
    touched: Vec<usize>,
    is_candidate: Vec<bool>,
    row: Vec<(usize, f64)>,
}

impl<'a> Inner<'a> {
    fn new(risk: &'a Risk<'a>, budget: Budget) -> Self {
        let p = risk.dim();
        Self {
            risk,
            budget,
            support: Vec::new(),
            w: vec![0.0; p],
            derivatives: Vec::new(),
            gradient: vec![0.0; p],
            order: Vec::new(),
            change: vec![0.0; p],
            touched: Vec::new(),
            is_candidate: vec![false; p],
            row: Vec::new(),
        }
    }

    /// v = w = `at`.
    fn snapshot(&mut self, at: &Iterate) -> Result<()> {
        self.support.iter().for_each(|&j| self.w[j] = 0.0);
        self.support.clone_from(&at.support);
        at.as_sparse().iter().for_each(|(j, x)| self.w[j] = x);
        let (loss, y, c) = (self.risk.loss(), self.risk.target(), self.risk.weights());
        let z = self.risk.predictions(at.as_sparse());
        self.derivatives = z.iter().zip(y).map(|(&z, &y)| loss.at(z, y).derivative).collect();
        let weighted: Vec<f64> = self.derivatives.iter().zip(c).map(|(&d, &c)| weighed(c, d)).collect();
        self.risk.design().tmul(&weighted, &mut self.gradient);
        self.risk.design().health()?;
        check_finite("gradient (so the data)", &self.gradient)?;
        self.order.clear();
        Ok(())
    }

    /// `w = H_k(w - eta (grad f_B(w) - grad f_B(v) + g))`.
    fn step(&mut self, rows: &[usize], eta: f64) {
        let (loss, y, c) = (self.risk.loss(), self.risk.target(), self.risk.weights());
        let unit = y.len() as f64 / rows.len() as f64;
        let mut candidates = std::mem::take(&mut self.touched);
        candidates.extend_from_slice(&self.support);
        candidates.iter().for_each(|&j| self.is_candidate[j] = true);
        for &i in rows {
            self.risk.design().row(i, &mut self.row);
            let z: f64 = self.row.iter().map(|&(j, v)| v * self.w[j]).sum();
            let change = unit * weighed(c[i], loss.at(z, y[i]).derivative - self.derivatives[i]);
            if change == 0.0 {
                continue;
            }
            for &(j, v) in &self.row {
                self.change[j] += change * v;
                if !self.is_candidate[j] {
                    self.is_candidate[j] = true;
                    candidates.push(j);
                }
            }
        }
        self.complete(&mut candidates);
        // The points before thresholding where they differ from -eta g; the scratch is clean again.
        for &j in &candidates {
            let ridge = if self.risk.free().contains(&j) { 0.0 } else { self.risk.ridge() };
            self.w[j] = (1.0 - eta * ridge) * self.w[j] - eta * (self.change[j] + self.gradient[j]);
            self.change[j] = 0.0;
        }
        // A unit is scored where its first coordinate stands.
        let mut scored = Vec::with_capacity(candidates.len() + self.budget.k);
        let first = |&j: &usize| self.budget.unit(j).filter(|&unit| self.budget.members(unit).next() == Some(j));
        scored.extend(candidates.iter().filter_map(first).map(|unit| self.scored(unit)));
        self.add_others(&mut scored, eta);
        candidates.iter().for_each(|&j| self.is_candidate[j] = false);
        // H_k.
        let k = self.budget.k;
        if scored.len() > k && k > 0 {
            scored.select_nth_unstable_by(k - 1, better_first);
        }
        self.support.clear();
        for (place, &(score, unit)) in scored.iter().enumerate() {
            if place < k && score > 0.0 {
                self.support.extend(self.budget.members(unit));
            } else {
                self.budget.members(unit).for_each(|j| self.w[j] = 0.0);
            }
        }
        self.support.extend_from_slice(&self.budget.free);
        candidates.clear();
        self.touched = candidates;
    }

    /// The rest of the groups that candidates are of.
    fn complete(&mut self, candidates: &mut Vec<usize>) {
        if self.budget.is_grouped() {
            for unit in self.budget.units_of(candidates) {
                candidates.extend(self.budget.members(unit).filter(|&j| !self.is_candidate[j]));
            }
            candidates.iter().for_each(|&j| self.is_candidate[j] = true);
        }
    }

    /// A unit as it is ranked: by its length.
    fn scored(&self, unit: usize) -> (f64, usize) {
        (self.budget.score(unit, |j| self.w[j].abs()), unit)
    }

    /// The first k units in the order of |g| that are not candidates yet.
    fn add_others(&mut self, scored: &mut Vec<(f64, usize)>, eta: f64) {
        let (k, all) = (self.budget.k, self.budget.units());
        let mut wanted = (3 * k + scored.len()).min(all);
        loop {
            if self.order.len() < wanted {
                self.order = self.budget.top(wanted, |j| self.gradient[j].abs());
                // All that are not zero are there: asking for more brings nothing.
                if self.order.len() < wanted {
                    wanted = all;
                }
            }
            let is_other = |unit: &usize| self.budget.members(*unit).all(|j| !self.is_candidate[j]);
            let others: Vec<usize> = self.order.iter().copied().filter(is_other).take(k).collect();
            if others.len() == k || wanted == all {
                for unit in others {
                    self.budget.members(unit).for_each(|j| self.w[j] = -eta * self.gradient[j]);
                    scored.push(self.scored(unit));
                }
                return;
            }
            wanted = (2 * wanted).min(all);
        }
    }

    /// The current point: its coordinates, ascending, and their values.
    fn point(&self) -> (Vec<usize>, Vec<f64>) {
        let mut support = self.support.clone();
        support.sort_unstable();
        let x = support.iter().map(|&j| self.w[j]).collect();
        (support, x)
    }
}
