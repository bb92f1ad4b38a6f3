//! Second derivatives of the risk at a point.

use super::Risk;
use crate::design::Columns;
use crate::objective::Hessian;
use faer::Mat;

/// Curvature weights of the samples at one point.
pub(super) struct RiskHessian<'a> {
    pub risk: &'a Risk<'a>,
    pub weights: Vec<f64>,
}

impl Hessian for RiskHessian<'_> {
    fn diagonal(&self, out: &mut [f64]) {
        if self.risk.loss.is_quadratic() {
            let scale = self.risk.loss.at(0.0, 0.0).curvature;
            out.iter_mut().zip(self.risk.weighted_squares()).for_each(|(o, s)| *o = scale * s);
        } else {
            self.risk.design.squares(&self.weights, out);
        }
        out.iter_mut().enumerate().for_each(|(j, o)| *o += self.risk.ridge_at(j));
    }

    fn diagonal_at(&self, coordinates: &[usize], out: &mut [f64]) {
        self.risk.design.squares_at(&self.weights, coordinates, out);
        out.iter_mut().zip(coordinates).for_each(|(o, &j)| *o += self.risk.ridge_at(j));
    }

    fn block(&self, left: &[usize], right: &[usize]) -> Mat<f64> {
        let mut out = if left == right {
            symmetric(self.risk.design.gather(left), &self.weights)
        } else {
            self.risk.design.cross(left, right, &self.weights)
        };
        if self.risk.ridge > 0.0 {
            let place: std::collections::HashMap<usize, usize> =
                left.iter().enumerate().map(|(a, &j)| (j, a)).collect();
            for (b, j) in right.iter().enumerate() {
                if let Some(&a) = place.get(j) {
                    out[(a, b)] += self.risk.ridge_at(*j);
                }
            }
        }
        out
    }
}

/// `A' diag(weights) A`, both triangles.
fn symmetric(mut columns: Box<dyn Columns + '_>, weights: &[f64]) -> Mat<f64> {
    let k = columns.ncols();
    let mut out = Mat::zeros(k, k);
    columns.gram(weights, out.as_mut());
    for b in 0..k {
        for a in b + 1..k {
            out[(b, a)] = out[(a, b)];
        }
    }
    out
}
