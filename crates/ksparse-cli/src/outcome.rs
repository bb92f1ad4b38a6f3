//! What a fit has to say: a model file, a JSON object, a table.

use crate::certified::Bound;
use crate::prepared::Prepared;
use crate::report::{self, Facts, Table, count, seconds, significant};
use crate::screen::{bold, dim};
use crate::sharded::fit::Shards;
use ksparse::{LinearModel, Remedy, Solution, Status};
use ksparse_io::Labels;
use ksparse_io::model::{Coefficient, FORMAT, Fit, LossSpec, Model, VERSION};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Rows of the table unless all are asked for.
const ROWS: usize = 20;

/// Seconds spent.
#[derive(Clone, Copy)]
pub struct Times {
    pub fit: f64,
    pub read: f64,
}

/// A solution in terms of the data it came from.
pub struct Fitted<'a> {
    pub model: Model,
    prepared: &'a Prepared,
    iterations: usize,
    refits: usize,
    status: Status,
    bound: Option<Bound>,
    /// What the files it came from have taken.
    pub shards: Option<Shards>,
    /// The columns that a bound on their coefficients holds back, where there are any bounds.
    held_back: Option<Vec<usize>>,
}

/// The parameter of a loss as JSON has it: `logistic_scale`, say.
fn parameter(loss: &LossSpec) -> BTreeMap<String, f64> {
    let key = |name| format!("{}_{name}", loss.name.replace('-', "_"));
    loss.named_parameter().map(|(name, value)| (key(name), value)).into_iter().collect()
}

/// The object `fit --json` prints.
#[derive(Serialize)]
struct FitJson<'a> {
    objective: f64,
    /// Of which problem f is the objective.
    objective_of: &'static str,
    loss: &'a str,
    /// The parameter of the loss, as `logistic_scale` and the like.
    #[serde(flatten)]
    parameter: BTreeMap<String, f64>,
    lambda: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    select_lambda: Option<f64>,
    k: usize,
    solver: &'a str,
    support: Vec<usize>,
    coefficients: Vec<f64>,
    intercept: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    feature_names: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<&'a Labels>,
    standardized: bool,
    iterations: usize,
    refits: usize,
    status: &'a str,
    status_text: String,
    #[serde(flatten)]
    bound: Option<Bound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    communication: Option<Shards>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_bounds: Option<&'a [usize]>,
    seconds: f64,
    read_seconds: f64,
    n: usize,
    p: usize,
}

impl<'a> Fitted<'a> {
    /// A solution, and the model it is of the columns in the file.
    pub fn new(prepared: &'a Prepared, linear: LinearModel, solution: &Solution, solver: &str, k: usize) -> Self {
        let table = &prepared.data.table;
        let entries = linear.support.iter().zip(&linear.coefficients).filter(|(_, value)| **value != 0.0);
        let coefficients = entries.map(|(&column, &value)| Coefficient {
            column,
            feature: prepared.data.feature_name(column).map(str::to_string),
            value,
        });
        let model = Model {
            format: FORMAT.to_string(),
            version: VERSION,
            created_by: concat!("ksparse ", env!("CARGO_PKG_VERSION")).to_string(),
            loss: prepared.task.spec.clone(),
            labels: prepared.task.labels.clone(),
            fit: Fit {
                lambda: prepared.lambda,
                select_lambda: None,
                k,
                solver: solver.to_string(),
                status: solution.status.code().to_string(),
                objective: solution.value,
                standardized: prepared.standardize,
                n: prepared.data.rows(),
                p: table.ncols(),
                target: table.target_name.clone(),
                categories: table.categories.clone(),
            },
            offset: prepared.offset.clone(),
            intercept: linear.intercept,
            coefficients: coefficients.collect(),
        };
        let (iterations, refits, status) = (solution.iterations, solution.refits, solution.status);
        Self { model, prepared, iterations, refits, status, bound: None, shards: None, held_back: None }
    }

    /// With the columns that a bound on their coefficients holds back, where there were any bounds.
    pub fn held_back(mut self, columns: Option<Vec<usize>>) -> Self {
        self.held_back = columns.map(|columns| columns.into_iter().filter(|&j| j < self.model.fit.p).collect());
        self
    }

    /// With what is known about its distance from the best.
    pub fn with_bound(self, bound: Option<Bound>) -> Self {
        Self { bound, ..self }
    }

    /// With what the files it came from have taken.
    pub fn with_shards(self, shards: Shards) -> Self {
        Self { shards: Some(shards), ..self }
    }

    /// The same under another ridge.
    pub fn with_lambda(mut self, lambda: f64) -> Self {
        self.model.fit.lambda = lambda;
        self
    }

    /// With the ridge its columns were selected under, if that is another.
    pub fn selected_under(mut self, lambda: f64) -> Self {
        self.model.fit.select_lambda = Some(lambda).filter(|lambda| *lambda != self.model.fit.lambda);
        self
    }

    /// The columns that a bound holds back, where there are bounds.
    pub fn at_bounds(&self) -> Option<&[usize]> {
        self.held_back.as_deref()
    }

    /// The same for people.
    pub fn add_bounds(&self, facts: &mut Facts) {
        if let Some(held) = &self.held_back {
            let name = |&j: &usize| self.prepared.data.feature_name(j).map_or((j + 1).to_string(), str::to_string);
            let names = held.iter().map(name).collect::<Vec<_>>().join(", ");
            facts.add("at bounds", if held.is_empty() { "no coefficient".to_string() } else { names });
        }
    }

