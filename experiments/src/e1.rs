//! E1: logistic regression on simulated data.
//!
//! p = 1000 features, 100 true coefficients N(0, 1), `P(v = 1 | u) = sigma(2 w'u)`, loss `log(1 + exp(-2 v w'u))`, ridge 1e-4. The arXiv text has
//! rows of an AR(1) process with 0.5, the ICML text independent rows. Case 1: k = 100 and n grows; case 2: n stays and k grows. Estimation
//! error `||w - wbar||` and CPU time.

use crate::frame::{Cell, Summary};
use crate::frame::{
    CpuClock, Curves, Experiment, Figure, Finding, Memo, Page, Result, Row, Settings, Verdict, verdict,
};
use crate::methods::{self, GREEDY};
use ksparse::design::Dense;
use ksparse::simulate::{self, Correlation, Simulated};
use ksparse::solver::Progress;
use ksparse::{Risk, Sparsity, loss::Logistic};
use ksparse_plot::{Axis, Grid};
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
                    for method in GREEDY {
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
        let risk = Risk::new(&data.design, &data.target[..], Logistic::new(2.0)?)?.with_ridge(RIDGE)?;
        let Some(solver) = methods::greedy(&cell.method, 1000) else { return Ok(Vec::new()) };
        let wanted: Vec<usize> = cases(settings.quick)
            .into_iter()
            .find(|case| case.variant == cell.variant)
            .map_or_else(|| vec![cell.k], |case| case.ks);
        let mut rows = Vec::new();
        let clock = CpuClock::start();
        let mut watch = |at: &Progress| {
            let size = at.support.len();
            if cell.method == "fbs" && size < cell.k && wanted.contains(&size) {
                let judged = judge(&data, at.support, at.coefficients);
                let cell = Cell { k: size, ..cell.clone() };
                let row = Row { objective: at.value, seconds: clock.seconds(), iterations: at.iteration, ..cell.row() };
                rows.push(row.measures(judged));
            }
            ControlFlow::Continue(())
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
            let case1 = Plots::new(rows, &format!("{text}-case1"), |row| row.cell.n);
            let case2 = Plots::new(rows, &format!("{text}-case2"), |row| row.cell.k);
            let panels =
                [case1.panels("Case 1: k fixed", "n, samples"), case2.panels("Case 2: n fixed", "k, non-zeros")];
            let grid =
                panels.into_iter().flatten().fold(Grid::new(format!("E1, {name}"), 2), |grid, panel| grid.with(panel));
            let caption =
                format!("{name}: estimation error and CPU time; means over replicas, bands of one standard error.");
            page.figures.push(Figure::new(text, caption, grid.to_svg()));
            page.tables.push(case1.errors.table(&format!("{name}, case 1: estimation error by n"), "n", short));
            page.tables.push(case1.seconds.table(&format!("{name}, case 1: CPU seconds by n"), "n", seconds));
            page.tables.push(case2.errors.table(&format!("{name}, case 2: estimation error by k"), "k", short));
            page.tables.push(case2.seconds.table(&format!("{name}, case 2: CPU seconds by k"), "k", seconds));
            page.findings.extend(findings(text, &case1, &case2));
        }
        page
    }
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

fn seconds(s: &Summary) -> String {
    format!("{:.3}", s.mean)
}

/// Error and time of one case.
struct Plots {
    errors: Curves,
    seconds: Curves,
}

impl Plots {
    fn new(rows: &[Row], variant: &str, key: impl Fn(&Row) -> usize) -> Self {
        let own: Vec<&Row> = rows.iter().filter(|row| row.cell.variant == variant).collect();
        Self {
            errors: Curves::new(&own, &GREEDY, &key, |row| row.measures[0]),
            seconds: Curves::new(&own, &GREEDY, &key, |row| row.seconds),
        }
    }

