//! Degenerate data and bad requests: every one has a defined answer, a typed error or a status that says what happened.
mod requests;

use crate::common::{Problem, Table, check_form, close, every_solver, normals, rng, sign, smooth_losses};
use ksparse::design::{Dense, Scaled};
use ksparse::loss::{self, Hinge, Logistic, Squared, TargetKind};
use ksparse::solver::{self, Effort, Fbs, Foba, Grahtp, Grasp, Limits, Solution, Solver, Status, Step};
use ksparse::{Auto, Custom, Error, Risk, SparseRef, Sparsity};
use std::ops::ControlFlow;
use std::time::Duration;

fn data(seed: u64, n: usize, p: usize, loss: usize) -> Problem {
    let rng = &mut rng(seed);
    Problem::new(Table::gaussian(rng, n, p, 0.2), smooth_losses().swap_remove(loss), 3, 2.0, rng)
}

/// Every solver on one problem, the answer checked and handed on.
fn each(problem: &Problem, sparsity: &Sparsity, mut then: impl FnMut(&str, &Solution)) {
    let risk = problem.risk();
    for solver in every_solver() {
        let what = format!("{} with {} loss, {}x{}", solver.name(), problem.loss.name(), problem.x.n, problem.x.p);
        let solution = solver.fit(&risk, sparsity).unwrap_or_else(|e| panic!("{what}: {e}"));
        problem.check(&what, &solution, sparsity.k, &sparsity.keep);
        then(&what, &solution);
    }
}

#[test]
fn separable_data_without_a_ridge_are_reported() {
    for intercept in [false, true] {
        let mut problem = data(1, 40, 8, 1);
        problem.intercept = intercept;
        problem.y = (0..40).map(|i| sign(problem.x.at(i, 0))).collect();
        each(&problem, &Sparsity::new(3), |what, solution| {
            assert_eq!(solution.status, Status::Unattained, "{what}");
            assert!(solution.value < 1e-6, "{what}: {}", solution.value);
        });
        // A ridge, and there is a minimum.
        each(&problem.ridge(1e-4), &Sparsity::new(3), |what, solution| {
            assert_ne!(solution.status, Status::Unattained, "{what}");
        });
    }
    // One class only: the intercept alone runs away.
    let mut problem = data(2, 20, 4, 1).intercept();
    problem.y = vec![1.0; 20];
    each(&problem, &Sparsity::new(1), |what, solution| assert_eq!(solution.status, Status::Unattained, "{what}"));
    // The other losses have a minimum on separable data.
    for loss in [2, 3] {
        let mut problem = data(3, 40, 8, loss);
        problem.y = (0..40).map(|i| sign(problem.x.at(i, 0))).collect();
        each(&problem, &Sparsity::new(3), |what, solution| assert_ne!(solution.status, Status::Unattained, "{what}"));
    }
}

#[test]
fn duplicate_and_empty_columns_do_no_harm() {
    for loss in 0..4 {
        for ridge in [0.0, 1e-3] {
            let mut problem = data(10 + loss as u64, 60, 6, loss).ridge(ridge);
            // Overlapping classes keep the minimum finite.
            problem.y.iter_mut().step_by(4).for_each(|y| *y = -*y);
            let distinct = problem.risk();
            let best = Auto::default().fit(&distinct, &Sparsity::new(6)).unwrap().value;
            // Each column twice, two empty ones: with k = all the minimum without a ridge is that of the distinct
            // columns.
            let doubled =
                Problem { x: problem.x.columns(&[0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 0]), ..data(0, 2, 2, loss) };
            let x = doubled.x.map(|_, j, v| if j >= 12 { 0.0 } else { v });
            let doubled = Problem { x, y: problem.y.clone(), ridge, ..doubled };
            each(&doubled, &Sparsity::new(3), |_, _| ());
            each(&doubled, &Sparsity::new(14), |what, solution| {
                let tolerance = if what.starts_with("fgrahtp") || what.starts_with("iht") { 1e-2 } else { 1e-7 };
                if ridge == 0.0 {
                    assert!(close(solution.value, best, tolerance, 0.0), "{what}: {} against {best}", solution.value);
                } else {
                    assert!(solution.value <= best * (1.0 + tolerance), "{what}: {} against {best}", solution.value);
                }
            });
        }
    }
    // Nothing but empty columns: zero is optimal.
    for loss in 0..4 {
        let mut problem = data(20, 12, 5, loss);
        problem.x = problem.x.map(|_, _, _| 0.0);
        let zero = problem.value(SparseRef::ZERO);
        each(&problem, &Sparsity::new(2), |what, s| assert!(close(s.value, zero, 1e-12, 0.0), "{what}"));
    }
}

