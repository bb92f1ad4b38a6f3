//! Paths over k and grids over k and the ridge.
use ksparse::design::Dense;
use ksparse::loss::{Logistic, Squared};
use ksparse::simulate::{self, Correlation};
use ksparse::solver::{self, Auto, Fbs, Grahtp, Solver, Status};
use ksparse::{Custom, Error, Grid, Objective, Path, Risk, Sparsity};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::ControlFlow;
use std::time::Duration;

const AR: Correlation = Correlation::Ar1(0.7);

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

#[test]
fn values_never_rise_and_no_answer_is_worse_than_the_direct_one() {
    let regression = simulate::linear(80, 60, 8, AR, 2.0, 1);
    let labels = simulate::logistic(120, 60, 8, AR, 2);
    let risks = [
        Risk::new(&regression.design, &regression.target, Squared::default())
            .unwrap()
            .with_ridge(1e-3)
            .unwrap()
            .with_intercept(),
        Risk::new(&labels.design, &labels.target, Logistic::default()).unwrap().with_ridge(1e-3).unwrap(),
    ];
    for risk in &risks {
        for name in solver::GENERAL {
            let solver = solver::by_name(name).unwrap();
            let path = Path { from_zero: true, ..Path::over([0, 1, 2, 3, 5, 8, 12]) };
            let solved = path.fit(risk, &*solver).unwrap();
            assert_eq!(solved.ks, path.ks);
            assert_eq!((solved.stopped, solved.finished()), (None, 7));
            for pair in solved.solutions.windows(2) {
                assert!(pair[1].value <= pair[0].value, "{name}: {} after {}", pair[1].value, pair[0].value);
            }
            for (k, solution) in solved.iter() {
                let features = solution.support.iter().filter(|j| !risk.free().contains(j)).count();
                assert!(features <= k, "{name}: {features} features at k = {k}");
                assert!(close(risk.value(solution.as_sparse()), solution.value), "{name} at k = {k}");
                let direct = solver.fit(risk, &Sparsity::new(k)).unwrap();
                assert!(solution.value <= direct.value + 1e-9 * direct.value.abs(), "{name} at k = {k}");
            }
        }
    }
}

#[test]
fn sweeps_repair_what_forward_selection_got_wrong() {
    // The best single column is a decoy that the best pair does not contain: forward selection is wrong at k = 2.
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let n = 60;
    let (mut columns, mut y) = (vec![0.0; 3 * n], vec![0.0; n]);
    for i in 0..n {
        let mut draw = || random.random_range(-1.0..1.0);
        let (a, b) = (draw(), draw());
        (columns[i], columns[n + i], columns[2 * n + i]) = (a, b, a + b + 0.1 * draw());
        y[i] = a + b;
    }
    let x = Dense::from_columns(n, 3, columns).unwrap();
    let risk = Risk::new(&x, &y, Squared::default()).unwrap();
    let plain = Path { sweeps: 0, ..Path::over(1..=3) }.fit(&risk, &Fbs::default()).unwrap();
    let swept = Path::over(1..=3).fit(&risk, &Fbs::default()).unwrap();
    assert!(plain.at(2).unwrap().support.contains(&2));
    assert_eq!(swept.at(1).unwrap().support, [2]);
    assert_eq!(swept.at(2).unwrap().support, [0, 1]);
    assert!(swept.at(2).unwrap().value < 1e-20);
}

#[test]
fn a_path_runs_on_a_users_own_function_with_free_and_kept_coordinates() {
    let target = [3.0, -1.0, 2.0, 0.5, 0.1];
    let nearest = Custom::new(5, |x, gradient| {
        (0..5).for_each(|j| gradient[j] = x[j] - target[j]);
        gradient.iter().map(|g| 0.5 * g * g).sum()
    })
    .with_free(vec![4]);
    let path = Path::over([2, 1, 0, 1]).keep([1]).fit(&nearest, &Grahtp::default()).unwrap();
    assert_eq!(path.ks, [0, 1, 2]);
    let supports: Vec<&[usize]> = path.solutions.iter().map(|s| &s.support[..]).collect();
    assert_eq!(supports, [&[1, 4][..], &[0, 1, 4], &[0, 1, 2, 4]]);
    assert!(path.at(3).is_none());
}

