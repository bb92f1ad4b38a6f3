//! Theory as code.

use crate::design::Design;

/// An upper bound on the largest eigenvalue of `X' diag(weights) X`.
pub fn largest_gram_eigenvalue(_design: &dyn Design, _weights: &[f64]) -> f64 {
    f64::INFINITY
}
