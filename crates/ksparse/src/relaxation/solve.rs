//! Minimises the relaxation on a working set: `R(w) = f(w) + lambda N(w)`, f smooth, N half the squared k-support norm.
//!
//! *First-order steps.* Accelerated proximal gradient (FISTA) in a diagonal metric, its scale found by backtracking,
//! momentum dropped when it points uphill (O'Donoghue, Candes 2015).
//!
//! *Newton steps.* The shares z of a prox tell which coordinates are whole (z = 1: the set T) and which are fractional
//! (the set F, signs s). There
//!
//! ```text
//! R = f + (lambda/2) ||w_T||^2 + lambda/(2 r) (s'w_F)^2,     r = k - |T|
//! ```
//!
//! is as smooth as f, so Newton's method on it settles what first-order steps approach slowly; a step counts only if it
//! lowers R. Of groups, `s'w_F` is the sum of their lengths, which bends by `(I - s_g s_g') / ||w_g||` within a group.
//!
//! *The end.* With g the gradient of f at w, `R(w) - D = g'w + lambda N(w) + lambda N*(-g/lambda) >= 0` is the distance
//! to the bound that the derivatives at w give (on this working set), hence to the optimum.

use super::part::Part;
use super::support_norm::SupportNorm;
use crate::kernels::dot;
use crate::linalg::Cholesky;
use faer::Mat;

/// A point of the relaxation.
#[derive(Clone)]
pub(crate) struct Relaxed {
    pub w: Vec<f64>,
    /// The shares at w: how much of each coordinate is in.
    pub shares: Vec<f64>,
    /// The gradient of f at w.
    pub gradient: Vec<f64>,
    /// f(w), R(w) and the bound from the gradient.
    pub loss: f64,
    pub value: f64,
    pub bound: f64,
}

/// When to stop.
pub(crate) struct Goal<'a> {
    /// R(w) - D at most this.
    pub gap: f64,
    /// The bound alone at least this (a node that can be pruned).
    pub enough: f64,
    pub max_iterations: usize,
    /// Asked between iterations.
    pub interrupted: &'a dyn Fn() -> bool,
}

/// First-order iterations between attempts with Newton's method.
const BETWEEN: usize = 10;

/// A Newton step may cost so many evaluations.
const NEWTON_COST: f64 = 60.0;

pub(crate) fn solve(part: &mut dyn Part, norm: &SupportNorm, lambda: f64, start: Vec<f64>, goal: &Goal) -> Relaxed {
    let m = start.len();
    let metric = norm.evened(part.metric());
    let mut best = measure(part, norm, lambda, start);
    let mut at = best.w.clone(); // x
    let mut ahead = at.clone(); // y
    let mut here = (best.loss, best.gradient.clone()); // f and its gradient at y
    let (mut momentum, mut scale) = (1.0f64, 1.0f64);
    let mut shares = vec![0.0; m];
    for iteration in 1..=goal.max_iterations {
        if done(&best, goal) || (goal.interrupted)() {
            break;
        }
        // x' = prox(y - g / (scale h)), the scale doubled until the quadratic model bounds f there.
        let next = loop {
            let h: Vec<f64> = metric.iter().map(|h| scale * h).collect();
            let mut next: Vec<f64> = (0..m).map(|j| ahead[j] - here.1[j] / h[j]).collect();
            norm.prox(&mut next, lambda, &h, &mut shares);
            let (mut linear, mut square) = (0.0, 0.0);
            for j in 0..m {
                let d = next[j] - ahead[j];
                linear += here.1[j] * d;
                square += h[j] * d * d;
            }
            let slack = 1e-13 * here.0.abs();
            if part.value(&next) <= here.0 + linear + 0.5 * square + slack || scale > 1e12 {
                break next;
            }
            scale *= 2.0;
        };
        let uphill = (0..m).map(|j| metric[j] * (ahead[j] - next[j]) * (next[j] - at[j])).sum::<f64>() > 0.0;
        if uphill {
            momentum = 1.0;
        }
        let grown = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        let carry = (momentum - 1.0) / grown;
        momentum = grown;
        ahead = (0..m).map(|j| next[j] + carry * (next[j] - at[j])).collect();
        at = next;
        scale *= 0.9;
        let trial = measure(part, norm, lambda, ahead.clone());
        here = (trial.loss, trial.gradient.clone());
        keep_better(&mut best, trial);
        if iteration % BETWEEN == 0 && !done(&best, goal) {
            let newton = polish(part, norm, lambda, &at, &shares, goal);
            if let Some(newton) = newton {
                at = newton.w.clone();
                ahead = at.clone();
                here = (newton.loss, newton.gradient.clone());
                momentum = 1.0;
                keep_better(&mut best, newton);
            }
        }
    }
    best.shares = shares_at(norm, &best, lambda, &metric);
    best
}

fn done(at: &Relaxed, goal: &Goal) -> bool {
    at.value - at.bound <= goal.gap || at.bound >= goal.enough
}

/// The better bound and the better value need not come together: what counts is their distance.
fn keep_better(best: &mut Relaxed, trial: Relaxed) {
    if trial.value - trial.bound < best.value - best.bound {
        *best = trial;
    }
}