    fn panels(&self, title: &str, x: &str) -> [ksparse_plot::Chart; 2] {
        let errors = self.errors.chart(title, Axis::linear(x), Axis::linear("estimation error").from_zero());
        let seconds = self.seconds.chart(title, Axis::linear(x), Axis::log("CPU seconds"));
        [errors.size(480.0, 330.0), seconds.size(480.0, 330.0)]
    }
}

fn setting(rows: &[Row]) -> Vec<String> {
    let p = rows.first().map_or(0, |row| row.cell.p);
    vec![format!(
        "p = {p} features, {} true coefficients N(0, 1), P(v = 1) = sigma(2 w'u), loss log(1 + exp(-2 v w'u)), ridge 1e-4. Case 1: k is the true number and \
         n grows; case 2: n stays and k grows. Every fit runs on one thread; times are CPU seconds. GraHTP, FGraHTP and GraSP stop when an iterate \
         moves less than 1e-4 of its length (GraSP after 50 iterations at the latest, as it need not settle); GraHTP and FGraHTP take this library's adaptive step. FBS and FoBa end with k coordinates; FBS is run once \
         for the largest k and read at every k on its way. FoBa is in the ICML text only.",
        p / 10
    )]
}

fn findings(text: &str, case1: &Plots, case2: &Plots) -> Vec<Finding> {
    const GRADIENT: [&str; 2] = ["grahtp", "fgrahtp"];
    let rivals: &[&str] = if text == "arxiv" { &["grasp", "fbs"] } else { &["grasp", "fbs", "foba"] };
    let paper = if text == "arxiv" { "arXiv" } else { "ICML" };
    let all: Vec<&str> = GRADIENT.iter().chain(rivals).copied().collect();
    let falls = moves(&case1.errors, &all, |first, last| last < first);
    let case1_best = best(
        &case1.errors,
        &GRADIENT,
        rivals,
        format!("{paper}, case 1: GraHTP and FGraHTP are comparable and the best."),
    );
    let mut out = vec![Finding::new(format!("{paper}, case 1: the error falls with n."), falls), case1_best];
    if text == "arxiv" {
        let rises = moves(&case2.errors, &["grahtp", "fgrahtp", "grasp"], |first, last| last > first);
        out.push(Finding::new("arXiv, case 2: the error rises with k for all methods but FBS.", rises));
        out.push(best_below_200(&case2.errors, &GRADIENT, rivals));
        out.push(faster(
            &case1.seconds,
            &["fbs"],
            &["grahtp", "fgrahtp", "grasp"],
            "arXiv, case 1: FBS is the fastest in most cases.",
        ));
        out.push(faster(
            &case2.seconds,
            &["fbs"],
            &["grahtp", "fgrahtp", "grasp"],
            "arXiv, case 2: FBS is the fastest in most cases.",
        ));
        out.push(faster(&case1.seconds, &GRADIENT, &["grasp"], "arXiv: GraHTP and FGraHTP are no slower than GraSP."));
        out.push(faster(
            &case1.seconds,
            &["grahtp"],
            &["fgrahtp"],
            "arXiv: GraHTP is faster than FGraHTP at small k (case 1, k = 100).",
        ));
    } else {
        let rises = moves(&case2.errors, &all, |first, last| last > first);
        out.push(Finding::new("ICML, case 2: the error rises with k.", rises));
        let three = ["grahtp", "fgrahtp", "grasp"];
        out.push(all_faster(
            &case2.seconds,
            &three,
            &["fbs", "foba"],
            "ICML: GraHTP, FGraHTP and GraSP are faster than FBS and FoBa.",
        ));
        out.push(insensitive(&case2.seconds, &three));
    }
    out
}

