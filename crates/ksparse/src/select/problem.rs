//! A learning problem before it is split: what every fold has in common.

use super::scaling::Scaling;
use super::{Deal, Folds};
use crate::design::{Design, Rows};
use crate::error::{Error, Result, check_finite, check_len, check_option};
use crate::loss::{Loss, TargetKind};
use crate::objective::{Bounds, Boxed, LinearModel, Objective, Risk, Total, Totalled};
use crate::solver::{Progress, Solution, Solver};
use crate::sparsity::{Partition, Sparsity};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Data, loss and preparation, from which the risk on any subset of the rows is built.
///
/// ```
/// use ksparse::{design::Dense, loss::Squared, select::Problem};
/// let x = Dense::from_columns(3, 1, vec![1.0, 2.0, 3.0])?;
/// let loss = Squared::default();
/// let problem = Problem { standardize: true, ..Problem::new(&x, &[1.0, 2.0, 3.0], &loss) };
/// let training = problem.on_rows(vec![0, 1])?; // means and deviations of these two rows only
/// assert_eq!(training.risk.target(), [1.0, 2.0]);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// X, one row per sample.
    pub design: &'a dyn Design,
    /// y.
    pub target: &'a [f64],
    /// l(z, y).
    pub loss: &'a dyn Loss,
    /// Sample weights. Default none: all 1.
    pub weights: Option<&'a [f64]>,
    /// What is added to every prediction (the logarithm of an exposure, say). Default none.
    pub offset: Option<&'a [f64]>,
    /// Whether to fit an intercept. Default true.
    pub intercept: bool,
    /// Whether to centre the columns and divide them by their standard deviation, both computed **on the rows trained
    /// on**, so that nothing about the held-out rows leaks into a fit. Models come back in the original units. Default
    /// false.
    pub standardize: bool,
    /// What the ridge on the coefficient of each column is multiplied by: positive numbers. Default none: all 1.
    pub penalty_factors: Option<&'a [f64]>,
    /// Columns that are in or out together, of which k counts the groups. Default none.
    pub groups: Option<&'a Partition>,
    /// What the coefficients of the columns may be. Default anything.
    pub bounds: Option<&'a Bounds>,
    /// What the coefficients of the columns add up to. Default anything.
    pub total: Option<f64>,
}

impl<'a> Problem<'a> {
    /// A problem with an intercept, unweighted, columns as they are.
    pub fn new(design: &'a dyn Design, target: &'a [f64], loss: &'a dyn Loss) -> Self {
        Self {
            design,
            target,
            loss,
            weights: None,
            offset: None,
            intercept: true,
            standardize: false,
            penalty_factors: None,
            groups: None,
            bounds: None,
            total: None,
        }
    }

    /// The constraint for k columns, or groups of them, beside those kept.
    pub fn sparsity(&self, k: usize, keep: &[usize]) -> Sparsity {
        Sparsity { groups: self.groups.cloned().map(Arc::new), ..Sparsity::new(k).keep(keep.iter().copied()) }
    }

    /// How many columns, or groups of them, there are beside those kept: what k can be.
    pub fn units(&self, keep: &[usize]) -> usize {
        units(self.design.ncols(), self.groups, keep)
    }

    /// `Err` when shapes or targets do not fit together.
    pub fn validate(&self) -> Result<()> {
        check_len("target", self.target.len(), self.design.nrows())?;
        if let Some(weights) = self.weights {
            check_len("weights", weights.len(), self.target.len())?;
            check_finite("weights", weights)?;
            check_option(weights.iter().all(|w| *w >= 0.0), "weights", "negative somewhere", "non-negative")?;
        }
        if let Some(offset) = self.offset {
            check_len("offset", offset.len(), self.target.len())?;
            check_finite("offset", offset)?;
        }
        self.loss.check_target(self.target)
    }

