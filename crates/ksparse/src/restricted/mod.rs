//! Minimising on a fixed support: a small, smooth, convex problem.
//!
//! [`minimise`] picks the method by what the problem offers: damped Newton with a Cholesky factor, Newton with
//! conjugate gradients when forming the Hessian costs more than it saves, L-BFGS when there are only gradients, dual
//! coordinate ascent where a risk with a ridge has a loss with corners. The methods know no loss.
//!
//! ```
//! use ksparse::restricted::{Ended, InnerOptions, minimise};
//! use ksparse::{Objective, Risk, design::Dense, loss::Squared};
//! let x = Dense::from_columns(3, 2, vec![1.0, 2.0, 3.0, 1.0, 0.0, 1.0])?;
//! let risk = Risk::new(&x, &[2.0, 4.0, 6.0], Squared::default())?;
//! let mut w = [0.0]; // column 0 alone
//! let outcome = minimise(&mut *risk.restrict(&[0])?, &mut w, &InnerOptions::EXACT)?;
//! assert_eq!(outcome.ended, Ended::Converged);
//! assert!((w[0] - 2.0).abs() < 1e-12);
//! # Ok::<(), ksparse::Error>(())
//! ```

mod dual_coordinates;
mod hessian;
mod lbfgs;
mod line;
mod newton;

pub(crate) use dual_coordinates::DualCoordinates;
pub use hessian::{Preconditioner, Second, SupportHessian};
pub use line::{Line, PointByPoint, Probe};

use crate::cancel::Cancel;
use crate::error::Result;

/// f on a fixed support, in the order of that support.
///
/// It is a place as well as a function: [`move_to`](Self::move_to) sets the point that second derivatives and lines
/// refer to.
pub trait Restricted {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// Turns into f on another support of the same objective, where that is cheaper than asking the objective for it.
    /// `false`: it does not know how, and has not changed.
    fn change(&mut self, _support: &[usize]) -> Result<bool> {
        Ok(false)
    }

    /// Moves to x: f there, and its gradient.
    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64>;

    /// Second derivatives where it was last moved to. Before the first move only their kind means something.
    fn second(&mut self) -> Second<'_>;

    /// f along a line from `x`, where it was last moved to. [`PointByPoint`] serves whoever knows no better.
    fn line<'a>(&'a mut self, x: &[f64], direction: &[f64]) -> Result<Box<dyn Line + 'a>>;

    /// The work of a product with the Hessian, in multiply-adds; `None` where nobody knows.
    fn product_cost(&self) -> Option<f64> {
        None
    }

    /// What kind of function it is.
    fn form(&self) -> Form {
        Form::default()
    }

    /// Whether the point last moved to shows that Newton's method cannot lead to the minimum (a constraint is active
    /// that it does not know).
    fn gives_up(&self) -> bool {
        false
    }

    /// A minimiser of its own, for functions that know better than the methods here; `None` for those that do not.
    fn minimise(&mut self, _x: &mut [f64], _options: &InnerOptions) -> Result<Option<Outcome>> {
        Ok(None)
    }
}

/// What the methods here may count on. The default promises nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Form {
    /// The Hessian is the same everywhere.
    pub quadratic: bool,
    /// f may fall for ever without a minimiser (separable data, no ridge).
    pub tail: bool,
    /// Second derivatives jump from place to place, so that a quadratic model says little about far points.
    pub jumps: bool,
    /// A typical size of f, below whose rounding error nothing is worth doing; 0 when unknown.
    pub size: f64,
}

/// How far to go on a support.
#[derive(Debug, Clone, Copy)]
pub struct InnerOptions<'a> {
    /// Take the last step when the decrease still to be had is estimated below this fraction of f. A Newton step then
    /// all but squares the error.
    pub tolerance: f64,
    /// At most so many steps.
    pub max_iterations: usize,
    /// Give up as soon as the minimum is clearly above this: a trial support that cannot win.
    pub abandon_above: f64,
    /// Asked before every step and every product; once it is set, the minimisation ends with
    /// [`Error::Cancelled`](crate::Error), x being as far as it came.
    pub cancel: &'a Cancel,
}

impl InnerOptions<'_> {
    /// To (nearly) the last digit.
    pub const EXACT: InnerOptions<'static> =
        InnerOptions { tolerance: 1e-10, max_iterations: 200, abandon_above: f64::INFINITY, cancel: &Cancel::NEVER };

    /// One Newton (or quasi-Newton) step.
    pub const ONE_STEP: InnerOptions<'static> = InnerOptions { max_iterations: 1, ..Self::EXACT };
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
pub fn minimise(f: &mut dyn Restricted, x: &mut [f64], options: &InnerOptions) -> Result<Outcome> {
    if let Some(outcome) = f.minimise(x, options)? {
        return Ok(outcome);
    }
    match f.second() {
        Second::None => lbfgs::minimise(f, x, options),
        Second::Products(_) => newton::minimise(f, x, options, &mut newton::ConjugateGradients::new(options.cancel)),
        Second::Matrix(_) => newton::minimise(f, x, options, &mut newton::Factored::new()),
    }
}
