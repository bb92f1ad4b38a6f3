//! All that the theorems say about one problem, at once.

use super::condition::{ConditionC, Contraction, Curvature, StepWindow};
use super::dual::DualRates;
use super::spectrum::restricted_eigenvalues;
use crate::error::{Error, Result, check_option};
use crate::objective::{Objective, Risk};

/// What the theorems say about GraHTP, FGraHTP, DIHT and SDIHT on a [`Risk`]; where they say nothing, why.
///
/// ```
/// use ksparse::{Risk, loss::Squared, simulate, theory::Survey};
/// let data = simulate::compressed_sensing(400, 12, 2, 5);
/// let risk = Risk::new(&data.design, &data.target, Squared::default())?;
/// let survey = Survey::of(&risk, 2)?;
/// assert!(survey.wide.exact); // every support of 6 columns was looked at
/// assert!(survey.grahtp.is_ok_and(|promise| promise.contraction.factor < 1.0));
/// assert!(survey.dual.unwrap_err().contains("lambda"));
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Survey {
    /// k; the target is taken to have as many non-zeros.
    pub k: usize,
    /// Along 2k-sparse directions: Theorem 1.
    pub narrow: Level,
    /// Along 3k-sparse directions: Theorem 2.
    pub wide: Level,
    /// The step of Theorem 1, 0.99 / M_2k.
    pub step: f64,
    /// Theorem 2 for GraHTP.
    pub grahtp: std::result::Result<Promise, String>,
    /// Theorem 2 for FGraHTP.
    pub fgrahtp: std::result::Result<Promise, String>,
    /// The theorems on dual ascent.
    pub dual: std::result::Result<DualRates, String>,
}

/// f along s-sparse directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// s, at most the number of columns.
    pub s: usize,
    /// m_s and M_s.
    pub curvature: Curvature,
    /// Whether all supports of s columns were looked at; otherwise m_s is the ridge and M_s a bound.
    pub exact: bool,
    /// zeta and rho of Condition C; `None` for m_s = 0.
    pub condition: Option<ConditionC>,
}

/// What Theorem 2 promises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    /// The steps it holds for.
    pub steps: StepWindow,
    /// With the longest of them, but for a hundredth of the window.
    pub contraction: Contraction,
}

impl Survey {
    /// Of a risk with a smooth loss; `Err` for others.
    pub fn of(risk: &Risk, k: usize) -> Result<Self> {
        check_option(k > 0, "k", k, "at least 1")?;
        let (narrow, wide) = (Level::of(risk, 2 * k)?, Level::of(risk, 3 * k)?);
        // The step that `theory` takes: by the bound on M, not by all supports.
        let smooth = risk.smoothness((2 * k + risk.free().len()).min(risk.dim()))?.bound();
        let step = smooth.map_or(f64::NAN, |smooth| 0.99 / smooth);
        let promise = |steps: Option<StepWindow>, at: &dyn Fn(f64) -> Result<Contraction>, most: &str| {
            let Some(condition) = wide.condition else {
                return Err(format!("m_{} is 0 (no ridge): Condition C does not hold", wide.s));
            };
            let Some(steps) = steps else {
                return Err(format!("vacuous: rho = {:.4}, and the theorem needs less than {most}", condition.rho));
            };
            let eta = steps.high - 0.01 * (steps.high - steps.low);
            at(eta).map(|contraction| Promise { steps, contraction }).map_err(|error| error.to_string())
        };
        let condition = wide.condition;
        let missing = || Error::Data("Condition C does not hold".to_string());
        Ok(Self {
            k,
            narrow,
            wide,
            step,
            grahtp: promise(
                condition.and_then(|c| c.grahtp_steps()),
                &|eta| condition.ok_or_else(missing)?.grahtp(eta),
                "1 / (sqrt 2 + 1) = 0.4142",
            ),
            fgrahtp: promise(
                condition.and_then(|c| c.fgrahtp_steps()),
                &|eta| condition.ok_or_else(missing)?.fgrahtp(eta),
                "1/2",
            ),
            dual: DualRates::of(risk, k).map_err(|error| error.to_string()),
        })
    }
}

impl Level {
    fn of(risk: &Risk, s: usize) -> Result<Self> {
        let s = s.min(risk.features());
        let loss = risk.loss();
        // The loss's own curvature bounds those of f both ways only where it is constant.
        let exact = if loss.is_quadratic() && !risk.has_intercept() {
            restricted_eigenvalues(risk.design(), risk.weights(), s).ok()
        } else {
            None
        };
        let curvature = match (exact, loss.smoothness().bound()) {
            (Some(squares), Some(bound)) => squares.of_loss(bound, bound, risk.ridge())?,
            _ => super::risk_curvature(risk, s)?,
        };
        let condition = curvature.sharp_condition_c().ok();
        Ok(Self { s, curvature, exact: exact.is_some(), condition })
    }
}
