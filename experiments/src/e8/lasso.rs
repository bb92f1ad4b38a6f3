//! The lasso and the relaxed lasso, tuned on the same folds as the rest: what the choice is compared with.
//!
//! `min ||y - X b||^2 / (2 n) + mu ||b||_1` along fifty falling mu by coordinate descent on the columns in use, all
//! columns being looked at before a mu is done. The relaxed lasso mixes an answer with the least squares fit on its
//! columns, `gamma b + (1 - gamma) b_LS`, ten gamma from 0 to 1 (N. Meinshausen 2007, in the form of Hastie,
//! Tibshirani, Tibshirani 2020).

use crate::frame::Result;
use ksparse::design::{Dense, Design};
use ksparse::loss::Squared;
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::select::Folds;
use ksparse::{LinearModel, Objective, Risk};

/// Values of mu, from the least that leaves nothing down to a thousandth of it.
const STEPS: usize = 50;
const SMALLEST: f64 = 1e-3;
/// Values of gamma.
const MIXTURES: usize = 10;

/// The models that the folds choose: of the lasso, of the relaxed lasso.
pub fn chosen(x: &Dense, y: &[f64], folds: &Folds) -> Result<[LinearModel; 2]> {
    let all = Centred::new(x, y, &(0..y.len()).collect::<Vec<_>>());
    let largest = all.columns().map(|c| dot(c, &all.y).abs()).fold(0.0, f64::max) / y.len() as f64;
    let mus: Vec<f64> = (0..STEPS).map(|s| largest * SMALLEST.powf(s as f64 / (STEPS - 1) as f64)).collect();
    let mut errors = vec![vec![0.0; MIXTURES]; STEPS];
    for fold in 0..folds.count() {
        let part = Centred::new(x, y, &folds.training(fold));
        let held_out = folds.held_out(fold);
        for (step, (lasso, squares)) in part.path(&mus)?.into_iter().enumerate() {
            let (sparse, plain) = (part.model(&lasso).predict(x)?, part.model(&squares).predict(x)?);
            for (mixture, error) in errors[step].iter_mut().enumerate() {
                let gamma = share(mixture);
                let residual = |i: usize| y[i] - gamma * sparse[i] - (1.0 - gamma) * plain[i];
                *error += held_out.iter().map(|&i| residual(i).powi(2)).sum::<f64>();
            }
        }
    }
    let best = |mixtures: std::ops::Range<usize>| {
        let cells = (0..STEPS).flat_map(|step| mixtures.clone().map(move |mixture| (step, mixture)));
        cells.min_by(|a, b| errors[a.0][a.1].total_cmp(&errors[b.0][b.1])).unwrap_or((0, 0))
    };
    let path = all.path(&mus)?;
    let mixed = |(step, mixture): (usize, usize)| {
        let (gamma, (lasso, squares)) = (share(mixture), &path[step]);
        let entries = lasso.iter().zip(squares);
        all.model(&entries.map(|(a, b)| gamma * a + (1.0 - gamma) * b).collect::<Vec<_>>())
    };
    Ok([mixed(best(MIXTURES - 1..MIXTURES)), mixed(best(0..MIXTURES))])
}

/// gamma by its number; the last is the lasso itself.
fn share(mixture: usize) -> f64 {
    mixture as f64 / (MIXTURES - 1) as f64
}

/// Rows with the means taken out.
struct Centred {
    n: usize,
    /// Column after column.
    x: Vec<f64>,
    y: Vec<f64>,
    means: Vec<f64>,
    mean: f64,
    squares: Vec<f64>,
}

impl Centred {
    fn new(x: &Dense, y: &[f64], rows: &[usize]) -> Self {
        let centred = |of: &[f64]| {
            let picked: Vec<f64> = rows.iter().map(|&i| of[i]).collect();
            let mean = picked.iter().sum::<f64>() / picked.len() as f64;
            (picked.iter().map(|v| v - mean).collect::<Vec<f64>>(), mean)
        };
        let (columns, means): (Vec<Vec<f64>>, Vec<f64>) = (0..x.ncols()).map(|j| centred(x.column(j))).unzip();
        let (y, mean) = centred(y);
        let squares = columns.iter().map(|c| dot(c, c) / rows.len() as f64).collect();
        Self { n: rows.len(), x: columns.concat(), y, means, mean, squares }
    }

    fn columns(&self) -> impl Iterator<Item = &[f64]> {
        self.x.chunks_exact(self.n)
    }

    fn column(&self, j: usize) -> &[f64] {
        &self.x[j * self.n..(j + 1) * self.n]
    }

    fn model(&self, b: &[f64]) -> LinearModel {
        let (support, coefficients): (Vec<usize>, Vec<f64>) =
            b.iter().copied().enumerate().filter(|(_, v)| *v != 0.0).unzip();
        let moved: f64 = support.iter().zip(&coefficients).map(|(&j, v)| v * self.means[j]).sum();
        LinearModel { support, coefficients, intercept: self.mean - moved }
    }

    /// For every mu the lasso and least squares on its columns (the lasso itself where these interpolate).
    fn path(&self, mus: &[f64]) -> Result<Vec<(Vec<f64>, Vec<f64>)>> {
        let p = self.means.len();
        let (mut b, mut residual) = (vec![0.0; p], self.y.clone());
        let mut path = Vec::with_capacity(mus.len());
        for &mu in mus {
            loop {
                let active: Vec<usize> = (0..p).filter(|&j| b[j] != 0.0).collect();
                for _ in 0..1000 {
                    if self.sweep(&active, mu, &mut b, &mut residual) <= 1e-4 {
                        break;
                    }
                }
                if self.sweep(&(0..p).collect::<Vec<_>>(), mu, &mut b, &mut residual) <= 1e-4 {
                    break;
                }
            }
            path.push((b.clone(), self.least_squares(&b)?));
        }
        Ok(path)
    }

    /// One step along each of these coordinates; the longest of them, in units of the target's deviation.
    fn sweep(&self, coordinates: &[usize], mu: f64, b: &mut [f64], residual: &mut [f64]) -> f64 {
        let size = (dot(&self.y, &self.y) / self.n as f64).sqrt().max(f64::MIN_POSITIVE);
        let mut longest = 0.0f64;
        for &j in coordinates.iter().filter(|&&j| self.squares[j] > 0.0) {
            let column = self.column(j);
            let pull = dot(column, residual) / self.n as f64 + self.squares[j] * b[j];
            let next = pull.signum() * (pull.abs() - mu).max(0.0) / self.squares[j];
            let step = next - b[j];
            if step != 0.0 {
                residual.iter_mut().zip(column).for_each(|(r, x)| *r -= step * x);
                b[j] = next;
                longest = longest.max(step.abs() * self.squares[j].sqrt() / size);
            }
        }
        longest
    }

    fn least_squares(&self, b: &[f64]) -> Result<Vec<f64>> {
        let support: Vec<usize> = (0..b.len()).filter(|&j| b[j] != 0.0).collect();
        let mut out = b.to_vec();
        if support.is_empty() || support.len() >= self.n {
            return Ok(out);
        }
        let x = Dense::from_columns(self.n, b.len(), &self.x[..])?;
        let risk = Risk::new(&x, &self.y[..], Squared::default())?;
        let mut w: Vec<f64> = support.iter().map(|&j| b[j]).collect();
        minimise(&mut *risk.restrict(&support)?, &mut w, &InnerOptions::EXACT)?;
        support.iter().zip(w).for_each(|(&j, w)| out[j] = w);
        Ok(out)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
