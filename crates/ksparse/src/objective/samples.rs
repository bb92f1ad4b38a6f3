//! What dual and stochastic methods ask for.

use crate::design::Design;
use crate::loss::Loss;

/// The parts of an objective that is a mean over samples, borrowed:
///
/// ```text
/// f(w) = sum_i c_i l(x_i'w, y_i) + (lambda / 2) sum_j w_j^2     over j not free, sum c = 1
/// ```
///
/// Solvers that need them say `Unsupported` to an objective without. An objective that wraps a risk passes them on.
#[derive(Clone, Copy)]
pub struct Samples<'a> {
    pub(super) design: &'a dyn Design,
    pub(super) loss: &'a dyn Loss,
    pub(super) target: &'a [f64],
    pub(super) weights: &'a [f64],
    pub(super) total_weight: f64,
    pub(super) ridge: f64,
    pub(super) free: &'a [usize],
    /// What a free coordinate, the intercept, is multiplied by in a row.
    pub(super) unit: f64,
}

impl<'a> Samples<'a> {
    /// The rows x_i.
    pub fn design(&self) -> &'a dyn Design {
        self.design
    }

    /// The same samples with other rows, `free` the free coordinates among theirs.
    pub(crate) fn with_design(self, design: &'a dyn Design, free: &'a [usize]) -> Self {
        Self { design, free, ..self }
    }

    /// l.
    pub fn loss(&self) -> &'a dyn Loss {
        self.loss
    }

    /// y.
    pub fn target(&self) -> &'a [f64] {
        self.target
    }

    /// c: sample weights divided by their sum.
    pub fn weights(&self) -> &'a [f64] {
        self.weights
    }

    /// The sum of the sample weights as given: what a step "on the sum of the losses" is multiplied by to become a step
    /// on f.
    pub fn total_weight(&self) -> f64 {
        self.total_weight
    }

    /// lambda.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// The ridge on coordinate j: lambda, or 0 for a free one.
    pub fn penalty(&self, j: usize) -> f64 {
        if self.free.contains(&j) { 0.0 } else { self.ridge }
    }
}
