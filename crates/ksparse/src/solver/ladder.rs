//! All sizes at once: local searches from kicked answers, on a ladder with a rung for every k.
//!
//! Where columns outnumber rows, a support that no exchange improves is one of very many, and most are poor. A *kick*
//! lets a random number of an answer's members go, takes a few random newcomers in, grows back by the best decrease and
//! exchanges until nothing gains. What it finds for one k is news for its neighbours: with one more member, or one
//! fewer, it is a start on the next rung, and so on while that is news there. So every rung profits from all kicks, and
//! a ladder of twenty rungs comes about as far on each of them as the same work spent on one alone (riboflavin data,
//! 71 x 4088: f = .0050 against .0053 at k = 14, .0016 against .0024 at k = 19; other seeds .0066 and .0019).
//!
//! What good answers are made of is soon known: the members of the best answers seen are the *core*, some hundreds of
//! coordinates, over which a local search costs next to nothing. Rounds of kicks over all coordinates, which enlarge
//! the core, take turns with kicks and crossings of two answers over the core, which combine what is in it.
//!
//! Rungs are climbed in *flights* (k = 1 to 20, 21 to 40, 41 to 60, 61 to 80) that depend on nothing above them: one k
//! alone, and a whole path, are the same computation, unless kicks agree on that k beforehand (`agreement.rs`), and f
//! never rises with k. Random numbers are seeded, and the end is a count of operations: the same problem gives the same
//! answer whatever the number of threads.

use super::landscape::{Landscape, Place, Start};
use super::plan::Plan;
use crate::error::Result;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::ops::RangeInclusive;

/// The last rung of each flight. (Flights to 10 and 20, with half the work each: .043 higher; to 5, 10, 20: .042. Of 40
/// vectors of 48 signs 21 are recovered with a flight that ends at 60, and 17 without.)
pub(super) const FLIGHTS: [usize; 4] = [20, 40, 60, 80];

/// The share of f(0) that is nothing beside it.
const NOTHING: f64 = 1e-9;

/// The best answers of every k, best first, each once.
pub(super) struct Ladder<'a> {
    plan: &'a Plan,
    rungs: Vec<Vec<Answer>>,
    /// The rungs that may change.
    flight: RangeInclusive<usize>,
    /// Starts made on each rung since something was news there.
    quiet: Vec<f64>,
    /// How often each is kicked while nothing is quiet.
    weights: Vec<f64>,
    /// An f that leaves nothing to explain: no rung above the first that gets there can do better.
    nothing: f64,
    /// What forward selection has come to.
    forward: Vec<usize>,
    /// Whether something was news on some rung.
    news: bool,
    work: f64,
    rng: ChaCha8Rng,
}

struct Answer {
    value: f64,
    support: Vec<usize>,
    /// Whether nothing outside the core improves it either.
    checked: bool,
    /// Whether newcomers have been tried beside it.
    probed: bool,
}

