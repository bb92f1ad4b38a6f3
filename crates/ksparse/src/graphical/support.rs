//! f on a support: a sum over the connected components of its graph, minimised one by one.

use super::component::OnComponent;
use super::precision::{Method, Precision};
use super::triangle::{components, entry};
use super::{adm, barrier};
use crate::error::Result;
use crate::linalg::{MatrixMut, cholesky};
use crate::restricted::{
    self, Ended, Form, InnerOptions, Line, Outcome, PointByPoint, Restricted, Second, SupportHessian,
};
use faer::Mat;

/// f on a support.
pub(super) struct OnSupport<'a> {
    model: &'a Precision,
    support: Vec<usize>,
    /// Small components first.
    parts: Vec<OnComponent<'a>>,
}

impl<'a> OnSupport<'a> {
    pub fn new(model: &'a Precision, support: &[usize]) -> Self {
        let mut parts: Vec<OnComponent> =
            components(model.variables(), support).into_iter().map(|c| OnComponent::new(model, c)).collect();
        parts.sort_by_key(|part| part.dim());
        Self { model, support: support.to_vec(), parts }
    }

    /// Moves a point where f is infinite to one where it is not: a diagonal that is not positive becomes that of a node
    /// alone, and the off-diagonal entries shrink as much as it takes.
    pub fn repair(&self, x: &mut [f64]) {
        for part in &self.parts {
            let mut local = gather(part, x);
            repair_part(part, &mut local);
            scatter(part, &local, x);
        }
    }
}

fn gather(part: &OnComponent, x: &[f64]) -> Vec<f64> {
    part.component.entries.iter().map(|e| x[e.place]).collect()
}

fn scatter(part: &OnComponent, local: &[f64], x: &mut [f64]) {
    part.component.entries.iter().zip(local).for_each(|(e, v)| x[e.place] = *v);
}

fn repair_part(part: &OnComponent, x: &mut [f64]) {
    let model = part.model;
    let inside = |x: &[f64]| {
        let matrix = part.whole(x);
        cholesky(matrix.clone()).is_some() && model.within_bounds(&matrix, None)
    };
    if inside(x) {
        return;
    }
    let bounds = model.bounds();
    for (e, x) in part.component.entries.iter().zip(x.iter_mut()) {
        if e.row == e.column && !(bounds.alpha..=bounds.beta).contains(x) {
            *x = model.alone(part.component.nodes[e.row]);
        }
    }
    for attempt in 0..40 {
        if inside(x) {
            return;
        }
        let shrink = if attempt < 39 { 0.5 } else { 0.0 };
        for (e, x) in part.component.entries.iter().zip(x.iter_mut()) {
            if e.row != e.column {
                *x *= shrink;
            }
        }
    }
}

/// Minimises on one component.
fn minimise_part(part: &mut OnComponent, x: &mut [f64], options: &InnerOptions) -> Result<Outcome> {
    if let ([node], [x]) = (&part.component.nodes[..], &mut *x) {
        *x = part.model.alone(*node);
        return Ok(Outcome { value: part.value(&[*x]), iterations: 1, ended: Ended::Converged });
    }
    repair_part(part, x);
    if part.model.method() == Method::Newton {
        let first = x.to_vec();
        let outcome = restricted::minimise(part, x, options)?;
        let inside = || part.model.within_bounds(&part.whole(x), Some(part.inverse()));
        if outcome.ended == Ended::Abandoned && !part.gives_up() || inside() {
            return Ok(outcome);
        }
        // The bounds can only raise the minimum.
        if outcome.ended == Ended::Converged && outcome.value > options.abandon_above {
            return Ok(Outcome { ended: Ended::Abandoned, ..outcome });
        }
        if let Some(outcome) = barrier::minimise(part, x, options)? {
            return Ok(outcome);
        }
        x.copy_from_slice(&first);
    }
    adm::minimise(part, x, options)
}

impl Restricted for OnSupport<'_> {
    fn dim(&self) -> usize {
        self.support.len()
    }

    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let mut total = 0.0;
        for part in &mut self.parts {
            let local = gather(part, x);
            let mut slope = vec![0.0; local.len()];
            total += part.move_to(&local, &mut slope)?;
            scatter(part, &slope, gradient);
        }
        Ok(total)
    }

    fn second(&mut self) -> Second<'_> {
        Second::Products(self)
    }

    fn line<'b>(&'b mut self, x: &[f64], direction: &[f64]) -> Result<Box<dyn Line + 'b>> {
        Ok(Box::new(PointByPoint::new(self, x, direction)))
    }

    fn form(&self) -> Form {
        Form { size: self.model.variables() as f64, ..Form::default() }
    }

    fn minimise(&mut self, x: &mut [f64], options: &InnerOptions) -> Result<Option<Outcome>> {
        let constant = |c: &usize| {
            let (i, j) = entry(*c);
            i != j && (self.model.is_constant(i) || self.model.is_constant(j))
        };
        if self.support.iter().any(constant) {
            // An edge to a constant variable is 0 at the minimum.
            let (zero, kept): (Vec<usize>, Vec<usize>) = (0..x.len()).partition(|&a| constant(&self.support[a]));
            let support: Vec<usize> = kept.iter().map(|&a| self.support[a]).collect();
            let mut rest: Vec<f64> = kept.iter().map(|&a| x[a]).collect();
            let outcome = OnSupport::new(self.model, &support).minimise(&mut rest, options)?;
            kept.iter().zip(rest).for_each(|(&a, v)| x[a] = v);
            zero.iter().for_each(|&a| x[a] = 0.0);
            return Ok(outcome);
        }
        let mut total = Outcome { value: 0.0, iterations: 0, ended: Ended::Converged };
        let last = self.parts.len() - 1;
        for (c, part) in self.parts.iter_mut().enumerate() {
            let mut local = gather(part, x);
            // Once the others are at their minima, the largest knows what it must come down to.
            let abandon_above = if c == last { options.abandon_above - total.value } else { f64::INFINITY };
            let outcome = minimise_part(part, &mut local, &InnerOptions { abandon_above, ..*options })?;
            scatter(part, &local, x);
            total.value += outcome.value;
            total.iterations = total.iterations.max(outcome.iterations);
            if outcome.ended != Ended::Converged {
                total.ended = outcome.ended;
            }
        }
        Ok(Some(total))
    }
}

impl SupportHessian for OnSupport<'_> {
    /// Block by block: coordinates of different components do not know of each other.
    fn matrix(&mut self, mut out: MatrixMut<'_>) -> Result<()> {
        out.fill(0.0);
        for part in &mut self.parts {
            let d = part.dim();
            let mut block = Mat::zeros(d, d);
            SupportHessian::matrix(part, MatrixMut::over(&mut block))?;
            let places: Vec<usize> = part.component.entries.iter().map(|e| e.place).collect();
            for b in 0..d {
                for a in b..d {
                    let (row, column) = (places[a].max(places[b]), places[a].min(places[b]));
                    out[(row, column)] = block[(a, b)];
                }
            }
        }
        Ok(())
    }

    fn product(&mut self, v: &[f64], out: &mut [f64]) -> Result<()> {
        for part in &mut self.parts {
            let local = gather(part, v);
            let mut product = vec![0.0; local.len()];
            part.product(&local, &mut product)?;
            scatter(part, &product, out);
        }
        Ok(())
    }

    fn diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        for part in &mut self.parts {
            let mut diagonal = vec![0.0; part.dim()];
            part.diagonal(&mut diagonal)?;
            scatter(part, &diagonal, out);
        }
        Ok(())
    }
}
