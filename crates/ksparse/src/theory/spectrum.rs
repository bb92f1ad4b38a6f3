//! Eigenvalues: of a symmetric matrix, of a whole Gram matrix, of all its small blocks.

use crate::design::Design;
use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{ColMut, MatRef, Par};

/// The eigenvalues of a symmetric matrix (lower triangle), ascending; NaN throughout if the iteration fails.
///
/// On one thread, so that the bits do not depend on how many there are.
pub(crate) fn symmetric_eigenvalues(matrix: MatRef<'_, f64>) -> Vec<f64> {
    let dim = matrix.nrows();
    let mut values = vec![0.0; dim];
    let need = self_adjoint_evd_scratch::<f64>(dim, ComputeEigenvectors::No, Par::Seq, Default::default());
    let mut buffer = MemBuffer::new(need);
    let diagonal: DiagMut<'_, f64> = ColMut::from_slice_mut(&mut values).as_diagonal_mut();
    let stack = MemStack::new(&mut buffer);
    if self_adjoint_evd(matrix, diagonal, None, Par::Seq, stack, Default::default()).is_err() {
        values.fill(f64::NAN);
    }
    values
}

/// An upper bound on the largest eigenvalue of `X' diag(weights) X`.
pub fn largest_gram_eigenvalue(_design: &dyn Design, _weights: &[f64]) -> f64 {
    f64::INFINITY
}
