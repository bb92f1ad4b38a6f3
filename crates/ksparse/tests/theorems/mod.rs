//! The papers' theorems as tests.
//!
//! * `iterates`: GraHTP, FGraHTP and FBS on least squares are HTP, IHT and OMP, step by step.
//! * `theorem_one`: finite termination, the guaranteed decrease, convergence of f.
//! * `theorem_two`: the contraction towards a sparse target, exact recovery.
//! * `dual_rates`: the same for dual ascent: distance, support, gap.
//! * `network`: the contraction of the modified GraHTP to a precision matrix.
//! * `plain_loops`: GraSP, FoBa and the variants of S3 against loops written from the papers, on every smooth loss.
//! * `condition`: Condition C and the gradient bounds, on random points.
//! * `published`: what the option of that name sets; steps and iterations as the trace has them.
//! * `descent`: f never rises under the adaptive step.
//! * `fixed_points`: a fixed step from random starts ends at a fixed point, in a cycle or at a limit, and says which.

mod condition;
mod descent;
mod dual_rates;
mod fixed_points;
mod iterates;
mod network;
mod plain_loops;
mod published;
mod theorem_one;
mod theorem_two;

use ksparse::solver::{Limits, Solution, Solver};
use ksparse::{Objective, SparseRef, Sparsity};
use rand::{Rng, SeedableRng, seq::index};
use rand_chacha::ChaCha8Rng;
use std::ops::ControlFlow;

/// A point a solver passed through.
struct Iterate {
    support: Vec<usize>,
    coefficients: Vec<f64>,
    value: f64,
    step: f64,
}

impl Iterate {
    fn zero(objective: &dyn Objective) -> Self {
        let value = objective.value(SparseRef::ZERO).unwrap();
        Self { support: Vec::new(), coefficients: Vec::new(), value, step: f64::NAN }
    }

    fn as_sparse(&self) -> SparseRef<'_> {
        SparseRef::new(&self.support, &self.coefficients)
    }
}

/// A run with all it passed through, the starting point not included.
fn watched(
    solver: &dyn Solver,
    objective: &dyn Objective,
    k: usize,
    start: Option<&Solution>,
) -> (Solution, Vec<Iterate>) {
    let mut iterates = Vec::new();
    let solution = solver.solve(objective, &Sparsity::new(k), start, &mut |progress| {
        iterates.push(Iterate {
            support: progress.support.to_vec(),
            coefficients: progress.coefficients.to_vec(),
            value: progress.value,
            step: progress.step.unwrap_or(f64::NAN),
        });
        ControlFlow::Continue(())
    });
    (solution.unwrap(), iterates)
}

/// No tolerance: only a method's own end, or this many iterations.
fn at_most(max_iterations: usize) -> Limits {
    Limits { tolerance: 0.0, max_iterations, ..Limits::default() }
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// The indices of the k largest absolute values, ascending; ties go to the smaller index.
fn largest(v: &[f64], k: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..v.len()).collect();
    order.sort_by(|&a, &b| v[b].abs().total_cmp(&v[a].abs()).then(a.cmp(&b)));
    order.truncate(k);
    order.sort_unstable();
    order
}

/// The norm of the s largest entries.
fn truncated_norm(v: &[f64], s: usize) -> f64 {
    largest(v, s).iter().map(|&j| v[j] * v[j]).sum::<f64>().sqrt()
}

fn gradient(objective: &dyn Objective, x: &[f64]) -> Vec<f64> {
    let all: Vec<usize> = (0..x.len()).collect();
    objective.at(SparseRef::new(&all, x)).unwrap().gradient().unwrap().to_vec()
}

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// `count` distinct indices below `len`, ascending.
fn random_support(len: usize, count: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut support = index::sample(rng, len, count).into_vec();
    support.sort_unstable();
    support
}

/// Uniform entries in (-scale, scale) on a support, zeros elsewhere.
fn random_vector(dim: usize, support: &[usize], scale: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut v = vec![0.0; dim];
    support.iter().for_each(|&j| v[j] = rng.random_range(-scale..scale));
    v
}
