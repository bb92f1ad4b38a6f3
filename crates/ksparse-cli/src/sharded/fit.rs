//! `ksparse fit` on data in several files.

use super::choose::{Request, choose};
use super::rounds::MappedRounds;
use super::{Asked, Files, opened};
use crate::args::device::Place;
use crate::args::parse::FitK;
use crate::commands::fit::{FitArgs, deliver, trace};
use crate::failure::Result;
use crate::interrupt;
use crate::outcome::{Fitted, Times};
use crate::prepared::Prepared;
use crate::progress::Watcher;
use crate::screen::Screen;
use ksparse::Solver;
use ksparse::objective::{Communication, Summed, SummedOptions};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// What a fit over files has taken, for `--json` and the table.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Shards {
    pub shards: usize,
    pub rounds: u64,
    pub bytes_up: u64,
    pub bytes_down: u64,
    pub waiting_seconds: f64,
    pub bytes_read: u64,
    /// How often each byte of the matrices was read, on average.
    pub passes: f64,
}

impl Shards {
    pub fn new(files: &Files, rounds: &MappedRounds, said: Communication) -> Self {
        let read = rounds.read.load(Ordering::Relaxed);
        Self {
            shards: files.paths.len(),
            rounds: said.rounds,
            bytes_up: said.up,
            bytes_down: said.down,
            waiting_seconds: said.seconds,
            bytes_read: read,
            passes: read as f64 / files.total().max(1) as f64,
        }
    }
}

impl Display for Shards {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { shards, rounds, passes, .. } = self;
        write!(f, "{shards}, {rounds} rounds over them, each byte read {passes:.1} times")
    }
}

pub fn run(args: &FitArgs, paths: Vec<PathBuf>, solver: &dyn Solver, screen: Screen) -> Result<()> {
    refuse(args)?;
    let (data, loss, survival) = (&args.data, &args.loss, &args.survival);
    let asked = Asked { data, loss, survival, keep: args.keep.as_ref(), solver: &args.solver };
    let (files, prepared, few) = opened(&asked, paths, screen)?;
    let solver: &dyn Solver = if solver.name() == "auto" { &few } else { solver };
    let started = Instant::now();
    let k = match args.k {
        FitK::Given(k) => prepared.at_most_all(k, screen),
        FitK::Auto => {
            let request = Request::automatic(args.validation.request(None, &args.loss, &args.solver)?);
            let made = choose(&files, &prepared, &request, solver, screen)?;
            let times = Times { fit: started.elapsed().as_secs_f64(), read: prepared.data.seconds };
            let found = &made.selection.solution;
            let others = [(&args.trace, args.trace.is_some().then(|| trace(&found.trace)))];
            return deliver(args, &made.fitted(&prepared, &args.solver.called(solver)), times, &others, screen);
        }
    };
    let table = &prepared.data.table;
    let rounds = MappedRounds::new(&files, &prepared);
    let options = SummedOptions { ridge: prepared.lambda, ..options(&prepared) };
    let watcher = Watcher::spinner(screen, solver.name()).over(table.ncols(), 1);
    let (summed, solution) = interrupt::listening(|| {
        let summed = Summed::new(&rounds, &*prepared.task.loss, options)?;
        let solution = solver.solve(&summed, &prepared.sparsity(k), None, &mut |at| watcher.iteration(at))?;
        Ok((summed, solution))
    })
    .map_err(|error| prepared.blame(error))?;
    drop(watcher);
    let times = Times { fit: started.elapsed().as_secs_f64(), read: prepared.data.seconds };
    let shards = Shards::new(&files, &rounds, summed.communication());
    let fitted =
        Fitted::new(&prepared, summed.model(&solution), &solution, &args.solver.called(solver), k).with_shards(shards);
    let others = [(&args.trace, args.trace.is_some().then(|| trace(&solution.trace)))];
    deliver(args, &fitted, times, &others, screen)
}

/// What the objective is besides its ridge.
pub fn options(prepared: &Prepared) -> SummedOptions {
    SummedOptions {
        ridge: 0.0,
        intercept: prepared.intercept,
        standardize: prepared.standardize,
        penalty_factors: prepared.penalty_factors.clone().unwrap_or_default(),
    }
}

/// What needs single rows of all files at once.
fn refuse(args: &FitArgs) -> Result<()> {
    super::refuse(&[
        ("--certify", args.certify.is_some()),
        ("--plot-gap", args.plot_gap.is_some()),
        ("--metric auc", args.validation.metric.as_deref() == Some("auc")),
        ("--groups", args.groups.is_some()),
        ("--start", args.start.is_some()),
        ("--dual", args.dual.is_some()),
        ("--nonnegative, --lower or --upper", args.bounds.given()),
        ("--total", args.bounds.total.is_some()),
        ("--device", args.device.device != Place::Processor),
        ("--target-file", args.data.reading.target_file.is_some()),
    ])
}
