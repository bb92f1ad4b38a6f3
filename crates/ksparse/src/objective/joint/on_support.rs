//! The risk of a joint loss on a fixed support.

use super::JointRisk;
use super::point::reduced;
use crate::design::Columns;
use crate::error::Result;
use crate::kernels::dot;
use crate::linalg::{Cholesky, MatrixMut};
use crate::loss::JointPoint;
use crate::restricted::{Ended, Form, InnerOptions, Line, Outcome, Probe, Restricted, Second, SupportHessian};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Mat, Par};

/// f on some coordinates, which may be all outputs of a column or some of them.
pub(super) struct RestrictedJoint<'a> {
    risk: &'a JointRisk<'a>,
    /// The columns they belong to, ascending, and the place of every coordinate: its column among these, its output.
    features: Vec<usize>,
    places: Vec<(usize, usize)>,
    columns: Box<dyn Columns + 'a>,
    ridge: Vec<f64>,
    /// The predictions where it was last moved to, and the loss there.
    z: Vec<f64>,
    here: Option<Box<dyn JointPoint + 'a>>,
}

/// The columns of some coordinates, and where each coordinate stands.
fn placed(support: &[usize], outputs: usize) -> (Vec<usize>, Vec<(usize, usize)>) {
    let mut features: Vec<usize> = support.iter().map(|at| at / outputs).collect();
    features.sort_unstable();
    features.dedup();
    let place = |at: &usize| (features.partition_point(|j| *j < at / outputs), at % outputs);
    let places = support.iter().map(place).collect();
    (features, places)
}

impl<'a> RestrictedJoint<'a> {
    pub fn new(risk: &'a JointRisk<'a>, support: &[usize]) -> Self {
        let (features, places) = placed(support, risk.outputs());
        Self {
            risk,
            columns: risk.design.gather(&features),
            features,
            places,
            ridge: support.iter().map(|&at| risk.ridge_at(at)).collect(),
            z: vec![0.0; risk.design.nrows() * risk.outputs()],
            here: None,
        }
    }

    /// `A x`, output by output.
    fn mul(&self, x: &[f64], out: &mut [f64]) {
        let n = self.risk.design.nrows();
        let mut part = vec![0.0; self.features.len()];
        for (c, out) in out.chunks_mut(n).enumerate() {
            part.fill(0.0);
            let of = self.places.iter().zip(x).filter(|((_, output), _)| *output == c);
            of.for_each(|((place, _), x)| part[*place] = *x);
            self.columns.mul(&part, out);
        }
    }

    /// `A' r` plus the ridge times x.
    fn gradient(&self, r: &[f64], x: &[f64], out: &mut [f64]) {
        let n = self.risk.design.nrows();
        let mut part = vec![0.0; self.features.len()];
        for (c, r) in r.chunks(n).enumerate() {
            self.columns.tmul(r, &mut part);
            for (((place, output), out), (x, ridge)) in
                self.places.iter().zip(out.iter_mut()).zip(x.iter().zip(&self.ridge))
            {
                if *output == c {
                    *out = part[*place] + ridge * x;
                }
            }
        }
    }

    fn penalty(&self, x: &[f64]) -> f64 {
        0.5 * x.iter().zip(&self.ridge).map(|(x, ridge)| ridge * x * x).sum::<f64>()
    }

    /// The loss where it was last moved to; at 0 before.
    fn settled(&mut self) -> &dyn JointPoint {
        let (risk, z) = (self.risk, &self.z);
        &**self.here.get_or_insert_with(|| risk.loss.at(z))
    }
}

