//! Constants of particular losses: their curvature, and how small the gradient is at the truth.

use super::Curvature;
use crate::error::{Error, Result, check_option};
use crate::objective::{Objective, Risk};
use faer::MatRef;

/// The curvature of a [`Risk`] along s-sparse directions, from its loss, its rows and its ridge: m = lambda,
/// `M = sup l'' min(R_s^2, largest eigenvalue of the weighted Gram matrix) + lambda`.
///
/// An unpenalised intercept makes m = 0.
///
/// ```
/// use ksparse::{Risk, loss::Logistic, simulate, theory};
/// let data = simulate::logistic(50, 20, 3, simulate::Correlation::Independent, 1);
/// let risk = Risk::new(&data.design, &data.target, Logistic::default())?.with_ridge(0.1)?;
/// let curvature = theory::risk_curvature(&risk, 6)?;
/// let condition = curvature.sharp_condition_c()?;
/// // A step of Theorem 1: GraHTP ends, and f falls.
/// assert!(condition.step_bound() <= 1.0 / curvature.smooth * (1.0 + 1e-12));
/// # Ok::<(), ksparse::Error>(())
/// ```
pub fn risk_curvature(risk: &Risk, s: usize) -> Result<Curvature> {
    let need = "a loss with a bounded second derivative";
    let smooth = risk.smoothness(s)?.bound().ok_or(Error::Unsupported { solver: "risk_curvature", need })?;
    Curvature::new(if risk.has_intercept() { 0.0 } else { risk.ridge() }, smooth)
}

/// Logistic loss `log(1 + exp(-c m))` with a ridge: m = lambda, `M = (c^2 / 4) R_s^2 + lambda`, R_s^2 the largest
/// squared norm of a row's s largest entries ([`Risk::largest_row_norm_squared`]).
pub fn logistic_curvature(scale: f64, row_norm_squared: f64, lambda: f64) -> Result<Curvature> {
    check_scale(scale)?;
    check_non_negative(&[("row_norm_squared", row_norm_squared), ("lambda", lambda)])?;
    Curvature::new(lambda, scale * scale / 4.0 * row_norm_squared + lambda)
}

/// The same as the paper prints it: `M = c^2 sqrt(s) R_s^2 + lambda`, 4 sqrt(s) times as large as need be.
pub fn logistic_curvature_as_published(scale: f64, row_norm_squared: f64, s: usize, lambda: f64) -> Result<Curvature> {
    check_scale(scale)?;
    check_non_negative(&[("row_norm_squared", row_norm_squared), ("lambda", lambda)])?;
    Curvature::new(lambda, scale * scale * (s as f64).sqrt() * row_norm_squared + lambda)
}

/// Squared hinge with a ridge: m = lambda, `M = R_s^2 + lambda`. (The paper prints R_s without the square, which is no
/// bound.)
pub fn squared_hinge_curvature(row_norm_squared: f64, lambda: f64) -> Result<Curvature> {
    check_non_negative(&[("row_norm_squared", row_norm_squared), ("lambda", lambda)])?;
    Curvature::new(lambda, row_norm_squared + lambda)
}

/// `-log det O + <S, O>` on `alpha I <= O <= beta I`: m = beta^-2, M = alpha^-2 (the Hessian is `O^-1 (x) O^-1`).
pub fn log_det_curvature(alpha: f64, beta: f64) -> Result<Curvature> {
    check_eigenvalue_bounds(alpha, beta)?;
    Curvature::new(beta.powi(-2), alpha.powi(-2))
}

/// A bound on the norm of the s largest entries of the gradient at the truth, with the probability that it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradientBound {
    /// The bound.
    pub norm: f64,
    /// At least so likely.
    pub probability: f64,
}

