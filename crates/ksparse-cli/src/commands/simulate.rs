//! `ksparse simulate`: data of which the truth is known.

use crate::args::parse;
use crate::data::check_room;
use crate::failure::{Failure, Result};
use crate::output;
use crate::report::{self, Facts};
use crate::screen::Screen;
use ksparse::Risk;
use ksparse::design::{Dense, Design};
use ksparse::simulate::{self, Correlation, Simulated, Text};
use ksparse_io::model::{Coefficient, FORMAT, Fit, LossSpec, Model, VERSION};
use ksparse_io::{Format, Labels, Matrix, Table, Target, WriteOptions};
use std::path::PathBuf;

/// Make data whose true model is known
///
/// Models of data:
///   linear      y = X w + noise; rows N(0, Sigma), coefficients of size 1 to 2
///   logistic    labels with P(+1) = sigma(2 w'x); rows N(0, Sigma), coefficients N(0, 1)
///   sensing     y = X w without noise, X with entries N(0, 1/n)
///   two-means   y = X w + noise, the true columns correlated among themselves (DIHT paper)
///   poisson     counts with mean exp(w'x)
///   multinomial labels class1 to class3 with probabilities proportional to exp(w_c'x), the same columns for all
///   ordinal     labels 1 to 4 in an order, cut from w'x plus logistic noise
///   cox         survival times in a column `time`, y says whether the event happened; hazards exp(w'x)
///   text        bags of words with tf-idf values, labels as in logistic; 500 true columns
///   precision   gaussian rows whose precision matrix is sparse, no target
///
/// Sigma is the identity, or correlates columns i and j by R^|i-j| with --correlation R.
/// The same seed gives the same data.
///
/// Examples:
///   ksparse simulate linear --rows 300 --nonzeros 20 --correlation 0.9 -o data.csv --truth truth.json
///   ksparse simulate text --rows 2000 --cols 10000 -o text.svm
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct SimulateArgs {
    /// The model of the data
    #[arg(value_name = "MODEL", value_parser = ["linear", "logistic", "sensing", "two-means", "poisson",
          "multinomial", "ordinal", "cox", "text", "precision"])]
    pub model: String,

    /// Rows
    #[arg(short = 'n', long, value_name = "N", default_value_t = 200,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub rows: u32,

    /// Columns
    #[arg(short = 'p', long, value_name = "P", default_value_t = 1000,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub cols: u32,

    /// True coefficients
    #[arg(short = 'k', long, value_name = "K", default_value_t = 10)]
    pub nonzeros: u32,

    /// Correlation of neighbouring columns [linear, logistic, poisson, multinomial, ordinal, cox]
    #[arg(long, value_name = "R", default_value = "0", value_parser = parse::correlation, allow_hyphen_values = true)]
    pub correlation: f64,

    /// Standard deviation of the noise [linear]
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = parse::non_negative,
          allow_hyphen_values = true)]
    pub noise: f64,

    /// Mean number of words in a row [text]
    #[arg(long, value_name = "T", default_value = "80", value_parser = parse::positive, allow_hyphen_values = true)]
    pub tokens: f64,

    /// The seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Where to write the data; the name tells the format [default: standard output, as CSV (text: svmlight)]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// The format, when the name does not tell
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub format: Option<String>,

    /// Write the true model here, as a model file (precision: the edges; multinomial, ordinal,
    /// cox: the coefficients, as JSON)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub truth: Option<PathBuf>,
}

pub fn run(args: &SimulateArgs, screen: Screen) -> Result<()> {
    let beside = args.output.as_deref().and_then(ksparse_io::target_beside);
    output::check(&[&args.output, &beside, &args.truth], &[])?;
    let (n, p, k, seed) = (args.rows as usize, args.cols as usize, args.nonzeros as usize, args.seed);
    let correlation =
        if args.correlation == 0.0 { Correlation::Independent } else { Correlation::Ar1(args.correlation) };
    match args.model.as_str() {
        "text" => check_room(n.saturating_add(p), 8, "the vectors of a matrix")?,
        _ => check_room(n, p, "a matrix")?,
    }
    let (table, truth) = match args.model.as_str() {
        "linear" => with_truth(simulate::linear(n, p, k, correlation, args.noise, seed), Matrix::Dense, "squared")?,
        "logistic" => with_truth(simulate::logistic(n, p, k, correlation, seed), Matrix::Dense, "logistic")?,
        "sensing" => with_truth(simulate::compressed_sensing(n, p, k, seed), Matrix::Dense, "squared")?,
        "poisson" => with_truth(simulate::poisson(n, p, k, correlation, seed), Matrix::Dense, "poisson")?,
        "multinomial" => classes(simulate::multinomial(n, p, k, CLASSES, correlation, seed)),
        "ordinal" => ordered(simulate::ordinal(n, p, k, LEVELS, correlation, seed)),
        "cox" => survival(simulate::cox(n, p, k, correlation, seed))?,
        "two-means" => with_truth(simulate::two_means(n, p, k, seed), Matrix::Dense, "squared")?,
        "text" => {
            with_truth(simulate::text(&Text { n, p, mean_tokens: args.tokens }, seed), Matrix::Sparse, "logistic")?
        }
        _ => precision(n, p, seed),
    };
    write(args, table, &truth, screen)
}

