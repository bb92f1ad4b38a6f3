//! The graphical lasso against scikit-learn, its optimality conditions, and discriminant analysis.

use super::{apart, matrix};
use faer::Mat;
use ksparse::design::Dense;
use ksparse::graphical::{Classes, Confusion, Covariance, GraphicalLasso, Network, Units, screen_by_t};
use ksparse::simulate;

#[test]
fn agrees_with_scikit_learn() {
    let reference: serde_json::Value = serde_json::from_str(include_str!("glasso_reference.json")).unwrap();
    for case in reference["cases"].as_array().unwrap() {
        let s = matrix(&case["covariance"]);
        let covariance = Covariance::from_matrix(s.as_ref(), None).unwrap();
        let penalties: Vec<f64> =
            case["fits"].as_array().unwrap().iter().map(|f| f["penalty"].as_f64().unwrap()).collect();
        let lasso = GraphicalLasso { tolerance: 1e-10, max_passes: 5000 };
        let path = lasso.path(&covariance, &penalties).unwrap();
        for (network, fit) in path.iter().zip(case["fits"].as_array().unwrap()) {
            let (penalty, expected) = (fit["penalty"].as_f64().unwrap(), matrix(&fit["precision"]));
            let off: f64 = network.edges().iter().map(|e| 2.0 * e.weight.abs()).sum();
            let value = network.loss(&s).unwrap() + penalty * off;
            let theirs = fit["value"].as_f64().unwrap();
            assert!((value - theirs).abs() < 1e-7, "{} at {penalty}: {value} against {theirs}", case["name"]);
            assert!(
                apart(network.precision(), &expected) < 1e-4,
                "{}: {}",
                case["name"],
                apart(network.precision(), &expected)
            );
            // Alone as along the path.
            let alone = lasso.fit(&covariance, penalty).unwrap();
            assert!(apart(network.precision(), alone.precision()) < 1e-5);
        }
    }
}

#[test]
fn optimality_conditions() {
    use faer::prelude::Solve;
    let sample = simulate::precision(50, 2, 15, 3);
    let s = Covariance::from_samples(&sample.train, Units::Standardized).unwrap();
    let lasso = GraphicalLasso { tolerance: 1e-9, ..GraphicalLasso::default() };
    let penalty = 0.2;
    let o = lasso.fit(&s, penalty).unwrap();
    let w = o.precision().partial_piv_lu().solve(Mat::<f64>::identity(15, 15));
    for i in 0..15 {
        assert!((w[(i, i)] - s.matrix()[(i, i)]).abs() < 1e-5);
        for j in 0..i {
            let slope = s.matrix()[(i, j)] - w[(i, j)];
            let entry = o.precision()[(i, j)];
            if entry == 0.0 {
                assert!(slope.abs() <= penalty + 1e-5);
            } else {
                assert!((slope + penalty * entry.signum()).abs() < 1e-5);
            }
        }
    }
}

#[test]
fn discriminant_scores_by_hand() {
    // Two classes on a line each, precision I: the nearest mean, moved by the priors.
    let x = Dense::from_rows(4, 2, &[0.0, 0.0, 2.0, 0.0, 4.0, 2.0, 6.0, 2.0]).unwrap();
    let labels = [0.0, 0.0, 0.0, 1.0];
    let classes = Classes::of(&x, &labels).unwrap();
    let s = classes.covariance(&x, Units::Original).unwrap();
    let rule = classes.rule(&Network::new(Mat::identity(2, 2)), &s);
    let scores = rule.scores(&x).unwrap();
    let (m0, m1) = ([2.0, 2.0 / 3.0], [6.0, 2.0]);
    for (i, row) in [[0.0, 0.0], [2.0, 0.0], [4.0, 2.0], [6.0, 2.0]].iter().enumerate() {
        for (c, (m, prior)) in [(m0, 0.75f64), (m1, 0.25)].iter().enumerate() {
            let by_hand = row[0] * m[0] + row[1] * m[1] - 0.5 * (m[0] * m[0] + m[1] * m[1]) + prior.ln();
            assert!((scores[(i, c)] - by_hand).abs() < 1e-12);
        }
    }
    assert!((s.matrix()[(0, 0)] - 8.0 / 4.0).abs() < 1e-12, "deviations from the class means over n");
}

#[test]
fn units_do_not_change_the_rule() {
    let sample = simulate::precision(60, 2, 4, 3);
    let labels: Vec<f64> = (0..60).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let classes = Classes::of(&sample.train, &labels).unwrap();
    let scores = |units: Units| {
        use faer::prelude::Solve;
        let s = classes.covariance(&sample.train, units).unwrap();
        let inverse = s.matrix().partial_piv_lu().solve(Mat::<f64>::identity(4, 4));
        classes.rule(&Network::new(inverse), &s).scores(&sample.train).unwrap()
    };
    assert!(apart(&scores(Units::Original), &scores(Units::Standardized)) < 1e-9);
}

#[test]
fn metrics_by_hand() {
    let truth = [1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0];
    let table = Confusion::of(&[1.0, 1.0, -1.0, 1.0, -1.0, -1.0, -1.0], &truth, 1.0);
    assert_eq!(
        (table.true_positives, table.false_positives, table.true_negatives, table.false_negatives),
        (2, 1, 3, 1)
    );
    assert!((table.sensitivity() - 2.0 / 3.0).abs() < 1e-15 && table.specificity() == 0.75);
    assert!((table.mcc() - (2.0 * 3.0 - 1.0) / (3.0f64 * 3.0 * 4.0 * 4.0).sqrt()).abs() < 1e-15);
    assert_eq!(Confusion::of(&[1.0, 1.0], &[1.0, 1.0], 1.0).mcc(), 0.0);
}

#[test]
fn screening_ranks_by_the_statistic() {
    let x = Dense::from_columns(6, 3, vec![1., 2., 3., 1., 2., 3., 1., 2., 3., 11., 12., 13., 1., 5., 9., 4., 8., 12.])
        .unwrap();
    let labels = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    assert_eq!(screen_by_t(&x, &labels, 1).unwrap(), [1]);
    assert_eq!(screen_by_t(&x, &labels, 2).unwrap(), [1, 2]);
    // A column whose classes have equal means is never worth a place.
    assert_eq!(screen_by_t(&x, &labels, 3).unwrap(), [1, 2]);
    assert!(screen_by_t(&x, &[0.0; 6], 1).is_err());
}
