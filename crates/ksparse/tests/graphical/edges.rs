//! Rank-deficient matrices, constant columns, one variable, no edges, all edges, bad input.

use super::{eigenvalues, model};
use ksparse::design::Dense;
use ksparse::graphical::{Bounds, Covariance, GraphicalLasso, Precision, Units};
use ksparse::solver::{self, Grahtp, Solver};
use ksparse::{Error, Sparsity, simulate};

const NAMES: [&str; 6] = ["grahtp", "fgrahtp", "grasp", "fbs", "foba", "auto"];

#[test]
fn one_variable() {
    let x = Dense::from_columns(4, 1, vec![1.0, 2.0, 3.0, 6.0]).unwrap();
    let model = Precision::new(Covariance::from_samples(&x, Units::Original).unwrap()).unwrap();
    for name in NAMES {
        let solution = solver::by_name(name).unwrap().fit(&model, &Sparsity::new(3)).unwrap();
        assert_eq!(solution.support, [0], "{name}");
        assert!((solution.coefficients[0] - 1.0 / 3.5).abs() < 1e-9, "{name}: {:?}", solution.coefficients);
    }
}

#[test]
fn no_edges_are_the_inverse_variances() {
    let model = model(30, 6, 1);
    for name in NAMES {
        let solution = solver::by_name(name).unwrap().fit(&model, &Sparsity::new(0)).unwrap();
        let o = model.network(&solution);
        assert!(o.edges().is_empty());
        for i in 0..6 {
            assert!((o.precision()[(i, i)] * model.covariance().matrix()[(i, i)] - 1.0).abs() < 1e-9, "{name}");
        }
    }
}

#[test]
fn all_edges_of_a_rank_deficient_matrix_stay_within_the_bounds() {
    let model = model(5, 9, 2);
    let solution = Grahtp::default().fit(&model, &Sparsity::new(36)).unwrap();
    let values = eigenvalues(model.network(&solution).precision());
    let Bounds { alpha, beta } = model.bounds();
    assert!(values[0] >= alpha * (1.0 - 1e-8) && values[8] <= beta * (1.0 + 1e-8), "{values:?} in {alpha} to {beta}");
    assert!(values[8] > 0.99 * beta, "a direction without variance is at its bound");
}

#[test]
fn a_constant_column_stands_alone() {
    let sample = simulate::precision(40, 2, 5, 3);
    let mut columns: Vec<f64> = (0..5).flat_map(|j| sample.train.column(j).to_vec()).collect();
    columns[40..80].fill(0.1); // 0.1 is no binary fraction: its mean is off by rounding
    let x = Dense::from_columns(40, 5, columns).unwrap();
    for units in [Units::Original, Units::Standardized] {
        let model = Precision::new(Covariance::from_samples(&x, units).unwrap()).unwrap();
        for name in NAMES {
            for k in [0, 3, 10] {
                let solution = solver::by_name(name).unwrap().fit(&model, &Sparsity::new(k)).unwrap();
                let network = model.network(&solution);
                assert!(network.edges().iter().all(|e| e.nodes.0 != 1 && e.nodes.1 != 1), "{name}, k {k}");
                let diagonal = network.precision()[(1, 1)];
                assert!((diagonal / model.bounds().beta - 1.0).abs() < 1e-6, "{name}, k {k}: {diagonal}");
            }
        }
    }
}

#[test]
fn equal_columns_are_bound_but_finite() {
    let sample = simulate::precision(40, 2, 4, 3);
    let mut columns: Vec<f64> = (0..4).flat_map(|j| sample.train.column(j).to_vec()).collect();
    columns.extend_from_slice(sample.train.column(0));
    let x = Dense::from_columns(40, 5, columns).unwrap();
    let model = Precision::new(Covariance::from_samples(&x, Units::Standardized).unwrap()).unwrap();
    for name in NAMES {
        let solution = solver::by_name(name).unwrap().fit(&model, &Sparsity::new(3)).unwrap();
        let network = model.network(&solution);
        let values = eigenvalues(network.precision());
        assert!(solution.value.is_finite() && values[4] <= model.bounds().beta * (1.0 + 1e-8), "{name}");
        if name != "fgrahtp" {
            let twins = network.edges().iter().find(|e| e.nodes == (0, 4)).unwrap();
            assert!(twins.partial_correlation > 0.99, "{name}: {twins:?}");
        }
    }
}

