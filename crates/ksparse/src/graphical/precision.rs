//! The log-determinant objective over precision matrices.

use super::covariance::Covariance;
use super::network::Network;
use super::support::OnSupport;
use super::triangle::{Entry, components, coordinate, dimension, entry, unit};
use crate::error::{Error, Result, check_option};
use crate::linalg::{MatrixMut, cholesky, eigenvalues, inverse, log_det};
use crate::loss::Smoothness;
use crate::objective::{BlockCost, Hessian, Objective, Point, Profile};
use crate::restricted::Restricted;
use crate::solver::Solution;
use crate::sparsity::SparseRef;
use faer::Mat;
use std::sync::OnceLock;

/// The interval that the eigenvalues of a precision matrix are confined to.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bounds {
    /// At least this.
    pub alpha: f64,
    /// At most this.
    pub beta: f64,
}

/// How f is minimised on a support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Newton with a Cholesky line search; the alternating direction method where an eigenvalue bound turns out to be
    /// active.
    #[default]
    Newton,
    /// The alternating direction method alone: the reference.
    Adm,
}

/// Called with the nodes of a component and the inverse of its matrix.
type Visit<'a> = &'a mut dyn FnMut(&[usize], &Mat<f64>);

/// What a point may exceed a bound by, relatively.
pub(super) const SLACK: f64 = 1e-9;

/// `L(O) = -log det O + <S, O>` for alpha I <= O <= beta I, as a function of the lower triangle of O with the diagonal
/// free: at most k non-zeros are k edges. Every solver of this library runs on it.
///
/// Coordinates are those of [`coordinate`], off-diagonal ones `sqrt 2` times the entry; [`network`](Self::network)
/// turns a solution back into a matrix. Outside the cone or the bounds f is infinite.
///
/// ```
/// use ksparse::{Sparsity, graphical::{Covariance, Precision, Units}, simulate, solver::{Grahtp, Solver}};
/// let sample = simulate::precision(2000, 10, 10, 3);
/// let model = Precision::new(Covariance::from_samples(&sample.train, Units::Original)?)?;
/// let solution = Grahtp::default().fit(&model, &Sparsity::new(sample.edges.len()))?;
/// let network = model.network(&solution);
/// let found: Vec<(usize, usize)> = network.edges().iter().map(|edge| edge.nodes).collect();
/// assert_eq!(found, sample.edges);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Precision {
    covariance: Covariance,
    bounds: Bounds,
    free: Vec<usize>,
    method: Method,
}

impl Precision {
    /// The objective of a covariance matrix, with the default bounds: those of [`with_xi`](Self::with_xi) at a
    /// hundredth of the mean variance, but beta no less than the same rule gives for uncorrelated variables of the
    /// least variance: else a variable in small units would be cut off.
    pub fn new(covariance: Covariance) -> Result<Self> {
        let (p, s) = (covariance.variables(), covariance.matrix());
        let mean = (0..p).map(|i| s[(i, i)]).sum::<f64>() / p as f64;
        if mean <= 0.0 {
            return Err(Error::Data("every variable is constant: there is no covariance to invert".to_string()));
        }
        let free = (0..p).map(|i| coordinate(i, i)).collect();
        let unset = Bounds { alpha: f64::NAN, beta: f64::NAN };
        let least = (0..p).map(|i| s[(i, i)]).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
        let correlations = (100.0 * p as f64 * (1.0 - 1.0 / (1.0 + 0.01 * p as f64))).max(1.0);
        let model = Self { covariance, bounds: unset, free, method: Method::Newton }.with_xi(1e-2 * mean)?;
        let Bounds { alpha, beta } = model.bounds;
        model.with_bounds(Bounds { alpha, beta: beta.max(correlations / least) })
    }

    /// With the bounds `alpha = 1 / (||S||_2 + p xi)` and `beta = (p - alpha tr S) / xi`: those that hold for the
    /// minimiser of L plus xi times the sum of |O_ij| (Z. Lu, SIAM Journal on Optimization 19, 2009). xi has the units
    /// of S.
    pub fn with_xi(self, xi: f64) -> Result<Self> {
        check_option(xi > 0.0 && xi.is_finite(), "xi", xi, "positive and finite")?;
        let (p, s) = (self.covariance.variables(), self.covariance.matrix());
        let values = eigenvalues(s.as_ref());
        let norm = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let trace: f64 = (0..p).map(|i| s[(i, i)]).sum();
        let alpha = 1.0 / (norm + p as f64 * xi);
        self.with_bounds(Bounds { alpha, beta: (p as f64 - alpha * trace) / xi })
    }

    /// With bounds of one's own.
    pub fn with_bounds(mut self, bounds: Bounds) -> Result<Self> {
        let Bounds { alpha, beta } = bounds;
        check_option(alpha > 0.0 && alpha.is_finite(), "alpha", alpha, "positive and finite")?;
        check_option(beta > alpha && beta.is_finite(), "beta", beta, "above alpha and finite")?;
        self.bounds = bounds;
        Ok(self)
    }

