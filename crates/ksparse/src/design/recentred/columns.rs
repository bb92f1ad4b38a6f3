//! Columns of a support, some of them from the copy.

use super::Split;
use crate::design::{Columns, Costs};
use crate::kernels;
use crate::linalg::MatrixMut;
use faer::Mat;

/// Columns that are all of the inner design, or all of the copy.
pub(super) struct Alike<'a> {
    pub body: Box<dyn Columns + 'a>,
    /// Of the inner design: those it must not change to, since they were moved. `None`: of the copy, which knows its
    /// columns by other numbers.
    pub not: Option<&'a [(usize, usize, f64)]>,
}

impl Columns for Alike<'_> {
    fn ncols(&self) -> usize {
        self.body.ncols()
    }

    fn change(&mut self, support: &[usize]) -> bool {
        let moved = |moved: &[(usize, usize, f64)], j: &usize| moved.binary_search_by_key(j, |m| m.0).is_ok();
        let stays = self.not.is_some_and(|not| !support.iter().any(|j| moved(not, j)));
        stays && self.body.change(support)
    }

    fn mul(&self, x: &[f64], out: &mut [f64]) {
        self.body.mul(x, out);
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.body.tmul(r, out);
    }

    fn normal(&self, weights: &[f64], x: &[f64], shift: f64, between: &mut [f64], out: &mut [f64]) -> f64 {
        self.body.normal(weights, x, shift, between, out)
    }

    fn gram(&mut self, weights: &[f64], out: MatrixMut<'_>) {
        self.body.gram(weights, out);
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.body.squares(weights, out);
    }

    fn column(&self, c: usize, n: usize, out: &mut Vec<(usize, f64)>) {
        self.body.column(c, n, out);
    }

    fn costs(&self) -> Costs {
        self.body.costs()
    }
}

/// Columns of the inner design beside columns of the copy.
pub(super) struct Mixed<'a> {
    pub inner: Box<dyn Columns + 'a>,
    pub copied: Box<dyn Columns + 'a>,
    /// The columns of the copy once more, as they are.
    pub slices: Vec<&'a [f64]>,
    pub split: Split,
}

impl Mixed<'_> {
    fn spread(&self, inner: &[f64], copied: &[f64], out: &mut [f64]) {
        self.split.inner_at.iter().zip(inner).for_each(|(&at, v)| out[at] = *v);
        self.split.copied_at.iter().zip(copied).for_each(|(&at, v)| out[at] = *v);
    }

    /// One number per column.
    fn both(&self, out: &mut [f64], f: impl Fn(&dyn Columns, &mut [f64])) {
        let (mut inner, mut copied) = (vec![0.0; self.inner.ncols()], vec![0.0; self.copied.ncols()]);
        f(&*self.inner, &mut inner);
        f(&*self.copied, &mut copied);
        self.spread(&inner, &copied, out);
    }
}

impl Columns for Mixed<'_> {
    fn ncols(&self) -> usize {
        self.inner.ncols() + self.copied.ncols()
    }

    fn mul(&self, x: &[f64], out: &mut [f64]) {
        let inner: Vec<f64> = self.split.inner_at.iter().map(|&at| x[at]).collect();
        self.inner.mul(&inner, out);
        self.slices.iter().zip(&self.split.copied_at).for_each(|(slice, &at)| kernels::axpy(x[at], slice, out));
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.both(out, |columns, out| columns.tmul(r, out));
    }

    fn gram(&mut self, weights: &[f64], mut out: MatrixMut<'_>) {
        for (columns, at) in [(&mut self.inner, &self.split.inner_at), (&mut self.copied, &self.split.copied_at)] {
            let k = columns.ncols();
            let mut block = Mat::zeros(k, k);
            columns.gram(weights, MatrixMut::over(&mut block));
            for b in 0..k {
                // Positions ascend, so a lower triangle stays one.
                (b..k).for_each(|a| out[(at[a], at[b])] = block[(a, b)]);
            }
        }
        let mut sums = vec![0.0; self.inner.ncols()];
        for (slice, &c) in self.slices.iter().zip(&self.split.copied_at) {
            let weighted: Vec<f64> = slice.iter().zip(weights).map(|(x, w)| x * w).collect();
            self.inner.tmul(&weighted, &mut sums);
            for (&a, v) in self.split.inner_at.iter().zip(&sums) {
                out[(a.max(c), a.min(c))] = *v;
            }
        }
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.both(out, |columns, out| columns.squares(weights, out));
    }

    fn costs(&self) -> Costs {
        let (a, b) = (self.inner.costs(), self.copied.costs());
        let mixed = a.product * self.copied.ncols() as f64;
        Costs { product: a.product + b.product, gram: a.gram + b.gram + mixed }
    }
}
