//! Some columns of a design.

use super::{Columns, Design, Traffic};
use crate::error::Result;
use crate::linalg::MatrixMut;
use crate::sparsity::SparseRef;

/// A view of the columns listed (distinct): a working set. Nothing is copied; products cost what those columns do.
pub(crate) struct Picked<'a> {
    inner: &'a dyn Design,
    columns: Vec<usize>,
}

impl<'a> Picked<'a> {
    pub fn new(inner: &'a dyn Design, columns: Vec<usize>) -> Self {
        Self { inner, columns }
    }

    fn listed(&self, columns: &[usize]) -> Vec<usize> {
        columns.iter().map(|&j| self.columns[j]).collect()
    }

    /// A vector over the columns as one over those of the inner design.
    fn spread(&self, w: &[f64]) -> Vec<f64> {
        let mut whole = vec![0.0; self.inner.ncols()];
        self.columns.iter().zip(w).for_each(|(&j, w)| whole[j] = *w);
        whole
    }

    fn pick(&self, whole: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(&self.columns).for_each(|(out, &j)| *out = whole[j]);
    }
}

impl Design for Picked<'_> {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }

    fn ncols(&self) -> usize {
        self.columns.len()
    }

    fn mul(&self, w: SparseRef, out: &mut [f64]) {
        self.inner.mul(SparseRef::new(&self.listed(w.indices), w.values), out);
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.inner.tmul_at(r, &self.columns, out);
    }

    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
        self.inner.tmul_at(r, &self.listed(columns), out);
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.inner.squares_at(weights, &self.columns, out);
    }

    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]) {
        self.inner.squares_at(weights, &self.listed(columns), out);
    }

    fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]) {
        let mut whole = vec![0.0; self.inner.ncols()];
        self.inner.deviations(weights, &self.spread(centres), &mut whole);
        self.pick(&whole, out);
    }

    fn magnitudes(&self, weights: &[f64], out: &mut [f64]) {
        let mut whole = vec![0.0; self.inner.ncols()];
        self.inner.magnitudes(weights, &mut whole);
        self.pick(&whole, out);
    }

    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64], out: MatrixMut<'_>) {
        self.inner.cross(&self.listed(left), &self.listed(right), weights, out);
    }

    fn gather<'a>(&'a self, support: &[usize]) -> Box<dyn Columns + 'a> {
        self.inner.gather(&self.listed(support))
    }

    fn row(&self, i: usize, out: &mut Vec<(usize, f64)>) {
        let mut whole = Vec::new();
        self.inner.row(i, &mut whole);
        let mut entries = vec![0.0; self.inner.ncols()];
        whole.into_iter().for_each(|(j, v)| entries[j] = v);
        out.clear();
        let picked = self.columns.iter().enumerate().map(|(place, &j)| (place, entries[j]));
        out.extend(picked.filter(|(_, v)| *v != 0.0));
    }

    fn dot_rows(&self, rows: &[usize], w: &[f64], out: &mut [f64]) {
        self.inner.dot_rows(rows, &self.spread(w), out);
    }

    fn add_rows(&self, rows: &[usize], factors: &[f64], out: &mut [f64]) {
        let mut whole = vec![0.0; self.inner.ncols()];
        self.inner.add_rows(rows, factors, &mut whole);
        out.iter_mut().zip(&self.columns).for_each(|(out, &j)| *out += whole[j]);
    }

    fn cost(&self) -> f64 {
        self.inner.cost() * self.columns.len() as f64 / self.inner.ncols().max(1) as f64
    }

    fn health(&self) -> Result<()> {
        self.inner.health()
    }

    fn traffic(&self) -> Option<Traffic> {
        self.inner.traffic()
    }
}
