//! What a fit on a risk means to its user: coefficients, an intercept, predictions.

use crate::design::Design;
use crate::error::{Error, Result};
use crate::sparsity::SparseRef;

/// A sparse linear model: `z(x) = intercept + sum_j coefficient_j x_j`.
///
/// ```
/// use ksparse::{LinearModel, design::Dense};
/// let model = LinearModel { support: vec![1], coefficients: vec![2.0], intercept: 1.0 };
/// let x = Dense::from_rows(2, 2, &[9.0, 1.0, 9.0, 3.0])?;
/// assert_eq!(model.predict(&x)?, [3.0, 7.0]);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LinearModel {
    /// Columns with a coefficient, ascending.
    pub support: Vec<usize>,
    /// Their coefficients.
    pub coefficients: Vec<f64>,
    /// The intercept, 0 when none was fitted.
    pub intercept: f64,
}

impl LinearModel {
    /// The linear predictor for every row of a design with the columns the model was fitted on; `Err` when it lacks one
    /// of them.
    pub fn predict(&self, design: &dyn Design) -> Result<Vec<f64>> {
        if let Some(&index) = self.support.iter().find(|&&j| j >= design.ncols()) {
            return Err(Error::IndexOutOfRange { what: "column of the model", index, bound: design.ncols() });
        }
        let mut z = vec![0.0; design.nrows()];
        design.mul(SparseRef::new(&self.support, &self.coefficients), &mut z);
        design.health()?;
        z.iter_mut().for_each(|z| *z += self.intercept);
        Ok(z)
    }

    /// The same model for columns as they were before centring by `centre` and division by `scale`.
    pub fn unscaled(&self, centre: &[f64], scale: &[f64]) -> Self {
        let coefficients: Vec<f64> = self.support.iter().zip(&self.coefficients).map(|(&j, c)| c / scale[j]).collect();
        let shift: f64 = self.support.iter().zip(&coefficients).map(|(&j, c)| centre[j] * c).sum();
        Self { support: self.support.clone(), coefficients, intercept: self.intercept - shift }
    }
}
