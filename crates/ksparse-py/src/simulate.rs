//! The papers' data models, for Python.

use crate::outcome::indices;
use crate::room;
use ksparse::design::{Dense, Design, Sparse};
use ksparse::simulate::{self, Correlation, Simulated, Text};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(simulate_linear, module)?)?;
    module.add_function(wrap_pyfunction!(simulate_logistic, module)?)?;
    module.add_function(wrap_pyfunction!(simulate_text, module)?)?;
    module.add_function(wrap_pyfunction!(simulate_precision, module)?)
}

/// `Err` unless so many floats (the product of `counts`) can be had beside vectors of both lengths.
fn room_for(n: usize, p: usize, counts: &[usize]) -> PyResult<()> {
    let what = || format!("n_samples = {n} by n_features = {p}");
    let each = size_of::<f64>();
    room::check(what, &[(&[room::VECTORS, n], each), (&[room::VECTORS, p], each), (counts, each)])
}

fn correlation(rho: f64) -> Correlation {
    if rho == 0.0 { Correlation::Independent } else { Correlation::Ar1(rho) }
}

#[pyfunction]
fn simulate_linear(
    py: Python<'_>,
    n: usize,
    p: usize,
    k: usize,
    rho: f64,
    noise: f64,
    seed: u64,
) -> PyResult<Bound<'_, PyDict>> {
    room_for(n, p, &[2, n, p])?;
    dense(py, py.detach(|| simulate::linear(n, p, k, correlation(rho), noise, seed)))
}

#[pyfunction]
fn simulate_logistic(py: Python<'_>, n: usize, p: usize, k: usize, rho: f64, seed: u64) -> PyResult<Bound<'_, PyDict>> {
    room_for(n, p, &[2, n, p])?;
    dense(py, py.detach(|| simulate::logistic(n, p, k, correlation(rho), seed)))
}

#[pyfunction]
fn simulate_text(py: Python<'_>, n: usize, p: usize, mean_tokens: f64, seed: u64) -> PyResult<Bound<'_, PyDict>> {
    // Words, counts and places while they are drawn, then the matrix twice.
    room_for(n, p, &[6, n, mean_tokens as usize])?;
    let (data, parts) = py.detach(|| {
        let data = simulate::text(&Text { n, p, mean_tokens }, seed);
        let parts = columns(&data.design);
        (data, parts)
    });
    let out = truth(py, data)?;
    let (pointers, rows, values) = parts;
    out.set_item("indptr", pointers.into_pyarray(py))?;
    out.set_item("indices", rows.into_pyarray(py))?;
    out.set_item("data", values.into_pyarray(py))?;
    Ok(out)
}

#[pyfunction]
fn simulate_precision(py: Python<'_>, n: usize, p: usize, seed: u64) -> PyResult<Bound<'_, PyDict>> {
    room_for(n, p, &[2, n, p])?;
    room_for(n, p, &[4, p, p])?;
    let data = py.detach(|| simulate::precision(n, 0, p, seed));
    let out = PyDict::new(py);
    out.set_item("samples", matrix(py, &data.train)?)?;
    let precision: Vec<f64> = (0..p * p).map(|e| data.precision[(e / p, e % p)]).collect();
    out.set_item("precision", precision.into_pyarray(py).reshape([p, p])?)?;
    Ok(out)
}

fn dense<'py>(py: Python<'py>, data: Simulated<Dense<'static>>) -> PyResult<Bound<'py, PyDict>> {
    let samples = matrix(py, &data.design)?;
    let out = truth(py, data)?;
    out.set_item("samples", samples)?;
    Ok(out)
}

fn truth<D>(py: Python<'_>, data: Simulated<D>) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("target", data.target.into_pyarray(py))?;
    out.set_item("support", indices(py, data.support))?;
    out.set_item("coef", data.coefficients.into_pyarray(py))?;
    Ok(out)
}

/// The transpose of the design, in C order: its `.T` is the design in Fortran order.
fn matrix<'py>(py: Python<'py>, design: &Dense<'_>) -> PyResult<Bound<'py, PyAny>> {
    let (n, p) = (design.nrows(), design.ncols());
    let values: Vec<f64> = (0..p).flat_map(|j| design.column(j).iter().copied()).collect();
    Ok(values.into_pyarray(py).reshape([p, n])?.into_any())
}

/// Pointers, rows and values of compressed columns, in SciPy's types.
fn columns(design: &Sparse<'_>) -> (Vec<i32>, Vec<i32>, Vec<f64>) {
    let (mut pointers, mut rows, mut values) =
        (vec![0], Vec::with_capacity(design.nnz()), Vec::with_capacity(design.nnz()));
    for j in 0..design.ncols() {
        let (r, v) = design.column(j);
        rows.extend(r.iter().map(|&i| i as i32));
        values.extend_from_slice(v);
        pointers.push(rows.len() as i32);
    }
    (pointers, rows, values)
}
