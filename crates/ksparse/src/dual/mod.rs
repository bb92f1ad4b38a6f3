//! The dual of the k-sparse ridge problem: a lower bound on the optimum of an NP-hard problem, from any vector of its
//! domain.
//!
//! With sample weights c that sum to 1, a convex loss l with conjugate l* and lambda > 0 the problem is
//!
//! ```text
//! P(w) = sum_i c_i l_i(x_i'w) + (lambda/2) ||w||^2      minimised over ||w||_0 <= k
//! L(w, a) = sum_i c_i (a_i x_i'w - l_i*(a_i)) + (lambda/2) ||w||^2,      P(w) = max_a L(w, a)
//! ```
//!
//! For every *feasible* a (each a_i in the domain of l_i*)
//!
//! ```text
//! u(a) = -(1/lambda) sum_i c_i a_i x_i        w(a) = H_k(u(a))
//! D(a) = min over ||w||_0 <= k of L(w, a) = -sum_i c_i l_i*(a_i) - (lambda/2) ||w(a)||^2
//!     <=  min over ||w||_0 <= k of P(w)
//! ```
//!
//! D is concave and not smooth; `g_i = c_i (x_i'w(a) - l_i*'(a_i))` is a super-gradient: `D(b) <= D(a) + g'(b - a)`. At
//! w = w(a) the gap is a sum of non-negative terms, `P(w) - D(a) = sum_i c_i (l_i(x_i'w) + l_i*(a_i) - a_i x_i'w)`.
//!
//! Forced-in coordinates (penalised, free of charge) stay whole in w(a). An unpenalised intercept adds the constraint
//! `sum_i c_i a_i = 0`: without it the minimum over the intercept is minus infinity.
//!
//! * B. Liu, X.-T. Yuan, L. Wang, Q. Liu, D. Metaxas, "Dual Iterative Hard Thresholding: From Non-convex Sparse
//!   Minimization to Non-smooth Concave Maximization", ICML 2017.

mod intercept;
mod safe;

pub(crate) use intercept::{FARTHEST, best_shift};
pub(crate) use safe::{Drift, VANISHING, relative_error};

use crate::error::{Error, Result, check_finite, check_len};
use crate::loss::Loss;
use crate::objective::{Objective, Risk};
use crate::sparsity::{Budget, SparseRef, Sparsity};

/// The dual view of a [`Risk`] with a ridge, under a [`Sparsity`].
///
/// ```
/// use ksparse::{Auto, Risk, Solver, Sparsity, dual::Dual, loss::Squared, simulate::{self, Correlation}};
/// let data = simulate::linear(100, 30, 3, Correlation::Independent, 0.1, 1);
/// let risk = Risk::new(&data.design, &data.target, Squared::default())?.with_ridge(0.1)?;
/// let solution = Auto::default().fit(&risk, &Sparsity::new(3))?;
///
/// let dual = Dual::new(&risk, &Sparsity::new(3))?;
/// let a = dual.plug_in(solution.as_sparse()); // a_i = l'(x_i'w)
/// let bound = dual.value(&a);
/// assert!(bound <= solution.value && solution.value - bound < 1e-9); // so this solution is the best of all
/// # Ok::<(), ksparse::Error>(())
/// ```
pub struct Dual<'a> {
    risk: &'a Risk<'a>,
    budget: Budget,
    /// Coordinates that stay whole: free and penalised.
    whole: Vec<usize>,
}

/// What a dual vector gives.
#[derive(Debug, Clone, PartialEq)]
pub struct DualPoint {
    /// The coordinates of w(a), ascending, forced-in ones included, the intercept not.
    pub support: Vec<usize>,
    /// Their values.
    pub coefficients: Vec<f64>,
    /// D(a).
    pub value: f64,
}

impl DualPoint {
    /// w(a) by its non-zeros.
    pub fn as_sparse(&self) -> SparseRef<'_> {
        SparseRef::new(&self.support, &self.coefficients)
    }
}

/// Where l* has infinite slopes (the logistic loss, at both ends of its domain) the slope is taken this far inside.
const INSIDE: f64 = 1e-12;

impl<'a> Dual<'a> {
    /// `Err` without a ridge (the dual is then no bound but minus infinity) and for forced-in coordinates that do not
    /// exist.
    pub fn new(risk: &'a Risk<'a>, sparsity: &Sparsity) -> Result<Self> {
        if risk.ridge() <= 0.0 {
            return Err(Error::InvalidOption {
                option: "lambda",
                value: risk.ridge().to_string(),
                expected: "positive for a dual and its bound",
            });
        }
        Self::of_any_ridge(risk, sparsity)
    }

