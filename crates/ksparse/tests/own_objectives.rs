//! Losses and functions from outside the library: they get what they offer, and what they report reaches the user.

use crate::common::{self, Table, every_solver, rng};
use ksparse::loss::{Conjugate, Local, Loss, Smoothness, TargetKind};
use ksparse::{Auto, Objective, Risk, Solver, Sparsity};

/// `exp(z) - y z`: a gradient everywhere, second derivatives without a bound.
#[derive(Debug)]
struct Poisson;

impl Loss for Poisson {
    fn name(&self) -> &'static str {
        "poisson"
    }
    fn target(&self) -> TargetKind {
        TargetKind::Real
    }
    fn at(&self, z: f64, y: f64) -> Local {
        let mean = z.exp();
        Local { value: mean - y * z, derivative: mean - y, curvature: mean }
    }
    fn smoothness(&self) -> Smoothness {
        Smoothness::Unbounded
    }
    fn conjugate(&self) -> &dyn Conjugate {
        self
    }
}

impl Conjugate for Poisson {
    fn value(&self, a: f64, y: f64) -> f64 {
        let b = a + y;
        if b > 0.0 { b * b.ln() - b } else { f64::INFINITY }
    }
    fn derivative(&self, a: f64, y: f64) -> f64 {
        (a + y).ln()
    }
    fn project(&self, a: f64, y: f64) -> f64 {
        a.max(-y)
    }
    fn strong_convexity(&self) -> f64 {
        0.0
    }
    fn proximal(&self, a: f64, z: f64, weight: f64, y: f64) -> f64 {
        let (mut low, mut high) = (-y, a.max(-y) + (z + 50.0).abs() / weight);
        for _ in 0..200 {
            let b = 0.5 * (low + high);
            if z - (b + y).ln() - weight * (b - a) > 0.0 { low = b } else { high = b }
        }
        0.5 * (low + high)
    }
}

#[test]
fn curvature_without_a_bound_is_not_a_corner() {
    let rng = &mut rng(51);
    let x = Table::gaussian(rng, 200, 15, 0.2);
    let counts: Vec<f64> = (0..200).map(|i| (0.6 * x.at(i, 3) - 0.5 * x.at(i, 8)).exp().round()).collect();
    // No ridge: a loss with corners would be refused.
    let risk = Risk::new(x.dense(), &counts, Poisson).unwrap();
    assert_eq!(risk.smoothness(4).unwrap(), Smoothness::Unbounded);
    let best = Auto::default().fit(&risk, &Sparsity::new(2)).unwrap();
    assert_eq!(best.support, [3, 8]);
    let gradient = common::gradient(&risk, best.as_sparse());
    assert!(best.support.iter().all(|&j| gradient[j].abs() < 1e-7), "{gradient:?}");
    for solver in every_solver() {
        let solution = solver.fit(&risk, &Sparsity::new(2)).unwrap();
        assert!(solution.value <= best.value * (1.0 + 1e-3), "{}: {}", solver.name(), solution.value);
    }
}
