//! Ascent on the dual function: what DIHT and SDIHT share. See `diht.rs` for the method and its steps.

mod step;

pub use step::DualStep;
pub(super) use step::spectral_estimate;

use super::run::{Iterate, Run};
use super::{Limits, Solution, Status};
use crate::dual::{Drift, Dual, DualPoint, FARTHEST};
use crate::error::{Error, Result, check_finite};
use crate::objective::{Objective, Risk};
use crate::restricted::InnerOptions;
use crate::sparsity::Sparsity;
use step::Rule;

/// The state of a dual ascent: a, u(a), the best of both sides.
pub(super) struct Ascent<'a> {
    pub dual: Dual<'a>,
    /// The samples of each block.
    pub blocks: Vec<Vec<usize>>,
    pub a: Vec<f64>,
    /// u(a), not thresholded.
    pub u: Vec<f64>,
    rule: Rule,
    /// Block steps taken.
    steps: usize,
    /// The multiplier of the constraint that an intercept brings, from the last step: where the next search begins.
    shift: f64,
    at: Iterate,
    /// The least P(w) seen, the start not counted; and the start.
    best: Option<Iterate>,
    first: Iterate,
    /// The largest D, to rounding, and where it was: what steers the ascent.
    best_dual: f64,
    best_a: Vec<f64>,
    /// The largest bound: D rounded down.
    best_bound: f64,
    /// The largest |a_i| since u was computed afresh, and how many rows have been added to it since.
    peaks: Vec<f64>,
    pub additions: usize,
    /// Epochs since D last rose.
    failing: usize,
    /// The best value and bound when either last moved noticeably, and when that was.
    landmark: (f64, f64, usize),
}

/// Epochs without noticeable progress that end a run.
const PATIENCE: usize = 50;

/// Epochs in a row without a rise of D after which an adaptive ascent returns to its best dual vector.
const LOST: usize = 10;

impl<'a> Ascent<'a> {
    /// At the start: a = 0 (or l'(0)), or the dual vector of a given primal point.
    pub fn new(
        solver: &'static str,
        run: &Run<'_>,
        risk: &'a Risk<'a>,
        sparsity: &Sparsity,
        start: Option<&Solution>,
        step: DualStep,
        blocks: Vec<Vec<usize>>,
    ) -> Result<Self> {
        let dual = Dual::new(risk, sparsity)?;
        check_finite("square of a column", risk.weighted_squares())?;
        let given = start.map(|s| run.begin_at(Some(s))).transpose()?;
        // A proximal step may start at an end of the domain, and 0 is in every domain.
        let start = || if step == DualStep::Adaptive { vec![0.0; risk.target().len()] } else { dual.start() };
        let a = given.as_ref().map_or_else(start, |at| dual.plug_in(at.as_sparse()));
        let mut u = vec![0.0; risk.dim()];
        dual.scores(&a, &mut u);
        check_finite("gradient (so the data)", &u)?;
        let rule = Rule::new(solver, step, risk, dual.k(), &blocks)?;
        let point = dual.point(&a, &u);
        let at = primal(&dual, &point, &risk.predictions(point.as_sparse()));
        let origin = || {
            let (support, coefficients) = (dual.whole().to_vec(), vec![0.0; dual.whole().len()]);
            primal(&dual, &DualPoint { support, coefficients, value: 0.0 }, &vec![0.0; a.len()])
        };
        let first = given.unwrap_or_else(origin);
        let best_bound = dual.lower_bound_at(&a, &u, Drift::default());
        let landmark = (first.value, best_bound, 0);
        let (best_a, best_dual) = (a.clone(), point.value);
        Ok(Self {
            best_bound,
            peaks: a.iter().map(|a| a.abs()).collect(),
            additions: 0,
            dual,
            blocks,
            a,
            u,
            rule,
            steps: 0,
            shift: 0.0,
            at,
            best: None,
            first,
            best_dual,
            best_a,
            failing: 0,
            landmark,
        })
    }

    /// X w(a).
    pub fn predictions(&self) -> Vec<f64> {
        self.dual.risk().predictions(self.dual.point(&self.a, &self.u).as_sparse())
    }

