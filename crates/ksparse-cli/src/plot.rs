//! Pictures of a path: how good every k is, and what enters at it.

use crate::path_report::{Cell, PathReport};
use crate::report::significant;
use ksparse_plot::{Axis, Chart, CoefficientPath, Grid, Marker, Series};
use std::collections::BTreeMap;

/// Objective, score and coefficients against k, one above the other.
pub fn path(report: &PathReport) -> String {
    let chosen = report.choice.as_ref().map(|choice| &report.cells[choice.index]);
    let mut grid = Grid::new(format!("Models of {}", report.prepared.data.table.source), 1);
    let best = chosen.map_or(String::new(), |cell| {
        let by = report.choice.as_ref().map_or("", |choice| choice.by.as_str());
        format!("chosen: k = {}, lambda = {}, by {by}", cell.k, significant(cell.lambda))
    });
    grid = grid.subtitle(best);
    if let Some(choice) = &report.choice {
        let axis = Axis::linear(choice.score);
        let score = |cell: &Cell| cell.score.map_or(f64::NAN, |(mean, _)| mean);
        grid = grid.with(over_k(report, "Score", axis, score, true));
    }
    grid = grid.with(over_k(report, "Objective", Axis::linear("f"), |cell| cell.solution.value, false));
    grid.with(coefficients(report, chosen).to_chart()).to_svg()
}

/// One line per lambda.
fn over_k(report: &PathReport, title: &str, y: Axis, of: impl Fn(&Cell) -> f64, errors: bool) -> Chart {
    let mut chart = Chart::new(title).x(Axis::linear("k")).y(y).size(WIDTH, 300.0);
    for (colour, &lambda) in report.solved.lambdas.iter().enumerate() {
        let cells: Vec<&Cell> = report.cells.iter().filter(|cell| cell.lambda == lambda).collect();
        let points = cells.iter().map(|cell| (cell.k as f64, of(cell))).collect();
        let name =
            if report.solved.lambdas.len() > 1 { format!("lambda = {}", significant(lambda)) } else { String::new() };
        let mut series = Series::new(name, points).colour(colour);
        let bars: Option<Vec<f64>> = cells.iter().map(|cell| cell.score.and_then(|(_, error)| error)).collect();
        if let (true, Some(bars)) = (errors, bars) {
            series = series.errors(&bars);
        }
        if cells.len() > 60 {
            series = series.marker(Marker::None);
        }
        chart = chart.with(series);
    }
    if let Some(choice) = &report.choice {
        let cell = &report.cells[choice.index];
        chart = chart.mark(cell.k as f64, of(cell), format!("k = {}", cell.k));
    }
    chart
}

const WIDTH: f64 = 820.0;
/// Lines of features beyond this would be a carpet, and a large file.
const MOST_FEATURES: usize = 300;

/// The coefficients, in the units of the file, along the path of the chosen lambda.
fn coefficients(report: &PathReport, chosen: Option<&Cell>) -> CoefficientPath {
    let lambda = chosen.map_or_else(|| report.solved.lambdas.last().copied().unwrap_or(0.0), |cell| cell.lambda);
    let cells: Vec<&Cell> = report.cells.iter().filter(|cell| cell.lambda == lambda).collect();
    let mut features: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (place, cell) in cells.iter().enumerate() {
        let model = report.training.model(cell.solution);
        for (&column, &value) in model.support.iter().zip(&model.coefficients) {
            features.entry(column).or_insert_with(|| vec![0.0; cells.len()])[place] = value;
        }
    }
    let mut features: Vec<(usize, Vec<f64>)> = features.into_iter().collect();
    let size = |values: &[f64]| values.iter().map(|value| value.abs()).sum::<f64>();
    features.sort_by(|a, b| size(&b.1).total_cmp(&size(&a.1)).then(a.0.cmp(&b.0)));
    features.truncate(MOST_FEATURES);
    let mut path = CoefficientPath::new("Coefficients", cells.iter().map(|cell| cell.k as f64).collect());
    for (column, values) in features {
        let name = report.prepared.data.feature_name(column).map_or_else(|| (column + 1).to_string(), str::to_string);
        path = path.with(name, values);
    }
    if let Some(cell) = chosen {
        path = path.chosen(cell.k as f64, format!("k = {}", cell.k));
    }
    CoefficientPath { width: WIDTH, height: 420.0, ..path }
}
