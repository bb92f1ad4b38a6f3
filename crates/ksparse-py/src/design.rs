//! `_core.Design`: X, made once for all that is fitted to it, every class, fold and cell.

use crate::cuda;
use crate::error::to_py;
use crate::matrix::{AnyView, Matrix};
use crate::pool;
use ksparse::{Result, design};
use pyo3::prelude::*;
use std::sync::Arc;

/// X as the library reads it.
#[pyclass(frozen)]
pub struct Design(Kept);

enum Kept {
    /// Transposed, or on a device.
    Copy(Arc<dyn design::Design>),
    /// The user's own memory, which can be read as it lies.
    Original(Py<PyAny>),
}

#[pymethods]
impl Design {
    /// `matrix` is one of the forms that `matrix.rs` lists, or describes memory of a CUDA device (`cuda.rs`); so many
    /// threads transpose it, where it must be. With the number of a device it is copied there.
    #[new]
    #[pyo3(signature = (matrix, threads, device=None))]
    fn new(py: Python<'_>, matrix: Bound<'_, PyAny>, threads: usize, device: Option<usize>) -> PyResult<Self> {
        if let Some(design) = cuda::described(&matrix)? {
            return Ok(Self(Kept::Copy(design)));
        }
        let held: Matrix<'_> = matrix.extract()?;
        let view = held.view()?;
        if let Some(number) = device {
            return Ok(Self(Kept::Copy(cuda::brought(py, view, number)?)));
        }
        let pool = pool::lend(threads).map_err(to_py)?;
        let turned = py.detach(|| pool.run(|| view.turned())).map_err(to_py)?;
        Ok(Self(turned.map_or_else(|| Kept::Original(matrix.unbind()), Kept::Copy)))
    }
}

/// A [`Design`] held for reading.
pub enum Reading<'py> {
    Copy(Arc<dyn design::Design>),
    Original(Matrix<'py>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Reading<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match &object.cast::<Design>()?.get().0 {
            Kept::Copy(design) => Ok(Self::Copy(design.clone())),
            Kept::Original(matrix) => Ok(Self::Original(matrix.bind(object.py()).extract()?)),
        }
    }
}

impl Reading<'_> {
    pub fn view(&self) -> PyResult<View<'_>> {
        Ok(match self {
            Self::Copy(design) => View::Copy(&**design),
            Self::Original(matrix) => View::Original(matrix.view()?),
        })
    }
}

/// The same without the interpreter: may be used while other Python threads run.
pub enum View<'a> {
    Copy(&'a dyn design::Design),
    Original(AnyView<'a>),
}

impl<'a> View<'a> {
    pub fn design(self) -> Result<Box<dyn design::Design + 'a>> {
        match self {
            Self::Copy(design) => Ok(Box::new(design)),
            Self::Original(view) => view.design(),
        }
    }
}
