//! Damped Newton. Stops when the Newton decrement says that nothing is left to gain.

use super::{Cholesky, Ended, InnerOptions, Outcome, Restricted};
use crate::kernels::dot;
use faer::Mat;

/// How a Newton direction is found.
pub(super) trait Direction {
    /// `out` approximately `-(H + damping D)^-1 gradient`, D the majorant's diagonal.
    fn find(&mut self, f: &mut dyn Restricted, gradient: &[f64], damping: f64, accuracy: f64, out: &mut [f64]);
}

/// By a Cholesky factor; kept between steps when the Hessian never changes.
#[derive(Default)]
pub(super) struct Factored {
    factor: Option<Cholesky>,
}

impl Direction for Factored {
    fn find(&mut self, f: &mut dyn Restricted, gradient: &[f64], damping: f64, _: f64, out: &mut [f64]) {
        if self.factor.is_none() || !f.is_quadratic() {
            let k = gradient.len();
            let mut hessian = Mat::zeros(k, k);
            f.hessian(hessian.as_mut());
            let mut diagonal: Vec<f64> = (0..k).map(|c| hessian[(c, c)]).collect();
            fill_flat(f, &mut diagonal);
            (0..k).for_each(|c| hessian[(c, c)] = diagonal[c]);
            let extra = damping_diagonal(f, damping, k);
            self.factor = Some(Cholesky::new(hessian, extra.as_deref()));
        }
        out.iter_mut().zip(gradient).for_each(|(o, g)| *o = -g);
        if let Some(factor) = &self.factor {
            factor.solve(out);
        }
    }
}

/// By conjugate gradients, preconditioned with the Hessian's diagonal unless the function knows better.
#[derive(Default)]
pub(super) struct ConjugateGradients {
    diagonal: Vec<f64>,
    residual: Vec<f64>,
    conditioned: Vec<f64>,
    search: Vec<f64>,
    product: Vec<f64>,
}

#[allow(clippy::needless_range_loop)] // one index over four arrays reads better than four zips
impl Direction for ConjugateGradients {
    fn find(&mut self, f: &mut dyn Restricted, gradient: &[f64], damping: f64, accuracy: f64, out: &mut [f64]) {
        let k = gradient.len();
        let extra = damping_diagonal(f, damping, k);
        for buffer in
            [&mut self.diagonal, &mut self.residual, &mut self.conditioned, &mut self.search, &mut self.product]
        {
            buffer.resize(k, 0.0);
        }
        f.preconditioner(&mut self.diagonal);
        fill_flat(f, &mut self.diagonal);
        if let Some(extra) = &extra {
            self.diagonal.iter_mut().zip(extra).for_each(|(d, e)| *d += e);
        }
        let inverse = |d: f64| if d > 0.0 { 1.0 / d } else { 1.0 };
        self.diagonal.iter_mut().for_each(|d| *d = inverse(*d));

        out.fill(0.0);
        for c in 0..k {
            self.residual[c] = -gradient[c];
        }
        self.condition(f);
        self.search.copy_from_slice(&self.conditioned);
        let mut energy = dot(&self.residual, &self.search);
        let target = energy * accuracy * accuracy;
        for _ in 0..(2 * k + 20) {
            if energy <= target || energy == 0.0 {
                break;
            }
            f.hessian_product(&self.search, &mut self.product);
            if let Some(extra) = &extra {
                for c in 0..k {
                    self.product[c] += extra[c] * self.search[c];
                }
            }
            let bend = dot(&self.search, &self.product);
            if bend <= 0.0 {
                // No curvature along this direction: what has been found is a descent direction; failing that, the gradient.
                if out.iter().all(|o| *o == 0.0) {
                    out.copy_from_slice(&self.search);
                }
                break;
            }
            let step = energy / bend;
            for c in 0..k {
                out[c] += step * self.search[c];
                self.residual[c] -= step * self.product[c];
            }
            self.condition(f);
            let next = dot(&self.residual, &self.conditioned);
            let turn = next / energy;
            for c in 0..k {
                self.search[c] = self.conditioned[c] + turn * self.search[c];
            }
            energy = next;
        }
    }
}

impl ConjugateGradients {
    fn condition(&mut self, f: &mut dyn Restricted) {
        if !f.precondition(&self.residual, &mut self.conditioned) {
            for ((c, r), d) in self.conditioned.iter_mut().zip(&self.residual).zip(&self.diagonal) {
                *c = r * d;
            }
        }
    }
}

/// Where f has no curvature (every sample on a straight piece of its loss), the majorant's: a gradient step in the units of the
/// coordinate, instead of one in units of 1.
fn fill_flat(f: &mut dyn Restricted, diagonal: &mut [f64]) {
    if diagonal.iter().all(|d| *d > 0.0) {
        return;
    }
    let mut majorant = vec![0.0; diagonal.len()];
    f.majorant_diagonal(&mut majorant);
    for (d, m) in diagonal.iter_mut().zip(majorant) {
        if *d <= 0.0 {
            *d = m;
        }
    }
}

