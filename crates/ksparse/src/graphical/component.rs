//! f on one connected component of a support.
//!
//! With O the component's matrix, `W = O^-1`, and coordinates as in `triangle.rs`, entry (i, j) of the gradient is
//! `S_ij - W_ij` and the Hessian maps a symmetric V to `W V W` on the support:
//!
//! ```text
//! H[(i, j), (k, l)] = (W_ik W_jl + W_il W_jk) u_ij u_kl / 2,     u = sqrt 2 off the diagonal, 1 on it
//! ```
//!
//! For m nodes and e edges a Hessian product costs m (3 e + 2 m) multiply-adds: `V W` by the 2 e + m entries of V,
//! eight columns at a time, then a product of length m for each entry wanted. Only W is stored.

use super::Precision;
use super::triangle::{Component, unit};
use crate::error::Result;
use crate::kernels::{STRIP, dot, dot_chosen, times_strip};
use crate::linalg::{MatrixMut, cholesky, inverse, log_det};
use crate::restricted::{Form, Line, PointByPoint, Preconditioner, Restricted, Second, SupportHessian};
use crate::threads::worth_splitting;
use faer::Mat;
use rayon::prelude::*;

/// f on a component, the other components aside.
pub(super) struct OnComponent<'a> {
    pub model: &'a Precision,
    pub component: Component,
    /// S at the entries, in units of coordinates.
    covariances: Vec<f64>,
    units: Vec<f64>,
    /// The lower triangle by columns: where each starts, rows, and the places of their values.
    column_starts: Vec<usize>,
    rows: Vec<u32>,
    places: Vec<u32>,
    /// The whole matrix by rows, both triangles: where each row starts, columns and places.
    starts: Vec<usize>,
    neighbours: Vec<(u32, u32)>,
    /// Whether the preconditioner is better off with all of O than with its entries.
    crowded: bool,
    /// `O^-1` at the last point inside the cone, and O there.
    inverse: Mat<f64>,
    near: Near,
    outside: bool,
}

/// O as the preconditioner has it: all of it, or its entries by rows (columns and values).
pub(super) enum Near {
    Whole(Mat<f64>),
    Entries(Vec<(u32, f64)>),
}

impl<'a> OnComponent<'a> {
    pub fn new(model: &'a Precision, component: Component) -> Self {
        let nodes = &component.nodes;
        let s = model.covariance().matrix();
        let units: Vec<f64> = component.entries.iter().map(|e| unit(e.row, e.column)).collect();
        let at = |row: usize, column: usize| s[(nodes[row], nodes[column])];
        let covariances = component.entries.iter().zip(&units).map(|(e, u)| u * at(e.row, e.column)).collect();
        let mut columns = vec![Vec::new(); nodes.len()];
        for (place, e) in component.entries.iter().enumerate() {
            columns[e.column].push((e.row as u32, place as u32));
        }
        let column_starts = ends(&columns);
        let (lower, places) = columns.concat().into_iter().unzip();
        let mut rows = vec![Vec::new(); nodes.len()];
        for (place, e) in component.entries.iter().enumerate() {
            rows[e.row].push((e.column as u32, place as u32));
            if e.row != e.column {
                rows[e.column].push((e.row as u32, place as u32));
            }
        }
        let (starts, neighbours) = (ends(&rows), rows.concat());
        // The work with the entries: neighbours of neighbours, and the neighbours of each entry.
        let degree = |i: usize| rows[i].len();
        let through: usize = neighbours.iter().map(|&(c, _)| degree(c as usize)).sum();
        let listed = through + component.entries.iter().map(|e| degree(e.row)).sum::<usize>();
        // With all of O it is a product, 3 m d / 8 steps of eight lanes. Measured on 60 nodes: at 2.8 times as much
        // work with the entries (681 of them) all of O takes 0.8 of a refit's time, at as much (276 entries) 1.3 times.
        let crowded = listed > nodes.len() * 3 * units.len() / 4;
        Self {
            model,
            covariances,
            units,
            column_starts,
            rows: lower,
            places,
            starts,
            neighbours,
            crowded,
            inverse: Mat::new(),
            near: Near::Entries(Vec::new()),
            outside: false,
            component,
        }
    }

    /// m.
    pub fn nodes(&self) -> usize {
        self.component.nodes.len()
    }

    /// S of the component, all of it.
    pub fn covariance(&self) -> Mat<f64> {
        let (nodes, s) = (&self.component.nodes, self.model.covariance().matrix());
        Mat::from_fn(nodes.len(), nodes.len(), |i, j| s[(nodes[i], nodes[j])])
    }

