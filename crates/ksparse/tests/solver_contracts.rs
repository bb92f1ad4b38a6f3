//! What every solver owes: a feasible, finite point with the value it claims; the same answer for the same data however
//! stored, ordered, weighted or split over threads; nothing left to do from its own answer.

use crate::common::{
    Problem, Table, assert_close, check_form, close, every_solver, normals, rng, shuffled, smooth_losses,
};
use ksparse::design::{Rows, Scaled};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::solver::{Debias, Foba, ForwardRule, Grahtp, Grasp, Limits, Solution, Solver, Status, Step};
use ksparse::{Custom, Objective, Risk, SparseRef, Sparsity, Threads};

const K: usize = 4;

/// Clear cases (strong signal, ridge): the answer should not hang on the last bits. All losses, some with weights and
/// intercept.
fn problems() -> Vec<(String, Problem)> {
    let mut out = Vec::new();
    for seed in 0..12u64 {
        let rng = &mut rng(1000 + seed);
        let loss = smooth_losses().swap_remove(seed as usize % 4);
        let name = format!("{} {seed}", loss.name());
        let x = Table::gaussian(rng, 120, 24, [0.0, 0.4][seed as usize / 4 % 2]).rounded();
        let mut problem = Problem::new(x, loss, K, 6.0, rng).ridge(1e-3);
        if seed % 3 == 0 {
            problem = problem.weights((0..120).map(|i| (i % 3) as f64).collect());
        }
        problem.intercept = seed % 2 == 1;
        out.push((name, problem));
    }
    out
}

/// The variants of the methods beside the named ones.
fn variants() -> Vec<(&'static str, Box<dyn Solver>)> {
    let grahtp = |debias, step| Grahtp { debias, step, ..Grahtp::default() };
    vec![
        ("newton step", Box::new(grahtp(Debias::NewtonStep, Step::Adaptive))),
        ("gradient step", Box::new(grahtp(Debias::GradientStep, Step::Adaptive))),
        ("fixed exact", Box::new(grahtp(Debias::Exact, Step::Fixed(0.3)))),
        ("fixed newton", Box::new(grahtp(Debias::NewtonStep, Step::Fixed(0.3)))),
        ("fixed gradient", Box::new(grahtp(Debias::GradientStep, Step::Fixed(0.3)))),
        ("fixed fast", Box::new(grahtp(Debias::Nothing, Step::Fixed(0.3)))),
        ("far too long", Box::new(grahtp(Debias::Nothing, Step::Fixed(1e4)))),
        ("too long exact", Box::new(grahtp(Debias::Exact, Step::Fixed(1e4)))),
        ("too long newton", Box::new(grahtp(Debias::NewtonStep, Step::Fixed(1e4)))),
        ("scaled", Box::new(Grahtp { scaled: true, ..Grahtp::default() })),
        ("grasp as published", Box::new(Grasp { debias: false, ..Grasp::default() })),
        ("grasp in units of curvature", Box::new(Grasp { scaled: true, ..Grasp::default() })),
        ("foba by decrease", Box::new(Foba { forward: ForwardRule::Decrease, ..Foba::default() })),
        ("foba, few candidates", Box::new(Foba { forward: ForwardRule::Decrease, candidates: 3, ..Foba::default() })),
    ]
}

/// Every solver, those without debiasing run until they stand still: their answer is only as sharp as their tolerance.
fn sharp_solvers() -> Vec<Box<dyn Solver>> {
    let limits = Limits { tolerance: 1e-11, max_iterations: 20_000, ..Limits::default() };
    let sharp = |solver: Box<dyn Solver>| -> Box<dyn Solver> {
        match solver.name() {
            "fgrahtp" => Box::new(Grahtp { limits: limits.clone(), ..Grahtp::fast() }),
            "iht" => Box::new(Grahtp { limits: limits.clone(), ..Grahtp::iht() }),
            _ => solver,
        }
    };
    every_solver().into_iter().map(sharp).collect()
}

