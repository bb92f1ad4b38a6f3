//! A node of the tree: decisions, the relaxation under them, what it says about the rest.
//!
//! Decisions are kept by coordinate; where k counts groups, those of a group are decided together.

use super::moments::Quadratic;
use crate::cancel::Cancel;
use crate::dual::{Drift, Dual};
use crate::objective::{Objective, Risk};
use crate::relaxation::part::{Moments, Sampled};
use crate::relaxation::solve::{Goal, Relaxed, solve};
use crate::relaxation::support_norm::SupportNorm;
use crate::sparsity::top_by;
use std::time::{Duration, Instant};

/// What has been decided about a coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Open,
    In,
    Out,
}

/// Decisions and what they lead to.
pub(super) struct Node {
    decisions: Vec<Decision>,
    /// The relaxation's solution by its non-zeros: where the children start.
    weights: Vec<(usize, f64)>,
    /// No support under these decisions goes below.
    pub bound: f64,
    /// No support that the node's own decisions have closed goes below: they are part of its parent.
    pub closed: f64,
    /// The coordinate to decide next, with those of its group; none when all is decided.
    pub branch: Option<usize>,
    /// The support that the relaxation suggests, free coordinates included, ascending.
    pub rounded: Vec<usize>,
}

/// A solution of a relaxation, the bound from it, how far that is from the relaxation's value, and what of this is
/// rounding.
struct Bounded {
    relaxed: Relaxed,
    bound: f64,
    distance: f64,
    slack: f64,
}

/// Relaxations of this length leave time to press a key.
const SLOW: Duration = Duration::from_millis(300);

/// The problem and the best value known.
pub(super) struct Tree<'a> {
    dual: Dual<'a>,
    /// The risk itself, or its rounded forms from blunt to sharp where its loss has corners.
    levels: &'a [Risk<'a>],
    quadratic: Option<Quadratic>,
    /// When to be content with the bounds at hand: they hold wherever a relaxation stops.
    deadline: Option<Instant>,
    /// Asked inside relaxations on any thread.
    cancel: Cancel,
    /// The last relaxations took so long that somebody may want to interrupt the next.
    slow: bool,
    tolerance: f64,
    incumbent: f64,
    /// A node with at least this bound is closed.
    pub enough: f64,
}

