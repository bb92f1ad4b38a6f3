//! f at one point.

use crate::error::Result;
use crate::linalg::MatrixMut;

/// An objective evaluated at one x. What its parts have in common (a linear predictor, an inverse) is computed once and
/// kept.
pub trait Point: Sync {
    /// f(x).
    fn value(&self) -> f64;

    /// The whole gradient.
    fn gradient(&self) -> Result<&[f64]>;

    /// Second derivatives, where the objective has them here; `None` where it does not.
    fn hessian(&self) -> Result<Option<&dyn Hessian>>;
}

/// A value and a gradient, and no more.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstOrder {
    /// f(x).
    pub value: f64,
    /// The gradient there.
    pub gradient: Vec<f64>,
}

impl Point for FirstOrder {
    fn value(&self) -> f64 {
        self.value
    }

    fn gradient(&self) -> Result<&[f64]> {
        Ok(&self.gradient)
    }

    fn hessian(&self) -> Result<Option<&dyn Hessian>> {
        Ok(None)
    }
}

/// Second derivatives of an objective at one point.
pub trait Hessian: Sync {
    /// Its diagonal.
    fn diagonal(&self, out: &mut [f64]) -> Result<()>;

    /// Some entries of its diagonal.
    fn diagonal_at(&self, coordinates: &[usize], out: &mut [f64]) -> Result<()>;

    /// The rows `left` and columns `right` of it (make `right` the longer list).
    fn block(&self, left: &[usize], right: &[usize], out: MatrixMut<'_>) -> Result<()>;
}