#[test]
fn bad_paths_and_grids_are_refused() {
    let flat = Custom::new(1, |_, gradient| {
        gradient.fill(0.0);
        0.0
    });
    let empty = Path::over([]).fit(&flat, &Auto::default());
    assert!(matches!(empty, Err(Error::InvalidOption { option: "ks", .. })));
    assert!(Path { ks: vec![2, 1], ..Path::over([1]) }.validate().is_err());
    assert!(Path::over([1]).keep([7]).fit(&flat, &Auto::default()).is_err());
    for lambdas in [vec![], vec![-1.0], vec![f64::NAN], vec![f64::INFINITY]] {
        assert!(matches!(Grid::over([1], lambdas).validate(), Err(Error::InvalidOption { option: "lambdas", .. })));
    }
}

#[test]
fn stopping_returns_what_was_done() {
    let data = simulate::linear(100, 50, 10, AR, 1.0, 4);
    let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap();
    let plain = Path { sweeps: 0, ..Path::over(1..=10) }.fit(&risk, &Fbs::default()).unwrap();
    let mut seen = Vec::new();
    let mut watch = |progress: &ksparse::path::PathProgress| {
        assert_eq!((progress.total, progress.lambda), (10, None));
        assert_eq!(progress.done, progress.k - 1);
        seen.push(progress.k);
        if progress.k == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let path = Path::over(1..=10).solve(&risk, &Fbs::default(), &mut watch).unwrap();
    assert_eq!(seen, [1, 2, 3, 4]);
    assert_eq!(path.stopped, Some(Status::Stopped));
    assert_eq!((&path.ks[..], path.finished()), (&[1, 2, 3, 4][..], 3));
    for (done, whole) in path.solutions.iter().zip(&plain.solutions) {
        assert_eq!((&done.support, &done.coefficients), (&whole.support, &whole.coefficients));
    }

    let hurried = Path { time_limit: Some(Duration::ZERO), ..Path::over(1..=10) }.fit(&risk, &Auto::default()).unwrap();
    // All k are searched for at once: each has the best known, none is done.
    assert_eq!((hurried.stopped, hurried.ks.len(), hurried.finished()), (Some(Status::TimeLimit), 10, 0));
    assert!(hurried.solutions.windows(2).all(|pair| pair[1].value <= pair[0].value));

    let mut last = 0;
    let grid = Grid::over(1..=3, [0.1, 0.01]).solve(&risk, &Fbs::default(), &mut |progress| {
        assert!(progress.done >= last || progress.done == 3);
        last = progress.done;
        if progress.lambda == Some(0.01) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let grid = grid.unwrap();
    assert_eq!(grid.stopped(), Some(Status::Stopped));
    assert_eq!((grid.paths[0].ks.len(), grid.paths[1].ks.len()), (3, 1));
}

#[test]
fn grid_cells_are_minima_of_their_own_risk() {
    let data = simulate::logistic(150, 40, 6, AR, 5);
    let weights: Vec<f64> = (0..150).map(|i| 0.5 + (i % 3) as f64).collect();
    let ridged = |lambda: f64| {
        let plain = Risk::new(&data.design, &data.target, Logistic::default()).unwrap();
        plain.with_weights(&weights).unwrap().with_intercept().with_ridge(lambda).unwrap()
    };
    let base = ridged(123.0);
    let grid = Grid::over([1, 3, 6], [0.01, 1.0, 0.1, 0.1]);
    assert_eq!((grid.len(), grid.is_empty()), (9, false));
    for solver in [Box::new(Auto::default()) as Box<dyn Solver>, Box::new(Fbs::default())] {
        let solved = grid.fit(&base, &*solver).unwrap();
        assert_eq!(solved.lambdas, [1.0, 0.1, 0.01]);
        for (&lambda, k) in solved.lambdas.iter().flat_map(|lambda| [1, 3, 6].map(|k| (lambda, k))) {
            let own = ridged(lambda);
            let cell = solved.at(k, lambda).unwrap();
            let mut gradient = vec![0.0; own.dim()];
            assert!(close(own.value_and_gradient(cell.as_sparse(), &mut gradient), cell.value));
            assert!(cell.support.iter().all(|&j| gradient[j].abs() < 1e-5), "k {k} lambda {lambda}");
            let direct = solver.fit(&own, &Sparsity::new(k)).unwrap();
            assert!(cell.value <= direct.value * (1.0 + 1e-6), "k {k} lambda {lambda}");
        }
        for rows in solved.paths.windows(2) {
            assert!(rows[0].solutions.iter().zip(&rows[1].solutions).all(|(strong, weak)| weak.value <= strong.value));
        }
    }
    assert_eq!((base.ridge(), base.reridged(0.5).unwrap().ridge()), (123.0, 0.5));
    assert!(base.reridged(-1.0).is_err());
}
