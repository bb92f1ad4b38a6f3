//! Columns as a fit works with them: standardised, or with a ridge of their own, and models brought back from there.

use crate::design::{Design, Scaled};
use crate::error::Result;
use crate::objective::{Bounds, LinearModel};

/// What was subtracted from every column, and what it was divided by.
pub(super) struct Scaling {
    centre: Vec<f64>,
    scale: Vec<f64>,
}

impl Scaling {
    /// The design as it is worked with, `None` where that is as it was given.
    pub fn of<'a>(
        design: Box<dyn Design + 'a>,
        weights: Option<&[f64]>,
        standardize: bool,
        penalty_factors: Option<&[f64]>,
    ) -> Result<(Box<dyn Design + 'a>, Option<Self>)> {
        let p = design.ncols();
        let scaled = match (standardize, penalty_factors) {
            (false, None) => return Ok((design, None)),
            (true, None) => Scaled::standardize(design, weights)?,
            (true, Some(factors)) => Scaled::standardize(design, weights)?.with_penalty_factors(factors)?,
            (false, Some(factors)) => Scaled::new(design, vec![0.0; p], vec![1.0; p])?.with_penalty_factors(factors)?,
        };
        let scaling = Self { centre: scaled.centre().to_vec(), scale: scaled.scale().to_vec() };
        Ok((Box::new(scaled), Some(scaling)))
    }

    /// Bounds on the coefficients of the original columns as bounds on those worked with.
    pub fn bounds(of: Option<&Self>, bounds: Option<&Bounds>) -> Result<Option<Bounds>> {
        match (bounds, of) {
            (Some(bounds), Some(scaling)) => bounds.scaled(&scaling.scale).map(Some),
            (bounds, _) => Ok(bounds.cloned()),
        }
    }

    /// What a column was divided by.
    pub fn scale(&self, column: usize) -> f64 {
        self.scale[column]
    }

    /// A model of the columns worked with as one of the original columns.
    pub fn undone(&self, model: &LinearModel) -> LinearModel {
        model.unscaled(&self.centre, &self.scale)
    }

    /// The way back: what [`undone`](Self::undone) makes of it is that model again.
    pub fn done(&self, model: &LinearModel) -> LinearModel {
        let mut model = model.clone();
        for (&j, c) in model.support.iter().zip(&mut model.coefficients) {
            // A column beyond the last is the solver's to refuse.
            model.intercept += self.centre.get(j).unwrap_or(&0.0) * *c;
            *c *= self.scale.get(j).unwrap_or(&1.0);
        }
        model
    }
}