/// Data with a target, and the truth as a model file.
fn with_truth<D: Design>(data: Simulated<D>, matrix: impl FnOnce(D) -> Matrix, name: &str) -> Result<(Table, String)> {
    let labels = name == "logistic";
    let spec = LossSpec { name: name.to_string(), parameter: labels.then_some(2.0) };
    let objective = {
        let risk = Risk::new(&data.design, &data.target[..], spec.build()?)?;
        risk.value(data.truth())
    };
    let (n, p) = (data.design.nrows(), data.design.ncols());
    let names: Vec<String> = (1..=p).map(|j| format!("x{j}")).collect();
    let entries = data.support.iter().zip(&data.coefficients);
    let model = Model {
        format: FORMAT.to_string(),
        version: VERSION,
        created_by: concat!("ksparse ", env!("CARGO_PKG_VERSION"), " simulate").to_string(),
        loss: spec,
        labels: labels.then(|| Labels::Two { negative: "-1".to_string(), positive: "1".to_string() }),
        fit: Fit {
            lambda: 0.0,
            select_lambda: None,
            k: data.support.len(),
            solver: "truth".to_string(),
            status: "simulated".to_string(),
            objective,
            standardized: false,
            n,
            p,
            target: Some("y".to_string()),
            categories: Vec::new(),
        },
        offset: None,
        intercept: 0.0,
        coefficients: entries
            .map(|(&column, &value)| Coefficient { column, feature: Some(names[column].clone()), value })
            .collect(),
    };
    let table = Table {
        target: Some(Target::Numbers(data.target)),
        target_name: Some("y".to_string()),
        names: Some(names),
        ..Table::new(matrix(data.design))
    };
    Ok((table, model.to_json()))
}

/// Classes of a simulated target.
const CLASSES: usize = 3;

fn columns(p: usize) -> Vec<String> {
    (1..=p).map(|j| format!("x{j}")).collect()
}

/// Labels in words, and the rows of true coefficients.
fn classes(data: Simulated<Dense<'static>>) -> (Table, String) {
    let names = columns(data.design.ncols());
    let rows: Vec<&[f64]> = data.coefficients.chunks(CLASSES).collect();
    let truth = report::json(&serde_json::json!({ "support": data.support, "coefficients": rows }));
    let labels = data.target.iter().map(|class| format!("class{}", class + 1.0)).collect();
    let target = Some(Target::Text(labels));
    let table = Table { target, target_name: Some("y".to_string()), ..Table::new(Matrix::Dense(data.design)) };
    (Table { names: Some(names), ..table }, truth)
}

/// Levels of a simulated target.
const LEVELS: usize = 4;

/// Levels from 1 on, and the true coefficients.
fn ordered(data: Simulated<Dense<'static>>) -> (Table, String) {
    let names = columns(data.design.ncols());
    let truth = report::json(&serde_json::json!({ "support": data.support, "coefficients": data.coefficients }));
    let target = Some(Target::Numbers(data.target.iter().map(|level| level + 1.0).collect()));
    let table = Table { target, target_name: Some("y".to_string()), ..Table::new(Matrix::Dense(data.design)) };
    (Table { names: Some(names), ..table }, truth)
}

/// Times in a last column, events for a target, and the true coefficients.
fn survival((data, event): (Simulated<Dense<'static>>, Vec<bool>)) -> Result<(Table, String)> {
    let (n, p) = (data.design.nrows(), data.design.ncols());
    let mut values: Vec<f64> = (0..p).flat_map(|j| data.design.column(j).to_vec()).collect();
    values.extend(&data.target);
    let mut names = columns(p);
    names.push("time".to_string());
    let truth = report::json(&serde_json::json!({ "support": data.support, "coefficients": data.coefficients }));
    let target = Some(Target::Numbers(event.iter().map(|&event| f64::from(u8::from(event))).collect()));
    let matrix = Matrix::Dense(Dense::from_columns(n, p + 1, values)?);
    let table = Table { target, target_name: Some("y".to_string()), names: Some(names), ..Table::new(matrix) };
    Ok((table, truth))
}

/// Gaussian rows, and the edges of their graph.
fn precision(n: usize, p: usize, seed: u64) -> (Table, String) {
    let sample = simulate::precision(n, 0, p, seed);
    let names = (1..=p).map(|j| format!("x{j}")).collect();
    let diagonal = sample.precision[(0, 0)];
    let edges: Vec<[usize; 2]> = sample.edges.iter().map(|&(i, j)| [i, j]).collect();
    let truth = report::json(&serde_json::json!({ "diagonal": diagonal, "off_diagonal": 1.0, "edges": edges }));
    (Table { names: Some(names), ..Table::new(Matrix::Dense(sample.train)) }, truth)
}

fn write(args: &SimulateArgs, table: Table, truth: &str, screen: Screen) -> Result<()> {
    let mut format = args.format.as_deref().map(str::parse::<Format>).transpose()?;
    if format.is_none() && args.output.is_none() {
        format = Some(if args.model == "text" { Format::Svmlight } else { Format::Delimited });
    }
    let writing = WriteOptions { format, ..WriteOptions::default() };
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from("-"));
    // Names of the form x1, x2, ... are no loss where a format has none.
    ksparse_io::write(&table, &path, &writing).map_err(Failure::writing)?;
    if let Some(path) = &args.truth {
        output::write(path, truth.as_bytes())?;
    }
    let Some(path) = args.output.as_ref().filter(|path| !ksparse_io::is_standard_output(path)) else { return Ok(()) };
    let mut facts = Facts::default();
    facts.add("data", format!("{}: {} rows, {} columns", path.display(), table.nrows(), table.ncols()));
    if let Some(path) = &args.truth {
        facts.add("truth", path.display().to_string());
    }
    screen.confirm(&facts.to_string())
}
