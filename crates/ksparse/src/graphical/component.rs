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
use crate::kernels::{STRIP, dot, times_strip};
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
    /// The entries of each column (row >= column), and the places of their values.
    columns: Vec<Vec<(usize, usize)>>,
    /// The whole matrix by rows, both triangles: where each row starts, columns and places.
    starts: Vec<usize>,
    neighbours: Vec<(u32, u32)>,
    /// `O^-1` at the last point inside the cone, and O there.
    inverse: Mat<f64>,
    matrix: Vec<f64>,
    outside: bool,
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
            columns[e.column].push((e.row, place));
        }
        let mut rows = vec![Vec::new(); nodes.len()];
        for (place, e) in component.entries.iter().enumerate() {
            rows[e.row].push((e.column as u32, place as u32));
            if e.row != e.column {
                rows[e.column].push((e.row as u32, place as u32));
            }
        }
        let mut starts = vec![0];
        starts.extend(rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        let neighbours = rows.concat();
        let (inverse, matrix, outside) = (Mat::new(), Vec::new(), false);
        Self { model, component, covariances, units, columns, starts, neighbours, inverse, matrix, outside }
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
        let entries: Vec<(u32, f64)> =
            self.neighbours.iter().map(|&(c, place)| (c, v[place as usize] / self.units[place as usize])).collect();
        // Eight columns of V W at a time; row c of a strip of W is part of column c.
        let strip = |b: usize| {
            let start = b * STRIP;
            let width = STRIP.min(m - start);
            let mut strip = vec![[0.0; STRIP]; m];
            for (c, lanes) in strip.iter_mut().enumerate() {
                lanes[..width].copy_from_slice(&w.col_as_slice(c)[start..start + width]);
            }
            let mut product = vec![[0.0; STRIP]; m];
            times_strip(&self.starts, &entries, &strip, &mut product);
            let mut found = Vec::new();
            let mut column = vec![0.0; m];
            for lane in 0..width {
                column.iter_mut().zip(&product).for_each(|(c, lanes)| *c = lanes[lane]);
                let wanted = &self.columns[start + lane];
                found.extend(wanted.iter().map(|&(i, p)| (p, self.units[p] * dot(w.col_as_slice(i), &column))));
            }
            found
        };
        let strips = m.div_ceil(STRIP);
        let parts: Vec<Vec<(usize, f64)>> = if worth_splitting(self.product_cost()) {
            (0..strips).into_par_iter().map(strip).collect()
        } else {
            (0..strips).map(strip).collect()
        };
        for (place, value) in parts.into_iter().flatten() {
            out[place] += weight * value;
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
        self.matrix.clear();
        self.matrix.extend(x.iter().zip(&self.units).map(|(x, u)| x / u));
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
        let d = self.dim() as f64;
        // A Newton step by conjugate gradients takes some fifteen products; a blocked factorisation runs three times
        // faster than a pass.
        let matrix = 2.0 * d * d + d * d * d / 18.0;
        if matrix <= 15.0 * self.product_cost() as f64 { Second::Matrix(self) } else { Second::Products(self) }
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
    /// `O V O` on the support: the inverse of `W (x) W` if every pair were in it.
    fn apply(&mut self, r: &[f64], out: &mut [f64]) -> Result<()> {
        let row = |i: usize| &self.neighbours[self.starts[i]..self.starts[i + 1]];
        let o = &self.matrix;
        let v: Vec<f64> = r.iter().zip(&self.units).map(|(r, u)| r / u).collect();
        let mut column = vec![0.0; self.nodes()];
        for (j, wanted) in self.columns.iter().enumerate() {
            // Column j of V O, by the neighbours of the neighbours of j.
            column.fill(0.0);
            for &(l, through) in row(j) {
                let weight = o[through as usize];
                row(l as usize).iter().for_each(|&(k, place)| column[k as usize] += weight * v[place as usize]);
            }
            for &(i, place) in wanted {
                let sum: f64 = row(i).iter().map(|&(k, through)| o[through as usize] * column[k as usize]).sum();
                out[place] = self.units[place] * sum;
            }
        }
        Ok(())
    }
}
