//! The risk on a fixed support.

use super::Risk;
use super::losses::{forget_flat, forget_least};
use crate::design::{Columns, Costs, Design};
use crate::error::Result;
use crate::kernels::dot;
use crate::linalg::MatrixMut;
use crate::loss::{Huber, Smoothness};
use crate::objective::Objective;
use crate::restricted::{
    self, DualCoordinates, Ended, Form, InnerOptions, Line, Outcome, Probe, Restricted, Second, SupportHessian,
};
use crate::sparsity::SparseRef;

/// What the samples say at a point.
#[derive(Default)]
struct Predicted {
    /// `A x`.
    z: Vec<f64>,
    /// Weighted derivatives and curvatures of the losses.
    derivatives: Vec<f64>,
    curvatures: Vec<f64>,
}

impl Predicted {
    fn new(n: usize) -> Self {
        Self { z: vec![0.0; n], derivatives: vec![0.0; n], curvatures: vec![0.0; n] }
    }

    /// The mean loss at z, derivatives and curvatures noted.
    fn evaluate(&mut self, risk: &Risk) -> f64 {
        risk.evaluate(&self.z, &mut self.derivatives, &mut self.curvatures)
    }
}

/// From so many columns on, all of them together are not copied: their products are those of the design.
const MANY: usize = 512;

/// All columns of a design where they lie.
struct AllColumns<'a> {
    design: &'a dyn Design,
    all: Vec<usize>,
}

impl Columns for AllColumns<'_> {
    fn ncols(&self) -> usize {
        self.all.len()
    }

    fn mul(&self, x: &[f64], out: &mut [f64]) {
        self.design.mul(SparseRef::new(&self.all, x), out);
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.design.tmul(r, out);
    }

    fn gram(&mut self, weights: &[f64], out: MatrixMut<'_>) {
        self.design.cross(&self.all, &self.all, weights, out);
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.design.squares(weights, out);
    }

    fn costs(&self) -> Costs {
        let (product, n) = (self.design.cost(), self.all.len() as f64);
        Costs { product, gram: product * n }
    }
}

/// The risk over a few columns, with what was computed where it was last moved to.
pub(super) struct RestrictedRisk<'a> {
    risk: &'a Risk<'a>,
    columns: Box<dyn Columns + 'a>,
    support: Vec<usize>,
    ridge: Vec<f64>,
    here: Predicted,
    /// For points of a line: `A d`, once known, and what the samples say there.
    turn: Vec<f64>,
    there: Predicted,
    scratch: Vec<f64>,
    /// The curvatures without those that hardly count; empty where all do.
    kept: Vec<f64>,
}

impl<'a> RestrictedRisk<'a> {
    pub fn new(risk: &'a Risk<'a>, support: &[usize]) -> Self {
        let n = risk.design.nrows();
        Self {
            risk,
            columns: if support.len() == risk.design.ncols() && support.len() > MANY {
                Box::new(AllColumns { design: &*risk.design, all: support.to_vec() })
            } else {
                risk.design.gather(support)
            },
            support: support.to_vec(),
            ridge: support.iter().map(|&j| risk.ridge_at(j)).collect(),
            here: Predicted::new(n),
            turn: Vec::new(),
            there: Predicted::default(),
            scratch: vec![0.0; n],
            kept: Vec::new(),
        }
    }

    /// The gradient at x from the derivatives here.
    fn gradient(&self, x: &[f64], out: &mut [f64]) {
        self.columns.tmul(&self.here.derivatives, out);
        out.iter_mut().zip(x).zip(&self.ridge).for_each(|((g, x), ridge)| *g += ridge * x);
    }

    fn penalty(&self, x: impl Iterator<Item = f64>) -> f64 {
        0.5 * x.zip(&self.ridge).map(|(x, ridge)| ridge * x * x).sum::<f64>()
    }
}

