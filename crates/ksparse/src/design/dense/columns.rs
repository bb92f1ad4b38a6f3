//! Some columns of a dense design, copied side by side.

use super::{Dense, TILE, combine, in_chunks, squared_product, take_rows, transposed_product, weighty};
use crate::design::{Columns, Costs};
use crate::kernels::{self, Entry};
use crate::linalg::MatrixMut;
use faer::linalg::matmul::{self, triangular::BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};

/// Columns copied side by side.
pub(super) struct DenseColumns<'a, T: Entry> {
    pub design: &'a Dense<'a, T>,
    pub support: Vec<usize>,
    pub values: Vec<f64>,
}

/// Rows of a weighted product taken at a time: with some hundred columns they stay in the second-level cache.
const PANEL: usize = 256;

impl<T: Entry> DenseColumns<'_, T> {
    fn column(&self, c: usize) -> &[f64] {
        &self.values[c * self.design.nrows..(c + 1) * self.design.nrows]
    }
}

impl<T: Entry> Columns for DenseColumns<'_, T> {
    fn ncols(&self) -> usize {
        self.support.len()
    }

    fn change(&mut self, support: &[usize]) -> bool {
        if support.len() != self.support.len() {
            return false;
        }
        let n = self.design.nrows;
        for (c, &j) in support.iter().enumerate() {
            if self.support[c] != j {
                let target = self.values[c * n..(c + 1) * n].iter_mut();
                target.zip(self.design.column(j)).for_each(|(t, v)| *t = v.widen());
            }
        }
        self.support.copy_from_slice(support);
        true
    }

    fn mul(&self, x: &[f64], out: &mut [f64]) {
        combine(x, |c| self.column(c), out);
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        kernels::dot_columns(&self.values, r, out);
    }

    fn mul_outputs(&self, x: &[f64], outputs: usize, out: &mut [f64]) {
        let (n, k) = (self.design.nrows, self.support.len());
        if n == 0 || k == 0 {
            return out.fill(0.0);
        }
        let x = MatRef::from_row_major_slice(x, k, outputs);
        let a = MatRef::from_column_major_slice(&self.values, n, k);
        let fill = |(b, out): (usize, &mut [f64])| {
            let rows = out.len() / outputs;
            let out = MatMut::from_row_major_slice_mut(out, rows, outputs);
            matmul::matmul(out, Accum::Replace, a.subrows(b * PANEL, rows), x, 1.0, Par::Seq);
        };
        in_chunks(n * k * outputs, PANEL * outputs, out, fill);
    }

    fn tmul_outputs(&self, r: &[f64], outputs: usize, out: &mut [f64]) {
        let n = self.design.nrows;
        let fill = |(b, out): (usize, &mut [f64])| {
            let columns = &self.values[b * TILE * n..(b * TILE + out.len() / outputs) * n];
            transposed_product(columns, r, outputs, out);
        };
        in_chunks(self.values.len() * outputs, TILE * outputs, out, fill);
    }

    fn gram(&mut self, weights: &[f64], mut out: MatrixMut<'_>) {
        // B'B with B the rows times the square roots of their weights: one copy serves both sides.
        let rows = weighty(weights);
        let mut panel = Vec::with_capacity(PANEL * self.support.len());
        let mut accumulate = Accum::Replace;
        for rows in rows.chunks(PANEL) {
            let roots: Vec<f64> = rows.iter().map(|&i| weights[i as usize].sqrt()).collect();
            panel.clear();
            for c in 0..self.support.len() {
                take_rows(self.column(c), rows, Some(&roots), &mut panel);
            }
            let panel = MatRef::from_column_major_slice(&panel, rows.len(), self.support.len());
            lower_square(panel, accumulate, out.reborrow().faer());
            accumulate = Accum::Add;
        }
        if rows.is_empty() {
            (0..self.support.len()).for_each(|b| (b..self.support.len()).for_each(|a| out[(a, b)] = 0.0));
        }
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        kernels::weighted_squares(&self.values, weights, out);
    }

    fn squares_outputs(&self, weights: &[f64], outputs: usize, out: &mut [f64]) {
        let n = self.design.nrows;
        for (columns, out) in self.values.chunks(TILE * n.max(1)).zip(out.chunks_mut(TILE * outputs)) {
            squared_product(columns, weights, outputs, out);
        }
    }

    fn costs(&self) -> Costs {
        let (n, k) = (self.design.nrows as f64, self.support.len() as f64);
        // A blocked product runs several times faster per multiply-add than a pass over memory.
        Costs { product: n * k, gram: n * k * k / 2.0 / 6.0 }
    }
}

/// The lower triangle of `a' a`.
fn lower_square(a: MatRef<'_, f64>, accumulate: Accum, out: MatMut<'_, f64>) {
    matmul::triangular::matmul(
        out,
        BlockStructure::TriangularLower,
        accumulate,
        a.transpose(),
        BlockStructure::Rectangular,
        a,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}
