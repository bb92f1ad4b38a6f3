//! The solvers that need samples take the steps of their papers: against plain loops.

use crate::common::{Problem, Table, assert_close, iterates, rng, smooth_losses};
use ksparse::loss::{Hinge, Loss};
use ksparse::solver::{Diht, DualStep, Limits, Sdiht, Solver, StochasticStep, Svrght};
use ksparse::{SparseRef, Sparsity, theory};
use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use std::ops::ControlFlow;

const K: usize = 4;

/// w(a) = H_k(u(a)), all of it.
fn primal(problem: &Problem, a: &[f64], lambda: f64) -> Vec<f64> {
    let (n, p) = (a.len(), problem.x.p);
    let u: Vec<f64> =
        (0..p).map(|j| -(0..n).map(|i| a[i] * problem.x.at(i, j)).sum::<f64>() / (lambda * n as f64)).collect();
    let mut w = vec![0.0; p];
    ksparse::sparsity::top_by(p, K, |j| u[j].abs()).into_iter().for_each(|j| w[j] = u[j]);
    w
}

/// The paper's loop, plainly: `a = Proj(a + eta_t (1/N) (x_i'w - l_i*'(a_i)))`, `w = H_k(u(a))`.
fn dual_iterates(problem: &Problem, etas: &[f64], lambda: f64) -> Vec<Vec<f64>> {
    let (n, p, conjugate) = (problem.x.n, problem.x.p, problem.loss.conjugate());
    // 0, or where l* has no slope there the derivative at 0.
    let start = |&y: &f64| match conjugate.derivative(0.0, y) {
        slope if slope.is_finite() => 0.0,
        _ => problem.loss.at(0.0, y).derivative,
    };
    let mut a: Vec<f64> = problem.y.iter().map(start).collect();
    let mut w = primal(problem, &a, lambda);
    let mut out = Vec::new();
    for eta in etas {
        let eta = eta / n as f64;
        for (i, a) in a.iter_mut().enumerate() {
            let (y, z) = (problem.y[i], (0..p).map(|j| problem.x.at(i, j) * w[j]).sum::<f64>());
            // At the ends of the logistic domain the slope is infinite, and taken just inside.
            let slope = match conjugate.derivative(*a, y) {
                slope if slope.is_finite() => slope,
                _ => conjugate.derivative(*a + 1e-12 * (problem.loss.at(0.0, y).derivative - *a), y),
            };
            *a = conjugate.project(*a + eta * (z - slope), y);
        }
        w = primal(problem, &a, lambda);
        out.push(w.clone());
    }
    out
}

/// The steps of the trace, which are the papers': eta as given, N / (mu (t + 1)) since k < N, or the same later.
fn etas(diht: &Diht, problem: &Problem) -> Vec<f64> {
    let (n, mu) = (problem.x.n as f64, problem.loss.conjugate().strong_convexity());
    let trace = diht.fit(&problem.risk(), &Sparsity::new(K)).unwrap().trace;
    let etas: Vec<f64> = trace.iter().map(|row| row.step.unwrap()).collect();
    let delay = match diht.step {
        DualStep::Fixed(eta) => {
            assert!(etas.iter().all(|found| (found / eta - 1.0).abs() < 1e-14), "{etas:?}");
            return etas;
        }
        DualStep::Theory => 1.0,
        _ => n / (mu * etas[0]),
    };
    // sigma_max^2 of the shifted step is estimated, from above here.
    let largest = theory::largest_gram_eigenvalue(&problem.x.dense(), &vec![1.0; problem.x.n]);
    let exact = 1.0 + largest / (0.5 * n * mu);
    assert!(diht.step == DualStep::Theory || (exact..1.3 * exact).contains(&delay), "{delay} against {exact}");
    for (t, eta) in etas.iter().enumerate() {
        assert!((eta * mu * (t as f64 + delay) / n - 1.0).abs() < 1e-12, "{:?}, step {t}", diht.step);
    }
    etas
}

#[test]
fn diht_and_sdiht_with_one_block_take_the_steps_of_the_paper() {
    for (l, loss) in smooth_losses().into_iter().chain([Box::new(Hinge) as Box<dyn Loss>]).enumerate() {
        let rng = &mut rng(31 + 100 * l as u64);
        let smooth = loss.name() != "hinge";
        let name = loss.name();
        let problem = Problem::new(Table::gaussian(rng, 30, 10, 0.2), loss, K, 2.0, rng).ridge(0.5);
        let limits = Limits { max_iterations: 20, tolerance: 0.0, ..Limits::default() };
        let steps = [DualStep::Fixed(3.0), DualStep::Theory, DualStep::Shifted];
        for step in steps.into_iter().take(if smooth { 3 } else { 1 }) {
            let diht = Diht { step, limits: limits.clone(), refit: false };
            let expected = dual_iterates(&problem, &etas(&diht, &problem), 0.5);
            let whole = iterates(K, &diht, &problem.risk());
            let one = iterates(
                K,
                &Sdiht { step, limits: limits.clone(), refit: false, blocks: Some(1), seed: 3 },
                &problem.risk(),
            );
            for (who, found) in [("diht", whole), ("sdiht", one)] {
                assert_eq!(found.len(), expected.len(), "{who}, {name}, {step:?}");
                for (t, ((support, x, _), expected)) in found.iter().zip(&expected).enumerate() {
                    let what = format!("{who}, {name}, {step:?}, step {t}");
                    assert_close(&what, &SparseRef::new(support, x).to_dense(10), expected, 1e-9);
                }
            }
        }
    }
}

