//! The choice of a model: k and two ridges by cross-validation, ranges from the data.
use ksparse::design::Dense;
use ksparse::loss::{Hinge, Logistic, Loss, Squared};
use ksparse::select::{Choose, Chosen, Edge, Folds, Metric, Problem, Refits, Rule, Split, ranges};
use ksparse::simulate::{self, Correlation};
use ksparse::solver::{Auto, Solver};
use ksparse::{Cancel, Error, LinearModel, Result, Sparsity, Threads};
use std::ops::ControlFlow;
use std::time::Duration;

const AR: Correlation = Correlation::Ar1(0.5);

fn choose(options: &Choose, problem: &Problem, folds: &Folds) -> Result<Chosen> {
    options.fit(problem, folds, &Auto::default())
}

#[test]
fn perfect_fits_of_every_size_go_to_the_smallest() {
    // Without noise every k from 5 on is perfect, to rounding.
    for seed in 0..4 {
        let data = simulate::linear(80, 30, 5, AR, 0.0, seed);
        let loss = Squared::default();
        let problem = Problem::new(&data.design, &data.target, &loss);
        let folds = Folds::seeded(80, 5, seed).unwrap();
        for rule in [Rule::Best, Rule::Lean, Rule::OneStandardError] {
            let ridges = Choose { rule, lambdas: Some(vec![0.0]), refits: Refits::Same, ..Choose::default() };
            let chosen = choose(&ridges, &problem, &folds).unwrap();
            assert_eq!((chosen.k, &chosen.model().support), (5, &data.support), "{}", rule.name());
        }
    }
}

#[test]
fn noise_is_not_a_model() {
    let data = simulate::linear(60, 200, 1, AR, 1.0, 3);
    let noise = simulate::linear(60, 200, 1, AR, 1.0, 4);
    let loss = Squared::default();
    let problem = Problem::new(&data.design, &noise.target, &loss);
    let chosen = choose(&Choose::default(), &problem, &Folds::seeded(60, 5, 0).unwrap()).unwrap();
    assert_eq!(chosen.k, 0);
    assert!(chosen.model().support.is_empty() && chosen.predictors[0].frequencies.iter().all(|f| *f == 0.0));
}

#[test]
fn any_number_of_threads_chooses_the_same_bits() {
    let data = simulate::logistic(120, 300, 6, AR, 5);
    let loss = Logistic::default();
    let problem = Problem::new(&data.design, &data.target, &loss);
    let folds = Folds::stratified(&data.target, 4, 1).unwrap();
    let one = Threads::new(1).unwrap().run(|| choose(&Choose::default(), &problem, &folds)).unwrap();
    let three = Threads::new(3).unwrap().run(|| choose(&Choose::default(), &problem, &folds)).unwrap();
    assert_eq!(one.table, three.table);
    assert_eq!((one.k, one.model()), (three.k, three.model()));
}

#[test]
fn the_chosen_model_is_as_good_as_a_fit_of_its_size() {
    let data = simulate::logistic(150, 400, 8, AR, 2);
    let loss = Logistic::default();
    let problem = Problem::new(&data.design, &data.target, &loss);
    let folds = Folds::stratified(&data.target, 5, 0).unwrap();
    let chosen = choose(&Choose::default(), &problem, &folds).unwrap();
    let training = problem.on_all_rows().unwrap();
    let direct =
        Auto::default().fit(&training.risk.reridged(chosen.lambda).unwrap(), &Sparsity::new(chosen.k)).unwrap();
    let predictor = &chosen.predictors[0];
    assert!(predictor.selected.value <= 1.01 * direct.value, "{} {}", predictor.selected.value, direct.value);
    // The model is that support at its minimum under the other ridge.
    let refit = training.risk.reridged(chosen.refit).unwrap();
    let point = training.start(&predictor.models[0]);
    let mut gradient = vec![0.0; 401];
    refit.value_and_gradient(point.as_sparse(), &mut gradient);
    assert!(predictor.selected.support.iter().all(|&j| gradient[j].abs() < 1e-6));
    assert_eq!(predictor.models[0].support.len(), chosen.k);
    // Near ties are other supports of the same size, none of them better.
    for other in &predictor.alternatives {
        assert!(other.support.len() == chosen.k && other.support != predictor.models[0].support);
        assert!(other.value >= predictor.selected.value - 1e-9);
    }
}

