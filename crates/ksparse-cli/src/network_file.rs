//! Networks as files: lists of edges, graph formats, pictures.

use crate::failure::{Failure, Result};
use crate::network_report::Found;
use crate::report::count;
use ksparse_plot::{HeatMap, Network};
use std::fmt::Write;
use std::path::Path;

/// How a network is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Csv,
    Graphml,
    Dot,
}

impl Format {
    /// By the end of the name.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("json") => Ok(Self::Json),
            Some("csv") => Ok(Self::Csv),
            Some("graphml" | "xml") => Ok(Self::Graphml),
            Some("dot" | "gv") => Ok(Self::Dot),
            _ => {
                let name = path.display();
                let message = format!(
                    "{name}: a network is written as .json, .csv, .graphml or .dot: choose one of these endings"
                );
                Err(Failure::Input(message))
            }
        }
    }
}

/// The text of the formats that hold edges alone.
pub fn text(found: &Found, format: Format) -> String {
    match format {
        Format::Graphml => graphml(found),
        Format::Dot => dot(found),
        _ => csv(found),
    }
}

fn csv(found: &Found) -> String {
    let quote = |name: &str| {
        let plain = !name.contains([',', '"', '\n', '\r']);
        if plain { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
    };
    let mut out = "node_a,node_b,weight,partial_correlation".to_string();
    out.push_str(if found.frequencies.is_some() { ",frequency\n" } else { "\n" });
    for edge in found.network.edges() {
        let (i, j) = edge.nodes;
        let (a, b) = (quote(&found.names[i]), quote(&found.names[j]));
        let _ = write!(out, "{a},{b},{},{}", edge.weight, edge.partial_correlation);
        if let Some(frequencies) = found.frequencies {
            let _ = write!(out, ",{}", frequencies[(i, j)]);
        }
        out.push('\n');
    }
    out
}

fn graphml(found: &Found) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
         <key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n\
         <key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n\
         <key id=\"partial\" for=\"edge\" attr.name=\"partial_correlation\" attr.type=\"double\"/>\n\
         <graph edgedefault=\"undirected\">\n",
    );
    for (i, name) in found.names.iter().enumerate() {
        let name = ksparse_plot::escape(name);
        let _ = writeln!(out, "<node id=\"n{i}\"><data key=\"name\">{name}</data></node>");
    }
    for edge in found.network.edges() {
        let (i, j) = edge.nodes;
        let _ = writeln!(
            out,
            "<edge source=\"n{i}\" target=\"n{j}\"><data key=\"weight\">{}</data><data \
             key=\"partial\">{}</data></edge>",
            edge.weight, edge.partial_correlation
        );
    }
    out.push_str("</graph>\n</graphml>\n");
    out
}

fn dot(found: &Found) -> String {
    let quote = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let mut out = "graph network {\n".to_string();
    found.names.iter().for_each(|name| {
        let _ = writeln!(out, "  {};", quote(name));
    });
    for edge in found.network.edges() {
        let (i, j) = edge.nodes;
        let (a, b) = (quote(&found.names[i]), quote(&found.names[j]));
        let style = if edge.partial_correlation < 0.0 { ", style=dashed" } else { "" };
        let width = 0.5 + 4.5 * edge.partial_correlation.abs();
        let _ = writeln!(out, "  {a} -- {b} [weight={}, penwidth={width:.2}{style}];", edge.partial_correlation.abs());
    }
    out.push_str("}\n");
    out
}

/// A drawing of the network.
pub fn drawing(found: &Found, source: &str) -> String {
    let edges = found.network.edges();
    let mut network = Network::new(format!("Network of {source}"), found.names.iter().cloned())
        .subtitle(format!("{} among {}", count(edges.len(), "edge"), count(found.names.len(), "variable")))
        .weight("partial correlation");
    // Hundreds of nodes without an edge would only crowd the rest.
    network.isolated = found.names.len() <= 60;
    for edge in edges {
        network = network.edge(edge.nodes.0, edge.nodes.1, edge.partial_correlation);
    }
    network.to_svg()
}

/// Partial correlations, or how often each edge was found, as a matrix of colours.
pub fn heat_map(found: &Found, source: &str) -> String {
    let p = found.names.len();
    let mut values = vec![vec![0.0; p]; p];
    let map = match found.frequencies {
        Some(frequencies) => {
            values.iter_mut().enumerate().for_each(|(i, row)| {
                row.iter_mut().enumerate().for_each(|(j, v)| *v = frequencies[(i, j)]);
            });
            HeatMap::new(format!("How often each edge of {source} is found"), values).label("share").range(0.0, 1.0)
        }
        None => {
            for edge in found.network.edges() {
                let (i, j) = edge.nodes;
                values[i][j] = edge.partial_correlation;
                values[j][i] = edge.partial_correlation;
            }
            HeatMap::new(format!("Network of {source}"), values).label("partial correlation").diverging()
        }
    };
    map.names(found.names.iter().cloned()).to_svg()
}