    /// `Err` where the squares of a column overflow, or those of a column or of the target are too small to be told
    /// from zero: such a column would pass for an empty one.
    fn check_units(&self) -> Result<()> {
        const SMALLEST: f64 = f64::MIN_POSITIVE / f64::EPSILON;
        const LARGEST: f64 = 1e150;
        let remedy = "too small to be squared: multiply it by a power of ten";
        let largest = self.target.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
        if self.loss.target() == TargetKind::Real && largest > 0.0 && largest * largest < SMALLEST {
            return Err(Error::Data(format!("the target, at most {largest:e} in size, is {remedy}")));
        }
        let ones = vec![1.0; self.design.nrows()];
        let mut sums = vec![0.0; self.design.ncols()];
        self.design.tmul(&ones, &mut sums);
        // An empty column sums up to nothing at all; few columns to next to nothing.
        let small = SMALLEST.sqrt() * self.design.nrows() as f64;
        // What is not finite is told as such elsewhere.
        let suspicious = |sum: f64| sum != 0.0 && sum.is_finite() && !(small..LARGEST).contains(&sum.abs());
        let suspects: Vec<usize> = (0..sums.len()).filter(|&j| suspicious(sums[j])).collect();
        let mut squares = vec![0.0; suspects.len()];
        self.design.squares_at(&ones, &suspects, &mut squares);
        self.design.health()?;
        match suspects.iter().zip(squares).find(|(_, square)| *square < SMALLEST || !square.is_finite()) {
            Some((&column, square)) if square < SMALLEST => Err(Error::Column { column, problem: remedy }),
            Some((&column, _)) => {
                Err(Error::Column { column, problem: "too large to be squared: divide it by a power of ten" })
            }
            None => Ok(()),
        }
    }

    /// Folds, with even shares of both classes where the target is one of labels.
    pub fn folds(&self, deal: impl Into<Deal>, seed: u64) -> Result<Folds> {
        let labels = (self.loss.target() == TargetKind::Sign).then_some(self.target);
        deal.into().out(self.target.len(), labels, seed)
    }

    /// The risk on all rows.
    pub fn on_all_rows(&self) -> Result<Training<'a>> {
        self.validate()?;
        self.check_units()?;
        self.train(Box::new(self.design), Cow::Borrowed(self.target), self.weights, self.offset)
    }

    /// The risk on some rows; the design is viewed, not copied.
    pub fn on_rows(&self, rows: Vec<usize>) -> Result<Training<'a>> {
        self.validate()?;
        let design = Rows::new(self.design, rows)?;
        let target = pick(self.target, design.rows());
        let weights = self.weights.map(|w| pick(w, design.rows()));
        let offset = self.offset.map(|o| pick(o, design.rows()));
        self.train(Box::new(design), Cow::Owned(target), weights.as_deref(), offset.as_deref())
    }

    fn train(
        &self,
        design: Box<dyn Design + 'a>,
        target: Cow<'a, [f64]>,
        weights: Option<&[f64]>,
        offset: Option<&[f64]>,
    ) -> Result<Training<'a>> {
        if weights.is_some_and(|w| w.iter().sum::<f64>() <= 0.0) {
            return Err(Error::Data("the rows to train on weigh nothing".to_string()));
        }
        let (design, scaling) = Scaling::of(design, weights, self.standardize, self.penalty_factors)?;
        let mut risk = Risk::from_boxes(design, target, Box::new(self.loss))?;
        if let Some(weights) = weights {
            risk = risk.with_weights(weights)?;
        }
        if let Some(offset) = offset {
            risk = risk.with_offset(offset)?;
        }
        if self.intercept {
            risk = risk.with_intercept();
        }
        let bounds = Scaling::bounds(scaling.as_ref(), self.bounds)?;
        let total = self.total.map(|total| {
            let weight = |j: usize| scaling.as_ref().map_or(1.0, |scaling| 1.0 / scaling.scale(j));
            Total::new((0..self.design.ncols()).map(weight).collect(), total)
        });
        Ok(Training { risk, scaling, bounds, total: total.transpose()? })
    }

    /// The linear predictor of `model` for some rows of the design, offsets included.
    pub fn predict(&self, model: &LinearModel, rows: &[usize]) -> Result<Vec<f64>> {
        let mut z = model.predict(self.design)?;
        z.iter_mut().zip(self.offset.unwrap_or_default()).for_each(|(z, o)| *z += o);
        Ok(pick(&z, rows))
    }
}

/// A [`Problem`] made concrete on some rows.
pub struct Training<'a> {
    /// The risk to minimise, without a ridge.
    pub risk: Risk<'a>,
    scaling: Option<Scaling>,
    /// In the units of the risk.
    bounds: Option<Bounds>,
    total: Option<Total>,
}

