//! How good predictions are. z is the linear predictor, y the target, c the sample weights (1 by default).
//!
//! | metric | formula, means weighted by c | targets | better |
//! |---|---|---|---|
//! | deviance | 2 mean l(z, y), for logistic -2 log-likelihood per row; squared: mean (y - z)^2 | all | lower |
//! | error | mean \[y z < 0\] + mean \[z = 0\] / 2 | labels | lower |
//! | auc | P(z+ > z-) + P(z+ = z-) / 2 over pairs of a positive and a negative row, weighted c+ c- | labels | higher |
//! | mse | mean (y - z)^2 | numbers | lower |
//! | concordance | P(z_i > z_j) + P(z_i = z_j) / 2 over pairs whose i is known to be first | survival times | higher |

use crate::error::{Error, Result, check_finite, check_len};
use crate::loss::{Loss, TargetKind, weighed};

/// A measure of predictions.
///
/// ```
/// use ksparse::{loss::Logistic, select::Metric};
/// let (scores, labels) = ([2.0, -1.0, 0.5, 0.5], [1.0, -1.0, 1.0, -1.0]);
/// assert_eq!(Metric::Error.score(&Logistic::default(), &scores, &labels, None)?, 0.25);
/// assert_eq!(Metric::Auc.score(&Logistic::default(), &scores, &labels, None)?, 0.875);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Metric {
    /// [`deviance`]: for every loss.
    #[default]
    Deviance,
    /// [`classification_error`]: for losses with labels.
    Error,
    /// [`area_under_curve`]: for losses with labels; higher is better.
    Auc,
    /// [`mean_squared_error`]: for losses with real targets.
    Mse,
    /// [`concordance`](super::concordance): for survival times; higher is better.
    Concordance,
}

impl Metric {
    /// The names [`by_name`](Self::by_name) answers to.
    pub const NAMES: [&str; 5] = ["deviance", "error", "auc", "mse", "concordance"];

    /// A metric by the name the command line uses.
    pub fn by_name(name: &str) -> Result<Self> {
        Ok(match name {
            "deviance" => Self::Deviance,
            "error" => Self::Error,
            "auc" => Self::Auc,
            "mse" => Self::Mse,
            "concordance" => Self::Concordance,
            _ => {
                let choices = Self::NAMES.join(", ");
                return Err(Error::UnknownName { what: "metric", name: name.to_string(), choices });
            }
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Deviance => "deviance",
            Self::Error => "error",
            Self::Auc => "auc",
            Self::Mse => "mse",
            Self::Concordance => "concordance",
        }
    }

    /// Whether higher is better.
    pub fn is_gain(&self) -> bool {
        matches!(self, Self::Auc | Self::Concordance)
    }

    /// `Err` if the metric makes no sense for the targets of this loss.
    pub fn check(&self, loss: &dyn Loss) -> Result<()> {
        let need = match (self, loss.target()) {
            (Self::Error | Self::Auc, kind) if !kind.is_label() => "a loss with labels -1 and +1",
            (Self::Mse, TargetKind::Sign) => "a loss with numbers for targets",
            (Self::Concordance, _) => "survival times",
            _ => return Ok(()),
        };
        Err(Error::Unsupported { solver: self.name(), need })
    }

    /// The metric of predictions `z` made under `loss`.
    pub fn score(&self, loss: &dyn Loss, z: &[f64], y: &[f64], weights: Option<&[f64]>) -> Result<f64> {
        self.check(loss)?;
        match self {
            Self::Deviance => deviance(loss, z, y, weights),
            Self::Error => classification_error(z, y, weights),
            Self::Auc => area_under_curve(z, y, weights),
            Self::Mse => {
                let means: Vec<f64> = z.iter().map(|&z| loss.mean(z)).collect();
                mean_squared_error(&means, y, weights)
            }
            // Refused above.
            Self::Concordance => Ok(f64::NAN),
        }
    }
}

/// `2 mean l(z, y)`, divided by the scale s for the squared loss `s (y - z)^2 / 2`: the mean squared error there.
pub fn deviance(loss: &dyn Loss, z: &[f64], y: &[f64], weights: Option<&[f64]>) -> Result<f64> {
    let scale = if loss.is_quadratic() { loss.at(0.0, 0.0).curvature } else { 1.0 };
    weighted_mean(z, y, weights, |z, y| 2.0 * loss.value(z, y) / scale)
}

/// The weighted share of rows on the wrong side of 0; z = 0, which takes no side, counts half.
pub fn classification_error(z: &[f64], y: &[f64], weights: Option<&[f64]>) -> Result<f64> {
    weighted_mean(z, y, weights, |z, y| match z * y {
        side if side > 0.0 => 0.0,
        side if side < 0.0 => 1.0,
        _ => 0.5,
    })
}

/// `mean (y - z)^2`.
pub fn mean_squared_error(z: &[f64], y: &[f64], weights: Option<&[f64]>) -> Result<f64> {
    weighted_mean(z, y, weights, |z, y| (y - z) * (y - z))
}

/// The area under the ROC curve: the chance that a positive row (y > 0) scores above a negative one, ties counted half.
///
/// One sort, then one pass over groups of equal z: each positive row beats the negative weight below it and half of
/// that beside it. `Err` when one of the two classes is missing (or weighs nothing).
pub fn area_under_curve(z: &[f64], y: &[f64], weights: Option<&[f64]>) -> Result<f64> {
    check(z, y, weights)?;
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mut order: Vec<usize> = (0..z.len()).collect();
    order.sort_unstable_by(|&a, &b| z[a].total_cmp(&z[b]));
    let (mut positive, mut negative, mut won) = (0.0, 0.0, 0.0);
    for tied in order.chunk_by(|&a, &b| z[a] == z[b]) {
        let up: f64 = tied.iter().filter(|&&i| y[i] > 0.0).map(|&i| weight(i)).sum();
        let down: f64 = tied.iter().filter(|&&i| y[i] <= 0.0).map(|&i| weight(i)).sum();
        won += up * (negative + 0.5 * down);
        positive += up;
        negative += down;
    }
    if positive > 0.0 && negative > 0.0 {
        Ok(won / (positive * negative))
    } else {
        Err(Error::Data("the area under the curve needs rows of both classes".to_string()))
    }
}

fn check(z: &[f64], y: &[f64], weights: Option<&[f64]>) -> Result<()> {
    check_len("target", y.len(), z.len())?;
    check_finite("prediction", z)?;
    check_finite("target", y)?;
    if let Some(weights) = weights {
        check_len("weights", weights.len(), z.len())?;
        check_finite("weights", weights)?;
    }
    Ok(())
}

fn weighted_mean(z: &[f64], y: &[f64], weights: Option<&[f64]>, of: impl Fn(f64, f64) -> f64) -> Result<f64> {
    check(z, y, weights)?;
    let (mut sum, mut total) = (0.0, 0.0);
    for i in 0..z.len() {
        let weight = weights.map_or(1.0, |w| w[i]);
        sum += weighed(weight, of(z[i], y[i]));
        total += weight;
    }
    if total > 0.0 { Ok(sum / total) } else { Err(Error::Data("no row of positive weight to score".to_string())) }
}
