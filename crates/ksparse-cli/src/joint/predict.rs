//! Predictions of such models: risks and survival curves, labels and probabilities.

use super::Times;
use super::report;
use crate::commands::predict::PredictArgs;
use crate::failure::{Failure, Result, worded};
use crate::output;
use crate::report::{Facts, Table as Columns, significant};
use crate::screen::Screen;
use ksparse::LinearModel;
use ksparse::loss::{Baseline, Multinomial, Ordinal};
use ksparse::select::{JointProblem, Observed, concordance};
use ksparse_io::joint_model::{JointModel, SurvivalPart};
use ksparse_io::{Beside, Format, Need, Table, places};
use std::path::Path;

/// What is known about predictions whose truth is in the data.
#[derive(Default, serde::Serialize)]
struct Scores {
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deviance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    concordance: Option<f64>,
    /// Rows of each class by what was predicted for them, both in the order of the classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    confusion: Vec<Vec<usize>>,
}

pub fn run(args: &PredictArgs, model: &JointModel, screen: Screen) -> Result<()> {
    let survival = model.survival.as_ref();
    match survival {
        Some(_) if args.proba => return Err(refused("--proba is for classes: survival probabilities take --at TIMES")),
        None if args.at.is_some() => return Err(refused("--at is for survival times: probabilities take --proba")),
        _ => {}
    }
    let table = read(args, model, screen)?;
    let models = align(model, &table, args, screen)?;
    let rows: Vec<usize> = (0..table.nrows()).collect();
    let observed = Observed::Classes { of: &[], count: models.len() };
    let z = JointProblem::new(table.design(), observed).predict(&models, &rows)?;
    if let Some(at) = z.iter().position(|z| !z.is_finite()) {
        let row = at / models.len() + 1;
        return Err(Failure::Input(format!("{}: the prediction of row {row} overflows", table.source)));
    }
    let scores = match scores(model, &table, &z) {
        Err(failure) if args.score => return Err(failure),
        Err(failure) => {
            screen.warn(&format!("no scores: {}", failure.message().unwrap_or_default()));
            None
        }
        Ok(None) if args.score => return Err(table.target().err().map_or(refused("no target"), Failure::from)),
        Ok(scores) => scores,
    };
    let lines = lines(args, model, &table, &z, survival)?;
    let text = format!("{}\n", lines.join("\n"));
    if let Some(path) = &args.output {
        output::write(path, text.as_bytes())?;
    }
    if args.json {
        let mut object = serde_json::to_value(scores.unwrap_or_default()).unwrap_or_default();
        object["n"] = table.nrows().into();
        object["loss"] = model.loss.clone().into();
        if args.output.is_none() && !args.score {
            object["predictions"] = lines.into();
        }
        return screen.print(&crate::report::json(&object));
    }
    let facts = facts(model, scores.as_ref(), table.nrows(), args.output.as_deref());
    if args.output.is_some() || args.score {
        return screen.print(&facts);
    }
    screen.print(&text)?;
    if !screen.quiet && scores.is_some() {
        screen.tell(facts.trim_end());
    }
    Ok(())
}

fn refused(message: &str) -> Failure {
    Failure::Input(message.to_string())
}

fn read(args: &PredictArgs, model: &JointModel, screen: Screen) -> Result<Table> {
    let mut options = args.reading.options(Need::Optional)?;
    args.survival.apply(&mut options);
    if options.target.is_none() && options.target_file.is_none() {
        options.target.clone_from(&model.fit.target);
    }
    if let Some(part) = &model.survival {
        let [time, _, strata] = &mut options.beside;
        time.get_or_insert_with(|| part.time.clone());
        if strata.is_none() {
            strata.clone_from(&part.strata);
        }
    }
    options.words = model.words();
    let table = ksparse_io::read(&args.data, &options)?;
    table.notes.iter().for_each(|note| screen.note(note));
    Ok(table)
}

