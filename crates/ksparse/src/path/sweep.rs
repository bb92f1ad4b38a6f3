//! The passes of a path: forward, backward, forward over what improved.

use super::{Path, PathSolution};
use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::restricted::{self, Ended, InnerOptions};
use crate::solver::{Progress, Solution, Solver, Status};
use crate::sparsity::{Budget, Sparsity};
use std::ops::ControlFlow;
use std::time::Instant;

/// Called with k, the number of k answered and the solver's report.
type Report<'a> = dyn FnMut(usize, usize, &Progress) -> ControlFlow<()> + 'a;

/// Solves a path; `hints[i]`, where there are any, is a good point for the i-th k (of a similar objective).
pub(super) fn run(
    path: &Path,
    started: Instant,
    objective: &dyn Objective,
    solver: &dyn Solver,
    hints: &[Solution],
    report: &mut Report,
) -> Result<PathSolution> {
    path.check_least(objective)?;
    let mut sweep =
        Sweep { path, started, objective, solver, report, solutions: Vec::new(), at_once: 0, stopped: None };
    sweep.passes(hints)?;
    sweep.check()?;
    // A sweep may have made a smaller k do.
    if let Some(first) = sweep.solutions.iter().position(|solution| sweep.is_enough(solution)) {
        sweep.solutions.truncate(first + 1);
    }
    Ok(PathSolution {
        ks: path.ks[..sweep.solutions.len()].to_vec(),
        solutions: sweep.solutions,
        stopped: sweep.stopped,
    })
}

struct Sweep<'a> {
    path: &'a Path,
    started: Instant,
    objective: &'a dyn Objective,
    solver: &'a dyn Solver,
    report: &'a mut Report<'a>,
    solutions: Vec<Solution>,
    /// As many of them were solved for in one computation, which has passed answers between them.
    at_once: usize,
    stopped: Option<Status>,
}

