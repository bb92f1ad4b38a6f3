//! The chosen cell on many random halves of the rows: which columns come back (stability selection: N. Meinshausen,
//! P. Buehlmann, Journal of the Royal Statistical Society B 72, 2010), and the average of the models found.

use super::descent::{self, Columns, Descent, Whole};
use super::finish::Finish;
use super::task::Task;
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
    /// The mean of the models, one per output: their supports united, a coefficient counting 0 where a column is not
    /// selected.
    pub averages: Vec<LinearModel>,
}

/// One half of the rows for each number below `count`, every class (all labels that occur together in the targets)
/// halved by itself.
pub(super) fn halves(tasks: &[&dyn Task], count: usize) -> Vec<Vec<usize>> {
    let mut classes: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for row in 0..tasks[0].rows() {
        let class = tasks.iter().map(|task| task.class(row)).collect();
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
    pub(super) fn resampled(&self, task: &dyn Task, halves: &[Vec<usize>]) -> Result<Option<Resampled>> {
        let models: Vec<Result<Option<Vec<LinearModel>>>> = halves
            .par_iter()
            .map(|rows| if self.late() { Ok(None) } else { self.on_half(task, rows).map(Some) })
            .collect();
        let models = models.into_iter().filter_map(Result::transpose).collect::<Result<Vec<_>>>()?;
        Ok((!models.is_empty()).then(|| Resampled::of(&models, task)))
    }

    fn on_half(&self, task: &dyn Task, rows: &[usize]) -> Result<Vec<LinearModel>> {
        let training = task.on(rows)?;
        let (objective, sparsity) = (training.objective(self.lambda)?, task.sparsity(self.k, &self.choose.keep));
        let (support, x) = if self.k > 0 && self.choose.solves(&*objective) {
            let solution = self.solver.fit(&*objective, &sparsity)?;
            (solution.support, solution.coefficients)
        } else {
            let mut ask = |_: usize, _: &descent::Stage| ControlFlow::Continue(());
            let stages = match self.k {
                0 => Vec::new(),
                k => {
                    let columns = Columns::of(&*training, self.lambda);
                    let descent = Descent::new(columns, &*objective, sparsity.clone(), &Cancel::NEVER)?;
                    descent.descend(&[k], &mut Whole::default(), &mut ask)?
                }
            };
            let stage = stages
                .into_iter()
                .next()
                .map_or_else(|| descent::nothing(&*objective, &sparsity.keep), |(_, stage)| Ok(stage))?;
            (stage.support, stage.x)
        };
        let solution = self.refitted(&*training, &support, &x)?;
        Ok(training.models(&solution))
    }
}

impl Resampled {
    /// Of models with the same number of outputs each.
    fn of(models: &[Vec<LinearModel>], task: &dyn Task) -> Self {
        let mut frequencies = vec![0.0; task.columns()];
        models.iter().flat_map(|model| &model[0].support).for_each(|&j| frequencies[j] += 1.0);
        frequencies.iter_mut().for_each(|times| *times /= models.len() as f64);
        let of_output = |c: usize| average(&models.iter().map(|model| &model[c]).collect::<Vec<_>>());
        Self { frequencies, averages: (0..task.outputs()).map(of_output).collect() }
    }
}

/// The mean of models of one output.
fn average(models: &[&LinearModel]) -> LinearModel {
    let count = models.len() as f64;
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    for model in models {
        for (&j, x) in model.support.iter().zip(&model.coefficients) {
            *sums.entry(j).or_default() += x;
        }
    }
    let (support, coefficients) = sums.into_iter().map(|(j, sum)| (j, sum / count)).unzip();
    let intercept = models.iter().map(|model| model.intercept).sum::<f64>() / count;
    LinearModel { support, coefficients, intercept }
}
