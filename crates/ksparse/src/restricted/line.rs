//! A function on a support along a line.
//!
//! A line search asks for values and slopes at several points of one line and then settles on one of them. Where f is a
//! sum of losses of `A x`, one product serves them all: a further probe costs a pass over the samples, not one over the
//! data.

use super::Restricted;
use crate::error::Result;
use crate::kernels::dot;

/// f along `x + step d`.
pub trait Line {
    /// f and its slope there.
    fn probe(&mut self, step: f64) -> Result<Probe>;

    /// Moves the function there, as [`Restricted::move_to`] does: f there and its gradient. (A probe may be off by
    /// rounding error.)
    fn settle(self: Box<Self>, step: f64, gradient: &mut [f64]) -> Result<f64>;

    /// Leaves the function at x.
    fn back(self: Box<Self>) -> Result<()>;
}

/// What f is at a point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// f.
    pub value: f64,
    /// Its derivative along the line.
    pub slope: f64,
}

/// The line of a function that knows no shorter way: every probe is a move.
pub struct PointByPoint<'a, F: ?Sized> {
    f: &'a mut F,
    x: Vec<f64>,
    direction: Vec<f64>,
    point: Vec<f64>,
    gradient: Vec<f64>,
    /// Where the function is: the step, and f there.
    at: (f64, f64),
}

impl<'a, F: Restricted + ?Sized> PointByPoint<'a, F> {
    /// From x, where f was last moved to.
    pub fn new(f: &'a mut F, x: &[f64], direction: &[f64]) -> Self {
        let gradient = vec![0.0; x.len()];
        Self { f, x: x.to_vec(), direction: direction.to_vec(), point: x.to_vec(), gradient, at: (f64::NAN, f64::NAN) }
    }
}

impl<F: Restricted + ?Sized> Line for PointByPoint<'_, F> {
    fn probe(&mut self, step: f64) -> Result<Probe> {
        self.point.iter_mut().zip(&self.x).zip(&self.direction).for_each(|((p, x), d)| *p = x + step * d);
        let value = self.f.move_to(&self.point, &mut self.gradient)?;
        self.at = (step, value);
        Ok(Probe { value, slope: dot(&self.gradient, &self.direction) })
    }

    fn settle(mut self: Box<Self>, step: f64, gradient: &mut [f64]) -> Result<f64> {
        if self.at.0 != step {
            self.probe(step)?;
        }
        gradient.copy_from_slice(&self.gradient);
        Ok(self.at.1)
    }

    fn back(mut self: Box<Self>) -> Result<()> {
        self.f.move_to(&self.x, &mut self.gradient)?;
        Ok(())
    }
}
