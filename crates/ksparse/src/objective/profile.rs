//! What kind of function an objective is.

/// Facts about an objective that do not depend on the point: how solvers weigh one plan against another.
///
/// Costs are in multiply-adds of a streaming loop.
///
/// ```
/// use ksparse::objective::Profile;
/// let mut profile = Profile::of_gradients(100); // a function of 100 coordinates that offers gradients
/// profile.quadratic = true;
/// assert!(profile.hessian.is_none() && !profile.corners);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// The Hessian is the same everywhere.
    pub quadratic: bool,
    /// There are places without a gradient, where points offer a subgradient.
    pub corners: bool,
    /// The outputs of an f that is quadratic in each of them by the same Hessian, nothing standing between two:
    /// coordinate `j outputs + c` is the j-th of output c. 1 for any other f.
    pub outputs: usize,
    /// The work of one gradient.
    pub gradient: f64,
    /// The work of a block of the Hessian, for objectives whose points have one.
    pub hessian: Option<BlockCost>,
}

impl Profile {
    /// A smooth function of which only gradients are known, taken for a mean over a thousand samples.
    pub fn of_gradients(dim: usize) -> Self {
        Self { quadratic: false, corners: false, outputs: 1, gradient: 1000.0 * dim as f64, hessian: None }
    }
}

/// The work of a [`block`](super::Hessian::block) of a Hessian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockCost {
    /// Of a column, whatever its length: a pass over the data behind it. 0 where there is none.
    pub column: f64,
    /// Of an entry.
    pub entry: f64,
}

impl BlockCost {
    /// Of a block with lists of these lengths.
    pub fn of(&self, left: usize, right: usize) -> f64 {
        right as f64 * (self.column + self.entry * left as f64)
    }
}
