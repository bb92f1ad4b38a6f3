//! Coefficients that add up, against all supports by hand.

use crate::common::{Table, normal, rng};
use ksparse::design::Dense;
use ksparse::loss::{Hinge, Logistic, Squared};
use ksparse::objective::{Bounds, Custom, Total};
use ksparse::select::Problem;
use ksparse::{Auto, Objective, Risk, Solution, SparseRef, Sparsity};
use std::ops::ControlFlow;

pub const P: usize = 8;

pub fn data(seed: u64) -> (Table, Vec<f64>) {
    let rng = &mut rng(seed);
    let x = Table::gaussian(rng, 40, P, 0.3);
    let y = (0..40).map(|i| 0.8 * x.at(i, 1) + 0.5 * x.at(i, 4) - 0.4 * x.at(i, 6) + 0.3 * normal(rng)).collect();
    (x, y)
}

fn solve(total: &Total, f: &dyn Objective, bounds: Option<&Bounds>, k: usize) -> ksparse::Result<Solution> {
    total.solve(f, bounds, &Sparsity::new(k), &Auto::default(), None, &mut |_| ControlFlow::Continue(()))
}

/// The least squares on some columns that add up to `total`: the equations with a multiplier, by elimination.
pub fn by_elimination(x: &Table, y: &[f64], columns: &[usize], total: f64, ridge: f64) -> (f64, Vec<f64>) {
    let (k, n) = (columns.len(), x.n as f64);
    let gram = |a: usize, b: usize| (0..x.n).map(|i| x.at(i, columns[a]) * x.at(i, columns[b])).sum::<f64>() / n;
    let cross = |a: usize| (0..x.n).map(|i| x.at(i, columns[a]) * y[i]).sum::<f64>() / n;
    let mut table: Vec<Vec<f64>> = (0..=k)
        .map(|a| {
            let entry = |b: usize| match (a < k, b < k) {
                (true, true) => gram(a, b) + if a == b { ridge } else { 0.0 },
                (false, false) => 0.0,
                _ => 1.0,
            };
            let right = if a < k { cross(a) } else { total };
            (0..=k).map(entry).chain([right]).collect()
        })
        .collect();
    for a in 0..=k {
        let pivot = (a..=k).max_by(|&i, &j| table[i][a].abs().total_cmp(&table[j][a].abs())).unwrap();
        table.swap(a, pivot);
        let row = table[a].clone();
        for other in table.iter_mut().enumerate().filter(|(b, _)| *b != a).map(|(_, other)| other) {
            let factor = other[a] / row[a];
            other.iter_mut().zip(&row).for_each(|(o, r)| *o -= factor * r);
        }
    }
    let w: Vec<f64> = (0..k).map(|a| table[a][k + 1] / table[a][a]).collect();
    let residual = |i: usize| y[i] - columns.iter().zip(&w).map(|(&j, w)| x.at(i, j) * w).sum::<f64>();
    let value = 0.5 * (0..x.n).map(|i| residual(i).powi(2)).sum::<f64>() / n;
    (value + 0.5 * ridge * w.iter().map(|w| w * w).sum::<f64>(), w)
}

pub fn supports(k: usize) -> impl Iterator<Item = Vec<usize>> {
    let columns = |mask: usize| (0..P).filter(|j| mask >> j & 1 == 1).collect::<Vec<_>>();
    (1..1usize << P).map(columns).filter(move |columns| columns.len() <= k)
}

#[test]
fn the_best_support_whose_coefficients_add_up_is_found() {
    for seed in 0..6 {
        let (x, y) = data(seed);
        let design = x.dense();
        for (ridge, sum) in [(0.0, 1.0), (0.1, 1.0), (0.05, -2.0), (0.0, 0.0)] {
            let risk = Risk::new(&design, &y, Squared::default()).unwrap().with_ridge(ridge).unwrap();
            let total = Total::new(vec![1.0; P], sum).unwrap();
            for k in 1..=4 {
                let free = solve(&total, &risk, None, k).unwrap();
                let best = supports(k).map(|s| by_elimination(&x, &y, &s, sum, ridge).0).fold(f64::INFINITY, f64::min);
                assert!((free.coefficients.iter().sum::<f64>() - sum).abs() < 1e-9);
                assert!((free.value - best).abs() < 1e-8, "seed {seed}, k {k}: {} {best}", free.value);
                if sum <= 0.0 {
                    continue;
                }
                // Without short positions: those of the supports whose coefficients are none below 0.
                let none_below = |s: Vec<usize>| {
                    let (value, w) = by_elimination(&x, &y, &s, sum, ridge);
                    if w.iter().all(|w| *w >= 0.0) { value } else { f64::INFINITY }
                };
                let best = supports(k).map(none_below).fold(f64::INFINITY, f64::min);
                let long = solve(&total, &risk, Some(&Bounds::nonnegative(P)), k).unwrap();
                assert!(long.coefficients.iter().all(|w| *w >= 0.0) && long.support.len() <= k);
                assert!((long.coefficients.iter().sum::<f64>() - sum).abs() < 1e-9);
                assert!((long.value - best).abs() < 1e-8, "seed {seed}, k {k}: {} {best}", long.value);
            }
        }
    }
}

