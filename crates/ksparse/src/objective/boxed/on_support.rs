//! f within bounds on a fixed support: projected Newton.
//!
//! ```text
//! held:  x_j at a bound, -g_j pointing out of the box         d = -H_ff^-1 g_f over the others, 0 for those held
//! x(s) = x + s d, moved back into the box;     s = 1, 1/2, ... until f(x(s)) <= f(x) + 1e-4 g'(x(s) - x)
//! ```
//!
//! Who is held is settled at every step, so that coordinates reach their bounds and leave them many at a time
//! (Bertsekas). A Newton step may push a coordinate out that its gradient would take in; moved back it may raise f,
//! however short: then such coordinates are held as well, and let go one by one once the others are at their minimum.
//! Once nobody is held, the steps are Newton's. Over very many coordinates, and without second derivatives,
//! steps go along the gradient, each coordinate in units of its curvature, as long as the last one suggests (Barzilai
//! and Borwein).

use super::Bounds;
use crate::error::Result;
use crate::linalg::{Cholesky, MatrixMut};
use crate::restricted::{Ended, Form, InnerOptions, Line, Outcome, Restricted, Second};
use faer::Mat;

/// From so many coordinates on a factor costs more than the steps that it saves.
const MANY: usize = 512;

/// A coordinate that so much of a step takes out of the box is at its bound.
const SHORT: f64 = 1e-9;

/// How often a coordinate may be pushed out of the box before it stays at its bound for good.
const OFTEN: usize = 5;

/// Coordinates that steps have pushed out of the box.
#[derive(Default)]
struct Pushed {
    /// Those that stay at their bounds for now.
    held: Vec<usize>,
    /// Every push.
    pushes: Vec<usize>,
}

impl Pushed {
    fn stays(&self, j: usize) -> bool {
        self.held.contains(&j)
    }

    /// Holds these; whether there were any.
    fn hold(&mut self, out: impl Iterator<Item = usize>) -> bool {
        let before = self.held.len();
        self.held.extend(out);
        self.pushes.extend_from_slice(&self.held[before..]);
        self.held.len() > before
    }

    /// Lets go of the one with the steepest slope; whether there was one.
    fn let_go(&mut self, gradient: &[f64]) -> bool {
        let often = |j: usize| self.pushes.iter().filter(|&&other| other == j).count() >= OFTEN;
        let slope = |&place: &usize| gradient[self.held[place]].abs();
        let places = (0..self.held.len()).filter(|&place| !often(self.held[place]));
        let steepest = places.max_by(|a, b| slope(a).total_cmp(&slope(b)));
        steepest.map(|place| self.held.remove(place)).is_some()
    }
}

/// f on a support, and the bounds there.
pub(in crate::objective) struct RestrictedBoxed<'a> {
    inner: Box<dyn Restricted + 'a>,
    all: &'a Bounds,
    bounds: Bounds,
}

impl<'a> RestrictedBoxed<'a> {
    pub fn new(inner: Box<dyn Restricted + 'a>, all: &'a Bounds, support: &[usize]) -> Self {
        Self { inner, all, bounds: all.pick(support) }
    }

    /// Whether steps are Newton's.
    fn is_newton(&mut self) -> bool {
        self.inner.dim() < MANY && !matches!(self.inner.second(), Second::None)
    }

    /// The curvature along each coordinate, roughly; 1 where nobody knows.
    fn curvature(&mut self) -> Result<Vec<f64>> {
        let mut curvature = vec![1.0; self.inner.dim()];
        if let Some(hessian) = self.inner.second().hessian() {
            hessian.rough_diagonal(&mut curvature)?;
        }
        curvature.iter_mut().filter(|h| **h <= 0.0).for_each(|h| *h = 1.0);
        Ok(curvature)
    }

    /// The direction over the coordinates that are not held; in place of Newton's so much of the gradient.
    fn direction(&mut self, gradient: &[f64], moving: &[usize], lengths: Option<&[f64]>) -> Result<Vec<f64>> {
        let k = gradient.len();
        let mut step: Vec<f64> = moving.iter().map(|&j| -gradient[j]).collect();
        if let Some(lengths) = lengths {
            step.iter_mut().zip(moving).for_each(|(s, &j)| *s *= lengths[j]);
        } else if let Some(hessian) = self.inner.second().hessian() {
            let mut whole = Mat::zeros(k, k);
            hessian.matrix(MatrixMut::over(&mut whole))?;
            let mut majorant = vec![0.0; k];
            if (0..k).any(|j| whole[(j, j)] <= 0.0) {
                hessian.majorant(&mut majorant)?;
            }
            // Coordinates ascend, so a lower triangle stays one.
            let entry = |a: usize, b: usize| {
                let (row, column) = (moving[a.max(b)], moving[a.min(b)]);
                let flat = row == column && whole[(row, row)] <= 0.0;
                if flat { majorant[row] } else { whole[(row, column)] }
            };
            let part = Mat::from_fn(moving.len(), moving.len(), entry);
            Cholesky::new(part, None).solve(&mut step);
        }
        let mut direction = vec![0.0; k];
        moving.iter().zip(step).for_each(|(&j, s)| direction[j] = s);
        Ok(direction)
    }
}

