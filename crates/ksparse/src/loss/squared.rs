//! `l(z, y) = s (y - z)^2 / 2`; s = 1 is half the squared error, s = 2 the squared error itself.
//!
//! `l' = s (z - y)`, `l'' = s`, `l*(a) = a^2 / (2 s) + a y`.

use super::{
    Conjugate, Local, Loss, Smoothness, TargetKind,
    registry::{Family, Parameter},
};
use crate::error::{Result, check_option};

/// The squared loss.
///
/// ```
/// use ksparse::loss::{Loss, Squared};
/// assert_eq!(Squared::default().value(1.0, 4.0), 4.5);
/// assert_eq!(Squared::new(2.0)?.value(1.0, 4.0), 9.0);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Squared {
    scale: f64,
}

/// Its entry in the table of losses.
pub(super) const FAMILY: Family = Family {
    formula: "c (y - z)^2 / 2",
    about: "regression; c is its scale",
    parameter: Some(Parameter {
        name: "scale",
        about: "The c of the squared loss c (y - z)^2 / 2: 1 is the usual one, 2 that of the DIHT paper",
        default: 1.0,
    }),
    ..Family::new("squared", TargetKind::Real, |c| Ok(Box::new(c.map_or(Ok(Squared::default()), Squared::new)?)))
};

impl Default for Squared {
    /// `(y - z)^2 / 2`.
    fn default() -> Self {
        Self { scale: 1.0 }
    }
}

impl Squared {
    /// `scale (y - z)^2 / 2`.
    pub fn new(scale: f64) -> Result<Self> {
        check_option(scale > 0.0 && scale.is_finite(), "squared scale", scale, "positive and finite")?;
        Ok(Self { scale })
    }
}

impl Loss for Squared {
    fn name(&self) -> &'static str {
        "squared"
    }

    fn target(&self) -> TargetKind {
        TargetKind::Real
    }

    fn at(&self, z: f64, y: f64) -> Local {
        let e = z - y;
        Local { value: 0.5 * self.scale * e * e, derivative: self.scale * e, curvature: self.scale }
    }

    fn smoothness(&self) -> Smoothness {
        Smoothness::Bounded(self.scale)
    }

    fn is_quadratic(&self) -> bool {
        true
    }

    fn of_residual(&self) -> bool {
        true
    }

    fn conjugate(&self) -> &dyn Conjugate {
        self
    }
}

impl Conjugate for Squared {
    fn value(&self, a: f64, y: f64) -> f64 {
        a * a / (2.0 * self.scale) + a * y
    }

    fn derivative(&self, a: f64, y: f64) -> f64 {
        a / self.scale + y
    }

    fn project(&self, a: f64, _y: f64) -> f64 {
        a
    }

    fn strong_convexity(&self) -> f64 {
        1.0 / self.scale
    }

    fn proximal(&self, a: f64, z: f64, weight: f64, y: f64) -> f64 {
        (z - y + weight * a) / (1.0 / self.scale + weight)
    }
}
