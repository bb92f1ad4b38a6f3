#![allow(clippy::unwrap_used)]

use super::*;
use crate::Threads;
use crate::design::Sparse;

fn columns(design: &Dense<'_>) -> Vec<f64> {
    (0..design.ncols()).flat_map(|j| design.column(j).to_vec()).collect()
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt())
}

/// Covariance of two columns.
fn covariance(design: &Dense<'_>, i: usize, j: usize) -> f64 {
    let (a, b) = (design.column(i), design.column(j));
    let (ma, mb) = (moments(a).0, moments(b).0);
    a.iter().zip(b).map(|(a, b)| (a - ma) * (b - mb)).sum::<f64>() / a.len() as f64
}

#[test]
fn a_seed_determines_every_bit_whatever_the_threads() {
    let draw = || {
        let dense = [
            logistic(50, 30, 4, Correlation::Ar1(0.5), 3),
            linear(50, 30, 4, Correlation::Independent, 0.5, 3),
            compressed_sensing(50, 30, 4, 3),
            two_means(50, 30, 4, 3),
        ];
        let words = text(&Text { n: 100, p: 2000, mean_tokens: 20.0 }, 3);
        let precision = precision(40, 20, 30, 3);
        let mut all: Vec<f64> = Vec::new();
        for d in &dense {
            all.extend(columns(&d.design));
            all.extend(d.target.iter().chain(&d.coefficients));
        }
        all.extend((0..2000).flat_map(|j| words.design.column(j).1.to_vec()));
        all.extend(words.target.iter().chain(&words.coefficients));
        all.extend(columns(&precision.train).iter().chain(&columns(&precision.tune)));
        all
    };
    let one = Threads::new(1).unwrap().run(draw);
    let three = Threads::new(3).unwrap().run(draw);
    assert!(one.iter().zip(&three).all(|(a, b)| a.to_bits() == b.to_bits()) && one.len() == three.len());
    assert_ne!(columns(&compressed_sensing(5, 5, 1, 0).design), columns(&compressed_sensing(5, 5, 1, 1).design));
}

#[test]
fn more_coefficients_or_noise_leave_the_rows_alone() {
    let few = linear(20, 10, 1, Correlation::Independent, 0.0, 8);
    let many = linear(20, 10, 9, Correlation::Independent, 3.0, 8);
    assert_eq!(columns(&few.design), columns(&many.design));
}

#[test]
fn shapes_and_supports() {
    for (k, expected) in [(0, 0), (3, 3), (30, 30), (99, 30)] {
        for data in [
            logistic(20, 30, k, Correlation::Independent, 1),
            linear(20, 30, k, Correlation::Ar1(0.9), 0.5, 1),
            compressed_sensing(20, 30, k, 1),
            two_means(20, 30, k, 1),
        ] {
            assert_eq!((data.design.nrows(), data.design.ncols(), data.target.len()), (20, 30, 20));
            assert_eq!((data.support.len(), data.coefficients.len()), (expected, expected));
            assert!(data.support.windows(2).all(|w| w[0] < w[1]) && data.support.iter().all(|&j| j < 30));
        }
    }
    assert!(
        linear(20, 30, 30, Correlation::Independent, 0.5, 1).coefficients.iter().all(|c| (1.0..2.0).contains(&c.abs()))
    );
}

#[test]
fn columns_have_the_stated_correlation() {
    let n = 20_000;
    let tolerance = 4.0 / (n as f64).sqrt();
    for (correlation, rho) in
        [(Correlation::Independent, 0.0), (Correlation::Ar1(0.5), 0.5), (Correlation::Ar1(0.9), 0.9)]
    {
        let data = logistic(n, 6, 2, correlation, 11);
        for i in 0..6 {
            for j in 0..=i {
                let expected = f64::powi(rho, (i - j) as i32);
                let found = covariance(&data.design, i, j);
                // The variance of a sample variance is twice that of a sample covariance.
                assert!((found - expected).abs() < 1.5 * tolerance, "rho {rho}, ({i}, {j}): {found}");
            }
        }
    }
    let measured = compressed_sensing(n, 3, 1, 4);
    assert!((moments(measured.design.column(1)).1 * (n as f64).sqrt() - 1.0).abs() < tolerance);
}

#[test]
fn labels_follow_the_logistic_model() {
    let data = logistic(40_000, 20, 5, Correlation::Ar1(0.5), 5);
    let z = predictor(&data.design, &data.support, &data.coefficients);
    for (low, high) in [(-1.0, -0.5), (-0.5, 0.0), (0.0, 0.5), (0.5, 1.0)] {
        let group: Vec<usize> = (0..z.len()).filter(|&i| (low..high).contains(&z[i])).collect();
        let count = group.len() as f64;
        let expected = group.iter().map(|&i| 1.0 / (1.0 + (-2.0 * z[i]).exp())).sum::<f64>() / count;
        let found = group.iter().filter(|&&i| data.target[i] == 1.0).count() as f64 / count;
        assert!(count > 1000.0 && (found - expected).abs() < 4.0 * 0.5 / count.sqrt(), "{found} against {expected}");
    }
}

#[test]
fn the_noise_has_the_stated_size() {
    let data = linear(20_000, 10, 3, Correlation::Ar1(0.9), 0.5, 2);
    let z = predictor(&data.design, &data.support, &data.coefficients);
    let residual: Vec<f64> = data.target.iter().zip(&z).map(|(y, z)| y - z).collect();
    let (mean, sd) = moments(&residual);
    assert!(mean.abs() < 0.02 && (sd - 0.5).abs() < 0.015, "{mean} {sd}");
    let exact = compressed_sensing(50, 10, 3, 2);
    assert_eq!(exact.target, predictor(&exact.design, &exact.support, &exact.coefficients));
}

