//! `ksparse predict`: a model applied to data, and how well it does where the truth is known.

use crate::args::data::ReadingArgs;
use crate::args::parse::{self, Lambdas};
use crate::args::survival::SurvivalArgs;
use crate::failure::{Failure, Result, worded};
use crate::joint;
use crate::model_file::{self, AnyModel};
use crate::output;
use crate::report::{self, Facts, significant};
use crate::screen::Screen;
use crate::sharded;
use ksparse::loss::{Loss, TargetKind};
use ksparse::select::{area_under_curve, classification_error, deviance, mean_squared_error};
use ksparse_io::model::Model;
use ksparse_io::{Format, Need, Table};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Apply a model to data; with a target in the data, also say how well it does
///
/// Predictions go to standard output, one per line, and scores to standard error; with -o predictions go to a file and
/// scores to standard output. A prediction is a label, a number, or under the loss cox the logarithm of a risk.
///
/// Columns are matched by name. A model without names takes columns by position, and so does one with names under
/// --by-position: then there must be as many as the model was fitted on. svmlight data may lack columns, which are
/// zero, and may have further ones, which are left out: they did not occur in training.
#[derive(Debug, clap::Args)]
pub struct PredictArgs {
    /// A model that `ksparse fit` or `ksparse path` wrote
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// The data, in any format that `ksparse fit` reads, with or without the target; - is standard input
    #[arg(value_name = "DATA")]
    pub data: PathBuf,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub survival: SurvivalArgs,

    /// Take the columns by their position, whatever their names: for data without names under a model with names
    #[arg(long, help_heading = "Data")]
    pub by_position: bool,

    /// Write the predictions here
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Predict the probability of the positive label (logistic loss), or of every class (multinomial loss)
    #[arg(long, help_heading = "Output", conflicts_with = "decision")]
    pub proba: bool,

    /// Predict the probability that nothing has happened by these times, separated by commas (cox loss)
    #[arg(long, value_name = "TIMES", help_heading = "Output", value_parser = parse::lambdas,
          conflicts_with_all = ["proba", "decision"])]
    pub at: Option<Lambdas>,

    /// Predict x'w + b, whatever the loss
    #[arg(long, help_heading = "Output")]
    pub decision: bool,

    /// Print the scores only, to standard output
    #[arg(long, help_heading = "Output", conflicts_with = "output")]
    pub score: bool,

    /// Print one JSON object: the scores, and the predictions unless -o or --score is given
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// How good predictions are.
#[derive(Default, Serialize)]
struct Scores {
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auc: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mse: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r2: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deviance: Option<f64>,
}

#[derive(Serialize)]
struct PredictJson<'a> {
    #[serde(flatten)]
    scores: Option<Scores>,
    n: usize,
    loss: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    predictions: Option<Vec<serde_json::Value>>,
}

impl PredictArgs {
    /// The names by which columns are found, if they are; `Err` where the model has names and the data have none.
    pub fn names<'a>(&self, model_has: bool, table: &'a Table) -> Result<Option<&'a [String]>> {
        if self.by_position || !model_has {
            return Ok(None);
        }
        table.names.as_deref().map(Some).ok_or_else(|| {
            Failure::Input(format!(
                "{}: the columns have no names, by which {} knows them; give data with names, or take the columns in \
                 their order with --by-position",
                table.source,
                self.model.display()
            ))
        })
    }
}

pub fn run(args: &PredictArgs, screen: Screen) -> Result<()> {
    let files = sharded::find(&args.data)?;
    let read_from = files.clone().unwrap_or_else(|| args.reading.files(&args.data));
    let inputs = [vec![args.model.clone()], read_from].concat();
    output::check(&[&args.output], &inputs)?;
    let model = match model_file::load_any(&args.model)? {
        AnyModel::Joint(model) => return joint::predict::run(args, &model, screen),
        AnyModel::Single(model) => *model,
    };
    if args.at.is_some() || args.survival.time.is_some() {
        let message =
            format!("--at and --time are for a model of survival times, which {} is not", args.model.display());
        return Err(Failure::Input(message));
    }
    let loss = model.loss.build()?;
    if args.proba && loss.probability(0.0).is_none() {
        let message = format!(
            "--proba needs a model with the logistic loss, and {} has the {} loss: leave it out, or fit with --loss \
             logistic",
            args.model.display(),
            model.loss.name
        );
        return Err(Failure::Input(message));
    }
    let (table, z) = match files {
        None => {
            let table = read(args, &args.data, &model, screen)?;
            let z = predictor(&model, &table, args, screen)?;
            (table, z)
        }
        Some(files) => {
            let mut z = Vec::new();
            let table = sharded::all(&files, &args.data, |file| {
                let table = read(args, file, &model, screen)?;
                z.extend(predictor(&model, &table, args, screen)?);
                Ok(table)
            })?;
            (table, z)
        }
    };
    let scores = scores(&model, &*loss, &table, &z, args, screen)?;
    report(args, &model, &*loss, z, scores, screen)
}

