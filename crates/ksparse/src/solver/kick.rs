//! Many local searches on a quadratic f, each from the best answer kicked out of its place.
//!
//! Where columns outnumber rows, a support that no exchange improves is one of very many, and most are poor. A kick
//! lets a random number of members go, takes a random newcomer in, grows back to k by the best decrease and exchanges
//! until nothing gains (`wide.rs`: no refit on the way); the better of the two answers is kept. Kicks of up to all k
//! members find more than small ones.
//!
//! What good answers are made of is soon known: the members of the best answers seen are the *core*, some hundreds of
//! coordinates, over which a local search costs next to nothing. So rounds of kicks over all coordinates, which enlarge
//! the core, take turns with many more kicks over the core, which combine what is in it.
//!
//! Random numbers are seeded and the end is a count of operations: the same problem gives the same answer on every
//! machine, whatever the number of threads.

use super::Status;
use super::run::{Iterate, Run};
use super::wide::{Space, Wide};
use crate::error::Result;
use crate::objective::Profile;
use crate::restricted::InnerOptions;
use crate::sparsity::SparseRef;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Multiply-adds that all local searches together may take: less than a second.
const WORK: f64 = 1.6e9;

/// Rounds at most: where a local search costs nothing, hundreds are enough.
const ROUNDS: usize = 40;

/// Local searches from the same answer, side by side.
const TOGETHER: u64 = 8;

/// Answers that make up the core.
const ELITE: usize = 40;

/// Whether a problem can afford kicks: f is quadratic, and ten local searches with the rows of H that they need take no
/// more than the work allowed for.
pub(super) fn affordable(profile: &Profile, k: usize, dim: usize) -> bool {
    let (k, p) = (k as f64, dim as f64);
    let Some(cost) = profile.hessian else { return false };
    // Growing forward, and as many exchanges again.
    let (local, rows) = (6.0 * k * k * p, 4.0 * k * cost.of(1, dim));
    profile.quadratic && 10.0 * local + rows <= WORK
}

/// What all local searches have in common.
struct Search<'a> {
    k: usize,
    /// An exchange that gains no more is none.
    least: f64,
    /// f and its gradient at 0.
    value: f64,
    gradient: &'a [f64],
}

/// The best of `at` and what local searches find; `Some(status)` when a limit ended them.
pub(super) fn search(run: &mut Run, at: Iterate) -> Result<(Iterate, Option<Status>)> {
    let objective = run.objective;
    let origin = objective.at(SparseRef::ZERO)?;
    let Some(hessian) = origin.hessian()? else { return Ok((at, None)) };
    let (k, least) = (run.budget.k, run.trifle(&at, 1e-9)?);
    let search = Search { k, least, value: origin.value(), gradient: origin.gradient()? };
    let all = Space::new(run, hessian, (0..objective.dim()).collect())?;
    let mut elite = Elite::default();
    // Forward selection, and the answer at hand.
    let (forward, known) = (search.settled(&all, &[])?, search.settled(&all, &at.support)?);
    elite.offer(&forward);
    elite.offer(&known);
    let mut best = if known.value < forward.value { known } else { forward };
    let (mut spent, mut number, mut limit) = (0.0, 0, None);
    for _ in 0..ROUNDS {
        if spent >= WORK || best.counted() == 0 || limit.is_some() {
            break;
        }
        let kicked = search.together(&mut number, |rng| search.kicked(&best, rng))?;
        let wide: f64 = kicked.iter().map(|next| next.work).sum();
        kicked.iter().for_each(|next| elite.offer(next));
        // As much work again over the core: kicks and crossings by turns.
        let core = Space::new(run, hessian, elite.members(&run.budget.free))?;
        let mut inner = search.settled(&core, &elite.best())?;
        let mut narrow = 0.0;
        for turn in 0..ROUNDS {
            if narrow >= wide {
                break;
            }
            let found = if turn % 2 == 0 {
                search.together(&mut number, |rng| search.kicked(&inner, rng))?
            } else {
                search.together(&mut number, |rng| search.crossed(&core, &elite, rng))?
            };
            narrow += found.iter().map(|next| next.work).sum::<f64>();
            found.iter().for_each(|next| elite.offer(next));
            inner = found.into_iter().fold(inner, |a, b| if b.value < a.value - least { b } else { a });
        }
        best = search.settled(&all, &elite.best())?;
        elite.offer(&best);
        spent += wide + narrow + best.work;
        limit = run.poll(&at, 0, None);
    }
    let found = refitted(run, &best)?;
    // The same support again, refitted to other last digits, is no news.
    Ok((if found.value < at.value - least { found } else { at }, limit))
}

