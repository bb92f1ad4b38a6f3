//! FBS: forward basis selection.
//!
//! ```text
//! F = {};  repeat  j = argmax |grad_j f(x)| outside F;  F += j;  x = argmin f over F;  until |F| = k
//! ```
//!
//! On least squares this is orthogonal matching pursuit. See X. Yuan, S. Yan, "Forward Basis Selection for Pursuing
//! Sparse Representations over a Dictionary", IEEE TPAMI 35, 2013.

use super::registry::{Method, PUBLISHED};
use super::run::Run;
use super::{Limits, Progress, Solution, Solver, Status};
use crate::error::Result;
use crate::objective::Objective;
use crate::restricted::InnerOptions;
use crate::sparsity::Sparsity;
use std::ops::ControlFlow;

/// FBS: one coordinate at a time. Ends after k iterations, or earlier when the gradient vanishes.
///
/// ```
/// use ksparse::{Risk, Sparsity, Status, loss::Squared, simulate, solver::{Fbs, Solver}};
/// let data = simulate::linear(100, 50, 4, simulate::Correlation::Independent, 0.1, 1);
/// let risk = Risk::new(&data.design, &data.target, Squared::default())?;
/// let solution = Fbs::default().fit(&risk, &Sparsity::new(4))?;
/// assert_eq!((solution.status, solution.iterations), (Status::Complete, 4));
/// assert_eq!(solution.support, data.support);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Fbs {
    /// When to stop before |F| = k; the tolerance is not used. Default: never.
    pub limits: Limits,
}

impl Default for Fbs {
    fn default() -> Self {
        Self { limits: Limits { max_iterations: usize::MAX, ..Limits::default() } }
    }
}

/// Its entry in the table of solvers.
pub(super) const METHOD: Method = Method {
    about: "an order of importance: one column at a time, none ever dropped (orthogonal matching pursuit)",
    options: &[PUBLISHED],
    ..Method::new("fbs", |given| Ok(Box::new(Fbs { limits: given.limits(Fbs::default().limits) })))
};

impl Solver for Fbs {
    fn name(&self) -> &'static str {
        "fbs"
    }

    fn solve(
        &self,
        objective: &dyn Objective,
        sparsity: &Sparsity,
        start: Option<&Solution>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution> {
        let run = Run::new(self.name(), objective, sparsity, &self.limits, watch)?;
        run.unless_cancelled(start, |run| self.search(run, start))
    }
}

impl Fbs {
    fn search(&self, run: &mut Run, start: Option<&Solution>) -> Result<Solution> {
        let mut at = run.begin(start)?;
        loop {
            let counted = run.budget.counted(&at.support);
            if counted == run.budget.k {
                return run.finish(at, Status::Complete);
            }
            let gradient = run.gradient(&at)?;
            let outside = |j: usize| if at.support.binary_search(&j).is_ok() { 0.0 } else { gradient[j].abs() };
            let Some(&winner) = run.budget.top(1, outside).first() else {
                return run.finish(at, Status::SupportStable);
            };
            let support = run.budget.with(&at.support, winner);
            let x = run.carry(&at, &support);
            let next = run.refit(support, x, &InnerOptions::EXACT)?;
            let limit = run.record(&at, &next, None);
            at = next;
            let complete = counted + 1 == run.budget.k;
            if let Some(status) = limit.filter(|s| !(complete && *s == Status::MaxIterations)) {
                return run.finish(at, status);
            }
        }
    }
}
