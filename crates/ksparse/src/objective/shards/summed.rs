//! The objective over shards.

use super::frame::Spread;
use super::on_support::OnSupport;
use super::shard::corners;
use super::{Frame, Question, Rounds};
use crate::error::{Error, Result, check_finite, check_option};
use crate::linalg::MatrixMut;
use crate::loss::Loss;
use crate::objective::{BlockCost, Hessian, LinearModel, Objective, Point, Profile};
use crate::restricted::Restricted;
use crate::solver::Solution;
use crate::sparsity::SparseRef;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What a [`Summed`] is besides its shards.
#[derive(Debug, Clone, PartialEq)]
pub struct SummedOptions {
    /// lambda, on every coefficient but the intercept. Default 0.
    pub ridge: f64,
    /// Whether there is an intercept: a last coordinate, free and unpenalised. Default true.
    pub intercept: bool,
    /// Whether columns are centred and divided by their standard deviation. Default false.
    pub standardize: bool,
    /// What the ridge on each column is multiplied by, positive numbers; empty for 1. Default empty.
    pub penalty_factors: Vec<f64>,
}

impl Default for SummedOptions {
    fn default() -> Self {
        Self { ridge: 0.0, intercept: true, standardize: false, penalty_factors: Vec::new() }
    }
}

/// What shards and their driver have told each other.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Communication {
    /// Questions put to all shards.
    pub rounds: u64,
    /// Bytes of the answers of all shards.
    pub up: u64,
    /// Bytes of the questions, to all shards.
    pub down: u64,
    /// Seconds waited for answers.
    pub seconds: f64,
}

/// Mean loss over shards plus a ridge, as an [`Objective`]: solvers that need no single rows run on it.
pub struct Summed<'a> {
    rounds: &'a dyn Rounds,
    loss: &'a dyn Loss,
    ridge: f64,
    frame: Frame,
    columns: usize,
    rows: u64,
    weight: f64,
    /// The work of a pass over all shards.
    cost: f64,
    free: Vec<usize>,
    at_zero: OnceLock<f64>,
    asked: AtomicU64,
    up: AtomicU64,
    /// What the rounds had counted before.
    before: Option<u64>,
    down: AtomicU64,
    waited: Mutex<Duration>,
}

impl<'a> Summed<'a> {
    /// The objective over these shards, after a round of sums over their columns and, where columns are centred or
    /// scaled, one of squares about the means.
    pub fn new(rounds: &'a dyn Rounds, loss: &'a dyn Loss, options: SummedOptions) -> Result<Self> {
        let SummedOptions { ridge, intercept, standardize, penalty_factors } = options;
        check_option(ridge >= 0.0 && ridge.is_finite(), "lambda", ridge, "non-negative and finite")?;
        if loss.smoothness().has_corners() {
            return Err(corners(loss));
        }
        let mut summed = Self {
            rounds,
            loss,
            ridge,
            frame: Frame::default(),
            columns: 0,
            rows: 0,
            weight: 0.0,
            cost: 0.0,
            free: Vec::new(),
            at_zero: OnceLock::new(),
            asked: AtomicU64::new(0),
            up: AtomicU64::new(0),
            before: rounds.sent(),
            down: AtomicU64::new(0),
            waited: Mutex::new(Duration::ZERO),
        };
        let totals = summed.ask(&Question::Totals)?;
        let [rows, weight, cost, target] = [0, 1, 2, 3].map(|i| totals.get(i).copied().unwrap_or(0.0));
        check_finite("sums over the shards", &totals)?;
        if totals.len() < 5 {
            return Err(Error::Data("there are no shards, or they have no columns".to_string()));
        }
        if weight <= 0.0 {
            let problem = if rows > 0.0 { "the rows of all shards weigh nothing" } else { "the shards have no rows" };
            return Err(Error::Data(problem.to_string()));
        }
        (summed.rows, summed.weight, summed.cost, summed.columns) = (rows as u64, weight, cost, totals.len() - 4);
        if intercept || standardize {
            let means: Vec<f64> = totals[4..].iter().map(|s| s / weight).collect();
            let target_mean = target / weight;
            let about = Question::Deviations { centres: means.clone(), target: target_mean };
            let squares: Vec<f64> = summed.ask(&about)?.into_iter().map(|s| s / weight).collect();
            let spread = Spread { means, target_mean, target_square: squares[0], squares: squares[1..].to_vec() };
            summed.frame = Frame::new(&spread, intercept, standardize, loss.of_residual())?;
        }
        if !penalty_factors.is_empty() {
            summed.frame.penalise(&penalty_factors, summed.columns)?;
        }
        if intercept {
            summed.free = vec![summed.columns];
        }
        Ok(summed)
    }

