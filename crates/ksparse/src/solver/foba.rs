//! FoBa: adaptive forward-backward greedy selection.
//!
//! Forward: add the coordinate with the largest gradient ([`ForwardRule::Gradient`]) or the largest one-coordinate
//! decrease ([`ForwardRule::Decrease`]), refit, and note the decrease `d[s]` that reaching size s brought. Backward:
//! while zeroing the cheapest coefficient raises f by less than `d[s] / 2`, drop it and refit.
//!
//! T. Zhang, "Adaptive Forward-Backward Greedy Algorithm for Learning Sparse Representations", NeurIPS 2008; general
//! losses: J. Liu, J. Ye, R. Fujimaki, "Forward-Backward Greedy Algorithms for General Convex Smooth Functions over A
//! Cardinality Constraint", ICML 2014. The papers have no k: here the support grows until it has k coordinates, and the
//! search ends when a further forward step does not survive the backward test. The best point with at most k
//! coordinates is returned.

use super::registry::{Choice, Method, PUBLISHED, Value};
use super::run::{Iterate, Run};
use super::{Limits, Progress, Solution, Solver, Status};
use crate::error::{Result, check_option};
use crate::objective::Objective;
use crate::restricted::InnerOptions;
use crate::sparsity::{SparseRef, Sparsity};
use std::ops::ControlFlow;

/// How FoBa picks the coordinate to add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForwardRule {
    /// The largest |gradient|.
    #[default]
    Gradient,
    /// The largest decrease of f over that one coordinate, found by minimising along each of the candidates.
    Decrease,
}

/// FoBa.
///
/// ```
/// use ksparse::{Risk, Sparsity, loss::Squared, simulate, solver::{Foba, ForwardRule, Solver}};
/// let data = simulate::linear(100, 50, 4, simulate::Correlation::Ar1(0.5), 0.1, 1);
/// let risk = Risk::new(&data.design, &data.target, Squared::default())?;
/// let by_decrease = Foba { forward: ForwardRule::Decrease, ..Foba::default() };
/// assert_eq!(by_decrease.fit(&risk, &Sparsity::new(4))?.support, data.support);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Foba {
    /// The forward rule. Default the gradient.
    pub forward: ForwardRule,
    /// Candidates of the [`ForwardRule::Decrease`] rule, taken by gradient. Default all.
    pub candidates: usize,
    /// Stop when a forward step gains less than this fraction of f. Default 0: only k stops it.
    pub least_gain: f64,
    /// When to stop; the tolerance is not used.
    pub limits: Limits,
}

impl Default for Foba {
    fn default() -> Self {
        Self {
            forward: ForwardRule::Gradient,
            candidates: usize::MAX,
            least_gain: 0.0,
            limits: Limits { max_iterations: usize::MAX, ..Limits::default() },
        }
    }
}

/// Its entry in the table of solvers.
pub(super) const METHOD: Method = Method {
    about: "the same with second thoughts (Zhang 2008): drops columns again that have become cheap",
    options: &[PUBLISHED, FORWARD, CANDIDATES, LEAST_GAIN],
    ..Method::new("foba", |given| {
        let own = Foba::default();
        let forward = given.get(&FORWARD, |value| match value {
            Value::Word(word) if word == "gradient" => Some(ForwardRule::Gradient),
            Value::Word(word) if word == "decrease" => Some(ForwardRule::Decrease),
            _ => None,
        })?;
        Ok(Box::new(Foba {
            forward: forward.unwrap_or(own.forward),
            candidates: given.count(&CANDIDATES)?.unwrap_or(own.candidates),
            least_gain: given.number(&LEAST_GAIN)?.unwrap_or(own.least_gain),
            limits: given.limits(own.limits),
        }))
    })
};
const FORWARD: Choice = Choice::new(
    "forward",
    "'gradient' or 'decrease'",
    "Add the coordinate of largest gradient (Liu, Ye, Fujimaki 2014) or of largest decrease (Zhang 2008)",
);
const CANDIDATES: Choice =
    Choice::new("candidates", "a whole number", "Coordinates whose decrease is tried, by gradient; default: all");
const LEAST_GAIN: Choice =
    Choice::new("least_gain", "a number", "Stop when a forward step gains less than this fraction of f");

impl Solver for Foba {
    fn name(&self) -> &'static str {
        "foba"
    }

    fn solve(
        &self,
        objective: &dyn Objective,
        sparsity: &Sparsity,
        start: Option<&Solution>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution> {
        let ok = self.least_gain >= 0.0 && self.least_gain.is_finite();
        check_option(ok, "least_gain", self.least_gain, "non-negative and finite")?;
        let run = Run::new(self.name(), objective, sparsity, &self.limits, watch)?;
        run.unless_cancelled(start, |run| self.search(run, start))
    }
}

