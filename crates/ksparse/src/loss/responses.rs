//! Several numbers to predict for each sample: their squares added up.
//!
//! ```text
//! L(Z) = (1/2) sum_i c_i ||z_i - y_i||^2 / sum c
//! ```
//!
//! The outputs have nothing to do with each other but that they are predicted from the same columns: second derivatives
//! are those of one of them, for each.

use super::{JointLoss, JointPoint};
use crate::error::{Result, check_finite, check_len, check_option, check_weights};
use std::borrow::Cow;

/// Least squares for several responses.
///
/// ```
/// use ksparse::loss::{JointLoss, Responses};
/// // Two responses of two samples, one response after the other.
/// let loss = Responses::new(&[1.0, 2.0, 0.0, 4.0], 2, None)?;
/// assert_eq!(loss.at(&[1.0, 0.0, 0.0, 0.0]).value(), 0.5 * (4.0 + 16.0) / 2.0);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Responses {
    target: Vec<f64>,
    count: usize,
    shares: Vec<f64>,
}

impl Responses {
    /// `count` responses, one after the other.
    pub fn new(target: &[f64], count: usize, weights: Option<&[f64]>) -> Result<Self> {
        check_option(count >= 1, "responses", count, "at least 1")?;
        let n = target.len() / count;
        check_len("target", target.len(), n * count)?;
        check_finite("target", target)?;
        let ones = vec![1.0; n];
        let weights = weights.unwrap_or(&ones);
        let total = check_weights(weights, n)?;
        let target = (0..n).flat_map(|i| (0..count).map(move |c| target[c * n + i])).collect();
        Ok(Self { target, count, shares: weights.iter().map(|w| w / total).collect() })
    }
}

impl JointLoss for Responses {
    fn name(&self) -> &'static str {
        "responses"
    }

    fn samples(&self) -> usize {
        self.shares.len()
    }

    fn outputs(&self) -> usize {
        self.count
    }

    fn shares(&self) -> &[f64] {
        &self.shares
    }

    fn at<'a>(&'a self, z: &[f64]) -> Box<dyn JointPoint + 'a> {
        let mut derivatives: Vec<f64> = z.iter().zip(&self.target).map(|(z, y)| z - y).collect();
        let mut value = 0.0;
        for (d, share) in derivatives.chunks_mut(self.count).zip(&self.shares) {
            value += 0.5 * share * d.iter().map(|d| d * d).sum::<f64>();
            d.iter_mut().for_each(|d| *d *= share);
        }
        Box::new(AtPoint { loss: self, value, derivatives })
    }

    fn is_quadratic(&self) -> bool {
        true
    }

    fn curvature_bound(&self) -> Option<f64> {
        Some(1.0)
    }
}

/// The loss at some predictions.
struct AtPoint<'a> {
    loss: &'a Responses,
    value: f64,
    derivatives: Vec<f64>,
}

impl JointPoint for AtPoint<'_> {
    fn value(&self) -> f64 {
        self.value
    }

    fn derivatives(&self) -> &[f64] {
        &self.derivatives
    }

    fn product(&self, v: &[f64], out: &mut [f64]) {
        let count = self.loss.count;
        for ((out, v), share) in out.chunks_mut(count).zip(v.chunks(count)).zip(&self.loss.shares) {
            out.iter_mut().zip(v).for_each(|(out, v)| *out = share * v);
        }
    }

    fn weights(&self, c: usize, d: usize) -> Option<(f64, Cow<'_, [f64]>)> {
        (c == d).then_some((1.0, Cow::Borrowed(&self.loss.shares)))
    }
}
