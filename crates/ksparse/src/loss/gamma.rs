//! Positive numbers with the log link: y has the gamma distribution with mean exp(z) and any shape, and l is half its
//! unit deviance, `l(z, y) = y exp(-z) + z - 1 - log y`, never negative and 0 at exp(z) = y.
//!
//! `l' = 1 - y exp(-z)`, `l'' = y exp(-z)`, which no bound holds; with `u = 1 - a >= 0`,
//! `l*(a) = u log u - u - u log y + 1 + log y`.

use super::entropy::{at_zero, entropy, proximal};
use super::{Conjugate, Local, Loss, Smoothness, TargetKind, registry::Family};

/// The gamma loss, for positive numbers whose spread grows with their mean: costs, waiting times.
///
/// ```
/// use ksparse::loss::{Gamma, Loss};
/// assert_eq!(Gamma.value(0.0, 1.0), 0.0); // a mean of 1 for a 1
/// assert_eq!(Gamma.at(0.0, 3.0).derivative, -2.0);
/// assert!(Gamma.check_target(&[3.0, 0.0]).is_err());
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gamma;

/// Its entry in the table of losses.
pub(super) const FAMILY: Family = Family {
    formula: "y exp(-z) + z, less its minimum",
    about: "positive numbers: y is gamma with mean exp(z)",
    ..Family::new("gamma", TargetKind::Positive, |_| Ok(Box::new(Gamma)))
};

impl Loss for Gamma {
    fn name(&self) -> &'static str {
        "gamma"
    }

    fn target(&self) -> TargetKind {
        TargetKind::Positive
    }

    fn at(&self, z: f64, y: f64) -> Local {
        let share = y * (-z).exp();
        Local { value: share + z - 1.0 - y.ln(), derivative: 1.0 - share, curvature: share }
    }

    fn smoothness(&self) -> Smoothness {
        Smoothness::Unbounded
    }

    fn absorb(&self, offset: f64, y: f64) -> Option<(f64, f64)> {
        Some((y * (-offset).exp(), 1.0))
    }

    fn mean(&self, z: f64) -> f64 {
        z.exp()
    }

    fn conjugate(&self) -> &dyn Conjugate {
        self
    }
}

impl Conjugate for Gamma {
    fn value(&self, a: f64, y: f64) -> f64 {
        if a > 1.0 {
            return f64::INFINITY;
        }
        entropy(1.0 - a) + a * y.ln() + 1.0
    }

    fn derivative(&self, a: f64, y: f64) -> f64 {
        y.ln() - at_zero(1.0 - a, f64::NEG_INFINITY, f64::ln)
    }

    fn project(&self, a: f64, _y: f64) -> f64 {
        a.min(1.0)
    }

    fn strong_convexity(&self) -> f64 {
        0.0
    }

    fn proximal(&self, a: f64, z: f64, weight: f64, y: f64) -> f64 {
        // In u = 1 - b the same problem as that of counts, with log y - z for z.
        1.0 - proximal(1.0 - a, y.ln() - z, weight)
    }

    fn size(&self, a: f64, y: f64) -> f64 {
        let u = (1.0 - a).max(0.0);
        u * (1.0 + at_zero(u, 0.0, |u| u.ln().abs())) + a.abs() * y.ln().abs() + 1.0
    }
}
