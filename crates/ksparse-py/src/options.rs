//! Solvers from names and options.

use crate::error::to_py;
use ksparse::objective::Bounds;
use ksparse::solver::{self, PUBLISHED, Settings, Solver, Value};
use ksparse::sparsity::Partition;
use ksparse::{Cancel, Sparsity};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use std::time::Duration;

/// How to search, read from a dictionary with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Search<'py> {
    solver: String,
    tol: Option<f64>,
    max_iter: Option<usize>,
    /// Seconds.
    time_limit: Option<f64>,
    /// Options of the one solver, by name.
    options: Bound<'py, PyDict>,
    /// Of methods that draw at random.
    seed: u64,
    /// Columns that are in at no charge.
    pub keep: Vec<usize>,
    /// Columns that are in or out together.
    groups: Vec<Vec<usize>>,
    /// What the coefficients may be.
    bounds: Option<Sides<'py>>,
    /// What they add up to.
    total: Option<f64>,
    /// 0: one per core.
    pub threads: usize,
}

/// Lower and upper bounds of the columns.
pub type Sides<'py> = (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);

/// What is asked of the columns beside their number.
#[derive(Default)]
pub struct Constraint {
    pub groups: Option<Arc<Partition>>,
    pub bounds: Option<Bounds>,
    pub total: Option<f64>,
}

impl Search<'_> {
    /// The solver, which asks this token.
    pub fn solver(&self, cancel: &Cancel) -> PyResult<Box<dyn Solver>> {
        let mut settings = self.settings(cancel)?;
        for (name, value) in self.options.iter() {
            settings.options.push((name.extract()?, option(&name, &value)?));
        }
        solver::method(&self.solver).and_then(|method| method.build(&settings)).map_err(to_py)
    }

    /// Whether the method is wanted as published.
    pub fn published(&self) -> PyResult<bool> {
        Ok(self.options.get_item(PUBLISHED.name)?.is_some_and(|value| value.extract().unwrap_or(false)))
    }

    /// Groups and bounds, which only one solver keeps to.
    pub fn constraint(&self) -> PyResult<Constraint> {
        let (groups, total) = (self.groups()?, self.total);
        let Some((lower, upper)) = &self.bounds else { return Ok(Constraint { groups, bounds: None, total }) };
        if self.solver != "auto" {
            let message = "bounds on coefficients take solver='auto', which refits every model within them.";
            return Err(PyValueError::new_err(message));
        }
        let bounds = Bounds::new(lower.as_slice()?.to_vec(), upper.as_slice()?.to_vec()).map_err(to_py)?;
        Ok(Constraint { groups, bounds: Some(bounds), total })
    }

    /// `Err` for bounds on coefficients and for a sum of them, where nobody keeps to them.
    pub fn refuse_bounds(&self, here: &str) -> PyResult<()> {
        if self.bounds.is_some() || self.total.is_some() {
            let message = format!("bounds on coefficients and their total are not kept {here}: leave them out");
            return Err(PyValueError::new_err(message));
        }
        Ok(())
    }

    /// The groups, if there are any.
    pub fn groups(&self) -> PyResult<Option<Arc<Partition>>> {
        if self.groups.is_empty() {
            return Ok(None);
        }
        Partition::new(self.groups.clone()).map(|groups| Some(Arc::new(groups))).map_err(to_py)
    }

    /// The constraint for a k.
    pub fn sparsity(&self, k: usize) -> PyResult<Sparsity> {
        Ok(Sparsity { k, keep: self.keep.clone(), groups: self.groups()? })
    }

    /// The time a whole fit, path or grid may take.
    pub fn time_limit(&self) -> PyResult<Option<Duration>> {
        let Some(seconds) = self.time_limit else { return Ok(None) };
        match Duration::try_from_secs_f64(seconds) {
            Ok(limit) => Ok(Some(limit)),
            Err(_) => {
                let message = format!("time_limit is {seconds}, but must be a non-negative number of seconds");
                Err(PyValueError::new_err(message))
            }
        }
    }

    fn settings(&self, cancel: &Cancel) -> PyResult<Settings> {
        Ok(Settings {
            tolerance: self.tol,
            max_iterations: self.max_iter,
            time_limit: self.time_limit()?,
            cancel: cancel.clone(),
            seed: Some(self.seed),
            ..Settings::default()
        })
    }
}

/// The value of an option, from what Python has for it.
fn option(name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    // A bool is an int to Python, and numbers of NumPy are numbers.
    if let Ok(flag) = value.extract::<bool>() {
        Ok(Value::Flag(flag))
    } else if let Ok(number) = value.extract::<f64>() {
        Ok(Value::Number(number))
    } else if let Ok(word) = value.extract::<String>() {
        Ok(Value::Word(word))
    } else {
        let message = format!("option {name} of the solver is {value}, but must be a number, a bool or a string");
        Err(PyTypeError::new_err(message))
    }
}
