//! Cross-validation.

use super::*;

#[test]
fn cross_validation_agrees_with_a_loop_written_by_hand() {
    let data = simulate::logistic(90, 10, 3, AR, 12);
    let weights: Vec<f64> = (0..90).map(|i| 0.5 + (i % 4) as f64).collect();
    let folds = Folds::stratified(&data.target, 3, 5).unwrap();
    let heavy: Vec<f64> = (0..3).map(|fold| pick(&weights, &folds.held_out(fold)).iter().sum()).collect();
    let total: f64 = heavy.iter().sum();
    let loss = Logistic::default();
    for (standardize, metric) in [(false, Metric::Deviance), (true, Metric::Deviance), (true, Metric::Auc)] {
        let problem =
            Problem { weights: Some(&weights), standardize, ..Problem::new(&data.design, &data.target, &loss) };
        let validation = CrossValidation { metric, ..CrossValidation::over(Grid::over([0, 1, 3], [0.1, 0.01])) };
        let chosen = validation.fit(&problem, &folds, &Auto::default()).unwrap();
        assert_eq!(chosen.table.cells().len(), 6);
        for (cell, (lambda, k)) in
            chosen.table.cells().iter().zip([0.1, 0.01].iter().flat_map(|l| [0, 1, 3].map(|k| (*l, k))))
        {
            assert_eq!((cell.k, cell.lambda), (k, lambda));
            for fold in 0..3 {
                let by_hand = score_by_hand(&problem, &data.design, &folds, fold, k, lambda, metric);
                let found = cell.scores[fold];
                assert!((found - by_hand).abs() < 1e-6, "{} k {k} lambda {lambda}: {found} {by_hand}", metric.name());
            }
            let mean: f64 = (0..3).map(|f| heavy[f] * cell.scores[f]).sum::<f64>() / total;
            let spread: f64 = (0..3).map(|f| heavy[f] * (cell.scores[f] - mean).powi(2)).sum::<f64>() / total;
            assert!(close(cell.mean, mean) && close(cell.standard_error, (spread / 2.0).sqrt()));
        }
        let best = chosen.table.best();
        assert_eq!((chosen.k, chosen.lambda), (best.k, best.lambda));
        let better = |a: f64, b: f64| if metric.is_gain() { a >= b } else { a <= b };
        assert!(chosen.table.cells().iter().all(|cell| better(best.mean, cell.mean)));
    }
}

/// One cell on one fold from copies of the rows, columns standardised by hand, the best of all supports.
fn score_by_hand(
    problem: &Problem,
    x: &Dense,
    folds: &Folds,
    fold: usize,
    k: usize,
    lambda: f64,
    metric: Metric,
) -> f64 {
    let (train, test, all) = (folds.training(fold), folds.held_out(fold), problem.weights.unwrap());
    let weights = pick(all, &train);
    let total: f64 = weights.iter().sum();
    let (mut seen, mut unseen) = (Vec::new(), Vec::new());
    for j in 0..x.ncols() {
        let (mut inside, mut outside) = (pick(x.column(j), &train), pick(x.column(j), &test));
        if problem.standardize {
            let mean = inside.iter().zip(&weights).map(|(v, w)| v * w).sum::<f64>() / total;
            let variance = inside.iter().zip(&weights).map(|(v, w)| w * (v - mean).powi(2)).sum::<f64>() / total;
            inside.iter_mut().chain(&mut outside).for_each(|v| *v = (*v - mean) / variance.sqrt());
        }
        seen.extend(inside);
        unseen.extend(outside);
    }
    let seen = Dense::from_columns(train.len(), x.ncols(), seen).unwrap();
    let unseen = Dense::from_columns(test.len(), x.ncols(), unseen).unwrap();
    let risk = Risk::new(&seen, pick(problem.target, &train), Logistic::default()).unwrap();
    let risk = risk.with_weights(&weights).unwrap().with_intercept().with_ridge(lambda).unwrap();
    let best = supports(x.ncols(), k)
        .into_iter()
        .map(|mut support| {
            support.push(x.ncols());
            let mut w = vec![0.0; support.len()];
            let outcome = minimise(&mut *risk.restrict(&support).unwrap(), &mut w, &InnerOptions::EXACT).unwrap();
            Solution { value: outcome.value, ..Solution::guess(support, w) }
        })
        .min_by(|a, b| a.value.total_cmp(&b.value))
        .unwrap();
    let z = risk.model(&best).predict(&unseen).unwrap();
    metric.score(&Logistic::default(), &z, &pick(problem.target, &test), Some(&pick(all, &test))).unwrap()
}

