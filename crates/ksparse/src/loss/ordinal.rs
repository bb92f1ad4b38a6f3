//! Ordered classes: proportional odds.
//!
//! ```text
//! P(y <= c) = s(t_c - z),   s(a) = 1 / (1 + e^-a),   cut points t_0 < ... < t_(C-2)
//! -log P(y = c) = log(1 + e^-(t_c - z)) + log(1 + e^(t_(c-1) - z)) - log(1 - e^-(t_c - t_(c-1)))
//! ```
//!
//! without the terms of a cut point that a class does not have: none below the first, none above the last. The loss is
//! what is left when the cut points are at their best for the predictions, `L(z) = min over t of F(z, t)`. F is convex
//! in both, so L is convex, and only the cut points tie samples to each other:
//!
//! ```text
//! dL/dz = dF/dz at the best t,      H = F_zz - F_zt F_tt^-1 F_tz = diag(W) - M'M,      M = R^-1 F_tz,  R R' = F_tt
//! ```
//!
//! F_tt has a diagonal and what is beside it, so that all of this costs a few passes over the samples. A constant added
//! to all predictions moves the cut points and nothing else.

mod cuts;

use super::multinomial::class_shares;
use super::{JointLoss, JointPoint};
use crate::error::Result;
use crate::kernels::logistic::logistic;
use cuts::{Factor, Settled};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use std::borrow::Cow;
use std::sync::OnceLock;

/// The loss of ordered classes, its cut points at their best.
///
/// ```
/// use ksparse::loss::{JointLoss, Ordinal};
/// let loss = Ordinal::new(&[0, 1, 1, 2], 3, None)?;
/// // Predictions that say nothing: the cut points give every class its share.
/// let expected = (2.0 * 4f64.ln() + 2.0 * 2f64.ln()) / 4.0;
/// assert!((loss.at(&[0.0; 4]).value() - expected).abs() < 1e-12);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ordinal {
    classes: Vec<usize>,
    count: usize,
    shares: Vec<f64>,
    /// The share of every class.
    totals: Vec<f64>,
}

impl Ordinal {
    /// The class of each sample, of so many in their order; every class must occur with a positive weight.
    pub fn new(classes: &[usize], count: usize, weights: Option<&[f64]>) -> Result<Self> {
        let remedy = "its cut points would coincide: leave the class out, or give it rows";
        let (shares, totals) = class_shares(classes, count, weights, remedy)?;
        Ok(Self { classes: classes.to_vec(), count, shares, totals })
    }

    /// The best cut points for some predictions, ascending.
    pub fn thresholds(&self, z: &[f64]) -> Vec<f64> {
        self.settle(z).cuts
    }

    /// The probabilities of the classes for some predictions, sample by sample.
    pub fn probabilities(z: &[f64], thresholds: &[f64]) -> Vec<f64> {
        let classes = |&z: &f64| (0..=thresholds.len()).map(move |c| (z, c));
        let probability = |(z, c): (f64, usize)| {
            let above = thresholds.get(c).map_or(0.0, |t| logistic(t - z)[0]);
            let (below, between) = match c.checked_sub(1).map(|c| thresholds[c]) {
                Some(t) => (logistic(z - t)[0], thresholds.get(c).map_or(1.0, |next| -(t - next).exp_m1())),
                None => (0.0, 1.0),
            };
            (-(above + below)).exp() * between
        };
        z.iter().flat_map(classes).map(probability).collect()
    }

    /// The class with the largest probability for a prediction; the first of equals.
    pub fn most_likely(z: f64, thresholds: &[f64]) -> usize {
        let p = Self::probabilities(&[z], thresholds);
        (1..p.len()).fold(0, |best, c| if p[c] > p[best] { c } else { best })
    }
}

