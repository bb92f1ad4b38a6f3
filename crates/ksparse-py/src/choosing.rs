//! The choice of a whole model: k and two ridges, by any splits and any scorer.

use crate::bound;
use crate::error::to_py;
use crate::options::Search;
use crate::outcome::{self, indices};
use crate::problem::Data;
use crate::supervise::{Cell, supervise};
use ksparse::select::{
    Alternative, Choose, Chosen, Criterion, CvProgress, Deal, Edge, Predictor, Problem, Refits, Resampled, Rule, ranges,
};
use ksparse::{Cancel, Error, Grid, LinearModel};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::Mutex;

/// What to compare, read from a dictionary with these keys; `None` is from the data.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Comparison {
    ks: Option<Vec<usize>>,
    alphas: Option<Vec<f64>>,
    refit_alphas: Option<Vec<f64>>,
    /// Refit under the ridge that selects, whatever `refit_alphas` is.
    one_ridge: bool,
    /// Solve every cell with the solver.
    thorough: bool,
    rule: String,
    /// Random halves of the rows to fit the choice to as well.
    resamples: usize,
}

impl Comparison {
    pub fn choose(self, search: &Search, cancel: &Cancel) -> PyResult<Choose> {
        let refits = match self.refit_alphas {
            _ if self.one_ridge => Refits::Same,
            Some(given) => Refits::Given(given),
            None => Refits::FromData,
        };
        Ok(Choose {
            ks: self.ks,
            lambdas: self.alphas,
            refits,
            keep: search.keep.clone(),
            rule: Rule::by_name(&self.rule).map_err(to_py)?,
            thorough: self.thorough,
            resamples: self.resamples,
            time_limit: search.time_limit()?,
            cancel: cancel.clone(),
            ..Choose::default()
        })
    }
}

/// Chooses one cell for all of `data` (one per linear predictor, of the same X) by the splits, and fits it to all rows.
/// `scorer`, if there is one, is called with the number of a split and a list of (support, coefficients, intercept),
/// and returns a number of which higher is better.
#[pyfunction]
#[pyo3(signature = (data, search, comparison, splits, scorer=None, callback=None, certify=0))]
#[allow(clippy::too_many_arguments)]
pub fn choose_model<'py>(
    py: Python<'py>,
    data: Vec<Data<'py>>,
    search: Search<'py>,
    comparison: Comparison,
    splits: Vec<(PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>)>,
    scorer: Option<Py<PyAny>>,
    callback: Option<Py<PyAny>>,
    certify: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let cancel = Cancel::new();
    let (choose, solver) = (comparison.choose(&search, &cancel)?, search.solver(&cancel)?);
    let (splits, constraint) = (outcome::splits(&splits)?, search.constraint()?);
    let mut views = data.iter().map(Data::view).collect::<PyResult<Vec<_>>>()?;
    let Some(first) = views.pop() else { return Err(PyValueError::new_err("there is nothing to fit")) };
    let (matrix, mut rests) = (first.design, vec![first.rest]);
    rests.extend(views.into_iter().rev().map(|view| view.rest));
    rests.reverse();
    let raised: Mutex<Option<PyErr>> = Mutex::new(None);
    let own = |split: usize, models: &[LinearModel]| {
        let scored = scorer.as_ref().map_or(Ok(0.0), |scorer| ask(scorer, split, models));
        // The choice is by costs, lower being better.
        scored.map(|score| -score).map_err(|error| {
            if let Ok(mut raised) = raised.lock() {
                raised.get_or_insert(error);
            }
            Error::Data("the scorer failed".to_string())
        })
    };
    let done = supervise(py, search.threads, callback, &cancel, |watch| {
        let design = matrix.design()?;
        let problems: Vec<Problem> = rests.iter().map(|rest| rest.over(&*design, &constraint)).collect();
        let mut report = |at: &CvProgress| {
            let cell =
                Cell { k: at.path.k, lambda: at.path.lambda, fold: at.fold, done: at.path.done, total: at.path.total };
            watch.ask(&at.path.solver, Some(cell))
        };
        let own: Option<&ksparse::select::OwnScore> = if scorer.is_some() { Some(&own) } else { None };
        let chosen = choose.solve(&problems, &splits, own, &*solver, &mut report)?;
        let mut beside = Vec::with_capacity(problems.len());
        for (problem, predictor) in problems.iter().zip(&chosen.predictors) {
            let training = problem.on_all_rows()?;
            let risk = training.risk.reridged(chosen.refit)?;
            let (solution, sparsity) = (&predictor.solution, problem.sparsity(chosen.k, &search.keep));
            beside.push(Beside {
                // A bound is never worth failing a fit for.
                bound: bound::of(&risk, &sparsity, solution, certify, watch).unwrap_or(0.0),
                path: predictor.path.iter().map(|(_, solution)| training.model(solution)).collect(),
                held: training.held_back(chosen.refit, solution)?,
            });
        }
        Ok((chosen, beside))
    });
    if let Some(error) = raised.into_inner().ok().flatten() {
        return Err(error);
    }
    let (chosen, beside) = done?;
    let out = table(py, &chosen)?;
    let predictors = PyList::empty(py);
    for (predictor, beside) in chosen.predictors.into_iter().zip(beside) {
        predictors.append(described(py, predictor, beside)?)?;
    }
    out.set_item("predictors", predictors)?;
    Ok(out)
}

