//! Certificates against brute force: a bound is never above the optimum, and closes wherever the theory says that it
//! can.

use crate::common::{Problem, Table, close, normal, rng, smooth_losses};
use ksparse::certificate::{Certificate, CertifyOptions, Epoch, certify};
use ksparse::loss::{Hinge, Huber, Logistic, Squared};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::simulate::{self, Correlation, Text};
use ksparse::sparsity::Partition;
use ksparse::{Auto, Cancel, Error, Objective, Risk, Solution, Solver, SparseRef, Sparsity, Threads};
use rand::Rng;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::time::Duration;

const OPTIONS: CertifyOptions =
    CertifyOptions { tolerance: 1e-7, precision: 1e-7, max_epochs: 100, time_limit: None, cancel: Cancel::NEVER };

fn certificate(risk: &Risk, sparsity: &Sparsity, solution: &Solution, options: &CertifyOptions) -> Certificate {
    certify(risk, sparsity, solution, options, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// A small problem, its k and what is forced in; the ridge given.
fn draw(seed: u64, ridge: f64) -> (Problem, usize, Vec<usize>) {
    let rng = &mut rng(4200 + seed);
    let p: usize = rng.random_range(4..=9);
    let n = rng.random_range(8..=40);
    let k = rng.random_range(1..=p - 2);
    let mut losses = smooth_losses();
    losses.push(Box::new(Hinge));
    let loss = losses.swap_remove(seed as usize % 5);
    let x = Table::gaussian(rng, n, p, if (seed / 5).is_multiple_of(2) { 0.0 } else { 0.6 });
    let mut problem = Problem::new(x, loss, k, 3.0, rng).ridge(ridge);
    problem.intercept = seed.is_multiple_of(3);
    let keep = if seed.is_multiple_of(7) { vec![p - 1] } else { Vec::new() };
    (problem, k, keep)
}

/// Whether the condition for a closed gap holds at the optimum of a loss with a corner, with a little to spare. Which
/// subgradient to take the minimum of the loss rounded off by a hair says, searched for from the optimum.
fn clearly_separated(problem: &Problem, optimum: &Solution, k: usize, keep: &[usize]) -> bool {
    let (x, y, weights) = (problem.x.clone(), problem.y.clone(), problem.weights.clone());
    let blunt = Problem { x, y, weights, loss: Box::new(Huber::new(1e-7).unwrap()), ..*problem };
    let risk = blunt.risk();
    let mut at = optimum.coefficients.clone();
    minimise(&mut *risk.restrict(&optimum.support).unwrap(), &mut at, &InnerOptions::EXACT).unwrap();
    let at = SparseRef::new(&optimum.support, &at);
    let mut gradient = vec![0.0; risk.dim()];
    risk.value_and_gradient(at, &mut gradient);
    let is_free = |j: &usize| keep.contains(j) || risk.free().contains(j);
    let counted: Vec<f64> = at.iter().filter(|(j, _)| !is_free(j)).map(|(_, w)| w.abs()).collect();
    let outside = (0..risk.dim()).filter(|j| !optimum.support.contains(j)).map(|j| gradient[j].abs());
    let inside = counted.iter().copied().fold(f64::INFINITY, f64::min);
    counted.len() == k && inside > 1.01 * outside.fold(0.0, f64::max) / risk.ridge()
}

/// The best support by brute force and the fit on it.
fn best(problem: &Problem, k: usize, keep: &[usize]) -> Solution {
    let risk = problem.risk();
    let others: Vec<usize> = (0..problem.x.p).filter(|j| !keep.contains(j)).collect();
    let mut best: Option<Solution> = None;
    for mask in (0u32..1 << others.len()).filter(|m| m.count_ones() as usize == k.min(others.len())) {
        let chosen = (0..others.len()).filter(|b| mask >> b & 1 == 1).map(|b| others[b]);
        let mut support: Vec<usize> = chosen.chain(keep.iter().copied()).chain(risk.free().iter().copied()).collect();
        support.sort_unstable();
        let mut x = vec![0.0; support.len()];
        let value = minimise(&mut *risk.restrict(&support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap().value;
        if best.as_ref().is_none_or(|b| value < b.value) {
            best = Some(Solution { value, ..Solution::guess(support, x) });
        }
    }
    let mut best = best.unwrap();
    best.value = problem.value_of(&best);
    best
}

#[test]
fn the_bound_holds_everywhere_and_closes_where_it_can() {
    let ridges = [10.0, 1.0, 0.3, 0.1, 0.03, 0.01];
    let cases: Vec<(u64, f64)> = (0..60).flat_map(|seed| ridges.map(|ridge| (seed, ridge))).collect();
    let outcomes: Vec<(bool, bool, bool)> = cases
        .into_par_iter()
        .map(|(seed, ridge)| {
            let (problem, k, keep) = draw(seed, ridge);
            let risk = problem.risk();
            let solution = best(&problem, k, &keep);
            let sparsity = Sparsity::new(k).keep(keep.clone());
            let found = certificate(&risk, &sparsity, &solution, &OPTIONS);
            let what = format!("problem {seed}, {}, lambda {ridge}", problem.loss.name());
            // The hinge's optimum is known to a few digits less.
            let slack = if problem.loss.smoothness().has_corners() { 1e-8 } else { 0.0 };
            assert!(
                found.lower_bound <= solution.value + slack,
                "{what}: {} above {}",
                found.lower_bound,
                solution.value
            );
            assert!(found.lower_bound.is_finite() && found.gap >= 0.0, "{what}");
            assert!(close(found.value, solution.value, 1e-10, 0.0), "{what}");
            assert!(close(found.gap, found.value - found.lower_bound, 1e-12, 1e-12), "{what}");
            // The bound is as good as a dual bound can be.
            let distance = found.relaxation - found.lower_bound;
            let precise = if problem.loss.smoothness().has_corners() { 3e-4 } else { 2e-6 };
            assert!(distance <= precise * found.value, "{what}: {distance:e} from the relaxation");
            let smooth = slack == 0.0;
            let condition =
                if smooth { found.conditions.separated() } else { clearly_separated(&problem, &solution, k, &keep) };
            if condition && !smooth {
                assert!(found.gap < 1e-6, "{what}: gap {:e}, {:?}", found.gap, found.conditions);
            }
            if condition && smooth {
                assert!(found.conditions.stationarity < 1e-6 * (1.0 + ridge), "{what}: {:?}", found.conditions);
                assert!(found.gap < 1e-6, "{what}: gap {:e}, {:?}", found.gap, found.conditions);
            }
            if found.certified {
                assert!(found.relative_gap <= 1e-7 && !found.could_improve(0.0), "{what}");
            }
            (condition, found.gap < 1e-6, smooth)
        })
        .collect();
    let hinge = outcomes.iter().filter(|o| o.0 && !o.2).count();
    let (conditions, closed) = (outcomes.iter().filter(|o| o.0).count(), outcomes.iter().filter(|o| o.1).count());
    eprintln!(
        "{} problems: the condition holds on {conditions} ({hinge} of them hinge), the gap closes on {closed}",
        outcomes.len()
    );
    // All cases must be well represented for this to say anything.
    assert!(conditions >= 60 && hinge >= 10 && outcomes.len() - closed >= 30, "{conditions} {closed}");
}

#[test]
fn a_wrong_fit_is_never_certified() {
    for seed in 0..60 {
        let (problem, k, keep) = draw(seed, 0.5);
        let risk = problem.risk();
        let optimum = best(&problem, k, &keep);
        // The first k columns, refitted: seldom the best.
        let mut support: Vec<usize> = (0..problem.x.p).filter(|j| !keep.contains(j)).take(k).collect();
        support.extend(keep.iter().copied().chain(risk.free().iter().copied()));
        support.sort_unstable();
        let mut x = vec![0.0; support.len()];
        minimise(&mut *risk.restrict(&support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap();
        let wrong = Solution::guess(support, x);
        let found = certificate(&risk, &Sparsity::new(k).keep(keep), &wrong, &OPTIONS);
        assert!(found.lower_bound <= optimum.value + 1e-6, "problem {seed}");
        if found.value > optimum.value * (1.0 + 1e-6) {
            assert!(!found.certified && found.gap >= found.value - optimum.value - 1e-6, "problem {seed}");
        }
    }
}

#[test]
fn no_overflow_for_a_tiny_ridge() {
    for ridge in [1e-2, 1e-4, 1e-6] {
        for seed in 0..15 {
            let (problem, k, keep) = draw(seed, ridge);
            let risk = problem.risk();
            let optimum = best(&problem, k, &keep);
            let found = certificate(&risk, &Sparsity::new(k).keep(keep), &optimum, &CertifyOptions::default());
            let numbers = [found.lower_bound, found.gap, found.relative_gap, found.relaxation];
            assert!(numbers.iter().all(|v| v.is_finite()), "problem {seed}, lambda {ridge}: {numbers:?}");
            assert!(found.history.iter().all(|e| e.dual.is_finite() && e.gap.is_finite()));
            assert!(found.lower_bound <= optimum.value + 1e-6);
        }
    }
}

#[test]
fn text_is_bounded_within_a_thousandth_of_the_relaxation() {
    let shape = Text { n: 3000, p: 8000, mean_tokens: 60.0 };
    let data = simulate::text(&shape, 5);
    let (k, mut gaps) = (50, Vec::new());
    for ridge in [1e-5, 1e-4, 1e-3] {
        let loss = Logistic::new(2.0).unwrap();
        let risk = Risk::new(&data.design, &data.target, loss).unwrap().with_ridge(ridge).unwrap();
        let solution = Auto::default().fit(&risk, &Sparsity::new(k)).unwrap();
        let found = certificate(&risk, &Sparsity::new(k), &solution, &CertifyOptions::default());
        assert!(found.relaxation - found.lower_bound <= 1e-3 * found.value, "lambda {ridge}: {found:?}");
        assert!(!found.could_improve(1e-3));
        gaps.push(found.relative_gap);
    }
    assert!(gaps[2] < gaps[1] && gaps[1] < gaps[0] && gaps[2] < 1e-2, "{gaps:?}");
}

#[test]
fn epochs_only_improve_and_can_be_watched() {
    let data = simulate::logistic(200, 60, 8, Correlation::Ar1(0.7), 3);
    let risk = Risk::new(&data.design, &data.target, Logistic::default()).unwrap().with_ridge(0.01).unwrap();
    let risk = risk.with_intercept();
    let sparsity = Sparsity::new(8);
    let solution = Auto::default().fit(&risk, &sparsity).unwrap();
    let mut seen: Vec<Epoch> = Vec::new();
    let mut watch = |e: &Epoch| {
        seen.push(*e);
        ControlFlow::Continue(())
    };
    let found = certify(&risk, &sparsity, &solution, &OPTIONS, &mut watch).unwrap();
    assert_eq!(seen, found.history);
    assert!(seen.len() > 1);
    assert!(seen.windows(2).all(|w| w[0].dual <= w[1].dual && w[0].relaxation >= w[1].relaxation));
    assert_eq!(seen.last().unwrap().dual, found.lower_bound);
    assert!(found.conditions.imbalance < 1e-15);
    // Stopped by the watcher, or by the clock, the plug-in bound is there.
    let stopped = certify(&risk, &sparsity, &solution, &OPTIONS, &mut |_| ControlFlow::Break(())).unwrap();
    assert_eq!(stopped.history.len(), 1);
    assert_eq!(stopped.lower_bound, seen[0].dual);
    let options = CertifyOptions { time_limit: Some(Duration::ZERO), ..OPTIONS };
    assert_eq!(certificate(&risk, &sparsity, &solution, &options).lower_bound, seen[0].dual);
    // The same bits for any number of threads.
    let one = Threads::new(1).unwrap().run(|| certificate(&risk, &sparsity, &solution, &OPTIONS));
    assert_eq!(one.lower_bound, found.lower_bound);
}

#[test]
fn what_cannot_be_certified_is_an_error() {
    let data = simulate::linear(50, 10, 3, Correlation::Independent, 0.1, 1);
    let plain = Risk::new(&data.design, &data.target, Squared::default()).unwrap();
    let sparsity = Sparsity::new(3);
    let solution = Auto::default().fit(&plain, &sparsity).unwrap();
    let attempt = |risk: &Risk, sparsity: &Sparsity, solution: &Solution| {
        certify(risk, sparsity, solution, &CertifyOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap_err()
    };
    let error = attempt(&plain, &sparsity, &solution);
    assert!(matches!(error, Error::InvalidOption { option: "lambda", .. }), "{error}");
    let risk = plain.with_ridge(0.1).unwrap();
    assert!(attempt(&risk, &Sparsity::new(2), &solution).to_string().contains("more than k = 2"));
    assert!(matches!(
        attempt(&risk, &sparsity, &Solution::guess(vec![77], vec![1.0])),
        Error::IndexOutOfRange { index: 77, .. }
    ));
    assert!(matches!(attempt(&risk, &sparsity, &Solution::guess(vec![1], vec![f64::NAN])), Error::NotFinite { .. }));
    assert!(matches!(attempt(&risk, &sparsity, &Solution::guess(vec![1], vec![])), Error::Shape { .. }));
    let options = CertifyOptions { tolerance: f64::NAN, ..OPTIONS };
    assert!(certify(&risk, &sparsity, &solution, &options, &mut |_| ControlFlow::Continue(())).is_err());
    // Fewer coefficients than allowed is fine; so is none at all.
    let nothing = Solution::guess(vec![], vec![]);
    let found = certificate(&risk, &sparsity, &nothing, &OPTIONS);
    assert!(!found.certified && found.lower_bound < found.value && found.conditions.smallest_inside == 0.0);
    let zero = certificate(&risk, &Sparsity::new(0), &nothing, &OPTIONS);
    assert!(zero.certified, "{zero:?}");
}

/// Where k counts groups, the bound is one for groups: below the best of all pairs of them, and not far below with a
/// ridge that counts.
#[test]
fn a_bound_for_groups_is_below_every_choice_of_them() {
    let mut watched = 0;
    for (seed, lambda, close) in [(1, 0.05, 0.5), (2, 1.0, 0.05), (3, 1e-3, 1.0)] {
        let rng = &mut rng(seed);
        let x = Table::gaussian(rng, 80, 12, 0.3);
        let y: Vec<f64> = (0..80).map(|i| x.at(i, 0) + x.at(i, 1) - x.at(i, 6) + 0.5 * normal(rng)).collect();
        let design = x.dense();
        let risk = Risk::new(&design, &y[..], Squared::default()).unwrap().with_ridge(lambda).unwrap().with_intercept();
        let groups: Vec<Vec<usize>> = (0..4).map(|g| vec![3 * g, 3 * g + 1, 3 * g + 2]).collect();
        let sparsity = Sparsity::new(2).in_groups(Partition::new(groups.clone()).unwrap());
        let fit = Auto::default().fit(&risk, &sparsity).unwrap();
        let found = certify(&risk, &sparsity, &fit, &CertifyOptions::default(), &mut |_| {
            watched += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
        for a in 0..4 {
            for b in 0..a {
                let kept = groups[a].iter().chain(&groups[b]).copied();
                let value = Auto::default().fit(&risk, &Sparsity::new(0).keep(kept)).unwrap().value;
                assert!(found.lower_bound <= value, "{} above {value}", found.lower_bound);
            }
        }
        assert!(found.relative_gap <= close, "{}", found.relative_gap);
        assert!(found.conditions.stationarity < 1e-6 && found.conditions.smallest_inside > 0.0);
        let wide = Auto::default().fit(&risk, &Sparsity { k: 3, ..sparsity.clone() }).unwrap();
        let options = CertifyOptions::default();
        let error = certify(&risk, &sparsity, &wide, &options, &mut |_| ControlFlow::Continue(())).unwrap_err();
        assert!(error.to_string().contains("3 groups, more than k = 2"), "{error}");
    }
    assert!(watched > 3, "no bound was searched for");
}
