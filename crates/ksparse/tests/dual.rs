//! The dual view: weak duality against brute force, D by enumeration, the gap identity, super-gradients, feasibility.

use crate::common::{Problem, Table, close, normal, rng, smooth_losses};
use ksparse::dual::Dual;
use ksparse::loss::{Hinge, Huber, Loss, Squared};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::{Error, Objective, Risk, SparseRef, Sparsity};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Every loss, the one that is not smooth too.
fn every_loss() -> Vec<Box<dyn Loss>> {
    let mut losses = smooth_losses();
    losses.push(Box::new(Hinge));
    losses
}

/// A small problem with a ridge, its k and what is forced in.
fn draw(seed: u64) -> (Problem, usize, Vec<usize>) {
    let rng = &mut rng(9100 + seed);
    let p: usize = rng.random_range(3..=8);
    let n = rng.random_range(5..=30);
    let k = rng.random_range(1..=p - 2);
    let loss = every_loss().swap_remove(seed as usize % 5);
    let ridge = 10f64.powf(rng.random_range(-2.0..1.0));
    let x = Table::gaussian(rng, n, p, if seed.is_multiple_of(2) { 0.0 } else { 0.7 });
    let mut problem = Problem::new(x, loss, k, 3.0, rng).ridge(ridge);
    problem.intercept = seed.is_multiple_of(3);
    if seed.is_multiple_of(4) {
        problem.weights = Some((0..n).map(|_| f64::from(rng.random_range(0..4u8)) + 0.5).collect());
    }
    let keep = if seed.is_multiple_of(7) { vec![p - 1] } else { Vec::new() };
    (problem, k, keep)
}

/// A feasible dual vector, from tame to wild.
fn feasible(dual: &Dual, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let scale = 10f64.powf(rng.random_range(-2.0..1.0));
    let mut a: Vec<f64> = (0..dual.samples()).map(|_| scale * normal(rng)).collect();
    dual.project(&mut a);
    dual.check(&a).unwrap();
    a
}

/// Calls `visit` with every choice of k from the features that are not kept.
fn each_support(p: usize, k: usize, keep: &[usize], visit: &mut dyn FnMut(&[usize])) {
    let others: Vec<usize> = (0..p).filter(|j| !keep.contains(j)).collect();
    for mask in 0u32..1 << others.len() {
        if mask.count_ones() as usize == k.min(others.len()) {
            let chosen: Vec<usize> = (0..others.len()).filter(|b| mask >> b & 1 == 1).map(|b| others[b]).collect();
            visit(&chosen);
        }
    }
}

