//! Folds, metrics, criteria, cross-validation: the choice of k.
mod validation;

use ksparse::design::{Dense, Design, Rows, Scaled};
use ksparse::loss::{Hinge, Huber, Logistic, Loss, Squared, SquaredHinge};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::select::{
    Criterion, CrossValidation, CvCell, CvTable, Deal, Folds, Metric, Problem, Rule, Selection, area_under_curve,
    classification_error, deviance, ln_binomial, mean_squared_error,
};
use ksparse::simulate::{self, Correlation};
use ksparse::solver::{Auto, Solver};
use ksparse::{Error, Grid, Objective, Path, Risk, Solution, Sparsity, Threads};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::ControlFlow;
use std::time::Duration;

const AR: Correlation = Correlation::Ar1(0.7);

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

fn pick(values: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|&i| values[i]).collect()
}

// ---- folds ----

#[test]
fn seeded_folds_are_balanced_and_repeatable() {
    let folds = Folds::seeded(23, 5, 9).unwrap();
    let mut all: Vec<usize> = (0..folds.count()).flat_map(|fold| folds.held_out(fold)).collect();
    all.sort_unstable();
    assert_eq!(all, (0..23).collect::<Vec<_>>());
    for fold in 0..5 {
        assert!((4..=5).contains(&folds.held_out(fold).len()));
        assert!(folds.training(fold).iter().all(|&i| folds.deals()[0][i] != fold));
        assert_eq!(folds.training(fold).len() + folds.held_out(fold).len(), 23);
    }
    assert_eq!(folds, Folds::seeded(23, 5, 9).unwrap());
    assert_ne!(folds, Folds::seeded(23, 5, 10).unwrap());
}

#[test]
fn stratified_folds_spread_every_class() {
    let labels: Vec<f64> = (0..47).map(|i| if i < 11 { 1.0 } else { -1.0 }).collect();
    let folds = Folds::stratified(&labels, 4, 2).unwrap();
    for fold in 0..4 {
        let rows = folds.held_out(fold);
        let positive = rows.iter().filter(|&&i| labels[i] > 0.0).count();
        assert!((2..=3).contains(&positive) && (11..=12).contains(&rows.len()));
    }
    assert_eq!(folds, Folds::stratified(&labels, 4, 2).unwrap());
    assert_ne!(folds, Folds::stratified(&labels, 4, 3).unwrap());
}

#[test]
fn rows_dealt_several_times_are_folds_one_after_the_other() {
    let labels: Vec<f64> = (0..40).map(|i| if i % 4 == 0 { 1.0 } else { -1.0 }).collect();
    let thrice = Deal { folds: 5, times: 3 }.out(40, Some(&labels), 7).unwrap();
    assert_eq!((thrice.count(), thrice.rows(), thrice.deals().len()), (15, 40, 3));
    assert_eq!(thrice.splits()[..5], Folds::stratified(&labels, 5, 7).unwrap().splits());
    for deal in 0..3 {
        let mut rows: Vec<usize> = (5 * deal..5 * deal + 5).flat_map(|fold| thrice.held_out(fold)).collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..40).collect::<Vec<_>>());
        assert!(thrice.deals()[..deal].iter().all(|other| *other != thrice.deals()[deal]));
    }
    // What the rows say three times is no surer than what they say once.
    let scores = [1.0, 2.0, 4.0, 3.0, 5.0];
    let once = CvCell::new(1, 0.0, scores.to_vec(), &[1.0; 5]);
    let again = CvCell::new(1, 0.0, scores.repeat(3), &[1.0; 15]).scored(3.0);
    assert!((once.standard_error - again.standard_error).abs() < 1e-15 && once.mean == again.mean);
    for (rows, deal) in [(249, "5x5"), (250, "5x2"), (999, "5x2"), (1000, "3")] {
        assert_eq!(Deal::of(rows), deal.parse().unwrap());
    }
    for bad in ["1", "x", "5x0", "5x", "x3", "-2", "2.5", "5x3x2", ""] {
        let error = bad.parse::<Deal>().unwrap_err().to_string();
        assert!(error.contains("FOLDSxTIMES"), "{error}");
    }
    assert!(Folds::repeated(vec![]).is_err());
    let other = [Folds::seeded(40, 4, 1).unwrap(), Folds::seeded(41, 5, 1).unwrap()];
    assert!(other.into_iter().all(|other| Folds::repeated(vec![thrice.clone(), other]).is_err()));
}