/// The models for the columns of this table.
fn align(model: &JointModel, table: &Table, args: &PredictArgs, screen: Screen) -> Result<Vec<LinearModel>> {
    let (mut models, file) = (model.linear(), &args.model);
    let named = model.coefficients.iter().all(|row| row.feature.is_some()) && !model.coefficients.is_empty();
    let (found, expected) = (table.ncols(), model.fit.p);
    if let Some(names) = args.names(named, table)? {
        let mut places = Vec::new();
        for row in &model.coefficients {
            let name = row.feature.as_deref().unwrap_or_default();
            let Some(column) = names.iter().position(|known| known == name) else {
                let close = ksparse_io::suggestion(name, names.iter().map(String::as_str));
                let hint = close.map_or(String::new(), |close| format!(" (there is `{close}`)"));
                let (source, file) = (&table.source, file.display());
                return Err(Failure::Input(format!(
                    "{source}: there is no column `{name}`, which {file} uses{hint}; give data with the columns it was \
                     fitted on"
                )));
            };
            places.push(column);
        }
        for model in &mut models {
            let mut pairs: Vec<(usize, f64)> = places.iter().copied().zip(model.coefficients.drain(..)).collect();
            pairs.sort_unstable_by_key(|pair| pair.0);
            (model.support, model.coefficients) = pairs.into_iter().unzip();
        }
    } else if table.format == Format::Svmlight {
        // Columns that end no row of this file are zero throughout it.
        for model in &mut models {
            let used = model.support.partition_point(|&column| column < found);
            model.support.truncate(used);
            model.coefficients.truncate(used);
        }
        if found > expected {
            let extra = found - expected;
            screen.note(&format!("{extra} columns beyond the {expected} of the model are left out: it never saw them"));
        }
    } else if found != expected {
        let (source, file) = (&table.source, file.display());
        return Err(Failure::Input(format!(
            "{source}: {found} columns, but {file} was fitted on {expected}; give data with the same columns \
             (--target, --time and --event name those that are no features)"
        )));
    }
    Ok(models)
}

fn scores(model: &JointModel, table: &Table, z: &[f64]) -> Result<Option<Scores>> {
    let Some(target) = &table.target else { return Ok(None) };
    let blame = |error: ksparse_io::Error| Failure::Input(format!("{}: {}", table.source, worded(&error)));
    if let Some(part) = &model.survival {
        let Some(time) = table.beside[Beside::Time as usize].clone() else { return Ok(None) };
        let times = Times::with_events(table, time, part.events.clone(), part.ties.parse()?)?;
        let survival = ksparse::loss::Survival { weights: table.weights.as_deref(), ..times.survival() };
        let score = concordance(z, &survival).map_err(|error| Failure::from(error).within(&table.source))?;
        return Ok(Some(Scores { concordance: Some(score), ..Scores::default() }));
    }
    let labels = labels(model);
    let (of, count) = (places(target, labels).map_err(blame)?, labels.len());
    let p = probabilities(model, z);
    let mut confusion = vec![vec![0; count]; count];
    let (mut error, mut deviance, mut total) = (0.0, 0.0, 0.0);
    for (i, &class) in of.iter().enumerate() {
        let (found, weight) = (best(&p, count, i), table.weights.as_ref().map_or(1.0, |weights| weights[i]));
        confusion[class][found] += 1;
        error += weight * f64::from(found != class);
        deviance -= 2.0 * weight * p[i * count + class].max(f64::MIN_POSITIVE).ln();
        total += weight;
    }
    let (error, deviance) = (error / total, deviance / total);
    let (accuracy, error, deviance) = (Some(1.0 - error), Some(error), Some(deviance));
    Ok(Some(Scores { accuracy, error, deviance, concordance: None, confusion }))
}

/// What the classes are called.
fn labels(model: &JointModel) -> &[String] {
    model.ordinal.as_ref().map_or(&model.outputs, |part| &part.levels)
}

/// The probabilities of the classes, row by row.
fn probabilities(model: &JointModel, z: &[f64]) -> Vec<f64> {
    match &model.ordinal {
        Some(part) => Ordinal::probabilities(z, &part.thresholds),
        None => Multinomial::probabilities(z, model.outputs.len()),
    }
}

/// The class with the largest prediction; the first of equals.
fn best(z: &[f64], count: usize, row: usize) -> usize {
    let z = &z[row * count..(row + 1) * count];
    (1..count).fold(0, |best, c| if z[c] > z[best] { c } else { best })
}

