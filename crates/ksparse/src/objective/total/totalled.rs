//! f under a given sum as an objective: what paths and choices compare supports by.
//!
//! * *On a support* the minimum is that of f among the points that add up, found by multipliers every time
//!   (`settled.rs`): the value of a refit is f itself.
//! * *At a point that adds up* the gradient is that of the Lagrangian, `grad f + mu a` with the multiplier mu of that
//!   point, so that it vanishes where the constraint is all that keeps f from falling; with bounds the rest of it that
//!   points out of the box is not shown.
//! * *Elsewhere* (before the first refit, after coordinates were cut away) f has a penalty, `(rho/2) (a'x - b)^2`,
//!   which is nothing at all where the sum is right. Second derivatives have it everywhere: a move must keep the sum.

use super::on_support::OnSupport;
use super::point::AtPoint;
use super::settled::Settled;
use super::{Inner, NEAR, Penalised, Price, Total};
use crate::error::{Error, Result};
use crate::objective::boxed::RestrictedBoxed;
use crate::objective::{Bounds, Objective, Point, Profile};
use crate::restricted::Restricted;
use crate::solver::Solution;
use crate::sparsity::{Budget, SparseRef, Sparsity};
use std::cell::Cell;
use std::rc::Rc;

/// An objective whose coordinates add up, within bounds if there are any.
///
/// For a [`Path`](crate::Path) and whatever else refits supports; a single fit is [`Total::solve`], which searches
/// under the penalty.
///
/// ```
/// use ksparse::objective::{Total, Totalled};
/// use ksparse::{Auto, Path, Risk, loss::Squared, simulate::{self, Correlation}};
/// let data = simulate::linear(80, 20, 4, Correlation::Independent, 0.5, 1);
/// let risk = Risk::new(&data.design, &data.target, Squared::default())?;
/// let totalled = Totalled::new(&risk, &Total::new(vec![1.0; 20], 1.0)?, None)?;
/// let path = Path::over(1..=5).fit(&totalled, &Auto::default())?;
/// for solution in &path.solutions {
///     assert!((solution.coefficients.iter().sum::<f64>() - 1.0).abs() < 1e-9);
/// }
/// assert!(path.solutions.windows(2).all(|pair| pair[1].value <= pair[0].value));
/// # Ok::<(), ksparse::Error>(())
/// ```
pub struct Totalled<'a> {
    /// With the multiplier 0.
    pub(super) held: Penalised<'a>,
    /// Of every coordinate.
    bounds: Option<Bounds>,
}

impl<'a> Totalled<'a> {
    /// `Err` for a loss with corners, and where weights or bounds do not fit the coordinates.
    pub fn new(f: &'a dyn Objective, total: &Total, bounds: Option<&Bounds>) -> Result<Self> {
        Self::around(Inner::Given(f), total, bounds)
    }

    /// The same around an objective of its own.
    pub fn owning(f: Box<dyn Objective + 'a>, total: &Total, bounds: Option<&Bounds>) -> Result<Self> {
        Self::around(Inner::Own(f), total, bounds)
    }

    fn around(inner: Inner<'a>, total: &Total, bounds: Option<&Bounds>) -> Result<Self> {
        let bounds = bounds.map(|bounds| bounds.clone().over(inner.get())).transpose()?;
        Ok(Self { held: Penalised::new(inner, total)?, bounds })
    }

    /// The coordinates of a solution that a bound holds back, ascending.
    pub fn held_back(&self, solution: &Solution) -> Result<Vec<usize>> {
        let Some(bounds) = &self.bounds else { return Ok(Vec::new()) };
        let (_, gradient) = self.lagrangian(solution.as_sparse())?;
        Ok(solution.as_sparse().iter().filter(|&(j, x)| bounds.holds(j, x, gradient[j])).map(|(j, _)| j).collect())
    }

    pub(super) fn is_bounded(&self) -> bool {
        self.bounds.is_some()
    }

    /// The least and the largest sum of some coordinates.
    fn reach(&self, coordinates: &[usize]) -> (f64, f64) {
        self.reach_of(coordinates.iter().copied())
    }

    fn reach_of(&self, coordinates: impl Iterator<Item = usize>) -> (f64, f64) {
        let ends = |j: usize| {
            let (lower, upper) = self.bounds.as_ref().map_or((f64::NEG_INFINITY, f64::INFINITY), |b| b.of(j));
            let (one, other) = (self.held.weights[j] * lower, self.held.weights[j] * upper);
            (one.min(other), one.max(other))
        };
        let counted = coordinates.filter(|&j| self.held.weights[j] != 0.0).map(ends);
        counted.fold((0.0, 0.0), |(low, high), (least, most)| (low + least, high + most))
    }

    fn is_within(&self, (low, high): (f64, f64)) -> bool {
        let (total, slack) = (self.held.total, 1e-9 * self.held.total.abs());
        low <= total + slack && total - slack <= high
    }

    /// Whether some point on a support adds up.
    pub(super) fn is_reached_on(&self, support: &[usize]) -> bool {
        self.is_within(self.reach(support))
    }

    /// Whether a point adds up.
    pub(super) fn is_met_at(&self, x: SparseRef) -> bool {
        self.held.excess(x).abs() <= NEAR * self.held.unit(x)
    }

