//! `ksparse path`: every k of a range, and the choice among them.

use crate::args::bounds::BoundArgs;
use crate::args::choice::ChoiceArgs;
use crate::args::columns;
use crate::args::data::DataArgs;
use crate::args::device::DeviceArgs;
use crate::args::loss::LossArgs;
use crate::args::moments::MomentArgs;
use crate::args::parse::{self, Ks, Lambdas, Words};
use crate::args::solve::SolverArgs;
use crate::args::survival::SurvivalArgs;
use crate::choosing::{dealt, words};
use crate::data::Data;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::joint::{self, Task};
use crate::outcome::{Fitted, Times};
use crate::output;
use crate::path_output::deliver;
use crate::path_report::{Cell, Choice, PathReport};
use crate::prepared::Prepared;
use crate::progress::Watcher;
use crate::screen::Screen;
use crate::sharded;
use ksparse::path::GridSolution;
use ksparse::select::{Criterion, CrossValidation, Deal, Folds, Metric, Rule, Training, ranges};
use ksparse::{Grid, Solver};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Fit a model for every k of a range, and choose one
#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER, after_help = "`ksparse path --help` says how k is chosen and shows examples.")]
pub struct PathArgs {
    #[command(flatten)]
    pub data: DataArgs,

    #[command(flatten)]
    pub moments: MomentArgs,

    /// The values of k: 1:200, 10:200:10, 5,10,20, or a mixture; 0 is the model of the intercept alone. Without, k and
    /// the ridges are chosen by cross-validation over ranges that suit the data
    #[arg(short, value_name = "KS", help_heading = "Model", value_parser = parse::ks, allow_hyphen_values = true)]
    pub k: Option<Ks>,

    /// Ridges to try with every k, separated by commas
    #[arg(long, value_name = "L1,L2,...", help_heading = "Model", value_parser = parse::lambdas,
          conflicts_with = "lambda", allow_hyphen_values = true)]
    pub lambdas: Option<Lambdas>,

    /// Columns that are in whatever they do for f, beside the k: names, or numbers counted from 1, separated by commas
    #[arg(long, value_name = "COLS", help_heading = "Model", value_parser = parse::words, allow_hyphen_values = true)]
    pub keep: Option<Words>,

    /// Columns that are in or out together, and count as one in k: a file with a group in every line, names or numbers
    /// separated by commas; columns in none stand alone
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub groups: Option<PathBuf>,

    #[command(flatten)]
    pub bounds: BoundArgs,

    /// End with the first k whose f is at most F (the columns given by -k; no folds)
    #[arg(
        long,
        value_name = "F",
        help_heading = "Model",
        requires = "k",
        conflicts_with = "cv",
        allow_hyphen_values = true
    )]
    pub stop_at: Option<f64>,

    #[command(flatten)]
    pub choice: ChoiceArgs,

    #[command(flatten)]
    pub loss: LossArgs,

    #[command(flatten)]
    pub survival: SurvivalArgs,

    #[command(flatten)]
    pub solver: SolverArgs,

    #[command(flatten)]
    pub device: DeviceArgs,

    /// Write the chosen model here
    #[arg(short, long, value_name = "MODEL", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Draw objective, score and coefficients against k here
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub plot: Option<PathBuf>,

    /// Write a page to look through in a browser: coefficients, score and gap for every k
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,

    /// Print one JSON object instead of a table
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

const AFTER: &str = "\
How k is chosen:
  Without -k everything is: k from 0 to what the rows can tell apart, a ridge under which the columns are selected and
  one under which their coefficients are fitted, both in units of the data, by cross-validation. Given ridges
  (--lambda, --lambdas) serve as both.
  --criterion prices every coefficient and needs one path; it suits the squared and the logistic loss (likelihoods).
    aic   fit + 2 d                          predicts well, keeps too much when there are many columns
    bic   fit + d log n                      finds the true columns when there are few
    ebic  fit + d log n + log C(p, s)        the same when there are many; the default
    gic   fit + s log(p) log(log n)          likewise
  --cv fits N more paths, each without one part of the rows, and scores it on that part: honest for every loss.
  Ties go to the smaller k, then to the larger lambda. Every k is started from its neighbours, so f never rises with k.

