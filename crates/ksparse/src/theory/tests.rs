#![allow(clippy::unwrap_used)]

use super::*;
use crate::design::{Dense, Design, Sparse};
use crate::simulate::{self, Correlation, Text};
use faer::mat;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs().max(1.0)
}

#[test]
fn eigenvalues_of_a_known_matrix() {
    let matrix = mat![[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0f64]];
    let root = 2f64.sqrt();
    for (found, expected) in crate::linalg::eigenvalues(matrix.as_ref()).iter().zip([2.0 - root, 2.0, 2.0 + root]) {
        assert!(close(*found, expected));
    }
}

#[test]
fn restricted_eigenvalues_agree_with_two_by_two_formulas() {
    let data = simulate::linear(40, 7, 1, Correlation::Ar1(0.6), 0.0, 3);
    let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 3) + 0.5).collect();
    let gram = |i: usize, j: usize| -> f64 {
        (0..40).map(|r| weights[r] * data.design.column(i)[r] * data.design.column(j)[r]).sum()
    };
    let (mut least, mut largest) = (f64::INFINITY, 0.0f64);
    for i in 0..7 {
        for j in 0..i {
            let (a, b, c) = (gram(i, i), gram(j, j), gram(i, j));
            let spread = ((a - b).powi(2) + 4.0 * c * c).sqrt();
            least = least.min(0.5 * (a + b - spread));
            largest = largest.max(0.5 * (a + b + spread));
        }
    }
    let found = restricted_eigenvalues(&data.design, &weights, 2).unwrap();
    assert!((found.strong / least - 1.0).abs() < 1e-11 && (found.smooth / largest - 1.0).abs() < 1e-11);
    // Larger supports widen the range; a single column is its own.
    let one = restricted_eigenvalues(&data.design, &weights, 1).unwrap();
    let all = restricted_eigenvalues(&data.design, &weights, 99).unwrap();
    assert!(one.strong >= found.strong && found.strong >= all.strong);
    assert!(one.smooth <= found.smooth && found.smooth <= all.smooth);
    assert!((one.smooth / (0..7).map(|j| gram(j, j)).fold(0.0, f64::max) - 1.0).abs() < 1e-12);
}

#[test]
fn too_many_supports_are_refused() {
    let data = simulate::linear(10, 60, 1, Correlation::Independent, 0.0, 3);
    let refused = |s| restricted_eigenvalues(&data.design, &[0.1; 10], s).is_err();
    assert!(refused(10) && refused(0) && !refused(2));
    assert!(restricted_eigenvalues(&data.design, &[0.1; 9], 2).is_err());
    assert!(restricted_eigenvalues(&data.design, &[-0.1; 10], 2).is_err());
}

/// `w'X'WXw / w'w` after many power iterations: from below, and near.
fn power(design: &dyn Design, weights: &[f64]) -> f64 {
    let (n, p) = (design.nrows(), design.ncols());
    let all: Vec<usize> = (0..p).collect();
    let mut v: Vec<f64> = (0..p).map(|j| 1.0 + 0.3 * (j as f64).sin()).collect();
    let (mut z, mut u) = (vec![0.0; n], vec![0.0; p]);
    let mut rayleigh = 0.0;
    for _ in 0..3000 {
        let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        v.iter_mut().for_each(|v| *v /= norm);
        design.mul(crate::SparseRef::new(&all, &v), &mut z);
        z.iter_mut().zip(weights).for_each(|(z, w)| *z *= w);
        design.tmul(&z, &mut u);
        rayleigh = u.iter().zip(&v).map(|(u, v)| u * v).sum();
        std::mem::swap(&mut u, &mut v);
    }
    rayleigh
}

