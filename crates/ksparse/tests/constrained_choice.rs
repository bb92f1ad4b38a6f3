//! The choice of k where columns are in groups or coefficients have bounds.

use ksparse::design::Dense;
use ksparse::loss::{Logistic, Loss, Squared};
use ksparse::objective::Bounds;
use ksparse::select::{Choose, CrossValidation, Folds, JointProblem, Metric, Observed, Problem, Refits, Rule};
use ksparse::simulate::{self, Correlation, Simulated};
use ksparse::sparsity::Partition;
use ksparse::{Auto, Grid, LinearModel, Solver, Threads};

fn data(n: usize, p: usize, seed: u64) -> Simulated<Dense<'static>> {
    let other = simulate::linear(n, p, 4, Correlation::Ar1(0.3), 1.0, seed + 100);
    // The target of other columns is noise to these.
    Simulated { target: other.target, ..simulate::linear(n, p, 4, Correlation::Ar1(0.3), 1.0, seed) }
}

/// A target of some columns with these coefficients, and a little noise.
fn target(x: &Dense, coefficients: &[(usize, f64)], noise: &[f64]) -> Vec<f64> {
    let (support, coefficients) = coefficients.iter().copied().unzip();
    let z = LinearModel { support, coefficients, intercept: 0.5 }.predict(x).unwrap();
    z.iter().zip(noise).map(|(z, e)| z + 0.1 * e).collect()
}

#[test]
fn groups_are_chosen_as_wholes_and_scored_as_fits_of_the_folds_are() {
    let simulated = data(90, 15, 3);
    let x = &simulated.design;
    let y = target(x, &[(0, 1.0), (1, -1.0), (2, 0.5), (9, 1.0), (10, 1.0), (11, -0.7)], &simulated.target);
    let loss = Squared::default();
    let groups = Partition::new((0..5).map(|g| (3 * g..3 * g + 3).collect())).unwrap();
    let problem = Problem { groups: Some(&groups), ..Problem::new(x, &y, &loss) };
    assert_eq!((problem.units(&[]), problem.units(&[3])), (5, 5));
    let folds = Folds::seeded(90, 4, 1).unwrap();
    let chosen = Choose::default().fit(&problem, &folds, &Auto::default()).unwrap();
    assert_eq!((chosen.k, &chosen.model().support[..]), (2, &[0, 1, 2, 9, 10, 11][..]));
    let frequencies = &chosen.predictors[0].frequencies;
    assert!(frequencies.chunks(3).all(|group| group.iter().all(|f| *f == group[0])), "{frequencies:?}");
    for threads in [1, 3] {
        let again = || Choose::default().fit(&problem, &folds, &Auto::default());
        let again = Threads::new(threads).unwrap().run(again).unwrap();
        assert!(again.table == chosen.table && again.model() == chosen.model(), "{threads} threads");
    }
    // A cell of given ridges by hand.
    let given = Choose {
        ks: Some(vec![1, 2, 3]),
        lambdas: Some(vec![0.1]),
        refits: Refits::Same,
        thorough: true,
        ..Choose::default()
    };
    let table = given.fit(&problem, &folds, &Auto::default()).unwrap().table;
    let grid = Grid {
        path: ksparse::Path { groups: Some(groups.clone().into()), ..ksparse::Path::over(1..=3) },
        lambdas: vec![0.1],
    };
    let by_paths = CrossValidation::over(grid).fit(&problem, &folds, &Auto::default()).unwrap().table;
    for (cell, other) in table.cells().iter().zip(by_paths.cells()) {
        assert_eq!(cell.k, other.k);
        let (mut by_hand, mut rows) = (0.0, 0.0);
        for fold in 0..4 {
            let training = problem.on_rows(folds.training(fold)).unwrap();
            let objective = training.objective(0.1).unwrap();
            let solution = Auto::default().fit(&*objective, &problem.sparsity(cell.k, &[])).unwrap();
            let held_out = folds.held_out(fold);
            let z = problem.predict(&training.model(&solution), &held_out).unwrap();
            by_hand += held_out.iter().zip(z).map(|(&i, z)| (y[i] - z).powi(2)).sum::<f64>();
            rows += held_out.len() as f64;
        }
        assert!(
            (cell.mean - by_hand / rows).abs() < 1e-2 * cell.mean,
            "k {}: {} {}",
            cell.k,
            cell.mean,
            by_hand / rows
        );
        assert!((other.mean - by_hand / rows).abs() < 1e-6 * cell.mean, "k {}", cell.k);
    }
}