#[test]
fn impossible_folds_are_errors() {
    assert!(matches!(Folds::seeded(10, 1, 0), Err(Error::InvalidOption { option: "folds", .. })));
    assert!(matches!(Folds::seeded(3, 4, 0), Err(Error::Data(_))));
    let few = Folds::stratified(&[1.0, 1.0, -1.0, -1.0, -1.0], 3, 0);
    let few = few.unwrap_err().to_string();
    assert!(few.starts_with("class 1 has 2 rows, too few for 3 stratified folds: leave"), "{few}");
    assert!(Folds::stratified(&[], 2, 0).is_err());
    assert!(Folds::stratified(&[1.0, f64::NAN], 2, 0).is_err());
    assert_eq!(Folds::given(vec![0, 2, 0, 2]).unwrap_err().to_string(), "fold 1 of 0 to 2 has no rows");
    for bad in [vec![], vec![0, 0], vec![0, 7], vec![0, usize::MAX]] {
        assert!(Folds::given(bad).is_err());
    }
    assert_eq!(Folds::given(vec![1, 0, 1]).unwrap().held_out(1), [0, 2]);
}

// ---- metrics ----

#[test]
fn area_under_the_curve_matches_the_count_over_all_pairs() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    for round in 0..20 {
        let n = 5 + 3 * round;
        // Few distinct scores, so many ties, some of them of 0.0 and -0.0.
        let z: Vec<f64> =
            (0..n).map(|i| random.random_range(-3i32..=3) as f64 * if i % 2 == 0 { 0.5 } else { -0.5 }).collect();
        let y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let w: Vec<f64> = (0..n).map(|_| random.random_range(0.1..2.0)).collect();
        let (mut won, mut pairs) = (0.0, 0.0);
        for i in (0..n).filter(|&i| y[i] > 0.0) {
            for j in (0..n).filter(|&j| y[j] < 0.0) {
                let half = f64::from(u8::from(z[i] > z[j])) + f64::from(u8::from(z[i] >= z[j]));
                won += w[i] * w[j] * half / 2.0;
                pairs += w[i] * w[j];
            }
        }
        assert!(close(area_under_curve(&z, &y, Some(&w)).unwrap(), won / pairs));
        let flipped: Vec<f64> = z.iter().map(|z| -z).collect();
        let sum = area_under_curve(&z, &y, None).unwrap() + area_under_curve(&flipped, &y, None).unwrap();
        assert!(close(sum, 1.0));
    }
    assert_eq!(area_under_curve(&[0.0, -0.0], &[1.0, -1.0], None).unwrap(), 0.5);
}

#[test]
fn metrics_have_their_hand_values() {
    let (z, y) = ([2.0, -1.0, 0.0, 3.0], [1.0, 1.0, -1.0, -1.0]);
    assert_eq!(classification_error(&z, &y, None).unwrap(), 2.5 / 4.0);
    assert_eq!(classification_error(&z, &y, Some(&[1.0, 0.0, 2.0, 1.0])).unwrap(), 0.5);
    assert_eq!(mean_squared_error(&z, &y, None).unwrap(), (1.0 + 4.0 + 1.0 + 16.0) / 4.0);
    assert_eq!(mean_squared_error(&z, &y, Some(&[0.0, 1.0, 0.0, 3.0])).unwrap(), 13.0);
    // Whatever the scale of the squared loss, its deviance is the mean squared error.
    for scale in [1.0, 2.0, 7.0] {
        assert!(close(deviance(&Squared::new(scale).unwrap(), &z, &y, None).unwrap(), 5.5));
    }
    for c in [1.0, 2.0] {
        let by_hand: f64 = z.iter().zip(&y).map(|(z, y)| (1.0f64 + (-c * z * y).exp()).ln()).sum::<f64>() / 2.0;
        assert!(close(deviance(&Logistic::new(c).unwrap(), &z, &y, None).unwrap(), by_hand));
    }
    // Slacks 0, 2, 1, 4.
    assert!(close(deviance(&SquaredHinge, &z, &y, None).unwrap(), (4.0 + 1.0 + 16.0) / 4.0));
    assert!(close(deviance(&Hinge, &z, &y, None).unwrap(), 2.0 * 7.0 / 4.0));
}

