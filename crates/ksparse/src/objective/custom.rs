//! A user's own function.

use super::Objective;
use crate::sparsity::SparseRef;

/// An objective from a closure that takes x (all of it), writes the gradient and returns the value.
///
/// ```
/// use ksparse::{Custom, Sparsity, solver::{Solver, Grahtp}};
/// // The 2-sparse vector nearest to (3, -1, 2).
/// let target = [3.0, -1.0, 2.0];
/// let nearest = Custom::new(3, |x, gradient| {
///     let mut value = 0.0;
///     for j in 0..3 {
///         gradient[j] = x[j] - target[j];
///         value += 0.5 * gradient[j] * gradient[j];
///     }
///     value
/// });
/// let solution = Grahtp::default().fit(&nearest, &Sparsity::new(2))?;
/// assert_eq!(solution.support, [0, 2]);
/// assert!((solution.coefficients[1] - 2.0).abs() < 1e-6);
/// # Ok::<(), ksparse::Error>(())
/// ```
pub struct Custom<F> {
    dim: usize,
    free: Vec<usize>,
    function: F,
}

impl<F: Fn(&[f64], &mut [f64]) -> f64 + Send + Sync> Custom<F> {
    /// A function of `dim` variables; it must be convex for the solvers' statements to hold.
    pub fn new(dim: usize, function: F) -> Self {
        Self { dim, free: Vec::new(), function }
    }

    /// The same function with some coordinates declared free.
    pub fn with_free(mut self, free: Vec<usize>) -> Self {
        self.free = free;
        self
    }
}

impl<F: Fn(&[f64], &mut [f64]) -> f64 + Send + Sync> Objective for Custom<F> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn free(&self) -> &[usize] {
        &self.free
    }

    fn value_and_gradient(&self, x: SparseRef, gradient: &mut [f64]) -> f64 {
        (self.function)(&x.to_dense(self.dim), gradient)
    }
}
