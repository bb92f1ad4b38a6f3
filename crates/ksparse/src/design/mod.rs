//! The data, seen only through its products.
//!
//! | design | stores |
//! |---|---|
//! | [`Dense`] | columns one after another, f64 or f32 |
//! | [`Sparse`] | compressed columns (CSC), 32-bit row indices, 64-bit pointers, f64 or f32 |
//! | [`Scaled`] | another design, centred and scaled on the fly: a sparse one stays sparse |
//! | [`Rows`] | some rows of another design (folds, resamples), nothing copied |
//! | [`WithIntercept`] | another design and a last column of ones |
//!
//! Every sum runs over the rows in a fixed order whatever the number of threads.

mod dense;
mod intercept;
pub(crate) mod moments;
mod recentred;
mod rows;
mod scaled;
mod sparse;

pub use crate::kernels::Entry;
pub use dense::Dense;
pub use intercept::WithIntercept;
pub(crate) use recentred::Recentred;
pub use rows::Rows;
pub use scaled::Scaled;
pub use sparse::Sparse;

use crate::sparsity::SparseRef;
use faer::{Mat, MatMut};

/// An n x p matrix X that can be multiplied.
///
/// Lengths of slices are the caller's duty (they are checked once, where a problem is built).
pub trait Design: Send + Sync {
    /// n.
    fn nrows(&self) -> usize;

    /// p.
    fn ncols(&self) -> usize;

    /// `out = X w` for a sparse w: the cost is that of the columns touched.
    fn mul(&self, w: SparseRef, out: &mut [f64]);

    /// `out = X' r`: the expensive pass over all the data.
    fn tmul(&self, r: &[f64], out: &mut [f64]);

    /// `out[c] = X[:, columns[c]]' r`.
    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]);

    /// `out[j] = sum_i weights[i] X[i, j]^2`.
    fn squares(&self, weights: &[f64], out: &mut [f64]);

    /// `out[c] = sum_i weights[i] X[i, columns[c]]^2`.
    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]);

    /// `out[j] = sum_i weights[i] (X[i, j] - centres[j])^2`, every difference taken before it is squared: no offset is too large.
    fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]);

    /// What [`squares`](Self::squares) would give if nothing cancelled in the products: their rounding errors are small beside the roots of these.
    /// The squares themselves where entries are stored; more where products are put together from larger parts.
    fn magnitudes(&self, weights: &[f64], out: &mut [f64]);

    /// `X_left' diag(weights) X_right`, one column per entry of `right` (make that the longer list).
    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64]) -> Mat<f64>;

    /// The columns of a support, ready for the inner solver.
    fn gather<'a>(&'a self, support: &[usize]) -> Box<dyn Columns + 'a>;

    /// The entries of row `i` that are not zero, by column: pairs appended to `out` (cleared first).
    fn row(&self, i: usize, out: &mut Vec<(usize, f64)>);

    /// `sum_j X[i, j] w[j]` over a whole vector w. The first call may turn the matrix round once: the copy by rows stays in memory.
    fn row_dot(&self, i: usize, w: &[f64]) -> f64 {
        let mut row = Vec::new();
        self.row(i, &mut row);
        row.iter().map(|&(j, v)| v * w[j]).sum()
    }

    /// `out[j] += factor X[i, j]`: the cost is that of the row's entries, as for [`row_dot`](Self::row_dot).
    fn row_add(&self, i: usize, factor: f64, out: &mut [f64]) {
        let mut row = Vec::new();
        self.row(i, &mut row);
        row.iter().for_each(|&(j, v)| out[j] += factor * v);
    }

    /// The work of one pass over all the data (`tmul`), in multiply-adds of a streaming loop.
    fn cost(&self) -> f64;
}

/// A handful of columns A of a design, with the products that minimising on a support needs.
pub trait Columns: Send {
    /// How many columns.
    fn ncols(&self) -> usize;

    /// `out = A x`.
    fn mul(&self, x: &[f64], out: &mut [f64]);

    /// `out = A' r`.
    fn tmul(&self, r: &[f64], out: &mut [f64]);

    /// The lower triangle of `A' diag(weights) A`, weights non-negative; what is above the diagonal of `out` is left as it was.
    fn gram(&mut self, weights: &[f64], out: MatMut<'_, f64>);

    /// `out[c] = sum_i weights[i] A[i, c]^2`.
    fn squares(&self, weights: &[f64], out: &mut [f64]);

    /// The entries of column `c` that are not zero, by row, of `n` rows: pairs appended to `out` (cleared first).
    fn column(&self, c: usize, n: usize, out: &mut Vec<(usize, f64)>) {
        let (mut unit, mut whole) = (vec![0.0; self.ncols()], vec![0.0; n]);
        unit[c] = 1.0;
        self.mul(&unit, &mut whole);
        out.clear();
        out.extend(whole.into_iter().enumerate().filter(|(_, v)| *v != 0.0));
    }

    /// Rough costs, in multiply-adds of a streaming loop, of one product and of one `gram`.
    fn costs(&self) -> Costs;
}

/// Estimated work of the operations of [`Columns`].
#[derive(Debug, Clone, Copy)]
pub struct Costs {
    /// Of `mul` or `tmul`.
    pub product: f64,
    /// Of `gram`.
    pub gram: f64,
}

/// A pointer to a design is a design.
macro_rules! delegate {
    ($pointer:ty) => {
        impl<D: Design + ?Sized> Design for $pointer {
            fn nrows(&self) -> usize {
                (**self).nrows()
            }
            fn ncols(&self) -> usize {
                (**self).ncols()
            }
            fn mul(&self, w: SparseRef, out: &mut [f64]) {
                (**self).mul(w, out)
            }
            fn tmul(&self, r: &[f64], out: &mut [f64]) {
                (**self).tmul(r, out)
            }
            fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
                (**self).tmul_at(r, columns, out)
            }
            fn squares(&self, weights: &[f64], out: &mut [f64]) {
                (**self).squares(weights, out)
            }
            fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]) {
                (**self).squares_at(weights, columns, out)
            }
            fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]) {
                (**self).deviations(weights, centres, out)
            }
            fn magnitudes(&self, weights: &[f64], out: &mut [f64]) {
                (**self).magnitudes(weights, out)
            }
            fn cross(&self, left: &[usize], right: &[usize], weights: &[f64]) -> Mat<f64> {
                (**self).cross(left, right, weights)
            }
            fn gather<'a>(&'a self, support: &[usize]) -> Box<dyn Columns + 'a> {
                (**self).gather(support)
            }
            fn row(&self, i: usize, out: &mut Vec<(usize, f64)>) {
                (**self).row(i, out)
            }
            fn row_dot(&self, i: usize, w: &[f64]) -> f64 {
                (**self).row_dot(i, w)
            }
            fn row_add(&self, i: usize, factor: f64, out: &mut [f64]) {
                (**self).row_add(i, factor, out)
            }
            fn cost(&self) -> f64 {
                (**self).cost()
            }
        }
    };
}

delegate!(&D);
delegate!(Box<D>);
delegate!(std::sync::Arc<D>);
