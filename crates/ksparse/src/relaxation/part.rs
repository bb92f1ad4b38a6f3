//! The mean loss as a function of the coefficients of a working set, minimised over the intercept where there is one.
//!
//! At a point w with predictions z (best intercept included) the derivatives `a_i = l'(z_i)` are then a feasible dual
//! vector, and `gradient_j = sum_i c_i a_i x_ij = -lambda u_j(a)`.

use crate::design::Columns;
use crate::dual::best_shift;
use crate::linalg::MatrixMut;
use crate::loss::Loss;
use crate::objective::Risk;
use faer::Mat;

/// A smooth convex function on a working set.
pub(crate) trait Part {
    /// Its value and gradient; second derivatives then refer to this point.
    fn evaluate(&mut self, w: &[f64], gradient: &mut [f64]) -> f64;

    /// Its value.
    fn value(&mut self, w: &[f64]) -> f64;

    /// The lower triangle of the Hessian among some coordinates (positions in the working set, ascending).
    fn hessian(&mut self, positions: &[usize]) -> Mat<f64>;

    /// Bounds on the diagonal of the Hessian, up to a common factor: the metric of first-order steps.
    fn metric(&self) -> &[f64];

    /// The work of `hessian` for so many coordinates, counted in evaluations.
    fn hessian_cost(&self, count: usize) -> f64;
}

/// The mean loss over the samples.
pub(crate) struct Sampled<'a> {
    risk: &'a Risk<'a>,
    /// The risk's own loss, or a smooth one that stands in for it.
    loss: &'a dyn Loss,
    support: Vec<usize>,
    columns: Box<dyn Columns + 'a>,
    metric: Vec<f64>,
    z: Vec<f64>,
    derivatives: Vec<f64>,
    curvatures: Vec<f64>,
    intercept: f64,
}

impl<'a> Sampled<'a> {
    pub fn new(risk: &'a Risk<'a>, loss: &'a dyn Loss, support: Vec<usize>) -> Self {
        let n = risk.target().len();
        let squares = risk.weighted_squares();
        let scale = loss.smoothness().bound().unwrap_or(1.0);
        let metric = support.iter().map(|&j| scale * squares[j] + risk.ridge()).collect();
        let columns = risk.design().gather(&support);
        let zeros = || vec![0.0; n];
        Self {
            risk,
            loss,
            support,
            columns,
            metric,
            z: zeros(),
            derivatives: zeros(),
            curvatures: zeros(),
            intercept: 0.0,
        }
    }

    /// The predictions at w, without an intercept.
    pub fn predictions(&self, w: &[f64], z: &mut [f64]) {
        self.columns.mul(w, z);
    }

    /// u(a) on the working set.
    pub fn scores(&self, a: &[f64]) -> Vec<f64> {
        let unit = -1.0 / self.risk.ridge();
        let r: Vec<f64> = a.iter().zip(self.risk.weights()).map(|(a, c)| unit * c * a).collect();
        let mut u = vec![0.0; self.support.len()];
        self.columns.tmul(&r, &mut u);
        u
    }

    fn predict(&mut self, w: &[f64]) {
        self.columns.mul(w, &mut self.z);
        if self.risk.has_intercept() {
            // From the last intercept: the next is not far.
            let last = self.intercept;
            self.z.iter_mut().for_each(|z| *z += last);
            let shift = best_shift(self.loss, &self.z, self.risk.target(), self.risk.weights());
            self.z.iter_mut().for_each(|z| *z += shift);
            self.intercept += shift;
        }
    }
}

