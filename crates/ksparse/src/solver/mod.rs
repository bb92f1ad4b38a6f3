//! Algorithms for `min f(x)` subject to `||x||_0 <= k`.
//!
//! | name | struct | paper |
//! |---|---|---|
//! | `auto` | [`Auto`] | this library's own: GraHTP, then wider moves and exchanges scored by second derivatives |
//! | `grahtp` | [`Grahtp`] | Yuan, Li, Zhang 2014: gradient step, keep k, debias |
//! | `fgrahtp` | [`Grahtp::fast`] | the same without debiasing |
//! | `htp` | [`Grahtp::htp`] | Foucart 2011: GraHTP on least squares, step on the sum |
//! | `iht` | [`Grahtp::iht`] | Blumensath, Davies 2009: FGraHTP on least squares, step on the sum |
//! | `grasp` | [`Grasp`] | Bahmani, Raj, Boufounos 2013 |
//! | `fbs` | [`Fbs`] | forward selection (orthogonal matching pursuit on least squares) |
//! | `foba` | [`Foba`] | Zhang 2008; Liu, Ye, Fujimaki 2014: forward-backward |
//! | `model-search` | [`ModelSearch`] | this library's own: growth and exchanges on the quadratic model, for networks |
//! | `working-set` | [`WorkingSet`] | this library's own: few evaluations, for data in shards |
//! | `svrght` | [`Svrght`] | Li, Arora, Liu, Haupt, Zhao 2016: stochastic, variance-reduced |
//! | `diht` | [`Diht`] | Liu, Yuan, Wang, Liu, Metaxas 2017: ascent on the dual, with a lower bound |
//! | `sdiht` | [`Sdiht`] | the same by random blocks of samples |
//! | `exact` | [`Exact`] | branch and bound: the global optimum, proven, of moderate problems with a ridge |
//!
//! The defaults of methods from papers are variants of them that need no tuning; [`published`] is each as its paper has
//! it, and [`Method::published`] says what that sets.
//!
//! Down to `foba` they run on every smooth [`Objective`], `model-search` and `working-set` on those with second
//! derivatives, `svrght` on
//! every [`Risk`](crate::Risk), `diht`, `sdiht` and `exact` on every risk with a ridge ([`METHODS`] says so too). The
//! hinge loss, which has a corner, needs a ridge and goes to `auto`, `diht` and `sdiht`, or as a heuristic to `grahtp`,
//! `fgrahtp`, `htp`, `iht` and `svrght`. A solver is a plain struct of options with a `Default`.

mod agreement;
mod ascent;
mod auto;
mod corners;
mod curved;
mod descent;
mod diht;
mod effort;
mod every_k;
mod exact;
mod exchange;
mod fbs;
mod foba;
mod grahtp;
mod grasp;
mod grouped;
mod grow;
mod ladder;
mod landscape;
mod model;
mod model_search;
mod occupied;
mod plan;
mod prune;
mod quadratic;
mod registry;
mod run;
mod sdiht;
mod svrght;
mod swap;
mod tableau;
mod wide;
mod working_set;

pub use ascent::DualStep;
pub use auto::Auto;
pub use diht::Diht;
pub use effort::Effort;
pub use exact::Exact;
pub use fbs::Fbs;
pub use foba::{Foba, ForwardRule};
pub use grahtp::{Debias, Grahtp, Step};
pub use grasp::Grasp;
pub use model_search::ModelSearch;
#[doc(hidden)]
pub use plan::Plan;
pub use registry::{
    Choice, GENERAL, METHODS, Method, NAMES, Needs, PUBLISHED, Settings, Value, by_name, method, published,
};
pub use sdiht::Sdiht;
pub use svrght::{StochasticStep, Svrght};
pub use working_set::WorkingSet;

use crate::cancel::Cancel;
use crate::design::Traffic;
use crate::error::{Remedy, Result, check_option};
use crate::objective::Objective;
use crate::sparsity::{SparseRef, Sparsity};
use std::ops::ControlFlow;
use std::time::Duration;

/// An algorithm with its options.
///
/// ```
/// use ksparse::{Auto, Risk, Solver, Sparsity, Status, loss::Logistic, simulate};
/// use std::ops::ControlFlow;
/// let data = simulate::logistic(200, 50, 10, simulate::Correlation::Ar1(0.5), 7);
/// let risk = Risk::new(&data.design, &data.target, Logistic::default())?.with_ridge(1e-3)?;
///
/// // From zero; then from that answer to a larger k.
/// let five = Auto::default().fit(&risk, &Sparsity::new(5))?;
/// let ten = Auto::default().fit_from(&risk, &Sparsity::new(10), &five)?;
/// assert!(ten.value < five.value);
///
/// // Watched, and cancelled in the first iteration.
/// let stopped = Auto::default().solve(&risk, &Sparsity::new(10), None, &mut |_| ControlFlow::Break(()))?;
/// assert_eq!((stopped.status, stopped.iterations), (Status::Stopped, 1));
/// # Ok::<(), ksparse::Error>(())
/// ```
pub trait Solver: Send + Sync {
    /// Its name, as the command line spells it.
    fn name(&self) -> &'static str;

