//! Derivatives against finite differences, and the three ways of minimising on a support against each other.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Problem, Table, assert_close, close, gradient, normals, rng, smooth_losses};
use faer::{Mat, MatMut};
use ksparse::restricted::{Ended, InnerOptions, Restricted, SecondOrder, minimise};
use ksparse::{Custom, Objective, SparseRef};

/// All losses, with and without weights, ridge and intercept, at a few sizes.
fn problems() -> Vec<(String, Problem)> {
    let mut out = Vec::new();
    for variant in 0..8 {
        for (l, loss) in smooth_losses().into_iter().enumerate() {
            let rng = &mut rng(100 + 10 * variant + l as u64);
            let (n, p) = ([40, 25][l % 2], 9);
            let name = format!("{} variant {variant}", loss.name());
            let mut problem = Problem::new(Table::gaussian(rng, n, p, 0.3), loss, 3, 2.0, rng);
            if variant & 1 != 0 {
                problem = problem.weights((0..n).map(|i| 0.3 * (i % 4) as f64).collect());
            }
            if variant & 2 != 0 {
                problem = problem.ridge(0.07);
            }
            if variant & 4 != 0 {
                problem = problem.intercept();
            }
            out.push((name, problem));
        }
    }
    out
}

/// `(f(x + h e_c) - f(x - h e_c)) / 2h` for each coordinate and each output of f.
fn differences(x: &[f64], mut f: impl FnMut(&[f64]) -> Vec<f64>) -> Vec<Vec<f64>> {
    let h = 1e-6;
    (0..x.len())
        .map(|c| {
            let mut at = |step: f64| {
                let mut moved = x.to_vec();
                moved[c] += step;
                f(&moved)
            };
            at(h).iter().zip(at(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
        })
        .collect()
}

#[test]
fn risks_have_the_derivatives_they_report() {
    for (name, problem) in problems() {
        let risk = problem.risk();
        let dim = risk.dim();
        let all: Vec<usize> = (0..dim).collect();
        let x: Vec<f64> = normals(&mut rng(7), dim).iter().map(|v| 0.4 * v).collect();
        let point = SparseRef::new(&all, &x);

        let mut slope = vec![f64::NAN; dim];
        let value = risk.value_and_gradient(point, &mut slope);
        assert!(close(value, problem.value_at(point), 1e-12, 0.0), "{name}: value");
        assert!(close(risk.value(point), value, 1e-13, 0.0), "{name}: value alone");
        let numeric = differences(&x, |x| vec![problem.value_at(SparseRef::new(&all, x))]).concat();
        assert_close(&format!("{name}: gradient"), &slope, &numeric, 1e-6);

        let numeric = differences(&x, |x| gradient(&risk, SparseRef::new(&all, x)));
        let hessian = risk.hessian(point).unwrap();
        let mut diagonal = vec![f64::NAN; dim];
        hessian.diagonal(&mut diagonal);
        let expected: Vec<f64> = (0..dim).map(|c| numeric[c][c]).collect();
        assert_close(&format!("{name}: diagonal"), &diagonal, &expected, 1e-6);
        let mut some = vec![f64::NAN; 3];
        hessian.diagonal_at(&[7, 0, dim - 1], &mut some);
        assert_close(&name, &some, &[diagonal[7], diagonal[0], diagonal[dim - 1]], 1e-12);
        let (mut with, mut same) = (vec![f64::NAN; dim], vec![f64::NAN; dim]);
        risk.gradient_and_hessian(point, &mut with).unwrap().diagonal(&mut same);
        assert_eq!((&with, &same), (&slope, &diagonal), "{name}: both at once");
        assert!(risk.block_cost(1, 1).is_finite(), "{name}: the Hessian has its price");
        let mut majorant = vec![f64::NAN; dim];
        assert!(risk.majorant_diagonal(&mut majorant));
        assert!(diagonal.iter().zip(&majorant).all(|(d, m)| *d <= m * (1.0 + 1e-12)), "{name}: majorant");
        let (left, right) = ([4, 0, dim - 1], [3, dim - 1, 0, 4, 8]);
        let block = hessian.block(&left, &right);
        for (b, &j) in right.iter().enumerate() {
            let found: Vec<f64> = (0..left.len()).map(|a| block[(a, b)]).collect();
            let expected: Vec<f64> = left.iter().map(|&i| numeric[j][i]).collect();
            assert_close(&format!("{name}: block column {j}"), &found, &expected, 2e-6);
        }
    }
}

#[test]
fn restricted_risks_are_the_risk_on_the_support() {
    for (name, problem) in problems() {
        let risk = problem.risk();
        let support = [0, 2, 3, 7, risk.dim() - 1];
        let x: Vec<f64> = normals(&mut rng(8), 5).iter().map(|v| 0.4 * v).collect();
        let whole = gradient(&risk, SparseRef::new(&support, &x));
        let mut restricted = risk.restrict(&support);
        assert_eq!(restricted.dim(), 5);
        let mut slope = vec![f64::NAN; 5];
        let value = restricted.value_and_gradient(&x, &mut slope);
        assert!(close(value, problem.value_at(SparseRef::new(&support, &x)), 1e-12, 0.0), "{name}: value");
        assert_close(&name, &slope, &support.map(|j| whole[j]), 1e-12);

        let hessian = risk.hessian(SparseRef::new(&support, &x)).unwrap().block(&support, &support);
        let mut lower = Mat::zeros(5, 5);
        restricted.hessian(lower.as_mut());
        let v = normals(&mut rng(9), 5);
        let (mut product, mut diagonal, mut majorant) = (vec![0.0; 5], vec![0.0; 5], vec![0.0; 5]);
        restricted.hessian_product(&v, &mut product);
        restricted.hessian_diagonal(&mut diagonal);
        restricted.majorant_diagonal(&mut majorant);
        for b in 0..5 {
            let row: f64 = (0..5).map(|a| hessian[(b, a)] * v[a]).sum();
            assert!(close(product[b], row, 1e-12, 1e-3), "{name}: product");
            assert!(close(diagonal[b], hessian[(b, b)], 1e-12, 1e-3), "{name}: diagonal");
            assert!(diagonal[b] <= majorant[b] * (1.0 + 1e-12), "{name}: majorant");
            for a in b..5 {
                assert!(close(lower[(a, b)], hessian[(a, b)], 1e-12, 1e-3), "{name}: matrix");
            }
        }
        assert!(close(restricted.reference_value(), problem.value_at(SparseRef::ZERO), 1e-12, 0.0), "{name}: f(0)");
    }
}

/// Another function that admits to one kind of second derivatives only.
struct Only<'a> {
    inner: Box<dyn Restricted + 'a>,
    order: SecondOrder,
}

impl Restricted for Only<'_> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn value_and_gradient(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        self.inner.value_and_gradient(x, gradient)
    }
    fn second_order(&self) -> SecondOrder {
        self.order
    }
    fn is_quadratic(&self) -> bool {
        self.inner.is_quadratic()
    }
    fn hessian(&mut self, out: MatMut<'_, f64>) {
        assert_eq!(self.order, SecondOrder::Matrix);
        self.inner.hessian(out);
    }
    fn hessian_product(&mut self, v: &[f64], out: &mut [f64]) {
        assert_eq!(self.order, SecondOrder::Products);
        self.inner.hessian_product(v, out);
    }
    fn hessian_diagonal(&mut self, out: &mut [f64]) {
        self.inner.hessian_diagonal(out);
    }
    fn majorant_diagonal(&mut self, out: &mut [f64]) {
        self.inner.majorant_diagonal(out);
    }
    fn reference_value(&self) -> f64 {
        self.inner.reference_value()
    }
    fn has_tail(&self) -> bool {
        self.inner.has_tail()
    }
}