/// Bounds that hold are bounds on every model that is scored, not on the last alone.
fn check_bounds(loss: &dyn Loss, y: &[f64], x: &Dense, lower: f64, upper: f64, standardize: bool) {
    let p = x_columns(x);
    let bounds = Bounds::new(vec![lower; p], vec![upper; p]).unwrap();
    let problem = Problem { bounds: Some(&bounds), standardize, ..Problem::new(x, y, loss) };
    let within = |w: &f64| (lower - 1e-9..=upper + 1e-9).contains(w);
    let own = |_: usize, models: &[LinearModel]| {
        assert!(models.iter().flat_map(|model| &model.coefficients).all(within), "{models:?}");
        Ok(models[0].coefficients.len() as f64)
    };
    let folds = Folds::seeded(y.len(), 3, 0).unwrap();
    let go_on = &mut |_: &ksparse::select::CvProgress| std::ops::ControlFlow::Continue(());
    let solved = Choose { rule: Rule::Best, resamples: 2, ..Choose::default() };
    solved.solve(&[problem], &folds.splits(), Some(&own), &Auto::default(), go_on).unwrap();
    let chosen = solved.fit(&problem, &folds, &Auto::default()).unwrap();
    assert!(chosen.k > 0 && chosen.model().coefficients.iter().all(within), "{:?}", chosen.model());
    assert!(chosen.predictors[0].resampled.as_ref().unwrap().averages[0].coefficients.iter().all(within));
    // As good as a fit of that size under the ridge that selects.
    let training = problem.on_all_rows().unwrap();
    let direct = Auto::default().fit(&*training.objective(chosen.lambda).unwrap(), &problem.sparsity(chosen.k, &[]));
    let (found, direct) = (chosen.predictors[0].selected.value, direct.unwrap().value);
    assert!(found <= direct + 1e-6 * direct.abs(), "{found} {direct}");
    let held = training.held_back(chosen.refit, &chosen.predictors[0].solution).unwrap().unwrap();
    let model = training.model(&chosen.predictors[0].solution);
    for (&j, w) in model.support.iter().zip(&model.coefficients) {
        let at = (w - lower).abs() < 1e-9 || (w - upper).abs() < 1e-9;
        assert!(at || !held.contains(&j), "column {j}: {w}");
    }
}

fn x_columns(x: &Dense) -> usize {
    ksparse::design::Design::ncols(x)
}

#[test]
fn every_model_of_a_choice_is_within_its_bounds() {
    let simulated = data(80, 12, 5);
    let x = &simulated.design;
    let y = target(x, &[(1, 1.5), (4, -2.0), (7, 0.8)], &simulated.target);
    let labels: Vec<f64> = y.iter().map(|y| if *y > 0.5 { 1.0 } else { -1.0 }).collect();
    for standardize in [false, true] {
        check_bounds(&Squared::default(), &y, x, 0.0, f64::INFINITY, standardize);
        check_bounds(&Squared::default(), &y, x, -0.5, 1.0, standardize);
        check_bounds(&Logistic::default(), &labels, x, 0.0, 0.7, standardize);
    }
}

#[test]
fn many_columns_within_bounds_are_chosen_among_too() {
    // More columns than the projected Newton method factors at a time.
    let simulated = data(60, 700, 8);
    let x = &simulated.design;
    let y = target(x, &[(100, 2.0), (333, 1.5), (600, -1.0)], &simulated.target);
    let loss = Squared::default();
    let bounds = Bounds::nonnegative(700);
    let problem = Problem { bounds: Some(&bounds), ..Problem::new(x, &y, &loss) };
    let chosen = Choose::default().fit(&problem, &Folds::seeded(60, 4, 0).unwrap(), &Auto::default()).unwrap();
    let model = chosen.model();
    assert!(model.support.contains(&100) && model.support.contains(&333) && !model.support.contains(&600), "{model:?}");
    assert!(model.coefficients.iter().all(|w| *w >= 0.0));
}

#[test]
fn classes_and_paths_keep_to_bounds_as_well() {
    let simulated = data(60, 6, 2);
    let x = &simulated.design;
    let y = target(x, &[(0, 1.0), (2, -1.0)], &simulated.target);
    let of: Vec<usize> = y.iter().map(|y| usize::from(*y > 0.0) + usize::from(*y > 1.0)).collect();
    let bounds = Bounds::new(vec![-0.3; 6], vec![0.4; 6]).unwrap();
    let observed = Observed::Classes { of: &of, count: 3 };
    let problem = JointProblem { bounds: Some(&bounds), standardize: true, ..JointProblem::new(x, observed) };
    let choose = Choose { metric: Some(Metric::Error), ..Choose::default() };
    let chosen = choose.fit_joint(&problem, &problem.folds(3, 1).unwrap(), &Auto::default()).unwrap();
    let (models, solution) = (&chosen.predictors[0].models, &chosen.predictors[0].solution);
    let coefficients = || models.iter().flat_map(|model| &model.coefficients);
    assert!(coefficients().all(|w| (-0.3 - 1e-9..=0.4 + 1e-9).contains(w)), "{models:?}");
    let training = problem.on_all_rows().unwrap();
    let held = training.held_back(chosen.refit, solution).unwrap().unwrap();
    assert!(held.iter().all(|j| models[0].support.contains(j)) && held.windows(2).all(|w| w[0] < w[1]));
    let too_few = Bounds::nonnegative(5);
    let wrong = JointProblem { bounds: Some(&too_few), ..problem };
    assert!(wrong.on_all_rows().is_err());
}
