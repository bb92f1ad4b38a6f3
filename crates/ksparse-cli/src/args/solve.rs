//! `--solver` and how long it may run: options become a solver by the library's table.

use super::parse;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::screen::Screen;
use ksparse::Threads;
use ksparse::solver::{self, Limits, METHODS, Settings, Solver, Value};
use std::fmt::Write;
use std::time::Duration;

const EFFORT: &str = "How much to search where searching is cheap: quick (one descent), normal, thorough (ten times \
    normal's local searches), or a number: so many times normal";
const STEP: &str = "Length of a gradient step: auto (needs no tuning), theory (as in the theorems) or a number";
const BLOCKS: &str = "; default: as many as make the rows of a step about as dear as its search for the k largest";

/// How the model is searched for.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Search")]
pub struct SolverArgs {
    /// The method (see below); auto is the best of them
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = solver::NAMES)]
    pub solver: String,

    #[arg(long, value_name = "quick|normal|thorough|N", value_parser = parse::effort,
          allow_hyphen_values = true,
          help = owned(EFFORT, "effort", "; default: normal"))]
    pub effort: Option<Value>,

    #[arg(long, value_name = "auto|theory|NUMBER", default_value = "auto", value_parser = parse::step,
          hide_default_value = true, allow_hyphen_values = true,
          help = owned(STEP, "step", "; svrght knows no theory"))]
    pub step: parse::Step,

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

    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..),
          help = owned("Blocks of samples", "blocks", BLOCKS))]
    pub blocks: Option<u64>,

    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u64).range(1..),
          help = owned("Rows in a mini-batch", "batch", "; default: by k and the sizes of the rows"))]
    pub batch: Option<u64>,

    /// Threads; the answer does not depend on it [default: one per core; at most 64, or four per core if that is more]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub threads: usize,
}

/// The solvers that have an option.
fn owners(option: &str) -> String {
    METHODS.iter().filter(|method| method.has_option(option)).map(|method| method.name).collect::<Vec<_>>().join(", ")
}

fn owned(what: &str, option: &str, more: &str) -> String {
    format!("{what} [{}{more}]", owners(option))
}

/// The solvers, a line each, for the help of `fit`.
pub fn explained() -> String {
    let mut text = String::from("Solvers, and what each is for:\n");
    for method in METHODS {
        let _ = writeln!(text, "  {:12}  {}", method.name, method.about);
    }
    text
}

impl SolverArgs {
    /// The solver with its options; `Err` for one that belongs to another.
    pub fn build(&self) -> Result<Box<dyn Solver>> {
        let method = solver::method(&self.solver)?;
        let number = |given: Option<u64>| given.map(|n| Value::Number(n as f64));
        let options = [
            ("step", self.step.0.clone()),
            ("blocks", number(self.blocks)),
            ("batch", number(self.batch)),
            ("effort", self.effort.clone()),
        ];
        let mut settings = self.settings();
        for (name, value) in options {
            let Some(value) = value else { continue };
            if !method.has_option(name) {
                let (owners, solver) = (owners(name), method.name);
                return Err(Failure::Input(format!(
                    "--{name} is for --solver {owners}, not for `{solver}`: leave it out, or take one of those"
                )));
            }
            settings.options.push((name.to_string(), value));
        }
        Ok(method.build(&settings)?)
    }

    fn settings(&self) -> Settings {
        Settings {
            tolerance: self.tol,
            max_iterations: self.max_iter.map(|n| usize::try_from(n).unwrap_or(usize::MAX)),
            time_limit: self.time_limit(),
            cancel: interrupt::token(),
            seed: Some(self.seed),
            ..Settings::default()
        }
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

    /// The time limit.
    pub fn time_limit(&self) -> Option<Duration> {
        // A limit beyond what a Duration holds is no limit.
        self.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }

    /// The method's own limits with what was given in their place.
    pub fn limits(&self, own: Limits) -> Limits {
        self.settings().limits(own)
    }
}