/// A line for every row; a heading first where a line has several numbers.
fn lines(
    args: &PredictArgs,
    model: &JointModel,
    table: &Table,
    z: &[f64],
    survival: Option<&SurvivalPart>,
) -> Result<Vec<String>> {
    let n = table.nrows();
    let join = |numbers: Vec<f64>| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    if let (Some(part), Some(times)) = (survival, &args.at) {
        let baselines: Vec<Baseline> = part.baselines.iter().map(Into::into).collect();
        let of = strata(part, table)?;
        let curve = |i: usize| join(times.0.iter().map(|&t| baselines[of[i]].survival(t, z[i])).collect());
        return Ok(std::iter::once(join(times.0.clone())).chain((0..n).map(curve)).collect());
    }
    if survival.is_some() {
        return Ok(z.iter().map(ToString::to_string).collect());
    }
    if args.decision {
        let count = model.outputs.len();
        let row = |i: usize| join(z[i * count..(i + 1) * count].to_vec());
        return Ok(std::iter::once(model.outputs.join(",")).chain((0..n).map(row)).collect());
    }
    let (labels, p) = (labels(model), probabilities(model, z));
    let count = labels.len();
    if !args.proba {
        return Ok((0..n).map(|i| labels[best(&p, count, i)].clone()).collect());
    }
    let row = |i: usize| join(p[i * count..(i + 1) * count].to_vec());
    Ok(std::iter::once(labels.join(",")).chain((0..n).map(row)).collect())
}

/// The stratum of every row, by its place among those of the model.
fn strata(part: &SurvivalPart, table: &Table) -> Result<Vec<usize>> {
    if part.labels.len() == 1 && part.strata.is_none() {
        return Ok(vec![0; table.nrows()]);
    }
    let Some(given) = &table.beside[Beside::Strata as usize] else {
        return Err(refused("the model has a baseline for every stratum: name their column with --strata"));
    };
    let place = |(i, label): (usize, &f64)| {
        part.labels.iter().position(|known| known == label).ok_or_else(|| {
            let row = i + 1;
            Failure::Input(format!("{}: row {row} is of stratum {label}, which the model does not know", table.source))
        })
    };
    given.iter().enumerate().map(place).collect()
}

/// The scores, and how classes were taken for each other.
fn facts(model: &JointModel, scores: Option<&Scores>, rows: usize, written: Option<&Path>) -> String {
    let mut facts = Facts::default();
    facts.add("rows", rows.to_string());
    let mut text = String::new();
    if let Some(scores) = scores {
        let named = [
            ("accuracy", scores.accuracy),
            ("error", scores.error),
            ("deviance", scores.deviance),
            ("concordance", scores.concordance),
        ];
        named.iter().filter_map(|(name, value)| Some((*name, (*value)?))).for_each(|(name, value)| {
            facts.add(name, significant(value));
        });
        text = confusion(model, scores);
    }
    if let Some(path) = written {
        facts.add("predictions", path.display().to_string());
    }
    format!("{text}{facts}")
}

/// A row for every class: what was predicted for its rows, and the shares found (recall) and right (precision).
fn confusion(model: &JointModel, scores: &Scores) -> String {
    if scores.confusion.is_empty() {
        return String::new();
    }
    let mut headings = vec!["class"];
    headings.extend(labels(model).iter().map(String::as_str));
    headings.extend(["recall", "precision"]);
    let mut table = Columns::new(&headings);
    for (c, (name, row)) in labels(model).iter().zip(&scores.confusion).enumerate() {
        let (of_class, of_prediction): (usize, usize) =
            (row.iter().sum(), scores.confusion.iter().map(|other| other[c]).sum());
        let share = |of: usize| if of == 0 { "-".to_string() } else { significant(row[c] as f64 / of as f64) };
        let counts = row.iter().map(ToString::to_string);
        let cells = std::iter::once(name.clone()).chain(counts).chain([share(of_class), share(of_prediction)]);
        table.row(cells.collect());
    }
    format!("{}\n\n", table.lines().join("\n"))
}

/// `ksparse show` of such a model.
pub fn show(model: &JointModel) -> String {
    let mut facts = report::facts(model);
    facts.add("status", model.fit.status.clone());
    facts.add("fitted on", format!("{} rows, {} columns", model.fit.n, model.fit.p));
    facts.add("written by", model.created_by.clone());
    format!("{}\n{facts}", report::coefficients(model, usize::MAX))
}
