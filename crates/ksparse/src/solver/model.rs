//! The quadratic model of f on a support, and what it says about leaving and entering.

use super::run::{Iterate, Run};
use crate::error::Result;
use crate::linalg::{Cholesky, MatrixMut};
use crate::objective::Hessian;
use crate::threads::worth_splitting;
use faer::Mat;
use rayon::prelude::*;

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
    /// `G^-1`, G the Hessian on the support, before anything was dropped.
    pub inverse: Mat<f64>,
    /// The diagonal of the inverse as it is now.
    diagonal: Vec<f64>,
    /// For every drop the column it took out, and its pivot.
    dropped: Vec<(Vec<f64>, f64)>,
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
        let diagonal = (0..x.len()).map(|c| inverse[(c, c)]).collect();
        Self { x, inverse, diagonal, dropped: Vec::new(), slope, movable }
    }

    /// Twice the rise of f when the coordinate at this place leaves and the others answer; infinite if it may not
    /// leave.
    pub fn cost(&self, place: usize) -> f64 {
        if self.movable[place] { self.x[place] * self.x[place] / self.diagonal[place] } else { f64::INFINITY }
    }

    /// The cheapest place, the larger of equals (ties go to the smaller index).
    pub fn cheapest(&self) -> Option<usize> {
        (0..self.x.len())
            .filter(|&a| self.movable[a])
            .min_by(|&a, &b| self.cost(a).total_cmp(&self.cost(b)).then(b.cmp(&a)))
    }

    /// Holds the coordinate at this place at 0: the others move, the inverse becomes that of the smaller Hessian. Of
    /// that only the diagonal is kept up; a column is brought up to date when its coordinate goes, and those of the
    /// coordinates that stay are never needed.
    pub fn drop(&mut self, place: usize) {
        let mut column: Vec<f64> = self.inverse.col_as_slice(place).to_vec();
        let update = |(chunk, part): (usize, &mut [f64])| {
            for (before, pivot) in &self.dropped {
                let factor = before[place] / pivot;
                part.iter_mut().zip(&before[chunk * CHUNK..]).for_each(|(v, c)| *v -= factor * c);
            }
        };
        if worth_splitting(column.len() * self.dropped.len()) {
            column.par_chunks_mut(CHUNK).enumerate().for_each(update);
        } else {
            column.chunks_mut(CHUNK).enumerate().for_each(update);
        }
        let pivot = column[place];
        let shift = self.x[place] / pivot;
        for (b, &v) in column.iter().enumerate() {
            self.x[b] -= shift * v;
            self.diagonal[b] -= v / pivot * v;
        }
        self.x[place] = 0.0;
        self.movable[place] = false;
        self.dropped.push((column, pivot));
    }
}

/// Entries of a column that are brought up to date together: they stay in the first-level cache.
const CHUNK: usize = 512;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::loss::Squared;
    use crate::objective::Objective;
    use crate::simulate::{self, Correlation};
    use crate::solver::Limits;
    use crate::sparsity::Sparsity;
    use crate::{Progress, Risk, SparseRef};
    use std::ops::ControlFlow;

    /// On a quadratic f the model's minimum after any drops is f's on what is left, and costs are rises of f.
    #[test]
    fn drops_end_where_refits_do() {
        let data = simulate::linear(60, 30, 5, Correlation::Ar1(0.8), 0.5, 3);
        let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap().with_ridge(1e-3).unwrap();
        let watch = &mut |_: &Progress| ControlFlow::Continue(());
        let run = Run::new("test", &risk, &Sparsity::new(30), &Limits::default(), watch).unwrap();
        let refit = |support: &[usize]| {
            run.refit(support.to_vec(), vec![0.0; support.len()], &crate::restricted::InnerOptions::EXACT).unwrap()
        };
        let all: Vec<usize> = (0..30).collect();
        let at = refit(&all);
        let point = risk.at(SparseRef::new(&at.support, &at.x)).unwrap();
        let hessian = block(point.hessian().unwrap().unwrap(), &all, &all).unwrap();
        let slope = vec![0.0; 30];
        let mut model = LocalModel::new(&run, &at, slope, hessian);
        let (mut left, mut value) = (all, at.value);
        for _ in 0..25 {
            let place = model.cheapest().unwrap();
            let cost = model.cost(place);
            model.drop(place);
            left.retain(|&j| j != place);
            let now = refit(&left);
            assert!(
                (now.value - value - 0.5 * cost).abs() < 1e-9 * at.value.max(1e-3),
                "{} {}",
                now.value - value,
                cost
            );
            for (x, &j) in now.x.iter().zip(&left) {
                assert!((x - model.x[j]).abs() < 1e-7, "{x} {}", model.x[j]);
            }
            value = now.value;
        }
    }
}
