//! Losses of a linear predictor. A loss never sees the design.
//!
//! | loss | l(z, y), margin m = y z | l'' | conjugate l*(a) | domain of a |
//! |---|---|---|---|---|
//! | [`Squared`] (scale s) | s (y - z)^2 / 2 | s | a^2 / (2 s) + a y | all |
//! | [`Logistic`] (scale c) | log(1 + exp(-c m)) | <= c^2/4 | b log b + (1-b) log(1-b), b = -y a / c | b in \[0, 1\] |
//! | [`SquaredHinge`] | max(0, 1 - m)^2 / 2 | 0 or 1 | b^2 / 2 - b, b = -y a | b >= 0 |
//! | [`Huber`] (gamma) | 0, (1-m)^2/(2 gamma), 1 - m - gamma/2 | 0, 1/gamma | y a + gamma a^2 / 2 | y a in \[-1, 0\] |
//! | [`Robust`] (width d), r = z - y | r^2 / 2 or d abs(r) - d^2 / 2 | 0 or 1 | a^2 / 2 + a y | a in \[-d, d\] |
//! | [`Poisson`] | exp(z) - y z + y log y - y | exp(z) | u log u - u - y log y + y, u = a + y | u >= 0 |
//! | [`Gamma`] | y exp(-z) + z - 1 - log y | y exp(-z) | u log u - u + a log y + 1, u = 1 - a | u >= 0 |
//! | [`Hinge`] | max(0, 1 - m) | none: not smooth | y a | y a in \[-1, 0\] |
//!
//! The conjugate is `l*(a) = sup_z (a z - l(z))`, so that `l(z) + l*(a) >= a z` (Fenchel-Young) with equality exactly
//! when a is a (sub)derivative of l at z.
//!
//! ```
//! use ksparse::loss::{self, Conjugate, Loss};
//! let hinge = loss::by_name("squared-hinge")?;
//! let at = hinge.at(0.25, 1.0); // margin 0.25, so 0.75 short of 1
//! assert_eq!((at.value, at.derivative, at.curvature), (0.28125, -0.75, 1.0));
//! let conjugate = hinge.conjugate().value(at.derivative, 1.0);
//! assert_eq!(at.value + conjugate, at.derivative * 0.25); // Fenchel-Young, tight
//! # Ok::<(), ksparse::Error>(())
//! ```

mod cox;
mod entropy;
mod gamma;
mod hinge;
mod huber;
mod joint;
mod logistic;
mod multinomial;
mod ordinal;
mod poisson;
mod registry;
mod responses;
mod robust;
mod squared;
mod squared_hinge;

pub use cox::{Baseline, Cox, Survival, Ties};
pub use gamma::Gamma;
pub use hinge::Hinge;
pub use huber::Huber;
pub use joint::{JointLoss, JointPoint};
pub use logistic::Logistic;
pub use multinomial::Multinomial;
pub use ordinal::Ordinal;
pub use poisson::Poisson;
pub use registry::{
    FAMILIES, Family, JOINT_FAMILIES, JOINT_RIDGE, JointFamily, Parameter, by_name, family, joint_family,
};
pub use responses::Responses;
pub use robust::Robust;
pub use squared::Squared;
pub use squared_hinge::SquaredHinge;

use crate::error::{Error, Result};

/// Value, first and second derivative of a loss at one prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Local {
    /// l(z, y).
    pub value: f64,
    /// dl/dz (a subderivative where there is a kink).
    pub derivative: f64,
    /// d2l/dz2 (generalised where it jumps).
    pub curvature: f64,
}

/// What targets a loss accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// Any finite number.
    Real,
    /// Labels -1 and +1.
    Sign,
    /// Numbers that are not negative.
    Count,
    /// Numbers above 0.
    Positive,
}

impl TargetKind {
    /// Whether targets are labels, not numbers.
    pub fn is_label(self) -> bool {
        self == Self::Sign
    }

    /// How many labels a target is one of; 0 for numbers.
    pub(crate) fn labels(self) -> usize {
        if self.is_label() { 2 } else { 0 }
    }

