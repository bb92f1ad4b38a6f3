//! What a network has to say: a table of its edges, a JSON object.

use crate::network_file;
use crate::report::{self, Table};
use crate::screen::bold;
use ksparse::graphical::{Covariance, GraphicalLasso, Network, Precision};
use ksparse::path::PathSolution;
use ksparse::{Solution, Status};
use serde_json::{Value, json};

/// A network with what is known about it.
pub struct Found<'a> {
    pub names: &'a [String],
    pub network: &'a Network,
    pub frequencies: Option<&'a faer::Mat<f64>>,
}

/// The edges, strongest first.
pub fn listing(found: &Found, all: bool) -> String {
    let mut edges = found.network.edges().to_vec();
    edges.sort_by(|a, b| b.partial_correlation.abs().total_cmp(&a.partial_correlation.abs()));
    let shown = if all { edges.len() } else { edges.len().min(20) };
    let mut headings = vec!["edge", "", "partial correlation"];
    headings.extend(found.frequencies.map(|_| "found"));
    let mut table = Table::new(&headings);
    for edge in &edges[..shown] {
        let (i, j) = edge.nodes;
        let mut row = vec![found.names[i].clone(), found.names[j].clone(), format!("{:.3}", edge.partial_correlation)];
        row.extend(found.frequencies.map(|f| format!("{:.0} %", 100.0 * f[(i, j)])));
        table.row(row);
    }
    let mut lines = table.lines();
    lines[0] = bold(&lines[0]);
    if shown < edges.len() {
        lines.push(format!("... and {} more (--verbose shows all)", edges.len() - shown));
    }
    lines.join("\n") + "\n"
}

/// What machines get.
pub fn object(found: &Found, solution: &Solution, k: usize, solver: &str, seconds: f64) -> Value {
    let o = found.network.precision();
    let rows: Vec<Vec<f64>> = (0..o.nrows()).map(|i| (0..o.ncols()).map(|j| o[(i, j)]).collect()).collect();
    let edges: Vec<Value> = found
        .network
        .edges()
        .iter()
        .map(|edge| {
            let (i, j) = edge.nodes;
            let mut value = json!({
                "nodes": [i, j], "names": [found.names[i], found.names[j]],
                "weight": edge.weight, "partial_correlation": edge.partial_correlation,
            });
            if let Some(frequencies) = found.frequencies {
                value["frequency"] = json!(frequencies[(i, j)]);
            }
            value
        })
        .collect();
    json!({
        "k": k, "objective": solution.value, "status": solution.status, "iterations": solution.iterations,
        "refits": solution.refits, "seconds": seconds, "solver": solver, "names": found.names, "edges": edges,
        "precision": rows,
    })
}

pub fn file(
    found: &Found,
    format: network_file::Format,
    solution: &Solution,
    k: usize,
    solver: &str,
    seconds: f64,
) -> String {
    match format {
        network_file::Format::Json => report::json(&object(found, solution, k, solver, seconds)),
        other => network_file::text(found, other),
    }
}

/// The family with a network of the graphical lasso per penalty, the largest first.
pub fn lasso(penalties: &[f64]) -> impl Fn(&Covariance) -> ksparse::Result<Vec<Network>> + Sync + use<> {
    let mut penalties = penalties.to_vec();
    penalties.sort_by(|a, b| b.total_cmp(a));
    penalties.dedup();
    move |covariance| GraphicalLasso::default().path(covariance, &penalties)
}

/// These networks as a path, their numbers of edges being k.
pub fn as_path(networks: &[Network], model: &Precision) -> ksparse::Result<PathSolution> {
    let solution = |network: &Network| {
        let value = network.loss(model.covariance().matrix())?;
        Ok(Solution { value, status: Status::Tolerance, ..model.guess(network.precision()) })
    };
    let solutions = networks.iter().map(solution).collect::<ksparse::Result<Vec<_>>>()?;
    Ok(PathSolution { ks: networks.iter().map(|network| network.edges().len()).collect(), solutions, stopped: None })
}
