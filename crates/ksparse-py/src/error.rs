//! Errors of the library as Python exceptions, variant by variant.

use ksparse::{Error, Remedy};
use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError, PyValueError};
use pyo3::{PyErr, Python};

/// What scikit-learn would raise for the same mistake: `ValueError` for data and parameters, `NotImplementedError` for
/// a combination that does not exist, `RuntimeError` for what is nobody's mistake.
pub fn to_py(error: Error) -> PyErr {
    // The user's own exception, as it was raised.
    if let Error::Evaluation(cause) = &error
        && let Some(raised) = cause.downcast_ref::<PyErr>()
    {
        return Python::attach(|py| raised.clone_ref(py));
    }
    let message = match &error {
        Error::InvalidOption { option, value, expected } => {
            format!("{} is {value}, but must be {expected}", parameter(option))
        }
        other => match other.remedy() {
            Some(Remedy::AddRidge) => format!("{other}: use a positive alpha"),
            _ => other.to_string(),
        },
    };
    match error {
        Error::Shape { .. }
        | Error::NotFinite { .. }
        | Error::Overflow { .. }
        | Error::Column { .. }
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

/// The library's names of options that are called otherwise in Python.
fn parameter(option: &str) -> &str {
    match option {
        "lambda" => "alpha",
        "tolerance" => "tol",
        "max_iterations" => "max_iter",
        other => other,
    }
}
