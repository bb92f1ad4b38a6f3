//! Learning problems whose target is more than a number per row: survival times, classes, several responses.

mod task;

use super::metrics::Metric;
use super::problem::{pick, units, within};
use super::scaling::Scaling;
use super::{Deal, Folds, concordance};
use crate::design::{Design, Rows};
use crate::error::{Error, Result, check_len};
use crate::loss::{Baseline, Cox, JointLoss, Multinomial, Ordinal, Responses, Survival};
use crate::objective::{Bounds, Boxed, JointRisk, LinearModel, Objective};
use crate::solver::Solution;
use crate::sparsity::{Partition, Sparsity};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What was observed of every row.
#[derive(Debug, Clone, Copy)]
pub enum Observed<'a> {
    /// Survival times; weights are those of the problem.
    Survival(Survival<'a>),
    /// A class, of so many.
    Classes {
        /// Of each row, counted from 0.
        of: &'a [usize],
        /// How many there are.
        count: usize,
    },
    /// A class, of so many that have an order.
    Ordered {
        /// Of each row, counted from 0, the lowest first.
        of: &'a [usize],
        /// How many there are.
        count: usize,
    },
    /// Some numbers.
    Responses {
        /// One response after the other.
        values: &'a [f64],
        /// How many there are.
        count: usize,
    },
}

/// Data and preparation, from which the risk on any subset of the rows is built.
///
/// ```
/// use ksparse::{Auto, Solver, Sparsity, design::Dense, select::{JointProblem, Observed}};
/// let x = Dense::from_columns(6, 2, vec![0.0, 0.1, 1.0, 1.1, 2.0, 2.1, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0])?;
/// let problem = JointProblem::new(&x, Observed::Classes { of: &[0, 0, 1, 1, 2, 2], count: 3 });
/// let training = problem.on_all_rows()?;
/// let risk = training.risk.reridged(0.1)?;
/// let solution = Auto::default().fit(&risk, &problem.sparsity(1, &[]))?;
/// let models = training.models(&solution); // one per class, over the same columns
/// assert!(models.len() == 3 && models[0].support == [0]);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct JointProblem<'a> {
    /// X, one row per sample.
    pub design: &'a dyn Design,
    /// What was observed.
    pub observed: Observed<'a>,
    /// Sample weights. Default none: all 1.
    pub weights: Option<&'a [f64]>,
    /// Whether to fit intercepts. Default true; survival times have none.
    pub intercept: bool,
    /// Whether to centre and scale the columns by what the rows trained on have. Default false.
    pub standardize: bool,
    /// What the ridge on the coefficients of each column is multiplied by: positive numbers. Default none: all 1.
    pub penalty_factors: Option<&'a [f64]>,
    /// Columns that are in or out together, of which k counts the groups. Default none.
    pub groups: Option<&'a Partition>,
    /// What the coefficients of the columns may be, the same for every output. Default anything.
    pub bounds: Option<&'a Bounds>,
}

impl<'a> JointProblem<'a> {
    /// With intercepts, unweighted, columns as they are.
    pub fn new(design: &'a dyn Design, observed: Observed<'a>) -> Self {
        Self {
            design,
            observed,
            weights: None,
            intercept: true,
            standardize: false,
            penalty_factors: None,
            groups: None,
            bounds: None,
        }
    }

    /// C, the predictions per row.
    pub fn outputs(&self) -> usize {
        match self.observed {
            Observed::Survival(_) | Observed::Ordered { .. } => 1,
            Observed::Classes { count, .. } | Observed::Responses { count, .. } => count,
        }
    }

    /// The constraint for k columns, or groups of them, beside those kept.
    pub fn sparsity(&self, k: usize, keep: &[usize]) -> Sparsity {
        let outputs = self.outputs();
        let coordinates = keep.iter().flat_map(|&j| j * outputs..(j + 1) * outputs);
        Sparsity { groups: self.partition().map(Arc::new), ..Sparsity::new(k).keep(coordinates) }
    }

    /// The coefficients of a column, or of a group of them, as a group; none where each stands alone.
    fn partition(&self) -> Option<Partition> {
        let outputs = self.outputs();
        if outputs == 1 && self.groups.is_none() {
            return None;
        }
        let groups = self.groups.map_or(&[][..], Partition::groups);
        // A column beyond the last is the solver's to refuse.
        let end = groups.iter().flatten().map(|j| j + 1).fold(self.design.ncols(), usize::max);
        let mut label: Vec<usize> = (0..end).collect();
        groups.iter().for_each(|group| group.iter().for_each(|&j| label[j] = group[0]));
        let labels: Vec<usize> = label.iter().flat_map(|&of| std::iter::repeat_n(of, outputs)).collect();
        Some(Partition::of_labels(&labels))
    }

