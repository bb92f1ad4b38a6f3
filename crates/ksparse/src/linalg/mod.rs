//! Dense matrices: a view for the public traits, and what the library does with faer behind it.

mod cholesky;
mod symmetric;
mod view;

pub(crate) use cholesky::{Cholesky, cholesky};
pub(crate) use symmetric::{compose, eigen, eigenvalues, gram, inverse, log_det};
pub use view::MatrixMut;
