//! Updates of rank one against refits.

use super::*;
use crate::Cancel;
use crate::loss::Squared;
use crate::objective::Objective;
use crate::restricted::{self, InnerOptions};
use crate::simulate::{self, Correlation};
use crate::{Risk, SparseRef};
use rand::{Rng, SeedableRng};

/// After any entering and leaving the state is that of a fresh refit, and the exchange it praises is the best of
/// all.
#[test]
fn updates_are_refits_and_the_best_exchange_is_the_best() {
    for seed in 0..10 {
        let data = simulate::linear(30, 14, 4, Correlation::Ar1(0.7), 0.5, seed);
        let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap().with_ridge(1e-3).unwrap();
        let risk = risk.with_intercept();
        let zero = risk.at(SparseRef::ZERO).unwrap();
        let space = Space::new(&*zero, zero.hessian().unwrap().unwrap(), &[14], 30.0, 1, Cancel::NEVER).unwrap();
        let mut state = space.begin(&[]).unwrap();
        let rng = &mut rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..60 {
            let place = rng.random_range(0..14);
            if state.can_enter(place) && state.support.len() < 7 {
                state.enter(place).unwrap();
            } else if state.support.len() > 1 {
                state.leave(rng.random_range(1..state.support.len()));
            }
        }
        let fit = |counted: &[usize]| {
            let support: Vec<usize> = counted.iter().copied().chain([14]).collect();
            let mut x = vec![0.0; support.len()];
            let mut on_support = risk.restrict(&support).unwrap();
            let value = restricted::minimise(&mut *on_support, &mut x, &InnerOptions::EXACT).unwrap().value;
            (value, x)
        };
        let support = state.support();
        let (value, x) = fit(&support);
        let least = 1e-9 * zero.value();
        assert!((value - state.value).abs() < least, "seed {seed}");
        for (place, &j) in state.support.iter().enumerate() {
            let there = support.iter().position(|&s| s == j).unwrap_or(support.len());
            assert!((x[there] - state.x[place]).abs() < 1e-7, "seed {seed}");
        }
        let mut lowest = f64::INFINITY;
        for out in &support {
            for new in (0..14).filter(|j| !support.contains(j)) {
                let mut other: Vec<usize> = support.iter().copied().filter(|j| j != out).chain([new]).collect();
                other.sort_unstable();
                lowest = lowest.min(fit(&other).0);
            }
        }
        match state.best_exchange(1e-12) {
            Some((place, newcomer)) => {
                state.leave(place);
                state.enter(newcomer).unwrap();
                assert!((state.value - lowest).abs() < least, "seed {seed}");
            }
            None => assert!(support.is_empty() || lowest >= value - least, "seed {seed}"),
        }
    }
}
