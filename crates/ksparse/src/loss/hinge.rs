//! `l(z, y) = max(0, 1 - m)`, m = y z: the loss of the support vector machine. Convex, not smooth.
//!
//! `l*(a) = y a` for y a in [-1, 0].

use super::{Conjugate, Huber, Local, Loss, Smoothness, TargetKind, registry::Family};

/// The hinge loss.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Hinge;

/// Its entry in the table of losses.
pub(super) const FAMILY: Family = Family {
    formula: "max(0, 1 - m)",
    about: "support vector machine; with a ridge, by auto, diht, sdiht; heuristically grahtp, htp, iht, svrght",
    ..Family::new("hinge", TargetKind::Sign, |_| Ok(Box::new(Hinge)))
};

impl Loss for Hinge {
    fn name(&self) -> &'static str {
        "hinge"
    }

    fn target(&self) -> TargetKind {
        TargetKind::Sign
    }

    /// At the corner the subderivative 0 is returned.
    fn at(&self, z: f64, y: f64) -> Local {
        let slack = 1.0 - y * z;
        Local { value: slack.max(0.0), derivative: if slack > 0.0 { -y } else { 0.0 }, curvature: 0.0 }
    }

    fn smoothness(&self) -> Smoothness {
        Smoothness::Corners
    }

    fn curvature_jumps(&self) -> bool {
        true
    }

    fn conjugate(&self) -> &dyn Conjugate {
        self
    }

    fn rounded(&self, width: f64) -> Option<Box<dyn Loss>> {
        Huber::new(width).ok().map(|huber| Box::new(huber) as Box<dyn Loss>)
    }
}

impl Conjugate for Hinge {
    fn value(&self, a: f64, y: f64) -> f64 {
        let s = y * a;
        if (-1.0..=0.0).contains(&s) { s } else { f64::INFINITY }
    }

    fn derivative(&self, _a: f64, y: f64) -> f64 {
        y
    }

    fn project(&self, a: f64, y: f64) -> f64 {
        y * (y * a).clamp(-1.0, 0.0)
    }

    fn strong_convexity(&self) -> f64 {
        0.0
    }

    fn proximal(&self, a: f64, z: f64, weight: f64, y: f64) -> f64 {
        y * (y * a + (y * z - 1.0) / weight).clamp(-1.0, 0.0)
    }
}
