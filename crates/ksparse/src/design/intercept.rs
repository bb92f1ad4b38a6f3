//! A last column that is the same everywhere.

use super::{Columns, Costs, Design, Occupied, Traffic, add_to_rows, totals};
use crate::error::Result;
use crate::linalg::MatrixMut;
use crate::sparsity::SparseRef;
use faer::Mat;

/// Another design with a column of ones after its last column, so that an intercept is a coordinate
/// like any other (index p). [`Risk::with_intercept`](crate::Risk::with_intercept) wraps its design in one.
///
/// ```
/// use ksparse::{SparseRef, design::{Dense, Design, WithIntercept}};
/// let x = WithIntercept::new(Dense::from_columns(2, 1, vec![1.0, 2.0])?);
/// let mut z = [0.0; 2];
/// x.mul(SparseRef::new(&[0, 1], &[10.0, 5.0]), &mut z);
/// assert_eq!(z, [15.0, 25.0]);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct WithIntercept<D> {
    inner: D,
    /// What stands in the last column.
    unit: f64,
}

impl<D: Design> WithIntercept<D> {
    /// `[X 1]`.
    pub fn new(inner: D) -> Self {
        Self::in_units(inner, 1.0)
    }

    /// `[X unit]`: a column of the size of the others, so that steps along all coordinates have the same scale.
    pub(crate) fn in_units(inner: D, unit: f64) -> Self {
        Self { inner, unit }
    }

    /// Splits a list of columns into those of X (with their positions) and the positions of the ones.
    fn split(&self, columns: &[usize]) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
        let p = self.inner.ncols();
        let (mut inner, mut places, mut ones) = (Vec::with_capacity(columns.len()), Vec::new(), Vec::new());
        for (place, &j) in columns.iter().enumerate() {
            if j == p {
                ones.push(place);
            } else {
                inner.push(j);
                places.push(place);
            }
        }
        (inner, places, ones)
    }
}

