//! What `auto` does where k counts groups of coordinates.
//!
//! The same ideas as for single coordinates, group by group: swaps by the ladder of GraHTP (`swap.rs`, in units of
//! curvature where f has them), from zero and from forward selection, then exchanges. For an exchange a group is taken
//! out, f minimised on the rest, and the groups with the largest gradients there are tried in its place: one gradient
//! for a group that might leave, and a refit, given up once it cannot win, for each that might replace it. f never
//! rises.

use super::descent::{Descent, descend};
use super::run::{Iterate, Run};
use super::{Solution, Status};
use crate::error::Result;
use crate::restricted::{Ended, InnerOptions};

/// Groups that are tried in the place of one that is taken out, and where refits are dear.
const NEWCOMERS: usize = 10;
const FEWER: usize = 3;

/// Multiply-adds that forward selection, and a round of exchanges, may take: seconds. Beyond that groups enter by
/// tenths of k, fewer newcomers are tried, and only for the weakest members. (26 classes, k = 30 of 617 columns, 1560
/// rows: 51 s without it.)
const AFFORDABLE: f64 = 1e10;

/// Products with the columns of a support that a loose refit takes.
const PRODUCTS: f64 = 60.0;

/// Trial refits stop this far (relatively) from the minimum; Newton's last step lands much nearer.
const LOOSE: InnerOptions = InnerOptions { tolerance: 1e-3, ..InnerOptions::EXACT };

/// The search, from a start if there is one.
pub(super) fn search(run: &mut Run, start: Option<&Solution>) -> Result<(Iterate, Status)> {
    let scaled = run.objective.profile().hessian.is_some();
    let how = Descent { scaled, ..Descent::CAREFUL };
    let first = run.begin(start)?;
    let (mut at, mut status) = descend(run, first, &how)?;
    if start.is_none() && !ends(status) {
        let forward = forward(run, scaled)?;
        let (next, ended) = descend(run, forward, &how)?;
        status = ended;
        if next.value < at.value {
            at = next;
        }
    }
    while !ends(status) {
        let Some(next) = exchange(run, &at, scaled)? else { break };
        let limit = run.record(&at, &next, None);
        (at, status) = match limit {
            Some(limit) => (next, limit),
            None => descend(run, next, &how)?,
        };
    }
    let at = run.refit(at.support, at.x, &InnerOptions::EXACT)?;
    Ok((at, status))
}

fn ends(status: Status) -> bool {
    super::auto::is_limit(status)
}

/// The work of a refit on a full support, and of a gradient.
fn costs(run: &Run) -> (f64, f64) {
    let gradient = run.objective.profile().gradient;
    let share = run.budget.full() as f64 / run.objective.dim().max(1) as f64;
    (PRODUCTS * share * gradient, gradient)
}

/// Group by group, each time the one with the largest gradient; several at a time where that is dear.
fn forward(run: &mut Run, scaled: bool) -> Result<Iterate> {
    let mut at = run.begin_at(None)?;
    let (refit, gradient) = costs(run);
    let dear = run.budget.k as f64 * (refit + gradient) > AFFORDABLE;
    let block = if dear { run.budget.k.div_ceil(10) } else { 1 };
    loop {
        let missing = run.budget.k - run.budget.counted(&at.support).min(run.budget.k);
        let units = strongest(run, &at, scaled, block.min(missing), None)?;
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

/// The first exchange of one group for another that lowers f, the weakest taken out first; `None` when there is none.
fn exchange(run: &mut Run, at: &Iterate, scaled: bool) -> Result<Option<Iterate>> {
    let bound = at.value - run.trifle(at, 1e-10)?;
    let h = if scaled { run.units(at)? } else { None };
    let weight = |j: usize| at.at(j).abs() * h.map_or(1.0, |h| h[j].sqrt());
    let mut leaving: Vec<(f64, usize)> =
        run.budget.units_of(&at.support).into_iter().map(|unit| (run.budget.score(unit, weight), unit)).collect();
    leaving.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let (refit, gradient) = costs(run);
    let paid = |newcomers: usize| (AFFORDABLE / (gradient + (1 + newcomers) as f64 * refit)) as usize;
    let newcomers = if paid(NEWCOMERS) < leaving.len() { FEWER } else { NEWCOMERS };
    leaving.truncate(paid(newcomers).max(1));
    for (_, gone) in leaving {
        let support = run.budget.without(&at.support, gone);
        let x = run.carry(at, &support);
        let rest = run.refit(support, x, &LOOSE)?;
        let mut best: Option<Iterate> = None;
        for unit in strongest(run, &rest, scaled, newcomers, Some(gone))? {
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
        if run.poll(at, 0, None).is_some() {
            break;
        }
    }
    Ok(None)
}
