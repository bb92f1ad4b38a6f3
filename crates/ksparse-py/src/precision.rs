//! Networks: precision matrices with at most k edges.

use crate::options::Search;
use crate::outcome;
use crate::supervise::{Cell, supervise};
use faer::Mat;
use ksparse::graphical::{Covariance, Precision};
use ksparse::path::PathProgress;
use ksparse::{Path, Sparsity};
use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;

/// For each number of edges (ascending; each solution from its neighbours) a fit to the covariance matrix S: the precision matrix and how it
/// was found. `start` is a precision matrix to begin with, for a single k.
#[pyfunction]
#[pyo3(signature = (covariance, search, ks, start=None, callback=None))]
pub fn precision_path<'py>(
    py: Python<'py>,
    covariance: PyReadonlyArray2<'py, f64>,
    search: Search<'py>,
    ks: Vec<usize>,
    start: Option<PyReadonlyArray2<'py, f64>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let solver = search.solver()?;
    let path = Path { time_limit: search.time_limit()?, ..Path::over(ks) };
    let (covariance, start) = (matrix(&covariance), start.as_ref().map(matrix));
    let p = covariance.nrows();
    let found = supervise(py, search.threads, callback, |watch| {
        let model = Precision::new(Covariance::from_matrix(covariance.as_ref(), None)?)?;
        let mut solutions = if let [k] = path.ks[..] {
            let start = start.as_ref().map(|matrix| model.guess(matrix));
            vec![solver.solve(&model, &Sparsity::new(k), start.as_ref(), &mut |progress| watch.ask(progress, None))?]
        } else {
            let mut report = |at: &PathProgress| {
                let PathProgress { k, lambda, done, total, .. } = *at;
                watch.ask(&at.solver, Some(Cell { k, lambda, fold: None, done, total }))
            };
            path.solve(&model, &*solver, &mut report)?.solutions
        };
        Ok(solutions
            .drain(..)
            .map(|solution| {
                let precision = model.matrix(solution.as_sparse());
                (solution, (0..p * p).map(|e| precision[(e / p, e % p)]).collect::<Vec<f64>>())
            })
            .collect::<Vec<_>>())
    })?;
    let out = PyList::empty(py);
    for (solution, precision) in found {
        let item = outcome::solution(py, solution)?;
        item.set_item("precision", precision.into_pyarray(py).reshape([p, p])?)?;
        out.append(item)?;
    }
    Ok(out)
}

fn matrix(array: &PyReadonlyArray2<'_, f64>) -> Mat<f64> {
    let view = array.as_array();
    Mat::from_fn(array.shape()[0], array.shape()[1], |i, j| view[(i, j)])
}
