//! Errors of the library as Python exceptions, variant by variant.

use ksparse::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError, PyValueError};

/// What scikit-learn would raise for the same mistake: `ValueError` for data and parameters, `NotImplementedError` for a combination
/// that does not exist, `RuntimeError` for what is nobody's mistake.
pub fn to_py(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Shape { .. }
        | Error::NotFinite { .. }
        | Error::InvalidOption { .. }
        | Error::Target { .. }
        | Error::IndexOutOfRange { .. }
        | Error::Storage { .. }
        | Error::UnknownName { .. }
        | Error::Data(_) => PyValueError::new_err(message),
        Error::Unsupported { .. } => PyNotImplementedError::new_err(message),
        _ => PyRuntimeError::new_err(message),
    }
}