impl<D: Design> Design for WithIntercept<D> {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }

    fn ncols(&self) -> usize {
        self.inner.ncols() + 1
    }

    fn mul(&self, w: SparseRef, out: &mut [f64]) {
        let (inner, places, ones) = self.split(w.indices);
        let values: Vec<f64> = places.iter().map(|&i| w.values[i]).collect();
        self.inner.mul(SparseRef::new(&inner, &values), out);
        let shift = self.unit * ones.iter().map(|&i| w.values[i]).sum::<f64>();
        if shift != 0.0 {
            out.iter_mut().for_each(|o| *o += shift);
        }
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        let p = self.inner.ncols();
        self.inner.tmul(r, &mut out[..p]);
        out[p] = self.unit * r.iter().sum::<f64>();
    }

    fn tmul_outputs(&self, r: &[f64], outputs: usize, out: &mut [f64]) {
        let (body, last) = out.split_at_mut(self.inner.ncols() * outputs);
        self.inner.tmul_outputs(r, outputs, body);
        last.iter_mut().zip(totals(r, outputs)).for_each(|(o, total)| *o = self.unit * total);
    }

    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
        let (inner, places, ones) = self.split(columns);
        let mut values = vec![0.0; inner.len()];
        self.inner.tmul_at(r, &inner, &mut values);
        for (&i, v) in places.iter().zip(values) {
            out[i] = v;
        }
        for i in ones {
            out[i] = self.unit * r.iter().sum::<f64>();
        }
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        let p = self.inner.ncols();
        self.inner.squares(weights, &mut out[..p]);
        out[p] = self.unit * self.unit * weights.iter().sum::<f64>();
    }

    fn squares_outputs(&self, weights: &[f64], outputs: usize, out: &mut [f64]) {
        let (body, last) = out.split_at_mut(self.inner.ncols() * outputs);
        self.inner.squares_outputs(weights, outputs, body);
        last.iter_mut().zip(totals(weights, outputs)).for_each(|(o, total)| *o = self.unit * self.unit * total);
    }

    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]) {
        let (inner, places, ones) = self.split(columns);
        let mut values = vec![0.0; inner.len()];
        self.inner.squares_at(weights, &inner, &mut values);
        for (&i, v) in places.iter().zip(values) {
            out[i] = v;
        }
        for i in ones {
            out[i] = self.unit * self.unit * weights.iter().sum::<f64>();
        }
    }

    fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]) {
        let p = self.inner.ncols();
        self.inner.deviations(weights, &centres[..p], &mut out[..p]);
        out[p] = weights.iter().sum::<f64>() * (self.unit - centres[p]).powi(2);
    }

    fn magnitudes(&self, weights: &[f64], out: &mut [f64]) {
        let p = self.inner.ncols();
        self.inner.magnitudes(weights, &mut out[..p]);
        out[p] = self.unit * self.unit * weights.iter().sum::<f64>();
    }

    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64], mut out: MatrixMut<'_>) {
        let (left_inner, left_places, left_ones) = self.split(left);
        let (right_inner, right_places, right_ones) = self.split(right);
        if left_ones.is_empty() && right_ones.is_empty() {
            return self.inner.cross(left, right, weights, out);
        }
        let mut body = Mat::zeros(left_inner.len(), right_inner.len());
        self.inner.cross(&left_inner, &right_inner, weights, MatrixMut::over(&mut body));
        let mut left_sums = vec![0.0; left_inner.len()];
        self.inner.tmul_at(weights, &left_inner, &mut left_sums);
        let mut right_sums = vec![0.0; right_inner.len()];
        if !left_ones.is_empty() {
            self.inner.tmul_at(weights, &right_inner, &mut right_sums);
        }
        let total: f64 = weights.iter().sum();
        for (b, &column) in right_places.iter().enumerate() {
            for (a, &row) in left_places.iter().enumerate() {
                out[(row, column)] = body[(a, b)];
            }
            for &row in &left_ones {
                out[(row, column)] = self.unit * right_sums[b];
            }
        }
        for &column in &right_ones {
            for (a, &row) in left_places.iter().enumerate() {
                out[(row, column)] = self.unit * left_sums[a];
            }
            for &row in &left_ones {
                out[(row, column)] = self.unit * self.unit * total;
            }
        }
    }

    fn gather<'a>(&'a self, support: &[usize]) -> Box<dyn Columns + 'a> {
        let (inner, places, ones) = self.split(support);
        let body = self.inner.gather(&inner);
        match ones.first() {
            None => body,
            Some(&one) => Box::new(WithOnes { body, places, one, constant: self.inner.ncols(), unit: self.unit }),
        }
    }

    fn cost(&self) -> f64 {
        self.inner.cost()
    }

    fn occupied<'a>(&'a self) -> Option<Occupied<'a>> {
        let Occupied { mut columns, design } = self.inner.occupied()?;
        columns.push(self.inner.ncols());
        Some(Occupied { columns, design: Box::new(WithIntercept::in_units(design, self.unit)) })
    }

    fn health(&self) -> Result<()> {
        self.inner.health()
    }

    fn traffic(&self) -> Option<Traffic> {
        self.inner.traffic()
    }

    fn row(&self, i: usize, out: &mut Vec<(usize, f64)>) {
        self.inner.row(i, out);
        out.push((self.inner.ncols(), self.unit));
    }

    fn dot_rows(&self, rows: &[usize], w: &[f64], out: &mut [f64]) {
        let (body, last) = w.split_at(self.inner.ncols());
        self.inner.dot_rows(rows, body, out);
        out.iter_mut().for_each(|o| *o += self.unit * last[0]);
    }

    fn add_rows(&self, rows: &[usize], factors: &[f64], out: &mut [f64]) {
        let (body, last) = out.split_at_mut(self.inner.ncols());
        self.inner.add_rows(rows, factors, body);
        last[0] += self.unit * factors.iter().sum::<f64>();
    }
}

/// Columns of the inner design with the constant one at position `one`.
struct WithOnes<'a> {
    body: Box<dyn Columns + 'a>,
    places: Vec<usize>,
    one: usize,
    /// The number of the constant column in the design.
    constant: usize,
    unit: f64,
}