#[test]
fn one_ridge_and_given_values_stay_within_what_was_given() {
    let data = simulate::logistic(100, 40, 4, AR, 9);
    let loss = Logistic::default();
    let problem = Problem::new(&data.design, &data.target, &loss);
    let folds = Folds::stratified(&data.target, 5, 0).unwrap();
    let options = Choose {
        ks: Some(vec![2, 1, 3, 2]),
        lambdas: Some(vec![0.01, 0.1]),
        refits: Refits::Same,
        rule: Rule::Best,
        ..Choose::default()
    };
    let chosen = choose(&options, &problem, &folds).unwrap();
    let cells: Vec<(usize, f64, f64)> = chosen.table.cells().iter().map(|c| (c.k, c.lambda, c.refit)).collect();
    assert!(cells.iter().all(|(k, lambda, refit)| (1..=3).contains(k) && lambda == refit));
    assert!([1, 2, 3].iter().all(|k| cells.contains(&(*k, 0.1, 0.1))));
    assert_eq!(chosen.k, 3);
    assert!(chosen.edges.contains(&Edge::LargestK));
    let all = Choose { ks: Some(vec![40]), ..options };
    assert!(!choose(&all, &problem, &folds).unwrap().edges.contains(&Edge::LargestK));
}

#[test]
fn a_column_kept_is_in_every_model() {
    let data = simulate::linear(80, 30, 3, AR, 0.5, 6);
    let outsider = (0..30).find(|j| !data.support.contains(j)).unwrap();
    let loss = Squared::default();
    let problem = Problem::new(&data.design, &data.target, &loss);
    let options = Choose { keep: vec![outsider], ..Choose::default() };
    let chosen = choose(&options, &problem, &Folds::seeded(80, 4, 0).unwrap()).unwrap();
    assert!(chosen.model().support.contains(&outsider));
    assert!(data.support.iter().all(|j| chosen.model().support.contains(j)));
    assert_eq!(chosen.predictors[0].frequencies[outsider], 1.0);
}

