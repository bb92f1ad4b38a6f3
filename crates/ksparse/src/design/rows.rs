//! Some rows of a design, in any order, repeats allowed.

use super::{Columns, Costs, Design, Traffic};
use crate::error::{Error, Result};
use crate::linalg::MatrixMut;
use crate::sparsity::SparseRef;

/// A view of the rows listed: a training fold, a bootstrap resample, a shard.
///
/// Nothing is copied: a vector over the listed rows is spread out over all rows, and the inner design does the
/// product. That costs a pass over all rows, which is what suits folds that keep most of them.
///
/// ```
/// use ksparse::{Risk, design::{Dense, Design, Rows}, loss::Squared};
/// let x = Dense::from_columns(4, 1, vec![1.0, 2.0, 3.0, 4.0])?;
/// let y = [2.0, 4.0, 6.0, 8.0];
/// let odd = Rows::new(&x, vec![1, 3])?;
/// let target: Vec<f64> = odd.rows().iter().map(|&i| y[i]).collect();
/// let risk = Risk::new(&odd, target, Squared::default())?;
/// assert_eq!((risk.design().nrows(), risk.target()), (2, &[4.0, 8.0][..]));
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rows<D> {
    inner: D,
    rows: Vec<usize>,
}

impl<D: Design> Rows<D> {
    /// Row i of the view is row `rows[i]` of `inner`.
    pub fn new(inner: D, rows: Vec<usize>) -> Result<Self> {
        let bound = inner.nrows();
        if let Some(&index) = rows.iter().find(|&&i| i >= bound) {
            return Err(Error::IndexOutOfRange { what: "row", index, bound });
        }
        Ok(Self { inner, rows })
    }

    /// The rows listed.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Rows of the view as rows of the inner design.
    fn listed(&self, rows: &[usize]) -> Vec<usize> {
        rows.iter().map(|&i| self.rows[i]).collect()
    }
}

/// The transpose of the selection: sums the entries of `r` that belong to the same inner row.
fn spread(rows: &[usize], r: &[f64], nrows: usize) -> Vec<f64> {
    let mut full = vec![0.0; nrows];
    for (&i, r) in rows.iter().zip(r) {
        full[i] += r;
    }
    full
}

/// [`spread`] for a matrix kept by rows.
fn spread_rows(rows: &[usize], r: &[f64], outputs: usize, nrows: usize) -> Vec<f64> {
    let mut full = vec![0.0; nrows * outputs];
    for (&i, r) in rows.iter().zip(r.chunks_exact(outputs)) {
        full[i * outputs..(i + 1) * outputs].iter_mut().zip(r).for_each(|(full, r)| *full += r);
    }
    full
}

impl<D: Design> Design for Rows<D> {
    fn nrows(&self) -> usize {
        self.rows.len()
    }

    fn ncols(&self) -> usize {
        self.inner.ncols()
    }

    fn mul(&self, w: SparseRef, out: &mut [f64]) {
        let mut full = vec![0.0; self.inner.nrows()];
        self.inner.mul(w, &mut full);
        out.iter_mut().zip(&self.rows).for_each(|(o, &i)| *o = full[i]);
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.inner.tmul(&spread(&self.rows, r, self.inner.nrows()), out);
    }

    fn tmul_outputs(&self, r: &[f64], outputs: usize, out: &mut [f64]) {
        self.inner.tmul_outputs(&spread_rows(&self.rows, r, outputs, self.inner.nrows()), outputs, out);
    }

    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
        self.inner.tmul_at(&spread(&self.rows, r, self.inner.nrows()), columns, out);
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.inner.squares(&spread(&self.rows, weights, self.inner.nrows()), out);
    }

    fn squares_outputs(&self, weights: &[f64], outputs: usize, out: &mut [f64]) {
        self.inner.squares_outputs(&spread_rows(&self.rows, weights, outputs, self.inner.nrows()), outputs, out);
    }

    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]) {
        self.inner.squares_at(&spread(&self.rows, weights, self.inner.nrows()), columns, out);
    }

    fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]) {
        self.inner.deviations(&spread(&self.rows, weights, self.inner.nrows()), centres, out);
    }

    fn magnitudes(&self, weights: &[f64], out: &mut [f64]) {
        self.inner.magnitudes(&spread(&self.rows, weights, self.inner.nrows()), out);
    }

    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64], out: MatrixMut<'_>) {
        self.inner.cross(left, right, &spread(&self.rows, weights, self.inner.nrows()), out);
    }

    fn gather<'a>(&'a self, support: &[usize]) -> Box<dyn Columns + 'a> {
        Box::new(RowsColumns { body: self.inner.gather(support), rows: &self.rows, nrows: self.inner.nrows() })
    }

    fn cost(&self) -> f64 {
        self.inner.cost()
    }

    fn health(&self) -> Result<()> {
        self.inner.health()
    }

    fn traffic(&self) -> Option<Traffic> {
        self.inner.traffic()
    }

    fn row(&self, i: usize, out: &mut Vec<(usize, f64)>) {
        self.inner.row(self.rows[i], out);
    }

    fn dot_rows(&self, rows: &[usize], w: &[f64], out: &mut [f64]) {
        self.inner.dot_rows(&self.listed(rows), w, out);
    }

    fn add_rows(&self, rows: &[usize], factors: &[f64], out: &mut [f64]) {
        self.inner.add_rows(&self.listed(rows), factors, out);
    }
}

struct RowsColumns<'a> {
    body: Box<dyn Columns + 'a>,
    rows: &'a [usize],
    nrows: usize,
}

impl Columns for RowsColumns<'_> {
    fn ncols(&self) -> usize {
        self.body.ncols()
    }

    fn mul(&self, x: &[f64], out: &mut [f64]) {
        let mut full = vec![0.0; self.nrows];
        self.body.mul(x, &mut full);
        out.iter_mut().zip(self.rows).for_each(|(o, &i)| *o = full[i]);
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.body.tmul(&spread(self.rows, r, self.nrows), out);
    }

    fn change(&mut self, support: &[usize]) -> bool {
        self.body.change(support)
    }

    fn normal(&self, weights: &[f64], x: &[f64], shift: f64, _: &mut [f64], out: &mut [f64]) -> f64 {
        let mut between = vec![0.0; self.nrows];
        self.body.normal(&spread(self.rows, weights, self.nrows), x, shift, &mut between, out)
    }

    fn mul_outputs(&self, x: &[f64], outputs: usize, out: &mut [f64]) {
        let mut full = vec![0.0; self.nrows * outputs];
        self.body.mul_outputs(x, outputs, &mut full);
        for (out, &i) in out.chunks_exact_mut(outputs).zip(self.rows) {
            out.copy_from_slice(&full[i * outputs..(i + 1) * outputs]);
        }
    }

    fn tmul_outputs(&self, r: &[f64], outputs: usize, out: &mut [f64]) {
        self.body.tmul_outputs(&spread_rows(self.rows, r, outputs, self.nrows), outputs, out);
    }

    fn gram(&mut self, weights: &[f64], out: MatrixMut<'_>) {
        self.body.gram(&spread(self.rows, weights, self.nrows), out);
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.body.squares(&spread(self.rows, weights, self.nrows), out);
    }

    fn squares_outputs(&self, weights: &[f64], outputs: usize, out: &mut [f64]) {
        self.body.squares_outputs(&spread_rows(self.rows, weights, outputs, self.nrows), outputs, out);
    }

    fn costs(&self) -> Costs {
        self.body.costs()
    }
}
