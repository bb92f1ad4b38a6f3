//! Few evaluations: the search runs over a working set, on a model of f.
//!
//! Where an evaluation of f is a round over a cluster or a pass over files, what counts is how many there are.
//!
//! 1. A look at all coordinates (value, gradient, curvatures) names a working set S: the support and the coordinates
//!    that promise most, `g_j^2 / h_j`.
//! 2. Where f over S alone can be had as a function of its own ([`Objective::narrowed`]), `auto` searches on that.
//! 3. Elsewhere a look at S gives value, gradient and Hessian there: the quadratic model of f on S, on which searching
//!    costs nothing. A quadratic f is its model, and `auto` searches on it. Otherwise a list of exchanges, each knowing
//!    those before it (`tableau.rs`), ends at a point, the minimum of the model there, and the next look at S is taken
//!    at that point. Where f has not fallen, half of the list is taken back, then all of it, then half of the step.
//! 4. When the model knows no exchange that f agrees with, and f is at its minimum on the support, all coordinates are
//!    looked at again, and the search goes on while that changes the support. Places still vacant then (f may be flat
//!    where it was looked at, as Huber's loss is at 0) are filled by slopes, for models to go on from there.
//!
//! Refits and exchanges share their looks, so that a search takes some ten of them beside those that lead from 0 to the
//! minimum. The price is a quadratic model far from its point: where samples are few beside the columns of S it ends
//! above what `auto` finds, and there `narrowed` is the way.

use super::auto::is_limit;
use super::exchange::screen;
use super::quadratic::Quadratic;
use super::registry::{Method, Needs};
use super::run::{Iterate, Run, union};
use super::swap::Ranking;
use super::tableau::Tableau;
use super::{Auto, Limits, Progress, Solution, Solver, Status};
use crate::error::{Error, Result};
use crate::linalg::MatrixMut;
use crate::objective::Objective;
use crate::restricted::{Ended, InnerOptions};
use crate::sparsity::{SparseRef, Sparsity};
use faer::Mat;
use std::ops::ControlFlow;

/// Searches on working sets, for objectives whose every evaluation is dear. Needs second derivatives.
///
/// ```
/// use ksparse::{Risk, Solver, Sparsity, loss::Squared, simulate, solver::WorkingSet};
/// let data = simulate::linear(300, 1000, 5, simulate::Correlation::Ar1(0.5), 0.1, 1);
/// let risk = Risk::new(&data.design, &data.target, Squared::default())?;
/// let solution = WorkingSet::default().fit(&risk, &Sparsity::new(5))?;
/// assert_eq!(solution.support, data.support);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkingSet {
    /// When to stop; the tolerance is not used.
    pub limits: Limits,
}

/// Its entry in the table of solvers.
pub(super) const METHOD: Method = Method {
    about: "few evaluations: searches on models of f over working sets; the default for data in shards",
    needs: Needs::Hessian,
    ..Method::new("working-set", |given| Ok(Box::new(WorkingSet { limits: given.limits(Limits::default()) })))
};

/// Coordinates of a working set, the support among them.
fn size(k: usize) -> usize {
    4 * k + 50
}

/// Those outside the support that one list of exchanges chooses from.
fn candidates(k: usize) -> usize {
    2 * k + 50
}

/// An exchange that the model says gains less than this share of f is not worth a look.
const TRIFLE: f64 = 1e-5;

/// The minimum on a support is reached when the model says that less than this share of f is left.
const EXACT: f64 = 1e-10;

/// A list of exchanges stays when f falls at least this share as far as the model says; a single one when f falls.
const KEPT: f64 = 0.2;

/// Steps are halved so often before the point is taken for the minimum.
const HALVINGS: usize = 10;

impl Solver for WorkingSet {
    fn name(&self) -> &'static str {
        "working-set"
    }

    fn solve(
        &self,
        objective: &dyn Objective,
        sparsity: &Sparsity,
        start: Option<&Solution>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution> {
        let run = Run::with_hessian(self.name(), objective, sparsity, &self.limits, watch)?;
        run.unless_cancelled(start, |run| search(run, start))
    }
}

fn search(run: &mut Run, start: Option<&Solution>) -> Result<Solution> {
    let mut at = begin(run, start)?;
    let mut known: Vec<usize> = Vec::new();
    let status = loop {
        let chosen = screen(run, &at, run.gradient(&at)?, size(run.budget.k).saturating_sub(at.support.len()))?;
        let set = union(&union(&at.support, &chosen), &run.budget.free);
        if set.iter().all(|j| known.binary_search(j).is_ok()) {
            break Status::SupportStable;
        }
        let (next, limit) = search_on(run, &set, &at)?;
        let same = next.support == at.support;
        at = evaluated(run, next)?;
        if let Some(limit) = limit {
            break limit;
        }
        if same || set.len() == run.objective.dim() {
            break Status::SupportStable;
        }
        known = set;
    };
    if is_limit(status) || run.objective.profile().quadratic {
        return run.finish(at, status);
    }
    let small = run.budget.k > 0 && run.objective.dim() <= size(run.budget.k);
    let (at, limit) = if small { ask_f(run, at)? } else { (at, None) };
    run.finish(at, limit.unwrap_or(status))
}

