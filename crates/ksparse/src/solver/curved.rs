//! Local searches on a smooth f that is not quadratic, or of groups of coordinates, for the ladder.
//!
//! Members enter one at a time by what they promise in units of curvature, the cheapest leave by the quadratic model,
//! and pairs are exchanged as that model scores them (`exchange.rs`); every step is a refit of f itself. Over all
//! coordinates most of that happens on a *working set*: the members and the coordinates that promise most, looked up
//! in one pass over the data, and looked up again at the end.

use super::exchange::{Reach, margin, polish, screen};
use super::landscape::{Landscape, Place, Start};
use super::plan::Plan;
use super::prune::{Drop, prune};
use super::run::{Iterate, Run, union};
use super::swap::Ranking;
use super::{Limits, Progress};
use crate::cancel::Cancel;
use crate::error::Result;
use crate::objective::{Objective, Profile};
use crate::restricted::InnerOptions;
use crate::sparsity::{Budget, Partition, Sparsity};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What a step costs whatever its size: lists, vectors, calls; some thirty microseconds.
const OVERHEAD: f64 = 1e5;

/// And a refit with one newcomer: ten microseconds.
const PROBE: f64 = 3e4;

/// The work of one step (a newcomer, an exchange) among some coordinates: a gradient and the curvatures, the pairs, a
/// refit. Samples are counted by what a column costs, `size` coordinates make what k counts.
pub(super) fn step(plan: &Plan, profile: &Profile, dim: usize, k: usize, size: f64) -> f64 {
    let rows = profile.gradient / dim.max(1) as f64;
    let full = size * k as f64;
    let pairs = full * (size * plan.candidates(k) as f64).min(dim as f64);
    let refit = 2.0 * rows * (full * full / 3.0 + 20.0);
    OVERHEAD + 1.5 * profile.gradient + pairs * (rows / 6.0 + full / 2.0) + refit
}

/// The work of a local search for k among all coordinates: some passes, and the steps on a working set.
pub(super) fn local_search(plan: &Plan, profile: &Profile, dim: usize, k: usize, size: f64) -> f64 {
    let set = ((size * plan.working(k) as f64) as usize).min(dim);
    let part = Profile { gradient: set as f64 / dim as f64 * profile.gradient, ..*profile };
    3.0 * step(plan, profile, dim, k, size) + 1.5 * k as f64 * step(plan, &part, set, k, size)
}

/// f over some coordinates.
pub(super) struct Curved<'a> {
    whole: &'a dyn Objective,
    /// f over the coordinates listed, unless they are all.
    part: Option<Box<dyn Objective + 'a>>,
    coordinates: Vec<usize>,
    /// The units they are of; where every coordinate is one, the free ones among them.
    units: Vec<usize>,
    /// What is free, and what k counts, in `whole`...
    budget: &'a Budget,
    /// ...and here.
    sparsity: Sparsity,
    /// Coordinates of a unit, on average.
    size: f64,
    plan: &'a Plan,
    cancel: Cancel,
}

impl<'a> Curved<'a> {
    pub fn new(whole: &'a dyn Objective, budget: &'a Budget, plan: &'a Plan, cancel: Cancel) -> Self {
        let (coordinates, units) = ((0..whole.dim()).collect(), (0..budget.units()).collect());
        let (sparsity, size) = (budget.sparsity(0), budget.mean_size());
        Self { whole, part: None, coordinates, units, budget, sparsity, size, plan, cancel }
    }

    fn objective(&self) -> &dyn Objective {
        self.part.as_deref().unwrap_or(self.whole)
    }

    /// Where the coordinates of some units stand in the list, those that are there, and the free ones.
    fn places(&self, units: &[usize]) -> Vec<usize> {
        let counted = units.iter().flat_map(|&unit| self.budget.members(unit));
        let places: Vec<usize> = counted.filter_map(|j| self.coordinates.binary_search(&j).ok()).collect();
        union(&places, &self.sparsity.keep)
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
        let sparsity = Sparsity { k, ..self.sparsity.clone() };
        let result = work(&mut Run::new("auto", self.objective(), &sparsity, &limits, watch)?)?;
        Ok((result, steps))
    }