    /// How many columns, or groups of them, there are beside those kept: what k can be.
    pub fn units(&self, keep: &[usize]) -> usize {
        units(self.design.ncols(), self.groups, keep)
    }

    /// The risk on all rows.
    pub fn on_all_rows(&self) -> Result<JointTraining<'a>> {
        let rows: Vec<usize> = (0..self.design.nrows()).collect();
        self.train(Box::new(self.design), &rows)
    }

    /// The risk on some rows; the design is viewed, not copied.
    pub fn on_rows(&self, rows: Vec<usize>) -> Result<JointTraining<'a>> {
        let design = Rows::new(self.design, rows.clone())?;
        self.train(Box::new(design), &rows)
    }

    fn train(&self, design: Box<dyn Design + 'a>, rows: &[usize]) -> Result<JointTraining<'a>> {
        let weights = self.weights_of(rows)?;
        let shifts = self.shifts(rows, weights.as_deref())?;
        let loss = self.loss(rows, weights.as_deref(), &shifts)?;
        let (design, scaling) = Scaling::of(design, weights.as_deref(), self.standardize, self.penalty_factors)?;
        let risk = JointRisk::from_arcs(Arc::from(design), loss)?;
        let risk = if self.intercept { risk.with_intercept() } else { risk };
        let bounds = Scaling::bounds(scaling.as_ref(), self.bounds)?.map(|bounds| bounds.for_outputs(shifts.len()));
        Ok(JointTraining { risk, scaling, shifts, bounds })
    }

    fn weights_of(&self, rows: &[usize]) -> Result<Option<Vec<f64>>> {
        let Some(weights) = self.weights else { return Ok(None) };
        check_len("weights", weights.len(), self.design.nrows())?;
        Ok(Some(pick(weights, rows)))
    }

    /// What is subtracted from responses, for the intercepts to take up: their means.
    fn shifts(&self, rows: &[usize], weights: Option<&[f64]>) -> Result<Vec<f64>> {
        let Observed::Responses { values, count } = self.observed else { return Ok(vec![0.0; self.outputs()]) };
        let n = self.design.nrows();
        check_len("target", values.len(), n * count)?;
        let weight = |place: usize| weights.map_or(1.0, |w| w[place]);
        let total: f64 = (0..rows.len()).map(weight).sum();
        let mean = |c: usize| {
            let values = rows.iter().enumerate().map(|(place, &i)| weight(place) * values[c * n + i]);
            values.sum::<f64>() / total
        };
        Ok((0..count).map(|c| if self.intercept && total > 0.0 { mean(c) } else { 0.0 }).collect())
    }

    /// The loss on some rows.
    fn loss(&self, rows: &[usize], weights: Option<&[f64]>, shifts: &[f64]) -> Result<Arc<dyn JointLoss>> {
        let n = self.design.nrows();
        Ok(match self.observed {
            Observed::Survival(survival) => Arc::new(Picked::new(&survival, n, rows)?.cox(&survival, weights)?),
            Observed::Classes { of, count } => {
                check_len("target", of.len(), n)?;
                let of: Vec<usize> = rows.iter().map(|&i| of[i]).collect();
                Arc::new(Multinomial::new(&of, count, weights)?)
            }
            Observed::Ordered { of, count } => Arc::new(self.ordinal(of, count, rows, weights)?),
            Observed::Responses { values, count } => {
                let moved = |(c, &i): (usize, &usize)| values[c * n + i] - shifts[c];
                let values: Vec<f64> = (0..count).flat_map(|c| rows.iter().map(move |i| (c, i))).map(moved).collect();
                Arc::new(Responses::new(&values, count, weights)?)
            }
        })
    }

    /// The predictions of a model per output for some rows, sample by sample.
    pub fn predict(&self, models: &[LinearModel], rows: &[usize]) -> Result<Vec<f64>> {
        let mut z = vec![0.0; rows.len() * models.len()];
        for (c, model) in models.iter().enumerate() {
            let of = model.predict(self.design)?;
            rows.iter().enumerate().for_each(|(place, &i)| z[place * models.len() + c] = of[i]);
        }
        Ok(z)
    }

    /// Folds with even shares of every class, or of events and censored rows.
    pub fn folds(&self, deal: impl Into<Deal>, seed: u64) -> Result<Folds> {
        let labels: Option<Vec<f64>> = match self.observed {
            Observed::Survival(survival) => {
                let events: Vec<f64> = survival.event.iter().map(|&event| f64::from(u8::from(event))).collect();
                (events.contains(&0.0) && events.contains(&1.0)).then_some(events)
            }
            Observed::Classes { of, .. } | Observed::Ordered { of, .. } => Some(of.iter().map(|&c| c as f64).collect()),
            Observed::Responses { .. } => None,
        };
        deal.into().out(self.design.nrows(), labels.as_deref(), seed)
    }

    /// What is measured unless something else is asked for.
    pub fn default_metric(&self) -> Metric {
        match self.observed {
            Observed::Survival(_) => Metric::Concordance,
            _ => Metric::Deviance,
        }
    }

    /// The score of models on rows that they were not trained on. The deviance of survival times is what the held-out
    /// rows add to that of the others: they have no likelihood of their own.
    pub fn score(&self, metric: Metric, models: &[LinearModel], rows: &[usize], training: &[usize]) -> Result<f64> {
        let weights = self.weights_of(rows)?;
        let shifts = vec![0.0; self.outputs()];
        let z = self.predict(models, rows)?;
        let n = rows.len();
        let weight = |i: usize| weights.as_ref().map_or(1.0, |w| w[i]);
        let total: f64 = (0..n).map(weight).sum();
        match (metric, self.observed) {
            (Metric::Concordance, Observed::Survival(survival)) => {
                let part = Picked::new(&survival, self.design.nrows(), rows)?;
                concordance(&z, &part.survival(&survival, weights.as_deref()))
            }
            (Metric::Deviance, Observed::Survival(_)) => {
                let mut both = [rows, training].concat();
                both.sort_unstable();
                let sum = |rows: &[usize]| -> Result<f64> {
                    let weights = self.weights_of(rows)?;
                    let loss = self.loss(rows, weights.as_deref(), &shifts)?;
                    let total = weights.map_or(rows.len() as f64, |w| w.iter().sum());
                    Ok(total * loss.at(&self.predict(models, rows)?).value())
                };
                Ok(2.0 * (sum(&both)? - sum(training)?) / total)
            }
            (Metric::Deviance, Observed::Classes { of, count }) => {
                let p = Multinomial::probabilities(&z, count);
                let log =
                    |(place, &i): (usize, &usize)| weight(place) * p[place * count + of[i]].max(f64::MIN_POSITIVE).ln();
                Ok(-2.0 * rows.iter().enumerate().map(log).sum::<f64>() / total)
            }
            (Metric::Error, Observed::Classes { of, count }) => {
                let wrong = |(place, &i): (usize, &usize)| weight(place) * f64::from(winner(&z, count, place) != of[i]);
                Ok(rows.iter().enumerate().map(wrong).sum::<f64>() / total)
            }
            (Metric::Deviance | Metric::Error, Observed::Ordered { of, count }) => {
                let trained = self.ordinal(of, count, training, self.weights_of(training)?.as_deref())?;
                let cuts = trained.thresholds(&self.predict(models, training)?);
                let p = Ordinal::probabilities(&z, &cuts);
                let lost = |(place, &i): (usize, &usize)| match metric {
                    Metric::Error => f64::from(winner(&p, count, place) != of[i]),
                    _ => -2.0 * p[place * count + of[i]].max(f64::MIN_POSITIVE).ln(),
                };
                Ok(rows.iter().enumerate().map(|at| weight(at.0) * lost(at)).sum::<f64>() / total)
            }
            (Metric::Deviance | Metric::Mse, Observed::Responses { values, count }) => {
                let all = self.design.nrows();
                let square = |c: usize, place: usize| (z[place * count + c] - values[c * all + rows[place]]).powi(2);
                let row = |place: usize| (0..count).map(|c| square(c, place)).sum::<f64>() * weight(place);
                Ok((0..n).map(row).sum::<f64>() / (total * count as f64))
            }
            _ => Err(Error::Unsupported { solver: metric.name(), need: "another kind of target" }),
        }
    }
}

