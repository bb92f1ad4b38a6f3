//! The hinge loss, which has a corner.

use super::brute_force;
use crate::common::{self, Problem, Table, close, rng};
use ksparse::loss::{Hinge, Huber};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::solver::{self, Grahtp, Solver, Step};
use ksparse::{Error, Objective, Risk, SparseRef, Sparsity};
use rand::Rng;

#[test]
fn hinge_is_minimised_on_a_support() {
    for seed in 0..12u64 {
        let rng = &mut rng(500 + seed);
        let x = Table::gaussian(rng, 50, 9, 0.3);
        let mut problem =
            Problem::new(x, Box::new(Hinge), 4, 1.5, rng).ridge([1.0, 0.1, 1e-2, 1e-3][seed as usize % 4]);
        problem.intercept = seed % 3 == 0;
        if seed % 2 == 0 {
            problem = problem.weights((0..50).map(|i| (i % 4) as f64).collect());
        }
        let risk = problem.risk();
        let mut support = vec![1, 2, 5, 7];
        support.extend_from_slice(risk.free());
        let mut x = vec![0.0; support.len()];
        let outcome = minimise(&mut *risk.restrict(&support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap();
        assert!(close(outcome.value, problem.value_at(SparseRef::new(&support, &x)), 1e-9, 0.0), "seed {seed}");
        // The loss with its corner rounded over gamma lies below by gamma / 2 at most: Newton's method knows its
        // minimum.
        let gamma = 1e-4;
        let mut rounded = Risk::new(problem.x.dense(), &problem.y, Huber::new(gamma).unwrap()).unwrap();
        if let Some(weights) = &problem.weights {
            rounded = rounded.with_weights(weights).unwrap();
        }
        rounded = rounded.with_ridge(problem.ridge).unwrap();
        rounded = if problem.intercept { rounded.with_intercept() } else { rounded };
        let mut z = x.clone();
        let below = minimise(&mut *rounded.restrict(&support).unwrap(), &mut z, &InnerOptions::EXACT).unwrap().value;
        let excess = outcome.value - below;
        assert!((-1e-8..=0.5 * gamma + 1e-8).contains(&excess), "seed {seed}: {} above {below}", outcome.value);
        // No neighbour is better.
        for _ in 0..200 {
            let h = 10f64.powf(rng.random_range(-5.0..0.0));
            let y: Vec<f64> = x.iter().map(|x| x + h * common::normal(rng)).collect();
            assert!(risk.value(SparseRef::new(&support, &y)) >= outcome.value - 1e-8, "seed {seed}, h {h}");
        }
        // From its own answer there is nowhere to go.
        let mut again = x.clone();
        let second = minimise(&mut *risk.restrict(&support).unwrap(), &mut again, &InnerOptions::EXACT).unwrap();
        assert!(second.value <= outcome.value * (1.0 + 1e-12), "seed {seed}");
    }
}

#[test]
fn hinge_goes_to_auto_htp_and_iht() {
    let (mut optimal, mut total) = (0, 0);
    for seed in 0..20u64 {
        let rng = &mut rng(600 + seed);
        let x = Table::gaussian(rng, 40, 9, [0.0, 0.6][seed as usize % 2]);
        let mut problem = Problem::new(x, Box::new(Hinge), 3, 2.0, rng).ridge(10f64.powi(-(seed as i32 % 4)));
        problem.y[3] = -problem.y[3];
        problem.intercept = seed % 5 == 4;
        let risk = problem.risk();
        let (least, ..) = brute_force(&risk, 3);
        for name in ["auto", "htp", "iht", "grahtp", "fgrahtp", "diht", "sdiht", "svrght"] {
            let what = format!("{name}, seed {seed}");
            let solution = solver::by_name(name).unwrap().fit(&risk, &Sparsity::new(3)).unwrap();
            problem.check(&what, &solution, 3, &[]);
            assert!(solution.value >= least * (1.0 - 1e-8), "{what}: {} below {least}", solution.value);
            assert!(solution.value <= problem.value(SparseRef::ZERO) * (1.0 + 1e-12), "{what}");
            if name == "auto" {
                total += 1;
                optimal += usize::from(solution.value <= least * (1.0 + 1e-6));
            }
        }
        let fixed = Grahtp { step: Step::Fixed(0.01), ..Grahtp::iht() };
        problem.check("fixed", &fixed.fit(&risk, &Sparsity::new(3)).unwrap(), 3, &[]);
        let theory = Grahtp { step: Step::Theory, ..Grahtp::htp() };
        assert!(matches!(theory.fit(&risk, &Sparsity::new(3)), Err(Error::Unsupported { solver: "htp", .. })));
    }
    eprintln!("auto finds the optimum of {optimal} of {total} hinge problems");
    assert!(optimal as f64 >= 0.9 * total as f64, "{optimal} of {total}");
}
