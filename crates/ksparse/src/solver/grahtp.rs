//! GraHTP and FGraHTP: gradient hard thresholding pursuit.
//!
//! ```text
//! (S1)  xt = x - eta grad f(x)
//! (S2)  F  = the k largest |xt_j|
//! (S3)  x  = argmin f over supports inside F        (debiasing; FGraHTP: x = xt on F)
//! ```
//!
//! X.-T. Yuan, P. Li, T. Zhang, "Gradient Hard Thresholding Pursuit for Sparsity-Constrained Optimization", ICML 2014
//! (arXiv 1311.5750). On least squares these are HTP (S. Foucart, SIAM J. Numer. Anal. 49, 2011) and IHT (T.
//! Blumensath, M. Davies, ACHA 27, 2009), whose step is on the sum of squares: [`Grahtp::htp`] and [`Grahtp::iht`] take
//! it so.
//!
//! What differs here: the default step is not a constant. With exact debiasing a step is a number of swaps (see
//! `swap.rs`): a ladder starts at k/4, halves while f does not fall, doubles while the gains last, and ends when a
//! single swap fails. S3 is loose on the way (to 1e-3 of f before its last Newton step) and exact at the end, where the
//! fixed point is checked again. Without exact debiasing, a Barzilai-Borwein step is halved until f falls enough.
//! Either way **f never rises**. A fixed step is taken as it is, with S3 exact throughout: f may rise, the supports may
//! cycle (detected), and the best point seen is returned.
//!
//! A loss with corners (hinge, with a ridge) is accepted too: gradients are then subgradients, S3 is dual coordinate
//! ascent on the support. None of the theory covers that: **on such losses these methods are heuristics**, there to be
//! compared with.

mod entries;

pub(super) use entries::{FAST, HTP, IHT, METHOD};

use super::ascent::spectral_estimate;
use super::auto::is_limit;
use super::descent::{Descent, descend};
use super::run::{Iterate, Run, union};
use super::{Limits, Progress, Solution, Solver, Status};
use crate::error::{Error, Result, check_option};
use crate::objective::{Objective, Risk};
use crate::restricted::InnerOptions;
use crate::sparsity::{Budget, Sparsity};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// How long a gradient step is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Step {
    /// Chosen per iteration so that f never rises.
    #[default]
    Adaptive,
    /// 0.99 / M_2k, for objectives that know their smoothness: finite termination is a theorem.
    Theory,
    /// This eta.
    Fixed(f64),
}

/// What is done on the support chosen in S2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Debias {
    /// f is minimised there: GraHTP.
    #[default]
    Exact,
    /// One restricted Newton step from the truncated point, shortened where the whole of it raises f.
    NewtonStep,
    /// One restricted gradient step from the truncated point.
    GradientStep,
    /// Nothing, the truncated point is taken: FGraHTP.
    Nothing,
}

/// GraHTP, FGraHTP, HTP, IHT.
///
/// ```
/// use ksparse::{Risk, Sparsity, loss::Logistic, simulate, solver::{Grahtp, Solver, Step}};
/// let data = simulate::logistic(200, 50, 5, simulate::Correlation::Independent, 7);
/// let risk = Risk::new(&data.design, &data.target, Logistic::default())?.with_ridge(1e-3)?;
/// let adaptive = Grahtp::default().fit(&risk, &Sparsity::new(5))?;
/// let textbook = Grahtp { step: Step::Theory, ..Grahtp::default() }.fit(&risk, &Sparsity::new(5))?;
/// assert!(adaptive.value <= textbook.value);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Grahtp {
    /// The step. Default adaptive.
    pub step: Step,
    /// S3. Default exact.
    pub debias: Debias,
    /// Compare coordinates in units of curvature (`|x| sqrt(h)` against `|g| / sqrt(h)`) instead of as they stand;
    /// exact debiasing with the adaptive step only. Default false: the method as published.
    pub scaled: bool,
    /// When to stop.
    pub limits: Limits,
    /// A fixed step is on the sum of the losses (HTP, IHT), not on their mean. Default false.
    pub step_on_sum: bool,
}

impl Default for Grahtp {
    fn default() -> Self {
        Self {
            step: Step::Adaptive,
            debias: Debias::Exact,
            scaled: false,
            limits: Limits::default(),
            step_on_sum: false,
        }
    }
}

