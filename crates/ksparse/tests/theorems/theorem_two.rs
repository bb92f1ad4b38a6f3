//! Theorem 2: geometric approach to a sparse target, and exact recovery when nothing disturbs it.
//!
//! The constants are exact here: all supports of size 2k + kbar are visited.

use super::{at_most, distance, gradient, norm, random_support, random_vector, rng, truncated_norm, watched};
use ksparse::loss::{Logistic, Squared};
use ksparse::simulate::{Correlation, compressed_sensing, logistic};
use ksparse::solver::{Grahtp, Solution, Solver, Step};
use ksparse::theory::{ConditionC, Contraction, StepWindow};
use ksparse::{Risk, theory};
use rand::Rng;

/// Three steps across a window.
fn steps(window: StepWindow) -> [f64; 3] {
    [0.1, 0.5, 0.98].map(|share| window.low + share * (window.high - window.low))
}

/// Checks the bound along a run from `start`; returns the largest share of it that was used.
fn check(
    risk: &Risk,
    solver: &Grahtp,
    k: usize,
    target: &[f64],
    start: &[f64],
    bound: &Contraction,
    noise: f64,
) -> f64 {
    let guess = Solution::guess((0..start.len()).collect(), start.to_vec());
    let (_, iterates) = watched(solver, risk, k, Some(&guess));
    let first = distance(start, target);
    let mut used = 0.0f64;
    for (t, iterate) in iterates.iter().enumerate() {
        let error = distance(&iterate.as_sparse().to_dense(target.len()), target);
        let allowed = bound.bound(t + 1, first, noise);
        assert!(error <= allowed + 1e-9, "{} after {}: {error} above {allowed}", solver.name(), t + 1);
        if allowed > 1e-6 {
            used = used.max(error / allowed);
        }
    }
    used
}

fn with_step(solver: Grahtp, eta: f64) -> Grahtp {
    Grahtp { step: Step::Fixed(eta), limits: at_most(40), ..solver }
}

#[test]
fn iterates_approach_the_target_of_least_squares_at_the_stated_rate() {
    let (n, p) = (400, 12);
    let mut used = [0.0f64; 2];
    let mut checked = 0;
    for seed in 0..12 {
        for (k, kbar) in [(2, 2), (2, 1), (3, 1), (1, 1)] {
            let mut data = compressed_sensing(n, p, kbar, seed);
            let target = data.truth().to_dense(p);
            let mut rng = rng(seed);
            let noise = if seed % 3 == 0 { 0.0 } else { 0.02 };
            data.target.iter_mut().for_each(|y| *y += noise * rng.random_range(-1.0..1.0));
            let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap();
            // On the sum, as HTP and IHT take their steps: n times the risk.
            let s = 2 * k + kbar;
            let curvature = theory::restricted_eigenvalues(&data.design, &vec![1.0; n], s).unwrap();
            let slope: Vec<f64> = gradient(&risk, &target).iter().map(|g| g * n as f64).collect();
            let start_support = random_support(p, k, &mut rng);
            let starts = [vec![0.0; p], random_vector(p, &start_support, 3.0, &mut rng)];
            for condition in [curvature.sharp_condition_c().unwrap(), curvature.condition_c().unwrap()] {
                for start in &starts {
                    for eta in condition.grahtp_steps().into_iter().flat_map(steps) {
                        let bound = condition.grahtp(eta).unwrap();
                        let solver = with_step(Grahtp::htp(), eta);
                        let share = check(&risk, &solver, k, &target, start, &bound, truncated_norm(&slope, k));
                        used[0] = used[0].max(share);
                        checked += 1;
                    }
                    for eta in condition.fgrahtp_steps().into_iter().flat_map(steps) {
                        let bound = condition.fgrahtp(eta).unwrap();
                        let solver = with_step(Grahtp::iht(), eta);
                        let share = check(&risk, &solver, k, &target, start, &bound, truncated_norm(&slope, s));
                        used[1] = used[1].max(share);
                        checked += 1;
                    }
                }
            }
        }
    }
    // The condition held often enough to test something, and the bounds are not idle.
    assert!(checked > 300, "{checked}");
    assert!(used.iter().all(|&share| share > 0.25), "{used:?}");
}

#[test]
fn iterates_approach_any_sparse_target_of_the_logistic_loss() {
    let (p, k, kbar) = (10, 2, 1);
    let mut checked = 0;
    for seed in 0..10 {
        let data = logistic(300, p, 2, Correlation::Ar1(0.3), seed);
        let ridge = 0.6;
        let risk = Risk::new(&data.design, &data.target, Logistic::default()).unwrap().with_ridge(ridge).unwrap();
        let s = 2 * k + kbar;
        let gram = theory::restricted_eigenvalues(&data.design, risk.weights(), s).unwrap();
        let condition = gram.of_loss(0.0, 0.25, ridge).unwrap().sharp_condition_c().unwrap();
        let mut rng = rng(seed);
        let support = random_support(p, kbar, &mut rng);
        let target = random_vector(p, &support, 1.0, &mut rng);
        let slope = gradient(&risk, &target);
        for eta in condition.grahtp_steps().into_iter().flat_map(steps) {
            let bound = condition.grahtp(eta).unwrap();
            let noise = truncated_norm(&slope, k);
            check(&risk, &with_step(Grahtp::default(), eta), k, &target, &vec![0.0; p], &bound, noise);
            checked += 1;
        }
        for eta in condition.fgrahtp_steps().into_iter().flat_map(steps) {
            let bound = condition.fgrahtp(eta).unwrap();
            let noise = truncated_norm(&slope, s);
            check(&risk, &with_step(Grahtp::fast(), eta), k, &target, &vec![0.0; p], &bound, noise);
            checked += 1;
        }
    }
    assert!(checked >= 50, "{checked}");
}

#[test]
fn compressed_sensing_is_exact_within_the_stated_iterations() {
    let (n, p) = (400, 12);
    let (mut checked, mut several) = (0, 0);
    for seed in 0..40 {
        for (k, kbar) in [(2, 2), (3, 2)] {
            let data = compressed_sensing(n, p, kbar, seed);
            let target = data.truth().to_dense(p);
            let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap();
            assert!(norm(&gradient(&risk, &target)) < 1e-15);
            let curvature = theory::restricted_eigenvalues(&data.design, &vec![1.0; n], 2 * k + kbar).unwrap();
            let condition: ConditionC = curvature.sharp_condition_c().unwrap();
            let least = data.coefficients.iter().fold(f64::INFINITY, |m, c| m.min(c.abs()));
            for eta in condition.grahtp_steps().into_iter().flat_map(steps) {
                let allowed = condition.grahtp(eta).unwrap().recovery_iterations(least, norm(&target)).unwrap();
                let (_, iterates) = watched(&with_step(Grahtp::htp(), eta), &risk, k, None);
                // A run that ends sooner has settled: its last point is where it would stay.
                let at = &iterates[(allowed - 1).min(iterates.len() - 1)];
                let error = distance(&at.as_sparse().to_dense(p), &target);
                assert!(error < 1e-12 * norm(&target).max(1.0), "seed {seed}, {allowed} iterations: {error}");
                checked += 1;
                let early = distance(&iterates[0].as_sparse().to_dense(p), &target);
                several += usize::from(early > 1e-6);
            }
        }
    }
    assert!(checked > 100 && several > 0, "{checked} runs, {several} not exact at once");
}
