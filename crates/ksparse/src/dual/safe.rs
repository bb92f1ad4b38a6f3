//! D(a) rounded down: a bound that stays one in floating point.
//!
//! Write e for the unit round-off and h(m) = m e / (1 - m e) for the relative error of a sum of m terms, whatever its
//! order.
//!
//! * *Scores.* `|fl(u_j) - u_j| <= h(4 n + 64) / lambda * sum_i c_i |a_i| |x_ij|`, by Cauchy-Schwarz at most `h /
//!   lambda sqrt(q s_j)` with `q = sum c_i a_i^2` and `s_j = sum c_i x_ij^2`. Where a product is put together from
//!   parts that cancel (a centred column), s_j is what it would be if they did not
//!   ([`Design::magnitudes`](crate::design::Design::magnitudes)). Since `u -> ||H_k(u)||` is a norm, what that does to
//!   ||w(a)|| is at most `E`, the norm of the k largest of these (and of those that stay whole), whichever coordinates
//!   have won. The factor 4 also covers sample weights divided by their sum, and centres and scales of columns, each
//!   right to h(n).
//! * *Conjugates.* A few operations each, on terms bounded by `m_i = |l*(a_i)| + |a_i y_i| + mu a_i^2 / 2` (and 1 for
//!   labels: the entropy's logarithms), so their weighted sum is wrong by at most `h(4 n + 64) sum c_i m_i`.
//! * *Feasibility.* Where an intercept asks for `sum c_i a_i = 0` and rounding leaves r, an exactly feasible vector is
//!   at hand: the heavier side scaled by 1 - d, `d = (|r| + h(4 n + 64) S) / S'`, S the weighted sum of absolute
//!   values, S' that of the heavier side. The conjugates are convex with `l*(0) <= 0` (losses are not negative), so the
//!   first sum moves by at most `d sum c_i |l*(a_i)|`, and u_j by `d sqrt(q s_j) / lambda`. The same argument covers a
//!   that rounding has put outside the domain by an ulp. Without a d below 1 there is no bound.
//! * *Drift.* Scores kept up to date by adding rows, m additions since they were last computed, are wrong by another
//!   `h(2 m) / lambda sqrt(Q s_j)`, Q being q of the largest |a_i| on the way.
//! * *Range.* A sum that overflows, or whose terms may have vanished below the smallest numbers, gives no bound.
//!
//! The bound is `-sum c l*  -  (lambda/2) (||w|| + E)^2` less these errors. What it assumes: X, y, lambda and the
//! sample weights are the numbers as stored, columns that are standardised are so exactly, products with X add up the
//! products of its entries in some order, and the logarithm is right to a few units in the last place.

use super::Dual;
use crate::loss::TargetKind;
use crate::objective::Objective;
use crate::sparsity::SparseRef;

/// Half of f64::EPSILON: the largest relative error of one operation.
const ROUND_OFF: f64 = 0.5 * f64::EPSILON;

/// Sums of squares below this may have lost terms to underflow.
pub(crate) const VANISHING: f64 = 1e-280;

/// The relative error of a sum of `terms`.
pub(crate) fn relative_error(terms: usize) -> f64 {
    let e = terms as f64 * ROUND_OFF;
    e / (1.0 - e)
}

/// How scores have been kept up to date since they were last computed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Drift {
    /// Rows added.
    pub additions: usize,
    /// `sum_i c_i m_i^2`, m_i the largest |a_i| on the way.
    pub size: f64,
}