const ORDERS: [SecondOrder; 3] = [SecondOrder::Matrix, SecondOrder::Products, SecondOrder::Unavailable];

#[test]
fn newton_conjugate_gradients_and_lbfgs_agree() {
    for seed in 0..60 {
        for loss in smooth_losses() {
            let rng = &mut rng(200 + seed);
            let lambda = [1e-1, 1e-3, 1e-5][seed as usize % 3];
            let correlation = [0.0, 0.9][seed as usize % 2];
            let name = format!("{} seed {seed}", loss.name());
            let x = Table::gaussian(rng, 60, 12, correlation);
            let mut problem = Problem::new(x, loss, 4, 3.0, rng).ridge(lambda);
            problem.intercept = seed % 4 == 0;
            let risk = problem.risk();
            let mut support = vec![1, 2, 4, 5, 8, 11];
            support.extend_from_slice(risk.free());
            // From zero and from far away.
            let far: Vec<f64> = normals(rng, support.len()).iter().map(|v| 20.0 * v).collect();
            for start in [vec![0.0; support.len()], far] {
                let mut least = f64::INFINITY;
                for order in ORDERS {
                    let mut x = start.clone();
                    let mut f = Only { inner: risk.restrict(&support), order };
                    let first = f.value_and_gradient(&start, &mut vec![0.0; start.len()]);
                    let outcome = minimise(&mut f, &mut x, &InnerOptions::EXACT);
                    assert_eq!(outcome.ended, Ended::Converged, "{name} {order:?}");
                    let point = SparseRef::new(&support, &x);
                    assert!(close(outcome.value, problem.value_at(point), 1e-11, 1e-12), "{name} {order:?}: value");
                    assert!(outcome.value <= first, "{name} {order:?}: f rose");
                    // The minimum is at most |g|^2 / 2 lambda below (the intercept apart, whose curvature is larger).
                    let g = gradient(&risk, point);
                    let slope: f64 = support.iter().map(|&j| g[j] * g[j]).sum();
                    let gap = slope / (2.0 * lambda);
                    // L-BFGS stops by the gains in f, and its gradient is only as small as those say: its value is the test.
                    let small = order == SecondOrder::Unavailable || gap <= 1e-9 * outcome.value;
                    assert!(small, "{name} {order:?}: {gap} above the minimum {}", outcome.value);
                    least = least.min(outcome.value);
                    assert!(outcome.value <= least * (1.0 + 1e-9), "{name} {order:?}: {} > {least}", outcome.value);
                }
            }
        }
    }
}

