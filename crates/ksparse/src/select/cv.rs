//! K-fold cross-validation of a (k, lambda) grid.
//!
//! Fold v is held out, the grid is solved on the rows of the others, and every cell is scored on fold v: `s_v`. With
//! W_v the weight of fold v (its number of rows without weights),
//!
//! ```text
//! mean = sum_v W_v s_v / sum_v W_v          standard error = sqrt( sum_v W_v (s_v - mean)^2 / sum_v W_v / (V - 1) )
//! ```
//!
//! which for equal folds are the plain mean and the standard deviation over sqrt(V). The winner is solved again on all
//! rows.

use super::control::{Control, Watch};
use super::problem::pick;
use super::{CvCell, CvTable, Folds, Metric, Problem, Rule};
use crate::error::{Error, Result, check_len, check_option};
use crate::loss::TargetKind;
use crate::objective::{LinearModel, Objective};
use crate::path::{Grid, Path, PathProgress};
use crate::solver::{Solution, Solver};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Cross-validation and its options.
///
/// ```
/// use ksparse::{Grid, design::Dense, loss::Squared, solver::Auto};
/// use ksparse::select::{CrossValidation, Folds, Problem, Rule};
/// // y = 3 x_0 and a little noise; x_1 is noise.
/// let x0: Vec<f64> = (0..30).map(|i| (i as f64).sin()).collect();
/// let x1: Vec<f64> = (0..30).map(|i| (5.0 * i as f64).cos()).collect();
/// let y: Vec<f64> = (0..30).map(|i| 3.0 * x0[i] + 0.1 * (17.0 * i as f64).sin()).collect();
/// let x = Dense::from_columns(30, 2, [x0, x1].concat())?;
/// let loss = Squared::default();
/// let problem = Problem::new(&x, &y, &loss);
/// let grid = Grid::over(0..=2, [0.0]);
/// let validation = CrossValidation { rule: Rule::OneStandardError, ..CrossValidation::over(grid) };
/// let chosen = validation.fit(&problem, &Folds::seeded(30, 5, 1)?, &Auto::default())?;
/// assert_eq!(chosen.k, 1);
/// assert_eq!(chosen.model.support, [0]);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CrossValidation {
    /// The cells to compare, k counting the groups of the grid's path. Its time limit is for all folds together: folds
    /// not finished by then are left out.
    pub grid: Grid,
    /// How predictions are scored. Default deviance.
    pub metric: Metric,
    /// Which cell wins. Default the best.
    pub rule: Rule,
}

/// What cross-validation reports once per iteration of its solver.
#[derive(Debug, Clone, Copy)]
pub struct CvProgress<'a> {
    /// The fold held out; `None` in the final fit on all rows.
    pub fold: Option<usize>,
    /// How far its grid is.
    pub path: PathProgress<'a>,
}

impl CrossValidation {
    /// The given grid, scored by deviance, the best mean winning.
    pub fn over(grid: Grid) -> Self {
        Self { grid, metric: Metric::Deviance, rule: Rule::Best }
    }

    /// Scores every cell, chooses one and solves it on all rows, unwatched.
    pub fn fit(&self, problem: &Problem, folds: &Folds, solver: &dyn Solver) -> Result<Selection> {
        self.solve(problem, folds, solver, &mut |_| ControlFlow::Continue(()))
    }

    /// Scores every cell, chooses one and solves it on all rows. Folds run in parallel; the result does not depend on
    /// how. `watch` is called once per iteration of the solver, reports that coincide with another fold's being
    /// dropped; when it returns `Break` the folds finished by then decide (two at least: `Err` otherwise). Cancelled
    /// (the grid's path and the solver have a token), there is no model of all rows: [`Error::Cancelled`].
    pub fn solve(&self, problem: &Problem, folds: &Folds, solver: &dyn Solver, watch: &mut Watch) -> Result<Selection> {
        let table = self.table(problem, folds, solver, watch)?;
        let cell = table.winner(self.rule);
        let (k, lambda) = (cell.k, cell.lambda);
        self.grid.path.cancel.ask()?;
        let training = problem.on_all_rows()?;
        let solution = self.refit(&*training.objective(lambda)?, k, solver, watch)?;
        Ok(Selection { k, lambda, model: training.model(&solution), solution, table })
    }

    /// The scores of all cells, without the final fit.
    pub fn table(&self, problem: &Problem, folds: &Folds, solver: &dyn Solver, watch: &mut Watch) -> Result<CvTable> {
        self.grid.validate()?;
        problem.validate()?;
        check_len("folds", folds.rows(), problem.target.len())?;
        self.metric.check(problem.loss)?;
        let fold_weights = check_folds(problem, folds, self.metric)?;
        let control = Control::new(watch);
        let scores: Vec<Result<Option<Vec<f64>>>> = (0..folds.count())
            .into_par_iter()
            .map(|fold| self.scores(problem, folds, fold, solver, &control))
            .collect();
        let (mut used, mut finished) = (Vec::new(), Vec::new());
        for (fold, scores) in scores.into_iter().enumerate() {
            if let Some(scores) = scores? {
                used.push(fold);
                finished.push(scores);
            }
        }
        if used.len() < 2 {
            return Err(Error::Data("cross-validation was stopped before two folds were finished".to_string()));
        }
        let weights: Vec<f64> = used.iter().map(|&fold| fold_weights[fold]).collect();
        let pairs = self.grid.lambdas.iter().flat_map(|&l| self.grid.path.ks.iter().map(move |&k| (k, l)));
        let of_cell = |c: usize| finished.iter().map(|scores| scores[c]).collect();
        let times = folds.deals().len() as f64;
        let cells = pairs.enumerate().map(|(c, (k, l))| CvCell::new(k, l, of_cell(c), &weights).scored(times));
        CvTable::new(self.metric, used, cells.collect())
    }

