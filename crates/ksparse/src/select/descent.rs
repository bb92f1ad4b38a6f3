//! Supports for all k of a sequence under one ridge, from the largest k to the smallest.
//!
//! Cross-validation looks at hundreds of cells, of which one is kept. What it needs is a good support for each, soon:
//!
//! 1. f is minimised over **all** columns, roughly: with a ridge that is a few passes over the data, and it ranks
//!    columns by what they do together. A ridge much weaker than one that this was done under begins with the columns
//!    that matter most there: over all of them it would take hundreds of passes, to interpolate.
//! 2. The columns whose loss costs least, `x_j^2 (h_j + lambda)` with `h_j` the mean curvature times the mean square of
//!    the column, are dropped, half of them at a time down to the largest k, then from each k to the next, with a loose
//!    refit after each cut (recursive elimination: I. Guyon et al., Machine Learning 46, 2002).
//! 3. At every k columns are exchanged while that lowers f: those that cost least against those that promise most,
//!    `g_j^2 / (h_j + lambda)`, as many pairs at once as promise more than they cost, then a quarter of them.
//!
//! On genes f ends 5 to 90 % lower than by growing supports from nothing with the same exchanges where the ridge is
//! weak, and equal where it is strong.

use super::task::OnRows;
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::restricted::{self, Ended, InnerOptions};
use crate::solver::{Solution, Status};
use crate::sparsity::{Budget, SparseRef, Sparsity, top_by};
use std::ops::ControlFlow;

/// Over all columns: to a tenth of f. It only ranks them.
const ROUGH: InnerOptions = InnerOptions { tolerance: 0.1, ..InnerOptions::EXACT };
/// Refits on the way: to a hundredth of f before the last step (a thousandth chose no better on thirteen real sets).
const LOOSE: InnerOptions = InnerOptions { tolerance: 1e-2, ..InnerOptions::EXACT };
/// Exchanges stay where f falls by this share.
const GAIN: f64 = 1e-3;
/// Rounds of exchanges at every k, and where k is more than so many, when further rounds changed no choice.
const ROUNDS: [usize; 2] = [3, 1];
const MANY: usize = 64;
/// Pairs are exchanged all at once, then a quarter of them, so often.
const TRIES: usize = 3;

/// A ridge this many times weaker than that of the point over all columns begins with so many columns for every one of
/// the largest k.
const WEAKER: f64 = 10.0;
const BEGIN_WITH: usize = 4;

/// A point over all columns, and the ridge it was found under; none yet by default.
#[derive(Debug, Clone, Default)]
pub(super) struct Whole {
    x: Vec<f64>,
    ridge: f64,
}

/// A support and the point on it.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    /// Ascending, free coordinates included.
    pub support: Vec<usize>,
    pub x: Vec<f64>,
    pub value: f64,
    /// Second derivatives of f along each coordinate, roughly.
    curvature: Vec<f64>,
}

impl From<&Solution> for Stage {
    fn from(solution: &Solution) -> Self {
        let Solution { support, coefficients, value, .. } = solution;
        Self { support: support.clone(), x: coefficients.clone(), value: *value, curvature: Vec::new() }
    }
}

impl From<Stage> for Solution {
    fn from(stage: Stage) -> Self {
        Self { value: stage.value, status: Status::Tolerance, ..Self::guess(stage.support, stage.x) }
    }
}

/// Asked after every refit, with k and the point: whether to go on.
pub(super) type Ask<'a> = dyn FnMut(usize, &Stage) -> ControlFlow<()> + 'a;

/// The point without features beside those kept.
pub(super) fn nothing(objective: &dyn Objective, keep: &[usize]) -> Result<Stage> {
    let dim = objective.dim();
    let free = Budget::new(&Sparsity::new(dim).keep(keep.iter().copied()), objective.free(), dim)?.free;
    let mut x = vec![0.0; free.len()];
    let outcome = restricted::minimise(&mut *objective.restrict(&free)?, &mut x, &LOOSE)?;
    match outcome.ended {
        Ended::NotFinite => Err(not_finite()),
        _ => Ok(Stage { support: free, x, value: outcome.value, curvature: Vec::new() }),
    }
}

fn not_finite() -> Error {
    Error::NotFinite { what: "objective (so the data)", index: 0 }
}

/// What columns weigh.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    /// Their mean squares, and how many coordinates each has.
    squares: &'a [f64],
    outputs: usize,
    ridge: f64,
}

impl<'a> Columns<'a> {
    /// Under a ridge.
    pub fn of(training: &'a dyn OnRows, ridge: f64) -> Self {
        Self { squares: training.squares(), outputs: training.outputs(), ridge }
    }

    /// The mean square of the column of a coordinate.
    fn square(&self, at: usize) -> f64 {
        self.squares[at / self.outputs]
    }
}

