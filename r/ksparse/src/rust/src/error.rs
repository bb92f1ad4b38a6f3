//! Errors of the library as R's, which count rows from 1 and know options by their names in R.

use ksparse::{Error, Remedy};

pub fn to_r(error: Error) -> savvy::Error {
    let message = match &error {
        Error::InvalidOption { option, value, expected } => {
            format!("`{}` is {value}, but must be {expected}", argument(option))
        }
        Error::UnknownName { what, name, choices } => format!("unknown {what} \"{name}\"; the choices are {choices}"),
        Error::Target { loss, row, value, expected } => {
            format!("`y` is {value} in row {}, but the {loss} loss needs {expected}", row + 1)
        }
        Error::IndexOutOfRange { what, index, bound } => {
            format!("{what} {} is out of range: there are {bound}", index.saturating_add(1))
        }
        Error::Column { column, problem } => format!("column {} of `x` is {problem}", column + 1),
        other => match other.remedy() {
            Some(Remedy::AddRidge) => format!("{other}: use a positive `lambda`"),
            _ => other.to_string(),
        },
    };
    savvy::Error::new(message)
}

/// The library's names of options that are called otherwise in R.
fn argument(option: &str) -> &str {
    match option {
        "ks" => "k",
        "lambdas" => "lambda",
        "tolerance" => "tol",
        "max_iterations" => "max_iter",
        other => other,
    }
}