#[test]
fn what_was_scored_by_then_decides() {
    let data = simulate::logistic(200, 500, 5, AR, 1);
    let loss = Logistic::default();
    let problem = Problem::new(&data.design, &data.target, &loss);
    let splits = Folds::stratified(&data.target, 4, 0).unwrap().splits();
    // Told to stop at once: the model without features has been scored.
    let at_once = Choose::default().solve(&[problem], &splits, None, &Auto::default(), &mut |_| ControlFlow::Break(()));
    assert_eq!(at_once.unwrap().k, 0);
    let none = Choose { time_limit: Some(Duration::ZERO), ..Choose::default() };
    assert_eq!(
        none.solve(&[problem], &splits, None, &Auto::default(), &mut |_| ControlFlow::Continue(())).unwrap().k,
        0
    );
    // Stopped on the way: fewer cells, and a model from them.
    let mut left = 20;
    let mut watch = |_: &ksparse::select::CvProgress| {
        left -= 1;
        if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let some = Choose::default().solve(&[problem], &splits, None, &Auto::default(), &mut watch).unwrap();
    let full =
        Choose::default().fit(&problem, &Folds::stratified(&data.target, 4, 0).unwrap(), &Auto::default()).unwrap();
    assert!(some.table.cells().len() < full.table.cells().len());
    assert!(full.k > 0 && full.table.folds() == [0, 1, 2, 3]);
    // By a token, which is asked within refits as well: at any moment there is something known.
    for questions in [0, 1, 10, 100, 1000, 3000] {
        let options = Choose { cancel: Cancel::after(questions), ..Choose::default() };
        let known = options.solve(&[problem], &splits, None, &Auto::default(), &mut |_| ControlFlow::Continue(()));
        let known = known.unwrap();
        assert!(known.model().support.len() <= known.k && known.table.cells().len() <= full.table.cells().len());
        assert!(questions > 0 || known.k == 0);
    }
}

#[test]
fn several_problems_share_a_cell_and_any_split_will_do() {
    let data = simulate::linear(90, 20, 4, AR, 0.5, 8);
    let classes: Vec<usize> =
        data.target.iter().map(|y| if *y < -1.0 { 0 } else { usize::from(*y > 1.0) + 1 }).collect();
    let against = |class: usize| classes.iter().map(|&c| if c == class { 1.0 } else { -1.0 }).collect::<Vec<f64>>();
    let targets: Vec<Vec<f64>> = (0..3).map(against).collect();
    let loss = Logistic::default();
    let problems: Vec<Problem> = targets.iter().map(|y| Problem::new(&data.design, y, &loss)).collect();
    // Overlapping, unequal, not covering all rows.
    let split =
        |from: usize, to: usize| Split { training: (from..to).collect(), held_out: (0..from).chain(to..80).collect() };
    let splits = [split(10, 70), split(20, 80), split(5, 60)];
    let go_on = &mut |_: &ksparse::select::CvProgress| ControlFlow::Continue(());
    let chosen = Choose::default().solve(&problems, &splits, None, &Auto::default(), go_on).unwrap();
    assert_eq!(chosen.predictors.len(), 3);
    assert!(chosen.predictors.iter().all(|predictor| predictor.models[0].support.len() <= chosen.k));
    // A score of one's own: the share of rows where the largest predictor is the class.
    let right = |split: usize, models: &[LinearModel]| {
        let z = models.iter().map(|model| model.predict(&data.design)).collect::<Result<Vec<_>>>()?;
        let largest = |i: usize| (0..3).max_by(|&a, &b| z[a][i].total_cmp(&z[b][i])).unwrap();
        let rows = &splits[split].held_out;
        Ok(rows.iter().filter(|&&i| largest(i) == classes[i]).count() as f64 / rows.len() as f64)
    };
    let by_own = Choose { metric: Some(Metric::Auc), ..Choose::default() };
    let chosen = by_own.solve(&problems, &splits, Some(&right), &Auto::default(), go_on).unwrap();
    let best = chosen.table.best();
    assert!(chosen.table.cells().iter().all(|cell| cell.mean <= best.mean + 1e-9) && best.mean > 0.5);
    let nan = |_: usize, _: &[LinearModel]| Ok(f64::NAN);
    let error = by_own.solve(&problems, &splits, Some(&nan), &Auto::default(), go_on).unwrap_err();
    assert!(error.to_string().contains("no cell has a finite score: check the scorer"), "{error}");
}

#[test]
fn bad_input_is_told_what_to_do() {
    let n = 12;
    let x = Dense::from_columns(n, 2, (0..2 * n).map(|i| ((i * i) as f64).sin()).collect::<Vec<_>>()).unwrap();
    let labels: Vec<f64> = (0..n).map(|i| if i < 3 { 1.0 } else { -1.0 }).collect();
    let logistic = Logistic::default();
    let problem = Problem::new(&x, &labels, &logistic);
    let message = |options: &Choose, of_row: Vec<usize>| {
        choose(options, &problem, &Folds::given(of_row).unwrap()).unwrap_err().to_string()
    };
    let blocks: Vec<usize> = (0..n).map(|i| i / 3).collect();
    assert!(message(&Choose::default(), blocks).contains("only one class to train on: stratify the folds"));
    let halves: Vec<usize> = (0..n).map(|i| if i < 9 { i % 2 } else { 2 }).collect();
    let auc = Choose { metric: Some(Metric::Auc), ..Choose::default() };
    assert!(message(&auc, halves.clone()).contains("holds out one class only, which leaves its auc undefined"));
    let none = Choose { ks: Some(Vec::new()), ..Choose::default() };
    assert!(matches!(
        choose(&none, &problem, &Folds::given(halves.clone()).unwrap()),
        Err(Error::InvalidOption { option: "ks", .. })
    ));
    let negative = Choose { refits: Refits::Given(vec![-1.0]), ..Choose::default() };
    assert!(message(&negative, halves.clone()).contains("refits"));
    let splits = [Split { training: vec![0, 99], held_out: vec![1] }];
    let go_on = &mut |_: &ksparse::select::CvProgress| ControlFlow::Continue(());
    let beyond = Choose::default().solve(&[problem], &splits, None, &Auto::default(), go_on);
    assert!(matches!(beyond, Err(Error::IndexOutOfRange { what: "row", index: 99, .. })));
}

#[test]
fn data_without_anything_to_choose_are_no_obstacle() {
    let n = 20;
    let squared = Squared::default();
    let folds = Folds::seeded(n, 4, 0).unwrap();
    let x = Dense::from_columns(n, 3, (0..3 * n).map(|i| ((i * i) as f64).sin()).collect::<Vec<_>>()).unwrap();
    let constant = vec![7.0; n];
    let chosen = choose(&Choose::default(), &Problem::new(&x, &constant, &squared), &folds).unwrap();
    assert_eq!((chosen.k, chosen.model().intercept), (0, 7.0));
    let y: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let equal = Dense::from_columns(n, 3, vec![2.5; 3 * n]).unwrap();
    assert_eq!(choose(&Choose::default(), &Problem::new(&equal, &y, &squared), &folds).unwrap().k, 0);
    let copies = Dense::from_columns(n, 4, [&y[..], &y[..], &y[..], &y[..]].concat()).unwrap();
    let chosen = choose(&Choose::default(), &Problem::new(&copies, &y, &squared), &folds).unwrap();
    assert_eq!(chosen.k, 1);
    let empty = Dense::from_columns(n, 0, Vec::<f64>::new()).unwrap();
    assert_eq!(choose(&Choose::default(), &Problem::new(&empty, &y, &squared), &folds).unwrap().k, 0);
}

#[test]
fn ridges_are_in_units_of_the_data() {
    let data = simulate::linear(50, 10, 2, AR, 0.5, 1);
    let scaled: Vec<f64> =
        (0..10).flat_map(|j| data.design.column(j).iter().map(|v| 100.0 * v).collect::<Vec<_>>()).collect();
    let scaled = Dense::from_columns(50, 10, scaled).unwrap();
    let loss = Squared::default();
    let unit = |x: &Dense| {
        ranges::typical_curvature(&Problem::new(x, &data.target, &loss).on_all_rows().unwrap().risk).unwrap()
    };
    assert!((unit(&scaled) / unit(&data.design) - 1e4).abs() < 1e-3);
    let folds = Folds::seeded(50, 5, 2).unwrap();
    let plain = choose(&Choose::default(), &Problem::new(&data.design, &data.target, &loss), &folds).unwrap();
    let large = choose(&Choose::default(), &Problem::new(&scaled, &data.target, &loss), &folds).unwrap();
    assert_eq!((plain.k, &plain.model().support), (large.k, &large.model().support));
    assert!((large.refit / plain.refit - 1e4).abs() < 1.0);
}

#[test]
fn losses_with_corners_are_chosen_by_the_solver() {
    let data = simulate::logistic(60, 12, 2, Correlation::Independent, 3);
    let hinge = Hinge;
    let loss: &dyn Loss = &hinge;
    let problem = Problem::new(&data.design, &data.target, loss);
    let options = Choose { ks: Some(vec![0, 1, 2, 3]), ..Choose::default() };
    let chosen = choose(&options, &problem, &Folds::stratified(&data.target, 3, 0).unwrap()).unwrap();
    assert!(chosen.k > 0 && chosen.model().support.len() <= chosen.k);
}

/// Halves of the rows select what carries the target, and little else; their average is the mean of models that any
/// number of threads finds.
#[test]
fn halves_of_the_rows_say_what_is_stable() {
    let data = simulate::linear(120, 60, 4, Correlation::Ar1(0.3), 0.5, 3);
    let loss = Squared::default();
    let problem = Problem::new(&data.design, &data.target, &loss);
    let folds = Folds::seeded(120, 5, 0).unwrap();
    let options = Choose { resamples: 21, ..Choose::default() };
    let chosen = choose(&options, &problem, &folds).unwrap();
    let resampled = chosen.predictors[0].resampled.as_ref().unwrap();
    assert!(data.support.iter().all(|&j| resampled.frequencies[j] > 0.9), "{:?}", resampled.frequencies);
    let selected: f64 = resampled.frequencies.iter().sum();
    assert!((selected - chosen.k as f64).abs() < 1e-9, "every half selects k columns: {selected}");
    let average = &resampled.averages[0];
    let union: Vec<usize> = (0..60).filter(|&j| resampled.frequencies[j] > 0.0).collect();
    assert_eq!(average.support, union);
    let strong = average.coefficients.iter().zip(&average.support).filter(|(x, _)| x.abs() > 0.5);
    assert_eq!(strong.map(|(_, &j)| j).collect::<Vec<_>>(), data.support);
    for threads in [1, 3] {
        let again = Threads::new(threads).unwrap().run(|| choose(&options, &problem, &folds)).unwrap();
        assert_eq!(again.predictors[0].resampled.as_ref(), Some(resampled));
    }
    // The choice itself is what it is without them.
    let alone = choose(&Choose::default(), &problem, &folds).unwrap();
    assert_eq!((alone.k, alone.lambda, alone.model()), (chosen.k, chosen.lambda, chosen.model()));
    assert_eq!(alone.predictors[0].resampled, None);
}

/// A class of few rows is in every half.
#[test]
fn halves_of_a_rare_class_keep_it() {
    let data = simulate::logistic(100, 20, 3, Correlation::Independent, 5);
    let rare: Vec<f64> = data.target.iter().enumerate().map(|(i, _)| if i % 25 == 0 { 1.0 } else { -1.0 }).collect();
    let loss = Logistic::default();
    let problem = Problem::new(&data.design, &rare, &loss);
    let folds = Folds::stratified(&rare, 2, 0).unwrap();
    let chosen = choose(&Choose { resamples: 10, ..Choose::default() }, &problem, &folds).unwrap();
    let average = &chosen.predictors[0].resampled.as_ref().unwrap().averages[0];
    assert!(average.intercept.is_finite() && average.coefficients.iter().all(|x| x.is_finite()));
}