impl Grahtp {
    /// FGraHTP: no debiasing.
    pub fn fast() -> Self {
        Self { debias: Debias::Nothing, ..Self::default() }
    }

    /// HTP: GraHTP whose fixed step is on the sum of the losses (`x + eta A'(y - Ax)` on least squares).
    pub fn htp() -> Self {
        Self { step_on_sum: true, ..Self::default() }
    }

    /// IHT: FGraHTP whose fixed step is on the sum of the losses.
    ///
    /// ```
    /// use ksparse::{Risk, Sparsity, loss::Squared, simulate, solver::{Grahtp, Solver, Step}};
    /// // Columns of norm about 1, so that a step of 0.5 on the sum is short enough here.
    /// let data = simulate::compressed_sensing(80, 100, 4, 1);
    /// let risk = Risk::new(&data.design, &data.target, Squared::default())?;
    /// let textbook = Grahtp { step: Step::Fixed(0.5), ..Grahtp::iht() };
    /// assert_eq!(textbook.fit(&risk, &Sparsity::new(4))?.support, data.support);
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn iht() -> Self {
        Self { step_on_sum: true, ..Self::fast() }
    }

    /// What a step as it is set must be multiplied by to be one on f, the mean.
    fn unit(&self, objective: &dyn Objective) -> f64 {
        let weight = || objective.samples().map_or(1.0, |samples| samples.total_weight());
        if self.step_on_sum { weight() } else { 1.0 }
    }

    fn fixed_step(&self, objective: &dyn Objective, budget: &Budget) -> Result<Option<f64>> {
        match self.step {
            Step::Adaptive => Ok(None),
            Step::Fixed(eta) => {
                check_option(eta > 0.0 && eta.is_finite(), "step", eta, "positive and finite")?;
                Ok(Some(eta * self.unit(objective)))
            }
            Step::Theory => {
                let need = "a smoothness constant (or give the step as a number)";
                // Two iterates differ in at most 2k coordinates and the free ones.
                let bound = objective.smoothness(budget.most(2 * budget.k).max(1))?;
                let bound = bound.bound().filter(|m| m.is_finite() && *m > 0.0);
                bound.map(|m| Some(0.99 / m)).ok_or(Error::Unsupported { solver: self.name(), need })
            }
        }
    }
}

impl Solver for Grahtp {
    fn name(&self) -> &'static str {
        match (self.step_on_sum, self.debias) {
            (true, Debias::Nothing) => "iht",
            (true, _) => "htp",
            (false, Debias::Nothing) => "fgrahtp",
            (false, _) => "grahtp",
        }
    }

    fn solve(
        &self,
        objective: &dyn Objective,
        sparsity: &Sparsity,
        start: Option<&Solution>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution> {
        let run = Run::with_subgradient(self.name(), objective, sparsity, &self.limits, watch)?;
        run.unless_cancelled(start, |run| self.search(run, start))
    }
}

impl Grahtp {
    fn search(&self, run: &mut Run, start: Option<&Solution>) -> Result<Solution> {
        let objective = run.objective;
        match (self.fixed_step(objective, &run.budget)?, self.debias) {
            (Some(eta), _) => {
                let first = run.begin_at(start)?;
                self.with_fixed_step(run, first, start.is_none(), eta)
            }
            (None, Debias::Exact) => {
                let first = run.begin(start)?;
                let (at, status) = descend(run, first, &Descent { scaled: self.scaled, ..Descent::CAREFUL })?;
                run.finish(at, status)
            }
            (None, _) => {
                let first = run.begin_at(start)?;
                match objective.samples().filter(|_| objective.profile().corners) {
                    Some(samples) => self.with_subgradients(run, first, &Risk::of(samples)),
                    None => self.with_backtracking(run, first),
                }
            }
        }
    }

