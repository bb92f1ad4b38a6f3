//! Fits: one, or a whole grid on all rows or on some.

use crate::bound;
use crate::options::Search;
use crate::outcome;
use crate::problem::Data;
use crate::supervise::{Cell, Watch, supervise};
use ksparse::path::PathProgress;
use ksparse::select::Problem;
use ksparse::{Cancel, Grid, LinearModel, Result, Solution, Solver};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::prelude::*;

/// Fits one model with at most `k` coefficients beside those kept. `start` is the support, the coefficients and the
/// intercept of an earlier model of the same columns; `certify` is how many epochs to spend on a lower bound.
#[pyfunction]
#[pyo3(signature = (data, search, k, alpha, start=None, callback=None, certify=0))]
#[allow(clippy::too_many_arguments)]
pub fn fit<'py>(
    py: Python<'py>,
    data: Data<'py>,
    search: Search<'py>,
    k: usize,
    alpha: f64,
    start: Option<(Vec<usize>, Vec<f64>, f64)>,
    callback: Option<Py<PyAny>>,
    certify: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let cancel = Cancel::new();
    let (view, solver) = (data.view()?, search.solver(&cancel)?);
    let (sparsity, constraint) = (search.sparsity(k)?, search.constraint()?);
    let start = start.map(|(support, coefficients, intercept)| LinearModel { support, coefficients, intercept });
    let (solution, model, bound, held) = supervise(py, search.threads, callback, &cancel, |watch| {
        let design = view.design.design()?;
        let training = view.rest.over(&*design, &constraint).on_all_rows()?;
        let risk = training.risk.reridged(alpha)?;
        let start = start.as_ref().map(|model| training.start(model));
        let mut ask = |at: &ksparse::Progress| watch.ask(at, None);
        let solution = training.solve(alpha, &*solver, &sparsity, start.as_ref(), &mut ask)?;
        let held = training.held_back(alpha, &solution)?;
        let model = training.model(&solution);
        // A bound is never worth failing a fit for.
        let bound = bound::of(&risk, &sparsity, &solution, certify, watch).unwrap_or(0.0);
        Ok((solution, model, bound, held))
    })?;
    let out = outcome::model(py, solution, model)?;
    out.set_item("lower_bound", bound)?;
    if let Some(held) = held {
        out.set_item("at_bounds", outcome::indices(py, held))?;
    }
    Ok(out)
}

/// For each of the lists of `rows` (`None`: all rows), for each alpha (descending), for each k (ascending): a fitted
/// model.
#[pyfunction]
#[pyo3(signature = (data, search, ks, alphas, rows=None, callback=None, stop_at=None))]
#[allow(clippy::too_many_arguments)]
pub fn grids<'py>(
    py: Python<'py>,
    data: Data<'py>,
    search: Search<'py>,
    ks: Vec<usize>,
    alphas: Vec<f64>,
    rows: Option<Vec<PyReadonlyArray1<'py, i64>>>,
    callback: Option<Py<PyAny>>,
    stop_at: Option<f64>,
) -> PyResult<Bound<'py, PyList>> {
    let cancel = Cancel::new();
    let (view, solver) = (data.view()?, search.solver(&cancel)?);
    let mut grid = Grid::over(ks, alphas).keep(search.keep.iter().copied());
    let constraint = search.constraint()?;
    grid.path.groups.clone_from(&constraint.groups);
    grid.path.enough = stop_at;
    grid.path.time_limit = search.time_limit()?;
    grid.path.cancel = cancel.clone();
    let parts: Vec<Option<Vec<usize>>> = match rows {
        None => vec![None],
        Some(lists) => lists.iter().map(|list| outcome::row_numbers(list).map(Some)).collect::<PyResult<_>>()?,
    };
    let solved = supervise(py, search.threads, callback, &cancel, |watch| {
        let design = view.design.design()?;
        let problem = view.rest.over(&*design, &constraint);
        let folds = parts.into_par_iter().enumerate();
        folds.map(|(fold, rows)| solve(&problem, fold, rows, &grid, &*solver, watch)).collect::<Result<Vec<_>>>()
    })?;
    let out = PyList::empty(py);
    for fold in solved {
        let paths = PyList::empty(py);
        for path in fold {
            let cells = PyList::empty(py);
            for (solution, model) in path {
                cells.append(outcome::model(py, solution, model)?)?;
            }
            paths.append(cells)?;
        }
        out.append(paths)?;
    }
    Ok(out)
}

type Cells = Vec<Vec<(Solution, LinearModel)>>;

fn solve(
    problem: &Problem,
    fold: usize,
    rows: Option<Vec<usize>>,
    grid: &Grid,
    solver: &dyn Solver,
    watch: &Watch,
) -> Result<Cells> {
    let held_out = rows.as_ref().map(|_| fold);
    let training = match rows {
        None => problem.on_all_rows()?,
        Some(rows) => problem.on_rows(rows)?,
    };
    let mut report = |path: &PathProgress| {
        let PathProgress { k, lambda, done, total, .. } = *path;
        watch.ask(&path.solver, Some(Cell { k, lambda, fold: held_out, done, total }))
    };
    let solved = grid.solve_under(&|lambda| training.objective(lambda), solver, &mut report)?;
    let with_model = |solution: Solution| {
        let model = training.model(&solution);
        (solution, model)
    };
    Ok(solved.paths.into_iter().map(|path| path.solutions.into_iter().map(with_model).collect()).collect())
}