#[test]
fn straight_pieces_are_crossed_in_strides() {
    // No ridge, few rows, a start far out: all samples on the straight piece of Huber's loss, or all beyond its end.
    for seed in 0..40 {
        for (l, loss) in smooth_losses().into_iter().enumerate().skip(2) {
            let rng = &mut rng(250 + seed);
            let problem = Problem::new(Table::gaussian(rng, 9, 6, 0.9), loss, 1, 8.0, rng);
            let risk = problem.risk();
            let support: Vec<usize> = (0..=seed as usize % 3).collect();
            let least = |x: Vec<f64>, order: SecondOrder| {
                let mut f = Only { inner: risk.restrict(&support), order };
                let outcome = minimise(&mut f, &mut x.clone(), &InnerOptions::EXACT);
                assert_eq!(outcome.ended, Ended::Converged, "seed {seed}, loss {l}, {order:?} from {x:?}");
                outcome.value
            };
            let expected = least(vec![0.0; support.len()], SecondOrder::Unavailable);
            for order in [SecondOrder::Matrix, SecondOrder::Products] {
                for size in [0.0, 1.0, 100.0, -100.0] {
                    let found = least(vec![size; support.len()], order);
                    assert!(
                        close(found, expected, 1e-9, 1e-3),
                        "seed {seed}, {order:?} from {size}: {found} {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn large_sparse_supports_take_the_conjugate_gradient_path_and_reach_the_same_minimum() {
    let rng = &mut rng(300);
    for loss in smooth_losses() {
        let problem = Problem::new(Table::sparse(rng, 400, 900, 0.01), loss, 20, 3.0, rng).ridge(1e-3);
        let risk = problem.risk_on(problem.x.csc());
        let support: Vec<usize> = (0..900).step_by(2).collect();
        assert_eq!(risk.restrict(&support).second_order(), SecondOrder::Products);
        let value = |order| {
            let mut f = Only { inner: risk.restrict(&support), order };
            minimise(&mut f, &mut vec![0.0; support.len()], &InnerOptions::EXACT).value
        };
        let [newton, products, lbfgs] = ORDERS.map(value);
        assert!(close(newton, products, 1e-10, 0.0), "{newton} against {products}");
        assert!(close(newton, lbfgs, 1e-8, 0.0), "{newton} against {lbfgs}");
    }
}

#[test]
fn one_step_is_one_step_and_nothing_is_nothing() {
    let rng = &mut rng(310);
    for loss in smooth_losses() {
        let problem = Problem::new(Table::gaussian(rng, 50, 8, 0.2), loss, 3, 2.0, rng).ridge(1e-2);
        let risk = problem.risk();
        for order in ORDERS {
            let mut f = Only { inner: risk.restrict(&[0, 1, 5]), order };
            let mut x = vec![0.0; 3];
            let outcome = minimise(&mut f, &mut x, &InnerOptions::ONE_STEP);
            assert!(outcome.iterations <= 1 && outcome.value < problem.value_at(SparseRef::ZERO), "{order:?}");
            let mut f = Only { inner: risk.restrict(&[]), order };
            let outcome = minimise(&mut f, &mut [], &InnerOptions::EXACT);
            assert_eq!((outcome.iterations, outcome.ended), (0, Ended::Converged));
            assert!(close(outcome.value, problem.value_at(SparseRef::ZERO), 1e-12, 0.0));
        }
    }
}

#[test]
fn giving_up_is_right_on_quadratics() {
    for seed in 0..40 {
        let rng = &mut rng(400 + seed);
        let loss = smooth_losses().swap_remove(0);
        let problem = Problem::new(Table::gaussian(rng, 40, 10, 0.5), loss, 3, 2.0, rng).ridge(1e-3);
        let risk = problem.risk();
        for order in ORDERS {
            let run = |abandon_above: f64| {
                let mut f = Only { inner: risk.restrict(&[0, 3, 4, 6]), order };
                minimise(&mut f, &mut [0.0; 4], &InnerOptions { abandon_above, ..InnerOptions::EXACT })
            };
            let least = run(f64::INFINITY).value;
            assert_ne!(run(least * (1.0 + 1e-6)).ended, Ended::Abandoned, "seed {seed} {order:?}");
            if order != SecondOrder::Unavailable {
                assert_eq!(run(0.01 * least).ended, Ended::Abandoned, "seed {seed} {order:?}");
            }
        }
    }
}

#[test]
fn dependent_columns_still_reach_the_minimum() {
    // Ranks below the number of columns: duplicates, a sum of two others, an empty column; scales apart by 1e12.
    let rng = &mut rng(500);
    for loss in smooth_losses() {
        let base = Table::gaussian(rng, 40, 3, 0.0);
        let x = Table::from_fn(40, 7, |i, j| match j {
            0..3 => base.at(i, j),
            3 => base.at(i, 0),
            4 => 1e6 * base.at(i, 1) + 1e6 * base.at(i, 2),
            5 => 0.0,
            _ => 1e-6 * base.at(i, 2),
        });
        let name = loss.name();
        let mut problem = Problem::new(x, loss, 3, 1.0, rng);
        // Overlapping classes: a minimum exists without a ridge.
        problem.y.iter_mut().take(12).for_each(|y| *y = -*y);
        let risk = problem.risk();
        let value = |support: &[usize]| {
            let mut x = vec![0.0; support.len()];
            let outcome = minimise(&mut *risk.restrict(support), &mut x, &InnerOptions::EXACT);
            assert_eq!(outcome.ended, Ended::Converged, "{name} {support:?}");
            assert!(x.iter().all(|v| v.is_finite()), "{name} {support:?}: {x:?}");
            outcome.value
        };
        let independent = value(&[0, 1, 2]);
        for support in [&[0, 1, 2, 3, 4, 5, 6][..], &[3, 4, 5, 6], &[1, 3, 4], &[0, 1, 6], &[0, 1, 2, 5]] {
            let found = value(support);
            assert!(close(found, independent, 1e-9, 0.0), "{name} {support:?}: {found} against {independent}");
        }
    }
}

#[test]
fn a_function_of_gradients_only_is_minimised_too() {
    // A badly scaled quartic with its minimum at (1, 2, ..., 6).
    let scale = |j: usize| 10f64.powi(j as i32 % 4 - 2);
    let quartic = Custom::new(6, |x, gradient| {
        let mut value = 5.0;
        for j in 0..6 {
            let e = (x[j] - (j + 1) as f64) * scale(j);
            value += 0.5 * e * e + 0.25 * e.powi(4);
            gradient[j] = (e + e.powi(3)) * scale(j);
        }
        value
    });
    let mut x = vec![0.0; 6];
    let outcome = minimise(&mut *quartic.restrict(&[0, 1, 2, 3, 4, 5]), &mut x, &InnerOptions::EXACT);
    assert_eq!(outcome.ended, Ended::Converged);
    assert!(close(outcome.value, 5.0, 1e-9, 0.0), "{}", outcome.value);
}

#[test]
fn separable_data_without_a_ridge_end_unattained() {
    let rng = &mut rng(600);
    let loss = smooth_losses().swap_remove(1);
    let mut problem = Problem::new(Table::gaussian(rng, 30, 4, 0.0), loss, 1, 3.0, rng);
    problem.y = (0..30).map(|i| common::sign(problem.x.at(i, 0))).collect();
    let risk = problem.risk();
    for order in [SecondOrder::Matrix, SecondOrder::Products] {
        let mut x = vec![0.0; 2];
        let mut f = Only { inner: risk.restrict(&[0, 1]), order };
        let outcome = minimise(&mut f, &mut x, &InnerOptions::EXACT);
        assert_eq!(outcome.ended, Ended::Unattained, "{order:?}");
        assert!(x.iter().all(|v| v.is_finite()) && outcome.value < 1e-8, "{order:?}: {x:?}");
        assert!(close(outcome.value, problem.value_at(SparseRef::new(&[0, 1], &x)), 1e-9, 0.0), "{order:?}");
    }
}
