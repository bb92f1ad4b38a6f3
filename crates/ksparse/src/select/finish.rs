//! The chosen cell, solved to the end on all rows.

use super::choose::{Alternative, Choose, Predictor};
use super::control::Watch;
use super::descent;
use super::{CvProgress, Training};
use crate::error::{Error, Result};
use crate::objective::{Objective, Risk};
use crate::path::PathProgress;
use crate::restricted::{self, InnerOptions};
use crate::solver::{Progress, Solution, Solver};
use crate::sparsity::Sparsity;
use std::ops::ControlFlow;
use std::time::Instant;

/// The chosen cell on all rows.
pub(super) struct Finish<'a> {
    pub choose: &'a Choose,
    pub k: usize,
    pub lambda: f64,
    pub refit: f64,
    pub solver: &'a dyn Solver,
    pub started: Instant,
}

impl Finish<'_> {
    /// The model of one problem; `met` are the supports that the splits have selected in the chosen cell.
    pub fn predictor(&self, training: &Training, met: &[&[usize]], watch: &mut Watch) -> Result<Predictor> {
        let risk = training.risk.reridged(self.lambda)?;
        let mut alternatives: Vec<Solution> = Vec::new();
        for support in met {
            alternatives.extend(exact(&risk, support, None)?);
        }
        let selected = self.select(&risk, &alternatives, watch)?;
        let start = selected.coefficients.as_slice();
        let refitted = exact(&training.risk.reridged(self.refit)?, &selected.support, Some(start))?;
        let solution = refitted.map_or_else(
            || Err(Error::Overflow { what: "objective" }),
            |refitted| {
                Ok(Solution {
                    status: selected.status,
                    iterations: selected.iterations,
                    trace: selected.trace.clone(),
                    ..refitted
                })
            },
        )?;
        alternatives.retain(|other| other.support != selected.support && other.support.len() == selected.support.len());
        alternatives.sort_by(|a, b| a.value.total_cmp(&b.value).then_with(|| a.support.cmp(&b.support)));
        alternatives.dedup_by(|a, b| a.support == b.support);
        alternatives.truncate(10);
        let columns =
            |support: &[usize]| support.iter().copied().filter(|j| !risk.free().contains(j)).collect::<Vec<_>>();
        let alternatives =
            alternatives.iter().map(|other| Alternative { support: columns(&other.support), value: other.value });
        let mut frequencies = vec![0.0; risk.features()];
        for support in met {
            columns(support).iter().for_each(|&j| frequencies[j] += 1.0 / met.len() as f64);
        }
        Ok(Predictor {
            model: training.model(&solution),
            frequencies,
            alternatives: alternatives.collect(),
            selected,
            solution,
        })
    }

    /// The best support known: the solver's answer from the best one met, which it never makes worse.
    fn select(&self, risk: &Risk, met: &[Solution], watch: &mut Watch) -> Result<Solution> {
        let sparsity = Sparsity::new(self.k).keep(self.choose.keep.iter().copied());
        let mut report = |solver: &Progress| {
            let path = PathProgress { k: self.k, lambda: Some(self.lambda), done: 0, total: 1, solver: *solver };
            let late = self.choose.time_limit.is_some_and(|limit| self.started.elapsed() >= limit);
            if late { ControlFlow::Break(()) } else { watch(&CvProgress { fold: None, path }) }
        };
        if self.k == 0 || risk.profile().corners {
            return self.solver.solve(risk, &sparsity, None, &mut report);
        }
        let found = descent::descend(risk, &[self.k], &self.choose.keep, &mut Vec::new(), &mut |_, _| {
            ControlFlow::Continue(())
        })?;
        let found = found.first().map(|(_, stage)| Solution {
            value: stage.value,
            ..Solution::guess(stage.support.clone(), stage.x.clone())
        });
        let size = found.as_ref().map_or(0, |found| found.support.len());
        let starts = met.iter().filter(|other| other.support.len() == size).chain(&found);
        let start = starts.min_by(|a, b| a.value.total_cmp(&b.value));
        self.solver.solve(risk, &sparsity, start, &mut report)
    }
}

/// The minimum on a support; `None` for one that is empty or where f is not finite.
fn exact(risk: &Risk, support: &[usize], start: Option<&[f64]>) -> Result<Option<Solution>> {
    if support.is_empty() {
        return Ok(None);
    }
    let mut x = start.map_or_else(|| vec![0.0; support.len()], <[f64]>::to_vec);
    let outcome = restricted::minimise(&mut *risk.restrict(support)?, &mut x, &InnerOptions::EXACT)?;
    let solution = Solution { value: outcome.value, ..Solution::guess(support.to_vec(), x) };
    Ok(outcome.value.is_finite().then_some(solution))
}