Examples (the first line makes the data):
  ksparse simulate logistic --rows 200 --cols 50 --nonzeros 5 -o data.csv
  ksparse path data.csv -o model.json --report path.html
  ksparse path data.csv -k 0:20
  ksparse path data.csv -k 1:20 --cv 5 --one-se -o model.json --report path.html
  ksparse path data.csv -k 2:20:2 --lambdas 1e-1,1e-2,1e-3 --cv 5 --metric error --plot path.svg";

pub fn run(args: &PathArgs, screen: Screen) -> Result<()> {
    let solver = args.solver.build()?;
    if let Some(path) = args.plot.as_ref().filter(|path| !is_svg(path)) {
        return Err(Failure::Input(format!("--plot draws an SVG: call it {}", path.with_extension("svg").display())));
    }
    args.bounds.check(&*solver)?;
    let factors = args.bounds.files().chain(columns::file(args.loss.penalty_factors.as_deref()));
    let files = sharded::find(&args.data.data)?;
    let read = files.clone().unwrap_or_else(|| args.data.files());
    let inputs = [read, args.groups.clone().into_iter().chain(factors).collect()].concat();
    output::check(&[&args.output, &args.plot, &args.report], &inputs)?;
    let threads = args.solver.pool(screen)?;
    threads.run(|| match files {
        Some(files) => sharded::path::run(args, files, &*solver, screen),
        None => path(args, &*solver, screen),
    })
}

fn path(args: &PathArgs, solver: &dyn Solver, screen: Screen) -> Result<()> {
    let reading = &args.data.reading;
    if args.moments.gram {
        let (data, intercept) = args.moments.read(&args.data, screen)?;
        let mut prepared =
            Prepared::new(data, reading, &args.loss, args.keep.as_ref(), args.groups.as_deref(), screen)?;
        prepared.intercept &= intercept;
        if args.choice.validation.cv.is_some() || args.k.is_none() {
            let message = "cross-validation holds rows out, and --gram has none: say -k, and --criterion to choose";
            return Err(Failure::Input(message.to_string()));
        }
        return path_of(args, prepared.within(&args.bounds)?.on(&args.device)?, solver, screen);
    }
    let data = args.survival.read(&args.data, screen)?;
    if let Some(task) = Task::asked(&data, &args.loss, &args.survival, reading.positive.as_deref())? {
        return choose_jointly(args, data, task, solver, screen);
    }
    let prepared = Prepared::new(data, reading, &args.loss, args.keep.as_ref(), args.groups.as_deref(), screen)?;
    let prepared = prepared.within(&args.bounds)?.on(&args.device)?;
    if args.k.is_none() && args.choice.criterion.is_none() {
        return choose(args, &prepared, solver, screen);
    }
    path_of(args, prepared, solver, screen)
}

/// Every k of a range, and the choice among them by a criterion or given folds.
fn path_of(args: &PathArgs, prepared: Prepared, solver: &dyn Solver, screen: Screen) -> Result<()> {
    if args.choice.ensemble || args.choice.resamples.is_some() {
        let message = "--resamples and --ensemble are about a model whose k is chosen: leave -k out";
        return Err(Failure::Input(message.to_string()));
    }
    let rule = ChoiceRule::new(&args.choice, &prepared, args.solver.seed)?;
    if args.output.is_some() && matches!(rule, ChoiceRule::None) {
        let message =
            format!("the {} loss has no default choice of k: say --cv 5, for example", prepared.task.spec.name);
        return Err(Failure::Input(message));
    }
    let started = Instant::now();
    let training = prepared.problem().on_all_rows().map_err(|error| prepared.blame(error))?;
    let grid = grid(args, &prepared, &training, screen)?;
    let watcher = Watcher::bar(screen, "path", grid.len());
    let solved =
        interrupt::listening(|| grid.solve_under(&|l| training.objective(l), solver, &mut |at| watcher.cell(at)))
            .map_err(|error| prepared.blame(error))?;
    drop(watcher);
    let mut cells = Cell::all(&solved);
    let choice = rule.choose(&prepared, &training.risk, &grid, &solved, solver, &mut cells, screen)?;
    let times = Times { fit: started.elapsed().as_secs_f64(), read: prepared.data.seconds };

    let held = |cell: &Cell| training.held_back(cell.lambda, cell.solution).ok().flatten();
    let chosen = choice.as_ref().map(|choice| {
        let cell = &cells[choice.index];
        Fitted::new(&prepared, training.model(cell.solution), cell.solution, &args.solver.called(solver), cell.k)
            .with_lambda(cell.lambda)
            .held_back(held(cell))
    });
    let (prepared, training) = (&prepared, &training);
    let report = PathReport { prepared, training, cells: &cells, choice, chosen, times, solved: &solved, made: None };
    deliver(args, &report, solver, screen)
}

