//! E6: how well DIHT estimates a sparse ridge regression.
//!
//! d features of which the first 100 carry a coefficient 1 and are correlated (0.25), the others are noise; all have
//! means of their own; `y = wbar'x + N(0, 1)`; loss `(y - z)^2`, k = 100, N = 50 to 150. The ridge is picked from
//! decades on a third of the replicas, the rest are scored: `||w - wbar|| / ||wbar||` and the share of replicas whose
//! support is exactly the true one.

use crate::compare;
use crate::frame::{Cell, Curves, Experiment, Figure, Finding, Memo, Page, Result, Row, Settings, Verdict, cpu};
use ksparse::design::Dense;
use ksparse::loss::Squared;
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::simulate::{self, Simulated};
use ksparse::solver::{Debias, Diht, DualStep, Grahtp, Limits, Solver, Step};
use ksparse::{Auto, Objective, Risk, Solution, Sparsity};
use ksparse_plot::{Axis, Grid};

/// The methods of the paper, DIHT with a refit on its support, this library's default, and all three with the steps of
/// the papers.
const METHODS: [&str; 8] =
    ["iht", "htp", "diht", "diht-refit", "auto", "iht-constant", "htp-constant", "diht-published"];
const MEASURES: [&str; 2] = ["estimation_error", "exact_support"];

/// The experiment.
#[derive(Default)]
pub struct RidgeEstimation {
    /// By N, d, true coefficients, seed.
    data: Memo<(usize, usize, usize, u64), Simulated<Dense<'static>>>,
}

/// d, the number of true coefficients, and the N.
fn shapes(quick: bool) -> Vec<(usize, usize, Vec<usize>)> {
    if quick {
        return vec![(60, 12, vec![6, 12, 18]), (36, 12, vec![6, 12, 18])];
    }
    let ns = vec![50, 75, 100, 125, 150];
    vec![(500, 100, ns.clone()), (300, 100, ns)]
}

/// The ridges to pick from.
fn ridges(quick: bool) -> Vec<f64> {
    let decades = if quick { -3..=1 } else { -6..=2 };
    decades.map(|e| 10f64.powi(e)).collect()
}

