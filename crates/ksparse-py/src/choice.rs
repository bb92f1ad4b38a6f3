//! What was held out: its deviance, and which cell of a table that favours. The rules are the library's own.

use crate::error::to_py;
use crate::problem::named_loss;
use ksparse::select::{self, CvCell, CvTable, Metric, Rule};
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Twice the mean loss of predictions `z`; infinite for predictions that are not finite.
#[pyfunction]
pub fn deviance(
    loss: &str,
    loss_parameter: Option<f64>,
    z: PyReadonlyArray1<'_, f64>,
    y: PyReadonlyArray1<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<f64> {
    let loss = named_loss(loss, loss_parameter).map_err(to_py)?;
    let (z, y) = (z.as_slice()?, y.as_slice()?);
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    if z.iter().any(|z| !z.is_finite()) {
        return Ok(f64::INFINITY);
    }
    select::deviance(&*loss, z, y, weights).map_err(to_py)
}

/// The winner among cells `(k, alpha)` by their scores (rows: folds; higher is better), with all means and errors.
#[pyfunction]
pub fn choose<'py>(
    py: Python<'py>,
    cells: Vec<(usize, f64)>,
    scores: PyReadonlyArray2<'py, f64>,
    fold_weights: Vec<f64>,
    rule: &str,
) -> PyResult<Bound<'py, PyDict>> {
    if scores.shape() != [fold_weights.len(), cells.len()] {
        return Err(PyValueError::new_err("scores must have a row per fold and a column per cell"));
    }
    let rule = match rule {
        "best" => Rule::Best,
        "1se" => Rule::OneStandardError,
        other => return Err(PyValueError::new_err(format!("rule must be 'best' or '1se', got '{other}'"))),
    };
    let scores = scores.as_array();
    // A gain of any kind is a loss of the opposite sign.
    let cost = |c: usize| (0..fold_weights.len()).map(|fold| -scores[(fold, c)]).collect();
    let cells: Vec<CvCell> =
        (cells.iter().enumerate()).map(|(c, &(k, alpha))| CvCell::new(k, alpha, cost(c), &fold_weights)).collect();
    let table = CvTable::new(Metric::Deviance, (0..fold_weights.len()).collect(), cells).map_err(to_py)?;
    let winner = table.winner(rule);
    let index = table.cells().iter().position(|cell| std::ptr::eq(cell, winner));
    let out = PyDict::new(py);
    out.set_item("index", index)?;
    out.set_item("mean", table.cells().iter().map(|cell| -cell.mean).collect::<Vec<_>>().into_pyarray(py))?;
    let errors = table.cells().iter().map(|cell| cell.standard_error).collect::<Vec<_>>();
    out.set_item("std_error", errors.into_pyarray(py))?;
    Ok(out)
}