/// The k-sparse minimum, and how far below it the truth may lie. The hinge is bounded from both sides by its rounded
/// form.
fn optimum(problem: &Problem, k: usize, keep: &[usize]) -> f64 {
    let mut slack = 0.0;
    let rounded;
    let mut risk = problem.risk();
    if problem.loss.smoothness().has_corners() {
        let gamma = 1e-5;
        rounded = Problem {
            x: problem.x.clone(),
            y: problem.y.clone(),
            loss: Box::new(Huber::new(gamma).unwrap()),
            weights: problem.weights.clone(),
            ..*problem
        };
        risk = rounded.risk();
        slack = 0.5 * gamma;
    }
    let mut best = f64::INFINITY;
    each_support(problem.x.p, k, keep, &mut |chosen| {
        let mut support: Vec<usize> = chosen.iter().chain(keep).chain(risk.free()).copied().collect();
        support.sort_unstable();
        let mut x = vec![0.0; support.len()];
        best = best.min(minimise(&mut *risk.restrict(&support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap().value);
    });
    best + slack
}

#[test]
fn no_dual_vector_exceeds_the_optimum() {
    // 10,000 of them over 50 problems; and D as its definition has it, by plain loops over supports.
    (0..50).into_par_iter().for_each(|seed| {
        let (problem, k, keep) = draw(seed);
        let risk = problem.risk();
        let dual = Dual::new(&risk, &Sparsity::new(k).keep(keep.iter().copied())).unwrap();
        let best = optimum(&problem, k, &keep);
        let rng = &mut rng(seed);
        for _ in 0..200 {
            let a = feasible(&dual, rng);
            let value = dual.value(&a);
            let what = format!("problem {seed}, {}", problem.loss.name());
            assert!(value <= best + 1e-9 * best.abs(), "{what}: {value} above {best}");
            let bound = dual.lower_bound(&a);
            assert!(bound <= value && value - bound < 1e-9 * (1.0 + value.abs()), "{what}: {bound} for {value}");
            let enumerated = by_enumeration(&problem, &a, k, &keep);
            assert!(close(value, enumerated, 1e-10, 1.0), "{what}: {value} against {enumerated}");
        }
    });
}

/// min over supports of the Lagrangian, each minimum in closed form.
fn by_enumeration(problem: &Problem, a: &[f64], k: usize, keep: &[usize]) -> f64 {
    let n = problem.x.n;
    let weight = |i: usize| problem.weights.as_ref().map_or(1.0, |c| c[i]);
    let total: f64 = (0..n).map(weight).sum();
    let conjugate: f64 = (0..n).map(|i| weight(i) / total * problem.loss.conjugate().value(a[i], problem.y[i])).sum();
    // L = -conjugate + w'v + (lambda/2) ||w||^2, least at w = -v / lambda on the support.
    let v: Vec<f64> =
        (0..problem.x.p).map(|j| (0..n).map(|i| weight(i) / total * a[i] * problem.x.at(i, j)).sum()).collect();
    let mut least = f64::INFINITY;
    each_support(problem.x.p, k, keep, &mut |chosen| {
        let square: f64 = chosen.iter().chain(keep).map(|&j| v[j] * v[j]).sum();
        least = least.min(-conjugate - square / (2.0 * problem.ridge));
    });
    least
}

#[test]
fn the_gap_is_the_sum_of_the_samples_gaps() {
    for seed in 0..50 {
        let (problem, k, keep) = draw(seed);
        let risk = problem.risk();
        let dual = Dual::new(&risk, &Sparsity::new(k).keep(keep.iter().copied())).unwrap();
        let rng = &mut rng(seed);
        for _ in 0..20 {
            let a = feasible(&dual, rng);
            let point = dual.at(&a);
            let (primal, b) = dual.primal(point.as_sparse());
            let (loss, y, c) = (risk.loss(), risk.target(), risk.weights());
            let z = risk.predictions(point.as_sparse());
            let samples: f64 = (0..z.len())
                .map(|i| {
                    let z = z[i] + b;
                    c[i] * (loss.value(z, y[i]) + loss.conjugate().value(a[i], y[i]) - a[i] * z)
                })
                .sum();
            assert!(samples >= -1e-12, "problem {seed}: {samples}");
            assert!(close(primal - point.value, samples, 1e-8, primal.abs()), "problem {seed}");
            // `primal` is f with the intercept it names.
            let mut whole: Vec<(usize, f64)> = point.as_sparse().iter().collect();
            whole.extend(risk.free().iter().map(|&j| (j, b / risk.predictions(SparseRef::new(&[j], &[1.0]))[0])));
            let (indices, values): (Vec<usize>, Vec<f64>) = whole.into_iter().unzip();
            assert!(close(primal, problem.value_at(SparseRef::new(&indices, &values)), 1e-12, 0.0), "problem {seed}");
        }
    }
}

#[test]
fn super_gradients_bound_from_above() {
    for seed in 0..50 {
        let (problem, k, keep) = draw(seed);
        let risk = problem.risk();
        let dual = Dual::new(&risk, &Sparsity::new(k).keep(keep.iter().copied())).unwrap();
        let rng = &mut rng(seed);
        for pair in 0..40 {
            let (mut a, b) = (feasible(&dual, rng), feasible(&dual, rng));
            if pair % 2 == 0 {
                // Near each other, where the inequality is tight.
                a.iter_mut().zip(&b).for_each(|(a, b)| *a = b + 1e-3 * (*a - b));
            }
            let point = dual.at(&a);
            let mut g = vec![0.0; a.len()];
            dual.super_gradient(&a, &risk.predictions(point.as_sparse()), &mut g);
            assert!(g.iter().all(|g| g.is_finite()));
            let above = point.value + g.iter().zip(&a).zip(&b).map(|((g, a), b)| g * (b - a)).sum::<f64>();
            let value = dual.value(&b);
            assert!(value <= above + 1e-9 * (1.0 + value.abs()), "problem {seed}: {value} above {above}");
        }
    }
}

#[test]
fn the_plug_in_dual_is_feasible_and_starts_are_too() {
    for seed in 0..50 {
        let (problem, k, keep) = draw(seed);
        let risk = problem.risk();
        let dual = Dual::new(&risk, &Sparsity::new(k).keep(keep.iter().copied())).unwrap();
        dual.check(&dual.start()).unwrap();
        let (support, values) = (vec![0, 1], vec![1.5, -30.0]);
        let a = dual.plug_in(SparseRef::new(&support, &values));
        dual.check(&a).unwrap();
        assert!(dual.value(&a).is_finite());
    }
}

#[test]
fn what_cannot_be_bounded_is_an_error() {
    let x = Table::gaussian(&mut rng(1), 10, 4, 0.0);
    let y: Vec<f64> = (0..10).map(f64::from).collect();
    let risk = Risk::new(x.dense(), &y, Squared::default()).unwrap();
    let error = Dual::new(&risk, &Sparsity::new(2)).err().unwrap();
    assert!(matches!(error, Error::InvalidOption { option: "lambda", .. }), "{error}");
    let risk = risk.with_ridge(1.0).unwrap();
    assert!(matches!(Dual::new(&risk, &Sparsity::new(2).keep([9])), Err(Error::IndexOutOfRange { index: 9, .. })));
    let dual = Dual::new(&risk, &Sparsity::new(99)).unwrap();
    assert_eq!(dual.k(), 4);
    assert!(dual.check(&[0.0; 3]).is_err() && dual.check(&[f64::NAN; 10]).is_err());
    assert_eq!(dual.lower_bound(&[f64::INFINITY; 10]), f64::NEG_INFINITY);
    let signs: Vec<f64> = y.iter().map(|v| if *v > 4.0 { 1.0 } else { -1.0 }).collect();
    let hinge = Risk::new(x.dense(), &signs, Hinge).unwrap().with_ridge(1.0).unwrap().with_intercept();
    let dual = Dual::new(&hinge, &Sparsity::new(2)).unwrap();
    assert!(dual.check(&[2.0; 10]).unwrap_err().to_string().contains("row 0"));
    let uneven: Vec<f64> = signs.iter().map(|v| if *v > 0.0 { -1.0 } else { 0.0 }).collect();
    assert!(dual.check(&uneven).unwrap_err().to_string().contains("sum"));
}