#[test]
fn sums_are_of_the_coefficients_of_the_columns_as_given() {
    let (x, y) = data(9);
    // Other units, which standardising takes away again; an intercept beside.
    let x = x.map(|_, j, v| v * (1.0 + j as f64) + 3.0);
    let design = x.dense();
    for (standardize, ridge) in [(false, 0.0), (true, 0.0), (true, 0.1)] {
        let loss = Squared::default();
        let problem = Problem { standardize, total: Some(0.7), ..Problem::new(&design, &y, &loss) };
        let training = problem.on_all_rows().unwrap();
        let go_on = &mut |_: &ksparse::Progress| ControlFlow::Continue(());
        let found = training.solve(ridge, &Auto::default(), &Sparsity::new(3), None, go_on).unwrap();
        let model = training.model(&found);
        assert!((model.coefficients.iter().sum::<f64>() - 0.7).abs() < 1e-8, "{model:?}");
        // Where nothing is penalised, units do not matter.
        let plain = Problem { total: Some(0.7), ..Problem::new(&design, &y, &loss) }.on_all_rows().unwrap();
        let other = plain.solve(ridge, &Auto::default(), &Sparsity::new(3), None, go_on).unwrap();
        assert!(ridge > 0.0 || (found.value - other.value).abs() < 1e-8, "{} {}", found.value, other.value);
    }
}

#[test]
fn other_losses_and_functions_of_gradients_add_up_too() {
    let (x, y) = data(4);
    let design = x.dense();
    let labels: Vec<f64> = y.iter().map(|y| if *y > 0.0 { 1.0 } else { -1.0 }).collect();
    let total = Total::new(vec![1.0; P], 1.0).unwrap();
    let logistic = Risk::new(&design, &labels, Logistic::default()).unwrap().with_ridge(0.01).unwrap();
    let found = solve(&total, &logistic, None, 3).unwrap();
    assert!((found.coefficients.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    // At the minimum the gradient is the same along every member.
    let point = logistic.at(SparseRef::new(&found.support, &found.coefficients)).unwrap();
    let slopes: Vec<f64> = found.support.iter().map(|&j| point.gradient().unwrap()[j]).collect();
    assert!(slopes.iter().all(|g| (g - slopes[0]).abs() < 1e-6), "{slopes:?}");
    let squared = Risk::new(&design, &y, Squared::default()).unwrap().with_ridge(0.1).unwrap();
    let by_gradients = Custom::new(P, |x: &[f64], gradient: &mut [f64]| {
        let all: Vec<usize> = (0..P).collect();
        let point = squared.at(SparseRef::new(&all, x)).unwrap();
        gradient.copy_from_slice(point.gradient().unwrap());
        point.value()
    });
    let (one, other) = (solve(&total, &by_gradients, None, 3).unwrap(), solve(&total, &squared, None, 3).unwrap());
    assert!((one.value - other.value).abs() < 1e-6, "{} {}", one.value, other.value);
}

#[test]
fn sums_that_cannot_be_are_refused() {
    let (x, y) = data(2);
    let design: Dense = x.dense();
    let risk = Risk::new(&design, &y, Squared::default()).unwrap();
    let total = Total::new(vec![1.0; P], 1.0).unwrap();
    let narrow = Bounds::new(vec![0.0; P], vec![0.2; P]).unwrap();
    let said = solve(&total, &risk, Some(&narrow), 3).unwrap_err().to_string();
    assert!(said.contains("add up to 0.6") && said.contains("widen the bounds"), "{said}");
    assert!(solve(&total, &risk, Some(&narrow), 5).is_ok());
    assert!(solve(&Total::new(vec![1.0; 3], 1.0).unwrap(), &risk, None, 2).is_err());
    assert!(Total::new(vec![1.0], f64::NAN).is_err());
    let labels: Vec<f64> = y.iter().map(|y| if *y > 0.0 { 1.0 } else { -1.0 }).collect();
    let hinge = Risk::new(&design, &labels, Hinge).unwrap().with_ridge(0.1).unwrap();
    assert!(solve(&total, &hinge, None, 2).unwrap_err().to_string().contains("corners"));
}