impl Dual<'_> {
    /// A number that no k-sparse point goes below: D(a) less a bound on every rounding error made on the way. Minus
    /// infinity for an infeasible a, and where numbers overflow.
    pub fn lower_bound(&self, a: &[f64]) -> f64 {
        if self.check(a).is_err() {
            return f64::NEG_INFINITY;
        }
        let mut u = vec![0.0; self.risk.dim()];
        self.scores(a, &mut u);
        self.lower_bound_at(a, &u, Drift::default())
    }

    /// [`lower_bound`](Self::lower_bound) from a and the u(a) that [`scores`](Self::scores) gave, or that has drifted
    /// from there.
    pub(crate) fn lower_bound_at(&self, a: &[f64], u: &[f64], drift: Drift) -> f64 {
        let (squares, root) = (self.risk.weighted_magnitudes(), self.risk.ridge().sqrt());
        let length = self.winners(u).iter().map(|&j| (root * u[j]).powi(2)).sum::<f64>().sqrt();
        let reach = self.reach(squares);
        self.rounded_down(a, length, reach, drift)
    }

    /// `-sum c l*(a) - length^2 / 2` less all rounding errors, for `length = sqrt(lambda) ||w(a)||` (whose square has
    /// the units of f, and so their range) and `reach` the largest sum of s_j over a support.
    pub(crate) fn rounded_down(&self, a: &[f64], length: f64, reach: f64, drift: Drift) -> f64 {
        let (risk, n) = (self.risk, a.len());
        let (conjugate, y, c) = (risk.loss().conjugate(), risk.target(), risk.weights());
        let labels = if risk.loss().target() == TargetKind::Sign { 1.0 } else { 0.0 };
        let half_mu = 0.5 * conjugate.strong_convexity();
        let (mut terms, mut conjugates, mut size) = (0.0, 0.0, 0.0);
        for i in 0..n {
            let value = conjugate.value(a[i], y[i]).abs();
            terms += c[i] * (conjugate.size(a[i], y[i]) + (a[i] * y[i]).abs() + half_mu * a[i] * a[i] + labels);
            conjugates += c[i] * value;
            size += c[i] * a[i] * a[i];
        }
        let rounding = relative_error(4 * n + 64);
        let mut infeasible = 0.0;
        if risk.has_intercept() {
            let (sum, total) = self.balance(a);
            let heavier = 0.5 * (total + sum.abs());
            infeasible = if heavier > 0.0 { (sum.abs() + rounding * total) / heavier } else { 0.0 };
        }
        let drifted = relative_error(2 * drift.additions) * drift.size.sqrt();
        let roots = reach.sqrt() / risk.ridge().sqrt();
        let error = ((rounding + infeasible) * size.sqrt() + drifted) * roots * (1.0 + 1e-6);
        let penalty = 0.5 * (length * (1.0 + relative_error(risk.dim() + 16)) + error).powi(2);
        let slack = rounding * terms + infeasible * conjugates + 1e-15 * penalty;
        let bound = -self.mean_conjugate(a) - penalty - 1.1 * slack;
        let vanishing = [terms, size, reach].iter().any(|sum| *sum > 0.0 && *sum < VANISHING);
        if bound.is_finite() && infeasible < 1.0 && !vanishing { bound } else { f64::NEG_INFINITY }
    }

    /// f at a k-sparse w, rounded up: a number that f(w) does not exceed. Predictions are wrong by at most `h(m) sum_j
    /// |x_ij w_j|`, m the number of coordinates, which the losses turn into `h(m) sqrt(q) sum_j sqrt(s_j) |w_j|` (q now
    /// of the derivatives); sums of non-negative terms have small relative errors.
    pub(crate) fn rounded_up(&self, w: SparseRef) -> f64 {
        let risk = self.risk;
        let (z, y, c) = (risk.predictions(w), risk.target(), risk.weights());
        let slopes: f64 =
            (0..z.len()).map(|i| c[i] * risk.loss().at(z[i], y[i]).derivative.powi(2)).sum::<f64>().sqrt();
        let squares = risk.weighted_magnitudes();
        let spread: f64 = w.iter().map(|(j, v)| squares[j].sqrt() * v.abs()).sum();
        let terms = 4 * z.len() + w.indices.len() + 64;
        let predictions = relative_error(2 * w.indices.len() + 16) * spread + relative_error(4 * z.len()) * spread;
        risk.value(w) * (1.0 + relative_error(terms)) + 1.1 * slopes * predictions
    }
}