impl<'a> Tree<'a> {
    pub fn new(dual: Dual<'a>, levels: &'a [Risk<'a>], quadratic: Option<Quadratic>, tolerance: f64) -> Self {
        let (deadline, cancel, slow, unknown) = (None, Cancel::NEVER, false, f64::INFINITY);
        Self { dual, levels, quadratic, deadline, cancel, slow, tolerance, incumbent: unknown, enough: unknown }
    }

    /// The same with a time to end at, and a token.
    pub fn until(self, deadline: Option<Instant>, cancel: &Cancel) -> Self {
        Self { deadline, cancel: cancel.clone(), ..self }
    }

    /// The value of the best fit known.
    pub fn set_incumbent(&mut self, value: f64) {
        self.incumbent = value;
        self.enough = value - self.tolerance * value.abs();
    }

    /// The node in which nothing is decided. `interrupted` is asked on the way, here and in [`branch`](Self::branch).
    pub fn root(&mut self, interrupted: &dyn Fn() -> bool) -> Node {
        let features = self.dual.risk().features();
        let decide = |j| if self.dual.is_free(j) { Decision::In } else { Decision::Open };
        let started = Instant::now();
        let root = self.relax((0..features).map(decide).collect(), &[], f64::NEG_INFINITY, interrupted);
        self.slow = started.elapsed() > SLOW;
        root
    }

    /// The two children of a node: side by side while they are quick. Those that take long split their products among
    /// threads anyway, so they come one after the other, on this thread, which alone may ask whether to go on.
    pub fn branch(&mut self, node: &Node, interrupted: &dyn Fn() -> bool) -> Vec<Node> {
        let Some(j) = node.branch else { return Vec::new() };
        let (tree, started) = (&*self, Instant::now());
        let child = |decision: Decision, interrupted: &dyn Fn() -> bool| {
            let mut decisions = node.decisions.clone();
            tree.together(j).for_each(|j| decisions[j] = decision);
            tree.relax(decisions, &node.weights, node.bound, interrupted)
        };
        let children = if self.slow {
            [Decision::In, Decision::Out].map(|decision| child(decision, interrupted))
        } else {
            // One of them may turn out to take long.
            let cancelled = || tree.cancel.is_set();
            rayon::join(|| child(Decision::In, &cancelled), || child(Decision::Out, &cancelled)).into()
        };
        self.slow = started.elapsed() > SLOW;
        children.into()
    }

    /// Solves the relaxation under some decisions, adds those that follow, and finds what to decide next. Coarsely
    /// first; a node in which nothing is left to decide must be closed by its bound, so that is then made sharp.
    fn relax(
        &self,
        mut decisions: Vec<Decision>,
        start: &[(usize, f64)],
        parent: f64,
        interrupted: &dyn Fn() -> bool,
    ) -> Node {
        let fine = 0.1 * (self.incumbent - self.enough);
        let mut gap = if parent.is_finite() { fine.max(0.02 * (self.incumbent - parent)) } else { fine };
        let mut weights = start.to_vec();
        let (mut bound, mut closed) = (parent, f64::INFINITY);
        loop {
            let (working, norm) = self.working(&mut decisions);
            let found = self.solve(&working, &norm, spread(&weights, &working), gap, interrupted);
            bound = bound.max(found.bound);
            if found.bound < self.enough && norm.k > 0 {
                closed = closed.min(self.fix(&mut decisions, &working, &norm, &found));
            }
            let relaxed = &found.relaxed;
            let open = |unit: &usize| decisions[working[norm.head(*unit)]] == Decision::Open;
            let fraction = |unit: usize| {
                let share = relaxed.shares[norm.head(unit)];
                if open(&unit) { share.min(1.0 - share) } else { 0.0 }
            };
            // The most fractional; where all shares are 0 or 1, the largest coefficient not yet decided; any other.
            let next = top_by(norm.units(), 1, |unit| if fraction(unit) > 1e-6 { fraction(unit) } else { 0.0 });
            let integral = next.is_empty();
            weights = working.iter().copied().zip(relaxed.w.iter().copied()).filter(|(_, w)| *w != 0.0).collect();
            if integral && gap > fine && bound < self.enough {
                gap = fine;
                continue;
            }
            let largest = || {
                let size = |unit: usize| if open(&unit) { norm.length(unit, &relaxed.w) } else { 0.0 };
                top_by(norm.units(), 1, size).first().copied().or_else(|| (0..norm.units()).find(open))
            };
            let branch = next.first().copied().or_else(largest).map(|unit| working[norm.head(unit)]);
            if branch.is_none() && bound < self.enough && self.quadratic.is_some() && self.dual.risk().ridge() > 0.0 {
                // Moments have fewer digits than the samples behind them.
                let goal = Goal { gap: fine, enough: self.enough, max_iterations: 1000, interrupted };
                let sharp = self.solve_level(&self.levels[0], &working, &norm, relaxed.w.clone(), &goal);
                bound = bound.max(sharp.bound);
            }
            let mut rounded: Vec<usize> = (0..working.len()).filter(|&j| norm.whole[j]).map(|j| working[j]).collect();
            let size = |unit: usize| if norm.whole[norm.head(unit)] { 0.0 } else { norm.length(unit, &relaxed.w) };
            let best = top_by(norm.units(), norm.k, size);
            rounded.extend(best.into_iter().flat_map(|unit| norm.members(unit)).map(|j| working[j]));
            rounded.extend_from_slice(self.dual.risk().free());
            rounded.sort_unstable();
            return Node { decisions, weights, bound, closed, branch, rounded };
        }
    }

    /// The coordinates that are in or out with this one.
    fn together(&self, j: usize) -> impl Iterator<Item = usize> + '_ {
        self.dual.budget().unit(j).into_iter().flat_map(|unit| self.dual.budget().members(unit))
    }

    /// The coordinates that are not out, and their norm. When all of k is spent, the open ones are out.
    fn working(&self, decisions: &mut [Decision]) -> (Vec<usize>, SupportNorm) {
        let inside: Vec<usize> = (0..decisions.len()).filter(|&j| decisions[j] == Decision::In).collect();
        let room = self.dual.k().saturating_sub(self.dual.budget().counted(&inside));
        if room == 0 {
            decisions.iter_mut().filter(|d| **d == Decision::Open).for_each(|d| *d = Decision::Out);
        }
        let working: Vec<usize> = (0..decisions.len()).filter(|&j| decisions[j] != Decision::Out).collect();
        let whole = working.iter().map(|&j| decisions[j] == Decision::In).collect();
        let norm = SupportNorm::of(self.dual.budget(), &working, room, whole);
        (working, norm)
    }

