//! The theorems on dual ascent: the distance to the best dual vector, the support, the gap, each where its conditions
//! hold and says more than nothing.

use super::{distance, norm, rng};
use ksparse::dual::Dual;
use ksparse::loss::{Huber, Loss, Squared};
use ksparse::simulate::{Correlation, linear};
use ksparse::solver::{Diht, Limits, Solver};
use ksparse::theory::{DualRates, Survey};
use ksparse::{Objective, Risk, Sparsity, design::Dense};
use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

const N: usize = 24;
const K: usize = 2;
const LAMBDA: f64 = 1.0;

/// Rows of norm 1 at most, two columns that tell the labels, four that do not.
fn problem(seed: u64) -> (Dense<'static>, Vec<f64>) {
    let mut rng = rng(seed);
    let target: Vec<f64> = (0..N).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let mut entry = |i: usize, j: usize| [0.6, -0.5].get(j).unwrap_or(&0.0) * target[i] + rng.random_range(-0.15..0.15);
    let rows: Vec<f64> = (0..N * 6).map(|e| entry(e / 6, e % 6)).collect();
    let largest = rows.chunks(6).map(norm).fold(0.0, f64::max);
    let rows: Vec<f64> = rows.into_iter().map(|x| x / largest).collect();
    (Dense::from_rows(N, 6, &rows).unwrap(), target)
}

fn risk<'a>(design: &'a Dense<'static>, target: &'a [f64], loss: Box<dyn Loss>) -> Risk<'a> {
    Risk::new(design, target, loss).unwrap().with_ridge(LAMBDA).unwrap()
}

/// The largest point of D: that of a fit whose gap is closed.
fn best_dual(risk: &Risk) -> (Vec<f64>, Vec<usize>, f64) {
    let limits = Limits { tolerance: 1e-13, max_iterations: 20_000, ..Limits::default() };
    let best = Diht { limits, ..Diht::default() }.fit(risk, &Sparsity::new(K)).unwrap();
    assert!(best.value - best.lower_bound().unwrap() < 1e-9, "no strong duality: choose another problem");
    let dual = Dual::new(risk, &Sparsity::new(K)).unwrap();
    let margin = {
        let point = risk.at(best.as_sparse()).unwrap();
        let gradient = point.gradient().unwrap();
        let inside = best.coefficients.iter().fold(f64::INFINITY, |m, w| m.min(w.abs()));
        let outside = (0..6).filter(|j| !best.support.contains(j)).map(|j| gradient[j].abs());
        inside - outside.fold(0.0, f64::max) / LAMBDA
    };
    (dual.plug_in(best.as_sparse()), best.support, margin)
}

/// One block step of the paper's loop: `a = Proj(a + eta g)` on some samples.
fn ascend(dual: &Dual, a: &mut [f64], samples: &[usize], eta: f64) {
    let z = dual.risk().predictions(dual.at(a).as_sparse());
    let mut g = vec![0.0; a.len()];
    dual.super_gradient(a, &z, &mut g);
    let (conjugate, y) = (dual.risk().loss().conjugate(), dual.risk().target());
    samples.iter().for_each(|&i| a[i] = conjugate.project(a[i] + eta * g[i], y[i]));
}

#[test]
fn diht_comes_near_settles_on_the_support_and_closes_the_gap() {
    for seed in [1, 5, 9] {
        let (design, target) = problem(seed);
        let risk = risk(&design, &target, Box::new(Huber::new(1.0).unwrap()));
        let dual = Dual::new(&risk, &Sparsity::new(K)).unwrap();
        let (best, support, margin) = best_dual(&risk);
        let rates = DualRates::of(&risk, K).unwrap();
        let (t0, gap) = (rates.steps_to_support(margin).unwrap(), 0.2);
        let t1 = rates.steps_to_gap(margin, gap).unwrap();
        // Not vacuous: the support and the gap come within reach, and distances are below the diameter of the domain.
        assert!(t0 > 1 && t0 < 5_000 && t1 > t0 && t1 < 200_000, "t0 = {t0}, t1 = {t1}, margin = {margin}");
        assert!(rates.distance_squared(t0) < N as f64 && gap < risk.value(ksparse::SparseRef::ZERO));
        let all: Vec<usize> = (0..N).collect();
        let mut a = dual.start();
        for t in 1..=t1 {
            ascend(&dual, &mut a, &all, rates.step(t - 1));
            let apart = distance(&a, &best).powi(2);
            assert!(apart <= rates.distance_squared(t) + 1e-12, "t = {t}: {apart} above {}", rates.distance_squared(t));
            if t >= t0 {
                let point = dual.at(&a);
                assert_eq!(point.support, support, "seed {seed}, t = {t}, t0 = {t0}");
                if t % 100 == 0 || t == t1 {
                    let between = risk.value(point.as_sparse()) - point.value;
                    assert!(between <= rates.gap(t) + 1e-12, "t = {t}: a gap of {between} above {}", rates.gap(t));
                    assert!(t < t1 || between <= gap);
                }
            }
        }
    }
}