impl Restricted for RestrictedRisk<'_> {
    fn dim(&self) -> usize {
        self.ridge.len()
    }

    fn change(&mut self, support: &[usize]) -> Result<bool> {
        if !self.columns.change(support) {
            return Ok(false);
        }
        self.support = support.to_vec();
        self.ridge = support.iter().map(|&j| self.risk.ridge_at(j)).collect();
        self.risk.design.health()?;
        Ok(true)
    }

    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.columns.mul(x, &mut self.here.z);
        self.kept.clear();
        let loss = self.here.evaluate(self.risk);
        self.gradient(x, gradient);
        self.risk.design.health()?;
        Ok(loss + self.penalty(x.iter().copied()))
    }

    fn second(&mut self) -> Second<'_> {
        if self.risk.loss.smoothness().has_corners() {
            return Second::None;
        }
        let (k, costs) = (self.ridge.len() as f64, self.columns.costs());
        // A Newton step by conjugate gradients takes some ten pairs of products.
        if costs.gram + k * k * k / 18.0 <= 20.0 * costs.product {
            Second::Matrix(self)
        } else {
            Second::Products(self)
        }
    }

    fn line<'b>(&'b mut self, x: &[f64], direction: &[f64]) -> Result<Box<dyn Line + 'b>> {
        if self.there.z.len() != self.here.z.len() {
            self.there = Predicted::new(self.here.z.len());
        }
        self.turn.clear();
        Ok(Box::new(RiskLine { f: self, x: x.to_vec(), direction: direction.to_vec(), exact: None }))
    }

    fn form(&self) -> Form {
        let loss = &self.risk.loss;
        Form {
            quadratic: loss.is_quadratic(),
            tail: loss.has_tail() && self.ridge.contains(&0.0),
            jumps: loss.curvature_jumps(),
            size: self.risk.value_at_zero(),
        }
    }

    /// A loss with corners, under a ridge: by dual coordinate ascent, and where that does not come to an end soon (a
    /// small ridge) or does not apply (an intercept) by Newton's method on the loss with its corners rounded off, less
    /// and less. Rounding over a width gamma takes gamma / 2 off f at most.
    fn minimise(&mut self, x: &mut [f64], options: &InnerOptions) -> Result<Option<Outcome>> {
        let risk = self.risk;
        if !risk.loss.smoothness().has_corners() || risk.ridge <= 0.0 {
            return Ok(None);
        }
        let options = InnerOptions { tolerance: options.tolerance.max(1e-9), ..*options };
        let mut outcome =
            Outcome { value: risk.value(SparseRef::new(&self.support, x)), iterations: 0, ended: Ended::MaxIterations };
        if !self.ridge.contains(&0.0) {
            let ascent = DualCoordinates::new(&*self.columns, &*risk.loss, risk.target(), &risk.weights, risk.ridge);
            outcome = ascent.minimise(x, &options, 20)?;
        }
        if outcome.ended != Ended::MaxIterations || !outcome.value.is_finite() {
            return Ok(Some(outcome));
        }
        // An f of (nearly) 0 needs no more digits than f(0) = 1 has.
        let last = options.tolerance * outcome.value.abs().max(1e-6);
        let (mut gamma, mut at) = (0.1, x.to_vec());
        loop {
            gamma = f64::max(0.2 * gamma, last);
            let rounded = risk.with_loss(Box::new(Huber::new(gamma)?));
            let inner = restricted::minimise(&mut *rounded.restrict(&self.support)?, &mut at, &options)?;
            outcome.iterations += inner.iterations;
            let value = risk.value(SparseRef::new(&self.support, &at));
            if value < outcome.value {
                outcome.value = value;
                x.copy_from_slice(&at);
            }
            if inner.ended == Ended::Abandoned || gamma <= last {
                let ended = if inner.ended == Ended::Abandoned { Ended::Abandoned } else { Ended::Converged };
                return Ok(Some(Outcome { ended, ..outcome }));
            }
        }
    }
}

