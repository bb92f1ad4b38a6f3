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
mod picked;
mod recentred;
mod rows;
mod scaled;
mod sparse;
mod traffic;

pub use crate::kernels::Entry;
pub use dense::Dense;
pub use intercept::WithIntercept;
pub(crate) use picked::Picked;
pub(crate) use recentred::Recentred;
pub use rows::Rows;
pub use scaled::Scaled;
pub(crate) use scaled::check_penalty_factors;
pub use sparse::Sparse;
pub use traffic::Traffic;

use crate::error::Result;
use crate::linalg::MatrixMut;
use crate::sparsity::SparseRef;
use faer::Mat;

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

    /// `out = X' R` for several vectors at once, both by rows: `r[i * outputs + o]`, `out[j * outputs + o]`.
    fn tmul_outputs(&self, r: &[f64], outputs: usize, out: &mut [f64]) {
        one_by_one(r, outputs, out, |r, out| self.tmul(r, out));
    }

    /// `out[c] = X[:, columns[c]]' r`.
    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]);

    /// `out[j] = sum_i weights[i] X[i, j]^2`.
    fn squares(&self, weights: &[f64], out: &mut [f64]);

    /// `out[j * outputs + o] = sum_i weights[i * outputs + o] X[i, j]^2`: for several lists of weights at once.
    fn squares_outputs(&self, weights: &[f64], outputs: usize, out: &mut [f64]) {
        one_by_one(weights, outputs, out, |weights, out| self.squares(weights, out));
    }

    /// `out[c] = sum_i weights[i] X[i, columns[c]]^2`.
    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]);

    /// `out[j] = sum_i weights[i] (X[i, j] - centres[j])^2`, every difference taken before it is squared: no offset is
    /// too large.
    fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]);

    /// What [`squares`](Self::squares) would give if nothing cancelled in the products: their rounding errors are small
    /// beside the roots of these. The squares themselves where entries are stored; more where products are put together
    /// from larger parts.
    fn magnitudes(&self, weights: &[f64], out: &mut [f64]);

    /// `out = X_left' diag(weights) X_right`, one column per entry of `right` (make that the longer list).
    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64], out: MatrixMut<'_>);

    /// The columns of a support, ready for the inner solver.
    fn gather<'a>(&'a self, support: &[usize]) -> Box<dyn Columns + 'a>;

    /// The entries of row `i` that are not zero, by column: pairs appended to `out` (cleared first).
    fn row(&self, i: usize, out: &mut Vec<(usize, f64)>);

    /// `out[s] = sum_j X[rows[s], j] w[j]` over a whole vector w. The first call may turn the matrix round once: the
    /// copy by rows stays in memory.
    fn dot_rows(&self, rows: &[usize], w: &[f64], out: &mut [f64]);

    /// `out[j] += sum_s factors[s] X[rows[s], j]`: the cost is that of the rows' entries, as for
    /// [`dot_rows`](Self::dot_rows), and for a wrapper at most that of a pass over `out`.
    fn add_rows(&self, rows: &[usize], factors: &[f64], out: &mut [f64]);

    /// The work of one pass over all the data (`tmul`), in multiply-adds of a streaming loop.
    fn cost(&self) -> f64;

    /// The columns that have entries, ascending, and the design of those alone: for matrices most of whose columns are
    /// empty, where a pass over all of them is a pass over nothing. `None` where it would spare little.
    fn occupied<'a>(&'a self) -> Option<Occupied<'a>> {
        None
    }

    /// `Err` once a product could not be computed: a device is lost, a worker gone. What that product wrote, and those
    /// after it, means nothing; whoever evaluates something from products asks before using it. A matrix in memory is
    /// always well.
    fn health(&self) -> Result<()>;

    /// What has travelled so far, where the matrix lies on a device.
    fn traffic(&self) -> Option<Traffic> {
        None
    }
}

/// The columns of a design that have entries; see [`Design::occupied`].
pub struct Occupied<'a> {
    /// Their numbers, ascending.
    pub columns: Vec<usize>,
    /// They alone.
    pub design: Box<dyn Design + 'a>,
}

/// A product of several vectors kept by rows, one vector after the other.
fn one_by_one(x: &[f64], outputs: usize, out: &mut [f64], product: impl Fn(&[f64], &mut [f64])) {
    if outputs == 1 {
        return product(x, out);
    }
    let mut result = vec![0.0; out.len() / outputs.max(1)];
    for o in 0..outputs {
        let vector: Vec<f64> = x.iter().skip(o).step_by(outputs).copied().collect();
        product(&vector, &mut result);
        out.iter_mut().skip(o).step_by(outputs).zip(&result).for_each(|(out, v)| *out = *v);
    }
}

/// The sums of the columns of a matrix kept by rows.
fn totals(r: &[f64], outputs: usize) -> Vec<f64> {
    let mut totals = vec![0.0; outputs];
    for r in r.chunks_exact(outputs.max(1)) {
        totals.iter_mut().zip(r).for_each(|(total, r)| *total += r);
    }
    totals
}

/// Adds a multiple of one row to every row of a matrix.
fn add_to_rows(factor: f64, row: &[f64], out: &mut [f64]) {
    for out in out.chunks_exact_mut(row.len().max(1)) {
        out.iter_mut().zip(row).for_each(|(o, v)| *o += factor * v);
    }
}

