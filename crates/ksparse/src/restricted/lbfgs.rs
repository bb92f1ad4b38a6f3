//! Limited-memory BFGS, for objectives that offer only values and gradients.

use super::{Ended, InnerOptions, Outcome, Restricted};
use crate::error::Result;
use crate::kernels::{axpy, dot, norm};
use std::collections::VecDeque;

const MEMORY: usize = 12;

/// One correction: how the gradient answered to a move.
struct Pair {
    moved: Vec<f64>,
    turned: Vec<f64>,
    inverse: f64,
}

pub(super) fn minimise(f: &mut dyn Restricted, x: &mut [f64], options: &InnerOptions) -> Result<Outcome> {
    let k = x.len();
    let mut gradient = vec![0.0; k];
    let mut value = f.move_to(x, &mut gradient)?;
    let ended = |value, iterations, ended| Ok(Outcome { value, iterations, ended });
    if !value.is_finite() || gradient.iter().any(|g| !g.is_finite()) {
        return ended(value, 0, Ended::NotFinite);
    }
    let mut pairs: VecDeque<Pair> = VecDeque::new();
    // A first-order method needs more, cheaper steps than Newton's.
    let max_iterations = if options.max_iterations == 1 { 1 } else { options.max_iterations.max(2000) };
    let mut small_steps = 0;
    // A minimum of 0 is approached for ever: below this nothing counts.
    let floor = (1e-16 * value.abs()).max(1e-300);
    for iteration in 0..max_iterations {
        options.cancel.ask()?;
        if gradient.iter().all(|g| *g == 0.0) {
            return ended(value, iteration, Ended::Converged);
        }
        let mut direction = quasi_newton(&gradient, &pairs);
        let mut slope = dot(&gradient, &direction);
        if slope >= 0.0 {
            pairs.clear();
            direction = gradient.iter().map(|g| -g).collect();
            slope = -dot(&gradient, &gradient);
        }
        // The slope estimates the decrease well only once the pairs span the space; until then nothing is given up.
        if value + 4.0 * slope > options.abandon_above && pairs.len() >= k.min(MEMORY) {
            return ended(value, iteration, Ended::Abandoned);
        }
        let first = if pairs.is_empty() { (1.0 / norm(&gradient)).min(1.0) } else { 1.0 };
        let Some(reached) = line_search(f, x, value, slope, &direction, first)? else {
            if pairs.is_empty() {
                // Not even the gradient leads down: rounding error is all that is left.
                return ended(value, iteration, Ended::Converged);
            }
            pairs.clear();
            continue;
        };
        let Reached { point, value: at, gradient: at_gradient } = reached;
        let moved: Vec<f64> = point.iter().zip(x.iter()).map(|(a, b)| a - b).collect();
        let turned: Vec<f64> = at_gradient.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        let bend = dot(&moved, &turned);
        if bend > 1e-14 * norm(&moved) * norm(&turned) {
            if pairs.len() == MEMORY {
                pairs.pop_front();
            }
            pairs.push_back(Pair { moved, turned, inverse: 1.0 / bend });
        }
        let gain = value - at;
        x.copy_from_slice(&point);
        value = at;
        gradient = at_gradient;
        // One short step may be bad luck; several in a row are the end.
        small_steps = if gain <= options.tolerance * value.abs().max(floor) { small_steps + 1 } else { 0 };
        if small_steps >= 3 {
            return ended(value, iteration + 1, Ended::Converged);
        }
    }
    ended(value, max_iterations, Ended::MaxIterations)
}

/// The two-loop recursion: `-B gradient`, B the inverse Hessian the pairs describe.
fn quasi_newton(gradient: &[f64], pairs: &VecDeque<Pair>) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut weights = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let weight = pair.inverse * dot(&pair.moved, &q);
        axpy(-weight, &pair.turned, &mut q);
        weights.push(weight);
    }
    if let Some(newest) = pairs.back() {
        let scale = 1.0 / (newest.inverse * dot(&newest.turned, &newest.turned));
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for (pair, weight) in pairs.iter().zip(weights.into_iter().rev()) {
        let correction = pair.inverse * dot(&pair.turned, &q);
        axpy(weight - correction, &pair.moved, &mut q);
    }
    q
}

/// Where a line search ended.
struct Reached {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// A point along the direction with enough decrease and a flatter slope (weak Wolfe), by bracketing.
fn line_search(
    f: &mut dyn Restricted,
    x: &[f64],
    value: f64,
    slope: f64,
    direction: &[f64],
    first: f64,
) -> Result<Option<Reached>> {
    let (mut low, mut high, mut step) = (0.0, f64::INFINITY, first);
    let mut best = None;
    for _ in 0..60 {
        let point: Vec<f64> = x.iter().zip(direction).map(|(x, d)| x + step * d).collect();
        let mut gradient = vec![0.0; x.len()];
        let at = f.move_to(&point, &mut gradient)?;
        let finite = at.is_finite() && gradient.iter().all(|g| g.is_finite());
        if !finite || at > value + 1e-4 * step * slope {
            high = step;
        } else {
            let flat_enough = dot(&gradient, direction) >= 0.9 * slope;
            let falls = at < value;
            if falls {
                best = Some(Reached { point, value: at, gradient });
            }
            if flat_enough {
                break;
            }
            low = step;
        }
        step = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * step };
        if high - low <= 1e-16 * high {
            break;
        }
    }
    Ok(best)
}
