//! `l(z, y) = log(1 + exp(-c m))`, m = y z, y in {-1, +1}; c = 1 is the usual one, some papers use c = 2.
//!
//! `l' = -c y s`, `l'' = c^2 s (1 - s)` with `s = 1 / (1 + exp(c m))`;
//! `l*(a) = b log b + (1 - b) log(1 - b)` with `b = -y a / c` in [0, 1].

use super::{
    Conjugate, Local, Loss, Smoothness, TargetKind,
    registry::{Family, Parameter},
};
use crate::error::{Result, check_option};
use crate::kernels::logistic::{self as kernels, Samples};

/// The logistic loss.
///
/// ```
/// use ksparse::loss::{Logistic, Loss};
/// let loss = Logistic::default();
/// assert_eq!(loss.value(0.0, 1.0), 2f64.ln());
/// assert_eq!(loss.probability(0.0), 0.5);
/// assert_eq!(Logistic::new(2.0)?.value(1.5, -1.0), loss.value(3.0, -1.0));
/// assert!(loss.check_target(&[0.0, 1.0]).is_err()); // labels are -1 and +1
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Logistic {
    scale: f64,
}

/// Its entry in the table of losses.
pub(super) const FAMILY: Family = Family {
    formula: "log(1 + exp(-c m))",
    about: "classification with probabilities; c is its scale",
    parameter: Some(Parameter {
        name: "scale",
        about: "The c of the logistic loss log(1 + exp(-c y z)): 1 is the usual one, 2 that of the GraHTP papers",
        default: 1.0,
    }),
    ..Family::new("logistic", TargetKind::Sign, |c| Ok(Box::new(c.map_or(Ok(Logistic::default()), Logistic::new)?)))
};

impl Default for Logistic {
    /// Scale 1: the loss of ordinary logistic regression.
    fn default() -> Self {
        Self { scale: 1.0 }
    }
}

impl Logistic {
    /// `log(1 + exp(-scale m))`.
    pub fn new(scale: f64) -> Result<Self> {
        check_option(scale > 0.0 && scale.is_finite(), "logistic scale", scale, "positive and finite")?;
        Ok(Self { scale })
    }

    /// c.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// P(y = +1) at prediction z.
    pub fn probability(&self, z: f64) -> f64 {
        1.0 / (1.0 + (-self.scale * z).exp())
    }
}

impl Loss for Logistic {
    fn name(&self) -> &'static str {
        "logistic"
    }

    fn target(&self) -> TargetKind {
        TargetKind::Sign
    }

    fn at(&self, z: f64, y: f64) -> Local {
        let c = self.scale;
        let [value, derivative, curvature] = kernels::logistic(c * y * z);
        Local { value, derivative: c * y * derivative, curvature: c * c * curvature }
    }

    fn value(&self, z: f64, y: f64) -> f64 {
        kernels::logistic(self.scale * y * z)[0]
    }

    fn evaluate(&self, z: &[f64], y: &[f64], weights: &[f64], derivatives: &mut [f64], curvatures: &mut [f64]) -> f64 {
        kernels::evaluate(Samples { scale: self.scale, z, y, weights }, derivatives, curvatures)
    }

    fn total(&self, z: &[f64], y: &[f64], weights: &[f64]) -> f64 {
        kernels::total(Samples { scale: self.scale, z, y, weights })
    }

    fn smoothness(&self) -> Smoothness {
        Smoothness::Bounded(self.scale * self.scale / 4.0)
    }

    fn has_tail(&self) -> bool {
        true
    }

    fn is_likelihood(&self) -> bool {
        true
    }

    fn probability(&self, z: f64) -> Option<f64> {
        Some(self.probability(z))
    }

    fn conjugate(&self) -> &dyn Conjugate {
        self
    }
}

/// `b log b`, 0 at 0.
fn entropy(b: f64) -> f64 {
    if b > 0.0 { b * b.ln() } else { 0.0 }
}

impl Conjugate for Logistic {
    fn value(&self, a: f64, y: f64) -> f64 {
        let b = -y * a / self.scale;
        if (0.0..=1.0).contains(&b) { entropy(b) + entropy(1.0 - b) } else { f64::INFINITY }
    }

    fn derivative(&self, a: f64, y: f64) -> f64 {
        let b = -y * a / self.scale;
        -y / self.scale * (b.ln() - (-b).ln_1p())
    }

    fn project(&self, a: f64, y: f64) -> f64 {
        -y * self.scale * (-y * a / self.scale).clamp(0.0, 1.0)
    }

    fn strong_convexity(&self) -> f64 {
        4.0 / (self.scale * self.scale)
    }

    /// The answer is l'(t) at the root t of `t + weight l'(t) = z + weight a`, which Newton's method finds inside a
    /// bracket: digits are kept at both ends of the domain, where the slope of l* is infinite.
    fn proximal(&self, a: f64, z: f64, weight: f64, y: f64) -> f64 {
        let c = self.scale;
        let target = y * (z + weight * a);
        let share = |m: f64| {
            let e = (-(c * m).abs()).exp();
            if m >= 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
        };
        // In the margin m = y t: m - c weight s(m) rises, with s(m) = 1 / (1 + exp(c m)) between 0 and 1.
        let (mut low, mut high) = (target, target + c * weight);
        let mut m = low + c * weight * share(0.5 * (low + high));
        let mut before = f64::INFINITY;
        for _ in 0..100 {
            let s = share(m);
            let residue = m - target - c * weight * s;
            if residue > 0.0 {
                high = m
            } else {
                low = m
            }
            // As near as rounding lets it come.
            let near = 2.0 * f64::EPSILON * (m.abs() + target.abs() + c * weight * s);
            if residue.abs() <= near || high - low <= f64::EPSILON * m.abs() {
                break;
            }
            // Newton's steps may go round in circles over the bend of s: where they do not halve what is left, the
            // bracket is.
            let newton = m - residue / (1.0 + c * c * weight * s * (1.0 - s));
            let halves = residue.abs() <= 0.5 * before && newton > low && newton < high;
            before = residue.abs();
            m = if halves { newton } else { 0.5 * (low + high) };
        }
        -c * y * share(m)
    }
}
