//! Answers for all k from one search (`ladder.rs`), where local searches are cheap.

use super::agreement::agreed;
use super::curved::{self, Curved};
use super::ladder::{FLIGHTS, Ladder};
use super::landscape::Landscape;
use super::plan::Plan;
use super::run::{Iterate, Run, union};
use super::wide::Space;
use super::{Auto, Effort, Limits, Progress, Solution, Solver, Status};
use crate::error::Result;
use crate::objective::{Objective, Profile};
use crate::restricted::InnerOptions;
use crate::sparsity::{Budget, SparseRef, Sparsity};
use std::ops::ControlFlow;

/// The ends of the flights that lead up to the run's k, as many of them as can be afforded.
fn flights(run: &Run, plan: &Plan, effort: Effort) -> Result<Vec<usize>> {
    let (objective, k, mut ends) = (run.objective, run.budget.k, Vec::new());
    let counted = Counted::of(run);
    if counted.curved() && objective.narrowed(&run.budget.free)?.is_none() {
        return Ok(ends);
    }
    let (all, enough) = (counted.count(), effort.factor() * counted.work(plan));
    for end in FLIGHTS {
        let below = ends.last().copied().unwrap_or(0);
        let end = end.min(all);
        if below >= k || end == below || plan.worthwhile * counted.local_search(plan, end) > enough {
            break;
        }
        ends.push(end);
    }
    Ok(ends)
}

/// What is counted in k, and the landscape that suits it.
struct Counted<'r> {
    budget: &'r Budget,
    profile: Profile,
    dim: usize,
    /// On a quadratic f, updates of rank one over coordinates, or over the rows that the outputs of a coordinate make:
    /// how many outputs there are, and the rows that are in at no charge. Otherwise refits of f on the budget's units.
    rows: Option<(usize, Vec<usize>)>,
}

impl<'r> Counted<'r> {
    fn of(run: &'r Run) -> Self {
        let (budget, profile, dim) = (&run.budget, run.objective.profile(), run.objective.dim());
        let mut rows = (1, budget.free.clone());
        let mut updates = profile.quadratic && profile.hessian.is_some();
        if budget.is_grouped() {
            let outputs = profile.outputs;
            let all = |row: usize| row * outputs..(row + 1) * outputs;
            let free: Vec<usize> = (0..dim / outputs).filter(|&row| all(row).all(|j| budget.is_free(j))).collect();
            let unit = |row: usize| budget.unit(row * outputs).is_some_and(|unit| budget.members(unit).eq(all(row)));
            updates &= outputs > 1 && (0..dim / outputs).all(|row| free.binary_search(&row).is_ok() || unit(row));
            rows = (outputs, free);
        }
        Self { budget, profile, dim, rows: updates.then_some(rows) }
    }

    /// Whether local searches refit f.
    fn curved(&self) -> bool {
        self.rows.is_none()
    }

    /// How many may be counted in k.
    fn count(&self) -> usize {
        match &self.rows {
            Some((outputs, free)) => self.dim / outputs - free.len(),
            None if self.budget.is_grouped() => self.budget.units(),
            None => self.dim - self.budget.free.len(),
        }
    }

    /// Multiply-adds of a flight. Where local searches refit f they are dearer, and fewer find as much: with a ridge,
    /// ten times the work rarely changed the third digit.
    fn work(&self, plan: &Plan) -> f64 {
        if self.curved() { plan.work_curved } else { plan.work_quadratic }
    }

    /// The work of a local search for k among all: growing forward, and as many exchanges again.
    fn local_search(&self, plan: &Plan, k: usize) -> f64 {
        match (self.profile.hessian, &self.rows) {
            (Some(cost), Some((outputs, _))) => {
                let rows = self.dim / outputs;
                6.0 * (k * k * rows) as f64 + 0.4 * k as f64 * cost.of(1, rows)
            }
            (Some(_), None) => curved::local_search(plan, &self.profile, self.dim, k, self.budget.mean_size()),
            (None, _) => f64::INFINITY,
        }
    }

    /// The coordinates of some of what is counted, and the free ones, ascending.
    fn coordinates(&self, counted: &[usize]) -> Vec<usize> {
        match &self.rows {
            Some((outputs, free)) => {
                let rows = counted.iter().chain(free);
                let mut all: Vec<usize> = rows.flat_map(|row| row * outputs..(row + 1) * outputs).collect();
                all.sort_unstable();
                all
            }
            None => {
                let members: Vec<usize> = counted.iter().flat_map(|&unit| self.budget.members(unit)).collect();
                union(&members, &self.budget.free)
            }
        }
    }
}

