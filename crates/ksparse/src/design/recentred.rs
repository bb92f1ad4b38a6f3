//! Columns that stand far from 0, brought near it.
//!
//! A product with a column whose mean is 10^6 times its spread loses six digits, one with its square twelve, and beside
//! a column of ones the two look the same. Where there is an intercept nothing is lost by subtracting a constant from a
//! column: the intercept takes it up.

mod columns;

use super::moments::{Moments, column_moments, may_be_far};
use super::{Columns, Dense, Design, Traffic, cross};
use crate::error::Result;
use crate::kernels;
use crate::linalg::MatrixMut;
use crate::sparsity::SparseRef;
use columns::{Alike, Mixed};
use faer::Mat;

/// Another design, some of its columns less a constant each. Those columns are held as a copy, so that the subtraction
/// comes before every sum; all others are the inner design's.
#[derive(Debug, Clone)]
pub(crate) struct Recentred<D> {
    inner: D,
    /// The columns moved, ascending: column, its place in the copy, what was subtracted.
    moved: Vec<(usize, usize, f64)>,
    /// The columns moved; one empty column stands for all that are constant.
    copy: Dense<'static>,
}

/// A list of columns taken apart: positions in the list beside columns of the inner design and places in the copy.
struct Split {
    inner: Vec<usize>,
    inner_at: Vec<usize>,
    copied: Vec<usize>,
    copied_at: Vec<usize>,
}

impl<D: Design> Recentred<D> {
    /// With every column that is far from 0 under the weights (which sum to 1) moved.
    pub fn new(inner: D, weights: &[f64]) -> Self {
        Self::with_moments(inner, weights).0
    }

    /// [`new`](Self::new), and the means and standard deviations of the columns as they are now.
    pub fn with_moments(inner: D, weights: &[f64]) -> (Self, Vec<f64>, Vec<f64>) {
        let n = inner.nrows();
        let (mut means, mut deviations) = column_moments(&inner, weights);
        let (mut moved, mut values, mut empty) = (Vec::new(), Vec::new(), None);
        let mut column = vec![0.0; n];
        for j in 0..inner.ncols() {
            let suspect = may_be_far(means[j], deviations[j]);
            deviations[j] = deviations[j].sqrt();
            if !suspect {
                continue;
            }
            inner.mul(SparseRef::new(&[j], &[1.0]), &mut column);
            let moments = Moments::of(&column, weights);
            let shift = if moments.is_far() { moments.shift() } else { 0.0 };
            if !shift.is_finite() {
                continue;
            }
            (means[j], deviations[j]) = (moments.anchor - shift + moments.rest, moments.deviation);
            if shift == 0.0 {
                continue;
            }
            let next = values.len() / n.max(1);
            column.iter_mut().for_each(|x| *x -= shift);
            let constant = column.iter().all(|x| *x == 0.0);
            let place = if constant { *empty.get_or_insert(next) } else { next };
            moved.push((j, place, shift));
            if place == next {
                values.extend_from_slice(&column);
            }
        }
        let columns = values.len() / n.max(1);
        let copy = Dense::from_columns(n, columns, values).unwrap_or_else(|_| unreachable!("whole columns"));
        (Self { inner, moved, copy }, means, deviations)
    }

    /// With these columns moved, ascending, by what somebody else has found.
    pub fn by(inner: D, shifts: &[(usize, f64)]) -> Self {
        let n = inner.nrows();
        let (mut moved, mut values) = (Vec::with_capacity(shifts.len()), Vec::with_capacity(n * shifts.len()));
        let mut column = vec![0.0; n];
        for (place, &(j, shift)) in shifts.iter().enumerate() {
            inner.mul(SparseRef::new(&[j], &[1.0]), &mut column);
            values.extend(column.iter().map(|x| x - shift));
            moved.push((j, place, shift));
        }
        let copy = Dense::from_columns(n, shifts.len(), values).unwrap_or_else(|_| unreachable!("whole columns"));
        Self { inner, moved, copy }
    }

    /// With no column moved.
    pub fn as_given(inner: D) -> Self {
        let copy = Dense::from_columns(inner.nrows(), 0, Vec::new()).unwrap_or_else(|_| unreachable!("no columns"));
        Self { inner, moved: Vec::new(), copy }
    }

