//! The choice of k for survival times, classes and several responses; concordance by counting pairs.

use crate::common::{Table, assert_close, normal, rng};
use ksparse::loss::{Logistic, Survival};
use ksparse::select::{Choose, Chosen, JointProblem, Metric, Observed, Predictor, Problem, Refits, Rule, concordance};
use ksparse::{Auto, LinearModel, Solver, Threads};
use rand::Rng;

struct Data {
    x: Table,
    time: Vec<f64>,
    event: Vec<bool>,
    strata: Vec<usize>,
    classes: Vec<usize>,
    responses: Vec<f64>,
    weights: Vec<f64>,
}

/// Columns 2 and 5 matter.
fn data(n: usize, p: usize, seed: u64) -> Data {
    let rng = &mut rng(seed);
    let x = Table::gaussian(rng, n, p, 0.2);
    let signal = |i: usize| 1.5 * x.at(i, 2) - 1.2 * x.at(i, 5);
    let life: Vec<f64> = (0..n).map(|i| -(1.0 - rng.random::<f64>()).ln() / signal(i).exp()).collect();
    let end: Vec<f64> = (0..n).map(|_| 3.0 * rng.random::<f64>()).collect();
    let time = (0..n).map(|i| (life[i].min(end[i]) * 50.0).ceil() / 50.0 + 0.01).collect();
    let event = (0..n).map(|i| life[i] <= end[i]).collect();
    let noisy: Vec<f64> = (0..n).map(|i| signal(i) + 0.3 * normal(rng)).collect();
    let classes = noisy.iter().map(|s| usize::from(*s > -0.7) + usize::from(*s > 0.7)).collect();
    let responses = noisy.iter().map(|s| 100.0 + s).chain(noisy.iter().map(|s| -3.0 * s + 0.1)).collect();
    let strata = (0..n).map(|_| rng.random_range(0..2)).collect();
    let weights = (0..n).map(|_| 0.5 + rng.random::<f64>()).collect();
    Data { x, time, event, strata, classes, responses, weights }
}

impl Data {
    fn observed(&self) -> [(&'static str, Observed<'_>); 3] {
        [
            ("survival", Observed::Survival(Survival::new(&self.time, &self.event))),
            ("classes", Observed::Classes { of: &self.classes, count: 3 }),
            ("responses", Observed::Responses { values: &self.responses, count: 2 }),
        ]
    }
}

#[test]
fn concordance_counts_pairs() {
    let data = data(60, 6, 1);
    // Few distinct predictions: ties.
    let z: Vec<f64> = (0..60).map(|i| (3.0 * data.x.at(i, 2)).round()).collect();
    for kind in 0..4 {
        let survival = Survival {
            strata: (kind & 1 > 0).then_some(&data.strata[..]),
            weights: (kind & 2 > 0).then_some(&data.weights[..]),
            ..Survival::new(&data.time, &data.event)
        };
        let (mut won, mut pairs) = (0.0, 0.0);
        for i in (0..60).filter(|&i| data.event[i]) {
            for j in (0..60).filter(|&j| kind & 1 == 0 || data.strata[i] == data.strata[j]) {
                let outlived = data.time[j] > data.time[i] || (data.time[j] == data.time[i] && !data.event[j]);
                if outlived {
                    let weight = if kind & 2 > 0 { data.weights[i] * data.weights[j] } else { 1.0 };
                    pairs += weight;
                    won += weight * if z[i] > z[j] { 1.0 } else { 0.5 * f64::from(z[i] == z[j]) };
                }
            }
        }
        assert_close("concordance", &[concordance(&z, &survival).unwrap()], &[won / pairs], 1e-12);
    }
    let censored = Survival::new(&data.time, &[false; 60]);
    assert!(concordance(&z, &censored).unwrap_err().to_string().contains("fewer folds"));
}

/// All but the seconds that searches took.
fn same(a: &Chosen, b: &Chosen) -> bool {
    let (one, other) = (&a.predictors[0], &b.predictors[0]);
    let values = |of: &Predictor| of.path.iter().map(|(k, at)| (*k, at.value)).collect::<Vec<_>>();
    let models = one.models == other.models && one.resampled == other.resampled;
    a.table == b.table && models && one.frequencies == other.frequencies && values(one) == values(other)
}

