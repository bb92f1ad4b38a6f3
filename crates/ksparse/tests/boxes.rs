//! Signs and boxes: the best of all supports within bounds, by brute force and by every way in.

use crate::common::{Table, assert_close, normal, rng};
use ksparse::loss::by_name;
use ksparse::objective::{Bounds, Boxed};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::{Auto, Objective, Path, Risk, Solver, SparseRef, Sparsity, Threads};

const P: usize = 8;

fn target(x: &Table, loss: &str, seed: u64) -> Vec<f64> {
    let rng = &mut rng(seed);
    let z = |i: usize| 1.2 * x.at(i, 1) - 1.5 * x.at(i, 3) + 0.7 * x.at(i, 5);
    let number = |i: usize, noise: f64| match loss {
        "squared" => z(i) + 0.3 * noise,
        "logistic" => {
            if z(i) + noise > 0.0 {
                1.0
            } else {
                -1.0
            }
        }
        _ => (0.5 * z(i) + 0.2 * noise).exp().round(),
    };
    (0..x.n).map(|i| number(i, normal(rng))).collect()
}

/// Different boxes for every column: signs, intervals, fixed at 0, free.
fn boxes() -> Bounds {
    let (i, o) = (f64::INFINITY, f64::NEG_INFINITY);
    Bounds::new(vec![0.0, 0.0, -0.5, -0.4, o, 0.0, o, 0.0], vec![i, 0.6, i, 0.2, i, 0.3, 0.0, 0.0]).unwrap()
}

/// The least f on a support within bounds: every way of putting coordinates at their bounds, the others where f has no
/// slope, and of these the best within the box. Nothing of the projected method is used.
fn by_brute_force(risk: &Risk, lower: &[f64], upper: &[f64], support: &[usize]) -> f64 {
    let (k, intercept) = (support.len(), risk.dim() - 1);
    let mut best = f64::INFINITY;
    for choice in 0..3usize.pow(k as u32) {
        let state = |c: usize| choice / 3usize.pow(c as u32) % 3;
        let bound = |c: usize| if state(c) == 1 { lower[support[c]] } else { upper[support[c]] };
        if (0..k).any(|c| state(c) > 0 && bound(c).is_infinite()) {
            continue;
        }
        let all: Vec<usize> = support.iter().copied().chain([intercept]).collect();
        let mut x: Vec<f64> = (0..=k).map(|c| if c < k && state(c) > 0 { bound(c) } else { 0.0 }).collect();
        let moving: Vec<usize> = (0..=k).filter(|&c| c == k || state(c) == 0).collect();
        // Newton with halving on the coordinates that move, from the definition of f alone.
        let mut f = risk.restrict(&all).unwrap();
        let mut g = vec![0.0; k + 1];
        let mut value = f.move_to(&x, &mut g).unwrap();
        for _ in 0..100 {
            let mut h = vec![0.0; (k + 1) * (k + 1)];
            f.second().hessian().unwrap().matrix(ksparse::MatrixMut::from_columns(k + 1, k + 1, &mut h)).unwrap();
            let m = moving.len();
            let at = |a: usize, b: usize| h[moving[a.min(b)] * (k + 1) + moving[a.max(b)]];
            let mut table: Vec<Vec<f64>> =
                (0..m).map(|a| (0..m).map(|b| at(a, b)).chain([-g[moving[a]]]).collect()).collect();
            for a in 0..m {
                let pivot = table[a][a];
                table[a].iter_mut().for_each(|v| *v /= pivot);
                for b in (0..m).filter(|b| *b != a) {
                    let (row, factor) = (table[a].clone(), table[b][a]);
                    table[b].iter_mut().zip(row).for_each(|(v, r)| *v -= factor * r);
                }
            }
            let mut length = 1.0;
            let moved = loop {
                let mut next = x.clone();
                moving.iter().zip(&table).for_each(|(&c, row)| next[c] += length * row[m]);
                let there = f.move_to(&next, &mut g).unwrap();
                if there < value {
                    (x, value) = (next, there);
                    break true;
                }
                length *= 0.5;
                if length < 1e-9 {
                    break false;
                }
            };
            if !moved {
                f.move_to(&x, &mut g).unwrap();
                break;
            }
        }
        let within = (0..k).all(|c| x[c] >= lower[support[c]] - 1e-9 && x[c] <= upper[support[c]] + 1e-9);
        if within {
            best = best.min(value);
        }
    }
    best
}

