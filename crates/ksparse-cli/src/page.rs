//! `ksparse path --report`: the path as a page to look through.

use crate::choosing::Made;
use crate::path_report::{Cell, PathReport};
use crate::report::significant;
use ksparse::certificate::{CertifyOptions, certify};
use ksparse_plot::{PathPage, PathStep};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Near ties that are listed.
const NEAR_TIES: usize = 5;
/// The proven gaps take at most so long for one k, and for all.
const ONE_GAP: Duration = Duration::from_millis(500);
const ALL_GAPS: Duration = Duration::from_secs(20);

/// The page of the chosen lambda (without a choice, of the smallest): score, coefficients by name, and the gap where
/// there is a ridge.
pub fn path(report: &PathReport, solver: &str) -> String {
    let chosen = report.choice.as_ref().map(|choice| &report.cells[choice.index]);
    let lambda = chosen.map_or_else(|| report.solved.lambdas.last().copied().unwrap_or(0.0), |cell| cell.lambda);
    let cells: Vec<&Cell> = report.cells.iter().filter(|cell| cell.lambda == lambda).collect();
    let gaps = gaps(report, &cells, lambda);
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut names = Vec::new();
    let mut steps = Vec::new();
    for (cell, gap) in cells.iter().zip(gaps) {
        let model = report.training.model(cell.solution);
        let mut step = PathStep {
            k: cell.k,
            intercept: model.intercept,
            objective: cell.solution.value,
            score: cell.score.map(|(mean, _)| mean),
            error: cell.score.and_then(|(_, error)| error),
            gap,
            ..PathStep::default()
        };
        for (&column, &value) in model.support.iter().zip(&model.coefficients).filter(|(_, value)| **value != 0.0) {
            let place = *places.entry(column).or_insert_with(|| {
                names.push(feature(report, column));
                names.len() - 1
            });
            step.support.push(place);
            step.coefficients.push(value);
        }
        steps.push(step);
    }
    let by = report.choice.as_ref().map_or(String::new(), |choice| format!("; k chosen by {}", choice.by));
    PathPage {
        title: format!("Models of {}", report.prepared.data.table.source),
        about: format!(
            "{}; {} loss, lambda = {}, solver {solver}{by}",
            report.prepared.data.shape(),
            report.prepared.task.spec.name,
            significant(lambda)
        ),
        score: report.choice.as_ref().map_or("objective", |choice| choice.score).to_string(),
        names,
        chosen: chosen.and_then(|chosen| cells.iter().position(|cell| cell.k == chosen.k)),
        steps,
        notes: report.made.map_or_else(Vec::new, |made| notes(report, made)),
        frequencies: report.made.map_or_else(Vec::new, |made| {
            made.frequencies().into_iter().map(|(column, share)| (feature(report, column), share)).collect()
        }),
    }
    .to_html()
}

/// A column by its name, or by its number counted from 1.
fn feature(report: &PathReport, column: usize) -> String {
    report.prepared.data.feature_name(column).map_or_else(|| format!("column {}", column + 1), str::to_string)
}

/// Both ridges, and the supports nearly as good as the chosen one: what they have instead of what.
fn notes(report: &PathReport, made: &Made) -> Vec<String> {
    let chosen = &made.chosen;
    let mut notes = vec![format!(
        "Columns selected under lambda = {}, coefficients fitted under lambda = {}; \
         the charts show the path under the first.",
        significant(chosen.lambda),
        significant(chosen.refit)
    )];
    let own = &chosen.model().support;
    for (support, value) in made.near_ties().into_iter().take(NEAR_TIES) {
        let names = |of: &[usize], without: &[usize]| {
            let only = of.iter().filter(|j| !without.contains(j)).map(|&j| feature(report, j));
            only.collect::<Vec<_>>().join(", ")
        };
        notes.push(format!(
            "Nearly as good (f = {}): {} instead of {}.",
            significant(value),
            names(support, own),
            names(own, support)
        ));
    }
    notes
}

/// How far each model can be from the best of its size; `None` where that cannot be said (no ridge) or the time is up.
fn gaps(report: &PathReport, cells: &[&Cell], lambda: f64) -> Vec<Option<f64>> {
    let started = Instant::now();
    let Some(Ok(risk)) = report.training.risk().map(|risk| risk.reridged(lambda)) else {
        return vec![None; cells.len()];
    };
    let options = CertifyOptions { time_limit: Some(ONE_GAP), precision: 1e-3, ..CertifyOptions::default() };
    let gap = |cell: &&Cell| {
        if lambda <= 0.0 || started.elapsed() > ALL_GAPS {
            return None;
        }
        let sparsity = report.prepared.sparsity(cell.k);
        let found = certify(&risk, &sparsity, cell.solution, &options, &mut |_| ControlFlow::Continue(()));
        found.ok().map(|certificate| certificate.gap)
    };
    cells.iter().map(gap).collect()
}
