//! The empirical risk: the one place that knows 1/n and lambda.
//!
//! ```text
//! f(w) = (sum_i c_i l(x_i'w + b, y_i)) / (sum_i c_i) + (lambda / 2) ||w||^2
//! ```
//!
//! with sample weights c (1 by default). The ridge covers every coefficient but the intercept b, which is the last
//! coordinate (index p) when there is one, free and unpenalised.
//!
//! Where there is an intercept, it takes up whatever is subtracted from a column: columns are centred unless their mean
//! is small beside their spread, and a target that stands far from 0 is moved near it. f is the same function of w, and
//! the last coordinate is the intercept of what was moved, in units of the largest column, so that steps along all
//! coordinates have one scale. [`Risk::model`] and [`Risk::start`] translate.

mod losses;
mod objective;
mod offset;
mod on_support;
mod point;
mod units;

use super::Samples;
use crate::design::moments::Moments;
use crate::design::{Design, Picked, Scaled, WithIntercept};
use crate::error::{Error, Result, check_len, check_option, check_weights};
use crate::kernels;
use crate::loss::Loss;
use crate::sparsity::SparseRef;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// Mean loss of a linear predictor plus a ridge, as an [`Objective`](super::Objective).
///
/// ```
/// use ksparse::{Risk, Sparsity, design::Dense, loss::Squared, solver::{Auto, Solver}};
/// let x = Dense::from_rows(4, 2, &[1.0, 0.0, 2.0, 1.0, 3.0, 0.0, 4.0, 1.0])?;
/// let risk = Risk::new(&x, &[3.0, 5.0, 7.0, 9.0], Squared::default())?.with_intercept();
/// let solution = Auto::default().fit(&risk, &Sparsity::new(1))?;
/// let model = risk.model(&solution);
/// assert_eq!(model.support, [0]);
/// assert!((model.coefficients[0] - 2.0).abs() < 1e-9 && (model.intercept - 1.0).abs() < 1e-9);
/// # Ok::<(), ksparse::Error>(())
/// ```
pub struct Risk<'a> {
    /// X as given.
    data: Arc<dyn Design + 'a>,
    /// X as it is worked with: the data, centred and with a column of ones where there is an intercept.
    design: Arc<dyn Design + 'a>,
    /// What was subtracted from columns, by column, ascending; and from the target.
    moved: Arc<[(usize, f64)]>,
    target_shift: f64,
    /// What the last coordinate is multiplied by to become the intercept: about the size of the largest column.
    unit: f64,
    loss: Box<dyn Loss + 'a>,
    /// y as given, and less its shift if that is not 0.
    given: Cow<'a, [f64]>,
    near: Option<Cow<'a, [f64]>>,
    /// c_i / sum c: they sum to 1.
    weights: Vec<f64>,
    total_weight: f64,
    /// What offsets multiply the weight of each sample by; empty without.
    factors: Vec<f64>,
    ridge: f64,
    /// The intercept's coordinate, if there is one; `[p]` or `[]`.
    free: Vec<usize>,
    squares: OnceLock<Vec<f64>>,
    magnitudes: OnceLock<Vec<f64>>,
    at_zero: OnceLock<f64>,
}

impl<'a> Risk<'a> {
    /// The unweighted mean of `loss` over the rows, no ridge, no intercept.
    pub fn new(design: impl Design + 'a, target: impl Into<Cow<'a, [f64]>>, loss: impl Loss + 'a) -> Result<Self> {
        Self::from_boxes(Box::new(design), target.into(), Box::new(loss))
    }

    /// [`new`](Self::new) for a design and a loss chosen at run time.
    pub fn from_boxes(design: Box<dyn Design + 'a>, target: Cow<'a, [f64]>, loss: Box<dyn Loss + 'a>) -> Result<Self> {
        let n = design.nrows();
        if n == 0 {
            return Err(Error::Data("the design has no rows".to_string()));
        }
        check_len("target", target.len(), n)?;
        loss.check_target(&target)?;
        let data: Arc<dyn Design + 'a> = Arc::from(design);
        Ok(Self {
            design: Arc::clone(&data),
            data,
            moved: Arc::from([]),
            target_shift: 0.0,
            unit: 1.0,
            loss,
            given: target,
            near: None,
            weights: vec![1.0 / n as f64; n],
            total_weight: n as f64,
            factors: Vec::new(),
            ridge: 0.0,
            free: Vec::new(),
            squares: OnceLock::new(),
            magnitudes: OnceLock::new(),
            at_zero: OnceLock::new(),
        })
    }

    /// With the ridge `lambda / 2 ||w||^2` (the intercept excepted).
    ///
    /// ```
    /// use ksparse::{Objective, Risk, SparseRef, design::Dense, loss::Squared};
    /// let x = Dense::from_columns(2, 1, vec![1.0, 1.0])?;
    /// let risk = Risk::new(&x, &[2.0, 2.0], Squared::default())?.with_ridge(0.5)?;
    /// assert_eq!(risk.value(SparseRef::new(&[0], &[2.0])), 1.0); // no loss, 0.25 * 2^2
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn with_ridge(mut self, lambda: f64) -> Result<Self> {
        check_option(lambda >= 0.0 && lambda.is_finite(), "lambda", lambda, "non-negative and finite")?;
        self.ridge = lambda;
        Ok(self)
    }

