//! S3 where an eigenvalue bound is active: Newton's method with a barrier before the bounds.
//!
//! ```text
//! x(mu) = argmin  L(O) - mu log det (O - alpha I) - mu log det (beta I - O)     on the support
//! ```
//!
//! is strictly inside, and L there exceeds the minimum by at most 2 m mu for m nodes. mu falls by tenths; the minima
//! are smooth in mu, so the line through the last two leads to within a step or two of the next. With V the inverse of
//! `O - alpha I` and U that of `beta I - O`, the Hessian is `W (x) W + mu V (x) V + mu U (x) U`.

use super::component::{Near, OnComponent};
use crate::error::Result;
use crate::kernels::dot;
use crate::linalg::{MatrixMut, cholesky, inverse, log_det};
use crate::restricted::{
    self, Ended, Form, InnerOptions, Line, Outcome, PointByPoint, Preconditioner, Restricted, Second, SupportHessian,
};
use faer::Mat;

/// The first mu; L is of the order of m.
const FIRST: f64 = 1e-2;

/// The last one at the least: below, rounding errors take over.
const LAST: f64 = 1e-9;

/// Down to this mu conjugate gradients with `O (x) O` do: it knows nothing of the barrier, but few eigenvalues are at a
/// bound (in GraSP's wide refits one), and each costs a product or two. A refit of 990 coordinates on 190 nodes: 48 ms
/// in place of 128 by factors.
const NEAR: f64 = 1e-5;

/// Below it the Hessian is factored up to so many coordinates: conjugate gradients take long before a bound.
const FACTORED: usize = 1500;

/// Minimises f on the component's support within the bounds from near the point `x`, which need not be feasible. `None`
/// if that fails; x is then where it was.
pub(super) fn minimise(part: &OnComponent, x: &mut [f64], options: &InnerOptions) -> Result<Option<Outcome>> {
    let m = part.nodes() as f64;
    let last = options.tolerance.clamp(LAST, FIRST);
    let mut f = Barred { part, mu: FIRST, inverses: [const { Mat::new() }; 3], near: Near::Entries(Vec::new()) };
    let Some(mut at) = f.inside(x) else { return Ok(None) };
    let mut before: Option<(f64, Vec<f64>)> = None;
    let mut iterations = 0;
    loop {
        // Only the last minimum is wanted: on the way to it half of the steps were polish.
        let precise = if f.mu > last { 1.0 } else { 1.0 / m };
        let inner = InnerOptions {
            tolerance: 0.1 * f.mu * precise,
            max_iterations: 60,
            abandon_above: f64::INFINITY,
            cancel: options.cancel,
        };
        let outcome = restricted::minimise(&mut f, &mut at, &inner)?;
        iterations += outcome.iterations;
        if outcome.ended != Ended::Converged {
            return Ok(None);
        }
        let value = part.value(&at);
        let hopeless = value - 2.0 * m * f.mu > options.abandon_above;
        if hopeless || f.mu <= last {
            x.copy_from_slice(&at);
            let ended = if hopeless { Ended::Abandoned } else { Ended::Converged };
            return Ok(Some(Outcome { value, iterations, ended }));
        }
        let mu = f.mu;
        f.mu = (0.1 * mu).max(last);
        let ahead = before.map(|(earlier, was)| {
            let share = (f.mu - mu) / (mu - earlier);
            at.iter().zip(&was).map(|(x, w)| x + share * (x - w)).collect::<Vec<f64>>()
        });
        before = Some((mu, at.clone()));
        if let Some(ahead) = ahead.filter(|ahead| f.value(ahead) < f.value(&at)) {
            at = ahead;
        }
    }
}

/// f with the barrier.
struct Barred<'a> {
    part: &'a OnComponent<'a>,
    mu: f64,
    /// W, V and U at the last point inside.
    inverses: [Mat<f64>; 3],
    /// O there.
    near: Near,
}