/// Whether the method leaves f minimised on the support it returns.
fn debiases(solver: &dyn Solver) -> bool {
    !["fgrahtp", "iht"].contains(&solver.name())
}

fn assert_same(what: &str, found: &Solution, expected: &Solution, tolerance: f64) {
    assert_eq!(found.support, expected.support, "{what}");
    assert_close(what, &found.coefficients, &expected.coefficients, tolerance);
    assert!(close(found.value, expected.value, tolerance, 0.0), "{what}: {} {}", found.value, expected.value);
}

#[test]
fn answers_are_feasible_and_have_the_value_they_claim() {
    for (name, problem) in problems() {
        let risk = problem.risk();
        for k in [0, 1, K, 11, 24, 99] {
            for solver in every_solver() {
                let what = format!("{} on {name}, k = {k}", solver.name());
                let solution = solver.fit(&risk, &Sparsity::new(k)).unwrap();
                problem.check(&what, &solution, k, &[]);
                assert_eq!(solution.support.contains(&24), problem.intercept, "{what}: the intercept is free");
            }
        }
        for (variant, solver) in variants() {
            let solution = solver.fit(&risk, &Sparsity::new(K)).unwrap();
            problem.check(&format!("{variant} on {name}"), &solution, K, &[]);
            assert!(solution.value <= problem.value(SparseRef::ZERO) * (1.0 + 1e-12), "{variant} on {name}");
        }
    }
}

