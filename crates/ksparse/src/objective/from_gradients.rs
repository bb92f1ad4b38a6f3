//! Any objective on a support, from its whole gradient.

use super::Objective;
use crate::error::Result;
use crate::restricted::{Line, PointByPoint, Restricted, Second};
use crate::sparsity::SparseRef;

/// The restriction of an objective that offers nothing better: each evaluation computes the whole gradient and
/// keeps the part on the support.
pub struct FromGradients<'a, O: ?Sized> {
    objective: &'a O,
    support: Vec<usize>,
}

impl<'a, O: Objective + ?Sized> FromGradients<'a, O> {
    /// f with every coordinate outside `support` held at 0.
    pub fn new(objective: &'a O, support: &[usize]) -> Self {
        Self { objective, support: support.to_vec() }
    }
}

impl<O: Objective + ?Sized> Restricted for FromGradients<'_, O> {
    fn dim(&self) -> usize {
        self.support.len()
    }

    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let point = self.objective.at(SparseRef::new(&self.support, x))?;
        let whole = point.gradient()?;
        gradient.iter_mut().zip(&self.support).for_each(|(g, &j)| *g = whole[j]);
        Ok(point.value())
    }

    fn second(&mut self) -> Second<'_> {
        Second::None
    }

    fn line<'a>(&'a mut self, x: &[f64], direction: &[f64]) -> Result<Box<dyn Line + 'a>> {
        Ok(Box::new(PointByPoint::new(self, x, direction)))
    }
}
