//! Centring and scaling without touching the stored matrix.

mod columns;
mod penalties;

use super::{Columns, Design, Occupied, Recentred, Traffic, totals};
use crate::error::{Error, Result, check_finite, check_len, check_weights};
use crate::linalg::MatrixMut;
use crate::sparsity::SparseRef;
use columns::{ScaledColumns, correct_products, correct_squares};
pub(crate) use penalties::check_penalty_factors;

/// `(X - 1 m') diag(1/s)`: another design with column j shifted by `m_j` and divided by `s_j`.
///
/// The products carry a rank-one correction, so a sparse design is never filled in.
///
/// ```
/// use ksparse::{Auto, Risk, Solver, Sparsity, design::{Dense, Scaled}, loss::Squared};
/// let x = Dense::from_columns(4, 2, vec![1.0, 2.0, 3.0, 4.0, 500.0, 100.0, 300.0, 200.0])?;
/// let scaled = Scaled::standardize(&x, None)?;
/// let risk = Risk::new(&scaled, &[3.0, 5.0, 7.0, 9.0], Squared::default())?.with_intercept();
/// let solution = Auto::default().fit(&risk, &Sparsity::new(1))?;
/// // Back to the units of x: y = 2 x_0 + 1.
/// let model = risk.model(&solution).unscaled(scaled.centre(), scaled.scale());
/// assert_eq!(model.support, [0]);
/// assert!((model.coefficients[0] - 2.0).abs() < 1e-9 && (model.intercept - 1.0).abs() < 1e-9);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scaled<D> {
    /// Columns far from 0 are moved first: a rank-one correction would be lost in their offset.
    inner: Recentred<D>,
    centre: Vec<f64>,
    /// The part of the centre that is still to be subtracted.
    rest: Vec<f64>,
    scale: Vec<f64>,
}

impl<D: Design> Scaled<D> {
    /// With given centres and scales (both of length p, scales positive).
    pub fn new(inner: D, centre: Vec<f64>, scale: Vec<f64>) -> Result<Self> {
        check_len("centre", centre.len(), inner.ncols())?;
        check_len("scale", scale.len(), inner.ncols())?;
        let n = inner.nrows();
        let inner = Recentred::new(inner, &vec![1.0 / n.max(1) as f64; n]);
        let rest = centre.iter().enumerate().map(|(j, c)| c - inner.shift(j)).collect();
        Self::checked(inner, centre, rest, scale)
    }

    fn checked(inner: Recentred<D>, centre: Vec<f64>, rest: Vec<f64>, scale: Vec<f64>) -> Result<Self> {
        check_finite("centre", &centre)?;
        if let Some(index) = scale.iter().position(|s| !(s.is_finite() && *s > 0.0)) {
            return Err(Error::InvalidOption {
                option: "scale",
                value: format!("{} at position {index}", scale[index]),
                expected: "positive and finite",
            });
        }
        Ok(Self { inner, centre, rest, scale })
    }

    /// Mean 0 and (population) standard deviation 1 under the sample weights; a column that is constant but for its
    /// last digits is centred and not scaled. An error where squares of a column overflow or vanish.
    pub fn standardize(inner: D, weights: Option<&[f64]>) -> Result<Self> {
        let n = inner.nrows();
        let weights = match weights {
            Some(w) => {
                let total = check_weights(w, n)?;
                w.iter().map(|w| w / total).collect()
            }
            None => vec![1.0 / n.max(1) as f64; n],
        };
        let (inner, rest, mut scale) = Recentred::with_moments(inner, &weights);
        let centre: Vec<f64> = rest.iter().enumerate().map(|(j, rest)| inner.shift(j) + rest).collect();
        for (j, (s, m)) in scale.iter_mut().zip(&centre).enumerate() {
            if *s <= 4.0 * f64::EPSILON * m.abs() {
                *s = 1.0;
            } else if !(*s * *s).is_normal() {
                let what = "overflow or vanish: multiply it by a power of ten that brings it nearer to 1";
                return Err(Error::Data(format!("the squares of column {j} (counted from 0) {what}")));
            }
        }
        Self::checked(inner, centre, rest, scale)
    }

