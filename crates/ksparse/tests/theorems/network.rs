//! Theorem 2, part (a), for the modified GraHTP: the contraction towards a sparse precision matrix, where this and its
//! distances from the bounds are diagonally dominant.

use super::{at_most, distance, largest};
use faer::{Mat, prelude::Solve};
use ksparse::graphical::{Bounds, Covariance, Method, Precision, coordinate};
use ksparse::solver::{Grahtp, Solver, Step};
use ksparse::{Objective, SparseRef, Sparsity, theory};
use std::ops::ControlFlow;

const P: usize = 6;
const BOUNDS: Bounds = Bounds { alpha: 0.85, beta: 1.2 };

/// A chain with weak links, and its inverse disturbed by `noise`.
fn chain(noise: f64) -> (Mat<f64>, Mat<f64>) {
    let link = |i: usize, j: usize| if i.abs_diff(j) == 1 { [0.06, -0.05][(i + j) / 2 % 2] } else { 0.0 };
    let target = Mat::from_fn(P, P, |i, j| if i == j { 1.02 } else { link(i, j) });
    let inverse = target.partial_piv_lu().solve(Mat::<f64>::identity(P, P));
    let wave = |i: usize, j: usize| noise * ((i * j + i + j) as f64).cos();
    let covariance = Mat::from_fn(P, P, |i, j| 0.5 * (inverse[(i, j)] + inverse[(j, i)]) + wave(i, j));
    (target, covariance)
}

#[test]
fn the_modified_grahtp_contracts_to_the_target() {
    for noise in [0.0, 1e-3, 1e-2] {
        let (target, covariance) = chain(noise);
        assert!(theory::log_det_bounds_are_dominant(target.as_ref(), BOUNDS.alpha, BOUNDS.beta).unwrap());
        let covariance = Covariance::from_matrix(covariance.as_ref(), None).unwrap();
        let model = Precision::new(covariance).unwrap().with_bounds(BOUNDS).unwrap().with_method(Method::Adm);
        let edges = P - 1;
        let curvature = theory::log_det_curvature(BOUNDS.alpha, BOUNDS.beta).unwrap();
        let condition = curvature.sharp_condition_c().unwrap();
        let window = condition.grahtp_steps().expect("bounds too wide for the theorem");
        let target = model.guess(&target);
        let gradient = {
            let point = model.at(target.as_sparse()).unwrap();
            let gradient = point.gradient().unwrap();
            // The k largest entries off the diagonal, and the diagonal, which is free.
            let off: Vec<f64> =
                (0..model.dim()).map(|c| if model.free().contains(&c) { 0.0 } else { gradient[c] }).collect();
            let kept = largest(&off, edges).into_iter().map(|c| off[c] * off[c]).sum::<f64>();
            let free = (0..P).map(|i| gradient[coordinate(i, i)].powi(2)).sum::<f64>();
            (kept + free).sqrt()
        };
        assert!(noise > 0.0 || gradient < 1e-12);
        let dense = |x: SparseRef| x.to_dense(model.dim());
        let goal = dense(target.as_sparse());
        for share in [0.2, 0.6, 0.95] {
            let eta = window.low + share * (window.high - window.low);
            let contraction = condition.grahtp(eta).unwrap();
            assert!(contraction.factor < 1.0);
            let solver = Grahtp { step: Step::Fixed(eta), limits: at_most(30), ..Grahtp::default() };
            let start = model.start();
            let first = distance(&dense(start.as_sparse()), &goal);
            let (mut t, mut shrunk) = (0, false);
            let mut watch = |progress: &ksparse::Progress| {
                t += 1;
                let apart = distance(&dense(SparseRef::new(progress.support, progress.coefficients)), &goal);
                let bound = contraction.bound(t, first, gradient);
                assert!(apart <= bound + 1e-8, "noise {noise}, eta {eta}, t = {t}: {apart} above {bound}");
                shrunk |= bound < first;
                ControlFlow::Continue(())
            };
            solver.solve(&model, &Sparsity::new(edges), Some(&start), &mut watch).unwrap();
            // Not vacuous: without noise the bound falls below where it started.
            assert!(t > 0 && (noise > 0.0 || shrunk));
        }
    }
}
