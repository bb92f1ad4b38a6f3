//! The choice of k and the ridge by cross-validation, for targets that are more than a number per row.

use super::{JointProblem, Observed};
use crate::error::{Error, Result};
use crate::objective::{LinearModel, Objective};
use crate::path::{Path, PathProgress};
use crate::select::control::{Control, Watch};
use crate::select::splits::times;
use crate::select::{CvCell, CvProgress, CvTable, Folds, Metric, Rule, Split, ranges};
use crate::solver::{Solution, Solver};
use crate::sparsity::{SparseRef, Sparsity};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// k beyond this are for who asks for them: every cell is solved in full.
const LARGEST: usize = 32;

/// Ridges in units of the typical curvature of a column, where none are given.
const RIDGES: [f64; 3] = [1.0, 0.1, 0.01];

/// What to compare, and by what.
#[derive(Debug, Clone, PartialEq)]
pub struct JointValidation {
    /// The values of k; `None`: up to what the rows can tell apart, 32 at most.
    pub ks: Option<Vec<usize>>,
    /// The ridges; `None`: from the data.
    pub lambdas: Option<Vec<f64>>,
    /// Columns that are in at no charge.
    pub keep: Vec<usize>,
    /// What is measured; `None`: concordance for survival times, deviance otherwise.
    pub metric: Option<Metric>,
    /// Which cell wins.
    pub rule: Rule,
    /// Asked between blocks of work, as the solver asks it.
    pub cancel: crate::Cancel,
}

impl Default for JointValidation {
    fn default() -> Self {
        let (metric, rule) = (None, Rule::Best);
        Self { ks: None, lambdas: None, keep: Vec::new(), metric, rule, cancel: crate::Cancel::NEVER }
    }
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct JointSelection {
    /// k.
    pub k: usize,
    /// The ridge.
    pub lambda: f64,
    /// The solution on all rows.
    pub solution: Solution,
    /// Its models, one per output.
    pub models: Vec<LinearModel>,
    /// All scores.
    pub table: CvTable,
}

impl JointValidation {
    /// Scores every cell, chooses one and solves it on all rows, unwatched.
    pub fn fit(&self, problem: &JointProblem, folds: &Folds, solver: &dyn Solver) -> Result<JointSelection> {
        self.solve(problem, &folds.splits(), solver, &mut |_| ControlFlow::Continue(()))
    }

    /// Scores every cell on the splits, chooses one and solves it on all rows. Splits run side by side; the result does
    /// not depend on how. When `watch` breaks, there is no choice: [`Error::Cancelled`].
    pub fn solve(
        &self,
        problem: &JointProblem,
        splits: &[Split],
        solver: &dyn Solver,
        watch: &mut Watch,
    ) -> Result<JointSelection> {
        let whole = problem.on_all_rows()?;
        let bound = problem.design.nrows();
        if let Some(&index) = splits.iter().flat_map(|split| &split.held_out).find(|&&i| i >= bound) {
            return Err(Error::IndexOutOfRange { what: "row held out", index, bound });
        }
        let ks = self.ks.clone().unwrap_or_else(|| ranges::first_ks(largest_k(problem, &self.keep)));
        let lambdas = match &self.lambdas {
            Some(given) => given.clone(),
            None => {
                let unit = typical_curvature(&whole.risk)?;
                RIDGES.iter().map(|c| c * unit).collect()
            }
        };
        let metric = self.metric.unwrap_or_else(|| problem.default_metric());
        let Sparsity { keep, groups, .. } = problem.sparsity(0, &self.keep);
        let mut path = Path { keep, groups, ..Path::over(ks) };
        path.cancel = self.cancel.clone();
        path.validate()?;
        let control = Control::new(watch);
        let scores: Vec<Result<Vec<f64>>> = splits
            .par_iter()
            .enumerate()
            .map(|(fold, Split { training: rows, held_out })| {
                let training = problem.on_rows(rows.clone())?;
                let mut scores = Vec::with_capacity(lambdas.len() * path.ks.len());
                for &lambda in &lambdas {
                    let objective = training.objective(lambda)?;
                    let mut report = |path: &PathProgress| {
                        let path = PathProgress { lambda: Some(lambda), ..*path };
                        control.report(&CvProgress { fold: Some(fold), path })
                    };
                    let solved = path.solve(&*objective, solver, &mut report)?;
                    if solved.stopped.is_some() {
                        return Err(Error::Cancelled);
                    }
                    for solution in &solved.solutions {
                        scores.push(problem.score(metric, &training.models(solution), held_out, rows)?);
                    }
                }
                Ok(scores)
            })
            .collect();
        let scores = scores.into_iter().collect::<Result<Vec<_>>>()?;
        let weight = |i: usize| problem.weights.map_or(1.0, |w| w[i]);
        let weights: Vec<f64> = splits.iter().map(|split| split.held_out.iter().map(|&i| weight(i)).sum()).collect();
        let pairs = lambdas.iter().flat_map(|&lambda| path.ks.iter().map(move |&k| (k, lambda)));
        let of_cell = |c: usize| scores.iter().map(|scores| scores[c]).collect();
        let times = times(splits);
        let cells = pairs.enumerate().map(|(c, (k, l))| CvCell::new(k, l, of_cell(c), &weights).scored(times));
        let table = CvTable::new(metric, (0..splits.len()).collect(), cells.collect())?;
        let cell = table.winner(self.rule);
        let (k, lambda) = (cell.k, cell.lambda);
        let objective = whole.objective(lambda)?;
        let sparsity = problem.sparsity(k, &self.keep);
        let solution = solver.solve(&*objective, &sparsity, None, &mut |_| control.go_on())?;
        Ok(JointSelection { k, lambda, models: whole.models(&solution), solution, table })
    }
}

/// The largest k worth asking for.
fn largest_k(problem: &JointProblem, keep: &[usize]) -> usize {
    let rows = match problem.observed {
        Observed::Survival(survival) => survival.event.iter().filter(|event| **event).count(),
        _ => problem.design.nrows(),
    };
    rows.min(problem.units(keep)).clamp(1, LARGEST)
}

/// The median curvature of a column at 0; 1 where nothing curves.
fn typical_curvature(risk: &crate::objective::JointRisk) -> Result<f64> {
    let point = risk.at(SparseRef::ZERO)?;
    let mut diagonal = vec![0.0; risk.dim()];
    if let Some(hessian) = point.hessian()? {
        hessian.diagonal(&mut diagonal)?;
    }
    let counted = diagonal.iter().enumerate().filter(|(at, d)| !risk.free().contains(at) && **d > 0.0);
    let mut curvatures: Vec<f64> = counted.map(|(_, d)| d - risk.ridge()).collect();
    if curvatures.is_empty() {
        return Ok(1.0);
    }
    let middle = curvatures.len() / 2;
    let (_, median, _) = curvatures.select_nth_unstable_by(middle, f64::total_cmp);
    Ok(if median.is_finite() && *median > 0.0 { *median } else { 1.0 })
}