    /// The scores of one fold for all cells, lambda by lambda; `None` when it was stopped.
    fn scores(
        &self,
        problem: &Problem,
        folds: &Folds,
        fold: usize,
        solver: &dyn Solver,
        control: &Control,
    ) -> Result<Option<Vec<f64>>> {
        let limit = self.grid.path.time_limit;
        let stopped = control.stopped() || self.grid.path.cancel.is_set();
        if stopped || limit.is_some_and(|limit| control.started.elapsed() >= limit) {
            return Ok(None);
        }
        let mut grid = self.grid.clone();
        grid.path.time_limit = limit.map(|limit| limit.saturating_sub(control.started.elapsed()));
        let training = problem.on_rows(folds.training(fold))?;
        let mut report = |path: &PathProgress| control.report(&CvProgress { fold: Some(fold), path: *path });
        let solved = grid.solve_under(&|lambda| training.objective(lambda), solver, &mut report)?;
        if solved.stopped().is_some() {
            return Ok(None);
        }
        let rows = folds.held_out(fold);
        let target = pick(problem.target, &rows);
        let weights = problem.weights.map(|w| pick(w, &rows));
        let solutions = solved.paths.iter().flat_map(|path| &path.solutions);
        let score = |solution: &Solution| {
            let z = problem.predict(&training.model(solution), &rows)?;
            self.metric.score(problem.loss, &z, &target, weights.as_deref())
        };
        solutions.map(score).collect::<Result<Vec<f64>>>().map(Some)
    }

    /// The chosen cell on all rows: the better of the path that leads there and a solution from zero.
    fn refit(&self, objective: &dyn Objective, k: usize, solver: &dyn Solver, watch: &mut Watch) -> Result<Solution> {
        let ks = self.grid.path.ks.iter().copied().filter(|&other| other <= k).collect();
        let path = Path { ks, time_limit: None, ..self.grid.path.clone() };
        let mut report = |path: &PathProgress| watch(&CvProgress { fold: None, path: *path });
        let reached = path.solve(objective, solver, &mut report)?;
        let sparsity = path.sparsity(k);
        let total = path.ks.len();
        let direct = solver.solve(objective, &sparsity, None, &mut |solver| {
            report(&PathProgress { k, lambda: None, done: total, total, solver: *solver })
        })?;
        objective.check(direct.as_sparse())?;
        // A path that was stopped on the way has nothing for k.
        Ok(reached.at(k).filter(|path| path.value <= direct.value).cloned().unwrap_or(direct))
    }
}

/// The weight of every fold; `Err` for a fold that cannot be trained without or scored.
fn check_folds(problem: &Problem, folds: &Folds, metric: Metric) -> Result<Vec<f64>> {
    let weight = |i: usize| problem.weights.map_or(1.0, |w| w[i]);
    let is_positive = |i: &usize| problem.target[*i] > 0.0;
    let sum = |rows: &mut dyn Iterator<Item = usize>| rows.map(weight).sum::<f64>();
    let held_out: Vec<Vec<usize>> = (0..folds.count()).map(|fold| folds.held_out(fold)).collect();
    let weights: Vec<f64> = held_out.iter().map(|rows| sum(&mut rows.iter().copied())).collect();
    let positive: Vec<f64> = held_out.iter().map(|rows| sum(&mut rows.iter().copied().filter(is_positive))).collect();
    let (total, all_positive) = (sum(&mut (0..folds.rows())), sum(&mut (0..folds.rows()).filter(is_positive)));
    for fold in 0..folds.count() {
        check_option(
            weights[fold] > 0.0,
            "weights",
            format!("zero in fold {fold}"),
            "positive somewhere in every fold",
        )?;
        let mixed = |positive: f64, all: f64| positive > 0.0 && positive < all;
        let labels = problem.loss.target() == TargetKind::Sign;
        if labels && !mixed(all_positive - positive[fold], total - weights[fold]) {
            let problem = format!("without fold {fold} only one class is left to train on; stratify the folds");
            return Err(Error::Data(problem));
        }
        if metric == Metric::Auc && !mixed(positive[fold], weights[fold]) {
            let problem =
                format!("fold {fold} holds one class only, which leaves its auc undefined; stratify the folds");
            return Err(Error::Data(problem));
        }
    }
    Ok(weights)
}

/// What cross-validation chose.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Selection {
    /// The chosen k.
    pub k: usize,
    /// The chosen lambda.
    pub lambda: f64,
    /// The model of that cell fitted to all rows, in the units of the original columns.
    pub model: LinearModel,
    /// The solution behind it, in the units the solver saw (standardised if that was asked for).
    pub solution: Solution,
    /// All scores.
    pub table: CvTable,
}
