//! Cross-validation over shards: rows held out weigh nothing where they lie, and all fits go side by side.
//!
//! Every fold and every ridge is a chain of fits, k after k, each from the one before; so is, where a path is asked
//! for, every ridge on all rows. The chains ask their questions together (`objective/shards/together.rs`), so that a
//! choice over V folds and L ridges takes about as many passes over the rows as the longest chain of its own, and not
//! V L times as many. Rows held out are scored in one pass for all models.

use super::{CvCell, CvTable, Metric, Problem, Rule};
use crate::error::{Error, Result, check_option};
use crate::loss::Loss;
use crate::objective::{
    Communication, LinearModel, Objective, Passed, Passes, Seat, Summed, SummedOptions, side_by_side,
};
use crate::path::{GridSolution, PathSolution};
use crate::solver::{Solution, Solver, Status};
use crate::sparsity::{SparseRef, Sparsity};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Shards whose rows are dealt to folds.
pub trait FoldedShards: Passes {
    /// How many folds there are.
    fn folds(&self) -> usize;

    /// How many times the rows were dealt to them.
    fn times(&self) -> usize {
        1
    }

    /// For every fold and every model listed for it: the sum over the rows held out of their weights times their score,
    /// and at the end of each list the weight of these rows.
    fn scores(&self, models: &[Vec<LinearModel>]) -> Result<Vec<Vec<f64>>>;
}

/// What [`FoldedShards::scores`] adds up, for a block of rows (weights, where there are any, times 0 for rows that are
/// not held out).
pub fn scores_of(problem: &Problem, held: &[f64], metric: Metric, models: &[LinearModel]) -> Result<Vec<f64>> {
    let weight: f64 = held.iter().sum();
    let mut sums = vec![0.0; models.len() + 1];
    sums[models.len()] = weight;
    if weight == 0.0 {
        return Ok(sums);
    }
    let rows: Vec<usize> = (0..held.len()).filter(|&i| held[i] > 0.0).collect();
    let (target, weights) = (super::problem::pick(problem.target, &rows), super::problem::pick(held, &rows));
    for (sum, model) in sums.iter_mut().zip(models) {
        let z = problem.predict(model, &rows)?;
        *sum = weight * metric.score(problem.loss, &z, &target, Some(&weights))?;
    }
    Ok(sums)
}

/// A choice over shards and its options.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardedValidation {
    /// Values of k; `None`: 0 to 64, about 1.4 times as many each. Default `None`.
    pub ks: Option<Vec<usize>>,
    /// Ridges; `None`: 1 to 0.001 of the typical curvature of a column. Default `None`.
    pub lambdas: Option<Vec<f64>>,
    /// Coordinates forced in, free of charge. Default none.
    pub keep: Vec<usize>,
    /// What the scores are. Default deviance.
    pub metric: Metric,
    /// Which cell wins. Default the best.
    pub rule: Rule,
    /// What the objective is besides; its ridge is not used.
    pub options: SummedOptions,
    /// After so much time no further cell is begun; every chain has one. Default none.
    pub time_limit: Option<Duration>,
    /// Whether every cell is fitted to all rows as well. Default false.
    pub path: bool,
    /// At most so many chains at once, each of which holds some vectors over all columns. Default 32.
    pub at_once: usize,
}

impl Default for ShardedValidation {
    fn default() -> Self {
        Self {
            ks: None,
            lambdas: None,
            keep: Vec::new(),
            metric: Metric::Deviance,
            rule: Rule::Best,
            options: SummedOptions::default(),
            time_limit: None,
            path: false,
            at_once: 32,
        }
    }
}

/// Sizes compared unless others are asked for, as far as there are columns.
const KS: [usize; 13] = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
/// Ridges compared unless others are asked for, in units of the typical curvature of a column.
const RIDGES: [f64; 4] = [1.0, 1e-1, 1e-2, 1e-3];

/// A fit of a chain that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct CellDone {
    /// Its k.
    pub k: usize,
    /// Its lambda.
    pub lambda: f64,
    /// The fold held out; `None` on all rows.
    pub fold: Option<usize>,
    /// Fits done so far, this one included, and all there will be.
    pub done: usize,
    /// All that there will be.
    pub total: usize,
    /// Its objective.
    pub value: f64,
    /// The model.
    pub model: LinearModel,
}

