//! The default solver: the best this library knows.
//!
//! 1. *Swaps*: GraHTP, its step a number of swaps.
//! 2. *Leaps* (`prune.rs`): widen the support by half, minimise, prune it back; while that helps.
//! 3. *Exchange* (`exchange.rs`): all pairs scored at once by the quadratic model, until none gains.
//! 4. Leaps from there, each followed by exchanges, while they help; a last look at many more candidates; an exact
//!    refit.
//!
//! Trial refits are loose and given up early. Steps 2 to 4 need second derivatives and are taken when one of them costs
//! no more than a few gradients; they start from GraHTP's own answer, so that the result is never worse. Otherwise step
//! 1 alone is run, with scores in units of curvature when columns differ much in size. Where that costs milliseconds,
//! the search is repeated from the answer of forward selection (by blocks of k/10 where it costs tens of them), and on
//! small problems from further starts; answers are then mixed: the union of two is pruned and refined. A quadratic f
//! ends at a point that no exchange of one coordinate among those looked at improves.
//!
//! Where a local search takes milliseconds all that gives way to a search for every k at once (`every_k.rs`).
//!
//! A loss with corners (hinge) has no second derivatives: it goes through the dual (`corners.rs`) and needs a ridge.

use super::corners;
use super::descent::{Descent, descend};
use super::every_k;
use super::exchange::{Reach, polish};
use super::grouped;
use super::occupied;
use super::prune::{Drop, prune, widen_and_prune};
use super::registry::{Choice, Method, Value};
use super::run::{Iterate, Run, union};
use super::swap::Ranking;
use super::{Effort, Fbs, Limits, Progress, Solution, Solver, Status};
use crate::error::Result;
use crate::objective::{Objective, Risk};
use crate::restricted::InnerOptions;
use crate::sparsity::Sparsity;
use std::ops::ControlFlow;

/// The default solver.
///
/// ```
/// use ksparse::{Auto, Risk, Solver, Sparsity, loss::Squared, simulate::{self, Correlation}};
/// let data = simulate::linear(200, 1000, 10, Correlation::Ar1(0.9), 0.5, 1);
/// let risk = Risk::new(&data.design, &data.target, Squared::default())?;
/// let solution = Auto::default().fit(&risk, &Sparsity::new(10))?;
/// assert_eq!(solution.support, data.support);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Auto {
    /// When to stop; the tolerance is not used.
    pub limits: Limits,
    /// How much to search where searching is cheap.
    pub effort: Effort,
}

/// Its entry in the table of solvers.
pub(super) const METHOD: Method = Method {
    about: "an answer: GraHTP, then wider moves and exchanges scored by second derivatives where these are affordable",
    options: &[EFFORT],
    ..Method::new("auto", |given| {
        let effort = given.get(&EFFORT, |value| match value {
            Value::Number(factor) => Effort::times(*factor).ok(),
            Value::Word(word) => word.parse().ok(),
            Value::Flag(_) => None,
        })?;
        Ok(Box::new(Auto { limits: given.limits(Limits::default()), effort: effort.unwrap_or_default() }))
    })
};
const EFFORT: Choice =
    Choice { name: "effort", values: "'quick', 'normal', 'thorough' or a number: so many times normal" };

/// Trial refits stop this far (relatively) from the minimum; Newton's last step lands much nearer.
const LOOSE: InnerOptions = InnerOptions { tolerance: 1e-2, ..InnerOptions::EXACT };

/// Newton steps on a widened support: it is about to be pruned, and exchanges follow.
const LEAP_STEPS: usize = 3;

/// Second-order steps are taken when one costs at most so many gradients.
const AFFORDABLE: f64 = 10.0;

/// Work below this (multiply-adds, some milliseconds) is always affordable.
const SMALL: f64 = 5e6;