/// Of a target that is more than a number per row: always by cross-validation.
fn choose_jointly(args: &PathArgs, data: Data, task: Task, solver: &dyn Solver, screen: Screen) -> Result<()> {
    let others = [
        ("--criterion", args.choice.criterion.is_some()),
        ("--resamples", args.choice.resamples.is_some()),
        ("--ensemble", args.choice.ensemble),
        ("--plot", args.plot.is_some()),
        ("--report", args.report.is_some()),
        ("--offset", args.data.reading.offset.is_some()),
    ];
    joint::fit::refuse(&task, &others)?;
    args.bounds.check_no_total()?;
    let ks = args.k.as_ref().map(|ks| ks.0.clone());
    let lambdas = args.lambdas.as_ref().map(|lambdas| lambdas.0.clone());
    let choice = joint::fit::Choice::compared(ks, lambdas, &args.choice.validation, &args.solver)?;
    let request = joint::fit::Request {
        data,
        task,
        keep: args.keep.as_ref(),
        groups: args.groups.as_deref(),
        bounds: &args.bounds,
        survival: &args.survival,
        loss: &args.loss,
        device: &args.device,
        choice,
        solver,
        seed: args.solver.seed,
        output: &args.output,
        json: args.json,
    };
    joint::fit::run(&request, screen)
}

/// Chooses k and the ridges.
fn choose(args: &PathArgs, prepared: &Prepared, solver: &dyn Solver, screen: Screen) -> Result<()> {
    let started = Instant::now();
    let made =
        args.choice.request(args.lambdas.as_ref(), &args.loss, &args.solver)?.choose(prepared, solver, screen)?;
    let training = prepared.problem().on_all_rows().map_err(|error| prepared.blame(error))?;
    let solved = made.path();
    let mut cells = Cell::all(&solved);
    cells.iter_mut().for_each(|cell| cell.score = made.score(cell.k));
    let times = Times { fit: started.elapsed().as_secs_f64(), read: prepared.data.seconds };
    let chosen = &made.chosen;
    let solution = &chosen.predictors[0].solution;
    let k = if made.ensemble { chosen.model().support.len() } else { chosen.k };
    let fitted = Fitted::new(prepared, chosen.model().clone(), solution, &args.solver.called(solver), k);
    let fitted = fitted.with_lambda(chosen.refit).selected_under(chosen.lambda);
    let fitted = fitted.held_back(training.held_back(chosen.refit, solution)?);
    let index = cells.iter().position(|cell| cell.k == chosen.k).unwrap_or(0);
    let choice = Choice { index, score: chosen.table.metric().name(), by: made.by.clone() };
    let report = PathReport {
        prepared,
        training: &training,
        cells: &cells,
        choice: Some(choice),
        chosen: Some(fitted),
        times,
        solved: &solved,
        made: Some(&made),
    };
    deliver(args, &report, solver, screen)
}

fn is_svg(path: &Path) -> bool {
    path.as_os_str() == "-" || path.extension().is_some_and(|end| end.eq_ignore_ascii_case("svg"))
}

/// For a criterion without -k: beyond this the price of a coefficient has long settled the matter.
const MOST_PRICED: usize = 64;

/// The cells to solve; k beyond the columns there are mean all of them.
fn grid(args: &PathArgs, prepared: &Prepared, training: &Training, screen: Screen) -> Result<Grid> {
    let problem = prepared.problem();
    let ks = match &args.k {
        Some(ks) => ks.0.clone(),
        None => {
            let most = ranges::largest_k(&training.risk, problem.units(&prepared.keep)).min(MOST_PRICED);
            ranges::ks_from(training.least_k(&problem.sparsity(0, &prepared.keep))?, most)
        }
    };
    let most = ks.last().map_or(0, |&k| prepared.at_most_all(k, screen));
    let ks = ks.into_iter().map(|k| k.min(most));
    let lambdas = args.lambdas.as_ref().map_or(vec![prepared.lambda], |lambdas| lambdas.0.clone());
    let mut grid = Grid::over(ks, lambdas).keep(prepared.keep.iter().copied());
    grid.path.groups = prepared.groups.clone();
    grid.path.enough = args.stop_at;
    grid.path.time_limit = args.solver.time_limit();
    grid.path.cancel = interrupt::token();
    Ok(grid)
}

