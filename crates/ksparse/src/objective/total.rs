//! Coefficients that add up: portfolios, mixtures.
//!
//! ```text
//! minimise f(x)   subject to   ||x||_0 <= k,   a'x = b   (and bounds, if there are any)
//! ```
//!
//! Supports are searched for under a penalty, `f(x) + mu r + (rho/2) r^2` with `r = a'x - b`, whose curvature is some
//! thousand times that of f: all that search needs to know of the constraint. On the support that was found the
//! multiplier mu is then moved by `rho r` and the point refitted, until r is nothing beside rounding error (the method
//! of multipliers: M. Hestenes and M. Powell, 1969); each round divides r by about that thousand. The search goes on
//! from there once more, under the multiplier.
//!
//! Who refits supports of several sizes and compares them (a path, a choice) minimises a [`Totalled`] objective, every
//! refit of which adds up.

mod on_support;
mod point;
mod settled;
#[cfg(test)]
mod tests;
mod totalled;

pub use totalled::Totalled;

use super::{Bounds, Boxed, Objective, Point, Profile};
use crate::error::{Error, Result, check_finite, check_len};
use crate::restricted::{self, InnerOptions, Restricted};
use crate::solver::{Progress, Solution, Solver};
use crate::sparsity::{SparseRef, Sparsity};
use on_support::OnSupport;
use point::AtPoint;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

/// The curvature of the penalty in units of that of f where second derivatives are known, and where only gradients are:
/// quasi-Newton steps learn a long valley slowly, multipliers then take more rounds.
const STIFF: f64 = 1e3;
const SOFT: f64 = 10.0;
/// Rounds of multipliers, and what may be left of the sum's error relative to its terms: at once, and where further
/// rounds make it no smaller.
const ROUNDS: usize = 60;
const EXACT: f64 = 1e-11;
const NEAR: f64 = 1e-6;

/// What a weighted sum of the coordinates must be.
#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    weights: Vec<f64>,
    total: f64,
}

impl Total {
    /// `sum_j weights_j x_j = total`; weights may leave out the last coordinates, those of intercepts.
    pub fn new(weights: Vec<f64>, total: f64) -> Result<Self> {
        check_finite("weights of the sum", &weights)?;
        check_finite("sum", &[total])?;
        Ok(Self { weights, total })
    }

    /// f at its best with at most k coordinates that add up. `bounds` are those of the coordinates; `watch` and `start`
    /// are the solver's. The value is that of f.
    ///
    /// ```
    /// use ksparse::{Auto, Risk, Sparsity, design::Dense, loss::Squared, objective::Total};
    /// let x = Dense::from_columns(4, 3, vec![1., 0., 0., 1., 0., 1., 0., 1., 0., 0., 1., 1.])?;
    /// let risk = Risk::new(&x, &[0.9, 0.4, 0.1, 1.2], Squared::default())?;
    /// let total = Total::new(vec![1.0; 3], 1.0)?;
    /// let go_on = &mut |_: &ksparse::Progress| std::ops::ControlFlow::Continue(());
    /// let found = total.solve(&risk, None, &Sparsity::new(2), &Auto::default(), None, go_on)?;
    /// assert!(found.support == [0, 1] && (found.coefficients.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn solve(
        &self,
        f: &dyn Objective,
        bounds: Option<&Bounds>,
        sparsity: &Sparsity,
        solver: &dyn Solver,
        start: Option<&Solution>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution> {
        let mut held = Penalised::new(Inner::Given(f), self)?;
        let found = held.within(bounds, |objective| solver.solve(objective, sparsity, start, watch))?;
        let mut best = held.settled(found, bounds)?;
        let found = held.within(bounds, |objective| solver.solve(objective, sparsity, Some(&best), watch))?;
        let again = held.settled(found, bounds)?;
        if again.value < best.value {
            best = again;
        }
        Ok(best)
    }
}

