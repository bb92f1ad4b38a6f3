//! E5: linear discriminant analysis with a sparse precision matrix, on breast cancer data.
//!
//! 133 subjects (Hess et al. 2006), 34 with a complete response (pCR, the positives) and 99 with residual disease. Each
//! replica tests on 5 and 16 of them, drawn at random; on the other 112 it takes the 113 genes with the largest
//! two-sample t statistic, chooses k by 6-fold cross-validation of the likelihood within classes, and fits. Section 4.4
//! of arXiv 1311.5750.

mod data;
mod findings;
mod published;
mod reasons;

use crate::algorithm2::{self, PATIENT, PUBLISHED};
use crate::frame::{Cell, CpuClock, Experiment, Memo, Page, Result, Row, Settings};
use crate::methods;
use data::{Labelled, Split, read, stand_in, take};
use ksparse::design::Dense;
use ksparse::graphical::{self, Classes, Confusion, Covariance, GraphicalLasso, Network, Precision, Rule, Units};
use ksparse::select::Folds;
use ksparse::solver::{Fbs, Grasp, ModelSearch, Solver};
use ksparse::{Path, Progress, Solution, Sparsity};
use std::ops::ControlFlow;

const FILE: &str = "hess_mda133_p1400.csv.xz";
const MEASURES: [&str; 4] = ["specificity", "sensitivity", "mcc", "edges"];
/// Rows of the rule without priors.
const EVEN: &str = "equal priors";
const METHODS: [&str; 4] = ["grahtp", "grasp", "fbs", "glasso"];
/// All that are compared: Algorithm 2 and GraSP as published first.
const SHOWN: [&str; 6] = [PUBLISHED, "grahtp", PATIENT, "grasp", "fbs", "glasso"];
/// No edges at all: genes taken as independent within classes. And GraSP with more iterations. Both ask why GraSP
/// stands where it does.
const ALONE: &str = "independent";
const LONGER: &str = "grasp-longer";
/// Other genes to choose from: those with the largest t statistics over all subjects, and the rest. Is it the genes?
const STRONG: &str = " strong genes";
const WEAK: &str = " weak genes";
/// Fits with a given number of edges, likelihood or not: what does their number do?
const BY_EDGES: &str = " by edges";
/// What the paper leaves open: k chosen by the errors on held-out subjects in place of their likelihood, and genes in
/// units of their deviation over all subjects, or as they are measured.
const BY_ERRORS: &str = " by errors";
const OVERALL: &str = " overall units";
const MEASURED: &str = " measured units";
/// The step of Algorithm 2 there: the one that the likelihood chooses, and one takes a quarter of the time of four.
const STEP: f64 = 1.0;

/// The experiment.
#[derive(Debug, Default)]
pub struct BreastCancer {
    data: Memo<String, Labelled>,
}

