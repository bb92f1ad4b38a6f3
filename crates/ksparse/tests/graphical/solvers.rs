//! The library's solvers on precision matrices: what each promises, and that they are the papers' methods.

use super::{apart, eigenvalues, model};
use faer::Mat;
use faer::prelude::Solve;
use ksparse::design::Dense;
use ksparse::graphical::{Bounds, Covariance, Precision, Units, coordinate, entry};
use ksparse::solver::{self, Debias, Fbs, Grahtp, Grasp, ModelSearch, Solver, Step};
use ksparse::{Auto, Objective, Path, Solution, Sparsity, Threads, simulate};

fn every_solver() -> Vec<Box<dyn Solver>> {
    vec![
        Box::new(Grahtp::default()),
        Box::new(Grahtp { scaled: true, ..Grahtp::default() }),
        Box::new(ModelSearch::default()),
        Box::new(Grahtp::fast()),
        Box::new(Grahtp { debias: Debias::NewtonStep, ..Grahtp::default() }),
        Box::new(Grahtp { debias: Debias::GradientStep, ..Grahtp::default() }),
        Box::new(Grahtp { step: Step::Theory, ..Grahtp::default() }),
        Box::new(Grasp::default()),
        Box::new(Grasp { debias: false, ..Grasp::default() }),
        Box::new(Fbs::default()),
        solver::by_name("foba").unwrap(),
        solver::by_name("auto").unwrap(),
    ]
}

/// k edges at most, symmetric, positive definite, within the bounds.
fn check(model: &Precision, solution: &Solution, k: usize, name: &str) {
    let network = model.network(solution);
    assert!(network.edges().len() <= k, "{name}: {} edges", network.edges().len());
    let p = model.variables();
    assert!((0..p).all(|i| solution.support.contains(&coordinate(i, i))), "{name}: the diagonal is free");
    let values = eigenvalues(network.precision());
    let Bounds { alpha, beta } = model.bounds();
    assert!(values[0] >= alpha * (1.0 - 1e-8) && values[p - 1] <= beta * (1.0 + 1e-8), "{name}: {values:?}");
    let again = model.value(solution.as_sparse()).unwrap();
    assert!(
        (again - solution.value).abs() <= 1e-9 * again.abs().max(1.0),
        "{name}: {again} against {}",
        solution.value
    );
}

#[test]
fn every_solver_keeps_the_promises() {
    for (n, p, k, seed) in [(100, 12, 8, 1), (8, 12, 10, 2), (60, 20, 25, 3)] {
        let model = model(n, p, seed);
        let empty = Grahtp::default().fit(&model, &Sparsity::new(0)).unwrap();
        for solver in every_solver() {
            let solution = solver.fit(&model, &Sparsity::new(k)).unwrap();
            check(&model, &solution, k, solver.name());
            assert!(solution.value < empty.value, "{} on n {n}", solver.name());
        }
    }
}

#[test]
fn the_objective_never_rises() {
    let adaptive: Vec<Box<dyn Solver>> = vec![
        Box::new(Grahtp::default()),
        Box::new(Grahtp { scaled: true, ..Grahtp::default() }),
        Box::new(ModelSearch::default()),
        Box::new(Grahtp::fast()),
        Box::new(Fbs::default()),
        solver::by_name("auto").unwrap(),
    ];
    for seed in 0..4 {
        let model = model(50, 20, seed);
        for solver in &adaptive {
            let solution = solver.fit(&model, &Sparsity::new(20)).unwrap();
            let values: Vec<f64> = solution.trace.iter().map(|row| row.value).collect();
            let falls = values.windows(2).all(|v| v[1] <= v[0] + 1e-9 * v[0].abs().max(1.0));
            assert!(falls, "{} on seed {seed}: {values:?}", solver.name());
        }
        let path = Path::over([0, 5, 10, 20, 40, 80, 190]).fit(&model, &Grahtp::default()).unwrap();
        assert!(path.solutions.windows(2).all(|s| s[1].value <= s[0].value + 1e-9));
    }
}

