//! What such a fit has to say.

use crate::outcome::{Times, in_words};
use crate::report::{self, Facts, Table, count, seconds, significant};
use crate::screen::{bold, dim, green};
use ksparse::Solution;
use ksparse::select::{Chosen, CvCell, CvTable};
use ksparse_io::joint_model::{JointModel, OrdinalPart, Row};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// Rows of the table unless all are asked for, and classes that have a column of their own.
const ROWS: usize = 20;
const CLASSES: usize = 8;

#[derive(Serialize)]
struct FitJson<'a> {
    objective: f64,
    loss: &'a str,
    lambda: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    select_lambda: Option<f64>,
    k: usize,
    solver: &'a str,
    outputs: &'a [String],
    support: Vec<usize>,
    /// A list for every output.
    coefficients: Vec<Vec<f64>>,
    intercepts: &'a [f64],
    #[serde(flatten)]
    ordinal: Option<&'a OrdinalPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feature_names: Option<Vec<&'a str>>,
    standardized: bool,
    iterations: usize,
    refits: usize,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<Vec<Score>>,
    seconds: f64,
    read_seconds: f64,
    n: usize,
    p: usize,
}

/// What cross-validation measured for a k and a ridge.
#[derive(Serialize)]
struct Score {
    k: usize,
    lambda: f64,
    /// The ridge its coefficients were fitted under.
    refit_lambda: f64,
    metric: &'static str,
    mean: f64,
    standard_error: f64,
}

fn scores(table: &CvTable) -> Vec<Score> {
    let metric = table.metric().name();
    let score = |cell: &CvCell| Score {
        k: cell.k,
        lambda: cell.lambda,
        refit_lambda: cell.refit,
        metric,
        mean: cell.mean,
        standard_error: cell.standard_error,
    };
    table.cells().iter().map(score).collect()
}

/// For machines.
pub fn json(model: &JointModel, solution: &Solution, chosen: Option<&Chosen>, times: Times) -> String {
    let of = |c: usize| model.coefficients.iter().map(|row| row.values[c]).collect();
    report::json(&FitJson {
        objective: model.fit.objective,
        loss: &model.loss,
        lambda: model.fit.lambda,
        select_lambda: model.fit.select_lambda,
        k: model.fit.k,
        solver: &model.fit.solver,
        outputs: &model.outputs,
        support: model.coefficients.iter().map(|row| row.column).collect(),
        coefficients: (0..model.outputs.len()).map(of).collect(),
        intercepts: &model.intercepts,
        ordinal: model.ordinal.as_ref(),
        feature_names: model.coefficients.iter().map(|row| row.feature.as_deref()).collect(),
        standardized: model.fit.standardized,
        iterations: solution.iterations,
        refits: solution.refits,
        status: &model.fit.status,
        scores: chosen.map(|chosen| scores(&chosen.table)),
        seconds: times.fit,
        read_seconds: times.read,
        n: model.fit.n,
        p: model.fit.p,
    })
}

/// For people.
pub fn table(
    model: &JointModel,
    solution: &Solution,
    chosen: Option<&Chosen>,
    times: Times,
    data: &str,
    written: Option<&Path>,
    all: bool,
) -> String {
    let mut text = coefficients(model, if all { usize::MAX } else { ROWS });
    let mut facts = facts(model);
    facts.add("status", in_words(solution.status, &model.fit.solver));
    facts.add("data", data.to_string());
    facts.add("time", seconds(times.fit));
    if let Some(path) = written {
        facts.add("model", path.display().to_string());
    }
    if let Some(chosen) = chosen {
        let lines = compared(chosen);
        lines.iter().for_each(|line| text.push_str(&format!("\n{line}")));
        text.push('\n');
    }
    let _ = write!(text, "\n{facts}");
    text
}