    /// Every column whose mean is larger than its deviation less its mean, nothing scaled: as if all were centred,
    /// where an intercept takes up the rest, and sparse columns stay sparse; `None` where there is no such column. The
    /// weights sum to 1. Also the root mean square of the largest column then.
    pub(crate) fn centred(inner: D, weights: &[f64]) -> (Option<Self>, f64) {
        if let Some(part) = inner.occupied()
            && let (None, largest) = Scaled::centred(part.design, weights)
        {
            return (None, largest);
        }
        let (inner, mut rest, deviations) = Recentred::with_moments(inner, weights);
        let mut largest = 0.0f64;
        for (j, (rest, deviation)) in rest.iter_mut().zip(deviations).enumerate() {
            let mut size = deviation;
            if (inner.shift(j) == 0.0 && rest.abs() <= deviation) || !rest.is_finite() {
                size = size.hypot(*rest);
                *rest = 0.0;
            }
            largest = largest.max(size);
        }
        if inner.given().is_some() && rest.iter().all(|rest| *rest == 0.0) {
            return (None, largest);
        }
        let centre: Vec<f64> = rest.iter().enumerate().map(|(j, rest)| inner.shift(j) + rest).collect();
        let scale = vec![1.0; rest.len()];
        (Some(Self { inner, centre, rest, scale }), largest)
    }

    /// With shifts, centres and scales that somebody else has found: columns far from 0 with what is subtracted before
    /// any product, what is left to subtract from every column (empty: nothing), what each is divided by (empty: 1).
    pub(crate) fn known(inner: D, shifts: &[(usize, f64)], rest: &[f64], scale: &[f64]) -> Self {
        let p = inner.ncols();
        let or = |given: &[f64], default: f64| if given.is_empty() { vec![default; p] } else { given.to_vec() };
        let (rest, scale) = (or(rest, 0.0), or(scale, 1.0));
        let inner = Recentred::by(inner, shifts);
        let centre = rest.iter().enumerate().map(|(j, rest)| inner.shift(j) + rest).collect();
        Self { inner, centre, rest, scale }
    }

    /// What is subtracted from each column.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// What each column is divided by.
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    fn pick(&self, columns: &[usize]) -> (Vec<f64>, Vec<f64>) {
        (columns.iter().map(|&j| self.rest[j]).collect(), columns.iter().map(|&j| self.scale[j]).collect())
    }
}