impl JointLoss for Ordinal {
    fn name(&self) -> &'static str {
        "ordinal"
    }

    fn samples(&self) -> usize {
        self.classes.len()
    }

    fn shares(&self) -> &[f64] {
        &self.shares
    }

    fn at<'a>(&'a self, z: &[f64]) -> Box<dyn JointPoint + 'a> {
        let settled = self.settle(z);
        let factor = Factor::new(&settled.diagonal, &settled.beside);
        let weights = settled.above.iter().zip(&settled.below).map(|(a, b)| a + b).collect();
        Box::new(AtPoint { loss: self, settled, factor, weights, towards: OnceLock::new() })
    }

    fn ignores_shifts(&self) -> bool {
        true
    }

    fn ties_samples(&self) -> bool {
        true
    }

    fn curvature_bound(&self) -> Option<f64> {
        Some(0.5)
    }
}

/// The loss at some predictions.
struct AtPoint<'a> {
    loss: &'a Ordinal,
    settled: Settled,
    factor: Factor,
    weights: Vec<f64>,
    /// F_tz', once it is asked for.
    towards: OnceLock<Vec<f64>>,
}

/// Up to so many cut points F_tz is written out, zeros and all: a matrix product over zeros then takes less time than
/// sums that wait for each other (4 classes, 1000 x 1000: a tenth).
const FEW: usize = 32;

impl AtPoint<'_> {
    /// `F_tz'`, a column for every cut point.
    fn all_towards_cuts(&self) -> Vec<f64> {
        let n = self.weights.len();
        let mut out = vec![0.0; n * self.rank()];
        for (i, &class) in self.loss.classes.iter().enumerate() {
            if class < self.rank() {
                out[class * n + i] = -self.settled.above[i];
            }
            if class > 0 {
                out[(class - 1) * n + i] = -self.settled.below[i];
            }
        }
        out
    }

    /// `F_tz x`.
    fn towards_cuts(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (i, (&class, x)) in self.loss.classes.iter().zip(x).enumerate() {
            if class < out.len() {
                out[class] -= self.settled.above[i] * x;
            }
            if class > 0 {
                out[class - 1] -= self.settled.below[i] * x;
            }
        }
    }
}

impl JointPoint for AtPoint<'_> {
    fn value(&self) -> f64 {
        self.settled.value
    }

    fn derivatives(&self) -> &[f64] {
        &self.settled.derivatives
    }

    fn product(&self, v: &[f64], out: &mut [f64]) {
        let mut moved = vec![0.0; self.rank()];
        self.towards_cuts(v, &mut moved);
        self.factor.forward(&mut moved);
        self.factor.backward(&mut moved);
        for (i, (out, &class)) in out.iter_mut().zip(&self.loss.classes).enumerate() {
            let above = moved.get(class).map_or(0.0, |m| m * self.settled.above[i]);
            let below = if class > 0 { moved[class - 1] * self.settled.below[i] } else { 0.0 };
            *out = self.weights[i] * v[i] + above + below;
        }
    }

    fn weights(&self, _: usize, _: usize) -> Option<(f64, Cow<'_, [f64]>)> {
        Some((1.0, Cow::Borrowed(&self.weights)))
    }

    fn rank(&self) -> usize {
        self.loss.count - 1
    }

    fn reduce(&self, columns: &[f64], out: &mut [f64]) {
        let (n, rank) = (self.weights.len(), self.rank());
        if rank <= FEW {
            let towards = self.towards.get_or_init(|| self.all_towards_cuts());
            let towards = MatRef::from_column_major_slice(towards, n, rank);
            let columns = MatRef::from_column_major_slice(columns, n, columns.len() / n);
            let out = MatMut::from_column_major_slice_mut(&mut *out, rank, columns.ncols());
            matmul(out, Accum::Replace, towards.transpose(), columns, 1.0, Par::Seq);
        } else {
            let each = columns.chunks(n).zip(out.chunks_mut(rank));
            each.for_each(|(column, out)| self.towards_cuts(column, out));
        }
        out.chunks_mut(rank).for_each(|out| self.factor.forward(out));
    }
}