/// The best score of every k, the chosen one marked.
fn compared(chosen: &Chosen) -> Vec<String> {
    let mut table = Table::new(&["k", "selected under", "lambda", chosen.table.metric().name(), "+/-"]);
    let mut ks: Vec<usize> = chosen.table.cells().iter().map(|cell| cell.k).collect();
    ks.sort_unstable();
    ks.dedup();
    for cell in ks.iter().filter_map(|&k| chosen.cell(k)) {
        let numbers = [cell.lambda, cell.refit, cell.mean, cell.standard_error].map(significant);
        table.row(std::iter::once(cell.k.to_string()).chain(numbers).collect());
    }
    let mut lines = table.lines();
    if let Some(place) = ks.iter().position(|&k| k == chosen.k).filter(|place| place + 1 < lines.len()) {
        lines[place + 1] = green(&format!("{}  <- chosen", lines[place + 1]));
    }
    lines
}

/// What a model file knows of its fit.
pub fn facts(model: &JointModel) -> Facts {
    let mut facts = Facts::default();
    facts.add("loss", model.loss.clone());
    if let Some(survival) = &model.survival {
        facts.add("ties", survival.ties.clone());
        facts.add("events", survival.events.to_string());
    } else if let Some(ordinal) = &model.ordinal {
        facts.add("levels", ordinal.levels.join(" < "));
        facts.add("cut points", ordinal.thresholds.iter().map(|t| significant(*t)).collect::<Vec<_>>().join(", "));
    } else {
        facts.add("classes", model.outputs.join(", "));
    }
    facts.add("k", format!("{} ({})", model.fit.k, count(model.coefficients.len(), "column")));
    facts.add("lambda", significant(model.fit.lambda));
    if let Some(lambda) = model.fit.select_lambda {
        facts.add("selected", format!("under lambda = {}", significant(lambda)));
    }
    let of = if model.fit.standardized { " (of the standardised columns)" } else { "" };
    facts.add("objective", format!("{}{of}", significant(model.fit.objective)));
    facts.add("solver", model.fit.solver.clone());
    facts
}

/// The coefficients of a model, the largest first.
pub fn coefficients(model: &JointModel, most: usize) -> String {
    let size = |row: &Row| row.values.iter().map(|v| v * v).sum::<f64>();
    let mut order: Vec<&Row> = model.coefficients.iter().collect();
    order.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let (survival, ordinal) = (model.survival.is_some(), model.ordinal.is_some());
    let shown = model.outputs.len().min(CLASSES);
    let mut headings = vec!["feature"];
    if survival {
        headings.extend(["coefficient", "hazard ratio"]);
    } else if ordinal {
        headings.extend(["coefficient", "odds ratio"]);
    } else {
        headings.extend(model.outputs[..shown].iter().map(String::as_str));
    }
    let mut table = Table::new(&headings);
    let numbers = |values: &[f64]| values[..shown].iter().map(|v| significant(*v)).collect::<Vec<_>>();
    for row in order.iter().take(most) {
        let name = row.feature.clone().unwrap_or_else(|| (row.column + 1).to_string());
        let mut cells = [vec![name], numbers(&row.values)].concat();
        if survival || ordinal {
            cells.push(significant(row.values[0].exp()));
        }
        table.row(cells);
    }
    if !survival && !ordinal {
        table.row([vec!["(intercept)".to_string()], numbers(&model.intercepts)].concat());
    }
    let lines = table.lines();
    let mut text = format!("{}\n", bold(&lines[0]));
    lines[1..].iter().for_each(|line| text.push_str(&format!("{line}\n")));
    if order.len() > most {
        let rest = order.len() - most;
        let _ = writeln!(text, "{}", dim(&format!("... and {rest} smaller ones (--verbose shows all)")));
    }
    if model.outputs.len() > shown {
        let rest = model.outputs.len() - shown;
        let _ = writeln!(text, "{}", dim(&format!("... and {rest} more classes (--json shows all)")));
    }
    text
}