#[test]
fn the_largest_eigenvalue_is_bounded_from_above_and_closely() {
    for (n, p) in [(80, 20), (20, 80), (1, 5), (5, 1), (60, 60)] {
        let data = simulate::linear(n, p, 1, Correlation::Ar1(0.5), 0.0, 4);
        let weights: Vec<f64> = (0..n).map(|i| (i % 4) as f64 / n as f64 + 0.01).collect();
        let below = power(&data.design, &weights);
        let above = largest_gram_eigenvalue(&data.design, &weights);
        assert!(above >= below && above <= below * (1.0 + 1e-6), "{n} x {p}: {below} {above}");
    }
    assert_eq!(largest_gram_eigenvalue(&Dense::from_columns(3, 2, vec![0.0; 6]).unwrap(), &[1.0; 3]), 0.0);
}

#[test]
fn large_designs_get_a_proven_bound() {
    // No negative entry: tight. Both sides above the size for which a Gram matrix is formed.
    let data = simulate::text(&Text { n: 2500, p: 4000, mean_tokens: 30.0 }, 2);
    let weights = vec![1.0 / 2500.0; 2500];
    let below = power(&data.design, &weights);
    let above = largest_gram_eigenvalue(&data.design, &weights);
    assert!(above >= below && above <= 1.01 * below, "{below} {above}");
    // Signs that cancel: loose, still a bound, never above the trace.
    let (n, p) = (2100, 2200);
    let values: Vec<f64> = (0..4 * n).map(|e| if (e * 7919) % 13 < 6 { 1.0 } else { -1.0 }).collect();
    let pointers: Vec<u64> = (0..=n).map(|i| 4 * i as u64).collect();
    let columns: Vec<u32> = (0..n).flat_map(|i| (0..4).map(move |c| ((i * 31 + c * 517) % p) as u32)).collect();
    let signed = Sparse::from_rows(n, p, &pointers, &columns, &values).unwrap();
    let weights = vec![1.0; n];
    let above = largest_gram_eigenvalue(&signed, &weights);
    assert!(above >= power(&signed, &weights) && above <= 4.0 * n as f64);
}

#[test]
fn condition_c_from_curvature() {
    let curvature = Curvature::new(0.8, 1.25).unwrap();
    let published = curvature.condition_c().unwrap();
    assert!(close(published.zeta, 0.8 / 1.5625) && close(published.rho, (1.0 - 0.4096f64).sqrt()));
    let sharp = curvature.sharp_condition_c().unwrap();
    assert!(close(sharp.zeta, 2.0 / 2.05) && close(sharp.rho, 0.45 / 2.05));
    assert!(sharp.rho < published.rho);
    // The sharp one gives the curvature back, and its step bound is 1/M.
    let back = sharp.curvature();
    assert!(close(back.strong, 0.8) && close(back.smooth, 1.25) && close(sharp.step_bound(), 0.8));
    assert!(curvature.condition_c_at(1.6 / 1.5625).is_err() && curvature.condition_c_at(0.0).is_err());
    assert!(Curvature::new(0.0, 1.0).unwrap().condition_c().is_err());
    assert!(Curvature::new(2.0, 1.0).is_err() && Curvature::new(f64::NAN, 1.0).is_err());
    let logistic = curvature.of_loss(0.0, 0.25, 0.1).unwrap();
    assert!(close(logistic.strong, 0.1) && close(logistic.smooth, 0.4125));
}

#[test]
fn windows_are_where_the_factors_pass_one() {
    for rho in [0.0, 0.1, 0.3, 0.41, 0.42, 0.49, 0.51, 0.9] {
        let condition = ConditionC::new(2.0, rho).unwrap();
        let windows = [condition.grahtp_steps(), condition.fgrahtp_steps()];
        let factors = [ConditionC::grahtp_factor, ConditionC::fgrahtp_factor];
        assert_eq!(windows[0].is_some(), rho < 1.0 / (2f64.sqrt() + 1.0));
        assert_eq!(windows[1].is_some(), rho < 0.5);
        for (window, factor) in windows.iter().zip(factors) {
            match window {
                Some(w) => {
                    assert!(close(factor(&condition, w.low).unwrap(), 1.0) && w.high == 2.0);
                    assert!(factor(&condition, 0.5 * (w.low + w.high)).unwrap() < 1.0);
                }
                None => assert!(factor(&condition, 2.0 * (1.0 - 1e-12)).unwrap() >= 1.0),
            }
        }
    }
    let condition = ConditionC::new(2.0, 0.1).unwrap();
    assert!(condition.grahtp(2.0).is_err() && condition.grahtp(0.1).is_err() && condition.fgrahtp(0.1).is_err());
    let (eta, mu) = (1.8, 2f64.sqrt() * (0.1 + 1.1 * 0.1) / 0.9);
    let contraction = condition.grahtp(eta).unwrap();
    assert!(close(contraction.factor, mu) && close(contraction.gradient_weight, 5.6 / ((1.0 - mu) * 0.9)));
    assert!(close(contraction.bound(3, 5.0, 0.1), 5.0 * mu.powi(3) + 0.1 * contraction.gradient_weight));
    let fast = condition.fgrahtp(eta).unwrap();
    assert!(close(fast.factor, 0.42) && close(fast.gradient_weight, 3.6 / 0.58));
}