#[test]
fn a_single_row_or_constant_data_are_told() {
    let one = Dense::from_columns(1, 3, vec![1.0, 2.0, 3.0]).unwrap();
    let error = Precision::new(Covariance::from_samples(&one, Units::Original).unwrap()).unwrap_err();
    assert!(error.to_string().contains("constant"), "{error}");
    assert!(Covariance::from_samples(&Dense::<f64>::from_columns(0, 2, vec![]).unwrap(), Units::Original).is_err());
    assert!(Covariance::from_samples(&Dense::<f64>::from_columns(3, 0, vec![]).unwrap(), Units::Original).is_err());
    let missing = Dense::from_columns(2, 2, vec![1.0, 2.0, f64::NAN, 1.0]).unwrap();
    let error = Covariance::from_samples(&missing, Units::Original).unwrap_err();
    assert!(matches!(error, Error::NotFinite { index: 1, .. }), "{error}");
}

#[test]
fn bad_matrices_and_options_are_told() {
    let told = |matrix: faer::Mat<f64>| Covariance::from_matrix(matrix.as_ref(), None).unwrap_err().to_string();
    assert!(told(faer::mat![[1.0, 0.2], [0.3, 1.0]]).contains("not symmetric"));
    assert!(told(faer::mat![[-1.0, 0.0], [0.0, 1.0]]).contains("negative"));
    assert!(told(faer::mat![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).contains("length 3"));
    assert!(told(faer::mat![[0.0, 0.5], [0.5, 1.0]]).contains("variance 0"));
    assert!(told(faer::mat![[f64::NAN]]).contains("not finite"));
    let model = model(20, 3, 1);
    assert!(model.clone().with_xi(0.0).is_err());
    assert!(model.clone().with_bounds(Bounds { alpha: 2.0, beta: 1.0 }).is_err());
    let lasso = GraphicalLasso::default();
    assert!(lasso.path(model.covariance(), &[0.1, 0.2]).is_err());
    assert!(lasso.fit(model.covariance(), 0.0).is_err());
}

#[test]
fn the_bounds_are_the_rule() {
    let model = model(50, 4, 1);
    let s = model.covariance().matrix();
    let mean = (0..4).map(|i| s[(i, i)]).sum::<f64>() / 4.0;
    let norm = eigenvalues(s)[3];
    let xi = 1e-2 * mean;
    let model = model.with_xi(xi).unwrap();
    let alpha = 1.0 / (norm + 4.0 * xi);
    assert!((model.bounds().alpha / alpha - 1.0).abs() < 1e-10);
    assert!((model.bounds().beta / ((4.0 - alpha * 4.0 * mean) / xi) - 1.0).abs() < 1e-10);
}

#[test]
fn units_do_not_change_partial_correlations_of_the_full_model() {
    let sample = simulate::precision(60, 2, 6, 4);
    let mut columns: Vec<f64> = (0..6).flat_map(|j| sample.train.column(j).to_vec()).collect();
    columns[0..60].iter_mut().for_each(|v| *v *= 1000.0);
    let x = Dense::from_columns(60, 6, columns).unwrap();
    let of = |units: Units| {
        let model = Precision::new(Covariance::from_samples(&x, units).unwrap()).unwrap();
        let bounds = Bounds { alpha: 1e-9, beta: 1e9 };
        let model = model.with_bounds(bounds).unwrap();
        model.network(&Grahtp::default().fit(&model, &Sparsity::new(15)).unwrap())
    };
    for (a, b) in of(Units::Original).edges().iter().zip(of(Units::Standardized).edges()) {
        assert!((a.partial_correlation - b.partial_correlation).abs() < 1e-4, "{a:?} {b:?}");
    }
}
