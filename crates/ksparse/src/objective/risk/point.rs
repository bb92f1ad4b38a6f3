//! The risk at a point.

use super::Risk;
use super::losses::forget_flat;
use crate::design::Columns;
use crate::error::Result;
use crate::linalg::MatrixMut;
use crate::objective::{Hessian, Point};
use crate::sparsity::SparseRef;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The risk at x: one product X w, from which everything else follows.
pub(super) struct RiskPoint<'a> {
    risk: &'a Risk<'a>,
    indices: Vec<usize>,
    values: Vec<f64>,
    value: f64,
    /// Weighted derivatives and curvatures of the losses.
    derivatives: Vec<f64>,
    curvatures: Vec<f64>,
    gradient: OnceLock<Vec<f64>>,
    hessian: OnceLock<RiskHessian<'a>>,
}

impl<'a> RiskPoint<'a> {
    pub fn new(risk: &'a Risk<'a>, x: SparseRef) -> Result<Self> {
        let z = risk.predictions(x);
        let (mut derivatives, mut curvatures) = (vec![0.0; z.len()], vec![0.0; z.len()]);
        risk.design.health()?;
        let loss = risk.evaluate(&z, &mut derivatives, &mut curvatures);
        Ok(Self {
            risk,
            indices: x.indices.to_vec(),
            values: x.values.to_vec(),
            value: loss + risk.penalty(x),
            derivatives,
            curvatures,
            gradient: OnceLock::new(),
            hessian: OnceLock::new(),
        })
    }

    fn curvature_weights(&self) -> Vec<f64> {
        if self.risk.loss.is_quadratic() {
            let scale = self.risk.loss.at(0.0, 0.0).curvature;
            return self.risk.weights.iter().map(|w| w * scale).collect();
        }
        let mut weights = self.curvatures.clone();
        forget_flat(&mut weights);
        weights
    }
}

impl Point for RiskPoint<'_> {
    fn value(&self) -> f64 {
        self.value
    }

    fn gradient(&self) -> Result<&[f64]> {
        let gradient = self.gradient.get_or_init(|| {
            let mut out = vec![0.0; self.risk.design.ncols()];
            self.risk.gradient(SparseRef::new(&self.indices, &self.values), &self.derivatives, &mut out);
            out
        });
        self.risk.design.health()?;
        Ok(gradient)
    }

    fn hessian(&self) -> Result<Option<&dyn Hessian>> {
        if self.risk.loss.smoothness().has_corners() {
            return Ok(None);
        }
        Ok(Some(self.hessian.get_or_init(|| RiskHessian { risk: self.risk, weights: self.curvature_weights() })))
    }
}

/// Second derivatives of the risk: curvature weights of the samples at one point.
struct RiskHessian<'a> {
    risk: &'a Risk<'a>,
    weights: Vec<f64>,
}

impl Hessian for RiskHessian<'_> {
    fn diagonal(&self, out: &mut [f64]) -> Result<()> {
        if self.risk.loss.is_quadratic() {
            let scale = self.risk.loss.at(0.0, 0.0).curvature;
            out.iter_mut().zip(self.risk.weighted_squares()).for_each(|(o, s)| *o = scale * s);
        } else {
            self.risk.design.squares(&self.weights, out);
        }
        out.iter_mut().enumerate().for_each(|(j, o)| *o += self.risk.ridge_at(j));
        self.risk.design.health()
    }

    fn diagonal_at(&self, coordinates: &[usize], out: &mut [f64]) -> Result<()> {
        self.risk.design.squares_at(&self.weights, coordinates, out);
        out.iter_mut().zip(coordinates).for_each(|(o, &j)| *o += self.risk.ridge_at(j));
        self.risk.design.health()
    }

    fn block(&self, left: &[usize], right: &[usize], mut out: MatrixMut<'_>) -> Result<()> {
        if left == right {
            symmetric(self.risk.design.gather(left), &self.weights, &mut out);
        } else if left.len() == 1 && right.iter().copied().eq(0..self.risk.design.ncols()) {
            // A whole row: one pass over the data.
            let mut column = vec![0.0; self.weights.len()];
            self.risk.design.mul(SparseRef::new(left, &[1.0]), &mut column);
            column.iter_mut().zip(&self.weights).for_each(|(x, w)| *x *= w);
            let mut row = vec![0.0; right.len()];
            self.risk.design.tmul(&column, &mut row);
            row.into_iter().enumerate().for_each(|(b, v)| out[(0, b)] = v);
        } else {
            self.risk.design.cross(left, right, &self.weights, out.reborrow());
        }
        if self.risk.ridge > 0.0 {
            let place: HashMap<usize, usize> = left.iter().enumerate().map(|(a, &j)| (j, a)).collect();
            for (b, j) in right.iter().enumerate() {
                if let Some(&a) = place.get(j) {
                    out[(a, b)] += self.risk.ridge_at(*j);
                }
            }
        }
        self.risk.design.health()
    }
}

/// `A' diag(weights) A`, both triangles.
fn symmetric(mut columns: Box<dyn Columns + '_>, weights: &[f64], out: &mut MatrixMut<'_>) {
    columns.gram(weights, out.reborrow());
    for b in 0..out.ncols() {
        for a in b + 1..out.nrows() {
            out[(b, a)] = out[(a, b)];
        }
    }
}
