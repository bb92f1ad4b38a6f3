//! The columns of a support.

use super::by_row::ByRow;
use super::{dot, scatter, square};
use crate::design::{Columns, Costs};
use crate::kernels::Entry;
use crate::linalg::MatrixMut;
use crate::threads::worth_splitting;
use std::ops::Range;

/// Entries from which on a product is computed in two halves, whatever the number of threads.
const HALVED: usize = 200_000;

/// Some columns of a sparse design, borrowed; turned into rows only when a Gram matrix is asked for.
pub(super) struct SparseColumns<'a, T: Entry> {
    nrows: usize,
    columns: Vec<(&'a [u32], &'a [T])>,
    nnz: usize,
    /// Where the columns split into two halves of about the same number of entries.
    middle: usize,
    by_row: Option<ByRow>,
}

impl<'a, T: Entry> SparseColumns<'a, T> {
    pub fn new(nrows: usize, columns: Vec<(&'a [u32], &'a [T])>) -> Self {
        let nnz: usize = columns.iter().map(|c| c.0.len()).sum();
        let mut before = 0;
        let middle = columns.iter().take_while(|c| {
            before += c.0.len();
            2 * before <= nnz
        });
        let middle = middle.count();
        Self { nrows, columns, nnz, middle, by_row: None }
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

    fn mul(&self, x: &[f64], out: &mut [f64]) {
        let add = |range: Range<usize>, out: &mut [f64]| {
            out.fill(0.0);
            for ((rows, values), &x) in self.columns[range.clone()].iter().zip(&x[range]) {
                scatter(x, rows, values, out);
            }
        };
        if self.nnz < HALVED {
            return add(0..x.len(), out);
        }
        // Two halves of the columns, added up: the same sums on one thread as on two.
        let mut other = vec![0.0; out.len()];
        rayon::join(|| add(0..self.middle, out), || add(self.middle..x.len(), &mut other));
        out.iter_mut().zip(other).for_each(|(o, v)| *o += v);
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        let dots = |columns: &[(&[u32], &[T])], out: &mut [f64]| {
            for ((rows, values), o) in columns.iter().zip(out) {
                *o = dot(rows, values, r);
            }
        };
        let (low, high) = self.columns.split_at(self.middle);
        let (low_out, high_out) = out.split_at_mut(self.middle);
        if worth_splitting(self.nnz) {
            rayon::join(|| dots(low, low_out), || dots(high, high_out));
        } else {
            dots(low, low_out);
            dots(high, high_out);
        }
    }

    fn gram(&mut self, weights: &[f64], mut out: MatrixMut<'_>) {
        let by_row = self.by_row.get_or_insert_with(|| ByRow::new(self.nrows, &self.columns));
        let k = self.columns.len();
        // Rows add their outer products: the work is the squares of the row lengths, not k^2 merges.
        let mut lower = vec![0.0; k * k];
        for (i, &w) in weights.iter().enumerate() {
            let (columns, values) = by_row.entries(i);
            for (e, (&b, &v)) in columns.iter().zip(values).enumerate() {
                let scaled = w * v;
                let target = &mut lower[b as usize * k..(b as usize + 1) * k];
                for (&a, u) in columns[e..].iter().zip(&values[e..]) {
                    target[a as usize] += scaled * u;
                }
            }
        }
        for b in 0..k {
            for a in b..k {
                out[(a, b)] = lower[b * k + a];
            }
        }
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        for ((rows, values), o) in self.columns.iter().zip(out) {
            *o = square(rows, values, weights);
        }
    }

    fn costs(&self) -> Costs {
        let per_row = self.nnz as f64 / self.nrows.max(1) as f64;
        // A gathered multiply-add costs about four streaming ones.
        Costs { product: 4.0 * self.nnz as f64, gram: 4.0 * self.nnz as f64 * (1.0 + per_row) }
    }
}
