//! `ksparse graph`: a network with exactly k edges.

use crate::args::data::DataArgs;
use crate::args::parse::{self, Ks, Lambdas};
use crate::args::recipe::RecipeArgs;
use crate::args::solve::SolverArgs;
use crate::commands::fit::trace;
use crate::data::check_room;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::network_file;
use crate::network_report::{self, Found, listing, object};
use crate::output;
use crate::progress::Watcher;
use crate::report::{self, Facts, significant};
use crate::screen::Screen;
use ksparse::design::Design;
use ksparse::graphical::{self, Covariance, Family, Network, Precision, Stability, Tuned, Units};
use ksparse::select::Folds;
use ksparse::solver::Solver;
use ksparse::{Path, SparseRef, Status};
use ksparse_io::Need;
use serde_json::json;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

/// Find the network of k edges among the columns: a sparse precision matrix
#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER, after_help = "`ksparse graph --help` says what the edges mean and shows examples.")]
pub struct GraphArgs {
    #[command(flatten)]
    pub data: DataArgs,

    /// The number of edges, or several to choose from: 40, 10:100:10, or 5,10,20
    #[arg(short, value_name = "EDGES", required_unless_present = "glasso", value_parser = parse::ks,
          allow_hyphen_values = true)]
    pub k: Option<Ks>,

    /// The graphical lasso with this penalty, or several to choose from, instead of k edges: 0.1, or 0.2,0.1,0.05
    #[arg(long, value_name = "PENALTY", value_parser = parse::lambdas, allow_hyphen_values = true,
          conflicts_with_all = ["k", "stability", "solver", "trace"])]
    pub glasso: Option<Lambdas>,

    /// DATA is a covariance or correlation matrix, not samples
    #[arg(long, conflicts_with_all = ["tune", "cv", "stability"])]
    pub covariance: bool,

    /// The number of samples behind a covariance matrix (for --criterion)
    #[arg(long, value_name = "N", requires = "covariance", value_parser = clap::value_parser!(u64).range(1..))]
    pub samples: Option<u64>,

    /// Keep the units of the columns; otherwise each is divided by its standard deviation
    #[arg(long)]
    pub original_units: bool,

    /// Choose k by the likelihood of other samples, in this file
    #[arg(long, value_name = "DATA2", help_heading = "Choice of k", conflicts_with_all = ["cv", "criterion"])]
    pub tune: Option<PathBuf>,

    /// Choose k by cross-validation with N folds
    #[arg(long, value_name = "N", help_heading = "Choice of k", conflicts_with = "criterion",
          value_parser = clap::value_parser!(u64).range(2..))]
    pub cv: Option<u64>,

    /// Choose k by an information criterion [default: ebic, where there are several k]
    #[arg(long, value_name = "NAME", help_heading = "Choice of k", value_parser = ["bic", "ebic"])]
    pub criterion: Option<String>,

    /// Say how often each edge is found on N random halves of the samples
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub stability: Option<u64>,

    #[command(flatten)]
    pub solver: SolverArgs,

    #[command(flatten)]
    pub recipe: RecipeArgs,

    /// Write the network here: .json, .csv, .graphml or .dot
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Write one line per iteration of the search for the network chosen here (CSV, as `ksparse fit` does)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub trace: Option<PathBuf>,

    /// Draw the network here
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub plot: Option<PathBuf>,

    /// Draw the partial correlations (with --stability the frequencies) as a heat map here
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub heat: Option<PathBuf>,

    /// Print one JSON object instead of a table
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

const AFTER: &str = "\
What it finds: the precision matrix O that minimises -log det O + <S, O>, S the covariance of the columns, with at \
most k pairs i < j
  for which O_ij is not 0. In a Gaussian model a missing edge says that two columns are independent given all others; \
  the weight shown,
  -O_ij / sqrt(O_ii O_jj), is their correlation given all others. Columns are centred, and standardised unless \
  --original-units.

How k is chosen: by --tune (the likelihood of samples set aside), --cv, or --criterion (ebic is strict, and finds few \
false edges).
The solver auto is GraHTP, followed by exchanges on small networks.

Examples (the first line makes the data):
  ksparse simulate precision --rows 200 --cols 20 -o data.csv
  ksparse graph data.csv -k 15
  ksparse graph data.csv -k 1:40 --cv 5 --plot network.svg -o network.graphml
  ksparse graph data.csv -k 15 --stability 50 --json
  ksparse graph data.csv -k 15 --solver grahtp --published --step 0.05 --trace trace.csv
  ksparse graph data.csv --glasso 0.4,0.2,0.1 --criterion ebic";

pub fn run(args: &GraphArgs, screen: Screen) -> Result<()> {
    let format = args.output.as_deref().map(network_file::Format::of).transpose()?;
    let solver = args.solver.build()?;
    let inputs = args.data.files().into_iter().chain(args.tune.clone()).collect::<Vec<_>>();
    output::check(&[&args.output, &args.trace, &args.plot, &args.heat], &inputs)?;
    args.solver.pool(screen)?.run(|| graph(args, &*solver, format, screen))
}

