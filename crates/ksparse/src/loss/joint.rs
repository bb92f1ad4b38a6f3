//! Losses of all predictions together: those that are no sum over samples, and those of several predictions a sample.
//!
//! ```text
//! L(Z),  Z in R^(n x C)          H = diag-blocks(W) - M'M
//! ```
//!
//! The Hessian of L in the predictions is, for each pair of outputs, a diagonal of weights, less a matrix of low rank
//! where samples are tied to each other (M, by its rows). Predictions are kept sample by sample: `z[i C + c]`.

use std::borrow::Cow;
use std::fmt::Debug;

/// A smooth convex function of the linear predictions of all samples, `outputs` of them per sample.
pub trait JointLoss: Send + Sync + Debug {
    /// Its name, as front ends spell it.
    fn name(&self) -> &'static str;

    /// n.
    fn samples(&self) -> usize;

    /// C, the predictions per sample.
    fn outputs(&self) -> usize {
        1
    }

    /// The weights of the samples, summing to 1.
    fn shares(&self) -> &[f64];

    /// L at predictions, with its derivatives at hand.
    fn at<'a>(&'a self, z: &[f64]) -> Box<dyn JointPoint + 'a>;

    /// Whether a constant added to all predictions of an output changes nothing: then columns may be centred without an
    /// intercept that takes the centres up.
    fn ignores_shifts(&self) -> bool {
        false
    }

    /// Whether a constant added to all outputs of a sample changes nothing, as under a softmax.
    fn ignores_what_outputs_share(&self) -> bool {
        false
    }

    /// Whether samples are tied to each other: whether M has rows.
    fn ties_samples(&self) -> bool {
        false
    }

    /// Whether L is a sum of squares: its Hessian the same everywhere and for every output, with nothing between two.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// A bound on the weights of an output with itself, as a multiple of the samples' shares, if there is one.
    fn curvature_bound(&self) -> Option<f64> {
        None
    }
}

/// A [`JointLoss`] at some predictions.
pub trait JointPoint: Send + Sync {
    /// L.
    fn value(&self) -> f64;

    /// Its derivative by every prediction.
    fn derivatives(&self) -> &[f64];

    /// `out = H v`.
    fn product(&self, v: &[f64], out: &mut [f64]);

    /// The diagonal of weights between two outputs, as non-negative numbers and their common sign; `None` where all are
    /// 0.
    fn weights(&self, c: usize, d: usize) -> Option<(f64, Cow<'_, [f64]>)>;

    /// The weights of every output with itself, sample by sample: the diagonal of H but for M.
    fn own_weights(&self, samples: usize, outputs: usize) -> Vec<f64> {
        let mut out = vec![0.0; samples * outputs];
        for c in 0..outputs {
            if let Some((_, weights)) = self.weights(c, c) {
                out.iter_mut().skip(c).step_by(outputs).zip(&*weights).for_each(|(out, w)| *out = *w);
            }
        }
        out
    }

    /// Rows of M: 0 where samples have nothing to do with each other.
    fn rank(&self) -> usize {
        0
    }

    /// `M x` for some vectors x over the samples, both lists one after the other. Only for a loss of one output.
    fn reduce(&self, _columns: &[f64], _out: &mut [f64]) {}
}
