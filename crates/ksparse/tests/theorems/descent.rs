//! Under the adaptive step f never rises: every loss, every way of debiasing, many kinds of data.

use super::{Iterate, watched};
use ksparse::design::{Dense, Design, Scaled};
use ksparse::loss::{Huber, Logistic, Loss, Squared, SquaredHinge};
use ksparse::simulate::{Correlation, Text, linear, logistic, text};
use ksparse::solver::{Debias, Grahtp, Limits, Solution};
use ksparse::{Custom, Objective, Risk, SparseRef};

fn losses() -> Vec<Box<dyn Loss>> {
    vec![
        Box::new(Squared::default()),
        Box::new(Squared::new(2.0).unwrap()),
        Box::new(Logistic::default()),
        Box::new(Logistic::new(2.0).unwrap()),
        Box::new(SquaredHinge),
        Box::new(Huber::default()),
        Box::new(Huber::new(2.0).unwrap()),
    ]
}

/// The shapes of data a seed goes through: easy, correlated, wide, wildly scaled, with equal columns, sparse.
fn data(quadratic: bool, seed: u64) -> (Box<dyn Design>, Vec<f64>) {
    let (n, p, k) = [(100, 30, 5), (60, 80, 8), (30, 60, 4)][seed as usize % 3];
    let rho = [0.0, 0.5, 0.95][(seed / 3) as usize % 3];
    let simulated = if quadratic {
        linear(n, p, k, Correlation::Ar1(rho), 0.5, seed)
    } else {
        logistic(n, p, k, Correlation::Ar1(rho), seed)
    };
    let columns = |f: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
        (0..p).flat_map(|j| simulated.design.column(j).iter().map(|&v| f(j, v)).collect::<Vec<_>>()).collect()
    };
    match (seed / 9) % 4 {
        0 => (Box::new(simulated.design), simulated.target),
        1 => {
            // Units from 1e-3 to 1e3.
            let values = columns(&|j, v| v * 10f64.powi((j % 7) as i32 - 3));
            (Box::new(Dense::from_columns(n, p, values).unwrap()), simulated.target)
        }
        2 => {
            // Every third column equals the one before it.
            let mut values = columns(&|_, v| v);
            for j in (2..p).step_by(3) {
                values.copy_within((j - 1) * n..j * n, j * n);
            }
            (Box::new(Dense::from_columns(n, p, values).unwrap()), simulated.target)
        }
        _ => {
            let words = text(&Text { n, p, mean_tokens: 8.0 }, seed);
            (Box::new(words.design), if quadratic { simulated.target } else { words.target })
        }
    }
}

fn assert_descends(solver: &Grahtp, objective: &dyn Objective, k: usize, start: Option<&Solution>, what: &str) {
    let (solution, iterates) = watched(solver, objective, k, start);
    let mut before = match start {
        Some(start) => objective.value(start.as_sparse()).unwrap(),
        None => objective.value(SparseRef::ZERO).unwrap(),
    };
    for (t, Iterate { support, coefficients, value, .. }) in iterates.iter().enumerate() {
        assert!(*value <= before, "{what}, iteration {t}: f rose from {before} to {value}");
        // The value reported is the value there.
        let again = objective.value(SparseRef::new(support, coefficients)).unwrap();
        assert!((again - value).abs() <= 1e-9 * value.abs().max(1e-9), "{what}: {again} reported as {value}");
        before = *value;
    }
    assert!(solution.value <= before, "{what}");
    assert!(solution.support.len() <= k + objective.free().len());
}

#[test]
fn f_never_rises_under_the_adaptive_step() {
    for (l, loss) in losses().iter().enumerate() {
        for seed in 0..36 {
            let (design, target) = data(loss.is_quadratic(), seed);
            let k = [1, 5, 12][(seed / 2) as usize % 3];
            let ridge = [1e-3, 0.0, 1e-6, 1.0][seed as usize % 4];
            let risk =
                Risk::from_boxes(design, target.into(), losses().swap_remove(l)).unwrap().with_ridge(ridge).unwrap();
            let risk = if seed % 5 == 0 { risk.with_intercept() } else { risk };
            for debias in [Debias::Exact, Debias::NewtonStep, Debias::GradientStep, Debias::Nothing] {
                let limits = Limits { max_iterations: 80, ..Limits::default() };
                let solver = Grahtp { debias, limits: limits.clone(), scaled: seed % 2 == 1, ..Grahtp::default() };
                assert_descends(&solver, &risk, k, None, &format!("{loss:?}, seed {seed}, {debias:?}"));
            }
        }
    }
}

#[test]
fn f_never_rises_from_a_given_start() {
    for seed in 0..12 {
        let (design, target) = data(false, seed);
        let risk = Risk::from_boxes(design, target.into(), Box::new(Logistic::default())).unwrap();
        let risk = risk.with_ridge(1e-3).unwrap();
        let start = Solution::guess(vec![0, 3, 7], vec![0.3, -1.0, 0.1]);
        for debias in [Debias::Exact, Debias::NewtonStep, Debias::GradientStep, Debias::Nothing] {
            let solver = Grahtp { debias, ..Grahtp::default() };
            assert_descends(&solver, &risk, 4, Some(&start), &format!("seed {seed}, {debias:?}"));
        }
    }
}

#[test]
fn f_never_rises_with_gradients_only_or_a_scaled_design() {
    for seed in 0..6 {
        let simulated = logistic(80, 20, 4, Correlation::Ar1(0.5), seed);
        let risk =
            Risk::new(&simulated.design, &simulated.target, Logistic::default()).unwrap().with_ridge(1e-2).unwrap();
        let all: Vec<usize> = (0..20).collect();
        let gradients_only =
            Custom::new(20, |x: &[f64], g: &mut [f64]| risk.value_and_gradient(SparseRef::new(&all, x), g));
        let standardised = Scaled::standardize(&simulated.design, None).unwrap();
        let scaled = Risk::new(standardised, &simulated.target, SquaredHinge).unwrap().with_intercept();
        for debias in [Debias::Exact, Debias::NewtonStep, Debias::GradientStep, Debias::Nothing] {
            let solver = Grahtp { debias, ..Grahtp::default() };
            assert_descends(&solver, &gradients_only, 4, None, &format!("gradients only, seed {seed}, {debias:?}"));
            assert_descends(&solver, &scaled, 4, None, &format!("scaled, seed {seed}, {debias:?}"));
        }
    }
}
