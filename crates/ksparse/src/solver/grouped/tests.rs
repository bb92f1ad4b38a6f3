#![allow(clippy::unwrap_used)]
//! On a quadratic f what the model says of groups is so: minima, rises, gains, by refits.

use super::{GroupedModel, GroupedScores};
use crate::loss::Squared;
use crate::restricted::InnerOptions;
use crate::simulate::{self, Correlation};
use crate::solver::Limits;
use crate::solver::exchange::Proposals;
use crate::solver::model::block;
use crate::solver::run::{Iterate, Run};
use crate::sparsity::{Partition, Sparsity};
use crate::{Progress, Risk};
use std::ops::ControlFlow;

/// 12 groups of 1, 2, 3 and 4 coordinates among 31, the last of them free.
fn partition() -> Partition {
    let mut next = 0;
    Partition::new((0..12).map(|g| {
        let first = next;
        next += g % 4 + 1;
        (first..next).collect()
    }))
    .unwrap()
}

/// Something about f after least squares on the groups listed.
fn at_groups(list: &[usize], check: impl Fn(&Run, &Iterate)) {
    let data = simulate::linear(80, 31, 6, Correlation::Ar1(0.8), 0.5, 3);
    let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap().with_ridge(1e-3).unwrap();
    let watch = &mut |_: &Progress| ControlFlow::Continue(());
    let sparsity = Sparsity::new(list.len()).keep([30]).in_groups(partition());
    let run = Run::new("test", &risk, &sparsity, &Limits::default(), watch).unwrap();
    check(&run, &refit(&run, list));
}

fn refit(run: &Run, units: &[usize]) -> Iterate {
    let mut support: Vec<usize> = units.iter().flat_map(|&unit| run.budget.members(unit)).collect();
    support.extend(&run.budget.free);
    support.sort_unstable();
    let zeros = vec![0.0; support.len()];
    run.refit(support, zeros, &InnerOptions::EXACT).unwrap()
}

/// The model has a little damping.
fn near(a: f64, b: f64, unit: f64) -> bool {
    (a - b).abs() <= 1e-5 * unit
}

#[test]
fn groups_leave_for_what_refits_say() {
    at_groups(&[0, 2, 3, 5, 7, 10, 11], |run, at| {
        let point = run.point(at).unwrap();
        let hessian = block(point.hessian().unwrap().unwrap(), &at.support, &at.support).unwrap();
        let mut model = GroupedModel::new(run, at, vec![0.0; at.support.len()], hessian);
        let units = run.budget.units_of(&at.support);
        let rise = |gone: usize| {
            let rest: Vec<usize> = units.iter().copied().filter(|&unit| unit != gone).collect();
            refit(run, &rest).value - at.value
        };
        for (place, &unit) in units.iter().enumerate() {
            assert!(near(0.5 * model.departure(place).cost, rise(unit), rise(unit)), "group {unit}");
        }
        // The cheapest goes, then the cheapest of the others, as by refits.
        let mut left = units.clone();
        for _ in 0..4 {
            let value = |gone: usize| {
                refit(run, &left.iter().copied().filter(|&unit| unit != gone).collect::<Vec<usize>>()).value
            };
            let gone = left.iter().copied().min_by(|&a, &b| value(a).total_cmp(&value(b))).unwrap();
            left.retain(|&unit| unit != gone);
        }
        let places = model.drop_cheapest(4);
        let expected = refit(run, &left);
        assert_eq!(places.iter().map(|&place| at.support[place]).collect::<Vec<usize>>(), expected.support);
        for (place, x) in places.iter().zip(&expected.x) {
            assert!(near(model.x[*place], *x, 1.0), "{} {x}", model.x[*place]);
        }
    });
}

#[test]
fn exchanges_gain_what_refits_say() {
    at_groups(&[1, 2, 6, 7, 8], |run, at| {
        let gradient = run.gradient(at).unwrap();
        let scores = GroupedScores::new(run, at, gradient, run.budget.units()).unwrap().unwrap();
        let inside = run.budget.units_of(&at.support);
        let exchanged = |gone: Option<usize>, enters: usize| {
            let rest = inside.iter().copied().filter(|&unit| Some(unit) != gone).chain([enters]);
            refit(run, &rest.collect::<Vec<usize>>())
        };
        let pairs = scores.pairs(run, f64::NEG_INFINITY);
        assert_eq!(pairs.len(), inside.len(), "every place is taken once");
        assert!(pairs.windows(2).all(|two| two[0].gain >= two[1].gain));
        let best = |gone: usize, enters: usize| at.value - exchanged(Some(gone), enters).value;
        let outside = (0..run.budget.units()).filter(|unit| !inside.contains(unit));
        let all = outside.flat_map(|enters| inside.iter().map(move |&gone| best(gone, enters)));
        assert!(near(pairs[0].gain, all.fold(f64::NEG_INFINITY, f64::max), at.value), "the best of all");
        for pair in &pairs {
            let after = exchanged(pair.place.map(|place| inside[place]), pair.enters);
            assert!(near(pair.gain, at.value - after.value, at.value), "{pair:?} {}", at.value - after.value);
            let mut expected = scores.after(at, &[*pair]);
            expected.sort_unstable_by_key(|entry| entry.0);
            for ((j, x), (at, value)) in expected.into_iter().zip(after.as_sparse().iter()) {
                assert!(j == at && near(x, value, 10.0), "coordinate {j}: {x} for {value}");
            }
        }
        // Several at once: the rest answers to those that go, newcomers are at 0.
        let after = scores.after(at, &pairs[..2]);
        let zeros = after.iter().filter(|(_, x)| *x == 0.0).count();
        assert_eq!(zeros, pairs[..2].iter().map(|pair| run.budget.members(pair.enters).count()).sum::<usize>());
    });
}