impl Restricted for RestrictedJoint<'_> {
    fn dim(&self) -> usize {
        self.places.len()
    }

    fn change(&mut self, support: &[usize]) -> Result<bool> {
        let (features, places) = placed(support, self.risk.outputs());
        if !self.columns.change(&features) {
            return Ok(false);
        }
        (self.features, self.places, self.here) = (features, places, None);
        self.ridge = support.iter().map(|&at| self.risk.ridge_at(at)).collect();
        self.risk.design.health()?;
        Ok(true)
    }

    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let mut z = std::mem::take(&mut self.z);
        self.mul(x, &mut z);
        let here = self.risk.loss.at(&z);
        self.z = z;
        self.gradient(here.derivatives(), x, gradient);
        let value = here.value() + self.penalty(x);
        self.here = Some(here);
        self.risk.design.health()?;
        Ok(value)
    }

    fn second(&mut self) -> Second<'_> {
        let (k, outputs) = (self.places.len() as f64, self.risk.outputs() as f64);
        let costs = self.columns.costs();
        let rank = self.here.as_ref().map_or(0, |here| here.rank()) as f64;
        let matrix = costs.gram * outputs * (outputs + 1.0) / 2.0 + rank * k * k / 12.0 + k * k * k / 18.0;
        // A Newton step by conjugate gradients takes some ten pairs of products.
        if matrix <= 20.0 * outputs * costs.product { Second::Matrix(self) } else { Second::Products(self) }
    }

    fn line<'b>(&'b mut self, x: &[f64], direction: &[f64]) -> Result<Box<dyn Line + 'b>> {
        let mut turn = vec![0.0; self.z.len()];
        self.mul(direction, &mut turn);
        self.risk.design.health()?;
        let there = vec![0.0; self.z.len()];
        Ok(Box::new(JointLine { f: self, x: x.to_vec(), direction: direction.to_vec(), turn, there }))
    }

    /// Least squares for several outputs: one factor of one matrix solves for all of them.
    fn minimise(&mut self, x: &mut [f64], options: &InnerOptions) -> Result<Option<Outcome>> {
        let (outputs, features) = (self.risk.outputs(), self.features.len());
        if !self.risk.loss.is_quadratic() || outputs == 1 || self.places.len() != outputs * features {
            return Ok(None);
        }
        options.cancel.ask()?;
        let mut gradient = vec![0.0; x.len()];
        let mut value = self.move_to(x, &mut gradient)?;
        let mut matrix = Mat::zeros(features, features);
        self.columns.gram(self.risk.loss.shares(), MatrixMut::over(&mut matrix));
        (0..features).for_each(|a| matrix[(a, a)] += self.ridge[a * outputs]);
        let factor = Cholesky::new(matrix, None);
        // The second step only mends what the first lost to rounding.
        for _ in 0..2 {
            let before = x.to_vec();
            for c in 0..outputs {
                let mut step: Vec<f64> = gradient.iter().skip(c).step_by(outputs).copied().collect();
                factor.solve(&mut step);
                x.iter_mut().skip(c).step_by(outputs).zip(&step).for_each(|(x, step)| *x -= step);
            }
            let reached = self.move_to(x, &mut gradient)?;
            if reached >= value || reached.is_nan() {
                x.copy_from_slice(&before);
                break;
            }
            value = reached;
        }
        let ended = if value.is_finite() { Ended::Converged } else { Ended::NotFinite };
        Ok(Some(Outcome { value, iterations: 1, ended }))
    }

    fn form(&self) -> Form {
        Form {
            quadratic: self.risk.loss.is_quadratic(),
            tail: !self.risk.loss.is_quadratic() && self.risk.ridge == 0.0,
            jumps: false,
            size: self.risk.value_at_zero(),
        }
    }
}