impl Barred<'_> {
    /// Factors of O, `O - alpha I` and `beta I - O`; `None` unless all are positive definite.
    fn factors(&self, x: &[f64], margin: f64) -> Option<[Mat<f64>; 3]> {
        let (matrix, bounds) = (self.part.whole(x), self.part.model.bounds());
        let (alpha, beta) = (bounds.alpha * (1.0 + margin), bounds.beta * (1.0 - margin));
        let m = matrix.nrows();
        let (mut above, mut below) = (matrix.clone(), -&matrix);
        for i in 0..m {
            above[(i, i)] -= alpha;
            below[(i, i)] += beta;
        }
        Some([cholesky(matrix)?, cholesky(above)?, cholesky(below)?])
    }

    /// A point well inside: x, drawn to a multiple of the identity as much as it takes.
    fn inside(&self, x: &[f64]) -> Option<Vec<f64>> {
        let bounds = self.part.model.bounds();
        let centre = (bounds.alpha * bounds.beta).sqrt();
        let drawn = |share: f64| -> Vec<f64> {
            let entries = self.part.component.entries.iter().zip(x);
            entries.map(|(e, x)| (1.0 - share) * x + if e.row == e.column { share * centre } else { 0.0 }).collect()
        };
        let shares = std::iter::once(0.0).chain((0..18).map(|i| 1e-5 * 2f64.powi(i)).filter(|t| *t < 1.0)).chain([1.0]);
        let mut inside = shares.map(drawn).filter(|point| self.factors(point, 1e-2).is_some());
        inside.next()
    }

    fn combine(&self, x: &[f64], [o, above, below]: &[Mat<f64>; 3]) -> f64 {
        dot(self.part.covariances(), x) - log_det(o) - self.mu * (log_det(above) + log_det(below))
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.factors(x, 0.0).map_or(f64::INFINITY, |factors| self.combine(x, &factors))
    }

    /// The weights of the three parts of the Hessian.
    fn weighted(&self) -> impl Iterator<Item = (&Mat<f64>, f64)> {
        self.inverses.iter().zip([1.0, self.mu, self.mu])
    }
}

impl Restricted for Barred<'_> {
    fn dim(&self) -> usize {
        self.part.dim()
    }

    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let Some(factors) = self.factors(x, 0.0) else { return Ok(f64::INFINITY) };
        let value = self.combine(x, &factors);
        self.inverses = factors.map(|factor| inverse(&factor));
        self.near = self.part.near(x);
        gradient.copy_from_slice(self.part.covariances());
        for (w, weight) in self.inverses.iter().zip([-1.0, -self.mu, self.mu]) {
            self.part.add_entries(w, weight, gradient);
        }
        Ok(value)
    }

    fn second(&mut self) -> Second<'_> {
        let factored = if self.mu < NEAR { self.dim() <= FACTORED } else { self.part.prefers_matrix() };
        if factored { Second::Matrix(self) } else { Second::Products(self) }
    }

    fn line<'b>(&'b mut self, x: &[f64], direction: &[f64]) -> Result<Box<dyn Line + 'b>> {
        Ok(Box::new(PointByPoint::new(self, x, direction)))
    }

    fn form(&self) -> Form {
        Form { size: self.part.nodes() as f64, ..Form::default() }
    }
}

impl SupportHessian for Barred<'_> {
    fn matrix(&mut self, mut out: MatrixMut<'_>) -> Result<()> {
        out.fill(0.0);
        self.weighted().for_each(|(w, weight)| self.part.add_hessian(w, weight, out.reborrow()));
        Ok(())
    }

    fn product(&mut self, v: &[f64], out: &mut [f64]) -> Result<()> {
        out.fill(0.0);
        self.weighted().for_each(|(w, weight)| self.part.add_product(w, weight, v, out));
        Ok(())
    }

    fn diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        out.fill(0.0);
        self.weighted().for_each(|(w, weight)| self.part.add_diagonal(w, weight, out));
        Ok(())
    }

    fn preconditioner(&mut self) -> Option<&mut dyn Preconditioner> {
        if self.mu < NEAR { None } else { Some(self) }
    }
}

impl Preconditioner for Barred<'_> {
    fn apply(&mut self, r: &[f64], out: &mut [f64]) -> Result<()> {
        self.part.condition(&self.near, r, out);
        Ok(())
    }
}