#[test]
fn cross_validation_finds_the_columns_that_matter() {
    let data = data(150, 12, 2);
    let design = data.x.dense();
    for (what, observed) in data.observed() {
        for standardize in [false, true] {
            let problem = JointProblem { standardize, ..JointProblem::new(&design, observed) };
            let folds = problem.folds(4, 1).unwrap();
            let every_cell = Choose {
                ks: Some((0..=5).collect()),
                lambdas: Some(vec![0.01, 1e-4]),
                refits: Refits::Same,
                rule: Rule::OneStandardError,
                thorough: true,
                ..Choose::default()
            };
            let run = || every_cell.fit_joint(&problem, &folds, &Auto::default()).unwrap();
            let chosen = run();
            assert_eq!((chosen.k, &chosen.model().support), (2, &vec![2, 5]), "{what}");
            assert_eq!(chosen.table.cells().len(), 11, "{what}: five under each ridge, and none at all");
            let again = Threads::new(1).unwrap().run(run);
            assert!(same(&chosen, &again), "{what}: the number of threads");
        }
    }
}

/// The quick search of a choice, two ridges, and what comes with a choice.
#[test]
fn what_is_chosen_without_a_word_is_a_whole_answer() {
    let data = data(150, 40, 2);
    let design = data.x.dense();
    for (what, observed) in data.observed() {
        let problem = JointProblem { standardize: true, ..JointProblem::new(&design, observed) };
        let folds = problem.folds(4, 1).unwrap();
        let choose = Choose { resamples: 6, ..Choose::default() };
        let run = || choose.fit_joint(&problem, &folds, &Auto::default()).unwrap();
        let chosen = Threads::new(1).unwrap().run(run);
        assert!(same(&chosen, &Threads::new(2).unwrap().run(run)), "{what}: the number of threads");
        let (predictor, outputs) = (&chosen.predictors[0], problem.outputs());
        assert_eq!((predictor.models.len(), predictor.frequencies.len()), (outputs, 40));
        let support = &chosen.model().support;
        assert!(support.len() <= chosen.k && support.contains(&2) && support.contains(&5), "{what}: {support:?}");
        assert!([2, 5].iter().all(|&j| predictor.frequencies[j] == 1.0), "{what}");
        assert!(predictor.models.iter().all(|model| model.support == *support));
        let resampled = predictor.resampled.as_ref().unwrap();
        assert_eq!(resampled.averages.len(), outputs);
        assert!(resampled.frequencies[2] == 1.0 && resampled.averages[0].support.contains(&5), "{what}");
        // The chosen cell is solved in full under the ridge that selects, and refitted to the end under the other.
        let training = problem.on_all_rows().unwrap();
        let selecting = training.objective(chosen.lambda).unwrap();
        let direct = Auto::default().fit(&*selecting, &problem.sparsity(chosen.k, &[])).unwrap();
        assert!(predictor.selected.value <= direct.value + 1e-9 * direct.value.abs(), "{what}");
        let refitting = training.objective(chosen.refit).unwrap();
        let keep = problem.sparsity(0, support);
        let again = Auto::default().fit(&*refitting, &keep).unwrap();
        assert_close(what, &[predictor.solution.value], &[again.value], 1e-9);
        assert_eq!(training.models(&predictor.solution), predictor.models);
        // f on the path never rises, and the path has every k compared.
        assert!(predictor.path.windows(2).all(|w| w[1].1.value <= w[0].1.value + 1e-12), "{what}");
        assert!(predictor.path.iter().any(|(k, solution)| *k == chosen.k && *solution == predictor.selected));
        for other in &predictor.alternatives {
            assert!(other.support.len() == support.len() && other.support.windows(2).all(|w| w[0] < w[1]), "{what}");
        }
    }
}