    /// S1 to S3 with a constant eta. `minimised` says whether f is at its minimum on the support of the first point
    /// already.
    fn with_fixed_step(&self, run: &mut Run, mut at: Iterate, mut minimised: bool, eta: f64) -> Result<Solution> {
        let mut best = at.clone();
        let mut seen = HashSet::new();
        let as_set = eta / self.unit(run.objective);
        loop {
            let truncated = step_and_keep(run, &at, run.gradient(&at)?, eta);
            let next = self.debias(run, &at, truncated, eta)?;
            if !next.value.is_finite() {
                return run.finish(best, Status::Diverged);
            }
            if next.value < best.value {
                best = next.clone();
            }
            // With exact debiasing the support determines the point: the same support again is a fixed point, if both
            // were minimised on it (a given start was not), and one seen before a cycle.
            let exact = self.debias == Debias::Exact;
            let fixed = exact && minimised && next.support == at.support;
            let cycled = exact && !fixed && !seen.insert(next.support.clone());
            minimised = exact;
            let limit = run.record(&at, &next, Some(as_set));
            let settled = run.settled(&at, &next);
            at = next;
            if let Some(status) = limit.filter(|s| s.outranks_convergence()) {
                return run.finish(best, status);
            }
            if fixed {
                // The method's own answer, also where a longer step than the theory's has passed a lower point on the
                // way.
                return run.finish(at, Status::SupportStable);
            }
            if cycled {
                return run.finish(best, Status::Cycled);
            }
            if settled {
                return run.finish(best, Status::Tolerance);
            }
            if let Some(status) = limit {
                return run.finish(best, status);
            }
        }
    }

    /// S3 from the truncated point of a step eta from `at`.
    fn debias(&self, run: &Run, at: &Iterate, truncated: Iterate, eta: f64) -> Result<Iterate> {
        let Iterate { support, x: truncated, .. } = truncated;
        match self.debias {
            Debias::Exact => {
                // From the old values where there are any: often nearer to the minimum than the gradient step.
                let x = run.carry(at, &support);
                run.refit(support, x, &InnerOptions::EXACT)
            }
            Debias::NewtonStep => {
                let first = run.evaluate(support, truncated)?;
                // Too long a step overflows: that is for the caller to see, not an error of the data.
                if !first.value.is_finite() {
                    return Ok(first);
                }
                run.refit(first.support, first.x, &InnerOptions::ONE_STEP)
            }
            Debias::GradientStep => {
                let mut restricted = run.objective.restrict(&support)?;
                let mut slope = vec![0.0; support.len()];
                restricted.move_to(&truncated, &mut slope)?;
                let x = truncated.iter().zip(&slope).map(|(x, g)| x - eta * g).collect();
                run.evaluate(support, x)
            }
            Debias::Nothing => run.evaluate(support, truncated),
        }
    }

    /// Inexact debiasing of a loss with corners: subgradient steps `eta_t = 1 / (L + lambda t)`, the lengths that suit
    /// a strongly convex f, with L the smoothness of f for a loss of curvature 1. f may rise; ends when the best f has
    /// not fallen for long. Subgradients come near a fixed point and no nearer, so swaps from the best support lead to
    /// the end: where they stop does not hang on the coordinates that the steps were taken in.
    fn with_subgradients(&self, run: &mut Run, mut at: Iterate, risk: &Risk) -> Result<Solution> {
        const PATIENCE: usize = 50;
        let samples: Vec<usize> = (0..risk.target().len()).collect();
        let smoothness = spectral_estimate(risk, &samples);
        let mut best = at.clone();
        let (mut landmark, mut since) = (at.value, 0);
        loop {
            let eta = 1.0 / (smoothness + risk.ridge() * (1.0 + run.iterations as f64));
            let truncated = step_and_keep(run, &at, run.gradient(&at)?, eta);
            let next = self.debias(run, &at, truncated, eta)?;
            if next.value < best.value {
                best = next.clone();
            }
            let limit = run.record(&at, &next, Some(eta));
            if best.value < landmark * (1.0 - self.limits.tolerance) {
                (landmark, since) = (best.value, run.iterations);
            }
            let stands = self.limits.tolerance > 0.0 && run.iterations >= since + PATIENCE;
            let settled = (stands || run.settled(&at, &next)).then_some(Status::Tolerance);
            if let Some(status) = limit.filter(|s| s.outranks_convergence()).or(settled).or(limit) {
                return settle(run, best, status);
            }
            at = next;
        }
    }

