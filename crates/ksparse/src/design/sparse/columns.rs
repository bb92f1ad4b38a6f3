//! The columns of a support.

use super::by_row::ByRow;
use super::packed::{Packed, add_outer};
use super::{Sparse, square};
use crate::design::{Columns, Costs, Design, two_products};
use crate::kernels::{self, Entry};
use crate::linalg::MatrixMut;
use crate::threads::worth_splitting;
use rayon::prelude::*;

/// Columns that a thread takes at a time.
const COLUMNS: usize = 8;

/// Some columns of a sparse design, borrowed, and their entries by row.
pub(super) struct SparseColumns<'a, T: Entry> {
    design: &'a Sparse<'a, T>,
    support: Vec<usize>,
    columns: Vec<(&'a [u32], &'a [T])>,
    packed: Packed,
}

impl<'a, T: Entry> SparseColumns<'a, T> {
    pub fn new(design: &'a Sparse<'a, T>, support: &[usize]) -> Self {
        let columns: Vec<_> = support.iter().map(|&j| design.column(j)).collect();
        let packed = Packed::new(design.nrows(), &columns);
        Self { design, support: support.to_vec(), columns, packed }
    }
}

impl<T: Entry> SparseColumns<'_, T> {
    /// Fills the rows of `out`, one of so many entries for every column.
    fn each_row_of(&self, width: usize, out: &mut [f64], f: impl Fn(&[u32], &[T], &mut [f64]) + Sync) {
        if worth_splitting(self.packed.nnz() * width) {
            let rows = self.columns.par_iter().zip(out.par_chunks_exact_mut(width));
            rows.with_min_len(COLUMNS).for_each(|((rows, values), out)| f(rows, values, out));
        } else {
            let rows = self.columns.iter().zip(out.chunks_exact_mut(width));
            rows.for_each(|((rows, values), out)| f(rows, values, out));
        }
    }
}

impl<T: Entry> Columns for SparseColumns<'_, T> {
    fn ncols(&self) -> usize {
        self.columns.len()
    }

    fn column(&self, c: usize, _n: usize, out: &mut Vec<(usize, f64)>) {
        let (rows, values) = self.columns[c];
        out.clear();
        out.extend(rows.iter().map(|&i| i as usize).zip(values.iter().map(|v| v.widen())));
    }

    fn change(&mut self, support: &[usize]) -> bool {
        let before: Vec<Option<usize>> = support.iter().map(|j| self.support.binary_search(j).ok()).collect();
        self.columns = support.iter().map(|&j| self.design.column(j)).collect();
        self.packed.exchange(&self.columns, &before);
        self.support = support.to_vec();
        true
    }

    fn mul(&self, x: &[f64], out: &mut [f64]) {
        self.packed.mul(x, out);
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.packed.tmul(r, out);
    }

    fn mul_outputs(&self, x: &[f64], outputs: usize, out: &mut [f64]) {
        self.packed.mul_outputs(x, outputs, out);
    }

    fn tmul_outputs(&self, r: &[f64], outputs: usize, out: &mut [f64]) {
        out.fill(0.0);
        self.each_row_of(outputs, out, |rows, values, out| kernels::add_listed_rows(rows, values, r, out));
    }

    fn normal(&self, weights: &[f64], x: &[f64], shift: f64, between: &mut [f64], out: &mut [f64]) -> f64 {
        match self.packed.normal(weights, x, shift, out) {
            Some(total) => total,
            None => two_products(self, weights, x, shift, between, out),
        }
    }

    fn gram(&mut self, weights: &[f64], mut out: MatrixMut<'_>) {
        let k = self.columns.len();
        let table = self.packed.gram(weights, k).unwrap_or_else(|| {
            let (by_row, mut table) = (ByRow::new(weights.len(), &self.columns), vec![0.0; k * k]);
            for (i, &w) in weights.iter().enumerate() {
                let (columns, values) = by_row.entries(i);
                add_outer(w, columns, values, k, &mut table);
            }
            table
        });
        for b in 0..k {
            out[(b, b)] = table[b * k + b];
            for a in b + 1..k {
                out[(a, b)] = table[b * k + a] + table[a * k + b];
            }
        }
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.each_row_of(1, out, |rows, values, o| o[0] = square(rows, values, weights));
    }

    fn squares_outputs(&self, weights: &[f64], outputs: usize, out: &mut [f64]) {
        out.fill(0.0);
        self.each_row_of(outputs, out, |rows, values, out| {
            let squares: Vec<f64> = values.iter().map(|v| v.widen() * v.widen()).collect();
            kernels::add_listed_rows(rows, &squares, weights, out);
        });
    }

    fn costs(&self) -> Costs {
        let nnz = self.packed.nnz() as f64;
        let per_row = nnz / self.design.nrows().max(1) as f64;
        // A gathered multiply-add costs about four streaming ones.
        Costs { product: 4.0 * nnz, gram: 4.0 * nnz * (1.0 + per_row) }
    }
}