    /// Minimises `objective` under `sparsity`, from `start` if given (an earlier solution, of any k), calling `watch`
    /// once per iteration; when that returns `Break`, the best point so far comes back with [`Status::Stopped`].
    fn solve(
        &self,
        objective: &dyn Objective,
        sparsity: &Sparsity,
        start: Option<&Solution>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution>;

    /// Answers for several k (ascending) from one computation: the same as one by one. They are for the first of these
    /// k; for the others, perhaps all, each k is a computation of its own. `sparsity` is that of all, but for its k.
    fn solve_all(
        &self,
        _objective: &dyn Objective,
        _ks: &[usize],
        _sparsity: &Sparsity,
        _watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Solution>> {
        Ok(Vec::new())
    }

    /// [`solve`](Self::solve) from zero, unwatched.
    fn fit(&self, objective: &dyn Objective, sparsity: &Sparsity) -> Result<Solution> {
        self.solve(objective, sparsity, None, &mut |_| ControlFlow::Continue(()))
    }

    /// [`solve`](Self::solve) from an earlier solution, unwatched.
    fn fit_from(&self, objective: &dyn Objective, sparsity: &Sparsity, start: &Solution) -> Result<Solution> {
        self.solve(objective, sparsity, Some(start), &mut |_| ControlFlow::Continue(()))
    }
}

/// When an iterative solver has done enough.
///
/// ```
/// use ksparse::{Risk, Sparsity, Status, loss::Squared, simulate};
/// use ksparse::solver::{Grahtp, Limits, Solver};
/// use std::time::Duration;
/// let data = simulate::linear(50, 100, 5, simulate::Correlation::Ar1(0.9), 0.5, 1);
/// let risk = Risk::new(&data.design, &data.target, Squared::default())?;
/// let limits = Limits { time_limit: Some(Duration::ZERO), ..Limits::default() };
/// let solution = Grahtp { limits, ..Grahtp::default() }.fit(&risk, &Sparsity::new(5))?;
/// assert_eq!(solution.status, Status::TimeLimit); // the best point so far, not an error
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Stop when `||x_t - x_{t-1}|| <= tolerance ||x_{t-1}||`. Default 1e-4; 0 turns the test off.
    pub tolerance: f64,
    /// At most so many iterations. Default 1000.
    pub max_iterations: usize,
    /// At most so much time; the best point so far is returned. Default none.
    pub time_limit: Option<Duration>,
    /// A token asked between blocks of work; once it is set, the best point so far is returned. Default never.
    pub cancel: Cancel,
}

impl Default for Limits {
    fn default() -> Self {
        Self { tolerance: 1e-4, max_iterations: 1000, time_limit: None, cancel: Cancel::NEVER }
    }
}

impl Limits {
    /// `Err` for a value outside its range.
    pub fn validate(&self) -> Result<()> {
        let ok = self.tolerance >= 0.0 && self.tolerance.is_finite();
        check_option(ok, "tolerance", self.tolerance, "non-negative and finite")?;
        check_option(self.max_iterations > 0, "max_iterations", self.max_iterations, "at least 1")
    }
}

/// What a solver reports once per iteration.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Iterations done.
    pub iteration: usize,
    /// f at the current point.
    pub value: f64,
    /// Its active coordinates (free ones included), ascending.
    pub support: &'a [usize],
    /// Their values.
    pub coefficients: &'a [f64],
    /// Coordinates that entered the support in this iteration.
    pub entered: usize,
    /// The step length, where the method has one.
    pub step: Option<f64>,
    /// The best lower bound on the optimum so far, from methods that know one: the gap is `value - dual`.
    pub dual: Option<f64>,
    /// Seconds since the solver was called.
    pub seconds: f64,
}

/// One iteration of a trace.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TraceRow {
    /// Iterations done.
    pub iteration: usize,
    /// Minimisations of f on a support so far: an iteration may try several supports before it keeps one.
    pub refits: usize,
    /// f after it.
    pub value: f64,
    /// Coordinates that entered the support.
    pub entered: usize,
    /// Coordinates that left it.
    pub left: usize,
    /// The step length, where the method has one, in the units it is set in.
    pub step: Option<f64>,
    /// The best lower bound on the optimum so far, from methods that know one: the gap is `value - dual`.
    pub dual: Option<f64>,
    /// Seconds since the solver was called.
    pub seconds: f64,
    /// What has travelled since then, where the data lie on a device.
    pub traffic: Option<Traffic>,
}