#[test]
fn sdiht_takes_the_steps_of_the_paper() {
    // Squared error, a constant step, blocks by plain loops; u(a) afresh in every step.
    let rng = &mut rng(35);
    let x = Table::sparse(rng, 30, 12, 0.4);
    let problem = Problem::new(x, smooth_losses().swap_remove(0), K, 2.0, rng).ridge(0.5);
    let (n, p, m, lambda, eta) = (30, 12, 4, 0.5, 3.0);
    let mut draws = ChaCha8Rng::seed_from_u64(6);
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut draws);
    let mut a = vec![0.0; n];
    let mut w = vec![0.0; p];
    let mut expected = Vec::new();
    for _ in 0..150 {
        for _ in 0..m {
            let block = draws.random_range(0..m);
            for &i in &order[block * n / m..(block + 1) * n / m] {
                let z: f64 = (0..p).map(|j| problem.x.at(i, j) * w[j]).sum();
                a[i] += eta / n as f64 * (z - (a[i] + problem.y[i]));
            }
            w = primal(&problem, &a, lambda);
        }
        expected.push(w.clone());
    }
    let limits = Limits { max_iterations: 150, tolerance: 0.0, ..Limits::default() };
    let sdiht = Sdiht { step: DualStep::Fixed(eta), limits: limits.clone(), refit: false, blocks: Some(m), seed: 6 };
    for risk in [problem.risk(), problem.risk_on(problem.x.csc())] {
        let steps = iterates(K, &sdiht, &risk);
        assert_eq!(steps.len(), expected.len());
        for ((support, x, _), expected) in steps.iter().zip(&expected) {
            assert_close("sdiht", &SparseRef::new(support, x).to_dense(p), expected, 1e-10);
        }
    }
}

#[test]
fn svrght_takes_the_steps_of_the_paper() {
    let rng = &mut rng(32);
    let x = Table::sparse(rng, 40, 30, 0.2);
    let problem = Problem::new(x, smooth_losses().swap_remove(1), K, 2.0, rng).ridge(0.01);
    let (n, p, eta, batch, steps) = (40, 30, 0.7, 3, 9);
    let derivative = |i: usize, w: &[f64]| {
        let z: f64 = (0..p).map(|j| problem.x.at(i, j) * w[j]).sum();
        problem.loss.at(z, problem.y[i]).derivative
    };
    let gradient = |rows: &[usize], w: &[f64]| -> Vec<f64> {
        let mut g: Vec<f64> = w.iter().map(|w| 0.01 * w).collect();
        for &i in rows {
            let d = derivative(i, w) / rows.len() as f64;
            (0..p).for_each(|j| g[j] += d * problem.x.at(i, j));
        }
        g
    };
    let mut draws = ChaCha8Rng::seed_from_u64(5);
    let mut w = vec![0.0; p];
    let all: Vec<usize> = (0..n).collect();
    for snapshots in 1..=3 {
        let anchor = w.clone();
        let whole = gradient(&all, &anchor);
        for _ in 0..steps {
            let rows: Vec<usize> = (0..batch).map(|_| draws.random_range(0..n)).collect();
            let (here, there) = (gradient(&rows, &w), gradient(&rows, &anchor));
            let moved: Vec<f64> = (0..p).map(|j| w[j] - eta * (here[j] - there[j] + whole[j])).collect();
            w = vec![0.0; p];
            ksparse::sparsity::top_by(p, K, |j| moved[j].abs()).into_iter().for_each(|j| w[j] = moved[j]);
        }
        let limits = Limits { max_iterations: snapshots, tolerance: 0.0, ..Limits::default() };
        let svrght = Svrght {
            batch: Some(batch),
            inner_steps: Some(steps),
            step: StochasticStep::Fixed(eta),
            seed: 5,
            refit: false,
            limits: limits.clone(),
        };
        let mut last = Vec::new();
        let watch = &mut |p: &ksparse::Progress| {
            last = SparseRef::new(p.support, p.coefficients).to_dense(30);
            ControlFlow::Continue(())
        };
        svrght.solve(&problem.risk_on(problem.x.csc()), &Sparsity::new(K), None, watch).unwrap();
        assert_close("svrght", &last, &w, 1e-10);
    }
}