    /// O, both triangles.
    pub fn whole(&self, x: &[f64]) -> Mat<f64> {
        self.component.matrix(x)
    }

    /// The coordinates of a matrix on the support.
    pub fn coordinates(&self, matrix: &Mat<f64>, x: &mut [f64]) {
        for ((e, x), u) in self.component.entries.iter().zip(x).zip(&self.units) {
            *x = u * matrix[(e.row, e.column)];
        }
    }

    /// f, the infinity outside the cone; no derivatives.
    pub fn value(&self, x: &[f64]) -> f64 {
        match cholesky(self.whole(x)) {
            Some(factor) => dot(&self.covariances, x) - log_det(&factor),
            None => f64::INFINITY,
        }
    }

    /// `O^-1` at the last point inside the cone.
    pub fn inverse(&self) -> &Mat<f64> {
        &self.inverse
    }

    /// The work of one product with the Hessian.
    pub fn product_cost(&self) -> usize {
        let (m, d) = (self.nodes(), self.units.len());
        m * (3 * d - m.min(d))
    }

    /// Whether the whole Hessian and its factor are less work than products.
    pub fn prefers_matrix(&self) -> bool {
        let d = self.units.len() as f64;
        // A Newton step by conjugate gradients takes some fifteen products; a blocked factorisation runs three times
        // faster than a pass.
        let matrix = 2.0 * d * d + d * d * d / 18.0;
        matrix <= 15.0 * self.product_cost() as f64
    }

    /// Adds `weight W (x) W` on the support to the lower triangle of `out`.
    pub fn add_hessian(&self, w: &Mat<f64>, weight: f64, mut out: MatrixMut<'_>) {
        let entries = &self.component.entries;
        for (b, right) in entries.iter().enumerate() {
            let (k, l) = (w.col_as_slice(right.row), w.col_as_slice(right.column));
            let scale = 0.5 * weight * self.units[b];
            for (a, left) in entries.iter().enumerate().skip(b) {
                let both = k[left.row] * l[left.column] + l[left.row] * k[left.column];
                out[(a, b)] += scale * self.units[a] * both;
            }
        }
    }

    /// Adds `weight W V W` on the support, V the matrix of `v`.
    pub fn add_product(&self, w: &Mat<f64>, weight: f64, v: &[f64], out: &mut [f64]) {
        let m = self.nodes();
        let entries = self.listed(v);
        // Eight columns of V W at a time; row c of a strip of W is part of column c.
        let strip = |(strip, product, column): &mut (Vec<[f64; STRIP]>, Vec<[f64; STRIP]>, Vec<f64>), b: usize| {
            let start = b * STRIP;
            let width = STRIP.min(m - start);
            for (c, lanes) in strip.iter_mut().enumerate() {
                lanes[..width].copy_from_slice(&w.col_as_slice(c)[start..start + width]);
            }
            times_strip(&self.starts, &entries, strip, product);
            let first = self.column_starts[start];
            let mut found = vec![0.0; self.column_starts[start + width] - first];
            for lane in 0..width {
                column.iter_mut().zip(&*product).for_each(|(c, lanes)| *c = lanes[lane]);
                let wanted = self.column_starts[start + lane]..self.column_starts[start + lane + 1];
                let out = &mut found[wanted.start - first..wanted.end - first];
                dot_chosen(w, &self.rows[wanted], column, out);
            }
            found
        };
        let scratch = || (vec![[0.0; STRIP]; m], vec![[0.0; STRIP]; m], vec![0.0; m]);
        let strips = m.div_ceil(STRIP);
        let parts: Vec<Vec<f64>> = if worth_splitting(self.product_cost()) {
            (0..strips).into_par_iter().map_init(scratch, strip).collect()
        } else {
            let mut scratch = scratch();
            (0..strips).map(|b| strip(&mut scratch, b)).collect()
        };
        for (&place, value) in self.places.iter().zip(parts.iter().flatten()) {
            out[place as usize] += weight * self.units[place as usize] * value;
        }
    }

    /// The entries of the matrix of `v` by rows.
    fn listed(&self, v: &[f64]) -> Vec<(u32, f64)> {
        let value = |place: u32| v[place as usize] / self.units[place as usize];
        self.neighbours.iter().map(|&(c, place)| (c, value(place))).collect()
    }

    /// O for [`condition`](Self::condition).
    pub fn near(&self, x: &[f64]) -> Near {
        if self.crowded { Near::Whole(self.whole(x)) } else { Near::Entries(self.listed(x)) }
    }

