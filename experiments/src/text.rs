//! E2 and E3: text classification, by logistic regression and by the L2-SVM.
//!
//! rcv1 and news20, half of the rows to fit on and half to test on; k = 100, 200, ..., 1000. The loss against the
//! iteration for some k, the test error and the CPU time against k. The gradient methods stop when an iterate moves
//! less than 1e-4 of its length, or after 50 iterations.

mod costs;
mod published;

use crate::collections::{Collection, Split, collections};
use crate::compare::{self, GRADIENT, Plots};
use crate::frame::{Cell, CpuClock, Experiment, Figure, Finding, Memo, Page, Result, Row, Settings};
use crate::methods::{self, GRASP_SCALED, GREEDY};
use costs::Costs;
use ksparse::loss::{Logistic, Loss, SquaredHinge};
use ksparse::solver::{Progress, Solver};
use ksparse::{LinearModel, Risk, Sparsity};
use ksparse_plot::{Axis, Chart, Grid, Marker, Series};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Iterations allowed to the gradient methods (arXiv text).
const MOST_ITERATIONS: usize = 50;
/// Rows with this record are points of a trace: `iterations` is the iteration, `objective` the loss there.
const TRACE: &str = "trace";
/// How the name of a collection without its most frequent words ends.
const RARE: &str = " rare words";

/// The loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Logistic,
    SquaredHinge,
}

/// A loss on text collections.
pub struct TextClassification {
    kind: Kind,
    data: Memo<(String, u64), Split>,
}

impl TextClassification {
    /// E2: the logistic loss of the papers, ridge 1e-5.
    pub fn logistic() -> Self {
        Self { kind: Kind::Logistic, data: Memo::default() }
    }

    /// E3: the squared hinge, ridge 1e-4.
    pub fn l2_svm() -> Self {
        Self { kind: Kind::SquaredHinge, data: Memo::default() }
    }

    fn ridge(&self) -> f64 {
        if self.kind == Kind::Logistic { 1e-5 } else { 1e-4 }
    }

    fn loss(&self) -> Result<Box<dyn Loss>> {
        Ok(match self.kind {
            Kind::Logistic => Box::new(Logistic::new(2.0)?),
            Kind::SquaredHinge => Box::new(SquaredHinge),
        })
    }

    fn split(&self, collection: &Collection, settings: &Settings, seed: u64) -> Result<std::sync::Arc<Split>> {
        self.data.get((collection.name.to_string(), seed), || collection.load(settings, seed))
    }
}

/// The k of a run, and those whose traces are kept.
fn sizes(quick: bool) -> (Vec<usize>, Vec<usize>) {
    if quick {
        (vec![20, 40, 60], vec![20, 60])
    } else {
        ((1..=10).map(|i| 100 * i).collect(), vec![200, 400, 800, 1000])
    }
}

