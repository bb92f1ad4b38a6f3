//! The true optimum by brute force over all supports, for 200 small problems, and how often each solver finds it.
//!
//! `cargo test --test library exhaustive -- --nocapture` prints the shares.

use crate::common::{Problem, Table, every_solver, rng, smooth_losses};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::solver::{GENERAL, Status};
use ksparse::{Objective, Risk, SparseRef, Sparsity};
use rand::Rng;
use rayon::prelude::*;

const PROBLEMS: u64 = 200;

/// A problem and its k.
fn draw(seed: u64) -> (Problem, usize) {
    let rng = &mut rng(7000 + seed);
    let p: usize = rng.random_range(4..=15);
    let n = rng.random_range(p.div_ceil(2)..=5 * p);
    let k = rng.random_range(1..=p / 2);
    let loss = smooth_losses().swap_remove(seed as usize % 4);
    let correlation = if (seed / 4).is_multiple_of(2) { 0.0 } else { 0.9 };
    let ratio = 10f64.powf(rng.random::<f64>());
    let ridge = if seed.is_multiple_of(9) { 0.0 } else { 10f64.powf(rng.random_range(-5.0..-2.0)) };
    let mut problem = Problem::new(Table::gaussian(rng, n, p, correlation), loss, k, ratio, rng).ridge(ridge);
    problem.intercept = seed.is_multiple_of(5);
    (problem, k)
}

fn refit(risk: &Risk, support: &[usize]) -> f64 {
    let mut x = vec![0.0; support.len()];
    minimise(&mut *risk.restrict(support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap().value
}

/// The least value over all supports of k coordinates (beside the free ones).
fn brute_force(risk: &Risk, k: usize) -> f64 {
    fn walk(risk: &Risk, support: &mut Vec<usize>, from: usize, missing: usize, best: &mut f64) {
        if missing == 0 {
            let mut whole = support.clone();
            whole.extend_from_slice(risk.free());
            *best = best.min(refit(risk, &whole));
            return;
        }
        for j in from..=risk.features() - missing {
            support.push(j);
            walk(risk, support, j + 1, missing - 1, best);
            support.pop();
        }
    }
    let mut best = f64::INFINITY;
    walk(risk, &mut Vec::new(), 0, k, &mut best);
    best
}

/// What the solvers made of one problem.
struct Verdict {
    /// For each solver, whether its support is an optimal one.
    found: Vec<bool>,
    /// Where `auto` was worse than a method it should beat.
    complaints: Vec<String>,
    /// The problem in words, with the gap `auto` left.
    story: String,
}

fn judge(seed: u64) -> Verdict {
    let (problem, k) = draw(seed);
    let risk = problem.risk();
    let least = brute_force(&risk, k);
    // Where the infimum is not attained (separable data, no ridge) values below 1e-8 of f(0) are all the same.
    let unit = risk.value(SparseRef::ZERO);
    let (mut values, mut found, mut complaints) = (Vec::new(), Vec::new(), Vec::new());
    for solver in every_solver() {
        let what = format!("{} on problem {seed} ({}, k = {k})", solver.name(), problem.loss.name());
        let solution = solver.fit(&risk, &Sparsity::new(k)).unwrap();
        problem.check(&what, &solution, k, &[]);
        let slack = if solution.status == Status::Unattained { 1e-8 * unit } else { 1e-9 * least + 1e-12 * unit };
        assert!(solution.value >= least - slack, "{what}: {} below the optimum {least}", solution.value);
        found.push(refit(&risk, &solution.support) <= least * (1.0 + 1e-7) + 1e-8 * unit);
        values.push(solution.value);
    }
    let value = |name: &str| values[GENERAL.iter().position(|n| *n == name).unwrap()];
    for other in ["grahtp", "fbs"] {
        let slack = 1e-9 * value(other) + if problem.ridge == 0.0 { 1e-8 * unit } else { 0.0 };
        if value("auto") > value(other) + slack {
            let (auto, theirs) = (value("auto"), value(other));
            complaints
                .push(format!("problem {seed} ({}, k = {k}): auto {auto}, {other} {theirs}", problem.loss.name()));
        }
    }
    let (gap, loss) = (value("auto") / least - 1.0, problem.loss.name());
    let story = format!(
        "problem {seed}: {loss}, n = {}, p = {}, k = {k}, ridge {:.0e}, auto {:.2} % above",
        problem.x.n,
        problem.x.p,
        problem.ridge,
        100.0 * gap
    );
    Verdict { found, complaints, story }
}

#[test]
fn how_often_the_optimum_is_found() {
    let verdicts: Vec<Verdict> = (0..PROBLEMS).into_par_iter().map(judge).collect();
    let share = |s: usize| verdicts.iter().filter(|v| v.found[s]).count() as f64 / PROBLEMS as f64;
    let shares: Vec<f64> = (0..GENERAL.len()).map(share).collect();
    for (name, share) in GENERAL.iter().zip(&shares) {
        eprintln!("{name:8} finds the optimum of {:5.1} % of {PROBLEMS} problems", 100.0 * share);
    }
    assert_eq!(GENERAL[0], "auto");
    let missed: Vec<&String> = verdicts.iter().filter(|v| !v.found[0]).map(|v| &v.story).collect();
    assert!(shares[0] == 1.0, "auto finds {} % of the optima, and misses {missed:#?}", 100.0 * shares[0]);
    let complaints: Vec<String> = verdicts.into_iter().flat_map(|v| v.complaints).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    // None of them is a coin toss: a share this low would be a bug, not a weakness of the method.
    assert!(shares.iter().all(|s| *s > 0.3), "{shares:?}");
}