#[test]
fn undefined_metrics_are_errors() {
    assert!(matches!(area_under_curve(&[1.0, 2.0], &[1.0, 1.0], None), Err(Error::Data(_))));
    assert!(matches!(area_under_curve(&[1.0, 2.0], &[1.0, -1.0], Some(&[1.0, 0.0])), Err(Error::Data(_))));
    assert!(matches!(mean_squared_error(&[], &[], None), Err(Error::Data(_))));
    assert!(matches!(mean_squared_error(&[1.0], &[1.0, 2.0], None), Err(Error::Shape { .. })));
    assert!(matches!(mean_squared_error(&[1.0], &[1.0], Some(&[])), Err(Error::Shape { .. })));
    assert!(matches!(area_under_curve(&[f64::NAN, 1.0], &[1.0, -1.0], None), Err(Error::NotFinite { .. })));
    assert!(matches!(Metric::Auc.check(&Squared::default()), Err(Error::Unsupported { solver: "auc", .. })));
    assert!(Metric::Mse.check(&Logistic::default()).is_err());
    for name in Metric::NAMES {
        assert_eq!(Metric::by_name(name).unwrap().name(), name);
    }
    assert!(Metric::by_name("accuracy").is_err());
}

// ---- criteria ----

#[test]
fn log_binomials_are_exact() {
    assert_eq!((ln_binomial(10, 0), ln_binomial(3, 5)), (0.0, 0.0));
    assert!(close(ln_binomial(10, 3), 120f64.ln()) && close(ln_binomial(10, 7), 120f64.ln()));
    assert!(close(ln_binomial(52, 5), 2_598_960f64.ln()));
    assert!(close(ln_binomial(1_000_000, 2), (1e6 * 999_999.0 / 2.0f64).ln()));
}

#[test]
fn criteria_match_their_formulas() {
    let data = simulate::linear(50, 20, 3, AR, 1.0, 6);
    let risk = Risk::new(&data.design, &data.target, Squared::new(2.0).unwrap()).unwrap().with_intercept();
    let solution = Auto::default().fit(&risk, &Sparsity::new(3)).unwrap();
    let z = risk.predictions(solution.as_sparse());
    let residual: f64 = z.iter().zip(&data.target).map(|(z, y)| (y - z) * (y - z)).sum();
    let (log_n, fit) = (50f64.ln(), 50.0 * (residual / 50.0).ln());
    let score = |criterion: Criterion| criterion.score(&risk, &solution).unwrap();
    assert!(close(score(Criterion::Aic), fit + 8.0));
    assert!(close(score(Criterion::Bic), fit + 4.0 * log_n));
    assert!(close(score(Criterion::Ebic { gamma: 0.5 }), fit + 4.0 * log_n + 1140f64.ln()));
    assert!(close(score(Criterion::Ebic { gamma: 0.0 }), fit + 4.0 * log_n));
    assert!(close(score(Criterion::Gic), fit + 3.0 * 20f64.ln() * log_n.ln()));

    // Logistic: integer weights as repeated rows, a ridge that is no part of the fit, no intercept.
    let labels = simulate::logistic(60, 10, 3, AR, 7);
    let weights: Vec<f64> = (0..60).map(|i| 1.0 + (i % 2) as f64).collect();
    let weighted = Risk::new(&labels.design, &labels.target, Logistic::default()).unwrap();
    let weighted = weighted.with_weights(&weights).unwrap().with_ridge(0.1).unwrap();
    let solution = Auto::default().fit(&weighted, &Sparsity::new(2)).unwrap();
    let z = weighted.predictions(solution.as_sparse());
    let likelihood: f64 = (0..60).map(|i| 2.0 * weights[i] * (1.0 + (-z[i] * labels.target[i]).exp()).ln()).sum();
    let bic = Criterion::Bic.score(&weighted, &solution).unwrap();
    assert!(close(bic, likelihood + 2.0 * 90f64.ln()));
    let rows: Vec<usize> = (0..60).flat_map(|i| vec![i; 1 + i % 2]).collect();
    let target = pick(&labels.target, &rows);
    let repeated = Risk::new(Rows::new(&labels.design, rows).unwrap(), target, Logistic::default()).unwrap();
    assert!(close(bic, Criterion::Bic.score(&repeated, &solution).unwrap()));
}

