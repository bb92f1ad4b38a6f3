//! How far a fit can be from the best k-sparse model of all: a proven bound for any fit by any solver.
//!
//! The problem is NP-hard, so no solver knows that its answer is the best. But every feasible dual vector gives a
//! number that **no** k-sparse model goes below ([`dual`](crate::dual)). [`certify`] looks for the largest such number
//! and compares it with the fit:
//!
//! ```text
//! lower_bound <= least f over all k-sparse models <= f(fit),      gap = f(fit) - lower_bound
//! ```
//!
//! A gap of (nearly) 0 proves that the fit is optimal. A positive gap proves nothing against the fit: either it can be
//! improved by at most that much, or the bound is weak. The bound is at its best for a meaningful ridge and well
//! separated coefficients; at a tiny ridge, or with strongly correlated columns, expect it to be wide.
//!
//! # How
//!
//! The first dual vector is the fit's own, `a_i = l'(x_i'w)`. Then comes ascent. The largest D is the optimum of the
//! perspective relaxation, and that is solved on working sets: the coordinates of the fit and the next best, then those
//! that violate the optimality conditions. Each epoch gives a bound from all coordinates and, from above, the
//! relaxation's value, beyond which no dual bound can go; the two meeting is the end. A loss that is not smooth (hinge)
//! is rounded off, less and less: every dual vector of the rounded loss is one of its own.
//!
//! # When it closes
//!
//! With F the support of w, sparse strong duality holds at w, and the bound closes, exactly when `grad_j f(w) = 0` on F
//! and `min over F of |w_j| >= max outside F of |grad_j f(w)| / lambda` (if w has fewer than k coordinates, every
//! `grad_j f` must vanish). The [`Conditions`] of a certificate report these numbers.
//!
//! # Rounding
//!
//! The bound is rounded down and f(fit) up, by bounds on every rounding error on the way: `certified` holds for the
//! numbers as stored, not only up to rounding.

mod ascent;

use crate::cancel::Cancel;
use crate::dual::Dual;
use crate::error::{Error, Result, check_finite, check_len, check_option};
use crate::objective::{Objective, Risk};
use crate::solver::Solution;
use crate::sparsity::Sparsity;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How far to go for a bound.
#[derive(Debug, Clone, PartialEq)]
pub struct CertifyOptions {
    /// A fit within this fraction of the bound is called optimal, and the search ends. Default 1e-6.
    pub tolerance: f64,
    /// Stop when the bound is within this fraction of the best that any dual bound can be. Default 1e-4.
    pub precision: f64,
    /// At most so many epochs (each ends with a pass over all the data). Default 100.
    pub max_epochs: usize,
    /// At most so much time; the best bound so far is returned. Default none.
    pub time_limit: Option<Duration>,
    /// A token asked between blocks of work; once it is set, the best bound so far is returned. Default never.
    pub cancel: Cancel,
}

impl Default for CertifyOptions {
    fn default() -> Self {
        Self { tolerance: 1e-6, precision: 1e-4, max_epochs: 100, time_limit: None, cancel: Cancel::NEVER }
    }
}

impl CertifyOptions {
    /// `Err` for a value outside its range.
    pub fn validate(&self) -> Result<()> {
        for (option, value) in [("tolerance", self.tolerance), ("precision", self.precision)] {
            check_option(value >= 0.0 && value.is_finite(), option, value, "non-negative and finite")?;
        }
        Ok(())
    }
}

/// One epoch of the search for a bound; epoch 0 is the fit's own dual vector.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Epoch {
    /// Its number.
    pub epoch: usize,
    /// f at the fit.
    pub primal: f64,
    /// The best bound so far.
    pub dual: f64,
    /// Their difference.
    pub gap: f64,
    /// The least value of the relaxation so far: no dual bound goes beyond it.
    pub relaxation: f64,
    /// Seconds since the start.
    pub seconds: f64,
}

/// The conditions under which a fit attains the bound, as numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Conditions {
    /// The largest `|grad_j f|` on the support and at free coordinates: 0 for a fit that is minimised on its support.
    pub stationarity: f64,
    /// The smallest `|w_j|` on the support, forced-in coordinates left out; 0 if fewer than k are in use, infinite for
    /// k = 0.
    pub smallest_inside: f64,
    /// The largest `|grad_j f| / lambda` outside.
    pub largest_outside: f64,
    /// `|sum_i c_i a_i|` of the best dual vector with an intercept: 0 but for rounding, which the bound accounts for.
    pub imbalance: f64,
}

impl Conditions {
    /// Whether the smallest coefficient is at least the largest outside gradient over lambda: then the bound can close.
    pub fn separated(&self) -> bool {
        self.smallest_inside >= self.largest_outside
    }
}

/// What is known about the distance of a fit from the global optimum.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Certificate {
    /// f at the fit, rounded up.
    pub value: f64,
    /// No k-sparse model has a lower f than this.
    pub lower_bound: f64,
    /// `value - lower_bound`: the fit is at most this far from the best.
    pub gap: f64,
    /// The gap as a fraction of f at the fit.
    pub relative_gap: f64,
    /// Whether the relative gap is within the tolerance: the fit is proven optimal, to that tolerance.
    pub certified: bool,
    /// The least value of the relaxation seen: no dual bound goes beyond it, however long one searches.
    pub relaxation: f64,
    /// What the optimality conditions say at the fit.
    pub conditions: Conditions,
    /// One row per epoch.
    pub history: Vec<Epoch>,
    /// Seconds spent.
    pub seconds: f64,
}

