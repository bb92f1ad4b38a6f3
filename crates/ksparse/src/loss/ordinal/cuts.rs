//! The best cut points for given predictions: Newton's method in C - 1 unknowns.

use super::Ordinal;
use crate::kernels::logistic::logistics;

/// Steps at most; some six are usual.
const STEPS: usize = 100;

/// F and its derivatives at the best cut points.
#[derive(Debug, Clone)]
pub(super) struct Settled {
    pub cuts: Vec<f64>,
    pub value: f64,
    /// By the predictions.
    pub derivatives: Vec<f64>,
    /// The curvatures of every sample towards the cut points above and below it.
    pub above: Vec<f64>,
    pub below: Vec<f64>,
    /// By the cut points: gradient, diagonal of the Hessian, what is beside it.
    gradient: Vec<f64>,
    pub diagonal: Vec<f64>,
    pub beside: Vec<f64>,
}

/// The factor R of a positive matrix with a diagonal and what is beside it.
#[derive(Debug, Clone)]
pub(super) struct Factor {
    diagonal: Vec<f64>,
    below: Vec<f64>,
}

impl Factor {
    pub fn new(diagonal: &[f64], beside: &[f64]) -> Self {
        let (mut roots, mut below) = (Vec::with_capacity(diagonal.len()), Vec::with_capacity(beside.len()));
        let mut carried = 0.0;
        for (c, d) in diagonal.iter().enumerate() {
            let root = (d - carried * carried).max(f64::MIN_POSITIVE).sqrt();
            roots.push(root);
            if let Some(beside) = beside.get(c) {
                carried = beside / root;
                below.push(carried);
            }
        }
        Self { diagonal: roots, below }
    }

    /// `x = R^-1 x`.
    pub fn forward(&self, x: &mut [f64]) {
        for c in 0..x.len() {
            let before = if c > 0 { self.below[c - 1] * x[c - 1] } else { 0.0 };
            x[c] = (x[c] - before) / self.diagonal[c];
        }
    }

    /// `x = R'^-1 x`.
    pub fn backward(&self, x: &mut [f64]) {
        for c in (0..x.len()).rev() {
            let after = if c + 1 < x.len() { self.below[c] * x[c + 1] } else { 0.0 };
            x[c] = (x[c] - after) / self.diagonal[c];
        }
    }
}

impl Ordinal {
    /// F with all its derivatives; cut points that do not ascend have an infinite F.
    fn evaluate(&self, z: &[f64], cuts: Vec<f64>) -> Settled {
        let (n, m) = (z.len(), cuts.len());
        let mut at = Settled {
            value: 0.0,
            derivatives: vec![0.0; n],
            above: Vec::new(),
            below: Vec::new(),
            gradient: vec![0.0; m],
            diagonal: vec![0.0; m],
            beside: vec![0.0; m.saturating_sub(1)],
            cuts,
        };
        // The cut point above a sample and the one below it, infinitely far where there is none.
        let to_next =
            z.iter().zip(&self.classes).map(|(z, &class)| at.cuts.get(class).map_or(f64::INFINITY, |t| t - z));
        let last = |class: usize| class.checked_sub(1).map(|last| at.cuts[last]);
        let to_last = z.iter().zip(&self.classes).map(|(z, &class)| last(class).map_or(f64::INFINITY, |t| z - t));
        let (mut above, mut below): (Vec<f64>, Vec<f64>) = (to_next.collect(), to_last.collect());
        let mut slopes = [vec![0.0; n], vec![0.0; n]];
        let [next, past] = &mut slopes;
        at.value = logistics(&mut above, next, &self.shares) + logistics(&mut below, past, &self.shares);
        for (i, &class) in self.classes.iter().enumerate() {
            at.derivatives[i] = past[i] - next[i];
            if class < m {
                at.gradient[class] += next[i];
                at.diagonal[class] += above[i];
            }
            if class > 0 {
                at.gradient[class - 1] -= past[i];
                at.diagonal[class - 1] += below[i];
            }
        }
        (at.above, at.below) = (above, below);
        for c in 1..m {
            let gap = at.cuts[c] - at.cuts[c - 1];
            if gap.is_nan() || gap <= 0.0 {
                at.value = f64::INFINITY;
                return at;
            }
            // -log(1 - e^-gap) and its derivatives.
            let over = gap.exp_m1();
            let (slope, bend) = (-1.0 / over, (1.0 + 1.0 / over) / over);
            let share = self.totals[c];
            at.value -= share * (-(-gap).exp_m1()).ln();
            at.gradient[c] += share * slope;
            at.gradient[c - 1] -= share * slope;
            at.diagonal[c] += share * bend;
            at.diagonal[c - 1] += share * bend;
            at.beside[c - 1] = -share * bend;
        }
        at
    }

    /// F at the best cut points.
    pub(super) fn settle(&self, z: &[f64]) -> Settled {
        // Around their mean, predictions and cut points keep their digits.
        let mean: f64 = z.iter().zip(&self.shares).map(|(z, share)| z * share).sum();
        let z: &[f64] = &z.iter().map(|z| z - mean).collect::<Vec<f64>>();
        let mut upto = 0.0;
        let first = self.totals[..self.count - 1].iter().map(|total| {
            upto += total;
            (upto / (1.0 - upto)).ln()
        });
        let first: Vec<f64> = first.collect();
        let mut at = self.evaluate(z, first);
        let mut before = f64::INFINITY;
        for _ in 0..STEPS {
            let mut step: Vec<f64> = at.gradient.iter().map(|g| -g).collect();
            let factor = Factor::new(&at.diagonal, &at.beside);
            factor.forward(&mut step);
            let decrement: f64 = step.iter().map(|s| s * s).sum();
            factor.backward(&mut step);
            // So near to the end F cannot tell a better point from a worse one, but Newton's method squares the error
            // until what is left is below rounding.
            let near = decrement <= 1e-9 * at.value;
            if decrement <= 1e-24 * at.value || decrement.is_nan() || (near && decrement > 0.01 * before) {
                break;
            }
            before = decrement;
            let mut length = 1.0;
            let next = loop {
                let cuts = at.cuts.iter().zip(&step).map(|(t, s)| t + length * s).collect();
                let next = self.evaluate(z, cuts);
                let enough = if near { at.value * (1.0 + 1e-9) } else { at.value - 1e-4 * length * decrement };
                if next.value <= enough {
                    break Some(next);
                }
                length *= 0.5;
                if length < 1e-12 {
                    break None;
                }
            };
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        at.cuts.iter_mut().for_each(|t| *t += mean);
        at
    }
}