/// What there is to go down on.
pub(super) struct Descent<'a> {
    columns: Columns<'a>,
    /// What is minimised: a risk, or a risk within bounds.
    objective: &'a dyn Objective,
    budget: Budget,
    cancel: &'a Cancel,
}

impl<'a> Descent<'a> {
    /// Of `sparsity`, k is not used.
    pub fn new(
        columns: Columns<'a>,
        objective: &'a dyn Objective,
        sparsity: Sparsity,
        cancel: &'a Cancel,
    ) -> Result<Self> {
        let all = Sparsity { k: objective.dim(), ..sparsity };
        let budget = Budget::new(&all, objective.free(), objective.dim())?;
        Ok(Self { columns, objective, budget, cancel })
    }

    /// A support with its k for each of `ks` (ascending), largest first: fewer once `ask` has said no or the token is
    /// set. `whole` is where to begin, and becomes what is found over all columns.
    pub fn descend(&self, ks: &[usize], whole: &mut Whole, ask: &mut Ask) -> Result<Vec<(usize, Stage)>> {
        let mut stages = Vec::with_capacity(ks.len());
        match self.down(ks, whole, ask, &mut stages) {
            Ok(()) | Err(Error::Cancelled) => Ok(stages),
            Err(error) => Err(error),
        }
    }

    /// From the point over all columns to the smallest k.
    fn down(&self, ks: &[usize], whole: &mut Whole, ask: &mut Ask, stages: &mut Vec<(usize, Stage)>) -> Result<()> {
        let most = self.budget.k;
        let largest = ks.last().map_or(0, |&k| k.min(most));
        let mut at = self.begin(whole, largest)?;
        // The first cut is the deepest: what is left is gathered, and must be small beside the data.
        let halves = std::iter::successors(Some(most / 4), |k| Some(k / 2)).take_while(|&k| k > largest.max(1));
        let size = self.budget.counted(&at.support);
        for k in halves.filter(|&k| k < size) {
            if ask(k, &at).is_break() {
                return Ok(());
            }
            at = self.cut(at, k)?;
        }
        for &k in ks.iter().rev() {
            if ask(k, &at).is_break() {
                break;
            }
            at = self.exchange(self.cut(at, k)?, k)?;
            stages.push((k, at.clone()));
        }
        Ok(())
    }

    /// The minimum over all columns, or under a weaker ridge over those that mattered under the one before.
    fn begin(&self, whole: &mut Whole, largest: usize) -> Result<Stage> {
        let (dim, ridge) = (self.objective.dim(), self.columns.ridge);
        let all = (0..dim).collect::<Vec<_>>();
        if !whole.x.is_empty() && WEAKER * ridge <= whole.ridge {
            let curvature = all.iter().map(|&at| self.columns.square(at) + ridge).collect();
            let ranked = Stage { support: all, x: whole.x.clone(), value: f64::INFINITY, curvature };
            return self.cut(ranked, (BEGIN_WITH * largest).min(self.budget.k));
        }
        whole.x.resize(dim, 0.0);
        let at = self.minimise(all, whole.x.clone(), &ROUGH)?.ok_or_else(not_finite)?;
        *whole = Whole { x: at.x.clone(), ridge };
        Ok(at)
    }

    /// Minimises on a support, loosely; `None` when it is clear that f stays above `bound`.
    fn refit(&self, support: Vec<usize>, x: Vec<f64>, bound: f64) -> Result<Option<Stage>> {
        self.minimise(support, x, &InnerOptions { abandon_above: bound, ..LOOSE })
    }

    fn minimise(&self, support: Vec<usize>, mut x: Vec<f64>, options: &InnerOptions) -> Result<Option<Stage>> {
        let mut restricted = self.objective.restrict(&support)?;
        let options = InnerOptions { cancel: self.cancel, ..*options };
        let outcome = restricted::minimise(&mut *restricted, &mut x, &options)?;
        if outcome.ended == Ended::NotFinite {
            return Err(not_finite());
        }
        if outcome.ended == Ended::Abandoned {
            return Ok(None);
        }
        let mut curvature = vec![1.0; support.len()];
        if let Some(hessian) = restricted.second().hessian() {
            hessian.rough_diagonal(&mut curvature)?;
        }
        drop(restricted);
        Ok(Some(Stage { support, x, value: outcome.value, curvature }))
    }

    /// The units of the support, ascending (columns, or groups of them; free coordinates are in none), and what it
    /// costs to lose each.
    fn costs(&self, at: &Stage) -> (Vec<usize>, Vec<f64>) {
        let units = self.budget.units_of(&at.support);
        let mut costs = vec![0.0; units.len()];
        for ((&j, x), h) in at.support.iter().zip(&at.x).zip(&at.curvature) {
            let place = self.budget.unit(j).and_then(|unit| units.binary_search(&unit).ok());
            place.into_iter().for_each(|place| costs[place] += x * x * h);
        }
        (units, costs)
    }