/// What was chosen over shards.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardedSelection {
    /// The chosen k.
    pub k: usize,
    /// The chosen lambda.
    pub lambda: f64,
    /// The model of that cell fitted to all rows.
    pub model: LinearModel,
    /// The solution behind it.
    pub solution: Solution,
    /// All scores.
    pub table: CvTable,
    /// The fits to all rows, where they were asked for.
    pub path: GridSolution,
    /// Their models, in the order of the cells.
    pub models: Vec<LinearModel>,
    /// Whether k is the largest compared though there are more columns.
    pub at_edge: bool,
    /// Rows of all shards.
    pub rows: u64,
    /// What all of it took; a pass that answers several fits is one round.
    pub communication: Communication,
}

/// A chain that has ended.
struct Chain {
    solutions: Vec<Solution>,
    models: Vec<LinearModel>,
    said: Communication,
}

impl ShardedValidation {
    /// Scores every cell, chooses one and solves it on all rows. `hear` is called after every fit, on the thread that
    /// called; when it returns `Break`, or the time is up, the cells that all folds have finished by then decide.
    pub fn solve(
        &self,
        shards: &dyn FoldedShards,
        loss: &dyn Loss,
        solver: &dyn Solver,
        hear: &mut dyn FnMut(&CellDone) -> ControlFlow<()>,
    ) -> Result<ShardedSelection> {
        self.metric.check(loss)?;
        check_option(self.metric != Metric::Auc, "metric", "auc", "one that is a mean over rows")?;
        check_option(shards.folds() > 1, "folds", shards.folds(), "2 or more")?;
        let (started, before) = (Instant::now(), shards.sent());
        let (columns, unit, first) = look(shards, loss, &self.options, self.lambdas.is_none())?;
        let mut lambdas = self.lambdas.clone().unwrap_or_else(|| RIDGES.iter().map(|share| share * unit).collect());
        lambdas.sort_by(|a, b| b.total_cmp(a));
        lambdas.dedup();
        let search = Search {
            validation: self,
            loss,
            solver,
            ks: self.ks(columns),
            lambdas,
            stop: AtomicBool::new(false),
            started,
        };
        check_option(!search.ks.is_empty(), "ks", "empty", "at least one k")?;
        check_option(!search.lambdas.is_empty(), "lambdas", "empty", "at least one ridge")?;
        let (mut chains, mut passed) = search.chains(shards, hear)?;
        let whole = chains.split_off(shards.folds() * search.lambdas.len());
        passed.passes += 1 + first.passes;
        passed.time += first.time;
        let table = search.table(shards, &chains)?;
        let winner = table.winner(self.rule);
        let (k, lambda) = (winner.k, winner.lambda);
        let mut said = Communication::default();
        chains.iter().chain(&whole).for_each(|chain| add(&mut said, &chain.said));
        let known = search.at(&whole, k, lambda);
        let sparsity = Sparsity::new(k).keep(self.keep.iter().copied());
        let fit = |_: usize, seat: &Seat<()>| {
            let options = SummedOptions { ridge: lambda, ..self.options.clone() };
            let summed = Summed::new(seat, loss, options)?;
            let mut solution = solver.solve(&summed, &sparsity, None, &mut |_| ControlFlow::Continue(()))?;
            if let Some(other) = known.filter(|other| other.value < solution.value) {
                solution = other.clone();
            }
            Ok((summed.model(&solution), solution, summed.communication(), summed.rows()))
        };
        let (mut ended, last) = side_by_side(shards, &[None], fit, &mut |()| ())?;
        let Some((model, solution, own, rows)) = ended.pop() else { return Err(Error::Cancelled) };
        add(&mut said, &own);
        said.rounds = passed.passes + last.passes;
        if let Some((now, before)) = shards.sent().zip(before) {
            said.up = now - before;
        }
        said.seconds = (passed.time + last.time).as_secs_f64();
        let at_edge = k > 0 && search.ks.last() == Some(&k) && k + self.keep.len() < columns;
        let models = whole.iter().flat_map(|chain| chain.models.clone()).collect();
        let path = search.path(whole);
        Ok(ShardedSelection { k, lambda, model, solution, table, path, models, at_edge, rows, communication: said })
    }