    /// Inexact debiasing: Barzilai-Borwein steps, halved until f falls enough.
    fn with_backtracking(&self, run: &mut Run, mut at: Iterate) -> Result<Solution> {
        let mut eta = first_step(run, &at)?;
        loop {
            let mut accepted = None;
            for _ in 0..60 {
                let truncated = step_and_keep(run, &at, run.gradient(&at)?, eta);
                // The fall to ask for goes with the truncated step, which shortens with eta; a debiased one need not.
                let wanted = 1e-4 / (2.0 * eta) * truncated.distance(&at).0.powi(2);
                let next = self.debias(run, &at, truncated, eta)?;
                let moved = next.distance(&at).0;
                if moved == 0.0 || next.value <= at.value - wanted {
                    accepted = Some((next, moved));
                    break;
                }
                eta *= 0.5;
            }
            // No step lowers f any more: a fixed point, to rounding error.
            let Some((next, moved)) = accepted.filter(|(_, moved)| *moved > 0.0) else {
                return run.finish(at, Status::Tolerance);
            };
            let limit = run.record(&at, &next, Some(eta));
            let settled = run.settled(&at, &next).then_some(Status::Tolerance);
            if let Some(status) = limit.filter(|s| s.outranks_convergence()).or(settled).or(limit) {
                return run.finish(next, status);
            }
            let (gradient, next_gradient) = (run.gradient(&at)?, run.gradient(&next)?);
            // s's / s'y, s the move and y the turn of the gradient over the two supports.
            let mut bend = 0.0;
            for j in union(&at.support, &next.support) {
                bend += (next.at(j) - at.at(j)) * (next_gradient[j] - gradient[j]);
            }
            eta = if bend > 0.0 { moved * moved / bend } else { 2.0 * eta };
            at = next;
        }
    }
}

/// The best point of steps that do not settle (along subgradients, or stochastic ones), minimised on its support and,
/// unless a limit was met, led by swaps to where none helps.
pub(super) fn settle(run: &mut Run, best: Iterate, status: Status) -> Result<Solution> {
    let best = run.refit(best.support, best.x, &InnerOptions::EXACT)?;
    let (at, status) = if is_limit(status) { (best, status) } else { descend(run, best, &Descent::CAREFUL)? };
    run.finish(at, status)
}

/// S1 and S2: `x - eta gradient` cut to the k coordinates that win and the free ones; not evaluated.
fn step_and_keep(run: &Run, at: &Iterate, gradient: &[f64], eta: f64) -> Iterate {
    let mut moved: Vec<f64> = gradient.iter().map(|g| -eta * g).collect();
    at.as_sparse().iter().for_each(|(j, x)| moved[j] += x);
    let support = run.budget.winners(run.budget.k, |j| moved[j].abs());
    let x = support.iter().map(|&j| moved[j]).collect();
    Iterate::new(support, x, f64::NAN, true)
}

/// A length to begin with, whatever the units of f and x: from one that moves the largest coordinate by 1, shorter
/// while f rises, longer while f does not feel it, then as long as f falls further.
fn first_step(run: &Run, at: &Iterate) -> Result<f64> {
    let gradient = run.gradient(at)?;
    let value = |eta: f64| run.objective.value(step_and_keep(run, at, gradient, eta).as_sparse());
    let rounding = run.trifle(at, 1e-13)?;
    let first = 1.0 / gradient.iter().fold(f64::MIN_POSITIVE, |m, g| m.max(g.abs()));
    let mut eta = first;
    let (mut shortened, mut lengthened) = (false, false);
    let mut here = loop {
        let here = value(eta)?;
        let unfelt = (here - at.value).abs() <= rounding;
        if here < at.value - rounding || (unfelt && shortened) || !(f64::MIN_POSITIVE..1e300).contains(&eta) {
            break here;
        }
        if !unfelt && lengthened {
            // From not felt to too long: there is nothing to gain from here.
            return Ok(first);
        }
        (shortened, lengthened) = (shortened || !unfelt, lengthened || unfelt);
        eta = if unfelt { 16.0 * eta } else { eta / 16.0 };
    };
    loop {
        let longer = value(4.0 * eta)?;
        if longer.is_nan() || longer >= here {
            return Ok(eta);
        }
        (eta, here) = (4.0 * eta, longer);
    }
}