/// R and the bound at w.
fn measure(part: &mut dyn Part, norm: &SupportNorm, lambda: f64, w: Vec<f64>) -> Relaxed {
    let mut gradient = vec![0.0; w.len()];
    let loss = part.evaluate(&w, &mut gradient);
    // lambda N*(g / lambda) by the square root of lambda: in units of f, and so in its range.
    let u: Vec<f64> = gradient.iter().map(|g| -g / lambda.sqrt()).collect();
    let value = loss + lambda * norm.value(&w);
    let bound = loss - dot(&gradient, &w) - norm.conjugate(&u);
    Relaxed { w, shares: Vec::new(), gradient, loss, value, bound }
}

/// The shares that a prox step at the point gives.
fn shares_at(norm: &SupportNorm, at: &Relaxed, lambda: f64, metric: &[f64]) -> Vec<f64> {
    let mut v: Vec<f64> = (0..at.w.len()).map(|j| at.w[j] - at.gradient[j] / metric[j]).collect();
    let mut shares = vec![0.0; v.len()];
    norm.prox(&mut v, lambda, metric, &mut shares);
    shares
}

/// Newton's method on the smooth piece that the shares name, from w: while each step lowers R and the gap is not
/// reached.
fn polish(
    part: &mut dyn Part,
    norm: &SupportNorm,
    lambda: f64,
    w: &[f64],
    shares: &[f64],
    goal: &Goal,
) -> Option<Relaxed> {
    let active: Vec<usize> = (0..w.len()).filter(|&j| shares[j] > 0.0).collect();
    if active.is_empty() || part.hessian_cost(active.len()) > NEWTON_COST {
        return None;
    }
    let mut accepted: Option<Relaxed> = None;
    let mut from = measure(part, norm, lambda, w.to_vec());
    let full = |j: usize| norm.whole[j] || shares[j] >= 1.0;
    let heads = || (0..norm.units()).map(|unit| norm.head(unit));
    let counted = heads().filter(|&j| !norm.whole[j] && shares[j] >= 1.0).count();
    let room = norm.k.saturating_sub(counted) as f64;
    let fractional: Vec<usize> =
        (0..norm.units()).filter(|&unit| shares[norm.head(unit)] > 0.0 && !full(norm.head(unit))).collect();
    for _ in 0..8 {
        let mut hessian = part.hessian(&active);
        let signs = signs(norm, &fractional, &from.w);
        let sign = |j: usize| signs[j];
        let pull: f64 = active.iter().map(|&j| sign(j) * from.w[j]).sum::<f64>() / room.max(1.0);
        for &unit in &fractional {
            bend(norm, unit, &from.w, lambda * pull, &active, &signs, &mut hessian);
        }
        let mut step: Vec<f64> = Vec::with_capacity(active.len());
        for (b, &j) in active.iter().enumerate() {
            let slope = if full(j) { from.w[j] } else { sign(j) * pull };
            step.push(-(from.gradient[j] + lambda * slope));
            for (a, &i) in active.iter().enumerate().skip(b) {
                hessian[(a, b)] += lambda * sign(i) * sign(j) / room.max(1.0);
            }
            hessian[(b, b)] += if full(j) { lambda } else { 1e-10 * lambda };
        }
        Cholesky::new(hessian, None).solve(&mut step);
        let mut lower = None;
        let mut length = 1.0;
        for _ in 0..4 {
            let mut next = from.w.clone();
            active.iter().zip(&step).for_each(|(&j, d)| next[j] += length * d);
            // A fractional coordinate, or group, does not cross 0: it has left the piece.
            for &unit in &fractional {
                let stays = norm.members(unit).map(|j| next[j] * from.w[j]).sum::<f64>() > 0.0;
                if !stays {
                    norm.members(unit).for_each(|j| next[j] = 0.0);
                }
            }
            let trial = measure(part, norm, lambda, next);
            if trial.value < from.value || (trial.value - trial.bound) < 0.5 * (from.value - from.bound) {
                lower = Some(trial);
                break;
            }
            length *= 0.3;
        }
        let Some(next) = lower else { break };
        let settled = next.value - next.bound > 0.5 * (from.value - from.bound);
        from = next.clone();
        accepted = Some(next);
        if accepted.as_ref().is_some_and(|a| done(a, goal)) || settled {
            break;
        }
    }
    accepted
}

/// What the length of each fractional unit changes by with its coordinates: signs, and directions of groups.
fn signs(norm: &SupportNorm, fractional: &[usize], w: &[f64]) -> Vec<f64> {
    let mut signs = vec![0.0; w.len()];
    for &unit in fractional {
        let length = norm.length(unit, w);
        let alone = norm.members(unit).nth(1).is_none();
        for j in norm.members(unit) {
            signs[j] = if alone { w[j].signum() } else { w[j] / length.max(f64::MIN_POSITIVE) };
        }
    }
    signs
}

/// Adds to the Hessian among `active` what the length of a group bends by, times `pull`.
fn bend(
    norm: &SupportNorm,
    unit: usize,
    w: &[f64],
    pull: f64,
    active: &[usize],
    signs: &[f64],
    hessian: &mut Mat<f64>,
) {
    if norm.members(unit).nth(1).is_none() {
        return;
    }
    let curvature = pull / norm.length(unit, w).max(f64::MIN_POSITIVE);
    let places: Vec<(usize, f64)> =
        norm.members(unit).filter_map(|j| Some((active.binary_search(&j).ok()?, signs[j]))).collect();
    for (at, &(b, left)) in places.iter().enumerate() {
        hessian[(b, b)] += curvature * (1.0 - left * left);
        places[at + 1..].iter().for_each(|&(a, right)| hessian[(a, b)] -= curvature * left * right);
    }
}