/// Into how many folds rows are dealt, and how many times, unless something else is asked for.
#[pyfunction]
pub fn deal(rows: usize) -> (usize, usize) {
    let Deal { folds, times } = Deal::of(rows);
    (folds, times)
}

/// The number of the fold that holds each row out, once for every time they are dealt, as the command deals them: at
/// random, or with every label spread evenly over the folds.
#[pyfunction]
#[pyo3(signature = (rows, count, times, seed, labels=None))]
pub fn folds<'py>(
    py: Python<'py>,
    rows: usize,
    count: usize,
    times: usize,
    seed: u64,
    labels: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let labels = labels.as_ref().map(|labels| labels.as_slice()).transpose()?;
    let folds = Deal { folds: count, times }.out(rows, labels, seed).map_err(to_py)?;
    Ok(folds.deals().iter().map(|of_row| indices(py, of_row.clone())).collect())
}

/// Beyond this the price of a coefficient has long settled the matter.
const MOST_PRICED: usize = 64;

/// Solves every k (`None`: from the data) under every alpha on all rows, and takes the cell that an information
/// criterion favours.
#[pyfunction]
#[pyo3(signature = (data, search, ks, alphas, name, callback=None))]
pub fn choose_by_criterion<'py>(
    py: Python<'py>,
    data: Data<'py>,
    search: Search<'py>,
    ks: Option<Vec<usize>>,
    alphas: Vec<f64>,
    name: &str,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let cancel = Cancel::new();
    let (view, solver, limit) = (data.view()?, search.solver(&cancel)?, search.time_limit()?);
    let (criterion, constraint) = (Criterion::by_name(name).map_err(to_py)?, search.constraint()?);
    let (choice, solved, models) = supervise(py, search.threads, callback, &cancel, |watch| {
        let design = view.design.design()?;
        let problem = view.rest.over(&*design, &constraint);
        let (training, units) = (problem.on_all_rows()?, problem.units(&search.keep));
        let from_data = || -> ksparse::Result<Vec<usize>> {
            let least = training.least_k(&problem.sparsity(0, &search.keep))?;
            Ok(ranges::ks_from(least, ranges::largest_k(&training.risk, units).min(MOST_PRICED)))
        };
        let ks = ks.map_or_else(from_data, Ok)?;
        let mut grid = Grid::over(ks, alphas).keep(search.keep.iter().copied());
        grid.path.groups.clone_from(&constraint.groups);
        grid.path.time_limit = limit;
        grid.path.cancel = cancel.clone();
        let solved = grid.solve_under(&|lambda| training.objective(lambda), &*solver, &mut |at| {
            let cell = Cell { k: at.k, lambda: at.lambda, fold: None, done: at.done, total: at.total };
            watch.ask(&at.solver, Some(cell))
        })?;
        let choice = criterion.choose_cell(&training.risk, &solved)?;
        let solutions = solved.paths.iter().flat_map(|path| &path.solutions);
        let models: Vec<LinearModel> = solutions.map(|solution| training.model(solution)).collect();
        Ok((choice, solved, models))
    })?;
    let out = PyDict::new(py);
    out.set_item("index", choice.index)?;
    out.set_item("scores", choice.scores.into_pyarray(py))?;
    let rows = solved.lambdas.iter().zip(solved.paths);
    let cells =
        rows.flat_map(|(&lambda, path)| path.ks.into_iter().zip(path.solutions).map(move |(k, at)| (k, lambda, at)));
    let list = PyList::empty(py);
    for ((k, lambda, solution), model) in cells.zip(models) {
        list.append((k, lambda, outcome::model(py, solution, model)?))?;
    }
    out.set_item("cells", list)?;
    Ok(out)
}

