//! Growth by blocks, then exchanges, both on the quadratic model of f.
//!
//! The support grows by tenths of k, each block chosen so that its members do not stand for the same thing (`grow.rs`);
//! then lists of exchanges, each knowing those before it, are found on a table of the model and tried by one refit per
//! list (`tableau.rs`). Where variables are highly correlated the largest gradients all point at the same few of them,
//! and swaps ranked by them end far above.
//!
//! A look at the model takes the Hessian over the support and some candidates: this is for functions whose Hessian is
//! at hand, above all precision matrices, where an entry costs a few operations. Where the table would be too large,
//! the grown support is improved by GraHTP's swaps in units of curvature. f never rises.

use super::descent::{Descent, descend};
use super::grow::grow;
use super::registry::{Method, Needs};
use super::run::Run;
use super::tableau::pursue;
use super::{Limits, Progress, Solution, Solver, Status};
use crate::error::Result;
use crate::objective::Objective;
use crate::restricted::InnerOptions;
use crate::sparsity::Sparsity;
use std::ops::ControlFlow;

/// Growth by blocks and exchanges on the quadratic model. Needs second derivatives.
///
/// ```
/// use ksparse::{Sparsity, graphical::{Covariance, Precision, Units}, simulate, solver::{ModelSearch, Solver}};
/// let sample = simulate::precision(2000, 10, 10, 3);
/// let model = Precision::new(Covariance::from_samples(&sample.train, Units::Original)?)?;
/// let solution = ModelSearch::default().fit(&model, &Sparsity::new(sample.edges.len()))?;
/// let found: Vec<(usize, usize)> = model.network(&solution).edges().iter().map(|edge| edge.nodes).collect();
/// assert_eq!(found, sample.edges);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelSearch {
    /// When to stop; the tolerance is not used.
    pub limits: Limits,
}

/// Its entry in the table of solvers.
pub(super) const METHOD: Method = Method {
    about: "growth by blocks and exchanges on the quadratic model: what auto does on networks of over 40 variables",
    needs: Needs::Hessian,
    ..Method::new("model-search", |given| Ok(Box::new(ModelSearch { limits: given.limits(Limits::default()) })))
};

/// A look at all exchanges by the quadratic model may cost so many multiply-adds (some tens of milliseconds).
const MODEL: f64 = 3e8;

/// An exchange that gains less than this share of what a coordinate is worth on average is not worth its refit.
const TRIFLE: f64 = 0.05;

impl Solver for ModelSearch {
    fn name(&self) -> &'static str {
        "model-search"
    }

    fn solve(
        &self,
        objective: &dyn Objective,
        sparsity: &Sparsity,
        start: Option<&Solution>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution> {
        let run = Run::with_hessian(self.name(), objective, sparsity, &self.limits, watch)?;
        run.unless_cancelled(start, |run| search(run, start))
    }
}

/// The search, from a start as it stands.
pub(super) fn search(run: &mut Run, start: Option<&Solution>) -> Result<Solution> {
    let first = run.begin_at(start)?;
    let (full, width) = (run.budget.full() as f64, run.budget.k / 4 + 50);
    if full * full * (full + width as f64) > MODEL {
        let (mut at, mut limit) = grow(run, first, 0, &Descent::CAREFUL.refit)?;
        if limit.is_none() {
            let status;
            (at, status) = descend(run, at, &Descent { scaled: true, ..Descent::CAREFUL })?;
            limit = Some(status);
        }
        return run.finish(at, limit.unwrap_or(Status::SupportStable));
    }
    // The last tenth comes with the first exchanges.
    let last = run.budget.k.div_ceil(10);
    let (mut at, mut limit) = grow(run, first, last, &Descent::CAREFUL.refit)?;
    if limit.is_none() {
        // What a coordinate has lowered f by, on average.
        let inside = (at.support.len() - run.budget.free.len()).max(1);
        let worth = (run.begin_at(None)?.value - at.value) / inside as f64;
        (at, limit) = pursue(run, at, width, TRIFLE * worth, &Descent::CAREFUL.refit)?;
    }
    let at = run.refit(at.support, at.x, &InnerOptions::EXACT)?;
    run.finish(at, limit.unwrap_or(Status::SupportStable))
}
