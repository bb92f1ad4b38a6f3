//! What the theorems say about a problem, for Python.

use crate::error::to_py;
use crate::options::Constraint;
use crate::problem::Data;
use ksparse::theory::{Level, Promise, Survey};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The survey of the problem with this k and ridge; what is vacuous comes with its reason.
#[pyfunction]
pub fn theory<'py>(py: Python<'py>, data: Data<'py>, k: usize, alpha: f64) -> PyResult<Bound<'py, PyDict>> {
    let view = data.view()?;
    let unbounded = Constraint::default();
    let survey = (|| {
        let design = view.design.design()?;
        let training = view.rest.over(&*design, &unbounded).on_all_rows()?;
        Survey::of(&training.risk.reridged(alpha)?, k)
    })()
    .map_err(to_py)?;
    let out = PyDict::new(py);
    out.set_item("k", survey.k)?;
    out.set_item("step", survey.step)?;
    out.set_item("theorem_1", level(py, &survey.narrow)?)?;
    out.set_item("theorem_2", level(py, &survey.wide)?)?;
    out.set_item("grahtp", promise(py, &survey.grahtp)?)?;
    out.set_item("fgrahtp", promise(py, &survey.fgrahtp)?)?;
    let dual = PyDict::new(py);
    match &survey.dual {
        Err(why) => dual.set_item("vacuous", why)?,
        Ok(rates) => {
            let known = rates.samples * rates.largest_dual * rates.largest_dual;
            dual.set_item("c1", rates.c1())?;
            dual.set_item("c2", rates.c2())?;
            dual.set_item("first_step", rates.step(0))?;
            dual.set_item("steps_until_useful", rates.steps_until(known))?;
        }
    }
    out.set_item("dual_ascent", dual)?;
    Ok(out)
}

fn level<'py>(py: Python<'py>, level: &Level) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("s", level.s)?;
    out.set_item("m", level.curvature.strong)?;
    out.set_item("M", level.curvature.smooth)?;
    out.set_item("exact", level.exact)?;
    out.set_item("zeta", level.condition.map(|condition| condition.zeta))?;
    out.set_item("rho", level.condition.map(|condition| condition.rho))?;
    Ok(out)
}

fn promise<'py>(py: Python<'py>, promise: &Result<Promise, String>) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    match promise {
        Err(why) => out.set_item("vacuous", why)?,
        Ok(promise) => {
            out.set_item("factor", promise.contraction.factor)?;
            out.set_item("gradient_weight", promise.contraction.gradient_weight)?;
            out.set_item("steps", (promise.steps.low, promise.steps.high))?;
        }
    }
    Ok(out)
}
