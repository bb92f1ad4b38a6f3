//! `ksparse lda`: linear discriminant analysis with a sparse precision matrix.

use crate::args::data::DataArgs;
use crate::args::parse::{self, Ks};
use crate::args::recipe::RecipeArgs;
use crate::args::solve::SolverArgs;
use crate::data::check_room;
use crate::failure::{Failure, Result, in_file};
use crate::report::{self, Facts, significant};
use crate::screen::Screen;
use ksparse::design::{Dense, Design};
use ksparse::graphical::{self, Classes, Confusion, Network, Units, screen_by_t};
use ksparse::select::Folds;
use ksparse::solver::Solver;
use ksparse::{Path, SparseRef};
use ksparse_io::{Labels, Need};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

/// Tell two classes apart by their means and a shared precision matrix of k edges
///
/// The score of class l is x'O m_l - m_l'O m_l / 2 + log pi_l, with means m_l, frequencies pi_l, and a precision matrix
/// O of k edges fitted to the covariance within classes. Of several k, cross-validation of the likelihood within
/// classes takes one.
#[derive(Debug, clap::Args)]
pub struct LdaArgs {
    #[command(flatten)]
    pub data: DataArgs,

    /// The number of edges, or several to choose from by cross-validation: 40, 10:100:10, or 5,10,20
    #[arg(short, value_name = "EDGES", required = true, value_parser = parse::ks, allow_hyphen_values = true)]
    pub k: Ks,

    /// Use the N columns with the largest two-sample t statistic on DATA
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub screen: Option<u64>,

    /// Folds of the cross-validation
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u64).range(2..))]
    pub cv: u64,

    /// Judge the rule on this file instead of on DATA
    #[arg(long, value_name = "DATA2")]
    pub test: Option<PathBuf>,

    #[command(flatten)]
    pub solver: SolverArgs,

    #[command(flatten)]
    pub recipe: RecipeArgs,

    /// Print one JSON object instead of a table
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

pub fn run(args: &LdaArgs, screen: Screen) -> Result<()> {
    let solver = args.solver.build()?;
    args.solver.pool(screen)?.run(|| lda(args, &*solver, screen))
}

/// Samples with labels.
struct Labelled {
    source: String,
    samples: Dense<'static>,
    signs: Vec<f64>,
    names: Option<Vec<String>>,
    labels: Labels,
}

fn read(args: &LdaArgs, file: &std::path::Path, known: Option<&Labels>, screen: Screen) -> Result<Labelled> {
    let table = ksparse_io::read(file, &args.data.reading.options(Need::Required)?)?;
    table.notes.iter().for_each(|note| screen.note(note));
    let target = table.target()?;
    let labels = match (known, &args.data.reading.positive) {
        (Some(known), _) => known.clone(),
        (None, Some(positive)) => Labels::with_positive(target, positive).map_err(|e| in_file(&table.source, e))?,
        (None, None) => Labels::find(target).map_err(|e| in_file(&table.source, e))?,
    };
    let signs = labels.signs(target).map_err(|e| in_file(&table.source, e))?;
    check_room(table.nrows(), table.ncols(), "a full matrix")?;
    let mut values = vec![0.0; table.nrows() * table.ncols()];
    if table.nrows() > 0 {
        for (j, column) in values.chunks_exact_mut(table.nrows()).enumerate() {
            table.design().mul(SparseRef::new(&[j], &[1.0]), column);
        }
    }
    let samples = Dense::from_columns(table.nrows(), table.ncols(), values)?;
    Ok(Labelled { source: table.source.clone(), samples, signs, names: table.names.clone(), labels })
}

fn columns(samples: &Dense, which: &[usize]) -> Result<Dense<'static>> {
    let values: Vec<f64> = which.iter().flat_map(|&j| samples.column(j).to_vec()).collect();
    Ok(Dense::from_columns(samples.nrows(), which.len(), values)?)
}

fn lda(args: &LdaArgs, solver: &dyn Solver, screen: Screen) -> Result<()> {
    let data = read(args, &args.data.data, None, screen)?;
    let test = args.test.as_ref().map(|file| read(args, file, Some(&data.labels), screen)).transpose()?;
    if let Some(test) = test.as_ref().filter(|test| test.samples.ncols() != data.samples.ncols()) {
        let (found, expected) = (test.samples.ncols(), data.samples.ncols());
        return Err(Failure::Input(format!("{}: {found} columns, but {} has {expected}", test.source, data.source)));
    }
    let blame = |error: ksparse::Error| Failure::from(error).within(&data.source);
    let started = Instant::now();
    let chosen = match args.screen {
        Some(count) => {
            screen_by_t(&data.samples, &data.signs, usize::try_from(count).unwrap_or(usize::MAX)).map_err(blame)?
        }
        None => (0..data.samples.ncols()).collect(),
    };
    let train = columns(&data.samples, &chosen)?;
    let classes = Classes::of(&train, &data.signs).map_err(blame)?;
    let recipe = args.recipe.recipe(&args.solver);
    let model = recipe.model(classes.covariance(&train, Units::Standardized).map_err(blame)?).map_err(blame)?;
    args.solver.refuse_effort()?;
    let path = Path::over(args.k.0.iter().map(|&k| k.min(model.pairs())));
    let family = recipe.family(path.clone(), solver);
    let best = if path.ks.len() > 1 { best_k(args, &train, &data.signs, &family).map_err(blame)? } else { 0 };
    let networks: Vec<Network> = family(model.covariance()).map_err(blame)?;
    let (network, k) = (&networks[best], path.ks[best]);
    let rule = classes.rule(network, model.covariance());
    let (judged, truth, on) = match &test {
        Some(test) => (columns(&test.samples, &chosen)?, &test.signs, &test.source),
        None => (train.clone(), &data.signs, &data.source),
    };
    let predicted = rule.predict(&judged).map_err(blame)?;
    let table = Confusion::of(&predicted, truth, 1.0);
    let seconds = started.elapsed().as_secs_f64();
    if args.json {
        let names: Vec<String> = chosen
            .iter()
            .map(|&j| data.names.as_ref().map_or_else(|| (j + 1).to_string(), |names| names[j].clone()))
            .collect();
        let object = json!({
            "k": k, "edges": network.edges().len(), "columns": names, "judged_on": on, "confusion": table,
            "specificity": table.specificity(), "sensitivity": table.sensitivity(), "mcc": table.mcc(),
            "rule": rule, "seconds": seconds,
        });
        return screen.print(&report::json(&object));
    }
    let mut facts = Facts::default();
    facts.add(
        "data",
        format!("{} ({} rows, {} of {} columns)", data.source, train.nrows(), chosen.len(), data.samples.ncols()),
    );
    facts.add("edges", k.to_string());
    facts.add(
        "judged on",
        if test.is_some() { on.clone() } else { format!("{on}, which it was trained on: optimistic") },
    );
    facts.add("specificity", significant(table.specificity()));
    facts.add("sensitivity", significant(table.sensitivity()));
    facts.add("mcc", significant(table.mcc()));
    facts.add("time", report::seconds(seconds));
    screen.print(&facts.to_string())
}

/// The place of the k whose networks make held-out rows likeliest, within classes.
fn best_k(args: &LdaArgs, train: &Dense, signs: &[f64], family: &graphical::Family) -> ksparse::Result<usize> {
    let folds = Folds::stratified(signs, usize::try_from(args.cv).unwrap_or(usize::MAX), args.solver.seed)?;
    Ok(graphical::cross_validate_within(train, signs, Units::Standardized, &folds, family)?.index)
}