    /// With another method on supports.
    pub fn with_method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// S.
    pub fn covariance(&self) -> &Covariance {
        &self.covariance
    }

    /// alpha and beta.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// How f is minimised on a support.
    pub fn method(&self) -> Method {
        self.method
    }

    /// p.
    pub fn variables(&self) -> usize {
        self.covariance.variables()
    }

    /// The number of pairs of variables: edges at most.
    pub fn pairs(&self) -> usize {
        dimension(self.variables()) - self.variables()
    }

    /// The papers' first point, `alpha I`. (From there and from the best diagonal, where solvers start by themselves,
    /// the first gradient is the same off the diagonal.)
    pub fn start(&self) -> Solution {
        Solution::guess(self.free.clone(), vec![self.bounds.alpha; self.free.len()])
    }

    /// A solution as a precision matrix with its edges.
    pub fn network(&self, solution: &Solution) -> Network {
        Network::new(self.matrix(solution.as_sparse()))
    }

    /// The matrix of a vector of coordinates.
    pub fn matrix(&self, x: SparseRef) -> Mat<f64> {
        let p = self.variables();
        let mut matrix = Mat::zeros(p, p);
        for (c, v) in x.iter() {
            let (i, j) = entry(c);
            matrix[(i, j)] = v / unit(i, j);
            matrix[(j, i)] = matrix[(i, j)];
        }
        matrix
    }

    /// The coordinates of a symmetric matrix that are not zero, as a start for a solver.
    pub fn guess(&self, matrix: &Mat<f64>) -> Solution {
        let (mut support, mut x) = (Vec::new(), Vec::new());
        for c in 0..self.dim() {
            let (i, j) = entry(c);
            if matrix[(i, j)] != 0.0 {
                support.push(c);
                x.push(unit(i, j) * matrix[(i, j)]);
            }
        }
        Solution::guess(support, x)
    }

    /// Whether a variable never varies: its covariances are all 0, the best it can do is stand alone, its diagonal at
    /// beta.
    pub(super) fn is_constant(&self, node: usize) -> bool {
        self.covariance.matrix()[(node, node)] == 0.0
    }

    /// The best diagonal entry of a node without edges.
    pub(super) fn alone(&self, node: usize) -> f64 {
        (1.0 / self.covariance.matrix()[(node, node)]).clamp(self.bounds.alpha, self.bounds.beta)
    }

    /// Whether the eigenvalues of a positive definite matrix are within the bounds. `inverse` may come with it.
    pub(super) fn within_bounds(&self, matrix: &Mat<f64>, inverse: Option<&Mat<f64>>) -> bool {
        let m = matrix.nrows();
        let row_sums =
            |a: &Mat<f64>| (0..m).map(|j| a.col_as_slice(j).iter().map(|v| v.abs()).sum()).fold(0.0, f64::max);
        let (alpha, beta) = (self.bounds.alpha * (1.0 - SLACK), self.bounds.beta * (1.0 + SLACK));
        // Row sums bound eigenvalues: mostly that is enough. Otherwise a factorisation tells.
        let below = row_sums(matrix) <= beta
            || cholesky(Mat::from_fn(m, m, |i, j| if i == j { beta } else { 0.0 } - matrix[(i, j)])).is_some();
        let above = inverse.is_some_and(|w| row_sums(w) * alpha <= 1.0)
            || cholesky(Mat::from_fn(m, m, |i, j| matrix[(i, j)] - if i == j { alpha } else { 0.0 })).is_some();
        below && above
    }

    /// f at the components of x; `visit` gets each with its inverse. The infinity outside the cone or the bounds.
    fn evaluate(&self, x: SparseRef, mut visit: Option<Visit>) -> f64 {
        let mut total = 0.0;
        for component in components(self.variables(), x.indices) {
            let values: Vec<f64> = component.entries.iter().map(|e| x.values[e.place]).collect();
            let matrix = component.matrix(&values);
            let Some(factor) = cholesky(matrix.clone()) else { return f64::INFINITY };
            let inverted = visit.is_some().then(|| inverse(&factor));
            if !self.within_bounds(&matrix, inverted.as_ref()) {
                return f64::INFINITY;
            }
            let s = |e: &Entry| self.covariance.matrix()[(component.nodes[e.row], component.nodes[e.column])];
            let linear = component.entries.iter().zip(&values).map(|(e, x)| unit(e.row, e.column) * s(e) * x);
            total += linear.sum::<f64>() - log_det(&factor);
            if let (Some(visit), Some(w)) = (&mut visit, &inverted) {
                visit(&component.nodes, w);
            }
        }
        total
    }

    /// f and `O^-1`, which is 0 between components.
    fn value_and_inverse(&self, x: SparseRef) -> (f64, Mat<f64>) {
        let p = self.variables();
        let mut whole = Mat::zeros(p, p);
        let mut place = |nodes: &[usize], w: &Mat<f64>| {
            for (b, &j) in nodes.iter().enumerate() {
                nodes.iter().enumerate().for_each(|(a, &i)| whole[(i, j)] = w[(a, b)]);
            }
        };
        let value = self.evaluate(x, Some(&mut place));
        (value, whole)
    }

