//! A quadratic risk by its moments: `f(w) = constant + linear'w + w'Gw/2 + (lambda/2)||w||^2`, the intercept
//! eliminated.
//!
//! With d = the least eigenvalue of G, `G - d I` is still positive semi-definite, and `lambda + d` in place of lambda
//! leaves f as it is. The relaxation pays for shares with the larger ridge and is so much tighter.

use crate::design::gram;
use crate::dual::{VANISHING, relative_error};
use crate::linalg::eigenvalues;
use crate::objective::{Objective, Risk};
use crate::relaxation::support_norm::SupportNorm;
use faer::Mat;

/// The moments of a quadratic risk.
pub(super) struct Quadratic {
    pub gram: Mat<f64>,
    pub linear: Vec<f64>,
    pub constant: f64,
    /// The ridge, what the Gram matrix could spare included.
    pub ridge: f64,
    /// `sqrt(s_j)`, s_j the weighted square of column j as it is summed, and `sqrt(2 f(0))`.
    roots: Vec<f64>,
    size: f64,
    /// The relative error of an entry of G beside these.
    relative: f64,
}

/// Moments are worth their memory up to so many columns.
const MOST_COLUMNS: usize = 3000;

impl Quadratic {
    /// `None` for other losses and for too many columns.
    pub fn new(risk: &Risk) -> Option<Self> {
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
                    gram[(i, j)] -= whole[(i, p)] / pivot * whole[(j, p)];
                }
                linear[j] -= slope / pivot * whole[(j, p)];
            }
            constant -= 0.5 * (slope / pivot) * slope;
        }
        linear.truncate(p);
        let roots: Vec<f64> = risk.weighted_magnitudes()[..p].iter().map(|s| (s * scale).sqrt()).collect();
        let relative = relative_error(8 * n + 8 * p + 128);
        let least = least_eigenvalue(&gram);
        // Less what the eigenvalue may be wrong by: errors of G in its Frobenius norm, and those of the decomposition.
        let trace: f64 = roots.iter().map(|r| r * r).sum();
        let spare = (least * (1.0 - 1e-9) - (relative + 1e-13 * p as f64) * trace).max(0.0);
        for j in 0..p {
            gram[(j, j)] -= spare;
        }
        let ridge = risk.ridge() + spare;
        Some(Self { gram, linear, constant, ridge, roots, size: (2.0 * at_zero).sqrt(), relative })
    }

    /// By how much a bound computed at w may be too high, given the norm of the k largest entries of `gradient /
    /// sqrt(ridge)`. Infinite where numbers have left their range.
    ///
    /// Entries of G are wrong by `h sqrt(s_i s_j)`, those of q by `h sqrt(s_j) sqrt(2 f(0))`, h covering their sums
    /// over the samples and ours over the columns. So with `r = sum_j sqrt(s_j) |w_j| + sqrt(2 f(0))` the value is
    /// wrong by `h r^2` and entry j of the gradient by `h sqrt(s_j) r`.
    pub fn error(&self, w: &[f64], length: f64, working: &[usize], norm: &SupportNorm) -> f64 {
        let roots: Vec<f64> = working.iter().map(|&j| self.roots[j]).collect();
        let r = self.size + w.iter().zip(&roots).map(|(w, root)| w.abs() * root).sum::<f64>();
        let reach = 2.0 * norm.conjugate(&roots);
        let gradient = 4.0 * self.relative * r * reach.sqrt() / self.ridge.sqrt();
        let error = 4.0 * self.relative * r * r + (length + gradient) * gradient + 1e-14 * length * length;
        let vanishing = [r * r, reach].iter().any(|sum| *sum > 0.0 && *sum < VANISHING);
        if error.is_finite() && !vanishing { error } else { f64::INFINITY }
    }
}

/// 0 if it cannot be had. On one thread: the bits must not depend on their number.
fn least_eigenvalue(gram: &Mat<f64>) -> f64 {
    eigenvalues(gram.as_ref()).first().copied().filter(|least| least.is_finite()).unwrap_or(0.0)
}
