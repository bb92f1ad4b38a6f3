//! The methods as the papers state them: a constant step, and the ICML text's limit of k iterations beside the arXiv
//! text's 50.

use super::{Fit, MOST_ITERATIONS};
use crate::compare::{self, Plots};
use crate::frame::{Cell, Finding, Result, Row, Table};
use crate::methods;
use ksparse::solver::{Grahtp, Grasp, Solver, Step};
use ksparse::{Objective, Risk};
use std::collections::BTreeSet;

/// With this library's steps and k iterations.
const LONG: [&str; 3] = ["grahtp-icml", "fgrahtp-icml", "grasp-icml"];
/// With the best constant step, 50 and k iterations.
const CONSTANT: [&str; 4] =
    ["grahtp-published", "fgrahtp-published", "grahtp-published-icml", "fgrahtp-published-icml"];
/// The steps tried, in units of 1/L: the papers do not state theirs. L is a bound by the longest row; on text the steps
/// that converge are far longer.
const STEPS: [f64; 6] = [1.0, 4.0, 16.0, 64.0, 256.0, 1024.0];
/// How the names of methods with k iterations end.
const ICML: &str = "-icml";

/// All of them.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    LONG.into_iter().chain(CONSTANT)
}

/// The fit of a cell of one of these methods: of the steps tried, the one with the least f.
pub(super) fn fit(cell: &Cell, risk: &Risk, run: impl Fn(&dyn Solver) -> Result<Fit>) -> Result<Option<Fit>> {
    let (name, most) = match cell.method.strip_suffix(ICML) {
        Some(name) => (name, cell.k),
        None => (cell.method.as_str(), MOST_ITERATIONS),
    };
    let limits = methods::limits(most);
    let Some(name) = name.strip_suffix("-published") else {
        let solver: Box<dyn Solver> = match name {
            "grahtp" => Box::new(Grahtp { limits, ..Grahtp::default() }),
            "fgrahtp" => Box::new(Grahtp { limits, ..Grahtp::fast() }),
            _ => Box::new(Grasp { limits, ..Grasp::default() }),
        };
        return run(&*solver).map(Some);
    };
    let plain = if name == "fgrahtp" { Grahtp::fast() } else { Grahtp::default() };
    let Some(smoothness) = risk.smoothness(2 * cell.k)?.bound() else { return Ok(None) };
    let mut best: Option<Fit> = None;
    for factor in STEPS {
        let step = Step::Fixed(factor / smoothness);
        let fit = run(&Grahtp { step, limits: limits.clone(), ..plain.clone() })?;
        if best.as_ref().is_none_or(|best| fit.value() < best.value()) {
            best = Some(fit);
        }
    }
    Ok(best)
}

/// Errors, seconds and objectives of these methods on a collection; nothing without rows.
pub(super) fn tables(name: &str, fits: &[&Row]) -> Vec<Table> {
    let shown: Vec<&str> = ["grahtp", "fgrahtp", "grasp"].into_iter().chain(names()).collect();
    if !fits.iter().any(|row| CONSTANT.contains(&row.cell.method.as_str())) {
        return Vec::new();
    }
    let plot = Plots::of(fits, &shown, |row| row.cell.k);
    let table = |curves: &crate::frame::Curves, what: &str, digits: usize| {
        let caption = format!("{name}, constant steps and k iterations beside this library's: {what} by k");
        curves.table(&caption, "k", |s| format!("{:.digits$}", s.mean))
    };
    vec![
        table(&plot.errors, "test error", 4),
        table(&plot.objectives, "objective", 5),
        table(&plot.iterations, "iterations", 0),
        plot.seconds.table(
            &format!("{name}, constant steps and k iterations beside this library's: CPU seconds by k"),
            "k",
            compare::seconds,
        ),
    ]
}

/// The papers' findings asked of the methods with constant steps, as the arXiv text and as the ICML text stops them.
pub(super) fn findings(name: &str, rows: &[Row]) -> Vec<Finding> {
    let constant = |row: &&Row| row.cell.variant == name && CONSTANT.contains(&row.cell.method.as_str());
    let seeds: BTreeSet<u64> = rows.iter().filter(constant).map(|row| row.cell.seed).collect();
    // The others on the same splits.
    let own = rows.iter().filter(|row| row.cell.variant == name && seeds.contains(&row.cell.seed));
    let own: Vec<Row> = own.cloned().collect();
    if own.is_empty() {
        return Vec::new();
    }
    let arxiv = methods::renamed(&own, &[(CONSTANT[0], "grahtp"), (CONSTANT[1], "fgrahtp")]);
    let icml = methods::renamed(&own, &[(CONSTANT[2], "grahtp"), (CONSTANT[3], "fgrahtp"), (LONG[2], "grasp")]);
    let mut out = Vec::new();
    for (rows, words) in [(arxiv, "50 iterations"), (icml, "k iterations")] {
        let name = format!("{name}, constant steps, {words}");
        let fits: Vec<&Row> = rows.iter().filter(|row| row.record.is_empty()).collect();
        let traces: Vec<&Row> = rows.iter().filter(|row| row.record == super::TRACE).collect();
        let plot = Plots::new(&fits, |row| row.cell.k);
        let iterations =
            format!("Mean iterations: {}", compare::mean_iterations(&plot, &["grahtp", "fgrahtp", "grasp"]));
        out.push(compare::sharper(&name, &traces));
        out.push(compare::comparable(&name, &plot.errors).because(spread(&plot)));
        out.push(compare::fastest(&name, &plot.seconds).because(iterations.clone()));
        out.push(compare::clearly_faster(&name, &plot.seconds).because(iterations));
    }
    out
}

/// Who is behind in the test error, at the k where the methods differ most.
fn spread(plot: &Plots) -> String {
    let all = ["grahtp", "fgrahtp", "grasp", "fbs", "foba"];
    let errors = |k: usize| all.iter().filter_map(|m| Some((*m, plot.errors.at(m, k)?))).collect::<Vec<(&str, f64)>>();
    let width = |k: &usize| {
        let values = errors(*k).into_iter().map(|e| e.1);
        values.clone().fold(f64::MIN, f64::max) - values.fold(f64::MAX, f64::min)
    };
    let Some(widest) = plot.errors.xs().into_iter().max_by(|a, b| width(a).total_cmp(&width(b))) else {
        return String::new();
    };
    let list = errors(widest).into_iter().map(|(m, error)| {
        let objective = plot.objectives.at(m, widest).unwrap_or(f64::NAN);
        format!("{} {error:.4} ({objective:.4})", methods::label(m))
    });
    format!("At k = {widest}, where they differ most, errors (objectives): {}", list.collect::<Vec<_>>().join(", "))
}
