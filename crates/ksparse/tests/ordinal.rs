//! What the loss of ordered classes owes: the definition, derivatives, the best support, and all that must not matter.

use crate::common::{Table, assert_close, block, check_own_blocks, every_solver, gradient, normal, rng};
use ksparse::loss::{JointLoss, Ordinal};
use ksparse::objective::JointRisk;
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::select::{Choose, JointProblem, Metric, Observed};
use ksparse::{Auto, Objective, Solver, SparseRef, Sparsity, Threads};
use rand::Rng;

const CLASSES: usize = 4;

struct Data {
    x: Table,
    classes: Vec<usize>,
    weights: Vec<f64>,
}

impl Data {
    /// Two columns matter.
    fn new(n: usize, p: usize, seed: u64) -> Self {
        let rng = &mut rng(seed);
        let x = Table::gaussian(rng, n, p, 0.3);
        let class = |i: usize, noise: f64| {
            let z = 1.5 * x.at(i, 1) - 1.2 * x.at(i, p - 2) + noise;
            [-1.0, 0.5, 1.5].iter().filter(|cut| z > **cut).count()
        };
        let mut classes: Vec<usize> = (0..n).map(|i| class(i, 0.8 * normal(rng))).collect();
        classes[..CLASSES].copy_from_slice(&[0, 1, 2, 3]);
        let weights = (0..n).map(|_| f64::from(rng.random_range(1u32..4))).collect();
        Self { x, classes, weights }
    }

    fn risk(&self, weighted: bool, ridge: f64) -> JointRisk<'static> {
        let loss = Ordinal::new(&self.classes, CLASSES, weighted.then_some(&self.weights[..])).unwrap();
        JointRisk::new(self.x.dense(), loss).unwrap().with_ridge(ridge).unwrap()
    }
}

/// The mean loss by its definition.
fn by_definition(classes: &[usize], weights: &[f64], z: &[f64], cuts: &[f64]) -> f64 {
    let upto = |c: Option<usize>, z: f64| match c {
        None => 0.0,
        Some(c) => cuts.get(c).map_or(1.0, |t| 1.0 / (1.0 + (z - t).exp())),
    };
    let loss = |i: usize| -(upto(Some(classes[i]), z[i]) - upto(classes[i].checked_sub(1), z[i])).ln();
    (0..z.len()).map(|i| weights[i] * loss(i)).sum::<f64>() / weights.iter().sum::<f64>()
}

