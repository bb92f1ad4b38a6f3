//! Whether anything is left to be found: kicks that all lead back.
//!
//! Where the signal is well separated every local search ends in the same place, and the ladder (`ladder.rs`), which
//! makes thousands, finds nothing that the first did not. So a fit for one k first asks two things of what forward
//! selection and exchanges find. Does letting any member go cost well more than any newcomer would gain alone? And do
//! local searches lead back, all of them, that begin with half of the members at most and some random newcomers? On
//! noise, among neighbours that can stand in for each other and where rows are few the one or the other soon fails, and
//! the ladder is climbed. (Squared loss, 60 to 500 rows, 1000 columns with correlations of 0 to .95, 2 to 12 of 3 to 10
//! true columns: the ladder found nothing lower for any of 930 fits that 64 kicks agreed on at a margin of 1.5; at 1.25
//! for 7 of 1375, by up to 4 %, and for 16 kicks at 1.25 for 8 of 506.)

use super::landscape::{Landscape, Place, Start};
use super::plan::Plan;
use crate::error::Result;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Kicks side by side; where one does not lead back no more are made.
const TOGETHER: usize = 16;

/// The support that so many kicks lead back to, if they do.
pub(super) fn agreed<L: Landscape>(all: &L, k: usize, kicks: usize, plan: &Plan) -> Result<Option<Vec<usize>>> {
    let mut found = all.begin(&[])?;
    found.grow(k)?;
    found.settle(k)?;
    let support = found.support();
    if kicks == 0 || k == 0 || support.len() < k || found.margin()? < plan.margin {
        return Ok(None);
    }
    let rng = &mut ChaCha8Rng::seed_from_u64(k as u64);
    let units = all.units();
    let newcomers: Vec<usize> = (0..plan.pool as usize).map(|_| units[rng.random_range(0..units.len())]).collect();
    for made in (0..kicks).step_by(TOGETHER) {
        let kick = |_| kicked(all, &support, &newcomers, plan, rng);
        let starts: Vec<Start> = (made..kicks.min(made + TOGETHER)).map(kick).collect();
        all.prepare(&starts)?;
        let back: Result<Vec<bool>> =
            starts.into_par_iter().map(|start| Ok(all.search(&start)?.support() == support)).collect();
        if back?.contains(&false) {
            return Ok(None);
        }
    }
    Ok(Some(support))
}

/// Half of the members or more out; then one to four newcomers, or, in some, the most promising, many at once.
fn kicked<L: Landscape>(all: &L, support: &[usize], newcomers: &[usize], plan: &Plan, rng: &mut ChaCha8Rng) -> Start {
    let (k, mut support) = (support.len(), support.to_vec());
    for _ in 0..rng.random_range(k.div_ceil(2)..=k) {
        support.swap_remove(rng.random_range(0..support.len()));
    }
    let vacant = k - support.len();
    if all.leaps() > 0.0 && rng.random::<f64>() < all.leaps() {
        let longest = (plan.long_leap * k as f64).ceil() as usize;
        return Start { k, support, more: vacant + rng.random_range(1..=longest.max(1)) };
    }
    for _ in 0..rng.random_range(1..=plan.newcomers as usize).min(vacant) {
        support.push(newcomers[rng.random_range(0..newcomers.len())]);
    }
    Start { k, support, more: 0 }
}