#[test]
fn the_best_support_within_bounds_is_found() {
    for (seed, loss) in [(1, "squared"), (2, "logistic"), (3, "poisson"), (4, "squared"), (5, "logistic")] {
        let x = Table::gaussian(&mut rng(seed), 60, P, 0.4);
        let design = x.dense();
        let risk = Risk::new(&design, target(&x, loss, seed), by_name(loss).unwrap()).unwrap();
        let risk = risk.with_intercept().with_ridge(0.01).unwrap();
        let cases = [
            ("signs", Bounds::nonnegative(P), vec![0.0; P], vec![f64::INFINITY; P]),
            (
                "boxes",
                boxes(),
                vec![0.0, 0.0, -0.5, -0.4, f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY, 0.0],
                vec![f64::INFINITY, 0.6, f64::INFINITY, 0.2, f64::INFINITY, 0.3, 0.0, 0.0],
            ),
        ];
        for (what, bounds, lower, upper) in cases {
            let boxed = Boxed::new(&risk, bounds).unwrap();
            for k in [1, 2, 3] {
                let sets = (0u32..1 << P).filter(|set| set.count_ones() as usize == k);
                let supports = sets.map(|set| (0..P).filter(|j| set >> j & 1 == 1).collect::<Vec<usize>>());
                let least = supports.map(|support| by_brute_force(&risk, &lower, &upper, &support));
                let best = least.fold(f64::INFINITY, f64::min);
                let found = Auto::default().fit(&boxed, &Sparsity::new(k)).unwrap();
                assert_close(&format!("{loss}, {what}, k = {k}"), &[found.value], &[best], 1e-7);
                for (&j, w) in found.support.iter().zip(&found.coefficients).filter(|(j, _)| **j < P) {
                    assert!(lower[j] <= *w && *w <= upper[j], "{what}: {w} of column {j}");
                }
                let claimed = risk.at(SparseRef::new(&found.support, &found.coefficients)).unwrap().value();
                assert_close(what, &[claimed], &[found.value], 1e-12);
            }
        }
    }
}

/// Bounds that nothing reaches change nothing; those that are active say so.
#[test]
fn an_active_bound_says_so() {
    let x = Table::gaussian(&mut rng(7), 80, P, 0.2);
    let design = x.dense();
    let risk = Risk::new(&design, target(&x, "squared", 7), by_name("squared").unwrap()).unwrap().with_intercept();
    let free = Auto::default().fit(&risk, &Sparsity::new(3)).unwrap();
    let wide = Boxed::new(&risk, Bounds::new(vec![-1e6; P], vec![1e6; P]).unwrap()).unwrap();
    let same = Auto::default().fit(&wide, &Sparsity::new(3)).unwrap();
    assert_eq!(same.support, free.support);
    assert_close("coefficients", &same.coefficients, &free.coefficients, 1e-8);
    assert!(wide.held_back(&same).unwrap().is_empty());
    let tight = Boxed::new(&risk, Bounds::new(vec![-1.0; P], vec![1.0; P]).unwrap()).unwrap();
    let held = Auto::default().fit(&tight, &Sparsity::new(3)).unwrap();
    assert_eq!(tight.held_back(&held).unwrap(), [1, 3], "{held:?}");
}

/// Paths never rise, threads change no bit, and a function without second derivatives gets the same answer.
#[test]
fn paths_threads_and_functions_of_ones_own() {
    let x = Table::gaussian(&mut rng(8), 70, P, 0.3);
    let design = x.dense();
    let risk = Risk::new(&design, target(&x, "logistic", 8), by_name("logistic").unwrap()).unwrap();
    let risk = risk.with_ridge(0.05).unwrap();
    let fits = [1, 2, 8].map(|threads| {
        let boxed = Boxed::new(&risk, boxes()).unwrap();
        Threads::new(threads).unwrap().run(|| Path::over(0..=5).fit(&boxed, &Auto::default()).unwrap().solutions)
    });
    assert!(fits[0].windows(2).all(|pair| pair[1].value <= pair[0].value));
    for other in &fits[1..] {
        let bits =
            |fit: &[ksparse::Solution]| fit.iter().map(|s| (s.support.clone(), s.value.to_bits())).collect::<Vec<_>>();
        assert_eq!(bits(&fits[0]), bits(other));
    }
    let own = ksparse::objective::Custom::new(P, |w: &[f64], gradient: &mut [f64]| {
        let all: Vec<usize> = (0..P).collect();
        let point = risk.at(SparseRef::new(&all, w)).unwrap();
        gradient.copy_from_slice(point.gradient().unwrap());
        point.value()
    });
    let boxed = Boxed::new(&own, boxes()).unwrap();
    let mut w = vec![0.0; 3];
    let mut f = boxed.restrict(&[1, 3, 5]).unwrap();
    let slow = minimise(&mut *f, &mut w, &InnerOptions::EXACT).unwrap().value;
    let exact = Boxed::new(&risk, boxes()).unwrap();
    let mut w = vec![0.0; 3];
    let fast = minimise(&mut *exact.restrict(&[1, 3, 5]).unwrap(), &mut w, &InnerOptions::EXACT).unwrap().value;
    assert_close("without second derivatives", &[slow], &[fast], 1e-7);
}

#[test]
fn what_cannot_be_is_refused() {
    let say = |lower: Vec<f64>, upper: Vec<f64>| Bounds::new(lower, upper).unwrap_err().to_string();
    assert!(say(vec![0.0, 2.0], vec![1.0, 1.0]).contains("lower bound 2 of column 1 (counted from 0) is above"));
    assert!(say(vec![0.5], vec![1.0]).contains("leave out 0"));
    assert!(say(vec![-2.0], vec![-1.0]).contains("leave out 0"));
    assert!(say(vec![f64::NAN], vec![1.0]).contains("not a number"));
    assert!(say(vec![0.0], vec![1.0, 2.0]).contains("length"));
    let x = Table::gaussian(&mut rng(9), 20, 3, 0.0);
    let risk = Risk::new(x.dense(), vec![1.0; 20], by_name("squared").unwrap()).unwrap();
    assert!(Boxed::new(&risk, Bounds::nonnegative(2)).is_err());
}
