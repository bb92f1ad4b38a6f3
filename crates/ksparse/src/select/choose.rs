//! The choice of a model when nobody knows k: cross-validation over k and two ridges, ranges from the data.
//!
//! The ridge that selects is not the ridge that predicts. Under a strong one columns are ranked by what they do
//! together with many others, which finds the right ones; coefficients as small as that ridge makes them predict badly.
//! So a cell is a triple (k, ridge to select under, ridge to refit under), and all three are chosen by the rows held
//! out. The chosen cell is then solved to the end on all rows.
//!
//! T. Hastie, R. Tibshirani, R. Tibshirani, Statistical Science 35, 2020, on what subsets, shrinkage and both are good
//! for; R. Mazumder, P. Radchenko, A. Dedieu, Operations Research 71, 2023, on subsets with shrinkage.

use super::control::{Control, Watch};
use super::descent::Whole;
use super::finish::Finish;
use super::plan::Plan;
use super::resample::{Resampled, halves};
use super::scoring::{Key, Scoring};
use super::splits::{OwnScore, Scorer};
use super::task::Task;
use super::{CvCell, CvTable, Folds, JointProblem, Metric, Problem, Rule, Split, ranges};
use crate::cancel::Cancel;
use crate::error::{Result, check_option};
use crate::objective::{LinearModel, Objective};
use crate::solver::{Solution, Solver};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The share of a time limit that scoring may take; the rest is for the chosen model.
const FOR_SCORING: f64 = 0.7;

/// Which ridges a support is refitted under.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Refits {
    /// Several, in units of the data's curvature, those around the best.
    #[default]
    FromData,
    /// Those of these around the best.
    Given(Vec<f64>),
    /// The one it was selected under: one ridge.
    Same,
}

/// The choice and its options.
///
/// ```
/// use ksparse::{Auto, loss::Squared, simulate};
/// use ksparse::select::{Choose, Folds, Problem};
/// let data = simulate::linear(100, 40, 3, simulate::Correlation::Independent, 0.3, 1);
/// let loss = Squared::default();
/// let problem = Problem::new(&data.design, &data.target, &loss);
/// let chosen = Choose::default().fit(&problem, &Folds::seeded(100, 5, 0)?, &Auto::default())?;
/// assert_eq!(chosen.model().support, data.support);
/// assert!(data.support.iter().all(|&j| chosen.predictors[0].frequencies[j] == 1.0)); // in every fold
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Choose {
    /// The k to compare; `None`: from the data, further ones being tried while the best is the largest.
    pub ks: Option<Vec<usize>>,
    /// The ridges to select under; `None`: from the data.
    pub lambdas: Option<Vec<f64>>,
    /// The ridges to refit under.
    pub refits: Refits,
    /// Columns forced in, free of charge.
    pub keep: Vec<usize>,
    /// How predictions are scored. Default `None`: by deviance, survival times by concordance.
    pub metric: Option<Metric>,
    /// Which cell wins. Default lean.
    pub rule: Rule,
    /// Solve every cell with the solver instead of the quick search of `descent.rs`. Default false.
    pub thorough: bool,
    /// Fit the chosen cell to so many random halves of the rows as well: see [`Resampled`]. Default 0: none.
    pub resamples: usize,
    /// At most so much time; cells not reached by then are left out.
    pub time_limit: Option<Duration>,
    /// Once it is set, what was scored by then decides; asked within every refit. Default never.
    pub cancel: Cancel,
}

impl Default for Choose {
    fn default() -> Self {
        Self {
            ks: None,
            lambdas: None,
            refits: Refits::FromData,
            keep: Vec::new(),
            metric: None,
            rule: Rule::Lean,
            thorough: false,
            resamples: 0,
            time_limit: None,
            cancel: Cancel::NEVER,
        }
    }
}

/// An end of a range at which the chosen cell lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Edge {
    /// The largest k compared, with more columns to be had.
    LargestK,
    /// The largest ridge compared.
    LargestLambda,
    /// The smallest ridge compared, not 0.
    SmallestLambda,
    /// The largest ridge a support was refitted under.
    LargestRefit,
    /// The smallest ridge a support was refitted under, not 0.
    SmallestRefit,
}

/// A support nearly as good as the chosen one, met on the way.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Alternative {
    /// Its columns, ascending.
    pub support: Vec<usize>,
    /// f there on all rows, under the ridge that selects.
    pub value: f64,
}

