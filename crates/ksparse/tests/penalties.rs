//! A ridge of its own for every column: what it means, and that everything built on a ridge keeps to it.

use crate::common::{Table, normal, normals, rng};
use ksparse::certificate::{CertifyOptions, certify};
use ksparse::design::{Dense, Scaled};
use ksparse::loss::{Loss, Squared};
use ksparse::objective::Bounds;
use ksparse::select::{CrossValidation, JointProblem, Observed, Problem};
use ksparse::solver::{Exact, Solver};
use ksparse::{Auto, Grid, LinearModel, Sparsity};
use std::ops::ControlFlow;

const RIDGE: f64 = 0.3;

struct Data {
    x: Table,
    y: Vec<f64>,
    factors: Vec<f64>,
}

fn data(seed: u64) -> Data {
    let rng = &mut rng(seed);
    let x = Table::gaussian(rng, 60, 8, 0.3).map(|_, j, v| v + f64::from(u8::from(j == 2)) * 50.0);
    let y = (0..60).map(|i| 2.0 * x.at(i, 1) - x.at(i, 2) + 1.5 * x.at(i, 5) + 0.5 * normal(rng)).collect();
    Data { x, y, factors: vec![1.0, 9.0, 0.1, 1.0, 2.0, 0.01, 30.0, 1.0] }
}

/// mean loss + (lambda / 2) sum_j c_j w_j^2, by a loop.
fn by_hand(data: &Data, model: &LinearModel) -> f64 {
    let predicted = model.predict(&data.x.dense()).unwrap();
    let loss: f64 = predicted.iter().zip(&data.y).map(|(z, y)| 0.5 * (z - y).powi(2)).sum();
    let ridge: f64 = model.support.iter().zip(&model.coefficients).map(|(&j, w)| data.factors[j] * w * w).sum();
    loss / data.y.len() as f64 + 0.5 * RIDGE * ridge
}

fn problem<'a>(data: &'a Data, design: &'a Dense<'a>, loss: &'a dyn Loss) -> Problem<'a> {
    Problem { penalty_factors: Some(&data.factors), ..Problem::new(design, &data.y, loss) }
}