/// Why a solver stopped. Files, JSON and Python spell it as [`code`](Self::code) does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Status {
    /// The support no longer changes: a fixed point of the method.
    SupportStable,
    /// The iterates moved less than the tolerance.
    Tolerance,
    /// Proven: no k-sparse point is better, to the tolerance.
    Optimal,
    /// All was searched, and rounding errors keep the bound from the tolerance: not proven.
    Exhausted,
    /// A greedy selection has its k coordinates.
    Complete,
    /// The supports repeat (a fixed step too long for a fixed point); the best point of the cycle is returned.
    Cycled,
    /// f falls for ever on this support (separable data, no ridge): its infimum is approached, not attained. Add a
    /// ridge.
    Unattained,
    /// The iterates of a fixed step that is too long grew beyond all bounds; the best point seen is returned.
    Diverged,
    /// Out of iterations.
    MaxIterations,
    /// Out of time.
    TimeLimit,
    /// The watcher or the [token](crate::Cancel) asked to stop.
    Stopped,
}

impl Status {
    /// One word for programs; `Display` is for people.
    ///
    /// ```
    /// assert_eq!(ksparse::Status::SupportStable.code(), "support-stable");
    /// ```
    pub fn code(self) -> &'static str {
        match self {
            Self::SupportStable => "support-stable",
            Self::Tolerance => "tolerance",
            Self::Optimal => "optimal",
            Self::Exhausted => "exhausted",
            Self::Complete => "complete",
            Self::Cycled => "cycled",
            Self::Unattained => "unattained",
            Self::Diverged => "diverged",
            Self::MaxIterations => "max-iterations",
            Self::TimeLimit => "time-limit",
            Self::Stopped => "stopped",
        }
    }

    /// What would help a run that ended like this.
    pub fn remedy(self) -> Option<Remedy> {
        match self {
            Self::Unattained => Some(Remedy::AddRidge),
            Self::MaxIterations => Some(Remedy::MoreIterations),
            Self::Diverged => Some(Remedy::ShorterStep),
            _ => None,
        }
    }

    /// Whether the method came to its own end: nothing is left to do.
    pub fn converged(self) -> bool {
        matches!(self, Self::SupportStable | Self::Tolerance | Self::Optimal | Self::Exhausted | Self::Complete)
    }

    /// Whether this is the thing to say even when the method also came to its natural end in the same iteration.
    pub(crate) fn outranks_convergence(self) -> bool {
        matches!(self, Self::Stopped | Self::Unattained)
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::SupportStable => "converged: the support no longer changes",
            Self::Tolerance => "converged: the iterates moved less than the tolerance",
            Self::Optimal => "optimal: no better support exists, to the tolerance",
            Self::Exhausted => "not proven: all was searched, but rounding leaves a gap above the tolerance",
            Self::Complete => "complete: k coordinates selected",
            Self::Cycled => "cycled: the step is too long to settle; best point of the cycle",
            Self::Unattained => "the infimum is not attained (separable data); add a ridge",
            Self::Diverged => "diverged: the step is too long; best point seen",
            Self::MaxIterations => "not converged: out of iterations",
            Self::TimeLimit => "not converged: out of time",
            Self::Stopped => "stopped on request",
        })
    }
}

/// What a solver found.
///
/// ```
/// use ksparse::{Risk, Sparsity, loss::Squared, simulate, solver::{Fbs, Solver}};
/// let data = simulate::linear(50, 20, 3, simulate::Correlation::Independent, 0.1, 1);
/// let risk = Risk::new(&data.design, &data.target, Squared::default())?;
/// let solution = Fbs::default().fit(&risk, &Sparsity::new(3))?;
/// // The trace has a row per iteration, with one coordinate entering in each.
/// assert_eq!(solution.trace.len(), 3);
/// assert!(solution.trace.iter().all(|row| row.entered == 1 && row.left == 0));
/// assert_eq!(solution.trace[2].value, solution.value);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Solution {
    /// Active coordinates, free ones included, ascending.
    pub support: Vec<usize>,
    /// Their values.
    pub coefficients: Vec<f64>,
    /// f there.
    pub value: f64,
    /// Iterations done: steps that were kept. GraHTP's S1 to S3 are one.
    pub iterations: usize,
    /// Minimisations of f on a support, trials that were not kept and the last refit included.
    pub refits: usize,
    /// Why it stopped.
    pub status: Status,
    /// One row per iteration.
    pub trace: Vec<TraceRow>,
    /// The dual vector of the best bound, one number per sample, from dual ascent ([`dual`](crate::dual)).
    pub dual_vector: Option<Vec<f64>>,
}

impl Solution {
    /// The solution vector by its non-zeros.
    pub fn as_sparse(&self) -> SparseRef<'_> {
        SparseRef::new(&self.support, &self.coefficients)
    }

    /// What no k-sparse point goes below, from methods that know (dual ascent, branch and bound);
    /// [`certify`](crate::certificate::certify) finds such a bound for any solution.
    pub fn lower_bound(&self) -> Option<f64> {
        self.trace.last().and_then(|row| row.dual)
    }

    /// A starting point for a solver: some coordinates with their values.
    pub fn guess(support: Vec<usize>, coefficients: Vec<f64>) -> Self {
        Self {
            support,
            coefficients,
            value: f64::NAN,
            iterations: 0,
            refits: 0,
            status: Status::Stopped,
            trace: Vec::new(),
            dual_vector: None,
        }
    }
}
