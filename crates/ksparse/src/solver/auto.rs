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

mod means;

use super::corners;
use super::descent::{Descent, descend};
use super::every_k;
use super::exchange::{Reach, polish};
use super::grouped;
use super::grow::grow;
use super::model_search;
use super::occupied;
use super::plan::Plan;
use super::prune::{Drop, prune, widen_and_prune};
use super::registry::{Choice, Method, Value};
use super::run::{Iterate, Run, union};
use super::swap::Ranking;
use super::tableau::{pursue, pursue_below};
use super::{Effort, Fbs, Limits, Progress, Solution, Solver, Status};
use crate::error::Result;
use crate::objective::{Objective, Risk};
use crate::restricted::InnerOptions;
use crate::sparsity::Sparsity;
use means::{Means, OtherStart};
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
    /// The numbers it decides by.
    #[doc(hidden)]
    pub plan: Plan,
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
        let limits = given.limits(Limits::default());
        Ok(Box::new(Auto { limits, effort: effort.unwrap_or_default(), ..Auto::default() }))
    })
};
const EFFORT: Choice = Choice::new(
    "effort",
    "'quick', 'normal', 'thorough' or a number: so many times normal",
    "How much to search where searching is cheap: quick is one descent, thorough ten times normal's local searches",
);

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
        sparsity: &Sparsity,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Solution>> {
        if let Some(found) = occupied::solve_all(self, objective, ks, sparsity, watch) {
            return found;
        }
        every_k::solve(self, objective, ks, sparsity, watch)
    }
}

impl Auto {
    fn search(&self, run: &mut Run, sparsity: &Sparsity, start: Option<&Solution>) -> Result<Solution> {
        let objective = run.objective;
        if start.is_none()
            && let Some((mut answers, status)) = every_k::search(run, &self.plan, self.effort, true)?
            && let Some(at) = answers.pop()
        {
            return run.finish(at, status);
        }
        let mut means = Means::new(&self.plan, run);
        let grouped = run.budget.is_grouped();
        if grouped && !means.second_order {
            let (at, status) = grouped::search(run, start, self.effort)?;
            return run.finish(at, status);
        }
        if means.model_alone && !grouped {
            return model_search::search(run, start);
        }
        let first = run.begin(start)?;
        if let Some(samples) = objective.samples().filter(|_| objective.profile().corners) {
            let (at, status) = corners::search(run, &Risk::of(samples), sparsity, first, &self.plan)?;
            return run.finish(at, status);
        }
        let (mut at, mut status) = search(run, first, &means)?;
        let searching = start.is_none() && self.effort != Effort::QUICK;
        let others = if searching { means.other_starts(objective.dim(), &run.budget.free) } else { Vec::new() };
        for other in others {
            if is_limit(status) {
                break;
            }
            let Some(from) = begin_elsewhere(run, &at, sparsity, &means, other)? else { continue };
            if let Some(limit) = run.poll(&at, 0, None) {
                status = limit;
                break;
            }
            let next;
            (next, status) = refine(run, from, &means, at.value)?;
            let both = union(&at.support, &next.support);
            if next.value < at.value {
                at = next;
            }
            // The two answers share most of their coordinates; the best of both is often better than either.
            if !is_limit(status)
                && both.len() > at.support.len()
                && let Some(mixed) = prune(run, &at, both, means.drop, &means.leap_refit())?
            {
                let next;
                (next, status) = refine(run, mixed, &means, at.value)?;
                if next.value < at.value {
                    at = next;
                }
            }
        }
        if means.drop == Drop::Smallest && means.second_order && !is_limit(status) {
            means.drop = Drop::Cheapest;
            (at, status) = refine(run, at, &means, f64::INFINITY)?;
        }
        let x = at.x.clone();
        let at = run.refit(at.support, x, &InnerOptions::EXACT)?;
        run.finish(at, status)
    }
}

pub(super) fn is_limit(status: Status) -> bool {
    matches!(status, Status::MaxIterations | Status::TimeLimit | Status::Stopped | Status::Unattained)
}