#[test]
fn the_cut_points_are_the_best_and_the_value_is_that_of_the_definition() {
    let data = Data::new(80, 5, 1);
    let loss = Ordinal::new(&data.classes, CLASSES, Some(&data.weights)).unwrap();
    for size in [0.0, 0.3, 2.0, 5.0] {
        let z: Vec<f64> = (0..80).map(|i| size * (data.x.at(i, 1) - data.x.at(i, 0))).collect();
        let cuts = loss.thresholds(&z);
        assert!(cuts.windows(2).all(|pair| pair[0] < pair[1]), "{cuts:?}");
        let value = |cuts: &[f64]| by_definition(&data.classes, &data.weights, &z, cuts);
        assert_close("value", &[loss.at(&z).value()], &[value(&cuts)], 1e-10);
        for c in 0..cuts.len() {
            for by in [1e-3, -1e-3] {
                let mut moved = cuts.clone();
                moved[c] += by;
                assert!(value(&moved) > value(&cuts), "cut {c} of {cuts:?} at {size}");
            }
        }
        let p = Ordinal::probabilities(&z, &cuts);
        assert!(p.chunks(CLASSES).all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
        let logs = (0..80).map(|i| data.weights[i] * -p[i * CLASSES + data.classes[i]].ln()).sum::<f64>();
        assert_close("probabilities", &[logs / data.weights.iter().sum::<f64>()], &[value(&cuts)], 1e-9);
        // What is added to all predictions goes into the cut points.
        let far: Vec<f64> = z.iter().map(|z| z + 300.0).collect();
        assert_close("shifted", loss.at(&far).derivatives(), loss.at(&z).derivatives(), 1e-9);
        assert_close("cuts", &loss.thresholds(&far), &cuts.iter().map(|t| t + 300.0).collect::<Vec<_>>(), 1e-9);
    }
    assert_close("far", &[loss.at(&[1e9; 80]).value()], &[loss.at(&[0.0; 80]).value()], 1e-6);
    assert!(!loss.at(&[1e300; 80]).value().is_nan());
}

#[test]
fn derivatives_are_those_of_the_values() {
    let data = Data::new(60, 5, 2);
    let all = [0, 1, 2, 3, 4];
    let rng = &mut rng(3);
    let w: Vec<f64> = (0..5).map(|_| 0.7 * normal(rng)).collect();
    for weighted in [false, true] {
        let risk = data.risk(weighted, 0.1);
        let at = |w: &[f64]| risk.at(SparseRef::new(&all, w)).unwrap();
        let step = 1e-5;
        let moved = |j: usize, by: f64| {
            let mut w = w.clone();
            w[j] += by;
            w
        };
        let slopes: Vec<f64> =
            all.iter().map(|&j| (at(&moved(j, step)).value() - at(&moved(j, -step)).value()) / (2.0 * step)).collect();
        let point = at(&w);
        assert_close("gradient", point.gradient().unwrap(), &slopes, 1e-8);
        let hessian = point.hessian().unwrap().unwrap();
        let whole = block(hessian, &all, &all);
        check_own_blocks("own blocks", hessian, &[vec![0, 2], vec![1], vec![3, 4]], 1e-12);
        let mut diagonal = [0.0; 5];
        hessian.diagonal(&mut diagonal).unwrap();
        let mut restricted = risk.restrict(&all).unwrap();
        restricted.move_to(&w, &mut [0.0; 5]).unwrap();
        for j in all {
            let [ahead, behind] = [step, -step].map(|by| gradient(&risk, SparseRef::new(&all, &moved(j, by))));
            let bends: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * step)).collect();
            assert_close("Hessian", &whole[j], &bends, 1e-7);
            assert_close("diagonal", &[diagonal[j]], &[whole[j][j]], 1e-12);
            let (mut unit, mut product) = ([0.0; 5], [0.0; 5]);
            unit[j] = 1.0;
            restricted.second().hessian().unwrap().product(&unit, &mut product).unwrap();
            assert_close("product", &product, &whole[j], 1e-11);
        }
    }
}

#[test]
fn weights_are_repeated_rows_and_storage_does_not_matter() {
    let data = Data::new(50, 4, 4);
    let which: Vec<usize> = (0..50).flat_map(|i| vec![i; data.weights[i] as usize]).collect();
    let classes: Vec<usize> = which.iter().map(|&i| data.classes[i]).collect();
    let repeated = Ordinal::new(&classes, CLASSES, None).unwrap();
    let repeated = JointRisk::new(data.x.rows(&which).dense(), repeated).unwrap().with_ridge(0.02).unwrap();
    let weighted = data.risk(true, 0.02);
    let [one, other] = [&repeated, &weighted].map(|risk| Auto::default().fit(risk, &Sparsity::new(2)).unwrap());
    assert_eq!(one.support, other.support);
    assert_close("coefficients", &one.coefficients, &other.coefficients, 1e-7);
    assert_close("value", &[one.value], &[other.value], 1e-10);
    for (storage, design) in data.x.every_storage() {
        let loss = Ordinal::new(&data.classes, CLASSES, Some(&data.weights)).unwrap();
        let risk = JointRisk::new(design, loss).unwrap().with_ridge(0.02).unwrap();
        let found = Auto::default().fit(&risk, &Sparsity::new(2)).unwrap();
        let tolerance = if storage.contains("32") { 1e-5 } else { 1e-9 };
        assert_close(storage, &[found.value], &[other.value], tolerance);
    }
}

