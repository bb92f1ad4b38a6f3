//! Coefficients within bounds: signs and boxes.
//!
//! ```text
//! minimise f(x)   subject to   ||x||_0 <= k,   lower_j <= x_j <= upper_j
//! ```
//!
//! A coordinate that is not selected is 0, so every box contains 0. The gradient that solvers see has no part that
//! points out of the box: a column that could only help with the wrong sign has nothing to offer. Supports are refitted
//! by projected Newton steps.

mod on_support;

pub(super) use on_support::RestrictedBoxed;

use super::{Hessian, Objective, Point, Profile};
use crate::error::{Error, Result, check_len};
use crate::loss::Smoothness;
use crate::restricted::Restricted;
use crate::solver::Solution;
use crate::sparsity::SparseRef;
use std::sync::OnceLock;

/// A lower and an upper bound for every coordinate, infinite where there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Bounds {
    /// From two lists; `Err` where a lower bound is above the upper one, or 0 is not between them.
    pub fn new(lower: Vec<f64>, upper: Vec<f64>) -> Result<Self> {
        check_len("upper bounds", upper.len(), lower.len())?;
        for (j, (low, high)) in lower.iter().zip(&upper).enumerate() {
            let of = format!("column {j} (counted from 0)");
            if low.is_nan() || high.is_nan() {
                return Err(Error::Data(format!("a bound of {of} is not a number: leave it out, or give one")));
            }
            if low > high {
                let remedy = "exchange them, or leave one out";
                return Err(Error::Data(format!(
                    "the lower bound {low} of {of} is above its upper bound {high}: {remedy}"
                )));
            }
            if *low > 0.0 || *high < 0.0 {
                let remedy = "a column that is not selected has the coefficient 0, so 0 must be between them";
                return Err(Error::Data(format!("the bounds {low} and {high} of {of} leave out 0: {remedy}")));
            }
        }
        Ok(Self { lower, upper })
    }

    /// No coefficient below 0.
    pub fn nonnegative(count: usize) -> Self {
        Self { lower: vec![0.0; count], upper: vec![f64::INFINITY; count] }
    }

    /// Those of some coordinates, each multiplied by its scale.
    pub fn scaled(&self, scale: &[f64]) -> Result<Self> {
        check_len("bounds", self.lower.len(), scale.len())?;
        let times =
            |bounds: &[f64]| bounds.iter().zip(scale).map(|(b, s)| if *b == 0.0 { 0.0 } else { b * s }).collect();
        Ok(Self { lower: times(&self.lower), upper: times(&self.upper) })
    }

    /// Those of columns as those of their coefficients for several outputs, which are neighbours.
    pub fn for_outputs(&self, outputs: usize) -> Self {
        let each = |bounds: &[f64]| bounds.iter().flat_map(|&bound| std::iter::repeat_n(bound, outputs)).collect();
        Self { lower: each(&self.lower), upper: each(&self.upper) }
    }

    fn pick(&self, coordinates: &[usize]) -> Self {
        let of = |bounds: &[f64]| coordinates.iter().map(|&j| bounds[j]).collect();
        Self { lower: of(&self.lower), upper: of(&self.upper) }
    }

    /// The nearest number within the bounds of a coordinate.
    pub(super) fn clamp(&self, j: usize, x: f64) -> f64 {
        x.max(self.lower[j]).min(self.upper[j])
    }

    /// Those of every coordinate of an objective, of which they may leave out the last, those of intercepts, which then
    /// have none.
    pub(super) fn over(mut self, objective: &dyn Objective) -> Result<Self> {
        let (given, dim) = (self.lower.len(), objective.dim());
        if given > dim || (given..dim).any(|j| objective.free().binary_search(&j).is_err()) {
            check_len("bounds", given, dim - objective.free().len())?;
        }
        self.lower.resize(dim, f64::NEG_INFINITY);
        self.upper.resize(dim, f64::INFINITY);
        Ok(self)
    }

    /// The lower and the upper bound of a coordinate.
    pub(super) fn of(&self, j: usize) -> (f64, f64) {
        (self.lower[j], self.upper[j])
    }

    /// Takes away what points out of the box at x.
    pub(super) fn hide(&self, at: SparseRef, gradient: &mut [f64]) {
        let x = at.to_dense(gradient.len());
        for (j, (g, x)) in gradient.iter_mut().zip(&x).enumerate() {
            if self.holds(j, *x, *g) {
                *g = 0.0;
            }
        }
    }

    /// Whether a coordinate stands at a bound and would have to leave the box to follow the negative gradient.
    pub(super) fn holds(&self, j: usize, x: f64, gradient: f64) -> bool {
        (x <= self.lower[j] && gradient > 0.0) || (x >= self.upper[j] && gradient < 0.0)
    }
}