#[test]
fn a_constant_column_competes_with_the_intercept_and_loses() {
    for loss in 0..4 {
        let mut problem = data(30, 80, 6, loss).ridge(1e-3).intercept();
        problem.x = problem.x.map(|_, j, v| if j == 2 { 1.0 } else { v });
        each(&problem, &Sparsity::new(3), |what, solution| {
            let weight = solution.support.iter().position(|&j| j == 2).map_or(0.0, |i| solution.coefficients[i]);
            // Penalised, it cannot do what the unpenalised intercept does for nothing.
            assert!(weight.abs() < 0.05, "{what}: {weight}");
        });
        // Standardised it is empty.
        let view = Scaled::standardize(problem.x.dense(), None).unwrap();
        let risk = problem.risk_on(view);
        for solver in every_solver() {
            let solution = solver.fit(&risk, &Sparsity::new(6)).unwrap();
            check_form(solver.name(), &solution, 7);
        }
    }
}

#[test]
fn extreme_shapes_and_budgets() {
    for (n, p) in [(1, 1), (1, 5), (5, 1), (3, 12), (2, 2)] {
        for loss in 0..4 {
            for ridge in [0.0, 1e-2] {
                for intercept in [false, true] {
                    let mut problem = data(40, n, p, loss).ridge(ridge);
                    problem.intercept = intercept;
                    for k in [0, 1, n, n + 2, p, p + 1, usize::MAX] {
                        each(&problem, &Sparsity::new(k), |_, _| ());
                    }
                }
            }
        }
    }
    // k = 0: only what is free.
    each(&data(41, 30, 5, 1), &Sparsity::new(0), |what, s| assert!(s.support.is_empty(), "{what}"));
    each(&data(41, 30, 5, 1).intercept(), &Sparsity::new(0), |what, s| assert_eq!(s.support, [5], "{what}"));
    // No columns at all.
    for intercept in [false, true] {
        let mut problem = data(42, 10, 4, 0);
        problem.x = problem.x.columns(&[]);
        problem.intercept = intercept;
        each(&problem, &Sparsity::new(3), |what, s| assert_eq!(s.support.len(), usize::from(intercept), "{what}"));
    }
}

#[test]
fn k_of_all_coordinates_is_the_unconstrained_minimum() {
    for loss in 0..4 {
        let problem = data(50, 60, 7, loss).ridge(1e-2).intercept();
        let risk = problem.risk();
        let keep_all = Auto::default().fit(&risk, &Sparsity::new(0).keep(0..7)).unwrap().value;
        each(&problem, &Sparsity::new(7), |what, s| assert!(close(s.value, keep_all, 1e-4, 0.0), "{what}"));
        each(&problem, &Sparsity::new(2).keep(0..8), |what, s| {
            assert_eq!(s.support, (0..8).collect::<Vec<_>>(), "{what}");
            assert!(close(s.value, keep_all, 1e-4, 0.0), "{what}");
        });
    }
}

#[test]
fn kept_coordinates_are_in_and_cost_nothing() {
    for loss in 0..4 {
        let problem = data(60, 70, 9, loss).ridge(1e-3);
        each(&problem, &Sparsity::new(2).keep([8, 1, 8]), |what, s| {
            assert!(
                s.support.contains(&1) && s.support.contains(&8) && s.support.len() == 4,
                "{what}: {:?}",
                s.support
            );
        });
        for solver in every_solver() {
            let start = Solution::guess(vec![7, 3], vec![0.5, -0.5]);
            let s = solver.fit_from(&problem.risk(), &Sparsity::new(2).keep([4]), &start).unwrap();
            problem.check(solver.name(), &s, 2, &[4]);
            assert!(s.support.contains(&4), "{}", solver.name());
        }
    }
    let risk = data(60, 70, 9, 0);
    let risk = risk.risk();
    let error = Auto::default().fit(&risk, &Sparsity::new(1).keep([9])).unwrap_err();
    assert!(matches!(error, Error::IndexOutOfRange { index: 9, bound: 9, .. }), "{error}");
}

