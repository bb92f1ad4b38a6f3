//! The risk of a joint loss on a fixed support.

use super::JointRisk;
use super::blocks::Shared;
use super::point::reduced;
use crate::design::Columns;
use crate::error::Result;
use crate::kernels::dot;
use crate::linalg::{Cholesky, MatrixMut};
use crate::loss::JointPoint;
use crate::restricted::{
    Ended, Form, InnerOptions, Line, Outcome, Preconditioner, Probe, Restricted, Second, SupportHessian,
};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Mat, Par};
use std::borrow::Cow;

/// Pairs of products that a Newton step takes, and that factors may spare.
const SPARED: f64 = 10.0;

/// Products after which factors are made anew at the point reached: about what they cost. Kept for a whole refit they
/// belong to its start, where newcomers are 0: up to 1,800 products of a refit at k = 100 on 20 Newsgroups, and on
/// Isolet (k = 30, lambda 1e-5) 35,000 in a fit instead of 19,000.
const WORN: usize = 15;

/// The share of a column's entries that must be there for factors. Sparser ones have few rows in common, so that the
/// blocks are nearly diagonal and factors spare nothing: the diagonal takes 5 to 50 products a step on 20 Newsgroups,
/// hundreds on Isolet.
const FILLED: f64 = 0.5;

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
    /// What conjugate gradients are helped by on this support, once asked for.
    shared: Option<Shared>,
    /// Products since then.
    products: usize,
    /// For products to write to.
    between: [Vec<f64>; 2],
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
            shared: None,
            products: 0,
            between: Default::default(),
        }
    }

    /// Numbers for the coordinates as rows of numbers for all outputs of every column.
    fn rows<'x>(&self, x: &'x [f64]) -> Cow<'x, [f64]> {
        let outputs = self.risk.outputs();
        if x.len() == self.features.len() * outputs {
            return Cow::Borrowed(x);
        }
        let mut rows = vec![0.0; self.features.len() * outputs];
        self.places.iter().zip(x).for_each(|((place, output), x)| rows[place * outputs + output] = *x);
        Cow::Owned(rows)
    }

    /// `A x`, sample by sample.
    pub fn mul(&self, x: &[f64], out: &mut [f64]) {
        self.columns.mul_outputs(&self.rows(x), self.risk.outputs(), out);
    }

    /// `A' r` plus the ridge times x.
    fn gradient(&self, r: &[f64], x: &[f64], out: &mut [f64]) {
        let outputs = self.risk.outputs();
        if out.len() == self.features.len() * outputs {
            self.columns.tmul_outputs(r, outputs, out);
        } else {
            let mut rows = vec![0.0; self.features.len() * outputs];
            self.columns.tmul_outputs(r, outputs, &mut rows);
            let of = out.iter_mut().zip(&self.places);
            of.for_each(|(out, (place, output))| *out = rows[place * outputs + output]);
        }
        out.iter_mut().zip(x).zip(&self.ridge).for_each(|((out, x), ridge)| *out += ridge * x);
    }

    /// The work of a factor for one output.
    fn factors(&self) -> f64 {
        self.columns.costs().gram + (self.features.len() as f64).powi(3) / 18.0
    }

    /// Whether factors spare more than they cost.
    fn factors_help(&self) -> bool {
        let product = self.columns.costs().product;
        let filled = product >= FILLED * (self.risk.design.nrows() * self.features.len()) as f64;
        filled && self.factors() <= 2.0 * SPARED * product
    }

    fn penalty(&self, x: &[f64]) -> f64 {
        0.5 * x.iter().zip(&self.ridge).map(|(x, ridge)| ridge * x * x).sum::<f64>()
    }

    /// Lets what helped conjugate gradients go where it is no longer worth its place: a new diagonal costs half a
    /// product, factors many.
    fn outgrow(&mut self) {
        let Some(shared) = &self.shared else { return };
        if !shared.has_factors() || self.products > WORN {
            self.shared = None;
        }
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
        (self.features, self.places, self.here, self.shared) = (features, places, None, None);
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
        self.outgrow();
        self.risk.design.health()?;
        Ok(value)
    }

    fn second(&mut self) -> Second<'_> {
        let (k, outputs) = (self.places.len() as f64, self.risk.outputs() as f64);
        let costs = self.columns.costs();
        let rank = self.here.as_ref().map_or(0, |here| here.rank()) as f64;
        let matrix = costs.gram * outputs * (outputs + 1.0) / 2.0 + rank * k * k / 12.0 + k * k * k / 18.0;
        // A Newton step by conjugate gradients takes some ten pairs of products.
        let pairs = 2.0 * SPARED * outputs * costs.product;
        let helped = self.risk.loss.ignores_what_outputs_share() && self.factors_help();
        let products = if helped { outputs * self.factors() + 0.5 * pairs } else { pairs };
        if matrix <= products { Second::Matrix(self) } else { Second::Products(self) }
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

    fn product_cost(&self) -> Option<f64> {
        Some(2.0 * self.columns.costs().product * self.risk.outputs() as f64)
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
        self.products += 1;
        let [mut turn, mut bend] = std::mem::take(&mut self.between);
        turn.resize(self.z.len(), 0.0);
        bend.resize(self.z.len(), 0.0);
        self.mul(v, &mut turn);
        self.settled().product(&turn, &mut bend);
        self.gradient(&bend, v, out);
        self.between = [turn, bend];
        self.risk.design.health()
    }

    fn diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        self.settled();
        let Self { risk, features, places, columns, ridge, here, .. } = self;
        let Some(here) = here.as_deref() else { return Ok(()) };
        let outputs = risk.outputs();
        let mut squares = vec![0.0; features.len() * outputs];
        columns.squares_outputs(&here.own_weights(risk.design.nrows(), outputs), outputs, &mut squares);
        if here.rank() > 0 {
            let reduced = reduced(risk, here, features);
            squares.iter_mut().zip(reduced.col_iter()).for_each(|(s, r)| *s = (*s - r.squared_norm_l2()).max(0.0));
        }
        for ((out, (place, output)), ridge) in out.iter_mut().zip(places).zip(ridge) {
            *out = squares[*place * outputs + *output] + *ridge;
        }
        risk.design.health()
    }

    /// The mean curvature of every output times the mean square of the column: no pass over the data.
    fn rough_diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        self.settled();
        let Some(here) = self.here.as_deref() else { return Ok(()) };
        let (means, squares) = (self.risk.mean_curvatures(here), self.risk.weighted_squares());
        for ((out, (place, output)), ridge) in out.iter_mut().zip(&self.places).zip(&self.ridge) {
            *out = means[*output] * squares[self.features[*place]] + ridge;
        }
        self.risk.design.health()
    }

    fn preconditioner(&mut self) -> Option<&mut dyn Preconditioner> {
        let (outputs, features) = (self.risk.outputs(), self.features.len());
        let whole = self.places.len() == outputs * features;
        if !whole || !self.risk.loss.ignores_what_outputs_share() {
            return None;
        }
        if self.shared.is_none() {
            let shared = if self.factors_help() {
                self.settled();
                let Self { columns, ridge, here, .. } = self;
                Shared::blocks(&mut **columns, here.as_deref()?, ridge, outputs)
            } else {
                let mut diagonal = vec![0.0; self.places.len()];
                self.diagonal(&mut diagonal).ok()?;
                Shared::diagonal(diagonal, &self.ridge, outputs)
            };
            (self.shared, self.products) = (Some(shared), 0);
        }
        self.shared.as_mut().map(|shared| shared as &mut dyn Preconditioner)
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
