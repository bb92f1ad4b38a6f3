//! `--solver` and how long it may run: the one place where options become a solver.

use super::parse;
use crate::failure::{Failure, Result};
use ksparse::solver::{self, Auto, Exact, Fbs, Foba, Grahtp, Grasp, Limits, Solver, Step};
use std::time::Duration;

/// How the model is searched for.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Search")]
pub struct SolverArgs {
    /// The method (see below); auto is the best of them
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = solver::NAMES)]
    pub solver: String,

    /// Length of a gradient step: auto (f never rises), theory (0.99 / smoothness) or a number [grahtp, fgrahtp, htp, iht]
    #[arg(long, value_name = "auto|theory|NUMBER", default_value = "auto", value_parser = parse::step,
          hide_default_value = true, allow_hyphen_values = true)]
    pub step: Step,

    /// Stop when an iteration moves x by less than T ||x|| [default: 1e-4]; exact: when the relative gap is at most T [default: 1e-6]
    #[arg(long, value_name = "T", value_parser = parse::non_negative, allow_hyphen_values = true)]
    pub tol: Option<f64>,

    /// Stop after N iterations [default: 1000; grasp 50; exact 100000 nodes; fbs, foba none]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_iter: Option<u64>,

    /// Stop after S seconds with the best found so far
    #[arg(long, value_name = "S", value_parser = parse::non_negative, allow_hyphen_values = true)]
    pub time_limit: Option<f64>,

    /// Seed of everything random (folds, stochastic solvers): the same seed gives the same bits
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Threads; the answer does not depend on it [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub threads: usize,
}

impl SolverArgs {
    /// The solver asked for.
    pub fn build(&self) -> Result<Box<dyn Solver>> {
        let takes_step = matches!(self.solver.as_str(), "grahtp" | "fgrahtp" | "htp" | "iht");
        if self.step != Step::Adaptive && !takes_step {
            let message = format!(
                "--step is for gradient methods and `{}` is none: leave it out, or take --solver grahtp, fgrahtp, htp or iht",
                self.solver
            );
            return Err(Failure::Input(message));
        }
        let gradient = |method: Grahtp| Grahtp { step: self.step, limits: self.limits(method.limits), ..method };
        Ok(match self.solver.as_str() {
            "auto" => Box::new(Auto { limits: self.limits(Auto::default().limits) }),
            "grahtp" => Box::new(gradient(Grahtp::default())),
            "fgrahtp" => Box::new(gradient(Grahtp::fast())),
            "htp" => Box::new(gradient(Grahtp::htp())),
            "iht" => Box::new(gradient(Grahtp::iht())),
            "grasp" => Box::new(Grasp { limits: self.limits(Grasp::default().limits), ..Grasp::default() }),
            "fbs" => Box::new(Fbs { limits: self.limits(Fbs::default().limits) }),
            "foba" => Box::new(Foba { limits: self.limits(Foba::default().limits), ..Foba::default() }),
            "exact" => Box::new(Exact { limits: self.limits(Exact::default().limits) }),
            name => solver::by_name(name)?,
        })
    }

    /// The time limit.
    pub fn time_limit(&self) -> Option<Duration> {
        // A limit beyond what a Duration holds is no limit.
        self.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }

    /// The method's own limits with what was given in their place.
    fn limits(&self, own: Limits) -> Limits {
        Limits {
            tolerance: self.tol.unwrap_or(own.tolerance),
            max_iterations: self.max_iter.map_or(own.max_iterations, |n| usize::try_from(n).unwrap_or(usize::MAX)),
            time_limit: self.time_limit(),
        }
    }
}
