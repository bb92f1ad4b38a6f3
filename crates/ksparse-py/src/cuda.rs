//! X on a CUDA device: brought there, or read where CuPy or PyTorch hold it.

use crate::matrix::{AnyView, View};
use ksparse::design::{Design, Entry, Sparse};
use ksparse_cuda::{CudaDense, CudaSparse, Fault, Layout, Session, SparseLayout};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;

/// What scikit-learn's users know: too little memory, an array that does not suit, or nobody's mistake.
fn to_py(fault: &Fault) -> PyErr {
    match fault {
        Fault::Memory { .. } => PyMemoryError::new_err(fault.to_string()),
        Fault::Foreign(_) => PyValueError::new_err(fault.to_string()),
        _ => PyRuntimeError::new_err(fault.to_string()),
    }
}

fn session(number: usize) -> Result<Arc<Session>, Fault> {
    Ok(Session::new(ksparse_cuda::open(number)?))
}

/// The design that a tuple of `_device.py` describes; `None` for anything else.
pub fn described(matrix: &Bound<'_, PyAny>) -> PyResult<Option<Arc<dyn Design>>> {
    type Dense<'py> = (String, Bound<'py, PyAny>, u64, (usize, usize), (usize, usize), bool, usize);
    type Compressed<'py> = (String, Bound<'py, PyAny>, usize, PyReadonlyArray1<'py, u64>, u64, u64, bool, usize);
    if let Ok((kind, owner, at, (rows, columns), strides, single, number)) = matrix.extract::<Dense<'_>>()
        && kind == "cuda-dense"
    {
        let layout = Layout { rows, columns, single, strides };
        let made = session(number).and_then(|session| CudaDense::foreign(&session, at, layout, held(owner)));
        return made.map(|design| Some(Arc::new(design) as _)).map_err(|fault| to_py(&fault));
    }
    if let Ok((kind, owner, rows, pointers, indices, values, single, number)) = matrix.extract::<Compressed<'_>>()
        && kind == "cuda-sparse"
    {
        let layout = SparseLayout { rows, pointers: pointers.as_slice()?.to_vec(), indices, values, single };
        let made = session(number).and_then(|session| CudaSparse::foreign(&session, layout, held(owner)));
        return made.map(|design| Some(Arc::new(design) as _)).map_err(|fault| to_py(&fault));
    }
    Ok(None)
}

/// The owner of memory, held on to.
fn held(owner: Bound<'_, PyAny>) -> Box<Py<PyAny>> {
    Box::new(owner.unbind())
}

/// A copy on a device.
pub fn brought(py: Python<'_>, view: AnyView<'_>, number: usize) -> PyResult<Arc<dyn Design>> {
    let made = py.detach(|| {
        let session = session(number).map_err(Failure::Fault)?;
        match view {
            AnyView::F64(view) => copied(&session, view),
            AnyView::F32(view) => copied(&session, view),
        }
    });
    made.map_err(|failure| match failure {
        Failure::Fault(fault) => to_py(&fault),
        Failure::Matrix(error) => crate::error::to_py(error),
    })
}

enum Failure {
    Fault(Fault),
    Matrix(ksparse::Error),
}

fn copied<T: Entry + bytemuck::Pod>(session: &Arc<Session>, view: View<'_, T>) -> Result<Arc<dyn Design>, Failure> {
    Ok(match view {
        View::Dense { shape: (n, p), by_columns, values } => {
            let copy = if by_columns { CudaDense::from_columns } else { CudaDense::from_rows };
            Arc::new(copy(session, n, p, values).map_err(Failure::Fault)?)
        }
        View::Sparse { shape: (n, p), by_columns, pointers, indices, values } => {
            let sparse = match by_columns {
                true => Sparse::from_columns(n, p, pointers, indices, values),
                false => Sparse::from_rows(n, p, pointers, indices, values),
            };
            let sparse = sparse.map_err(Failure::Matrix)?;
            Arc::new(CudaSparse::new(session, &sparse).map_err(Failure::Fault)?)
        }
    })
}