impl Experiment for TextClassification {
    fn id(&self) -> &'static str {
        if self.kind == Kind::Logistic { "E2" } else { "E3" }
    }

    fn title(&self) -> &'static str {
        if self.kind == Kind::Logistic {
            "Text classification by logistic regression"
        } else {
            "Text classification by the L2-SVM"
        }
    }

    fn measures(&self) -> &'static [&'static str] {
        &["test_error", "support_share"]
    }

    fn cells(&self, settings: &Settings) -> Result<Vec<Cell>> {
        let (ks, _) = sizes(settings.quick);
        let mut cells = Vec::new();
        for collection in with_rarer(settings) {
            for seed in settings.seeds(1, 1) {
                let all: Vec<&str> = GREEDY.into_iter().chain([GRASP_SCALED]).chain(published::names()).collect();
                // Whether frequent words decide which of the two is faster.
                let methods = if collection.is_rarer() { &GRADIENT[..] } else { &all };
                for &method in methods {
                    // The forward methods for the largest k pass through the answers for all others.
                    let ks = match method {
                        _ if forward(method) => &ks[ks.len() - 1..],
                        // It answers a question about small k.
                        GRASP_SCALED => &ks[..3.min(ks.len())],
                        _ => &ks[..],
                    };
                    cells.extend(ks.iter().map(|&k| Cell {
                        variant: collection.name.to_string(),
                        seed,
                        method: method.to_string(),
                        n: collection.train,
                        p: collection.features(),
                        k,
                        lambda: self.ridge(),
                        timed: true,
                    }));
                }
            }
        }
        // By far the slowest comes last: whoever stops a run early has all the others.
        cells.sort_by_key(|cell| cell.method == "foba");
        Ok(cells)
    }

    fn run(&self, cell: &Cell, settings: &Settings) -> Result<Vec<Row>> {
        let Some(collection) = with_rarer(settings).into_iter().find(|c| c.name == cell.variant) else {
            return Ok(Vec::new());
        };
        let data = self.split(&collection, settings, cell.seed)?;
        let risk = Risk::from_boxes(Box::new(&data.train), Cow::Borrowed(&data.train_labels), self.loss()?)?;
        let risk = risk.with_ridge(self.ridge())?;
        let (ks, traced) = sizes(settings.quick);
        let forward = forward(&cell.method);
        let run = |solver: &dyn Solver| fit(solver, &risk, cell, if forward { &ks } else { &[] });
        let fitted = match methods::greedy(&cell.method, MOST_ITERATIONS, &risk, cell.k) {
            _ if published::names().any(|name| name == cell.method) => published::fit(cell, &risk, run)?,
            solver => solver.map(|solver| run(&*solver)).transpose()?,
        };
        let Some(Fit { reached: rows, trace }) = fitted else { return Ok(Vec::new()) };
        let mut out = Vec::new();
        for (row, support, coefficients) in rows {
            let share = support.iter().map(|&j| data.train.column(j).0.len()).sum::<usize>() as f64
                / data.train.nnz().max(1) as f64;
            out.push(row.measures([test_error(&data, support, coefficients)?, share]));
        }
        for &k in traced.iter().filter(|k| if forward { **k <= cell.k } else { **k == cell.k }) {
            let cell = Cell { k, ..cell.clone() };
            // What came before the first model of k features.
            let last = trace.iter().position(|t| forward && t.3 >= k).map_or(trace.len(), |i| i + 1);
            let kept = trace[..last].iter().filter(|t| keep(t.0, k));
            out.extend(kept.map(|&(iterations, objective, seconds, _)| {
                let row = Row { record: TRACE.to_string(), objective, seconds, iterations, ..cell.row() };
                row.measures([f64::NAN, f64::NAN])
            }));
        }
        Ok(out)
    }

    fn page(&self, rows: &[Row]) -> Page {
        let mut page = Page { setting: self.setting(rows), ..Page::default() };
        let mut names: Vec<&str> = Vec::new();
        rows.iter().for_each(|row| {
            if !names.contains(&row.cell.variant.as_str()) {
                names.push(&row.cell.variant);
            }
        });
        let fits_of = |name: &str| -> Vec<&Row> {
            rows.iter().filter(|r| r.cell.variant == name && r.record.is_empty()).collect()
        };
        let mut plots = Vec::new();
        for &name in names.iter().filter(|name| !name.ends_with(RARE)) {
            let fits = fits_of(name);
            let traces: Vec<&Row> = rows.iter().filter(|r| r.cell.variant == name && r.record == TRACE).collect();
            let file = name.replace(' ', "-");
            let grid = trace_grid(&format!("{}, {name}: loss against iteration", self.id()), &traces);
            let caption =
                format!("{name}: the training loss after each iteration (forward methods add one feature in each).");
            page.figures.push(Figure::new(format!("{file}-loss"), caption, grid.to_svg()));
            let plot = Plots::new(&fits, |row| row.cell.k);
            let panels = plot.panels("", "k, features", "test error", false);
            let grid = panels.into_iter().fold(Grid::new(format!("{}, {name}", self.id()), 2), |grid, p| grid.with(p));
            let caption = format!("{name}: share of test documents in the wrong class, and CPU time, against k.");
            page.figures.push(Figure::new(format!("{file}-error"), caption, grid.to_svg()));
            page.tables.push(plot.errors.table(&format!("{name}: test error by k"), "k", |s| format!("{:.4}", s.mean)));
            page.tables.push(plot.seconds.table(&format!("{name}: CPU seconds by k"), "k", compare::seconds));
            page.tables
                .push(plot.objectives.table(&format!("{name}: objective by k"), "k", |s| format!("{:.5}", s.mean)));
            page.tables.extend(published::tables(name, &fits));
            let first = name.replace("news20", "rcv1");
            let rarer = format!("{first}{RARE}");
            let costs = [name, &first, &rarer].map(|of| Costs::new(&fits_of(of)));
            page.findings.extend(self.findings(name, &plot, &traces, &costs));
            page.findings.extend(published::findings(name, rows));
            plots.push((name, plot));
        }
        page.findings.extend(["", " shape"].into_iter().filter_map(|kind| compare::advantage_grows(&plots, kind)));
        page
    }
}

