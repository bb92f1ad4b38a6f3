//! Solvers from names and options.

use crate::error::to_py;
use ksparse::graphical;
use ksparse::solver::{
    Auto, Debias, Diht, Effort, Exact, Fbs, Foba, ForwardRule, Grahtp, Grasp, Limits, Sdiht, Solver, Step, Svrght,
    by_name,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
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
    /// 0: one per core.
    pub threads: usize,
}

/// A word or a number.
fn effort(options: &mut Options) -> PyResult<Effort> {
    let Some(given) = options.get::<Bound<'_, PyAny>>("effort")? else { return Ok(Effort::default()) };
    match given.extract::<f64>() {
        Ok(factor) => Effort::times(factor).map_err(to_py),
        Err(_) => given.str()?.to_str()?.parse().map_err(to_py),
    }
}

impl Search<'_> {
    pub fn solver(&self) -> PyResult<Box<dyn Solver>> {
        let mut options = Options { solver: &self.solver, given: &self.options, known: Vec::new() };
        let solver: Box<dyn Solver> = match self.solver.as_str() {
            "auto" => Box::new(Auto { limits: self.limits(Auto::default().limits)?, effort: effort(&mut options)? }),
            "grahtp" => Box::new(self.grahtp(Grahtp::default(), &mut options)?),
            "fgrahtp" => Box::new(self.grahtp(Grahtp::fast(), &mut options)?),
            "htp" => Box::new(self.grahtp(Grahtp::htp(), &mut options)?),
            "iht" => Box::new(self.grahtp(Grahtp::iht(), &mut options)?),
            "grasp" => {
                let default = Grasp::default();
                let debias = options.get("debias")?.unwrap_or(default.debias);
                let scaled = options.get("scaled")?.unwrap_or(default.scaled);
                Box::new(Grasp { debias, scaled, limits: self.limits(default.limits)? })
            }
            "fbs" => Box::new(Fbs { limits: self.limits(Fbs::default().limits)? }),
            "foba" => {
                let default = Foba::default();
                let forward = match options.get::<String>("forward")?.as_deref() {
                    None | Some("gradient") => ForwardRule::Gradient,
                    Some("decrease") => ForwardRule::Decrease,
                    Some(other) => return Err(unknown("forward", other, "'gradient' or 'decrease'")),
                };
                let candidates = options.get("candidates")?.unwrap_or(default.candidates);
                let least_gain = options.get("least_gain")?.unwrap_or(default.least_gain);
                Box::new(Foba { forward, candidates, least_gain, limits: self.limits(default.limits)? })
            }
            "diht" => {
                let default = Diht::default();
                let refit = options.get("refit")?.unwrap_or(default.refit);
                Box::new(Diht { refit, limits: self.limits(default.limits)?, ..default })
            }
            "sdiht" => {
                let default = Sdiht::default();
                let (blocks, refit) = (options.get("blocks")?, options.get("refit")?.unwrap_or(default.refit));
                Box::new(Sdiht { blocks, refit, seed: self.seed, limits: self.limits(default.limits)?, ..default })
            }
            "svrght" => {
                let default = Svrght::default();
                let (batch, inner_steps) = (options.get("batch")?, options.get("inner_steps")?);
                let (step, refit) = (options.get("step")?, options.get("refit")?.unwrap_or(default.refit));
                let limits = self.limits(default.limits)?;
                Box::new(Svrght { batch, inner_steps, step, refit, seed: self.seed, limits })
            }
            "exact" => Box::new(Exact { limits: self.limits(Exact::default().limits)? }),
            other => by_name(other).map_err(to_py)?,
        };
        options.none_left()?;
        Ok(solver)
    }

    /// The solver for a network among so many variables: there `auto` is the library's choice for that size.
    pub fn network_solver(&self, variables: usize) -> PyResult<Box<dyn Solver>> {
        let solver = self.solver()?;
        let limits = self.limits(Limits::default())?;
        Ok(if self.solver == "auto" { graphical::default_solver(variables, limits) } else { solver })
    }

    fn grahtp(&self, default: Grahtp, options: &mut Options) -> PyResult<Grahtp> {
        let step = match options.get::<Bound<'_, PyAny>>("step")? {
            None => default.step,
            Some(value) => match value.extract::<f64>() {
                Ok(length) => Step::Fixed(length),
                Err(_) => match value.extract::<String>()?.as_str() {
                    "adaptive" => Step::Adaptive,
                    "theory" => Step::Theory,
                    other => return Err(unknown("step", other, "'adaptive', 'theory' or a number")),
                },
            },
        };
        let debias = match options.get::<String>("debias")?.as_deref() {
            None => default.debias,
            Some("exact") => Debias::Exact,
            Some("newton") => Debias::NewtonStep,
            Some("gradient") => Debias::GradientStep,
            Some("none") => Debias::Nothing,
            Some(other) => return Err(unknown("debias", other, "'exact', 'newton', 'gradient' or 'none'")),
        };
        let scaled = options.get("scaled")?.unwrap_or(default.scaled);
        Ok(Grahtp { step, debias, scaled, limits: self.limits(default.limits)?, ..default })
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

    fn limits(&self, default: Limits) -> PyResult<Limits> {
        Ok(Limits {
            tolerance: self.tol.unwrap_or(default.tolerance),
            max_iterations: self.max_iter.unwrap_or(default.max_iterations),
            time_limit: self.time_limit()?,
        })
    }
}

/// The options given for one solver, and those it has been asked for.
struct Options<'a, 'py> {
    solver: &'a str,
    given: &'a Bound<'py, PyDict>,
    known: Vec<&'static str>,
}

impl<'py> Options<'_, 'py> {
    fn get<T: for<'a> FromPyObject<'a, 'py>>(&mut self, name: &'static str) -> PyResult<Option<T>> {
        self.known.push(name);
        let Some(value) = self.given.get_item(name)? else { return Ok(None) };
        let wrong =
            || PyTypeError::new_err(format!("option '{name}' of solver '{}' has the wrong type: {value}", self.solver));
        value.extract().map(Some).map_err(|_| wrong())
    }

    /// `Err` for an option nobody asked for.
    fn none_left(&self) -> PyResult<()> {
        for key in self.given.keys() {
            let key: String = key.extract()?;
            if !self.known.contains(&key.as_str()) {
                let known = if self.known.is_empty() {
                    "it has none".to_string()
                } else {
                    format!("it has {}", self.known.join(", "))
                };
                return Err(PyValueError::new_err(format!("solver '{}' has no option '{key}'; {known}", self.solver)));
            }
        }
        Ok(())
    }
}

fn unknown(option: &str, value: &str, expected: &str) -> PyErr {
    PyValueError::new_err(format!("option '{option}' is '{value}', but must be {expected}"))
}
