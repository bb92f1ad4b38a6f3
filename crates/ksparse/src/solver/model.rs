//! The quadratic model of f on a support, and what it says about leaving and entering.

use super::run::{Iterate, Run};
use crate::error::Result;
use crate::linalg::{Cholesky, MatrixMut};
use crate::objective::Hessian;
use faer::Mat;

/// The rows `left` and columns `right` of a Hessian.
pub(super) fn block(hessian: &dyn Hessian, left: &[usize], right: &[usize]) -> Result<Mat<f64>> {
    let mut out = Mat::zeros(left.len(), right.len());
    hessian.block(left, right, MatrixMut::over(&mut out))?;
    Ok(out)
}

/// f near a point, on its support: minimiser and inverse Hessian.
pub(super) struct LocalModel {
    /// Where the model has its minimum: the point itself, less a Newton step if it was not minimised to the end.
    pub x: Vec<f64>,
    /// `G^-1`, G the Hessian on the support.
    pub inverse: Mat<f64>,
    /// The gradient on the support at the point the model was made at.
    pub slope: Vec<f64>,
    movable: Vec<bool>,
}

impl LocalModel {
    /// `slope` is the gradient on the support, `hessian` the lower triangle of the second derivatives there.
    pub fn new(run: &Run, at: &Iterate, slope: Vec<f64>, hessian: Mat<f64>) -> Self {
        let inverse = Cholesky::new(hessian, None).inverse();
        let mut x = at.x.clone();
        for (b, g) in slope.iter().enumerate() {
            for (x, v) in x.iter_mut().zip(inverse.col_as_slice(b)) {
                *x -= v * g;
            }
        }
        let movable = at.support.iter().map(|&j| !run.budget.is_free(j)).collect();
        Self { x, inverse, slope, movable }
    }

    /// Twice the rise of f when the coordinate at this place leaves and the others answer; infinite if it may not
    /// leave.
    pub fn cost(&self, place: usize) -> f64 {
        if self.movable[place] { self.x[place] * self.x[place] / self.inverse[(place, place)] } else { f64::INFINITY }
    }

    /// The cheapest place, the larger of equals (ties go to the smaller index).
    pub fn cheapest(&self) -> Option<usize> {
        (0..self.x.len())
            .filter(|&a| self.movable[a])
            .min_by(|&a, &b| self.cost(a).total_cmp(&self.cost(b)).then(b.cmp(&a)))
    }

    /// Holds the coordinate at this place at 0: the others move, the inverse becomes that of the smaller Hessian.
    pub fn drop(&mut self, place: usize) {
        let column: Vec<f64> = self.inverse.col_as_slice(place).to_vec();
        let pivot = column[place];
        let shift = self.x[place] / pivot;
        for (b, &v) in column.iter().enumerate() {
            self.x[b] -= shift * v;
            let factor = v / pivot;
            self.inverse.col_as_slice_mut(b).iter_mut().zip(&column).for_each(|(v, c)| *v -= factor * c);
        }
        self.x[place] = 0.0;
        self.movable[place] = false;
    }
}
