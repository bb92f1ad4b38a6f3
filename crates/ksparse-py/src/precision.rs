//! Networks: precision matrices with at most k edges, from samples.

use crate::design::Reading;
use crate::error::to_py;
use crate::options::Search;
use crate::outcome;
use crate::supervise::{Cell, Watch, supervise};
use faer::Mat;
use ksparse::design::{Design, Rows};
use ksparse::graphical::{Bounds, Covariance, Interval, Method, Network, Precision, Recipe, Units, log_likelihood};
use ksparse::path::PathProgress;
use ksparse::solver::{Solution, Solver};
use ksparse::{Cancel, Path, Result, SparseRef, Sparsity};
use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::prelude::*;

/// Samples and how they are read, from a dictionary with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Samples<'py> {
    design: Reading<'py>,
    /// Whether the means are known to be 0.
    centred: bool,
    standardize: bool,
    /// Whether the matrix is a covariance matrix, and not samples.
    precomputed: bool,
    /// 'newton' or 'adm'.
    inner: Option<String>,
    xi: Option<f64>,
    eigenvalue_bounds: Option<(f64, f64)>,
}

/// How samples become a covariance matrix.
#[derive(Clone, Copy)]
struct Moments {
    centred: bool,
    precomputed: bool,
    units: Units,
}

impl Moments {
    fn of(&self, samples: &dyn Design) -> Result<Covariance> {
        if self.precomputed {
            let (rows, columns) = (samples.nrows(), samples.ncols());
            let mut matrix = Mat::zeros(rows, columns);
            for j in 0..columns {
                samples.mul(SparseRef::new(&[j], &[1.0]), matrix.col_as_slice_mut(j));
            }
            return Covariance::from_matrix(matrix.as_ref(), None);
        }
        match self.centred {
            true => Covariance::from_centred_samples(samples, self.units),
            false => Covariance::from_samples(samples, self.units),
        }
    }
}

impl Samples<'_> {
    fn moments(&self) -> Moments {
        let units = if self.standardize { Units::Standardized } else { Units::Original };
        Moments { centred: self.centred, precomputed: self.precomputed, units }
    }

    /// How the network is searched for: as asked, the rest as published or by default.
    fn recipe(&self, search: &Search) -> PyResult<Recipe> {
        let mut recipe = if search.published()? { Recipe::PUBLISHED } else { Recipe::default() };
        recipe.method = match self.inner.as_deref() {
            None => recipe.method,
            Some("newton") => Method::Newton,
            Some("adm") => Method::Adm,
            Some(other) => {
                return Err(PyValueError::new_err(format!("inner must be 'newton' or 'adm', got '{other}'.")));
            }
        };
        recipe.interval = match (self.xi, self.eigenvalue_bounds) {
            (None, None) => recipe.interval,
            (Some(xi), None) => Interval::Xi(xi),
            (None, Some((alpha, beta))) => Interval::Given(Bounds { alpha, beta }),
            (Some(_), Some(_)) => {
                return Err(PyValueError::new_err("xi and eigenvalue_bounds say the same: give one of them."));
            }
        };
        Ok(recipe)
    }
}

/// For each number of edges (ascending; each solution from its neighbours) a network and how it was found, in the units
/// of the samples. `start` is a precision matrix to begin with, for a single k.
#[pyfunction]
#[pyo3(signature = (samples, search, ks, start=None, callback=None))]
pub fn precision_path<'py>(
    py: Python<'py>,
    samples: Samples<'py>,
    search: Search<'py>,
    ks: Vec<usize>,
    start: Option<PyReadonlyArray2<'py, f64>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let (view, moments, recipe) = (samples.design.view()?, samples.moments(), samples.recipe(&search)?);
    let cancel = Cancel::new();
    let path = Path { time_limit: search.time_limit()?, cancel: cancel.clone(), ..Path::over(ks) };
    let start = start.as_ref().map(matrix);
    let design = view.design().map_err(to_py)?;
    let solver = search.solver(&cancel)?;
    let (covariance, found) = supervise(py, search.threads, callback, &cancel, |watch| {
        let covariance = moments.of(&design)?;
        let model = recipe.model(covariance.clone())?;
        let solutions = if let ([k], false) = (&path.ks[..], recipe.from_alpha && start.is_none()) {
            let scale = covariance.scale();
            let scaled = |o: &Mat<f64>| Mat::from_fn(o.nrows(), o.ncols(), |i, j| o[(i, j)] * scale[i] * scale[j]);
            let start = start.as_ref().map(|matrix| model.guess(&scaled(matrix)));
            vec![solver.solve(&model, &Sparsity::new(*k), start.as_ref(), &mut |progress| watch.ask(progress, None))?]
        } else {
            solve(&recipe, &model, &path, &*solver, None, watch)?
        };
        let found = solutions.into_iter().map(|solution| (model.network(&solution), solution)).collect::<Vec<_>>();
        Ok((covariance, found))
    })?;
    let out = PyList::empty(py);
    for (network, solution) in found {
        let item = outcome::solution(py, solution)?;
        describe(py, &item, &network, &covariance)?;
        out.append(item)?;
    }
    Ok(out)
}