fn graph(args: &GraphArgs, solver: &dyn Solver, format: Option<network_file::Format>, screen: Screen) -> Result<()> {
    let table = read(args, args.data.data.clone(), screen)?;
    let blame = |error: ksparse::Error| Failure::from(error).within(&table.source);
    check_room(table.ncols(), table.ncols(), "a covariance matrix").map_err(|error| error.within(&table.source))?;
    let units = if args.original_units { Units::Original } else { Units::Standardized };
    let covariance = if args.covariance {
        let s = square(&table)?;
        let rows = args.samples.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        Covariance::from_matrix(s.as_ref(), rows).map_err(blame)?
    } else {
        Covariance::from_samples(table.design(), units).map_err(blame)?
    };
    let recipe = args.recipe.recipe(&args.solver);
    let model = recipe.model(covariance).map_err(blame)?;
    let names: Vec<String> = (0..model.variables())
        .map(|j| table.names.as_ref().map_or_else(|| (j + 1).to_string(), |names| names[j].clone()))
        .collect();
    warn_about_constants(&model, &names, screen);
    args.solver.refuse_effort()?;

    let started = Instant::now();
    let (time_limit, cancel) = (args.solver.time_limit(), interrupt::token());
    let (solved, family, called): (_, Box<Family>, _) = if let Some(Lambdas(penalties)) = &args.glasso {
        let family = network_report::lasso(penalties);
        let networks = family(model.covariance()).map_err(blame)?;
        (network_report::as_path(&networks, &model)?, Box::new(family), "graphical lasso".to_string())
    } else {
        let asked = args.k.as_ref().map_or(&[][..], |ks| &ks.0);
        let path = Path { time_limit, cancel, ..Path::over(within(asked, &model, screen)) };
        let watcher = Watcher::bar(screen, "graph", path.ks.len());
        let solved = interrupt::listening(|| recipe.solve(&model, &path, solver, &mut |at| watcher.cell(at)));
        (solved.map_err(blame)?, Box::new(recipe.family(path, solver)), args.solver.called(solver))
    };
    let networks: Vec<Network> = solved.solutions.iter().map(|s| model.network(s)).collect();
    let choice = choose(args, &table, &model, &*family, &networks, screen)?;
    let index = choice.as_ref().map_or(networks.len() - 1, |(tuned, _)| tuned.index);
    let (network, solution, k) = (&networks[index], &solved.solutions[index], solved.ks[index]);
    let deadline = args.solver.time_limit().and_then(|limit| started.checked_add(limit));
    let frequencies = args.stability.map(|n| frequencies(n, args, table.design(), solver, k, deadline, screen));
    let frequencies = frequencies.transpose().map_err(blame)?.flatten();
    let seconds = started.elapsed().as_secs_f64();

    let found = Found { names: &names, network, frequencies: frequencies.as_ref() };
    if let (Some(path), Some(format)) = (&args.output, format) {
        output::write(path, network_report::file(&found, format, solution, k, &called, seconds).as_bytes())?;
    }
    if let Some(path) = &args.trace {
        output::write(path, trace(&solution.trace).as_bytes())?;
    }
    if let Some(path) = &args.plot {
        output::write(path, network_file::drawing(&found, &table.source).as_bytes())?;
    }
    if let Some(path) = &args.heat {
        output::write(path, network_file::heat_map(&found, &table.source).as_bytes())?;
    }
    if args.json {
        let mut object = object(&found, solution, k, &called, seconds);
        if let Some((tuned, by)) = &choice {
            object["choice"] =
                json!({"by": by, "k": solved.ks, "scores": tuned.scores, "standard_errors": tuned.standard_errors});
        }
        return screen.print(&report::json(&object));
    }
    let mut facts = Facts::default();
    let shape = format!("{} rows, {} columns", table.nrows(), table.ncols());
    facts.add("data", format!("{} ({shape})", table.source));
    facts.add("edges", format!("{} of {} pairs", network.edges().len(), model.pairs()));
    if let Some((tuned, by)) = &choice {
        facts.add("chosen", format!("k = {k} of {} by {by}: {}", solved.ks.len(), significant(tuned.scores[index])));
    }
    facts.add("objective", format!("{} (-log det O + <S, O>)", significant(solution.value)));
    facts.add("solver", format!("{}, {}, {}", called, solution.status, report::seconds(seconds)));
    let mut text = facts.to_string();
    text.push('\n');
    text.push_str(&listing(&found, screen.verbose));
    for path in [&args.output, &args.trace, &args.plot, &args.heat].into_iter().flatten() {
        text.push_str(&format!("wrote {}\n", path.display()));
    }
    screen.print(&text)
}

