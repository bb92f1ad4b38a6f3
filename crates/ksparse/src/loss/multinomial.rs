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
use crate::kernels::softmax::{bend, softmax};
use crate::threads::worth_splitting;
use rayon::prelude::*;
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

/// The share of every sample in the weights, and of every class; an error for a class that is not there, with a word
/// on what to do about one without any weight.
pub(super) fn class_shares(
    classes: &[usize],
    count: usize,
    weights: Option<&[f64]>,
    remedy: &str,
) -> Result<(Vec<f64>, Vec<f64>)> {
    check_option(count >= 2, "classes", count, "at least 2")?;
    let ones = vec![1.0; classes.len()];
    let weights = weights.unwrap_or(&ones);
    let total = check_weights(weights, classes.len())?;
    let shares: Vec<f64> = weights.iter().map(|w| w / total).collect();
    let mut totals = vec![0.0; count];
    for (&class, share) in classes.iter().zip(&shares) {
        let Some(sum) = totals.get_mut(class) else {
            return Err(Error::IndexOutOfRange { what: "class", index: class, bound: count });
        };
        *sum += share;
    }
    match totals.iter().position(|sum| *sum <= 0.0) {
        Some(missing) => Err(Error::Data(format!("class {missing} of {count} has no row with a weight; {remedy}"))),
        None => Ok((shares, totals)),
    }
}

impl Multinomial {
    /// The class of each sample, of so many; every class must occur with a positive weight.
    pub fn new(classes: &[usize], count: usize, weights: Option<&[f64]>) -> Result<Self> {
        let remedy = "without it nothing can be learned about it: leave the class out, or give it rows";
        let (shares, _) = class_shares(classes, count, weights, remedy)?;
        Ok(Self { classes: classes.to_vec(), count, shares })
    }

    /// The probabilities of the classes for predictions kept sample by sample, likewise.
    pub fn probabilities(z: &[f64], classes: usize) -> Vec<f64> {
        let mut probabilities = z.to_vec();
        softmax(&mut probabilities, &mut vec![0.0; z.len() / classes.max(1)]);
        probabilities
    }

    /// Turns the predictions of the samples from `first` on into probabilities, writes down the derivatives, and adds
    /// up the losses.
    fn evaluate(&self, first: usize, probabilities: &mut [f64], derivatives: &mut [f64]) -> f64 {
        let count = self.count;
        let n = probabilities.len() / count;
        let (classes, shares) = (&self.classes[first..first + n], &self.shares[first..first + n]);
        let own: Vec<f64> = classes.iter().enumerate().map(|(i, class)| probabilities[i * count + class]).collect();
        let mut logs = vec![0.0; n];
        softmax(probabilities, &mut logs);
        let mut value = 0.0;
        for (i, (&class, share)) in classes.iter().zip(shares).enumerate() {
            let (d, p) = (&mut derivatives[i * count..(i + 1) * count], &probabilities[i * count..(i + 1) * count]);
            d.iter_mut().zip(p).for_each(|(d, p)| *d = share * p);
            d[class] -= share;
            // A sample of no weight says nothing, though its loss be infinite.
            value += if *share > 0.0 { share * (logs[i] - own[i]) } else { 0.0 };
        }
        value
    }
}

/// Samples that a thread takes at a time.
const BLOCK: usize = 512;

/// Multiply-adds that an exponential is worth.
const EXPONENTIAL: usize = 10;

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
        let (mut probabilities, mut derivatives) = (z.to_vec(), vec![0.0; z.len()]);
        let size = BLOCK * self.count;
        let evaluate = |(b, (p, d)): (usize, (&mut [f64], &mut [f64]))| self.evaluate(b * BLOCK, p, d);
        let values: Vec<f64> = if worth_splitting(EXPONENTIAL * z.len()) {
            let blocks = probabilities.par_chunks_mut(size).zip(derivatives.par_chunks_mut(size));
            blocks.enumerate().map(evaluate).collect()
        } else {
            probabilities.chunks_mut(size).zip(derivatives.chunks_mut(size)).enumerate().map(evaluate).collect()
        };
        let value = values.iter().sum();
        Box::new(AtPoint { loss: self, value, probabilities, derivatives })
    }

    fn ignores_what_outputs_share(&self) -> bool {
        true
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

impl JointPoint for AtPoint<'_> {
    fn value(&self) -> f64 {
        self.value
    }

    fn derivatives(&self) -> &[f64] {
        &self.derivatives
    }

    fn product(&self, v: &[f64], out: &mut [f64]) {
        let count = self.loss.count;
        let rows = |(b, (out, v)): (usize, (&mut [f64], &[f64]))| {
            let first = b * BLOCK * count;
            let p = &self.probabilities[first..first + out.len()];
            bend(p, v, &self.loss.shares[b * BLOCK..b * BLOCK + out.len() / count], out);
        };
        let size = BLOCK * count;
        if worth_splitting(3 * v.len()) {
            out.par_chunks_mut(size).zip(v.par_chunks(size)).enumerate().for_each(rows);
        } else {
            out.chunks_mut(size).zip(v.chunks(size)).enumerate().for_each(rows);
        }
    }

    fn own_weights(&self, _: usize, outputs: usize) -> Vec<f64> {
        let parts = self.probabilities.chunks(outputs).zip(&self.loss.shares);
        parts.flat_map(|(p, share)| p.iter().map(move |p| share * p * (1.0 - p))).collect()
    }

    fn weights(&self, c: usize, d: usize) -> Option<(f64, Cow<'_, [f64]>)> {
        let other = |p: f64| if c == d { 1.0 - p } else { p };
        let parts = self.probabilities.chunks(self.loss.count).zip(&self.loss.shares);
        let weights = parts.map(|(p, share)| share * p[c] * other(p[d])).collect();
        Some((if c == d { 1.0 } else { -1.0 }, Cow::Owned(weights)))
    }
}
