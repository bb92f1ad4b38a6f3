//! A design that can be told to stop working.

use ksparse::design::{Columns, Costs, Design};
use ksparse::{MatrixMut, Result, SparseRef};
use std::sync::atomic::{AtomicBool, Ordering};

/// A design whose products become free, and zero, once its work is to stop.
pub struct Interruptible<'a> {
    inner: Box<dyn Design + 'a>,
    halted: &'a AtomicBool,
}

impl<'a> Interruptible<'a> {
    pub fn new(inner: Box<dyn Design + 'a>, halted: &'a AtomicBool) -> Self {
        Self { inner, halted }
    }

    fn halted(&self) -> bool {
        self.halted.load(Ordering::Relaxed)
    }

    /// `product` into `out`, or zeros.
    fn unless_halted(&self, out: &mut [f64], product: impl FnOnce(&mut [f64])) {
        if self.halted() { out.fill(0.0) } else { product(out) }
    }
}

impl Design for Interruptible<'_> {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }

    fn ncols(&self) -> usize {
        self.inner.ncols()
    }

    fn mul(&self, w: SparseRef, out: &mut [f64]) {
        self.unless_halted(out, |out| self.inner.mul(w, out));
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.unless_halted(out, |out| self.inner.tmul(r, out));
    }

    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
        self.unless_halted(out, |out| self.inner.tmul_at(r, columns, out));
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.unless_halted(out, |out| self.inner.squares(weights, out));
    }

    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]) {
        self.unless_halted(out, |out| self.inner.squares_at(weights, columns, out));
    }

    fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]) {
        self.unless_halted(out, |out| self.inner.deviations(weights, centres, out));
    }

    fn magnitudes(&self, weights: &[f64], out: &mut [f64]) {
        self.unless_halted(out, |out| self.inner.magnitudes(weights, out));
    }

    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64], mut out: MatrixMut<'_>) {
        if self.halted() { out.fill(0.0) } else { self.inner.cross(left, right, weights, out) }
    }

    fn gather<'b>(&'b self, support: &[usize]) -> Box<dyn Columns + 'b> {
        let inner = if self.halted() { None } else { Some(self.inner.gather(support)) };
        Box::new(InterruptibleColumns { count: support.len(), inner, halted: self.halted })
    }

    fn row(&self, i: usize, out: &mut Vec<(usize, f64)>) {
        self.inner.row(i, out);
    }

    fn dot_rows(&self, rows: &[usize], w: &[f64], out: &mut [f64]) {
        self.unless_halted(out, |out| self.inner.dot_rows(rows, w, out));
    }

    fn add_rows(&self, rows: &[usize], factors: &[f64], out: &mut [f64]) {
        if !self.halted() {
            self.inner.add_rows(rows, factors, out);
        }
    }

    fn cost(&self) -> f64 {
        self.inner.cost()
    }

    fn health(&self) -> Result<()> {
        self.inner.health()
    }
}

/// Columns of an [`Interruptible`]; `None` when they were gathered after the stop.
struct InterruptibleColumns<'a> {
    count: usize,
    inner: Option<Box<dyn Columns + 'a>>,
    halted: &'a AtomicBool,
}

impl<'a> InterruptibleColumns<'a> {
    fn live(&self) -> Option<&(dyn Columns + 'a)> {
        if self.halted.load(Ordering::Relaxed) { None } else { self.inner.as_deref() }
    }
}

impl Columns for InterruptibleColumns<'_> {
    fn ncols(&self) -> usize {
        self.count
    }

    fn mul(&self, x: &[f64], out: &mut [f64]) {
        match self.live() {
            Some(columns) => columns.mul(x, out),
            None => out.fill(0.0),
        }
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        match self.live() {
            Some(columns) => columns.tmul(r, out),
            None => out.fill(0.0),
        }
    }

    fn gram(&mut self, weights: &[f64], mut out: MatrixMut<'_>) {
        match &mut self.inner {
            Some(columns) if !self.halted.load(Ordering::Relaxed) => columns.gram(weights, out),
            _ => out.fill(0.0),
        }
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        match self.live() {
            Some(columns) => columns.squares(weights, out),
            None => out.fill(0.0),
        }
    }

    fn column(&self, c: usize, n: usize, out: &mut Vec<(usize, f64)>) {
        match self.live() {
            Some(columns) => columns.column(c, n, out),
            None => out.clear(),
        }
    }

    fn costs(&self) -> Costs {
        self.inner.as_ref().map_or(Costs { product: 0.0, gram: 0.0 }, |columns| columns.costs())
    }
}