impl Certificate {
    /// Whether more time could still raise the bound noticeably (by more than `fraction` of f).
    pub fn could_improve(&self, fraction: f64) -> bool {
        !self.certified && self.relaxation - self.lower_bound > fraction * self.value.abs()
    }

    /// One sentence for people.
    pub fn verdict(&self) -> String {
        let (value, bound, percent) = (self.value, self.lower_bound, 100.0 * self.relative_gap);
        if self.certified {
            format!(
                "proven optimal: no model of this size has f below {bound:.6e} (relative gap {:.1e})",
                self.relative_gap
            )
        } else {
            format!(
                "f = {value:.6e} is at most {percent:.3} % above the best possible: no model of this size goes below \
                 {bound:.6e}"
            )
        }
    }
}

/// Bounds the distance of `solution` from the best model under `sparsity`, calling `watch` once per epoch; when that
/// returns `Break`, the best bound so far comes back. The risk needs a ridge.
///
/// ```
/// use ksparse::certificate::{CertifyOptions, certify};
/// use ksparse::{Auto, Risk, Solver, Sparsity, loss::Logistic, simulate::{self, Correlation}};
/// use std::ops::ControlFlow;
/// let data = simulate::logistic(300, 40, 5, Correlation::Ar1(0.5), 3);
/// let risk = Risk::new(&data.design, &data.target, Logistic::default())?.with_ridge(0.05)?.with_intercept();
/// let solution = Auto::default().fit(&risk, &Sparsity::new(5))?;
/// let watch = &mut |_: &_| ControlFlow::Continue(());
/// let certificate = certify(&risk, &Sparsity::new(5), &solution, &CertifyOptions::default(), watch)?;
/// assert!(certificate.lower_bound <= solution.value);
/// println!("{}", certificate.verdict());
/// # Ok::<(), ksparse::Error>(())
/// ```
pub fn certify(
    risk: &Risk,
    sparsity: &Sparsity,
    solution: &Solution,
    options: &CertifyOptions,
    watch: &mut dyn FnMut(&Epoch) -> ControlFlow<()>,
) -> Result<Certificate> {
    let started = Instant::now();
    options.validate()?;
    let dual = Dual::new(risk, sparsity)?;
    check_fit(&dual, solution)?;
    let value = dual.rounded_up(solution.as_sparse());
    if !value.is_finite() {
        return Err(Error::NotFinite { what: "objective at the fit", index: 0 });
    }
    let found = ascent::ascend(&dual, solution, value, options, started, watch);
    let gap = (value - found.bound).max(0.0);
    let relative_gap = if value > 0.0 { gap / value } else { gap };
    Ok(Certificate {
        value,
        lower_bound: found.bound,
        gap,
        relative_gap,
        certified: relative_gap <= options.tolerance,
        relaxation: found.relaxation,
        conditions: conditions(&dual, solution, &found.vector),
        history: found.history,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// The fit must be well formed and within the budget: a bound for k says nothing about a model of k + 1.
fn check_fit(dual: &Dual, solution: &Solution) -> Result<()> {
    let dim = dual.risk().dim();
    check_len("coefficients", solution.coefficients.len(), solution.support.len())?;
    check_finite("coefficients", &solution.coefficients)?;
    if let Some(&index) = solution.support.iter().find(|&&j| j >= dim) {
        return Err(Error::IndexOutOfRange { what: "coordinate", index, bound: dim });
    }
    if solution.support.windows(2).any(|w| w[0] >= w[1]) {
        return Err(Error::Data("the support of the fit is not in ascending order".to_string()));
    }
    let used: Vec<usize> = solution.as_sparse().iter().filter(|(_, v)| *v != 0.0).map(|(j, _)| j).collect();
    let counted = dual.budget().counted(&used);
    if counted > dual.k() {
        let what = if dual.budget().is_grouped() { "groups" } else { "coefficients" };
        return Err(Error::Data(format!("the fit has {counted} {what}, more than k = {}", dual.k())));
    }
    Ok(())
}

fn conditions(dual: &Dual, solution: &Solution, vector: &[f64]) -> Conditions {
    let risk = dual.risk();
    let mut gradient = vec![0.0; risk.dim()];
    risk.value_and_gradient(solution.as_sparse(), &mut gradient);
    let mut w = vec![0.0; risk.dim()];
    solution.as_sparse().iter().for_each(|(j, v)| w[j] = v);
    let budget = dual.budget();
    // Units are columns, or groups of them: what they have is the length of it.
    let (mut inside, mut smallest) = (vec![false; budget.units()], f64::INFINITY);
    let used: Vec<usize> = (0..w.len()).filter(|&j| w[j] != 0.0).collect();
    let units = budget.units_of(&used);
    for &unit in &units {
        inside[unit] = true;
        smallest = smallest.min(budget.score(unit, |j| w[j].abs()));
    }
    if units.len() < dual.k() {
        smallest = 0.0;
    }
    let (mut stationarity, mut outside) = (0.0f64, 0.0f64);
    budget.free.iter().for_each(|&j| stationarity = stationarity.max(gradient[j].abs()));
    let counted = |unit: usize| budget.members(unit).all(|j| !budget.is_free(j));
    for unit in (0..inside.len()).filter(|&unit| counted(unit)) {
        if inside[unit] {
            budget.members(unit).for_each(|j| stationarity = stationarity.max(gradient[j].abs()));
        } else {
            outside = outside.max(budget.score(unit, |j| gradient[j].abs()));
        }
    }
    Conditions {
        stationarity,
        smallest_inside: smallest,
        largest_outside: outside / risk.ridge(),
        imbalance: if risk.has_intercept() { dual.balance(vector).0.abs() } else { 0.0 },
    }
}