    /// The sizes compared, ascending.
    fn ks(&self, columns: usize) -> Vec<usize> {
        let most = columns.saturating_sub(self.keep.len());
        let mut ks: Vec<usize> = self.ks.as_deref().unwrap_or(&KS).iter().map(|&k| k.min(most)).collect();
        ks.sort_unstable();
        ks.dedup();
        ks
    }
}

/// The number of columns, where it is asked for the typical curvature of one (see `ranges.rs`), and what that took.
fn look(
    shards: &dyn FoldedShards,
    loss: &dyn Loss,
    options: &SummedOptions,
    curvature: bool,
) -> Result<(usize, f64, Passed)> {
    let find = |_: usize, seat: &Seat<()>| {
        let summed = Summed::new(seat, loss, SummedOptions { ridge: 0.0, ..options.clone() })?;
        let mut curvatures = vec![0.0; summed.dim()];
        if curvature && let Some(hessian) = summed.at(SparseRef::ZERO)?.hessian()? {
            hessian.diagonal(&mut curvatures)?;
        }
        summed.free().iter().for_each(|&j| curvatures[j] = 0.0);
        curvatures.retain(|h| *h > 0.0 && h.is_finite());
        curvatures.sort_unstable_by(f64::total_cmp);
        Ok((summed.features(), curvatures.get(curvatures.len() / 2).copied().unwrap_or(1.0)))
    };
    let (found, passed) = side_by_side(shards, &[None], find, &mut |()| ())?;
    found.first().map(|&(columns, unit)| (columns, unit, passed)).ok_or(Error::Cancelled)
}

/// A choice under way.
struct Search<'a> {
    validation: &'a ShardedValidation,
    loss: &'a dyn Loss,
    solver: &'a dyn Solver,
    ks: Vec<usize>,
    lambdas: Vec<f64>,
    /// Set when no further cell is to be begun.
    stop: AtomicBool,
    started: Instant,
}