fn supports(p: usize, k: usize) -> Vec<Vec<usize>> {
    let masks = (0..1usize << p).filter(|mask| mask.count_ones() as usize == k);
    masks.map(|mask| (0..p).filter(|j| mask >> j & 1 == 1).collect()).collect()
}

#[test]
fn standardisation_sees_the_training_rows_only() {
    // The second fold holds one enormous value of the column. Scaled by all rows, the column all but vanishes from the
    // first fold, where a ridge then suppresses it; scaled by the first fold it explains y there.
    let n = 40;
    let wave: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let mut x = wave.clone();
    x[n - 1] = 1e6;
    let design = Dense::from_columns(n, 1, x).unwrap();
    let folds = Folds::given((0..n).map(|i| i / (n / 2)).collect()).unwrap();
    let loss = Squared::default();
    let problem = Problem { standardize: true, ..Problem::new(&design, &wave, &loss) };
    let training = problem.on_rows(folds.training(1)).unwrap();
    let risk = training.risk.reridged(1e-3).unwrap();
    let model = training.model(&Auto::default().fit(&risk, &Sparsity::new(1)).unwrap());
    assert!((model.coefficients[0] - 1.0).abs() < 0.01, "{model:?}");

    let leaky = Scaled::standardize(&design, None).unwrap();
    let rows = Rows::new(&leaky, folds.training(1)).unwrap();
    let risk = Risk::new(rows, &wave[..n / 2], loss).unwrap().with_intercept().with_ridge(1e-3).unwrap();
    let solution = Auto::default().fit(&risk, &Sparsity::new(1)).unwrap();
    let leaked = risk.model(&solution).unscaled(leaky.centre(), leaky.scale());
    assert!(leaked.coefficients.iter().all(|c| c.abs() < 0.01), "{leaked:?}");

    // The scores of cross-validation are those of the first model.
    let validation = CrossValidation::over(Grid::over([1], [1e-3]));
    let chosen = validation.fit(&problem, &folds, &Auto::default()).unwrap();
    let z = problem.predict(&model, &folds.held_out(1)).unwrap();
    let honest = mean_squared_error(&z, &wave[n / 2..], None).unwrap();
    assert!(close(chosen.table.cells()[0].scores[1] / honest, 1.0));
}

#[test]
fn one_standard_error_prefers_the_smallest_k_then_the_largest_lambda() {
    let cell = |k, lambda, scores: [f64; 4]| CvCell::new(k, lambda, scores.to_vec(), &[1.0; 4]);
    let cells = vec![
        cell(1, 1.0, [9.0; 4]),
        cell(2, 1.0, [5.2; 4]),
        cell(3, 1.0, [5.1; 4]),
        cell(1, 0.1, [5.7; 4]),
        cell(2, 0.1, [5.3; 4]),
        cell(3, 0.1, [4.0, 6.0, 4.0, 6.0]), // the best: mean 5, standard error 1/sqrt(3) = 0.577
        cell(4, 0.1, [4.0, 6.0, 4.0, 6.0]),
    ];
    let table = CvTable::new(Metric::Deviance, vec![0, 1, 2, 3], cells.clone()).unwrap();
    assert_eq!((table.best().k, table.best().lambda), (3, 0.1));
    assert!(close(table.best().standard_error, (1.0f64 / 3.0).sqrt()));
    assert_eq!((table.one_standard_error().k, table.one_standard_error().lambda), (2, 1.0));
    // For a gain the same numbers read the other way round.
    let gains = CvTable::new(Metric::Auc, vec![0, 1, 2, 3], cells).unwrap();
    assert_eq!((gains.best().k, gains.best().lambda), (1, 1.0));
    assert!(CvTable::new(Metric::Auc, vec![], vec![]).is_err());
    let undefined = |k, score: f64| CvCell::new(k, 0.0, vec![score, 1.0], &[1.0, 1.0]);
    let none = CvTable::new(Metric::Mse, vec![0, 1], vec![undefined(1, f64::NAN)]);
    assert!(matches!(none, Err(Error::NotFinite { .. })));
    // A cell whose predictions overflowed does not win, and does not spoil the others.
    for metric in [Metric::Mse, Metric::Auc] {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|score| undefined(1, score));
        let cells = [&odd[..], &[undefined(5, 2.0)]].concat();
        let table = CvTable::new(metric, vec![0, 1], cells).unwrap();
        assert_eq!((table.winner(Rule::Best).k, table.winner(Rule::OneStandardError).k), (5, 5));
    }
    let alone = CvCell::new(1, 0.0, vec![3.0], &[2.0]);
    assert_eq!((alone.mean, alone.standard_error), (3.0, 0.0));
}

