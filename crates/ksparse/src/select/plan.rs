//! The values of k and the ridges that a choice compares.

use super::choose::{Choose, Edge, Refits};
use super::ranges;
use super::scoring::Key;
use super::task::{OnRows, Task};
use crate::error::Result;
use crate::path::large_enough;
use crate::sparsity::Sparsity;

/// How far the values of k are extended beyond what the data usually carry.
const FURTHER: usize = 4;

/// The values compared.
pub(super) struct Plan {
    pub ks: Vec<usize>,
    pub selects: Vec<f64>,
    pub refits: Vec<f64>,
    pub usual: Option<f64>,
    /// The largest k that the data carry, and the largest that may be tried.
    pub carried: usize,
    pub furthest: usize,
    columns: usize,
}

impl Plan {
    /// Those given, and from the data what was not.
    pub fn of(choose: &Choose, all: &[Box<dyn OnRows + '_>], task: &dyn Task) -> Result<Self> {
        let columns = task.units(&choose.keep);
        let unit = all[0].curvature()?;
        let largest = all.iter().map(|training| training.largest_k(columns)).max().unwrap_or(0);
        // Fewer columns than a given sum takes are no model.
        let mut least = 0;
        for training in all {
            let (objective, sparsity) = (training.objective(0.0)?, task.sparsity(0, &choose.keep));
            if let Some(&k) = choose.ks.iter().flatten().min() {
                large_enough(&*objective, &Sparsity { k, ..sparsity })?;
            } else {
                least = least.max(objective.least_k(&sparsity)?);
            }
        }
        let mut ks = choose.ks.clone().unwrap_or_else(|| ranges::ks_from(least, largest));
        ks.iter_mut().for_each(|k| *k = (*k).min(columns));
        ks.sort_unstable();
        ks.dedup();
        let descending = |mut ridges: Vec<f64>| {
            ridges.sort_by(|a, b| b.total_cmp(a));
            ridges.dedup();
            ridges
        };
        let selects = descending(choose.lambdas.clone().unwrap_or_else(|| ranges::select_ridges(unit)));
        let refits = match &choose.refits {
            Refits::FromData => ranges::refit_ridges(unit),
            Refits::Given(given) => descending(given.clone()),
            Refits::Same => Vec::new(),
        };
        let usual = choose.lambdas.is_none().then(|| ranges::usual_ridge(unit));
        let furthest = (FURTHER * largest).min(columns);
        Ok(Self { ks, selects, refits, usual, carried: largest, furthest, columns })
    }

    /// The ends of ranges where a cell lies. Ridges that select, from the data, span all there is.
    pub fn edges(&self, k: usize, key: Key, ks: &[usize], choose: &Choose) -> Vec<Edge> {
        let mut edges = Vec::new();
        let larger = if choose.ks.is_some() { self.columns } else { self.furthest };
        if k > 0 && ks.last() == Some(&k) && k < larger {
            edges.push(Edge::LargestK);
        }
        let ends = |ridges: &[f64], place: usize, largest: Edge, smallest: Edge| {
            let at_end = (ridges.len() > 1 && place + 1 == ridges.len() && ridges[place] > 0.0).then_some(smallest);
            (ridges.len() > 1 && place == 0).then_some(largest).into_iter().chain(at_end)
        };
        if k > 0 && choose.lambdas.is_some() {
            edges.extend(ends(&self.selects, key.0, Edge::LargestLambda, Edge::SmallestLambda));
        }
        if k > 0 {
            edges.extend(ends(&self.refits, key.2, Edge::LargestRefit, Edge::SmallestRefit));
        }
        edges
    }
}
