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
        Ok(Self { target: target.to_vec(), count, shares: weights.iter().map(|w| w / total).collect() })
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
        let n = self.shares.len();
        let mut derivatives = vec![0.0; z.len()];
        let mut value = 0.0;
        for ((d, z), y) in derivatives.chunks_mut(n).zip(z.chunks(n)).zip(self.target.chunks(n)) {
            for (((d, z), y), share) in d.iter_mut().zip(z).zip(y).zip(&self.shares) {
                let residual = z - y;
                *d = share * residual;
                value += 0.5 * *d * residual;
            }
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
        let n = self.loss.shares.len();
        for (out, v) in out.chunks_mut(n).zip(v.chunks(n)) {
            out.iter_mut().zip(v).zip(&self.loss.shares).for_each(|((out, v), share)| *out = share * v);
        }
    }

    fn weights(&self, c: usize, d: usize) -> Option<(f64, Cow<'_, [f64]>)> {
        (c == d).then_some((1.0, Cow::Borrowed(&self.loss.shares)))
    }
}
