//! `ksparse fit`: one k, one model.

use crate::args::data::DataArgs;
use crate::args::loss::LossArgs;
use crate::args::parse::{self, Words};
use crate::args::solve::SolverArgs;
use crate::failure::Result;
use crate::interrupt;
use crate::outcome::{Fitted, Times};
use crate::output;
use crate::prepared::Prepared;
use crate::progress::Watcher;
use crate::screen::Screen;
use ksparse::solver::TraceRow;
use ksparse::{Solver, Sparsity, Threads};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Fit a model with at most k non-zero coefficients
#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER, after_help = "`ksparse fit --help` explains lambda and the solvers and shows examples.")]
pub struct FitArgs {
    #[command(flatten)]
    pub data: DataArgs,

    /// How many coefficients may be non-zero (the intercept and --keep are not counted; more than there are columns means all)
    #[arg(short, value_name = "K", help_heading = "Model", required = true, value_parser = parse::one_k, allow_hyphen_values = true)]
    pub k: usize,

    /// Columns that are in whatever they do for f, beside the k: names, or numbers counted from 1, separated by commas
    #[arg(long, value_name = "COLS", help_heading = "Model", value_parser = parse::words, allow_hyphen_values = true)]
    pub keep: Option<Words>,

    #[command(flatten)]
    pub loss: LossArgs,

    #[command(flatten)]
    pub solver: SolverArgs,

    /// Write the model here (readable JSON, for `ksparse predict` and `ksparse show`)
    #[arg(short, long, value_name = "MODEL", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Print one JSON object instead of a table
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Write one line per iteration here (CSV: iteration, objective, entered, left, step, seconds)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub trace: Option<PathBuf>,
}

const AFTER: &str = "\
What is minimised:
  f(w, b) = (sum_i c_i loss(x_i'w + b, y_i)) / (sum_i c_i) + lambda/2 ||w||^2,   at most k entries of w non-zero.
  A mean, not a sum: the same lambda means the same for 100 rows and for a million. c are the sample weights (1 unless
  --weights). The intercept b is not penalised. The default lambda is 0 for squared loss, whose minimum exists without a ridge.
  For the other losses it is 1e-5: when k columns separate the two classes f would fall for ever without a ridge. The ridge depends on
  the units of the columns; --standardize makes them comparable. To compare with a sum of losses + 1/(2C) ||w||^2: lambda = 1/(C n).

Losses (y = -1 or +1 for all but squared; m = y z, z the prediction):
  squared        (y - z)^2 / 2             regression
  logistic       log(1 + exp(-c m))        classification with probabilities; c is --logistic-scale
  squared-hinge  max(0, 1 - m)^2 / 2       L2 support vector machine
  huber          the hinge, smoothed over a width of --huber-gamma
  hinge          max(0, 1 - m)             support vector machine; not every solver can

Solvers, and what each is for:
  auto     an answer: GraHTP, then wider moves and exchanges scored by second derivatives where these are affordable
  grahtp   the published method (Yuan, Li, Zhang 2014): gradient step, keep k, minimise on them; few iterations
  fgrahtp  the same without the inner minimisation: very cheap iterations, many of them, a rougher answer
  htp      GraHTP with the step on the sum of squares, as Foucart (2011) writes it for least squares
  iht      FGraHTP likewise (Blumensath, Davies 2009)
  grasp    another way through the supports (Bahmani, Raj, Boufounos 2013): minimise on up to 3k columns, cut to k
  fbs      an order of importance: one column at a time, none ever dropped (orthogonal matching pursuit)
  foba     the same with second thoughts (Zhang 2008): drops columns again that have become cheap

Examples (the first line makes the data):
  ksparse simulate linear --rows 200 --cols 1000 --nonzeros 10 -o data.csv
  ksparse fit data.csv -k 10
  ksparse fit data.csv -k 10 --standardize --lambda 1e-3 -o model.json
  ksparse fit data.csv -k 10 --solver fbs --json";

pub fn run(args: &FitArgs, screen: Screen) -> Result<()> {
    let solver = args.solver.build()?;
    output::check(&[&args.output, &args.trace])?;
    let threads = Threads::new(args.solver.threads)?;
    threads.run(|| fit(args, &*solver, screen))
}

fn fit(args: &FitArgs, solver: &dyn Solver, screen: Screen) -> Result<()> {
    let prepared = Prepared::read(&args.data, &args.loss, args.keep.as_ref(), screen)?;
    let k = prepared.at_most_all(args.k, screen);
    let started = Instant::now();
    let training = prepared.problem().on_all_rows().map_err(|error| prepared.blame(error))?;
    let risk = training.risk.reridged(prepared.lambda)?;
    let sparsity = Sparsity::new(k).keep(prepared.keep.iter().copied());
    let watcher = Watcher::spinner(screen, solver.name());
    let solution = interrupt::listening(|| solver.solve(&risk, &sparsity, None, &mut |at| watcher.iteration(at)))
        .map_err(|error| prepared.blame(error))?;
    drop(watcher);
    let times = Times { fit: started.elapsed().as_secs_f64(), read: prepared.data.seconds };
    let fitted = Fitted::new(&prepared, &training, &solution, solver.name(), k);
    let files = [
        (&args.trace, args.trace.is_some().then(|| trace(&solution.trace))),
        (&args.output, args.output.is_some().then(|| fitted.model.to_json())),
    ];
    let written = output::write_all(&files);
    if output::to_standard_output(&[&args.output, &args.trace]) {
        return written;
    }
    // Even where a file could not be written: the result is not lost.
    let text = match args.json {
        true => fitted.json(times),
        false => fitted.table(times, args.output.as_deref().filter(|_| written.is_ok()), screen.verbose),
    };
    screen.print(&text).and(written)
}

/// The iterations as CSV.
fn trace(rows: &[TraceRow]) -> String {
    let mut text = "iteration,objective,entered,left,step,seconds\n".to_string();
    for row in rows {
        let step = row.step.map_or(String::new(), |step| step.to_string());
        let TraceRow { iteration, value, entered, left, seconds, .. } = row;
        let _ = writeln!(text, "{iteration},{value},{entered},{left},{step},{seconds}");
    }
    text
}
