//! The penalised f on a fixed support: the Hessian of f and a matrix of rank one.

use super::{Penalised, Price};
use crate::error::{Error, Result};
use crate::kernels::dot;
use crate::linalg::MatrixMut;
use crate::restricted::{Form, Line, PointByPoint, Restricted, Second, SupportHessian};
use std::cell::Cell;
use std::rc::Rc;

/// f on a support, and what the sum adds to it.
pub(super) struct OnSupport<'a> {
    held: &'a Penalised<'a>,
    inner: Box<dyn Restricted + 'a>,
    weights: Vec<f64>,
    /// May be another than that of the whole, and change.
    price: Rc<Cell<Price>>,
}

impl<'a> OnSupport<'a> {
    pub fn new(
        held: &'a Penalised<'a>,
        inner: Box<dyn Restricted + 'a>,
        support: &[usize],
        price: Rc<Cell<Price>>,
    ) -> Self {
        Self { held, inner, weights: support.iter().map(|&j| held.weights[j]).collect(), price }
    }

    /// The Hessian of f, which is asked for only where there is one.
    fn of_f(&mut self) -> Result<&mut dyn SupportHessian> {
        self.inner.second().hessian().ok_or(Error::Unsupported { solver: "a given sum", need: "second derivatives" })
    }

    fn add_squares(&self, out: &mut [f64]) {
        out.iter_mut().zip(&self.weights).for_each(|(o, a)| *o += self.price.get().rho * a * a);
    }
}

impl Restricted for OnSupport<'_> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn change(&mut self, support: &[usize]) -> Result<bool> {
        let changed = self.inner.change(support)?;
        if changed {
            self.weights = support.iter().map(|&j| self.held.weights[j]).collect();
        }
        Ok(changed)
    }

    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let value = self.inner.move_to(x, gradient)?;
        let (price, slope) = self.price.get().of(dot(&self.weights, x) - self.held.total);
        gradient.iter_mut().zip(&self.weights).for_each(|(g, a)| *g += slope * a);
        Ok(value + price)
    }

    fn second(&mut self) -> Second<'_> {
        self.inner.second().way().with(self)
    }

    fn line<'b>(&'b mut self, x: &[f64], direction: &[f64]) -> Result<Box<dyn Line + 'b>> {
        Ok(Box::new(PointByPoint::new(self, x, direction)))
    }

    fn product_cost(&self) -> Option<f64> {
        self.inner.product_cost()
    }

    /// A sum that is given keeps f from falling for ever along a ray, but for those that leave it as it is.
    fn form(&self) -> Form {
        self.inner.form()
    }
}

impl SupportHessian for OnSupport<'_> {
    fn matrix(&mut self, mut out: MatrixMut<'_>) -> Result<()> {
        self.of_f()?.matrix(out.reborrow())?;
        for (c, a) in self.weights.iter().enumerate() {
            let factor = self.price.get().rho * a;
            out.col_mut(c).iter_mut().zip(&self.weights).for_each(|(o, b)| *o += factor * b);
        }
        Ok(())
    }

    fn product(&mut self, v: &[f64], out: &mut [f64]) -> Result<()> {
        self.of_f()?.product(v, out)?;
        let factor = self.price.get().rho * dot(&self.weights, v);
        out.iter_mut().zip(&self.weights).for_each(|(o, a)| *o += factor * a);
        Ok(())
    }

    fn may_err(&mut self, share: f64) {
        if let Some(hessian) = self.inner.second().hessian() {
            hessian.may_err(share);
        }
    }

    fn diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        self.of_f()?.diagonal(out)?;
        self.add_squares(out);
        Ok(())
    }

    fn rough_diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        self.of_f()?.rough_diagonal(out)?;
        self.add_squares(out);
        Ok(())
    }

    fn majorant(&mut self, out: &mut [f64]) -> Result<()> {
        self.of_f()?.majorant(out)?;
        self.add_squares(out);
        Ok(())
    }
}
