//! Where a fixed step ends from a given start: at a fixed point, in a cycle or at a limit, and it says which.

use super::{at_most, gradient, largest, norm, random_support, random_vector, rng, watched};
use ksparse::loss::{Logistic, Squared};
use ksparse::simulate::{Correlation, linear, logistic};
use ksparse::solver::{Grahtp, Solution, Status, Step};
use ksparse::{Objective, Risk};

/// Whether `x = argmin f over F` with `F = the k largest of x - eta grad f(x)`.
fn is_fixed_point(risk: &Risk, solution: &Solution, k: usize, eta: f64) -> bool {
    let x = solution.as_sparse().to_dense(risk.dim());
    let g = gradient(risk, &x);
    let on_support: Vec<f64> = solution.support.iter().map(|&j| g[j]).collect();
    let moved: Vec<f64> = x.iter().zip(&g).map(|(x, g)| x - eta * g).collect();
    norm(&on_support) <= 1e-6 * norm(&g).max(1e-3) && largest(&moved, k) == solution.support
}

#[test]
fn random_starts_end_at_fixed_points_cycles_or_limits() {
    let (dim, k) = (40, 5);
    let (mut fixed, mut cycles, mut limits) = (0, 0, 0);
    for seed in 0..200u64 {
        let rng = &mut rng(700 + seed);
        let correlation = Correlation::Ar1(0.6);
        let (squares, labels) = (linear(60, dim, k, correlation, 0.5, seed), logistic(60, dim, k, correlation, seed));
        let risk = if seed % 2 == 0 {
            Risk::new(&squares.design, &squares.target, Squared::default()).unwrap()
        } else {
            Risk::new(&labels.design, &labels.target, Logistic::default()).unwrap().with_ridge(0.05).unwrap()
        };
        // From a step far shorter than the theory's, which keeps most supports where they are, to one far too long.
        let share = [0.05, 0.99, 5.0, 50.0][seed as usize / 2 % 4];
        let eta = share / risk.smoothness(2 * k).unwrap().bound().unwrap();
        let support = random_support(dim, k, rng);
        let x = random_vector(dim, &support, 2.0, rng);
        let start = Solution::guess(support.clone(), support.iter().map(|&j| x[j]).collect());
        let solver = Grahtp { step: Step::Fixed(eta), limits: at_most(100), ..Grahtp::default() };
        let (solution, passed) = watched(&solver, &risk, k, Some(&start));
        let last = passed.last().unwrap();
        match solution.status {
            Status::SupportStable => {
                assert!(is_fixed_point(&risk, &solution, k, eta), "seed {seed}: not a fixed point");
                assert_eq!(solution.support, last.support, "seed {seed}");
                fixed += 1;
            }
            Status::Cycled => {
                let times = passed.iter().filter(|at| at.support == last.support).count();
                assert!(times > 1 && passed.iter().all(|at| solution.value <= at.value), "seed {seed}: no cycle");
                cycles += 1;
            }
            Status::MaxIterations => {
                assert_eq!(solution.iterations, 100, "seed {seed}");
                limits += 1;
            }
            other => panic!("seed {seed}: {other}"),
        }
    }
    assert_eq!(fixed + cycles + limits, 200);
    assert!(fixed >= 100 && cycles >= 1, "{fixed} fixed points, {cycles} cycles, {limits} limits");
}
