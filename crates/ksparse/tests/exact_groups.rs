//! Branch and bound where k counts groups, against every choice of groups.

use crate::common::{Problem, Table, normal, rng, smooth_losses};
use ksparse::certificate::{CertifyOptions, certify};
use ksparse::loss::{Hinge, Squared};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::solver::Exact;
use ksparse::sparsity::Partition;
use ksparse::{Auto, Objective, Risk, Solver, Sparsity, Status, Threads};
use rand::Rng;
use rayon::prelude::*;
use std::ops::ControlFlow;

/// A problem with up to 15 columns in groups of one to four, how many groups may enter, and what is forced in.
struct Drawn {
    problem: Problem,
    groups: Vec<Vec<usize>>,
    k: usize,
    keep: Vec<usize>,
}

fn draw(seed: u64) -> Drawn {
    let rng = &mut rng(47_000 + seed);
    let p: usize = rng.random_range(6..=15);
    let n = rng.random_range(p..=4 * p);
    let mut losses = smooth_losses();
    losses.push(Box::new(Hinge));
    let loss = losses.swap_remove(seed as usize % 5);
    let x = Table::gaussian(rng, n, p, if (seed / 5).is_multiple_of(2) { 0.0 } else { 0.8 });
    let mut problem = Problem::new(x, loss, 4, 2.0, rng).ridge(10f64.powf(rng.random_range(-3.0..0.0)));
    problem.intercept = seed.is_multiple_of(3);
    if seed.is_multiple_of(4) {
        problem.weights = Some((0..n).map(|_| f64::from(rng.random_range(0..4u8)) + 0.25).collect());
    }
    // Members of a group need not be neighbours.
    let (mut left, mut groups) = (crate::common::shuffled(rng, p), Vec::new());
    while !left.is_empty() {
        let size = rng.random_range(1..=4usize).min(left.len());
        groups.push(left.split_off(left.len() - size));
    }
    let k = rng.random_range(1..=groups.len().div_ceil(2));
    // Out of its group, where it has one.
    let keep = if seed.is_multiple_of(7) { vec![p / 2] } else { Vec::new() };
    Drawn { problem, groups, k, keep }
}