    /// u(a) computed afresh.
    pub fn refresh(&mut self) {
        self.dual.scores(&self.a, &mut self.u);
        self.peaks.iter_mut().zip(&self.a).for_each(|(peak, a)| *peak = a.abs());
        self.additions = 0;
    }

    /// Moves the dual variables of one block, given the predictions `z` of its samples at w(a), in the order of the
    /// block.
    pub fn advance(&mut self, block: usize, z: &[f64]) {
        let (samples, rule, t) = (&self.blocks[block], &self.rule, self.steps);
        let (dual, a) = (&self.dual, &self.a);
        let moved = |s: usize, shift: f64| rule.moved(dual, block, t, samples[s], a[samples[s]], z[s] + shift);
        let next: Vec<f64> = if dual.risk().has_intercept() {
            // The block keeps its sum: the multiplier of that constraint is an intercept. Between the two ends of the
            // bracket around it lies a point that keeps the sum exactly, also where the sum jumps.
            let c = dual.risk().weights();
            let change = |b: f64| samples.iter().enumerate().map(|(s, &i)| c[i] * (moved(s, b) - a[i])).sum::<f64>();
            let (low, high) = bracket_near(self.shift, &change);
            let (below, above) = (change(low), change(high));
            let share = if above > below { (-below / (above - below)).clamp(0.0, 1.0) } else { 0.0 };
            self.shift = low + share * (high - low);
            // Rounding may leave the domain.
            let (conjugate, y) = (dual.risk().loss().conjugate(), dual.risk().target());
            let between = |s: usize| (1.0 - share) * moved(s, low) + share * moved(s, high);
            (0..samples.len()).map(|s| conjugate.project(between(s), y[samples[s]])).collect()
        } else {
            (0..samples.len()).map(|s| moved(s, 0.0)).collect()
        };
        for (&i, next) in samples.iter().zip(next) {
            self.a[i] = next;
            self.peaks[i] = self.peaks[i].max(next.abs());
        }
        self.steps += 1;
    }

    /// The end of an epoch: takes stock of w(a) with predictions z, records it, adapts the step. `Some` when the run is
    /// over. If the ascent returns to an earlier dual vector, z becomes its predictions.
    pub fn note(&mut self, run: &mut Run, limits: &Limits, point: &DualPoint, z: &mut Vec<f64>) -> Option<Status> {
        let next = primal(&self.dual, point, z);
        let step = self.rule.length(self.steps, self.dual.risk().total_weight());
        if !next.value.is_finite() || !point.value.is_finite() {
            return Some(Status::Diverged);
        }
        let c = self.dual.risk().weights();
        let size = self.peaks.iter().zip(c).map(|(peak, c)| c * peak * peak).sum();
        let drift = Drift { additions: self.additions, size };
        self.best_bound = self.best_bound.max(self.dual.lower_bound_at(&self.a, &self.u, drift));
        let (rose, gain) = (point.value > self.best_dual, point.value - self.best_dual);
        // Beyond nine digits a change says nothing about the step.
        let noticeable = gain.abs() > 1e-9 * self.best_dual.abs();
        if noticeable {
            self.rule.adapt(rose);
        }
        if rose {
            self.best_dual = point.value;
            self.best_a.copy_from_slice(&self.a);
        }
        self.failing = if rose || !noticeable { 0 } else { self.failing + 1 };
        if self.failing == LOST
            && let Rule::Proximal { scale, .. } = &mut self.rule
        {
            // Astray: back to the best dual vector, with shorter steps.
            *scale *= 2.0;
            self.failing = 0;
            self.a.copy_from_slice(&self.best_a);
            self.refresh();
            *z = self.predictions();
        }
        if self.best.as_ref().is_none_or(|best| next.value < best.value) {
            self.best = Some(next.clone());
        }
        run.dual = Some(self.best_bound).filter(|bound| bound.is_finite());
        let limit = run.record(&self.at, &next, step);
        self.at = next;
        limit.filter(|s| s.outranks_convergence()).or(self.settled(run, limits)).or(limit)
    }

