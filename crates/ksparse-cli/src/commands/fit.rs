//! `ksparse fit`: one k, one model.

use crate::args::bounds::{BOUNDS, BoundArgs};
use crate::args::choice::ValidationArgs;
use crate::args::columns;
use crate::args::data::DataArgs;
use crate::args::device::DeviceArgs;
use crate::args::loss::{self, LossArgs};
use crate::args::moments::MomentArgs;
use crate::args::parse::{self, FitK, Words};
use crate::args::solve::{self, SolverArgs};
use crate::args::survival::SurvivalArgs;
use crate::certified::{Certified, needs_ridge};
use crate::data::Data;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::joint::{self, Task};
use crate::model_file;
use crate::outcome::{Fitted, Times};
use crate::output;
use crate::prepared::Prepared;
use crate::progress::Watcher;
use crate::screen::Screen;
use crate::sharded;
use ksparse::solver::{Needs, TraceRow};
use ksparse::{Progress, Solver};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Fit a model with at most k non-zero coefficients
#[derive(Debug, clap::Args)]
#[command(after_long_help = after(), after_help = "`ksparse fit --help` explains lambda and the solvers and shows \
    examples.")]
pub struct FitArgs {
    #[command(flatten)]
    pub data: DataArgs,

    #[command(flatten)]
    pub moments: MomentArgs,

    /// How many coefficients may be non-zero (the intercept and --keep are not counted; more than there are columns
    /// means all); `auto`: chosen with the ridges by cross-validation, as `ksparse path DATA` does
    #[arg(short, value_name = "K", help_heading = "Model", required = true,
          value_parser = parse::fit_k, allow_hyphen_values = true)]
    pub k: FitK,

    /// Columns that are in whatever they do for f, beside the k: names, or numbers counted from 1, separated by commas
    #[arg(long, value_name = "COLS", help_heading = "Model", value_parser = parse::words, allow_hyphen_values = true)]
    pub keep: Option<Words>,

    /// Columns that are in or out together, and count as one in k: a file with a group in every line, names or numbers
    /// separated by commas; columns in none stand alone
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub groups: Option<PathBuf>,

    #[command(flatten)]
    pub bounds: BoundArgs,

    #[command(flatten)]
    pub validation: ValidationArgs,

    #[command(flatten)]
    pub loss: LossArgs,

    #[command(flatten)]
    pub survival: SurvivalArgs,

    #[command(flatten)]
    pub solver: SolverArgs,

    /// Start from this model of the same columns, as `ksparse fit -o` has written it [default: from zero]
    #[arg(long, value_name = "MODEL", help_heading = "Search")]
    pub start: Option<PathBuf>,

    #[command(flatten)]
    pub device: DeviceArgs,

    /// Prove how far the model can be from the best of its size: search for a lower bound on f for at most SECONDS
    /// [default: 60]. Needs lambda > 0
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "60",
          value_parser = parse::certify_seconds, allow_negative_numbers = true, help_heading = "Search")]
    pub certify: Option<f64>,

    /// Write the model here (readable JSON, for `ksparse predict` and `ksparse show`)
    #[arg(short, long, value_name = "MODEL", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Print one JSON object instead of a table
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Write one line per iteration here (CSV: iteration, objective, entered, left, step, refits so far, seconds; bound
    /// and gap where the solver knows them; with --device tasks started there and bytes copied to and fro)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub trace: Option<PathBuf>,

    /// Write the dual vector of the best bound here, one number per row; with --solver diht or sdiht
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub dual: Option<PathBuf>,

    /// Draw the gap between f and its bound against the epochs of the search here (SVG); with --certify or --solver
    /// exact, diht, sdiht
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot_gap: Option<PathBuf>,
}