#[test]
fn recovery_takes_the_first_power_below_the_least_coefficient() {
    let contraction = Contraction { factor: 0.5, gradient_weight: 1.0 };
    for (least, start, expected) in [(1.0, 8.0, 4), (1.0, 7.9, 3), (1.0, 0.5, 1), (1.0, 1.0, 1), (1.0, 0.0, 1)] {
        let t = contraction.recovery_iterations(least, start).unwrap();
        assert_eq!(t, expected, "{start}");
        assert!(contraction.bound(t, start, 0.0) < least);
    }
    assert!(contraction.recovery_iterations(0.0, 1.0).is_err());
}

#[test]
fn decrease_of_theorem_one() {
    let condition = ConditionC::new(1.0, 0.25).unwrap();
    assert!(close(condition.guaranteed_decrease(0.4, 2.0).unwrap(), 0.5 / 0.8 * 4.0));
    assert!(condition.guaranteed_decrease(0.8, 1.0).is_err() && condition.guaranteed_decrease(0.1, -1.0).is_err());
}

#[test]
fn constants_of_the_losses() {
    let tight = logistic_curvature(2.0, 9.0, 0.1).unwrap();
    let published = logistic_curvature_as_published(2.0, 9.0, 4, 0.1).unwrap();
    assert!(close(tight.smooth, 9.1) && close(published.smooth, 72.1) && tight.strong == 0.1);
    assert!(close(squared_hinge_curvature(9.0, 0.1).unwrap().smooth, 9.1));
    let determinant = log_det_curvature(0.5, 4.0).unwrap();
    assert!(close(determinant.strong, 1.0 / 16.0) && close(determinant.smooth, 4.0));
    assert!(log_det_curvature(2.0, 1.0).is_err() && log_det_curvature(0.0, 1.0).is_err());
    let bound = logistic_gradient_bound(1.0, 4, 100, 40, 0.1, 3.0).unwrap();
    assert!(close(bound.norm, 4.0 * (0.04 * 40f64.ln()).sqrt() + 0.3) && close(bound.probability, 0.9));
    assert!(close(squared_hinge_gradient_bound(5, 4.0, 10, 0.1, 3.0).unwrap(), 2.1 * 3.0 + 1.0));
    assert!(squared_hinge_gradient_bound(11, 4.0, 10, 0.1, 3.0).is_err());
    let (a, b) = (mat![[1.0, 0.5], [0.5, 1.0f64]], mat![[1.0, 0.2], [0.2, 0.9f64]]);
    assert!(close(log_det_gradient_bound(4, a.as_ref(), b.as_ref()).unwrap(), 0.6));
}

#[test]
fn diagonal_dominance() {
    let matrix = mat![[2.0, -1.0, 0.5], [-1.0, 2.0, 0.0], [0.5, 0.0, 1.0f64]];
    assert!(is_diagonally_dominant(matrix.as_ref()));
    assert!(log_det_bounds_are_dominant(matrix.as_ref(), 0.5, 3.5).unwrap());
    assert!(!log_det_bounds_are_dominant(matrix.as_ref(), 0.6, 3.5).unwrap());
    assert!(!log_det_bounds_are_dominant(matrix.as_ref(), 0.5, 3.4).unwrap());
}
