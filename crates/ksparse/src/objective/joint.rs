//! The risk of a loss of all predictions together: samples tied to each other (Cox), several outputs per sample.
//!
//! ```text
//! f(W) = L(X W + 1 b') + (lambda / 2) ||W||^2,      W: p x C
//! ```
//!
//! Coordinate `j C + c` is the coefficient of column j for output c, so that the rows of W, the groups of what is
//! selected, are neighbours; the intercepts b, where there are any, are the last C coordinates, free and unpenalised.
//! Columns that stand far from 0 are centred where an intercept takes that up or L does not feel it; the intercepts are
//! those of what was moved, in units of the largest column. [`JointRisk::models`] and [`JointRisk::start`] translate.

mod blocks;
mod on_support;
mod point;

use super::{BlockCost, LinearModel, Objective, Point, Profile};
use crate::design::{Design, Picked, Scaled, Traffic, WithIntercept};
use crate::error::{Error, Result, check_len, check_option};
use crate::loss::{JointLoss, JointPoint, Smoothness};
use crate::restricted::Restricted;
use crate::solver::Solution;
use crate::sparsity::{Partition, SparseRef};
use on_support::RestrictedJoint;
use point::{AtPoint, is_of_rows};
use std::sync::{Arc, OnceLock};

/// Plans take a gradient together with the curvatures of all columns, and where samples are tied to each other those
/// take sums over risk sets, or over classes, column by column: 11 to 39 times the two passes over the data they are
/// otherwise (1000 columns, 300 to 3000 rows).
const TIED: f64 = 20.0;

/// A joint loss of linear predictions plus a ridge, as an [`Objective`].
///
/// ```
/// use ksparse::{Auto, Solver, Sparsity, design::Dense, loss::{Cox, Survival}, objective::JointRisk};
/// let x = Dense::from_columns(4, 2, vec![2.0, 0.0, 3.0, 1.0, 1.0, 1.0, 0.0, 0.0])?;
/// let cox = Cox::new(&Survival::new(&[2.0, 4.0, 1.0, 3.0], &[true, true, true, false]))?;
/// let risk = JointRisk::new(&x, cox)?.with_ridge(0.1)?;
/// let model = risk.model(&Auto::default().fit(&risk, &Sparsity::new(1))?);
/// assert_eq!(model.support, [0]);
/// assert!(model.coefficients[0] > 0.0); // who has more of it leaves sooner
/// # Ok::<(), ksparse::Error>(())
/// ```
pub struct JointRisk<'a> {
    data: Arc<dyn Design + 'a>,
    /// X as it is worked with: centred, with a column of ones where there are intercepts.
    design: Arc<dyn Design + 'a>,
    /// What was subtracted from columns, by column, ascending; what the intercepts are multiplied by.
    moved: Arc<[(usize, f64)]>,
    unit: f64,
    loss: Arc<dyn JointLoss + 'a>,
    ridge: f64,
    free: Vec<usize>,
    squares: OnceLock<Vec<f64>>,
    at_zero: OnceLock<f64>,
}

impl<'a> JointRisk<'a> {
    /// The loss of the predictions of a design, no ridge, no intercepts.
    pub fn new(design: impl Design + 'a, loss: impl JointLoss + 'a) -> Result<Self> {
        Self::from_arcs(Arc::new(design), Arc::new(loss))
    }

    /// [`new`](Self::new) for a design and a loss chosen at run time.
    pub fn from_arcs(data: Arc<dyn Design + 'a>, loss: Arc<dyn JointLoss + 'a>) -> Result<Self> {
        if data.nrows() == 0 {
            return Err(Error::Data("the design has no rows".to_string()));
        }
        check_len("target", loss.samples(), data.nrows())?;
        let mut risk = Self {
            design: Arc::clone(&data),
            data,
            moved: Arc::from([]),
            unit: 1.0,
            loss,
            ridge: 0.0,
            free: Vec::new(),
            squares: OnceLock::new(),
            at_zero: OnceLock::new(),
        };
        if risk.loss.ignores_shifts() {
            risk.arrange();
        }
        Ok(risk)
    }

    /// With the ridge `lambda / 2 ||W||^2` (intercepts excepted).
    pub fn with_ridge(mut self, lambda: f64) -> Result<Self> {
        check_option(lambda >= 0.0 && lambda.is_finite(), "lambda", lambda, "non-negative and finite")?;
        self.ridge = lambda;
        Ok(self)
    }

