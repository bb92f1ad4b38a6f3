//! The supports of the splits for one k, and what is refitted on them.

use super::descent::Stage;
use super::task::OnRows;
use crate::cancel::Cancel;
use crate::error::Result;
use crate::objective::LinearModel;
use crate::restricted::{self, InnerOptions};
use crate::solver::Solution;
use std::collections::BTreeMap;

/// Cells that are scored only are refitted to this fraction of f.
const LOOSE: InnerOptions = InnerOptions { tolerance: 3e-3, ..InnerOptions::EXACT };

/// The supports of one split, k by k: for each task a stage.
pub(super) type Ladder = BTreeMap<usize, Vec<Stage>>;

/// One support of a split, for each task, with the points refitted on it by ridge.
pub(super) struct Rung {
    stages: Vec<Stage>,
    refitted: Vec<BTreeMap<usize, Vec<f64>>>,
}

/// The supports of all splits for one k.
pub(super) fn rungs(ladders: &[Ladder], k: usize, splits: usize) -> Vec<Option<Rung>> {
    let rung = |ladder: &Ladder| {
        let stages = ladder.get(&k)?.clone();
        Some(Rung { refitted: vec![BTreeMap::new(); stages.len()], stages })
    };
    (0..splits).map(|split| rung(&ladders[split])).collect()
}

impl Rung {
    pub fn supports(&self) -> Vec<Vec<usize>> {
        self.stages.iter().map(|stage| stage.support.clone()).collect()
    }

    /// The models of the support under a ridge, each started at the nearest ridge there is an answer for.
    pub fn models(
        &mut self,
        trainings: &[Box<dyn OnRows + '_>],
        place: usize,
        lambda: f64,
        cancel: &Cancel,
    ) -> Result<Vec<LinearModel>> {
        let mut models = Vec::with_capacity(trainings.len());
        for ((training, stage), refitted) in trainings.iter().zip(&self.stages).zip(&mut self.refitted) {
            let near = refitted.iter().min_by_key(|(at, _)| at.abs_diff(place)).map(|(_, x)| x);
            let mut x = near.unwrap_or(&stage.x).clone();
            let objective = training.objective(lambda)?;
            let options = InnerOptions { cancel, ..LOOSE };
            restricted::minimise(&mut *objective.restrict(&stage.support)?, &mut x, &options)?;
            let solution = Solution::guess(stage.support.clone(), x.clone());
            models.extend(training.models(&solution));
            refitted.insert(place, x);
        }
        Ok(models)
    }
}