    /// `S - O^-1` in coordinates.
    fn gradient(&self, inverse: &Mat<f64>, out: &mut [f64]) {
        let s = self.covariance.matrix();
        for i in 0..self.variables() {
            // Row i of the lower triangle is the top of column i.
            let row = &mut out[coordinate(i, 0)..=coordinate(i, i)];
            for ((g, s), w) in row.iter_mut().zip(s.col_as_slice(i)).zip(inverse.col_as_slice(i)) {
                *g = unit(1, 0) * (s - w);
            }
            // At its bound the diagonal of a constant variable has nowhere to fall to.
            let stuck = self.is_constant(i) && inverse[(i, i)] * self.bounds.beta <= 1.0 + SLACK;
            row[i] = if stuck { 0.0 } else { s[(i, i)] - inverse[(i, i)] };
        }
    }
}

impl Objective for Precision {
    fn dim(&self) -> usize {
        dimension(self.variables())
    }

    fn free(&self) -> &[usize] {
        &self.free
    }

    fn at<'a>(&'a self, x: SparseRef<'_>) -> Result<Box<dyn Point + 'a>> {
        let (value, inverse) = self.value_and_inverse(x);
        Ok(Box::new(PrecisionPoint {
            model: self,
            value,
            hessian: LogDetHessian { inverse },
            gradient: OnceLock::new(),
        }))
    }

    fn value(&self, x: SparseRef) -> Result<f64> {
        Ok(self.evaluate(x, None))
    }

    fn profile(&self) -> Profile {
        let p = self.variables() as f64;
        let mut profile = Profile::of_gradients(self.dim());
        // A factor and an inverse, blocked.
        profile.gradient = p * p * p / 8.0 + p * p;
        profile.hessian = Some(BlockCost { column: 0.0, entry: 3.0 });
        profile
    }

    fn restrict<'a>(&'a self, support: &[usize]) -> Result<Box<dyn Restricted + 'a>> {
        Ok(Box::new(OnSupport::new(self, support)))
    }

    fn repair(&self, support: &[usize], x: &mut [f64]) -> Result<()> {
        OnSupport::new(self, support).repair(x);
        Ok(())
    }

    fn smoothness(&self, _s: usize) -> Result<Smoothness> {
        Ok(Smoothness::Bounded(self.bounds.alpha.powi(-2)))
    }
}

/// f and the inverse at one matrix.
struct PrecisionPoint<'a> {
    model: &'a Precision,
    value: f64,
    hessian: LogDetHessian,
    gradient: OnceLock<Vec<f64>>,
}

impl Point for PrecisionPoint<'_> {
    fn value(&self) -> f64 {
        self.value
    }

    fn gradient(&self) -> Result<&[f64]> {
        Ok(self.gradient.get_or_init(|| {
            let mut out = vec![0.0; self.model.dim()];
            self.model.gradient(&self.hessian.inverse, &mut out);
            out
        }))
    }

    /// None outside the cone or the bounds.
    fn hessian(&self) -> Result<Option<&dyn Hessian>> {
        Ok(self.value.is_finite().then_some(&self.hessian))
    }
}

/// `W (x) W` in coordinates.
struct LogDetHessian {
    inverse: Mat<f64>,
}

impl LogDetHessian {
    fn diagonal_entry(&self, (i, j): (usize, usize)) -> f64 {
        let w = &self.inverse;
        if i == j { w[(i, i)] * w[(i, i)] } else { w[(i, i)] * w[(j, j)] + w[(i, j)] * w[(i, j)] }
    }
}

impl Hessian for LogDetHessian {
    fn diagonal(&self, out: &mut [f64]) -> Result<()> {
        for i in 0..self.inverse.nrows() {
            (0..=i).for_each(|j| out[coordinate(i, j)] = self.diagonal_entry((i, j)));
        }
        Ok(())
    }

    fn diagonal_at(&self, coordinates: &[usize], out: &mut [f64]) -> Result<()> {
        out.iter_mut().zip(coordinates).for_each(|(o, &c)| *o = self.diagonal_entry(entry(c)));
        Ok(())
    }

    fn block(&self, left: &[usize], right: &[usize], mut out: MatrixMut<'_>) -> Result<()> {
        let w = &self.inverse;
        let left: Vec<(usize, usize)> = left.iter().map(|&c| entry(c)).collect();
        for (b, &c) in right.iter().enumerate() {
            let (k, l) = entry(c);
            let (of_k, of_l, scale) = (w.col_as_slice(k), w.col_as_slice(l), 0.5 * unit(k, l));
            for (o, &(i, j)) in out.col_mut(b).iter_mut().zip(&left) {
                *o = scale * unit(i, j) * (of_k[i] * of_l[j] + of_l[i] * of_k[j]);
            }
        }
        Ok(())
    }
}