/// Logistic loss of scale 2 with a ridge, at the true w of `P(v = 1 | u) = sigma(2 w'u)`: `||grad_s f(w)|| <= 4 sigma
/// sqrt(s ln p / n) + lambda ||w_s||` with probability at least 1 - 4/p, where the entries `v u_j` are
/// sigma-sub-Gaussian.
pub fn logistic_gradient_bound(
    sigma: f64,
    s: usize,
    n: usize,
    p: usize,
    lambda: f64,
    truth_norm: f64,
) -> Result<GradientBound> {
    check_non_negative(&[("sigma", sigma), ("lambda", lambda), ("truth_norm", truth_norm)])?;
    check_option(n > 0, "n", n, "positive")?;
    check_option(p > 0, "p", p, "positive")?;
    let noise = 4.0 * sigma * (s as f64 * (p as f64).ln() / n as f64).sqrt();
    Ok(GradientBound { norm: noise + lambda * truth_norm, probability: (1.0 - 4.0 / p as f64).max(0.0) })
}

/// Squared hinge with a ridge, at any s-sparse w: `||grad_s f(w)|| <= (U R_s^2 / n + lambda) ||w|| + U R_s / n`, U the
/// number of rows with margin below 1 (`active`). Certain: no probability.
pub fn squared_hinge_gradient_bound(
    active: usize,
    row_norm_squared: f64,
    n: usize,
    lambda: f64,
    norm: f64,
) -> Result<f64> {
    check_non_negative(&[("row_norm_squared", row_norm_squared), ("lambda", lambda), ("norm", norm)])?;
    check_option(n > 0, "n", n, "positive")?;
    check_option(active <= n, "active", active, "at most n")?;
    let share = active as f64 / n as f64;
    Ok((share * row_norm_squared + lambda) * norm + share * row_norm_squared.sqrt())
}

/// Log-det at the true precision: `||grad_s L(O)|| <= sqrt(s) |S - Sigma|_max`, s counting matrix entries. Certain: no
/// probability.
pub fn log_det_gradient_bound(
    s: usize,
    sample_covariance: MatRef<'_, f64>,
    covariance: MatRef<'_, f64>,
) -> Result<f64> {
    crate::error::check_len("covariance rows", covariance.nrows(), sample_covariance.nrows())?;
    crate::error::check_len("covariance columns", covariance.ncols(), sample_covariance.ncols())?;
    let mut largest = 0.0f64;
    for j in 0..covariance.ncols() {
        for i in 0..covariance.nrows() {
            largest = largest.max((sample_covariance[(i, j)] - covariance[(i, j)]).abs());
        }
    }
    Ok((s as f64).sqrt() * largest)
}

/// Whether every diagonal entry is at least the sum of the absolute values beside it in its row.
pub fn is_diagonally_dominant(matrix: MatRef<'_, f64>) -> bool {
    (0..matrix.nrows()).all(|i| {
        let beside: f64 = (0..matrix.ncols()).filter(|&j| j != i).map(|j| matrix[(i, j)].abs()).sum();
        matrix[(i, i)] >= beside
    })
}

/// Whether `O - alpha I` and `beta I - O` are diagonally dominant: then Theorem 2 for GraHTP carries over to the
/// modified GraHTP for precision matrices, because truncating an off-diagonal pair of such a matrix keeps it within the
/// eigenvalue bounds.
pub fn log_det_bounds_are_dominant(precision: MatRef<'_, f64>, alpha: f64, beta: f64) -> Result<bool> {
    check_eigenvalue_bounds(alpha, beta)?;
    crate::error::check_len("precision columns", precision.ncols(), precision.nrows())?;
    let mut below = precision.to_owned();
    let mut above = -precision;
    for i in 0..precision.nrows() {
        below[(i, i)] -= alpha;
        above[(i, i)] += beta;
    }
    Ok(is_diagonally_dominant(below.as_ref()) && is_diagonally_dominant(above.as_ref()))
}

fn check_scale(scale: f64) -> Result<()> {
    check_option(scale > 0.0 && scale.is_finite(), "scale", scale, "positive and finite")
}

fn check_non_negative(options: &[(&'static str, f64)]) -> Result<()> {
    options.iter().try_for_each(|&(option, value)| {
        check_option(value >= 0.0 && value.is_finite(), option, value, "non-negative and finite")
    })
}

fn check_eigenvalue_bounds(alpha: f64, beta: f64) -> Result<()> {
    check_option(alpha > 0.0 && alpha.is_finite(), "alpha", alpha, "positive and finite")?;
    check_option(beta >= alpha && beta.is_finite(), "beta", beta, "at least alpha and finite")
}
