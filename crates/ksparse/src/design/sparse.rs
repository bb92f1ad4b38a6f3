//! Compressed sparse columns.

mod block;
mod by_row;
mod columns;
mod packed;

use super::{Columns, Design, Occupied};
use crate::error::{Error, Result, check_len, check_option};
use crate::kernels::{self, Entry};
use crate::linalg::MatrixMut;
use crate::sparsity::SparseRef;
use crate::threads::{for_column_blocks, for_each_row, worth_splitting};
use by_row::ByRow;
use columns::SparseColumns;
use faer::prelude::ReborrowMut;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::OnceLock;

/// A sparse design in CSC form: 32-bit row indices, 64-bit pointers, f64 or f32 values.
///
/// Within a column the rows ascend strictly: no duplicates.
///
/// ```
/// use ksparse::design::{Design, Sparse};
/// // [[1, 0, 2],
/// //  [0, 3, 0]] by columns, and again by rows.
/// let x = Sparse::from_columns(2, 3, vec![0, 1, 2, 3], vec![0, 1, 0], vec![1.0, 3.0, 2.0])?;
/// let same = Sparse::from_rows(2, 3, &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0])?;
/// for design in [x, same] {
///     let mut out = [0.0; 3];
///     design.tmul(&[1.0, 10.0], &mut out);
///     assert_eq!(out, [1.0, 30.0, 2.0]);
/// }
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sparse<'a, T: Entry = f64> {
    nrows: usize,
    pointers: Cow<'a, [u64]>,
    indices: Cow<'a, [u32]>,
    values: Cow<'a, [T]>,
    /// Column ranges of similar weight, for the parallel passes.
    blocks: Vec<(usize, usize)>,
    /// The same entries by row, built on the first request for a row.
    by_row: OnceLock<ByRow>,
}

impl<'a, T: Entry> Sparse<'a, T> {
    /// From the three arrays of a CSC matrix, owned or borrowed; their consistency is checked.
    pub fn from_columns(
        nrows: usize,
        ncols: usize,
        pointers: impl Into<Cow<'a, [u64]>>,
        indices: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [T]>>,
    ) -> Result<Self> {
        let (pointers, indices, values) = (pointers.into(), indices.into(), values.into());
        check_len("column pointers", pointers.len(), ncols + 1)?;
        check_len("sparse values", values.len(), indices.len())?;
        check_len("last column pointer", pointers[ncols] as usize, indices.len())?;
        check_rows_fit(nrows)?;
        if pointers[0] != 0 {
            return Err(Error::Storage { problem: "a first pointer other than 0", column: 0 });
        }
        for (column, p) in pointers.windows(2).enumerate() {
            if p[0] > p[1] || p[1] as usize > indices.len() {
                return Err(Error::Storage { problem: "pointers that do not ascend", column });
            }
            let rows = &indices[p[0] as usize..p[1] as usize];
            if rows.windows(2).any(|r| r[0] >= r[1]) {
                return Err(Error::Storage { problem: "row indices not in strictly ascending order", column });
            }
            if rows.last().is_some_and(|&r| r as usize >= nrows) {
                return Err(Error::Storage { problem: "a row index beyond the last row", column });
            }
        }
        let blocks = balanced_blocks(&pointers);
        Ok(Self { nrows, pointers, indices, values, blocks, by_row: OnceLock::new() })
    }

    /// From the three arrays of a CSR matrix (transposed once; a column repeated within a row is refused).
    pub fn from_rows(nrows: usize, ncols: usize, pointers: &[u64], columns: &[u32], values: &[T]) -> Result<Self> {
        check_len("row pointers", pointers.len(), nrows + 1)?;
        check_len("sparse values", values.len(), columns.len())?;
        check_len("last row pointer", pointers[nrows] as usize, columns.len())?;
        check_len("first row pointer", pointers[0] as usize, 0)?;
        check_rows_fit(nrows)?;
        if let Some(row) = pointers.windows(2).position(|p| p[0] > p[1]) {
            return Err(Error::Data(format!("sparse matrix: row pointers do not ascend at row {row}")));
        }
        if let Some(&c) = columns.iter().find(|&&c| c as usize >= ncols) {
            return Err(Error::IndexOutOfRange { what: "column", index: c as usize, bound: ncols });
        }
        let mut starts = vec![0u64; ncols + 1];
        columns.iter().for_each(|&c| starts[c as usize + 1] += 1);
        for j in 0..ncols {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let mut indices = vec![0u32; columns.len()];
        let mut transposed = vec![T::default(); columns.len()];
        for (i, p) in pointers.windows(2).enumerate() {
            for e in p[0] as usize..p[1] as usize {
                let slot = &mut next[columns[e] as usize];
                indices[*slot as usize] = i as u32;
                transposed[*slot as usize] = values[e];
                *slot += 1;
            }
        }
        Self::from_columns(nrows, ncols, starts, indices, transposed)
    }

    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.indices.len()
    }