/// What a criterion adds to minus twice a log-likelihood of n rows, for s of p coordinates in use.
#[pyfunction]
pub fn criterion_penalty(name: &str, n: f64, p: usize, s: usize) -> PyResult<f64> {
    Criterion::by_name(name).and_then(|criterion| criterion.penalty(n, p, s, false)).map_err(to_py)
}

/// Calls the scorer, on whatever thread this is.
fn ask(scorer: &Py<PyAny>, split: usize, models: &[LinearModel]) -> PyResult<f64> {
    Python::attach(|py| {
        let list = PyList::empty(py);
        for model in models {
            let coefficients = model.coefficients.clone().into_pyarray(py);
            list.append((indices(py, model.support.clone()), coefficients, model.intercept))?;
        }
        scorer.call1(py, (split, list))?.extract(py)
    })
}

/// What was chosen among what.
pub fn table<'py>(py: Python<'py>, chosen: &Chosen) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let cells = chosen.table.cells();
    // Higher is better, as scikit-learn has it.
    let sign = if chosen.table.metric().is_gain() { 1.0 } else { -1.0 };
    let column =
        |of: &dyn Fn(&ksparse::select::CvCell) -> f64| cells.iter().map(of).collect::<Vec<f64>>().into_pyarray(py);
    out.set_item("k", chosen.k)?;
    out.set_item("select_alpha", chosen.lambda)?;
    out.set_item("alpha", chosen.refit)?;
    out.set_item("ks", indices(py, cells.iter().map(|cell| cell.k).collect()))?;
    out.set_item("select_alphas", column(&|cell| cell.lambda))?;
    out.set_item("alphas", column(&|cell| cell.refit))?;
    out.set_item("mean", column(&|cell| sign * cell.mean))?;
    out.set_item("std_error", column(&|cell| cell.standard_error))?;
    let scores: Vec<Vec<f64>> =
        cells.iter().map(|cell| cell.scores.iter().map(|score| sign * score).collect()).collect();
    out.set_item("scores", PyArray2::from_vec2(py, &scores)?)?;
    out.set_item("splits", indices(py, chosen.table.folds().to_vec()))?;
    let chosen_at =
        |cell: &ksparse::select::CvCell| (cell.k, cell.lambda, cell.refit) == (chosen.k, chosen.lambda, chosen.refit);
    out.set_item("index", cells.iter().position(chosen_at))?;
    let edge = |edge: &Edge| match edge {
        Edge::LargestK => "k is the largest compared",
        Edge::LargestLambda => "the ridge that selects is the largest compared",
        Edge::SmallestLambda => "the ridge that selects is the smallest compared",
        Edge::LargestRefit => "alpha is the largest compared",
        Edge::SmallestRefit => "alpha is the smallest compared",
    };
    out.set_item("edges", chosen.edges.iter().map(edge).collect::<Vec<_>>())?;
    Ok(out)
}

/// What belongs to a linear predictor of the choice.
struct Beside {
    bound: f64,
    /// The models of its path.
    path: Vec<LinearModel>,
    held: Option<Vec<usize>>,
}

/// What the splits have to say about a choice.
pub fn evidence(out: &Bound<'_, PyDict>, frequencies: Vec<f64>, alternatives: Vec<Alternative>) -> PyResult<()> {
    let py = out.py();
    out.set_item("frequencies", frequencies.into_pyarray(py))?;
    let others = PyList::empty(py);
    for other in alternatives {
        others.append((indices(py, other.support), other.value))?;
    }
    out.set_item("alternatives", others)
}

/// One linear predictor of the choice.
fn described<'py>(py: Python<'py>, predictor: Predictor, beside: Beside) -> PyResult<Bound<'py, PyDict>> {
    let Predictor { mut models, solution, frequencies, resampled, path, alternatives, .. } = predictor;
    let out = outcome::model(py, solution, models.swap_remove(0))?;
    out.set_item("lower_bound", beside.bound)?;
    if let Some(held) = beside.held {
        out.set_item("at_bounds", indices(py, held))?;
    }
    evidence(&out, frequencies, alternatives)?;
    if let Some(Resampled { frequencies, mut averages }) = resampled {
        let average = averages.swap_remove(0);
        out.set_item("resampled_frequencies", frequencies.into_pyarray(py))?;
        out.set_item("average_support", indices(py, average.support))?;
        out.set_item("average_coef", average.coefficients.into_pyarray(py))?;
        out.set_item("average_intercept", average.intercept)?;
    }
    let steps = PyList::empty(py);
    for ((k, solution), model) in path.into_iter().zip(beside.path) {
        steps.append((k, outcome::model(py, solution, model)?))?;
    }
    out.set_item("path", steps)?;
    Ok(out)
}
