//! Dual coordinate ascent on a fixed support: for losses with corners, where Newton's method has nothing to hold on to.
//!
//! ```text
//! min over w of  sum_i c_i l_i(x_i'w) + (lambda/2) ||w||^2
//!     =  max over a of  D(a) = -sum_i c_i l_i*(a_i) - (lambda/2) ||w(a)||^2,
//! w(a) = -(1/lambda) sum_i c_i a_i x_i
//! ```
//!
//! One a_i at a time is put at its best, which is a proximal step of weight `c_i ||x_i||^2 / lambda`, and w follows by
//! one row. Epochs go over the samples in random order. P(w(a)) - D(a) bounds the distance to the minimum and ends the
//! run; a D above what is asked for proves that this support cannot win. After C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S.
//! S. Keerthi, S. Sundararajan, "A Dual Coordinate Descent Method for Large-scale Linear SVM", ICML 2008.
//!
//! The first epochs gain most; the last digits would take thousands of them at a small ridge, and come from elsewhere
//! (see `Risk`).

use super::{Ended, InnerOptions, Outcome};
use crate::design::Columns;
use crate::error::Result;
use crate::loss::{Loss, weighed};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// The problem on a support: the rows of its columns, the samples, lambda.
pub(crate) struct DualCoordinates<'a> {
    loss: &'a dyn Loss,
    target: &'a [f64],
    /// c, with sum 1.
    weights: &'a [f64],
    ridge: f64,
    rows: Rows,
}

impl<'a> DualCoordinates<'a> {
    /// `ridge` must be positive.
    pub fn new(columns: &dyn Columns, loss: &'a dyn Loss, target: &'a [f64], weights: &'a [f64], ridge: f64) -> Self {
        Self { loss, target, weights, ridge, rows: Rows::new(columns, target.len()) }
    }

    /// Minimises from x, at most `epochs` of them; f never rises. Ends `Converged` only with a proof.
    pub fn minimise(&self, x: &mut [f64], options: &InnerOptions, epochs: usize) -> Result<Outcome> {
        let start = self.primal(x);
        let mut best = start;
        if !start.is_finite() {
            return Ok(Outcome { value: start, iterations: 0, ended: Ended::NotFinite });
        }
        let samples = 0..self.target.len();
        let mut a: Vec<f64> =
            samples.clone().map(|i| self.loss.at(self.rows.dot(i, x), self.target[i]).derivative).collect();
        let mut w = vec![0.0; x.len()];
        samples.clone().for_each(|i| self.rows.add(i, -self.weights[i] * a[i] / self.ridge, &mut w));
        let curvature = |i: usize| (self.weights[i] * self.rows.square(i) / self.ridge).max(f64::MIN_POSITIVE);
        let curvatures: Vec<f64> = samples.clone().map(curvature).collect();
        let mut order: Vec<usize> = samples.filter(|&i| self.weights[i] > 0.0).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let conjugate = self.loss.conjugate();
        let mut done = 0;
        loop {
            let (primal, dual) = (self.primal(&w), self.dual(&a, &w));
            if primal < best {
                best = primal;
                x.copy_from_slice(&w);
            }
            let ended = if best - dual <= options.tolerance * best.abs() {
                Some(Ended::Converged)
            } else if dual > options.abandon_above {
                Some(Ended::Abandoned)
            } else {
                (done >= epochs).then_some(Ended::MaxIterations)
            };
            if let Some(ended) = ended {
                return Ok(Outcome { value: best, iterations: done, ended });
            }
            // The sides are compared now and then: that costs as much as an epoch.
            for _ in 0..1 + done / 4 {
                options.cancel.ask()?;
                order.shuffle(&mut rng);
                for &i in &order {
                    let next = conjugate.proximal(a[i], self.rows.dot(i, &w), curvatures[i], self.target[i]);
                    let change = next - a[i];
                    if change != 0.0 {
                        a[i] = next;
                        self.rows.add(i, -self.weights[i] * change / self.ridge, &mut w);
                    }
                }
                done += 1;
            }
        }
    }

    fn primal(&self, w: &[f64]) -> f64 {
        let loss = |i: usize| weighed(self.weights[i], self.loss.value(self.rows.dot(i, w), self.target[i]));
        (0..self.target.len()).map(loss).sum::<f64>() + self.penalty(w)
    }

    fn dual(&self, a: &[f64], w: &[f64]) -> f64 {
        let conjugate = self.loss.conjugate();
        let counted = (0..a.len()).filter(|&i| self.weights[i] > 0.0);
        -counted.map(|i| self.weights[i] * conjugate.value(a[i], self.target[i])).sum::<f64>() - self.penalty(w)
    }

    fn penalty(&self, w: &[f64]) -> f64 {
        0.5 * self.ridge * w.iter().map(|w| w * w).sum::<f64>()
    }
}

/// Some columns turned into rows.
struct Rows {
    pointers: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    fn new(source: &dyn Columns, n: usize) -> Self {
        let (mut column, mut all) = (Vec::new(), Vec::new());
        let mut pointers = vec![0; n + 1];
        for c in 0..source.ncols() {
            source.column(c, n, &mut column);
            for &(i, v) in &column {
                pointers[i + 1] += 1;
                all.push((i, c as u32, v));
            }
        }
        for i in 0..n {
            pointers[i + 1] += pointers[i];
        }
        let mut next = pointers.clone();
        let (mut columns, mut values) = (vec![0; all.len()], vec![0.0; all.len()]);
        for (i, c, v) in all {
            (columns[next[i]], values[next[i]]) = (c, v);
            next[i] += 1;
        }
        Self { pointers, columns, values }
    }

    fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.pointers[i]..self.pointers[i + 1];
        self.columns[range.clone()].iter().map(|&c| c as usize).zip(self.values[range].iter().copied())
    }

    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        self.entries(i).map(|(c, v)| v * w[c]).sum()
    }

    fn square(&self, i: usize) -> f64 {
        self.entries(i).map(|(_, v)| v * v).sum()
    }

    fn add(&self, i: usize, factor: f64, w: &mut [f64]) {
        self.entries(i).for_each(|(c, v)| w[c] += factor * v);
    }
}
