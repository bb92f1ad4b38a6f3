//! Auto.

use super::exchange::{Effort, polish};
use super::grahtp::descend;
use super::run::Run;
use super::{Limits, Progress, Solution, Solver};
use crate::error::Result;
use crate::objective::Objective;
use crate::restricted::InnerOptions;
use crate::sparsity::Sparsity;
use std::ops::ControlFlow;

/// The default solver.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Auto {
    /// When to stop.
    pub limits: Limits,
}

impl Solver for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn solve(
        &self,
        objective: &dyn Objective,
        sparsity: &Sparsity,
        start: Option<&Solution>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution> {
        let mut run = Run::new(self.name(), objective, sparsity, &self.limits, watch)?;
        let first = run.begin(start)?;
        let loose = InnerOptions { tolerance: 1e-5, ..InnerOptions::EXACT };
        let (at, status) = descend(&mut run, first, true, &loose)?;
        let k = run.budget.k;
        let effort = Effort { narrow: 2 * k + 50, wide: usize::MAX, tries: 10, refit: loose };
        let (at, limit) = polish(&mut run, at, &effort)?;
        let x = at.x.clone();
        let at = run.refit(at.support, x, &InnerOptions::EXACT)?;
        Ok(run.finish(at, limit.unwrap_or(status)))
    }
}
