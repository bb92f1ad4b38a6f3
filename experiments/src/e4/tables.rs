//! Heat maps and tables of E4.

use super::METHODS;
use crate::algorithm2::{PATIENT, PUBLISHED, STEPS};
use crate::frame::{Figure, Row, Summary, Table, summarise};
use crate::methods::{self, TRUTH};
use ksparse::graphical::entry;
use ksparse_plot::{Grid, HeatMap};

/// Whose selection frequencies are drawn.
const SHOWN: [&str; 6] = [TRUTH, PUBLISHED, "grahtp", PATIENT, "fbs", "glasso"];

pub(super) fn heat_maps(rows: &[Row]) -> Option<Figure> {
    let own: Vec<&Row> = rows.iter().filter(|row| row.record == "frequency").collect();
    let p = own.first()?.cell.p;
    let mut grid = Grid::new(format!("E4, p = {p}: how often each pair is an edge"), 3);
    for method in SHOWN {
        let name = if method == TRUTH { "the truth" } else { methods::label(method) };
        if !own.iter().any(|row| row.cell.method == method) {
            continue;
        }
        let mut values = vec![vec![0.0; p]; p];
        for row in own.iter().filter(|row| row.cell.method == method) {
            let (i, j) = entry(row.cell.k);
            values[i][j] = row.measures[0];
            values[j][i] = row.measures[0];
        }
        grid = grid.with(HeatMap::new(name, values).label("share of replicas").range(0.0, 1.0).width(420.0));
    }
    let caption = "Selection frequencies over replicas of the samples of one matrix, chosen by held-out likelihood.";
    Some(Figure::new("frequencies", caption, grid.to_svg()))
}

/// Everything in one table.
pub(super) fn results(title: &str, rows: &[&Row]) -> Table {
    let header = ["p, chosen by, method", "replicas", "F-score", "Frobenius", "edges (true)", "CPU s"];
    let mut table = Table::new(title, &header);
    let mut ps: Vec<usize> = rows.iter().map(|row| row.cell.p).collect();
    ps.sort_unstable();
    ps.dedup();
    for p in ps {
        for record in ["tuned", "true-k", "ebic", "stability"] {
            for method in METHODS {
                let own: Vec<&&Row> =
                    rows.iter().filter(|r| r.cell.p == p && r.record == record && r.cell.method == method).collect();
                let of = |value: &dyn Fn(&Row) -> f64| summarise(own.iter().map(|row| value(row)));
                let Some(score) = of(&|r| r.measures[1]) else { continue };
                let show = |s: Option<Summary>, digits: usize| {
                    s.map_or_else(String::new, |s| format!("{:.digits$} ({:.digits$})", s.mean, s.sd))
                };
                let mean = |value: &dyn Fn(&Row) -> f64| of(value).map_or(f64::NAN, |s| s.mean);
                let name = if (record, method) == ("true-k", "glasso") {
                    "GLasso, the largest entries of the tuned one"
                } else {
                    methods::label(method)
                };
                table.push([
                    format!("{p}, {record}, {name}"),
                    score.count.to_string(),
                    show(Some(score), 3),
                    show(of(&|r| r.measures[0]), 2),
                    format!("{:.0} ({:.0})", mean(&|r| r.measures[2]), mean(&|r| r.measures[3])),
                    format!("{:.3}", mean(&|r| r.seconds)),
                ]);
            }
        }
    }
    table
}

/// How often the tuning data chose which step of Algorithm 2.
pub(super) fn steps(rows: &[&Row]) -> Table {
    let names: Vec<String> = STEPS.iter().map(|step| format!("step {step}")).collect();
    let header: Vec<&str> = ["p"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let mut table = Table::new("Algorithm 2: replicas in which the tuning data chose a step", &header);
    let own = rows.iter().filter(|row| row.cell.method == PUBLISHED && row.record == "tuned");
    let own: Vec<&&Row> = own.collect();
    let mut ps: Vec<usize> = own.iter().map(|row| row.cell.p).collect();
    ps.sort_unstable();
    ps.dedup();
    for p in ps {
        let count = |step: &f64| own.iter().filter(|row| row.cell.p == p && row.cell.lambda == *step).count();
        table.push([p.to_string()].into_iter().chain(STEPS.iter().map(|step| count(step).to_string())));
    }
    table
}