/// Two classes are those of the logistic loss: rows of W of opposite signs and half the size, under half the ridge.
#[test]
fn two_classes_are_chosen_among_as_labels_are() {
    let data = data(150, 20, 5);
    let design = data.x.dense();
    let labels: Vec<f64> = data.classes.iter().map(|&class| if class == 0 { -1.0 } else { 1.0 }).collect();
    let two: Vec<usize> = labels.iter().map(|&y| usize::from(y > 0.0)).collect();
    let joint = JointProblem::new(&design, Observed::Classes { of: &two, count: 2 });
    let loss = Logistic::default();
    let problem = Problem::new(&design, &labels, &loss);
    let folds = problem.folds(4, 1).unwrap();
    let (lambdas, ks) = (vec![0.02, 0.002], vec![0, 1, 2, 3]);
    let choose = Choose { ks: Some(ks), refits: Refits::Same, thorough: true, ..Choose::default() };
    let halved = Choose { lambdas: Some(lambdas.clone()), ..choose.clone() };
    let of_labels = halved.fit(&problem, &folds, &Auto::default()).unwrap();
    let doubled = Choose { lambdas: Some(lambdas.iter().map(|l| 2.0 * l).collect()), ..choose };
    let of_classes = doubled.fit_joint(&joint, &folds, &Auto::default()).unwrap();
    assert_eq!((of_labels.k, &of_labels.model().support), (of_classes.k, &of_classes.model().support));
    for (one, other) in of_labels.table.cells().iter().zip(of_classes.table.cells()) {
        assert_close("scores", &one.scores, &other.scores, 1e-5);
    }
    let of_second: Vec<f64> = of_classes.predictors[0].models[1].coefficients.iter().map(|w| 2.0 * w).collect();
    assert_close("coefficients", &of_second, &of_labels.model().coefficients, 1e-5);
}

/// Once the time is up what was scored by then decides; there is always the model without columns.
#[test]
fn a_choice_that_is_cut_short_has_an_answer() {
    let data = data(150, 40, 2);
    let design = data.x.dense();
    for (what, observed) in data.observed() {
        let problem = JointProblem::new(&design, observed);
        let folds = problem.folds(3, 1).unwrap();
        let choose = Choose { time_limit: Some(std::time::Duration::ZERO), ..Choose::default() };
        let chosen = choose.fit_joint(&problem, &folds, &Auto::default()).unwrap();
        assert_eq!((chosen.k, chosen.model().support.len()), (0, 0), "{what}");
    }
}

/// Models come back in the units of the data, and lead back to the point they came from.
#[test]
fn standardising_changes_units_only() {
    let data = data(120, 8, 3);
    let far = data.x.map(|_, j, v| 10f64.powi(j as i32 - 4) * (v + 3.0));
    let design = far.dense();
    for (what, observed) in data.observed() {
        let weights = Some(&data.weights[..]);
        let problem = JointProblem { weights, standardize: true, ..JointProblem::new(&design, observed) };
        let training = problem.on_all_rows().unwrap();
        let solution = Auto::default().fit(&training.risk.reridged(1e-3).unwrap(), &problem.sparsity(2, &[0])).unwrap();
        let models = training.models(&solution);
        assert_eq!(models[0].support, [0, 2, 5], "{what}");
        let back = training.start(&models);
        assert_close(what, &back.coefficients, &solution.coefficients, 1e-9);
        let rows: Vec<usize> = (0..120).collect();
        let metric = problem.default_metric();
        let score = problem.score(metric, &models, &rows, &[]).unwrap();
        let none = vec![LinearModel::default(); models.len()];
        let without = problem.score(metric, &none, &rows, &[]).unwrap();
        assert!(
            if metric.is_gain() { score > without + 0.2 } else { score < 0.7 * without },
            "{what}: {score}, {without}"
        );
        let other = if what == "responses" { Metric::Concordance } else { Metric::Mse };
        assert!(problem.score(other, &models, &rows, &[]).is_err());
    }
}

/// Twice the partial log-likelihood that held-out rows add.
#[test]
fn the_deviance_of_survival_times_is_a_difference() {
    let data = data(80, 6, 4);
    let design = data.x.dense();
    let observed = Observed::Survival(Survival::new(&data.time, &data.event));
    let problem = JointProblem::new(&design, observed);
    let folds = problem.folds(4, 0).unwrap();
    let choose = Choose {
        ks: Some(vec![0, 2, 6]),
        lambdas: Some(vec![1e-3]),
        refits: Refits::Same,
        metric: Some(Metric::Deviance),
        ..Choose::default()
    };
    let chosen = choose.fit_joint(&problem, &folds, &Auto::default()).unwrap();
    let means: Vec<f64> = chosen.table.cells().iter().map(|cell| cell.mean).collect();
    assert!(means[1] < 0.9 * means[0], "{means:?}");
    let censored = vec![false; 80];
    let nothing = JointProblem::new(&design, Observed::Survival(Survival::new(&data.time, &censored)));
    assert!(nothing.on_all_rows().map(|_| ()).unwrap_err().to_string().contains("censored"));
}