    /// The same risk with another ridge, borrowing everything else: what a grid over lambda needs.
    pub fn reridged(&self, lambda: f64) -> Result<Risk<'_>> {
        let mut same = self.with_loss(Box::new(&*self.loss));
        same.at_zero.clone_from(&self.at_zero);
        same.with_ridge(lambda)
    }

    /// The same risk with another loss (one that accepts the same targets), borrowing everything else.
    pub(crate) fn with_loss<'b>(&'b self, loss: Box<dyn Loss + 'b>) -> Risk<'b> {
        Risk {
            data: Arc::new(&*self.data),
            design: Arc::new(&*self.design),
            moved: Arc::clone(&self.moved),
            target_shift: self.target_shift,
            unit: self.unit,
            loss,
            given: Cow::Borrowed(&self.given),
            near: self.near.as_deref().map(Cow::Borrowed),
            weights: self.weights.clone(),
            total_weight: self.total_weight,
            factors: self.factors.clone(),
            ridge: self.ridge,
            free: self.free.clone(),
            squares: self.squares.clone(),
            magnitudes: self.magnitudes.clone(),
            at_zero: OnceLock::new(),
        }
    }

    /// The risk over some columns, the intercept's among them where there is one.
    fn over(&self, columns: &[usize]) -> Risk<'_> {
        let design: Arc<dyn Design + '_> = Arc::new(Picked::new(&*self.design, columns.to_vec()));
        let at = |j: &usize| columns.binary_search(j).ok();
        let squares = OnceLock::new();
        if let Some(all) = self.squares.get() {
            let _ = squares.set(columns.iter().map(|&j| all[j]).collect());
        }
        Risk {
            data: Arc::clone(&design),
            design,
            moved: Arc::from([]),
            free: self.free.iter().filter_map(at).collect(),
            squares,
            magnitudes: OnceLock::new(),
            ..self.with_loss(Box::new(&*self.loss))
        }
    }

    /// The risk of these samples; everything but the weights stays borrowed.
    pub(crate) fn of(samples: Samples<'a>) -> Self {
        let design: Arc<dyn Design + 'a> = Arc::new(samples.design);
        Self {
            data: Arc::clone(&design),
            design,
            moved: Arc::from([]),
            target_shift: 0.0,
            unit: samples.unit,
            loss: Box::new(samples.loss),
            given: Cow::Borrowed(samples.target),
            near: None,
            weights: samples.weights.to_vec(),
            total_weight: samples.total_weight,
            factors: Vec::new(),
            ridge: samples.ridge,
            free: samples.free.to_vec(),
            squares: OnceLock::new(),
            magnitudes: OnceLock::new(),
            at_zero: OnceLock::new(),
        }
    }

    /// With sample weights: non-negative, not all zero. Integer weights mean repeated rows.
    ///
    /// ```
    /// use ksparse::{Objective, Risk, SparseRef, design::Dense, loss::Squared};
    /// let x = Dense::from_columns(2, 1, vec![1.0, 1.0])?;
    /// let weighted = Risk::new(&x, &[0.0, 4.0], Squared::default())?.with_weights(&[3.0, 1.0])?;
    /// assert_eq!(weighted.value(SparseRef::ZERO), 2.0); // (3 * 0 + 1 * 8) / 4
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn with_weights(mut self, weights: &[f64]) -> Result<Self> {
        let total = check_weights(weights, self.design.nrows())?;
        self.weights = weights.iter().map(|w| w / total).collect();
        self.weights.iter_mut().zip(&self.factors).for_each(|(w, factor)| *w *= factor);
        self.total_weight = total;
        self.arrange();
        Ok(self)
    }

    /// With an intercept: a last coordinate, free and unpenalised.
    pub fn with_intercept(mut self) -> Self {
        if self.free.is_empty() {
            self.free = vec![self.data.ncols()];
            self.arrange();
        }
        self
    }

    /// With some coordinates free and unpenalised, whatever stands in their columns.
    pub(crate) fn with_free(mut self, free: Vec<usize>) -> Self {
        self.free = free;
        self
    }

    /// Everything that follows from the data, the weights and whether there is an intercept.
    fn arrange(&mut self) {
        (self.squares, self.magnitudes, self.at_zero) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        if !self.has_intercept() {
            return;
        }
        // Offsets leave weights that no longer sum to 1.
        let total: f64 = if self.factors.is_empty() { 1.0 } else { self.weights.iter().sum() };
        let shares: Vec<f64> = self.weights.iter().map(|w| w / total).collect();
        let (near, size) = Scaled::centred(Arc::clone(&self.data), &shares);
        // A power of two: multiplying by it changes no digit. Its square must neither overflow nor vanish.
        self.unit = if size > 0.0 && size.is_finite() { size.log2().round().clamp(-400.0, 400.0).exp2() } else { 1.0 };
        let centre = near.as_ref().map_or(&[][..], Scaled::centre);
        self.moved = centre.iter().copied().enumerate().filter(|(_, m)| *m != 0.0).collect();
        self.design = match near {
            Some(near) => Arc::new(WithIntercept::in_units(near, self.unit)),
            None => Arc::new(WithIntercept::in_units(Arc::clone(&self.data), self.unit)),
        };
        (self.target_shift, self.near) = (0.0, None);
        if self.loss.of_residual() {
            let moments = Moments::of(&self.given, &shares);
            if moments.is_far() {
                self.target_shift = moments.shift();
                self.near = Some(self.given.iter().map(|y| y - self.target_shift).collect());
            }
        }
    }

    /// Whether there is an intercept.
    pub fn has_intercept(&self) -> bool {
        !self.free.is_empty()
    }

    /// The design, intercept column included.
    pub fn design(&self) -> &dyn Design {
        &*self.design
    }

    /// The loss.
    pub fn loss(&self) -> &dyn Loss {
        &*self.loss
    }

    /// The target as it is worked with: less a constant where that is far from 0 and an intercept takes it up.
    pub fn target(&self) -> &[f64] {
        self.near.as_deref().unwrap_or(&self.given)
    }

    /// Sample weights divided by their sum.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The sum of the sample weights as given.
    pub fn total_weight(&self) -> f64 {
        self.total_weight
    }

    /// lambda.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// Number of features: coordinates less the intercept.
    pub fn features(&self) -> usize {
        self.design.ncols() - self.free.len()
    }

    /// The linear predictor at x.
    pub fn predictions(&self, x: SparseRef) -> Vec<f64> {
        let mut z = vec![0.0; self.design.nrows()];
        self.design.mul(x, &mut z);
        z
    }

    /// f(x).
    pub fn value(&self, x: SparseRef) -> f64 {
        self.mean_loss(&self.predictions(x)) + self.penalty(x)
    }

    /// f(x), and its whole gradient written to `gradient`.
    pub fn value_and_gradient(&self, x: SparseRef, gradient: &mut [f64]) -> f64 {
        let z = self.predictions(x);
        let (mut derivatives, mut curvatures) = (vec![0.0; z.len()], vec![0.0; z.len()]);
        let loss = self.evaluate(&z, &mut derivatives, &mut curvatures);
        self.gradient(x, &derivatives, gradient);
        loss + self.penalty(x)
    }

    /// The gradient at x, given the weighted derivatives of the losses there.
    fn gradient(&self, x: SparseRef, derivatives: &[f64], out: &mut [f64]) {
        self.design.tmul(derivatives, out);
        x.iter().for_each(|(j, v)| out[j] += self.ridge_at(j) * v);
    }

    /// lambda for coordinate j.
    fn ridge_at(&self, j: usize) -> f64 {
        if self.free.contains(&j) { 0.0 } else { self.ridge }
    }

    fn penalty(&self, x: SparseRef) -> f64 {
        0.5 * x.iter().map(|(j, v)| self.ridge_at(j) * v * v).sum::<f64>()
    }

    /// `sum_i c_i x_ij^2 / sum c` for every column, computed once.
    pub(crate) fn weighted_squares(&self) -> &[f64] {
        self.squares.get_or_init(|| {
            let mut out = vec![0.0; self.design.ncols()];
            self.design.squares(&self.weights, &mut out);
            out
        })
    }

    /// The same, had nothing cancelled: what rounding errors of products are measured by.
    pub(crate) fn weighted_magnitudes(&self) -> &[f64] {
        self.magnitudes.get_or_init(|| {
            let mut out = vec![0.0; self.design.ncols()];
            self.design.magnitudes(&self.weights, &mut out);
            out
        })
    }

    /// f(0), computed once: the size of f.
    fn value_at_zero(&self) -> f64 {
        *self
            .at_zero
            .get_or_init(|| self.target().iter().zip(&self.weights).map(|(&y, w)| w * self.loss.value(0.0, y)).sum())
    }

    /// `max_i ||H_s(x_i)||^2` over the rows: R_s^2 of the theory.
    pub fn largest_row_norm_squared(&self, s: usize) -> f64 {
        let mut row = Vec::new();
        let mut largest = 0.0f64;
        for i in 0..self.design.nrows() {
            self.design.row(i, &mut row);
            let mut squares: Vec<f64> = row.iter().map(|(_, v)| v * v).collect();
            if squares.len() > s && s > 0 {
                squares.select_nth_unstable_by(s - 1, |a, b| b.total_cmp(a));
            }
            largest = largest.max(squares.iter().take(s).sum());
        }
        largest
    }

    /// Euclidean norm of the part of x under the ridge.
    pub fn penalised_norm(&self, x: SparseRef) -> f64 {
        let values: Vec<f64> = x.iter().filter(|(j, _)| !self.free.contains(j)).map(|(_, v)| v).collect();
        kernels::norm(&values)
    }
}