    /// The relaxation on the coordinates that are not out, and a bound that is safe from rounding. The gradient is that
    /// of the dual vector behind the bound.
    fn solve(
        &self,
        working: &[usize],
        norm: &SupportNorm,
        start: Vec<f64>,
        gap: f64,
        interrupted: &dyn Fn() -> bool,
    ) -> Bounded {
        let late = || self.deadline.is_some_and(|end| Instant::now() >= end);
        let interrupted: &dyn Fn() -> bool = &|| late() || interrupted();
        let goal = |enough: f64| Goal { gap, enough, max_iterations: 1000, interrupted };
        if let Some(q) = &self.quadratic {
            let mut part = Moments::new(&q.gram, &q.linear, q.constant, q.ridge, working.to_vec());
            let expected = q.error(&start, 0.0, working, norm);
            let relaxed = solve(&mut part, norm, q.ridge, start, &goal(self.enough + 2.0 * expected));
            let u: Vec<f64> = relaxed.gradient.iter().map(|g| g / q.ridge.sqrt()).collect();
            let slack = q.error(&relaxed.w, (2.0 * norm.conjugate(&u)).sqrt(), working, norm);
            let bound = relaxed.bound - slack;
            let distance = relaxed.value - bound;
            return Bounded { relaxed, bound, distance, slack };
        }
        let mut best = self.solve_level(&self.levels[0], working, norm, start, &goal(self.enough));
        for level in &self.levels[1..] {
            // Sharper only where it matters.
            if best.bound >= self.enough || best.distance <= gap {
                break;
            }
            let next = self.solve_level(level, working, norm, best.relaxed.w.clone(), &goal(self.enough));
            if next.bound > best.bound {
                best = next;
            }
        }
        best
    }

    /// The relaxation of one of the levels, and the bound that its derivatives give for the risk itself.
    fn solve_level(
        &self,
        level: &Risk,
        working: &[usize],
        norm: &SupportNorm,
        start: Vec<f64>,
        goal: &Goal,
    ) -> Bounded {
        let risk = self.dual.risk();
        let lambda = risk.ridge();
        let mut part = Sampled::new(level, level.loss(), working.to_vec());
        let mut relaxed = solve(&mut part, norm, lambda, start, goal);
        let mut z = vec![0.0; self.dual.samples()];
        part.predictions(&relaxed.w, &mut z);
        let vector = self.dual.plug_in_of(level.loss(), &mut z);
        let u = part.scores(&vector);
        let roots: Vec<f64> = working.iter().map(|&j| risk.weighted_magnitudes()[j].sqrt()).collect();
        let lengths: Vec<f64> = u.iter().map(|u| lambda.sqrt() * u).collect();
        let (square, reach) = (2.0 * norm.conjugate(&lengths), 2.0 * norm.conjugate(&roots));
        let bound = self.dual.rounded_down(&vector, square.sqrt(), reach, Drift::default());
        let slack = -self.dual.mean_conjugate(&vector) - 0.5 * square - bound;
        relaxed.gradient = u.iter().map(|u| -lambda * u).collect();
        let value = risk.loss().total(&z, risk.target(), risk.weights()) + lambda * norm.value(&relaxed.w);
        Bounded { relaxed, bound, distance: value - bound, slack }
    }

    /// Decides what the dual vector behind the relaxation decides by itself. Returns what no support closed by that
    /// goes below.
    fn fix(&self, decisions: &mut [Decision], working: &[usize], norm: &SupportNorm, at: &Bounded) -> f64 {
        let ridge = self.quadratic.as_ref().map_or(self.dual.risk().ridge(), |q| q.ridge);
        // Times the ridge: in units of f, and so in its range.
        let scores: Vec<f64> = at.relaxed.gradient.iter().map(|g| g / ridge.sqrt()).collect();
        let square = |unit: usize| norm.square(unit, &scores);
        let open: Vec<usize> = (0..norm.units()).filter(|&unit| !norm.whole[norm.head(unit)]).collect();
        let mut order: Vec<f64> = open.iter().map(|&unit| square(unit)).collect();
        order.sort_unstable_by(|a, b| b.total_cmp(a));
        // The last that is in, the first that is out.
        let last = order.get(norm.k - 1).copied().unwrap_or(0.0);
        let next = order.get(norm.k).copied().unwrap_or(0.0);
        // The bound is safe; the squares exchanged have rounding errors of their own, each no larger than what was
        // allowed for in the bound.
        let exchanged = |gain: f64| at.bound + 0.5 * gain * (1.0 - 1e-9) - 4.0 * at.slack;
        let mut closed = f64::INFINITY;
        for &unit in &open {
            let (with, without) = (exchanged(last - square(unit)), exchanged(square(unit) - next));
            let (decision, bound) = if with >= self.enough {
                (Decision::Out, with)
            } else if without >= self.enough {
                (Decision::In, without)
            } else {
                continue;
            };
            norm.members(unit).for_each(|j| decisions[working[j]] = decision);
            closed = closed.min(bound);
        }
        closed
    }
}

/// Values by coordinate as a vector over a working set.
fn spread(values: &[(usize, f64)], working: &[usize]) -> Vec<f64> {
    let mut out = vec![0.0; working.len()];
    for &(j, v) in values {
        if let Ok(place) = working.binary_search(&j) {
            out[place] = v;
        }
    }
    out
}
