//! All methods as the papers state them: constant steps for the primal ones, the theorem's and constant ones for the
//! dual ones, each the best of a grid. And the largest problem, on which all methods of a problem are one cell.

use super::{EPOCHS, METHODS, TRACE, loss};
use crate::collections::Split;
use crate::frame::{Cell, CpuClock, Result, Row};
use ksparse::loss::Huber;
use ksparse::solver::{Diht, DualStep, Grahtp, Limits, Progress, Sdiht, Solver, Step, StochasticStep, Svrght};
use ksparse::{Objective, Risk, Sparsity};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::time::Duration;

/// How the names of variants with the papers' steps end.
pub(super) const PUBLISHED: &str = " as published";
/// The method of cells that hold all methods.
pub(super) const ALL: &str = "all";
/// Primal steps tried, in units of 1/L.
const PRIMAL: [f64; 5] = [1.0, 4.0, 16.0, 64.0, 256.0];
/// Constant dual steps tried, in units of N.
const DUAL: [f64; 4] = [1e-3, 1e-2, 1e-1, 1.0];
/// The change of P, relative to itself, at which IHT has settled.
const SETTLED: f64 = 1e-4;

/// A solver for these limits.
type Make = Box<dyn Fn(Limits) -> Box<dyn Solver>>;

/// The candidates of a method: what tells them apart, and the solver.
fn candidates(method: &str, published: bool, unit: f64, n: f64) -> Vec<(String, Make)> {
    if !published {
        let own = method.to_string();
        return vec![(String::new(), Box::new(move |limits| super::solver(&own, limits)))];
    }
    let primal = PRIMAL.map(|factor| (format!("step {factor}/L"), factor * unit));
    let named = [("theory".to_string(), DualStep::Theory), ("shifted".to_string(), DualStep::Shifted)];
    let dual = named.into_iter().chain(DUAL.map(|share| (format!("step {share} N"), DualStep::Fixed(share * n))));
    match method {
        "iht" | "htp" => {
            let plain = if method == "iht" { Grahtp::fast() } else { Grahtp::default() };
            let make = |(name, step): (String, f64)| -> (String, Make) {
                let plain = Grahtp { step: Step::Fixed(step), ..plain.clone() };
                (name, Box::new(move |limits| Box::new(Grahtp { limits, ..plain.clone() })))
            };
            primal.into_iter().map(make).collect()
        }
        "svrght" => {
            let make = |(name, step): (String, f64)| -> (String, Make) {
                let plain = Svrght { step: StochasticStep::Fixed(step), refit: false, ..Svrght::default() };
                (name, Box::new(move |limits| Box::new(Svrght { limits, ..plain.clone() })))
            };
            primal.into_iter().map(make).collect()
        }
        "diht" => {
            let make = |(name, step): (String, DualStep)| -> (String, Make) {
                (name, Box::new(move |limits| Box::new(Diht { step, refit: false, limits })))
            };
            dual.map(make).collect()
        }
        _ => {
            let make = |(name, step): (String, DualStep)| -> (String, Make) {
                let plain = Sdiht { step, refit: false, blocks: Some(10), ..Sdiht::default() };
                (name, Box::new(move |limits| Box::new(Sdiht { limits, ..plain.clone() })))
            };
            dual.map(make).collect()
        }
    }
}

/// What one run saw.
struct Seen {
    value: f64,
    dual: f64,
    seconds: Option<f64>,
    iterations: usize,
    /// Epochs, P and the best D.
    trace: Vec<(usize, f64, f64)>,
}