#[test]
fn cross_validation_does_not_depend_on_the_threads_and_can_be_stopped() {
    let data = simulate::linear(60, 30, 4, AR, 1.0, 13);
    let loss = Squared::default();
    let problem = Problem { standardize: true, ..Problem::new(&data.design, &data.target, &loss) };
    let folds = Folds::seeded(60, 4, 3).unwrap();
    let validation = CrossValidation::over(Grid::over(1..=6, [0.1, 0.0]));
    let run = |threads| Threads::new(threads).unwrap().run(|| validation.fit(&problem, &folds, &Auto::default()));
    let (one, many) = (run(1).unwrap(), run(4).unwrap());
    assert_eq!(one.table, many.table);
    assert_eq!((one.k, one.lambda, &one.model), (many.k, many.lambda, &many.model));
    // The final fit is at least as good as the solver's own on all rows.
    let training = problem.on_all_rows().unwrap();
    let direct = Auto::default().fit(&training.risk.reridged(one.lambda).unwrap(), &Sparsity::new(one.k)).unwrap();
    assert!(one.solution.value <= direct.value);

    let mut calls = 0;
    let at_once = validation.solve(&problem, &folds, &Auto::default(), &mut |_| {
        calls += 1;
        ControlFlow::Break(())
    });
    assert!(matches!(at_once, Err(Error::Data(_))) && calls >= 1);
    let mut hurried = validation.clone();
    hurried.grid.path.time_limit = Some(Duration::ZERO);
    assert!(matches!(hurried.fit(&problem, &folds, &Auto::default()), Err(Error::Data(_))));

    // Folds 2 and 3 are stopped: the other two decide, whatever the order in which they ran.
    let two = Threads::new(1).unwrap().run(|| {
        validation.solve(&problem, &folds, &Auto::default(), &mut |progress| {
            let late = progress.fold.is_some_and(|fold| fold >= 2);
            if late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    });
    let two = two.unwrap();
    assert_eq!(two.table.folds(), [0, 1]);
    assert_eq!(two.table.cells()[0].scores, one.table.cells()[0].scores[..2]);
}

#[test]
fn folds_that_break_a_problem_are_errors() {
    let data = simulate::logistic(20, 4, 2, Correlation::Independent, 14);
    let loss = Logistic::default();
    let labels: Vec<f64> = (0..20).map(|i| if i < 10 { 1.0 } else { -1.0 }).collect();
    let problem = Problem::new(&data.design, &labels, &loss);
    let by = |metric| CrossValidation { metric, ..CrossValidation::over(Grid::over([1], [0.1])) };
    let fit = |metric, problem: &Problem, folds: &Folds| by(metric).fit(problem, folds, &Auto::default());
    let message = |result: ksparse::Result<Selection>| result.unwrap_err().to_string();

    let halves = Folds::given((0..20).map(|i| i / 10).collect()).unwrap();
    assert!(message(fit(Metric::Error, &problem, &halves)).contains("only one class is left"));
    // Of thirds, one holds positive rows only: an error rate is defined there, an AUC is not.
    let thirds = Folds::given((0..20).map(|i| i / 7).collect()).unwrap();
    assert!(fit(Metric::Error, &problem, &thirds).is_ok());
    assert!(message(fit(Metric::Auc, &problem, &thirds)).contains("fold 0 holds one class only"));
    assert!(matches!(fit(Metric::Mse, &problem, &thirds), Err(Error::Unsupported { .. })));
    let short = Folds::seeded(19, 3, 0).unwrap();
    assert!(matches!(fit(Metric::Error, &problem, &short), Err(Error::Shape { what: "folds", .. })));

    let weights: Vec<f64> = (0..20).map(|i| if i < 7 { 0.0 } else { 1.0 }).collect();
    let weighted = Problem { weights: Some(&weights), ..problem };
    assert!(message(fit(Metric::Error, &weighted, &thirds)).contains("fold 0"));
    let negative = Problem { weights: Some(&[-1.0; 20]), ..problem };
    assert!(matches!(fit(Metric::Error, &negative, &thirds), Err(Error::InvalidOption { .. })));
    assert!(Problem { weights: Some(&[0.0; 20]), standardize: true, ..problem }.on_all_rows().is_err());
    assert!(Problem { target: &labels[1..], ..problem }.on_all_rows().is_err());
    assert!(problem.on_rows(vec![99]).is_err());
}
