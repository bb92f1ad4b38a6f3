//! What Python gets back, dictionaries of numbers and arrays; and lists of row numbers, which it hands in.

use crate::supervise::Report;
use ksparse::design::Traffic;
use ksparse::select::Split;
use ksparse::{LinearModel, Solution};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A solution in the coordinates of the solver.
pub fn solution<'py>(py: Python<'py>, solution: Solution) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let trace = PyDict::new(py);
    let rows = &solution.trace;
    trace.set_item("iteration", rows.iter().map(|row| row.iteration as i64).collect::<Vec<_>>().into_pyarray(py))?;
    trace.set_item("objective", rows.iter().map(|row| row.value).collect::<Vec<_>>().into_pyarray(py))?;
    trace.set_item("entered", rows.iter().map(|row| row.entered as i64).collect::<Vec<_>>().into_pyarray(py))?;
    trace.set_item("left", rows.iter().map(|row| row.left as i64).collect::<Vec<_>>().into_pyarray(py))?;
    trace.set_item("step", rows.iter().map(|row| row.step.unwrap_or(f64::NAN)).collect::<Vec<_>>().into_pyarray(py))?;
    trace.set_item("refits", rows.iter().map(|row| row.refits as i64).collect::<Vec<_>>().into_pyarray(py))?;
    trace.set_item("seconds", rows.iter().map(|row| row.seconds).collect::<Vec<_>>().into_pyarray(py))?;
    // What travelled to and from a device, where X lies on one.
    if !rows.is_empty() && rows.iter().all(|row| row.traffic.is_some()) {
        let counted = |count: fn(&Traffic) -> u64| -> Vec<i64> {
            rows.iter().filter_map(|row| row.traffic.as_ref()).map(|traffic| count(traffic) as i64).collect()
        };
        trace.set_item("launches", counted(|traffic| traffic.launches).into_pyarray(py))?;
        trace.set_item("uploaded_bytes", counted(|traffic| traffic.uploaded).into_pyarray(py))?;
        trace.set_item("downloaded_bytes", counted(|traffic| traffic.downloaded).into_pyarray(py))?;
    }
    out.set_item("trace", trace)?;
    out.set_item("dual_vector", solution.dual_vector.map(|a| a.into_pyarray(py)))?;
    out.set_item("objective", solution.value)?;
    out.set_item("n_iter", solution.iterations)?;
    out.set_item("n_refits", solution.refits)?;
    out.set_item("status", solution.status.code())?;
    out.set_item("converged", solution.status.converged())?;
    out.set_item("message", solution.status.to_string())?;
    out.set_item("remedy", solution.status.remedy().map(|remedy| remedy.code()))?;
    out.set_item("support", indices(py, solution.support))?;
    out.set_item("coef", solution.coefficients.into_pyarray(py))?;
    Ok(out)
}

/// A solution as a model of the user's columns: the intercept apart, the coefficients in the columns' own units.
pub fn model<'py>(py: Python<'py>, solution_of: Solution, model: LinearModel) -> PyResult<Bound<'py, PyDict>> {
    let out = solution(py, solution_of)?;
    out.set_item("support", indices(py, model.support))?;
    out.set_item("coef", model.coefficients.into_pyarray(py))?;
    out.set_item("intercept", model.intercept)?;
    Ok(out)
}

/// What a callback is called with.
pub fn report<'py>(py: Python<'py>, report: Report) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("iteration", report.iteration)?;
    out.set_item("objective", report.value)?;
    out.set_item("support", indices(py, report.support))?;
    out.set_item("coef", report.coefficients.into_pyarray(py))?;
    out.set_item("entered", report.entered)?;
    out.set_item("step", report.step)?;
    out.set_item("seconds", report.seconds)?;
    if let Some(cell) = report.cell {
        out.set_item("k", cell.k)?;
        out.set_item("alpha", cell.lambda)?;
        out.set_item("fold", cell.fold)?;
        out.set_item("done", cell.done)?;
        out.set_item("total", cell.total)?;
    }
    Ok(out)
}

/// Indices as NumPy's own index type.
pub fn indices(py: Python<'_>, values: Vec<usize>) -> Bound<'_, PyAny> {
    values.into_iter().map(|j| j as i64).collect::<Vec<_>>().into_pyarray(py).into_any()
}

/// Numbers of rows; a negative one becomes one beyond every end, which is refused as such.
pub fn row_numbers(rows: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    Ok(rows.as_slice()?.iter().map(|&i| usize::try_from(i).unwrap_or(usize::MAX)).collect())
}

/// Rows to train on and rows held out, as numbers of both.
pub type Rows<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>);

/// The same for the library.
pub fn splits(given: &[Rows<'_>]) -> PyResult<Vec<Split>> {
    let split = |(training, held_out): &Rows<'_>| {
        Ok(Split { training: row_numbers(training)?, held_out: row_numbers(held_out)? })
    };
    given.iter().map(split).collect()
}
