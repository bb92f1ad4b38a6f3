//! Damped Newton. Stops when the Newton decrement says that nothing is left to gain.

use super::{Ended, InnerOptions, Line, Outcome, Probe, Restricted, SupportHessian};
use crate::cancel::Cancel;
use crate::error::Result;
use crate::kernels::dot;
use crate::linalg::{Cholesky, MatrixMut};
use faer::Mat;

/// From this tolerance on directions are rough to begin with: half of the products, and what is left undone is little
/// beside what such a refit leaves undone anyway.
const LOOSE: f64 = 5e-3;

/// The part of a loose tolerance that one more product must promise in the last step. Coarser ones leave supports that
/// are about to win looking like losers: 0.2 % of f at the end on text.
const WORTH: f64 = 1e-3;

/// How well a Newton direction is found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accuracy {
    /// What may be left of the residual.
    residual: f64,
    /// A direction that promises no more than this much is the last...
    last: f64,
    /// ...and is improved until one more product promises no more than this.
    worth: f64,
}

/// How a Newton direction is found.
pub(super) trait Direction {
    /// `out` approximately `-(H + damping D)^-1 gradient`, D the majorant's diagonal.
    fn find(
        &mut self,
        hessian: &mut dyn SupportHessian,
        gradient: &[f64],
        damping: f64,
        accuracy: Accuracy,
        out: &mut [f64],
    ) -> Result<()>;

    /// The Hessian has not changed since the last direction.
    fn unchanged(&mut self) {}
}

/// By a Cholesky factor; kept between steps when the Hessian never changes.
pub(super) struct Factored {
    factor: Option<Cholesky>,
    current: bool,
    matrix: Mat<f64>,
}

impl Factored {
    pub fn new() -> Self {
        Self { factor: None, current: false, matrix: Mat::new() }
    }
}

impl Direction for Factored {
    fn find(
        &mut self,
        hessian: &mut dyn SupportHessian,
        gradient: &[f64],
        damping: f64,
        _: Accuracy,
        out: &mut [f64],
    ) -> Result<()> {
        if self.factor.is_none() || !self.current {
            let k = gradient.len();
            let matrix = &mut self.matrix;
            matrix.resize_with(k, k, |_, _| 0.0);
            matrix.fill(0.0);
            hessian.matrix(MatrixMut::over(matrix))?;
            let mut diagonal: Vec<f64> = (0..k).map(|c| matrix[(c, c)]).collect();
            fill_flat(hessian, &mut diagonal)?;
            (0..k).for_each(|c| matrix[(c, c)] = diagonal[c]);
            let extra = damping_diagonal(hessian, damping, k)?;
            self.factor = Some(Cholesky::again(self.factor.take(), matrix, extra.as_deref()));
        }
        self.current = false;
        out.iter_mut().zip(gradient).for_each(|(o, g)| *o = -g);
        if let Some(factor) = &self.factor {
            factor.solve(out);
        }
        Ok(())
    }

    fn unchanged(&mut self) {
        self.current = true;
    }
}

/// Products may be off by this part of what conjugate gradients leave undone anyway.
const HESSIAN_ERROR: f64 = 0.03;

/// By conjugate gradients, preconditioned with the Hessian's diagonal unless the function knows better.
pub(super) struct ConjugateGradients<'a> {
    cancel: &'a Cancel,
    diagonal: Vec<f64>,
    residual: Vec<f64>,
    conditioned: Vec<f64>,
    search: Vec<f64>,
    product: Vec<f64>,
}

