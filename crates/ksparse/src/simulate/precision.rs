//! Gaussian samples whose precision matrix is sparse.

use super::{DESIGN, NOISE, TRUTH, dense, normal, stream};
use crate::design::Dense;
use crate::linalg::eigenvalues;
use faer::Mat;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Samples of N(0, O^-1) with the sparse O that made them.
#[derive(Debug, Clone)]
pub struct PrecisionSample {
    /// O, symmetric and positive definite.
    pub precision: Mat<f64>,
    /// The pairs i < j with `O_ij != 0`, in lexicographic order.
    pub edges: Vec<(usize, usize)>,
    /// Samples to fit on, one per row.
    pub train: Dense<'static>,
    /// Samples to choose the number of edges on, one per row.
    pub tune: Dense<'static>,
}

/// Share of the pairs that are edges.
const DENSITY: f64 = 0.1;

/// Covariance selection: `O = B + sigma I`, each off-diagonal pair of B is 1 with probability 0.1 and 0 otherwise,
/// sigma such that the condition number of O is p (when B = 0, as for p < 2, O = I); rows of `train` and `tune` are
/// N(0, O^-1).
///
/// The GraHTP papers' settings: p in {30, 60, 120, 200}, 100 rows to fit and 100 to tune.
pub fn precision(n_train: usize, n_tune: usize, p: usize, seed: u64) -> PrecisionSample {
    let mut rng = stream(seed, TRUTH);
    let mut precision = Mat::<f64>::zeros(p, p);
    let mut edges = Vec::new();
    for i in 0..p {
        for j in i + 1..p {
            if rng.random::<f64>() < DENSITY {
                precision[(i, j)] = 1.0;
                precision[(j, i)] = 1.0;
                edges.push((i, j));
            }
        }
    }
    let sigma = if edges.is_empty() {
        1.0
    } else {
        let eigenvalues = eigenvalues(precision.as_ref());
        let (least, largest) = (eigenvalues[0], eigenvalues[p - 1]);
        // (largest + sigma) / (least + sigma) = p.
        (largest - p as f64 * least) / (p as f64 - 1.0)
    };
    (0..p).for_each(|i| precision[(i, i)] = sigma);
    let factor = cholesky(&precision);
    let train = samples(n_train, &factor, &mut stream(seed, DESIGN));
    let tune = samples(n_tune, &factor, &mut stream(seed, NOISE));
    PrecisionSample { precision, edges, train, tune }
}

/// L with `matrix = L L'`, for a positive definite matrix.
fn cholesky(matrix: &Mat<f64>) -> Mat<f64> {
    let p = matrix.nrows();
    let mut factor = Mat::<f64>::zeros(p, p);
    for j in 0..p {
        for i in j..p {
            let known: f64 = (0..j).map(|c| factor[(i, c)] * factor[(j, c)]).sum();
            let rest = matrix[(i, j)] - known;
            factor[(i, j)] = if i == j { rest.sqrt() } else { rest / factor[(j, j)] };
        }
    }
    factor
}

/// Rows x with `L'x = z`, z ~ N(0, I): then x has precision `L L'`.
fn samples(n: usize, factor: &Mat<f64>, rng: &mut ChaCha8Rng) -> Dense<'static> {
    let p = factor.nrows();
    let mut columns = vec![0.0; n * p];
    let mut x = vec![0.0; p];
    for i in 0..n {
        x.iter_mut().for_each(|x| *x = normal(rng));
        for j in (0..p).rev() {
            let known: f64 = (j + 1..p).map(|a| factor[(a, j)] * x[a]).sum();
            x[j] = (x[j] - known) / factor[(j, j)];
            columns[j * n + i] = x[j];
        }
    }
    dense(n, p, columns)
}
