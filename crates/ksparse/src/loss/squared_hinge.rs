//! `l(z, y) = max(0, 1 - m)^2 / 2`, m = y z: the loss of the L2-SVM.
//!
//! `l' = -y max(0, 1 - m)`, `l''` = 1 where m < 1, else 0 (generalised); `l*(a) = b^2 / 2 - b` with `b = -y a >= 0`.

use super::{Conjugate, Local, Loss, Smoothness, TargetKind, registry::Family};

/// The squared hinge loss.
///
/// ```
/// use ksparse::loss::{Loss, SquaredHinge};
/// assert_eq!(SquaredHinge.value(0.0, 1.0), 0.5);
/// assert_eq!(SquaredHinge.value(1.0, 1.0), 0.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SquaredHinge;

/// Its entry in the table of losses.
pub(super) const FAMILY: Family = Family {
    formula: "max(0, 1 - m)^2 / 2",
    about: "L2 support vector machine",
    ..Family::new("squared-hinge", TargetKind::Sign, |_| Ok(Box::new(SquaredHinge)))
};

impl Loss for SquaredHinge {
    fn name(&self) -> &'static str {
        "squared-hinge"
    }

    fn target(&self) -> TargetKind {
        TargetKind::Sign
    }

    fn at(&self, z: f64, y: f64) -> Local {
        let slack = (1.0 - y * z).max(0.0);
        Local { value: 0.5 * slack * slack, derivative: -y * slack, curvature: if slack > 0.0 { 1.0 } else { 0.0 } }
    }

    fn smoothness(&self) -> Smoothness {
        Smoothness::Bounded(1.0)
    }

    fn curvature_jumps(&self) -> bool {
        true
    }

    fn conjugate(&self) -> &dyn Conjugate {
        self
    }
}

impl Conjugate for SquaredHinge {
    fn value(&self, a: f64, y: f64) -> f64 {
        let b = -y * a;
        if b >= 0.0 { 0.5 * b * b - b } else { f64::INFINITY }
    }

    fn derivative(&self, a: f64, y: f64) -> f64 {
        a + y
    }

    fn project(&self, a: f64, y: f64) -> f64 {
        -y * (-y * a).max(0.0)
    }

    fn strong_convexity(&self) -> f64 {
        1.0
    }

    fn proximal(&self, a: f64, z: f64, weight: f64, y: f64) -> f64 {
        -y * ((1.0 - y * z - weight * (y * a)) / (1.0 + weight)).max(0.0)
    }
}
