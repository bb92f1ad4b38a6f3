//! S3 by the alternating direction method: the reference, and the method where an eigenvalue bound is active.
//!
//! ```text
//! M = T - (S - G) / rho = V diag(l) V';     O = V diag( clip((l + sqrt(l^2 + 4 / rho)) / 2, alpha, beta) ) V'
//! T = O - G / rho on the support, 0 elsewhere;     G = G - rho (O - T)
//! ```
//!
//! O has the eigenvalues, T the support; they meet at the minimum. X. Yuan, "Alternating direction method for
//! covariance selection models", Journal of Scientific Computing 51, 2012. T is returned, drawn to a multiple of the
//! identity by as much as it misses the bounds. The penalty rho is doubled or halved while one residual is ten times
//! the other.

use super::component::OnComponent;
use super::precision::Bounds;
use crate::error::Result;
use crate::linalg::{compose, eigen, eigenvalues};
use crate::restricted::{Ended, InnerOptions, Outcome};
use faer::Mat;

/// Iterations at most: thousands are rare once the penalty has settled.
const MOST: usize = 20_000;

/// Minimises f on the component's support within the bounds, from the point `x`, which need not be feasible.
pub(super) fn minimise(f: &OnComponent, x: &mut [f64], options: &InnerOptions) -> Result<Outcome> {
    let bounds = f.model.bounds();
    let covariance = f.covariance();
    let m = covariance.nrows();
    let tolerance = options.tolerance.clamp(1e-10, 1e-4);
    // O is of the size 1 / S, rho O of the size S.
    let mean = (0..m).map(|i| covariance[(i, i)]).sum::<f64>() / m as f64;
    let mut rho = (mean * mean).max(f64::MIN_POSITIVE);
    let mut t = f.whole(x);
    let mut dual = Mat::<f64>::zeros(m, m);
    let mut ended = (MOST, Ended::MaxIterations);
    for iteration in 0..MOST {
        options.cancel.ask()?;
        let shifted = Mat::from_fn(m, m, |i, j| t[(i, j)] - (covariance[(i, j)] - dual[(i, j)]) / rho);
        let Some((mut values, vectors)) = eigen(shifted.as_ref()) else { break };
        for l in &mut values {
            // Both branches are positive without cancellation.
            let root = (*l * *l + 4.0 / rho).sqrt();
            let kept = if *l >= 0.0 { 0.5 * (*l + root) } else { 2.0 / (rho * (root - *l)) };
            *l = kept.clamp(bounds.alpha, bounds.beta);
        }
        let o = compose(&values, &vectors);
        let mut next = Mat::<f64>::zeros(m, m);
        for e in &f.component.entries {
            let value = o[(e.row, e.column)] - dual[(e.row, e.column)] / rho;
            next[(e.row, e.column)] = value;
            next[(e.column, e.row)] = value;
        }
        let (mut primal, mut change, mut size, mut slope) = (0.0, 0.0, 0.0, 0.0);
        for j in 0..m {
            for i in 0..m {
                let apart = o[(i, j)] - next[(i, j)];
                primal += apart * apart;
                change += (next[(i, j)] - t[(i, j)]).powi(2);
                size += o[(i, j)] * o[(i, j)];
                dual[(i, j)] -= rho * apart;
                slope += dual[(i, j)].powi(2).max(covariance[(i, j)].powi(2));
            }
        }
        t = next;
        let primal = (primal / size).sqrt();
        let change = rho * (change / slope.max(f64::MIN_POSITIVE)).sqrt();
        if primal <= tolerance && change <= tolerance {
            ended = (iteration + 1, Ended::Converged);
            break;
        }
        // Ever more rarely, so that it settles.
        if iteration < 20 || iteration.is_power_of_two() || iteration % 100 == 0 {
            if primal > 10.0 * change {
                rho *= 2.0;
            } else if change > 10.0 * primal {
                rho *= 0.5;
            }
        }
    }
    f.coordinates(&into_bounds(t, bounds), x);
    Ok(Outcome { value: f.value(x), iterations: ended.0, ended: ended.1 })
}

/// `(1 - t) T + t c I` with c in the middle of the bounds (on a scale of ratios) and the smallest t that meets them.
fn into_bounds(mut matrix: Mat<f64>, bounds: Bounds) -> Mat<f64> {
    let m = matrix.nrows();
    let values = eigenvalues(matrix.as_ref());
    let (least, largest) = (values[0], values[m - 1]);
    let centre = (bounds.alpha * bounds.beta).sqrt();
    let below = if least < bounds.alpha { (bounds.alpha - least) / (centre - least) } else { 0.0 };
    let above = if largest > bounds.beta { (largest - bounds.beta) / (largest - centre) } else { 0.0 };
    let t = below.max(above);
    if t > 0.0 && t.is_finite() {
        for j in 0..m {
            matrix.col_as_slice_mut(j).iter_mut().for_each(|v| *v *= 1.0 - t);
            matrix[(j, j)] += t * centre;
        }
    }
    matrix
}