/// The minimum on the best support found for every size from 0 to the run's k: f never rises. Of the last size alone,
/// where only that is asked for and nothing is left to be found. `None` where searching on a ladder is too dear for
/// that k.
pub(super) fn search(
    run: &mut Run,
    plan: &Plan,
    effort: Effort,
    alone: bool,
) -> Result<Option<(Vec<Iterate>, Status)>> {
    let objective = run.objective;
    let ends = flights(run, plan, effort)?;
    if ends.last().is_none_or(|&end| end < run.budget.k) {
        return Ok(None);
    }
    run.time_between_rounds();
    let (cancel, budget) = (run.cancel().clone(), run.budget.clone());
    let Some((outputs, free)) = Counted::of(run).rows else {
        let land = Curved::new(objective, &budget, plan, cancel);
        return climb(run, &land, &ends, plan, effort, alone).map(Some);
    };
    let origin = objective.at(SparseRef::ZERO)?;
    let (Some(hessian), Some(cost)) = (origin.hessian()?, objective.profile().hessian) else { return Ok(None) };
    let columns = objective.dim() / outputs;
    let space = Space::new(&*origin, hessian, &free, cost.of(1, columns) / columns as f64, outputs, cancel)?;
    climb(run, &space, &ends, plan, effort, alone).map(Some)
}

fn climb<L: Landscape>(
    run: &mut Run,
    all: &L,
    ends: &[usize],
    plan: &Plan,
    effort: Effort,
    alone: bool,
) -> Result<(Vec<Iterate>, Status)> {
    let counted = Counted::of(run);
    let (work, curved) = (counted.work(plan), counted.curved());
    let mut best = run.begin(None)?;
    // Data that are not finite are found out here.
    run.gradient(&best)?;
    let kicks = if curved { plan.agreeing_curved } else { plan.agreeing_quadratic } * effort.factor().max(1.0);
    if alone && let Some(support) = agreed(all, run.budget.k, kicks as usize, plan)? {
        let at = minimum(run, &support)?;
        let limit = run.record(&best, &at, None);
        return Ok((vec![at], limit.unwrap_or(Status::SupportStable)));
    }
    let mut ladder = Ladder::new(plan);
    let mut answers = vec![best.clone()];
    let mut limit = None;
    for &end in ends {
        let known = if curved { descents(run, end, plan)? } else { Vec::new() };
        ladder.climb(all, end, work, effort.factor(), &known, &mut |ladder| {
            let next = minimum(run, ladder.best(run.budget.k))?;
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
        let at = minimum(run, ladder.best(k))?;
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
    // Of groups from several starts: a ladder of theirs has fewer searches.
    let (effort, plan) = match run.budget.is_grouped() {
        true => (Effort::NORMAL, Plan { worthwhile: f64::INFINITY, ..*plan }),
        false => (Effort::QUICK, *plan),
    };
    let auto = Auto { effort, plan, limits };
    let sizes = std::iter::successors(Some(end), |k| Some(k / 2)).take_while(|&k| k > 1);
    let mut found = Vec::new();
    for k in sizes {
        let sparsity = run.budget.sparsity(k);
        // The watcher is asked between rounds; a descent is short, and the token ends it.
        let descent = auto.solve(run.objective, &sparsity, None, &mut |_| ControlFlow::Continue(()))?;
        found.push(run.budget.units_of(&descent.support));
    }
    Ok(found)
}

/// f at its minimum on some of what is counted, and what is free.
fn minimum(run: &Run, counted: &[usize]) -> Result<Iterate> {
    let support = Counted::of(run).coordinates(counted);
    let zeros = vec![0.0; support.len()];
    run.refit(support, zeros, &InnerOptions::EXACT)
}

/// One solution for each of the first of these k that the ladder can be climbed to.
pub(super) fn solve(
    auto: &Auto,
    objective: &dyn Objective,
    ks: &[usize],
    sparsity: &Sparsity,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Vec<Solution>> {
    auto.limits.validate()?;
    let limits = Limits { tolerance: 0.0, ..auto.limits.clone() };
    let largest = Sparsity { k: ks.last().copied().unwrap_or(0), ..sparsity.clone() };
    let mut run = Run::with_subgradient(auto.name(), objective, &largest, &limits, watch)?;
    let counted = Counted::of(&run).count();
    let top = flights(&run, &auto.plan, auto.effort)?.last().copied().unwrap_or(0);
    let covered: Vec<usize> = ks.iter().copied().filter(|&k| k.min(counted) <= top).collect();
    let Some(&last) = covered.last() else { return Ok(Vec::new()) };
    run.budget.k = last.min(counted);
    let Some((answers, status)) = search(&mut run, &auto.plan, auto.effort, false)? else { return Ok(Vec::new()) };
    covered.iter().map(|&k| run.answer(answers[k.min(answers.len() - 1)].clone(), status)).collect()
}