#[test]
fn all_edges_are_the_inverse_covariance() {
    let model = model(100, 10, 5);
    let inverse = model.covariance().matrix().partial_piv_lu().solve(Mat::<f64>::identity(10, 10));
    for solver in [&Grahtp::default() as &dyn Solver, &Grasp::default(), &Fbs::default()] {
        let solution = solver.fit(&model, &Sparsity::new(1000)).unwrap();
        let size = (0..10).map(|i| inverse[(i, i)]).fold(0.0, f64::max);
        assert!(apart(model.network(&solution).precision(), &inverse) < 1e-5 * size, "{}", solver.name());
    }
}

/// The papers' modified GraHTP with a constant step, on matrices and by the book: O0 = alpha I, gradient S - O^-1, the
/// k largest pairs, S3.
fn by_the_book(model: &Precision, k: usize, eta: f64, rounds: usize) -> Vec<usize> {
    let p = model.variables();
    let s = model.covariance().matrix();
    let mut o = Mat::from_fn(p, p, |i, j| if i == j { model.bounds().alpha } else { 0.0 });
    let mut support = Vec::new();
    for _ in 0..rounds {
        let inverse = o.partial_piv_lu().solve(Mat::<f64>::identity(p, p));
        let moved = Mat::from_fn(p, p, |i, j| o[(i, j)] - eta * (s[(i, j)] - inverse[(i, j)]));
        let mut pairs: Vec<usize> = (0..model.dim()).filter(|&c| entry(c).0 != entry(c).1).collect();
        pairs.sort_by(|&a, &b| moved[entry(b)].abs().total_cmp(&moved[entry(a)].abs()).then(a.cmp(&b)));
        pairs.truncate(k);
        pairs.extend((0..p).map(|i| coordinate(i, i)));
        pairs.sort_unstable();
        support = pairs;
        let mut x = vec![0.0; support.len()];
        ksparse::restricted::minimise(
            &mut *model.restrict(&support).unwrap(),
            &mut x,
            &ksparse::restricted::InnerOptions::EXACT,
        )
        .unwrap();
        o = model.matrix(ksparse::SparseRef::new(&support, &x));
    }
    support
}