    /// The rows and values of one column.
    pub fn column(&self, j: usize) -> (&[u32], &[T]) {
        let range = self.pointers[j] as usize..self.pointers[j + 1] as usize;
        (&self.indices[range.clone()], &self.values[range])
    }

    /// `Err` at the first stored entry that is NaN or infinite.
    pub fn check_finite(&self) -> Result<()> {
        for j in 0..self.ncols() {
            if self.column(j).1.iter().any(|v| !v.widen().is_finite()) {
                return Err(Error::NotFinite { what: "design column", index: j });
            }
        }
        Ok(())
    }

    /// The entries by row: 12 bytes each, kept from the first request on.
    fn by_row(&self) -> &ByRow {
        self.by_row.get_or_init(|| {
            let columns: Vec<_> = (0..self.ncols()).map(|j| self.column(j)).collect();
            ByRow::new(self.nrows, &columns)
        })
    }

    /// `out[j] = f(column j)` for all columns, in parallel when it pays.
    fn each_column(&self, out: &mut [f64], f: impl Fn(usize, &[u32], &[T]) -> f64 + Sync) {
        self.each_row_of(1, out, |j, rows, values, o| o[0] = f(j, rows, values));
    }

    /// `out[s] = f(column columns[s])`, in parallel when it pays.
    fn some_columns(&self, columns: &[usize], out: &mut [f64], f: impl Fn(&[u32], &[T]) -> f64 + Sync) {
        let entries: usize = columns.iter().map(|&j| self.column(j).0.len()).sum();
        for_each_row(columns, entries, out, |j| {
            let (rows, values) = self.column(j);
            f(rows, values)
        });
    }

    /// Fills the rows of `out`, one of so many entries for every column.
    fn each_row_of(&self, width: usize, out: &mut [f64], f: impl Fn(usize, &[u32], &[T], &mut [f64]) + Sync) {
        let fill = |(first, out): (usize, &mut [f64])| {
            for (c, o) in out.chunks_exact_mut(width).enumerate() {
                let (rows, values) = self.column(first + c);
                f(first + c, rows, values, o);
            }
        };
        if worth_splitting(self.nnz() * width + self.ncols()) {
            let mut rest = out;
            let mut parts = Vec::with_capacity(self.blocks.len());
            for &(start, end) in &self.blocks {
                let (part, tail) = rest.split_at_mut((end - start) * width);
                parts.push((start, part));
                rest = tail;
            }
            parts.into_par_iter().with_max_len(1).for_each(fill);
        } else {
            fill((0, out));
        }
    }
}

/// Columns below which empty ones cost too little to be left out: a pass over so many takes some 20 us.
const WIDE: usize = 1 << 16;

/// Row indices have 32 bits.
fn check_rows_fit(nrows: usize) -> Result<()> {
    check_option(nrows <= u32::MAX as usize, "rows of a sparse design", nrows, "at most 2^32 - 1")
}

/// Ranges of columns that hold about the same number of entries each.
fn balanced_blocks(pointers: &[u64]) -> Vec<(usize, usize)> {
    let ncols = pointers.len() - 1;
    // An empty column costs about as much as an entry.
    let weight = |j: usize| pointers[j] + j as u64;
    let target = (weight(ncols) / 64).max(1024);
    let (mut blocks, mut start) = (Vec::new(), 0);
    for j in 1..=ncols {
        if weight(j) - weight(start) >= target || j == ncols {
            blocks.push((start, j));
            start = j;
        }
    }
    blocks
}

/// `sum_i f(value_i) r[row_i]`, in four independent sums that hide the latency of the gathers.
#[inline(always)]
fn gather_sum<T: Entry>(rows: &[u32], values: &[T], r: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let (row_groups, row_tail) = rows.as_chunks::<4>();
    let (value_groups, value_tail) = values.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (i, v) in row_groups.iter().zip(value_groups) {
        for l in 0..4 {
            sums[l] += f(v[l].widen()) * r[i[l] as usize];
        }
    }
    let mut tail = 0.0;
    for (&i, v) in row_tail.iter().zip(value_tail) {
        tail += f(v.widen()) * r[i as usize];
    }
    ((sums[0] + sums[2]) + (sums[1] + sums[3])) + tail
}

fn dot<T: Entry>(rows: &[u32], values: &[T], r: &[f64]) -> f64 {
    gather_sum(rows, values, r, |v| v)
}

fn square<T: Entry>(rows: &[u32], values: &[T], weights: &[f64]) -> f64 {
    gather_sum(rows, values, weights, |v| v * v)
}

fn scatter<T: Entry>(a: f64, rows: &[u32], values: &[T], out: &mut [f64]) {
    if a != 0.0 {
        for (&i, v) in rows.iter().zip(values) {
            out[i as usize] += a * v.widen();
        }
    }
}

