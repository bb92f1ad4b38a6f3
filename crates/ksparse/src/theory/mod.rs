//! The theorems' constants and bounds, computed: what a method guarantees on given data.
//!
//! | question | answer |
//! |---|---|
//! | how curved is f along s-sparse directions? | [`Curvature`]: [`restricted_eigenvalues`], [`risk_curvature`] |
//! | ... for one loss? | [`logistic_curvature`], [`squared_hinge_curvature`], [`log_det_curvature`] |
//! | does the papers' Condition C(s, zeta, rho) hold? | [`ConditionC`], from a [`Curvature`] |
//! | which step makes GraHTP end and f fall? | [`ConditionC::step_bound`], [`ConditionC::guaranteed_decrease`] |
//! | how fast does it approach a sparse target? | a [`Contraction`]: [`ConditionC::grahtp`], [`ConditionC::fgrahtp`] |
//! | ... for which steps? | [`ConditionC::grahtp_steps`], [`ConditionC::fgrahtp_steps`] |
//! | after how many iterations is the target exact? | [`Contraction::recovery_iterations`] |
//! | how far may the target be from stationary? | [`logistic_gradient_bound`], [`log_det_gradient_bound`], |
//! | | [`squared_hinge_gradient_bound`] |
//! | how fast does dual ascent come near, when does its support stand, when does its gap close? | [`DualRates`] |
//! | all of this for one problem? | a [`Survey`] |
//!
//! From X.-T. Yuan, P. Li, T. Zhang, "Gradient Hard Thresholding Pursuit for Sparsity-Constrained Optimization", ICML
//! 2014 and arXiv 1311.5750; the dual ones from B. Liu, X.-T. Yuan, L. Wang, Q. Liu, D. Metaxas, ICML 2017. Where a
//! printed constant is not a bound or is far from tight, the function says so and what it computes instead.
//!
//! ```
//! use ksparse::{simulate, theory};
//! // y = A x without noise, A with entries N(0, 1/400): f(x) = ||y - A x||^2 / 2 is a sum, so the weights are 1.
//! let (n, k) = (400, 2);
//! let data = simulate::compressed_sensing(n, 12, k, 5);
//! let curvature = theory::restricted_eigenvalues(&data.design, &vec![1.0; n], 3 * k)?;
//! let condition = curvature.sharp_condition_c()?;
//! assert!(condition.rho < 1.0 / (2f64.sqrt() + 1.0)); // small enough for Theorem 2
//!
//! let eta = 0.99 * condition.zeta;
//! let contraction = condition.grahtp(eta)?;
//! let norm = data.coefficients.iter().map(|c| c * c).sum::<f64>().sqrt();
//! let least = data.coefficients.iter().fold(f64::INFINITY, |m, c| m.min(c.abs()));
//! let iterations = contraction.recovery_iterations(least, norm)?;
//! assert!(iterations <= 20, "GraHTP from 0 has recovered x exactly after {iterations} iterations");
//! # Ok::<(), ksparse::Error>(())
//! ```

mod condition;
mod dual;
mod losses;
mod spectrum;
mod survey;

pub use condition::{ConditionC, Contraction, Curvature, StepWindow};
pub use dual::DualRates;
pub use losses::{
    GradientBound, is_diagonally_dominant, log_det_bounds_are_dominant, log_det_curvature, log_det_gradient_bound,
    logistic_curvature, logistic_curvature_as_published, logistic_gradient_bound, risk_curvature,
    squared_hinge_curvature, squared_hinge_gradient_bound,
};
pub(crate) use spectrum::least_row_gram_eigenvalue;
pub use spectrum::{largest_gram_eigenvalue, restricted_eigenvalues};
pub use survey::{Level, Promise, Survey};

#[cfg(all(test, feature = "simulate"))]
mod tests;
