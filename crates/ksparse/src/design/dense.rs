//! Dense storage, column after column.

use super::{Columns, Costs, Design};
use crate::error::{Error, Result, check_len};
use crate::kernels::{self, Entry};
use crate::sparsity::SparseRef;
use crate::threads::{for_column_blocks, worth_splitting};
use faer::linalg::matmul::{self, triangular::BlockStructure};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::borrow::Cow;

/// A dense design in column-major order; f32 storage halves the memory traffic, sums stay in f64.
///
/// ```
/// use ksparse::design::{Dense, Design};
/// let x = Dense::from_rows(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let mut out = [0.0; 3];
/// x.tmul(&[1.0, 10.0], &mut out);
/// assert_eq!(out, [41.0, 52.0, 63.0]);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dense<'a, T: Entry = f64> {
    nrows: usize,
    ncols: usize,
    values: Cow<'a, [T]>,
}

/// Columns a thread takes at a time in a pass over the matrix, and the tile of a weighted product:
/// fixed, so that no result depends on how many threads there are.
const BLOCK: usize = 64;

impl<'a, T: Entry> Dense<'a, T> {
    /// From values in column-major order, owned (`Vec`) or borrowed (`&[T]`).
    pub fn from_columns(nrows: usize, ncols: usize, values: impl Into<Cow<'a, [T]>>) -> Result<Self> {
        let values = values.into();
        check_len("dense design", values.len(), nrows * ncols)?;
        Ok(Self { nrows, ncols, values })
    }

    /// From values in row-major order, which are transposed.
    pub fn from_rows(nrows: usize, ncols: usize, values: &[T]) -> Result<Self> {
        check_len("dense design", values.len(), nrows * ncols)?;
        let mut columns = vec![T::default(); nrows * ncols];
        if nrows > 0 {
            // Blocks of columns: the rows of a block are read whole cache lines at a time.
            columns.par_chunks_mut(nrows * 16).enumerate().for_each(|(b, block)| {
                for i in 0..nrows {
                    for (c, column) in block.chunks_exact_mut(nrows).enumerate() {
                        column[i] = values[i * ncols + b * 16 + c];
                    }
                }
            });
        }
        Ok(Self { nrows, ncols, values: Cow::Owned(columns) })
    }

    /// One column.
    pub fn column(&self, j: usize) -> &[T] {
        &self.values[j * self.nrows..(j + 1) * self.nrows]
    }

    /// `Err` at the first entry that is NaN or infinite.
    pub fn check_finite(&self) -> Result<()> {
        for j in 0..self.ncols {
            if self.column(j).iter().map(|v| v.widen() * 0.0).sum::<f64>() != 0.0 {
                return Err(Error::NotFinite { what: "design column", index: j });
            }
        }
        Ok(())
    }

    /// The columns of `which` side by side, over all rows.
    fn collect(&self, which: &[usize]) -> Mat<f64> {
        let mut out = Mat::zeros(self.nrows, which.len());
        for (c, &j) in which.iter().enumerate() {
            out.col_as_slice_mut(c).iter_mut().zip(self.column(j)).for_each(|(o, v)| *o = v.widen());
        }
        out
    }

    /// The columns of `which` side by side, over the rows given, each entry times its row's factor.
    fn collect_rows(&self, which: &[usize], rows: &[u32], factors: Option<&[f64]>) -> Mat<f64> {
        let mut out = Mat::zeros(rows.len(), which.len());
        for (c, &j) in which.iter().enumerate() {
            take_rows(self.column(j), rows, factors, out.col_as_slice_mut(c));
        }
        out
    }
}

/// `out[i] = factors[rows[i]] x[rows[i]]`.
fn take_rows<T: Entry>(x: &[T], rows: &[u32], factors: Option<&[f64]>, out: &mut [f64]) {
    match factors {
        Some(f) if rows.len() == x.len() => out.iter_mut().zip(x).zip(f).for_each(|((o, x), f)| *o = x.widen() * f),
        None => out.iter_mut().zip(rows).for_each(|(o, &i)| *o = x[i as usize].widen()),
        Some(f) => out.iter_mut().zip(rows).for_each(|(o, &i)| *o = x[i as usize].widen() * f[i as usize]),
    }
}

/// The rows whose weight is not 0: the others take no part in a weighted product. (Half the samples of a well separated
/// classification problem have no curvature.)
fn weighty(weights: &[f64]) -> Vec<u32> {
    (0..weights.len()).filter(|&i| weights[i] != 0.0).map(|i| i as u32).collect()
}

