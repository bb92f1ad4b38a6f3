//! The penalised f at a point: the derivatives of f, and what the sum adds to them.

use super::Penalised;
use crate::error::{Error, Result};
use crate::linalg::MatrixMut;
use crate::objective::{Hessian, Point};

/// The penalised f at a point.
pub(super) struct AtPoint<'a> {
    pub held: &'a Penalised<'a>,
    pub inner: Box<dyn Point + 'a>,
    pub value: f64,
    pub gradient: Vec<f64>,
}

impl Point for AtPoint<'_> {
    fn value(&self) -> f64 {
        self.value
    }

    fn gradient(&self) -> Result<&[f64]> {
        Ok(&self.gradient)
    }

    fn hessian(&self) -> Result<Option<&dyn Hessian>> {
        Ok(self.inner.hessian()?.is_some().then_some(self as &dyn Hessian))
    }
}

impl AtPoint<'_> {
    /// The Hessian of f, which is asked for only where there is one.
    fn of_f(&self) -> Result<&dyn Hessian> {
        self.inner.hessian()?.ok_or(Error::Unsupported { solver: "a given sum", need: "second derivatives" })
    }
}

impl Hessian for AtPoint<'_> {
    fn diagonal(&self, out: &mut [f64]) -> Result<()> {
        self.of_f()?.diagonal(out)?;
        out.iter_mut().zip(&self.held.weights).for_each(|(o, a)| *o += self.held.price.rho * a * a);
        Ok(())
    }

    fn diagonal_at(&self, coordinates: &[usize], out: &mut [f64]) -> Result<()> {
        self.of_f()?.diagonal_at(coordinates, out)?;
        let weight = |j: usize| self.held.weights[j];
        out.iter_mut().zip(coordinates).for_each(|(o, &j)| *o += self.held.price.rho * weight(j) * weight(j));
        Ok(())
    }

    fn block(&self, left: &[usize], right: &[usize], mut out: MatrixMut<'_>) -> Result<()> {
        self.of_f()?.block(left, right, out.reborrow())?;
        for (c, &column) in right.iter().enumerate() {
            let factor = self.held.price.rho * self.held.weights[column];
            out.col_mut(c).iter_mut().zip(left).for_each(|(o, &j)| *o += factor * self.held.weights[j]);
        }
        Ok(())
    }
}