/// Over the points with k < 200 the gradient methods win, beyond they do not.
fn best_below_200(curves: &Curves, some: &[&str], others: &[&str]) -> Finding {
    let win = |c: &Curves, x: usize| {
        let least = |methods: &[&str]| methods.iter().filter_map(|m| c.at(m, x)).reduce(f64::min);
        Some(least(some)? <= least(others)?)
    };
    let as_said = curves.count(|c, x| Some(win(c, x)? == (x < 200)));
    let wins: Vec<String> =
        curves.xs().into_iter().filter(|&x| win(curves, x) == Some(true)).map(|x| x.to_string()).collect();
    let wins = if wins.is_empty() { "no k".to_string() } else { format!("k = {}", wins.join(", ")) };
    let ours = format!("the better of GraHTP and FGraHTP has the least error at {wins}");
    Finding::new("arXiv, case 2: GraHTP and FGraHTP are the best only at k < 200.", verdict(as_said).map(|v| (ours, v)))
}

/// The best of `some` is no slower than the best of `others` at how many points, and by what factor.
fn faster(curves: &Curves, some: &[&str], others: &[&str], paper: &str) -> Finding {
    let count = curves.best(some, others, 1.05);
    let mut factors = Vec::new();
    for a in some {
        for b in others {
            if let Some(r) = curves.ratio(a, b) {
                factors.push(format!("{} takes {r:.2} times the time of {}", methods::label(a), methods::label(b)));
            }
        }
    }
    let ours = format!("at {} of {} points (within 5 %); {}", count.0, count.1, factors.join(", "));
    Finding::new(paper, verdict(count).map(|v| (ours, v)))
}

/// Every one of `some` is faster than every one of `others`.
fn all_faster(curves: &Curves, some: &[&str], others: &[&str], paper: &str) -> Finding {
    let count = curves.count(|c, x| {
        let slowest = some.iter().filter_map(|m| c.at(m, x)).reduce(f64::max)?;
        Some(slowest <= others.iter().filter_map(|m| c.at(m, x)).reduce(f64::min)?)
    });
    let mut factors = Vec::new();
    for b in others {
        for a in some {
            if let Some(r) = curves.ratio(b, a) {
                factors.push(format!("{} takes {r:.1} times the time of {}", methods::label(b), methods::label(a)));
            }
        }
    }
    let ours = format!("all three are faster than both at {} of {} points; {}", count.0, count.1, factors.join(", "));
    Finding::new(paper, verdict(count).map(|v| (ours, v)))
}

/// The time at the last k over the time at the first: below 3 over a fivefold k counts as insensitive.
fn insensitive(curves: &Curves, methods: &[&str]) -> Finding {
    let growth: Vec<(&str, f64)> =
        methods.iter().filter_map(|m| Some((*m, curves.ends(m)?))).map(|(m, (a, b))| (m, b / a)).collect();
    let yes = growth.iter().filter(|(_, g)| *g < 3.0).count();
    let list: Vec<String> = growth.iter().map(|(m, g)| format!("{} {g:.1}", methods::label(m))).collect();
    let ours = format!("time at the largest k over time at the smallest: {}", list.join(", "));
    let paper = "ICML, case 2: the time of GraHTP, FGraHTP and GraSP hardly depends on k.";
    Finding::new(paper, verdict((yes, growth.len())).map(|v| (ours, v)))
}

/// Whether first and last value of every method stand as they should.
fn moves(curves: &Curves, methods: &[&str], holds: impl Fn(f64, f64) -> bool) -> Option<(String, Verdict)> {
    let ends: Vec<(&str, (f64, f64))> = methods.iter().filter_map(|m| Some((*m, curves.ends(m)?))).collect();
    let yes = ends.iter().filter(|(_, (first, last))| holds(*first, *last)).count();
    let list: Vec<String> =
        ends.iter().map(|(m, (first, last))| format!("{} {first:.2} to {last:.2}", methods::label(m))).collect();
    Some((format!("from the first point to the last: {}", list.join(", ")), verdict((yes, ends.len()))?))
}

fn best(curves: &Curves, some: &[&str], others: &[&str], paper: String) -> Finding {
    let count = curves.best(some, others, 1.0);
    let names: Vec<&str> = some.iter().map(|m| methods::label(m)).collect();
    let ours =
        format!("the better of {} has the least error at {} of {} points", names.join(" and "), count.0, count.1);
    Finding::new(paper, verdict(count).map(|v| (ours, v)))
}