    /// The same without a look at the ridge, for who has another: without one no value of it is a bound.
    pub(crate) fn of_any_ridge(risk: &'a Risk<'a>, sparsity: &Sparsity) -> Result<Self> {
        let budget = Budget::new(sparsity, risk.free(), risk.dim())?;
        let whole = budget.free.iter().copied().filter(|j| !risk.free().contains(j)).collect();
        Ok(Self { risk, budget, whole })
    }

    /// What is counted.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The largest sum of these over a support.
    pub(crate) fn reach(&self, squares: &[f64]) -> f64 {
        // Groups are ranked by the length of what they are given, so by the sum of squares of the roots.
        let support = match self.budget.is_grouped() {
            true => self.budget.winners(self.budget.k, |j| squares[j].sqrt()),
            false => self.budget.winners(self.budget.k, |j| squares[j]),
        };
        support.iter().filter(|j| !self.risk.free().contains(j)).map(|&j| squares[j]).sum::<f64>()
    }

    /// The primal problem.
    pub fn risk(&self) -> &'a Risk<'a> {
        self.risk
    }

    /// How many coordinates w(a) keeps beside those that stay whole.
    pub fn k(&self) -> usize {
        self.budget.k
    }

    /// The coordinates that stay whole: forced in, penalised, free of charge.
    pub fn whole(&self) -> &[usize] {
        &self.whole
    }

    /// Whether coordinate j is not counted in k: forced in, or the intercept.
    pub fn is_free(&self, j: usize) -> bool {
        self.budget.is_free(j)
    }

    /// Number of samples: the length of a dual vector.
    pub fn samples(&self) -> usize {
        self.risk.target().len()
    }

    /// Where to start: 0 where l* has a slope there, else l'(0) brought to feasibility.
    pub fn start(&self) -> Vec<f64> {
        let (loss, y) = (self.risk.loss(), self.risk.target());
        let conjugate = loss.conjugate();
        let mut a: Vec<f64> = y
            .iter()
            .map(|&y| if conjugate.derivative(0.0, y).is_finite() { 0.0 } else { loss.at(0.0, y).derivative })
            .collect();
        self.project(&mut a);
        a
    }

    /// `Err` when a has the wrong length, is not finite or lies outside the domain; sums may miss 0 by rounding error.
    pub fn check(&self, a: &[f64]) -> Result<()> {
        check_len("dual vector", a.len(), self.samples())?;
        check_finite("dual vector", a)?;
        let conjugate = self.risk.loss().conjugate();
        if let Some(i) = (0..a.len()).find(|&i| !conjugate.value(a[i], self.risk.target()[i]).is_finite()) {
            return Err(Error::Data(format!(
                "dual vector: {} in row {i} is outside the domain of the conjugate",
                a[i]
            )));
        }
        let (sum, size) = self.balance(a);
        if self.risk.has_intercept() && sum.abs() > 1e-9 * size {
            return Err(Error::Data(format!("dual vector: weighted sum {sum}, which an intercept wants to be 0")));
        }
        Ok(())
    }

    /// Brings a into the domain; with an intercept, to the nearest point (in the norm of the sample weights) whose
    /// weighted sum is 0.
    pub fn project(&self, a: &mut [f64]) {
        let (conjugate, y) = (self.risk.loss().conjugate(), self.risk.target());
        if self.risk.has_intercept() {
            intercept::project_balanced(conjugate, y, self.risk.weights(), a);
        } else {
            a.iter_mut().zip(y).for_each(|(a, &y)| *a = conjugate.project(*a, y));
        }
    }

    /// `out = u(a)`, whole, not thresholded; 0 at the intercept.
    pub fn scores(&self, a: &[f64], out: &mut [f64]) {
        let unit = -1.0 / self.risk.ridge();
        let r: Vec<f64> = a.iter().zip(self.risk.weights()).map(|(a, c)| unit * c * a).collect();
        self.risk.design().tmul(&r, out);
        self.risk.free().iter().for_each(|&j| out[j] = 0.0);
    }

    /// The coordinates of H_k(u) that are not zero, ascending, forced-in ones always among them: ties to the smaller
    /// index.
    pub fn winners(&self, u: &[f64]) -> Vec<usize> {
        let mut support = self.budget.winners(self.budget.k, |j| u[j].abs());
        support.retain(|j| !self.risk.free().contains(j));
        support
    }

    /// w(a) and D(a) from a and u(a).
    pub fn point(&self, a: &[f64], u: &[f64]) -> DualPoint {
        let support = self.winners(u);
        let coefficients: Vec<f64> = support.iter().map(|&j| u[j]).collect();
        let square: f64 = coefficients.iter().map(|w| w * w).sum();
        let value = -self.mean_conjugate(a) - 0.5 * self.risk.ridge() * square;
        DualPoint { support, coefficients, value }
    }

