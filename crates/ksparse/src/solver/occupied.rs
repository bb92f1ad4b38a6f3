//! Columns without entries left out of a search.
//!
//! An empty column never enters a support: its derivative is 0 wherever the search stands. Hashed features come with
//! millions of them, and every vector of a search is as long as there are columns.

use super::{Progress, Solution, Solver};
use crate::design::Occupied;
use crate::error::Result;
use crate::objective::{Objective, Risk, Samples};
use crate::sparsity::Sparsity;
use std::ops::ControlFlow;

type Watch<'w> = &'w mut dyn FnMut(&Progress) -> ControlFlow<()>;

/// What `solver` finds among the columns that have entries; `None` where they are most of all columns, or where an
/// empty one is asked for by name.
pub(super) fn solve(
    solver: &dyn Solver,
    objective: &dyn Objective,
    sparsity: &Sparsity,
    start: Option<&Solution>,
    watch: Watch,
) -> Option<Result<Solution>> {
    let part = Part::of(objective)?;
    let sparsity = part.sparsity(sparsity)?;
    let start = match start {
        Some(start) => Some(Solution { support: part.within(&start.support)?, ..start.clone() }),
        None => None,
    };
    let found = solver.solve(&part.risk(), &sparsity, start.as_ref(), &mut part.watched(watch));
    Some(found.map(|solution| part.original(solution)))
}

/// The same for [`Solver::solve_all`].
pub(super) fn solve_all(
    solver: &dyn Solver,
    objective: &dyn Objective,
    ks: &[usize],
    sparsity: &Sparsity,
    watch: Watch,
) -> Option<Result<Vec<Solution>>> {
    let part = Part::of(objective)?;
    let found = solver.solve_all(&part.risk(), ks, &part.sparsity(sparsity)?, &mut part.watched(watch));
    Some(found.map(|solutions| solutions.into_iter().map(|solution| part.original(solution)).collect()))
}

/// The columns with entries, and the samples they belong to.
struct Part<'a> {
    samples: Samples<'a>,
    occupied: Occupied<'a>,
    /// The free coordinates among them.
    free: Vec<usize>,
}

impl<'a> Part<'a> {
    fn of(objective: &'a dyn Objective) -> Option<Self> {
        let samples = objective.samples()?;
        let mut part = Self { samples, occupied: samples.design().occupied()?, free: Vec::new() };
        part.free = part.within(objective.free())?;
        Some(part)
    }

    fn risk(&self) -> Risk<'_> {
        Risk::of(self.samples.with_design(&*self.occupied.design, &self.free))
    }

    /// `None` where groups name columns by where they are: then the search is among all.
    fn sparsity(&self, sparsity: &Sparsity) -> Option<Sparsity> {
        if sparsity.groups.is_some() {
            return None;
        }
        Some(Sparsity { keep: self.within(&sparsity.keep)?, ..sparsity.clone() })
    }

    /// Coordinates as those of the part; `None` if one is not in it.
    fn within(&self, coordinates: &[usize]) -> Option<Vec<usize>> {
        coordinates.iter().map(|j| self.occupied.columns.binary_search(j).ok()).collect()
    }

    fn original(&self, solution: Solution) -> Solution {
        Solution { support: self.coordinates(&solution.support), ..solution }
    }

    fn coordinates(&self, within: &[usize]) -> Vec<usize> {
        within.iter().map(|&j| self.occupied.columns[j]).collect()
    }

    /// A watcher of the part that shows coordinates as they are.
    fn watched<'w>(&'w self, watch: Watch<'w>) -> impl FnMut(&Progress) -> ControlFlow<()> + 'w {
        move |progress| watch(&Progress { support: &self.coordinates(progress.support), ..*progress })
    }
}
