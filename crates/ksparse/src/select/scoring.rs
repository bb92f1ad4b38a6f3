//! The table of a choice: every k, two ridges, every split, as one computation.
//!
//! For each ridge to select under, every split gets its supports for all k at once (`descent.rs`). A support is then
//! refitted under several ridges and scored on the rows held out; of these ridges only those around the best are tried:
//! from the largest k to the smallest the walk begins where it ended for the k before and goes on while the mean over
//! the splits gets better.

use super::choose::Choose;
use super::control::Control;
use super::descent::{self, Columns, Descent, Stage, Whole};
use super::rungs::{Ladder, Rung, rungs};
use super::splits::{Scorer, times};
use super::task::OnRows;
use super::{CvCell, CvProgress, CvTable, ranges};
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::path::{Path, PathProgress};
use crate::solver::{Progress, Solver};
use crate::sparsity::Sparsity;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// Under a weak ridge no more columns than this are selected: it asks how well a few do alone.
const ALONE: usize = 128;
/// It is not asked where so few are this many standard errors behind more of them under the usual ridge.
const HOPELESS: f64 = 5.0;
/// How often the values of k are extended.
const EXTENSIONS: usize = 2;
/// Supports that share so much with those of another ridge for the same k are not scored again.
const SAME: f64 = 0.9;

/// A cell: numbers of its ridges in their lists, its k between them.
pub(super) type Key = (usize, usize, usize);

/// Where the scores come from and where they go.
pub(super) struct Scoring<'a, 'c, 'w> {
    pub choose: &'a Choose,
    pub scorer: &'a Scorer<'a>,
    /// By split, then by task.
    pub trainings: Vec<Vec<Box<dyn OnRows + 'a>>>,
    /// The points over all columns, for the next ridge to begin at; likewise.
    pub wholes: Vec<Vec<Mutex<Whole>>>,
    pub solver: &'a dyn Solver,
    pub control: &'a Control<'c, 'w>,
    /// Ridges, descending.
    pub selects: Vec<f64>,
    pub refits: Vec<f64>,
    /// The ridge to select under unless another is clearly better.
    pub usual: Option<f64>,
    /// Whether the strongest ridge goes first.
    pub strongest_first: bool,
    /// The values of k, ascending; further ones are added.
    pub ks: Vec<usize>,
    /// The largest k that the data carry, and the largest that may be tried.
    pub carried: usize,
    pub furthest: usize,
    /// One score per split; NaN where a split was not reached.
    pub scores: BTreeMap<Key, Vec<f64>>,
    /// Supports by ridge and k, then by split and task.
    pub supports: BTreeMap<(usize, usize), Vec<Vec<Vec<usize>>>>,
}

