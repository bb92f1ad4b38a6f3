//! Paths and choices of k under a given sum, against all supports by hand.

use crate::common::{Table, normal, rng};
use crate::totals::{P, by_elimination, data, supports};
use ksparse::loss::{Logistic, Squared};
use ksparse::objective::{Bounds, Total, Totalled};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::select::{Choose, CrossValidation, CvProgress, Folds, Problem, Refits, Rule};
use ksparse::sparsity::Partition;
use ksparse::{Auto, Grid, LinearModel, Objective, Path, Risk, SparseRef, Sparsity, Threads};
use std::ops::ControlFlow;

fn sum(coefficients: &[f64]) -> f64 {
    coefficients.iter().sum()
}

fn classes(y: &[f64]) -> Vec<f64> {
    y.iter().map(|y| if *y > 0.0 { 1.0 } else { -1.0 }).collect()
}

#[test]
fn every_k_of_a_path_is_the_best_of_all_supports() {
    let (mut cases, mut best_found) = (0, 0);
    for seed in 0..8 {
        let (x, y) = data(seed);
        let design = x.dense();
        for (ridge, wanted, long) in [
            (0.0, 1.0, false),
            (0.1, 1.0, false),
            (0.05, -2.0, false),
            (0.0, 0.0, false),
            (0.0, 1.0, true),
            (0.1, 1.0, true),
        ] {
            let risk = Risk::new(&design, &y, Squared::default()).unwrap().with_ridge(ridge).unwrap();
            let bounds = long.then(|| Bounds::nonnegative(P));
            let total = Total::new(vec![1.0; P], wanted).unwrap();
            let totalled = Totalled::new(&risk, &total, bounds.as_ref()).unwrap();
            let path = Path::over(1..=6).fit(&totalled, &Auto::default()).unwrap();
            assert!(path.solutions.windows(2).all(|pair| pair[1].value <= pair[0].value), "seed {seed}");
            for (k, found) in path.iter() {
                let what = format!("seed {seed}, ridge {ridge}, sum {wanted}, long {long}, k {k}");
                let value = |s: Vec<usize>| {
                    let (value, w) = by_elimination(&x, &y, &s, wanted, ridge);
                    if long && w.iter().any(|w| *w < 0.0) { f64::INFINITY } else { value }
                };
                let best = supports(k).map(value).fold(f64::INFINITY, f64::min);
                assert!((sum(&found.coefficients) - wanted).abs() < 1e-9, "{what}: {:?}", found.coefficients);
                assert!(!long || found.coefficients.iter().all(|w| *w >= 0.0), "{what}");
                assert!(found.support.len() <= k && found.value >= best - 1e-9, "{what}: {} {best}", found.value);
                // f is that of the risk, no penalty left in it.
                assert!((risk.value(found.as_sparse()) - found.value).abs() < 1e-9, "{what}");
                (cases, best_found) = (cases + 1, best_found + usize::from(found.value < best + 1e-8));
                if found.value >= best + 1e-8 {
                    eprintln!("{what}: {} for {best}", found.value);
                }
            }
        }
    }
    eprintln!("the best of all supports in {best_found} of {cases}");
    assert!(100 * best_found >= 99 * cases, "{best_found} of {cases}");
}

