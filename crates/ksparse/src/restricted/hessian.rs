//! Second derivatives on a support.

use crate::error::Result;
use crate::linalg::MatrixMut;

/// Second derivatives of a function on a support, and which way of using them is the cheaper: what chooses the method.
pub enum Second<'a> {
    /// There are none: first-order methods only.
    None,
    /// Products with the Hessian are the cheaper way.
    Products(&'a mut dyn SupportHessian),
    /// The whole matrix is the cheaper way.
    Matrix(&'a mut dyn SupportHessian),
}

impl<'a> Second<'a> {
    /// The Hessian, whichever way is the cheaper.
    pub fn hessian(self) -> Option<&'a mut dyn SupportHessian> {
        match self {
            Self::None => None,
            Self::Products(hessian) | Self::Matrix(hessian) => Some(hessian),
        }
    }

    /// Which way that is.
    pub(crate) fn way(&self) -> Way {
        match self {
            Self::None => Way::None,
            Self::Products(_) => Way::Products,
            Self::Matrix(_) => Way::Matrix,
        }
    }
}

/// A way of using second derivatives, for functions that are made of another and go its way.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    None,
    Products,
    Matrix,
}

impl Way {
    /// The same way with the derivatives of this one.
    pub fn with(self, hessian: &mut dyn SupportHessian) -> Second<'_> {
        match self {
            Self::None => Second::None,
            Self::Products => Second::Products(hessian),
            Self::Matrix => Second::Matrix(hessian),
        }
    }
}

/// The Hessian of a function on a support at one point. Whoever has one says all of the first three: a product can be
/// had from the matrix and the matrix from products, at a price that only the function knows.
pub trait SupportHessian {
    /// Its lower triangle; what is above the diagonal of `out` is not read.
    fn matrix(&mut self, out: MatrixMut<'_>) -> Result<()>;

    /// `out = H v`.
    fn product(&mut self, v: &[f64], out: &mut [f64]) -> Result<()>;

    /// Until f is moved, [`product`](Self::product) may be off by about this share of the Hessian, where that is
    /// cheaper.
    fn may_err(&mut self, _share: f64) {}

    /// Its diagonal.
    fn diagonal(&mut self, out: &mut [f64]) -> Result<()>;

    /// A positive diagonal near its own, to precondition conjugate gradients: cheap matters more than exact.
    fn rough_diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        self.diagonal(out)
    }

    /// A diagonal that bounds its own everywhere, the unit of the damping; where no bound is known, its own here.
    fn majorant(&mut self, out: &mut [f64]) -> Result<()> {
        self.diagonal(out)
    }

    /// A better preconditioner than a diagonal, for who knows one.
    fn preconditioner(&mut self) -> Option<&mut dyn Preconditioner> {
        None
    }
}

/// A positive definite matrix near the inverse of a Hessian.
pub trait Preconditioner {
    /// `out = P r`.
    fn apply(&mut self, r: &[f64], out: &mut [f64]) -> Result<()>;
}