/// The linear predictor of a model for every row of a table, offsets included.
fn predictor(model: &Model, table: &Table, args: &PredictArgs, screen: Screen) -> Result<Vec<f64>> {
    let aligned = align(model, table, args, screen)?;
    let mut z = aligned.predict(table.design()).map_err(|error| Failure::from(error).within(&table.source))?;
    z.iter_mut().zip(table.offset.as_deref().unwrap_or_default()).for_each(|(z, offset)| *z += offset);
    match z.iter().position(|value| !value.is_finite()) {
        Some(row) => Err(Failure::Input(format!("{}: the prediction of row {} overflows", table.source, row + 1))),
        None => Ok(z),
    }
}

/// Reads the data, with the target under the name it had in training unless told otherwise.
fn read(args: &PredictArgs, data: &Path, model: &Model, screen: Screen) -> Result<Table> {
    let mut options = args.reading.options(Need::Optional)?;
    if options.target.is_none() && options.target_file.is_none() {
        options.target = model.fit.target.clone();
    }
    if options.offset.is_none() {
        options.offset = model.offset.clone();
    }
    options.words = model.words();
    let table = ksparse_io::read(data, &options)?;
    table.notes.iter().for_each(|note| screen.note(note));
    Ok(table)
}

/// The model for the columns of this table.
fn align(model: &Model, table: &Table, args: &PredictArgs, screen: Screen) -> Result<ksparse::LinearModel> {
    let (mut linear, file) = (model.linear(), &args.model);
    let named = model.coefficients.iter().all(|c| c.feature.is_some()) && !model.coefficients.is_empty();
    if let Some(names) = args.names(named, table)? {
        let mut pairs = Vec::new();
        for entry in &model.coefficients {
            let name = entry.feature.as_deref().unwrap_or_default();
            let Some(column) = names.iter().position(|known| known == name) else {
                let close = ksparse_io::suggestion(name, names.iter().map(String::as_str));
                let hint = close.map_or(String::new(), |close| format!(" (there is `{close}`)"));
                return Err(Failure::Input(format!(
                    "{}: there is no column `{name}`, which {} uses{hint}; give data with the columns it was fitted on",
                    table.source,
                    file.display()
                )));
            };
            pairs.push((column, entry.value));
        }
        pairs.sort_unstable_by_key(|pair| pair.0);
        (linear.support, linear.coefficients) = pairs.into_iter().unzip();
        return Ok(linear);
    }
    let (found, expected) = (table.ncols(), model.fit.p);
    match (table.format, found) {
        (Format::Svmlight, _) => {
            // Columns that end no row of this file are zero throughout it.
            let used = linear.support.partition_point(|&column| column < found);
            linear.support.truncate(used);
            linear.coefficients.truncate(used);
            if found > expected {
                let extra = found - expected;
                screen.note(&format!(
                    "{extra} columns beyond the {expected} of the model are left out: it never saw them"
                ));
            }
        }
        (_, found) if found != expected => {
            return Err(Failure::Input(format!(
                "{}: {found} columns, but {} was fitted on {expected}; give data with the same columns (--target \
                 names one that is no feature)",
                table.source,
                file.display()
            )));
        }
        _ => {}
    }
    Ok(linear)
}

