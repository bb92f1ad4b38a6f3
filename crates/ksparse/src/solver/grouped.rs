//! Groups of coordinates: the quadratic model of leaving and exchanging them, with which `auto` goes its usual way, and
//! what it does where that model is dear.
//!
//! Then it swaps groups by the ladder of GraHTP (`swap.rs`, in units of curvature where f has them), from zero and from
//! forward selection, and exchanges them by refits. For an exchange a group is taken out, f minimised on the rest, and
//! the groups with the largest gradients there are tried in its place: one gradient for a group that might leave, and a
//! refit, given up once it cannot win, for each that might replace it. f never rises.

mod model;
mod scores;
#[cfg(test)]
mod tests;

pub(super) use model::GroupedModel;
pub(super) use scores::GroupedScores;

use super::descent::{Descent, descend};
use super::run::{Iterate, Run};
use super::{Effort, Solution, Status};
use crate::error::Result;
use crate::restricted::{Ended, InnerOptions};

/// Groups that are tried in the place of one that is taken out: few at first, for few find most of what is to be found,
/// more once that has come to its end.
const FEWER: usize = 3;
const NEWCOMERS: usize = 10;

/// Multiply-adds that forward selection may take, and all exchanges together: seconds. Where forward selection would
/// take more, the support grows by doubling instead. (26 classes, k = 30 of 617 columns, 1560 rows: 6 s of the
/// processor, and f within 0.03 % of what 20 s without an end find.)
const AFFORDABLE: f64 = 1e10;

/// Products with the Hessian that a trial refit takes: 8 in the mean for the 26 classes of Isolet, 11 and 27 for the 20
/// of 20 Newsgroups (k = 100 and 500).
const PRODUCTS: f64 = 8.0;

/// Trial refits stop this far (relatively) from the minimum; Newton's last step lands much nearer.
const LOOSE: InnerOptions = InnerOptions { tolerance: 1e-3, ..InnerOptions::EXACT };

/// Refits of supports that nothing improves: the last of all is refitted to the end.
const NEAR: InnerOptions = InnerOptions { tolerance: 1e-5, ..InnerOptions::EXACT };

/// The search, from a start if there is one. Without any effort it is the first descent alone.
pub(super) fn search(run: &mut Run, start: Option<&Solution>, effort: Effort) -> Result<(Iterate, Status)> {
    let scaled = run.objective.profile().hessian.is_some();
    let (refit, gradient) = costs(run);
    let dear = run.budget.k as f64 * (refit + gradient) > AFFORDABLE;
    let how = if dear { Descent::BRISK } else { Descent::CAREFUL };
    let how = Descent { scaled, last: NEAR, ..how };
    let first = run.begin(start)?;
    let (mut at, mut status) = descend(run, first, &how)?;
    if start.is_none() && !dear && effort.factor() > 0.0 && !ends(status) {
        let forward = forward(run, scaled)?;
        let (next, ended) = descend(run, forward, &how)?;
        status = ended;
        if next.value < at.value {
            at = next;
        }
    }
    let mut rounds = Rounds { left: AFFORDABLE * effort.factor(), newcomers: FEWER, failed: Vec::new() };
    while !ends(status) {
        let Some(next) = exchange(run, &at, scaled, &mut rounds)? else {
            if rounds.newcomers == NEWCOMERS || rounds.left < 0.0 {
                break;
            }
            rounds = Rounds { newcomers: NEWCOMERS, failed: Vec::new(), ..rounds };
            continue;
        };
        let limit = run.record(&at, &next, None);
        (at, status) = match limit {
            Some(limit) => (next, limit),
            None if dear => (next, status),
            None => descend(run, next, &how)?,
        };
    }
    let at = run.refit(at.support, at.x, &InnerOptions::EXACT)?;
    Ok((at, status))
}

/// How far the exchanges have come.
struct Rounds {
    /// Multiply-adds that may still be spent.
    left: f64,
    /// Groups that are tried in the place of one.
    newcomers: usize,
    /// Groups that nothing could replace when they were last looked at: the others come first.
    failed: Vec<usize>,
}