#[test]
fn auto_finds_the_best_support_and_every_solver_takes_it() {
    let least = |risk: &JointRisk, k: usize| {
        let p = risk.dim();
        let supports = (0u32..1 << p).filter(|set| set.count_ones() as usize == k);
        let values = supports.map(|set| {
            let support: Vec<usize> = (0..p).filter(|j| set >> j & 1 == 1).collect();
            let mut x = vec![0.0; k];
            minimise(&mut *risk.restrict(&support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap().value
        });
        values.fold(f64::INFINITY, f64::min)
    };
    for seed in 0..4 {
        let data = Data::new(60, 10, 10 + seed);
        let risk = data.risk(seed % 2 == 1, 0.01);
        for k in [1, 2, 3] {
            let (best, found) = (least(&risk, k), Auto::default().fit(&risk, &Sparsity::new(k)).unwrap());
            assert_close(&format!("seed {seed}, k = {k}"), &[found.value], &[best], 1e-8);
        }
    }
    let risk = Data::new(60, 8, 20).risk(false, 0.02);
    let best = least(&risk, 2);
    for solver in every_solver() {
        let found = solver.fit(&risk, &Sparsity::new(2)).unwrap();
        assert!(found.support.len() <= 2 && found.value >= best - 1e-8, "{}", solver.name());
    }
}

/// At k = p of two classes it is the logistic regression with an intercept.
#[test]
fn two_classes_are_the_logistic_regression() {
    let data = Data::new(80, 3, 30);
    let two: Vec<usize> = data.classes.iter().map(|&c| usize::from(c > 1)).collect();
    let signs: Vec<f64> = two.iter().map(|&c| if c == 1 { 1.0 } else { -1.0 }).collect();
    let risk = JointRisk::new(data.x.dense(), Ordinal::new(&two, 2, None).unwrap()).unwrap().with_ridge(0.05).unwrap();
    let found = Auto::default().fit(&risk, &Sparsity::new(3)).unwrap();
    let x = data.x.dense();
    let logistic = ksparse::Risk::new(&x, &signs[..], ksparse::loss::by_name("logistic").unwrap()).unwrap();
    let logistic = logistic.with_intercept().with_ridge(0.05).unwrap();
    let solution = Auto::default().fit(&logistic, &Sparsity::new(3)).unwrap();
    let model = logistic.model(&solution);
    assert_close("coefficients", &risk.model(&found).coefficients, &model.coefficients, 1e-7);
    let z = risk.model(&found).predict(&x).unwrap();
    let cuts = Ordinal::new(&two, 2, None).unwrap().thresholds(&z);
    assert_close("intercept", &[-cuts[0]], &[model.intercept], 1e-7);
}

#[test]
fn the_choice_of_k_finds_the_columns_and_threads_change_no_bit() {
    let data = Data::new(200, 12, 40);
    let x = data.x.dense();
    let problem = JointProblem::new(&x, Observed::Ordered { of: &data.classes, count: CLASSES });
    let folds = problem.folds(4, 1).unwrap();
    let choose = Choose { ks: Some((0..=4).collect()), ..Choose::default() };
    let fit = || choose.fit_joint(&problem, &folds, &Auto::default()).unwrap();
    let chosen = [1, 3].map(|threads| Threads::new(threads).unwrap().run(fit));
    assert!(chosen[0].model().support.contains(&1) && chosen[0].model().support.contains(&10));
    assert_eq!(chosen[1].table, chosen[0].table);
    assert_eq!(chosen[1].predictors[0].models, chosen[0].predictors[0].models);
    let models = &chosen[0].predictors[0].models;
    let rows: Vec<usize> = (0..200).collect();
    let error = problem.score(Metric::Error, models, &rows, &rows).unwrap();
    assert!(error < 0.5, "{error}");
    assert_eq!(problem.thresholds(&models[0]).unwrap().len(), CLASSES - 1);
}

#[test]
fn what_cannot_be_is_refused() {
    let say = |error: ksparse::Error| error.to_string();
    assert!(say(Ordinal::new(&[0, 2, 2], 3, None).unwrap_err()).contains("class 1 of 3 has no row"));
    assert!(say(Ordinal::new(&[0, 1, 3], 3, None).unwrap_err()).contains("out of range"));
    assert!(say(Ordinal::new(&[0, 0], 1, None).unwrap_err()).contains("at least 2"));
    assert!(Ordinal::new(&[0, 1], 2, Some(&[1.0, -1.0])).is_err());
}
