//! GraHTP's descent by numbers of swaps: the default step of [`Grahtp`](super::Grahtp), and the first part of
//! [`Auto`](super::Auto).
//!
//! After a refit the gradient vanishes on the support, so the length of a step is a number of swaps (`swap.rs`). A
//! ladder tries k/4 of them, halves while f does not fall, doubles while the gains last, and ends when a single one
//! fails.

use super::Status;
use super::run::{Iterate, Run};
use super::swap::Ranking;
use crate::error::Result;
use crate::restricted::{Ended, InnerOptions};

/// How swaps are gone about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descent {
    /// Coordinates are compared in units of curvature.
    pub scaled: bool,
    /// An empty support is filled by and by, an eighth of k to begin with and then as many again, instead of at once.
    pub grows: bool,
    /// Units are taken anew once f has changed by more than this fraction: they cost a pass over all the data, as a
    /// gradient does, and change little.
    pub stale: f64,
    /// Refits on the way.
    pub refit: InnerOptions<'static>,
    /// Refits of a support that nothing improves.
    pub last: InnerOptions<'static>,
    /// Ends when a few swaps gain less than this fraction of f.
    pub trifle: f64,
}

impl Descent {
    /// For problems whose gradients are cheap.
    pub const CAREFUL: Self = Self {
        scaled: false,
        grows: false,
        stale: 0.0,
        refit: InnerOptions { tolerance: 1e-3, ..InnerOptions::EXACT },
        last: InnerOptions::EXACT,
        trifle: 0.0,
    };

    /// For text: columns of very different sizes, refits that are most of the work. Refits ten times looser take half
    /// of the products with the data; a support that has grown needs fewer swaps than one found in a single step. Both
    /// end at the same f or below (to a third of a percent, on RCV1 and 20 Newsgroups).
    pub const BRISK: Self = Self {
        scaled: true,
        grows: true,
        stale: 0.05,
        refit: InnerOptions { tolerance: 1e-2, ..InnerOptions::EXACT },
        last: InnerOptions::EXACT,
        trifle: 1e-4,
    };
}

/// GraHTP with the number of swaps as its step: until not even one swap lowers f, or a limit. Refits on the way are a
/// little loose; the last support is refitted exactly and looked at once more.
pub(super) fn descend(run: &mut Run, mut at: Iterate, how: &Descent) -> Result<(Iterate, Status)> {
    let most = (run.budget.k / 4).max(1);
    let mut swaps = most;
    let mut exact = false;
    let mut last_gain = 0.0;
    let mut units = Units::default();
    loop {
        let counted = run.budget.counted(&at.support);
        let vacancies = run.budget.k.saturating_sub(counted);
        let grows = how.grows && vacancies > 0;
        if grows {
            swaps = vacancies.min((counted + run.budget.free.len()).max(run.budget.k.div_ceil(8)));
        }
        let units = if how.scaled { units.near(run, &at, how.stale)? } else { None };
        let ranking = Ranking::new(&run.budget, &at, run.gradient(&at)?, units, swaps);
        let fewest = if grows { swaps.min(ranking.fewest()) } else { ranking.fewest() };
        swaps = swaps.max(fewest).min(ranking.most());
        let mut accepted = None;
        while swaps > 0 {
            let support = ranking.support(&at, swaps);
            let x = run.carry(&at, &support);
            let options = InnerOptions { abandon_above: at.value, ..how.refit };
            let (next, ended) = run.try_refit(support, x, &options)?;
            if ended != Ended::Abandoned && next.value < at.value - run.trifle(&at, 1e-12)? {
                accepted = Some(next);
                break;
            }
            swaps = if swaps > fewest { (swaps / 2).max(fewest) } else { 0 };
        }
        let Some(next) = accepted else {
            let next = if exact { at.clone() } else { run.refit(at.support.clone(), at.x.clone(), &how.last)? };
            let limit = if exact { run.record(&at, &next, None) } else { None };
            at = next;
            if exact || limit.is_some() {
                return Ok((at, limit.filter(|s| s.outranks_convergence()).unwrap_or(Status::SupportStable)));
            }
            (exact, swaps) = (true, 1);
            continue;
        };
        exact = false;
        let limit = run.record(&at, &next, Some(ranking.step(swaps)));
        // Few swaps that gain next to nothing: many may still gain more.
        let gain = at.value - next.value;
        let little = !grows && swaps <= 1 + run.budget.k / 32 && gain < how.trifle * next.value.abs();
        let settled = little || run.settled(&at, &next);
        at = next;
        if settled || limit.is_some() {
            let at = run.refit(at.support, at.x, &how.last)?;
            return Ok((at, limit.unwrap_or(Status::Tolerance)));
        }
        if grows {
            swaps = most;
            continue;
        }
        // A good harvest: twice as many next time. A poor one: fewer will do better than more of the same.
        swaps = if gain >= 0.2 * last_gain { (2 * swaps).min(most) } else { (swaps / 2).max(1) };
        last_gain = gain;
    }
}

/// The units of the coordinates, and what f was where they were taken.
#[derive(Default)]
struct Units {
    value: f64,
    units: Option<Vec<f64>>,
}

impl Units {
    fn near(&mut self, run: &Run, at: &Iterate, stale: f64) -> Result<Option<&[f64]>> {
        if self.units.is_none() || (self.value - at.value).abs() > stale * self.value.abs() {
            self.value = at.value;
            self.units = run.units(at)?.map(<[f64]>::to_vec);
        }
        Ok(self.units.as_deref())
    }
}
