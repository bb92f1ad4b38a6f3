//! Theory as code.

mod spectrum;

pub use spectrum::largest_gram_eigenvalue;
pub(crate) use spectrum::symmetric_eigenvalues;
