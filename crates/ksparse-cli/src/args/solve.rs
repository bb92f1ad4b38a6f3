//! `--solver` and how long it may run: the one place where options become a solver.

use super::parse;
use crate::failure::{Failure, Result};
use crate::screen::Screen;
use ksparse::Threads;
use ksparse::solver::{
    self, Auto, Diht, DualStep, Effort, Exact, Fbs, Foba, Grahtp, Grasp, Limits, Sdiht, Solver, Step, Svrght,
};
use std::time::Duration;

/// How the model is searched for.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Search")]
pub struct SolverArgs {
    /// The method (see below); auto is the best of them
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = solver::NAMES)]
    pub solver: String,

    /// How much to search where searching is cheap: quick (one descent), normal, thorough (ten times normal's local
    /// searches), or a number: so many times normal [auto; default: normal]
    #[arg(long, value_name = "quick|normal|thorough|N", value_parser = parse::effort,
          allow_hyphen_values = true)]
    pub effort: Option<Effort>,

    /// Length of a gradient step: auto (needs no tuning), theory (as in the theorems) or a number [grahtp, fgrahtp,
    /// htp, iht, diht, sdiht; svrght, but for theory]
    #[arg(long, value_name = "auto|theory|NUMBER", default_value = "auto", value_parser = parse::step,
          hide_default_value = true, allow_hyphen_values = true)]
    pub step: Step,

    /// Stop when an iteration moves x by less than T ||x|| [default: 1e-4]; exact: when the relative gap is at most T
    /// [default: 1e-6]
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

    /// Blocks of samples [sdiht; default: as many as make the rows of a step about as dear as its search for the k
    /// largest]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..))]
    pub blocks: Option<u64>,

    /// Rows in a mini-batch [svrght; default: by k and the sizes of the rows]
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u64).range(1..))]
    pub batch: Option<u64>,

    /// Threads; the answer does not depend on it [default: one per core; at most 64, or four per core if that is more]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub threads: usize,
}

impl SolverArgs {
    /// The solver asked for.
    pub fn build(&self) -> Result<Box<dyn Solver>> {
        let name = self.solver.as_str();
        let takes_step = matches!(name, "grahtp" | "fgrahtp" | "htp" | "iht" | "diht" | "sdiht" | "svrght");
        if self.step != Step::Adaptive && !takes_step {
            let message = format!(
                "--step is for gradient methods and `{name}` is none: leave it out, or take --solver grahtp, fgrahtp, \
                 htp, iht, diht, sdiht or svrght"
            );
            return Err(Failure::Input(message));
        }
        let owned = [
            ("--blocks", self.blocks.is_some(), "sdiht"),
            ("--batch", self.batch.is_some(), "svrght"),
            ("--effort", self.effort.is_some(), "auto"),
        ];
        for (option, given, owner) in owned {
            if given && name != owner {
                let message = format!(
                    "{option} is for --solver {owner}, not for `{name}`: leave it out, or take --solver {owner}"
                );
                return Err(Failure::Input(message));
            }
        }
        let gradient = |method: Grahtp| Grahtp { step: self.step, limits: self.limits(method.limits), ..method };
        Ok(match self.solver.as_str() {
            "auto" => {
                let own = Auto::default();
                Box::new(Auto { limits: self.limits(own.limits), effort: self.effort.unwrap_or(own.effort) })
            }
            "grahtp" => Box::new(gradient(Grahtp::default())),
            "fgrahtp" => Box::new(gradient(Grahtp::fast())),
            "htp" => Box::new(gradient(Grahtp::htp())),
            "iht" => Box::new(gradient(Grahtp::iht())),
            "grasp" => Box::new(Grasp { limits: self.limits(Grasp::default().limits), ..Grasp::default() }),
            "fbs" => Box::new(Fbs { limits: self.limits(Fbs::default().limits) }),
            "foba" => Box::new(Foba { limits: self.limits(Foba::default().limits), ..Foba::default() }),
            "svrght" => Box::new(self.svrght()?),
            "diht" => {
                let own = Diht::default();
                Box::new(Diht { step: self.dual_step(), limits: self.limits(own.limits), ..own })
            }
            "sdiht" => {
                let own = Sdiht::default();
                let (blocks, limits) = (count(self.blocks), self.limits(own.limits));
                Box::new(Sdiht { blocks, seed: self.seed, step: self.dual_step(), limits, ..own })
            }
            "exact" => Box::new(Exact { limits: self.limits(Exact::default().limits) }),
            name => solver::by_name(name)?,
        })
    }

    /// `Err` where `--effort` was given: a network is searched for in one way.
    pub fn refuse_effort(&self) -> Result<()> {
        match self.effort {
            Some(_) => Err(Failure::Input("--effort is for `fit` and `path`: leave it out for networks".to_string())),
            None => Ok(()),
        }
    }

    /// The threads asked for, within reason: thousands take longer to start than most fits.
    pub fn pool(&self, screen: Screen) -> Result<Threads> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let most = (4 * cores).max(64);
        if self.threads > most {
            screen
                .note(&format!("--threads {}: taking {most}, as more of them only wait for each other", self.threads));
        }
        Ok(Threads::new(self.threads.min(most))?)
    }

    fn svrght(&self) -> Result<Svrght> {
        let step = match self.step {
            Step::Adaptive => None,
            Step::Fixed(eta) => Some(eta),
            Step::Theory => {
                let message = "`svrght` has no --step theory: leave it out, or give a number";
                return Err(Failure::Input(message.to_string()));
            }
        };
        let own = Svrght::default();
        Ok(Svrght { batch: count(self.batch), seed: self.seed, step, limits: self.limits(own.limits), ..own })
    }

    fn dual_step(&self) -> DualStep {
        match self.step {
            Step::Adaptive => DualStep::Adaptive,
            Step::Theory => DualStep::Theory,
            Step::Fixed(eta) => DualStep::Fixed(eta),
        }
    }

    /// The time limit.
    pub fn time_limit(&self) -> Option<Duration> {
        // A limit beyond what a Duration holds is no limit.
        self.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }

    /// The method's own limits with what was given in their place.
    pub fn limits(&self, own: Limits) -> Limits {
        Limits {
            tolerance: self.tol.unwrap_or(own.tolerance),
            max_iterations: self.max_iter.map_or(own.max_iterations, |n| usize::try_from(n).unwrap_or(usize::MAX)),
            time_limit: self.time_limit(),
        }
    }
}

fn count(given: Option<u64>) -> Option<usize> {
    given.map(|n| usize::try_from(n).unwrap_or(usize::MAX))
}
