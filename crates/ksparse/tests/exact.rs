//! Branch and bound against brute force, and on problems that only it can settle.

use crate::common::{Problem, Table, normal, rng, smooth_losses};
use ksparse::certificate::{CertifyOptions, certify};
use ksparse::loss::{Hinge, Logistic, Squared};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::simulate::{self, Correlation, Text};
use ksparse::solver::{Exact, Limits};
use ksparse::{Auto, Custom, Error, Objective, Risk, Solver, Sparsity, Status, Threads};
use rand::Rng;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::time::Duration;

/// A problem with up to 15 columns, its k and what is forced in.
fn draw(seed: u64) -> (Problem, usize, Vec<usize>) {
    let rng = &mut rng(31_000 + seed);
    // Brute force on the hinge takes its time.
    let p: usize = rng.random_range(5..=if seed % 5 == 4 { 9 } else { 15 });
    let n = rng.random_range(p.div_ceil(2)..=4 * p);
    let k = rng.random_range(1..=p / 2);
    let mut losses = smooth_losses();
    losses.push(Box::new(Hinge));
    let loss = losses.swap_remove(seed as usize % 5);
    let x = Table::gaussian(rng, n, p, if (seed / 5).is_multiple_of(2) { 0.0 } else { 0.8 });
    let ridge = 10f64.powf(rng.random_range(-3.0..0.0));
    let mut problem = Problem::new(x, loss, k, 2.0, rng).ridge(ridge);
    problem.intercept = seed.is_multiple_of(3);
    if seed.is_multiple_of(4) {
        problem.weights = Some((0..n).map(|_| f64::from(rng.random_range(0..4u8)) + 0.25).collect());
    }
    let keep = if seed.is_multiple_of(7) { vec![p - 1, 0] } else { Vec::new() };
    (problem, k, keep)
}