/// The point another start gives; the watcher and the limits hold on the way.
fn begin_elsewhere(
    run: &mut Run,
    at: &Iterate,
    sparsity: &Sparsity,
    means: &Means,
    start: OtherStart,
) -> Result<Option<Iterate>> {
    let seed = match start {
        OtherStart::Backward => return widen_and_prune(run, at, run.objective.dim(), means.drop, &means.reach.refit),
        OtherStart::Blocks => return by_blocks(run, means).map(Some),
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
fn by_blocks(run: &Run, means: &Means) -> Result<Iterate> {
    let mut at = run.begin(None)?;
    let block = run.budget.k.div_ceil(means.plan.blocks as usize);
    loop {
        let ranking = Ranking::new(&run.budget, &at, run.gradient(&at)?, run.units(&at)?, block);
        let support = ranking.grown(&at, block);
        if support.len() == at.support.len() {
            return Ok(at);
        }
        let x = run.carry(&at, &support);
        at = run.refit(support, x, &means.reach.refit)?;
    }
}

/// Swaps, then what `refine` does.
fn search(run: &mut Run, first: Iterate, means: &Means) -> Result<(Iterate, Status)> {
    if means.has_hessian && !means.blocks && !run.budget.is_grouped() {
        // Columns of one size: plain GraHTP. Of very different sizes (text): scores must not depend on them, and the
        // model's table finds in tens of milliseconds what single exchanges find in a second.
        let uneven = run.units(&first)?.is_some_and(|u| spread(u) > means.plan.uneven);
        if uneven && means.table {
            return by_table(run, first, means);
        }
        if !means.second_order {
            return descend(run, first, if uneven { &means.brisk } else { &Descent::CAREFUL });
        }
    }
    // Plain GraHTP to the end, so that what follows can only be better than its answer.
    let how = Descent { scaled: run.budget.is_grouped(), ..Descent::CAREFUL };
    let (at, status) = descend(run, first, &how)?;
    if is_limit(status) { Ok((at, status)) } else { refine(run, at, means, f64::INFINITY) }
}

/// Growth by blocks and lists of exchanges, both on the quadratic model; then leaps, each followed by such lists, while
/// they help, and a look at single exchanges.
fn by_table(run: &mut Run, first: Iterate, means: &Means) -> Result<(Iterate, Status)> {
    let (width, refit) = means.around_table(run.budget.full());
    let start = run.begin_at(None)?.value;
    let least = |run: &Run, at: &Iterate| {
        let inside = (at.support.len() - run.budget.free.len()).max(1);
        means.plan.table_trifle * (start - at.value).max(0.0) / inside as f64
    };
    // The last block comes with the first exchanges.
    let last = run.budget.k.div_ceil(means.plan.blocks as usize);
    let (mut at, mut limit) = grow(run, first, last, &refit)?;
    if limit.is_none() {
        (at, limit) = pursue(run, at.clone(), width, least(run, &at), &refit)?;
    }
    // Short leaps alone: long ones take twice the time of all the rest and found no lower f (RCV1, k = 50 to 300).
    while limit.is_none() && means.second_order {
        let leap = InnerOptions { max_iterations: means.plan.leap_steps as usize, ..refit };
        let Some(far) = widen_and_prune(run, &at, means.short_leap, means.drop, &leap)? else { break };
        let next;
        (next, limit) = pursue_below(run, far, width, least(run, &at), &refit, at.value)?;
        if next.value >= at.value - run.trifle(&at, 1e-6)? {
            break;
        }
        at = next;
    }
    if limit.is_none() && means.second_order {
        let (narrow, below) = (Reach { wide: means.reach.narrow, ..means.reach }, at.value);
        (at, limit) = polish(run, at, &narrow, below)?;
    }
    Ok((at, limit.unwrap_or(Status::SupportStable)))
}

/// The largest of some positive numbers over the smallest; zeros are not counted.
fn spread(units: &[f64]) -> f64 {
    let positive = units.iter().filter(|u| **u > 0.0);
    let (low, high) = positive.fold((f64::INFINITY, 0.0f64), |(low, high), &u| (low.min(u), high.max(u)));
    high / low
}

/// Leaps and exchanges until neither helps. Points that are not below `record_below` are not recorded.
fn refine(run: &mut Run, mut at: Iterate, means: &Means, mut record_below: f64) -> Result<(Iterate, Status)> {
    record_below = record_below.min(at.value);
    let leap = |run: &Run, at: &Iterate, extra: usize| widen_and_prune(run, at, extra, means.drop, &means.leap_refit());

    // Short leaps on their own, while they gain more than a trifle.
    while let Some(next) = leap(run, &at, means.short_leap)? {
        if next.value >= at.value - run.trifle(&at, means.plan.leap_trifle)? {
            break;
        }
        let limit = run.note(&at, &next, &mut record_below);
        at = next;
        if let Some(status) = limit {
            return Ok((at, status));
        }
    }
    // Exchanges; then leaps followed by exchanges: the longest until they fail, then shorter ones.
    let narrow = Reach { wide: means.reach.narrow, ..means.reach };
    let mut limit;
    (at, limit) = polish(run, at, &narrow, record_below)?;
    for &extra in &means.leaps {
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
        let last = Reach { narrow: means.reach.wide, ..means.reach };
        (at, limit) = polish(run, at, &last, record_below)?;
    }
    Ok((at, limit.unwrap_or(Status::SupportStable)))
}