/// For each pair of training and test rows: the mean log-likelihood of the test rows under the network of each k;
/// `None` for a fold that was stopped.
#[pyfunction]
#[pyo3(signature = (samples, search, ks, folds, callback=None))]
pub fn precision_scores<'py>(
    py: Python<'py>,
    samples: Samples<'py>,
    search: Search<'py>,
    ks: Vec<usize>,
    folds: Vec<(PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>)>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Vec<Option<Vec<f64>>>> {
    let (view, moments, recipe) = (samples.design.view()?, samples.moments(), samples.recipe(&search)?);
    let cancel = Cancel::new();
    let path = Path { time_limit: search.time_limit()?, cancel: cancel.clone(), ..Path::over(ks) };
    let design = view.design().map_err(to_py)?;
    let solver = search.solver(&cancel)?;
    let mut rows = Vec::new();
    for (train, test) in &folds {
        rows.push((outcome::row_numbers(train)?, outcome::row_numbers(test)?));
    }
    supervise(py, search.threads, callback, &cancel, |watch| {
        let score = |(fold, (train, test)): (usize, (Vec<usize>, Vec<usize>))| {
            let covariance = moments.of(&Rows::new(&design, train)?)?;
            let others = covariance.of_others(&Rows::new(&design, test)?)?;
            let model = recipe.model(covariance)?;
            let solutions = solve(&recipe, &model, &path, &*solver, Some(fold), watch)?;
            if solutions.len() < path.ks.len() {
                return Ok(None);
            }
            let networks = solutions.iter().map(|solution| model.network(solution));
            networks.map(|network| log_likelihood(&network, &others)).collect::<Result<Vec<f64>>>().map(Some)
        };
        rows.into_par_iter().enumerate().map(score).collect()
    })
}

fn solve(
    recipe: &Recipe,
    model: &Precision,
    path: &Path,
    solver: &dyn Solver,
    fold: Option<usize>,
    watch: &Watch,
) -> Result<Vec<Solution>> {
    let mut report = |at: &PathProgress| {
        let PathProgress { k, lambda, done, total, .. } = *at;
        watch.ask(&at.solver, Some(Cell { k, lambda, fold, done, total }))
    };
    Ok(recipe.solve(model, path, solver, &mut report)?.solutions)
}

/// The network in the units of the samples, and the means.
fn describe(py: Python<'_>, out: &Bound<'_, PyDict>, network: &Network, covariance: &Covariance) -> PyResult<()> {
    let (o, scale, p) = (network.precision(), covariance.scale(), covariance.variables());
    let entries: Vec<f64> = (0..p * p).map(|e| o[(e / p, e % p)] / (scale[e / p] * scale[e % p])).collect();
    out.set_item("precision", entries.into_pyarray(py).reshape([p, p])?)?;
    let nodes = network.edges().iter().flat_map(|edge| [edge.nodes.0, edge.nodes.1]).collect();
    out.set_item("edges", outcome::indices(py, nodes).call_method1("reshape", (network.edges().len(), 2))?)?;
    let correlations: Vec<f64> = network.edges().iter().map(|edge| edge.partial_correlation).collect();
    out.set_item("partial_correlations", correlations.into_pyarray(py))?;
    out.set_item("location", covariance.mean().to_vec().into_pyarray(py))
}

fn matrix(array: &PyReadonlyArray2<'_, f64>) -> Mat<f64> {
    let view = array.as_array();
    Mat::from_fn(array.shape()[0], array.shape()[1], |i, j| view[(i, j)])
}