const AFTER: &str = "\
What is minimised:
  f(w, b) = (sum_i c_i loss(x_i'w + b, y_i)) / (sum_i c_i) + lambda/2 ||w||^2,   at most k entries of w non-zero.
  A mean, not a sum: the same lambda means the same for 100 rows and for a million. c are the sample weights (1 unless
  --weights). The intercept b is not penalised. The default lambda is 0 for squared loss, robust and gamma, which have \
  a minimum without a ridge.
  For the other losses it is 1e-5: when k columns separate the two classes f would fall for ever without a ridge. The \
  ridge depends on
  the units of the columns; --standardize makes them comparable. To compare with a sum of losses + 1/(2C) ||w||^2: \
  lambda = 1/(C n).

{losses}
{solvers}
How far from the best:
  Finding the best k columns is NP-hard, so a search returns a good model without knowing whether there is a better \
  one. With lambda > 0,
  --certify proves a lower bound: no model of this size has a lower f. A gap of 0 proves the model optimal. A wide gap \
  proves
  nothing against it: the bound is weak where lambda is tiny or columns are much alike. --solver exact closes the gap \
  where it can.

Examples (the first line makes the data):
  ksparse simulate linear --rows 200 --cols 1000 --nonzeros 10 -o data.csv
  ksparse fit data.csv -k 10
  ksparse fit data.csv -k auto -o model.json
  ksparse fit data.csv -k auto --cv 10 --rule best
  ksparse fit data.csv -k 10 --standardize --lambda 1e-3 -o model.json
  ksparse fit data.csv -k 10 --solver fbs --json
  ksparse fit data.csv -k 10 --lambda 0.1 --certify --plot-gap gap.svg
  ksparse fit data.csv -k 5 --lambda 0.1 --solver exact --time-limit 60
  ksparse convert data.csv parts --shards 4
  ksparse fit parts -k 10";

/// The tables of the library in their places.
fn after() -> String {
    AFTER.replace("{losses}", &loss::explained()).replace("{solvers}", &solve::explained())
}

pub fn run(args: &FitArgs, screen: Screen) -> Result<()> {
    let solver = args.solver.build()?;
    if let (FitK::Given(k), Some(option)) = (&args.k, args.validation.given()) {
        return Err(Failure::Input(format!(
            "{option} is about the choice of k: say -k auto, or compare sizes by `ksparse path -k 1:{k} --cv 5`"
        )));
    }
    let files = sharded::find(&args.data.data)?;
    let read = files.clone().unwrap_or_else(|| args.data.files());
    let listed = args.bounds.files().chain(columns::file(args.loss.penalty_factors.as_deref())).collect();
    let inputs = [read, listed, args.groups.iter().chain(&args.start).cloned().collect()].concat();
    output::check(&[&args.output, &args.trace, &args.dual, &args.plot_gap], &inputs)?;
    let threads = args.solver.pool(screen)?;
    threads.run(|| match files {
        Some(files) => sharded::fit::run(args, files, &*solver, screen),
        None => fit(args, &*solver, screen),
    })
}

fn fit(args: &FitArgs, solver: &dyn Solver, screen: Screen) -> Result<()> {
    if args.moments.gram {
        return fit_moments(args, solver, screen);
    }
    let data = args.survival.read(&args.data, screen)?;
    let reading = &args.data.reading;
    if let Some(task) = Task::asked(&data, &args.loss, &args.survival, reading.positive.as_deref())? {
        return fit_jointly(args, data, task, solver, screen);
    }
    let prepared = Prepared::new(data, reading, &args.loss, args.keep.as_ref(), args.groups.as_deref(), screen)?;
    fit_single(args, prepared, solver, screen)
}

/// Sums of products in place of rows.
fn fit_moments(args: &FitArgs, solver: &dyn Solver, screen: Screen) -> Result<()> {
    if matches!(args.k, FitK::Auto) {
        let message = "-k auto holds rows out, and --gram has none: give a number, or let `path` choose by --criterion";
        return Err(Failure::Input(message.to_string()));
    }
    let (data, intercept) = args.moments.read(&args.data, screen)?;
    let (keep, groups) = (args.keep.as_ref(), args.groups.as_deref());
    let mut prepared = Prepared::new(data, &args.data.reading, &args.loss, keep, groups, screen)?;
    prepared.intercept &= intercept;
    fit_single(args, prepared, solver, screen)
}

/// A target that is a number per row.
fn fit_single(args: &FitArgs, prepared: Prepared, solver: &dyn Solver, screen: Screen) -> Result<()> {
    args.bounds.check(solver)?;
    let prepared = prepared.within(&args.bounds)?.on(&args.device)?;
    let k = match args.k {
        FitK::Auto => return choose(args, &prepared, solver, screen),
        FitK::Given(k) => prepared.at_most_all(k, screen),
    };
    if args.certify.is_some() && (args.bounds.given() || args.bounds.total.is_some()) {
        return Err(Failure::Input(format!(
            "{BOUNDS}, --total: leave out --certify, whose bound knows nothing of them"
        )));
    }
    let knows = ksparse::solver::method(solver.name())?.knows_bound;
    if args.plot_gap.is_some() && args.certify.is_none() && !knows {
        let message = "--plot-gap needs a bound: add --certify, or take --solver exact, diht or sdiht";
        return Err(Failure::Input(message.to_string()));
    }
    let dual = ksparse::solver::method(solver.name())?.needs == Needs::Ridge && solver.name() != "exact";
    if args.dual.is_some() && !dual {
        return Err(Failure::Input("--dual is for --solver diht and sdiht, which have a dual vector".to_string()));
    }
    // Least squares need none where X'X has full rank, which the search finds out.
    if knows && !(solver.name() == "exact" && prepared.task.loss.is_quadratic()) {
        needs_ridge(&format!("--solver {}", solver.name()), prepared.lambda)?;
    }
    if args.certify.is_some() {
        needs_ridge("--certify", prepared.lambda)?;
    }
    let started = Instant::now();
    let training = prepared.problem().on_all_rows().map_err(|error| prepared.blame(error))?;
    let risk = training.risk.reridged(prepared.lambda)?;
    let sparsity = prepared.sparsity(k);
    let start = args.start.as_deref().map(|file| model_file::load_start(file, &prepared.data)).transpose()?;
    let start = start.map(|model| training.start(&model));
    let watcher = Watcher::spinner(screen, solver.name()).over(prepared.data.table.ncols(), 1);
    let mut watch = |at: &Progress| watcher.iteration(at);
    let solution =
        interrupt::listening(|| training.solve(prepared.lambda, solver, &sparsity, start.as_ref(), &mut watch))
            .map_err(|error| prepared.blame(error))?;
    drop(watcher);
    let held = training.held_back(prepared.lambda, &solution)?;
    let times = Times { fit: started.elapsed().as_secs_f64(), read: prepared.data.seconds };
    let certified = match args.certify {
        Some(limit) => {
            let search = || Certified::by_search(&risk, &sparsity, &solution, limit, screen);
            Some(interrupt::listening(search)?)
        }
        None => Certified::by_solver(&solution),
    };
    let bound = certified.as_ref().map(|certified| certified.bound);
    let fitted = Fitted::new(&prepared, training.model(&solution), &solution, &args.solver.called(solver), k);
    let fitted = fitted.with_bound(bound).held_back(held);
    let picture = || certified.as_ref().map(|certified| certified.plot(&prepared.data.table.source));
    let others = [
        (&args.trace, args.trace.is_some().then(|| trace(&solution.trace))),
        (&args.dual, args.dual.as_ref().and(solution.dual_vector.as_deref()).map(column)),
        (&args.plot_gap, args.plot_gap.as_ref().and_then(|_| picture())),
    ];
    deliver(args, &fitted, times, &others, screen)
}

/// A target that is more than a number per row.
fn fit_jointly(args: &FitArgs, data: Data, task: Task, solver: &dyn Solver, screen: Screen) -> Result<()> {
    let others = [
        ("--certify", args.certify.is_some()),
        ("--plot-gap", args.plot_gap.is_some()),
        ("--trace", args.trace.is_some()),
        ("--start", args.start.is_some()),
        ("--dual", args.dual.is_some()),
        ("--offset", args.data.reading.offset.is_some()),
    ];
    joint::fit::refuse(&task, &others)?;
    args.bounds.check(solver)?;
    args.bounds.check_no_total()?;
    let request = joint::fit::Request {
        data,
        task,
        keep: args.keep.as_ref(),
        groups: args.groups.as_deref(),
        bounds: &args.bounds,
        survival: &args.survival,
        loss: &args.loss,
        device: &args.device,
        choice: match args.k {
            FitK::Auto => joint::fit::Choice::compared(None, None, &args.validation, &args.solver)?,
            FitK::Given(k) => joint::fit::Choice::Given(k),
        },
        solver,
        seed: args.solver.seed,
        output: &args.output,
        json: args.json,
    };
    joint::fit::run(&request, screen)
}

/// Chooses k and the ridges, and shows the model alone.
fn choose(args: &FitArgs, prepared: &Prepared, solver: &dyn Solver, screen: Screen) -> Result<()> {
    if args.certify.is_some() || args.plot_gap.is_some() || args.start.is_some() || args.dual.is_some() {
        let message = "--certify, --plot-gap, --start and --dual are about one k: choose first, then say it with -k";
        return Err(Failure::Input(message.to_string()));
    }
    let started = Instant::now();
    let made = args.validation.request(None, &args.loss, &args.solver)?.choose(prepared, solver, screen)?;
    let training = prepared.problem().on_all_rows().map_err(|error| prepared.blame(error))?;
    let times = Times { fit: started.elapsed().as_secs_f64(), read: prepared.data.seconds };
    let chosen = &made.chosen;
    let solution = &chosen.predictors[0].solution;
    let fitted = Fitted::new(prepared, training.model(solution), solution, &args.solver.called(solver), chosen.k);
    let fitted = fitted.with_lambda(chosen.refit).selected_under(chosen.lambda);
    let fitted = fitted.held_back(training.held_back(chosen.refit, solution)?);
    deliver(args, &fitted, times, &[(&args.trace, args.trace.is_some().then(|| trace(&solution.trace)))], screen)
}

/// Writes the model and the other files, and prints the table or the JSON object.
pub fn deliver(args: &FitArgs, fitted: &Fitted, times: Times, others: &[output::File], screen: Screen) -> Result<()> {
    let mut files = vec![(&args.output, args.output.is_some().then(|| fitted.model.to_json()))];
    files.extend(others.iter().cloned());
    let written = output::write_all(&files);
    if output::to_standard_output(&[&args.output, &args.trace, &args.dual, &args.plot_gap]) {
        return written;
    }
    // Even where a file could not be written: the result is not lost.
    let text = match args.json {
        true => fitted.json(times),
        false => fitted.table(times, args.output.as_deref().filter(|_| written.is_ok()), screen.verbose),
    };
    screen.print(&text).and(written)
}

/// A number in every line.
fn column(values: &[f64]) -> String {
    values.iter().fold(String::new(), |mut text, value| {
        let _ = writeln!(text, "{value}");
        text
    })
}

/// The iterations as CSV.
pub fn trace(rows: &[TraceRow]) -> String {
    let bounded = rows.iter().any(|row| row.dual.is_some());
    let travelled = rows.iter().any(|row| row.traffic.is_some());
    let mut text = "iteration,objective,entered,left,step,refits,seconds".to_string();
    text.push_str(if bounded { ",bound,gap" } else { "" });
    text.push_str(if travelled { ",launches,uploaded_bytes,downloaded_bytes\n" } else { "\n" });
    for row in rows {
        let step = row.step.map_or(String::new(), |step| step.to_string());
        let TraceRow { iteration, value, entered, left, refits, seconds, .. } = row;
        let _ = write!(text, "{iteration},{value},{entered},{left},{step},{refits},{seconds}");
        match row.dual.filter(|_| bounded) {
            Some(bound) => text.push_str(&format!(",{bound},{}", value - bound)),
            None if bounded => text.push_str(",,"),
            None => (),
        }
        if let Some(traffic) = &row.traffic {
            let _ = write!(text, ",{},{},{}", traffic.launches, traffic.uploaded, traffic.downloaded);
        }
        text.push('\n');
    }
    text
}