#[test]
fn refitting_on_the_support_reproduces_the_coefficients() {
    for (name, problem) in problems() {
        let risk = problem.risk();
        let variants = variants().into_iter().filter(|(v, _)| ["newton step", "scaled"].contains(v)).map(|v| v.1);
        for solver in sharp_solvers().into_iter().chain(variants) {
            let what = format!("{} on {name}", solver.name());
            let solution = solver.fit(&risk, &Sparsity::new(K)).unwrap();
            let mut x = vec![0.0; solution.support.len()];
            let outcome =
                minimise(&mut *risk.restrict(&solution.support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap();
            assert_close(&what, &solution.coefficients, &x, 1e-5);
            assert!(close(solution.value, outcome.value, 1e-9, 0.0), "{what}: {} {}", solution.value, outcome.value);
        }
    }
}

#[test]
fn the_storage_does_not_matter() {
    for (name, problem) in problems() {
        for solver in sharp_solvers() {
            let answers: Vec<(&str, Solution)> = (problem.x.every_storage().into_iter())
                .map(|(storage, x)| (storage, solver.fit(&problem.risk_on(x), &Sparsity::new(K)).unwrap()))
                .collect();
            for (storage, answer) in &answers[1..] {
                assert_same(&format!("{} on {name}, {storage}", solver.name()), answer, &answers[0].1, 1e-6);
            }
        }
    }
}

#[test]
fn single_precision_finds_the_same_support() {
    for (name, mut problem) in problems() {
        problem.x = problem.x.map(|i, j, v| v + 1e-3 * ((i * 31 + j * 17) as f64).sin());
        for solver in sharp_solvers() {
            let double = solver.fit(&problem.risk(), &Sparsity::new(K)).unwrap();
            let single = solver.fit(&problem.risk_on(problem.x.dense32()), &Sparsity::new(K)).unwrap();
            assert_same(&format!("{} on {name}", solver.name()), &single, &double, 1e-4);
        }
    }
}

#[test]
fn permuting_the_columns_permutes_the_answer() {
    for (name, problem) in problems() {
        let order = shuffled(&mut rng(5), 24);
        let permuted = problem.x.columns(&order);
        for solver in sharp_solvers() {
            let plain = solver.fit(&problem.risk(), &Sparsity::new(K)).unwrap();
            let other = solver.fit(&problem.risk_on(permuted.dense()), &Sparsity::new(K)).unwrap();
            // Coordinate c of the other problem is column order[c]; the intercept stays.
            let mut back: Vec<(usize, f64)> =
                other.as_sparse().iter().map(|(c, v)| (order.get(c).copied().unwrap_or(c), v)).collect();
            back.sort_by_key(|e| e.0);
            let (support, coefficients) = back.into_iter().unzip();
            let back = Solution { support, coefficients, ..other };
            assert_same(&format!("{} on {name}", solver.name()), &back, &plain, 1e-6);
        }
    }
}

#[test]
fn integer_weights_are_repeated_rows() {
    for (name, mut problem) in problems() {
        let counts: Vec<usize> = (0..120).map(|i| [2, 0, 1, 3][i % 4]).collect();
        let rows: Vec<usize> = (0..120).flat_map(|i| std::iter::repeat_n(i, counts[i])).collect();
        problem.weights = Some(counts.iter().map(|&c| c as f64).collect());
        let y: Vec<f64> = rows.iter().map(|&i| problem.y[i]).collect();
        let repeated = Problem { x: problem.x.rows(&rows), y, weights: None, loss: copy(&problem), ..problem };
        let view = Rows::new(problem.x.dense(), rows).unwrap();
        for solver in sharp_solvers() {
            let what = format!("{} on {name}", solver.name());
            let weighted = solver.fit(&problem.risk(), &Sparsity::new(K)).unwrap();
            let copied = solver.fit(&repeated.risk(), &Sparsity::new(K)).unwrap();
            let viewed = solver.fit(&repeated.risk_on(&view), &Sparsity::new(K)).unwrap();
            assert_same(&what, &copied, &weighted, 1e-6);
            assert_same(&what, &viewed, &weighted, 1e-6);
        }
    }
}

fn copy(problem: &Problem) -> Box<dyn ksparse::loss::Loss> {
    smooth_losses().into_iter().find(|l| l.name() == problem.loss.name()).unwrap()
}

#[test]
fn a_solver_has_nothing_to_do_from_its_own_answer() {
    for (name, problem) in problems() {
        let risk = problem.risk();
        for (solver, sharp) in every_solver().into_iter().zip(sharp_solvers()) {
            let what = format!("{} on {name}", solver.name());
            let first = sharp.fit(&risk, &Sparsity::new(K)).unwrap();
            let again = solver.fit_from(&risk, &Sparsity::new(K), &first).unwrap();
            assert_eq!(again.support, first.support, "{what}");
            assert!(again.value <= first.value * (1.0 + 1e-12), "{what}: {} after {}", again.value, first.value);
            let cycled = first.status == Status::Cycled;
            assert!(cycled || again.iterations <= 2, "{what}: {} iterations, {:?}", again.iterations, again.status);
        }
    }
}

#[test]
fn a_warm_start_of_another_size_is_cut_or_grown() {
    for (name, problem) in problems() {
        let risk = problem.risk();
        for solver in every_solver() {
            for (from, to) in [(9, K), (2, K), (0, K), (K, 0)] {
                let what = format!("{} on {name}: {from} to {to}", solver.name());
                let start = solver.fit(&risk, &Sparsity::new(from)).unwrap();
                let solution = solver.fit_from(&risk, &Sparsity::new(to), &start).unwrap();
                problem.check(&what, &solution, to, &[]);
                if to > from {
                    assert!(solution.value < start.value, "{what}");
                }
                if debiases(&*solver) {
                    let mut x = vec![0.0; solution.support.len()];
                    minimise(&mut *risk.restrict(&solution.support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap();
                    assert_close(&what, &solution.coefficients, &x, 1e-5);
                }
            }
        }
    }
}

#[test]
fn traces_tell_what_happened() {
    for (name, problem) in problems() {
        let risk = problem.risk();
        for solver in every_solver() {
            let what = format!("{} on {name}", solver.name());
            let mut seen = Vec::new();
            let watch = &mut |p: &ksparse::Progress| {
                assert_eq!(p.support.len(), p.coefficients.len());
                let point = SparseRef::new(p.support, p.coefficients);
                assert!(close(p.value, problem.value_at(point), 1e-9, 1e-9), "{what}: iteration {}", p.iteration);
                seen.push((p.iteration, p.value));
                std::ops::ControlFlow::Continue(())
            };
            let solution = solver.solve(&risk, &Sparsity::new(K), None, watch).unwrap();
            let rows = &solution.trace;
            assert_eq!(rows.len(), solution.iterations, "{what}");
            // `auto` shows points it tries and does not keep; every row has been shown all the same.
            if solver.name() == "auto" {
                assert!(rows.iter().all(|r| seen.contains(&(r.iteration, r.value))), "{what}");
            } else {
                assert_eq!(seen, rows.iter().map(|r| (r.iteration, r.value)).collect::<Vec<_>>(), "{what}");
            }
            assert!(rows.iter().enumerate().all(|(i, r)| r.iteration == i + 1), "{what}: counters");
            assert!(rows.windows(2).all(|w| w[0].seconds <= w[1].seconds), "{what}: clock");
            assert!(rows.iter().all(|r| r.value >= solution.value * (1.0 - 1e-12)), "{what}: not the best seen");
            if !["grasp", "foba"].contains(&solver.name()) {
                assert!(rows.windows(2).all(|w| w[1].value <= w[0].value * (1.0 + 1e-12)), "{what}: f rose");
            }
            assert!(rows.iter().all(|r| r.step.is_none_or(|s| s >= 0.0)), "{what}: step");
        }
    }
}

#[test]
fn a_function_of_the_users_own_gets_the_same_answer() {
    for (name, problem) in problems() {
        let risk = problem.risk();
        let all: Vec<usize> = (0..problem.dim()).collect();
        let custom =
            Custom::new(problem.dim(), |x, gradient| risk.value_and_gradient(SparseRef::new(&all, x), gradient));
        let custom = custom.with_free(risk.free().to_vec());
        for solver in sharp_solvers() {
            let what = format!("{} on {name}", solver.name());
            let known = solver.fit(&risk, &Sparsity::new(K)).unwrap();
            let unknown = solver.fit(&custom, &Sparsity::new(K)).unwrap();
            problem.check(&what, &unknown, K, &[]);
            assert_eq!(unknown.support, known.support, "{what}");
            assert!(close(unknown.value, known.value, 1e-9, 0.0), "{what}: {} {}", unknown.value, known.value);
        }
    }
}

#[test]
fn values_below_zero_are_no_obstacle() {
    // The nearest k-sparse vector, shifted far below zero.
    let target = normals(&mut rng(77), 20);
    let shifted = Custom::new(20, |x, gradient| {
        for j in 0..20 {
            gradient[j] = x[j] - target[j];
        }
        0.5 * gradient.iter().map(|g| g * g).sum::<f64>() - 50.0
    });
    let best = ksparse::sparsity::top_by(20, 6, |j| target[j].abs());
    for solver in every_solver() {
        let solution = solver.fit(&shifted, &Sparsity::new(6)).unwrap();
        check_form(solver.name(), &solution, 20);
        assert!(best.iter().all(|j| solution.support.contains(j)), "{}", solver.name());
        assert_ne!(solution.status, Status::MaxIterations, "{}", solver.name());
    }
}

/// The textbook iteration on half the sum of squares, by plain loops: `x + eta A'(y - Ax)`, k largest kept.
fn textbook_iht(problem: &Problem, eta: f64, iterations: usize) -> Vec<f64> {
    let (n, p) = (problem.x.n, problem.x.p);
    let mut x = vec![0.0; p];
    for _ in 0..iterations {
        let residual: Vec<f64> =
            (0..n).map(|i| problem.y[i] - (0..p).map(|j| problem.x.at(i, j) * x[j]).sum::<f64>()).collect();
        let moved: Vec<f64> =
            (0..p).map(|j| x[j] + eta * (0..n).map(|i| problem.x.at(i, j) * residual[i]).sum::<f64>()).collect();
        let mut order: Vec<usize> = (0..p).collect();
        order.sort_by(|&a, &b| moved[b].abs().total_cmp(&moved[a].abs()));
        x = vec![0.0; p];
        order[..K].iter().for_each(|&j| x[j] = moved[j]);
    }
    x
}

#[test]
fn iht_and_htp_take_the_textbook_steps() {
    let rng = &mut rng(88);
    let problem = Problem::new(Table::gaussian(rng, 60, 20, 0.3), smooth_losses().swap_remove(0), K, 2.0, rng);
    let risk = problem.risk();
    let eta = 0.005;
    for iterations in [1, 2, 5] {
        let limits = Limits { max_iterations: iterations, tolerance: 0.0, ..Limits::default() };
        let iht = Grahtp { step: Step::Fixed(eta), limits: limits.clone(), ..Grahtp::iht() };
        let solution = iht.fit(&risk, &Sparsity::new(K)).unwrap();
        let expected = textbook_iht(&problem, eta, iterations);
        assert_close("iht", &solution.as_sparse().to_dense(20), &expected, 1e-12);
    }
    let htp = Grahtp { step: Step::Fixed(eta), ..Grahtp::htp() };
    let first = Grahtp { limits: Limits { max_iterations: 1, ..Limits::default() }, ..htp.clone() };
    let expected = textbook_iht(&problem, eta, 1);
    let found = first.fit(&risk, &Sparsity::new(K)).unwrap();
    assert_eq!(found.support, (0..20).filter(|&j| expected[j] != 0.0).collect::<Vec<_>>());
    let last = htp.fit(&risk, &Sparsity::new(K)).unwrap();
    assert_eq!(last.status, Status::SupportStable);
    // GraHTP's step is on the mean: n times as long.
    let grahtp = Grahtp { step: Step::Fixed(60.0 * eta), ..Grahtp::default() };
    assert_same("grahtp", &grahtp.fit(&risk, &Sparsity::new(K)).unwrap(), &last, 1e-12);
}

/// Everything of an answer but the clock.
fn bits(solution: &Solution) -> (Vec<usize>, Vec<u64>, u64, Vec<u64>) {
    let values = solution.trace.iter().map(|r| r.value.to_bits()).collect();
    let coefficients = solution.coefficients.iter().map(|c| c.to_bits()).collect();
    (solution.support.clone(), coefficients, solution.value.to_bits(), values)
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    let rng = &mut rng(99);
    let pools = [1, 2, 8].map(|count| Threads::new(count).unwrap());
    let full = Table::gaussian(rng, 301, 803, 0.3).rounded();
    let thin = Table::sparse(rng, 1001, 1503, 0.15).rounded();
    for (l, loss) in smooth_losses().into_iter().enumerate().take(2) {
        let dense = Problem::new(full.clone(), loss, 12, 2.0, rng).ridge(1e-3).intercept();
        let sparse = Problem::new(thin.clone(), copy(&dense), 12, 2.0, rng).ridge(1e-3);
        let risks: Vec<(&str, Risk)> = vec![
            ("dense with intercept", dense.risk()),
            ("dense f32", dense.risk_on(dense.x.dense32())),
            ("dense scaled", dense.risk_on(Scaled::standardize(dense.x.dense(), None).unwrap())),
            ("sparse", sparse.risk_on(sparse.x.csc())),
            ("sparse f32", sparse.risk_on(sparse.x.csc32())),
            ("sparse scaled", sparse.risk_on(Scaled::standardize(sparse.x.csc(), None).unwrap())),
        ];
        for (design, risk) in &risks {
            assert!(risk.design().cost() > 200_000.0, "{design} is too small to be split");
            for solver in every_solver() {
                let run = |pool: &Threads| pool.run(|| bits(&solver.fit(risk, &Sparsity::new(12)).unwrap()));
                let [one, two, eight] = [run(&pools[0]), run(&pools[1]), run(&pools[2])];
                assert!(one == two && one == eight, "{} on {design}, loss {l}", solver.name());
            }
        }
    }
}