fn ends(status: Status) -> bool {
    super::auto::is_limit(status)
}

/// The work of a refit on a full support, and of a gradient.
fn costs(run: &Run) -> (f64, f64) {
    let gradient = run.objective.profile().gradient;
    let share = run.budget.full() as f64 / run.objective.dim().max(1) as f64;
    let product = run.product_cost().unwrap_or(0.0).max(2.0 * share * gradient);
    (PRODUCTS * product, gradient)
}

/// Group by group, each time the one with the largest gradient.
fn forward(run: &mut Run, scaled: bool) -> Result<Iterate> {
    let mut at = run.begin_at(None)?;
    loop {
        let missing = run.budget.k - run.budget.counted(&at.support).min(run.budget.k);
        let units = strongest(run, &at, scaled, missing.min(1), None)?;
        if units.is_empty() {
            break;
        }
        let support = units.iter().fold(at.support.clone(), |support, &unit| run.budget.with(&support, unit));
        let x = run.carry(&at, &support);
        at = run.refit(support, x, &LOOSE)?;
        if run.poll(&at, 0, None).is_some() {
            break;
        }
    }
    Ok(at)
}

/// The groups outside that pull most at a point, best first.
fn strongest(run: &Run, at: &Iterate, scaled: bool, count: usize, but: Option<usize>) -> Result<Vec<usize>> {
    let gradient = run.gradient(at)?;
    let units = if scaled { run.units(at)? } else { None };
    let mut inside = vec![false; run.budget.units()];
    run.budget.units_of(&at.support).into_iter().chain(but).for_each(|unit| inside[unit] = true);
    let pull = |j: usize| match units {
        _ if run.budget.unit(j).is_none_or(|unit| inside[unit]) => 0.0,
        None => gradient[j].abs(),
        Some(h) if h[j] > 0.0 => gradient[j].abs() / h[j].sqrt(),
        Some(_) => 0.0,
    };
    Ok(run.budget.top(count, pull))
}

/// The first exchange of one group for another that lowers f; the weakest are taken out first, but for those that have
/// failed before. `None` when there is none, or nothing left to pay for it.
fn exchange(run: &mut Run, at: &Iterate, scaled: bool, rounds: &mut Rounds) -> Result<Option<Iterate>> {
    let bound = at.value - run.trifle(at, 1e-10)?;
    let h = if scaled { run.units(at)? } else { None };
    let weight = |j: usize| at.at(j).abs() * h.map_or(1.0, |h| h[j].sqrt());
    let place = |unit: usize| (rounds.failed.contains(&unit), run.budget.score(unit, weight), unit);
    let mut leaving: Vec<(bool, f64, usize)> = run.budget.units_of(&at.support).into_iter().map(place).collect();
    leaving.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(b.2.cmp(&a.2)));
    let (refit, gradient) = costs(run);
    for (_, _, gone) in leaving {
        rounds.left -= gradient + (1 + rounds.newcomers) as f64 * refit;
        if rounds.left < 0.0 {
            break;
        }
        let support = run.budget.without(&at.support, gone);
        let x = run.carry(at, &support);
        let rest = run.refit(support, x, &LOOSE)?;
        let mut best: Option<Iterate> = None;
        for unit in strongest(run, &rest, scaled, rounds.newcomers, Some(gone))? {
            let support = run.budget.with(&rest.support, unit);
            let x = run.carry(&rest, &support);
            let target = best.as_ref().map_or(bound, |best| best.value);
            let (next, ended) = run.try_refit(support, x, &InnerOptions { abandon_above: target, ..LOOSE })?;
            if ended != Ended::Abandoned && next.value < target {
                best = Some(next);
            }
        }
        if best.is_some() {
            return Ok(best);
        }
        rounds.failed.push(gone);
        if run.poll(at, 0, None).is_some() {
            break;
        }
    }
    Ok(None)
}