    /// The inner design, if it is this one: no column was moved.
    pub fn given(&self) -> Option<&D> {
        self.moved.is_empty().then_some(&self.inner)
    }

    /// What was subtracted from column j.
    pub fn shift(&self, j: usize) -> f64 {
        self.find(j).map_or(0.0, |m| self.moved[m].2)
    }

    fn find(&self, j: usize) -> Option<usize> {
        self.moved.binary_search_by_key(&j, |moved| moved.0).ok()
    }

    fn split(&self, columns: &[usize]) -> Split {
        let mut split = Split { inner: Vec::new(), inner_at: Vec::new(), copied: Vec::new(), copied_at: Vec::new() };
        for (at, &j) in columns.iter().enumerate() {
            match self.find(j) {
                Some(m) => {
                    split.copied.push(self.moved[m].1);
                    split.copied_at.push(at);
                }
                None => {
                    split.inner.push(j);
                    split.inner_at.push(at);
                }
            }
        }
        split
    }

    /// Replaces the entries of the columns moved by those of the copy.
    fn overwrite(&self, out: &mut [f64], fill: impl FnOnce(&mut [f64])) {
        let mut copied = vec![0.0; self.copy.ncols()];
        fill(&mut copied);
        self.moved.iter().for_each(|&(j, place, _)| out[j] = copied[place]);
    }

    /// One number per listed column, those of the inner design and of the copy each from their own.
    fn at(
        &self,
        columns: &[usize],
        out: &mut [f64],
        inner: impl FnOnce(&[usize], &mut [f64]),
        copied: impl FnOnce(&[usize], &mut [f64]),
    ) {
        let split = self.split(columns);
        let mut part = vec![0.0; split.inner.len()];
        inner(&split.inner, &mut part);
        split.inner_at.iter().zip(part).for_each(|(&at, v)| out[at] = v);
        let mut part = vec![0.0; split.copied.len()];
        copied(&split.copied, &mut part);
        split.copied_at.iter().zip(part).for_each(|(&at, v)| out[at] = v);
    }
}