impl<'a> Ladder<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            rungs: vec![Vec::new()],
            flight: 0..=0,
            quiet: vec![0.0],
            weights: Vec::new(),
            nothing: f64::NEG_INFINITY,
            forward: Vec::new(),
            news: false,
            work: 0.0,
            rng: ChaCha8Rng::seed_from_u64(0),
        }
    }

    /// The best support known for this k, or for the largest k below that has one.
    pub fn best(&self, k: usize) -> &[usize] {
        let rungs = &self.rungs[..=k.min(self.rungs.len() - 1)];
        rungs.iter().rev().find_map(|rung| rung.first()).map_or(&[], |answer| &answer.support)
    }

    /// Searches the flight up to `last` from what is known, with `effort` times this much work; `go_on` is asked
    /// between rounds.
    pub fn climb<L: Landscape>(
        &mut self,
        all: &L,
        last: usize,
        work: f64,
        effort: f64,
        known: &[Vec<usize>],
        go_on: &mut dyn FnMut(&Self) -> Result<bool>,
    ) -> Result<()> {
        self.flight = self.rungs.len()..=last;
        self.rungs.resize_with(last + 1, Vec::new);
        self.quiet.resize(last + 1, 0.0);
        self.weights = (0..=last).map(|k| (k as f64).powf(-self.plan.low_rungs)).collect();
        self.work = 0.0;
        self.nothing = NOTHING * all.begin(&[])?.value().abs();
        // Forward selection, and the same with exchanges at every size.
        let (mut forward, mut settled) = (all.begin(&self.forward)?, all.begin(self.best(last))?);
        for k in self.flight.clone() {
            forward.grow(k)?;
            settled.settle(k)?;
            for mut place in [forward.clone(), settled.clone()] {
                place.settle(k)?;
                self.offer(all, place.value(), place.support())?;
            }
        }
        self.forward = forward.support();
        self.work += forward.work() + settled.work();
        // Down from what is known, the cheapest out at every rung. That is few searches, and not part of the work:
        // where one is dear, little would be left of it.
        for support in known {
            let mut place = all.begin(support)?;
            for k in self.flight.clone().rev().skip_while(|&k| k > support.len()) {
                place.settle(k)?;
                self.offer(all, place.value(), place.support())?;
            }
        }
        self.probe(all)?;
        let (rounds, more) = (self.plan.patience, all.units().len() as f64 / self.plan.patience_columns);
        let patience = rounds + more.floor().min(4.0 * rounds);
        let patience = (patience * effort.max(1.0)).floor();
        // A share of the work is done whether or not there is news: tens of milliseconds, in which small problems are
        // searched to the end (of 100 without any signal, 12 to 30 rows and 20 to 50 columns, 3 or 4 were missed
        // without it). But no more than some times the rounds: on the smallest problems a local search costs nothing.
        let Plan { least, longer, core, kicks, .. } = *self.plan;
        let mut quiet = 0.0;
        while self.work < effort * work
            && (quiet < patience || (quiet < longer * patience && self.work < least * effort * work))
            && self.highest().is_some()
            && go_on(self)?
        {
            self.news = false;
            let before = self.work;
            let starts = (0..kicks as usize).map(|_| self.kicked(all)).collect();
            self.search(all, starts)?;
            let until = self.work + core * (self.work - before);
            let core = all.narrowed(self.core(all))?;
            while self.work < until {
                let start = |i| if i % 2 == 0 { self.kicked(&core) } else { self.crossed() };
                let starts = (0..kicks as usize).map(start).collect();
                self.search(&core, starts)?;
            }
            self.check(all)?;
            self.probe(all)?;
            quiet = if self.news { 0.0 } else { quiet + 1.0 };
        }
        Ok(())
    }

    /// The highest rung of the flight that has an answer and may have a better one.
    fn highest(&self) -> Option<usize> {
        let open = |k: &usize| self.rungs[*k].first().is_some_and(|best| best.value > self.nothing);
        self.flight.clone().rev().find(open)
    }

    /// All members of the answers, and what is not counted.
    fn core<L: Landscape>(&self, all: &L) -> Vec<usize> {
        let members = self.rungs.iter().flatten().flat_map(|answer| &answer.support);
        let mut core: Vec<usize> = members.chain(all.free()).copied().collect();
        core.sort_unstable();
        core.dedup();
        core
    }

    /// Local searches side by side, each from a support to a k.
    fn search<L: Landscape>(&mut self, landscape: &L, starts: Vec<Start>) -> Result<()> {
        landscape.prepare(&starts)?;
        let found: Result<Vec<_>> = starts
            .into_par_iter()
            .map(|start| {
                let place = landscape.search(&start)?;
                Ok((place.work(), place.value(), place.support()))
            })
            .collect();
        for (work, value, support) in found? {
            self.work += work;
            self.offer(landscape, value, support)?;
        }
        Ok(())
    }

    /// A rung with answers, the lower ones more often: a local search costs k^2 there, and is news further up as well
    /// (k^-1.5 .172, k^-1 .188, k^-.5 .187, all alike .192, the higher ones more often .200, the highest alone .238).
    /// Less often, too, the longer nothing was news on it: low rungs are soon as good as they will be. (Half as often
    /// after 10 starts; six sets, 4 seeds: never .184, after 30 .146, 10 .144, 3 .147, 1 .142; logistic loss without
    /// standardisation .251, .252, .228, .210, .182.)
    fn rung(&mut self) -> usize {
        let (low, high) = (*self.flight.start(), self.highest().unwrap_or(*self.flight.start()));
        let weight = |k: usize| self.weights[k] / (1.0 + self.quiet[k] / self.plan.quiet);
        let mut left = self.rng.random::<f64>() * (low..=high).map(weight).sum::<f64>();
        let past = |k: &usize| {
            left -= weight(*k);
            left < 0.0
        };
        let k = (low..=high).find(past).unwrap_or(high);
        self.quiet[k] += 1.0;
        k
    }

    /// The best answer of a rung, some members out, one to four random newcomers in. Kicks of up to all members find
    /// more than small ones (up to half .234, up to a quarter .280), four newcomers a little more than one (.177,
    /// .192). A leap lets members go and then takes many in, to be pruned: where f is not quadratic the cheapest of a
    /// wide support say what the next newcomer alone does not (logistic loss, raw columns, 3 seeds: mean log of f over
    /// the best known .031 without, .022 with a quarter, .019 with four tenths; squared loss .149, .166 with a
    /// quarter).
    fn kicked<L: Landscape>(&mut self, landscape: &L) -> Start {
        let k = self.rung();
        let mut support = self.best(k).to_vec();
        if landscape.leaps() > 0.0 && self.rng.random::<f64>() < landscape.leaps() {
            for _ in 0..self.rng.random_range(0..support.len().max(1)) {
                support.swap_remove(self.rng.random_range(0..support.len()));
            }
            let longest = (self.plan.long_leap * k as f64).ceil() as usize;
            let more = k - support.len() + self.rng.random_range(1..=longest.max(1));
            return Start { k, support, more };
        }
        for _ in 0..self.rng.random_range(0..support.len().max(1)) + 1 {
            if !support.is_empty() {
                support.swap_remove(self.rng.random_range(0..support.len()));
            }
        }
        let (units, vacant) = (landscape.units(), k - support.len());
        for _ in 0..self.rng.random_range(1..=self.plan.newcomers as usize).min(vacant) {
            support.push(units[self.rng.random_range(0..units.len())]);
        }
        Start { k, support, more: 0 }
    }

    /// What two answers of a rung have between them.
    fn crossed(&mut self) -> Start {
        let k = self.rung();
        let count = self.rungs[k].len();
        let mut support = Vec::new();
        for _ in 0..2.min(count) {
            support.extend(&self.rungs[k][self.rng.random_range(0..count)].support);
        }
        Start { k, support, more: 0 }
    }

    /// The best answers found over the core, searched on over all coordinates.
    fn check<L: Landscape>(&mut self, all: &L) -> Result<()> {
        let mut bests = Vec::new();
        for k in self.flight.clone() {
            if let Some(best) = self.rungs[k].first_mut()
                && !std::mem::replace(&mut best.checked, true)
            {
                bests.push(Start { k, support: best.support.clone(), more: 0 });
            }
        }
        self.search(all, bests)
    }

    /// The best answers of the lowest rungs with one more. Where classes are well separated the model says little about
    /// f far from where it is made: of raw genes the best partner of one column stood 368th by it, and an f ten times
    /// as large was the answer for k = 2 (104 x 22,283). Few members have nobody to make up for a wrong one; further
    /// up this finds no more than kicks do (up to 10 or 20 members, 5 seeds).
    fn probe<L: Landscape>(&mut self, all: &L) -> Result<()> {
        let probes = all.probes();
        if probes == 0 {
            return Ok(());
        }
        let mut bests = Vec::new();
        for k in *self.flight.start()..(*self.flight.end()).min(self.plan.probed_rungs as usize + 1) {
            if let Some(best) = self.rungs[k].first_mut()
                && best.value > self.nothing
                && !std::mem::replace(&mut best.probed, true)
            {
                bests.push(best.support.clone());
            }
        }
        let found: Result<Vec<_>> = bests
            .into_par_iter()
            .map(|support| {
                let mut place = all.begin(&support)?;
                place.probe(probes)?;
                Ok((place.work(), place.value(), place.support()))
            })
            .collect();
        for (work, value, support) in found? {
            self.work += work;
            if self.rank(value, &support) == Some(0) {
                self.offer(all, value, support)?;
            }
        }
        Ok(())
    }

    /// Takes an answer in. If it is the best of its rung, passes it up and down while it is the best there too.
    fn offer<L: Landscape>(&mut self, landscape: &L, value: f64, support: Vec<usize>) -> Result<()> {
        if self.rank(value, &support) != Some(0) {
            self.insert(value, support);
            return Ok(());
        }
        // Afresh: updates may have added up errors on the way here.
        let place = landscape.begin(&support)?;
        self.work += place.work();
        if !self.insert(place.value(), place.support()) {
            return Ok(());
        }
        for up in [true, false] {
            let mut place = place.clone();
            let before = place.work();
            loop {
                let k = if up { place.support().len() + 1 } else { place.support().len() - 1 };
                if !self.flight.contains(&k) {
                    break;
                }
                place.settle(k)?;
                if !self.insert(place.value(), place.support()) {
                    break;
                }
            }
            self.work += place.work() - before;
        }
        Ok(())
    }

    /// Where an answer would stand on its rung, if it may.
    fn rank(&self, value: f64, support: &[usize]) -> Option<usize> {
        let k = support.len();
        if !self.flight.contains(&k) || !value.is_finite() {
            return None;
        }
        let rank = self.rungs[k].partition_point(|answer| answer.value <= value);
        // An answer once more, with other last digits, stands where it stood.
        let known = self.rungs[k].iter().any(|answer| answer.support == support);
        (rank < self.plan.kept as usize && !known).then_some(rank)
    }

    /// Whether it is now the best of its rung.
    fn insert(&mut self, value: f64, support: Vec<usize>) -> bool {
        let Some(rank) = self.rank(value, &support) else { return false };
        let k = support.len();
        let rung = &mut self.rungs[k];
        rung.insert(rank, Answer { value, support, checked: false, probed: false });
        rung.truncate(self.plan.kept as usize);
        if rank == 0 {
            self.news = true;
            self.quiet[k] = 0.0;
        }
        rank == 0
    }
}