    /// The same risk with another ridge, sharing everything else.
    pub fn reridged(&self, lambda: f64) -> Result<JointRisk<'a>> {
        self.same().with_ridge(lambda)
    }

    /// With an intercept for every output: the last coordinates, free and unpenalised. Of no use to a loss that does
    /// not feel it.
    pub fn with_intercept(mut self) -> Self {
        if self.free.is_empty() && !self.loss.ignores_shifts() {
            let (first, outputs) = (self.data.ncols() * self.loss.outputs(), self.loss.outputs());
            self.free = (first..first + outputs).collect();
            self.arrange();
        }
        self
    }

    fn arrange(&mut self) {
        let (near, size) = Scaled::centred(Arc::clone(&self.data), self.loss.shares());
        let centre = near.as_ref().map_or(&[][..], Scaled::centre);
        self.moved = centre.iter().copied().enumerate().filter(|(_, m)| *m != 0.0).collect();
        self.design = match near {
            Some(near) => Arc::new(near),
            None => Arc::clone(&self.data),
        };
        if !self.free.is_empty() {
            // A power of two: multiplying by it changes no digit.
            self.unit = if size > 0.0 && size.is_finite() { size.log2().round().exp2() } else { 1.0 };
            self.design = Arc::new(WithIntercept::in_units(Arc::clone(&self.design), self.unit));
        }
        (self.squares, self.at_zero) = (OnceLock::new(), OnceLock::new());
    }

    fn same(&self) -> JointRisk<'a> {
        JointRisk {
            data: Arc::clone(&self.data),
            design: Arc::clone(&self.design),
            moved: Arc::clone(&self.moved),
            unit: self.unit,
            loss: Arc::clone(&self.loss),
            ridge: self.ridge,
            free: self.free.clone(),
            squares: self.squares.clone(),
            at_zero: self.at_zero.clone(),
        }
    }

    /// The risk over some columns of the design.
    fn over(&self, columns: Vec<usize>) -> JointRisk<'_> {
        let outputs = self.outputs();
        let at = |free: &usize| columns.binary_search(&(free / outputs)).ok().map(|at| at * outputs + free % outputs);
        let free = self.free.iter().filter_map(at).collect();
        let design: Arc<dyn Design + '_> = Arc::new(Picked::new(&*self.design, columns));
        JointRisk {
            data: Arc::clone(&design),
            design,
            moved: Arc::from([]),
            unit: self.unit,
            loss: Arc::clone(&self.loss) as Arc<dyn JointLoss + '_>,
            ridge: self.ridge,
            free,
            squares: OnceLock::new(),
            at_zero: self.at_zero.clone(),
        }
    }

    /// The loss.
    pub fn loss(&self) -> &dyn JointLoss {
        &*self.loss
    }

    /// lambda.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// C, the predictions per sample.
    pub fn outputs(&self) -> usize {
        self.loss.outputs()
    }

    /// Number of columns of the data.
    pub fn features(&self) -> usize {
        self.data.ncols()
    }

    /// The coefficients of a column as a group: what k is to count where there are several outputs.
    pub fn groups(&self) -> Partition {
        let outputs = self.outputs();
        let labels: Vec<usize> = (0..self.features() * outputs).map(|at| at / outputs).collect();
        Partition::of_labels(&labels)
    }

    /// The solution as a model for each output, all over the same columns.
    pub fn models(&self, solution: &Solution) -> Vec<LinearModel> {
        let outputs = self.outputs();
        let mut support: Vec<usize> = solution.support.iter().map(|at| at / outputs).collect();
        support.retain(|&j| j < self.features());
        support.dedup();
        let empty = LinearModel { coefficients: vec![0.0; support.len()], support, intercept: 0.0 };
        let mut models = vec![empty; outputs];
        for (&at, &value) in solution.support.iter().zip(&solution.coefficients) {
            let (j, model) = (at / outputs, &mut models[at % outputs]);
            match model.support.binary_search(&j) {
                Ok(place) => {
                    model.coefficients[place] = value;
                    model.intercept -= value * self.shift(j);
                }
                Err(_) => model.intercept += value * self.unit,
            }
        }
        if self.free.is_empty() {
            models.iter_mut().for_each(|model| model.intercept = 0.0);
        }
        models
    }

    /// The model of the first output: all there is to a loss of one.
    pub fn model(&self, solution: &Solution) -> LinearModel {
        self.models(solution).swap_remove(0)
    }

    /// Models as a point of this risk.
    pub fn start(&self, models: &[LinearModel]) -> Solution {
        let outputs = self.outputs();
        let mut entries: Vec<(usize, f64)> = Vec::new();
        for (c, model) in models.iter().enumerate() {
            let pairs = model.support.iter().zip(&model.coefficients);
            entries.extend(pairs.clone().map(|(&j, &value)| (j * outputs + c, value)));
            if let Some(&free) = self.free.get(c) {
                let moved: f64 = pairs.map(|(&j, value)| value * self.shift(j)).sum();
                entries.push((free, (model.intercept + moved) / self.unit));
            }
        }
        entries.sort_unstable_by_key(|entry| entry.0);
        let (support, coefficients) = entries.into_iter().unzip();
        Solution::guess(support, coefficients)
    }

    /// What was subtracted from column j.
    fn shift(&self, j: usize) -> f64 {
        self.moved.binary_search_by_key(&j, |moved| moved.0).map_or(0.0, |at| self.moved[at].1)
    }

    /// The predictions at x, sample by sample.
    fn predictions(&self, x: SparseRef) -> Vec<f64> {
        let mut z = vec![0.0; self.design.nrows() * self.outputs()];
        RestrictedJoint::new(self, x.indices).mul(x.values, &mut z);
        z
    }

    /// lambda for a coordinate.
    fn ridge_at(&self, coordinate: usize) -> f64 {
        if self.free.binary_search(&coordinate).is_ok() { 0.0 } else { self.ridge }
    }

    fn penalty(&self, x: SparseRef) -> f64 {
        0.5 * x.iter().map(|(j, v)| self.ridge_at(j) * v * v).sum::<f64>()
    }

    /// f(0), computed once: the size of f.
    fn value_at_zero(&self) -> f64 {
        *self.at_zero.get_or_init(|| self.loss.at(&self.nothing()).value())
    }

    /// Predictions of 0 for every sample.
    pub(crate) fn nothing(&self) -> Vec<f64> {
        vec![0.0; self.design.nrows() * self.outputs()]
    }

    /// The mean curvature of the loss for every output, what ties samples left aside.
    pub(crate) fn mean_curvatures(&self, here: &dyn JointPoint) -> Vec<f64> {
        let outputs = self.outputs();
        let mut means = vec![0.0; outputs];
        for of_sample in here.own_weights(self.design.nrows(), outputs).chunks(outputs) {
            means.iter_mut().zip(of_sample).for_each(|(mean, weight)| *mean += weight);
        }
        means
    }

    /// The mean square of every column.
    pub(crate) fn weighted_squares(&self) -> &[f64] {
        self.squares.get_or_init(|| {
            let mut out = vec![0.0; self.design.ncols()];
            self.design.squares(self.loss.shares(), &mut out);
            out
        })
    }
}