impl Sweep<'_> {
    fn passes(&mut self, hints: &[Solution]) -> Result<()> {
        self.solve_first()?;
        for i in self.at_once..self.path.ks.len() {
            if self.stopped.is_some() {
                return Ok(());
            }
            let before = self.solutions.last().cloned();
            let mut found = self.solve(i, before.as_ref())?;
            if let Some(before) = &before {
                keep_better(&mut found, before);
                if self.path.from_zero && self.stopped.is_none() {
                    keep_better(&mut found, &self.solve(i, None)?);
                }
            }
            self.solutions.push(found);
            if let Some(hint) = hints.get(i)
                && self.stopped.is_none()
            {
                self.try_candidate(i, hint)?;
            }
            if self.stopped.is_some() {
                return Ok(());
            }
            if self.is_enough(&self.solutions[i]) {
                break;
            }
        }
        for _ in 0..self.path.sweeps {
            let improved = self.backward()?;
            // Even when stopped half-way: this is what keeps the values from rising with k.
            self.forward(&improved)?;
            if self.stopped.is_some() || !improved.contains(&true) {
                break;
            }
        }
        Ok(())
    }

    /// `Err` for an answer that breaks a constraint; what was cut short may, and is left out.
    fn check(&mut self) -> Result<()> {
        for place in 0..self.solutions.len() {
            let broken = self.objective.check(self.solutions[place].as_sparse());
            match (broken, self.stopped) {
                (Ok(()), _) => {}
                (Err(error), None) => return Err(error),
                (Err(_), Some(_)) => {
                    self.solutions.truncate(place);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether f is small enough there.
    fn is_enough(&self, solution: &Solution) -> bool {
        self.path.enough.is_some_and(|enough| solution.value <= enough)
    }

    /// Offers every k what is left of the next one's answer; says which k profited.
    fn backward(&mut self) -> Result<Vec<bool>> {
        let mut improved = vec![false; self.solutions.len()];
        for i in (self.at_once..self.solutions.len().saturating_sub(1)).rev() {
            if self.stopped.is_some() {
                break;
            }
            let next = self.solutions[i + 1].clone();
            improved[i] = self.try_candidate(i, &next)?;
        }
        Ok(improved)
    }

    /// Solves again from every answer that got better since its successor was started from it.
    fn forward(&mut self, improved: &[bool]) -> Result<()> {
        let mut fresh = improved.to_vec();
        for i in 1..self.solutions.len() {
            let (before, found) = (&self.solutions[i - 1], &self.solutions[i]);
            if fresh[i - 1] && self.stopped.is_none() {
                let before = before.clone();
                let again = self.solve(i, Some(&before))?;
                fresh[i] |= clearly_below(again.value, self.solutions[i].value);
                keep_better(&mut self.solutions[i], &again);
                keep_better(&mut self.solutions[i], &before);
            } else if before.value < found.value {
                let before = before.clone();
                keep_better(&mut self.solutions[i], &before);
            }
        }
        Ok(())
    }

    /// Cuts `candidate` to the i-th k and refits it; where that beats the answer so far, solves from there. Says
    /// whether it did.
    fn try_candidate(&mut self, i: usize, candidate: &Solution) -> Result<bool> {
        // A refit needs gradients; solvers for objectives without keep to the forward pass.
        if self.objective.profile().corners {
            return Ok(false);
        }
        let cut = match self.cut(self.path.ks[i], candidate) {
            Err(Error::Cancelled) => {
                self.stopped = Some(Status::Stopped);
                None
            }
            cut => cut?,
        };
        let Some(candidate) = cut else { return Ok(false) };
        if !clearly_below(candidate.value, self.solutions[i].value) {
            return Ok(false);
        }
        let mut found = self.solve(i, Some(&candidate))?;
        keep_better(&mut found, &candidate);
        found.iterations += self.solutions[i].iterations;
        self.solutions[i] = found;
        Ok(true)
    }

    /// The k coordinates of `from` that matter most, refitted; `None` when the refit fails.
    fn cut(&self, k: usize, from: &Solution) -> Result<Option<Solution>> {
        let dim = self.objective.dim();
        let budget = Budget::new(&self.sparsity(k), self.objective.free(), dim)?;
        let mut weight = vec![0.0; dim];
        for (&j, score) in from.support.iter().zip(self.importance(from)?) {
            weight[j] = score;
        }
        // The rises of a group's coordinates add up, where lengths add squares.
        let length = |j: usize| if budget.is_grouped() { weight[j].sqrt() } else { weight[j] };
        let support = budget.winners(budget.k, length);
        let dense = from.as_sparse().to_dense(dim);
        let mut x: Vec<f64> = support.iter().map(|&j| dense[j]).collect();
        let mut restricted = self.objective.restrict(&support)?;
        let options = InnerOptions { cancel: &self.path.cancel, ..InnerOptions::EXACT };
        let outcome = restricted::minimise(&mut *restricted, &mut x, &options)?;
        if outcome.ended == Ended::NotFinite || !outcome.value.is_finite() {
            return Ok(None);
        }
        let mut refitted = Solution::guess(support, x);
        refitted.value = outcome.value;
        Ok(Some(refitted))
    }

    /// About how much f rises when a coordinate is zeroed: x_j^2 h_j, h the curvature there, or x_j^2 where none is on
    /// offer.
    fn importance(&self, of: &Solution) -> Result<Vec<f64>> {
        let mut restricted = self.objective.restrict(&of.support)?;
        let mut curvature = vec![1.0; of.support.len()];
        restricted.move_to(&of.coefficients, &mut vec![0.0; of.support.len()])?;
        if let Some(hessian) = restricted.second().hessian() {
            hessian.diagonal(&mut curvature)?;
        }
        Ok(of.coefficients.iter().zip(&curvature).map(|(x, h)| x * x * h).collect())
    }

    fn sparsity(&self, k: usize) -> Sparsity {
        self.path.sparsity(k)
    }

    /// Those of the first k that the solver has answers for from one computation.
    fn solve_first(&mut self) -> Result<()> {
        let (ks, objective, solver) = (&self.path.ks, self.objective, self.solver);
        let largest = ks.last().copied().unwrap_or(0);
        let sparsity = self.sparsity(largest);
        self.solutions = match self.watched(largest, |watch| solver.solve_all(objective, ks, &sparsity, watch)) {
            // What the first k has by then is still an answer.
            Err(Error::Cancelled) => return Ok(()),
            solutions => solutions?,
        };
        self.at_once = self.solutions.len();
        if let Some(reason) = self.stopped {
            self.solutions.iter_mut().for_each(|solution| solution.status = reason);
        }
        Ok(())
    }

    /// Runs the solver for the i-th k, minding the watcher and the clock.
    fn solve(&mut self, i: usize, start: Option<&Solution>) -> Result<Solution> {
        let k = self.path.ks[i];
        let (sparsity, objective, solver) = (self.sparsity(k), self.objective, self.solver);
        let before = self.stopped;
        self.stopped = None;
        let mut solution = self.watched(k, |watch| solver.solve(objective, &sparsity, start, watch))?;
        if solution.status == Status::Stopped {
            // By the watcher, the clock, or a token of the solver's.
            solution.status = *self.stopped.get_or_insert(Status::Stopped);
        }
        if solution.status == Status::TimeLimit
            && self.path.time_limit.is_some_and(|limit| self.started.elapsed() >= limit)
        {
            self.stopped = Some(Status::TimeLimit);
        }
        self.stopped = before.or(self.stopped);
        Ok(solution)
    }

    /// Does some work for a k under the watcher and the clock; notes which of them stopped it.
    fn watched<T>(
        &mut self,
        k: usize,
        work: impl FnOnce(&mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<T>,
    ) -> Result<T> {
        let done = self.solutions.len();
        let (report, started, limit) = (&mut *self.report, self.started, self.path.time_limit);
        let mut stopped = None;
        let result = work(&mut |progress: &Progress| {
            if report(k, done, progress).is_break() {
                stopped = Some(Status::Stopped);
            } else if limit.is_some_and(|limit| started.elapsed() >= limit) {
                stopped = Some(Status::TimeLimit);
            }
            if stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.stopped = self.stopped.or(stopped);
        result
    }
}

/// Takes over the point of `other` if f is lower there; what the solver said about its own run stays.
fn keep_better(solution: &mut Solution, other: &Solution) {
    if other.value < solution.value {
        solution.support.clone_from(&other.support);
        solution.coefficients.clone_from(&other.coefficients);
        solution.value = other.value;
    }
}

/// Below by more than rounding error.
fn clearly_below(value: f64, than: f64) -> bool {
    value < than - 1e-9 * than.abs()
}
