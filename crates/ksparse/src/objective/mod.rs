//! The function to minimise: all that a solver sees.
//!
//! [`Risk`] is the empirical risk of a design and a loss, [`JointRisk`] that of a loss of all predictions together;
//! [`Boxed`] is another objective within bounds; [`Custom`] wraps a user's own value-and-gradient function; anything
//! else implements [`Objective`], whose optional methods unlock the faster paths of the solvers. An objective is asked
//! for a [`Point`]: f at one x, with what was computed on the way kept. Everything evaluated may fail; solvers hand the
//! error to their caller.

mod boxed;
mod custom;
mod from_gradients;
mod joint;
mod model;
mod moments;
mod point;
mod profile;
mod risk;
mod samples;
mod shards;
mod total;

pub use boxed::{Bounds, Boxed};
pub use custom::Custom;
pub use from_gradients::FromGradients;
pub use joint::JointRisk;
pub use model::LinearModel;
pub use moments::Moments;
pub use point::{FirstOrder, Hessian, Point};
pub use profile::{BlockCost, Profile};
pub use risk::Risk;
pub use samples::Samples;
pub use shards::{
    Asked, Blocks, Communication, Frame, Passed, Passes, Question, Rounds, Seat, Shard, Summed, SummedOptions, Tree,
    side_by_side,
};
pub use total::{Total, Totalled};

use crate::design::Traffic;
use crate::error::Result;
use crate::loss::Smoothness;
use crate::restricted::Restricted;
use crate::sparsity::{SparseRef, Sparsity};

/// A convex function of `dim` coordinates, to be minimised with few of them non-zero.
///
/// Only [`dim`](Self::dim) and [`at`](Self::at) are required.
///
/// ```
/// use ksparse::objective::{FirstOrder, Point};
/// use ksparse::{Objective, Result, SparseRef, Sparsity, solver::{Fbs, Solver}};
///
/// /// Half the squared distance to a point.
/// struct Near([f64; 3]);
///
/// impl Objective for Near {
///     fn dim(&self) -> usize {
///         3
///     }
///
///     fn at<'a>(&'a self, x: SparseRef<'_>) -> Result<Box<dyn Point + 'a>> {
///         let mut gradient: Vec<f64> = self.0.iter().map(|t| -t).collect();
///         x.iter().for_each(|(j, v)| gradient[j] += v);
///         let value = 0.5 * gradient.iter().map(|g| g * g).sum::<f64>();
///         Ok(Box::new(FirstOrder { value, gradient }))
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

    /// f at x, with its derivatives at hand.
    fn at<'a>(&'a self, x: SparseRef<'_>) -> Result<Box<dyn Point + 'a>>;

    /// f(x) alone, for objectives that get it for less than a point.
    fn value(&self, x: SparseRef) -> Result<f64> {
        Ok(self.at(x)?.value())
    }

    /// Coordinates that are never thresholded and not counted in k (an intercept, a diagonal).
    fn free(&self) -> &[usize] {
        &[]
    }

    /// What kind of function it is, and what its parts cost.
    fn profile(&self) -> Profile {
        Profile::of_gradients(self.dim())
    }

    /// f as a function of the coordinates in `support` alone, the others being 0.
    fn restrict<'a>(&'a self, support: &[usize]) -> Result<Box<dyn Restricted + 'a>> {
        Ok(Box::new(FromGradients::new(self, support)))
    }

    /// f over some of its coordinates (ascending, free ones among them), the others being 0; `None` where that is no
    /// cheaper than f itself.
    fn narrowed<'a>(&'a self, _coordinates: &[usize]) -> Result<Option<Box<dyn Objective + 'a>>> {
        Ok(None)
    }

    /// Moves a point where f is infinite to one where it is finite, on the same support: for functions that are not
    /// defined everywhere (a log-determinant), whose points may leave their domain when coordinates are dropped.
    fn repair(&self, _support: &[usize], _x: &mut [f64]) -> Result<()> {
        Ok(())
    }

    /// `Err` for a point that breaks a constraint that no gradient shows: what a search ends at must not. Every point
    /// will do where there is none.
    fn check(&self, _x: SparseRef) -> Result<()> {
        Ok(())
    }

    /// The smallest k of which some choice keeps to such a constraint; `Err` where none does.
    fn least_k(&self, _sparsity: &Sparsity) -> Result<usize> {
        Ok(0)
    }

    /// An upper bound on the diagonal of the Hessian anywhere: the units of the coordinates, also where f has no
    /// curvature. `None` where no bound is known.
    fn majorant(&self) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    /// An upper bound on the curvature of f along `s`-sparse directions (M_s), for the theoretical step.
    fn smoothness(&self, _s: usize) -> Result<Smoothness> {
        Ok(if self.profile().corners { Smoothness::Corners } else { Smoothness::Unbounded })
    }

    /// What has travelled so far, where the data lie on a device.
    fn traffic(&self) -> Option<Traffic> {
        None
    }

    /// The samples f is a mean over, for methods that draw from them or work on a dual; `None` for other functions.
    fn samples(&self) -> Option<Samples<'_>> {
        None
    }
}