/// What was chosen for one problem.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Predictor {
    /// Fitted to all rows, in the units of the original columns: one linear predictor per output, a number per row
    /// having one.
    pub models: Vec<LinearModel>,
    /// The solution under the ridge that selects, in the units the solver saw.
    pub selected: Solution,
    /// The same support under the ridge that refits: what the model is.
    pub solution: Solution,
    /// For every column, the share of the splits that select it at the chosen k and ridge.
    pub frequencies: Vec<f64>,
    /// The same over random halves of the rows, and the average of their models, where that was asked for.
    pub resampled: Option<Resampled>,
    /// For every k compared, what the quick search finds on all rows under the ridge that selects; for the chosen k,
    /// `selected`.
    pub path: Vec<(usize, Solution)>,
    /// Other supports of the chosen size, by f, at most ten. The chosen one is not among them.
    pub alternatives: Vec<Alternative>,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Chosen {
    /// The chosen k.
    pub k: usize,
    /// The ridge its columns are selected under.
    pub lambda: f64,
    /// The ridge its coefficients are fitted under.
    pub refit: f64,
    /// One per problem.
    pub predictors: Vec<Predictor>,
    /// All scores.
    pub table: CvTable,
    /// Ends of ranges at which the choice lies.
    pub edges: Vec<Edge>,
}

impl Chosen {
    /// The first linear predictor of the first problem (of one, the only one).
    pub fn model(&self) -> &LinearModel {
        &self.predictors[0].models[0]
    }

    /// The cell that was chosen for its k, the best one of another k; `None` where none has a score.
    pub fn cell(&self, k: usize) -> Option<&CvCell> {
        let cost = |cell: &CvCell| if self.table.metric().is_gain() { -cell.mean } else { cell.mean };
        let cells = || self.table.cells().iter().filter(|cell| cell.k == k && cell.mean.is_finite());
        let own = |cell: &&CvCell| (cell.k, cell.lambda, cell.refit) == (self.k, self.lambda, self.refit);
        cells().find(own).or_else(|| cells().min_by(|a, b| cost(a).total_cmp(&cost(b))))
    }
}

impl Choose {
    /// `Err` for a value outside its range.
    pub fn validate(&self) -> Result<()> {
        let ridge = |l: &f64| *l >= 0.0 && l.is_finite();
        let expected = "at least one, non-negative and finite";
        if let Some(ks) = &self.ks {
            check_option(!ks.is_empty(), "ks", "empty", "at least one k")?;
        }
        if let Some(lambdas) = &self.lambdas {
            check_option(
                !lambdas.is_empty() && lambdas.iter().all(ridge),
                "lambdas",
                format!("{lambdas:?}"),
                expected,
            )?;
        }
        if let Refits::Given(refits) = &self.refits {
            check_option(!refits.is_empty() && refits.iter().all(ridge), "refits", format!("{refits:?}"), expected)?;
        }
        Ok(())
    }

    /// Chooses by these folds, unwatched.
    pub fn fit(&self, problem: &Problem, folds: &Folds, solver: &dyn Solver) -> Result<Chosen> {
        self.solve(&[*problem], &folds.splits(), None, solver, &mut |_| ControlFlow::Continue(()))
    }

    /// Chooses one cell for all `problems` (the classes of one against the rest, for example: the same rows and
    /// columns), their scores added up, by any splits of the rows, scored by the metric or by `own` (of which higher is
    /// better for a metric that is a gain). Splits run in parallel; the result does not depend on how. When `watch`
    /// returns `Break`, or the time is up, what was scored by then decides.
    pub fn solve(
        &self,
        problems: &[Problem],
        splits: &[Split],
        own: Option<&OwnScore>,
        solver: &dyn Solver,
        watch: &mut Watch,
    ) -> Result<Chosen> {
        let tasks: Vec<&dyn Task> = problems.iter().map(|problem| problem as &dyn Task).collect();
        self.choose(&tasks, splits, own, solver, watch)
    }

    /// [`solve`](Self::solve) for a target that is more than a number per row.
    pub fn solve_joint(
        &self,
        problem: &JointProblem,
        splits: &[Split],
        own: Option<&OwnScore>,
        solver: &dyn Solver,
        watch: &mut Watch,
    ) -> Result<Chosen> {
        self.choose(&[problem], splits, own, solver, watch)
    }

    /// Chooses by these folds, unwatched, for a target that is more than a number per row.
    pub fn fit_joint(&self, problem: &JointProblem, folds: &Folds, solver: &dyn Solver) -> Result<Chosen> {
        self.solve_joint(problem, &folds.splits(), None, solver, &mut |_| ControlFlow::Continue(()))
    }