    /// f and the gradient of the Lagrangian, or of the penalised f where the sum is another.
    fn lagrangian(&self, x: SparseRef) -> Result<(Box<dyn Point + '_>, Vec<f64>)> {
        let inner = self.held.f().at(x)?;
        let mut gradient = inner.gradient()?.to_vec();
        let entries = || x.iter().map(|(j, v)| (j, v, gradient[j]));
        let slope = match self.is_met_at(x) {
            true => self.multiplier(entries()),
            false => self.held.price.of(self.held.excess(x)).1,
        };
        gradient.iter_mut().zip(&self.held.weights).for_each(|(g, a)| *g += slope * a);
        Ok((inner, gradient))
    }

    /// The multiplier that makes the gradient of the Lagrangian smallest over the members of a point (coordinate,
    /// value, derivative of f) that are between their bounds; where none is, one under which those at a bound stay.
    pub(super) fn multiplier(&self, members: impl Iterator<Item = (usize, f64, f64)>) -> f64 {
        let (mut product, mut square) = (0.0, 0.0);
        // At a bound: what the multiplier must be at least, and at most.
        let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
        for (j, x, g) in members.filter(|(j, _, _)| self.held.weights[*j] != 0.0) {
            let a = self.held.weights[j];
            let (lower, upper) = self.bounds.as_ref().map_or((f64::NEG_INFINITY, f64::INFINITY), |b| b.of(j));
            if x > lower && x < upper {
                product += a * g;
                square += a * a;
            } else if lower < upper {
                // g + mu a is to be at least 0 at a lower bound, at most 0 at an upper one.
                if (x <= lower) == (a > 0.0) { least = least.max(-g / a) } else { most = most.min(-g / a) }
            }
        }
        match (least.is_finite(), most.is_finite()) {
            _ if square > 0.0 => -product / square,
            (true, true) => 0.5 * (least + most),
            (true, false) => least,
            (false, true) => most,
            (false, false) => 0.0,
        }
    }
}

impl Objective for Totalled<'_> {
    fn dim(&self) -> usize {
        self.held.dim()
    }

    fn at<'b>(&'b self, x: SparseRef<'_>) -> Result<Box<dyn Point + 'b>> {
        let (inner, mut gradient) = self.lagrangian(x)?;
        if let Some(bounds) = &self.bounds {
            bounds.hide(x, &mut gradient);
        }
        let value = inner.value() + self.held.price.of(self.held.excess(x)).0;
        Ok(Box::new(AtPoint { held: &self.held, value, gradient, inner }))
    }

    fn value(&self, x: SparseRef) -> Result<f64> {
        self.held.value(x)
    }

    fn free(&self) -> &[usize] {
        self.held.free()
    }

    /// Not quadratic, whatever f is: its minimum on a support is not where the quadratic has it.
    fn profile(&self) -> Profile {
        Profile { quadratic: false, outputs: 1, ..self.held.f().profile() }
    }

    fn restrict<'b>(&'b self, support: &[usize]) -> Result<Box<dyn Restricted + 'b>> {
        let price: Rc<Cell<Price>> = Rc::new(Cell::new(self.held.price));
        let inner = self.held.f().restrict(support)?;
        let priced = OnSupport::new(&self.held, inner, support, Rc::clone(&price));
        let part: Box<dyn Restricted + 'b> = match &self.bounds {
            None => Box::new(priced),
            Some(bounds) => Box::new(RestrictedBoxed::new(Box::new(priced), bounds, support)),
        };
        Ok(Box::new(Settled { owner: self, inner: part, support: support.to_vec(), price }))
    }

    fn repair(&self, support: &[usize], x: &mut [f64]) -> Result<()> {
        if let Some(bounds) = &self.bounds {
            support.iter().zip(x.iter_mut()).for_each(|(&j, x)| *x = bounds.clamp(j, *x));
        }
        self.held.f().repair(support, x)
    }

    fn majorant(&self) -> Result<Option<Vec<f64>>> {
        self.held.majorant()
    }

    fn check(&self, x: SparseRef) -> Result<()> {
        if self.is_met_at(x) { Ok(()) } else { Err(self.held.missed(x)) }
    }

    fn least_k(&self, sparsity: &Sparsity) -> Result<usize> {
        let dim = self.dim();
        let budget = Budget::new(&Sparsity { k: dim, ..sparsity.clone() }, self.free(), dim)?;
        let mut reached = self.reach(&budget.free);
        let units: Vec<(f64, f64)> = (0..budget.units())
            .map(|unit| self.reach_of(budget.members(unit).filter(|&j| !budget.is_free(j))))
            .collect();
        let mut highest: Vec<f64> = units.iter().map(|(_, high)| *high).collect();
        let mut lowest: Vec<f64> = units.iter().map(|(low, _)| *low).collect();
        highest.sort_unstable_by(|a, b| b.total_cmp(a));
        lowest.sort_unstable_by(f64::total_cmp);
        for k in 0..=budget.k {
            if self.is_within(reached) {
                return Ok(k);
            }
            if k < budget.k {
                reached = (reached.0 + lowest[k], reached.1 + highest[k]);
            }
        }
        Err(Error::Data(format!(
            "coefficients within these bounds add up to {:.6} to {:.6}, never to {}: widen the bounds",
            reached.0, reached.1, self.held.total
        )))
    }
}