    /// `O V O` on the support: the inverse of `W (x) W` if every pair were in it.
    pub fn condition(&self, near: &Near, v: &[f64], out: &mut [f64]) {
        let o = match near {
            Near::Whole(o) => {
                out.fill(0.0);
                return self.add_product(o, 1.0, v, out);
            }
            Near::Entries(o) => o,
        };
        let v = self.listed(v);
        let row = |i: usize| self.starts[i]..self.starts[i + 1];
        let mut column = vec![0.0; self.nodes()];
        for (j, wanted) in self.column_starts.windows(2).enumerate() {
            // Column j of V O, by the neighbours of the neighbours of j.
            column.fill(0.0);
            for &(l, weight) in &o[row(j)] {
                v[row(l as usize)].iter().for_each(|&(k, v)| column[k as usize] += weight * v);
            }
            for (&i, &place) in self.rows[wanted[0]..wanted[1]].iter().zip(&self.places[wanted[0]..wanted[1]]) {
                let sum: f64 = o[row(i as usize)].iter().map(|&(k, o)| o * column[k as usize]).sum();
                out[place as usize] = self.units[place as usize] * sum;
            }
        }
    }

    /// Adds the diagonal of `weight W (x) W` on the support.
    pub fn add_diagonal(&self, w: &Mat<f64>, weight: f64, out: &mut [f64]) {
        for (o, e) in out.iter_mut().zip(&self.component.entries) {
            let (i, j) = (e.row, e.column);
            *o += weight * if i == j { w[(i, i)] * w[(i, i)] } else { w[(i, i)] * w[(j, j)] + w[(i, j)] * w[(i, j)] };
        }
    }

    /// Adds `weight W` on the support, in units of coordinates.
    pub fn add_entries(&self, w: &Mat<f64>, weight: f64, out: &mut [f64]) {
        for ((o, e), u) in out.iter_mut().zip(&self.component.entries).zip(&self.units) {
            *o += weight * u * w[(e.row, e.column)];
        }
    }

    /// S on the support, in units of coordinates.
    pub fn covariances(&self) -> &[f64] {
        &self.covariances
    }
}

impl Restricted for OnComponent<'_> {
    fn dim(&self) -> usize {
        self.units.len()
    }

    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let Some(factor) = cholesky(self.whole(x)) else { return Ok(f64::INFINITY) };
        self.inverse = inverse(&factor);
        self.near = self.near(x);
        let entries = self.component.entries.iter().zip(&self.units).zip(&self.covariances);
        let bounds = self.model.bounds();
        self.outside = false;
        for (((e, u), s), (g, x)) in entries.zip(gradient.iter_mut().zip(x)) {
            let w = self.inverse[(e.row, e.column)];
            *g = s - u * w;
            // No diagonal entry exceeds the largest eigenvalue: well beyond the bound, f may fall for ever.
            self.outside |= e.row == e.column && *x > 2.0 * bounds.beta;
        }
        Ok(dot(&self.covariances, x) - log_det(&factor))
    }

    fn second(&mut self) -> Second<'_> {
        if self.prefers_matrix() { Second::Matrix(self) } else { Second::Products(self) }
    }

    fn line<'b>(&'b mut self, x: &[f64], direction: &[f64]) -> Result<Box<dyn Line + 'b>> {
        Ok(Box::new(PointByPoint::new(self, x, direction)))
    }

    fn form(&self) -> Form {
        // <S, O> at the minimum.
        Form { size: self.nodes() as f64, ..Form::default() }
    }

    fn gives_up(&self) -> bool {
        self.outside
    }
}

impl SupportHessian for OnComponent<'_> {
    fn matrix(&mut self, mut out: MatrixMut<'_>) -> Result<()> {
        out.fill(0.0);
        self.add_hessian(&self.inverse, 1.0, out);
        Ok(())
    }

    fn product(&mut self, v: &[f64], out: &mut [f64]) -> Result<()> {
        out.fill(0.0);
        self.add_product(&self.inverse, 1.0, v, out);
        Ok(())
    }

    fn diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        out.fill(0.0);
        self.add_diagonal(&self.inverse, 1.0, out);
        Ok(())
    }

    fn preconditioner(&mut self) -> Option<&mut dyn Preconditioner> {
        Some(self)
    }
}

impl Preconditioner for OnComponent<'_> {
    fn apply(&mut self, r: &[f64], out: &mut [f64]) -> Result<()> {
        self.condition(&self.near, r, out);
        Ok(())
    }
}

/// Where each list ends once they stand one after another, 0 first.
fn ends<T>(lists: &[Vec<T>]) -> Vec<usize> {
    let ends = lists.iter().scan(0, |end, list| {
        *end += list.len();
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}
