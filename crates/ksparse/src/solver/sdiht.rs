//! SDIHT: stochastic dual iterative hard thresholding.
//!
//! DIHT (see `diht.rs`) by blocks: the samples are cut into m random blocks; each step picks one of them uniformly at
//! random, moves its dual variables only and brings `u = -(1/(lambda N)) sum_i a_i x_i` up to date by the rows of that
//! block. u stays whole: only `w = H_k(u)` is cut, anew in every step.
//!
//! A step costs two passes over the rows of the block and one over the p entries of u, for H_k. So the default number
//! of blocks makes the two about equal, m = (work of a pass over X) / p: single samples for a full matrix, fewer blocks
//! where H_k would dominate. Blocks pay because the curvature of the dual in the variables of a block is so much
//! smaller than in all: the steps are longer in the same proportion.
//!
//! The first step turns the design round once (see [`Design::dot_rows`](crate::design::Design::dot_rows)): a sparse one
//! then takes 12 more bytes an entry, a dense one twice its memory. With an unpenalised intercept, blocks keep their
//! sum `sum_i c_i a_i`, hold two samples at least, and are drawn anew every epoch, as otherwise their sums would never
//! change.
//!
//! m = 1 is DIHT, step by step.

use super::ascent::{Ascent, DualStep};
use super::diht::{REFIT, STEP};
use super::registry::{Choice, Method, Needs, PUBLISHED};
use super::run::Run;
use super::{Diht, Limits, Progress, Solution, Solver};
use crate::error::{Error, Result, check_finite, check_option};
use crate::objective::{Objective, Risk};
use crate::sparsity::Sparsity;
use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use std::ops::ControlFlow;

/// SDIHT: DIHT by blocks of samples. Needs a [`Risk`](crate::Risk) with a ridge; any loss.
///
/// An iteration is an epoch of m block steps; its trace row holds P(w) and the best D so far.
///
/// ```
/// use ksparse::{Risk, Sparsity, loss::Huber, simulate, solver::{Diht, Sdiht, Solver}};
/// let data = simulate::logistic(400, 60, 5, simulate::Correlation::Ar1(0.5), 3);
/// let risk = Risk::new(&data.design, &data.target, Huber::default())?.with_ridge(0.05)?;
/// let whole = Diht::default().fit(&risk, &Sparsity::new(5))?;
/// let blocks = Sdiht::default().fit(&risk, &Sparsity::new(5))?;
/// assert_eq!(blocks.support, whole.support);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sdiht {
    /// m, at most one per sample. Default: as many as make the rows of a step about as dear as H_k.
    pub blocks: Option<usize>,
    /// Of the partition and of the choice of blocks. Default 0.
    pub seed: u64,
    /// The step. Default adaptive.
    pub step: DualStep,
    /// Minimise f on the support of the best w(a) before returning it. Default true, as in [`Diht`](super::Diht).
    pub refit: bool,
    /// When to stop, as in [`Diht`](super::Diht); iterations are epochs.
    pub limits: Limits,
}

impl Default for Sdiht {
    fn default() -> Self {
        Self { blocks: None, seed: 0, step: DualStep::Adaptive, refit: true, limits: Limits::default() }
    }
}

/// Its entry in the table of solvers.
pub(super) const METHOD: Method = Method {
    about: "the same by blocks of samples: fewer passes over many rows",
    needs: Needs::Ridge,
    knows_bound: true,
    options: &[PUBLISHED, STEP, BLOCKS, REFIT],
    ..Method::new("sdiht", |given| {
        let own = Sdiht::default();
        Ok(Box::new(Sdiht {
            blocks: given.count(&BLOCKS)?,
            seed: given.seed.unwrap_or(own.seed),
            step: given.get(&STEP, DualStep::read)?.unwrap_or(own.step),
            refit: given.flag(&REFIT)?.unwrap_or(own.refit),
            limits: given.limits(own.limits),
        }))
    })
};
const BLOCKS: Choice = Choice::new(
    "blocks",
    "a whole number",
    "Blocks of samples; default: as many as make the rows of a step about as dear as its search for the k largest",
);

/// Epochs after which u is computed afresh, so that rounding errors do not add up.
const REFRESH: usize = 100;