    /// Whether a finite number is such a target.
    fn accepts(self, y: f64) -> bool {
        match self {
            Self::Real => true,
            Self::Sign => y == 1.0 || y == -1.0,
            Self::Count => y >= 0.0,
            Self::Positive => y > 0.0,
        }
    }

    /// Which targets those are, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Real => "numbers",
            Self::Sign => "labels -1 and +1",
            Self::Count => "counts: numbers that are not negative",
            Self::Positive => "numbers above 0",
        }
    }
}

/// How much a function bends: a loss in its prediction, an objective along sparse directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Smoothness {
    /// Second derivatives (generalised ones where they jump) nowhere exceed this.
    Bounded(f64),
    /// It has a gradient everywhere, but no bound on the second derivatives is known, or there is none (an
    /// exponential).
    Unbounded,
    /// It has corners: subgradients only.
    Corners,
}

impl Smoothness {
    /// The bound, where there is one.
    pub fn bound(self) -> Option<f64> {
        match self {
            Self::Bounded(bound) => Some(bound),
            Self::Unbounded | Self::Corners => None,
        }
    }

    /// Whether there are places without a gradient.
    pub fn has_corners(self) -> bool {
        self == Self::Corners
    }
}

/// A convex loss l(z, y) of the prediction z.
pub trait Loss: Send + Sync + std::fmt::Debug {
    /// Its name, as the command line spells it.
    fn name(&self) -> &'static str;

    /// Which targets it accepts.
    fn target(&self) -> TargetKind;

    /// l and its first two derivatives in z.
    fn at(&self, z: f64, y: f64) -> Local;

    /// l alone.
    fn value(&self, z: f64, y: f64) -> f64 {
        self.at(z, y).value
    }

    /// The least L with l'' <= L, or why there is none.
    fn smoothness(&self) -> Smoothness;

    /// Whether l'' is one constant.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// Whether l is a function of z - y alone: predictions and targets may then be moved together.
    fn of_residual(&self) -> bool {
        false
    }

    /// Whether l'' jumps (losses made of pieces).
    fn curvature_jumps(&self) -> bool {
        false
    }

    /// Whether l falls for ever along some ray without reaching its infimum (logistic does: separable data have
    /// no minimiser without a ridge).
    fn has_tail(&self) -> bool {
        false
    }

    /// Whether l is a negative log-likelihood of y given z as it stands (logistic is; the squared loss, whose variance
    /// is unknown, is treated apart): information criteria need one.
    fn is_likelihood(&self) -> bool {
        false
    }

    /// `(y', w)` such that `l(z + offset, y) = w l(z, y')` for every z: an offset of the prediction as another target.
    /// `None` where there is no such thing (labels).
    fn absorb(&self, offset: f64, y: f64) -> Option<(f64, f64)> {
        self.of_residual().then_some((y - offset, 1.0))
    }

    /// What y is expected to be at z, for losses of numbers: z itself, or exp(z) with a log link.
    fn mean(&self, z: f64) -> f64 {
        z
    }

    /// The probability of the label +1 at z, for losses that are the likelihood of labels.
    fn probability(&self, _z: f64) -> Option<f64> {
        None
    }

    /// Its convex conjugate.
    fn conjugate(&self) -> &dyn Conjugate;

    /// For a loss that is not smooth: a smooth one at most `width / 2` below it, with the same dual domain (add `width
    /// a^2 / 2` to the conjugate).
    fn rounded(&self, _width: f64) -> Option<Box<dyn Loss>> {
        None
    }

    /// `sum_i weights[i] l(z_i, y_i)`, filling the weighted derivatives and curvatures.
    fn evaluate(&self, z: &[f64], y: &[f64], weights: &[f64], derivatives: &mut [f64], curvatures: &mut [f64]) -> f64 {
        let mut total = 0.0;
        for i in 0..z.len() {
            let local = self.at(z[i], y[i]);
            total += weighed(weights[i], local.value);
            derivatives[i] = weighed(weights[i], local.derivative);
            curvatures[i] = weighed(weights[i], local.curvature);
        }
        total
    }

    /// `sum_i weights[i] l(z_i, y_i)`.
    fn total(&self, z: &[f64], y: &[f64], weights: &[f64]) -> f64 {
        let mut total = 0.0;
        for i in 0..z.len() {
            total += weighed(weights[i], self.value(z[i], y[i]));
        }
        total
    }