/// The least f over every choice of k groups; for the hinge that of its rounded form, at most half the width lower.
fn brute_force(drawn: &Drawn) -> f64 {
    let Drawn { problem, groups, k, keep } = drawn;
    let rounded = problem.rounded();
    let risk = rounded.as_ref().unwrap_or(problem).risk();
    let value = |set: u32| {
        let chosen = (0..groups.len()).filter(|g| set >> g & 1 == 1).flat_map(|g| groups[g].iter().copied());
        let mut support: Vec<usize> = chosen.chain(keep.iter().copied()).chain(risk.free().to_vec()).collect();
        support.sort_unstable();
        support.dedup();
        let mut x = vec![0.0; support.len()];
        minimise(&mut *risk.restrict(&support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap().value
    };
    let sets = (0u32..1 << groups.len()).filter(|set| set.count_ones() as usize <= *k);
    sets.map(value).fold(f64::INFINITY, f64::min)
}

#[test]
fn equals_the_best_choice_of_groups() {
    let nodes: Vec<usize> = (0..120u64)
        .into_par_iter()
        .map(|seed| {
            let drawn = draw(seed);
            let (problem, risk) = (&drawn.problem, drawn.problem.risk());
            let what = format!("problem {seed}, {}, lambda {:.1e}, k {}", problem.loss.name(), problem.ridge, drawn.k);
            let least = brute_force(&drawn);
            let partition = Partition::new(drawn.groups.clone()).unwrap();
            let sparsity = Sparsity::new(drawn.k).keep(drawn.keep.iter().copied()).in_groups(partition);
            let solution = Exact::default().fit(&risk, &sparsity).unwrap();
            problem.check(&what, &solution, problem.x.p, &[]);
            let counted = |group: &&Vec<usize>| {
                let inside = |j: &usize| solution.support.contains(j) && !drawn.keep.contains(j);
                let whole = group.iter().all(|j| inside(j) || drawn.keep.contains(j));
                assert!(whole || !group.iter().any(inside), "{what}: {group:?} is torn: {:?}", solution.support);
                group.iter().any(inside)
            };
            assert!(drawn.groups.iter().filter(counted).count() <= drawn.k, "{what}: {:?}", solution.support);
            assert_eq!(solution.status, Status::Optimal, "{what}: {} nodes", solution.iterations);
            let slack = if problem.loss.smoothness().has_corners() { 2e-6 } else { 1e-9 };
            assert!(solution.value <= least * (1.0 + 1.1e-6) + slack, "{what}: {} for {least}", solution.value);
            // Every bound on the way, and the last.
            for bound in solution.trace.iter().filter_map(|row| row.dual) {
                assert!(bound <= least + slack && bound <= solution.value, "{what}: bound {bound} for {least}");
            }
            let bound = solution.lower_bound().unwrap();
            assert!(solution.value - bound <= 2e-6 * solution.value, "{what}: {bound} for {}", solution.value);
            solution.iterations
        })
        .collect();
    eprintln!("nodes: {} in all, at most {}", nodes.iter().sum::<usize>(), nodes.iter().max().unwrap());
    assert!(nodes.iter().any(|&nodes| nodes > 1), "no tree was grown");
}

/// A bound by `certify` is that of the root: below every choice, and closed by the tree.
#[test]
fn certificates_of_groups_are_valid_and_trees_close_them() {
    let mut open = 0;
    for seed in 0..60 {
        let drawn = draw(seed);
        let risk = drawn.problem.risk();
        let sparsity = Sparsity::new(drawn.k).keep(drawn.keep.iter().copied());
        let sparsity = sparsity.in_groups(Partition::new(drawn.groups.clone()).unwrap());
        let fit = Exact::default().fit(&risk, &sparsity).unwrap();
        let found = certify(&risk, &sparsity, &fit, &CertifyOptions::default(), &mut |_| ControlFlow::Continue(()));
        let (found, least) = (found.unwrap(), brute_force(&drawn));
        assert!(found.lower_bound <= least + 1e-9 * least, "problem {seed}: {} for {least}", found.lower_bound);
        assert!(found.lower_bound <= found.relaxation + 1e-9 * least, "problem {seed}");
        open += usize::from(!found.certified);
    }
    assert!(open > 0, "no certificate left anything to the tree");
}

#[test]
fn groups_of_one_and_threads_change_no_bit() {
    for seed in 0..10 {
        let drawn = draw(seed);
        let (risk, p) = (drawn.problem.risk(), drawn.problem.x.p);
        let fit = |sparsity: &Sparsity| {
            let mut solution = Exact::default().fit(&risk, sparsity).unwrap();
            solution.trace.iter_mut().for_each(|row| row.seconds = 0.0);
            solution
        };
        let plain = Sparsity::new(drawn.k).keep(drawn.keep.iter().copied());
        let alone = plain.clone().in_groups(Partition::new((0..p).map(|j| vec![j])).unwrap());
        assert_eq!(fit(&plain), fit(&alone), "problem {seed}");
        let grouped = plain.in_groups(Partition::new(drawn.groups.clone()).unwrap());
        let one = Threads::new(1).unwrap().run(|| fit(&grouped));
        assert_eq!(Threads::new(8).unwrap().run(|| fit(&grouped)), one, "problem {seed}");
    }
}

/// Least squares without a ridge, and many groups.
#[test]
fn thirty_groups_and_no_ridge() {
    let rng = &mut rng(7);
    let x = Table::gaussian(rng, 300, 90, 0.4);
    let y: Vec<f64> = (0..300)
        .map(|i| (0..90).step_by(18).map(|j| x.at(i, j) - 0.6 * x.at(i, j + 1)).sum::<f64>() + normal(rng))
        .collect();
    let design = x.dense();
    let groups = Partition::of_labels(&(0..90).map(|j| j / 3).collect::<Vec<_>>());
    for lambda in [0.0, 0.05] {
        let risk = Risk::new(&design, &y, Squared::default()).unwrap().with_ridge(lambda).unwrap().with_intercept();
        let sparsity = Sparsity::new(5).in_groups(groups.clone());
        let solution = Exact::default().fit(&risk, &sparsity).unwrap();
        eprintln!("30 groups, k = 5, lambda {lambda}: {} after {} nodes", solution.status, solution.iterations);
        assert_eq!(solution.status, Status::Optimal);
        assert!(solution.value <= Auto::default().fit(&risk, &sparsity).unwrap().value * (1.0 + 1e-9));
    }
}
