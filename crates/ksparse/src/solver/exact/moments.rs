//! A quadratic risk by its moments: `f(w) = constant + linear'w + w'Gw/2 + (lambda/2)||w||^2`, the intercept eliminated.
//!
//! With d = the least eigenvalue of G, `G - d I` is still positive semi-definite, and `lambda + d` in place of lambda leaves f as it is. The
//! relaxation pays for shares with the larger ridge and is so much tighter.

use crate::design::gram;
use crate::dual::relative_error;
use crate::linalg::eigenvalues;
use crate::objective::{Objective, Risk};
use faer::Mat;

/// The moments of a quadratic risk.
pub(super) struct Quadratic {
    pub gram: Mat<f64>,
    pub linear: Vec<f64>,
    pub constant: f64,
    /// The ridge, what the Gram matrix could spare included.
    pub ridge: f64,
    /// No bound computed from these moments is too high by more than this.
    pub error: f64,
}

/// Moments are worth their memory up to so many columns.
const MOST_COLUMNS: usize = 3000;

impl Quadratic {
    /// `None` for other losses and for too many columns.
    pub fn new(risk: &Risk, k: usize) -> Option<Self> {
        let p = risk.features();
        if !risk.loss().is_quadratic() || p > MOST_COLUMNS || p == 0 {
            return None;
        }
        let (loss, y, c, design) = (risk.loss(), risk.target(), risk.weights(), risk.design());
        let n = y.len();
        let scale = loss.at(0.0, y[0]).curvature;
        let curvatures: Vec<f64> = c.iter().map(|c| c * scale).collect();
        let slopes: Vec<f64> = (0..n).map(|i| c[i] * loss.at(0.0, y[i]).derivative).collect();
        let whole = gram(design, &curvatures);
        let mut linear = vec![0.0; risk.dim()];
        design.tmul(&slopes, &mut linear);
        let mut constant: f64 = (0..n).map(|i| c[i] * loss.value(0.0, y[i])).sum();
        let at_zero = constant;
        let mut gram = Mat::from_fn(p, p, |i, j| 0.5 * (whole[(i, j)] + whole[(j, i)]));
        if risk.has_intercept() {
            // Minimised over the last coordinate.
            let (pivot, slope) = (whole[(p, p)], linear[p]);
            for j in 0..p {
                for i in 0..p {
                    gram[(i, j)] -= whole[(i, p)] * whole[(j, p)] / pivot;
                }
                linear[j] -= slope * whole[(j, p)] / pivot;
            }
            constant -= 0.5 * slope * slope / pivot;
        }
        linear.truncate(p);
        let trace: f64 = (0..p).map(|j| gram[(j, j)]).sum();
        let least = least_eigenvalue(&gram);
        // Less what the eigenvalue may be wrong by.
        let spare = (least * (1.0 - 1e-9) - 1e-13 * p as f64 * trace).max(0.0);
        for j in 0..p {
            gram[(j, j)] -= spare;
        }
        // Entries of G are wrong by h(n) sqrt(g_ii g_jj), and the optimum w has (lambda/2)||w||^2 <= f(0): together no more than this.
        let mut squares: Vec<f64> = (0..p).map(|j| whole[(j, j)]).collect();
        squares.sort_unstable_by(|a, b| b.total_cmp(a));
        let reach: f64 = squares.iter().take(k).sum::<f64>().sqrt() * (2.0 * at_zero / risk.ridge()).sqrt();
        let error = 4.0 * relative_error(n + p + 64) * (reach + (2.0 * at_zero).sqrt()).powi(2);
        Some(Self { gram, linear, constant, ridge: risk.ridge() + spare, error })
    }
}

/// 0 if it cannot be had. On one thread: the bits must not depend on their number.
fn least_eigenvalue(gram: &Mat<f64>) -> f64 {
    eigenvalues(gram.as_ref()).first().copied().filter(|least| least.is_finite()).unwrap_or(0.0)
}