impl Scoring<'_, '_, '_> {
    /// The model without features, whatever the ridges.
    pub fn score_nothing(&mut self) -> Result<()> {
        let empty: Vec<Result<Ladder>> = self.trainings.par_iter().map(|split| self.nothing(split)).collect();
        let ladders = empty.into_iter().collect::<Result<Vec<_>>>()?;
        self.score_cell((0, 0, 0), &mut rungs(&ladders, 0, self.trainings.len()))?;
        Ok(())
    }

    fn nothing(&self, split: &[Box<dyn OnRows + '_>]) -> Result<Ladder> {
        let keep = self.scorer.tasks[0].sparsity(0, &self.choose.keep).keep;
        let stage = |training: &dyn OnRows| descent::nothing(&*training.objective(0.0)?, &keep);
        let stages = split.iter().map(|training| stage(&**training));
        Ok(BTreeMap::from([(0, stages.collect::<Result<Vec<_>>>()?)]))
    }

    /// Scores all k under every ridge, and further ones where the choice lies at their end; ends early when told to.
    pub fn score(&mut self, weights: &[f64]) -> Result<()> {
        // The usual ridge first: what the others find in common with it is not scored again. Then the weaker ones,
        // which begin at what it has found.
        let usual = self.usual.unwrap_or(f64::INFINITY);
        let mut order: Vec<usize> = (0..self.selects.len()).collect();
        if !self.strongest_first {
            order.sort_by_key(|&select| (self.selects[select] != usual, self.selects[select] > usual));
        }
        for select in order {
            let ks = self.worth_trying(select, weights)?;
            self.score_under(select, &ks)?;
            if self.control.go_on().is_break() {
                break;
            }
            if self.strongest_first && select == 0 {
                self.extend(weights)?;
            }
        }
        self.extend(weights)
    }

    /// The values of k to score under a ridge, beside none.
    fn worth_trying(&self, select: usize, weights: &[f64]) -> Result<Vec<usize>> {
        // After the strongest ridge a smaller k is looked for, not a larger one.
        let later = self.strongest_first && select > 0;
        let chosen = if later { self.table(weights, true)?.0.winner(self.choose.rule).k } else { usize::MAX };
        let most = match self.usual.is_some_and(|usual| self.selects[select] < usual) {
            true if later && chosen > ALONE || self.few_are_hopeless(weights)? => 0,
            true => ALONE,
            false => chosen.max(ALONE),
        };
        Ok(self.ks.iter().copied().filter(|&k| k > 0 && k <= most).collect())
    }

    /// Scores further k while the choice lies at the end of those there are: the largest of what the data carry, or
    /// beyond half of a range that was cut short.
    fn extend(&mut self, weights: &[f64]) -> Result<()> {
        for _ in 0..EXTENSIONS {
            let (table, keys) = self.table(weights, true)?;
            let (place, winner) = table.winner_and_place(self.choose.rule);
            let last = self.ks.last().copied().unwrap_or(0);
            let at_end = if last < self.carried { 2 * winner.k > last } else { winner.k == last };
            let further = ranges::further_ks(&self.ks, self.furthest);
            if !at_end || self.choose.ks.is_some() || further.is_empty() || self.control.go_on().is_break() {
                break;
            }
            self.score_under(keys[place].0, &further)?;
            self.ks.extend(further);
        }
        Ok(())
    }

    /// Whether a few columns are clearly behind many, by what was scored so far.
    fn few_are_hopeless(&self, weights: &[f64]) -> Result<bool> {
        let (table, _) = self.table(weights, true)?;
        let cost = |cell: &CvCell| if self.scorer.metric.is_gain() { -cell.mean } else { cell.mean };
        let better = |a: &&CvCell, b: &&CvCell| cost(a).total_cmp(&cost(b));
        let best = table.cells().iter().min_by(better);
        let few = table.cells().iter().filter(|cell| cell.k <= ALONE).min_by(better);
        let pair = best.zip(few);
        Ok(pair.is_some_and(|(best, few)| cost(few) > cost(best) + HOPELESS * best.standard_error))
    }

    /// Scores these k under one ridge.
    pub fn score_under(&mut self, select: usize, ks: &[usize]) -> Result<()> {
        if ks.is_empty() {
            return Ok(());
        }
        let ladders: Vec<Result<Ladder>> =
            (0..self.trainings.len()).into_par_iter().map(|split| self.ladder(split, select, ks)).collect();
        let ladders = ladders.into_iter().collect::<Result<Vec<_>>>()?;
        let mut best = self.nearest_refit(self.selects[select]);
        for &k in ks.iter().rev() {
            let mut rungs = rungs(&ladders, k, self.trainings.len());
            let support = |rung: &Option<Rung>| rung.as_ref().map_or(Vec::new(), Rung::supports);
            let supports: Vec<Vec<Vec<usize>>> = rungs.iter().map(support).collect();
            if rungs.iter().all(Option::is_none) {
                continue;
            }
            if let Some(other) = self.known(select, k, &supports) {
                self.take_over(select, k, other);
                self.supports.insert((select, k), supports);
            } else if self.control.go_on().is_continue() {
                best = self.walk(select, k, self.best_refit(k).unwrap_or(best), &mut rungs)?;
                self.supports.insert((select, k), supports);
            }
        }
        Ok(())
    }

    /// Another ridge that has led to much the same supports for this k. Cells that were asked for one by one are all
    /// scored.
    fn known(&self, select: usize, k: usize, supports: &[Vec<Vec<usize>>]) -> Option<usize> {
        if self.usual.is_none() || self.refits.is_empty() {
            return None;
        }
        let flat = |supports: &[Vec<Vec<usize>>]| supports.iter().flatten().cloned().collect::<Vec<_>>();
        let here = flat(supports);
        let others = (0..self.selects.len()).filter(|&other| other != select);
        let mut others = others.filter_map(|other| Some((other, self.supports.get(&(other, k))?)));
        let same = others.find(|(_, there)| {
            let pairs = here.iter().zip(flat(there)).filter(|(a, _)| !a.is_empty());
            let shared = pairs.map(|(a, b)| a.iter().filter(|j| b.binary_search(j).is_ok()).count()).sum::<usize>();
            shared as f64 >= SAME * here.iter().map(Vec::len).sum::<usize>() as f64
        });
        same.map(|(other, _)| other)
    }

    /// Gives the cells of a ridge for this k the scores of another's.
    fn take_over(&mut self, select: usize, k: usize, other: usize) {
        let cells = self.scores.range((other, k, 0)..=(other, k, usize::MAX));
        let taken: Vec<(Key, Vec<f64>)> = cells.map(|(key, scores)| ((select, k, key.2), scores.clone())).collect();
        self.scores.extend(taken);
    }

    /// The supports of a split under one ridge.
    fn ladder(&self, split: usize, select: usize, ks: &[usize]) -> Result<Ladder> {
        let mut ladder = Ladder::new();
        for (training, whole) in self.trainings[split].iter().zip(&self.wholes[split]) {
            let lambda = self.selects[select];
            let objective = training.objective(lambda)?;
            let sparsity = self.scorer.tasks[0].sparsity(0, &self.choose.keep);
            let stages = if self.choose.solves(&*objective) {
                self.solved(&*objective, sparsity, split, select, ks)?
            } else {
                let mut ask = |k: usize, at: &Stage| {
                    let solver = Progress {
                        iteration: 0,
                        value: at.value,
                        support: &at.support,
                        coefficients: &at.x,
                        entered: 0,
                        step: None,
                        dual: None,
                        seconds: self.control.started.elapsed().as_secs_f64(),
                    };
                    self.report(split, select, k, &solver)
                };
                // A split is worked on by one thread at a time.
                let mut whole = whole.lock().unwrap_or_else(PoisonError::into_inner);
                let columns = Columns::of(&**training, lambda);
                let descent = Descent::new(columns, &*objective, sparsity, &self.control.cancel)?;
                descent.descend(ks, &mut whole, &mut ask)?
            };
            for (k, stage) in stages {
                ladder.entry(k).or_default().push(stage);
            }
        }
        // With several tasks, only what all of them have.
        ladder.retain(|_, stages| stages.len() == self.trainings[split].len());
        Ok(ladder)
    }

    fn report(&self, split: usize, select: usize, k: usize, solver: &Progress) -> ControlFlow<()> {
        let (done, total) = (self.supports.len(), self.supports.len().max(self.selects.len()));
        let path = PathProgress { k, lambda: Some(self.selects[select]), done, total, solver: *solver };
        self.control.report(&CvProgress { fold: Some(split), path })
    }

    /// The same by the solver, for losses with corners and on request.
    fn solved(
        &self,
        objective: &dyn Objective,
        sparsity: Sparsity,
        split: usize,
        select: usize,
        ks: &[usize],
    ) -> Result<Vec<(usize, Stage)>> {
        let Sparsity { keep, groups, .. } = sparsity;
        let path = Path { keep, groups, cancel: self.control.cancel.clone(), ..Path::over(ks.iter().copied()) };
        let mut watch = |at: &PathProgress| self.report(split, select, at.k, &at.solver);
        let solved = path.solve(objective, self.solver, &mut watch)?;
        Ok(solved.iter().map(|(k, solution)| (k, Stage::from(solution))).collect())
    }

    /// The place of the ridge nearest to this one.
    fn nearest_refit(&self, lambda: f64) -> usize {
        let far = |r: &usize| (self.refits[*r].max(f64::MIN_POSITIVE).ln() - lambda.max(f64::MIN_POSITIVE).ln()).abs();
        (0..self.refits.len()).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(0)
    }

    /// The best ridge for the refit of a support of this size, whatever it was selected under.
    fn best_refit(&self, k: usize) -> Option<usize> {
        let cells = self.scores.iter().filter(|(key, _)| key.1 == k);
        cells.map(|(key, scores)| (self.cost(scores), key.2)).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, refit)| refit)
    }

    /// The mean over the splits that were reached, lower being better.
    fn cost(&self, scores: &[f64]) -> f64 {
        let finished: Vec<f64> = scores.iter().copied().filter(|score| !score.is_nan()).collect();
        let mean = finished.iter().sum::<f64>() / finished.len() as f64;
        if self.scorer.metric.is_gain() { -mean } else { mean }
    }

    /// Tries ridges for the refit from `start` on while the mean gets better; returns the best.
    fn walk(&mut self, select: usize, k: usize, start: usize, rungs: &mut [Option<Rung>]) -> Result<usize> {
        if self.refits.is_empty() {
            self.score_cell((select, k, select), rungs)?;
            return Ok(0);
        }
        let mut best = (self.score_cell((select, k, start), rungs)?, start);
        // Fewer columns ask for weaker ridges than more of them did: where they cannot win, no stronger one is tried.
        let steps: &[isize] = if self.is_behind(best.0) { &[1] } else { &[-1, 1] };
        for &step in steps {
            let mut place = start;
            while let Some(next) = place.checked_add_signed(step).filter(|&next| next < self.refits.len()) {
                if self.control.go_on().is_break() {
                    break;
                }
                let cost = self.score_cell((select, k, next), rungs)?;
                place = next;
                if cost >= best.0 {
                    break;
                }
                best = (cost, next);
            }
        }
        Ok(best.1)
    }

    /// Whether a cost is many standard errors above the least there is.
    fn is_behind(&self, cost: f64) -> bool {
        let costs = self.scores.values().map(|scores| (self.cost(scores), scores));
        costs.min_by(|a, b| a.0.total_cmp(&b.0)).is_some_and(|(least, scores)| {
            let cell = CvCell::new(0, 0.0, scores.clone(), &vec![1.0; scores.len()]);
            cost > least + HOPELESS * cell.standard_error
        })
    }

    /// Scores a cell on all splits that have its support; its cost, lower being better.
    fn score_cell(&mut self, key: Key, rungs: &mut [Option<Rung>]) -> Result<f64> {
        let lambda = self.refit_ridge(key);
        // The model without features is scored in any case: there is always something known.
        let cancel = if key.1 == 0 { &Cancel::NEVER } else { &self.control.cancel };
        let scored: Vec<Result<f64>> = rungs
            .par_iter_mut()
            .enumerate()
            .map(|(split, rung)| match rung {
                None => Ok(f64::NAN),
                Some(rung) => match rung.models(&self.trainings[split], key.2, lambda, cancel) {
                    Err(Error::Cancelled) => Ok(f64::NAN),
                    models => self.scorer.score(split, &models?),
                },
            })
            .collect();
        let scores = scored.into_iter().collect::<Result<Vec<f64>>>()?;
        let cost = self.cost(&scores);
        if scores.iter().any(|score| !score.is_nan()) {
            self.scores.insert(key, scores);
        }
        Ok(cost)
    }

    /// The ridges to select under that win unless others are clearly better: the stronger, the steadier.
    fn preferred(&self) -> Vec<f64> {
        let usual = self.usual.unwrap_or(f64::INFINITY);
        self.selects.iter().copied().filter(|&select| select >= usual).collect()
    }

    /// The ridge of the refit of a cell.
    pub fn refit_ridge(&self, key: Key) -> f64 {
        if self.refits.is_empty() { self.selects[key.2] } else { self.refits[key.2] }
    }

    /// All that was scored. Cells of fewer splits than others are left out: their means cannot be compared.
    pub fn table(&self, weights: &[f64], with_nothing: bool) -> Result<(CvTable, Vec<Key>)> {
        let finished = |scores: &[f64]| (0..scores.len()).filter(|&v| !scores[v].is_nan()).collect::<Vec<usize>>();
        let most =
            self.scores.iter().filter(|(key, _)| key.1 > 0).map(|(_, scores)| finished(scores)).max_by_key(Vec::len);
        let used = most.unwrap_or_else(|| (0..weights.len()).collect());
        let weights: Vec<f64> = used.iter().map(|&v| weights[v]).collect();
        let times = times(self.scorer.splits);
        let (mut cells, mut keys) = (Vec::new(), Vec::new());
        for (&key, scores) in &self.scores {
            if used.iter().all(|&v| !scores[v].is_nan()) {
                let scores = used.iter().map(|&v| scores[v]).collect();
                let cell = CvCell::new(key.1, self.selects[key.0], scores, &weights).scored(times);
                cells.push(cell.refitted(self.refit_ridge(key)));
                keys.push(key);
            }
        }
        let nothing = cells.iter().find(|cell| cell.k == 0).map(|cell| cell.mean);
        if !with_nothing && cells.len() > 1 {
            // Scored as a measure only: not among what was asked for.
            cells.remove(0);
            keys.remove(0);
        }
        if cells.iter().all(|cell| !cell.mean.is_finite()) {
            let problem = "no cell has a finite score: check the scorer, and that the rows held out can be scored";
            return Err(Error::Data(problem.to_string()));
        }
        let table = CvTable::new(self.scorer.metric, used, cells)?.preferring(&self.preferred());
        let table = table.of_labels(self.scorer.tasks[0].labels());
        Ok((nothing.into_iter().fold(table, CvTable::scaled), keys))
    }
}