#[test]
fn criteria_refuse_what_they_cannot_judge() {
    let labels = simulate::logistic(30, 5, 2, AR, 8);
    for loss in [Box::new(SquaredHinge) as Box<dyn Loss>, Box::new(Huber::default())] {
        let risk = Risk::from_boxes(Box::new(&labels.design), labels.target.clone().into(), loss).unwrap();
        let path = Path::over([1]).fit(&risk, &Auto::default()).unwrap();
        assert!(matches!(Criterion::Bic.choose(&risk, &path), Err(Error::Unsupported { solver: "bic", .. })));
    }
    assert!(Criterion::Ebic { gamma: 1.5 }.penalty(10.0, 5, 1, false).is_err());
    assert!(Criterion::Gic.penalty(2.0, 5, 1, false).is_err());
    for name in Criterion::NAMES {
        assert_eq!(Criterion::by_name(name).unwrap().name(), name);
    }
    assert!(Criterion::by_name("cp").is_err());
}

#[test]
fn interpolation_is_never_chosen_and_of_exact_fits_the_smallest_is() {
    let noisy = simulate::linear(12, 40, 2, Correlation::Independent, 0.5, 9);
    let risk = Risk::new(&noisy.design, &noisy.target, Squared::default()).unwrap();
    let path = Path::over([0, 1, 2, 3, 12, 20]).fit(&risk, &Auto::default()).unwrap();
    let choice = Criterion::Aic.choose(&risk, &path).unwrap();
    assert!(choice.k <= 3 && choice.scores[4..] == [f64::INFINITY; 2], "{choice:?}");

    let exact = simulate::compressed_sensing(60, 40, 4, 10);
    let risk = Risk::new(&exact.design, &exact.target, Squared::default()).unwrap();
    let path = Path::over(0..=8).fit(&risk, &Auto::default()).unwrap();
    for criterion in [Criterion::Aic, Criterion::Bic, Criterion::Gic] {
        assert_eq!(criterion.choose(&risk, &path).unwrap().k, 4);
    }
}

#[test]
fn a_clear_signal_gives_its_k_to_every_method() {
    let data = simulate::linear(200, 60, 5, Correlation::Ar1(0.3), 0.5, 11);
    let loss = Squared::default();
    let problem = Problem::new(&data.design, &data.target, &loss);
    let training = problem.on_all_rows().unwrap();
    let path = Path::over(0..=8).fit(&training.risk, &Auto::default()).unwrap();
    for criterion in [Criterion::Bic, Criterion::Ebic { gamma: 1.0 }, Criterion::Gic] {
        let choice = criterion.choose(&training.risk, &path).unwrap();
        assert_eq!((choice.k, choice.index), (5, 5), "{}", criterion.name());
    }
    let validation =
        CrossValidation { rule: Rule::OneStandardError, ..CrossValidation::over(Grid::over(0..=8, [0.0, 0.5])) };
    let chosen = validation.fit(&problem, &Folds::seeded(200, 5, 1).unwrap(), &Auto::default()).unwrap();
    assert_eq!((chosen.k, chosen.lambda), (5, 0.0));
    assert_eq!(chosen.model.support, data.support);
    assert_eq!(chosen.table.folds(), [0, 1, 2, 3, 4]);

    let grid = Grid::over(0..=8, [0.0, 0.5]).fit(&training.risk, &Auto::default()).unwrap();
    let choice = Criterion::Bic.choose_cell(&training.risk, &grid).unwrap();
    assert_eq!((choice.k, choice.lambda, choice.index), (5, 0.0, 9 + 5));
}

#[test]
fn a_pointer_to_a_loss_keeps_every_answer_of_the_loss() {
    for name in ["squared", "logistic", "squared-hinge", "huber", "hinge"] {
        let boxed = ksparse::loss::by_name(name).unwrap();
        let loss: &dyn Loss = &*boxed;
        let pointer: &dyn Loss = &loss;
        assert_eq!((pointer.name(), pointer.target()), (name, loss.target()));
        assert_eq!(pointer.at(0.3, 1.0), loss.at(0.3, 1.0));
        assert_eq!(pointer.smoothness(), loss.smoothness());
        let flags = |l: &dyn Loss| (l.is_quadratic(), l.has_tail(), l.is_likelihood(), l.check_target(&[2.0]).is_ok());
        assert_eq!(flags(pointer), flags(loss));
        assert_eq!(pointer.conjugate().value(-0.5, 1.0), loss.conjugate().value(-0.5, 1.0));
    }
}
