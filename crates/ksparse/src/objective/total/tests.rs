//! The penalised function against differences of itself, whole and on supports.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::design::Dense;
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
