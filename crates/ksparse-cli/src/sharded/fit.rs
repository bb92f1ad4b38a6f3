//! `ksparse fit` on data in several files.

use super::Files;
use super::rounds::MappedRounds;
use crate::args::device::Place;
use crate::args::parse::FitK;
use crate::commands::fit::{FitArgs, deliver, trace};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::joint::Task;
use crate::outcome::{Fitted, Times};
use crate::prepared::Prepared;
use crate::progress::Watcher;
use crate::screen::Screen;
use ksparse::Solver;
use ksparse::objective::{Communication, Summed, SummedOptions};
use ksparse::solver::WorkingSet;
use ksparse_io::Need;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
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

pub fn run(args: &FitArgs, paths: Vec<PathBuf>, solver: &dyn Solver, screen: Screen) -> Result<()> {
    let reading = &args.data.reading;
    refuse(args)?;
    let (files, data) = Files::open(paths, reading.options(Need::Required)?, &args.data.data, screen)?;
    if Task::asked(&data, &args.loss, &args.survival, reading.positive.as_deref())?.is_some() {
        let message = "survival times and more than two classes are not fitted over several files: fit one file, or \
                       make two classes with --positive";
        return Err(Failure::Input(message.to_string()));
    }
    let prepared = Prepared::new(data, reading, &args.loss, args.keep.as_ref(), args.groups.as_deref(), screen)?;
    let FitK::Given(k) = args.k else { return Err(Failure::Input(NO_CHOICE.to_string())) };
    let k = prepared.at_most_all(k, screen);
    let few = WorkingSet { limits: args.solver.limits(ksparse::solver::Limits::default()) };
    let solver: &dyn Solver = if solver.name() == "auto" { &few } else { solver };
    let started = Instant::now();
    let table = &prepared.data.table;
    let rounds = MappedRounds {
        files: &files,
        loss: &*prepared.task.loss,
        target: &prepared.task.y,
        weights: table.weights.as_deref(),
        offset: table.offset.as_deref(),
        cancel: interrupt::token(),
        read: AtomicU64::new(0),
    };
    let options = SummedOptions {
        ridge: prepared.lambda,
        intercept: prepared.intercept,
        standardize: prepared.standardize,
        penalty_factors: prepared.penalty_factors.clone().unwrap_or_default(),
    };
    let watcher = Watcher::spinner(screen, solver.name()).over(table.ncols(), 1);
    let (summed, solution) = interrupt::listening(|| {
        let summed = Summed::new(&rounds, &*prepared.task.loss, options)?;
        let solution = solver.solve(&summed, &prepared.sparsity(k), None, &mut |at| watcher.iteration(at))?;
        Ok((summed, solution))
    })
    .map_err(|error| prepared.blame(error))?;
    drop(watcher);
    let times = Times { fit: started.elapsed().as_secs_f64(), read: prepared.data.seconds };
    let Communication { rounds: asked, up, down, seconds } = summed.communication();
    let read = rounds.read.load(Ordering::Relaxed);
    let shards = Shards {
        shards: files.paths.len(),
        rounds: asked,
        bytes_up: up,
        bytes_down: down,
        waiting_seconds: seconds,
        bytes_read: read,
        passes: read as f64 / files.total().max(1) as f64,
    };
    let fitted =
        Fitted::new(&prepared, summed.model(&solution), &solution, &args.solver.called(solver), k).with_shards(shards);
    let others = [(&args.trace, args.trace.is_some().then(|| trace(&solution.trace)))];
    deliver(args, &fitted, times, &others, screen)
}

const NO_CHOICE: &str = "-k auto chooses by cross-validation over rows, which several files are not read for: give a \
    number, or choose on one of the files";

/// What needs single rows of all files at once.
fn refuse(args: &FitArgs) -> Result<()> {
    let others = [
        ("--certify", args.certify.is_some()),
        ("--plot-gap", args.plot_gap.is_some()),
        ("--groups", args.groups.is_some()),
        ("--start", args.start.is_some()),
        ("--dual", args.dual.is_some()),
        ("--nonnegative, --lower or --upper", args.bounds.given()),
        ("--device", args.device.device != Place::Processor),
        ("--target-file", args.data.reading.target_file.is_some()),
    ];
    match others.iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(Failure::Input(format!("{option} is not for data in several files: leave it out, or fit one file")))
        }
        None => Ok(()),
    }
}
