//! Fits from moments are those from the rows behind them.

use crate::common::{Table, assert_close, normals, rng};
use ksparse::loss::Squared;
use ksparse::objective::Moments;
use ksparse::select::{Criterion, Problem};
use ksparse::{Auto, LinearModel, Path, Risk, Solver, Sparsity};

fn data(n: usize, p: usize, seed: u64) -> (Table, Vec<f64>) {
    let rng = &mut rng(seed);
    let x = Table::gaussian(rng, n, p, 0.5).map(|_, j, v| (1.0 + j as f64) * (v + 0.3 * j as f64));
    let noise = normals(rng, n);
    let y = (0..n).map(|i| 3.0 + x.at(i, 1) - 0.5 * x.at(i, 4) + noise[i]).collect();
    (x, y)
}

fn moments(x: &Table, y: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
    let sum = |f: &dyn Fn(usize) -> f64| (0..x.n).map(f).sum::<f64>();
    let gram = (0..x.p * x.p).map(|e| sum(&|i| x.at(i, e / x.p) * x.at(i, e % x.p))).collect();
    let cross = (0..x.p).map(|j| sum(&|i| x.at(i, j) * y[i])).collect();
    (gram, cross, sum(&|i| y[i] * y[i]))
}

#[test]
fn fits_paths_and_intercepts_are_those_of_the_rows() {
    // More rows than columns, and fewer.
    for (n, p) in [(60, 8), (6, 9)] {
        let (x, y) = data(n, p, 1);
        let (gram, cross, square) = moments(&x, &y);
        let given = Moments::new(&gram, &cross, square, n).unwrap();
        let design = x.dense();
        let plain = Risk::new(&design, &y[..], Squared::default()).unwrap().with_ridge(0.01).unwrap();
        let (rows, target) = given.rows().unwrap();
        let risk = Risk::new(&rows, target, Squared::default()).unwrap().with_ridge(0.01).unwrap();
        for k in 0..=3 {
            let [a, b] = [&plain, &risk].map(|risk| Auto::default().fit(risk, &Sparsity::new(k)).unwrap());
            assert_eq!(a.support, b.support, "n = {n}, k = {k}");
            assert_close("value", &[b.value], &[a.value], 1e-8);
            assert_close("coefficients", &b.coefficients, &a.coefficients, 1e-6);
        }
        let columns: Vec<f64> = (0..p).map(|j| (0..n).map(|i| x.at(i, j)).sum::<f64>() / n as f64).collect();
        let centred = given.with_means(&columns, y.iter().sum::<f64>() / n as f64).unwrap();
        let (rows, target) = centred.rows().unwrap();
        let risk = Risk::new(&rows, target, Squared::default()).unwrap().with_ridge(0.01).unwrap();
        let with = Risk::new(&design, &y[..], Squared::default()).unwrap().with_intercept().with_ridge(0.01).unwrap();
        let [a, b] = [&with, &risk].map(|risk| Path::over(0..=3).fit(risk, &Auto::default()).unwrap().solutions);
        for (a, b) in a.iter().zip(&b) {
            let (a, b) = (with.model(a), centred.model(risk.model(b)));
            assert_eq!(a.support, b.support);
            assert_close("coefficients", &b.coefficients, &a.coefficients, 1e-6);
            assert_close("intercept", &[b.intercept], &[a.intercept], 1e-6);
        }
    }
}

/// Samples stand for the rows in everything: the intercept, standardised columns, criteria that count rows.
#[test]
fn samples_stand_for_the_rows() {
    for (n, p) in [(60, 8), (6, 9)] {
        let (x, y) = data(n, p, 3);
        let (gram, cross, square) = moments(&x, &y);
        let columns: Vec<f64> = (0..p).map(|j| (0..n).map(|i| x.at(i, j)).sum::<f64>() / n as f64).collect();
        let given = Moments::new(&gram, &cross, square, n).unwrap();
        let centred = given.clone().with_means(&columns, y.iter().sum::<f64>() / n as f64).unwrap();
        let (design, loss) = (x.dense(), Squared::default());
        for (moments, intercept) in [(&given, false), (&centred, true)] {
            let (rows, target, weight) = moments.samples().unwrap();
            let weights = vec![weight; target.len()];
            for standardize in [false, true].into_iter().filter(|standardize| !standardize || intercept) {
                let plain = Problem { intercept, standardize, ..Problem::new(&design, &y, &loss) };
                let few =
                    Problem { weights: Some(&weights), intercept, standardize, ..Problem::new(&rows, &target, &loss) };
                let path = |problem: &Problem| {
                    let training = problem.on_all_rows().unwrap();
                    let risk = training.risk.reridged(0.01).unwrap();
                    let path = Path::over(0..=3).fit(&risk, &Auto::default()).unwrap();
                    let scores = Criterion::Bic.choose(&risk, &path).unwrap().scores;
                    let models: Vec<LinearModel> = path.solutions.iter().map(|s| training.model(s)).collect();
                    (models, scores)
                };
                let ((a, bic), (b, other)) = (path(&plain), path(&few));
                for (a, b) in a.iter().zip(&b) {
                    assert_eq!(a.support, b.support);
                    assert_close("coefficients", &b.coefficients, &a.coefficients, 1e-6);
                    assert_close("intercept", &[b.intercept], &[a.intercept], 1e-6);
                }
                assert_close("bic", &other, &bic, 1e-5);
            }
        }
    }
}

#[test]
fn what_no_rows_have_is_refused() {
    let say = |made: ksparse::Result<Moments>| made.and_then(|m| m.rows().map(|_| ())).unwrap_err().to_string();
    assert!(say(Moments::new(&[1.0, 0.5, 0.4, 1.0], &[0.0, 0.0], 1.0, 5)).contains("not symmetric"));
    assert!(say(Moments::new(&[1.0, 2.0, 2.0, 1.0], &[0.0, 0.0], 1.0, 5)).contains("no rows have these moments"));
    assert!(say(Moments::new(&[1.0], &[3.0], 1.0, 5)).contains("eigenvalue"));
    assert!(say(Moments::new(&[-1.0], &[0.0], 1.0, 5)).contains("sum of squares of column 0"));
    assert!(say(Moments::new(&[1.0], &[0.0], 1.0, 0)).contains("at least 1"));
    assert!(say(Moments::new(&[1.0, 1.0], &[0.0], 1.0, 2)).contains("length"));
    assert!(say(Moments::new(&[f64::NAN], &[0.0], 1.0, 2)).contains("not finite"));
    let far = Moments::new(&[2.0], &[1.0], 1.0, 2).unwrap().with_means(&[5.0], 0.5);
    assert!(say(far).contains("means"));
}
