//! `--solver` and how long it may run: options become a solver by the library's table.

use super::options::{SolverOptions, flag};
use super::parse;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::screen::Screen;
use ksparse::Threads;
use ksparse::solver::{self, Limits, METHODS, Settings, Solver};
use std::fmt::Write;
use std::time::Duration;

/// How the model is searched for.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Search")]
pub struct SolverArgs {
    /// The method (see below); auto is the best of them
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = solver::NAMES)]
    pub solver: String,

    #[command(flatten)]
    pub options: SolverOptions,

    /// Stop when an iteration moves x by less than T ||x|| [default: 1e-4]; diht, sdiht: when the relative gap is at
    /// most T, or neither side has moved by a tenth of that for 50 iterations [default: 1e-4]; exact: when the relative
    /// gap is at most T [default: 1e-6]
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

    /// Threads; the answer does not depend on it [default: one per core; at most 64, or four per core if that is more]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub threads: usize,
}

/// The solvers, a line each, for the help of `fit`.
pub fn explained() -> String {
    let mut text = String::from("Solvers, and what each is for (* as in its paper with --published):\n");
    for method in METHODS {
        let mark = if method.published().is_some() { "*" } else { "" };
        let _ = writeln!(text, "  {:12}{mark:1} {}", method.name, method.about);
    }
    let _ = writeln!(text, "What --published sets, unless it is given too:");
    for method in METHODS {
        let Some(settings) = method.published() else { continue };
        let said: Vec<String> = settings.iter().map(|(name, value)| format!("{} {value}", flag(name))).collect();
        let said = if said.is_empty() { "nothing: the default is as published".to_string() } else { said.join(", ") };
        let _ = writeln!(text, "  {:12}  {said}", method.name);
    }
    text
}

impl SolverArgs {
    /// The solver with its options; `Err` for one that belongs to another.
    pub fn build(&self) -> Result<Box<dyn Solver>> {
        let method = solver::method(&self.solver)?;
        let settings = Settings { options: self.options.of(method)?, ..self.settings() };
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

    /// What this solver is called in results: its name, and whether it is the method as published.
    pub fn called(&self, solver: &dyn Solver) -> String {
        let published = if self.options.published() { " as published" } else { "" };
        format!("{}{published}", solver.name())
    }

    /// `Err` where `--effort` was given: a network is searched for in one way.
    pub fn refuse_effort(&self) -> Result<()> {
        match self.options.has("effort") {
            true => Err(Failure::Input("--effort is for `fit` and `path`: leave it out for networks".to_string())),
            false => Ok(()),
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