    /// Number of features: coordinates less the intercept.
    pub fn features(&self) -> usize {
        self.columns
    }

    /// Rows of all shards.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// What has been said between shards and driver so far.
    pub fn communication(&self) -> Communication {
        let counted = self.rounds.sent().zip(self.before).map(|(now, before)| now - before);
        Communication {
            rounds: self.asked.load(Ordering::Relaxed),
            up: counted.unwrap_or_else(|| self.up.load(Ordering::Relaxed)),
            down: self.down.load(Ordering::Relaxed),
            seconds: self.waited.lock().unwrap_or_else(PoisonError::into_inner).as_secs_f64(),
        }
    }

    /// The solution as a model of the data as given.
    pub fn model(&self, solution: &Solution) -> LinearModel {
        self.frame.model(solution, self.columns)
    }

    /// A model as a point of this objective.
    pub fn start(&self, model: &LinearModel) -> Solution {
        self.frame.start(model, self.columns)
    }

    /// Counts a round of so many numbers from all shards.
    fn count(&self, question: &Question, numbers: usize, started: Instant) {
        *self.waited.lock().unwrap_or_else(PoisonError::into_inner) += started.elapsed();
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        // The frame goes down once, after the two rounds that found it.
        let frame = if asked == 2 { self.frame.length() } else { 0 };
        let down = (question.length() + frame) * self.rounds.shards();
        self.up.fetch_add(8 * numbers as u64, Ordering::Relaxed);
        self.down.fetch_add(8 * down as u64, Ordering::Relaxed);
    }

    /// A round whose answers are not added up.
    pub(super) fn each(&self, question: &Question) -> Result<Vec<Vec<f64>>> {
        let started = Instant::now();
        let answers = self.rounds.each(question, &self.frame)?;
        self.count(question, answers.iter().map(Vec::len).sum(), started);
        Ok(answers)
    }

    /// A round: the sums over all shards.
    fn ask(&self, question: &Question) -> Result<Vec<f64>> {
        let started = Instant::now();
        let answer = self.rounds.ask(question, &self.frame)?;
        self.count(question, self.rounds.shards() * answer.len(), started);
        let expected = question.answer_length(self.columns, self.dim());
        if *question != Question::Totals && answer.len() != expected {
            let problem = format!("a round gave {} numbers where {expected} were asked for", answer.len());
            return Err(Error::evaluation(problem));
        }
        Ok(answer)
    }

    /// A round at a point: means in place of sums.
    pub(super) fn means(&self, question: &Question) -> Result<Vec<f64>> {
        let mut answer = self.ask(question)?;
        answer.iter_mut().for_each(|a| *a /= self.weight);
        Ok(answer)
    }

    /// lambda for coordinate j.
    pub(super) fn ridge_at(&self, j: usize) -> f64 {
        if self.free.contains(&j) { 0.0 } else { self.ridge }
    }

    pub(super) fn penalty(&self, x: SparseRef) -> f64 {
        0.5 * x.iter().map(|(j, v)| self.ridge_at(j) * v * v).sum::<f64>()
    }

    pub(super) fn loss(&self) -> &'a dyn Loss {
        self.loss
    }

    pub(super) fn ridge(&self) -> f64 {
        self.ridge
    }

    /// f(0), where somebody has asked for it: the size of f.
    pub(super) fn size(&self) -> f64 {
        self.at_zero.get().copied().unwrap_or(0.0)
    }

    fn note(&self, x: SparseRef, value: f64) {
        if x.values.iter().all(|v| *v == 0.0) {
            self.at_zero.get_or_init(|| value);
        }
    }
}

