//! Dense storage, column after column.

mod columns;

use self::columns::DenseColumns;
use super::{Columns, Design};
use crate::error::{Error, Result, check_len};
use crate::kernels::{self, Entry};
use crate::linalg::MatrixMut;
use crate::sparsity::SparseRef;
use crate::threads::{for_column_blocks, for_each_row, worth_splitting};
use faer::linalg::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::OnceLock;

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
    /// The same entries by row, built on the first request for a product with a row.
    by_row: OnceLock<Vec<T>>,
}

/// Columns a thread takes at a time in a pass over the matrix, and the tile of a weighted product:
/// fixed, so that no result depends on how many threads there are.
const BLOCK: usize = 64;

impl<'a, T: Entry> Dense<'a, T> {
    /// From values in column-major order, owned (`Vec`) or borrowed (`&[T]`).
    pub fn from_columns(nrows: usize, ncols: usize, values: impl Into<Cow<'a, [T]>>) -> Result<Self> {
        let values = values.into();
        check_len("dense design", values.len(), nrows * ncols)?;
        Ok(Self { nrows, ncols, values, by_row: OnceLock::new() })
    }

    /// From values in row-major order, which are transposed.
    pub fn from_rows(nrows: usize, ncols: usize, values: &[T]) -> Result<Self> {
        check_len("dense design", values.len(), nrows * ncols)?;
        let columns = turned(nrows, ncols, values);
        Ok(Self { nrows, ncols, values: Cow::Owned(columns), by_row: OnceLock::new() })
    }

    /// One row, from a second copy of the matrix that is kept from the first request on.
    fn whole_row(&self, i: usize) -> &[T] {
        let rows = self.by_row.get_or_init(|| turned(self.ncols, self.nrows, &self.values));
        &rows[i * self.ncols..(i + 1) * self.ncols]
    }

    /// All entries, column after column.
    pub fn values(&self) -> &[T] {
        &self.values
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

    /// Fills `out` from blocks of columns, in parallel when it pays.
    fn each_block(&self, out: &mut [f64], fill: impl Fn(&[T], &mut [f64]) + Sync) {
        in_chunks(self.values.len(), BLOCK, out, |(b, out)| {
            let start = b * BLOCK * self.nrows;
            fill(&self.values[start..start + out.len() * self.nrows], out);
        });
    }

    /// The columns of `which` one after another, over all rows.
    fn collect(&self, which: &[usize]) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.nrows * which.len());
        for &j in which {
            out.extend(self.column(j).iter().map(|v| v.widen()));
        }
        out
    }

    /// The columns of `which` one after another, over the rows given, each entry times its row's factor.
    fn collect_rows(&self, which: &[usize], rows: &[u32], factors: Option<&[f64]>) -> Vec<f64> {
        let mut out = Vec::with_capacity(rows.len() * which.len());
        for &j in which {
            take_rows(self.column(j), rows, factors, &mut out);
        }
        out
    }
}