impl TextClassification {
    fn setting(&self, rows: &[Row]) -> Vec<String> {
        let loss = match self.kind {
            Kind::Logistic => "Section 5.2.1 of the papers: loss log(1 + exp(-2 v w'x)), ridge 1e-5",
            Kind::SquaredHinge => "Section 5.2.2 of the papers: loss max(0, 1 - v w'x)^2 / 2, ridge 1e-4",
        };
        let mut out = vec![format!(
            "{loss}; no intercept. Each fit on one thread, times in CPU seconds, reading the data not counted. \
             GraHTP, FGraHTP and GraSP stop when an iterate moves less than 1e-4 of its length or after \
             {MOST_ITERATIONS} iterations; GraHTP and FGraHTP take this library's adaptive step. FBS and FoBa are run \
             once for the largest k and read when they first have k features; their time at k is the time until \
             then. \"As published\" is a constant step, the one of 1, 4, 16, 64, 256 and 1024 times 1/L with the \
             least objective (the papers do not state theirs), \"k iterations\" the limit of the ICML text; their \
             times are those of the best step alone, taken on another machine with other fits beside them."
        )];
        let collections: BTreeSet<(&str, usize, usize)> =
            rows.iter().map(|r| (r.cell.variant.as_str(), r.cell.n, r.cell.p)).collect();
        for (name, n, p) in collections {
            let what = match name {
                "rcv1" => {
                    "a sample of 23,749 documents of RCV1 with the features and classes of rcv1.binary, but other \
                     documents than that file: half to fit on, half to test on"
                }
                "news20" => {
                    "the multiclass file news20 (15,935 documents, single words), classes 11 to 20 against 1 to 10, \
                     rows scaled to norm 1; not news20.binary, which has 1,355,191 features"
                }
                name if !name.contains("shape") && name.ends_with(RARE) => {
                    "the documents of the file before it without their most frequent words"
                }
                name if name.ends_with(RARE) => "the simulated documents without their most frequent words",
                _ => "simulated documents (word frequencies after Zipf, tf-idf values, labels from 500 words)",
            };
            out.push(format!("{name}: n = {n} to fit on, p = {p}; {what}."));
        }
        out
    }

    fn findings(&self, name: &str, plot: &Plots, traces: &[&Row], costs: &[Option<Costs>; 3]) -> Vec<Finding> {
        let few = plot.errors.xs().first().copied().unwrap_or(0);
        let at = |m: &str| plot.objectives.at(m, few).unwrap_or(f64::NAN);
        let error = |m: &str| plot.errors.at(m, few).unwrap_or(f64::NAN);
        let worse = format!(
            "GraSP is the odd one out, at small k: at k = {few} it ends with an objective of {:.4} (test error {:.4}) \
             where GraHTP has {:.4} ({:.4}). It keeps the largest coefficients of a fit on up to three times as many \
             features, and rare words have large ones. The same method with coefficients and gradients in units of \
             curvature ends with {:.4} ({:.4}).",
            at("grasp"),
            error("grasp"),
            at("grahtp"),
            error("grahtp"),
            at(GRASP_SCALED),
            error(GRASP_SCALED)
        );
        let mut cheap = format!(
            "Mean iterations: {}. Those of FGraHTP, which end at the limit of {MOST_ITERATIONS}, cost a gradient \
             each. Here {}",
            compare::mean_iterations(plot, &GRADIENT),
            costs[0].as_ref().map_or_else(String::new, Costs::say)
        );
        if let [_, Some(first), Some(rarer)] = costs {
            cheap += &format!(
                " Tested on {}: without its most frequent words {} FGraHTP is then the faster one at {} of {} k, with \
                 all words at {} of {}.",
                name.replace("news20", "rcv1"),
                rarer.say(),
                rarer.faster.0,
                rarer.faster.1,
                first.faster.0,
                first.faster.1
            );
        }
        let mut out = vec![compare::sharper(name, traces), compare::comparable(name, &plot.errors).because(worse)];
        if name == "rcv1" && self.kind == Kind::Logistic {
            out.push(compare::within(name, &plot.errors, 0.04, 0.10));
        }
        out.push(compare::fastest(name, &plot.seconds).because(cheap));
        out.push(compare::clearly_faster(name, &plot.seconds).because(format!(
            "GraSP ends after few iterations here (mean iterations: {}), and it is GraSP that comes near.",
            compare::mean_iterations(plot, &["grahtp", "grasp"])
        )));
        out
    }
}