    /// The k units that matter most, refitted.
    fn cut(&self, at: Stage, k: usize) -> Result<Stage> {
        let (units, costs) = self.costs(&at);
        if units.len() <= k {
            return Ok(at);
        }
        // Those at 0 fill up where nothing else is left.
        let mut kept = top_by(costs.len(), k, |i| costs[i] + f64::MIN_POSITIVE);
        kept.sort_unstable();
        let kept: Vec<usize> = kept.into_iter().map(|i| units[i]).collect();
        let stays = |j: usize| self.budget.unit(j).is_none_or(|unit| kept.binary_search(&unit).is_ok());
        let (support, x) = at.support.iter().zip(&at.x).filter(|(j, _)| stays(**j)).map(|(&j, &x)| (j, x)).unzip();
        self.refit(support, x, f64::INFINITY)?.ok_or_else(not_finite)
    }

    /// Exchanges columns while that lowers f.
    fn exchange(&self, mut at: Stage, k: usize) -> Result<Stage> {
        if k == 0 || k >= self.budget.k {
            return Ok(at);
        }
        for _ in 0..ROUNDS[usize::from(k > MANY)] {
            let Some((leaving, entering)) = self.pairs(&at, k)? else { break };
            let mut count = leaving.len();
            let mut better = None;
            for _ in 0..TRIES {
                better = self.refitted_without(&at, &leaving[..count], &entering[..count])?;
                if better.is_some() || count == 1 {
                    break;
                }
                count = (count / 4).max(1);
            }
            let Some(better) = better else { break };
            at = better;
        }
        Ok(at)
    }

    /// Units to leave and units to enter: the pairs that promise to lower f, best first.
    fn pairs(&self, at: &Stage, k: usize) -> Result<Option<(Vec<usize>, Vec<usize>)>> {
        let point = self.objective.at(SparseRef::new(&at.support, &at.x))?;
        let gradient = point.gradient()?;
        let means = self.mean_curvatures(at);
        let mut outside = vec![true; gradient.len()];
        at.support.iter().for_each(|&j| outside[j] = false);
        let alone = |j: usize| {
            let h = means[j % means.len()] * self.columns.square(j) + self.columns.ridge;
            if outside[j] && !self.budget.is_free(j) && h > 0.0 { gradient[j] * gradient[j] / h } else { 0.0 }
        };
        let promise = |unit: usize| self.budget.members(unit).map(alone).sum::<f64>();
        let (units, costs) = self.costs(at);
        let mut leaving: Vec<usize> = (0..costs.len()).collect();
        // Of equal costs the larger index leaves first: ties go to the smaller index.
        leaving.sort_unstable_by(|&a, &b| costs[a].total_cmp(&costs[b]).then(b.cmp(&a)));
        let mut entering = top_by(self.budget.units(), (k / 2).max(1), promise);
        let gains = leaving.iter().zip(&entering).take_while(|(i, unit)| promise(**unit) > costs[**i]).count();
        entering.truncate(gains);
        Ok((gains > 0).then(|| (leaving[..gains].iter().map(|&i| units[i]).collect(), entering)))
    }

    /// The mean curvature of the losses for every output, read off a coordinate of the support.
    fn mean_curvatures(&self, at: &Stage) -> Vec<f64> {
        let Columns { outputs, ridge, .. } = self.columns;
        let mut means = vec![0.0; outputs];
        for (&j, h) in at.support.iter().zip(&at.curvature) {
            let ridge = if self.objective.free().contains(&j) { 0.0 } else { ridge };
            let (square, mean) = (self.columns.square(j), &mut means[j % outputs]);
            if square > 0.0 {
                *mean = f64::max(*mean, (h - ridge) / square);
            }
        }
        means
    }

    /// The point after an exchange, where that is clearly lower.
    fn refitted_without(&self, at: &Stage, leaving: &[usize], entering: &[usize]) -> Result<Option<Stage>> {
        let stays = |j: usize| self.budget.unit(j).is_none_or(|unit| !leaving.contains(&unit));
        let old = at.support.iter().zip(&at.x).filter(|(j, _)| stays(**j)).map(|(&j, &x)| (j, x));
        let new = entering.iter().flat_map(|&unit| self.budget.members(unit));
        let mut entries: Vec<(usize, f64)> = old.chain(new.map(|j| (j, 0.0))).collect();
        entries.sort_unstable_by_key(|entry| entry.0);
        let (support, x) = entries.into_iter().unzip();
        let found = self.refit(support, x, at.value)?;
        Ok(found.filter(|found| found.value < at.value - GAIN * at.value.abs()))
    }
}