impl<T: Entry> Design for Dense<'_, T> {
    fn nrows(&self) -> usize {
        self.nrows
    }

    fn ncols(&self) -> usize {
        self.ncols
    }

    fn mul(&self, w: SparseRef, out: &mut [f64]) {
        combine(w.values, |c| self.column(w.indices[c]), out);
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        if worth_splitting(self.values.len()) {
            out.par_chunks_mut(BLOCK).enumerate().for_each(|(b, out)| {
                let start = b * BLOCK * self.nrows;
                kernels::dot_columns(&self.values[start..start + out.len() * self.nrows], r, out);
            });
        } else {
            kernels::dot_columns(&self.values, r, out);
        }
    }

    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
        for (o, &j) in out.iter_mut().zip(columns) {
            *o = kernels::dot(self.column(j), r);
        }
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        let one = |(j, o): (usize, &mut f64)| *o = kernels::weighted_square(self.column(j), weights);
        if worth_splitting(self.values.len()) {
            out.par_iter_mut().with_min_len(BLOCK).enumerate().for_each(one);
        } else {
            out.iter_mut().enumerate().for_each(one);
        }
    }

    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]) {
        for (o, &j) in out.iter_mut().zip(columns) {
            *o = kernels::weighted_square(self.column(j), weights);
        }
    }

    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64]) -> Mat<f64> {
        let rows = weighty(weights);
        let weighted = self.collect_rows(left, &rows, Some(weights));
        let k = left.len();
        let mut out = Mat::<f64>::zeros(k, right.len());
        if k == 0 || right.is_empty() {
            return out;
        }
        for_column_blocks(out.as_mut(), BLOCK, rows.len() * k * right.len(), |b, target| {
            let which = &right[b * BLOCK..b * BLOCK + target.ncols()];
            let tile =
                if rows.len() == self.nrows { self.collect(which) } else { self.collect_rows(which, &rows, None) };
            matmul::matmul(target, Accum::Replace, weighted.transpose(), &tile, 1.0, Par::Seq);
        });
        out
    }

    fn gather<'b>(&'b self, support: &[usize]) -> Box<dyn Columns + 'b> {
        Box::new(DenseColumns { body: self.collect(support) })
    }

    fn cost(&self) -> f64 {
        self.values.len() as f64
    }

    fn row(&self, i: usize, out: &mut Vec<(usize, f64)>) {
        out.clear();
        for j in 0..self.ncols {
            let v = self.values[j * self.nrows + i].widen();
            if v != 0.0 {
                out.push((j, v));
            }
        }
    }
}

/// `out = sum_c w[c] column(c)`.
fn combine<'c, T: Entry>(w: &[f64], column: impl Fn(usize) -> &'c [T], out: &mut [f64]) {
    out.fill(0.0);
    let mut c = 0;
    while c + 4 <= w.len() {
        let x = [column(c), column(c + 1), column(c + 2), column(c + 3)];
        kernels::axpy4([w[c], w[c + 1], w[c + 2], w[c + 3]], x, out);
        c += 4;
    }
    for (c, &w) in w.iter().enumerate().skip(c) {
        kernels::axpy(w, column(c), out);
    }
}

/// Columns copied side by side.
struct DenseColumns {
    body: Mat<f64>,
}

impl DenseColumns {
    fn column(&self, c: usize) -> &[f64] {
        self.body.col_as_slice(c)
    }
}

impl Columns for DenseColumns {
    fn ncols(&self) -> usize {
        self.body.ncols()
    }

    fn mul(&self, x: &[f64], out: &mut [f64]) {
        combine(x, |c| self.column(c), out);
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        for (c, o) in out.iter_mut().enumerate() {
            *o = kernels::dot(self.column(c), r);
        }
    }

    fn gram(&mut self, weights: &[f64], out: MatMut<'_, f64>) {
        if self.body.ncols() == 0 {
            return;
        }
        // B'B with B the rows times the square roots of their weights: one copy serves both sides.
        let rows = weighty(weights);
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let mut scaled = Mat::zeros(rows.len(), self.body.ncols());
        for c in 0..self.body.ncols() {
            take_rows(self.column(c), &rows, Some(&roots), scaled.col_as_slice_mut(c));
        }
        lower_product(scaled.as_ref(), scaled.as_ref(), out);
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        for (c, o) in out.iter_mut().enumerate() {
            *o = kernels::weighted_square(self.column(c), weights);
        }
    }

    fn costs(&self) -> Costs {
        let (n, k) = (self.body.nrows() as f64, self.body.ncols() as f64);
        // A blocked product runs several times faster per multiply-add than a pass over memory.
        Costs { product: n * k, gram: n * k * k / 2.0 / 6.0 }
    }
}

/// The lower triangle of `a' b`, known to be symmetric.
fn lower_product(a: MatRef<'_, f64>, b: MatRef<'_, f64>, out: MatMut<'_, f64>) {
    matmul::triangular::matmul(
        out,
        BlockStructure::TriangularLower,
        Accum::Replace,
        a.transpose(),
        BlockStructure::Rectangular,
        b,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}