impl Solver for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn solve(
        &self,
        objective: &dyn Objective,
        sparsity: &Sparsity,
        start: Option<&Solution>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution> {
        if let Some(found) = occupied::solve(self, objective, sparsity, start, watch) {
            return found;
        }
        self.limits.validate()?;
        let limits = Limits { tolerance: 0.0, ..self.limits.clone() };
        let run = Run::with_subgradient(self.name(), objective, sparsity, &limits, watch)?;
        run.unless_cancelled(start, |run| self.search(run, sparsity, start))
    }

    fn solve_all(
        &self,
        objective: &dyn Objective,
        ks: &[usize],
        keep: &[usize],
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Solution>> {
        if let Some(found) = occupied::solve_all(self, objective, ks, keep, watch) {
            return found;
        }
        every_k::solve(self, objective, ks, keep, watch)
    }
}

impl Auto {
    fn search(&self, run: &mut Run, sparsity: &Sparsity, start: Option<&Solution>) -> Result<Solution> {
        let objective = run.objective;
        if start.is_none()
            && let Some((mut answers, status)) = every_k::search(run, self.effort)?
            && let Some(at) = answers.pop()
        {
            return run.finish(at, status);
        }
        if run.budget.is_grouped() {
            let (at, status) = grouped::search(run, start)?;
            return run.finish(at, status);
        }
        let first = run.begin(start)?;
        if let Some(samples) = objective.samples().filter(|_| objective.profile().corners) {
            let (at, status) = corners::search(run, &Risk::of(samples), sparsity, first)?;
            return run.finish(at, status);
        }
        let mut plan = Plan::new(run);
        let (mut at, mut status) = search(run, first, &plan)?;
        let searching = start.is_none() && self.effort != Effort::QUICK;
        let others = if searching { plan.other_starts(objective.dim(), &run.budget.free) } else { Vec::new() };
        for other in others {
            if is_limit(status) {
                break;
            }
            let Some(from) = begin_elsewhere(run, &at, sparsity, &plan, other)? else { continue };
            if let Some(limit) = run.poll(&at, 0, None) {
                status = limit;
                break;
            }
            let next;
            (next, status) = refine(run, from, &plan, at.value)?;
            let both = union(&at.support, &next.support);
            if next.value < at.value {
                at = next;
            }
            // The two answers share most of their coordinates; the best of both is often better than either.
            if !is_limit(status)
                && both.len() > at.support.len()
                && let Some(mixed) = prune(run, &at, both, plan.drop, &plan.leap_refit())?
            {
                let next;
                (next, status) = refine(run, mixed, &plan, at.value)?;
                if next.value < at.value {
                    at = next;
                }
            }
        }
        if plan.drop == Drop::Smallest && plan.second_order && !is_limit(status) {
            plan.drop = Drop::Cheapest;
            (at, status) = refine(run, at, &plan, f64::INFINITY)?;
        }
        let x = at.x.clone();
        let at = run.refit(at.support, x, &InnerOptions::EXACT)?;
        run.finish(at, status)
    }
}

pub(super) fn is_limit(status: Status) -> bool {
    matches!(status, Status::MaxIterations | Status::TimeLimit | Status::Stopped | Status::Unattained)
}

/// What the problem's size allows.
struct Plan {
    /// Whether there are second derivatives, and whether leaps and exchanges are affordable.
    has_hessian: bool,
    second_order: bool,
    /// Leaps to try, longest first.
    leaps: Vec<usize>,
    /// Whom leaps drop. The smallest first, and the cheapest by the model from there, where a block of the Hessian
    /// costs no pass over data and refits are all that counts.
    drop: Drop,
    /// Candidates of an ordinary exchange round, and of the last.
    reach: Reach,
    /// Which other starts are cheap too: forward selection, or at least by blocks, backward elimination, forward
    /// selection from each coordinate.
    forward: bool,
    blocks: bool,
    backward: bool,
    each_coordinate: bool,
}

impl Plan {
    fn new(run: &Run) -> Self {
        let k = run.budget.k + run.budget.free.len();
        let profile = run.objective.profile();
        let gradient = profile.gradient;
        let budget = (AFFORDABLE * gradient).max(0.2 * SMALL);
        let narrow = 2 * run.budget.k + 50;
        let (k_f, p) = (k as f64, run.objective.dim() as f64);
        // Every pair: k p refits, each some products with k columns.
        let every_pair = k_f * p <= 500.0 && 10.0 * k_f * k_f * gradient <= SMALL;
        let small = k_f * gradient <= SMALL;
        let affordable = |extra: &usize| {
            let wide = k + extra;
            profile.hessian.is_some_and(|cost| cost.of(wide, wide) + (wide as f64).powi(3) / 6.0 <= budget)
        };
        // A quadratic f is explored well enough by exact exchanges.
        let blocks = !profile.quadratic && k_f * gradient <= 30.0 * SMALL;
        let counted = run.budget.k;
        // Leaps in between gain little for their time: they are for problems that have it.
        let between = blocks.then_some(counted);
        let leaps = [Some(2 * counted), between, Some((counted / 2).max(1))];
        let leaps: Vec<usize> = leaps.into_iter().flatten().filter(affordable).collect();
        // The last look takes as many candidates as a quarter of the budget pays for.
        let one = profile.hessian.map_or(f64::INFINITY, |cost| cost.of(k, 1)) + (k * k) as f64 / 6.0;
        let without_data = profile.hessian.is_some_and(|cost| cost.column == 0.0);
        Self {
            has_hessian: profile.hessian.is_some(),
            second_order: !leaps.is_empty(),
            leaps,
            drop: if without_data { Drop::Smallest } else { Drop::Cheapest },
            reach: Reach {
                narrow,
                wide: narrow.max((0.25 * budget / one) as usize),
                tries: 10,
                every_pair,
                refit: if small { InnerOptions::EXACT } else { LOOSE },
            },
            forward: k_f * gradient <= 4.0 * SMALL,
            blocks,
            backward: small && p.powi(3) <= SMALL,
            each_coordinate: every_pair && 20.0 * k_f * p * gradient <= SMALL,
        }
    }

    /// Precision of refits on a widened support.
    fn leap_refit(&self) -> InnerOptions<'static> {
        InnerOptions { max_iterations: LEAP_STEPS, ..self.reach.refit }
    }

    fn other_starts(&self, dim: usize, free: &[usize]) -> Vec<OtherStart> {
        let mut starts = Vec::new();
        if self.forward {
            starts.push(OtherStart::Forward);
        } else if self.blocks {
            starts.push(OtherStart::Blocks);
        }
        if self.backward {
            starts.push(OtherStart::Backward);
        }
        if self.each_coordinate {
            starts.extend((0..dim).filter(|j| !free.contains(j)).map(OtherStart::ForwardFrom));
        }
        starts
    }
}