#[test]
fn rows_of_weight_zero_do_not_exist() {
    for loss in 0..4 {
        let mut problem = data(70, 50, 6, loss).ridge(1e-3).intercept();
        let few = Problem {
            x: problem.x.rows(&(0..25).collect::<Vec<_>>()),
            y: problem.y[..25].to_vec(),
            ..data(0, 2, 2, loss)
        };
        let few = few.ridge(1e-3).intercept();
        // Wild values where the weight is zero.
        problem.x = problem.x.map(|i, _, v| if i < 25 { v } else { 1e6 * v });
        let weighted = problem.weights((0..50).map(|i| if i < 25 { 2.5 } else { 0.0 }).collect());
        for solver in
            [Box::new(Auto::default()) as Box<dyn Solver>, Box::new(Grahtp::default()), Box::new(Fbs::default())]
        {
            let a = solver.fit(&weighted.risk(), &Sparsity::new(3)).unwrap();
            let b = solver.fit(&few.risk(), &Sparsity::new(3)).unwrap();
            assert_eq!(a.support, b.support, "{}", solver.name());
            assert!(close(a.value, b.value, 1e-9, 0.0), "{}: {} {}", solver.name(), a.value, b.value);
        }
    }
}

#[test]
fn units_of_the_columns_may_be_sixteen_decades_apart() {
    for loss in 0..4 {
        let mut problem = data(80, 90, 8, loss);
        problem.y.iter_mut().step_by(5).for_each(|y| *y = -*y);
        let unit = |j: usize| 10f64.powi([0, 8, -8, 3, -3, 5, -5, 0][j]);
        let scaled = Problem { x: problem.x.map(|_, j, v| v * unit(j)), y: problem.y.clone(), ..data(0, 2, 2, loss) };
        each(&scaled, &Sparsity::new(3), |_, _| ());
        // All coordinates: the minimum does not know about units, for the solvers that minimise on supports.
        let best = Fbs::default().fit(&problem.risk(), &Sparsity::new(8)).unwrap().value;
        for name in ["auto", "grahtp", "htp", "grasp", "fbs", "foba"] {
            let found = solver::by_name(name).unwrap().fit(&scaled.risk(), &Sparsity::new(8)).unwrap().value;
            assert!(close(found, best, 1e-7, 0.0), "{name}, {}: {found} against {best}", problem.loss.name());
        }
    }
}

/// Each solver with these limits.
fn limited(limits: Limits) -> Vec<Box<dyn Solver>> {
    vec![
        Box::new(Auto { limits: limits.clone(), effort: Effort::QUICK, ..Auto::default() }),
        Box::new(Grahtp { limits: limits.clone(), ..Grahtp::default() }),
        Box::new(Grahtp { limits: limits.clone(), ..Grahtp::fast() }),
        Box::new(Grahtp { limits: limits.clone(), step: Step::Fixed(0.01), ..Grahtp::default() }),
        Box::new(Grahtp { limits: limits.clone(), step: Step::Fixed(0.01), ..Grahtp::fast() }),
        Box::new(Grasp { limits: limits.clone(), ..Grasp::default() }),
        Box::new(Fbs { limits: limits.clone() }),
        Box::new(Foba { limits: limits.clone(), ..Foba::default() }),
    ]
}

