//! Time against objective, a panel per workload.

use crate::contest::Row;
use crate::summary::{Line, lines};
use crate::table::figure;
use crate::workload;
use ksparse_plot::{Axis, Chart, Grid, Marker, Series};

/// Colour and marker of a package are its place here.
const PACKAGES: [&str; 8] = ["ksparse", "abess", "skscope", "L0Learn", "scikit-learn", "skglm", "celer", "liblinear"];
const MARKERS: [Marker; 8] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Wedge,
    Marker::Square,
    Marker::Diamond,
    Marker::Triangle,
];

/// The workloads of the small figure, for a front page.
pub const FRONT: [(&str, &str); 6] = [
    ("e1-1000", "Logistic, n = 1000, p = 1000, k = 100"),
    ("e1-2000", "Logistic, n = 2000, p = 1000, k = 100"),
    ("linear-hard", "Linear, correlated 0.9, p = 5000, k = 30"),
    ("rcv1-file", "RCV1 news, p = 47,236, k = 500"),
    ("riboflavin-file", "Riboflavin, n = 57, p = 4088, k = 10"),
    ("network-60", "Network of 60 variables, 177 edges"),
];

/// A panel for each of these workloads that has rows, `columns` in a row.
pub fn svg(rows: &[Row], panels: &[(&str, &str)], columns: usize) -> String {
    let grid = Grid::new("Time against objective: down and to the left is better", columns).subtitle(
        "every point is one method of a package asked for k features; objective after the same exact refit; warm \
         fits, one thread",
    );
    panels.iter().filter_map(|(name, title)| panel(&lines(rows, name), title)).fold(grid, Grid::with).to_svg()
}

/// Every workload, under its name.
pub fn everything() -> Vec<(&'static str, &'static str)> {
    workload::all().into_iter().map(|w| (w.name, w.name)).collect()
}

fn panel(lines: &[Line], title: &str) -> Option<Chart> {
    let answered: Vec<&Line> =
        lines.iter().filter(|line| line.cpu.is_finite() && line.score.value.is_finite()).collect();
    let own = answered.iter().find(|line| line.solver == "ksparse")?;
    let values = || answered.iter().map(|line| line.score.value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let y = if low > 0.0 && high > 2.0 * low { Axis::log("objective") } else { Axis::linear("objective") };
    let mut chart = Chart::new(title)
        .subtitle(missing(lines))
        .x(Axis::log("CPU seconds"))
        .y(y)
        .size(430.0, 300.0)
        .mark(own.cpu, own.score.value, "ksparse");
    for place in 0..PACKAGES.len() {
        let of: Vec<&&Line> = answered.iter().filter(|line| line.package() == PACKAGES[place]).collect();
        if of.is_empty() {
            continue;
        }
        let tip =
            |line: &&&Line| format!("{}: {} in {} s", line.full_name(), figure(line.score.value), figure(line.cpu));
        let points = of.iter().map(|line| (line.cpu, line.score.value)).collect();
        let series = Series::points(PACKAGES[place], points).tips(of.iter().map(tip).collect());
        chart = chart.with(series.colour(place).marker(MARKERS[place]));
    }
    Some(chart)
}

/// Who gave no answer, in one line.
fn missing(lines: &[Line]) -> String {
    let of = |late: bool| -> Vec<String> {
        let fits = |line: &&Line| {
            line.answered.0 == 0 && line.failure.as_deref().is_some_and(|why| (why == "time-out") == late)
        };
        lines.iter().filter(fits).map(Line::full_name).collect()
    };
    let part = |label: &str, names: Vec<String>| (!names.is_empty()).then(|| format!("{label}: {}", names.join(", ")));
    [part("out of time", of(true)), part("crashed", of(false))].into_iter().flatten().collect::<Vec<_>>().join("; ")
}