impl SupportHessian for RestrictedRisk<'_> {
    fn matrix(&mut self, mut out: MatrixMut<'_>) -> Result<()> {
        self.scratch.copy_from_slice(&self.here.curvatures);
        forget_flat(&mut self.scratch);
        self.columns.gram(&self.scratch, out.reborrow());
        for (c, ridge) in self.ridge.iter().enumerate() {
            out[(c, c)] += ridge;
        }
        self.risk.design.health()
    }

    fn product(&mut self, v: &[f64], out: &mut [f64]) -> Result<()> {
        let weights = if self.kept.is_empty() { &self.here.curvatures } else { &self.kept };
        self.columns.normal(weights, v, 0.0, &mut self.scratch, out);
        out.iter_mut().zip(v).zip(&self.ridge).for_each(|((o, v), ridge)| *o += ridge * v);
        self.risk.design.health()
    }

    fn may_err(&mut self, share: f64) {
        self.kept.clone_from(&self.here.curvatures);
        forget_least(&mut self.kept, share);
    }

    fn diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        self.columns.squares(&self.here.curvatures, out);
        out.iter_mut().zip(&self.ridge).for_each(|(o, ridge)| *o += ridge);
        self.risk.design.health()
    }

    fn rough_diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        // The columns' squares under the sample weights, computed once for all, times the mean curvature.
        let mean: f64 = self.here.curvatures.iter().sum();
        let squares = self.risk.weighted_squares();
        for ((o, &j), ridge) in out.iter_mut().zip(&self.support).zip(&self.ridge) {
            *o = mean * squares[j] + ridge;
        }
        self.risk.design.health()
    }

    fn majorant(&mut self, out: &mut [f64]) -> Result<()> {
        let Smoothness::Bounded(bound) = self.risk.loss.smoothness() else { return self.diagonal(out) };
        self.columns.squares(&self.risk.weights, out);
        out.iter_mut().zip(&self.ridge).for_each(|(o, ridge)| *o = bound * *o + ridge);
        self.risk.design.health()
    }
}

/// The risk along a line. The whole step is evaluated as it stands; the turn of the predictions on the way there serves
/// the other steps, to rounding error, until one is settled on.
struct RiskLine<'r, 'a> {
    f: &'r mut RestrictedRisk<'a>,
    x: Vec<f64>,
    direction: Vec<f64>,
    /// The step of the last probe, and what f is there, if its predictions are a product and no interpolation.
    exact: Option<(f64, f64)>,
}

impl RiskLine<'_, '_> {
    fn point(&self, step: f64) -> Vec<f64> {
        self.x.iter().zip(&self.direction).map(|(x, d)| x + step * d).collect()
    }

    /// f at the predictions in place.
    fn evaluate(&mut self, step: f64) -> f64 {
        let loss = self.f.there.evaluate(self.f.risk);
        loss + self.f.penalty(self.point(step).into_iter())
    }

    /// f at the end of a step, by a product with the data.
    fn product(&mut self, step: f64) -> f64 {
        let point = self.point(step);
        self.f.columns.mul(&point, &mut self.f.there.z);
        let value = self.evaluate(step);
        self.exact = Some((step, value));
        value
    }
}

impl Line for RiskLine<'_, '_> {
    fn probe(&mut self, step: f64) -> Result<Probe> {
        let turns = self.f.turn.iter().all(|t| t.is_finite());
        let value = if step == 1.0 || !turns {
            let value = self.product(step);
            let RestrictedRisk { here, there, turn, .. } = &mut *self.f;
            let unit = 1.0 / step;
            turn.clear();
            turn.extend(there.z.iter().zip(&here.z).map(|(there, here)| unit * (there - here)));
            value
        } else {
            if self.f.turn.is_empty() {
                self.f.turn.resize(self.f.here.z.len(), 0.0);
                self.f.columns.mul(&self.direction, &mut self.f.turn);
            }
            let RestrictedRisk { here, there, turn, .. } = &mut *self.f;
            there.z.iter_mut().zip(&here.z).zip(turn).for_each(|((there, here), turn)| *there = here + step * *turn);
            self.exact = None;
            self.evaluate(step)
        };
        let bend =
            self.point(step).iter().zip(&self.f.ridge).zip(&self.direction).map(|((x, r), d)| r * x * d).sum::<f64>();
        self.f.risk.design.health()?;
        Ok(Probe { value, slope: dot(&self.f.there.derivatives, &self.f.turn) + bend })
    }

    fn settle(mut self: Box<Self>, step: f64, gradient: &mut [f64]) -> Result<f64> {
        let value = match self.exact {
            Some((at, value)) if at == step => value,
            _ => self.product(step),
        };
        let point = self.point(step);
        std::mem::swap(&mut self.f.here, &mut self.f.there);
        self.f.kept.clear();
        self.f.gradient(&point, gradient);
        self.f.risk.design.health()?;
        Ok(value)
    }

    fn back(self: Box<Self>) -> Result<()> {
        Ok(()) // probes leave the point alone
    }
}
