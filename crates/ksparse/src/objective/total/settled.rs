//! f on a support under a given sum: its minimum is where the coordinates add up.
//!
//! The method of multipliers: f with the penalty is minimised, the multiplier moved by `rho r`, and so on until r is
//! nothing. The least penalised f is never above the least f among the points that add up, whatever the multiplier, so
//! that a support is given up as soon as that is too high.

use super::totalled::Totalled;
use super::{EXACT, NEAR, Price, ROUNDS};
use crate::error::{Error, Result};
use crate::linalg::MatrixMut;
use crate::restricted::{
    Ended, Form, InnerOptions, Line, Outcome, PointByPoint, Preconditioner, Restricted, Second, SupportHessian,
    minimise,
};
use crate::sparsity::SparseRef;
use std::cell::Cell;
use std::rc::Rc;

/// How much stiffer the penalty becomes where a round has not halved what is left, and altogether at most.
const STIFFER: f64 = 10.0;
const STIFFEST: f64 = 1e6;
/// And at once on a support of which no point adds up: it is not to look better than one that does.
const OUT_OF_REACH: f64 = 1e3;
/// From this tolerance on a minimum is only there to rank coordinates: a few rounds will do.
const RANKING: f64 = 0.05;
const ROUNDS_TO_RANK: usize = 3;

/// f on a support, its sum held at every minimum.
pub(super) struct Settled<'a> {
    pub owner: &'a Totalled<'a>,
    /// With the penalty, within bounds.
    pub inner: Box<dyn Restricted + 'a>,
    pub support: Vec<usize>,
    pub price: Rc<Cell<Price>>,
}

impl Settled<'_> {
    /// The penalty as the whole objective has it.
    fn usual(&self) -> Price {
        self.owner.held.price
    }

    /// The penalised f, which is asked for only where it has second derivatives.
    fn inner_hessian(&mut self) -> Result<&mut dyn SupportHessian> {
        let need = "second derivatives";
        self.inner.second().hessian().ok_or(Error::Unsupported { solver: "a given sum", need })
    }

    /// The minimum on a support of which no point adds up: the nearest, more or less, at a price.
    fn nearest(&mut self, x: &mut [f64], options: &InnerOptions) -> Result<Outcome> {
        let usual = self.usual();
        self.price.set(Price { rho: OUT_OF_REACH * usual.rho, ..usual });
        let outcome = minimise(&mut *self.inner, x, options);
        self.price.set(usual);
        outcome
    }
}

impl Restricted for Settled<'_> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn change(&mut self, support: &[usize]) -> Result<bool> {
        let changed = self.inner.change(support)?;
        if changed {
            self.support = support.to_vec();
        }
        Ok(changed)
    }

    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let value = self.inner.move_to(x, gradient)?;
        let at = SparseRef::new(&self.support, x);
        if self.owner.is_met_at(at) {
            // What is left of the penalty's slope is part of the multiplier.
            let slope = self.owner.multiplier(at.iter().zip(&*gradient).map(|((j, x), g)| (j, x, *g)));
            let weights = &self.owner.held.weights;
            gradient.iter_mut().zip(&self.support).for_each(|(g, &j)| *g += slope * weights[j]);
        }
        Ok(value)
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

    fn form(&self) -> Form {
        Form { quadratic: false, ..self.inner.form() }
    }

    fn minimise(&mut self, x: &mut [f64], options: &InnerOptions) -> Result<Option<Outcome>> {
        if !self.owner.is_reached_on(&self.support) {
            return self.nearest(x, options).map(Some);
        }
        let usual = self.usual();
        let by_gradients = matches!(self.inner.second(), Second::None);
        let ranking = options.tolerance >= RANKING;
        // A loose minimum by gradients, or at the corner of a box, has not moved far enough for the next round.
        let exactly = by_gradients || (self.owner.is_bounded() && !ranking);
        let tolerance = if exactly { InnerOptions::EXACT.tolerance } else { options.tolerance };
        let inner_options = InnerOptions { tolerance, ..*options };
        let enough = if options.tolerance > NEAR { NEAR } else { EXACT };
        let rounds = if ranking { ROUNDS_TO_RANK } else { ROUNDS };
        let (mut price, mut before, mut iterations) = (usual, f64::INFINITY, 0);
        for round in 1..=rounds {
            self.price.set(price);
            let outcome = minimise(&mut *self.inner, x, &inner_options);
            self.price.set(usual);
            let outcome = outcome?;
            iterations += outcome.iterations;
            if matches!(outcome.ended, Ended::NotFinite | Ended::Abandoned) {
                return Ok(Some(Outcome { iterations, ..outcome }));
            }
            let at = SparseRef::new(&self.support, x);
            let (excess, unit) = (self.owner.held.excess(at), self.owner.held.unit(at));
            let stuck = excess.abs() > 0.5 * before;
            let near = excess.abs() <= NEAR * unit;
            if excess.abs() <= enough * unit || (stuck && near) || round == rounds {
                let value = outcome.value - price.of(excess).0 + usual.of(excess).0;
                let ended = if near { outcome.ended } else { Ended::MaxIterations };
                return Ok(Some(Outcome { value, iterations, ended }));
            }
            before = excess.abs();
            price.multiplier += price.rho * excess;
            if stuck && !by_gradients && price.rho < STIFFEST * usual.rho {
                price.rho *= STIFFER;
            }
        }
        Ok(None)
    }
}

impl SupportHessian for Settled<'_> {
    fn matrix(&mut self, out: MatrixMut<'_>) -> Result<()> {
        self.inner_hessian()?.matrix(out)
    }

    fn product(&mut self, v: &[f64], out: &mut [f64]) -> Result<()> {
        self.inner_hessian()?.product(v, out)
    }

    fn may_err(&mut self, share: f64) {
        if let Some(hessian) = self.inner.second().hessian() {
            hessian.may_err(share);
        }
    }

    fn diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        self.inner_hessian()?.diagonal(out)
    }

    /// Of f alone: what a coordinate is worth where others make up for its share of the sum.
    fn rough_diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        let usual = self.usual();
        self.price.set(Price { rho: 0.0, ..usual });
        let done = self.inner_hessian().and_then(|hessian| hessian.rough_diagonal(out));
        self.price.set(usual);
        done
    }

    fn majorant(&mut self, out: &mut [f64]) -> Result<()> {
        self.inner_hessian()?.majorant(out)
    }

    fn preconditioner(&mut self) -> Option<&mut dyn Preconditioner> {
        self.inner.second().hessian()?.preconditioner()
    }
}