/// How to choose, with all that needs.
enum ChoiceRule {
    Criterion(Criterion),
    Validation { deal: Deal, folds: Folds, metric: Metric, rule: Rule },
    None,
}

impl ChoiceRule {
    fn new(args: &ChoiceArgs, prepared: &Prepared, seed: u64) -> Result<Self> {
        let how = &args.validation;
        if let Some(deal) = how.cv {
            let folds = dealt(prepared, deal, seed)?;
            let metric = how.metric()?;
            metric.check(&*prepared.task.loss)?;
            return Ok(Self::Validation { deal, folds, metric, rule: how.rule(Rule::Best)? });
        }
        if let Some(option) = how.given() {
            let message = format!("{option} is for cross-validation: add --cv 5, or leave -k to it");
            return Err(Failure::Input(message));
        }
        let loss = &prepared.task.loss;
        let is_likelihood = loss.is_quadratic() || loss.is_likelihood();
        match &args.criterion {
            Some(name) if !is_likelihood => Err(Failure::Input(format!(
                "{name} needs a likelihood, which the {} loss is not: use --cv 5, or --loss logistic or squared",
                loss.name()
            ))),
            Some(name) => Ok(Self::Criterion(Criterion::by_name(name)?)),
            None if is_likelihood => Ok(Self::Criterion(Criterion::by_name("ebic")?)),
            None => Ok(Self::None),
        }
    }

    /// Scores the cells and picks one.
    #[allow(clippy::too_many_arguments)]
    fn choose(
        &self,
        prepared: &Prepared,
        risk: &ksparse::Risk,
        grid: &Grid,
        solved: &GridSolution,
        solver: &dyn Solver,
        cells: &mut [Cell],
        screen: Screen,
    ) -> Result<Option<Choice>> {
        match self {
            Self::None => Ok(None),
            Self::Criterion(criterion) => {
                let choice = criterion.choose_cell(risk, solved).map_err(|error| prepared.blame(error))?;
                cells.iter_mut().zip(&choice.scores).for_each(|(cell, &score)| cell.score = Some((score, None)));
                Ok(Some(Choice { index: choice.index, score: criterion.name(), by: criterion.name().to_string() }))
            }
            Self::Validation { deal, folds, metric, rule } => {
                if solved.stopped().is_some() {
                    screen.warn("stopped before cross-validation: no k is chosen");
                    return Ok(None);
                }
                let validation = CrossValidation { grid: grid.clone(), metric: *metric, rule: *rule };
                let watcher = Watcher::spinner(screen, "cross-validation");
                let mut watch = |at: &ksparse::select::CvProgress| watcher.fold(at);
                let table = interrupt::listening(|| validation.table(&prepared.problem(), folds, solver, &mut watch));
                drop(watcher);
                let table = match table {
                    Ok(table) => table,
                    // Too few folds to decide; the path itself is there.
                    Err(error) if interrupt::asked() || grid.path.time_limit.is_some() => {
                        screen.warn(&format!("no k is chosen: {error}"));
                        return Ok(None);
                    }
                    Err(error) => return Err(prepared.blame(error)),
                };
                if table.folds().len() < folds.count() {
                    let (used, all) = (table.folds().len(), folds.count());
                    screen.warn(&format!("stopped: {used} of {all} folds decide"));
                }
                for (cell, scored) in cells.iter_mut().zip(table.cells()) {
                    cell.score = Some((scored.mean, Some(scored.standard_error)));
                }
                let best = table.winner(*rule);
                let index = cells.iter().position(|cell| cell.k == best.k && cell.lambda == best.lambda);
                let by = format!("{deal}: {} {}", words(*rule), metric.name());
                Ok(index.map(|index| Choice { index, score: metric.name(), by }))
            }
        }
    }
}
