//! A quadratic function of some coordinates, all of its Hessian at hand: the model of f that a search may ask as often
//! as it likes.

use crate::error::Result;
use crate::kernels::{axpy, dot};
use crate::linalg::MatrixMut;
use crate::objective::{BlockCost, Hessian, Objective, Point, Profile};
use crate::restricted::{Form, Line, PointByPoint, Restricted, Second, SupportHessian};
use crate::sparsity::SparseRef;
use faer::Mat;

/// `value + slope'd + d'H d / 2` at `d = x - origin`.
pub(super) struct Quadratic {
    pub origin: Vec<f64>,
    pub value: f64,
    pub slope: Vec<f64>,
    /// Both triangles.
    pub hessian: Mat<f64>,
}

impl Quadratic {
    /// Its value at x, and its gradient.
    fn evaluate(&self, x: SparseRef) -> (f64, Vec<f64>) {
        let mut from: Vec<f64> = self.origin.iter().map(|o| -o).collect();
        x.iter().for_each(|(j, v)| from[j] += v);
        let mut bend = vec![0.0; from.len()];
        for (j, d) in from.iter().enumerate().filter(|(_, d)| **d != 0.0) {
            axpy(*d, self.hessian.col_as_slice(j), &mut bend);
        }
        let value = self.value + dot(&self.slope, &from) + 0.5 * dot(&bend, &from);
        bend.iter_mut().zip(&self.slope).for_each(|(b, g)| *b += g);
        (value, bend)
    }
}

impl Objective for Quadratic {
    fn dim(&self) -> usize {
        self.origin.len()
    }

    fn at<'a>(&'a self, x: SparseRef<'_>) -> Result<Box<dyn Point + 'a>> {
        let (value, gradient) = self.evaluate(x);
        Ok(Box::new(Place { model: self, value, gradient }))
    }

    fn profile(&self) -> Profile {
        let size = self.dim() as f64;
        let mut profile = Profile::of_gradients(self.dim());
        (profile.quadratic, profile.gradient) = (true, size * size);
        profile.hessian = Some(BlockCost { column: 1.0, entry: 1.0 });
        profile
    }

    fn restrict<'a>(&'a self, support: &[usize]) -> Result<Box<dyn Restricted + 'a>> {
        Ok(Box::new(Part { model: self, support: support.to_vec() }))
    }
}

struct Place<'a> {
    model: &'a Quadratic,
    value: f64,
    gradient: Vec<f64>,
}

impl Point for Place<'_> {
    fn value(&self) -> f64 {
        self.value
    }

    fn gradient(&self) -> Result<&[f64]> {
        Ok(&self.gradient)
    }

    fn hessian(&self) -> Result<Option<&dyn Hessian>> {
        Ok(Some(self.model))
    }
}

impl Hessian for Quadratic {
    fn diagonal(&self, out: &mut [f64]) -> Result<()> {
        out.iter_mut().enumerate().for_each(|(j, o)| *o = self.hessian[(j, j)]);
        Ok(())
    }

    fn diagonal_at(&self, coordinates: &[usize], out: &mut [f64]) -> Result<()> {
        out.iter_mut().zip(coordinates).for_each(|(o, &j)| *o = self.hessian[(j, j)]);
        Ok(())
    }

    fn block(&self, left: &[usize], right: &[usize], mut out: MatrixMut<'_>) -> Result<()> {
        for (b, &j) in right.iter().enumerate() {
            let column = self.hessian.col_as_slice(j);
            out.col_mut(b).iter_mut().zip(left).for_each(|(o, &i)| *o = column[i]);
        }
        Ok(())
    }
}

/// The function on a support.
struct Part<'a> {
    model: &'a Quadratic,
    support: Vec<usize>,
}

impl Restricted for Part<'_> {
    fn dim(&self) -> usize {
        self.support.len()
    }

    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let (value, whole) = self.model.evaluate(SparseRef::new(&self.support, x));
        gradient.iter_mut().zip(&self.support).for_each(|(g, &j)| *g = whole[j]);
        Ok(value)
    }

    fn second(&mut self) -> Second<'_> {
        Second::Matrix(self)
    }

    fn line<'b>(&'b mut self, x: &[f64], direction: &[f64]) -> Result<Box<dyn Line + 'b>> {
        Ok(Box::new(PointByPoint::new(self, x, direction)))
    }

    fn form(&self) -> Form {
        Form { quadratic: true, ..Form::default() }
    }
}

impl SupportHessian for Part<'_> {
    fn matrix(&mut self, out: MatrixMut<'_>) -> Result<()> {
        self.model.block(&self.support, &self.support, out)
    }

    fn product(&mut self, v: &[f64], out: &mut [f64]) -> Result<()> {
        out.fill(0.0);
        for (&j, v) in self.support.iter().zip(v) {
            let column = self.model.hessian.col_as_slice(j);
            out.iter_mut().zip(&self.support).for_each(|(o, &i)| *o += v * column[i]);
        }
        Ok(())
    }

    fn diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        self.model.diagonal_at(&self.support, out)
    }
}