impl Part for Sampled<'_> {
    fn evaluate(&mut self, w: &[f64], gradient: &mut [f64]) -> f64 {
        self.predict(w);
        let (y, c) = (self.risk.target(), self.risk.weights());
        let value = self.loss.evaluate(&self.z, y, c, &mut self.derivatives, &mut self.curvatures);
        self.columns.tmul(&self.derivatives, gradient);
        value
    }

    fn value(&mut self, w: &[f64]) -> f64 {
        self.predict(w);
        self.loss.total(&self.z, self.risk.target(), self.risk.weights())
    }

    fn hessian(&mut self, positions: &[usize]) -> Mat<f64> {
        let support: Vec<usize> = positions.iter().map(|&a| self.support[a]).collect();
        let mut columns = self.risk.design().gather(&support);
        let mut out = Mat::zeros(support.len(), support.len());
        columns.gram(&self.curvatures, MatrixMut::over(&mut out));
        let total: f64 = self.curvatures.iter().sum();
        if self.risk.has_intercept() && total > 0.0 {
            let mut sums = vec![0.0; support.len()];
            columns.tmul(&self.curvatures, &mut sums);
            for b in 0..sums.len() {
                for a in b..sums.len() {
                    out[(a, b)] -= sums[a] * sums[b] / total;
                }
            }
        }
        out
    }

    fn metric(&self) -> &[f64] {
        &self.metric
    }

    fn hessian_cost(&self, count: usize) -> f64 {
        let costs = self.columns.costs();
        let share = count as f64 / self.support.len().max(1) as f64;
        let losses = 20.0 * self.z.len() as f64;
        (costs.gram * share * share + (count as f64).powi(3) / 6.0) / (2.0 * costs.product + losses)
    }
}

/// A quadratic loss by its moments: `f(w) = f(0) + q'w + w'Gw/2`. What costs n per evaluation above costs the working
/// set here.
pub(crate) struct Moments<'a> {
    /// G of all coordinates, and its q and f(0).
    pub gram: &'a Mat<f64>,
    pub linear: &'a [f64],
    pub constant: f64,
    pub support: Vec<usize>,
    pub metric: Vec<f64>,
    /// Scratch: G w.
    product: Vec<f64>,
}

impl<'a> Moments<'a> {
    pub fn new(gram: &'a Mat<f64>, linear: &'a [f64], constant: f64, lambda: f64, support: Vec<usize>) -> Self {
        let metric = support.iter().map(|&j| gram[(j, j)] + lambda).collect();
        let product = vec![0.0; support.len()];
        Self { gram, linear, constant, support, metric, product }
    }

    /// `product = G w` on the working set: whole columns of G, for the entries of w that are not 0.
    fn multiply(&mut self, w: &[f64]) {
        self.product.fill(0.0);
        for (b, &w) in w.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            let column = self.gram.col_as_slice(self.support[b]);
            self.product.iter_mut().zip(&self.support).for_each(|(o, &j)| *o += w * column[j]);
        }
    }
}

impl Part for Moments<'_> {
    fn evaluate(&mut self, w: &[f64], gradient: &mut [f64]) -> f64 {
        self.multiply(w);
        let mut value = 0.0;
        for a in 0..w.len() {
            let q = self.linear[self.support[a]];
            gradient[a] = q + self.product[a];
            value += w[a] * (q + 0.5 * self.product[a]);
        }
        self.constant + value
    }

    fn value(&mut self, w: &[f64]) -> f64 {
        self.multiply(w);
        let linear = self.support.iter().map(|&j| self.linear[j]);
        self.constant + w.iter().zip(linear).zip(&self.product).map(|((w, q), g)| w * (q + 0.5 * g)).sum::<f64>()
    }

    fn hessian(&mut self, positions: &[usize]) -> Mat<f64> {
        let at = |a: usize| self.support[positions[a]];
        Mat::from_fn(positions.len(), positions.len(), |a, b| self.gram[(at(a), at(b))])
    }

    fn metric(&self) -> &[f64] {
        &self.metric
    }

    fn hessian_cost(&self, count: usize) -> f64 {
        let (count, size) = (count as f64, self.support.len() as f64);
        (count * count + count.powi(3) / 6.0) / (size * count.max(1.0))
    }
}
