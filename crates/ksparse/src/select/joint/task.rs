//! Targets that are more than a number per row, as a choice sees them.

use super::{JointProblem, JointTraining, Observed};
use crate::error::Result;
use crate::objective::{LinearModel, Objective};
use crate::select::ranges::typical;
use crate::select::task::{OnRows, Task, weigh};
use crate::select::{Metric, Split};
use crate::solver::Solution;
use crate::sparsity::Sparsity;

impl Task for JointProblem<'_> {
    /// What does not fit together is found where the risk is made.
    fn validate(&self) -> Result<()> {
        Ok(())
    }

    fn rows(&self) -> usize {
        self.design.nrows()
    }

    fn columns(&self) -> usize {
        self.design.ncols()
    }

    fn units(&self, keep: &[usize]) -> usize {
        JointProblem::units(self, keep)
    }

    fn sparsity(&self, k: usize, keep: &[usize]) -> Sparsity {
        JointProblem::sparsity(self, k, keep)
    }

    fn is_grouped(&self) -> bool {
        self.groups.is_some()
    }

    fn on_all(&self) -> Result<Box<dyn OnRows + '_>> {
        self.teach(self.on_all_rows()?)
    }

    fn on(&self, rows: &[usize]) -> Result<Box<dyn OnRows + '_>> {
        self.teach(self.on_rows(rows.to_vec())?)
    }

    fn labels(&self) -> usize {
        match self.observed {
            Observed::Classes { count, .. } | Observed::Ordered { count, .. } => count,
            Observed::Survival(_) | Observed::Responses { .. } => 0,
        }
    }

    fn class(&self, row: usize) -> usize {
        match self.observed {
            Observed::Survival(survival) => usize::from(survival.event[row]),
            Observed::Classes { of, .. } | Observed::Ordered { of, .. } => of[row],
            Observed::Responses { .. } => 0,
        }
    }

    fn usual_metric(&self) -> Metric {
        self.default_metric()
    }

    fn weigh(&self, split: &Split, number: usize, _: Option<Metric>) -> Result<f64> {
        weigh(self.rows(), self.weights, split, number)
    }

    fn outputs(&self) -> usize {
        JointProblem::outputs(self)
    }

    fn score(&self, metric: Metric, models: &[LinearModel], split: &Split) -> Result<f64> {
        JointProblem::score(self, metric, models, &split.held_out, &split.training)
    }
}

impl JointProblem<'_> {
    /// A training with what the target carries: how many rows there are to learn from.
    fn teach<'s>(&'s self, training: JointTraining<'s>) -> Result<Box<dyn OnRows + 's>> {
        let rows = match self.observed {
            Observed::Survival(survival) => 2 * survival.event.iter().filter(|event| **event).count(),
            // Those outside of the largest class: of two classes, the smaller one.
            Observed::Classes { of, count } | Observed::Ordered { of, count } => {
                let mut sizes = vec![0; count];
                of.iter().filter(|class| **class < count).for_each(|&class| sizes[class] += 1);
                4 * (of.len() - sizes.into_iter().max().unwrap_or(0))
            }
            Observed::Responses { .. } => 2 * self.design.nrows(),
        };
        Ok(Box::new(Taught { training, most: rows.max(1) }))
    }
}

/// The training of a choice.
struct Taught<'a> {
    training: JointTraining<'a>,
    /// The largest k that the rows carry.
    most: usize,
}

impl OnRows for Taught<'_> {
    fn objective(&self, lambda: f64) -> Result<Box<dyn Objective + '_>> {
        self.training.objective(lambda)
    }

    fn models(&self, solution: &Solution) -> Vec<LinearModel> {
        self.training.models(solution)
    }

    fn outputs(&self) -> usize {
        self.training.risk.outputs()
    }

    fn squares(&self) -> &[f64] {
        self.training.risk.weighted_squares()
    }

    fn curvature(&self) -> Result<f64> {
        let risk = &self.training.risk;
        let curvature = risk.mean_curvatures(&*risk.loss().at(&risk.nothing()));
        let mean = curvature.iter().sum::<f64>() / curvature.len() as f64;
        let columns = risk.features();
        let curvatures = self.squares()[..columns].iter().map(|square| mean * square).filter(|h| *h > 0.0);
        Ok(typical(curvatures.collect()))
    }

    fn largest_k(&self, units: usize) -> usize {
        self.most.min(units)
    }
}
