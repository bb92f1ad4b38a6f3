//! Condition C and what the two convergence theorems conclude from it.

use crate::error::{Result, check_option};
use std::f64::consts::SQRT_2;

/// f is `strong`-strongly convex and `smooth`-smooth along s-sparse directions (m and M of the papers):
///
/// ```text
/// m ||d||^2 <= d'(grad f(x + d) - grad f(x)),   ||grad_F f(x + d) - grad_F f(x)|| <= M ||d||
/// ```
///
/// whenever x and x + d have their supports inside one F with |F| <= s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curvature {
    /// m >= 0.
    pub strong: f64,
    /// M >= m, positive.
    pub smooth: f64,
}

impl Curvature {
    /// `Err` unless 0 <= strong <= smooth, smooth > 0, both finite.
    pub fn new(strong: f64, smooth: f64) -> Result<Self> {
        check_option(smooth > 0.0 && smooth.is_finite(), "smooth", smooth, "positive and finite")?;
        check_option((0.0..=smooth).contains(&strong), "strong", strong, "between 0 and the smoothness")?;
        Ok(Self { strong, smooth })
    }

    /// The curvature of `mean loss + (ridge / 2) ||w||^2` when this is the curvature of half the weighted mean of
    /// squares and `least <= l'' <= largest` for the loss.
    pub fn of_loss(self, least: f64, largest: f64, ridge: f64) -> Result<Self> {
        check_option(ridge >= 0.0 && ridge.is_finite(), "ridge", ridge, "non-negative and finite")?;
        check_option((0.0..=largest).contains(&least), "least", least, "between 0 and `largest`")?;
        Self::new(least * self.strong + ridge, largest * self.smooth + ridge)
    }

    /// The papers' choice from data: `zeta = m / M^2`, `rho = sqrt(1 - m^2 / M^2)`. Needs m > 0.
    pub fn condition_c(&self) -> Result<ConditionC> {
        self.condition_c_at(self.strong / (self.smooth * self.smooth))
    }

    /// Any `0 < zeta < 2 m / M^2`: `rho = sqrt(1 - 2 zeta m + zeta^2 M^2)`.
    pub fn condition_c_at(&self, zeta: f64) -> Result<ConditionC> {
        self.check_strong()?;
        let ok = zeta > 0.0 && zeta < 2.0 * self.strong / (self.smooth * self.smooth);
        check_option(ok, "zeta", zeta, "positive and less than 2 m / M^2")?;
        let square = 1.0 - 2.0 * zeta * self.strong + (zeta * self.smooth).powi(2);
        ConditionC::new(zeta, square.max(0.0).sqrt())
    }

    /// The best choice for twice differentiable f: `zeta = 2 / (m + M)`, `rho = (M - m) / (M + m)`. Needs m > 0.
    ///
    /// The eigenvalues of `I - zeta H` lie in \[1 - zeta M, 1 - zeta m\], and this zeta centres that interval at 0.
    pub fn sharp_condition_c(&self) -> Result<ConditionC> {
        self.check_strong()?;
        let sum = self.strong + self.smooth;
        ConditionC::new(2.0 / sum, (self.smooth - self.strong) / sum)
    }

    fn check_strong(&self) -> Result<()> {
        let expected = "positive for Condition C to hold (add a ridge, or fewer columns)";
        check_option(self.strong > 0.0, "strong", self.strong, expected)
    }
}

/// Condition C(s, zeta, rho): for |F| <= s and x, y with supports inside F,
///
/// ```text
/// ||x - y - zeta (grad_F f(x) - grad_F f(y))|| <= rho ||x - y||
/// ```
///
/// For least squares at zeta = 1 this is the restricted isometry property. The s it is known for is the caller's to
/// keep in mind: 2k for Theorem 1, 2k + kbar for Theorem 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConditionC {
    /// zeta > 0.
    pub zeta: f64,
    /// 0 <= rho < 1.
    pub rho: f64,
}

/// The open interval of steps for which a method contracts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepWindow {
    /// Steps must be longer than this.
    pub low: f64,
    /// Steps must be shorter than this (zeta).
    pub high: f64,
}

impl ConditionC {
    /// `Err` unless zeta > 0 and 0 <= rho < 1.
    pub fn new(zeta: f64, rho: f64) -> Result<Self> {
        check_option(zeta > 0.0 && zeta.is_finite(), "zeta", zeta, "positive and finite")?;
        check_option((0.0..1.0).contains(&rho), "rho", rho, "at least 0 and less than 1")?;
        Ok(Self { zeta, rho })
    }

    /// What the condition implies: `(1-rho)/zeta ||x-y|| <= ||grad_F f(x) - grad_F f(y)|| <= (1+rho)/zeta ||x-y||`.
    pub fn curvature(&self) -> Curvature {
        Curvature { strong: (1.0 - self.rho) / self.zeta, smooth: (1.0 + self.rho) / self.zeta }
    }

    /// Theorem 1 (s = 2k): with `eta < zeta / (1 + rho)` GraHTP ends after finitely many iterations and FGraHTP's f
    /// converges.
    pub fn step_bound(&self) -> f64 {
        self.zeta / (1.0 + self.rho)
    }

    /// Theorem 1 (s = 2k): an iteration with step `eta` below [`step_bound`](Self::step_bound) lowers f by at least
    /// `(zeta - eta (1 + rho)) / (2 zeta eta) moved^2`, where `moved = ||H_k(x - eta grad f(x)) - x||`.
    pub fn guaranteed_decrease(&self, eta: f64, moved: f64) -> Result<f64> {
        let ok = eta > 0.0 && eta < self.step_bound();
        check_option(ok, "step", eta, "positive and less than zeta / (1 + rho)")?;
        check_option(moved >= 0.0, "moved", moved, "non-negative")?;
        Ok((self.zeta - eta * (1.0 + self.rho)) / (2.0 * self.zeta * eta) * moved * moved)
    }