#[test]
fn sdiht_comes_near_on_average() {
    let (design, target) = problem(1);
    let risk = risk(&design, &target, Box::new(Huber::new(1.0).unwrap()));
    let dual = Dual::new(&risk, &Sparsity::new(K)).unwrap();
    let (best, ..) = best_dual(&risk);
    let (blocks, seeds, steps) = (4, 20, 2_000);
    let rates = DualRates::of(&risk, K).unwrap().with_blocks(blocks);
    let mut mean = vec![0.0; steps + 1];
    for seed in 0..seeds {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut order: Vec<usize> = (0..N).collect();
        order.shuffle(&mut rng);
        let mut a = dual.start();
        for (t, mean) in mean.iter_mut().enumerate().skip(1) {
            let block = rng.random_range(0..blocks);
            ascend(&dual, &mut a, &order[block * N / blocks..(block + 1) * N / blocks], rates.step(t - 1));
            *mean += distance(&a, &best).powi(2) / seeds as f64;
        }
    }
    for (t, mean) in mean.iter().enumerate().skip(1) {
        assert!(*mean <= rates.distance_squared(t), "t = {t}: {mean} above {}", rates.distance_squared(t));
    }
    assert!(rates.distance_squared(steps) < N as f64, "vacuous");
}

#[test]
fn without_a_bounded_domain_the_bounds_hold_where_the_iterates_stay() {
    let (design, target) = problem(1);
    let risk = risk(&design, &target, Box::new(Squared::new(2.0).unwrap()));
    assert!(DualRates::of(&risk, K).is_err());
    let dual = Dual::new(&risk, &Sparsity::new(K)).unwrap();
    let (best, support, margin) = best_dual(&risk);
    // r and q of the path itself; the steps do not depend on them.
    let steps = 3_000;
    let rough = DualRates::on_domain(&risk, K, 1.0, 1.0).unwrap();
    let all: Vec<usize> = (0..N).collect();
    let (mut a, mut path) = (dual.start(), Vec::new());
    let (mut r, mut q) = (0.0f64, 0.0f64);
    for t in 0..steps {
        for (i, a) in a.iter().enumerate() {
            (r, q) = (r.max(a.abs()), q.max(dual.slope(i, *a).abs()));
        }
        ascend(&dual, &mut a, &all, rough.step(t));
        path.push(a.clone());
    }
    let rates = DualRates::on_domain(&risk, K, r, q).unwrap();
    let t0 = rates.steps_to_support(margin).unwrap();
    for (t, a) in path.iter().enumerate() {
        assert!(distance(a, &best).powi(2) <= rates.distance_squared(t + 1) + 1e-12, "t = {}", t + 1);
        assert!(t + 1 < t0 || dual.at(a).support == support, "t = {}", t + 1);
    }
    assert!(rates.distance_squared(steps) < norm(&best).powi(2), "vacuous: says no more than that a starts at 0");
}

#[test]
fn a_survey_says_what_holds_and_why_the_rest_does_not() {
    let (design, target) = problem(1);
    let survey = Survey::of(&risk(&design, &target, Box::new(Huber::new(1.0).unwrap())), K).unwrap();
    assert_eq!(survey.dual, Ok(DualRates::of(&risk(&design, &target, Box::new(Huber::new(1.0).unwrap())), K).unwrap()));
    // lambda = 1 beside rows of norm 1: rho = (M - m) / (M + m) = 1/3.
    assert!(survey.grahtp.unwrap().contraction.factor < 1.0 && survey.fgrahtp.is_ok());
    let alike = linear(N, 6, K, Correlation::Ar1(0.95), 0.1, 1);
    let squared = Risk::new(&alike.design, &alike.target[..], Squared::default()).unwrap();
    let survey = Survey::of(&squared, K).unwrap();
    assert!(survey.narrow.exact && survey.narrow.curvature.strong > 0.0);
    assert!(survey.grahtp.unwrap_err().contains("vacuous") && survey.dual.unwrap_err().contains("lambda"));
    let flat = Risk::new(&design, &target[..], Huber::default()).unwrap();
    assert!(Survey::of(&flat, K).unwrap().fgrahtp.unwrap_err().contains("Condition C"));
}