/// Exchanges one by one, as slopes have it, each tried on f itself, until one fails: where f is flat in places a model
/// may see nothing of what lies beyond.
fn ask_f(run: &mut Run, mut at: Iterate) -> Result<(Iterate, Option<Status>)> {
    loop {
        let units = run.units(&at)?.map(<[f64]>::to_vec);
        let ranking = Ranking::new(&run.budget, &at, run.gradient(&at)?, units.as_deref(), 1);
        let support = ranking.support(&at, 1);
        let x = run.carry(&at, &support);
        let tried = InnerOptions { abandon_above: at.value, tolerance: 1e-2, ..InnerOptions::EXACT };
        let (next, ended) = run.try_refit(support, x, &tried)?;
        if ended == Ended::Abandoned || next.value >= at.value - TRIFLE * at.value.abs() {
            return Ok((at, None));
        }
        let next = run.refit(next.support, next.x, &InnerOptions::EXACT)?;
        let limit = run.record(&at, &next, None);
        at = evaluated(run, next)?;
        if limit.is_some() {
            return Ok((at, limit));
        }
    }
}

/// The start as it stands, or zero with the free coordinates near their best, evaluated over all coordinates.
fn begin(run: &mut Run, start: Option<&Solution>) -> Result<Iterate> {
    let first = match start {
        Some(_) => run.begin_at(start)?,
        None => {
            let (free, zeros) = (run.budget.free.clone(), vec![0.0; run.budget.free.len()]);
            if free.is_empty() || run.objective.profile().quadratic {
                Iterate::new(free, zeros, f64::INFINITY, true)
            } else {
                run.refit(free, zeros, &InnerOptions { tolerance: 1e-2, ..InnerOptions::EXACT })?
            }
        }
    };
    evaluated(run, first)
}

/// A point looked at over all coordinates: its value is f's own, not that of a model.
fn evaluated(run: &Run, at: Iterate) -> Result<Iterate> {
    let value = run.point(&at)?.value();
    let at = Iterate::new(at.support, at.x, value, at.attained);
    run.know(&at);
    Ok(at)
}

/// The best point found on a working set from `at`, and the limit that ended the search.
fn search_on(run: &mut Run, set: &[usize], at: &Iterate) -> Result<(Iterate, Option<Status>)> {
    let objective = run.objective;
    // All columns of shards are theirs to work with; of rows in memory there is nothing to be spared.
    if (set.len() < objective.dim() || objective.samples().is_some())
        && let Some(part) = objective.narrowed(set)?
    {
        return by_auto(run, &*part, set, at);
    }
    let here = Look::new(run, set, at.support.clone(), at.x.clone())?;
    if objective.profile().quadratic {
        return by_auto(run, &here.model, set, at);
    }
    let (at, limit) = by_models(run, here)?;
    match filled(run, &at)?.filter(|_| limit.is_none()) {
        Some(Iterate { support, x, .. }) => by_models(run, Look::new(run, set, support, x)?),
        None => Ok((at, limit)),
    }
}

/// The point with its vacant places filled as slopes have it, where that lowers f: where f does not bend, as Huber's
/// loss at 0, a model of it promises nothing.
fn filled(run: &Run, at: &Iterate) -> Result<Option<Iterate>> {
    let vacant = run.budget.k.saturating_sub(run.budget.counted(&at.support));
    if vacant == 0 {
        return Ok(None);
    }
    let ranking = Ranking::new(&run.budget, at, run.gradient(at)?, None, vacant);
    let support = ranking.support(at, vacant.min(ranking.most()));
    let x = run.carry(at, &support);
    let next = run.refit(support, x, &InnerOptions { tolerance: 1e-2, ..InnerOptions::EXACT })?;
    Ok(Some(next).filter(|next| next.value < at.value))
}

/// What `auto` finds on a function of the working set alone.
fn by_auto(run: &mut Run, part: &dyn Objective, set: &[usize], at: &Iterate) -> Result<(Iterate, Option<Status>)> {
    let sparsity = Sparsity::new(run.budget.k).keep(places(set, &run.budget.free));
    let cancel = run.cancel().clone();
    let auto = Auto { limits: Limits { time_limit: run.time_left(), cancel, ..Limits::default() }, ..Auto::default() };
    let go_on = &mut |_: &Progress| ControlFlow::Continue(());
    let mut found = auto.solve(part, &sparsity, None, go_on)?;
    if at.support.len() > run.budget.free.len() && !is_limit(found.status) {
        // The last answer is a start that another set has paid for.
        let start = Solution::guess(places(set, &at.support), at.x.clone());
        let other = auto.solve(part, &sparsity, Some(&start), go_on)?;
        if other.value < found.value {
            found = other;
        }
    }
    let support = found.support.iter().map(|&place| set[place]).collect();
    let next = Iterate::new(support, found.coefficients, found.value, found.status != Status::Unattained);
    let limit = run.record(at, &next, None);
    let stopped = matches!(found.status, Status::Stopped | Status::TimeLimit).then_some(found.status);
    if next.value < at.value { Ok((next, limit.or(stopped))) } else { Ok((at.clone(), limit.or(stopped))) }
}