/// `X_left' diag(weights) X_right`.
pub(crate) fn cross<D: Design + ?Sized>(design: &D, left: &[usize], right: &[usize], weights: &[f64]) -> Mat<f64> {
    let mut out = Mat::zeros(left.len(), right.len());
    design.cross(left, right, weights, MatrixMut::over(&mut out));
    out
}

/// `X' diag(weights) X` over all columns.
pub(crate) fn gram(design: &dyn Design, weights: &[f64]) -> Mat<f64> {
    let all: Vec<usize> = (0..design.ncols()).collect();
    cross(design, &all, &all, weights)
}

/// A handful of columns A of a design, with the products that minimising on a support needs.
pub trait Columns: Send {
    /// How many columns.
    fn ncols(&self) -> usize;

    /// Turns into the columns of another support (ascending, as this one was), where that is cheaper than gathering
    /// them anew. `false`: it does not know how, and has not changed.
    fn change(&mut self, _support: &[usize]) -> bool {
        false
    }

    /// `out = A x`.
    fn mul(&self, x: &[f64], out: &mut [f64]);

    /// `out = A' r`.
    fn tmul(&self, r: &[f64], out: &mut [f64]);

    /// `out = A X` for several vectors at once, both by rows: `x[c * outputs + o]`, `out[i * outputs + o]`.
    fn mul_outputs(&self, x: &[f64], outputs: usize, out: &mut [f64]) {
        one_by_one(x, outputs, out, |x, out| self.mul(x, out));
    }

    /// `out = A' R`, likewise.
    fn tmul_outputs(&self, r: &[f64], outputs: usize, out: &mut [f64]) {
        one_by_one(r, outputs, out, |r, out| self.tmul(r, out));
    }

    /// `out = A' r` where `r = diag(weights) (A x + shift)`, and the sum of r: what conjugate gradients ask for again
    /// and again, in one pass over the entries where that can be. (Shift and sum are what a column of ones, or columns
    /// that are centred on the fly, need of the columns below them.) `between` has room for a number per row.
    fn normal(&self, weights: &[f64], x: &[f64], shift: f64, between: &mut [f64], out: &mut [f64]) -> f64 {
        two_products(self, weights, x, shift, between, out)
    }

    /// The lower triangle of `A' diag(weights) A`, weights non-negative; what is above the diagonal of `out` is left as
    /// it was.
    fn gram(&mut self, weights: &[f64], out: MatrixMut<'_>);

    /// `out[c] = sum_i weights[i] A[i, c]^2`.
    fn squares(&self, weights: &[f64], out: &mut [f64]);

    /// `out[c * outputs + o] = sum_i weights[i * outputs + o] A[i, c]^2`: for several lists of weights at once.
    fn squares_outputs(&self, weights: &[f64], outputs: usize, out: &mut [f64]) {
        one_by_one(weights, outputs, out, |weights, out| self.squares(weights, out));
    }

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

/// [`Columns::normal`] by a product with the columns and one with their transpose.
fn two_products<C: Columns + ?Sized>(
    columns: &C,
    weights: &[f64],
    x: &[f64],
    shift: f64,
    between: &mut [f64],
    out: &mut [f64],
) -> f64 {
    columns.mul(x, between);
    between.iter_mut().zip(weights).for_each(|(z, w)| *z = w * (*z + shift));
    columns.tmul(between, out);
    between.iter().sum()
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
            fn tmul_outputs(&self, r: &[f64], outputs: usize, out: &mut [f64]) {
                (**self).tmul_outputs(r, outputs, out)
            }
            fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
                (**self).tmul_at(r, columns, out)
            }
            fn squares(&self, weights: &[f64], out: &mut [f64]) {
                (**self).squares(weights, out)
            }
            fn squares_outputs(&self, weights: &[f64], outputs: usize, out: &mut [f64]) {
                (**self).squares_outputs(weights, outputs, out)
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
            fn cross(&self, left: &[usize], right: &[usize], weights: &[f64], out: MatrixMut<'_>) {
                (**self).cross(left, right, weights, out)
            }
            fn gather<'a>(&'a self, support: &[usize]) -> Box<dyn Columns + 'a> {
                (**self).gather(support)
            }
            fn row(&self, i: usize, out: &mut Vec<(usize, f64)>) {
                (**self).row(i, out)
            }
            fn dot_rows(&self, rows: &[usize], w: &[f64], out: &mut [f64]) {
                (**self).dot_rows(rows, w, out)
            }
            fn add_rows(&self, rows: &[usize], factors: &[f64], out: &mut [f64]) {
                (**self).add_rows(rows, factors, out)
            }
            fn cost(&self) -> f64 {
                (**self).cost()
            }
            fn occupied<'a>(&'a self) -> Option<Occupied<'a>> {
                (**self).occupied()
            }
            fn health(&self) -> Result<()> {
                (**self).health()
            }
            fn traffic(&self) -> Option<Traffic> {
                (**self).traffic()
            }
        }
    };
}

delegate!(&D);
delegate!(Box<D>);
delegate!(std::sync::Arc<D>);