impl Objective for Summed<'_> {
    fn dim(&self) -> usize {
        self.frame.dim(self.columns)
    }

    fn free(&self) -> &[usize] {
        &self.free
    }

    fn at<'b>(&'b self, x: SparseRef<'_>) -> Result<Box<dyn Point + 'b>> {
        let dim = self.dim();
        let (support, values) = (x.indices.to_vec(), x.values.to_vec());
        let sums = self.means(&Question::Full { support: support.clone(), x: values.clone() })?;
        let (mut gradient, mut diagonal) = (sums[1..=dim].to_vec(), sums[1 + dim..].to_vec());
        x.iter().for_each(|(j, v)| gradient[j] += self.ridge_at(j) * v);
        diagonal.iter_mut().enumerate().for_each(|(j, d)| *d += self.ridge_at(j));
        let value = sums[0] + self.penalty(x);
        self.note(x, value);
        Ok(Box::new(SummedPoint { summed: self, support, x: values, value, gradient, diagonal }))
    }

    fn value(&self, x: SparseRef) -> Result<f64> {
        if let Some(known) = self.at_zero.get().filter(|_| x.values.iter().all(|v| *v == 0.0)) {
            return Ok(*known);
        }
        let sums = self.means(&Question::Value { support: x.indices.to_vec(), x: x.values.to_vec() })?;
        let value = sums[0] + self.penalty(x);
        self.note(x, value);
        Ok(value)
    }

    fn profile(&self) -> Profile {
        let mut profile = Profile::of_gradients(self.dim());
        profile.quadratic = self.loss.is_quadratic();
        profile.gradient = self.cost;
        let column = self.cost / self.columns.max(1) as f64;
        profile.hessian = Some(BlockCost { column, entry: column / 6.0 });
        profile
    }

    fn restrict<'b>(&'b self, support: &[usize]) -> Result<Box<dyn Restricted + 'b>> {
        Ok(Box::new(OnSupport::new(self, support)))
    }

    fn narrowed<'b>(&'b self, coordinates: &[usize]) -> Result<Option<Box<dyn Objective + 'b>>> {
        Ok(self.gathered(coordinates)?.map(|risk| Box::new(risk) as Box<dyn Objective + 'b>))
    }
}

/// f at a point: one round, and one more for every block of the Hessian.
struct SummedPoint<'a> {
    summed: &'a Summed<'a>,
    support: Vec<usize>,
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    diagonal: Vec<f64>,
}

impl Point for SummedPoint<'_> {
    fn value(&self) -> f64 {
        self.value
    }

    fn gradient(&self) -> Result<&[f64]> {
        Ok(&self.gradient)
    }

    fn hessian(&self) -> Result<Option<&dyn Hessian>> {
        Ok(Some(self))
    }
}

impl Hessian for SummedPoint<'_> {
    fn diagonal(&self, out: &mut [f64]) -> Result<()> {
        out.copy_from_slice(&self.diagonal);
        Ok(())
    }

    fn diagonal_at(&self, coordinates: &[usize], out: &mut [f64]) -> Result<()> {
        out.iter_mut().zip(coordinates).for_each(|(o, &j)| *o = self.diagonal[j]);
        Ok(())
    }

    fn block(&self, left: &[usize], right: &[usize], mut out: MatrixMut<'_>) -> Result<()> {
        let (support, x) = (self.support.clone(), self.x.clone());
        let sums = self.summed.means(&Question::Block { support, x, left: left.to_vec(), right: right.to_vec() })?;
        for (b, (column, &j)) in sums.chunks(left.len().max(1)).zip(right).enumerate() {
            out.col_mut(b).copy_from_slice(column);
            if let Some(a) = left.iter().position(|&i| i == j) {
                out[(a, b)] += self.summed.ridge_at(j);
            }
        }
        Ok(())
    }
}