#[test]
fn a_fixed_step_is_the_papers_method() {
    let model = model(80, 12, 6);
    for (eta, rounds) in [(0.01, 1), (0.3, 1), (0.3, 2), (0.3, 3), (1.0, 3)] {
        let grahtp = Grahtp {
            step: Step::Fixed(eta),
            limits: solver::Limits { max_iterations: rounds, tolerance: 0.0, ..Default::default() },
            ..Grahtp::default()
        };
        let mut last = Vec::new();
        grahtp
            .solve(&model, &Sparsity::new(9), Some(&model.start()), &mut |progress| {
                last = progress.support.to_vec();
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(last, by_the_book(&model, 9, eta, rounds), "eta {eta}, {rounds} rounds");
    }
}

#[test]
fn small_graphs_against_every_support() {
    let mut found = 0;
    for seed in 0..10 {
        let model = model(30, 5, 100 + seed);
        let pairs: Vec<(usize, usize)> = (0..5).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
        let k = 3;
        let mut best = f64::INFINITY;
        for mask in (0..1u32 << 10).filter(|m| m.count_ones() == k) {
            let edges: Vec<(usize, usize)> = (0..10).filter(|b| mask >> b & 1 == 1).map(|b| pairs[b]).collect();
            let on = super::support(5, &edges);
            let mut x = vec![0.0; on.len()];
            let options = ksparse::restricted::InnerOptions::EXACT;
            best = best.min(
                ksparse::restricted::minimise(&mut *model.restrict(&on).unwrap(), &mut x, &options).unwrap().value,
            );
        }
        let auto = solver::by_name("auto").unwrap().fit(&model, &Sparsity::new(k as usize)).unwrap();
        assert!(auto.value >= best - 1e-8);
        found += usize::from(auto.value <= best + 1e-7);
    }
    assert!(found >= 9, "auto found the best of all graphs in {found} of 10 cases");
}

/// Clusters of variables that are nearly the same: the largest gradients all lie within one of them.
#[test]
fn model_search_is_not_fooled_by_clusters() {
    let (mut ours, mut plain, mut forward) = (0.0, 0.0, 0.0);
    for seed in 1..5 {
        let (n, p, clusters) = (60, 40, 4);
        let noise = simulate::compressed_sensing(n, p + clusters, 1, seed).design;
        let value = |i: usize, j: usize| 3.0 * noise.column(p + j % clusters)[i] + noise.column(j)[i];
        let columns: Vec<f64> = (0..p).flat_map(|j| (0..n).map(move |i| (i, j))).map(|(i, j)| value(i, j)).collect();
        let samples = Dense::from_columns(n, p, columns).unwrap();
        let model = Precision::new(Covariance::from_samples(&samples, Units::Standardized).unwrap()).unwrap();
        let fit = |solver: &dyn Solver| solver.fit(&model, &Sparsity::new(40)).unwrap().value;
        ours += fit(&ModelSearch::default());
        plain += fit(&Grahtp::default());
        forward += fit(&Fbs::default());
    }
    assert!(ours < forward && ours < plain, "{ours}, plain {plain}, forward selection {forward}");
}

/// What `auto` reached on networks when its leaps dropped the smallest edges only: never less since.
#[test]
fn auto_is_never_above_what_it_was() {
    // Variables, rows, seed, edges, f.
    let before = [
        (10, 20, 3, 20, 5.595287143512),
        (10, 20, 11, 10, 6.185908155322),
        (20, 200, 9, 20, 15.1330438882),
        (20, 40, 10, 20, 12.64987624917),
        (25, 50, 3, 50, 13.50663390933),
        (30, 60, 3, 60, 18.15308605936),
        (40, 400, 3, 40, 29.2309212719),
    ];
    let mut gained = 0.0;
    for (p, n, seed, k, value) in before {
        let samples = simulate::precision(n, 2, p, seed).train;
        let model = Precision::new(Covariance::from_samples(&samples, Units::Standardized).unwrap()).unwrap();
        let found = Auto::default().fit(&model, &Sparsity::new(k)).unwrap().value;
        assert!(found <= value + 1e-9 * value, "{p} variables, seed {seed}: {found}, was {value}");
        gained += value - found;
    }
    assert!(gained > 0.04, "gained {gained}");
}

#[test]
fn warm_starts_of_any_kind_are_taken() {
    let model = model(60, 10, 7);
    let big = Grahtp::default().fit(&model, &Sparsity::new(20)).unwrap();
    for solver in every_solver() {
        // Cut to fewer edges the matrix may leave the cone; without a diagonal it is not even a matrix.
        for start in [big.clone(), model.start(), Solution::guess(vec![coordinate(3, 1)], vec![5.0])] {
            let solution = solver.fit_from(&model, &Sparsity::new(4), &start).unwrap();
            check(&model, &solution, 4, solver.name());
        }
    }
}

#[test]
fn forced_edges_are_kept() {
    let model = model(60, 8, 8);
    let forced = coordinate(7, 0);
    let solution = Grahtp::default().fit(&model, &Sparsity::new(3).keep([forced])).unwrap();
    assert!(solution.support.contains(&forced));
    assert_eq!(solution.support.len(), 8 + 1 + 3);
}

#[test]
fn threads_change_no_bit() {
    // Large enough for inverses and products to be split.
    let model = model(150, 90, 9);
    let fit = |threads: usize, solver: &dyn Solver| {
        Threads::new(threads).unwrap().run(|| solver.fit(&model, &Sparsity::new(150)).unwrap())
    };
    for solver in [&Grahtp::default() as &dyn Solver, &Grasp::default(), &Grahtp::fast()] {
        let (one, two, eight) = (fit(1, solver), fit(2, solver), fit(8, solver));
        for other in [two, eight] {
            assert_eq!(
                (&one.support, one.value.to_bits()),
                (&other.support, other.value.to_bits()),
                "{}",
                solver.name()
            );
            assert!(one.coefficients.iter().zip(&other.coefficients).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }
}