/// Against the least f on every support, itself found by multipliers and known by the slopes of its members.
#[test]
fn other_losses_groups_and_kept_columns_have_paths_too() {
    let groups = vec![vec![0, 5], vec![1, 2, 3], vec![4], vec![6], vec![7]];
    for seed in 0..4 {
        let (x, y) = data(seed);
        let (design, labels) = (x.dense(), classes(&y));
        let risk = Risk::new(&design, &labels, Logistic::default()).unwrap().with_ridge(0.02).unwrap().with_intercept();
        let weights: Vec<f64> = (0..P).map(|j| 1.0 + 0.2 * j as f64).collect();
        let totalled = Totalled::new(&risk, &Total::new(weights.clone(), 1.5).unwrap(), None).unwrap();
        let value = |mut support: Vec<usize>| {
            support.push(P);
            let mut w = vec![0.0; support.len()];
            let least = minimise(&mut *totalled.restrict(&support).unwrap(), &mut w, &InnerOptions::EXACT).unwrap();
            let point = risk.at(SparseRef::new(&support, &w)).unwrap();
            let slopes: Vec<f64> = support.iter().map(|&j| point.gradient().unwrap()[j]).collect();
            let mu = slopes[0] / weights[support[0]];
            for (&j, slope) in support.iter().zip(&slopes) {
                let expected = weights.get(j).map_or(0.0, |a| mu * a);
                assert!((slope - expected).abs() < 1e-7, "seed {seed}, {support:?}: {slope} {expected}");
            }
            assert!((least.value - point.value()).abs() < 1e-9);
            least.value
        };
        let path = Path::over(1..=4).fit(&totalled, &Auto::default()).unwrap();
        for (k, found) in path.iter() {
            let best = supports(k).map(value).fold(f64::INFINITY, f64::min);
            assert!((found.value - best).abs() < 1e-7, "seed {seed}, k {k}: {} {best}", found.value);
        }
        let sparsity = Sparsity::new(2).in_groups(Partition::new(groups.clone()).unwrap());
        let grouped = Path { groups: sparsity.groups.clone(), ..Path::over([1, 2, 3]).keep([7]) };
        let found = grouped.fit(&totalled, &Auto::default()).unwrap();
        for (k, found) in found.iter() {
            let chosen = |set: usize| (0..4usize).filter(move |g| set >> g & 1 == 1).flat_map(|g| groups[g].clone());
            let sets = (0..16usize).filter(|set| set.count_ones() as usize <= k);
            let support = |set: usize| {
                let mut support: Vec<usize> = chosen(set).chain([7]).collect();
                support.sort_unstable();
                support
            };
            let best = sets.map(|set| value(support(set))).fold(f64::INFINITY, f64::min);
            assert!((found.value - best).abs() < 1e-6 * best, "seed {seed}, {k} groups: {} {best}", found.value);
        }
    }
}

