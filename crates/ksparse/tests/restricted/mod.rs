//! Derivatives against finite differences, and the three ways of minimising on a support against each other.
mod derivatives;

use crate::common::{self, Problem, Table, close, gradient, normals, rng, smooth_losses};
use ksparse::restricted::{
    Ended, Form, InnerOptions, Line, PointByPoint, Restricted, Second, SupportHessian, minimise,
};
use ksparse::{Custom, MatrixMut, Objective, Result, SparseRef};

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

/// Which second derivatives a function admits to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Matrix,
    Products,
    Nothing,
}

/// Another function that admits to one kind of second derivatives only.
struct Only<'a> {
    inner: Box<dyn Restricted + 'a>,
    kind: Kind,
}

impl Restricted for Only<'_> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.inner.move_to(x, gradient)
    }
    fn second(&mut self) -> Second<'_> {
        match self.kind {
            Kind::Matrix => Second::Matrix(self),
            Kind::Products => Second::Products(self),
            Kind::Nothing => Second::None,
        }
    }
    fn line<'b>(&'b mut self, x: &[f64], direction: &[f64]) -> Result<Box<dyn Line + 'b>> {
        Ok(Box::new(PointByPoint::new(self, x, direction)))
    }
    fn form(&self) -> Form {
        Form { jumps: false, ..self.inner.form() }
    }
}

impl SupportHessian for Only<'_> {
    fn matrix(&mut self, out: MatrixMut<'_>) -> Result<()> {
        assert_eq!(self.kind, Kind::Matrix);
        self.inner.second().hessian().unwrap().matrix(out)
    }
    fn product(&mut self, v: &[f64], out: &mut [f64]) -> Result<()> {
        assert_eq!(self.kind, Kind::Products);
        self.inner.second().hessian().unwrap().product(v, out)
    }
    fn diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        self.inner.second().hessian().unwrap().diagonal(out)
    }
    fn majorant(&mut self, out: &mut [f64]) -> Result<()> {
        self.inner.second().hessian().unwrap().majorant(out)
    }
}

const ORDERS: [Kind; 3] = [Kind::Matrix, Kind::Products, Kind::Nothing];

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
                    let mut f = Only { inner: risk.restrict(&support).unwrap(), kind: order };
                    let first = f.move_to(&start, &mut vec![0.0; start.len()]).unwrap();
                    let outcome = minimise(&mut f, &mut x, &InnerOptions::EXACT).unwrap();
                    assert_eq!(outcome.ended, Ended::Converged, "{name} {order:?}");
                    let point = SparseRef::new(&support, &x);
                    assert!(close(outcome.value, problem.value_at(point), 1e-11, 1e-12), "{name} {order:?}: value");
                    assert!(outcome.value <= first, "{name} {order:?}: f rose");
                    // The minimum is at most |g|^2 / 2 lambda below (the intercept apart, whose curvature is larger).
                    let g = gradient(&risk, point);
                    let slope: f64 = support.iter().map(|&j| g[j] * g[j]).sum();
                    let gap = slope / (2.0 * lambda);
                    // L-BFGS stops by the gains in f, and its gradient is only as small as those say: its value is the
                    // test.
                    let small = order == Kind::Nothing || gap <= 1e-9 * outcome.value;
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
            let least = |x: Vec<f64>, order: Kind| {
                let mut f = Only { inner: risk.restrict(&support).unwrap(), kind: order };
                let outcome = minimise(&mut f, &mut x.clone(), &InnerOptions::EXACT).unwrap();
                assert_eq!(outcome.ended, Ended::Converged, "seed {seed}, loss {l}, {order:?} from {x:?}");
                outcome.value
            };
            let expected = least(vec![0.0; support.len()], Kind::Nothing);
            for order in [Kind::Matrix, Kind::Products] {
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
        assert!(matches!(risk.restrict(&support).unwrap().second(), Second::Products(_)));
        let value = |order| {
            let mut f = Only { inner: risk.restrict(&support).unwrap(), kind: order };
            minimise(&mut f, &mut vec![0.0; support.len()], &InnerOptions::EXACT).unwrap().value
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
            let mut f = Only { inner: risk.restrict(&[0, 1, 5]).unwrap(), kind: order };
            let mut x = vec![0.0; 3];
            let outcome = minimise(&mut f, &mut x, &InnerOptions::ONE_STEP).unwrap();
            assert!(outcome.iterations <= 1 && outcome.value < problem.value_at(SparseRef::ZERO), "{order:?}");
            let mut f = Only { inner: risk.restrict(&[]).unwrap(), kind: order };
            let outcome = minimise(&mut f, &mut [], &InnerOptions::EXACT).unwrap();
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
                let mut f = Only { inner: risk.restrict(&[0, 3, 4, 6]).unwrap(), kind: order };
                minimise(&mut f, &mut [0.0; 4], &InnerOptions { abandon_above, ..InnerOptions::EXACT }).unwrap()
            };
            let least = run(f64::INFINITY).value;
            assert_ne!(run(least * (1.0 + 1e-6)).ended, Ended::Abandoned, "seed {seed} {order:?}");
            if order != Kind::Nothing {
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
            let outcome = minimise(&mut *risk.restrict(support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap();
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
    let outcome = minimise(&mut *quartic.restrict(&[0, 1, 2, 3, 4, 5]).unwrap(), &mut x, &InnerOptions::EXACT).unwrap();
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
    for order in [Kind::Matrix, Kind::Products] {
        let mut x = vec![0.0; 2];
        let mut f = Only { inner: risk.restrict(&[0, 1]).unwrap(), kind: order };
        let outcome = minimise(&mut f, &mut x, &InnerOptions::EXACT).unwrap();
        assert_eq!(outcome.ended, Ended::Unattained, "{order:?}");
        assert!(x.iter().all(|v| v.is_finite()) && outcome.value < 1e-8, "{order:?}: {x:?}");
        assert!(close(outcome.value, problem.value_at(SparseRef::new(&[0, 1], &x)), 1e-9, 0.0), "{order:?}");
    }
}