#[allow(clippy::needless_range_loop)] // one index over four arrays reads better than four zips
impl Direction for ConjugateGradients<'_> {
    fn find(
        &mut self,
        hessian: &mut dyn SupportHessian,
        gradient: &[f64],
        damping: f64,
        accuracy: Accuracy,
        out: &mut [f64],
    ) -> Result<()> {
        let k = gradient.len();
        let extra = damping_diagonal(hessian, damping, k)?;
        for buffer in
            [&mut self.diagonal, &mut self.residual, &mut self.conditioned, &mut self.search, &mut self.product]
        {
            buffer.resize(k, 0.0);
        }
        hessian.may_err(accuracy.residual * HESSIAN_ERROR);
        hessian.rough_diagonal(&mut self.diagonal)?;
        fill_flat(hessian, &mut self.diagonal)?;
        if let Some(extra) = &extra {
            self.diagonal.iter_mut().zip(extra).for_each(|(d, e)| *d += e);
        }
        let inverse = |d: f64| if d > 0.0 { 1.0 / d } else { 1.0 };
        self.diagonal.iter_mut().for_each(|d| *d = inverse(*d));

        out.fill(0.0);
        for c in 0..k {
            self.residual[c] = -gradient[c];
        }
        self.condition(hessian)?;
        self.search.copy_from_slice(&self.conditioned);
        let mut energy = dot(&self.residual, &self.search);
        let target = energy * accuracy.residual * accuracy.residual;
        let (mut promised, mut more) = (0.0, f64::INFINITY);
        for _ in 0..(2 * k + 20) {
            if energy == 0.0 || (energy <= target && (promised > accuracy.last || more <= accuracy.worth)) {
                break;
            }
            self.cancel.ask()?;
            hessian.product(&self.search, &mut self.product)?;
            if let Some(extra) = &extra {
                for c in 0..k {
                    self.product[c] += extra[c] * self.search[c];
                }
            }
            let bend = dot(&self.search, &self.product);
            if bend <= 0.0 {
                // No curvature along this direction: what has been found is a descent direction; failing that, the
                // gradient.
                if out.iter().all(|o| *o == 0.0) {
                    out.copy_from_slice(&self.search);
                }
                break;
            }
            let step = energy / bend;
            more = 0.5 * step * energy;
            promised += more;
            for c in 0..k {
                out[c] += step * self.search[c];
                self.residual[c] -= step * self.product[c];
            }
            self.condition(hessian)?;
            let next = dot(&self.residual, &self.conditioned);
            let turn = next / energy;
            for c in 0..k {
                self.search[c] = self.conditioned[c] + turn * self.search[c];
            }
            energy = next;
        }
        Ok(())
    }
}

impl<'a> ConjugateGradients<'a> {
    pub fn new(cancel: &'a Cancel) -> Self {
        let [diagonal, residual, conditioned, search, product] = [const { Vec::new() }; 5];
        Self { cancel, diagonal, residual, conditioned, search, product }
    }

    fn condition(&mut self, hessian: &mut dyn SupportHessian) -> Result<()> {
        if let Some(better) = hessian.preconditioner() {
            return better.apply(&self.residual, &mut self.conditioned);
        }
        for ((c, r), d) in self.conditioned.iter_mut().zip(&self.residual).zip(&self.diagonal) {
            *c = r * d;
        }
        Ok(())
    }
}

/// Where f has no curvature (every sample on a straight piece of its loss), the majorant's: a gradient step in the
/// units of the coordinate, instead of one in units of 1.
fn fill_flat(hessian: &mut dyn SupportHessian, diagonal: &mut [f64]) -> Result<()> {
    if diagonal.iter().all(|d| *d > 0.0) {
        return Ok(());
    }
    let mut majorant = vec![0.0; diagonal.len()];
    hessian.majorant(&mut majorant)?;
    for (d, m) in diagonal.iter_mut().zip(majorant) {
        if *d <= 0.0 {
            *d = m;
        }
    }
    Ok(())
}

fn damping_diagonal(hessian: &mut dyn SupportHessian, damping: f64, k: usize) -> Result<Option<Vec<f64>>> {
    if damping <= 0.0 {
        return Ok(None);
    }
    let mut diagonal = vec![0.0; k];
    hessian.majorant(&mut diagonal)?;
    diagonal.iter_mut().for_each(|d| *d *= damping);
    Ok(Some(diagonal))
}

/// Doubles a whole step while f keeps falling about as steeply as at the start: the curvature was overestimated, as on
/// the straight pieces of a loss, where steps of one size would take for ever. Returns the step and what f is there.
fn go_on(line: &mut dyn Line, slope: f64, mut reached: Probe) -> Result<(f64, Probe)> {
    let mut step = 1.0;
    while step < 1e12 && reached.slope < 0.5 * slope {
        let ahead = line.probe(2.0 * step)?;
        if ahead.value >= reached.value || ahead.value.is_nan() {
            break;
        }
        step *= 2.0;
        reached = ahead;
    }
    Ok((step, reached))
}