    /// w(a) and D(a).
    pub fn at(&self, a: &[f64]) -> DualPoint {
        let mut u = vec![0.0; self.risk.dim()];
        self.scores(a, &mut u);
        self.point(a, &u)
    }

    /// D(a), to rounding error; [`lower_bound`](Self::lower_bound) is below it for sure.
    pub fn value(&self, a: &[f64]) -> f64 {
        self.at(a).value
    }

    /// `sum_i c_i l_i*(a_i)`; infinite outside the domain.
    pub fn mean_conjugate(&self, a: &[f64]) -> f64 {
        let (conjugate, y) = (self.risk.loss().conjugate(), self.risk.target());
        a.iter().zip(y).zip(self.risk.weights()).map(|((&a, &y), c)| c * conjugate.value(a, y)).sum()
    }

    /// l_i*'(a_i), finite also at the ends of the domain.
    pub fn slope(&self, i: usize, a: f64) -> f64 {
        let (conjugate, y) = (self.risk.loss().conjugate(), self.risk.target()[i]);
        let slope = conjugate.derivative(a, y);
        if slope.is_finite() {
            return slope;
        }
        // A step towards l'(0), which is inside the domain.
        let inner = self.risk.loss().at(0.0, y).derivative;
        conjugate.derivative(a + INSIDE * (inner - a), y)
    }

    /// `out_i = c_i (z_i - l_i*'(a_i))`, a super-gradient of D at a, from z = X w(a).
    pub fn super_gradient(&self, a: &[f64], z: &[f64], out: &mut [f64]) {
        let c = self.risk.weights();
        for i in 0..a.len() {
            out[i] = c[i] * (z[i] - self.slope(i, a[i]));
        }
    }

    /// The dual vector that goes with a primal point: `a_i = l'(x_i'w)`, a subderivative where there is a kink; with an
    /// intercept, that of the best intercept for w, brought to a weighted sum of 0.
    pub fn plug_in(&self, w: SparseRef) -> Vec<f64> {
        let mut z = self.predictions_without_intercept(w);
        self.plug_in_at(&mut z)
    }

    /// [`plug_in`](Self::plug_in) from z = X w without an intercept, which is added to z.
    pub fn plug_in_at(&self, z: &mut [f64]) -> Vec<f64> {
        self.plug_in_of(self.risk.loss(), z)
    }

    /// [`plug_in_at`](Self::plug_in_at) with the derivatives of a loss that stands in for the risk's own.
    pub(crate) fn plug_in_of(&self, loss: &dyn Loss, z: &mut [f64]) -> Vec<f64> {
        let y = self.risk.target();
        if self.risk.has_intercept() {
            let b = best_shift(loss, z, y, self.risk.weights());
            z.iter_mut().for_each(|z| *z += b);
        }
        // A sample without weight may be anywhere inside its domain; where it stands its loss may have no bounds.
        let at = |((&z, &y), &c): ((&f64, &f64), &f64)| loss.at(if c == 0.0 { 0.0 } else { z }, y).derivative;
        let mut a: Vec<f64> = z.iter().zip(y).zip(self.risk.weights()).map(at).collect();
        self.project(&mut a);
        a
    }

    /// argmin over b of `sum_i c_i l_i(z_i + b)`.
    pub fn best_intercept(&self, z: &[f64]) -> f64 {
        best_shift(self.risk.loss(), z, self.risk.target(), self.risk.weights())
    }

    /// P at w with the best intercept for it, if there is one (whatever w says about that coordinate), and that
    /// intercept.
    pub fn primal(&self, w: SparseRef) -> (f64, f64) {
        let mut z = self.predictions_without_intercept(w);
        let mut b = 0.0;
        if self.risk.has_intercept() {
            b = self.best_intercept(&z);
            z.iter_mut().for_each(|z| *z += b);
        }
        let norm = self.risk.penalised_norm(w);
        let loss = self.risk.loss().total(&z, self.risk.target(), self.risk.weights());
        (loss + 0.5 * self.risk.ridge() * norm * norm, b)
    }

    fn predictions_without_intercept(&self, w: SparseRef) -> Vec<f64> {
        let (indices, values): (Vec<usize>, Vec<f64>) = w.iter().filter(|(j, _)| !self.risk.free().contains(j)).unzip();
        self.risk.predictions(SparseRef::new(&indices, &values))
    }

    /// `sum_i c_i a_i` and `sum_i c_i |a_i|`.
    pub(crate) fn balance(&self, a: &[f64]) -> (f64, f64) {
        let pairs = || a.iter().zip(self.risk.weights()).map(|(a, c)| a * c);
        (pairs().sum(), pairs().map(f64::abs).sum())
    }
}