impl Experiment for BreastCancer {
    fn id(&self) -> &'static str {
        "E5"
    }

    fn title(&self) -> &'static str {
        "Discriminant analysis of breast cancer data"
    }

    fn measures(&self) -> &'static [&'static str] {
        &MEASURES
    }

    fn cells(&self, settings: &Settings) -> Result<Vec<Cell>> {
        let real = settings.data.as_ref().is_some_and(|folder| folder.join(FILE).exists());
        let variant = if real { "mda133" } else { "stand-in" };
        let p = if settings.quick { 20 } else { 113 };
        let cell = |variant: String, seed: u64, method: &str| Cell {
            variant,
            seed,
            method: method.to_string(),
            n: 112,
            p,
            timed: true,
            ..Cell::default()
        };
        let mut cells = Vec::new();
        for method in METHODS[..3].iter().chain(&[PUBLISHED, PATIENT]) {
            cells.push(cell(format!("{variant} trace"), settings.seed, method));
        }
        for seed in settings.seeds(100, 2) {
            cells.push(cell(variant.to_string(), seed, ALONE));
            // The stand-in is too narrow to be divided, but for a quick run.
            let pools: &[&str] = if real || settings.quick { &[STRONG, WEAK] } else { &[] };
            for pool in pools {
                cells.extend(["grahtp", "glasso"].map(|method| cell(format!("{variant}{pool}"), seed, method)));
            }
        }
        for seed in settings.seeds(100, 2) {
            let by_edges = |k: usize| Cell { k, ..cell(format!("{variant}{BY_EDGES}"), seed, "grahtp") };
            cells.extend(ks(p).into_iter().map(by_edges));
        }
        for seed in settings.seeds(100, 2) {
            let stepped = |open: &str| Cell { lambda: STEP, ..cell(format!("{variant}{open}"), seed, PUBLISHED) };
            cells.extend(ks(p).into_iter().map(|k| Cell { k, ..stepped(BY_EDGES) }));
            cells.extend([BY_ERRORS, OVERALL, MEASURED].map(stepped));
            cells.extend(["grahtp", "glasso"].map(|method| cell(format!("{variant}{BY_ERRORS}"), seed, method)));
        }
        // GraSP takes longer than the others together: last.
        for late in [false, true] {
            for seed in settings.seeds(100, 2) {
                let methods = METHODS.iter().filter(|method| (**method == "grasp") == late);
                cells.extend(methods.map(|method| cell(variant.to_string(), seed, method)));
            }
        }
        cells.extend(settings.seeds(100, 2).map(|seed| cell(variant.to_string(), seed, PUBLISHED)));
        cells.extend(settings.seeds(10, 1).take(10).map(|seed| cell(variant.to_string(), seed, LONGER)));
        cells.extend(settings.seeds(100, 2).map(|seed| cell(variant.to_string(), seed, PATIENT)));
        Ok(cells)
    }

    fn run(&self, cell: &Cell, settings: &Settings) -> Result<Vec<Row>> {
        let pool = [STRONG, WEAK].into_iter().find(|pool| cell.variant.ends_with(pool)).unwrap_or("");
        let data = self.data.get(pool.to_string(), || {
            let all = match &settings.data {
                Some(folder) if cell.variant.starts_with("mda133") => read(&folder.join(FILE))?,
                _ => stand_in()?,
            };
            all.pool(pool)
        })?;
        let mut split = Split::draw(&data, cell.p, cell.seed)?;
        if cell.variant.ends_with("trace") {
            return trace(cell, &split);
        }
        let clock = CpuClock::start();
        if cell.variant.ends_with(OVERALL) {
            split = split.in_overall_units()?;
        }
        let as_they_are = [OVERALL, MEASURED].iter().any(|units| cell.variant.ends_with(units));
        let units = if as_they_are { Units::Original } else { Units::Standardized };
        let steps = if cell.lambda > 0.0 { vec![cell.lambda] } else { algorithm2::STEPS.to_vec() };
        let classes = Classes::of(&split.train, &split.train_labels)?;
        let covariance = classes.covariance(&split.train, units)?;
        let folds = Folds::stratified(&split.train_labels, 6, cell.seed)?;
        let penalties = GraphicalLasso::penalties(&covariance, 10, 0.05);
        let mut scores: Vec<f64> = Vec::new();
        let chosen = cell.variant.ends_with(BY_EDGES);
        for fold in 0..if chosen { 0 } else { folds.count() } {
            let part = |rows: Vec<usize>| take(&split.train, &rows);
            let labels = |rows: &[usize]| rows.iter().map(|&i| split.train_labels[i]).collect::<Vec<f64>>();
            let (inside, outside) = (folds.training(fold), folds.held_out(fold));
            let (train, train_labels) = (part(inside.clone())?, labels(&inside));
            let classes = Classes::of(&train, &train_labels)?;
            let own = classes.covariance(&train, units)?;
            let (others, truth) = (part(outside.clone())?, labels(&outside));
            let networks = path(&cell.method, &own, &penalties, &steps)?;
            let losses = if cell.variant.ends_with(BY_ERRORS) {
                let wrong = |network: &Network| errors(&classes.rule(network, &own), &others, &truth);
                networks.iter().map(wrong).collect::<Result<Vec<f64>>>()?
            } else {
                graphical::held_out(&networks, &classes.of_others(&others, &truth, &own)?)?.scores
            };
            scores.resize(losses.len(), 0.0);
            scores.iter_mut().zip(losses).for_each(|(total, loss)| *total += loss / folds.count() as f64);
        }
        // Of equals the first, which has the fewest edges.
        let best = (0..scores.len()).min_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0);
        let ks = ks(cell.p);
        let (place, step) =
            if cell.method == PUBLISHED { (best % ks.len(), steps[best / ks.len()]) } else { (best, 0.0) };
        let network = match cell.method.as_str() {
            PUBLISHED => {
                let k = if chosen { cell.k } else { ks[place] };
                algorithm2::fit(&covariance, k, step)?.0
            }
            method if chosen => {
                let model = Precision::new(covariance.clone())?;
                model.network(&solver(method).fit(&model, &Sparsity::new(cell.k))?)
            }
            "glasso" => GraphicalLasso::default().path(&covariance, &penalties[..=best])?.remove(best),
            ALONE => independent(&covariance)?,
            method => {
                let model = Precision::new(covariance.clone())?;
                model.network(&solver(method).fit(&model, &Sparsity::new(ks[place]))?)
            }
        };
        let rule = classes.rule(&network, &covariance);
        let table = Confusion::of(&rule.predict(&split.test)?, &split.test_labels, 1.0);
        // Of the steps tried, one would have been enough had it been known.
        let tried = if cell.method == PUBLISHED { steps.len() } else { 1 };
        let seconds = clock.seconds() / tried as f64;
        let of =
            |table: &Confusion| [table.specificity(), table.sensitivity(), table.mcc(), network.edges().len() as f64];
        let row = Row { cell: Cell { lambda: step, ..cell.clone() }, ..cell.row() };
        let row = Row { objective: scores.get(best).copied().unwrap_or(f64::NAN), seconds, ..row };
        let even =
            Confusion::of(&without_priors(rule, &split.train_labels).predict(&split.test)?, &split.test_labels, 1.0);
        Ok(vec![row.clone().measures(of(&table)), Row { record: EVEN.to_string(), ..row }.measures(of(&even))])
    }

    fn page(&self, rows: &[Row]) -> Page {
        let mut page = Page { setting: published::setting(rows), ..Page::default() };
        page.figures.push(published::figure(rows));
        for (title, pool, record, methods) in [
            ("E5: means (standard deviations) over replicas", "", "", &SHOWN[..]),
            ("E5 with classes taken as equally frequent: is it the priors?", "", EVEN, &SHOWN),
            ("E5 without edges, and GraSP for longer: why does GraSP stand where it does?", "", "", &[ALONE, LONGER]),
            ("E5 with the strongest genes alone to choose from: is it the genes?", STRONG, "", &["grahtp", "glasso"]),
            ("E5 with the strongest genes alone, classes equally frequent", STRONG, EVEN, &["grahtp", "glasso"]),
            ("E5 without the strongest genes", WEAK, "", &["grahtp", "glasso"]),
        ] {
            page.tables.push(findings::table(rows, title, (pool, record), methods));
        }
        page.tables.push(findings::by_edges(rows));
        page.tables.extend(reasons::tables(rows));
        page.findings = published::findings(rows);
        page.findings.extend(findings::findings(rows));
        page
    }
}

