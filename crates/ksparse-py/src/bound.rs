//! How far a fit can be from the best model of its size.

use crate::options::{Constraint, Search};
use crate::problem::Data;
use crate::supervise::{Watch, supervise};
use ksparse::certificate::{Certificate, CertifyOptions, certify as search_bound};
use ksparse::{Cancel, LinearModel, Result, Risk, Solution, Sparsity};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A number that no model under `sparsity` goes below: what the solver knows, or what `epochs` of ascent find, and 0 in
/// any case, since no loss is negative. 0 epochs cost nothing.
pub fn of(risk: &Risk, sparsity: &Sparsity, solution: &Solution, epochs: usize, watch: &Watch) -> Result<f64> {
    let mut bound = solution.lower_bound().unwrap_or(0.0).max(0.0);
    if epochs > 0 && risk.ridge() > 0.0 && watch.go_on().is_continue() {
        let options = CertifyOptions { max_epochs: epochs, cancel: watch.cancel.clone(), ..CertifyOptions::default() };
        bound = bound.max(search_bound(risk, sparsity, solution, &options, &mut |_| watch.go_on())?.lower_bound);
    }
    Ok(bound)
}

/// The certificate of a model of these data: support, coefficients and intercept in the units of the columns.
#[pyfunction]
#[pyo3(signature = (data, search, k, alpha, model, tolerance, max_epochs, callback=None))]
#[allow(clippy::too_many_arguments)]
pub fn certify<'py>(
    py: Python<'py>,
    data: Data<'py>,
    search: Search<'py>,
    k: usize,
    alpha: f64,
    model: (Vec<usize>, Vec<f64>, f64),
    tolerance: f64,
    max_epochs: usize,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let view = data.view()?;
    let (sparsity, unbounded) = (search.sparsity(k)?, Constraint::default());
    let model = LinearModel { support: model.0, coefficients: model.1, intercept: model.2 };
    let cancel = Cancel::new();
    let time_limit = search.time_limit()?;
    let options =
        CertifyOptions { tolerance, max_epochs, time_limit, cancel: cancel.clone(), ..CertifyOptions::default() };
    let found = supervise(py, search.threads, callback, &cancel, |watch| {
        let design = view.design.design()?;
        let training = view.rest.over(&*design, &unbounded).on_all_rows()?;
        let risk = training.risk.reridged(alpha)?;
        search_bound(&risk, &sparsity, &training.start(&model), &options, &mut |_| watch.go_on())
    })?;
    certificate(py, &found)
}

fn certificate<'py>(py: Python<'py>, found: &Certificate) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("objective", found.value)?;
    out.set_item("lower_bound", found.lower_bound)?;
    out.set_item("gap", found.gap)?;
    out.set_item("relative_gap", found.relative_gap)?;
    out.set_item("certified", found.certified)?;
    out.set_item("relaxation", found.relaxation)?;
    out.set_item("seconds", found.seconds)?;
    out.set_item("message", found.verdict())?;
    let conditions = PyDict::new(py);
    conditions.set_item("stationarity", found.conditions.stationarity)?;
    conditions.set_item("smallest_inside", found.conditions.smallest_inside)?;
    conditions.set_item("largest_outside", found.conditions.largest_outside)?;
    conditions.set_item("imbalance", found.conditions.imbalance)?;
    conditions.set_item("separated", found.conditions.separated())?;
    out.set_item("conditions", conditions)?;
    let history = PyDict::new(py);
    history.set_item("seconds", found.history.iter().map(|row| row.seconds).collect::<Vec<_>>().into_pyarray(py))?;
    history.set_item("lower_bound", found.history.iter().map(|row| row.dual).collect::<Vec<_>>().into_pyarray(py))?;
    history
        .set_item("relaxation", found.history.iter().map(|row| row.relaxation).collect::<Vec<_>>().into_pyarray(py))?;
    out.set_item("history", history)?;
    Ok(out)
}
