//! NumPy and SciPy memory as designs, copied only where the layout leaves no choice.
//!
//! | comes in as | becomes | copied |
//! |---|---|---|
//! | array, Fortran order | `Dense` | nothing |
//! | array, C order | `Dense` | transposed |
//! | `("csc", shape, indptr, indices, data)` | `Sparse` | nothing |
//! | `("csr", shape, indptr, indices, data)` | `Sparse` | transposed |
//!
//! `indptr` is uint64 and `indices` uint32; values are float64 or float32 and stay what they are.

use crate::room;
use ksparse::Result;
use ksparse::design::{Dense, Design, Entry, Sparse};
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;

/// A matrix that Python owns, held for reading.
pub enum Matrix<'py> {
    F64(Storage<'py, f64>),
    F32(Storage<'py, f32>),
}

pub enum Storage<'py, T: Element> {
    Dense(PyReadonlyArray2<'py, T>),
    Sparse(Compressed<'py, T>),
}

pub struct Compressed<'py, T: Element> {
    by_columns: bool,
    shape: (usize, usize),
    pointers: PyReadonlyArray1<'py, u64>,
    indices: PyReadonlyArray1<'py, u32>,
    values: PyReadonlyArray1<'py, T>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Matrix<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match Storage::extract(&object)? {
            Some(storage) => Ok(Self::F64(storage)),
            None => match Storage::extract(&object)? {
                Some(storage) => Ok(Self::F32(storage)),
                None => {
                    Err(PyTypeError::new_err("a matrix is a float64 or float32 array, or a tuple of CSC or CSR parts"))
                }
            },
        }
    }
}

impl<'py, T: Element> Storage<'py, T> {
    /// `None` when the entries are of another type.
    fn extract(object: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(array) = object.extract::<PyReadonlyArray2<'py, T>>() {
            return Ok(Some(Self::Dense(array)));
        }
        type Parts<'py> =
            (String, (usize, usize), PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u32>, Bound<'py, PyAny>);
        let Ok((layout, shape, pointers, indices, values)) = object.extract::<Parts<'py>>() else { return Ok(None) };
        let Ok(values) = values.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
        Ok(Some(Self::Sparse(Compressed { by_columns: layout == "csc", shape, pointers, indices, values })))
    }

    /// `Err` unless the matrix can be numbered, and what a fit needs for it can be had.
    fn view(&self) -> PyResult<View<'_, T>> {
        self.check_size()?;
        Ok(match self {
            Self::Dense(array) => {
                let shape = (array.shape()[0], array.shape()[1]);
                View::Dense { shape, by_columns: array.is_fortran_contiguous(), values: array.as_slice()? }
            }
            Self::Sparse(parts) => View::Sparse {
                shape: parts.shape,
                by_columns: parts.by_columns,
                pointers: parts.pointers.as_slice()?,
                indices: parts.indices.as_slice()?,
                values: parts.values.as_slice()?,
            },
        })
    }
}

impl<T: Element> Storage<'_, T> {
    fn check_size(&self) -> PyResult<()> {
        let (shape, copied, entry) = match self {
            Self::Dense(array) => {
                let copied = if array.is_fortran_contiguous() { 0 } else { array.len() };
                ((array.shape()[0], array.shape()[1]), copied, size_of::<T>())
            }
            Self::Sparse(parts) => {
                let most = u32::MAX as usize;
                if parts.shape.0 > most || parts.shape.1 > most {
                    let message = format!(
                        "X has {} rows and {} columns, but a sparse matrix may have at most 2^32 - 1 of each: \
                         leave out those without an entry",
                        parts.shape.0, parts.shape.1
                    );
                    return Err(PyValueError::new_err(message));
                }
                let copied = if parts.by_columns { 0 } else { parts.indices.len() };
                (parts.shape, copied, size_of::<u32>() + size_of::<T>())
            }
        };
        let (rows, columns) = shape;
        let what = || format!("a fit to X, of {rows} rows and {columns} columns,");
        let vectors = [room::VECTORS, columns];
        room::check(what, &[(&vectors, size_of::<f64>()), (&[copied], entry)])
    }
}

/// The same memory without the interpreter: may be used while other Python threads run.
pub enum View<'a, T> {
    Dense { shape: (usize, usize), by_columns: bool, values: &'a [T] },
    Sparse { shape: (usize, usize), by_columns: bool, pointers: &'a [u64], indices: &'a [u32], values: &'a [T] },
}

/// A [`View`] of either precision.
pub enum AnyView<'a> {
    F64(View<'a, f64>),
    F32(View<'a, f32>),
}

impl Matrix<'_> {
    pub fn view(&self) -> PyResult<AnyView<'_>> {
        Ok(match self {
            Self::F64(storage) => AnyView::F64(storage.view()?),
            Self::F32(storage) => AnyView::F32(storage.view()?),
        })
    }
}

impl<'a> AnyView<'a> {
    /// The design over this memory.
    pub fn design(self) -> Result<Box<dyn Design + 'a>> {
        match self {
            Self::F64(view) => view.design(),
            Self::F32(view) => view.design(),
        }
    }

    /// A transposed copy, where the entries do not lie by columns.
    pub fn turned(&self) -> Result<Option<Arc<dyn Design>>> {
        match self {
            Self::F64(view) => view.turned(),
            Self::F32(view) => view.turned(),
        }
    }
}

impl<'a, T: Entry + 'static> View<'a, T> {
    fn design(self) -> Result<Box<dyn Design + 'a>> {
        Ok(match self {
            Self::Dense { shape: (n, p), by_columns: true, values } => Box::new(Dense::from_columns(n, p, values)?),
            Self::Dense { shape: (n, p), by_columns: false, values } => Box::new(Dense::from_rows(n, p, values)?),
            Self::Sparse { shape: (n, p), by_columns: true, pointers, indices, values } => {
                Box::new(Sparse::from_columns(n, p, pointers, indices, values)?)
            }
            Self::Sparse { shape: (n, p), by_columns: false, pointers, indices, values } => {
                Box::new(Sparse::from_rows(n, p, pointers, indices, values)?)
            }
        })
    }

    fn turned(&self) -> Result<Option<Arc<dyn Design>>> {
        Ok(match *self {
            Self::Dense { shape: (n, p), by_columns: false, values } => Some(Arc::new(Dense::from_rows(n, p, values)?)),
            Self::Sparse { shape: (n, p), by_columns: false, pointers, indices, values } => {
                Some(Arc::new(Sparse::from_rows(n, p, pointers, indices, values)?))
            }
            _ => None,
        })
    }
}