impl Experiment for RidgeEstimation {
    fn id(&self) -> &'static str {
        "E6"
    }

    fn title(&self) -> &'static str {
        "Estimation accuracy of DIHT on sparse ridge regression"
    }

    fn measures(&self) -> &'static [&'static str] {
        &MEASURES
    }

    fn cells(&self, settings: &Settings) -> Result<Vec<Cell>> {
        let mut cells = Vec::new();
        for seed in settings.seeds(150, 6) {
            for (p, k, ns) in shapes(settings.quick) {
                for &n in &ns {
                    // One cell has the rows of all ridges; the refit of DIHT comes with DIHT.
                    for method in METHODS.iter().filter(|m| **m != "diht-refit") {
                        let (variant, method) = (format!("d={p}"), method.to_string());
                        cells.push(Cell { variant, seed, method, n, p, k, lambda: 0.0, timed: false });
                    }
                }
            }
        }
        Ok(cells)
    }

    fn run(&self, cell: &Cell, settings: &Settings) -> Result<Vec<Row>> {
        let (n, p, k) = (cell.n, cell.p, cell.k);
        let data = self.data.get((n, p, k, cell.seed), || Ok(simulate::two_means(n, p, k, cell.seed)))?;
        let plain = Risk::new(&data.design, &data.target[..], Squared::new(2.0)?)?;
        let limits = Limits { tolerance: 1e-4, max_iterations: 500, ..Limits::default() };
        let solver: Box<dyn Solver> = match cell.method.as_str() {
            "iht" => Box::new(Grahtp { limits: limits.clone(), ..Grahtp::iht() }),
            "htp" => Box::new(Grahtp { limits: limits.clone(), ..Grahtp::htp() }),
            "diht" => Box::new(Diht { limits: limits.clone(), refit: false, ..Diht::default() }),
            _ => Box::new(Auto::default()),
        };
        let mut rows = Vec::new();
        for lambda in ridges(settings.quick) {
            let risk = plain.reridged(lambda)?;
            let (solution, seconds) = cpu(|| match cell.method.strip_suffix("-constant") {
                Some(method) => best_constant(method, &risk, k, limits.clone()),
                None if cell.method == "diht-published" => best_published(&risk, k, limits.clone()),
                None => Ok(solver.fit(&risk, &Sparsity::new(k))?),
            });
            let solution = solution?;
            let row = Row { objective: solution.value, seconds, iterations: solution.iterations, ..cell.row() };
            let row = Row { cell: Cell { lambda, ..cell.clone() }, ..row };
            let judged = |support: &[usize], x: &[f64]| judge(&data, support, x);
            rows.push(row.clone().measures(judged(&solution.support, &solution.coefficients)));
            if cell.method == "diht" {
                let mut x = solution.coefficients.clone();
                let refit = minimise(&mut *risk.restrict(&solution.support)?, &mut x, &InnerOptions::EXACT)?;
                let cell = Cell { lambda, method: "diht-refit".to_string(), ..cell.clone() };
                rows.push(Row { cell, objective: refit.value, ..row }.measures(judged(&solution.support, &x)));
            }
        }
        Ok(rows)
    }

    fn page(&self, rows: &[Row]) -> Page {
        let mut page = Page { setting: setting(rows), ..Page::default() };
        let mut variants: Vec<&str> = rows.iter().map(|r| r.cell.variant.as_str()).collect();
        variants.sort_unstable();
        variants.dedup();
        for variant in variants.into_iter().rev() {
            let own: Vec<&Row> = rows.iter().filter(|r| r.cell.variant == variant).collect();
            let (scored, picked) = score(&own);
            let errors = Curves::new(&scored, &METHODS, |r| r.cell.n, |r| r.measures[0]);
            let exact = Curves::new(&scored, &METHODS, |r| r.cell.n, |r| r.measures[1]);
            let panels = [
                errors.chart("", Axis::linear("N, samples"), Axis::linear("relative estimation error").from_zero()),
                exact.chart("", Axis::linear("N, samples"), Axis::linear("share of exact supports").from_zero()),
            ];
            let grid =
                panels.into_iter().fold(Grid::new(format!("E6, {variant}"), 2), |g, c| g.with(c.size(480.0, 330.0)));
            let caption = format!("{variant}: means over the scored replicas, bands of one standard error.");
            page.figures.push(Figure::new(variant.replace('=', ""), caption, grid.to_svg()));
            let three = |s: &crate::frame::Summary| format!("{:.3} ({:.3})", s.mean, s.error());
            page.tables.push(errors.table(
                &format!("{variant}: relative estimation error by N (standard error)"),
                "N",
                three,
            ));
            page.tables.push(exact.table(
                &format!("{variant}: share of exact supports by N (standard error)"),
                "N",
                three,
            ));
            let mut table = crate::frame::Table::new(format!("{variant}: the ridge picked"), &["method", "N: ridge"]);
            for method in METHODS {
                let list: Vec<String> =
                    picked.iter().filter(|p| p.0 == method).map(|p| format!("{}: {:e}", p.1, p.2)).collect();
                table.push([crate::methods::label(method).to_string(), list.join(", ")]);
            }
            page.tables.push(table);
            // Asked of the methods as published first, then of this library's.
            let published = ["diht-published", "iht-constant", "htp-constant"];
            page.findings.extend(findings(&format!("{variant}, all as published"), &errors, &exact, published));
            page.findings.extend(findings(variant, &errors, &exact, ["diht", "iht", "htp"]));
        }
        page
    }
}

/// IHT or HTP with the best of five constant steps, by f: what a grid search over them gives.
fn best_constant(method: &str, risk: &Risk, k: usize, limits: Limits) -> Result<Solution> {
    let debias = if method == "htp" { Debias::Exact } else { Debias::Nothing };
    let unit = risk.smoothness(2 * k)?.bound().filter(|l| *l > 0.0).map_or(1.0, |l| 1.0 / l);
    let fit = |factor: f64| {
        let solver = Grahtp { step: Step::Fixed(factor * unit), debias, limits: limits.clone(), ..Grahtp::default() };
        solver.fit(risk, &Sparsity::new(k))
    };
    let mut best = fit(1.0)?;
    for factor in [4.0, 16.0, 64.0, 256.0] {
        let next = fit(factor)?;
        if next.value < best.value {
            best = next;
        }
    }
    Ok(best)
}