#[test]
fn f_is_the_mean_loss_and_a_ridge_per_column() {
    let loss = Squared::default();
    for seed in 0..3 {
        let data = data(seed);
        let design = data.x.dense();
        let training = problem(&data, &design, &loss).on_all_rows().unwrap();
        let risk = training.risk.reridged(RIDGE).unwrap();
        let exact = Exact::default().fit(&risk, &Sparsity::new(3)).unwrap();
        let model = training.model(&exact);
        assert!((by_hand(&data, &model) - exact.value).abs() < 1e-10);
        // No other three columns do better, by the normal equations of this f.
        let found = Auto::default().fit(&risk, &Sparsity::new(3)).unwrap();
        assert!((found.value - exact.value).abs() < 1e-10 && exact.lower_bound().unwrap() <= found.value);
        for trial in 0..50 {
            let mut other = model.clone();
            let moved = normals(&mut rng(trial), 3);
            other.coefficients.iter_mut().zip(moved).for_each(|(w, d)| *w += 1e-3 * d);
            assert!(by_hand(&data, &other) >= exact.value - 1e-9, "a neighbour is lower");
        }
        let options = CertifyOptions::default();
        let bound = certify(&risk, &Sparsity::new(3), &found, &options, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(bound.lower_bound <= exact.value && bound.relative_gap < 0.5, "{}", bound.relative_gap);
        let back = training.start(&model);
        assert!((risk.value(back.as_sparse()) - exact.value).abs() < 1e-10);
    }
}

#[test]
fn standardised_columns_have_their_factors_too() {
    let (data, loss) = (data(5), Squared::default());
    let design = data.x.dense();
    let plain = Problem { standardize: true, ..problem(&data, &design, &loss) };
    let training = plain.on_all_rows().unwrap();
    let solution = Auto::default().fit(&training.risk.reridged(RIDGE).unwrap(), &Sparsity::new(3)).unwrap();
    let scaled = Scaled::standardize(&design, None).unwrap();
    let written = data.x.map(|_, j, v| (v - scaled.centre()[j]) / scaled.scale()[j] / data.factors[j].sqrt());
    let written = written.dense();
    let other = Problem::new(&written, &data.y, &loss).on_all_rows().unwrap();
    let expected = Auto::default().fit(&other.risk.reridged(RIDGE).unwrap(), &Sparsity::new(3)).unwrap();
    assert_eq!(training.model(&solution).support, other.model(&expected).support);
    assert!((solution.value - expected.value).abs() < 1e-10);
}

#[test]
fn bounds_are_on_the_coefficients_of_the_columns_as_given() {
    let (data, loss) = (data(7), Squared::default());
    let design = data.x.dense();
    let bounds = Bounds::new(vec![-0.4; 8], vec![0.7; 8]).unwrap();
    let training = Problem { bounds: Some(&bounds), ..problem(&data, &design, &loss) }.on_all_rows().unwrap();
    let objective = training.objective(RIDGE).unwrap();
    let model = training.model(&Auto::default().fit(&*objective, &Sparsity::new(4)).unwrap());
    assert!(model.coefficients.iter().all(|w| (-0.4 - 1e-12..=0.7 + 1e-12).contains(w)), "{model:?}");
    assert!(model.coefficients.iter().any(|w| (w - 0.7).abs() < 1e-9 || (w + 0.4).abs() < 1e-9), "{model:?}");
}

#[test]
fn folds_and_several_outputs_keep_to_them() {
    let (data, loss) = (data(11), Squared::default());
    let design = data.x.dense();
    let scaled = data.x.map(|_, j, v| v / data.factors[j].sqrt());
    let scaled = scaled.dense();
    let (with, without) = (problem(&data, &design, &loss), Problem::new(&scaled, &data.y, &loss));
    let folds = with.folds(4, 1).unwrap();
    let validation = CrossValidation::over(Grid::over([1, 2, 3], [0.5, 0.05]));
    let (a, b) = (validation.fit(&with, &folds, &Auto::default()), validation.fit(&without, &folds, &Auto::default()));
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!((a.k, a.lambda), (b.k, b.lambda));
    for (one, other) in a.table.cells().iter().zip(b.table.cells()) {
        assert!((one.mean - other.mean).abs() <= 1e-8 * other.mean, "{} against {}", one.mean, other.mean);
    }
    let classes: Vec<usize> = data.y.iter().map(|y| usize::from(*y > -51.0) + usize::from(*y > -49.0)).collect();
    let observed = Observed::Classes { of: &classes, count: 3 };
    let joint = JointProblem { penalty_factors: Some(&data.factors), ..JointProblem::new(&design, observed) };
    let other = JointProblem::new(&scaled, observed);
    let fit = |problem: &JointProblem| {
        let training = problem.on_all_rows().unwrap();
        let risk = training.risk.reridged(0.01).unwrap();
        let solution = Auto::default().fit(&risk, &problem.sparsity(3, &[])).unwrap();
        (solution.value, training.models(&solution))
    };
    let ((f, models), (g, others)) = (fit(&joint), fit(&other));
    assert!((f - g).abs() < 1e-8, "{f} against {g}");
    for (model, other) in models.iter().zip(&others) {
        assert_eq!(model.support, other.support);
        for ((&j, w), v) in model.support.iter().zip(&model.coefficients).zip(&other.coefficients) {
            assert!((w * data.factors[j].sqrt() - v).abs() < 1e-4 * (1.0 + v.abs()), "{w} {v}");
        }
    }
}

#[test]
fn factors_that_cannot_be_are_refused() {
    let (data, loss) = (data(1), Squared::default());
    let design = data.x.dense();
    let refused = |factors: &[f64], words: &str| {
        for standardize in [false, true] {
            let problem =
                Problem { penalty_factors: Some(factors), standardize, ..Problem::new(&design, &data.y, &loss) };
            let error = problem.on_all_rows().err().unwrap().to_string();
            assert!(error.contains(words), "{error}");
        }
    };
    refused(&[1.0; 3], "penalty factors");
    refused(&[1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0], "1e-6");
    refused(&[1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "column 1");
    refused(&[f64::NAN; 8], "positive");
    refused(&[f64::INFINITY; 8], "positive");
}
