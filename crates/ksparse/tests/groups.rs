//! k counts groups of coordinates: against brute force, groups of one against none, orders that must not matter.

use crate::common::{Problem, Table, rng};
use ksparse::loss::{FAMILIES, Logistic, Loss};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::simulate::{self, Correlation};
use ksparse::solver::{self, METHODS, Needs};
use ksparse::sparsity::Partition;
use ksparse::{Auto, Error, Objective, Path, Risk, Solution, Solver, Sparsity, Threads};
use rand::Rng;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use std::sync::Arc;

/// Those that know groups.
const GROUPED: [&str; 12] =
    ["auto", "exact", "grahtp", "fgrahtp", "htp", "iht", "grasp", "fbs", "foba", "svrght", "diht", "sdiht"];

fn loss(name: &str) -> Box<dyn Loss> {
    FAMILIES.iter().find(|family| family.name == name).unwrap().build(None).unwrap()
}

fn fit(name: &str, risk: &Risk, sparsity: &Sparsity) -> Solution {
    solver::by_name(name).unwrap().fit(risk, sparsity).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The least f over all choices of k groups.
fn brute_force(risk: &Risk, groups: &[Vec<usize>], k: usize) -> f64 {
    let mut best = f64::INFINITY;
    for set in 0u32..1 << groups.len() {
        if set.count_ones() as usize > k {
            continue;
        }
        let chosen = (0..groups.len()).filter(|g| set >> g & 1 == 1);
        let mut support: Vec<usize> = chosen.flat_map(|g| groups[g].clone()).chain(risk.free().to_vec()).collect();
        support.sort_unstable();
        let mut x = vec![0.0; support.len()];
        let outcome = minimise(&mut *risk.restrict(&support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap();
        best = best.min(outcome.value);
    }
    best
}

/// Whole groups, no more than k of them, and the value it claims.
fn check(risk: &Risk, groups: &[Vec<usize>], k: usize, found: &Solution, what: &str) {
    let inside = |j: &usize| found.support.contains(j);
    let taken = groups.iter().filter(|group| group.iter().any(inside)).collect::<Vec<_>>();
    assert!(taken.len() <= k, "{what}: {} groups", taken.len());
    assert!(taken.iter().all(|group| group.iter().all(inside)), "{what}: a group is torn: {:?}", found.support);
    let value = risk.value(found.as_sparse());
    assert!((value - found.value).abs() <= 1e-9 * value.abs().max(1e-6), "{what}: {value} against {}", found.value);
}

#[test]
fn against_every_choice_of_groups() {
    let rng = &mut rng(91);
    let groups = [vec![0, 3], vec![1], vec![2, 7, 8], vec![4, 11], vec![5, 6], vec![9], vec![10]];
    let partition = Partition::new(groups.to_vec()).unwrap();
    let (mut cases, mut optimal) = (0, 0);
    for name in ["squared", "logistic"] {
        for round in 0..6 {
            let correlation = [0.0, 0.5, 0.9][round % 3];
            let problem = Problem::new(Table::gaussian(rng, 40, 12, correlation), loss(name), 5, 1.5, rng);
            let problem = if round % 2 == 0 { problem.ridge(0.02) } else { problem.ridge(0.02).intercept() };
            let risk = problem.risk();
            for k in [1, 2, 4] {
                let best = brute_force(&risk, &groups, k);
                let sparsity = Sparsity::new(k).in_groups(partition.clone());
                for solver in GROUPED {
                    let found = fit(solver, &risk, &sparsity);
                    let what = format!("{solver} on {name}, round {round}, k {k}");
                    check(&risk, &groups, k, &found, &what);
                    assert!(found.value >= best - 1e-7 * best.abs(), "{what}: {} below {best}", found.value);
                    if let Some(bound) = found.lower_bound() {
                        assert!(bound <= best * (1.0 + 1e-9), "{what}: bound {bound} above the best, {best}");
                    }
                    if solver == "auto" {
                        (cases, optimal) = (cases + 1, optimal + usize::from(found.value <= best * (1.0 + 1e-7)));
                    }
                }
            }
        }
    }
    assert!(optimal + 1 >= cases, "auto found the best choice in {optimal} of {cases}");
}

/// Groups of 1 to 4 columns of few rows, hard enough that a search from one start misses one in ten.
#[test]
fn the_search_of_groups_ends_at_the_best_choice() {
    let missed: Vec<String> = (0..150u64)
        .into_par_iter()
        .filter_map(|seed| {
            let rng = &mut rng(9_500 + seed);
            let mut next = 0;
            let groups: Vec<Vec<usize>> = (0..rng.random_range(6..=10))
                .map(|_| {
                    let first = next;
                    next += rng.random_range(1..=4);
                    (first..next).collect()
                })
                .collect();
            let name = ["squared", "logistic", "squared-hinge"][seed as usize % 3];
            let rows = rng.random_range(20..=40);
            let table = Table::gaussian(rng, rows, next, [0.0, 0.5, 0.9][seed as usize / 3 % 3]);
            let problem = Problem::new(table, loss(name), 4, 2.0, rng).ridge(0.01);
            let problem = if seed % 2 == 0 { problem.intercept() } else { problem };
            let (risk, k) = (problem.risk(), 1 + seed as usize % 4);
            let sparsity = Sparsity::new(k).in_groups(Partition::new(groups.clone()).unwrap());
            let (best, found) = (brute_force(&risk, &groups, k), fit("auto", &risk, &sparsity));
            check(&risk, &groups, k, &found, name);
            (found.value > best + 1e-7 * best.abs()).then(|| format!("{seed}: {} above {best}", found.value))
        })
        .collect();
    assert!(missed.is_empty(), "{} of 150: {missed:?}", missed.len());
}

#[test]
fn groups_of_one_are_no_groups_bit_for_bit() {
    let rng = &mut rng(92);
    let alone = Partition::new((0..20).map(|j| vec![j])).unwrap();
    for name in ["squared", "logistic"] {
        let problem = Problem::new(Table::gaussian(rng, 50, 20, 0.6), loss(name), 4, 1.0, rng).ridge(0.05).intercept();
        let risk = problem.risk();
        for method in METHODS {
            let plain = fit(method.name, &risk, &Sparsity::new(4).keep([3]));
            let single = fit(method.name, &risk, &Sparsity::new(4).keep([3]).in_groups(alone.clone()));
            assert_eq!(plain.support, single.support, "{}", method.name);
            assert_eq!(plain.coefficients, single.coefficients, "{}", method.name);
            assert_eq!(plain.value.to_bits(), single.value.to_bits(), "{}", method.name);
        }
    }
}

#[test]
fn the_order_of_groups_and_members_does_not_matter() {
    let rng = &mut rng(93);
    let mut groups: Vec<Vec<usize>> = (0..6).map(|g| (3 * g..3 * g + 3).collect()).collect();
    let problem = Problem::new(Table::gaussian(rng, 60, 18, 0.5), loss("logistic"), 6, 1.0, rng).ridge(0.05);
    let risk = problem.risk();
    for name in GROUPED {
        let first = fit(name, &risk, &Sparsity::new(2).in_groups(Partition::new(groups.clone()).unwrap()));
        for _ in 0..3 {
            groups.shuffle(rng);
            groups.iter_mut().for_each(|group| group.shuffle(rng));
            let again = fit(name, &risk, &Sparsity::new(2).in_groups(Partition::new(groups.clone()).unwrap()));
            assert_eq!(
                (again.support, again.value.to_bits()),
                (first.support.clone(), first.value.to_bits()),
                "{name}"
            );
        }
    }
}

#[test]
fn a_kept_coordinate_belongs_to_no_group() {
    let rng = &mut rng(94);
    let problem = Problem::new(Table::gaussian(rng, 60, 9, 0.3), loss("squared"), 4, 1.0, rng);
    let risk = problem.risk();
    let groups = Partition::of_labels(&[0, 0, 0, 1, 1, 1, 2, 2, 2]);
    for name in ["auto", "grahtp", "fbs", "foba", "grasp", "svrght"] {
        let found = fit(name, &risk, &Sparsity::new(1).keep([4]).in_groups(groups.clone()));
        let rest: Vec<usize> = found.support.iter().copied().filter(|&j| j != 4).collect();
        let whole = [vec![0, 1, 2], vec![3, 5], vec![6, 7, 8]];
        assert!(found.support.contains(&4) && whole.contains(&rest), "{name}: {:?}", found.support);
    }
}

#[test]
fn paths_count_groups_too() {
    let rng = &mut rng(95);
    let problem = Problem::new(Table::gaussian(rng, 60, 12, 0.5), loss("squared"), 4, 1.0, rng);
    let risk = problem.risk();
    let groups: Vec<Vec<usize>> = (0..4).map(|g| (3 * g..3 * g + 3).collect()).collect();
    let partition = Partition::new(groups.clone()).unwrap();
    let path = Path { groups: Some(partition.into()), ..Path::over(0..=4) };
    let found = path.fit(&risk, &*solver::by_name("auto").unwrap()).unwrap();
    assert!(found.solutions.windows(2).all(|pair| pair[1].value <= pair[0].value));
    for (k, solution) in found.iter() {
        check(&risk, &groups, k, solution, "path");
        assert_eq!(solution.support.len(), 3 * k);
        let best = brute_force(&risk, &groups, k);
        assert!(solution.value <= best * (1.0 + 1e-9), "k {k}: {} against {best}", solution.value);
    }
}

/// Groups of several sizes, a kept column: one computation, whatever the number of threads.
#[test]
fn a_fit_of_groups_is_the_path_at_its_k() {
    let data = simulate::logistic(60, 90, 6, Correlation::Ar1(0.6), 4);
    let risk = Risk::new(&data.design, &data.target, Logistic::default()).unwrap().with_ridge(0.01).unwrap();
    let risk = risk.with_intercept();
    let groups: Arc<Partition> = Partition::of_labels(&(0..90).map(|j| j * j / 200).collect::<Vec<usize>>()).into();
    let path = Path { groups: Some(groups.clone()), keep: vec![7], ..Path::over(0..=6) };
    let all = path.fit(&risk, &Auto::default()).unwrap();
    assert!(all.solutions.windows(2).all(|pair| pair[1].value <= pair[0].value));
    for threads in [1, 2] {
        let sparsity = Sparsity::new(4).keep([7]).in_groups(groups.clone());
        let fit = || Auto::default().fit(&risk, &sparsity).unwrap();
        let (alone, there) = (Threads::new(threads).unwrap().run(fit), all.at(4).unwrap());
        assert_eq!((&alone.support, &alone.coefficients), (&there.support, &there.coefficients), "{threads}");
        assert_eq!(alone.value.to_bits(), there.value.to_bits());
    }
}

#[test]
fn who_cannot_says_so_by_name() {
    let rng = &mut rng(96);
    let problem = Problem::new(Table::gaussian(rng, 40, 6, 0.3), loss("squared"), 2, 1.0, rng).ridge(0.1);
    let risk = problem.risk();
    let sparsity = Sparsity::new(1).in_groups(Partition::of_labels(&[0, 0, 1, 1, 2, 2]));
    for method in METHODS.iter().filter(|method| !GROUPED.contains(&method.name)) {
        let refused = solver::by_name(method.name).unwrap().fit(&risk, &sparsity);
        let Err(Error::Unsupported { solver, need }) = refused else { panic!("{}: {refused:?}", method.name) };
        assert!(solver == method.name && need.contains("groups"), "{solver}: {need}");
        assert_ne!(method.needs, Needs::Gradients);
    }
    let outside = Sparsity::new(1).in_groups(Partition::new([vec![0, 6]]).unwrap());
    let found = solver::by_name("auto").unwrap().fit(&risk, &outside);
    assert!(matches!(found, Err(Error::IndexOutOfRange { index: 6, bound: 6, .. })), "{found:?}");
    for (groups, word) in
        [(vec![vec![0, 1], vec![1, 2]], "overlap"), (vec![vec![0, 0]], "twice"), (vec![vec![]], "empty")]
    {
        let message = Partition::new(groups).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    }
}
