//! The penalised function against differences of itself, whole and on supports.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::design::Dense;
use crate::linalg::MatrixMut;
use crate::loss::Logistic;
use crate::objective::Risk;

#[test]
fn derivatives_are_those_of_the_penalised_function() {
    let entries: Vec<f64> = (0..20).map(|i| (1.7 * f64::from(i)).sin()).collect();
    let x = Dense::from_columns(5, 4, entries).unwrap();
    let risk = Risk::new(&x, &[1.0, -1.0, 1.0, 1.0, -1.0], Logistic::default()).unwrap().with_ridge(0.1).unwrap();
    let risk = risk.with_intercept();
    let total = Total::new(vec![1.0, -0.5, 2.0, 0.3], 0.7).unwrap();
    let mut held = Penalised::new(Inner::Given(&risk), &total).unwrap();
    held.price.multiplier = 0.4;
    let (all, at) = ([0, 1, 2, 3, 4], [0.3, -0.2, 0.5, 0.1, -0.4]);
    let value = |x: &[f64]| held.value(SparseRef::new(&all, x)).unwrap();
    let moved = |j: usize, by: f64| {
        let mut x = at;
        x[j] += by;
        x
    };
    let point = held.at(SparseRef::new(&all, &at)).unwrap();
    assert!((point.value() - value(&at)).abs() < 1e-12);
    let (step, scale) = (1e-5, held.price.rho);
    for j in 0..5 {
        let slope = (value(&moved(j, step)) - value(&moved(j, -step))) / (2.0 * step);
        assert!((slope - point.gradient().unwrap()[j]).abs() < 1e-6 * scale, "{j}");
    }
    let hessian = point.hessian().unwrap().unwrap();
    let (mut block, mut diagonal, mut some) = (vec![0.0; 25], vec![0.0; 5], vec![0.0; 2]);
    hessian.block(&all, &all, MatrixMut::from_columns(5, 5, &mut block)).unwrap();
    hessian.diagonal(&mut diagonal).unwrap();
    hessian.diagonal_at(&[3, 1], &mut some).unwrap();
    assert!((some[0] - diagonal[3]).abs() < 1e-12 * scale && (some[1] - diagonal[1]).abs() < 1e-12 * scale);
    // On all coordinates, and on three of them by the part and by a changed support.
    for support in [&[0, 1, 2, 3, 4][..], &[1, 2, 4]] {
        let mut part = held.restrict(support).unwrap();
        let (k, y) = (support.len(), support.iter().map(|&j| at[j]).collect::<Vec<_>>());
        let mut gradient = vec![0.0; k];
        let there = part.move_to(&y, &mut gradient).unwrap();
        let whole = held.at(SparseRef::new(support, &y)).unwrap();
        assert!((there - whole.value()).abs() < 1e-12 * scale);
        support.iter().zip(&gradient).for_each(|(&j, g)| {
            assert!((g - whole.gradient().unwrap()[j]).abs() < 1e-10 * scale);
        });
        let mut expected = vec![0.0; k * k];
        let of_whole = whole.hessian().unwrap().unwrap();
        of_whole.block(support, support, MatrixMut::from_columns(k, k, &mut expected)).unwrap();
        let hessian = part.second().hessian().unwrap();
        let (mut matrix, mut product, mut diagonal) = (vec![0.0; k * k], vec![0.0; k], vec![0.0; k]);
        hessian.matrix(MatrixMut::from_columns(k, k, &mut matrix)).unwrap();
        hessian.diagonal(&mut diagonal).unwrap();
        for c in 0..k {
            let unit: Vec<f64> = (0..k).map(|i| f64::from(u8::from(i == c))).collect();
            hessian.product(&unit, &mut product).unwrap();
            for i in 0..k {
                assert!((product[i] - expected[c * k + i]).abs() < 1e-10 * scale);
                assert!(i < c || (matrix[c * k + i] - expected[c * k + i]).abs() < 1e-10 * scale);
            }
            assert!((diagonal[c] - expected[c * k + c]).abs() < 1e-10 * scale);
        }
    }
    let narrow = held.narrowed(&[0, 2, 4]).unwrap().unwrap();
    let (near, far) =
        (narrow.value(SparseRef::new(&[0, 1], &[0.2, 0.3])), held.value(SparseRef::new(&[0, 2], &[0.2, 0.3])));
    assert!((near.unwrap() - far.unwrap()).abs() < 1e-12 * scale);
}

/// At a point that adds up: the slopes of the Lagrangian, none along the members of a minimum; second derivatives that
/// keep the sum, and a rough diagonal that is that of f.
#[test]
fn totalled_functions_show_what_is_to_be_had_beside_the_sum() {
    let entries: Vec<f64> = (0..24).map(|i| (1.3 * f64::from(i)).cos()).collect();
    let x = Dense::from_columns(6, 4, entries).unwrap();
    let risk = Risk::new(&x, &[1.0, -1.0, 1.0, 1.0, -1.0, -1.0], Logistic::default()).unwrap().with_ridge(0.1).unwrap();
    let total = Total::new(vec![1.0, -0.5, 2.0, 0.3], 0.7).unwrap();
    let upper = Bounds::new(vec![-9.0; 4], vec![9.0, 9.0, 0.2, 9.0]).unwrap();
    for bounds in [None, Some(&upper)] {
        let totalled = Totalled::new(&risk, &total, bounds).unwrap();
        let (support, mut w) = ([0, 2, 3], vec![0.0; 3]);
        let mut part = totalled.restrict(&support).unwrap();
        let outcome = restricted::minimise(&mut *part, &mut w, &InnerOptions::EXACT).unwrap();
        let at = SparseRef::new(&support, &w);
        assert!((w[0] + 2.0 * w[1] + 0.3 * w[2] - 0.7).abs() < 1e-10 && totalled.check(at).is_ok(), "{w:?}");
        assert!((outcome.value - Objective::value(&risk, at).unwrap()).abs() < 1e-10);
        let point = totalled.at(at).unwrap();
        let shown = point.gradient().unwrap();
        assert!(support.iter().all(|&j| shown[j].abs() < 1e-6), "{shown:?}");
        // The one outside has the slope of f and its share of the multiplier.
        let plain = risk.at(at).unwrap();
        let mu = -plain.gradient().unwrap()[0];
        assert!((shown[1] - (plain.gradient().unwrap()[1] - 0.5 * mu)).abs() < 1e-6);
        let mut slopes = vec![0.0; 3];
        part.move_to(&w, &mut slopes).unwrap();
        assert!(bounds.is_some() || slopes.iter().all(|slope| slope.abs() < 1e-6), "{slopes:?}");
        let (mut rough, mut stiff, mut own) = (vec![0.0; 3], vec![0.0; 3], vec![0.0; 4]);
        let hessian = part.second().hessian().unwrap();
        hessian.rough_diagonal(&mut rough).unwrap();
        hessian.diagonal(&mut stiff).unwrap();
        plain.hessian().unwrap().unwrap().diagonal(&mut own).unwrap();
        for (place, &j) in support.iter().enumerate() {
            assert!((rough[place] - own[j]).abs() < 0.5 * own[j] && stiff[place] > 2.0 * own[j], "{rough:?} {own:?}");
        }
        let off = SparseRef::new(&[0], &[0.1]);
        assert!(totalled.check(off).unwrap_err().to_string().contains("add up to 0.1"));
    }
}
