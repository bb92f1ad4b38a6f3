//! The risk on a fixed support.

use super::{Risk, forget_flat};
use crate::design::Columns;
use crate::loss::Huber;
use crate::objective::Objective;
use crate::restricted::{self, DualCoordinates, Ended, InnerOptions, Outcome, Restricted, SecondOrder};
use crate::sparsity::SparseRef;
use faer::MatMut;
use faer::prelude::ReborrowMut;

/// The risk over a few columns, with what was computed at the last point kept.
pub(super) struct RestrictedRisk<'a> {
    risk: &'a Risk<'a>,
    columns: Box<dyn Columns + 'a>,
    support: Vec<usize>,
    ridge: Vec<f64>,
    z: Vec<f64>,
    derivatives: Vec<f64>,
    curvatures: Vec<f64>,
    scratch: Vec<f64>,
}

impl<'a> RestrictedRisk<'a> {
    pub fn new(risk: &'a Risk<'a>, support: &[usize]) -> Self {
        let n = risk.design.nrows();
        Self {
            risk,
            columns: risk.design.gather(support),
            support: support.to_vec(),
            ridge: support.iter().map(|&j| risk.ridge_at(j)).collect(),
            z: vec![0.0; n],
            derivatives: vec![0.0; n],
            curvatures: vec![0.0; n],
            scratch: vec![0.0; n],
        }
    }
}

impl Restricted for RestrictedRisk<'_> {
    fn dim(&self) -> usize {
        self.ridge.len()
    }

    fn value_and_gradient(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let risk = self.risk;
        self.columns.mul(x, &mut self.z);
        let loss =
            risk.loss.evaluate(&self.z, risk.target(), &risk.weights, &mut self.derivatives, &mut self.curvatures);
        self.columns.tmul(&self.derivatives, gradient);
        let mut penalty = 0.0;
        for ((g, x), ridge) in gradient.iter_mut().zip(x).zip(&self.ridge) {
            *g += ridge * x;
            penalty += ridge * x * x;
        }
        loss + 0.5 * penalty
    }

    fn second_order(&self) -> SecondOrder {
        if self.risk.loss.smoothness().is_none() {
            return SecondOrder::Unavailable;
        }
        let (k, costs) = (self.ridge.len() as f64, self.columns.costs());
        // A Newton step by conjugate gradients takes some ten pairs of products.
        if costs.gram + k * k * k / 18.0 <= 20.0 * costs.product { SecondOrder::Matrix } else { SecondOrder::Products }
    }

    fn is_quadratic(&self) -> bool {
        self.risk.is_quadratic()
    }

    fn hessian(&mut self, mut out: MatMut<'_, f64>) {
        self.scratch.copy_from_slice(&self.curvatures);
        forget_flat(&mut self.scratch);
        self.columns.gram(&self.scratch, out.rb_mut());
        for (c, ridge) in self.ridge.iter().enumerate() {
            out[(c, c)] += ridge;
        }
    }

    fn hessian_product(&mut self, v: &[f64], out: &mut [f64]) {
        self.columns.mul(v, &mut self.scratch);
        self.scratch.iter_mut().zip(&self.curvatures).for_each(|(s, h)| *s *= h);
        self.columns.tmul(&self.scratch, out);
        for ((o, v), ridge) in out.iter_mut().zip(v).zip(&self.ridge) {
            *o += ridge * v;
        }
    }

    fn hessian_diagonal(&mut self, out: &mut [f64]) {
        self.columns.squares(&self.curvatures, out);
        out.iter_mut().zip(&self.ridge).for_each(|(o, ridge)| *o += ridge);
    }

    fn preconditioner(&mut self, out: &mut [f64]) {
        // The columns' squares under the sample weights, computed once for all, times the mean curvature.
        let mean: f64 = self.curvatures.iter().sum();
        let squares = self.risk.weighted_squares();
        for ((o, &j), ridge) in out.iter_mut().zip(&self.support).zip(&self.ridge) {
            *o = mean * squares[j] + ridge;
        }
    }

    fn majorant_diagonal(&mut self, out: &mut [f64]) {
        self.columns.squares(&self.risk.weights, out);
        let bound = self.risk.loss.smoothness().unwrap_or(0.0);
        out.iter_mut().zip(&self.ridge).for_each(|(o, ridge)| *o = bound * *o + ridge);
    }

    fn reference_value(&self) -> f64 {
        self.risk.value_at_zero()
    }

    fn curvature_jumps(&self) -> bool {
        self.risk.loss.curvature_jumps()
    }

    fn has_tail(&self) -> bool {
        self.risk.loss.has_tail() && self.ridge.contains(&0.0)
    }

    /// A loss with corners, under a ridge: by dual coordinate ascent, and where that does not come to an end soon (a small ridge) or does not apply (an intercept) by Newton's
    /// method on the loss with its corners rounded off, less and less. Rounding over a width gamma takes gamma / 2 off f at most.
    fn minimise(&mut self, x: &mut [f64], options: &InnerOptions) -> Option<Outcome> {
        let risk = self.risk;
        if risk.loss.smoothness().is_some() || risk.ridge <= 0.0 {
            return None;
        }
        let options = InnerOptions { tolerance: options.tolerance.max(1e-9), ..*options };
        let mut outcome =
            Outcome { value: risk.value(SparseRef::new(&self.support, x)), iterations: 0, ended: Ended::MaxIterations };
        if !self.ridge.contains(&0.0) {
            let ascent = DualCoordinates::new(&*self.columns, &*risk.loss, risk.target(), &risk.weights, risk.ridge);
            outcome = ascent.minimise(x, &options, 20);
        }
        if outcome.ended != Ended::MaxIterations || !outcome.value.is_finite() {
            return Some(outcome);
        }
        // An f of (nearly) 0 needs no more digits than f(0) = 1 has.
        let last = options.tolerance * outcome.value.abs().max(1e-6);
        let (mut gamma, mut at) = (0.1, x.to_vec());
        loop {
            gamma = f64::max(0.2 * gamma, last);
            let rounded = risk.with_loss(Box::new(Huber::new(gamma).ok()?));
            let inner = restricted::minimise(&mut *rounded.restrict(&self.support), &mut at, &options);
            outcome.iterations += inner.iterations;
            let value = risk.value(SparseRef::new(&self.support, &at));
            if value < outcome.value {
                outcome.value = value;
                x.copy_from_slice(&at);
            }
            if inner.ended == Ended::Abandoned || gamma <= last {
                let ended = if inner.ended == Ended::Abandoned { Ended::Abandoned } else { Ended::Converged };
                return Some(Outcome { ended, ..outcome });
            }
        }
    }
}