/// Where else a search may start.
#[derive(Clone, Copy)]
enum OtherStart {
    /// The answer of forward selection.
    Forward,
    /// The answer of forward selection by tenths of k, ten times cheaper.
    Blocks,
    /// What backward elimination leaves.
    Backward,
    /// The answer of forward selection begun with this coordinate: a good pair may have no good member.
    ForwardFrom(usize),
}

/// The point another start gives; the watcher and the limits hold on the way.
fn begin_elsewhere(
    run: &mut Run,
    at: &Iterate,
    sparsity: &Sparsity,
    plan: &Plan,
    start: OtherStart,
) -> Result<Option<Iterate>> {
    let seed = match start {
        OtherStart::Backward => return widen_and_prune(run, at, run.objective.dim(), plan.drop, &plan.reach.refit),
        OtherStart::Blocks => return grow(run, plan).map(Some),
        OtherStart::Forward => None,
        OtherStart::ForwardFrom(j) => Some(Solution::guess(vec![j], vec![f64::MIN_POSITIVE])),
    };
    let objective = run.objective;
    let mut watch = |_: &Progress| match run.poll(at, 0, None) {
        Some(_) => ControlFlow::Break(()),
        None => ControlFlow::Continue(()),
    };
    let forward = Fbs::default().solve(objective, sparsity, seed.as_ref(), &mut watch)?;
    run.begin(Some(&forward)).map(Some)
}

