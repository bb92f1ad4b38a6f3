//! The chosen cell, solved to the end on all rows.

use super::CvProgress;
use super::choose::{Alternative, Choose, Predictor};
use super::control::Watch;
use super::descent::{Columns, Descent, Stage, Whole};
use super::task::{OnRows, Task};
use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::path::{Path, PathProgress};
use crate::restricted::{self, InnerOptions};
use crate::solver::{Progress, Solution, Solver};
use crate::sparsity::Sparsity;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The chosen cell on all rows.
pub(super) struct Finish<'a> {
    pub choose: &'a Choose,
    pub task: &'a dyn Task,
    pub k: usize,
    pub lambda: f64,
    pub refit: f64,
    /// All k compared, ascending.
    pub ks: &'a [usize],
    pub solver: &'a dyn Solver,
    pub started: Instant,
}

impl Finish<'_> {
    /// The model of one task; `met` are the supports that the splits have selected in the chosen cell, `whole` a
    /// point over all columns to begin at.
    pub fn predictor(
        &self,
        training: &dyn OnRows,
        met: &[&[usize]],
        whole: &mut Whole,
        watch: &mut Watch,
    ) -> Result<Predictor> {
        let objective = training.objective(self.lambda)?;
        let mut alternatives: Vec<Solution> = Vec::new();
        for support in met.iter().filter(|support| !support.is_empty()) {
            if self.late() && !alternatives.is_empty() {
                break;
            }
            let other = exact(&*objective, support, None)?;
            alternatives.extend(other.filter(|other| objective.check(other.as_sparse()).is_ok()));
        }
        let (selected, path) = self.select(training, &*objective, &alternatives, whole, watch)?;
        let solution = Solution {
            status: selected.status,
            iterations: selected.iterations,
            refits: selected.refits,
            trace: selected.trace.clone(),
            ..self.refitted(training, &selected.support, &selected.coefficients)?
        };
        let same_size = |other: &Solution| self.same_size(&other.support, selected.support.len());
        alternatives.retain(|other| other.support != selected.support && same_size(other));
        alternatives.sort_by(|a, b| a.value.total_cmp(&b.value).then_with(|| a.support.cmp(&b.support)));
        alternatives.dedup_by(|a, b| a.support == b.support);
        alternatives.truncate(10);
        let columns = |support: &[usize]| {
            let counted = support.iter().filter(|at| !objective.free().contains(at));
            let mut columns: Vec<usize> = counted.map(|at| at / training.outputs()).collect();
            columns.dedup();
            columns
        };
        let alternatives =
            alternatives.iter().map(|other| Alternative { support: columns(&other.support), value: other.value });
        let mut frequencies = vec![0.0; self.task.columns()];
        for support in met {
            columns(support).iter().for_each(|&j| frequencies[j] += 1.0);
        }
        frequencies.iter_mut().for_each(|times| *times /= (met.len() as f64).max(1.0));
        Ok(Predictor {
            models: training.models(&solution),
            frequencies,
            resampled: None,
            alternatives: alternatives.collect(),
            path,
            selected,
            solution,
        })
    }

    /// The minimum on a support under the ridge that refits.
    pub(super) fn refitted(&self, training: &dyn OnRows, support: &[usize], start: &[f64]) -> Result<Solution> {
        let objective = training.objective(self.refit)?;
        let refitted = exact(&*objective, support, Some(start))?.ok_or(Error::Overflow { what: "objective" })?;
        objective.check(refitted.as_sparse())?;
        Ok(refitted)
    }

    /// Whether the time is up.
    pub(super) fn late(&self) -> bool {
        self.choose.cancel_within(1.0, self.started).is_set()
    }

    /// The best support known: the solver's answer from the best one met, which it never makes worse. With it what the
    /// quick search finds for every k.
    fn select(
        &self,
        training: &dyn OnRows,
        objective: &dyn Objective,
        met: &[Solution],
        whole: &mut Whole,
        watch: &mut Watch,
    ) -> Result<(Solution, Vec<(usize, Solution)>)> {
        let sparsity = self.task.sparsity(self.k, &self.choose.keep);
        let late = || self.late();
        let mut report = |solver: &Progress| {
            let path = PathProgress { k: self.k, lambda: Some(self.lambda), done: 0, total: 1, solver: *solver };
            if late() { ControlFlow::Break(()) } else { watch(&CvProgress { fold: None, path }) }
        };
        let mut path: Vec<(usize, Solution)> = Vec::new();
        if self.choose.solves(objective) {
            let Sparsity { keep, groups, .. } = sparsity.clone();
            let all = Path { keep, groups, time_limit: self.time_left(), ..Path::over(self.ks.iter().copied()) };
            let solved = all.solve(objective, self.solver, &mut |at| report(&at.solver))?;
            path.extend(solved.ks.iter().copied().zip(solved.solutions));
        } else {
            let mut ask = |_: usize, _: &Stage| if late() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            let cancel = self.choose.cancel_within(1.0, self.started);
            let columns = Columns::of(training, self.lambda);
            let descent = Descent::new(columns, objective, sparsity.clone(), &cancel)?;
            let stages = descent.descend(self.ks, whole, &mut ask)?;
            path.extend(stages.into_iter().rev().map(|(k, stage)| (k, Solution::from(stage))));
        }
        let found = path.iter().find(|(k, _)| *k == self.k).map(|(_, found)| found);
        let size = found.or(met.first()).map_or(0, |found| found.support.len());
        let starts = met.iter().filter(|other| self.same_size(&other.support, size)).chain(found);
        let start = starts.min_by(|a, b| a.value.total_cmp(&b.value)).filter(|_| self.k > 0);
        let selected = self.solver.solve(objective, &sparsity, start, &mut report)?;
        path.retain(|(k, _)| *k != self.k);
        path.push((self.k, selected.clone()));
        path.sort_by_key(|(k, _)| *k);
        // What is feasible for a k is so for the next: values never rise.
        for next in 1..path.len() {
            if path[next - 1].1.value < path[next].1.value {
                path[next].1 = path[next - 1].1.clone();
            }
        }
        Ok((selected, path))
    }

    /// Whether a support is one of so many coordinates. As many groups may hold more or fewer.
    fn same_size(&self, support: &[usize], size: usize) -> bool {
        self.task.is_grouped() || support.len() == size
    }

    fn time_left(&self) -> Option<Duration> {
        self.choose.time_limit.map(|limit| limit.saturating_sub(self.started.elapsed()))
    }
}

/// The minimum on a support; `None` where f is not finite.
fn exact(objective: &dyn Objective, support: &[usize], start: Option<&[f64]>) -> Result<Option<Solution>> {
    let mut x = start.map_or_else(|| vec![0.0; support.len()], <[f64]>::to_vec);
    let outcome = restricted::minimise(&mut *objective.restrict(support)?, &mut x, &InnerOptions::EXACT)?;
    let solution = Solution { value: outcome.value, ..Solution::guess(support.to_vec(), x) };
    Ok(outcome.value.is_finite().then_some(solution))
}
