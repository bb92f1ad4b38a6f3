//! Answers for all k from one search (`ladder.rs`), where local searches are cheap.

use super::curved::{self, Curved};
use super::ladder::{FLIGHTS, Ladder, Landscape};
use super::plan::Plan;
use super::run::{Iterate, Run};
use super::wide::Space;
use super::{Auto, Effort, Limits, Progress, Solution, Solver, Status};
use crate::error::Result;
use crate::objective::{Objective, Profile};
use crate::restricted::InnerOptions;
use crate::sparsity::{SparseRef, Sparsity};
use std::ops::ControlFlow;

/// Multiply-adds of a flight. Where f is not quadratic they are dearer, and fewer find as much: with a ridge, ten times
/// the work rarely changed the third digit.
fn work(plan: &Plan, profile: &Profile) -> f64 {
    if profile.quadratic { plan.work_quadratic } else { plan.work_curved }
}

/// The ends of the flights that lead up to the run's k, as many of them as can be afforded.
fn flights(run: &Run, plan: &Plan, effort: Effort) -> Result<Vec<usize>> {
    let (objective, k) = (run.objective, run.budget.k);
    let (profile, mut ends) = (objective.profile(), Vec::new());
    let Some(rows) = Rows::of(run) else { return Ok(ends) };
    let dim = objective.dim() / rows.outputs;
    let counted = dim - rows.free.len();
    if !profile.quadratic && objective.narrowed(&rows.free)?.is_none() {
        return Ok(ends);
    }
    for end in FLIGHTS {
        let below = ends.last().copied().unwrap_or(0);
        let end = end.min(counted);
        if below >= k
            || end == below
            || plan.worthwhile * local_search(plan, &profile, dim, end) > effort.factor() * work(plan, &profile)
        {
            break;
        }
        ends.push(end);
    }
    Ok(ends)
}

/// What is counted in k: coordinates, or the rows that the outputs of a coordinate make.
struct Rows {
    outputs: usize,
    /// Those that are in at no charge, by number.
    free: Vec<usize>,
}

impl Rows {
    /// `None` where what is counted is neither.
    fn of(run: &Run) -> Option<Self> {
        let (budget, outputs) = (&run.budget, run.objective.profile().outputs);
        if !budget.is_grouped() {
            return Some(Self { outputs: 1, free: budget.free.clone() });
        }
        let rows = run.objective.dim() / outputs;
        let all = |row: usize| row * outputs..(row + 1) * outputs;
        let free: Vec<usize> = (0..rows).filter(|&row| all(row).all(|j| budget.is_free(j))).collect();
        let counted = |row: usize| budget.unit(row * outputs).is_some_and(|unit| budget.members(unit).eq(all(row)));
        let whole = (0..rows).all(|row| free.binary_search(&row).is_ok() || counted(row));
        (outputs > 1 && whole).then_some(Self { outputs, free })
    }

    /// The coordinates of some rows and the free ones, ascending.
    fn coordinates(&self, counted: &[usize]) -> Vec<usize> {
        let rows = counted.iter().chain(&self.free);
        let mut all: Vec<usize> = rows.flat_map(|row| row * self.outputs..(row + 1) * self.outputs).collect();
        all.sort_unstable();
        all
    }
}

/// The work of a local search for k among all coordinates: growing forward, and as many exchanges again.
fn local_search(plan: &Plan, profile: &Profile, dim: usize, k: usize) -> f64 {
    match profile.hessian {
        Some(cost) if profile.quadratic => 6.0 * (k * k * dim) as f64 + 0.4 * k as f64 * cost.of(1, dim),
        Some(_) => curved::local_search(plan, profile, dim, k),
        None => f64::INFINITY,
    }
}

/// The minimum on the best support found for every size from 0 to the run's k: f never rises. `None` where searching
/// on a ladder is too dear for that k.
pub(super) fn search(run: &mut Run, plan: &Plan, effort: Effort) -> Result<Option<(Vec<Iterate>, Status)>> {
    let objective = run.objective;
    let Some(rows) = Rows::of(run) else { return Ok(None) };
    let (profile, dim) = (objective.profile(), objective.dim() / rows.outputs);
    let ends = flights(run, plan, effort)?;
    if ends.last().is_none_or(|&end| end < run.budget.k) {
        return Ok(None);
    }
    run.time_between_rounds();
    let cancel = run.cancel().clone();
    if !profile.quadratic {
        let land = Curved::new(objective, &rows.free, plan, cancel);
        return climb(run, &land, &rows, &ends, plan, effort).map(Some);
    }
    let origin = objective.at(SparseRef::ZERO)?;
    let (Some(hessian), Some(cost)) = (origin.hessian()?, profile.hessian) else { return Ok(None) };
    let space = Space::new(&*origin, hessian, &rows.free, cost.of(1, dim) / dim as f64, rows.outputs, cancel)?;
    climb(run, &space, &rows, &ends, plan, effort).map(Some)
}

