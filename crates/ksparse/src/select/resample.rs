//! The chosen cell on many random halves of the rows: which columns come back (stability selection: N. Meinshausen,
//! P. Buehlmann, Journal of the Royal Statistical Society B 72, 2010), and the average of the models found.

use super::Problem;
use super::descent::{self, Descent, Whole};
use super::finish::Finish;
use crate::cancel::Cancel;
use crate::error::Result;
use crate::objective::LinearModel;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// What the halves of the rows have to say about one predictor.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Resampled {
    /// For every column, the share of the halves that select it.
    pub frequencies: Vec<f64>,
    /// The mean of the models: their supports united, a coefficient counting 0 where a column is not selected.
    pub average: LinearModel,
}

/// One half of the rows for each number below `count`, every class (all signs that occur together in the targets)
/// halved by itself.
pub(super) fn halves(problems: &[Problem], count: usize) -> Vec<Vec<usize>> {
    let labels = problems[0].loss.target().is_label();
    let mut classes: BTreeMap<Vec<bool>, Vec<usize>> = BTreeMap::new();
    for row in 0..problems[0].target.len() {
        let class = problems.iter().filter(|_| labels).map(|problem| problem.target[row] > 0.0).collect();
        classes.entry(class).or_default().push(row);
    }
    let half = |number: usize| {
        let mut rng = ChaCha8Rng::seed_from_u64(number as u64);
        let mut rows = Vec::new();
        for class in classes.values() {
            let mut class = class.clone();
            class.shuffle(&mut rng);
            class.truncate(class.len().div_ceil(2));
            rows.extend(class);
        }
        rows.sort_unstable();
        rows
    };
    (0..count).map(half).collect()
}

impl Finish<'_> {
    /// The chosen cell on these halves, side by side; fewer of them once the time is up, `None` where not one was done.
    pub(super) fn resampled(&self, problem: &Problem, halves: &[Vec<usize>]) -> Result<Option<Resampled>> {
        let models: Vec<Result<Option<LinearModel>>> = halves
            .par_iter()
            .map(|rows| if self.late() { Ok(None) } else { self.on_half(problem, rows).map(Some) })
            .collect();
        let models = models.into_iter().filter_map(Result::transpose).collect::<Result<Vec<LinearModel>>>()?;
        Ok((!models.is_empty()).then(|| Resampled::of(&models, problem.design.ncols())))
    }

    fn on_half(&self, problem: &Problem, rows: &[usize]) -> Result<LinearModel> {
        let training = problem.on_rows(rows.to_vec())?;
        let (objective, keep) = (training.objective(self.lambda)?, &self.choose.keep);
        let (support, x) = if self.k > 0 && self.choose.solves(&training.risk) {
            let solution = self.solver.fit(&*objective, &problem.sparsity(self.k, keep))?;
            (solution.support, solution.coefficients)
        } else {
            let mut ask = |_: usize, _: &descent::Stage| ControlFlow::Continue(());
            let stages = match self.k {
                0 => Vec::new(),
                k => {
                    let risk = training.risk.reridged(self.lambda)?;
                    let descent = Descent::new(&risk, &*objective, problem.sparsity(k, keep), &Cancel::NEVER)?;
                    descent.descend(&[k], &mut Whole::default(), &mut ask)?
                }
            };
            let stage = stages
                .into_iter()
                .next()
                .map_or_else(|| descent::nothing(&*objective, keep), |(_, stage)| Ok(stage))?;
            (stage.support, stage.x)
        };
        let solution = self.refitted(&training, &support, &x)?;
        Ok(training.model(&solution))
    }
}

impl Resampled {
    fn of(models: &[LinearModel], columns: usize) -> Self {
        let count = models.len() as f64;
        let mut frequencies = vec![0.0; columns];
        let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
        for model in models {
            for (&j, x) in model.support.iter().zip(&model.coefficients) {
                frequencies[j] += 1.0;
                *sums.entry(j).or_default() += x;
            }
        }
        frequencies.iter_mut().for_each(|times| *times /= count);
        let (support, coefficients) = sums.into_iter().map(|(j, sum)| (j, sum / count)).unzip();
        let intercept = models.iter().map(|model| model.intercept).sum::<f64>() / count;
        Self { frequencies, average: LinearModel { support, coefficients, intercept } }
    }
}