impl Search<'_> {
    /// All chains: fold by fold, for each lambda by lambda; at the end those on all rows.
    fn chains(
        &self,
        shards: &dyn FoldedShards,
        hear: &mut dyn FnMut(&CellDone) -> ControlFlow<()>,
    ) -> Result<(Vec<Chain>, Passed)> {
        let folds = (0..shards.folds()).map(Some).chain(self.validation.path.then_some(None));
        let all: Vec<(Option<usize>, f64)> =
            folds.flat_map(|fold| self.lambdas.iter().map(move |&lambda| (fold, lambda))).collect();
        let (mut chains, mut passed, mut done) = (Vec::new(), Passed::default(), 0);
        for wave in all.chunks(self.validation.at_once.max(1)) {
            let without: Vec<Option<usize>> = wave.iter().map(|(fold, _)| *fold).collect();
            let work = |number: usize, seat: &Seat<CellDone>| self.chain(wave[number], seat);
            let (ended, took) = side_by_side(shards, &without, work, &mut |mut cell| {
                done += 1;
                (cell.done, cell.total) = (done, all.len() * self.ks.len());
                if !self.stop.load(Ordering::Relaxed) && hear(&cell).is_break() {
                    self.stop.store(true, Ordering::Relaxed);
                }
            })?;
            chains.extend(ended);
            passed.passes += took.passes;
            passed.time += took.time;
        }
        Ok((chains, passed))
    }

    fn stopped(&self) -> bool {
        let limit = self.validation.time_limit;
        self.stop.load(Ordering::Relaxed) || limit.is_some_and(|limit| self.started.elapsed() >= limit)
    }

    fn chain(&self, (fold, lambda): (Option<usize>, f64), seat: &Seat<CellDone>) -> Result<Chain> {
        let options = SummedOptions { ridge: lambda, ..self.validation.options.clone() };
        let summed = Summed::new(seat, self.loss, options)?;
        let (mut solutions, mut models): (Vec<Solution>, Vec<LinearModel>) = (Vec::new(), Vec::new());
        for &k in &self.ks {
            // One cell is finished whatever it takes: there is something to choose then.
            let may_stop = !solutions.is_empty();
            let go_on = || if may_stop && self.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            if go_on().is_break() {
                break;
            }
            let sparsity = Sparsity::new(k).keep(self.validation.keep.iter().copied());
            let mut solution = self.solver.solve(&summed, &sparsity, solutions.last(), &mut |_| go_on())?;
            if may_stop && matches!(solution.status, Status::Stopped | Status::TimeLimit) {
                break;
            }
            if let Some(before) = solutions.last().filter(|before| before.value < solution.value) {
                (solution.support, solution.coefficients) = (before.support.clone(), before.coefficients.clone());
                solution.value = before.value;
            }
            let model = summed.model(&solution);
            seat.tell(CellDone { k, lambda, fold, done: 0, total: 0, value: solution.value, model: model.clone() });
            solutions.push(solution);
            models.push(model);
        }
        Ok(Chain { solutions, models, said: summed.communication() })
    }

    /// The scores of the cells that every fold has a model of.
    fn table(&self, shards: &dyn FoldedShards, chains: &[Chain]) -> Result<CvTable> {
        let (folds, ridges) = (shards.folds(), self.lambdas.len());
        let known = |l: usize| (0..folds).map(|fold| chains[fold * ridges + l].models.len()).min().unwrap_or(0);
        let known: Vec<usize> = (0..ridges).map(known).collect();
        let of_fold = |fold: usize| {
            let ends = chains[fold * ridges..].iter().zip(&known);
            ends.flat_map(|(chain, &known)| chain.models[..known].to_vec()).collect::<Vec<LinearModel>>()
        };
        let sums = shards.scores(&(0..folds).map(of_fold).collect::<Vec<_>>())?;
        let weights: Vec<f64> = sums.iter().map(|sums| sums.last().copied().unwrap_or(0.0)).collect();
        if let Some(fold) = weights.iter().position(|weight| *weight <= 0.0) {
            return Err(Error::Data(format!("fold {fold} has no rows: take fewer folds, or more rows")));
        }
        let pairs =
            known.iter().zip(&self.lambdas).flat_map(|(&known, &l)| self.ks[..known].iter().map(move |&k| (k, l)));
        let times = shards.times() as f64;
        let cell = |(c, (k, lambda)): (usize, (usize, f64))| {
            let scores = sums.iter().zip(&weights).map(|(sums, weight)| sums[c] / weight).collect();
            CvCell::new(k, lambda, scores, &weights).scored(times)
        };
        let cells: Vec<CvCell> = pairs.enumerate().map(cell).collect();
        let null = cells.iter().find(|cell| cell.k == 0).map(|cell| cell.mean);
        let table = CvTable::new(self.validation.metric, (0..folds).collect(), cells)?;
        let table = table.of_labels(self.loss.target().labels());
        Ok(null.map_or(table.clone(), |null| table.scaled(null)))
    }

    /// The fit of a cell to all rows, if there was time for it.
    fn at<'c>(&self, whole: &'c [Chain], k: usize, lambda: f64) -> Option<&'c Solution> {
        let row = self.lambdas.iter().position(|other| *other == lambda)?;
        let place = self.ks.iter().position(|other| *other == k)?;
        whole.get(row)?.solutions.get(place)
    }

    /// The fits to all rows.
    fn path(&self, whole: Vec<Chain>) -> GridSolution {
        let short = |chain: &Chain| (chain.solutions.len() < self.ks.len()).then_some(Status::Stopped);
        let path = |chain: Chain| PathSolution {
            ks: self.ks[..chain.solutions.len()].to_vec(),
            stopped: short(&chain),
            solutions: chain.solutions,
        };
        GridSolution { lambdas: self.lambdas[..whole.len()].to_vec(), paths: whole.into_iter().map(path).collect() }
    }
}

/// Bytes of one more.
fn add(sum: &mut Communication, other: &Communication) {
    sum.up += other.up;
    sum.down += other.down;
}