/// An objective within bounds.
///
/// ```
/// use ksparse::{Auto, Risk, Solver, Sparsity, design::Dense, loss::Squared};
/// use ksparse::objective::{Bounds, Boxed};
/// let x = Dense::from_columns(4, 2, vec![1.0, 2.0, 3.0, 4.0, 1.0, -1.0, 1.0, -1.0])?;
/// let risk = Risk::new(&x, &[-1.0, -2.0, -3.0, -4.0], Squared::default())?;
/// let boxed = Boxed::new(&risk, Bounds::nonnegative(2))?;
/// let solution = Auto::default().fit(&boxed, &Sparsity::new(1))?;
/// assert!(solution.coefficients.iter().all(|w| *w >= 0.0)); // column 0 would help with the wrong sign only
/// # Ok::<(), ksparse::Error>(())
/// ```
pub struct Boxed<'a> {
    inner: Inner<'a>,
    bounds: Bounds,
}

enum Inner<'a> {
    Given(&'a dyn Objective),
    Own(Box<dyn Objective + 'a>),
}

impl<'a> Inner<'a> {
    fn get(&self) -> &(dyn Objective + 'a) {
        match self {
            Inner::Given(inner) => *inner,
            Inner::Own(inner) => &**inner,
        }
    }
}

impl<'a> Boxed<'a> {
    /// `bounds` may leave out the last coordinates, those of intercepts, which then have none.
    pub fn new(inner: &'a dyn Objective, bounds: Bounds) -> Result<Self> {
        Self::around(Inner::Given(inner), bounds)
    }

    /// The same around an objective of its own.
    pub fn owning(inner: Box<dyn Objective + 'a>, bounds: Bounds) -> Result<Self> {
        Self::around(Inner::Own(inner), bounds)
    }

    fn around(inner: Inner<'a>, bounds: Bounds) -> Result<Self> {
        let bounds = bounds.over(inner.get())?;
        Ok(Self { inner, bounds })
    }

    fn inner(&self) -> &dyn Objective {
        self.inner.get()
    }

    /// The coordinates of a solution that a bound holds back, ascending.
    pub fn held_back(&self, solution: &Solution) -> Result<Vec<usize>> {
        let point = self.inner().at(SparseRef::new(&solution.support, &solution.coefficients))?;
        let gradient = point.gradient()?;
        let entries = solution.support.iter().zip(&solution.coefficients);
        Ok(entries.filter(|&(&j, x)| self.bounds.holds(j, *x, gradient[j])).map(|(&j, _)| j).collect())
    }
}

/// f at a point, its gradient without what points out of the box.
struct AtPoint<'a> {
    inner: Box<dyn Point + 'a>,
    bounds: &'a Bounds,
    indices: Vec<usize>,
    values: Vec<f64>,
    gradient: OnceLock<Vec<f64>>,
}

impl Point for AtPoint<'_> {
    fn value(&self) -> f64 {
        self.inner.value()
    }

    fn gradient(&self) -> Result<&[f64]> {
        if self.gradient.get().is_none() {
            let mut gradient = self.inner.gradient()?.to_vec();
            self.bounds.hide(SparseRef::new(&self.indices, &self.values), &mut gradient);
            self.gradient.get_or_init(|| gradient);
        }
        Ok(self.gradient.get().map_or(&[], Vec::as_slice))
    }

    fn hessian(&self) -> Result<Option<&dyn Hessian>> {
        self.inner.hessian()
    }
}

impl Objective for Boxed<'_> {
    fn dim(&self) -> usize {
        self.inner().dim()
    }

    fn at<'b>(&'b self, x: SparseRef<'_>) -> Result<Box<dyn Point + 'b>> {
        Ok(Box::new(AtPoint {
            inner: self.inner().at(x)?,
            bounds: &self.bounds,
            indices: x.indices.to_vec(),
            values: x.values.to_vec(),
            gradient: OnceLock::new(),
        }))
    }

    fn value(&self, x: SparseRef) -> Result<f64> {
        self.inner().value(x)
    }

    fn free(&self) -> &[usize] {
        self.inner().free()
    }

    /// Not quadratic, whatever f is: its minimum on a support is not where the quadratic has it.
    fn profile(&self) -> Profile {
        Profile { quadratic: false, outputs: 1, ..self.inner().profile() }
    }

    fn restrict<'b>(&'b self, support: &[usize]) -> Result<Box<dyn Restricted + 'b>> {
        let inner = self.inner().restrict(support)?;
        Ok(Box::new(RestrictedBoxed::new(inner, &self.bounds, support)))
    }

    fn narrowed<'b>(&'b self, coordinates: &[usize]) -> Result<Option<Box<dyn Objective + 'b>>> {
        let Some(inner) = self.inner().narrowed(coordinates)? else { return Ok(None) };
        Ok(Some(Box::new(Boxed { inner: Inner::Own(inner), bounds: self.bounds.pick(coordinates) })))
    }

    fn repair(&self, support: &[usize], x: &mut [f64]) -> Result<()> {
        support.iter().zip(x.iter_mut()).for_each(|(&j, x)| *x = self.bounds.clamp(j, *x));
        self.inner().repair(support, x)
    }

    fn majorant(&self) -> Result<Option<Vec<f64>>> {
        self.inner().majorant()
    }

    fn smoothness(&self, s: usize) -> Result<Smoothness> {
        self.inner().smoothness(s)
    }
}