impl<T: Entry> Design for Sparse<'_, T> {
    fn nrows(&self) -> usize {
        self.nrows
    }

    fn ncols(&self) -> usize {
        self.pointers.len() - 1
    }

    fn mul(&self, w: SparseRef, out: &mut [f64]) {
        out.fill(0.0);
        for (j, w) in w.iter() {
            let (rows, values) = self.column(j);
            scatter(w, rows, values, out);
        }
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.each_column(out, |_, rows, values| dot(rows, values, r));
    }

    fn tmul_outputs(&self, r: &[f64], outputs: usize, out: &mut [f64]) {
        out.fill(0.0);
        self.each_row_of(outputs, out, |_, rows, values, out| kernels::add_listed_rows(rows, values, r, out));
    }

    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
        self.some_columns(columns, out, |rows, values| dot(rows, values, r));
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.each_column(out, |_, rows, values| square(rows, values, weights));
    }

    fn squares_outputs(&self, weights: &[f64], outputs: usize, out: &mut [f64]) {
        out.fill(0.0);
        self.each_row_of(outputs, out, |_, rows, values, out| {
            let squares: Vec<f64> = values.iter().map(|v| v.widen() * v.widen()).collect();
            kernels::add_listed_rows(rows, &squares, weights, out);
        });
    }

    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]) {
        self.some_columns(columns, out, |rows, values| square(rows, values, weights));
    }

    fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]) {
        let total: f64 = weights.iter().sum();
        self.each_column(out, |j, rows, values| {
            let m = centres[j];
            let stored = gather_sum(rows, values, weights, |v| (v - m) * (v - m));
            // A full column has no zeros, whatever rounding leaves of their weight.
            let zeros = if m == 0.0 || rows.len() == self.nrows {
                0.0
            } else {
                total - rows.iter().map(|&i| weights[i as usize]).sum::<f64>()
            };
            stored + zeros.max(0.0) * m * m
        });
    }

    fn magnitudes(&self, weights: &[f64], out: &mut [f64]) {
        self.squares(weights, out);
    }

    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64], mut out: MatrixMut<'_>) {
        let columns: Vec<_> = left.iter().map(|&j| self.column(j)).collect();
        let by_row = ByRow::new(self.nrows, &columns);
        out.fill(0.0);
        if left.is_empty() || right.is_empty() {
            return;
        }
        for_column_blocks(out.faer(), 8, right.len() * by_row.nnz() / 16, |b, mut block| {
            for (c, &j) in right[b * 8..].iter().take(block.ncols()).enumerate() {
                let Some(target) = block.rb_mut().col_mut(c).try_as_col_major_mut() else { continue };
                let target = target.as_slice_mut();
                let (rows, values) = self.column(j);
                for (&i, v) in rows.iter().zip(values) {
                    let w = v.widen() * weights[i as usize];
                    for (a, u) in by_row.row(i as usize) {
                        target[a] += w * u;
                    }
                }
            }
        });
    }

    fn gather<'b>(&'b self, support: &[usize]) -> Box<dyn Columns + 'b> {
        Box::new(SparseColumns::new(self, support))
    }

    fn cost(&self) -> f64 {
        // A gathered multiply-add costs about four streaming ones.
        4.0 * self.nnz() as f64 + self.ncols() as f64
    }

    fn occupied<'b>(&'b self) -> Option<Occupied<'b>> {
        let filled = |p: &[u64]| p[0] < p[1];
        if self.ncols() < WIDE || 2 * self.pointers.windows(2).filter(|p| filled(p)).count() > self.ncols() {
            return None;
        }
        let columns: Vec<usize> = (0..self.ncols()).filter(|&j| filled(&self.pointers[j..j + 2])).collect();
        let pointers: Vec<u64> = columns.iter().map(|&j| self.pointers[j]).chain([self.nnz() as u64]).collect();
        let blocks = balanced_blocks(&pointers);
        let (indices, values) = (Cow::Borrowed(&*self.indices), Cow::Borrowed(&*self.values));
        let pointers = Cow::Owned(pointers);
        let part = Sparse { nrows: self.nrows, pointers, indices, values, blocks, by_row: OnceLock::new() };
        Some(Occupied { columns, design: Box::new(part) })
    }

    fn health(&self) -> Result<()> {
        Ok(())
    }

    fn row(&self, i: usize, out: &mut Vec<(usize, f64)>) {
        out.clear();
        out.extend(self.by_row().row(i));
    }

    fn dot_rows(&self, rows: &[usize], w: &[f64], out: &mut [f64]) {
        let by_row = self.by_row();
        let work = rows.len() * (4 * self.nnz() / self.nrows.max(1));
        for_each_row(rows, work, out, |i| {
            let (columns, values) = by_row.entries(i);
            dot(columns, values, w)
        });
    }

    fn add_rows(&self, rows: &[usize], factors: &[f64], out: &mut [f64]) {
        for (&i, &factor) in rows.iter().zip(factors) {
            let (columns, values) = self.by_row().entries(i);
            scatter(factor, columns, values, out);
        }
    }
}