    fn choose(
        &self,
        tasks: &[&dyn Task],
        splits: &[Split],
        own: Option<&OwnScore>,
        solver: &dyn Solver,
        watch: &mut Watch,
    ) -> Result<Chosen> {
        let started = Instant::now();
        self.validate()?;
        check_option(!tasks.is_empty(), "problems", "none", "at least one")?;
        tasks.iter().try_for_each(|task| task.validate())?;
        let metric = self.metric.unwrap_or_else(|| tasks[0].usual_metric());
        let scorer = Scorer { tasks, splits, metric, own };
        let all = tasks.iter().map(|task| task.on_all()).collect::<Result<Vec<_>>>()?;
        let plan = Plan::of(self, &all, tasks[0])?;
        let control = Control::until(watch, started, self.cancel_within(FOR_SCORING, started));
        let scored = self.scores(&scorer, &plan, solver, &control)?;
        let table = scored.table;
        let (place, cell) = table.winner_and_place(self.rule);
        let (k, lambda, refit) = (cell.k, cell.lambda, cell.refit);
        let key = scored.keys[place];
        let edges = plan.edges(k, key, &scored.ks, self);
        let none = vec![vec![Vec::new(); tasks.len()]; splits.len()];
        let met = scored.supports.get(&(key.0, key.1)).unwrap_or(&none);
        let finish = Finish { choose: self, task: tasks[0], k, lambda, refit, ks: &scored.ks, solver, started };
        let mut predictors = Vec::with_capacity(tasks.len());
        for (number, training) in all.iter().enumerate() {
            let met: Vec<&[usize]> = met.iter().filter_map(|split| split.get(number)).map(Vec::as_slice).collect();
            let mut whole = scored.wholes.get(number).cloned().unwrap_or_default();
            predictors.push(finish.predictor(&**training, &met, &mut whole, watch)?);
        }
        if self.resamples > 0 {
            let halves = halves(tasks, self.resamples);
            for (task, predictor) in tasks.iter().zip(&mut predictors) {
                predictor.resampled = finish.resampled(*task, &halves)?;
            }
        }
        Ok(Chosen { k, lambda, refit, predictors, table, edges })
    }

    /// Whether cells are solved by the solver: on request, and for losses with corners.
    pub(super) fn solves(&self, objective: &dyn Objective) -> bool {
        self.thorough || objective.profile().corners
    }

    /// A token that is set with `cancel`, or when this share of the time limit has passed.
    pub(super) fn cancel_within(&self, share: f64, started: Instant) -> Cancel {
        let left = self.time_limit.map(|limit| limit.mul_f64(share).saturating_sub(started.elapsed()));
        left.map_or_else(|| self.cancel.clone(), |left| self.cancel.within(left))
    }

    /// Scores every cell, ranges extended where the best lies at their end.
    fn scores(&self, scorer: &Scorer, plan: &Plan, solver: &dyn Solver, control: &Control) -> Result<Scored> {
        let weights = scorer.weights()?;
        let Scorer { tasks, splits, .. } = scorer;
        let trained = |split: &Split| tasks.iter().map(|task| task.on(&split.training)).collect::<Result<Vec<_>>>();
        let mut scoring = Scoring {
            choose: self,
            scorer,
            trainings: splits.iter().map(trained).collect::<Result<Vec<_>>>()?,
            wholes: splits.iter().map(|_| tasks.iter().map(|_| Mutex::default()).collect()).collect(),
            solver,
            control,
            selects: plan.selects.clone(),
            refits: plan.refits.clone(),
            usual: plan.usual,
            strongest_first: plan.usual.is_some() && ranges::strongest_first(tasks[0].rows()),
            ks: plan.ks.clone(),
            carried: plan.carried,
            furthest: plan.furthest,
            scores: BTreeMap::new(),
            supports: BTreeMap::new(),
        };
        scoring.score_nothing()?;
        scoring.score(&weights)?;
        let (table, keys) = scoring.table(&weights, scoring.ks.contains(&0))?;
        // Rows of one split are most of all rows: what was found there is where to begin.
        let wholes = scoring.wholes.swap_remove(0).into_iter();
        let wholes = wholes.map(|whole| whole.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
        Ok(Scored { table, keys, supports: scoring.supports, ks: scoring.ks, wholes })
    }
}

/// All scores, and what goes with them.
struct Scored {
    table: CvTable,
    /// Of every cell of the table.
    keys: Vec<Key>,
    /// By ridge and k, then by split and task.
    supports: BTreeMap<(usize, usize), Vec<Vec<Vec<usize>>>>,
    ks: Vec<usize>,
    /// The points over all columns of the first split, by task.
    wholes: Vec<Whole>,
}
