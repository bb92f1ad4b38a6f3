//! Writes one picture of each kind: `cargo run -p ksparse-plot --example gallery -- DIR`.

use ksparse_plot::{Axis, Chart, CoefficientPath, Grid, HeatMap, Network, PathPage, PathStep, Series, Stems};
use std::{env, fs, io, path::PathBuf};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args().nth(1).unwrap_or_else(|| "gallery".to_string()));
    fs::create_dir_all(&folder)?;
    for (name, svg) in pictures() {
        fs::write(folder.join(format!("{name}.svg")), svg)?;
    }
    fs::write(folder.join("path.html"), page())
}

fn pictures() -> Vec<(&'static str, String)> {
    vec![
        ("errors", errors().to_svg()),
        ("times", times().to_svg()),
        ("columns", columns().to_svg()),
        ("grid", Grid::new("Two cases of one experiment", 2).with(half(errors())).with(half(times())).to_svg()),
        ("path", path().to_svg()),
        ("stems", stems().to_svg()),
        ("heat", heat().to_svg()),
        ("frequency", frequency().to_svg()),
        ("network40", network(40, 48).to_svg()),
        ("network150", network(150, 190).to_svg()),
        ("network12", network(12, 14).to_svg()),
        ("empty", Chart::new("Nothing to see").x(Axis::linear("k")).y(Axis::log("error")).to_svg()),
    ]
}

fn half(chart: Chart) -> Chart {
    chart.size(440.0, 320.0)
}

/// Numbers in [0, 1) that look random enough for a picture.
fn noise(i: usize) -> f64 {
    let x = (i as f64 * 12.9898 + 4.1414).sin() * 43758.5453;
    x - x.floor()
}

fn errors() -> Chart {
    let mut chart = Chart::new("Cross-validated error against k")
        .subtitle("10 folds, mean and one standard error")
        .x(Axis::linear("k, number of features"))
        .y(Axis::linear("held-out error").from_zero());
    for (m, name) in ["GraHTP", "FGraHTP", "GraSP", "FBS", "FoBa"].iter().enumerate() {
        let points: Vec<(f64, f64)> = (1..=20)
            .map(|i| {
                (f64::from(i) * 5.0, 0.5 / f64::from(i).sqrt() + 0.03 * m as f64 + 0.02 * noise(i as usize + 50 * m))
            })
            .collect();
        let band = points.iter().map(|(_, y)| (0.93 * y, 1.07 * y)).collect();
        chart = chart.with(if m < 2 { Series::new(*name, points).band(band) } else { Series::new(*name, points) });
    }
    chart.at_y(0.1, "noise level").at_x(60.0, "one standard error rule").mark(85.0, 0.128, "chosen k = 85")
}

fn times() -> Chart {
    let mut chart = Chart::new("CPU time").x(Axis::log("samples")).y(Axis::log("seconds"));
    for (m, name) in ["GraHTP", "FGraHTP", "GraSP", "FBS", "FoBa"].iter().enumerate() {
        let points: Vec<(f64, f64)> =
            (0..6).map(|i| 100.0 * 2f64.powi(i)).map(|n| (n, 1e-5 * n.powf(1.0 + 0.15 * m as f64))).collect();
        let errors: Vec<f64> = points.iter().map(|(_, y)| 0.2 * y).collect();
        chart = chart.with(Series::new(*name, points).errors(&errors));
    }
    chart
}

fn columns() -> Chart {
    let names = ["specificity", "sensitivity", "MCC"];
    let mut chart = Chart::new("Classification").x(Axis::categories("", names)).y(Axis::linear("mean over 100 splits"));
    for (m, name) in ["GraHTP", "GraSP", "FBS", "GLasso"].iter().enumerate() {
        let points: Vec<(f64, f64)> = (0..3).map(|i| (f64::from(i), 0.45 + 0.3 * noise(m + 7 * i as usize))).collect();
        chart = chart.with(Series::columns(*name, points).errors(&[0.05, 0.1, 0.07]));
    }
    chart
}

fn path() -> CoefficientPath {
    let at: Vec<f64> = (1..=40).map(f64::from).collect();
    let mut path = CoefficientPath::new("Coefficients along the path", at).chosen(22.0, "chosen k");
    for feature in 0..40 {
        let size = 3.0 * (noise(feature) - 0.5);
        let value = |k: usize| {
            if k <= feature {
                0.0
            } else {
                size * (1.0 - (-0.3 * (k - feature) as f64).exp()) + 0.03 * noise(k + 100 * feature)
            }
        };
        path = path.with(format!("gene_{feature}"), (1..=40).map(value).collect());
    }
    path
}

fn stems() -> Stems {
    let values = (0..24).map(|i| (format!("feature {i}"), 4.0 * (noise(3 * i) - 0.5))).collect();
    Stems::new("Coefficients at k = 24", values)
}

fn heat() -> HeatMap {
    let names = ["praf", "pmek", "plcg", "PIP2", "PIP3", "p44/42", "pakts473", "PKA", "PKC", "P38", "pjnk"];
    let value = |i: usize, j: usize| {
        if i == j { 1.0 } else { 1.4 * (noise(i.min(j) * 11 + i.max(j)) - 0.5) * f64::from(noise(i * j) > 0.4) }
    };
    let rows = (0..11).map(|i| (0..11).map(|j| value(i, j)).collect()).collect();
    HeatMap::new("Partial correlations", rows).names(names).diverging().label("partial correlation")
}

fn frequency() -> HeatMap {
    let value = |i: usize, j: usize| if (i * 7 + j * 3).is_multiple_of(11) { noise(i + j) } else { 0.1 * noise(i * j) };
    let rows =
        (0..60).map(|i| (0..60).map(|j| if i == j { 1.0 } else { value(i.min(j), i.max(j)) }).collect()).collect();
    HeatMap::new("Selection frequency", rows)
        .subtitle("GraHTP, p = 60, 100 replicas")
        .label("share of replicas")
        .range(0.0, 1.0)
}

fn network(nodes: usize, edges: usize) -> Network {
    let mut network = Network::new(format!("A network of {nodes} nodes"), (0..nodes).map(|i| format!("GENE{i}")));
    network = network.weight("partial correlation");
    for e in 0..edges {
        let a = (noise(e) * nodes as f64 * 0.9) as usize;
        let b = (noise(e + 1000) * noise(e + 2000) * nodes as f64) as usize;
        network = network.edge(a, b, 2.0 * noise(e + 3000) - 0.8);
    }
    network
}

/// A path to be looked through in a browser.
fn page() -> String {
    let names: Vec<String> = (0..40).map(|i| format!("gene_{i}")).collect();
    let step = |k: usize| {
        let coefficients = (0..k).map(|j| 3.0 * (noise(j) - 0.5) * (1.0 - (-0.3 * (k - j) as f64).exp())).collect();
        let score = 0.3 + 0.4 * (-(k as f64) / 6.0).exp() + 0.002 * k as f64;
        PathStep {
            k,
            support: (0..k).collect(),
            coefficients,
            intercept: 0.25,
            objective: 0.7 * (-(k as f64) / 8.0).exp(),
            score: Some(score),
            error: Some(0.03),
            gap: Some(0.01 * k as f64),
        }
    };
    PathPage {
        title: "A path of 40 features".to_string(),
        about: "simulated, logistic loss, solver auto".to_string(),
        score: "cross-validated log loss".to_string(),
        names,
        steps: (1..=40).map(step).collect(),
        chosen: Some(17),
        ..PathPage::default()
    }
    .to_html()
}