impl Restricted for RestrictedBoxed<'_> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn change(&mut self, support: &[usize]) -> Result<bool> {
        let changed = self.inner.change(support)?;
        if changed {
            self.bounds = self.all.pick(support);
        }
        Ok(changed)
    }

    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.inner.move_to(x, gradient)
    }

    fn second(&mut self) -> Second<'_> {
        self.inner.second()
    }

    fn line<'b>(&'b mut self, x: &[f64], direction: &[f64]) -> Result<Box<dyn Line + 'b>> {
        self.inner.line(x, direction)
    }

    fn product_cost(&self) -> Option<f64> {
        self.inner.product_cost()
    }

    fn form(&self) -> Form {
        Form { quadratic: false, ..self.inner.form() }
    }

    fn minimise(&mut self, x: &mut [f64], options: &InnerOptions) -> Result<Option<Outcome>> {
        let form = self.inner.form();
        let size = form.size.abs();
        let k = x.len();
        x.iter_mut().enumerate().for_each(|(j, x)| *x = self.bounds.clamp(j, *x));
        let mut gradient = vec![0.0; k];
        let mut value = self.inner.move_to(x, &mut gradient)?;
        let outcome = |value, iterations, ended| Ok(Some(Outcome { value, iterations, ended }));
        if !value.is_finite() || gradient.iter().any(|g| !g.is_finite()) {
            return outcome(value, 0, Ended::NotFinite);
        }
        let (mut trial, mut slopes) = (x.to_vec(), gradient.clone());
        let curvature = if self.is_newton() { Vec::new() } else { self.curvature()? };
        let mut lengths = (!curvature.is_empty()).then(|| curvature.iter().map(|h| 1.0 / h).collect::<Vec<f64>>());
        let mut pushed = Pushed::default();
        // Steps along the gradient are many and cheap.
        let steps = if lengths.is_some() { 50 } else { 1 } * options.max_iterations;
        for iteration in 0..steps {
            options.cancel.ask()?;
            if form.tail && value <= 1e-9 * size {
                return outcome(value, iteration, Ended::Unattained);
            }
            let moving: Vec<usize> =
                (0..k).filter(|&j| !pushed.stays(j) && !self.bounds.holds(j, x[j], gradient[j])).collect();
            let direction = self.direction(&gradient, &moving, lengths.as_deref())?;
            let decrement: f64 = -moving.iter().map(|&j| gradient[j] * direction[j]).sum::<f64>();
            let enough = options.tolerance * value.abs().max(1e-4 * size);
            if moving.is_empty() || decrement <= 0.0 {
                if pushed.let_go(&gradient) {
                    continue;
                }
                return outcome(value, iteration, Ended::Converged);
            }
            if value - decrement > options.abandon_above {
                return outcome(value, iteration, Ended::Abandoned);
            }
            let (mut step, mut reached) = (1.0, None);
            let last = 0.5 * decrement <= enough;
            while step > 1e-12 {
                let mut fall = 0.0;
                for j in 0..k {
                    trial[j] = self.bounds.clamp(j, x[j] + step * direction[j]);
                    fall += gradient[j] * (trial[j] - x[j]);
                }
                let there = self.inner.move_to(&trial, &mut slopes)?;
                if there <= value + 1e-4 * fall.min(0.0) || (last && there <= value) {
                    reached = Some(there);
                    break;
                }
                let cut = || (0..k).any(|j| trial[j] != x[j] + step * direction[j]);
                step *= if last && !cut() { 0.0 } else { 0.5 };
            }
            let Some(there) = reached else {
                self.inner.move_to(x, &mut gradient)?;
                let beyond = |j: usize| x[j] + SHORT * direction[j];
                let out = moving.into_iter().filter(|&j| self.bounds.clamp(j, beyond(j)) != beyond(j));
                if pushed.hold(out) || pushed.let_go(&gradient) {
                    continue;
                }
                return outcome(value, iteration, Ended::Converged);
            };
            // A last step that was cut off at a bound leaves more to be had.
            let whole = trial.iter().zip(&*x).zip(&direction).all(|((t, x), d)| *t == x + step * d);
            if let Some(lengths) = &mut lengths {
                let moved = || trial.iter().zip(&*x).map(|(t, x)| t - x);
                let bend: f64 = moved().zip(slopes.iter().zip(&gradient)).map(|(m, (s, g))| m * (s - g)).sum();
                let square: f64 = moved().zip(&curvature).map(|(m, h)| m * m * h).sum();
                if bend > 0.0 && square > 0.0 {
                    lengths.iter_mut().zip(&curvature).for_each(|(length, h)| *length = square / bend / h);
                }
            }
            x.copy_from_slice(&trial);
            value = there;
            std::mem::swap(&mut gradient, &mut slopes);
            if last && whole && !pushed.let_go(&gradient) {
                return outcome(value, iteration + 1, Ended::Converged);
            }
        }
        outcome(value, steps, Ended::MaxIterations)
    }
}