#[test]
fn too_few_columns_are_refused_and_left_out() {
    let (x, y) = data(3);
    let design = x.dense();
    let risk = Risk::new(&design, &y, Squared::default()).unwrap();
    let total = Total::new(vec![1.0; P], 1.0).unwrap();
    let plain = Totalled::new(&risk, &total, None).unwrap();
    let said = Path::over(0..=3).fit(&plain, &Auto::default()).unwrap_err().to_string();
    assert!(said.contains("begin with k = 1"), "{said}");
    let narrow = Bounds::new(vec![0.0; P], vec![0.3; P]).unwrap();
    let boxed = Totalled::new(&risk, &total, Some(&narrow)).unwrap();
    assert_eq!(boxed.least_k(&Sparsity::new(0)).unwrap(), 4);
    assert_eq!(boxed.least_k(&Sparsity::new(0).keep([2])).unwrap(), 3);
    let pairs = Partition::of_labels(&[0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(boxed.least_k(&Sparsity::new(0).in_groups(pairs)).unwrap(), 2);
    let path = Path::over(4..=6).fit(&boxed, &Auto::default()).unwrap();
    assert!(path.solutions.iter().all(|found| (sum(&found.coefficients) - 1.0).abs() < 1e-9));
    assert!(path.solutions.iter().all(|found| found.coefficients.iter().all(|w| (0.0..=0.3).contains(w))));
    let tiny = Bounds::new(vec![0.0; P], vec![0.1; P]).unwrap();
    let said = Totalled::new(&risk, &total, Some(&tiny)).unwrap().least_k(&Sparsity::new(0)).unwrap_err().to_string();
    assert!(said.contains("0.8") && said.contains("widen the bounds"), "{said}");
    // What adds up to nothing may be nothing.
    let none = Totalled::new(&risk, &Total::new(vec![1.0; P], 0.0).unwrap(), None).unwrap();
    let path = Path::over(0..=3).fit(&none, &Auto::default()).unwrap();
    assert!(path.at(0).unwrap().support.is_empty() && path.at(3).unwrap().value < path.at(0).unwrap().value);
    let folds = Folds::seeded(40, 4, 0).unwrap();
    let loss = Squared::default();
    let problem = Problem { total: Some(1.0), bounds: Some(&narrow), ..Problem::new(&design, &y, &loss) };
    let given = Choose { ks: Some(vec![0, 2, 5]), ..Choose::default() };
    let said = given.fit(&problem, &folds, &Auto::default()).unwrap_err().to_string();
    assert!(said.contains("begin with k = 4"), "{said}");
    let chosen = Choose::default().fit(&problem, &folds, &Auto::default()).unwrap();
    assert!(chosen.k >= 4 && chosen.table.cells().iter().all(|cell| cell.k >= 4));
}

/// Every model of a choice adds up: those that are scored, the one that is chosen, its path, the halves.
#[test]
fn every_model_of_a_choice_adds_up() {
    let rng = &mut rng(77);
    let x = Table::gaussian(rng, 120, 30, 0.3).map(|_, j, v| v * (1.0 + 0.1 * j as f64));
    let y: Vec<f64> =
        (0..120).map(|i| 0.6 * x.at(i, 2) + 0.5 * x.at(i, 11) - 0.3 * x.at(i, 20) + 0.3 * normal(rng) + 1.0).collect();
    let (design, labels) = (x.dense(), classes(&y));
    let (squared, logistic) = (Squared::default(), Logistic::default());
    let nonnegative = Bounds::nonnegative(30);
    let groups = Partition::of_labels(&(0..30).map(|j| j / 3).collect::<Vec<_>>());
    let folds = Folds::seeded(120, 4, 1).unwrap();
    let problem = Problem { total: Some(0.8), ..Problem::new(&design, &y, &squared) };
    for problem in [
        problem,
        Problem { standardize: true, ..problem },
        Problem { bounds: Some(&nonnegative), standardize: true, ..problem },
        Problem { groups: Some(&groups), ..problem },
        Problem { loss: &logistic, target: &labels, ..problem },
    ] {
        let what = format!("{}, {} {:?}", problem.loss.name(), problem.standardize, problem.bounds.is_some());
        let own = |_: usize, models: &[LinearModel]| {
            let added = sum(&models[0].coefficients);
            assert!(models[0].support.is_empty() || (added - 0.8).abs() < 1e-4, "{what}: {added}");
            Ok(models[0].coefficients.len() as f64)
        };
        let go_on = &mut |_: &CvProgress| ControlFlow::Continue(());
        let scored = Choose { rule: Rule::Best, resamples: 2, ..Choose::default() };
        scored.solve(&[problem], &folds.splits(), Some(&own), &Auto::default(), go_on).unwrap();
        let chosen = scored.fit(&problem, &folds, &Auto::default()).unwrap();
        let predictor = &chosen.predictors[0];
        let training = problem.on_all_rows().unwrap();
        assert!(chosen.k > 0 && (sum(&chosen.model().coefficients) - 0.8).abs() < 1e-9, "{what}: {:?}", chosen.model());
        assert!((sum(&predictor.resampled.as_ref().unwrap().averages[0].coefficients) - 0.8).abs() < 1e-9, "{what}");
        for (k, solution) in &predictor.path {
            assert!((sum(&training.model(solution).coefficients) - 0.8).abs() < 1e-4, "{what}: k {k}");
        }
        assert!(predictor.path.windows(2).all(|pair| pair[1].1.value <= pair[0].1.value), "{what}");
        // No worse than a single fit of that size, by more than a trifle.
        let direct = training.solve(
            chosen.lambda,
            &Auto::default(),
            &problem.sparsity(chosen.k, &[]),
            None,
            &mut |_: &ksparse::Progress| ControlFlow::Continue(()),
        );
        let (found, direct) = (predictor.selected.value, direct.unwrap().value);
        eprintln!("{what}: k {}, f {found}, a single fit {direct}", chosen.k);
        assert!(found <= direct * (1.0 + 1e-4), "{what}: {found} {direct}");
        for threads in [1, 3] {
            let again = Threads::new(threads).unwrap().run(|| scored.fit(&problem, &folds, &Auto::default())).unwrap();
            assert!(again.table == chosen.table && again.model() == chosen.model(), "{what}: {threads} threads");
        }
    }
    // Given cells by the solver and by paths; too small a k is none of them.
    let given = Choose {
        ks: Some(vec![1, 2, 3]),
        lambdas: Some(vec![0.1]),
        refits: Refits::Same,
        thorough: true,
        ..Choose::default()
    };
    let thorough = given.fit(&problem, &folds, &Auto::default()).unwrap();
    let by_paths = CrossValidation::over(Grid::over(1..=3, [0.1])).fit(&problem, &folds, &Auto::default()).unwrap();
    assert!((sum(&by_paths.model.coefficients) - 0.8).abs() < 1e-9);
    for (cell, other) in thorough.table.cells().iter().zip(by_paths.table.cells()) {
        assert!(cell.k == other.k && (cell.mean - other.mean).abs() < 1e-2 * cell.mean, "{cell:?} {other:?}");
    }
}
