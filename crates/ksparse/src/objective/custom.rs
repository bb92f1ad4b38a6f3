//! A user's own function.

use super::{FirstOrder, Objective, Point};
use crate::error::Result;
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
pub struct Custom<'a> {
    dim: usize,
    free: Vec<usize>,
    function: Box<Function<'a>>,
}

type Function<'a> = dyn Fn(&[f64], &mut [f64]) -> Result<f64> + Send + Sync + 'a;

impl<'a> Custom<'a> {
    /// A function of `dim` variables; it must be convex for the solvers' statements to hold.
    pub fn new(dim: usize, function: impl Fn(&[f64], &mut [f64]) -> f64 + Send + Sync + 'a) -> Self {
        Self::fallible(dim, move |x, gradient| Ok(function(x, gradient)))
    }

    /// A function that may fail: the solver ends with its error.
    ///
    /// ```
    /// use ksparse::{Custom, Error, Solver, Sparsity, solver::Grahtp};
    /// let broken = Custom::fallible(3, |_, _| Err(Error::evaluation("the worker is gone")));
    /// let error = Grahtp::default().fit(&broken, &Sparsity::new(1)).unwrap_err();
    /// assert_eq!(error.to_string(), "the objective cannot be evaluated: the worker is gone");
    /// ```
    pub fn fallible(dim: usize, function: impl Fn(&[f64], &mut [f64]) -> Result<f64> + Send + Sync + 'a) -> Self {
        Self { dim, free: Vec::new(), function: Box::new(function) }
    }

    /// The same function with some coordinates declared free.
    pub fn with_free(mut self, free: Vec<usize>) -> Self {
        self.free = free;
        self
    }
}

impl Objective for Custom<'_> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn free(&self) -> &[usize] {
        &self.free
    }

    fn at<'b>(&'b self, x: SparseRef<'_>) -> Result<Box<dyn Point + 'b>> {
        let mut gradient = vec![0.0; self.dim];
        let value = (self.function)(&x.to_dense(self.dim), &mut gradient)?;
        Ok(Box::new(FirstOrder { value, gradient }))
    }
}