impl SupportHessian for RestrictedJoint<'_> {
    fn matrix(&mut self, mut out: MatrixMut<'_>) -> Result<()> {
        let k = self.places.len();
        self.settled();
        let Self { risk, features, places, columns, ridge, here, .. } = self;
        let Some(here) = here.as_deref() else { return Ok(()) };
        (0..k).for_each(|b| out.col_mut(b).fill(0.0));
        let mut part = Mat::zeros(features.len(), features.len());
        for c in 0..risk.outputs() {
            for d in 0..=c {
                let Some((sign, weights)) = here.weights(c, d) else { continue };
                columns.gram(&weights, MatrixMut::over(&mut part));
                for (b, &(right, output)) in places.iter().enumerate() {
                    for (a, &(left, other)) in places.iter().enumerate().skip(b) {
                        if (other, output) == (c, d) || (other, output) == (d, c) {
                            out[(a, b)] = sign * part[(left.max(right), left.min(right))];
                        }
                    }
                }
            }
        }
        if here.rank() > 0 {
            let reduced = reduced(risk, here, features);
            matmul(
                out.reborrow().faer(),
                BlockStructure::TriangularLower,
                Accum::Add,
                reduced.transpose(),
                BlockStructure::Rectangular,
                &reduced,
                BlockStructure::Rectangular,
                -1.0,
                Par::Seq,
            );
        }
        ridge.iter().enumerate().for_each(|(a, ridge)| out[(a, a)] += ridge);
        risk.design.health()
    }

    fn product(&mut self, v: &[f64], out: &mut [f64]) -> Result<()> {
        let mut turn = vec![0.0; self.z.len()];
        self.mul(v, &mut turn);
        let mut bend = vec![0.0; self.z.len()];
        self.settled().product(&turn, &mut bend);
        self.gradient(&bend, v, out);
        self.risk.design.health()
    }

    fn diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        self.settled();
        let Self { risk, features, places, columns, ridge, here, .. } = self;
        let Some(here) = here.as_deref() else { return Ok(()) };
        let mut squares = vec![0.0; features.len()];
        for c in 0..risk.outputs() {
            let Some((_, weights)) = here.weights(c, c) else { continue };
            columns.squares(&weights, &mut squares);
            if here.rank() > 0 {
                let reduced = reduced(risk, here, features);
                squares.iter_mut().zip(reduced.col_iter()).for_each(|(s, r)| *s = (*s - r.squared_norm_l2()).max(0.0));
            }
            for ((out, (place, output)), ridge) in out.iter_mut().zip(places.iter()).zip(ridge.iter()) {
                if *output == c {
                    *out = squares[*place] + ridge;
                }
            }
        }
        risk.design.health()
    }

    fn majorant(&mut self, out: &mut [f64]) -> Result<()> {
        let Some(bound) = self.risk.loss.curvature_bound() else { return self.diagonal(out) };
        let squares = self.risk.weighted_squares();
        for ((out, (place, _)), ridge) in out.iter_mut().zip(&self.places).zip(&self.ridge) {
            *out = bound * squares[self.features[*place]] + ridge;
        }
        self.risk.design.health()
    }
}

/// f along a line: the predictions turn with it, so that a probe costs no pass over the data.
struct JointLine<'r, 'a> {
    f: &'r mut RestrictedJoint<'a>,
    x: Vec<f64>,
    direction: Vec<f64>,
    /// `A direction`, and the predictions of the last probe.
    turn: Vec<f64>,
    there: Vec<f64>,
}

impl JointLine<'_, '_> {
    fn point(&self, step: f64) -> Vec<f64> {
        self.x.iter().zip(&self.direction).map(|(x, d)| x + step * d).collect()
    }
}

impl Line for JointLine<'_, '_> {
    fn probe(&mut self, step: f64) -> Result<Probe> {
        self.there.iter_mut().zip(&self.f.z).zip(&self.turn).for_each(|((there, z), turn)| *there = z + step * turn);
        let loss = self.f.risk.loss.at(&self.there);
        let point = self.point(step);
        let bend: f64 = point.iter().zip(&self.f.ridge).zip(&self.direction).map(|((x, r), d)| r * x * d).sum();
        let probe =
            Probe { value: loss.value() + self.f.penalty(&point), slope: dot(loss.derivatives(), &self.turn) + bend };
        Ok(probe)
    }

    fn settle(self: Box<Self>, step: f64, gradient: &mut [f64]) -> Result<f64> {
        let point = self.point(step);
        self.f.move_to(&point, gradient)
    }

    fn back(self: Box<Self>) -> Result<()> {
        Ok(()) // probes leave the point alone
    }
}