/// Where some coordinates stand in the set.
fn places(set: &[usize], coordinates: &[usize]) -> Vec<usize> {
    coordinates.iter().filter_map(|j| set.binary_search(j).ok()).collect()
}

/// A point with its support inside a set, and the quadratic model of f on the set there.
struct Look {
    at: Iterate,
    set: Vec<usize>,
    model: Quadratic,
}

impl Look {
    fn new(run: &Run, set: &[usize], support: Vec<usize>, x: Vec<f64>) -> Result<Self> {
        run.cancel().ask()?;
        let none = Error::Unsupported { solver: "working-set", need: "second derivatives" };
        let mut f = run.objective.restrict(set)?;
        let mut origin = vec![0.0; set.len()];
        places(set, &support).into_iter().zip(&x).for_each(|(place, x)| origin[place] = *x);
        let mut slope = vec![0.0; set.len()];
        let value = f.move_to(&origin, &mut slope)?;
        let mut hessian = Mat::zeros(set.len(), set.len());
        // A point outside the domain is taken back: it has no model.
        if value.is_finite() {
            f.second().hessian().ok_or(none)?.matrix(MatrixMut::over(&mut hessian))?;
        }
        for b in 0..set.len() {
            (b + 1..set.len()).for_each(|a| hessian[(b, a)] = hessian[(a, b)]);
        }
        let at = Iterate::new(support, x, value, true);
        Ok(Self { at, set: set.to_vec(), model: Quadratic { origin, value, slope, hessian } })
    }
}

/// Exchanges and Newton steps on one model after the other.
fn by_models(run: &mut Run, mut here: Look) -> Result<(Iterate, Option<Status>)> {
    let k = run.budget.k;
    let sparsity = Sparsity::new(k).keep(places(&here.set, &run.budget.free));
    // At first all vacant places are filled, and some exchanges made.
    let mut most = k + k / 4;
    // Newcomers that f has refused since it last fell by an exchange.
    let mut refused: Vec<usize> = Vec::new();
    loop {
        let Some((next, exchanged)) = step(run, &here, &sparsity, most, &mut refused)? else {
            return Ok((here.at, None));
        };
        most = (2 * exchanged).max(1);
        if exchanged > 0 {
            refused.clear();
        }
        let limit = run.record(&here.at, &next.at, None);
        here = next;
        if limit.is_some() {
            return Ok((here.at, limit));
        }
    }
}

/// The next point and how many exchanges led there; `None` where neither exchanges nor a Newton step lower f.
fn step(
    run: &Run,
    here: &Look,
    sparsity: &Sparsity,
    most: usize,
    refused: &mut Vec<usize>,
) -> Result<Option<(Look, usize)>> {
    let (limits, watch) = (Limits::default(), &mut |_: &Progress| ControlFlow::Continue(()));
    let inner = Run::new("working-set", &here.model, sparsity, &limits, watch)?;
    let local = Iterate::new(places(&here.set, &here.at.support), here.at.x.clone(), here.at.value, true);
    let Some(mut tableau) = Tableau::new(&inner, &local, candidates(run.budget.k))? else { return Ok(None) };
    tableau.refuse(refused);
    let (support, x) = tableau.point();
    let newton = here.at.value - here.model.value(SparseRef::new(&support, &x))?;
    tableau.descend(TRIFLE * here.at.value.abs(), most);
    let mut length = 1.0;
    for _ in 0..HALVINGS {
        let (support, mut x) = tableau.point();
        let listed = tableau.promised();
        if listed.is_none() {
            if newton <= EXACT * here.at.value.abs() {
                return Ok(None);
            }
            support.iter().zip(&mut x).for_each(|(&j, x)| *x = local.at(j) + length * (*x - local.at(j)));
            length *= 0.5;
        }
        let support = support.into_iter().map(|place| here.set[place]).collect();
        let next = Look::new(run, &here.set, support, x)?;
        let count = tableau.len();
        let wanted = if count > 1 { KEPT * (newton + listed.unwrap_or(0.0)) } else { 0.0 };
        if next.at.value < here.at.value - wanted {
            return Ok(Some((next, count)));
        }
        if count == 1 {
            refused.extend(tableau.newcomer());
        }
        tableau.undo(count / 2);
    }
    Ok(None)
}