/// The least value over all supports; for the hinge that of its rounded form, which is at most half the width lower.
fn brute_force(problem: &Problem, k: usize, keep: &[usize]) -> f64 {
    let rounded = problem.rounded();
    let risk = rounded.as_ref().unwrap_or(problem).risk();
    let others: Vec<usize> = (0..problem.x.p).filter(|j| !keep.contains(j)).collect();
    let masks: Vec<u32> =
        (0u32..1 << others.len()).filter(|m| m.count_ones() as usize == k.min(others.len())).collect();
    let value = |mask: &u32| {
        let chosen = (0..others.len()).filter(|b| mask >> b & 1 == 1).map(|b| others[b]);
        let mut support: Vec<usize> = chosen.chain(keep.iter().copied()).chain(risk.free().iter().copied()).collect();
        support.sort_unstable();
        let mut x = vec![0.0; support.len()];
        minimise(&mut *risk.restrict(&support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap().value
    };
    masks.iter().map(value).fold(f64::INFINITY, f64::min)
}

#[test]
fn equals_brute_force() {
    let nodes: Vec<usize> = (0..150u64)
        .into_par_iter()
        .map(|seed| {
            let (problem, k, keep) = draw(seed);
            let risk = problem.risk();
            let what = format!("problem {seed}, {}, lambda {:.1e}, k {k}", problem.loss.name(), problem.ridge);
            let least = brute_force(&problem, k, &keep);
            let solution = Exact::default().fit(&risk, &Sparsity::new(k).keep(keep.iter().copied())).unwrap();
            problem.check(&what, &solution, k, &keep);
            assert_eq!(solution.status, Status::Optimal, "{what}: {} nodes", solution.iterations);
            let slack = if problem.loss.smoothness().has_corners() { 2e-6 } else { 1e-9 };
            assert!(solution.value <= least * (1.0 + 1.1e-6) + slack, "{what}: {} for {least}", solution.value);
            let bound = solution.lower_bound().unwrap();
            assert!(bound <= least + slack && bound <= solution.value, "{what}: bound {bound} for {least}");
            assert!(solution.value - bound <= 2e-6 * solution.value, "{what}: {bound} for {}", solution.value);
            solution.iterations
        })
        .collect();
    eprintln!("nodes: {} in all, at most {}", nodes.iter().sum::<usize>(), nodes.iter().max().unwrap());
}

/// Problems of 100 columns, k = 10.
fn hundred(seed: u64) -> (Problem, f64) {
    let rng = &mut rng(500 + seed);
    let ridge = [0.05, 0.1, 0.2][seed as usize % 3];
    let loss: Box<dyn ksparse::loss::Loss> =
        if seed.is_multiple_of(2) { Box::new(Squared::default()) } else { Box::new(Logistic::default()) };
    let x = Table::gaussian(rng, 150, 100, 0.3);
    (Problem::new(x, loss, 10, 2.0, rng).ridge(ridge), ridge)
}

#[test]
fn settles_what_the_plug_in_bound_cannot() {
    let sparsity = Sparsity::new(10);
    let mut unsettled = 0;
    for seed in 0..8 {
        let (problem, ridge) = hundred(seed);
        let risk = problem.risk();
        let fit = Auto::default().fit(&risk, &sparsity).unwrap();
        let mut plug_in = f64::NEG_INFINITY;
        let best = certify(&risk, &sparsity, &fit, &CertifyOptions::default(), &mut |e| {
            plug_in = plug_in.max(if e.epoch == 0 { e.dual } else { plug_in });
            ControlFlow::Continue(())
        });
        let best = best.unwrap();
        let started = std::time::Instant::now();
        let solution = Exact::default().fit(&risk, &sparsity).unwrap();
        eprintln!(
            "problem {seed}, {}, lambda {ridge}: plug-in gap {:.2e}, best dual gap {:.2e}; {} after {} nodes, {:.2} s",
            problem.loss.name(),
            1.0 - plug_in / fit.value,
            best.relative_gap,
            solution.status,
            solution.iterations,
            started.elapsed().as_secs_f64()
        );
        assert_eq!(solution.status, Status::Optimal);
        assert!(solution.value <= fit.value * (1.0 + 1e-9));
        unsettled += usize::from(!best.certified);
    }
    assert!(unsettled >= 6, "{unsettled}");
}

#[test]
fn hundreds_of_columns() {
    // 300 correlated columns, k = 15: well beyond enumeration (10^25 supports).
    let data = simulate::linear(400, 300, 15, Correlation::Ar1(0.7), 1.0, 4);
    let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap().with_ridge(0.05).unwrap();
    let solution = Exact::default().fit(&risk.with_intercept(), &Sparsity::new(15)).unwrap();
    eprintln!("300 columns, k = 15: {} after {} nodes", solution.status, solution.iterations);
    assert_eq!(solution.status, Status::Optimal);
}

#[test]
fn a_limit_leaves_a_gap_and_says_so() {
    // Few rows, strong correlation, next to no ridge: nobody proves this one soon.
    let data = simulate::linear(40, 120, 10, Correlation::Ar1(0.95), 2.0, 2);
    let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap().with_ridge(1e-3).unwrap();
    let sparsity = Sparsity::new(10);
    let limits = Limits { max_iterations: 101, ..Exact::default().limits };
    let solution = Exact { limits: limits.clone() }.fit(&risk, &sparsity).unwrap();
    assert_eq!(solution.status, Status::MaxIterations);
    let bound = solution.lower_bound().unwrap();
    assert!(bound.is_finite() && bound < solution.value * (1.0 - 1e-6), "{bound} for {}", solution.value);
    assert!(solution.value <= Auto::default().fit(&risk, &sparsity).unwrap().value);
    // The bound never falls, the incumbent never rises.
    let rows = &solution.trace;
    assert!(
        rows.windows(2).all(|w| w[0].dual <= w[1].dual && w[0].value >= w[1].value && w[0].iteration < w[1].iteration)
    );
    assert!(rows.iter().all(|row| row.dual.unwrap() <= row.value));

    let limits = Limits { time_limit: Some(Duration::ZERO), ..Exact::default().limits };
    assert_eq!(Exact { limits: limits.clone() }.fit(&risk, &sparsity).unwrap().status, Status::TimeLimit);
    let stopped = Exact::default().solve(&risk, &sparsity, None, &mut |_| ControlFlow::Break(())).unwrap();
    assert_eq!(stopped.status, Status::Stopped);
    // Stopped in the tree: the watcher sees the bound.
    let mut bounds = 0;
    let watch = &mut |progress: &ksparse::Progress| {
        bounds += usize::from(progress.dual.is_some());
        if bounds < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let stopped = Exact::default().solve(&risk, &sparsity, None, watch).unwrap();
    assert_eq!((stopped.status, bounds), (Status::Stopped, 5));
}

#[test]
fn a_long_relaxation_can_be_interrupted() {
    // In the root no node has been counted yet. On a machine of any speed it asks at its first step.
    let data = simulate::text(&Text { n: 2000, p: 5000, mean_tokens: 60.0 }, 5);
    let risk = Risk::new(&data.design, &data.target, Logistic::default()).unwrap().with_ridge(1e-5).unwrap();
    let mut inside = 0;
    let watch = &mut |p: &ksparse::Progress| {
        inside += usize::from(p.iteration == 0);
        if inside > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let limits = Limits { max_iterations: 3, ..Exact::default().limits };
    let solution = Exact { limits: limits.clone() }.solve(&risk, &Sparsity::new(40), None, watch).unwrap();
    assert_eq!((solution.status, inside), (Status::Stopped, 1));
    let bound = solution.lower_bound().unwrap();
    assert!(bound.is_finite() && bound <= solution.value);
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    for seed in 0..4 {
        let (problem, _) = hundred(seed);
        let risk = problem.risk();
        let run = |threads: usize| {
            let mut solution =
                Threads::new(threads).unwrap().run(|| Exact::default().fit(&risk, &Sparsity::new(8))).unwrap();
            solution.trace.iter_mut().for_each(|row| row.seconds = 0.0);
            solution
        };
        let one = run(1);
        assert_eq!(run(2), one, "problem {seed}");
        assert_eq!(run(8), one, "problem {seed}");
    }
}

#[test]
fn what_it_cannot_take_is_an_error() {
    let custom = Custom::new(3, |_, gradient| {
        gradient.fill(0.0);
        0.0
    });
    let error = Exact::default().fit(&custom, &Sparsity::new(1)).unwrap_err();
    assert!(matches!(error, Error::Unsupported { solver: "exact", .. }), "{error}");
    let few = simulate::linear(8, 10, 2, Correlation::Independent, 0.1, 1);
    let risk = Risk::new(&few.design, &few.target, Squared::default()).unwrap();
    let error = Exact::default().fit(&risk, &Sparsity::new(2)).unwrap_err();
    assert!(matches!(error, Error::InvalidOption { option: "lambda", .. }), "{error}");
    let data = simulate::linear(30, 10, 2, Correlation::Independent, 0.1, 1);
    let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap().with_ridge(0.1).unwrap();
    // Budgets at both ends.
    for k in [0, 10, 99] {
        let solution = Exact::default().fit(&risk, &Sparsity::new(k)).unwrap();
        assert_eq!((solution.status, solution.support.len()), (Status::Optimal, k.min(10)));
    }
    let limits = Limits { tolerance: f64::NAN, ..Limits::default() };
    assert!(Exact { limits: limits.clone() }.fit(&risk, &Sparsity::new(2)).is_err());
}

/// Where X'X has full rank, least squares need no ridge to be proven; where it has not, lambda is asked for.
#[test]
fn least_squares_of_full_rank_need_no_ridge() {
    for (seed, intercept) in [(1, false), (2, true), (3, true)] {
        let rng = &mut rng(seed);
        let x = Table::gaussian(rng, 60, 10, 0.6);
        let y: Vec<f64> = (0..60).map(|i| x.at(i, 1) - x.at(i, 4) + 0.7 * x.at(i, 8) + normal(rng)).collect();
        let design = x.dense();
        let risk = Risk::new(&design, &y[..], Squared::default()).unwrap();
        let risk = if intercept { risk.with_intercept() } else { risk };
        let exact = Exact::default().fit(&risk, &Sparsity::new(3)).unwrap();
        assert_eq!(exact.status, Status::Optimal);
        let mut least = f64::INFINITY;
        for a in 0..10 {
            for b in 0..a {
                for c in 0..b {
                    let three = Sparsity::new(0).keep([c, b, a]);
                    least = least.min(Auto::default().fit(&risk, &three).unwrap().value);
                }
            }
        }
        assert!((exact.value - least).abs() <= 1e-9 * least, "{} against {least}", exact.value);
        assert!(exact.lower_bound().unwrap() <= least);
        let wide = x.rows(&[0, 1, 2, 3, 4, 5, 6]).dense();
        let wide = Risk::new(&wide, &y[..7], Squared::default()).unwrap();
        let error = Exact::default().fit(&wide, &Sparsity::new(2)).unwrap_err().to_string();
        assert!(error.contains("full rank"), "{error}");
    }
}