impl Foba {
    fn search(&self, run: &mut Run, start: Option<&Solution>) -> Result<Solution> {
        let mut at = run.begin(start)?;
        let budget = run.budget.clone();
        let size = |at: &Iterate| budget.counted(&at.support);
        let k = budget.k;
        let mut best = at.clone();
        // d[s]: the decrease recorded when size s was last reached. A warm start has no record: nothing is dropped on
        // its account.
        let mut decrease = vec![0.0; k + 2];
        // Each overshoot must lower the best value; this bounds the search even against rounding.
        for _ in 0..(10 * k + 100) {
            if k == 0 {
                return run.finish(best, Status::Complete);
            }
            let Some(grown) = self.forward_step(run, &at)? else {
                return run.finish(best, Status::SupportStable);
            };
            let gain = at.value - grown.value;
            let overshoot = size(&grown) > k;
            decrease[size(&grown)] = gain;
            let before = at;
            at = grown;
            while size(&at) > 0 {
                let (cheapest, rise) = self.cheapest(run, &at)?;
                if rise >= 0.5 * decrease[size(&at)] {
                    break;
                }
                at = drop_unit(run, &at, cheapest)?;
            }
            let survived = size(&at) > k;
            if !survived && at.value < best.value {
                best = at.clone();
            }
            let shown = if survived { &best } else { &at };
            if let Some(status) = run.record(&before, shown, None) {
                return run.finish(best, status);
            }
            let exhausted = gain <= self.least_gain * before.value.abs();
            // At size k: the step beyond either came back changed and better, or the search is over.
            let better = at.value < before.value - 1e-12 * before.value.abs();
            if exhausted || (overshoot && (survived || !better)) {
                return run.finish(best, Status::Complete);
            }
        }
        run.finish(best, Status::MaxIterations)
    }
}

impl Foba {
    /// Adds the best coordinate (or group) and refits; `None` when none has a gradient.
    fn forward_step(&self, run: &Run, at: &Iterate) -> Result<Option<Iterate>> {
        let gradient = run.gradient(at)?;
        let outside = |j: usize| if at.support.binary_search(&j).is_ok() { 0.0 } else { gradient[j].abs() };
        let winner = match self.forward {
            ForwardRule::Gradient => run.budget.top(1, outside).first().copied(),
            ForwardRule::Decrease => best_alone(run, at, gradient, &run.budget.top(self.candidates, outside))?,
        };
        let Some(winner) = winner else { return Ok(None) };
        let support = run.budget.with(&at.support, winner);
        let x = run.carry(at, &support);
        run.refit(support, x, &InnerOptions::EXACT).map(Some)
    }

    /// The coordinate (or group) whose zeroing (no refit) raises f least, with the rise.
    fn cheapest(&self, run: &Run, at: &Iterate) -> Result<(usize, f64)> {
        let mut cheapest = (usize::MAX, f64::INFINITY);
        for unit in run.budget.units_of(&at.support) {
            run.cancel().ask()?;
            let gone = |j: &usize| run.budget.unit(*j) == Some(unit);
            let x: Vec<f64> = at.support.iter().zip(&at.x).map(|(j, &x)| if gone(j) { 0.0 } else { x }).collect();
            let rise = run.objective.value(SparseRef::new(&at.support, &x))? - at.value;
            if rise < cheapest.1 {
                cheapest = (unit, rise);
            }
        }
        Ok(cheapest)
    }
}

fn drop_unit(run: &Run, at: &Iterate, unit: usize) -> Result<Iterate> {
    let support = run.budget.without(&at.support, unit);
    let x = run.carry(at, &support);
    run.refit(support, x, &InnerOptions::EXACT)
}

/// Of the candidates, the one along which f can fall most from `at`: along its coordinate, or its part of the gradient.
fn best_alone(run: &Run, at: &Iterate, gradient: &[f64], candidates: &[usize]) -> Result<Option<usize>> {
    let mut best: Option<(f64, usize)> = None;
    for &unit in candidates {
        run.cancel().ask()?;
        let members: Vec<usize> = run.budget.members(unit).collect();
        let length = run.budget.score(unit, |j| gradient[j].abs());
        let (slope, direction): (f64, Vec<f64>) = match members[..] {
            [j] => (gradient[j], vec![1.0]),
            _ => (length, members.iter().map(|&j| gradient[j] / length).collect()),
        };
        let support: Vec<usize> = at.support.iter().copied().chain(members).collect();
        let mut f = |t: f64| {
            let x: Vec<f64> = at.x.iter().copied().chain(direction.iter().map(|d| t * d)).collect();
            run.objective.value(SparseRef::new(&support, &x))
        };
        let value = minimise_along(&mut f, at.value, slope)?;
        if best.is_none_or(|(least, winner)| value < least || (value == least && unit < winner)) {
            best = Some((value, unit));
        }
    }
    Ok(best.map(|b| b.1))
}

/// The least value of a convex function of one variable from its value and slope at 0: bracketing, then golden
/// sections.
fn minimise_along(f: &mut dyn FnMut(f64) -> Result<f64>, at_zero: f64, slope: f64) -> Result<f64> {
    if slope == 0.0 {
        return Ok(at_zero);
    }
    let direction = -slope.signum();
    let mut g = |t: f64| f(direction * t);
    let (mut low, mut high) = (0.0, 1.0 / slope.abs().max(1e-12));
    let (mut inner, mut inner_value) = (0.0, at_zero);
    // Shrink until the far end is inside the fall, then grow until it is out of it.
    let mut value = g(high)?;
    while (value >= at_zero || value.is_nan()) && high > 1e-18 {
        high *= 0.25;
        value = g(high)?;
    }
    while value < inner_value && high < 1e18 {
        low = inner;
        (inner, inner_value) = (high, value);
        high *= 2.0;
        value = g(high)?;
    }
    const GOLDEN: f64 = 0.381_966_011_250_105;
    for _ in 0..60 {
        let left = inner - low > high - inner;
        let t = if left { inner - GOLDEN * (inner - low) } else { inner + GOLDEN * (high - inner) };
        let v = g(t)?;
        if v < inner_value {
            if left {
                high = inner;
            } else {
                low = inner;
            }
            (inner, inner_value) = (t, v);
        } else if left {
            low = t;
        } else {
            high = t;
        }
        if high - low <= 1e-9 * high.abs() {
            break;
        }
    }
    Ok(inner_value.min(at_zero))
}
