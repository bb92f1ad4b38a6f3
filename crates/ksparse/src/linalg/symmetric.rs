//! Dense symmetric matrices: determinant, inverse, eigenvalues, products.
//!
//! faer runs on one thread and the columns of an inverse are dealt out in blocks of fixed width, so the bits do not
//! depend on the number of threads.

use crate::threads::for_column_blocks;
use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, ColMut, Mat, MatMut, MatRef, Par};

/// Columns a thread takes at a time.
const WIDTH: usize = 64;

/// `log det (L L')`.
pub(crate) fn log_det(factor: &Mat<f64>) -> f64 {
    2.0 * (0..factor.nrows()).map(|i| factor[(i, i)].ln()).sum::<f64>()
}

/// `(L L')^-1`, both triangles.
pub(crate) fn inverse(factor: &Mat<f64>) -> Mat<f64> {
    let p = factor.nrows();
    let mut out = Mat::<f64>::zeros(p, p);
    // Columns from c on need only the trailing part of L: below the diagonal block everything, above it nothing.
    for_column_blocks(out.as_mut(), WIDTH, p * p * p / 3, |b, block| {
        let start = b * WIDTH;
        let mut block = block.subrows_mut(start, p - start);
        (0..block.ncols()).for_each(|c| block[(c, c)] = 1.0);
        let lower = factor.as_ref().submatrix(start, start, p - start, p - start);
        solve_lower_triangular_in_place(lower, block.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(lower.transpose(), block.as_mut(), Par::Seq);
    });
    mirror(&mut out);
    out
}

/// Copies the lower triangle to the upper one.
fn mirror(matrix: &mut Mat<f64>) {
    for j in 0..matrix.ncols() {
        for i in j + 1..matrix.nrows() {
            matrix[(j, i)] = matrix[(i, j)];
        }
    }
}

/// Eigenvalues, ascending, and eigenvectors (columns) of a symmetric matrix (its lower triangle); `None` if the
/// iteration fails.
pub(crate) fn eigen(matrix: MatRef<'_, f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let mut vectors = Mat::zeros(matrix.nrows(), matrix.nrows());
    let values = decompose(matrix, Some(vectors.as_mut()))?;
    Some((values, vectors))
}

/// The eigenvalues of a symmetric matrix (its lower triangle), ascending; NaN throughout if the iteration fails.
pub(crate) fn eigenvalues(matrix: MatRef<'_, f64>) -> Vec<f64> {
    decompose(matrix, None).unwrap_or_else(|| vec![f64::NAN; matrix.nrows()])
}

fn decompose(matrix: MatRef<'_, f64>, vectors: Option<MatMut<'_, f64>>) -> Option<Vec<f64>> {
    let p = matrix.nrows();
    let mut values = vec![0.0; p];
    let wanted = if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let mut buffer = MemBuffer::new(self_adjoint_evd_scratch::<f64>(p, wanted, Par::Seq, Default::default()));
    let diagonal: DiagMut<'_, f64> = ColMut::from_slice_mut(&mut values).as_diagonal_mut();
    let stack = MemStack::new(&mut buffer);
    self_adjoint_evd(matrix, diagonal, vectors, Par::Seq, stack, Default::default()).ok()?;
    Some(values)
}

/// `V diag(values) V'`, both triangles.
pub(crate) fn compose(values: &[f64], vectors: &Mat<f64>) -> Mat<f64> {
    let p = values.len();
    let mut scaled = vectors.clone();
    for (j, v) in values.iter().enumerate() {
        scaled.col_as_slice_mut(j).iter_mut().for_each(|x| *x *= v);
    }
    product_with_transpose(&scaled, vectors, p)
}

/// `A' A / n` for the columns of an n-row matrix, both triangles.
pub(crate) fn gram(columns: &Mat<f64>) -> Mat<f64> {
    let (n, p) = (columns.nrows(), columns.ncols());
    let mut out = Mat::<f64>::zeros(p, p);
    for_column_blocks(out.as_mut(), WIDTH, n * p * p / 2, |b, block| {
        let start = b * WIDTH;
        let right = columns.subcols(start, block.ncols());
        let left = columns.subcols(start, p - start);
        let target = block.subrows_mut(start, p - start);
        faer::linalg::matmul::matmul(target, Accum::Replace, left.transpose(), right, 1.0 / n as f64, Par::Seq);
    });
    mirror(&mut out);
    out
}

/// `A B'`, known to be symmetric.
fn product_with_transpose(a: &Mat<f64>, b: &Mat<f64>, p: usize) -> Mat<f64> {
    let mut out = Mat::<f64>::zeros(p, p);
    let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    triangular::matmul(out.as_mut(), lower, Accum::Replace, a, whole, b.transpose(), whole, 1.0, Par::Seq);
    mirror(&mut out);
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::cholesky;
    use super::*;

    /// A positive definite matrix with no structure.
    fn example(p: usize) -> Mat<f64> {
        let a = Mat::from_fn(p + 5, p, |i, j| (((i * 37 + j * 91 + i * j * 13) % 101) as f64 - 50.0) / 50.0);
        let mut g = gram(&a);
        (0..p).for_each(|i| g[(i, i)] += 0.1);
        g
    }

    #[test]
    fn factor_inverse_and_eigenvalues_agree() {
        for p in [1, 2, 7, 63, 64, 65, 150] {
            let a = example(p);
            let factor = cholesky(a.clone()).unwrap();
            let back = &a * inverse(&factor);
            for i in 0..p {
                for j in 0..p {
                    assert!((back[(i, j)] - f64::from(u8::from(i == j))).abs() < 1e-9, "p {p}: {}", back[(i, j)]);
                }
            }
            let (values, vectors) = eigen(a.as_ref()).unwrap();
            let alone = eigenvalues(a.as_ref());
            assert!(values.iter().zip(&alone).all(|(v, a)| (v - a).abs() < 1e-12 * values[p - 1]));
            assert!((values.iter().map(|v| v.ln()).sum::<f64>() - log_det(&factor)).abs() < 1e-9 * p as f64);
            let same = compose(&values, &vectors);
            assert!((0..p).all(|j| (0..p).all(|i| (same[(i, j)] - a[(i, j)]).abs() < 1e-11)));
        }
    }

    #[test]
    fn no_factor_outside_the_cone() {
        assert!(cholesky(faer::mat![[1.0, 2.0], [2.0, 1.0f64]]).is_none());
        assert!(cholesky(faer::mat![[0.0f64]]).is_none());
        assert!(cholesky(faer::mat![[f64::NAN]]).is_none());
    }
}