impl Training<'_> {
    /// The best model of a size under a ridge, within the bounds and with the sum of the problem. `start` and `watch`
    /// are the solver's.
    pub fn solve(
        &self,
        lambda: f64,
        solver: &dyn Solver,
        sparsity: &Sparsity,
        start: Option<&Solution>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution> {
        let Some(total) = &self.total else {
            return solver.solve(&*self.objective(lambda)?, sparsity, start, watch);
        };
        total.solve(&self.risk.reridged(lambda)?, self.bounds.as_ref(), sparsity, solver, start, watch)
    }

    /// What to minimise: the risk with this ridge, within the bounds and with the sum of the problem. Where there is a
    /// sum, this is for paths and choices, and [`solve`](Self::solve) for a single fit.
    pub fn objective(&self, lambda: f64) -> Result<Box<dyn Objective + '_>> {
        let risk = Box::new(self.risk.reridged(lambda)?);
        match &self.total {
            Some(total) => Ok(Box::new(Totalled::owning(risk, total, self.bounds.as_ref())?)),
            None => within(risk, self.bounds.as_ref()),
        }
    }

    /// The smallest k that there is a model of: with a given sum some columns must be in. `Err` where bounds leave no
    /// model.
    pub fn least_k(&self, sparsity: &Sparsity) -> Result<usize> {
        self.objective(0.0)?.least_k(sparsity)
    }

    /// Whether coefficients have bounds.
    pub fn bounded(&self) -> bool {
        self.bounds.is_some()
    }

    /// The coordinates of a solution that a bound holds back, ascending; `None` where there are no bounds.
    pub fn held_back(&self, lambda: f64, solution: &Solution) -> Result<Option<Vec<usize>>> {
        let Some(bounds) = &self.bounds else { return Ok(None) };
        let risk = self.risk.reridged(lambda)?;
        if let Some(total) = &self.total {
            return Totalled::new(&risk, total, Some(bounds))?.held_back(solution).map(Some);
        }
        Boxed::new(&risk, bounds.clone())?.held_back(solution).map(Some)
    }

    /// A solution of the risk (at any ridge) as a model of the original columns.
    pub fn model(&self, solution: &Solution) -> LinearModel {
        let model = self.risk.model(solution);
        self.scaling.as_ref().map_or_else(|| model.clone(), |scaling| scaling.undone(&model))
    }

    /// A model of the original columns as a starting point for the risk: what [`model`](Self::model) makes of it is
    /// that model again.
    ///
    /// ```
    /// use ksparse::{LinearModel, design::Dense, loss::Squared, select::Problem};
    /// let x = Dense::from_columns(3, 2, vec![1.0, 2.0, 3.0, 5.0, 1.0, 3.0])?;
    /// let loss = Squared::default();
    /// let training = Problem { standardize: true, ..Problem::new(&x, &[1.0, 2.0, 3.0], &loss) }.on_all_rows()?;
    /// let model = LinearModel { support: vec![1], coefficients: vec![2.0], intercept: 0.5 };
    /// let again = training.model(&training.start(&model));
    /// assert!((again.coefficients[0] - 2.0).abs() < 1e-12 && (again.intercept - 0.5).abs() < 1e-12);
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn start(&self, model: &LinearModel) -> Solution {
        match &self.scaling {
            Some(scaling) => self.risk.start(&scaling.done(model)),
            None => self.risk.start(model),
        }
    }
}

/// An objective within bounds, if there are any.
pub(super) fn within<'b>(
    objective: Box<dyn Objective + 'b>,
    bounds: Option<&Bounds>,
) -> Result<Box<dyn Objective + 'b>> {
    let Some(bounds) = bounds else { return Ok(objective) };
    Ok(Box::new(Boxed::owning(objective, bounds.clone())?))
}

/// What k counts: columns, or groups of them, beside those kept.
pub(super) fn units(columns: usize, groups: Option<&Partition>, keep: &[usize]) -> usize {
    groups.map_or_else(|| columns.saturating_sub(keep.len()), |groups| groups.count(columns, keep))
}

/// The entries of the rows listed.
pub(super) fn pick(values: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|&i| values[i]).collect()
}