/// The longest of the steps 1, 1/2, 1/4 ... that lowers f enough, and what f is there; only the first is tried for the
/// last step.
fn backtrack(line: &mut dyn Line, value: f64, decrement: f64, last: bool) -> Result<Option<(f64, Probe)>> {
    let mut step = 1.0;
    for _ in 0..if last { 1 } else { 40 } {
        let there = line.probe(step)?;
        let wanted = if last { 0.0 } else { 1e-4 * step * decrement };
        if there.value <= value - wanted {
            return Ok(Some((step, there)));
        }
        step *= 0.5;
    }
    Ok(None)
}

pub(super) fn minimise(
    f: &mut dyn Restricted,
    x: &mut [f64],
    options: &InnerOptions,
    method: &mut dyn Direction,
) -> Result<Outcome> {
    let k = x.len();
    let (mut gradient, mut trial, mut direction) = (vec![0.0; k], vec![0.0; k], vec![0.0; k]);
    let mut value = f.move_to(x, &mut gradient)?;
    let ended = |value, iterations, ended| Ok(Outcome { value, iterations, ended });
    if !value.is_finite() || gradient.iter().any(|g| !g.is_finite()) {
        return ended(value, 0, Ended::NotFinite);
    }
    if k == 0 {
        return ended(value, 0, Ended::Converged);
    }
    let form = f.form();
    let size = form.size.abs();
    let mut damping = 0.0;
    // Inexact directions sharpen as steps are taken whole: fast at first, superlinear at the end. Those of a loose
    // refit stay as they are.
    let loose = options.tolerance >= LOOSE;
    let mut accuracy = match (form.quadratic, loose) {
        (true, false) => 1e-7,
        (true, true) => 1e-3,
        (false, false) => 0.1,
        (false, true) => 0.3,
    };
    for iteration in 0..options.max_iterations {
        options.cancel.ask()?;
        if form.tail && value <= 1e-9 * size {
            return ended(value, iteration, Ended::Unattained);
        }
        let Some(hessian) = f.second().hessian() else { break };
        let enough = options.tolerance * value.abs().max(1e-4 * size);
        let worth = if loose { WORTH * enough } else { f64::INFINITY };
        let wanted = Accuracy { residual: accuracy, last: enough, worth };
        method.find(hessian, &gradient, damping, wanted, &mut direction)?;
        if form.quadratic {
            method.unchanged();
        }
        let decrement = -dot(&gradient, &direction);
        let last = 0.5 * decrement <= enough;
        // The minimum of the quadratic model is value - decrement/2; twice that decrease allows for its error, but not
        // for curvature that appears or vanishes on the way.
        let trusted = iteration > 0 || !form.jumps;
        if trusted && value - decrement > options.abandon_above {
            return ended(value, iteration, Ended::Abandoned);
        }
        let mut line = f.line(x, &direction)?;
        let mut accepted = backtrack(&mut *line, value, decrement, last)?;
        if let Some((1.0, there)) = accepted
            && !last
        {
            accepted = Some(go_on(&mut *line, -decrement, there)?);
        }
        let mut reached = None;
        match accepted {
            Some((step, _)) => {
                let there = line.settle(step, &mut trial)?;
                if there <= value {
                    reached = Some((step, there));
                    std::mem::swap(&mut gradient, &mut trial);
                } else {
                    f.move_to(x, &mut trial)?; // the probe was off by rounding error, and nothing else is left to gain
                }
            }
            None => line.back()?,
        }
        if let Some((step, there)) = reached {
            x.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
            value = there;
            if f.gives_up() {
                return ended(value, iteration + 1, Ended::Abandoned);
            }
        }
        if last || (reached.is_none() && damping > 1e3) {
            return ended(value, iteration + usize::from(reached.is_some()), Ended::Converged);
        }
        damping = match reached {
            None => (damping * 100.0).max(1e-4),
            Some((step, _)) if step >= 1.0 => {
                if damping < 1e-9 {
                    0.0
                } else {
                    damping * 0.1
                }
            }
            Some((step, _)) if step < 0.2 => (damping * 10.0).max(1e-6),
            Some(_) => damping,
        };
        // Only whole steps come near enough for more: while they are cut short or doubled, the model is what is wrong.
        if !loose && matches!(reached, Some((1.0, _))) {
            accuracy = (accuracy * 0.3f64).max(1e-9);
        }
    }
    ended(value, options.max_iterations, Ended::MaxIterations)
}
