//! Several classes: the likelihood of the softmax.
//!
//! ```text
//! L(Z) = sum_i c_i (log sum_d exp(z_id) - z_i,y_i) / sum c,       p_id = exp(z_id) / sum_e exp(z_ie)
//! dL/dz_id = c_i (p_id - [y_i = d]),                              H = c_i (diag(p_i) - p_i p_i')
//! ```
//!
//! Every class has predictions of its own; a constant added to all classes of a sample changes nothing, and the ridge
//! settles which. Exponentials are relative to the largest prediction of the sample.

use super::{JointLoss, JointPoint};
use crate::error::{Error, Result, check_option, check_weights};
use std::borrow::Cow;

/// The loss of the softmax over some classes.
///
/// ```
/// use ksparse::loss::{JointLoss, Multinomial};
/// let loss = Multinomial::new(&[0, 2, 1], 3, None)?;
/// assert!((loss.at(&[0.0; 9]).value() - 3f64.ln()).abs() < 1e-15);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Multinomial {
    classes: Vec<usize>,
    count: usize,
    shares: Vec<f64>,
}

impl Multinomial {
    /// The class of each sample, of so many; every class must occur with a positive weight.
    pub fn new(classes: &[usize], count: usize, weights: Option<&[f64]>) -> Result<Self> {
        check_option(count >= 2, "classes", count, "at least 2")?;
        let ones = vec![1.0; classes.len()];
        let weights = weights.unwrap_or(&ones);
        let total = check_weights(weights, classes.len())?;
        let shares: Vec<f64> = weights.iter().map(|w| w / total).collect();
        let mut sums = vec![0.0; count];
        for (&class, share) in classes.iter().zip(&shares) {
            let Some(sum) = sums.get_mut(class) else {
                return Err(Error::IndexOutOfRange { what: "class", index: class, bound: count });
            };
            *sum += share;
        }
        if let Some(missing) = sums.iter().position(|sum| *sum <= 0.0) {
            let remedy = "without it nothing can be learned about it: leave the class out, or give it rows";
            return Err(Error::Data(format!("class {missing} of {count} has no row with a weight; {remedy}")));
        }
        Ok(Self { classes: classes.to_vec(), count, shares })
    }

    /// The probabilities of the classes for predictions kept output by output, likewise.
    pub fn probabilities(z: &[f64], classes: usize) -> Vec<f64> {
        softmax(z, classes).0
    }
}

/// Probabilities, and the logarithm of the sum of exponentials for every sample.
fn softmax(z: &[f64], classes: usize) -> (Vec<f64>, Vec<f64>) {
    let n = z.len() / classes.max(1);
    let mut tops = z[..n].to_vec();
    for z in z.chunks(n.max(1)) {
        tops.iter_mut().zip(z).for_each(|(top, z)| *top = top.max(*z));
    }
    let mut sums = vec![0.0; n];
    let mut probabilities = vec![0.0; z.len()];
    for (p, z) in probabilities.chunks_mut(n.max(1)).zip(z.chunks(n.max(1))) {
        for (((p, z), top), sum) in p.iter_mut().zip(z).zip(&tops).zip(&mut sums) {
            *p = (z - top).exp();
            *sum += *p;
        }
    }
    for p in probabilities.chunks_mut(n.max(1)) {
        p.iter_mut().zip(&sums).for_each(|(p, sum)| *p /= sum);
    }
    let logs = sums.iter().zip(&tops).map(|(sum, top)| sum.ln() + top).collect();
    (probabilities, logs)
}

impl JointLoss for Multinomial {
    fn name(&self) -> &'static str {
        "multinomial"
    }

    fn samples(&self) -> usize {
        self.classes.len()
    }

    fn outputs(&self) -> usize {
        self.count
    }

    fn shares(&self) -> &[f64] {
        &self.shares
    }

    fn at<'a>(&'a self, z: &[f64]) -> Box<dyn JointPoint + 'a> {
        let n = self.classes.len();
        let (probabilities, logs) = softmax(z, self.count);
        let parts = self.classes.iter().zip(&self.shares).zip(&logs).enumerate();
        // A sample of no weight says nothing, though its loss be infinite.
        let value = parts
            .filter(|(_, ((_, share), _))| **share > 0.0)
            .map(|(i, ((class, share), log))| share * (log - z[class * n + i]))
            .sum();
        let mut derivatives = vec![0.0; z.len()];
        for (d, p) in derivatives.chunks_mut(n).zip(probabilities.chunks(n)) {
            d.iter_mut().zip(p).zip(&self.shares).for_each(|((d, p), share)| *d = share * p);
        }
        self.classes.iter().zip(&self.shares).enumerate().for_each(|(i, (class, share))| {
            derivatives[class * n + i] -= share;
        });
        Box::new(AtPoint { loss: self, value, probabilities, derivatives })
    }

    fn curvature_bound(&self) -> Option<f64> {
        Some(0.25)
    }
}

/// The loss at some predictions.
struct AtPoint<'a> {
    loss: &'a Multinomial,
    value: f64,
    probabilities: Vec<f64>,
    derivatives: Vec<f64>,
}

impl AtPoint<'_> {
    fn of(&self, class: usize) -> &[f64] {
        let n = self.loss.classes.len();
        &self.probabilities[class * n..(class + 1) * n]
    }
}

impl JointPoint for AtPoint<'_> {
    fn value(&self) -> f64 {
        self.value
    }

    fn derivatives(&self) -> &[f64] {
        &self.derivatives
    }

    fn product(&self, v: &[f64], out: &mut [f64]) {
        let n = self.loss.classes.len();
        let mut means = vec![0.0; n];
        for (p, v) in self.probabilities.chunks(n).zip(v.chunks(n)) {
            means.iter_mut().zip(p).zip(v).for_each(|((mean, p), v)| *mean += p * v);
        }
        for ((out, p), v) in out.chunks_mut(n).zip(self.probabilities.chunks(n)).zip(v.chunks(n)) {
            let parts = out.iter_mut().zip(p).zip(v).zip(&means).zip(&self.loss.shares);
            parts.for_each(|((((out, p), v), mean), share)| *out = share * p * (v - mean));
        }
    }

    fn weights(&self, c: usize, d: usize) -> Option<(f64, Cow<'_, [f64]>)> {
        let other = |p: f64| if c == d { 1.0 - p } else { p };
        let parts = self.of(c).iter().zip(self.of(d)).zip(&self.loss.shares);
        let weights = parts.map(|((p, q), share)| share * p * other(*q)).collect();
        Some((if c == d { 1.0 } else { -1.0 }, Cow::Owned(weights)))
    }
}
