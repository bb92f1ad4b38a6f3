//! What sparse precision matrices owe: derivatives, the minimum on a support, every solver's promises, edge cases, the
//! choice of k.
mod baseline;
mod calculus;
mod edges;
mod minimum;
mod solvers;
mod tuning;

use faer::Mat;
use ksparse::graphical::{Covariance, Precision, Units, coordinate};
use ksparse::simulate;

/// A model of the papers' data: p variables, n samples.
pub fn model(n: usize, p: usize, seed: u64) -> Precision {
    let sample = simulate::precision(n, 2, p, seed);
    Precision::new(Covariance::from_samples(&sample.train, Units::Original).unwrap()).unwrap()
}

/// The support of some edges, the diagonal included, ascending.
pub fn support(p: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut all: Vec<usize> = (0..p).map(|i| coordinate(i, i)).collect();
    all.extend(edges.iter().map(|&(i, j)| coordinate(i, j)));
    all.sort_unstable();
    all
}

/// A matrix from rows of JSON.
pub fn matrix(rows: &serde_json::Value) -> Mat<f64> {
    let rows = rows.as_array().unwrap();
    Mat::from_fn(rows.len(), rows.len(), |i, j| rows[i][j].as_f64().unwrap())
}

/// The largest difference of two matrices.
pub fn apart(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (0..a.ncols()).flat_map(|j| (0..a.nrows()).map(move |i| (i, j))).map(|e| (a[e] - b[e]).abs()).fold(0.0, f64::max)
}

/// Eigenvalues by Jacobi rotations: slow, and nothing of the library's.
pub fn eigenvalues(matrix: &Mat<f64>) -> Vec<f64> {
    let (mut a, p) = (matrix.clone(), matrix.nrows());
    for _ in 0..100 {
        let mut off = 0.0;
        for i in 0..p {
            for j in i + 1..p {
                off += a[(i, j)] * a[(i, j)];
                if a[(i, j)].abs() < 1e-300 {
                    continue;
                }
                let t = (a[(j, j)] - a[(i, i)]) / (2.0 * a[(i, j)]);
                let t = t.signum() / (t.abs() + (t * t + 1.0).sqrt());
                let t = if t == 0.0 { 1.0 } else { t };
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..p {
                    let (x, y) = (a[(k, i)], a[(k, j)]);
                    (a[(k, i)], a[(k, j)]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..p {
                    let (x, y) = (a[(i, k)], a[(j, k)]);
                    (a[(i, k)], a[(j, k)]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
        if off < 1e-28 {
            break;
        }
    }
    let mut values: Vec<f64> = (0..p).map(|i| a[(i, i)]).collect();
    values.sort_by(f64::total_cmp);
    values
}