    fn step(&self, k: usize) -> f64 {
        step(self.plan, &self.objective().profile(), self.coordinates.len(), k, self.size)
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

    fn units(&self) -> &[usize] {
        &self.units
    }

    fn free(&self) -> &[usize] {
        if self.budget.is_grouped() { &[] } else { &self.budget.free }
    }

    fn begin<'s>(&'s self, support: &[usize]) -> Result<Bend<'s>> {
        let places = self.places(support);
        let members: Vec<usize> = places.iter().map(|&place| self.coordinates[place]).collect();
        let k = self.budget.counted(&members);
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

    fn probes(&self) -> usize {
        if self.whole.profile().quadratic { 0 } else { self.plan.probes as usize }
    }

    fn narrowed(&self, units: Vec<usize>) -> Result<Self> {
        let counted: Vec<usize> = units.iter().flat_map(|&unit| self.budget.members(unit)).collect();
        let coordinates = union(&counted, &self.budget.free);
        let part = self.whole.narrowed(&coordinates)?;
        let place = |j: usize| coordinates.binary_search(&j).ok();
        let groups = self.budget.is_grouped().then(|| {
            let places = units.iter().map(|&unit| self.budget.members(unit).filter_map(place).collect());
            Partition::new(places).map(Arc::new)
        });
        let keep = self.budget.free.iter().copied().filter_map(place).collect();
        let sparsity = Sparsity { k: 0, keep, groups: groups.transpose()? };
        Ok(Self { part, coordinates, units, sparsity, cancel: self.cancel.clone(), ..*self })
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
fn forward(run: &mut Run, mut at: Iterate, refit: &InnerOptions) -> Result<Iterate> {
    while run.budget.counted(&at.support) < run.budget.k {
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
        let first = self.at.clone();
        let (at, steps) = self.land.run(k, |run| {
            let mut at = first;
            if run.budget.counted(&at.support) > run.budget.k
                && let Some(pruned) = prune(run, &at, at.support.clone(), Drop::Cheapest, &refit)?
            {
                at = pruned;
            }
            let at = forward(run, at, &refit)?;
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
        let members: Vec<usize> = self.at.support.iter().map(|&place| self.land.coordinates[place]).collect();
        self.land.budget.units_of(&members)
    }

    fn grow(&mut self, k: usize) -> Result<()> {
        let first = self.at.clone();
        let (at, steps) = self.land.run(k, |run| forward(run, first, &self.land.refit()))?;
        self.at = at;
        self.work += steps as f64 * self.land.step(k);
        Ok(())
    }

    fn margin(&self) -> Result<f64> {
        let (land, k) = (self.land, self.support().len());
        Ok(land.run(k, |run| margin(run, &self.at))?.0)
    }

    /// All at once: a refit for each is what makes growing dear.
    fn widen(&mut self, more: usize) -> Result<()> {
        let (land, k) = (self.land, self.support().len() + more);
        let (at, _) = land.run(k, |run| {
            let entering = screen(run, &self.at, run.gradient(&self.at)?, more)?;
            let entering: Vec<usize> = entering.into_iter().flat_map(|unit| run.budget.members(unit)).collect();
            let support = union(&entering, &self.at.support);
            let x = run.carry(&self.at, &support);
            run.refit(support, x, &land.refit())
        })?;
        self.at = at;
        self.work += land.step(k);
        Ok(())
    }

    fn probe(&mut self, count: usize) -> Result<()> {
        let (land, k) = (self.land, self.support().len() + 1);
        let (tried, _) = land.run(k, |run| {
            let units = screen(run, &self.at, run.gradient(&self.at)?, count)?;
            let mut best = self.at.clone();
            for &unit in &units {
                let support = run.budget.with(&self.at.support, unit);
                let x = run.carry(&self.at, &support);
                // None is given up on the way: what Newton's method still expects to gain is the model's word too.
                let next = run.try_refit(support, x, &land.refit())?.0;
                if next.value < best.value {
                    best = next;
                }
            }
            self.at = best;
            Ok(units.len())
        })?;
        let profile = land.objective().profile();
        let rows = profile.gradient / land.objective().dim().max(1) as f64;
        self.work += land.step(k) + tried as f64 * (PROBE + 10.0 * rows * land.size * k as f64);
        Ok(())
    }

    fn settle(&mut self, k: usize) -> Result<()> {
        let land = self.land;
        let size = land.plan.working(k);
        if land.part.is_none() && land.units.len() > 2 * size {
            let (promising, _) = land.run(k, |run| screen(run, &self.at, run.gradient(&self.at)?, size))?;
            let members = self.support();
            let set = land.narrowed(union(&union(&promising, &members), land.free()))?;
            let mut inside = set.begin(&members)?;
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