#[test]
fn limits_and_watchers_end_a_run_with_the_best_point_so_far() {
    let rng = &mut rng(130);
    let x = Table::gaussian(rng, 100, 60, 0.6);
    let problem = Problem::new(x, smooth_losses().swap_remove(1), 8, 1.0, rng).ridge(1e-3);
    let risk = problem.risk();
    let k = Sparsity::new(12);
    for solver in limited(Limits { max_iterations: 1, ..Limits::default() }) {
        let solution = solver.fit(&risk, &k).unwrap();
        problem.check(solver.name(), &solution, 12, &[]);
        assert_eq!((solution.iterations, solution.status), (1, Status::MaxIterations), "{}", solver.name());
    }
    for solver in limited(Limits { time_limit: Some(Duration::ZERO), ..Limits::default() }) {
        let solution = solver.fit(&risk, &k).unwrap();
        problem.check(solver.name(), &solution, 12, &[]);
        assert_eq!(solution.status, Status::TimeLimit, "{}", solver.name());
        assert!(solution.iterations <= 1, "{}: {}", solver.name(), solution.iterations);
    }
    for solver in limited(Limits::default()) {
        let mut best = f64::INFINITY;
        let mut calls = 0;
        let watch = &mut |p: &ksparse::Progress| {
            calls += 1;
            best = best.min(p.value);
            if p.iteration == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let solution = solver.solve(&risk, &k, None, watch).unwrap();
        problem.check(solver.name(), &solution, 12, &[]);
        assert_eq!((solution.iterations, solution.status, calls), (2, Status::Stopped, 2), "{}", solver.name());
        assert!(solution.value <= best, "{}", solver.name());
    }
    // A search for all k at once is asked between its rounds.
    let mut calls = 0;
    let watch = &mut |_: &ksparse::Progress| {
        calls += 1;
        ControlFlow::Break(())
    };
    let solution = Auto::default().solve(&risk, &k, None, watch).unwrap();
    problem.check("auto", &solution, 12, &[]);
    assert_eq!((solution.iterations, solution.status, calls), (1, Status::Stopped, 1));
    let hurried = Auto { limits: Limits { time_limit: Some(Duration::ZERO), ..Limits::default() }, ..Auto::default() };
    assert_eq!(hurried.fit(&risk, &k).unwrap().status, Status::TimeLimit);
}

#[test]
fn a_step_that_is_too_long_diverges_without_an_error() {
    let rng = &mut rng(140);
    let problem = Problem::new(Table::gaussian(rng, 60, 20, 0.3), smooth_losses().swap_remove(0), 4, 2.0, rng);
    let risk = problem.risk();
    let limits = Limits { max_iterations: 100_000, ..Limits::default() };
    let solution = Grahtp { step: Step::Fixed(50.0), limits: limits.clone(), ..Grahtp::fast() }
        .fit(&risk, &Sparsity::new(4))
        .unwrap();
    assert_eq!(solution.status, Status::Diverged);
    problem.check("diverged", &solution, 4, &[]);
    let cycling = Grahtp { step: Step::Fixed(50.0), limits: limits.clone(), ..Grahtp::default() }
        .fit(&risk, &Sparsity::new(4))
        .unwrap();
    assert!(matches!(cycling.status, Status::Cycled | Status::SupportStable), "{:?}", cycling.status);
}

#[test]
fn losses_survive_huge_predictions() {
    for loss in smooth_losses() {
        let target = if loss.target() == TargetKind::Sign { 1.0 } else { 0.5 };
        for z in [-1e150, -1e4, 0.0, 1e4, 1e150] {
            let local = loss.at(z, target);
            assert!(
                !local.value.is_nan() && local.derivative.is_finite() && local.curvature.is_finite(),
                "{loss:?} {z}"
            );
        }
    }
    // A warm start from the far tail, where a logistic curvature underflows, comes back.
    for loss in 1..4 {
        let problem = data(150, 50, 6, loss).ridge(1e-3);
        let far: Vec<f64> = normals(&mut rng(1), 3).iter().map(|v| 1e5 * v).collect();
        let start = Solution::guess(vec![0, 2, 4], far);
        let cold = Grahtp::default().fit(&problem.risk(), &Sparsity::new(3)).unwrap();
        let warm = Grahtp::default().fit_from(&problem.risk(), &Sparsity::new(3), &start).unwrap();
        problem.check("far start", &warm, 3, &[]);
        assert!(warm.value <= 2.0 * cold.value, "{loss}: {} against {}", warm.value, cold.value);
    }
    let problem = data(151, 10, 3, 1);
    assert!(problem.risk().value(SparseRef::new(&[0], &[1e300])).is_finite());
}