impl<D: Design> Design for Scaled<D> {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }

    fn ncols(&self) -> usize {
        self.inner.ncols()
    }

    fn mul(&self, w: SparseRef, out: &mut [f64]) {
        let values: Vec<f64> = w.iter().map(|(j, v)| v / self.scale[j]).collect();
        let shift: f64 = w.indices.iter().zip(&values).map(|(&j, v)| self.rest[j] * v).sum();
        self.inner.mul(SparseRef::new(w.indices, &values), out);
        out.iter_mut().for_each(|o| *o -= shift);
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.inner.tmul(r, out);
        let total: f64 = r.iter().sum();
        for ((o, m), s) in out.iter_mut().zip(&self.rest).zip(&self.scale) {
            *o = (*o - m * total) / s;
        }
    }

    fn tmul_outputs(&self, r: &[f64], outputs: usize, out: &mut [f64]) {
        self.inner.tmul_outputs(r, outputs, out);
        correct_products(&self.rest, &self.scale, &totals(r, outputs), out);
    }

    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
        self.inner.tmul_at(r, columns, out);
        let total: f64 = r.iter().sum();
        for (o, &j) in out.iter_mut().zip(columns) {
            *o = (*o - self.rest[j] * total) / self.scale[j];
        }
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.inner.deviations(weights, &self.rest, out);
        out.iter_mut().zip(&self.scale).for_each(|(o, s)| *o = *o / s / s);
    }

    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]) {
        let mut sums = vec![0.0; columns.len()];
        self.inner.tmul_at(weights, columns, &mut sums);
        self.inner.squares_at(weights, columns, out);
        let (centre, scale) = self.pick(columns);
        correct_squares(&centre, &scale, &sums, weights.iter().sum(), out);
    }

    fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]) {
        let total = |j: usize| self.rest[j] + self.scale[j] * centres[j];
        let centres: Vec<f64> = (0..centres.len()).map(total).collect();
        self.inner.deviations(weights, &centres, out);
        out.iter_mut().zip(&self.scale).for_each(|(o, s)| *o = *o / s / s);
    }

    fn magnitudes(&self, weights: &[f64], out: &mut [f64]) {
        self.inner.magnitudes(weights, out);
        let root = weights.iter().sum::<f64>().sqrt();
        for ((o, m), s) in out.iter_mut().zip(&self.rest).zip(&self.scale) {
            *o = ((o.sqrt() + m.abs() * root) / s).powi(2);
        }
    }

    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64], mut out: MatrixMut<'_>) {
        self.inner.cross(left, right, weights, out.reborrow());
        let (mut left_sums, mut right_sums) = (vec![0.0; left.len()], vec![0.0; right.len()]);
        self.inner.tmul_at(weights, left, &mut left_sums);
        self.inner.tmul_at(weights, right, &mut right_sums);
        let total: f64 = weights.iter().sum();
        let (left_centre, left_scale) = self.pick(left);
        for (b, &j) in right.iter().enumerate() {
            let (m, s) = (self.rest[j], self.scale[j]);
            for a in 0..left.len() {
                let corrected =
                    out[(a, b)] - left_centre[a] * right_sums[b] - left_sums[a] * m + left_centre[a] * m * total;
                out[(a, b)] = corrected / (left_scale[a] * s);
            }
        }
    }

    fn gather<'a>(&'a self, support: &[usize]) -> Box<dyn Columns + 'a> {
        let (centre, scale) = self.pick(support);
        let all = (&self.rest[..], &self.scale[..]);
        Box::new(ScaledColumns { body: self.inner.gather(support), centre, scale, all })
    }

    fn cost(&self) -> f64 {
        self.inner.cost()
    }

    /// An empty column that is centred on another number than 0 is not empty, and one moved has no empty original.
    fn occupied<'a>(&'a self) -> Option<Occupied<'a>> {
        let Occupied { columns, design } = self.inner.given().and_then(Design::occupied)?;
        let mut next = columns.iter().peekable();
        let empty = |j: &usize| next.next_if_eq(&j).is_none();
        if (0..self.ncols()).filter(empty).any(|j| self.rest[j] != 0.0) {
            return None;
        }
        let (rest, scale) = self.pick(&columns);
        let inner = Recentred::as_given(design);
        Some(Occupied { columns, design: Box::new(Scaled { inner, centre: rest.clone(), rest, scale }) })
    }

    fn health(&self) -> Result<()> {
        self.inner.health()
    }

    fn traffic(&self) -> Option<Traffic> {
        self.inner.traffic()
    }

    /// Every entry of the row that is not zero after centring: all p of them, if all columns are centred.
    fn row(&self, i: usize, out: &mut Vec<(usize, f64)>) {
        self.inner.row(i, out);
        // The stored entries move to their places from the last to the first, so that none is overwritten before it is
        // read.
        let mut stored = out.len();
        out.resize(self.ncols(), (0, 0.0));
        for j in (0..self.ncols()).rev() {
            let found = stored > 0 && out[stored - 1].0 == j;
            let v = if found { out[stored - 1].1 } else { 0.0 };
            stored -= usize::from(found);
            out[j] = (j, (v - self.rest[j]) / self.scale[j]);
        }
        out.retain(|(_, v)| *v != 0.0);
    }

    fn dot_rows(&self, rows: &[usize], w: &[f64], out: &mut [f64]) {
        let values: Vec<f64> = w.iter().zip(&self.scale).map(|(w, s)| w / s).collect();
        let shift: f64 = values.iter().zip(&self.rest).map(|(v, m)| v * m).sum();
        self.inner.dot_rows(rows, &values, out);
        out.iter_mut().for_each(|o| *o -= shift);
    }

    fn add_rows(&self, rows: &[usize], factors: &[f64], out: &mut [f64]) {
        let mut sums = vec![0.0; self.ncols()];
        self.inner.add_rows(rows, factors, &mut sums);
        let total: f64 = factors.iter().sum();
        for (((o, sum), m), s) in out.iter_mut().zip(sums).zip(&self.rest).zip(&self.scale) {
            *o += (sum - m * total) / s;
        }
    }
}
