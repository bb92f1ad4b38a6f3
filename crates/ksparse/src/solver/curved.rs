//! Local searches on a smooth f that is not quadratic, for the ladder.
//!
//! Members enter one at a time by what they promise in units of curvature, the cheapest leave by the quadratic model,
//! and pairs are exchanged as that model scores them (`exchange.rs`); every step is a refit of f itself. Over all
//! coordinates most of that happens on a *working set*: the members and the coordinates that promise most, looked up
//! in one pass over the data, and looked up again at the end.

use super::exchange::{Reach, polish, screen};
use super::ladder::{Landscape, Place, Start};
use super::plan::Plan;
use super::prune::{Drop, prune};
use super::run::{Iterate, Run, union};
use super::swap::Ranking;
use super::{Limits, Progress};
use crate::cancel::Cancel;
use crate::error::Result;
use crate::objective::{Objective, Profile};
use crate::restricted::InnerOptions;
use crate::sparsity::Sparsity;
use std::ops::ControlFlow;

/// What a step costs whatever its size: lists, vectors, calls; some thirty microseconds.
const OVERHEAD: f64 = 1e5;

/// The work of one step (a newcomer, an exchange) among some coordinates: a gradient and the curvatures, the pairs, a
/// refit. Samples are counted by what a column costs.
pub(super) fn step(plan: &Plan, profile: &Profile, dim: usize, k: usize) -> f64 {
    let rows = profile.gradient / dim.max(1) as f64;
    let pairs = (k * plan.candidates(k).min(dim)) as f64;
    let refit = 2.0 * rows * ((k * k) as f64 / 3.0 + 20.0);
    OVERHEAD + 1.5 * profile.gradient + pairs * (rows / 6.0 + k as f64 / 2.0) + refit
}

/// The work of a local search for k among all coordinates: some passes, and the steps on a working set.
pub(super) fn local_search(plan: &Plan, profile: &Profile, dim: usize, k: usize) -> f64 {
    let share = (plan.working(k) as f64 / dim as f64).min(1.0);
    let part = Profile { gradient: share * profile.gradient, ..*profile };
    3.0 * step(plan, profile, dim, k) + 1.5 * k as f64 * step(plan, &part, plan.working(k).min(dim), k)
}

/// f over some coordinates.
pub(super) struct Curved<'a> {
    whole: &'a dyn Objective,
    /// f over the coordinates listed, unless they are all.
    part: Option<Box<dyn Objective + 'a>>,
    coordinates: Vec<usize>,
    free: &'a [usize],
    plan: &'a Plan,
    cancel: Cancel,
}

impl<'a> Curved<'a> {
    pub fn new(whole: &'a dyn Objective, free: &'a [usize], plan: &'a Plan, cancel: Cancel) -> Self {
        Self { whole, part: None, coordinates: (0..whole.dim()).collect(), free, plan, cancel }
    }

    fn objective(&self) -> &dyn Objective {
        self.part.as_deref().unwrap_or(self.whole)
    }

    /// Where some coordinates stand in the list, those that are there.
    fn places(&self, coordinates: &[usize]) -> Vec<usize> {
        coordinates.iter().filter_map(|j| self.coordinates.binary_search(j).ok()).collect()
    }

    /// Does something in a run for k; returns it with the number of points that the run went through.
    fn run<T>(&self, k: usize, work: impl FnOnce(&mut Run) -> Result<T>) -> Result<(T, usize)> {
        let mut steps = 0;
        let watch = &mut |_: &Progress| {
            steps += 1;
            ControlFlow::Continue(())
        };
        let cancel = self.cancel.clone();
        let limits = Limits { tolerance: 0.0, max_iterations: usize::MAX, time_limit: None, cancel };
        let sparsity = Sparsity::new(k).keep(self.places(self.free));
        let result = work(&mut Run::new("auto", self.objective(), &sparsity, &limits, watch)?)?;
        Ok((result, steps))
    }

    fn step(&self, k: usize) -> f64 {
        step(self.plan, &self.objective().profile(), self.coordinates.len(), k)
    }

    /// Precision of refits on the way.
    fn refit(&self) -> InnerOptions<'static> {
        InnerOptions { tolerance: self.plan.curved_refit, ..InnerOptions::EXACT }
    }
}

