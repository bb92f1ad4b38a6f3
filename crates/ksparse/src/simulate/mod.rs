//! The papers' data models, seeded: shared by tests, benchmarks and experiments.
//!
//! | function | model | where it comes from |
//! |---|---|---|
//! | [`logistic`] | gaussian rows, labels from a sparse logistic model | GraHTP papers, logistic simulation |
//! | [`linear`] | gaussian rows, coefficients +-U(1, 2), gaussian noise | the usual hard case for subset selection |
//! | [`compressed_sensing`] | gaussian measurements, no noise | the setting of HTP and IHT |
//! | [`text`] | word counts with tf-idf values, labels from a sparse logistic model | stands in for rcv1 and news20 |
//! | [`two_means`] | correlated relevant features beside independent ones | DIHT paper, estimation accuracy |
//! | [`poisson`], [`multinomial`], [`cox`] | counts, classes, survival times from sparse models | |
//! | [`precision`] | gaussian samples with a sparse precision matrix | GraHTP papers, covariance selection |
//!
//! A seed determines every bit, whatever the number of threads. The rows, the truth and the noise come from separate
//! streams of the generator, so the design of a seed does not depend on how many coefficients are planted in it or how
//! noisy the target is.
//!
//! ```
//! use ksparse::design::Design;
//! use ksparse::simulate::{Correlation, linear};
//! let data = linear(100, 20, 3, Correlation::Ar1(0.5), 0.1, 7);
//! assert_eq!((data.design.nrows(), data.design.ncols()), (100, 20));
//! assert_eq!((data.target.len(), data.support.len(), data.coefficients.len()), (100, 3, 3));
//! ```

mod families;
mod precision;
mod text;

pub use families::{cox, multinomial, ordinal, poisson};
pub use precision::{PrecisionSample, precision};
pub use text::{Text, text};

use crate::design::{Dense, Design};
use crate::sparsity::SparseRef;
use rand::{Rng, SeedableRng, seq::index};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Data with the truth that made them.
#[derive(Debug, Clone)]
pub struct Simulated<D> {
    /// The rows.
    pub design: D,
    /// Labels -1 and +1, or responses.
    pub target: Vec<f64>,
    /// Where the true coefficients are not zero, ascending.
    pub support: Vec<usize>,
    /// The true coefficients there.
    pub coefficients: Vec<f64>,
}

impl<D> Simulated<D> {
    /// The truth as a sparse vector.
    pub fn truth(&self) -> SparseRef<'_> {
        SparseRef::new(&self.support, &self.coefficients)
    }
}

/// How the entries of a gaussian row depend on each other; all of them are N(0, 1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Correlation {
    /// Not at all.
    Independent,
    /// `u_1 ~ N(0, 1)`, `u_{j+1} = rho u_j + sqrt(1 - rho^2) N(0, 1)`: columns i and j have correlation `rho^|i-j|`. A
    /// rho outside \[-1, 1\] counts as the nearer end.
    Ar1(f64),
}

/// Sparse logistic regression: rows N(0, Sigma), k coefficients N(0, 1) at random places (all p when k > p), labels
/// with `P(v = +1 | u) = sigma(2 w'u)`.
///
/// The papers' settings: p = 1000, k = 100, `Ar1(0.5)` in the arXiv text and `Independent` in the ICML one.
pub fn logistic(n: usize, p: usize, k: usize, correlation: Correlation, seed: u64) -> Simulated<Dense<'static>> {
    let mut data = predicted(n, p, k, correlation, seed, normal);
    data.target = draw_labels(&data.target, &mut stream(seed, NOISE));
    data
}

/// Sparse linear regression: rows N(0, Sigma), k coefficients of random sign and size U(1, 2) at random places (all p
/// when k > p), `y = X w + noise N(0, I)`.
///
/// The benchmarks: n = 1000, p = 10000, k = 50, `Independent` (easy) and n = 500, p = 5000, k = 30, `Ar1(0.9)` (hard),
/// both with noise 0.5.
pub fn linear(
    n: usize,
    p: usize,
    k: usize,
    correlation: Correlation,
    noise: f64,
    seed: u64,
) -> Simulated<Dense<'static>> {
    let mut data = predicted(n, p, k, correlation, seed, effect);
    add_noise(&mut data.target, noise, seed);
    data
}

/// Compressed sensing: `y = A x`, A with independent entries N(0, 1/n), k coefficients N(0, 1) at random places (all p
/// when k > p), no noise: the truth is a minimiser with gradient 0.
pub fn compressed_sensing(n: usize, p: usize, k: usize, seed: u64) -> Simulated<Dense<'static>> {
    let mut rng = stream(seed, DESIGN);
    let scale = 1.0 / (n.max(1) as f64).sqrt();
    let design = dense(n, p, (0..n * p).map(|_| scale * normal(&mut rng)).collect());
    let (support, coefficients) = plant(p, k, seed, normal);
    let target = predictor(&design, &support, &coefficients);
    Simulated { design, target, support, coefficients }
}

