//! A learning problem as Python describes it: data, loss, preparation.

use crate::design::{Reading, View};
use crate::error::to_py;
use crate::options::Constraint;
use ksparse::design::Design;
use ksparse::loss::{self, Loss};
use ksparse::objective::{Frame, Question, Shard};
use ksparse::select::Problem;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

/// Read from a dictionary with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Data<'py> {
    design: Reading<'py>,
    target: PyReadonlyArray1<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    offset: Option<PyReadonlyArray1<'py, f64>>,
    loss: String,
    /// The scale or width of the loss; its default when `None`.
    loss_parameter: Option<f64>,
    intercept: bool,
    standardize: bool,
    penalty_factors: Option<PyReadonlyArray1<'py, f64>>,
}

/// The same without the interpreter.
pub struct DataView<'a> {
    pub design: View<'a>,
    pub rest: Rest<'a>,
}

/// All but the matrix.
pub struct Rest<'a> {
    target: &'a [f64],
    weights: Option<&'a [f64]>,
    offset: Option<&'a [f64]>,
    loss: Box<dyn Loss>,
    intercept: bool,
    standardize: bool,
    penalty_factors: Option<&'a [f64]>,
}

impl Data<'_> {
    pub fn view(&self) -> PyResult<DataView<'_>> {
        let weights = self.weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let offset = self.offset.as_ref().map(|offset| offset.as_slice()).transpose()?;
        let rest = Rest {
            target: self.target.as_slice()?,
            weights,
            offset,
            loss: named_loss(&self.loss, self.loss_parameter).map_err(to_py)?,
            intercept: self.intercept,
            standardize: self.standardize,
            penalty_factors: self.penalty_factors.as_ref().map(|factors| factors.as_slice()).transpose()?,
        };
        Ok(DataView { design: self.design.view()?, rest })
    }
}

impl DataView<'_> {
    /// What these rows, as a shard, answer to a question.
    pub fn answer(self, frame: &Frame, question: &Question) -> ksparse::Result<Vec<f64>> {
        let Self { design, rest } = self;
        let shard = Shard::new(design.design()?, rest.target)?
            .with_weights(rest.weights.map(Into::into))?
            .with_offset(rest.offset.map(Into::into))?;
        shard.answer(&*rest.loss, frame, question)
    }
}

impl Rest<'_> {
    /// The problem over a design made from the matrix.
    pub fn over<'a>(&'a self, design: &'a dyn Design, constraint: &'a Constraint) -> Problem<'a> {
        Problem {
            design,
            target: self.target,
            loss: &*self.loss,
            weights: self.weights,
            offset: self.offset,
            intercept: self.intercept,
            standardize: self.standardize,
            penalty_factors: self.penalty_factors,
            groups: constraint.groups.as_deref(),
            bounds: constraint.bounds.as_ref(),
            total: constraint.total,
        }
    }
}

/// A loss by name, with its scale or width where it has one.
pub fn named_loss(name: &str, parameter: Option<f64>) -> ksparse::Result<Box<dyn Loss>> {
    loss::family(name)?.build(parameter)
}