impl WithOnes<'_> {
    /// A row of numbers for every column: those of the body, and `ones`.
    fn by_rows(&self, outputs: usize, ones: Vec<f64>, out: &mut [f64], fill: impl Fn(&dyn Columns, &mut [f64])) {
        let mut inner = vec![0.0; self.places.len() * outputs];
        fill(&*self.body, &mut inner);
        let rows = self.places.iter().zip(inner.chunks_exact(outputs)).chain([(&self.one, &*ones)]);
        rows.for_each(|(&at, row)| out[at * outputs..(at + 1) * outputs].copy_from_slice(row));
    }
}

impl Columns for WithOnes<'_> {
    fn ncols(&self) -> usize {
        self.places.len() + 1
    }

    fn change(&mut self, support: &[usize]) -> bool {
        // The constant column is the last of the design, and a support ascends.
        let Some((&last, inner)) = support.split_last() else { return false };
        if last != self.constant || !self.body.change(inner) {
            return false;
        }
        self.places = (0..inner.len()).collect();
        self.one = inner.len();
        true
    }

    fn mul(&self, x: &[f64], out: &mut [f64]) {
        let inner: Vec<f64> = self.places.iter().map(|&i| x[i]).collect();
        self.body.mul(&inner, out);
        let shift = self.unit * x[self.one];
        out.iter_mut().for_each(|o| *o += shift);
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        let mut inner = vec![0.0; self.places.len()];
        self.body.tmul(r, &mut inner);
        self.places.iter().zip(inner).for_each(|(&i, v)| out[i] = v);
        out[self.one] = self.unit * r.iter().sum::<f64>();
    }

    fn normal(&self, weights: &[f64], x: &[f64], shift: f64, between: &mut [f64], out: &mut [f64]) -> f64 {
        let inner: Vec<f64> = self.places.iter().map(|&i| x[i]).collect();
        let mut products = vec![0.0; inner.len()];
        let total = self.body.normal(weights, &inner, shift + self.unit * x[self.one], between, &mut products);
        self.places.iter().zip(products).for_each(|(&i, v)| out[i] = v);
        out[self.one] = self.unit * total;
        total
    }

    fn mul_outputs(&self, x: &[f64], outputs: usize, out: &mut [f64]) {
        let row = |at: usize| &x[at * outputs..(at + 1) * outputs];
        let inner: Vec<f64> = self.places.iter().flat_map(|&at| row(at)).copied().collect();
        self.body.mul_outputs(&inner, outputs, out);
        add_to_rows(self.unit, row(self.one), out);
    }

    fn tmul_outputs(&self, r: &[f64], outputs: usize, out: &mut [f64]) {
        let ones = totals(r, outputs).into_iter().map(|total| self.unit * total).collect();
        self.by_rows(outputs, ones, out, |body, out| body.tmul_outputs(r, outputs, out));
    }

    fn squares_outputs(&self, weights: &[f64], outputs: usize, out: &mut [f64]) {
        let ones = totals(weights, outputs).into_iter().map(|total| self.unit * self.unit * total).collect();
        self.by_rows(outputs, ones, out, |body, out| body.squares_outputs(weights, outputs, out));
    }

    fn gram(&mut self, weights: &[f64], mut out: MatrixMut<'_>) {
        let k = self.places.len();
        let mut body = Mat::zeros(k, k);
        self.body.gram(weights, MatrixMut::over(&mut body));
        // `places` ascends, so the lower triangle of the body lands in the lower triangle.
        for b in 0..k {
            for a in b..k {
                out[(self.places[a], self.places[b])] = body[(a, b)];
            }
        }
        let mut sums = vec![0.0; k];
        self.body.tmul(weights, &mut sums);
        for (&i, s) in self.places.iter().zip(sums) {
            out[(i.max(self.one), i.min(self.one))] = self.unit * s;
        }
        out[(self.one, self.one)] = self.unit * self.unit * weights.iter().sum::<f64>();
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        let mut inner = vec![0.0; self.places.len()];
        self.body.squares(weights, &mut inner);
        self.places.iter().zip(inner).for_each(|(&i, v)| out[i] = v);
        out[self.one] = self.unit * self.unit * weights.iter().sum::<f64>();
    }

    fn costs(&self) -> Costs {
        self.body.costs()
    }
}
