//! Choosing k, and lambda with it.
//!
//! | by | with | cost |
//! |---|---|---|
//! | an information criterion | [`Criterion`] on one [`Path`](crate::Path) or [`Grid`](crate::Grid) | one path |
//! | cross-validation | [`CrossValidation`] over [`Folds`], scored by a [`Metric`] | a path per fold, one to refit |
//! | cross-validation over shards | [`ShardedValidation`]: rows held out where they lie | passes shared by all folds |
//! | cross-validation without a word | [`Choose`]: k and two ridges, ranges from the data | about a path per fold |
//!
//! A criterion needs a likelihood (squared or logistic loss) and an honest noise model; cross-validation needs neither.
//! With both, ties go to the smaller k, then to the larger lambda.

mod choose;
mod concordance;
mod control;
mod criteria;
mod cv;
mod descent;
mod finish;
mod folds;
mod joint;
mod metrics;
mod plan;
mod problem;
pub mod ranges;
mod resample;
mod rungs;
mod scaling;
mod scoring;
mod sharded;
mod splits;
mod table;
mod task;

pub use choose::{Alternative, Choose, Chosen, Edge, Predictor, Refits};
pub use concordance::concordance;
pub use criteria::{Choice, Criterion, ln_binomial};
pub use cv::{CrossValidation, CvProgress, Selection};
pub use folds::{Deal, Folds};
pub use joint::{JointProblem, JointTraining, Observed};
pub use metrics::{Metric, area_under_curve, classification_error, deviance, mean_squared_error};
pub use problem::{Problem, Training};
pub use resample::Resampled;
pub use sharded::{CellDone, FoldedShards, ShardedSelection, ShardedValidation, scores_of};
pub use splits::{OwnScore, Split};
pub use table::{CvCell, CvTable, Rule};
