//! Rows that have given moments.

use crate::error::to_py;
use ksparse::design::Design;
use ksparse::objective::Moments;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

/// Columns one after the other, and the target.
type Rows<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Rows with these moments: X'X, X'y, y'y of `n` rows, less the means of columns and target where they are given.
#[pyfunction]
#[pyo3(signature = (gram, cross, square, n, means=None))]
pub fn rows_of_moments<'py>(
    py: Python<'py>,
    gram: PyReadonlyArray1<'py, f64>,
    cross: PyReadonlyArray1<'py, f64>,
    square: f64,
    n: usize,
    means: Option<(PyReadonlyArray1<'py, f64>, f64)>,
) -> PyResult<Rows<'py>> {
    let (gram, cross) = (gram.as_slice()?.to_vec(), cross.as_slice()?.to_vec());
    let means = means.map(|(columns, target)| Ok::<_, PyErr>((columns.as_slice()?.to_vec(), target))).transpose()?;
    let rows = py.detach(|| {
        let moments = Moments::new(&gram, &cross, square, n)?;
        let moments = match &means {
            Some((columns, target)) => moments.with_means(columns, *target)?,
            None => moments,
        };
        moments.rows()
    });
    let (x, y) = rows.map_err(to_py)?;
    let columns: Vec<f64> = (0..x.ncols()).flat_map(|j| x.column(j).to_vec()).collect();
    Ok((columns.into_pyarray(py), y.into_pyarray(py)))
}