impl Objective for JointRisk<'_> {
    fn dim(&self) -> usize {
        self.design.ncols() * self.outputs()
    }

    fn free(&self) -> &[usize] {
        &self.free
    }

    fn at<'b>(&'b self, x: SparseRef<'_>) -> Result<Box<dyn Point + 'b>> {
        Ok(Box::new(AtPoint::new(self, x)?))
    }

    fn profile(&self) -> Profile {
        let mut profile = Profile::of_gradients(self.dim());
        profile.quadratic = self.loss.is_quadratic();
        profile.outputs = if profile.quadratic { self.outputs() } else { 1 };
        let outputs = self.outputs() as f64;
        let tied = if self.loss.ties_samples() { TIED } else { 1.0 };
        profile.gradient = self.design.cost() * outputs * tied;
        let column = tied * self.design.cost() / self.design.ncols().max(1) as f64;
        profile.hessian = Some(BlockCost { column, entry: column / 6.0 });
        profile
    }

    fn restrict<'b>(&'b self, support: &[usize]) -> Result<Box<dyn Restricted + 'b>> {
        let restricted = RestrictedJoint::new(self, support);
        self.design.health()?;
        Ok(Box::new(restricted))
    }

    fn traffic(&self) -> Option<Traffic> {
        self.design.traffic()
    }

    fn narrowed<'b>(&'b self, coordinates: &[usize]) -> Result<Option<Box<dyn Objective + 'b>>> {
        let outputs = self.outputs();
        let rows = is_of_rows(coordinates, outputs);
        let columns = coordinates.iter().step_by(outputs).map(|at| at / outputs).collect();
        Ok(if rows { Some(Box::new(self.over(columns))) } else { None })
    }

    fn majorant(&self) -> Result<Option<Vec<f64>>> {
        let Some(bound) = self.loss.curvature_bound() else { return Ok(None) };
        let (squares, outputs) = (self.weighted_squares(), self.outputs());
        self.design.health()?;
        Ok(Some((0..self.dim()).map(|at| bound * squares[at / outputs] + self.ridge_at(at)).collect()))
    }

    fn smoothness(&self, _: usize) -> Result<Smoothness> {
        let Some(bound) = self.loss.curvature_bound() else { return Ok(Smoothness::Unbounded) };
        let spectrum = crate::theory::largest_gram_eigenvalue(&*self.design, self.loss.shares());
        self.design.health()?;
        // What outputs do to each other at most doubles what each does to itself.
        Ok(Smoothness::Bounded(2.0 * bound * spectrum + self.ridge))
    }
}
