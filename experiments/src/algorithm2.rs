//! The modified GraHTP of the arXiv text (its Algorithm 2) as published: a constant step, every search from alpha I,
//! xi = 0.01, 50 iterations at most. The paper does not state its step: decades are tried, and the data that choose k
//! choose the step too. On a support f is minimised by Newton's method instead of ADM: the same minimum, sooner.

use crate::methods;
use ksparse::graphical::{Covariance, Method, Network, Recipe};
use ksparse::solver::{Grahtp, Step};
use ksparse::{Path, Solution};

/// Its name in rows.
pub const PUBLISHED: &str = "grahtp-published";
/// GraSP with the paper's limit of iterations.
pub const PATIENT: &str = "grasp-50";
/// The steps tried.
pub const STEPS: [f64; 4] = [0.1, 1.0, 10.0, 100.0];
/// The paper's limit of iterations.
pub const MOST_ITERATIONS: usize = 50;

const RECIPE: Recipe = Recipe { method: Method::Newton, ..Recipe::PUBLISHED };

fn solver(step: f64) -> Grahtp {
    Grahtp { step: Step::Fixed(step), limits: methods::limits(MOST_ITERATIONS), ..Grahtp::default() }
}

/// A network for every k with the first step, then with the second, and so on.
pub fn path(covariance: &Covariance, ks: &[usize], steps: &[f64]) -> ksparse::Result<Vec<Network>> {
    let mut networks = Vec::new();
    for &step in steps {
        let path = Path { sweeps: 0, ..Path::over(ks.to_vec()) };
        networks.extend(RECIPE.family(path, &solver(step))(covariance)?);
    }
    Ok(networks)
}

/// The step and the place of k of a network of [`path`].
pub fn place(index: usize, ks: usize) -> (f64, usize) {
    (STEPS[index / ks], index % ks)
}

/// One fit, with its trace.
pub fn fit(covariance: &Covariance, k: usize, step: f64) -> ksparse::Result<(Network, Solution)> {
    let model = RECIPE.model(covariance.clone())?;
    let path = Path { sweeps: 0, ..Path::over([k]) };
    let mut solved = RECIPE.solve(&model, &path, &solver(step), &mut |_| std::ops::ControlFlow::Continue(()))?;
    let solution = solved.solutions.remove(0);
    Ok((model.network(&solution), solution))
}