#[test]
fn relevant_features_share_a_quarter_of_their_variance() {
    let data = two_means(20_000, 6, 3, 9);
    for i in 0..6 {
        for j in 0..=i {
            let expected = match (i == j, i < 3 && j < 3) {
                (true, _) => 1.0,
                (false, true) => 0.25,
                (false, false) => 0.0,
            };
            assert!((covariance(&data.design, i, j) - expected).abs() < 0.045, "({i}, {j})");
        }
    }
    assert_eq!((data.support, data.coefficients), (vec![0, 1, 2], vec![1.0; 3]));
    // The means differ from column to column, as N(0, 1) draws do.
    let means: Vec<f64> = (0..6).map(|j| moments(data.design.column(j)).0).collect();
    assert!(moments(&means).1 > 0.3);
}

fn row_values(design: &Sparse<'_>) -> Vec<Vec<(usize, f64)>> {
    let mut rows = vec![Vec::new(); design.nrows()];
    for j in 0..design.ncols() {
        let (indices, values) = design.column(j);
        indices.iter().zip(values).for_each(|(&i, &v)| rows[i as usize].push((j, v)));
    }
    rows
}

#[test]
fn text_rows_have_norm_one_and_scores_the_stated_spread() {
    let shape = Text { n: 3000, p: 20_000, mean_tokens: 80.0 };
    let data = text(&shape, 1);
    let rows = row_values(&data.design);
    assert!(rows.iter().all(|r| (r.iter().map(|(_, v)| v * v).sum::<f64>() - 1.0).abs() < 1e-12 && r.len() >= 2));
    let z = predictor(&data.design, &data.support, &data.coefficients);
    assert!((moments(&z).1 - 2.5).abs() < 1e-9);
    assert_eq!(data.support.len(), 500);
    assert!(data.support.iter().all(|&j| j < 5000));
    let mean_entries = data.design.nnz() as f64 / 3000.0;
    assert!((70.0..80.0).contains(&mean_entries), "{mean_entries}");
    // Labels agree with the sign of the score far more often than not.
    let agree = z.iter().zip(&data.target).filter(|(z, v)| *z * *v > 0.0).count();
    assert!(agree > 2500, "{agree}");
    // Values are tf-idf: two words that occur once in a row stand in the ratio of their idfs.
    let idf = |j: usize| (3001.0 / (1.0 + data.design.column(j).0.len() as f64)).ln() + 1.0;
    let smallest = |r: &[(usize, f64)]| r.iter().map(|&(j, v)| v / idf(j)).fold(f64::INFINITY, f64::min);
    for row in rows.iter().take(100) {
        let unit = smallest(row);
        for &(j, v) in row {
            let tf = (v / idf(j) / unit - 1.0).exp();
            assert!((tf - tf.round()).abs() < 1e-8, "{tf}");
        }
    }
}

#[test]
fn words_are_as_popular_as_stated() {
    let (n, p) = (40_000, 1000);
    let data = text(&Text { n, p, mean_tokens: 10.0 }, 6);
    let total: f64 = (0..p).map(|j| 1.0 / (j as f64 + 10.0)).sum();
    let tokens = 10.0; // P(word j absent) = exp(-tokens popularity) for a Poisson number of tokens
    for j in [0usize, 1, 9, 90] {
        let popularity = 1.0 / (j as f64 + 10.0) / total;
        let expected = 1.0 - (-tokens * popularity).exp();
        let found = data.design.column(j).0.len() as f64 / n as f64;
        let deviation = (expected * (1.0 - expected) / n as f64).sqrt();
        assert!((found - expected).abs() < 5.0 * deviation, "word {j}: {found} against {expected}");
    }
}

#[test]
fn tiny_text_is_still_valid() {
    for (n, p, mean_tokens) in [(0, 10, 5.0), (3, 1, 2.0), (2, 3, -1.0), (4, 0, 5.0)] {
        let data = text(&Text { n, p, mean_tokens }, 0);
        assert_eq!((data.design.nrows(), data.design.ncols(), data.target.len()), (n, p, n));
    }
}

#[test]
fn precision_matrices_have_condition_number_p() {
    for p in [2, 30, 60] {
        let data = precision(400, 10, p, 2);
        let eigenvalues = crate::linalg::eigenvalues(data.precision.as_ref());
        if !data.edges.is_empty() {
            let condition = eigenvalues[p - 1] / eigenvalues[0];
            assert!((condition / p as f64 - 1.0).abs() < 1e-9, "p {p}: {condition}");
        }
        assert!(eigenvalues[0] > 0.0);
        assert_eq!((data.train.nrows(), data.train.ncols(), data.tune.nrows()), (400, p, 10));
        assert!(data.edges.iter().all(|&(i, j)| i < j && data.precision[(i, j)] == 1.0));
    }
    let pairs = precision(1, 1, 200, 1).edges.len() as f64 / (200.0 * 199.0 / 2.0);
    assert!((pairs - 0.1).abs() < 0.01, "{pairs}");
}

#[test]
fn precision_samples_have_that_precision() {
    // The sample covariance times O is near the identity.
    let data = precision(20_000, 1, 30, 7);
    let sample: Vec<Vec<f64>> = (0..30).map(|i| (0..30).map(|a| covariance(&data.train, i, a)).collect()).collect();
    for (i, row) in sample.iter().enumerate() {
        for j in 0..30 {
            let entry: f64 = row.iter().enumerate().map(|(a, v)| v * data.precision[(a, j)]).sum();
            assert!((entry - f64::from(u8::from(i == j))).abs() < 0.1, "({i}, {j}): {entry}");
        }
    }
}