/// How often each edge is found on halves of the samples, as many as time allows; `None` if none was finished.
fn frequencies(
    halves: u64,
    args: &GraphArgs,
    samples: &dyn Design,
    solver: &dyn Solver,
    k: usize,
    deadline: Option<Instant>,
    screen: Screen,
) -> ksparse::Result<Option<faer::Mat<f64>>> {
    let resamples = usize::try_from(halves).unwrap_or(usize::MAX);
    let stability = Stability { resamples, seed: args.solver.seed, ..Stability::default() };
    let units = if args.original_units { Units::Original } else { Units::Standardized };
    let stop = || interrupt::asked() || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let go_on = || if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let fit = |s: &Covariance| {
        let model = args.recipe.recipe(&args.solver).model(s.clone())?;
        let solved = args.recipe.recipe(&args.solver).solve(&model, &Path::over([k]), solver, &mut |_| go_on())?;
        // One that was cut short is none of the networks this is about.
        let whole = solved.solutions.first().filter(|solution| solution.status != Status::Stopped);
        Ok(whole.map(|solution| model.network(solution)))
    };
    let (found, counted) = interrupt::listening(|| stability.frequencies_until(samples, units, &fit, &stop))?;
    if counted < resamples {
        screen
            .warn(&format!("stopped: {counted} of {resamples} halves were searched, and the frequencies are of those"));
    }
    Ok((counted > 0).then_some(found))
}

fn read(args: &GraphArgs, file: PathBuf, screen: Screen) -> Result<ksparse_io::Table> {
    let table = ksparse_io::read(&file, &args.data.reading.options(Need::Absent)?)?;
    table.notes.iter().for_each(|note| screen.note(note));
    Ok(table)
}

/// The matrix in the file.
fn square(table: &ksparse_io::Table) -> Result<faer::Mat<f64>> {
    let (rows, columns) = (table.nrows(), table.ncols());
    if rows != columns {
        let message = format!(
            "{}: {rows} rows and {columns} columns are no covariance matrix: leave out --covariance for samples, or \
             --drop a column of names",
            table.source
        );
        return Err(Failure::Input(message));
    }
    let mut matrix = faer::Mat::zeros(rows, columns);
    for j in 0..columns {
        table.design().mul(SparseRef::new(&[j], &[1.0]), matrix.col_as_slice_mut(j));
    }
    Ok(matrix)
}

/// The k asked for, at most all pairs.
fn within(ks: &[usize], model: &Precision, screen: Screen) -> Vec<usize> {
    if ks.last().is_some_and(|&k| k > model.pairs()) {
        screen.note(&format!("there are {} pairs of columns: larger k mean all of them", model.pairs()));
    }
    ks.iter().map(|&k| k.min(model.pairs())).collect()
}

fn warn_about_constants(model: &Precision, names: &[String], screen: Screen) {
    let s = model.covariance().matrix();
    let constant: Vec<&str> = (0..names.len()).filter(|&j| s[(j, j)] == 0.0).map(|j| names[j].as_str()).collect();
    if !constant.is_empty() {
        screen.warn(&format!(
            "{} no edge: {}",
            if constant.len() == 1 {
                "1 column never varies and has".to_string()
            } else {
                format!("{} columns never vary and have", constant.len())
            },
            constant.join(", ")
        ));
    }
}

/// Scores the networks where there is a choice to make, and says by what.
fn choose(
    args: &GraphArgs,
    table: &ksparse_io::Table,
    model: &Precision,
    family: &Family,
    networks: &[Network],
    screen: Screen,
) -> Result<Option<(Tuned, String)>> {
    if let Some(file) = &args.tune {
        let other = read(args, file.clone(), screen)?;
        let others = model.covariance().of_others(other.design());
        let others = others.map_err(|error| Failure::from(error).within(&other.source))?;
        let tuned = graphical::held_out(networks, &others)?;
        return Ok(Some((tuned, format!("the likelihood of {}", other.source))));
    }
    if let Some(count) = args.cv {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let folds = Folds::seeded(table.nrows(), count, args.solver.seed);
        let folds = folds.map_err(|error| Failure::from(error).within(format!("--cv {count}")))?;
        let units = if args.original_units { Units::Original } else { Units::Standardized };
        let tuned = graphical::cross_validate(table.design(), units, &folds, family)?;
        return Ok(Some((tuned, format!("{count}-fold cross-validation of the likelihood"))));
    }
    if args.criterion.is_none() && networks.len() == 1 {
        return Ok(None);
    }
    let name = args.criterion.as_deref().unwrap_or("ebic");
    if model.covariance().rows().is_none() {
        let message = format!("{name} needs the number of samples behind the matrix: say --samples N, or give one k");
        return Err(Failure::Input(message));
    }
    let gamma = if name == "bic" { 0.0 } else { 0.5 };
    Ok(Some((graphical::ebic(networks, model.covariance(), gamma)?, name.to_string())))
}