/// Adds the best tenth of k by scores in units of curvature, refits, and so on up to k.
fn grow(run: &Run, plan: &Plan) -> Result<Iterate> {
    let mut at = run.begin(None)?;
    let block = run.budget.k.div_ceil(10);
    loop {
        let ranking = Ranking::new(&run.budget, &at, run.gradient(&at)?, run.units(&at)?, block);
        let support = ranking.grown(&at, block);
        if support.len() == at.support.len() {
            return Ok(at);
        }
        let x = run.carry(&at, &support);
        at = run.refit(support, x, &plan.reach.refit)?;
    }
}

/// Swaps, then what `refine` does.
fn search(run: &mut Run, first: Iterate, plan: &Plan) -> Result<(Iterate, Status)> {
    if plan.has_hessian && !plan.second_order {
        // Columns of one size: plain GraHTP. Of very different sizes (text): scores must not depend on them.
        let scaled = run.units(&first)?.is_some_and(|u| spread(u) > 4.0);
        return descend(run, first, if scaled { &Descent::BRISK } else { &Descent::CAREFUL });
    }
    // Plain GraHTP to the end, so that what follows can only be better than its answer.
    let (at, status) = descend(run, first, &Descent::CAREFUL)?;
    if is_limit(status) { Ok((at, status)) } else { refine(run, at, plan, f64::INFINITY) }
}

/// The largest of some positive numbers over the smallest; zeros are not counted.
fn spread(units: &[f64]) -> f64 {
    let positive = units.iter().filter(|u| **u > 0.0);
    let (low, high) = positive.fold((f64::INFINITY, 0.0f64), |(low, high), &u| (low.min(u), high.max(u)));
    high / low
}

/// Leaps and exchanges until neither helps. Points that are not below `record_below` are not recorded.
fn refine(run: &mut Run, mut at: Iterate, plan: &Plan, mut record_below: f64) -> Result<(Iterate, Status)> {
    record_below = record_below.min(at.value);
    let k = run.budget.k;
    let leap = |run: &Run, at: &Iterate, extra: usize| widen_and_prune(run, at, extra, plan.drop, &plan.leap_refit());

    // Short leaps on their own, while they gain more than a trifle.
    while let Some(next) = leap(run, &at, (k / 2).max(1))? {
        if next.value >= at.value - run.trifle(&at, 1e-4)? {
            break;
        }
        let limit = note(run, &at, &next, &mut record_below);
        at = next;
        if let Some(status) = limit {
            return Ok((at, status));
        }
    }
    // Exchanges; then leaps followed by exchanges: the longest until they fail, then shorter ones.
    let narrow = Reach { wide: plan.reach.narrow, ..plan.reach };
    let mut limit;
    (at, limit) = polish(run, at, &narrow, record_below)?;
    for &extra in &plan.leaps {
        while limit.is_none() {
            record_below = record_below.min(at.value);
            let Some(far) = leap(run, &at, extra)? else { break };
            let next;
            (next, limit) = polish(run, far, &narrow, record_below)?;
            if next.value >= at.value - run.trifle(&at, 1e-9)? {
                break;
            }
            // A leap back to the same support only refines the refit, by ever smaller amounts where f is far below
            // f(0).
            let same = next.support == at.support;
            at = next;
            if same {
                break;
            }
        }
    }
    if limit.is_none() {
        record_below = record_below.min(at.value);
        let last = Reach { narrow: plan.reach.wide, ..plan.reach };
        (at, limit) = polish(run, at, &last, record_below)?;
    }
    Ok((at, limit.unwrap_or(Status::SupportStable)))
}

/// Records a point that improves on the best so far, shows any other to the watcher.
fn note(run: &mut Run, before: &Iterate, after: &Iterate, record_below: &mut f64) -> Option<Status> {
    if after.value < *record_below {
        *record_below = after.value;
        run.record(before, after, None)
    } else {
        run.poll(after, 0, None)
    }
}