/// The class with the largest prediction; the first of equals.
pub(crate) fn winner(z: &[f64], count: usize, place: usize) -> usize {
    let z = &z[place * count..(place + 1) * count];
    (1..count).fold(0, |best, c| if z[c] > z[best] { c } else { best })
}

/// Survival times of some rows.
struct Picked {
    time: Vec<f64>,
    event: Vec<bool>,
    entry: Option<Vec<f64>>,
    strata: Option<Vec<usize>>,
}

impl Picked {
    fn new(of: &Survival, n: usize, rows: &[usize]) -> Result<Self> {
        check_len("time", of.time.len(), n)?;
        check_len("event", of.event.len(), n)?;
        check_len("entry", of.entry.map_or(n, <[f64]>::len), n)?;
        check_len("strata", of.strata.map_or(n, <[usize]>::len), n)?;
        Ok(Self {
            time: pick(of.time, rows),
            event: rows.iter().map(|&i| of.event[i]).collect(),
            entry: of.entry.map(|entry| pick(entry, rows)),
            strata: of.strata.map(|strata| rows.iter().map(|&i| strata[i]).collect()),
        })
    }

    fn survival<'b>(&'b self, of: &Survival, weights: Option<&'b [f64]>) -> Survival<'b> {
        Survival {
            time: &self.time,
            event: &self.event,
            entry: self.entry.as_deref(),
            strata: self.strata.as_deref(),
            weights,
            ties: of.ties,
        }
    }