/// Runs until P is no greater than `target`, or without one until it settles; on to `epochs` epochs where those are
/// asked for. `None` where the step does not exist.
fn seen(solver: &dyn Solver, risk: &Risk, k: usize, target: Option<f64>, epochs: usize) -> Option<Seen> {
    let clock = CpuClock::start();
    let mut seen = Seen { value: f64::INFINITY, dual: f64::NAN, seconds: None, iterations: 0, trace: Vec::new() };
    let mut last = f64::INFINITY;
    let watch = &mut |at: &Progress| {
        let settled = last.is_finite() && (last - at.value).abs() <= SETTLED * last;
        last = at.value;
        seen.value = seen.value.min(at.value);
        seen.dual = at.dual.unwrap_or(f64::NAN);
        if seen.seconds.is_none() && target.map_or(settled, |target| at.value <= target) {
            seen.seconds = Some(clock.seconds());
            seen.iterations = at.iteration;
        }
        if at.iteration <= epochs {
            seen.trace.push((at.iteration, at.value, seen.dual));
        }
        if seen.seconds.is_some() && at.iteration >= epochs {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    solver.solve(risk, &Sparsity::new(k), None, watch).ok()?;
    Some(seen)
}

/// All methods on the problem of a cell, each given up after `patience`; gaps by epochs where they are asked for.
pub(super) fn run(cell: &Cell, data: &Split, patience: Duration, traced: bool) -> Result<Vec<Row>> {
    let risk = |loss| Risk::from_boxes(Box::new(&data.train), Cow::Borrowed(&data.train_labels[..]), loss);
    let ridged = risk(loss(&cell.variant))?.with_ridge(cell.lambda)?;
    // The hinge loss has no L: that of its rounded form.
    let smooth = risk(Box::<Huber>::default())?.with_ridge(cell.lambda)?;
    let unit = smooth.smoothness(2 * cell.k)?.bound().map_or(1.0, |l| 1.0 / l);
    let published = cell.variant.ends_with(PUBLISHED);
    let limits = Limits { tolerance: 0.0, max_iterations: 100_000, time_limit: Some(patience), ..Limits::default() };
    let (mut rows, mut target) = (Vec::new(), None);
    for method in METHODS {
        let epochs = if traced && method.ends_with("diht") { EPOCHS } else { 0 };
        let mut best: Option<Seen> = None;
        let own = Cell { method: method.to_string(), ..cell.clone() };
        let row = |seen: &Seen, record: &str, target: f64| {
            let seconds = seen.seconds.unwrap_or(f64::NAN);
            let reached = f64::from(u8::from(seen.seconds.is_some()));
            let row = Row { record: record.to_string(), objective: seen.value, seconds, ..own.row() };
            Row { iterations: seen.iterations, ..row }.measures([target, seen.dual, reached])
        };
        let mut gap: Option<Vec<(usize, f64, f64)>> = None;
        for (name, make) in candidates(method, published, unit, ridged.target().len() as f64) {
            let Some(seen) = seen(&*make(limits.clone()), &ridged, cell.k, target, epochs) else { continue };
            if published {
                rows.push(row(&seen, &name, target.unwrap_or(seen.value)));
            }
            let left = |trace: &[(usize, f64, f64)]| trace.last().map_or(f64::INFINITY, |t| (t.1 - t.2) / t.1);
            if !seen.trace.is_empty() && gap.as_ref().is_none_or(|gap| left(&seen.trace) < left(gap)) {
                gap = Some(seen.trace.clone());
            }
            // The step of IHT is the one that ends lowest: the others have that value to reach.
            let better = |best: &Seen| match target {
                None => seen.value < best.value,
                Some(_) => seen.seconds.unwrap_or(f64::INFINITY) < best.seconds.unwrap_or(f64::INFINITY),
            };
            if best.as_ref().is_none_or(better) {
                best = Some(seen);
            }
        }
        let Some(best) = best else { continue };
        let aim = *target.get_or_insert(best.value);
        rows.push(row(&best, "", aim));
        for (iterations, objective, dual) in gap.into_iter().flatten() {
            let row = Row { record: TRACE.to_string(), objective, iterations, ..own.row() };
            rows.push(row.measures([aim, dual, f64::NAN]));
        }
    }
    Ok(rows)
}

/// Which methods arrive with which step, over the problems of these rows.
pub(super) fn steps(rows: &[&Row]) -> String {
    let list = METHODS.iter().filter_map(|method| {
        let fits: Vec<&&Row> = rows.iter().filter(|r| r.cell.method == *method && r.record.is_empty()).collect();
        let arrived = fits.iter().filter(|r| r.measures[2] > 0.0).count();
        let mut names: Vec<&str> = Vec::new();
        for fit in fits.iter().filter(|r| r.measures[2] > 0.0) {
            let tried = rows.iter().filter(|r| r.cell.method == *method && r.cell.k == fit.cell.k);
            let own = tried.filter(|r| !r.record.is_empty() && r.record != TRACE && r.seconds == fit.seconds);
            names.extend(own.map(|r| r.record.as_str()));
        }
        names.sort_unstable();
        names.dedup();
        let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join("; ")) };
        (!fits.is_empty()).then(|| format!("{} at {arrived} of {} k{names}", crate::methods::label(method), fits.len()))
    });
    list.collect::<Vec<_>>().join(", ")
}