impl Landscape for Curved<'_> {
    type Place<'s>
        = Bend<'s>
    where
        Self: 's;

    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn free(&self) -> &[usize] {
        self.free
    }

    fn begin<'s>(&'s self, support: &[usize]) -> Result<Bend<'s>> {
        let mut places = union(&self.places(support), &self.places(self.free));
        places.dedup();
        let k = places.len() - self.places(self.free).len();
        let zeros = vec![0.0; places.len()];
        let (at, _) = self.run(k, |run| run.refit(places, zeros, &self.refit()))?;
        Ok(Bend { land: self, at, work: self.step(k) })
    }

    /// They have nothing in common.
    fn prepare(&self, _: &[Start]) -> Result<()> {
        Ok(())
    }

    fn leaps(&self) -> f64 {
        self.plan.leaps
    }

    fn narrowed(&self, coordinates: Vec<usize>) -> Result<Self> {
        let part = self.whole.narrowed(&coordinates)?;
        Ok(Self { part, coordinates, cancel: self.cancel.clone(), ..*self })
    }
}

/// A support with f at its minimum there, by places in the list of coordinates.
#[derive(Clone)]
pub(super) struct Bend<'s> {
    land: &'s Curved<'s>,
    at: Iterate,
    work: f64,
}

/// One newcomer after the other, up to the run's k.
fn forward(run: &mut Run, mut at: Iterate, free: usize, refit: &InnerOptions) -> Result<Iterate> {
    while at.support.len() < run.budget.k + free {
        let support = Ranking::new(&run.budget, &at, run.gradient(&at)?, run.units(&at)?, 1).grown(&at, 1);
        if support.len() == at.support.len() {
            break;
        }
        let x = run.carry(&at, &support);
        at = run.refit(support, x, refit)?;
        run.poll(&at, 0, None);
    }
    Ok(at)
}

impl Bend<'_> {
    /// [`settle`](Place::settle) with every step among all the coordinates of the land.
    fn settle_here(&mut self, k: usize) -> Result<()> {
        let (plan, refit) = (self.land.plan, self.land.refit());
        let width = plan.candidates(k);
        let reach = Reach { narrow: width, wide: width, tries: plan.tries as usize, every_pair: false, refit };
        let (first, free) = (self.at.clone(), self.land.places(self.land.free).len());
        let (at, steps) = self.land.run(k, |run| {
            let mut at = first;
            if at.support.len() > run.budget.k + free
                && let Some(pruned) = prune(run, &at, at.support.clone(), Drop::Cheapest, &refit)?
            {
                at = pruned;
            }
            let at = forward(run, at, free, &refit)?;
            Ok(polish(run, at, &reach, f64::NEG_INFINITY)?.0)
        })?;
        self.at = at;
        self.work += (steps + 1) as f64 * self.land.step(k);
        Ok(())
    }
}

impl Place for Bend<'_> {
    fn value(&self) -> f64 {
        self.at.value
    }

    fn support(&self) -> Vec<usize> {
        let members = self.at.support.iter().map(|&place| self.land.coordinates[place]);
        members.filter(|j| self.land.free.binary_search(j).is_err()).collect()
    }

    fn grow(&mut self, k: usize) -> Result<()> {
        let (first, free) = (self.at.clone(), self.land.places(self.land.free).len());
        let (at, steps) = self.land.run(k, |run| forward(run, first, free, &self.land.refit()))?;
        self.at = at;
        self.work += steps as f64 * self.land.step(k);
        Ok(())
    }

    /// All at once: a refit for each is what makes growing dear.
    fn widen(&mut self, more: usize) -> Result<()> {
        let (land, k) = (self.land, self.support().len() + more);
        let (at, _) = land.run(k, |run| {
            let support = union(&screen(run, &self.at, run.gradient(&self.at)?, more)?, &self.at.support);
            let x = run.carry(&self.at, &support);
            run.refit(support, x, &land.refit())
        })?;
        self.at = at;
        self.work += land.step(k);
        Ok(())
    }

    fn settle(&mut self, k: usize) -> Result<()> {
        let land = self.land;
        let size = land.plan.working(k);
        if land.part.is_none() && land.coordinates.len() > 2 * size {
            let (set, _) = land.run(k, |run| {
                let promising = screen(run, &self.at, run.gradient(&self.at)?, size)?;
                Ok(union(&union(&promising, &self.at.support), land.free))
            })?;
            let set = land.narrowed(set)?;
            let mut inside = set.begin(&self.support())?;
            inside.settle_here(k)?;
            let settled = land.begin(&inside.support())?;
            self.work += land.step(k) + inside.work + settled.work;
            self.at = settled.at;
        }
        self.settle_here(k)
    }

    fn work(&self) -> f64 {
        self.work
    }
}