/// The point of f that a state stands for, as exact as a refit makes it.
fn refitted(run: &Run, state: &Wide) -> Result<Iterate> {
    let point = state.point();
    let mut support: Vec<usize> = point.iter().map(|entry| entry.0).chain(run.budget.free.iter().copied()).collect();
    support.sort_unstable();
    support.dedup();
    let at = |j: &usize| point.binary_search_by_key(j, |entry| entry.0).map_or(0.0, |place| point[place].1);
    let x = support.iter().map(at).collect();
    run.refit(support, x, &InnerOptions::EXACT)
}

impl Search<'_> {
    /// A local search from some coordinates.
    fn settled<'s>(&self, space: &'s Space<'s>, from: &[usize]) -> Result<Wide<'s>> {
        let mut state = Wide::new(space, self.value, self.gradient)?;
        state.enter_all(from.iter().copied())?;
        self.settle(&mut state)?;
        Ok(state)
    }

    /// Grows to k members, then exchanges until nothing gains.
    fn settle(&self, state: &mut Wide) -> Result<()> {
        while state.counted() < self.k {
            let Some(place) = state.best_newcomer() else { break };
            state.enter(place)?;
        }
        while let Some((place, newcomer)) = state.best_exchange(self.least) {
            state.leave(place);
            if !state.can_enter(newcomer) {
                break;
            }
            state.enter(newcomer)?;
        }
        Ok(())
    }

    /// Some local searches side by side, each with random numbers of its own.
    fn together<'s>(
        &self,
        number: &mut u64,
        local: impl Fn(&mut ChaCha8Rng) -> Result<Wide<'s>> + Sync,
    ) -> Result<Vec<Wide<'s>>> {
        let first = *number;
        *number += TOGETHER;
        (first..*number).into_par_iter().map(|seed| local(&mut ChaCha8Rng::seed_from_u64(seed))).collect()
    }

    /// Some members out, a random newcomer in.
    fn kicked<'s>(&self, from: &Wide<'s>, rng: &mut ChaCha8Rng) -> Result<Wide<'s>> {
        let mut state = from.clone();
        state.work = 0.0;
        for _ in 0..rng.random_range(1..=state.counted().max(1)).min(state.counted()) {
            state.leave(rng.random_range(state.free()..state.free() + state.counted()));
        }
        // Most coordinates can enter; a few tries find one.
        let tries: Vec<usize> = (0..10).map(|_| rng.random_range(0..state.dim())).collect();
        if let Some(place) = tries.into_iter().find(|&place| state.can_enter(place)).filter(|_| self.k > 0) {
            state.enter(place)?;
        }
        self.settle(&mut state)?;
        Ok(state)
    }

    /// What two of the best answers have between them, cut to k by dropping the cheapest.
    fn crossed<'s>(&self, space: &'s Space<'s>, elite: &Elite, rng: &mut ChaCha8Rng) -> Result<Wide<'s>> {
        let mut pick = || &elite.answers[rng.random_range(0..elite.answers.len())].1;
        let mut state = Wide::new(space, self.value, self.gradient)?;
        let (a, b) = (pick(), pick());
        state.enter_all(a.iter().chain(b).copied())?;
        while state.counted() > self.k {
            let cheapest = state.cheapest();
            state.leave(cheapest);
        }
        self.settle(&mut state)?;
        Ok(state)
    }
}

/// The best answers seen, best first, each once.
#[derive(Default)]
struct Elite {
    answers: Vec<(f64, Vec<usize>)>,
}

impl Elite {
    fn offer(&mut self, state: &Wide) {
        let support: Vec<usize> = state.point().into_iter().map(|entry| entry.0).collect();
        let place = self.answers.partition_point(|(value, _)| *value <= state.value);
        if place < ELITE && !self.answers.iter().any(|(_, known)| *known == support) {
            self.answers.insert(place, (state.value, support));
            self.answers.truncate(ELITE);
        }
    }

    fn best(&self) -> Vec<usize> {
        self.answers.first().map_or(Vec::new(), |answer| answer.1.clone())
    }

    /// All their members and the free coordinates, ascending.
    fn members(&self, free: &[usize]) -> Vec<usize> {
        let mut all: Vec<usize> = self.answers.iter().flat_map(|answer| &answer.1).chain(free).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