    /// `Err` at the first target the loss does not accept.
    fn check_target(&self, y: &[f64]) -> Result<()> {
        crate::error::check_finite("target", y)?;
        let kind = self.target();
        match y.iter().position(|&v| !kind.accepts(v)) {
            Some(row) => Err(Error::Target { loss: self.name(), row, value: y[row], expected: kind.words() }),
            None => Ok(()),
        }
    }
}

/// What a sample adds: nothing at weight 0, though its loss overflow (nothing holds an exponential there).
pub(crate) fn weighed(weight: f64, loss: f64) -> f64 {
    if weight == 0.0 { 0.0 } else { weight * loss }
}

/// A pointer to a loss is a loss. Every method is passed on, those with a default too: a loss may do better than the
/// default.
macro_rules! delegate {
    ($pointer:ty) => {
        impl<L: Loss + ?Sized> Loss for $pointer {
            fn name(&self) -> &'static str {
                (**self).name()
            }
            fn target(&self) -> TargetKind {
                (**self).target()
            }
            fn at(&self, z: f64, y: f64) -> Local {
                (**self).at(z, y)
            }
            fn value(&self, z: f64, y: f64) -> f64 {
                (**self).value(z, y)
            }
            fn smoothness(&self) -> Smoothness {
                (**self).smoothness()
            }
            fn is_quadratic(&self) -> bool {
                (**self).is_quadratic()
            }
            fn of_residual(&self) -> bool {
                (**self).of_residual()
            }
            fn curvature_jumps(&self) -> bool {
                (**self).curvature_jumps()
            }
            fn has_tail(&self) -> bool {
                (**self).has_tail()
            }
            fn is_likelihood(&self) -> bool {
                (**self).is_likelihood()
            }
            fn absorb(&self, offset: f64, y: f64) -> Option<(f64, f64)> {
                (**self).absorb(offset, y)
            }
            fn mean(&self, z: f64) -> f64 {
                (**self).mean(z)
            }
            fn probability(&self, z: f64) -> Option<f64> {
                (**self).probability(z)
            }
            fn conjugate(&self) -> &dyn Conjugate {
                (**self).conjugate()
            }
            fn rounded(&self, width: f64) -> Option<Box<dyn Loss>> {
                (**self).rounded(width)
            }
            fn evaluate(&self, z: &[f64], y: &[f64], weights: &[f64], first: &mut [f64], second: &mut [f64]) -> f64 {
                (**self).evaluate(z, y, weights, first, second)
            }
            fn total(&self, z: &[f64], y: &[f64], weights: &[f64]) -> f64 {
                (**self).total(z, y, weights)
            }
            fn check_target(&self, y: &[f64]) -> Result<()> {
                (**self).check_target(y)
            }
        }
    };
}

delegate!(&L);
delegate!(Box<L>);

/// The convex conjugate of a loss, in the dual variable a of one sample.
pub trait Conjugate: Send + Sync {
    /// l*(a, y); infinite outside the domain.
    fn value(&self, a: f64, y: f64) -> f64;

    /// dl*/da inside the domain (infinite at an end where the slope is).
    fn derivative(&self, a: f64, y: f64) -> f64;

    /// The point of the domain nearest to a.
    fn project(&self, a: f64, y: f64) -> f64;

    /// mu: l* is mu-strongly convex, equivalently l is 1/mu-smooth; 0 when it is not.
    fn strong_convexity(&self) -> f64;

    /// argmax over b of `b z - l*(b) - (weight/2) (b - a)^2`, weight > 0: a step of dual ascent that stays in the
    /// domain and cannot overshoot, whatever the loss. It tends to l'(z) as the weight vanishes and to the projection
    /// of a as it grows.
    fn proximal(&self, a: f64, z: f64, weight: f64, y: f64) -> f64;

    /// The absolute values of the terms that `value` adds up: what its rounding error goes by.
    fn size(&self, a: f64, y: f64) -> f64 {
        self.value(a, y).abs()
    }
}

#[cfg(test)]
mod tests;