fn damping_diagonal(f: &mut dyn Restricted, damping: f64, k: usize) -> Option<Vec<f64>> {
    (damping > 0.0).then(|| {
        let mut diagonal = vec![0.0; k];
        f.majorant_diagonal(&mut diagonal);
        diagonal.iter_mut().for_each(|d| *d *= damping);
        diagonal
    })
}

/// A point along a direction, with what f says there.
struct Reached<'a> {
    point: &'a mut [f64],
    gradient: &'a mut [f64],
    value: &'a mut f64,
}

/// Doubles a whole step while f keeps falling about as steeply as at the start: the curvature was overestimated, as on the straight
/// pieces of a loss, where steps of one size would take for ever. Returns the step.
fn go_on(f: &mut dyn Restricted, x: &[f64], direction: &[f64], slope: f64, reached: &mut Reached) -> f64 {
    let mut step = 1.0;
    let (mut point, mut gradient) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    while step < 1e12 && dot(reached.gradient, direction) < 0.5 * slope {
        point.iter_mut().zip(x).zip(direction).for_each(|((p, x), d)| *p = x + 2.0 * step * d);
        let value = f.value_and_gradient(&point, &mut gradient);
        if value >= *reached.value || value.is_nan() {
            // Too far: second derivatives must refer to the point kept.
            f.value_and_gradient(reached.point, reached.gradient);
            break;
        }
        step *= 2.0;
        *reached.value = value;
        reached.point.copy_from_slice(&point);
        reached.gradient.copy_from_slice(&gradient);
    }
    step
}

pub(super) fn minimise(
    f: &mut dyn Restricted,
    x: &mut [f64],
    options: &InnerOptions,
    method: &mut dyn Direction,
) -> Outcome {
    let k = x.len();
    let (mut gradient, mut direction) = (vec![0.0; k], vec![0.0; k]);
    let (mut trial, mut trial_gradient) = (vec![0.0; k], vec![0.0; k]);
    let mut value = f.value_and_gradient(x, &mut gradient);
    let ended = |value, iterations, ended| Outcome { value, iterations, ended };
    if !value.is_finite() || gradient.iter().any(|g| !g.is_finite()) {
        return ended(value, 0, Ended::NotFinite);
    }
    if k == 0 {
        return ended(value, 0, Ended::Converged);
    }
    let reference = f.reference_value().abs();
    let mut damping = 0.0;
    // Inexact directions sharpen as the steps get small: fast at first, superlinear at the end.
    let mut accuracy = if f.is_quadratic() { 1e-7 } else { 0.1 };
    for iteration in 0..options.max_iterations {
        if f.has_tail() && value <= 1e-9 * reference {
            return ended(value, iteration, Ended::Unattained);
        }
        method.find(f, &gradient, damping, accuracy, &mut direction);
        let decrement = -dot(&gradient, &direction);
        let last = 0.5 * decrement <= options.tolerance * value.abs().max(1e-4 * reference);
        // The minimum of the quadratic model is value - decrement/2; twice that decrease allows for its error, but not for
        // curvature that appears or vanishes on the way.
        let trusted = iteration > 0 || !f.curvature_jumps();
        if trusted && value - decrement > options.abandon_above {
            return ended(value, iteration, Ended::Abandoned);
        }
        let mut step = 1.0;
        let mut accepted = false;
        for _ in 0..40 {
            for c in 0..k {
                trial[c] = x[c] + step * direction[c];
            }
            let at = f.value_and_gradient(&trial, &mut trial_gradient);
            let wanted = if last { 0.0 } else { 1e-4 * step * decrement };
            if at <= value - wanted {
                value = at;
                accepted = true;
                break;
            }
            if last {
                break;
            }
            step *= 0.5;
        }
        if accepted && step == 1.0 && !last {
            let mut reached = Reached { point: &mut trial, gradient: &mut trial_gradient, value: &mut value };
            step = go_on(f, x, &direction, -decrement, &mut reached);
        }
        if accepted {
            x.copy_from_slice(&trial);
            std::mem::swap(&mut gradient, &mut trial_gradient);
            if f.gives_up() {
                return ended(value, iteration + 1, Ended::Abandoned);
            }
        }
        if last || (!accepted && damping > 1e3) {
            return ended(value, iteration + usize::from(accepted), Ended::Converged);
        }
        if !accepted {
            // Restore what second derivatives refer to, and shorten the next direction.
            f.value_and_gradient(x, &mut gradient);
        }
        damping = match step {
            _ if !accepted => (damping * 100.0).max(1e-4),
            s if s >= 1.0 => {
                if damping < 1e-9 {
                    0.0
                } else {
                    damping * 0.1
                }
            }
            s if s < 0.2 => (damping * 10.0).max(1e-6),
            _ => damping,
        };
        accuracy = (accuracy * 0.3f64).max(1e-9);
    }
    ended(value, options.max_iterations, Ended::MaxIterations)
}