impl<D: Design> Design for Recentred<D> {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }

    fn ncols(&self) -> usize {
        self.inner.ncols()
    }

    fn mul(&self, w: SparseRef, out: &mut [f64]) {
        let split = self.split(w.indices);
        let values: Vec<f64> = split.inner_at.iter().map(|&at| w.values[at]).collect();
        self.inner.mul(SparseRef::new(&split.inner, &values), out);
        for (&place, &at) in split.copied.iter().zip(&split.copied_at) {
            kernels::axpy(w.values[at], self.copy.column(place), out);
        }
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.inner.tmul(r, out);
        self.overwrite(out, |copied| self.copy.tmul(r, copied));
    }

    fn tmul_outputs(&self, r: &[f64], outputs: usize, out: &mut [f64]) {
        self.inner.tmul_outputs(r, outputs, out);
        let mut copied = vec![0.0; self.copy.ncols() * outputs];
        self.copy.tmul_outputs(r, outputs, &mut copied);
        let row = |at: usize| at * outputs..(at + 1) * outputs;
        self.moved.iter().for_each(|&(j, place, _)| out[row(j)].copy_from_slice(&copied[row(place)]));
    }

    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
        let inner = |c: &[usize], out: &mut [f64]| self.inner.tmul_at(r, c, out);
        self.at(columns, out, inner, |c, out| self.copy.tmul_at(r, c, out));
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.inner.squares(weights, out);
        self.overwrite(out, |copied| self.copy.squares(weights, copied));
    }

    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]) {
        let inner = |c: &[usize], out: &mut [f64]| self.inner.squares_at(weights, c, out);
        self.at(columns, out, inner, |c, out| self.copy.squares_at(weights, c, out));
    }

    fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]) {
        self.inner.deviations(weights, centres, out);
        for &(j, place, _) in &self.moved {
            out[j] = kernels::weighted_deviation(self.copy.column(place), centres[j], weights);
        }
    }

    fn magnitudes(&self, weights: &[f64], out: &mut [f64]) {
        self.inner.magnitudes(weights, out);
        self.overwrite(out, |copied| self.copy.squares(weights, copied));
    }

    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64], mut out: MatrixMut<'_>) {
        let (l, r) = (self.split(left), self.split(right));
        if l.copied.is_empty() && r.copied.is_empty() {
            return self.inner.cross(left, right, weights, out);
        }
        let mut place = |block: Mat<f64>, rows: &[usize], columns: &[usize]| {
            for (b, &column) in columns.iter().enumerate() {
                rows.iter().enumerate().for_each(|(a, &row)| out[(row, column)] = block[(a, b)]);
            }
        };
        place(cross(&self.inner, &l.inner, &r.inner, weights), &l.inner_at, &r.inner_at);
        place(cross(&self.copy, &l.copied, &r.copied, weights), &l.copied_at, &r.copied_at);
        let weighted = |c: usize| -> Vec<f64> { self.copy.column(c).iter().zip(weights).map(|(x, w)| x * w).collect() };
        let mut sums = vec![0.0; l.inner.len()];
        for (&c, &column) in r.copied.iter().zip(&r.copied_at) {
            self.inner.tmul_at(&weighted(c), &l.inner, &mut sums);
            l.inner_at.iter().zip(&sums).for_each(|(&row, v)| out[(row, column)] = *v);
        }
        let mut sums = vec![0.0; r.inner.len()];
        for (&c, &row) in l.copied.iter().zip(&l.copied_at) {
            self.inner.tmul_at(&weighted(c), &r.inner, &mut sums);
            r.inner_at.iter().zip(&sums).for_each(|(&column, v)| out[(row, column)] = *v);
        }
    }

    fn gather<'a>(&'a self, support: &[usize]) -> Box<dyn Columns + 'a> {
        if self.moved.is_empty() {
            return self.inner.gather(support);
        }
        let split = self.split(support);
        if split.copied.is_empty() {
            return Box::new(Alike { body: self.inner.gather(support), not: Some(&self.moved) });
        }
        let copied = self.copy.gather(&split.copied);
        if split.inner.is_empty() {
            return Box::new(Alike { body: copied, not: None });
        }
        let inner = self.inner.gather(&split.inner);
        let slices = split.copied.iter().map(|&place| self.copy.column(place)).collect();
        Box::new(Mixed { inner, copied, slices, split })
    }

    fn row(&self, i: usize, out: &mut Vec<(usize, f64)>) {
        self.inner.row(i, out);
        if self.moved.is_empty() {
            return;
        }
        out.retain(|(j, _)| self.find(*j).is_none());
        out.extend(self.moved.iter().map(|&(j, place, _)| (j, self.copy.column(place)[i])).filter(|(_, x)| *x != 0.0));
        out.sort_unstable_by_key(|(j, _)| *j);
    }

    fn dot_rows(&self, rows: &[usize], w: &[f64], out: &mut [f64]) {
        if self.moved.is_empty() {
            return self.inner.dot_rows(rows, w, out);
        }
        // Far columns must not enter the sum at all: what they add would have to be taken off again.
        let mut rest = w.to_vec();
        self.moved.iter().for_each(|&(j, ..)| rest[j] = 0.0);
        self.inner.dot_rows(rows, &rest, out);
        for (o, &i) in out.iter_mut().zip(rows) {
            *o += self.moved.iter().map(|&(j, place, _)| self.copy.column(place)[i] * w[j]).sum::<f64>();
        }
    }

    fn add_rows(&self, rows: &[usize], factors: &[f64], out: &mut [f64]) {
        let before: Vec<f64> = self.moved.iter().map(|&(j, ..)| out[j]).collect();
        self.inner.add_rows(rows, factors, out);
        for (&(j, place, _), before) in self.moved.iter().zip(before) {
            let column = self.copy.column(place);
            out[j] = before + rows.iter().zip(factors).map(|(&i, factor)| factor * column[i]).sum::<f64>();
        }
    }

    fn health(&self) -> Result<()> {
        self.inner.health()
    }

    fn traffic(&self) -> Option<Traffic> {
        self.inner.traffic()
    }

    fn cost(&self) -> f64 {
        self.inner.cost() + self.copy.cost()
    }
}
