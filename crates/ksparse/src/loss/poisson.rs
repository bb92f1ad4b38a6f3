//! Counts with the log link: y is Poisson with mean exp(z), and l is half its deviance,
//! `l(z, y) = exp(z) - y z + y log y - y`, never negative and 0 at exp(z) = y.
//!
//! An offset o (the logarithm of an exposure) is absorbed: `l(z + o, y) = exp(o) l(z, y exp(-o))`.
//!
//! `l' = exp(z) - y`, `l'' = exp(z)`, which no bound holds; with `u = a + y >= 0`,
//! `l*(a) = u log u - u - y log y + y`.

use super::entropy::{at_zero, entropy, proximal};
use super::{Conjugate, Local, Loss, Smoothness, TargetKind, registry::Family};

/// The Poisson loss, for counts: 0, 1, 2, ..., or other numbers that are not negative.
///
/// ```
/// use ksparse::loss::{Loss, Poisson};
/// assert_eq!(Poisson.value(0.0, 1.0), 0.0); // a mean of 1 for a count of 1
/// assert_eq!(Poisson.value(0.0, 0.0), 1.0);
/// assert_eq!(Poisson.mean(2f64.ln()), 2.0);
/// assert!(Poisson.check_target(&[3.0, -1.0]).is_err());
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Poisson;

/// Its entry in the table of losses. Rows whose counts are all 0 pull their predictions to minus infinity, so there is
/// a ridge by default.
pub(super) const FAMILY: Family = Family {
    formula: "exp(z) - y z, less its minimum",
    about: "counts: y is Poisson with mean exp(z)",
    default_ridge: 1e-5,
    ..Family::new("poisson", TargetKind::Count, |_| Ok(Box::new(Poisson)))
};

impl Loss for Poisson {
    fn name(&self) -> &'static str {
        "poisson"
    }

    fn target(&self) -> TargetKind {
        TargetKind::Count
    }

    fn at(&self, z: f64, y: f64) -> Local {
        let mean = z.exp();
        Local { value: mean - y * z + entropy(y), derivative: mean - y, curvature: mean }
    }

    fn smoothness(&self) -> Smoothness {
        Smoothness::Unbounded
    }

    fn is_likelihood(&self) -> bool {
        true
    }

    fn absorb(&self, offset: f64, y: f64) -> Option<(f64, f64)> {
        Some((y * (-offset).exp(), offset.exp()))
    }

    fn mean(&self, z: f64) -> f64 {
        z.exp()
    }

    fn conjugate(&self) -> &dyn Conjugate {
        self
    }
}

impl Conjugate for Poisson {
    fn value(&self, a: f64, y: f64) -> f64 {
        if a < -y { f64::INFINITY } else { entropy(a + y) - entropy(y) }
    }

    fn derivative(&self, a: f64, y: f64) -> f64 {
        at_zero(a + y, f64::NEG_INFINITY, f64::ln)
    }

    fn project(&self, a: f64, y: f64) -> f64 {
        a.max(-y)
    }

    fn strong_convexity(&self) -> f64 {
        0.0
    }

    fn proximal(&self, a: f64, z: f64, weight: f64, y: f64) -> f64 {
        proximal(a + y, z, weight) - y
    }

    fn size(&self, a: f64, y: f64) -> f64 {
        let part = |u: f64| u * (1.0 + at_zero(u, 0.0, |u| u.ln().abs()));
        part((a + y).max(0.0)) + part(y)
    }
}
