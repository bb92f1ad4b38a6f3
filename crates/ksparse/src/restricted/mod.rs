//! Minimising on a fixed support: a small, smooth, convex problem.
//!
//! [`minimise`] picks the method by what the problem offers: damped Newton with a Cholesky factor, Newton with conjugate
//! gradients when forming the Hessian costs more than it saves, L-BFGS when there are only gradients, dual coordinate ascent where a risk with a ridge has a
//! loss with corners. The methods know no loss.
//!
//! ```
//! use ksparse::restricted::{Ended, InnerOptions, minimise};
//! use ksparse::{Objective, Risk, design::Dense, loss::Squared};
//! let x = Dense::from_columns(3, 2, vec![1.0, 2.0, 3.0, 1.0, 0.0, 1.0])?;
//! let risk = Risk::new(&x, &[2.0, 4.0, 6.0], Squared::default())?;
//! let mut w = [0.0]; // column 0 alone
//! let outcome = minimise(&mut *risk.restrict(&[0]), &mut w, &InnerOptions::EXACT);
//! assert_eq!(outcome.ended, Ended::Converged);
//! assert!((w[0] - 2.0).abs() < 1e-12);
//! # Ok::<(), ksparse::Error>(())
//! ```

mod cholesky;
mod dual_coordinates;
mod from_gradients;
mod lbfgs;
mod newton;

pub(crate) use cholesky::Cholesky;
pub(crate) use dual_coordinates::DualCoordinates;
pub use from_gradients::FromGradients;

use faer::MatMut;

/// What a [`Restricted`] function can say about its second derivatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecondOrder {
    /// Nothing: first-order methods only.
    Unavailable,
    /// Products with the Hessian are the cheaper way.
    Products,
    /// The whole matrix is the cheaper way.
    Matrix,
}

/// f on a fixed support, in the order of that support.
///
/// Second derivatives refer to the point of the last `value_and_gradient`.
pub trait Restricted {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// f(x) and its gradient.
    fn value_and_gradient(&mut self, x: &[f64], gradient: &mut [f64]) -> f64;

    /// Which of the methods below may be called.
    fn second_order(&self) -> SecondOrder {
        SecondOrder::Unavailable
    }

    /// Whether the Hessian is the same everywhere.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// The lower triangle of the Hessian.
    fn hessian(&mut self, _out: MatMut<'_, f64>) {}

    /// `out = H v`.
    fn hessian_product(&mut self, _v: &[f64], _out: &mut [f64]) {}

    /// The diagonal of the Hessian.
    fn hessian_diagonal(&mut self, _out: &mut [f64]) {}

    /// A positive diagonal near the Hessian's own, to precondition conjugate gradients: cheap matters more than exact.
    fn preconditioner(&mut self, out: &mut [f64]) {
        self.hessian_diagonal(out);
    }

    /// `out = P r` with P positive definite and near the inverse of the Hessian, for who knows better than a diagonal; `false` if not.
    fn precondition(&mut self, _r: &[f64], _out: &mut [f64]) -> bool {
        false
    }

    /// A diagonal that bounds the Hessian's own everywhere: the unit of the damping.
    fn majorant_diagonal(&mut self, _out: &mut [f64]) {}

    /// A typical size of f, below whose rounding error nothing is worth doing (0 when unknown).
    fn reference_value(&self) -> f64 {
        0.0
    }

    /// Whether f may fall for ever without a minimiser (separable data, no ridge).
    fn has_tail(&self) -> bool {
        false
    }

    /// Whether second derivatives jump from place to place, so that a quadratic model says little about far points.
    fn curvature_jumps(&self) -> bool {
        false
    }

    /// Whether the last point evaluated shows that Newton's method cannot lead to the minimum (a constraint is active that it does not know).
    fn gives_up(&self) -> bool {
        false
    }

    /// A minimiser of its own, for objectives that know better than the methods here.
    fn minimise(&mut self, _x: &mut [f64], _options: &InnerOptions) -> Option<Outcome> {
        None
    }
}

/// How far to go on a support.
#[derive(Debug, Clone, Copy)]
pub struct InnerOptions {
    /// Take the last step when the decrease still to be had is estimated below this fraction of f. A Newton step then all but
    /// squares the error.
    pub tolerance: f64,
    /// At most so many steps.
    pub max_iterations: usize,
    /// Give up as soon as the minimum is clearly above this: a trial support that cannot win.
    pub abandon_above: f64,
}

impl InnerOptions {
    /// To (nearly) the last digit.
    pub const EXACT: Self = Self { tolerance: 1e-10, max_iterations: 200, abandon_above: f64::INFINITY };

    /// One Newton (or quasi-Newton) step.
    pub const ONE_STEP: Self = Self { tolerance: 1e-10, max_iterations: 1, abandon_above: f64::INFINITY };
}

/// Why an inner minimisation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// At the minimum, to the tolerance or to rounding error.
    Converged,
    /// f has come down to nothing along a ray: the infimum is not attained.
    Unattained,
    /// Given up: the minimum is above `abandon_above`.
    Abandoned,
    /// Out of steps.
    MaxIterations,
    /// f or its gradient was not finite at the starting point.
    NotFinite,
}

/// What an inner minimisation did.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    /// f at the point reached.
    pub value: f64,
    /// Steps taken.
    pub iterations: usize,
    /// Why it ended.
    pub ended: Ended,
}

/// Minimises f from `x`, which is moved to the point reached. f never rises.
pub fn minimise(f: &mut dyn Restricted, x: &mut [f64], options: &InnerOptions) -> Outcome {
    if let Some(outcome) = f.minimise(x, options) {
        return outcome;
    }
    match f.second_order() {
        SecondOrder::Unavailable => lbfgs::minimise(f, x, options),
        SecondOrder::Products => newton::minimise(f, x, options, &mut newton::ConjugateGradients::default()),
        SecondOrder::Matrix => newton::minimise(f, x, options, &mut newton::Factored::default()),
    }
}