/// Appends the rows given of a column (ascending), each times its factor.
fn take_rows<T: Entry>(x: &[T], rows: &[u32], factors: Option<&[f64]>, out: &mut Vec<f64>) {
    // Rows without a gap are copied as a slice, several at a time.
    let run = rows.first().zip(rows.last()).map(|(first, last)| *first as usize..*last as usize + 1);
    let slice = run.filter(|run| run.len() == rows.len()).map(|run| &x[run]);
    match (slice, factors) {
        (Some(x), None) => out.extend(x.iter().map(|x| x.widen())),
        (Some(x), Some(f)) => out.extend(x.iter().zip(f).map(|(x, f)| x.widen() * f)),
        (None, None) => out.extend(rows.iter().map(|&i| x[i as usize].widen())),
        (None, Some(f)) => out.extend(rows.iter().zip(f).map(|(&i, f)| x[i as usize].widen() * f)),
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
        self.each_block(out, |columns, out| kernels::dot_columns(columns, r, out));
    }

    fn tmul_outputs(&self, r: &[f64], outputs: usize, out: &mut [f64]) {
        let fill = |(b, out): (usize, &mut [f64])| {
            let which: Vec<usize> = (b * BLOCK..b * BLOCK + out.len() / outputs).collect();
            transposed_product(&self.collect(&which), r, outputs, out);
        };
        in_chunks(self.values.len() * outputs, BLOCK * outputs, out, fill);
    }

    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
        out.iter_mut().zip(columns).for_each(|(o, &j)| *o = kernels::dot(self.column(j), r));
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.each_block(out, |columns, out| kernels::weighted_squares(columns, weights, out));
    }

    fn squares_outputs(&self, weights: &[f64], outputs: usize, out: &mut [f64]) {
        if outputs == 1 {
            return self.squares(weights, out);
        }
        let fill = |(b, out): (usize, &mut [f64])| {
            let first = b * TILE;
            let columns = &self.values[first * self.nrows..(first + out.len() / outputs) * self.nrows];
            squared_product(columns, weights, outputs, out);
        };
        in_chunks(self.values.len() * outputs, TILE * outputs, out, fill);
    }

    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]) {
        out.iter_mut().zip(columns).for_each(|(o, &j)| *o = kernels::weighted_square(self.column(j), weights));
    }

    fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]) {
        in_chunks(self.values.len(), BLOCK, out, |(b, out)| {
            for (j, o) in (b * BLOCK..).zip(out) {
                *o = kernels::weighted_deviation(self.column(j), centres[j], weights);
            }
        });
    }

    fn magnitudes(&self, weights: &[f64], out: &mut [f64]) {
        self.squares(weights, out);
    }

    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64], mut out: MatrixMut<'_>) {
        let rows = weighty(weights);
        let k = left.len();
        let factors: Vec<f64> = rows.iter().map(|&i| weights[i as usize]).collect();
        let weighted = self.collect_rows(left, &rows, Some(&factors));
        let weighted = MatRef::from_column_major_slice(&weighted, rows.len(), k);
        if k == 0 || right.is_empty() || rows.is_empty() {
            return out.fill(0.0);
        }
        for_column_blocks(out.faer(), BLOCK, rows.len() * k * right.len(), |b, target| {
            let which = &right[b * BLOCK..b * BLOCK + target.ncols()];
            let tile = self.collect_rows(which, &rows, None);
            let tile = MatRef::from_column_major_slice(&tile, rows.len(), which.len());
            matmul::matmul(target, Accum::Replace, weighted.transpose(), tile, 1.0, Par::Seq);
        });
    }

    fn gather<'b>(&'b self, support: &[usize]) -> Box<dyn Columns + 'b> {
        Box::new(DenseColumns { design: self, support: support.to_vec(), values: self.collect(support) })
    }

    fn cost(&self) -> f64 {
        self.values.len() as f64
    }

    fn health(&self) -> Result<()> {
        Ok(())
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

    fn dot_rows(&self, rows: &[usize], w: &[f64], out: &mut [f64]) {
        for_each_row(rows, rows.len() * self.ncols, out, |i| kernels::dot(self.whole_row(i), w));
    }

    fn add_rows(&self, rows: &[usize], factors: &[f64], out: &mut [f64]) {
        rows.iter().zip(factors).for_each(|(&i, &factor)| kernels::axpy(factor, self.whole_row(i), out));
    }
}

/// From row-major to column-major order (or back, with the counts exchanged).
fn turned<T: Entry>(nrows: usize, ncols: usize, values: &[T]) -> Vec<T> {
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
    columns
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

/// Columns of a product with several vectors taken at a time.
const TILE: usize = 16;

/// Fills a slice in chunks of a size, side by side where the operations are worth it.
fn in_chunks(operations: usize, size: usize, out: &mut [f64], fill: impl Fn((usize, &mut [f64])) + Sync + Send) {
    if worth_splitting(operations) {
        out.par_chunks_mut(size).enumerate().for_each(fill);
    } else {
        out.chunks_mut(size).enumerate().for_each(fill);
    }
}

/// `out = A' R` for columns one after another, R and `out` by rows.
fn transposed_product(columns: &[f64], r: &[f64], outputs: usize, out: &mut [f64]) {
    let (n, k) = (r.len() / outputs, out.len() / outputs);
    if n == 0 {
        return out.fill(0.0);
    }
    let out = MatMut::from_row_major_slice_mut(out, k, outputs);
    let a = MatRef::from_column_major_slice(columns, n, k);
    let r = MatRef::from_row_major_slice(r, n, outputs);
    matmul::matmul(out, Accum::Replace, a.transpose(), r, 1.0, Par::Seq);
}

/// The same with the squares of A.
fn squared_product<T: Entry>(columns: &[T], weights: &[f64], outputs: usize, out: &mut [f64]) {
    let squares: Vec<f64> = columns.iter().map(|v| v.widen() * v.widen()).collect();
    transposed_product(&squares, weights, outputs, out);
}