/// What a solver went through.
struct Fit {
    /// The answers on its way that were asked for, and the last: row, support, coefficients.
    reached: Vec<(Row, Vec<usize>, Vec<f64>)>,
    /// Iteration, f, seconds, coordinates.
    trace: Vec<(usize, f64, f64, usize)>,
}

impl Fit {
    /// f at the end.
    fn value(&self) -> f64 {
        self.reached.last().map_or(f64::INFINITY, |last| last.0.objective)
    }
}

/// Solves a cell; where a support first has one of the sizes `ks`, that is kept too.
fn fit(solver: &dyn Solver, risk: &Risk, cell: &Cell, ks: &[usize]) -> Result<Fit> {
    let mut fit = Fit { reached: Vec::new(), trace: Vec::new() };
    let mut largest = 0;
    let clock = CpuClock::start();
    let mut watch = |at: &Progress| {
        let seconds = clock.seconds();
        let size = at.support.len();
        fit.trace.push((at.iteration, at.value, seconds, size));
        let first = size > largest;
        largest = largest.max(size);
        if first && size < cell.k && ks.contains(&size) {
            let cell = Cell { k: size, ..cell.clone() };
            let row = Row { objective: at.value, seconds, iterations: at.iteration, ..cell.row() };
            fit.reached.push((row, at.support.to_vec(), at.coefficients.to_vec()));
        }
        ControlFlow::Continue(())
    };
    let solution = solver.solve(risk, &Sparsity::new(cell.k), None, &mut watch)?;
    let (objective, iterations) = (solution.value, solution.iterations);
    let row = Row { objective, seconds: clock.seconds(), iterations, ..cell.row() };
    fit.reached.push((row, solution.support, solution.coefficients));
    Ok(fit)
}

/// The collections, and the first without its most frequent words.
fn with_rarer(settings: &Settings) -> Vec<Collection> {
    let mut all = collections(settings);
    all.extend(all.first().map(|first| first.rarer()));
    all
}

/// The share of test rows in the wrong class; a zero prediction counts as wrong.
fn test_error(data: &Split, support: Vec<usize>, coefficients: Vec<f64>) -> Result<f64> {
    let z = LinearModel { support, coefficients, intercept: 0.0 }.predict(&data.test)?;
    let wrong = z.iter().zip(&data.test_labels).filter(|(z, v)| *z * *v <= 0.0).count();
    Ok(wrong as f64 / z.len().max(1) as f64)
}

/// The points of a trace that are kept: all of the first 60, then a hundred or so.
fn keep(iteration: usize, k: usize) -> bool {
    iteration <= 60 || iteration.is_multiple_of((k / 100).max(1))
}

/// Methods that add one feature after the other.
fn forward(method: &str) -> bool {
    matches!(method, "fbs" | "foba")
}

fn trace_grid(title: &str, traces: &[&Row]) -> Grid {
    let ks: BTreeSet<usize> = traces.iter().map(|row| row.cell.k).collect();
    let seed = traces.iter().map(|row| row.cell.seed).min();
    let mut grid = Grid::new(title, 2);
    for k in ks {
        let mut chart =
            Chart::new(format!("k = {k}")).x(Axis::log("iteration")).y(Axis::linear("loss")).size(480.0, 310.0);
        // The default of this library restarts on its way: its iterations compare with nothing.
        for method in GREEDY.into_iter().filter(|m| *m != "auto") {
            let own = traces.iter().filter(|r| r.cell.k == k && r.cell.method == method && Some(r.cell.seed) == seed);
            let points: Vec<(f64, f64)> = own.map(|r| (r.iterations as f64, r.objective)).collect();
            if !points.is_empty() {
                let marker = if points.len() > 40 { Some(Marker::None) } else { None };
                let line = Series { marker, ..Series::new(methods::label(method), points) };
                chart = chart.with(line.colour(methods::colour(method)));
            }
        }
        grid = grid.with(chart);
    }
    grid
}