/// The rule with classes taken as equally frequent: is it the frequencies that move the balance of the two kinds of
/// error?
fn without_priors(mut rule: Rule, labels: &[f64]) -> Rule {
    for (offset, class) in rule.offsets.iter_mut().zip(&rule.labels) {
        let count = labels.iter().filter(|label| *label == class).count();
        *offset -= (count as f64 / labels.len() as f64).ln();
    }
    rule
}

/// The share of subjects in the wrong class.
fn errors(rule: &Rule, subjects: &Dense, truth: &[f64]) -> Result<f64> {
    let predicted = rule.predict(subjects)?;
    Ok(predicted.iter().zip(truth).filter(|(a, b)| a != b).count() as f64 / truth.len() as f64)
}

/// A network without edges.
fn independent(covariance: &Covariance) -> Result<Network> {
    let model = Precision::new(covariance.clone())?;
    Ok(model.network(&ModelSearch::default().fit(&model, &Sparsity::new(0))?))
}

/// The numbers of edges to choose from.
fn ks(p: usize) -> Vec<usize> {
    [0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0].map(|share| (share * p as f64) as usize).to_vec()
}

fn solver(method: &str) -> Box<dyn Solver> {
    match method {
        "grasp" => Box::new(Grasp { limits: methods::limits(5), ..Grasp::default() }),
        LONGER => Box::new(Grasp { limits: methods::limits(20), ..Grasp::default() }),
        PATIENT => Box::new(Grasp { limits: methods::limits(algorithm2::MOST_ITERATIONS), ..Grasp::default() }),
        "fbs" => Box::new(Fbs::default()),
        _ => Box::new(ModelSearch::default()),
    }
}

fn path(method: &str, covariance: &Covariance, penalties: &[f64], steps: &[f64]) -> Result<Vec<Network>> {
    let ks = ks(covariance.variables());
    Ok(match method {
        "glasso" => GraphicalLasso::default().path(covariance, penalties)?,
        PUBLISHED => algorithm2::path(covariance, &ks, steps)?,
        ALONE => vec![independent(covariance)?],
        "fbs" => {
            let model = Precision::new(covariance.clone())?;
            let mut networks = Vec::new();
            let mut watch = |at: &Progress| {
                if ks.contains(&(at.support.len() - covariance.variables())) {
                    let reached = Solution::guess(at.support.to_vec(), at.coefficients.to_vec());
                    networks.push(model.network(&reached));
                }
                ControlFlow::Continue(())
            };
            let most = ks.last().copied().unwrap_or(0);
            Fbs::default().solve(&model, &Sparsity::new(most), None, &mut watch)?;
            networks
        }
        _ => {
            let solver = solver(method);
            graphical::by_edges(Path { sweeps: 0, ..Path::over(ks) }, &*solver)(covariance)?
        }
    })
}

/// The loss after every iteration at k = p.
fn trace(cell: &Cell, split: &Split) -> Result<Vec<Row>> {
    let classes = Classes::of(&split.train, &split.train_labels)?;
    let model = Precision::new(classes.covariance(&split.train, Units::Standardized)?)?;
    let row = |at: &ksparse::solver::TraceRow, lambda: f64| Row {
        cell: Cell { lambda, ..cell.clone() },
        record: "trace".to_string(),
        objective: at.value,
        seconds: at.seconds,
        iterations: at.iteration,
        ..Row::default()
    };
    if cell.method == PUBLISHED {
        let mut rows = Vec::new();
        for step in algorithm2::STEPS {
            let (_, solution) = algorithm2::fit(model.covariance(), cell.p, step)?;
            rows.extend(solution.trace.iter().map(|at| row(at, step)));
        }
        return Ok(rows);
    }
    let solution = solver(&cell.method).fit(&model, &Sparsity::new(cell.p))?;
    Ok(solution.trace.iter().map(|at| row(at, 0.0)).collect())
}