fn climb<L: Landscape>(
    run: &mut Run,
    all: &L,
    rows: &Rows,
    ends: &[usize],
    plan: &Plan,
    effort: Effort,
) -> Result<(Vec<Iterate>, Status)> {
    let mut ladder = Ladder::new(plan);
    let mut best = run.begin(None)?;
    // Data that are not finite are found out here.
    run.gradient(&best)?;
    let mut answers = vec![best.clone()];
    let mut limit = None;
    let profile = run.objective.profile();
    for &end in ends {
        let known = if profile.quadratic { Vec::new() } else { descents(run, end, plan)? };
        ladder.climb(all, end, work(plan, &profile), effort.factor(), &known, &mut |ladder| {
            let next = minimum(run, rows, ladder.best(run.budget.k))?;
            limit = if next.value < best.value {
                let limit = run.record(&best, &next, None);
                best = next;
                limit
            } else {
                run.poll(&best, 0, None)
            };
            Ok(limit.is_none())
        })?;
        if limit.is_some() {
            break;
        }
    }
    for k in 1..=run.budget.k {
        let at = minimum(run, rows, ladder.best(k))?;
        let before = &answers[k - 1];
        answers.push(if at.value < before.value { at } else { before.clone() });
    }
    let last = &answers[run.budget.k];
    if last.value < best.value {
        limit = limit.or(run.record(&best, last, None));
    }
    Ok((answers, limit.unwrap_or(Status::SupportStable)))
}

/// What single descents find for the last rung of a flight, half of it, and so on. Where classes are well separated
/// they come from wide supports, pruned, to what no local search over single coordinates does (raw genes, 104 x 22,283,
/// logistic loss: two thirds of its f from k = 12 on, in a twentieth of a second each).
fn descents(run: &Run, end: usize, plan: &Plan) -> Result<Vec<Vec<usize>>> {
    let limits = Limits { cancel: run.cancel().clone(), ..Limits::default() };
    let auto = Auto { effort: Effort::QUICK, plan: *plan, limits };
    let (objective, free) = (run.objective, run.budget.free.clone());
    let sizes = std::iter::successors(Some(end), |k| Some(k / 2)).take_while(|&k| k > 1);
    let mut found = Vec::new();
    for k in sizes {
        let sparsity = Sparsity::new(k).keep(free.iter().copied());
        // The watcher is asked between rounds; a descent is short, and the token ends it.
        let descent = auto.solve(objective, &sparsity, None, &mut |_| ControlFlow::Continue(()))?;
        found.push(descent.support.into_iter().filter(|j| free.binary_search(j).is_err()).collect());
    }
    Ok(found)
}

/// f at its minimum on some rows and the free ones.
fn minimum(run: &Run, rows: &Rows, counted: &[usize]) -> Result<Iterate> {
    let support = rows.coordinates(counted);
    let zeros = vec![0.0; support.len()];
    run.refit(support, zeros, &InnerOptions::EXACT)
}

/// One solution for each of the first of these k that the ladder can be climbed to.
pub(super) fn solve(
    auto: &Auto,
    objective: &dyn Objective,
    ks: &[usize],
    keep: &[usize],
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Vec<Solution>> {
    auto.limits.validate()?;
    let limits = Limits { tolerance: 0.0, ..auto.limits.clone() };
    let largest = Sparsity::new(ks.last().copied().unwrap_or(0)).keep(keep.iter().copied());
    let mut run = Run::with_subgradient(auto.name(), objective, &largest, &limits, watch)?;
    let counted = objective.dim() - run.budget.free.len();
    let top = flights(&run, &auto.plan, auto.effort)?.last().copied().unwrap_or(0);
    let covered: Vec<usize> = ks.iter().copied().filter(|&k| k.min(counted) <= top).collect();
    let Some(&last) = covered.last() else { return Ok(Vec::new()) };
    run.budget.k = last.min(counted);
    let Some((answers, status)) = search(&mut run, &auto.plan, auto.effort)? else { return Ok(Vec::new()) };
    covered.iter().map(|&k| run.answer(answers[k.min(answers.len() - 1)].clone(), status)).collect()
}
