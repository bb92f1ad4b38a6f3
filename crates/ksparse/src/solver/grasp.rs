//! GraSP: gradient support pursuit.
//!
//! ```text
//! Z = the 2k largest |grad_j f(x)|;   T = Z and the support of x;   b = argmin f over T;   x = the k largest of b
//! ```
//!
//! S. Bahmani, B. Raj, P. Boufounos, "Greedy Sparsity-Constrained Optimization", JMLR 14, 2013. By default x is then
//! refitted on its support: without that it is not even optimal there. f may rise from one iteration to the next; the
//! best point seen is returned.

use super::registry::{Choice, FLAG, Method, PUBLISHED};
use super::run::{Iterate, Run};
use super::{Limits, Progress, Solution, Solver, Status};
use crate::error::Result;
use crate::objective::Objective;
use crate::restricted::InnerOptions;
use crate::sparsity::Sparsity;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// GraSP.
///
/// ```
/// use ksparse::{Risk, Sparsity, loss::Squared, simulate, solver::{Grasp, Solver}};
/// let data = simulate::linear(100, 50, 4, simulate::Correlation::Ar1(0.5), 0.1, 1);
/// let risk = Risk::new(&data.design, &data.target, Squared::default())?;
/// let debiased = Grasp::default().fit(&risk, &Sparsity::new(4))?;
/// let published = Grasp { debias: false, ..Grasp::default() }.fit(&risk, &Sparsity::new(4))?;
/// assert_eq!(debiased.support, data.support);
/// assert!(debiased.value <= published.value);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Grasp {
    /// Refit on the k coordinates kept. Default true.
    pub debias: bool,
    /// Compare coordinates in units of curvature (`|x| sqrt(h)`, `|g| / sqrt(h)`) instead of as they stand, where f has
    /// second derivatives: rare words get large coefficients that move few documents. Default false: the method as
    /// published.
    pub scaled: bool,
    /// When to stop.
    pub limits: Limits,
}

impl Default for Grasp {
    fn default() -> Self {
        Self { debias: true, scaled: false, limits: Limits { max_iterations: 50, ..Limits::default() } }
    }
}

/// Its entry in the table of solvers.
pub(super) const METHOD: Method = Method {
    about: "another way through the supports (Bahmani, Raj, Boufounos 2013): minimise on up to 3k columns, cut to k",
    options: &[PUBLISHED, DEBIAS, SCALED],
    ..Method::new("grasp", |given| {
        let own = Grasp::default();
        Ok(Box::new(Grasp {
            debias: given.flag(&DEBIAS)?.unwrap_or(own.debias),
            scaled: given.flag(&SCALED)?.unwrap_or(own.scaled),
            limits: given.limits(own.limits),
        }))
    })
};
const DEBIAS: Choice =
    Choice { published: Some("false"), ..Choice::new("debias", FLAG, "Minimise f on the k coordinates kept") };
const SCALED: Choice = Choice::new("scaled", FLAG, "Compare coordinates in units of curvature");

impl Solver for Grasp {
    fn name(&self) -> &'static str {
        "grasp"
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

impl Grasp {
    fn search(&self, run: &mut Run, start: Option<&Solution>) -> Result<Solution> {
        let mut at = run.begin(start)?;
        let mut best = at.clone();
        let mut seen = HashSet::new();
        loop {
            let next = self.step(run, &at, run.gradient(&at)?)?;
            if next.value < best.value {
                best = next.clone();
            }
            let stable = self.debias && next.support == at.support;
            let cycled = self.debias && !stable && !seen.insert(next.support.clone());
            let limit = run.record(&at, &next, None);
            let settled = run.settled(&at, &next);
            at = next;
            let natural = [(stable, Status::SupportStable), (settled, Status::Tolerance), (cycled, Status::Cycled)];
            let natural = natural.into_iter().find(|(fired, _)| *fired).map(|(_, status)| status);
            let ended = limit.filter(|s| s.outranks_convergence()).or(natural).or(limit);
            if let Some(status) = ended {
                return run.finish(best, status);
            }
        }
    }
}

impl Grasp {
    fn step(&self, run: &Run, at: &Iterate, gradient: &[f64]) -> Result<Iterate> {
        let k = run.budget.k;
        let here = if self.scaled { run.units(at)? } else { None };
        let mut merged = run.budget.winners(2 * k, |j| gradient[j].abs() / here.map_or(1.0, |h| h[j].sqrt()));
        merged.extend_from_slice(&at.support);
        merged.sort_unstable();
        merged.dedup();
        let x = run.carry(at, &merged);
        // Where it is only cut and refitted, its last digits do not matter.
        let loose = InnerOptions { tolerance: 1e-4, ..InnerOptions::EXACT };
        let wide = run.refit(merged, x, if self.debias { &loose } else { &InnerOptions::EXACT })?;
        let there = if self.scaled { run.units(&wide)? } else { None };
        let support = run.budget.winners(k, |j| wide.at(j).abs() * there.map_or(1.0, |h| h[j].sqrt()));
        let mut x = run.carry(&wide, &support);
        run.objective.repair(&support, &mut x)?;
        if self.debias { run.refit(support, x, &InnerOptions::EXACT) } else { run.evaluate(support, x) }
    }
}
