//! What a path has to say: a table with the chosen k marked, or a JSON object.

use crate::choosing::Made;
use crate::outcome::{Fitted, Times, coefficients};
use crate::prepared::Prepared;
use crate::report::{Facts, Table, seconds, significant};
use crate::screen::{bold, dim, green};
use crate::sharded::fit::Shards;
use ksparse::path::GridSolution;
use ksparse::select::{Alternative, CvCell, Edge, Training};
use ksparse::{LinearModel, Risk, Solution, Status};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// Rows of the table unless all are asked for.
const ROWS: usize = 40;
/// Coefficients of the chosen model unless all are asked for.
const COEFFICIENTS: usize = 10;

/// A k and a lambda with their solution, and what the choice was made by (mean and, from folds, standard error).
pub struct Cell<'a> {
    pub k: usize,
    pub lambda: f64,
    pub solution: &'a Solution,
    pub score: Option<(f64, Option<f64>)>,
}

impl<'a> Cell<'a> {
    /// All cells: lambdas descending, for each the k ascending.
    pub fn all(solved: &'a GridSolution) -> Vec<Self> {
        let paths = solved.lambdas.iter().zip(&solved.paths);
        let cells = paths.flat_map(|(&lambda, path)| {
            path.iter().map(move |(k, solution)| Self { k, lambda, solution, score: None })
        });
        cells.collect()
    }
}

/// The cell that won.
pub struct Choice {
    pub index: usize,
    /// What was compared.
    pub score: &'static str,
    /// How, in words.
    pub by: String,
}

/// Whoever knows what a solution means for the columns as given.
pub trait Models {
    fn model(&self, solution: &Solution) -> LinearModel;

    /// The risk on all rows, where they are in one place and coefficients have no bounds of their own.
    fn risk(&self) -> Option<&Risk<'_>>;
}

impl Models for Training<'_> {
    fn model(&self, solution: &Solution) -> LinearModel {
        Training::model(self, solution)
    }

    fn risk(&self) -> Option<&Risk<'_>> {
        (!self.bounded()).then_some(&self.risk)
    }
}

/// A solved path.
pub struct PathReport<'a> {
    pub prepared: &'a Prepared,
    pub training: &'a dyn Models,
    pub solved: &'a GridSolution,
    pub cells: &'a [Cell<'a>],
    pub choice: Option<Choice>,
    pub chosen: Option<Fitted<'a>>,
    pub times: Times,
    /// What was chosen with it, where no k was given.
    pub made: Option<&'a Made>,
}

#[derive(Serialize)]
struct PathJson<'a> {
    loss: &'a str,
    solver: &'a str,
    n: usize,
    p: usize,
    standardized: bool,
    /// The status of a path that was cut short.
    stopped: Option<&'static str>,
    path: Vec<CellJson>,
    chosen: Option<ChosenJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    communication: Option<Shards>,
    seconds: f64,
    read_seconds: f64,
}

#[derive(Serialize)]
struct CellJson {
    k: usize,
    lambda: f64,
    objective: f64,
    support: Vec<usize>,
    coefficients: Vec<f64>,
    intercept: f64,
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standard_error: Option<f64>,
}

#[derive(Serialize)]
struct ChosenJson<'a> {
    k: usize,
    lambda: f64,
    by: &'a str,
    score: &'a str,
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    feature_names: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_bounds: Option<&'a [usize]>,
    #[serde(flatten)]
    whole: Option<WholeJson<'a>>,
}

/// What is known beside, where k and the ridges were chosen together.
#[derive(Serialize)]
struct WholeJson<'a> {
    /// The ridge the columns were selected under; `lambda` is that of the coefficients.
    select_lambda: f64,
    support: &'a [usize],
    coefficients: &'a [f64],
    intercept: f64,
    /// Columns that folds have selected, with the share of the folds.
    frequencies: Vec<(usize, f64)>,
    /// Other supports of this size met on the way, with their objective.
    alternatives: &'a [Alternative],
    edges: &'a [Edge],
    /// Every cell that was scored.
    scores: &'a [CvCell],
}

impl<'a> WholeJson<'a> {
    fn new(made: &'a Made) -> Self {
        let (chosen, predictor) = (&made.chosen, &made.chosen.predictors[0]);
        Self {
            select_lambda: chosen.lambda,
            support: &chosen.model().support,
            coefficients: &chosen.model().coefficients,
            intercept: chosen.model().intercept,
            frequencies: made.frequencies(),
            alternatives: &predictor.alternatives,
            edges: &chosen.edges,
            scores: chosen.table.cells(),
        }
    }
}

