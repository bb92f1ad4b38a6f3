//! The hinge with its corner rounded over a width gamma: with m = y z,
//! `l = 0` for m >= 1, `1 - m - gamma/2` for m < 1 - gamma, `(1 - m)^2 / (2 gamma)` between.
//!
//! `l' = -y min(1, max(0, 1 - m) / gamma)`, `l''` = 1/gamma between, else 0;
//! `l*(a) = y a + gamma a^2 / 2` for y a in [-1, 0].

use super::{
    Conjugate, Local, Loss, Smoothness, TargetKind,
    registry::{Family, Parameter},
};
use crate::error::{Result, check_option};

/// The Huber loss for classification (smoothed hinge).
///
/// ```
/// use ksparse::loss::{Huber, Loss};
/// let loss = Huber::new(0.5)?;
/// assert_eq!(loss.value(-1.0, 1.0), 1.75); // straight part: 1 - m - gamma / 2
/// assert_eq!(loss.value(0.75, 1.0), 0.0625); // rounded part: (1 - m)^2 / (2 gamma)
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    gamma: f64,
}

/// Its entry in the table of losses.
pub(super) const FAMILY: Family = Family {
    formula: "the hinge, smoothed",
    about: "support vector machine with a gradient everywhere; smoothed over a width gamma",
    parameter: Some(Parameter {
        name: "gamma",
        about: "Width of the quadratic piece of the Huber (smoothed hinge) loss",
        default: 0.25,
    }),
    ..Family::new("huber", TargetKind::Sign, |gamma| Ok(Box::new(gamma.map_or(Ok(Huber::default()), Huber::new)?)))
};

impl Default for Huber {
    /// Width 0.25.
    fn default() -> Self {
        Self { gamma: 0.25 }
    }
}

impl Huber {
    /// Rounded over a width `gamma`.
    pub fn new(gamma: f64) -> Result<Self> {
        check_option(gamma > 0.0 && gamma.is_finite(), "huber gamma", gamma, "positive and finite")?;
        Ok(Self { gamma })
    }

    /// The width.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }
}

impl Loss for Huber {
    fn name(&self) -> &'static str {
        "huber"
    }

    fn target(&self) -> TargetKind {
        TargetKind::Sign
    }

    fn at(&self, z: f64, y: f64) -> Local {
        let slack = 1.0 - y * z;
        if slack <= 0.0 {
            Local { value: 0.0, derivative: 0.0, curvature: 0.0 }
        } else if slack > self.gamma {
            Local { value: slack - 0.5 * self.gamma, derivative: -y, curvature: 0.0 }
        } else {
            let t = slack / self.gamma;
            Local { value: 0.5 * slack * t, derivative: -y * t, curvature: 1.0 / self.gamma }
        }
    }

    fn smoothness(&self) -> Smoothness {
        Smoothness::Bounded(1.0 / self.gamma)
    }

    fn curvature_jumps(&self) -> bool {
        true
    }

    fn conjugate(&self) -> &dyn Conjugate {
        self
    }
}

impl Conjugate for Huber {
    fn value(&self, a: f64, y: f64) -> f64 {
        let s = y * a;
        if (-1.0..=0.0).contains(&s) { s + 0.5 * self.gamma * a * a } else { f64::INFINITY }
    }

    fn derivative(&self, a: f64, y: f64) -> f64 {
        y + self.gamma * a
    }

    fn project(&self, a: f64, y: f64) -> f64 {
        y * (y * a).clamp(-1.0, 0.0)
    }

    fn strong_convexity(&self) -> f64 {
        self.gamma
    }

    fn proximal(&self, a: f64, z: f64, weight: f64, y: f64) -> f64 {
        y * ((y * z - 1.0 + weight * (y * a)) / (self.gamma + weight)).clamp(-1.0, 0.0)
    }
}