/// DIHT as published, with the best of five steps by f: the theorem's, the same starting later, and three constants.
fn best_published(risk: &Risk, k: usize, limits: Limits) -> Result<Solution> {
    let n = risk.target().len() as f64;
    let steps = [0.01, 0.1, 1.0].map(|share| DualStep::Fixed(share * n));
    let fit = |step| Diht { step, refit: false, limits: limits.clone() }.fit(risk, &Sparsity::new(k));
    let mut best = fit(DualStep::Theory)?;
    for step in [DualStep::Shifted].into_iter().chain(steps) {
        let next = fit(step)?;
        if next.value < best.value {
            best = next;
        }
    }
    Ok(best)
}

/// Relative error and whether the support is the true one.
fn judge(data: &Simulated<Dense<'static>>, support: &[usize], x: &[f64]) -> Vec<f64> {
    let truth = |j: usize| data.support.binary_search(&j).map_or(0.0, |i| data.coefficients[i]);
    let on: f64 = support.iter().zip(x).map(|(&j, w)| (w - truth(j)).powi(2)).sum();
    let missed = data.support.iter().zip(&data.coefficients).filter(|(j, _)| support.binary_search(j).is_err());
    let off: f64 = missed.map(|(_, w)| w * w).sum();
    let size: f64 = data.coefficients.iter().map(|w| w * w).sum();
    vec![((on + off) / size).sqrt(), f64::from(u8::from(support == data.support))]
}