impl Sdiht {
    fn climb(
        &self,
        objective: &dyn Objective,
        sparsity: &Sparsity,
        start: Option<&Solution>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution> {
        let need = "samples and a ridge (a dual)";
        let risk = &Risk::of(objective.samples().ok_or(Error::Unsupported { solver: self.name(), need })?);
        let count = self.count(risk)?;
        if count == 1 {
            // All rows at once are read faster column by column, and u(a) afresh costs no more than its change.
            let whole = Diht { step: self.step, refit: self.refit, limits: self.limits.clone() };
            return whole.climb(self.name(), objective, sparsity, start, watch);
        }
        let mut run = Run::without_gradient(objective, sparsity, &self.limits, watch)?;
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let blocks = partition(risk.target().len(), count, &mut rng);
        let mut ascent = Ascent::new(self.name(), &run, risk, sparsity, start, self.step, blocks)?;
        let mut w = vec![0.0; risk.dim()];
        loop {
            for _ in 0..count {
                if run.cancel().is_set() {
                    break; // and is noticed below, where the state is taken stock of
                }
                let chosen = rng.random_range(0..count);
                block_step(&mut ascent, risk, chosen, &mut w);
            }
            if (run.iterations + 1).is_multiple_of(REFRESH) {
                ascent.refresh();
            }
            check_finite("gradient (so the data)", &ascent.u)?;
            let point = ascent.dual.point(&ascent.a, &ascent.u);
            let mut z = risk.predictions(point.as_sparse());
            if let Some(status) = ascent.note(&mut run, &self.limits, &point, &mut z) {
                return ascent.finish(&mut run, self.refit, status);
            }
            if risk.has_intercept() {
                ascent.blocks = partition(risk.target().len(), count, &mut rng);
            }
        }
    }

    /// m: as asked for, or by the costs of a step's parts.
    fn count(&self, risk: &Risk) -> Result<usize> {
        let n = risk.target().len();
        let most = if risk.has_intercept() { (n / 2).max(1) } else { n };
        if let Some(blocks) = self.blocks {
            check_option(blocks >= 1, "blocks", blocks, "at least 1")?;
            return Ok(blocks.min(most));
        }
        let balanced = risk.design().cost() / risk.dim().max(1) as f64;
        Ok((balanced as usize).clamp(1, most))
    }
}

/// One step of the method: w = H_k(u), the dual variables of the block, u by the rows of the block. `w` is zero before
/// and after.
fn block_step(ascent: &mut Ascent, risk: &Risk, block: usize, w: &mut [f64]) {
    let design = risk.design();
    let support = ascent.dual.winners(&ascent.u);
    support.iter().for_each(|&j| w[j] = ascent.u[j]);
    let samples = ascent.blocks[block].clone();
    let mut z = vec![0.0; samples.len()];
    design.dot_rows(&samples, w, &mut z);
    support.iter().for_each(|&j| w[j] = 0.0);
    let before: Vec<f64> = samples.iter().map(|&i| ascent.a[i]).collect();
    ascent.advance(block, &z);
    let unit = -1.0 / risk.ridge();
    let moved = |(&i, before): (&usize, f64)| (i, unit * risk.weights()[i] * (ascent.a[i] - before));
    let (rows, factors): (Vec<usize>, Vec<f64>) =
        samples.iter().zip(before).map(moved).filter(|(_, factor)| *factor != 0.0).unzip();
    design.add_rows(&rows, &factors, &mut ascent.u);
    ascent.additions += rows.len() + 1;
    risk.free().iter().for_each(|&j| ascent.u[j] = 0.0);
}

/// The samples in m random blocks whose sizes differ by one at most.
fn partition(n: usize, m: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(rng);
    let mut blocks: Vec<Vec<usize>> = (0..m).map(|b| order[b * n / m..(b + 1) * n / m].to_vec()).collect();
    // Within a block the rows are read in the order of memory.
    blocks.iter_mut().for_each(|b| b.sort_unstable());
    blocks
}

impl Solver for Sdiht {
    fn name(&self) -> &'static str {
        "sdiht"
    }

    fn solve(
        &self,
        objective: &dyn Objective,
        sparsity: &Sparsity,
        start: Option<&Solution>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution> {
        self.climb(objective, sparsity, start, watch)
    }
}
