//! The function to minimise: all that a solver sees.
//!
//! [`Risk`] is the empirical risk of a design and a loss; [`Custom`] wraps a user's own value-and-gradient function; anything
//! else implements [`Objective`], whose optional methods unlock the faster paths of the solvers.

mod custom;
mod from_gradients;
mod model;
mod risk;

pub use custom::Custom;
pub use from_gradients::FromGradients;
pub use model::LinearModel;
pub use risk::Risk;

use crate::error::Result;
use crate::loss::Smoothness;
use crate::restricted::Restricted;
use crate::sparsity::SparseRef;
use faer::Mat;

/// A convex function of `dim` coordinates, to be minimised with few of them non-zero.
///
/// Only [`dim`](Self::dim) and [`value_and_gradient`](Self::value_and_gradient) are required.
///
/// ```
/// use ksparse::{Objective, SparseRef, Sparsity, solver::{Fbs, Solver}};
///
/// /// Half the squared distance to a point.
/// struct Near([f64; 3]);
///
/// impl Objective for Near {
///     fn dim(&self) -> usize {
///         3
///     }
///
///     fn value_and_gradient(&self, x: SparseRef, gradient: &mut [f64]) -> f64 {
///         gradient.iter_mut().zip(self.0).for_each(|(g, t)| *g = -t);
///         x.iter().for_each(|(j, v)| gradient[j] += v);
///         0.5 * gradient.iter().map(|g| g * g).sum::<f64>()
///     }
/// }
///
/// let solution = Fbs::default().fit(&Near([3.0, -1.0, 2.0]), &Sparsity::new(2))?;
/// assert_eq!(solution.support, [0, 2]);
/// # Ok::<(), ksparse::Error>(())
/// ```
pub trait Objective: Send + Sync {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// f(x), and its whole gradient written to `gradient`.
    fn value_and_gradient(&self, x: SparseRef, gradient: &mut [f64]) -> f64;

    /// f(x).
    fn value(&self, x: SparseRef) -> f64 {
        self.value_and_gradient(x, &mut vec![0.0; self.dim()])
    }

    /// Coordinates that are never thresholded and not counted in k (an intercept, a diagonal).
    fn free(&self) -> &[usize] {
        &[]
    }

    /// f as a function of the coordinates in `support` alone, the others being 0.
    fn restrict<'a>(&'a self, support: &[usize]) -> Result<Box<dyn Restricted + 'a>> {
        Ok(Box::new(FromGradients::new(self, support)))
    }

    /// Moves a point where f is infinite to one where it is finite, on the same support: for functions that are not defined everywhere
    /// (a log-determinant), whose points may leave their domain when coordinates are dropped.
    fn repair(&self, _support: &[usize], _x: &mut [f64]) {}

    /// The Hessian at x, for objectives that can say more than a gradient.
    fn hessian<'a>(&'a self, _x: SparseRef) -> Option<Box<dyn Hessian + 'a>> {
        None
    }

    /// The Hessian at x with the gradient there, for objectives that get one from the other.
    fn gradient_and_hessian<'a>(&'a self, x: SparseRef, gradient: &mut [f64]) -> Option<Box<dyn Hessian + 'a>> {
        let hessian = self.hessian(x)?;
        self.value_and_gradient(x, gradient);
        Some(hessian)
    }

    /// The work of a [`block`](Hessian::block) of the Hessian for lists of these lengths, in multiply-adds; infinite for objectives without one.
    fn block_cost(&self, _left: usize, _right: usize) -> f64 {
        f64::INFINITY
    }

    /// Writes an upper bound on the diagonal of the Hessian anywhere and returns true, for objectives that know one: the units of
    /// the coordinates, also where f has no curvature.
    fn majorant_diagonal(&self, _out: &mut [f64]) -> bool {
        false
    }

    /// Whether f is a quadratic: its Hessian is the same everywhere.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// Whether f has a gradient everywhere.
    fn is_smooth(&self) -> bool {
        true
    }

    /// An upper bound on the curvature of f along `s`-sparse directions (M_s), for the theoretical step.
    fn smoothness(&self, _s: usize) -> Result<Smoothness> {
        Ok(if self.is_smooth() { Smoothness::Unbounded } else { Smoothness::Corners })
    }

    /// What a step "on the sum of the losses" is multiplied by to become a step on f: the total sample
    /// weight where f is a mean, 1 elsewhere.
    fn step_unit(&self) -> f64 {
        1.0
    }

    /// The empirical risk this objective is, for methods that need samples or a dual; `None` for other functions.
    fn as_risk(&self) -> Option<&Risk<'_>> {
        None
    }

    /// The work of one gradient, in multiply-adds: how solvers weigh one plan against another. A function that does not say is taken for
    /// a mean over a thousand samples.
    fn gradient_cost(&self) -> f64 {
        1000.0 * self.dim() as f64
    }
}

/// Second derivatives of an objective at one point.
pub trait Hessian {
    /// Its diagonal.
    fn diagonal(&self, out: &mut [f64]);

    /// Some entries of its diagonal.
    fn diagonal_at(&self, coordinates: &[usize], out: &mut [f64]);

    /// The rows `left` and columns `right` of it (make `right` the longer list).
    fn block(&self, left: &[usize], right: &[usize]) -> Mat<f64>;
}