/// For each method and N: the ridge with the least mean error over the first third of its seeds, and the rows of the
/// other seeds with it.
fn score<'a>(rows: &[&'a Row]) -> (Vec<&'a Row>, Vec<(&'static str, usize, f64)>) {
    let mut ns: Vec<usize> = rows.iter().map(|r| r.cell.n).collect();
    ns.sort_unstable();
    ns.dedup();
    let mut ridges: Vec<f64> = rows.iter().map(|r| r.cell.lambda).collect();
    ridges.sort_by(f64::total_cmp);
    ridges.dedup();
    let (mut scored, mut picked) = (Vec::new(), Vec::new());
    for method in METHODS {
        let mut seeds: Vec<u64> = rows.iter().filter(|r| r.cell.method == method).map(|r| r.cell.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let tuning = &seeds[..seeds.len().div_ceil(3).min(seeds.len().saturating_sub(1))];
        for &n in &ns {
            let own = || rows.iter().copied().filter(|r| r.cell.method == method && r.cell.n == n);
            let mean = |lambda: f64| {
                let tuned = own().filter(|r| r.cell.lambda == lambda && tuning.contains(&r.cell.seed));
                crate::frame::summarise(tuned.map(|r| r.measures[0])).map_or(f64::INFINITY, |s| s.mean)
            };
            let Some(&best) = ridges.iter().min_by(|a, b| mean(**a).total_cmp(&mean(**b))) else { continue };
            picked.push((method, n, best));
            scored.extend(own().filter(|r| r.cell.lambda == best && !tuning.contains(&r.cell.seed)));
        }
    }
    (scored, picked)
}

fn setting(rows: &[Row]) -> Vec<String> {
    let mut seeds: Vec<u64> = rows.iter().map(|r| r.cell.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let mut published: Vec<u64> =
        rows.iter().filter(|r| r.cell.method == "diht-published").map(|r| r.cell.seed).collect();
    published.sort_unstable();
    published.dedup();
    let k = rows.first().map_or(0, |r| r.cell.k);
    let tuning = seeds.len().div_ceil(3);
    vec![format!(
        "{k} true coefficients of 1 on features N(m1, Sigma) with variances 1 and covariances 0.25, the other \
         features N(m2, I), the entries of m1 and m2 N(0, 1) and drawn once a replica; y = wbar'x + N(0, 1); loss (y \
         - z)^2, no intercept, k = {k}. {} replicas: for each method and N the ridge is picked from decades by the \
         mean error over the first {tuning} replicas, and the others are scored (the paper: 150, 50 and 100). IHT and \
         HTP take this library's adaptive steps and DIHT its proximal one, at most 500 iterations; the paper tunes \
         all steps by grid search, which \"constant step\" does for IHT and HTP (the best f of five) and \"as \
         published\" for DIHT, whose super-gradient steps are the theorem's, the same starting later, or a constant \
         (the best f of five; {} replicas). \"DIHT, refit\" minimises on the support that DIHT returns.",
        seeds.len(),
        published.len()
    )]
}

/// What is known about the difference: the rows with a constant step put it to the test.
fn reason(errors: &Curves) -> String {
    let lead = |rival: &str| -> Vec<String> {
        let at = |x| Some(format!("{:+.1} %", 100.0 * (1.0 - errors.at("diht", x)? / errors.at(rival, x)?)));
        errors.xs().into_iter().filter_map(at).collect()
    };
    let (iht, htp) = (lead("iht-constant"), lead("htp-constant"));
    if htp.is_empty() {
        return String::new();
    }
    format!(
        "HTP chooses its steps itself here and minimises f better than with a constant one. Against constant steps, \
         the best of five, DIHT's error is below HTP's by {} and below IHT's by {} (N ascending)",
        htp.join(", "),
        iht.join(", ")
    )
}

fn findings(variant: &str, errors: &Curves, exact: &Curves, [diht, iht, htp]: [&str; 3]) -> Vec<Finding> {
    // The reason speaks of the library's steps.
    let why = || if diht == "diht" { reason(errors) } else { String::new() };
    let mut out = vec![
        compare::best(
            errors,
            &[diht],
            &[iht, htp],
            1.0,
            format!("{variant}: DIHT has a smaller estimation error than IHT and HTP."),
        )
        .because(why()),
    ];
    let higher = exact.count(|c, x| {
        let rivals = c.at(iht, x)?.max(c.at(htp, x)?);
        Some(c.at(diht, x)? >= rivals)
    });
    let list: Vec<String> = exact
        .xs()
        .into_iter()
        .filter_map(|x| {
            Some(format!(
                "N = {x}: {:.2} against {:.2} and {:.2}",
                exact.at(diht, x)?,
                exact.at(iht, x)?,
                exact.at(htp, x)?
            ))
        })
        .collect();
    let ours =
        format!("DIHT recovers no less often than IHT and HTP at {} of {} N; {}", higher.0, higher.1, list.join("; "));
    let paper = format!("{variant}: DIHT recovers the support more often than IHT and HTP.");
    out.push(Finding::new(paper, crate::frame::verdict(higher).map(|v| (ours, v))));
    // The lead over the better rival, in relative error, near k and away from it.
    let lead = |x: usize| Some(1.0 - errors.at(diht, x)? / errors.at(iht, x)?.min(errors.at(htp, x)?));
    let leads: Vec<(usize, f64)> = errors.xs().into_iter().filter_map(|x| Some((x, lead(x)?))).collect();
    if let Some(top) = leads.iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
        let list: Vec<String> = leads.iter().map(|(x, l)| format!("N = {x}: {:+.1} %", 100.0 * l)).collect();
        let middle = leads.len() / 2;
        let near = leads.iter().position(|l| l.0 == top.0).is_some_and(|i| i + 1 >= middle && i <= middle);
        let verdict = if top.1 <= 0.0 {
            Verdict::Differs
        } else if near {
            Verdict::Agrees
        } else {
            Verdict::Differs
        };
        let ours = format!("error of DIHT below the better of IHT and HTP by {}", list.join(", "));
        let paper = format!("{variant}: the lead is largest when N is near or just below k.");
        out.push(Finding::new(paper, Some((ours, verdict))).because(why()));
    }
    out
}
