//! E1: logistic regression on simulated data.
//!
//! p = 1000 features, 100 true coefficients N(0, 1), `P(v = 1 | u) = sigma(2 w'u)`, loss `log(1 + exp(-2 v w'u))`,
//! ridge 1e-4. The arXiv text has rows of an AR(1) process with 0.5, the ICML text independent rows. Case 1: k = 100
//! and n grows; case 2: n stays and k grows. Estimation error `||w - wbar||` and CPU time.

mod findings;
mod published;

use crate::compare::{self, Plots};
use crate::frame::{Cell, CpuClock, Experiment, Figure, Memo, Page, Result, Row, Settings, Summary};
use crate::methods::{self, CONSTANT, GREEDY, HALTED, TRUTH};
use ksparse::design::Dense;
use ksparse::simulate::{self, Correlation, Simulated};
use ksparse::solver::Progress;
use ksparse::{Auto, Risk, Solver, Sparsity, loss::Logistic};
use ksparse_plot::Grid;
use std::ops::ControlFlow;

/// The ridge of the papers.
const RIDGE: f64 = 1e-4;
/// What is measured beside objective and time.
const MEASURES: [&str; 2] = ["estimation_error", "true_found"];

/// The experiment.
#[derive(Default)]
pub struct LogisticSimulation {
    /// By correlated rows, n, p, seed.
    data: Memo<(bool, usize, usize, u64), Simulated<Dense<'static>>>,
}

/// One of the four plots: a text and a case.
struct Case {
    variant: &'static str,
    ns: Vec<usize>,
    ks: Vec<usize>,
}

fn cases(quick: bool) -> Vec<Case> {
    let range = |from: usize, to: usize, step: usize| (from..=to).step_by(step).collect::<Vec<usize>>();
    if quick {
        return vec![
            Case { variant: "arxiv-case1", ns: range(50, 200, 50), ks: vec![20] },
            Case { variant: "arxiv-case2", ns: vec![100], ks: range(20, 60, 20) },
            Case { variant: "icml-case1", ns: range(50, 200, 50), ks: vec![20] },
            Case { variant: "icml-case2", ns: vec![150], ks: range(20, 60, 20) },
        ];
    }
    vec![
        Case { variant: "arxiv-case1", ns: range(100, 2000, 100), ks: vec![100] },
        Case { variant: "arxiv-case2", ns: vec![500], ks: range(100, 500, 50) },
        Case { variant: "icml-case1", ns: range(100, 1000, 100), ks: vec![100] },
        Case { variant: "icml-case2", ns: vec![1000], ks: range(100, 500, 50) },
    ]
}

impl Experiment for LogisticSimulation {
    fn id(&self) -> &'static str {
        "E1"
    }

    fn title(&self) -> &'static str {
        "Logistic regression on simulated data"
    }

    fn measures(&self) -> &'static [&'static str] {
        &MEASURES
    }

    fn cells(&self, settings: &Settings) -> Result<Vec<Cell>> {
        let p = if settings.quick { 200 } else { 1000 };
        let mut cells = Vec::new();
        for case in cases(settings.quick) {
            for seed in settings.seeds(10, 2) {
                for &n in &case.ns {
                    // Case 2 asks for more than the truth has.
                    let truth = case.variant.ends_with("case1").then_some(TRUTH);
                    let halted: &[&str] = if case.variant.starts_with("arxiv") { &HALTED } else { &[] };
                    for method in GREEDY.into_iter().chain(CONSTANT).chain(truth).chain(halted.iter().copied()) {
                        // Forward selection for the largest k passes through the answers for all others.
                        let ks = if method == "fbs" { &case.ks[case.ks.len() - 1..] } else { &case.ks };
                        cells.extend(ks.iter().map(|&k| Cell {
                            variant: case.variant.to_string(),
                            seed,
                            method: method.to_string(),
                            n,
                            p,
                            k,
                            lambda: RIDGE,
                            timed: true,
                        }));
                    }
                }
            }
        }
        Ok(cells)
    }

    fn run(&self, cell: &Cell, settings: &Settings) -> Result<Vec<Row>> {
        let correlated = cell.variant.starts_with("arxiv");
        let data = self.data.get((correlated, cell.n, cell.p, cell.seed), || {
            let rows = if correlated { Correlation::Ar1(0.5) } else { Correlation::Independent };
            Ok(simulate::logistic(cell.n, cell.p, cell.p / 10, rows, cell.seed))
        })?;
        if cell.method == TRUTH {
            return Ok(vec![oracle(&data, cell)?]);
        }
        let risk = Risk::new(&data.design, &data.target[..], Logistic::new(2.0)?)?.with_ridge(RIDGE)?;
        let Some(solver) = methods::greedy(&cell.method, 1000, &risk, cell.k) else { return Ok(Vec::new()) };
        let wanted: Vec<usize> = cases(settings.quick)
            .into_iter()
            .find(|case| case.variant == cell.variant)
            .map_or_else(|| vec![cell.k], |case| case.ks);
        let mut rows = Vec::new();
        let mut last = f64::INFINITY;
        let clock = CpuClock::start();
        let mut watch = |at: &Progress| {
            let size = at.support.len();
            if cell.method == "fbs" && size < cell.k && wanted.contains(&size) {
                let judged = judge(&data, at.support, at.coefficients);
                let cell = Cell { k: size, ..cell.clone() };
                let row = Row { objective: at.value, seconds: clock.seconds(), iterations: at.iteration, ..cell.row() };
                rows.push(row.measures(judged));
            }
            let fall = last - at.value;
            last = at.value;
            if cell.method == "fbs-small" && fall < 1e-4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let solution = solver.solve(&risk, &Sparsity::new(cell.k), None, &mut watch)?;
        let seconds = clock.seconds();
        let row = Row { objective: solution.value, seconds, iterations: solution.iterations, ..cell.row() };
        rows.push(row.measures(judge(&data, &solution.support, &solution.coefficients)));
        Ok(rows)
    }

    fn page(&self, rows: &[Row]) -> Page {
        let mut page = Page { setting: setting(rows), ..Page::default() };
        for (text, name) in [("arxiv", "arXiv text, AR(1) rows"), ("icml", "ICML text, independent rows")] {
            let case1 = Plots::new(&case(rows, &format!("{text}-case1")), |row| row.cell.n);
            let case2 = Plots::new(&case(rows, &format!("{text}-case2")), |row| row.cell.k);
            let panels = [
                case1.panels("Case 1: k fixed", "n, samples", "estimation error", true),
                case2.panels("Case 2: n fixed", "k, non-zeros", "estimation error", true),
            ];
            let grid =
                panels.into_iter().flatten().fold(Grid::new(format!("E1, {name}"), 2), |grid, panel| grid.with(panel));
            let caption =
                format!("{name}: estimation error and CPU time; means over replicas, bands of one standard error.");
            page.figures.push(Figure::new(text, caption, grid.to_svg()));
            page.tables.push(
                case1.objectives.table(&format!("{name}, case 1: objective by n"), "n", |s| format!("{:.4}", s.mean)),
            );
            page.tables.push(case1.errors.table(&format!("{name}, case 1: estimation error by n"), "n", short));
            page.tables.push(case1.seconds.table(&format!("{name}, case 1: CPU seconds by n"), "n", compare::seconds));
            page.tables.push(case2.errors.table(&format!("{name}, case 2: estimation error by k"), "k", short));
            page.tables.push(case2.seconds.table(&format!("{name}, case 2: CPU seconds by k"), "k", compare::seconds));
            let constant = published::renamed(rows);
            let asked1 = Plots::new(&case(&constant, &format!("{text}-case1")), |row| row.cell.n);
            let asked2 = Plots::new(&case(&constant, &format!("{text}-case2")), |row| row.cell.k);
            page.findings.extend(published::findings(text, &asked1, &asked2));
            page.findings.extend(findings::findings(text, &case1, &case2));
        }
        page
    }
}

