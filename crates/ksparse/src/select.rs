//! Choosing k, and lambda with it.
//!
//! | by | with | cost |
//! |---|---|---|
//! | an information criterion | [`Criterion`] on the solutions of one [`Path`](crate::Path) or [`Grid`](crate::Grid) | one path |
//! | cross-validation | [`CrossValidation`] of a [`Problem`] over [`Folds`], scored by a [`Metric`] | one path per fold, one more to refit |
//!
//! A criterion needs a likelihood (squared or logistic loss) and an honest noise model; cross-validation needs neither.
//! With both, ties go to the smaller k, then to the larger lambda.

mod criteria;
mod cv;
mod folds;
mod metrics;
mod problem;
mod table;

pub use criteria::{Choice, Criterion, ln_binomial};
pub use cv::{CrossValidation, CvProgress, Rule, Selection};
pub use folds::Folds;
pub use metrics::{Metric, area_under_curve, classification_error, deviance, mean_squared_error};
pub use problem::{Problem, Training};
pub use table::{CvCell, CvTable};