    /// `mu1 = sqrt(2) (1 - eta/zeta + (2 - eta/zeta) rho) / (1 - rho)`, for 0 < eta < zeta; 1 or more promises nothing.
    pub fn grahtp_factor(&self, eta: f64) -> Result<f64> {
        Ok(SQRT_2 * self.spill(eta)? / (1.0 - self.rho))
    }

    /// `mu2 = 2 (1 - eta/zeta + (2 - eta/zeta) rho)`, for 0 < eta < zeta; 1 or more promises nothing.
    pub fn fgrahtp_factor(&self, eta: f64) -> Result<f64> {
        Ok(2.0 * self.spill(eta)?)
    }

    /// Theorem 2 for GraHTP (s = 2k + kbar, `||xbar||_0 = kbar <= k`): with `eta` inside
    /// [`grahtp_steps`](Self::grahtp_steps),
    ///
    /// ```text
    /// ||x_t - xbar|| <= mu1^t ||x_0 - xbar|| + (2 eta + zeta) / ((1 - mu1) (1 - rho)) ||grad_k f(xbar)||
    /// ```
    pub fn grahtp(&self, eta: f64) -> Result<Contraction> {
        let factor = self.grahtp_factor(eta)?;
        check_option(factor < 1.0, "step", eta, "inside ConditionC::grahtp_steps")?;
        let gradient_weight = (2.0 * eta + self.zeta) / ((1.0 - factor) * (1.0 - self.rho));
        Ok(Contraction { factor, gradient_weight })
    }

    /// Theorem 2 for FGraHTP (s = 2k + kbar, `||xbar||_0 = kbar <= k`): with `eta` inside
    /// [`fgrahtp_steps`](Self::fgrahtp_steps),
    ///
    /// ```text
    /// ||x_t - xbar|| <= mu2^t ||x_0 - xbar|| + 2 eta / (1 - mu2) ||grad_s f(xbar)||
    /// ```
    pub fn fgrahtp(&self, eta: f64) -> Result<Contraction> {
        let factor = self.fgrahtp_factor(eta)?;
        check_option(factor < 1.0, "step", eta, "inside ConditionC::fgrahtp_steps")?;
        Ok(Contraction { factor, gradient_weight: 2.0 * eta / (1.0 - factor) })
    }

    /// The steps with mu1 < 1: `((2 sqrt2 + 1) rho + sqrt2 - 1) / (sqrt2 (1 + rho)) < eta / zeta < 1`; `None` when
    /// there are none, that is unless `rho < 1 / (sqrt2 + 1)`.
    pub fn grahtp_steps(&self) -> Option<StepWindow> {
        self.window(((2.0 * SQRT_2 + 1.0) * self.rho + SQRT_2 - 1.0) / (SQRT_2 * (1.0 + self.rho)))
    }

    /// The steps with mu2 < 1: `(1 + 4 rho) / (2 (1 + rho)) < eta / zeta < 1`; `None` when there are none, that is
    /// unless `rho < 1/2`.
    pub fn fgrahtp_steps(&self) -> Option<StepWindow> {
        self.window((1.0 + 4.0 * self.rho) / (2.0 * (1.0 + self.rho)))
    }

    fn window(&self, low: f64) -> Option<StepWindow> {
        (low < 1.0).then_some(StepWindow { low: low * self.zeta, high: self.zeta })
    }

    /// What both factors are made of: `1 - eta/zeta + (2 - eta/zeta) rho`.
    fn spill(&self, eta: f64) -> Result<f64> {
        check_option(eta > 0.0 && eta < self.zeta, "step", eta, "positive and less than zeta")?;
        let share = eta / self.zeta;
        Ok(1.0 - share + (2.0 - share) * self.rho)
    }
}

/// Geometric approach to a sparse target: `||x_t - xbar|| <= factor^t ||x_0 - xbar|| + gradient_weight ||grad_s
/// f(xbar)||`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contraction {
    /// mu < 1.
    pub factor: f64,
    /// What multiplies the target's truncated gradient: its k largest entries for GraHTP, its 2k + kbar largest for
    /// FGraHTP.
    pub gradient_weight: f64,
}

impl Contraction {
    /// The bound after t iterations, from `||x_0 - xbar||` and the norm of the target's truncated gradient.
    pub fn bound(&self, t: usize, start_error: f64, gradient_norm: f64) -> f64 {
        let t = i32::try_from(t).unwrap_or(i32::MAX);
        self.factor.powi(t) * start_error + self.gradient_weight * gradient_norm
    }

    /// GraHTP on a target with `grad f(xbar) = 0`: x_t = xbar for every t from this one on,
    /// `floor(ln(xmin / ||x_0 - xbar||) / ln mu1) + 1` and at least 1, with xmin the least non-zero |xbar_i|.
    ///
    /// From there on `||x_t - xbar|| < xmin`, so the support of x_t contains that of xbar and debiasing lands on xbar.
    pub fn recovery_iterations(&self, least: f64, start_error: f64) -> Result<usize> {
        check_option(least > 0.0 && least.is_finite(), "least", least, "positive and finite")?;
        check_option(start_error >= 0.0 && start_error.is_finite(), "start_error", start_error, "non-negative")?;
        if start_error < least {
            return Ok(1);
        }
        Ok(((least / start_error).ln() / self.factor.ln()).floor() as usize + 1)
    }
}
