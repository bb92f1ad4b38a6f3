//! Huber's loss of the residual r = z - y: `l = r^2 / 2` for |r| <= d, `d |r| - d^2 / 2` beyond: a squared error that
//! does not let a few wild targets decide.
//!
//! `l' = clamp(r, -d, d)`, `l''` = 1 within d, else 0; `l*(a) = a^2 / 2 + a y` for |a| <= d. (The
//! [`Huber`](super::Huber) of this library is another loss, the smoothed hinge of classification.)

use super::{
    Conjugate, Local, Loss, Smoothness, TargetKind,
    registry::{Family, Parameter},
};
use crate::error::{Result, check_option};

/// Huber's loss for regression.
///
/// ```
/// use ksparse::loss::{Loss, Robust};
/// let loss = Robust::new(1.0)?;
/// assert_eq!(loss.value(3.0, 2.5), 0.125); // within the width: half the square
/// assert_eq!(loss.value(3.0, -7.0), 9.5); // beyond: as the distance
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Robust {
    width: f64,
}

/// Its entry in the table of losses.
pub(super) const FAMILY: Family = Family {
    formula: "r^2 / 2, d |r| - d^2 / 2 beyond d",
    about: "regression (r = y - z) in which wild targets do not decide; d is its width",
    parameter: Some(Parameter {
        name: "width",
        about: "Residuals beyond this count by their size, not by their square, in the robust loss",
        default: EFFICIENT,
    }),
    ..Family::new("robust", TargetKind::Real, |width| Ok(Box::new(width.map_or(Ok(Robust::default()), Robust::new)?)))
};

/// With errors of deviation 1 that are normal after all, this width costs 5 % of the information (Huber, Ronchetti,
/// "Robust Statistics", 2009).
const EFFICIENT: f64 = 1.345;

impl Default for Robust {
    /// Width 1.345: for residuals of deviation 1.
    fn default() -> Self {
        Self { width: EFFICIENT }
    }
}

impl Robust {
    /// Quadratic for residuals up to `width`.
    pub fn new(width: f64) -> Result<Self> {
        check_option(width > 0.0 && width.is_finite(), "robust width", width, "positive and finite")?;
        Ok(Self { width })
    }

    /// The width for residuals of this deviation: 1.345 times it.
    pub fn of_deviation(deviation: f64) -> Result<Self> {
        Self::new(EFFICIENT * deviation)
    }

    /// The width.
    pub fn width(&self) -> f64 {
        self.width
    }
}

impl Loss for Robust {
    fn name(&self) -> &'static str {
        "robust"
    }

    fn target(&self) -> TargetKind {
        TargetKind::Real
    }

    fn at(&self, z: f64, y: f64) -> Local {
        let (r, d) = (z - y, self.width);
        if r.abs() <= d {
            Local { value: 0.5 * r * r, derivative: r, curvature: 1.0 }
        } else {
            Local { value: d * (r.abs() - 0.5 * d), derivative: r.clamp(-d, d), curvature: 0.0 }
        }
    }

    fn smoothness(&self) -> Smoothness {
        Smoothness::Bounded(1.0)
    }

    fn of_residual(&self) -> bool {
        true
    }

    fn curvature_jumps(&self) -> bool {
        true
    }

    fn conjugate(&self) -> &dyn Conjugate {
        self
    }
}

impl Conjugate for Robust {
    fn value(&self, a: f64, y: f64) -> f64 {
        if a.abs() <= self.width { 0.5 * a * a + a * y } else { f64::INFINITY }
    }

    fn derivative(&self, a: f64, y: f64) -> f64 {
        a + y
    }

    fn project(&self, a: f64, _y: f64) -> f64 {
        a.clamp(-self.width, self.width)
    }

    fn strong_convexity(&self) -> f64 {
        1.0
    }

    fn proximal(&self, a: f64, z: f64, weight: f64, y: f64) -> f64 {
        ((z - y + weight * a) / (1.0 + weight)).clamp(-self.width, self.width)
    }
}
