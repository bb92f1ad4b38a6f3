//! A ridge of its own for every column, as a scale.
//!
//! ```text
//! (lambda / 2) sum_j c_j w_j^2 = (lambda / 2) ||v||^2   with   v_j = sqrt(c_j) w_j,   X w = X diag(1 / sqrt(c)) v
//! ```
//!
//! So a penalty factor is a column divided by its square root, and no objective, solver, dual or bound knows of it.

use super::Scaled;
use crate::design::Design;
use crate::error::{Error, Result, check_len};

impl<D: Design> Scaled<D> {
    /// With the ridge on the coefficient of column j multiplied by `factors[j]`: coefficients are those of the columns
    /// as given once [`scale`](Self::scale) is undone.
    ///
    /// ```
    /// use ksparse::{Auto, Risk, Solver, Sparsity, design::{Dense, Scaled}, loss::Squared};
    /// let x = Dense::from_columns(2, 2, vec![1.0, 1.0, 1.0, -1.0])?;
    /// let scaled = Scaled::new(&x, vec![0.0; 2], vec![1.0; 2])?.with_penalty_factors(&[1.0, 3.0])?;
    /// let risk = Risk::new(&scaled, &[2.0, 0.0], Squared::default())?.with_ridge(1.0)?;
    /// let solution = Auto::default().fit(&risk, &Sparsity::new(2))?;
    /// let model = risk.model(&solution).unscaled(scaled.centre(), scaled.scale());
    /// // 1 / (1 + lambda c) with c = 1 and c = 3
    /// assert!((model.coefficients[0] - 0.5).abs() < 1e-9 && (model.coefficients[1] - 0.25).abs() < 1e-9);
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn with_penalty_factors(mut self, factors: &[f64]) -> Result<Self> {
        check_penalty_factors(factors, self.scale.len())?;
        self.scale.iter_mut().zip(factors).for_each(|(scale, factor)| *scale *= factor.sqrt());
        let Self { inner, centre, rest, scale } = self;
        Self::checked(inner, centre, rest, scale)
    }
}

/// `Err` unless there is a positive number for every column.
pub(crate) fn check_penalty_factors(factors: &[f64], columns: usize) -> Result<()> {
    check_len("penalty factors", factors.len(), columns)?;
    let Some(j) = factors.iter().position(|factor| !(factor.is_finite() && *factor > 0.0)) else { return Ok(()) };
    let (factor, of) = (factors[j], format!("column {j} (counted from 0)"));
    let remedy = match factor == 0.0 {
        true => "it must be above 0; 1e-6, say, leaves the column next to unpenalised",
        false => "it must be a positive number",
    };
    Err(Error::Data(format!("the penalty factor of {of} is {factor}: {remedy}")))
}