    /// Over when the gap is within the tolerance, or when for long neither side has moved by a tenth of it.
    fn settled(&mut self, run: &Run, limits: &Limits) -> Option<Status> {
        let best = self.best.as_ref().map_or(self.first.value, |best| best.value.min(self.first.value));
        let size = limits.tolerance * best.abs();
        if limits.tolerance == 0.0 {
            return None;
        }
        if best - self.best_bound <= size {
            return Some(Status::Tolerance);
        }
        let (value, bound, since) = self.landmark;
        if value - best > 0.1 * size || self.best_bound - bound > 0.1 * size {
            self.landmark = (best, self.best_bound, run.iterations);
        } else if run.iterations >= since + PATIENCE {
            return Some(Status::Tolerance);
        }
        None
    }

    /// The best primal point and the best dual vector. If asked for, the best and the last w(a) are first refitted on
    /// their supports: at a small ridge P(w(a)) may stay above P(0) although the support is a good one.
    pub fn finish(self, run: &mut Run, refit: bool, status: Status) -> Result<Solution> {
        self.dual.risk().design().health()?;
        let last = self.dual.lower_bound(&self.best_a).max(self.best_bound);
        run.set_last_bound(Some(last).filter(|bound| bound.is_finite()));
        let mut found = vec![self.first];
        for point in self.best.into_iter().chain([self.at]) {
            let refitted = if refit && point.value.is_finite() {
                match run.refit(point.support.clone(), point.x.clone(), &InnerOptions::EXACT) {
                    Err(Error::Cancelled) => None,
                    refitted => Some(refitted?),
                }
            } else {
                None
            };
            found.push(point);
            found.extend(refitted);
        }
        // Of equal values the later one.
        let best = found.into_iter().rev().min_by(|a, b| a.value.total_cmp(&b.value));
        let best = best.ok_or(Error::NotFinite { what: "objective", index: 0 })?;
        Ok(Solution { dual_vector: Some(self.best_a), ..run.finish(best, status)? })
    }
}

/// w(a) with its value, given its predictions; an intercept is put at its best.
fn primal(dual: &Dual, point: &DualPoint, z: &[f64]) -> Iterate {
    let risk = dual.risk();
    let (mut support, mut x) = (point.support.clone(), point.coefficients.clone());
    let penalty = 0.5 * risk.ridge() * x.iter().map(|w| w * w).sum::<f64>();
    let loss = if risk.has_intercept() {
        let b = dual.best_intercept(z);
        support.extend_from_slice(risk.free());
        x.push(b / risk.intercept_unit());
        let shifted: Vec<f64> = z.iter().map(|z| z + b).collect();
        risk.loss().total(&shifted, risk.target(), risk.weights())
    } else {
        risk.loss().total(z, risk.target(), risk.weights())
    };
    Iterate::new(support, x, loss + penalty, true)
}

/// A narrow bracket around the root of a non-decreasing function, searched for outwards from `guess`, then by the
/// Illinois rule of false position. Where the function does not change its sign, a point where it is (nearly) 0, twice.
fn bracket_near(guess: f64, f: &dyn Fn(f64) -> f64) -> (f64, f64) {
    let first = f(guess);
    if first == 0.0 || first.is_nan() {
        return (guess, guess);
    }
    let side = -first.signum();
    let (mut near, mut near_value) = (guess, first);
    let (mut far, mut far_value, mut width) = (guess, first, 0.01 + 0.01 * guess.abs());
    while far_value * first > 0.0 {
        if width > FARTHEST {
            return (far, far);
        }
        (near, near_value) = (far, far_value);
        far = guess + side * width;
        far_value = f(far);
        width *= 4.0;
    }
    // `near_value` and `far_value` have opposite signs; the halved ones only steer.
    let (mut low, mut high) = if side > 0.0 { (near, far) } else { (far, near) };
    let negligible = 1e-15 * near_value.abs().max(far_value.abs());
    for _ in 0..100 {
        if far_value.abs() <= negligible {
            return (far, far);
        }
        let mut next = far - far_value * (far - near) / (far_value - near_value);
        if !(next > low && next < high) {
            next = 0.5 * (low + high);
        }
        if next <= low || next >= high || high - low <= 1e-14 * (low.abs() + high.abs()) {
            break;
        }
        let value = f(next);
        if value <= 0.0 {
            low = next
        } else {
            high = next
        }
        if value * far_value < 0.0 {
            (near, near_value) = (far, far_value);
        } else {
            near_value *= 0.5;
        }
        (far, far_value) = (next, value);
    }
    (low, high)
}