/// The minimiser on the true support.
fn oracle(data: &Simulated<Dense<'static>>, cell: &Cell) -> Result<Row> {
    let columns: Vec<f64> = data.support.iter().flat_map(|&j| data.design.column(j)).copied().collect();
    let design = Dense::from_columns(cell.n, data.support.len(), columns)?;
    let risk = Risk::new(&design, &data.target[..], Logistic::new(2.0)?)?.with_ridge(RIDGE)?;
    let clock = CpuClock::start();
    let solution = Auto::default().fit(&risk, &Sparsity::new(data.support.len()))?;
    let support: Vec<usize> = solution.support.iter().map(|&j| data.support[j]).collect();
    let row =
        Row { objective: solution.value, seconds: clock.seconds(), iterations: solution.iterations, ..cell.row() };
    Ok(row.measures(judge(data, &support, &solution.coefficients)))
}

/// `||w - wbar||` and the share of the true coordinates that were found.
fn judge(data: &Simulated<Dense<'static>>, support: &[usize], coefficients: &[f64]) -> Vec<f64> {
    let truth = |j: usize| data.support.binary_search(&j).map_or(0.0, |i| data.coefficients[i]);
    let found = support.iter().filter(|j| data.support.binary_search(j).is_ok()).count();
    let on: f64 = support.iter().zip(coefficients).map(|(&j, w)| (w - truth(j)).powi(2)).sum();
    let missed = data.support.iter().zip(&data.coefficients).filter(|(j, _)| support.binary_search(j).is_err());
    let off: f64 = missed.map(|(_, w)| w * w).sum();
    vec![(on + off).sqrt(), found as f64 / data.support.len().max(1) as f64]
}

fn short(s: &Summary) -> String {
    format!("{:.2}", s.mean)
}

/// The rows of one case.
fn case<'a>(rows: &'a [Row], variant: &str) -> Vec<&'a Row> {
    rows.iter().filter(|row| row.cell.variant == variant).collect()
}

fn setting(rows: &[Row]) -> Vec<String> {
    let p = rows.first().map_or(0, |row| row.cell.p);
    vec![format!(
        "p = {p} features, {} true coefficients N(0, 1), P(v = 1) = sigma(2 w'u), loss log(1 + exp(-2 v w'u)), ridge \
         1e-4. Case 1: k is the true number and n grows; case 2: n stays and k grows. Every fit runs on one thread; \
         times are CPU seconds. GraHTP, FGraHTP and GraSP stop when an iterate moves less than 1e-4 of its length \
         (GraSP after 50 iterations at the latest, as it need not settle); GraHTP and FGraHTP take this library's \
         adaptive step, and are run again with a constant step of 4/L, L the smoothness of f (the papers state a \
         constant step, but not its size; 4/L was picked by estimation error on two other draws each of n = 500, \
         1000, 2000, out of 1/L and 4/L for FGraHTP and 1, 4, 16, 64 times 1/L for GraHTP). FBS and FoBa end with k \
         coordinates; FBS is run once for the largest k and read at every k on its way. FoBa is in the ICML text \
         only.",
        p / 10
    )]
}