/// f with the penalty.
struct Penalised<'a> {
    inner: Inner<'a>,
    /// Of every coordinate.
    weights: Vec<f64>,
    total: f64,
    price: Price,
    /// What is nothing beside the coordinates that f is likely to end at: where a sum is 0, they may end at 0 too.
    trifle: f64,
}

enum Inner<'a> {
    Given(&'a dyn Objective),
    Own(Box<dyn Objective + 'a>),
}

impl<'a> Inner<'a> {
    fn get(&self) -> &(dyn Objective + 'a) {
        match self {
            Inner::Given(f) => *f,
            Inner::Own(f) => &**f,
        }
    }
}

/// What a sum costs that is not as given.
#[derive(Debug, Clone, Copy)]
struct Price {
    multiplier: f64,
    rho: f64,
}

impl Price {
    /// The penalty, and its derivative along the sum.
    fn of(&self, excess: f64) -> (f64, f64) {
        (self.multiplier * excess + 0.5 * self.rho * excess * excess, self.multiplier + self.rho * excess)
    }
}

impl<'a> Penalised<'a> {
    fn new(inner: Inner<'a>, total: &Total) -> Result<Self> {
        if inner.get().profile().corners {
            return Err(Error::Unsupported { solver: "a given sum", need: "a loss without corners" });
        }
        let price = Price { multiplier: 0.0, rho: 1.0 };
        let mut held = Self { inner, weights: total.weights.clone(), total: total.total, price, trifle: 0.0 };
        let (dim, given) = (held.f().dim(), total.weights.len());
        if given > dim || (given..dim).any(|j| held.f().free().binary_search(&j).is_err()) {
            check_len("weights of the sum", given, dim - held.f().free().len())?;
        }
        held.weights.resize(dim, 0.0);
        (held.price.rho, held.trifle) = held.stiffness()?;
        Ok(held)
    }

    fn f(&self) -> &(dyn Objective + 'a) {
        self.inner.get()
    }

    /// Some times the typical curvature of f along a coordinate, in units of its weight; and a thousandth of the share
    /// of the sum that takes f, with that curvature, from 0 to nothing.
    fn stiffness(&self) -> Result<(f64, f64)> {
        let origin = self.f().at(SparseRef::ZERO)?;
        let counted: Vec<usize> = (0..self.weights.len()).filter(|&j| self.weights[j] != 0.0).collect();
        let mut curvature = vec![0.0; counted.len()];
        let factor = match origin.hessian()? {
            Some(hessian) => {
                hessian.diagonal_at(&counted, &mut curvature)?;
                STIFF
            }
            None => {
                // What a step along all weights at once adds to the slope.
                let length = 1e-4 / self.weights.iter().map(|a| a * a).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
                let step: Vec<f64> = counted.iter().map(|&j| length * self.weights[j]).collect();
                let there = self.f().at(SparseRef::new(&counted, &step))?;
                let (before, after) = (origin.gradient()?, there.gradient()?);
                let bend: f64 = counted.iter().zip(&step).map(|(&j, s)| s * (after[j] - before[j])).sum();
                let square: f64 = step.iter().map(|s| s * s).sum();
                curvature.iter_mut().for_each(|h| *h = bend / square);
                SOFT
            }
        };
        let mut ratios: Vec<f64> = counted.iter().zip(&curvature).map(|(&j, h)| h / self.weights[j].powi(2)).collect();
        ratios.retain(|ratio| ratio.is_finite() && *ratio > 0.0);
        if ratios.is_empty() {
            return Ok((factor, 0.0));
        }
        let middle = ratios.len() / 2;
        let (_, median, _) = ratios.select_nth_unstable_by(middle, f64::total_cmp);
        let share = 1e-3 * (2.0 * origin.value().abs() / *median).sqrt();
        Ok((factor * *median, if share.is_finite() { share } else { 0.0 }))
    }

    /// a'x - b.
    fn excess(&self, x: SparseRef) -> f64 {
        x.iter().map(|(j, v)| self.weights[j] * v).sum::<f64>() - self.total
    }

    /// The size of the sum's terms: what its error is measured by.
    fn unit(&self, x: SparseRef) -> f64 {
        x.iter().map(|(j, v)| (self.weights[j] * v).abs()).sum::<f64>() + self.total.abs() + self.trifle
    }

    /// What is wrong with a point that does not add up.
    fn missed(&self, x: SparseRef) -> Error {
        let (total, reached) = (self.total, self.total + self.excess(x));
        Error::Data(format!(
            "the coefficients of the best columns add up to {reached:.6}, not to {total}: no choice of them within \
             their bounds comes nearer; widen the bounds, or let k be larger"
        ))
    }

    /// Does something with the penalised f within bounds.
    fn within<T>(&self, bounds: Option<&Bounds>, work: impl FnOnce(&dyn Objective) -> Result<T>) -> Result<T> {
        match bounds {
            None => work(self),
            Some(bounds) => work(&Boxed::new(self, bounds.clone())?),
        }
    }

    /// The minimum of f on the support of a solution where the sum is what it must be; the multiplier becomes that of
    /// this point.
    fn settled(&mut self, mut found: Solution, bounds: Option<&Bounds>) -> Result<Solution> {
        let (unit, mut before) = (self.unit(found.as_sparse()), f64::INFINITY);
        for _ in 0..ROUNDS {
            let excess = self.excess(found.as_sparse());
            // Refits by gradients alone end before the last digits.
            let stuck = excess.abs() > 0.5 * before;
            if excess.abs() <= EXACT * unit || (stuck && excess.abs() <= NEAR * unit) {
                found.value = self.f().value(found.as_sparse())?;
                return Ok(found);
            }
            before = excess.abs();
            self.price.multiplier += self.price.rho * excess;
            let Solution { support, coefficients, .. } = &mut found;
            self.within(bounds, |objective| {
                restricted::minimise(&mut *objective.restrict(support)?, coefficients, &InnerOptions::EXACT)
            })?;
        }
        Err(self.missed(found.as_sparse()))
    }
}

impl Objective for Penalised<'_> {
    fn dim(&self) -> usize {
        self.f().dim()
    }

    fn at<'b>(&'b self, x: SparseRef<'_>) -> Result<Box<dyn Point + 'b>> {
        let inner = self.f().at(x)?;
        let (price, slope) = self.price.of(self.excess(x));
        let mut gradient = inner.gradient()?.to_vec();
        gradient.iter_mut().zip(&self.weights).for_each(|(g, a)| *g += slope * a);
        Ok(Box::new(AtPoint { held: self, value: inner.value() + price, gradient, inner }))
    }

    fn value(&self, x: SparseRef) -> Result<f64> {
        Ok(self.f().value(x)? + self.price.of(self.excess(x)).0)
    }

    fn free(&self) -> &[usize] {
        self.f().free()
    }

    fn profile(&self) -> Profile {
        Profile { outputs: 1, ..self.f().profile() }
    }

    fn restrict<'b>(&'b self, support: &[usize]) -> Result<Box<dyn Restricted + 'b>> {
        Ok(Box::new(OnSupport::new(self, self.f().restrict(support)?, support, Rc::new(Cell::new(self.price)))))
    }

    fn narrowed<'b>(&'b self, coordinates: &[usize]) -> Result<Option<Box<dyn Objective + 'b>>> {
        let Some(inner) = self.f().narrowed(coordinates)? else { return Ok(None) };
        let weights = coordinates.iter().map(|&j| self.weights[j]).collect();
        Ok(Some(Box::new(Penalised { inner: Inner::Own(inner), weights, ..*self })))
    }

    fn majorant(&self) -> Result<Option<Vec<f64>>> {
        let mut majorant = self.f().majorant()?;
        for (m, a) in majorant.iter_mut().flatten().zip(&self.weights) {
            *m += self.price.rho * a * a;
        }
        Ok(majorant)
    }
}