    fn cox(&self, of: &Survival, weights: Option<&[f64]>) -> Result<Cox> {
        Cox::new(&self.survival(of, weights))
    }
}

/// A [`JointProblem`] made concrete on some rows.
pub struct JointTraining<'a> {
    /// The risk to minimise, without a ridge.
    pub risk: JointRisk<'a>,
    scaling: Option<Scaling>,
    /// What was subtracted from responses.
    shifts: Vec<f64>,
    /// In the units of the risk.
    bounds: Option<Bounds>,
}

impl JointTraining<'_> {
    /// What to minimise: the risk with this ridge, within the bounds of the problem.
    pub fn objective(&self, lambda: f64) -> Result<Box<dyn Objective + '_>> {
        within(Box::new(self.risk.reridged(lambda)?), self.bounds.as_ref())
    }

    /// The columns of a solution of which a bound holds a coefficient back, ascending; `None` without bounds.
    pub fn held_back(&self, lambda: f64, solution: &Solution) -> Result<Option<Vec<usize>>> {
        let Some(bounds) = &self.bounds else { return Ok(None) };
        let risk = self.risk.reridged(lambda)?;
        let held = Boxed::new(&risk, bounds.clone())?.held_back(solution)?;
        // Coefficients of a column are neighbours, and intercepts the last.
        let outputs = self.shifts.len();
        let counted = held.into_iter().filter(|at| !risk.free().contains(at)).map(|at| at / outputs);
        Ok(Some(counted.collect::<BTreeSet<usize>>().into_iter().collect()))
    }

    /// A solution of the risk (at any ridge) as models of the original columns, one per output.
    pub fn models(&self, solution: &Solution) -> Vec<LinearModel> {
        let mut models = self.risk.models(solution);
        for (model, shift) in models.iter_mut().zip(&self.shifts) {
            if let Some(scaling) = &self.scaling {
                *model = scaling.undone(model);
            }
            model.intercept = if self.risk.loss().ignores_shifts() { 0.0 } else { model.intercept + shift };
        }
        models
    }

    /// Models of the original columns as a starting point.
    pub fn start(&self, models: &[LinearModel]) -> Solution {
        let mut models = models.to_vec();
        for (model, shift) in models.iter_mut().zip(&self.shifts) {
            model.intercept -= shift;
            if let Some(scaling) = &self.scaling {
                *model = scaling.done(model);
            }
        }
        self.risk.start(&models)
    }
}

impl JointProblem<'_> {
    /// The loss of ordered classes on some rows.
    fn ordinal(&self, of: &[usize], count: usize, rows: &[usize], weights: Option<&[f64]>) -> Result<Ordinal> {
        check_len("target", of.len(), self.design.nrows())?;
        let of: Vec<usize> = rows.iter().map(|&i| of[i]).collect();
        Ordinal::new(&of, count, weights)
    }

    /// The cut points between ordered classes under a model; none for other targets.
    pub fn thresholds(&self, model: &LinearModel) -> Result<Vec<f64>> {
        let Observed::Ordered { of, count } = self.observed else { return Ok(Vec::new()) };
        Ok(Ordinal::new(of, count, self.weights)?.thresholds(&model.predict(self.design)?))
    }

    /// The baselines of all strata under a model, in the order of their labels; none for other targets.
    pub fn baselines(&self, model: &LinearModel) -> Result<Vec<Baseline>> {
        let Observed::Survival(survival) = self.observed else { return Ok(Vec::new()) };
        let cox = Cox::new(&Survival { weights: self.weights, ..survival })?;
        Ok(cox.baselines(&model.predict(self.design)?))
    }
}