    /// The names of the columns in use, if columns have names.
    pub fn feature_names(&self) -> Option<Vec<&str>> {
        self.prepared.data.table.names.as_ref()?;
        self.model.coefficients.iter().map(|c| c.feature.as_deref()).collect()
    }

    /// For machines.
    pub fn json(&self, times: Times) -> String {
        let model = &self.model;
        let object = FitJson {
            objective: model.fit.objective,
            objective_of: if model.fit.standardized { "standardised columns" } else { "input columns" },
            loss: &model.loss.name,
            parameter: parameter(&model.loss),
            lambda: model.fit.lambda,
            select_lambda: model.fit.select_lambda,
            k: model.fit.k,
            solver: &model.fit.solver,
            support: model.coefficients.iter().map(|c| c.column).collect(),
            coefficients: model.coefficients.iter().map(|c| c.value).collect(),
            intercept: model.intercept,
            feature_names: self.feature_names(),
            labels: model.labels.as_ref(),
            standardized: model.fit.standardized,
            iterations: self.iterations,
            refits: self.refits,
            status: &model.fit.status,
            status_text: in_words(self.status, &model.fit.solver),
            bound: self.bound,
            communication: self.shards,
            at_bounds: self.at_bounds(),
            seconds: times.fit,
            read_seconds: times.read,
            n: model.fit.n,
            p: model.fit.p,
        };
        report::json(&object)
    }

    /// For people.
    pub fn table(&self, times: Times, written: Option<&Path>, all: bool) -> String {
        let mut text = coefficients(&self.model, if all { usize::MAX } else { ROWS });
        let task = &self.prepared.task;
        let mut facts = Facts::default();
        facts.add("loss", task.describe());
        add_labels(&mut facts, task.labels.as_ref());
        facts.add("lambda", significant(self.model.fit.lambda));
        if let Some(select) = self.model.fit.select_lambda {
            facts.add("selected", format!("k = {}, under lambda = {}", self.model.fit.k, significant(select)));
        }
        let of = if self.model.fit.standardized { " (of the standardised columns)" } else { "" };
        facts.add("objective", format!("{}{of}", bold(&significant(self.model.fit.objective))));
        let (iterations, refits) = (count(self.iterations, "iteration"), count(self.refits, "refit"));
        facts.add("solver", format!("{}, {iterations}, {refits}", self.model.fit.solver));
        facts.add("status", in_words(self.status, &self.model.fit.solver));
        for (name, value) in self.bound.iter().flat_map(|bound| bound.facts(self.model.fit.k)) {
            facts.add(name, value);
        }
        self.add_bounds(&mut facts);
        facts.add("data", format!("{}, read in {}", self.prepared.data.shape(), seconds(times.read)));
        if let Some(shards) = &self.shards {
            facts.add("files", shards.to_string());
        }
        facts.add("time", seconds(times.fit));
        if let Some(path) = written {
            facts.add("model", path.display().to_string());
        }
        let _ = write!(text, "\n{facts}");
        text
    }
}

/// What -1 and +1 stand for, unless that is what they are called.
pub fn add_labels(facts: &mut Facts, labels: Option<&Labels>) {
    if let Some(labels) = labels
        && (labels.name(-1.0), labels.name(1.0)) != ("-1", "1")
    {
        facts.add("labels", labels.to_string());
    }
}

/// The coefficients of a model, the largest first.
pub fn coefficients(model: &Model, most: usize) -> String {
    let named = model.coefficients.iter().any(|c| c.feature.is_some());
    let mut order: Vec<&Coefficient> = model.coefficients.iter().collect();
    order.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
    let mut table = Table::new(&["feature", "coefficient"]);
    for entry in order.iter().take(most) {
        let name = entry.feature.clone().unwrap_or_else(|| (entry.column + 1).to_string());
        table.row(vec![name, significant(entry.value)]);
    }
    if model.intercept != 0.0 {
        table.row(vec!["(intercept)".to_string(), significant(model.intercept)]);
    }
    let lines = table.lines();
    let mut text = format!("{}\n", bold(&lines[0]));
    lines[1..].iter().for_each(|line| text.push_str(&format!("{line}\n")));
    if order.len() > most {
        let rest = order.len() - most;
        let _ = writeln!(text, "{}", dim(&format!("... and {rest} smaller ones (--verbose shows all)")));
    }
    if !named && !order.is_empty() {
        let _ =
            writeln!(text, "{}", dim("features are counted from 1 here, from 0 in JSON; the target is not counted"));
    }
    text
}

/// A status for people. The exact search is there for its proof: how it ended without one is no matter of convergence.
pub fn in_words(status: Status, solver: &str) -> String {
    match (solver, status) {
        ("exact", Status::MaxIterations) => "not proven: out of nodes".to_string(),
        ("exact", Status::TimeLimit) => "not proven: out of time".to_string(),
        _ => match status.remedy() {
            Some(Remedy::AddRidge) => format!("{status} (--lambda)"),
            Some(Remedy::MoreIterations) => format!("{status} (--max-iter)"),
            Some(Remedy::ShorterStep) => format!("{status} (--step)"),
            _ => status.to_string(),
        },
    }
}