/// Regression whose relevant features move together: the first `kbar` (at most d) of the d features are N(m1, Sigma)
/// with variances 1 and covariances 0.25, the others N(m2, I); the entries of m1 and m2 are N(0, 1), drawn once; `y =
/// wbar'x + N(0, 1)` with wbar = (1, .., 1, 0, .., 0).
///
/// The DIHT paper's settings: kbar = 100, d = 500 or 300, n = 50 to 150.
pub fn two_means(n: usize, d: usize, kbar: usize, seed: u64) -> Simulated<Dense<'static>> {
    let kbar = kbar.min(d);
    let mut rng = stream(seed, DESIGN);
    let means: Vec<f64> = (0..d).map(|_| normal(&mut rng)).collect();
    // A variable common to the row with variance 0.25 gives every pair of relevant features that covariance.
    let common: Vec<f64> = (0..n).map(|_| 0.25f64.sqrt() * normal(&mut rng)).collect();
    let mut values = Vec::with_capacity(n * d);
    for (j, mean) in means.iter().enumerate() {
        for shared in &common {
            let own = normal(&mut rng);
            values.push(if j < kbar { mean + shared + 0.75f64.sqrt() * own } else { mean + own });
        }
    }
    let design = dense(n, d, values);
    let (support, coefficients): (Vec<usize>, Vec<f64>) = ((0..kbar).collect(), vec![1.0; kbar]);
    let mut target = predictor(&design, &support, &coefficients);
    add_noise(&mut target, 1.0, seed);
    Simulated { design, target, support, coefficients }
}

/// Streams of the generator: what is drawn from one does not shift the others.
const DESIGN: u64 = 0;
const TRUTH: u64 = 1;
const NOISE: u64 = 2;

fn stream(seed: u64, which: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(which);
    rng
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    rng.sample(StandardNormal)
}

fn dense(nrows: usize, ncols: usize, columns: Vec<f64>) -> Dense<'static> {
    Dense::from_columns(nrows, ncols, columns).expect("as many values as the shape says")
}

fn gaussian_rows(n: usize, p: usize, correlation: Correlation, seed: u64) -> Dense<'static> {
    let mut rng = stream(seed, DESIGN);
    let rho = match correlation {
        Correlation::Independent => 0.0,
        Correlation::Ar1(rho) => rho.clamp(-1.0, 1.0),
    };
    let fresh = (1.0 - rho * rho).sqrt();
    let mut values: Vec<f64> = Vec::with_capacity(n * p);
    for e in 0..n * p {
        let z = normal(&mut rng);
        values.push(if e < n { z } else { rho * values[e - n] + fresh * z });
    }
    dense(n, p, values)
}

/// `min(k, p)` coefficients at random places, drawn in the order of the columns.
fn plant(p: usize, k: usize, seed: u64, mut draw: impl FnMut(&mut ChaCha8Rng) -> f64) -> (Vec<usize>, Vec<f64>) {
    let mut rng = stream(seed, TRUTH);
    let mut support = index::sample(&mut rng, p, k.min(p)).into_vec();
    support.sort_unstable();
    let coefficients = support.iter().map(|_| draw(&mut rng)).collect();
    (support, coefficients)
}

/// Of random sign and size U(1, 2).
fn effect(rng: &mut ChaCha8Rng) -> f64 {
    let size = rng.random_range(1.0..2.0);
    if rng.random::<bool>() { size } else { -size }
}

/// Gaussian rows with planted coefficients, and what these predict for a target.
fn predicted(
    n: usize,
    p: usize,
    k: usize,
    correlation: Correlation,
    seed: u64,
    draw: impl FnMut(&mut ChaCha8Rng) -> f64,
) -> Simulated<Dense<'static>> {
    let design = gaussian_rows(n, p, correlation, seed);
    let (support, coefficients) = plant(p, k, seed, draw);
    let target = predictor(&design, &support, &coefficients);
    Simulated { design, target, support, coefficients }
}

fn predictor(design: &dyn Design, support: &[usize], coefficients: &[f64]) -> Vec<f64> {
    let mut z = vec![0.0; design.nrows()];
    design.mul(SparseRef::new(support, coefficients), &mut z);
    z
}

fn add_noise(target: &mut [f64], noise: f64, seed: u64) {
    let mut rng = stream(seed, NOISE);
    target.iter_mut().for_each(|y| *y += noise * normal(&mut rng));
}

/// Labels with `P(+1) = sigma(2 z)`.
fn draw_labels(z: &[f64], rng: &mut ChaCha8Rng) -> Vec<f64> {
    z.iter().map(|z| if rng.random::<f64>() < 1.0 / (1.0 + (-2.0 * z).exp()) { 1.0 } else { -1.0 }).collect()
}

#[cfg(test)]
mod tests;