/// The scores, if the table has a target that suits the model.
fn scores(
    model: &Model,
    loss: &dyn Loss,
    table: &Table,
    z: &[f64],
    args: &PredictArgs,
    screen: Screen,
) -> Result<Option<Scores>> {
    let Some(target) = &table.target else {
        return match args.score {
            true => Err(Failure::from(table.target().err().unwrap_or_else(|| unreachable!()))),
            false => Ok(None),
        };
    };
    let weights = table.weights.as_deref();
    let y = match (&model.labels, loss.target()) {
        (Some(labels), TargetKind::Sign) => labels.signs(target),
        _ => target.numbers().map(<[f64]>::to_vec),
    };
    let y = match y {
        Ok(y) => y,
        Err(error) if args.score => return Err(crate::failure::in_file(&table.source, error)),
        Err(error) => {
            screen.warn(&format!("no scores: {}: {}", table.source, worded(&error)));
            return Ok(None);
        }
    };
    let mut scores = Scores { deviance: Some(deviance(loss, z, &y, weights)?), ..Scores::default() };
    match loss.target() {
        TargetKind::Sign => {
            let error = classification_error(z, &y, weights)?;
            (scores.accuracy, scores.error) = (Some(1.0 - error), Some(error));
            // Not defined when one class is missing.
            scores.auc = area_under_curve(z, &y, weights).ok();
        }
        TargetKind::Real | TargetKind::Count | TargetKind::Positive => {
            let means: Vec<f64> = z.iter().map(|&z| loss.mean(z)).collect();
            let mse = mean_squared_error(&means, &y, weights)?;
            scores.mse = Some(mse);
            scores.r2 = r_squared(mse, &y, weights)?;
        }
    }
    Ok(Some(scores))
}

/// The share of the variance explained; not defined for a constant target.
fn r_squared(mse: f64, y: &[f64], weights: Option<&[f64]>) -> Result<Option<f64>> {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let total: f64 = (0..y.len()).map(weight).sum();
    let mean = (0..y.len()).map(|i| weight(i) * y[i]).sum::<f64>() / total;
    let variance = mean_squared_error(&vec![mean; y.len()], y, weights)?;
    Ok((variance > 0.0).then(|| 1.0 - mse / variance))
}

fn report(
    args: &PredictArgs,
    model: &Model,
    loss: &dyn Loss,
    z: Vec<f64>,
    scores: Option<Scores>,
    screen: Screen,
) -> Result<()> {
    let predictions = predictions(args, model, loss, &z);
    if let Some(path) = &args.output {
        output::write(path, lines(&predictions).as_bytes())?;
    }
    if args.json {
        let shown = (args.output.is_none() && !args.score).then_some(predictions);
        let object = PredictJson { scores, n: z.len(), loss: &model.loss.name, predictions: shown };
        return screen.print(&report::json(&object));
    }
    let mut facts = Facts::default();
    facts.add("rows", z.len().to_string());
    if let Some(scores) = &scores {
        let named = [
            ("accuracy", scores.accuracy),
            ("error", scores.error),
            ("auc", scores.auc),
            ("mse", scores.mse),
            ("r2", scores.r2),
            ("deviance", scores.deviance),
        ];
        for (name, value) in named {
            if let Some(value) = value {
                facts.add(name, significant(value));
            }
        }
    }
    if let Some(path) = &args.output {
        facts.add("predictions", path.display().to_string());
    }
    if args.output.is_some() || args.score {
        return screen.print(&facts.to_string());
    }
    screen.print(&lines(&predictions))?;
    if !screen.quiet && scores.is_some() {
        screen.tell(facts.to_string().trim_end());
    }
    Ok(())
}

/// What is predicted for every row: numbers, or labels.
fn predictions(args: &PredictArgs, model: &Model, loss: &dyn Loss, z: &[f64]) -> Vec<serde_json::Value> {
    if args.proba {
        return z.iter().map(|&z| loss.probability(z).into()).collect();
    }
    match &model.labels {
        // A row on the border takes no side; the smaller label has it.
        Some(labels) if !args.decision => {
            z.iter().map(|&z| labels.name(if z > 0.0 { 1.0 } else { -1.0 }).into()).collect()
        }
        _ if args.decision => z.iter().map(|&z| z.into()).collect(),
        _ => z.iter().map(|&z| loss.mean(z).into()).collect(),
    }
}

fn lines(predictions: &[serde_json::Value]) -> String {
    let mut text = String::new();
    for value in predictions {
        match value {
            serde_json::Value::String(label) => text.push_str(label),
            other => text.push_str(&other.to_string()),
        }
        text.push('\n');
    }
    text
}