impl PathReport<'_> {
    /// For machines.
    pub fn json(&self, solver: &str) -> String {
        let table = &self.prepared.data.table;
        let cells = self.cells.iter().map(|cell| {
            let model = self.training.model(cell.solution);
            let kept = model.support.iter().zip(&model.coefficients).filter(|(_, value)| **value != 0.0);
            let (support, coefficients) = kept.map(|(&column, &value)| (column, value)).unzip();
            CellJson {
                k: cell.k,
                lambda: cell.lambda,
                objective: cell.solution.value,
                support,
                coefficients,
                intercept: model.intercept,
                status: cell.solution.status.code().to_string(),
                // An interpolating model scores infinity, which JSON cannot say: null.
                score: cell.score.map(|(mean, _)| mean),
                standard_error: cell.score.and_then(|(_, error)| error),
            }
        });
        let chosen = self.choice.as_ref().map(|choice| ChosenJson {
            k: self.cells[choice.index].k,
            lambda: self.made.map_or(self.cells[choice.index].lambda, |made| made.chosen.refit),
            by: &choice.by,
            score: choice.score,
            index: choice.index,
            feature_names: self.chosen.as_ref().and_then(Fitted::feature_names),
            at_bounds: self.chosen.as_ref().and_then(Fitted::at_bounds),
            whole: self.made.map(WholeJson::new),
        });
        let object = PathJson {
            loss: &self.prepared.task.spec.name,
            solver,
            n: table.nrows(),
            p: table.ncols(),
            standardized: self.prepared.standardize,
            stopped: self.solved.stopped().map(Status::code),
            path: cells.collect(),
            chosen,
            communication: self.chosen.as_ref().and_then(|fitted| fitted.shards),
            seconds: self.times.fit,
            read_seconds: self.times.read,
        };
        crate::report::json(&object)
    }

    /// For people.
    pub fn table(&self, solver: &str, files: &[(&'static str, Option<PathBuf>)], all: bool) -> String {
        let many_lambdas = self.solved.lambdas.len() > 1;
        let score = self.choice.as_ref().map(|choice| choice.score);
        let with_error = self.cells.iter().any(|cell| cell.score.is_some_and(|(_, error)| error.is_some()));
        let mut headings = vec!["k"];
        headings.extend(many_lambdas.then_some("lambda"));
        headings.push("objective");
        headings.extend(score);
        headings.extend(with_error.then_some("+-"));
        let chosen = self.choice.as_ref().map(|choice| choice.index);
        let shown = shown(self.cells.len(), chosen, if all { usize::MAX } else { ROWS });
        let mut table = Table::new(&headings);
        for &index in &shown {
            let cell = &self.cells[index];
            let mut row = vec![cell.k.to_string()];
            row.extend(many_lambdas.then(|| significant(cell.lambda)));
            row.push(significant(cell.solution.value));
            row.extend(score.map(|_| cell.score.map_or(String::new(), |(mean, _)| significant(mean))));
            let error = cell.score.and_then(|(_, error)| error);
            row.extend(with_error.then(|| error.map_or(String::new(), |e| format!("{e:.2e}"))));
            table.row(row);
        }
        let lines = table.lines();
        let mut text = format!("{}\n", bold(&lines[0]));
        for (line, &index) in lines[1..].iter().zip(&shown) {
            let line = if Some(index) == chosen { green(&format!("{line}  <- chosen")) } else { line.clone() };
            let _ = writeln!(text, "{line}");
        }
        if shown.len() < self.cells.len() {
            let note = format!("{} of {} rows (--verbose shows all)", shown.len(), self.cells.len());
            let _ = writeln!(text, "{}", dim(&note));
        }
        let mut facts = Facts::default();
        match (&self.choice, &self.chosen) {
            (Some(choice), Some(fitted)) => {
                let cell = &self.cells[choice.index];
                let _ = write!(text, "\n{}", coefficients(&fitted.model, if all { usize::MAX } else { COEFFICIENTS }));
                facts.add("chosen", format!("k = {}, by {}", bold(&cell.k.to_string()), choice.by));
                match self.made {
                    Some(made) => made.facts(&mut facts),
                    None if many_lambdas => facts.add("lambda", significant(cell.lambda)),
                    None => (),
                }
                fitted.add_bounds(&mut facts);
            }
            _ => facts.add("chosen", "none: say how with --cv N or --criterion NAME"),
        }
        facts.add("loss", self.prepared.task.describe());
        if !many_lambdas && self.made.is_none() {
            facts.add("lambda", significant(self.prepared.lambda));
        }
        facts.add("solver", solver);
        if let Some(status) = self.solved.stopped() {
            facts.add("status", status.to_string());
        }
        facts.add("data", format!("{}, read in {}", self.prepared.data.shape(), seconds(self.times.read)));
        if let Some(shards) = self.chosen.as_ref().and_then(|fitted| fitted.shards) {
            facts.add("files", shards.to_string());
        }
        facts.add("time", seconds(self.times.fit));
        for (what, path) in files {
            if let Some(path) = path.as_ref().filter(|_| *what != "model" || self.chosen.is_some()) {
                facts.add(what, path.display().to_string());
            }
        }
        let _ = write!(text, "\n{facts}");
        text
    }
}

/// At most `most` of `0..all`, evenly spread, the first, the last and the chosen one among them.
fn shown(all: usize, chosen: Option<usize>, most: usize) -> Vec<usize> {
    if all <= most {
        return (0..all).collect();
    }
    let mut shown: Vec<usize> = (0..most).map(|i| i * (all - 1) / (most - 1)).collect();
    shown.extend(chosen);
    shown.sort_unstable();
    shown.dedup();
    shown
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn long_tables_are_thinned_out() {
        assert_eq!(shown(3, None, 5), [0, 1, 2]);
        assert_eq!(shown(100, Some(50), 3), [0, 49, 50, 99]);
    }
}
