//! What the partial likelihood owes: reference values, derivatives, the best support, and all that must not matter.

mod search;

use crate::common::{Table, assert_close, block, check_own_blocks, gradient, normal, rng};
use ksparse::loss::{Cox, JointLoss, Survival, Ties};
use ksparse::objective::JointRisk;
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::{Objective, SparseRef};
use rand::Rng;

/// Rows with times, some of them tied, some censored.
struct Data {
    x: Table,
    time: Vec<f64>,
    event: Vec<bool>,
    entry: Vec<f64>,
    strata: Vec<usize>,
    weights: Vec<f64>,
}

impl Data {
    /// Two columns matter.
    fn new(n: usize, p: usize, seed: u64) -> Self {
        let rng = &mut rng(seed);
        let x = Table::gaussian(rng, n, p, 0.3);
        let mut data = Self { x, time: vec![], event: vec![], entry: vec![], strata: vec![], weights: vec![] };
        for i in 0..n {
            let risk = (1.2 * data.x.at(i, 1) - 0.9 * data.x.at(i, p - 2)).exp();
            let life = -(1.0 - rng.random::<f64>()).ln() / risk;
            let end = 0.2 + 2.0 * rng.random::<f64>();
            // Steps of a twentieth: ties.
            let time = ((life.min(end) * 20.0).ceil() / 20.0).max(0.05);
            data.time.push(time);
            data.event.push(life <= end);
            data.entry.push(0.5 * time * rng.random::<f64>());
            data.strata.push(rng.random_range(0..3));
            data.weights.push(f64::from(rng.random_range(1u32..4)));
        }
        data
    }

    fn plain(&self, ties: Ties) -> Survival<'_> {
        Survival { ties, ..Survival::new(&self.time, &self.event) }
    }

    fn full(&self, ties: Ties) -> Survival<'_> {
        Survival {
            entry: Some(&self.entry),
            strata: Some(&self.strata),
            weights: Some(&self.weights),
            ..self.plain(ties)
        }
    }

    fn risk(&self, survival: Survival, ridge: f64) -> JointRisk<'static> {
        JointRisk::new(self.x.dense(), Cox::new(&survival).unwrap()).unwrap().with_ridge(ridge).unwrap()
    }
}

/// Every choice of ties, entries, strata and weights.
fn every_kind(data: &Data) -> Vec<(String, Survival<'_>)> {
    let mut kinds = Vec::new();
    for ties in [Ties::Breslow, Ties::Efron] {
        for kind in 0..8 {
            let full = data.full(ties);
            let survival = Survival {
                entry: full.entry.filter(|_| kind & 1 > 0),
                strata: full.strata.filter(|_| kind & 2 > 0),
                weights: full.weights.filter(|_| kind & 4 > 0),
                ..full
            };
            kinds.push((format!("{ties}, kind {kind:03b}"), survival));
        }
    }
    kinds
}

/// The likelihood by its definition: a loop over the rows for every event.
fn by_loops(s: &Survival, z: &[f64]) -> f64 {
    let n = z.len();
    let weight = |i: usize| s.weights.map_or(1.0, |w| w[i]);
    let same = |i: usize, j: usize| s.strata.is_none_or(|strata| strata[i] == strata[j]);
    let mut sum = 0.0;
    for i in (0..n).filter(|&i| s.event[i]) {
        let entered = |j: usize| s.entry.is_none_or(|entry| entry[j] < s.time[i]);
        let at_risk = (0..n).filter(|&j| same(i, j) && s.time[j] >= s.time[i] && entered(j));
        let tied: Vec<usize> = (0..n).filter(|&j| same(i, j) && s.event[j] && s.time[j] == s.time[i]).collect();
        let all: f64 = at_risk.map(|j| weight(j) * z[j].exp()).sum();
        let gone: f64 = tied.iter().map(|&j| weight(j) * z[j].exp()).sum();
        let mean = tied.iter().map(|&j| weight(j)).sum::<f64>() / tied.len() as f64;
        let before = tied.iter().position(|&j| j == i).unwrap() as f64;
        sum += match s.ties {
            Ties::Breslow => weight(i) * (all.ln() - z[i]),
            Ties::Efron => mean * (all - before / tied.len() as f64 * gone).ln() - weight(i) * z[i],
        };
    }
    sum / (0..n).map(weight).sum::<f64>()
}

#[test]
fn fifty_digits_agree() {
    let reference: serde_json::Value = serde_json::from_str(include_str!("reference.json")).unwrap();
    let of = |key: &str| -> Vec<f64> {
        reference["rows"].as_array().unwrap().iter().map(|row| row[key].as_f64().unwrap()).collect()
    };
    let rows: Vec<Vec<f64>> =
        reference["rows"].as_array().unwrap().iter().map(|r| serde_json::from_value(r["x"].clone()).unwrap()).collect();
    let x = Table::from_fn(rows.len(), 3, |i, j| rows[i][j]);
    let event: Vec<bool> =
        reference["rows"].as_array().unwrap().iter().map(|row| row["event"].as_bool().unwrap()).collect();
    let (time, entry, weights) = (of("time"), of("entry"), of("weight"));
    let strata: Vec<usize> = of("stratum").into_iter().map(|s| s as usize).collect();
    let at: Vec<f64> = serde_json::from_value(reference["at"].clone()).unwrap();
    for case in reference["cases"].as_array().unwrap() {
        let on = |key: &str| case[key].as_bool().unwrap();
        let survival = Survival {
            entry: on("entries").then_some(&entry[..]),
            strata: on("strata").then_some(&strata[..]),
            weights: on("weights").then_some(&weights[..]),
            ties: case["ties"].as_str().unwrap().parse().unwrap(),
            ..Survival::new(&time, &event)
        };
        let risk = JointRisk::new(x.dense(), Cox::new(&survival).unwrap()).unwrap();
        let risk = risk.with_ridge(case["ridge"].as_f64().unwrap()).unwrap();
        let point = risk.at(SparseRef::new(&[0, 1, 2], &at)).unwrap();
        let numbers = |key: &str| -> Vec<f64> { serde_json::from_value(case[key].clone()).unwrap() };
        assert_close("value", &[point.value()], &[case["value"].as_f64().unwrap()], 1e-13);
        assert_close("gradient", point.gradient().unwrap(), &numbers("gradient"), 1e-12);
        let hessian: Vec<Vec<f64>> = serde_json::from_value(case["hessian"].clone()).unwrap();
        let found = block(point.hessian().unwrap().unwrap(), &[0, 1, 2], &[0, 1, 2]);
        assert_close("Hessian", &found.concat(), &hessian.concat(), 1e-12);
        let mut beta = [0.0; 3];
        let outcome = minimise(&mut *risk.restrict(&[0, 1, 2]).unwrap(), &mut beta, &InnerOptions::EXACT).unwrap();
        assert_close("minimum", &[outcome.value], &[case["minimum"].as_f64().unwrap()], 1e-12);
        assert_close("coefficients", &beta, &numbers("coefficients"), 1e-6);
    }
}

/// Six patients whose estimates can be written down: exp(b) solves r^2 - 3 r - 6 = 0 under Breslow, and under Efron a
/// cubic (the test data of T. Therneau's validation of survival programs).
#[test]
fn estimates_by_hand() {
    let x = Table::from_fn(6, 1, |i, _| [1.0, 1.0, 1.0, 0.0, 0.0, 0.0][i]);
    let (time, event) = ([1.0, 1.0, 6.0, 6.0, 8.0, 9.0], [true, false, true, true, false, true]);
    for (ties, coefficient, likelihood) in
        [(Ties::Breslow, ((3.0 + 33f64.sqrt()) / 2.0).ln(), -3.824_749_51), (Ties::Efron, 1.676_857, -3.358_975)]
    {
        let survival = Survival { ties, ..Survival::new(&time, &event) };
        let risk = JointRisk::new(x.dense(), Cox::new(&survival).unwrap()).unwrap();
        let mut beta = [0.0];
        let outcome = minimise(&mut *risk.restrict(&[0]).unwrap(), &mut beta, &InnerOptions::EXACT).unwrap();
        assert!((beta[0] - coefficient).abs() < 1e-6, "{ties}: {} against {coefficient}", beta[0]);
        assert!((6.0 * outcome.value + likelihood).abs() < 1e-6, "{ties}: {}", 6.0 * outcome.value);
    }
}

/// R's survival::coxph on rows made by the same formulas (`coxph.R`): value, gradient, information, the largest
/// likelihood.
#[test]
fn coxph_agrees() {
    let n = 60;
    let column = |f: &dyn Fn(f64) -> f64| -> Vec<f64> { (0..n).map(|i| f(f64::from(i))).collect() };
    let x = Table::from_fn(n as usize, 3, |i, j| {
        let i = i as f64;
        [(1.3 * i).sin(), (0.7 * i + 1.0).cos(), (7.0 * i % 11.0) / 5.0 - 1.0][j]
    });
    let time = column(&|i| 1.0 + 13.0 * i % 17.0);
    let event: Vec<bool> = column(&|i| 5.0 * i % 7.0).iter().map(|v| *v > 1.0).collect();
    let entry: Vec<f64> = column(&|i| 3.0 * i % 4.0).iter().zip(&time).map(|(v, t)| t * v / 5.0).collect();
    let strata: Vec<usize> = (0..n as usize).map(|i| i % 3).collect();
    let weights = column(&|i| 1.0 + i % 4.0);
    let mut cases = 0;
    for line in include_str!("coxph.csv").lines().skip(1) {
        let parts: Vec<&str> = line.split(',').collect();
        let on = |at: usize| parts[at] == "1";
        let survival = Survival {
            entry: on(1).then_some(&entry[..]),
            strata: on(2).then_some(&strata[..]),
            weights: on(3).then_some(&weights[..]),
            ties: parts[0].parse().unwrap(),
            ..Survival::new(&time, &event)
        };
        let total = if on(3) { weights.iter().sum() } else { f64::from(n) };
        let expected: Vec<f64> = parts[5..].iter().map(|v| v.parse::<f64>().unwrap()).collect();
        let risk = JointRisk::new(x.dense(), Cox::new(&survival).unwrap()).unwrap();
        let point = risk.at(SparseRef::new(&[0, 1, 2], &[0.4, -0.3, 0.2])).unwrap();
        let times = |by: f64, numbers: &[f64]| numbers.iter().map(|v| by * v).collect::<Vec<f64>>();
        let found = match parts[4] {
            "value" => vec![-total * point.value(), 0.0, 0.0],
            "gradient" => times(-total, point.gradient().unwrap()),
            "coefficients" => {
                let mut w = [0.0; 3];
                minimise(&mut *risk.restrict(&[0, 1, 2]).unwrap(), &mut w, &InnerOptions::EXACT).unwrap();
                w.to_vec()
            }
            row => {
                let row = row.trim_start_matches("information").parse::<usize>().unwrap() - 1;
                times(total, &block(point.hessian().unwrap().unwrap(), &[0, 1, 2], &[0, 1, 2])[row])
            }
        };
        assert_close(line, &found, &expected, 1e-6);
        cases += 1;
    }
    assert_eq!(cases, 96);
}

#[test]
fn values_are_those_of_the_definition_and_derivatives_those_of_the_values() {
    let data = Data::new(60, 5, 1);
    let rng = &mut rng(2);
    let w: Vec<f64> = (0..5).map(|_| 0.7 * normal(rng)).collect();
    let all = [0, 1, 2, 3, 4];
    for (what, survival) in every_kind(&data) {
        let risk = data.risk(survival, 0.1);
        let at = |w: &[f64]| risk.at(SparseRef::new(&all, w)).unwrap();
        let z: Vec<f64> = (0..60).map(|i| data.x.row(i).iter().zip(&w).map(|(x, w)| x * w).sum()).collect();
        let penalty = 0.05 * w.iter().map(|w| w * w).sum::<f64>();
        assert_close(&what, &[at(&w).value()], &[by_loops(&survival, &z) + penalty], 1e-12);

        let step = 1e-5;
        let moved = |j: usize, by: f64| {
            let mut w = w.clone();
            w[j] += by;
            w
        };
        let slopes: Vec<f64> =
            all.iter().map(|&j| (at(&moved(j, step)).value() - at(&moved(j, -step)).value()) / (2.0 * step)).collect();
        let point = at(&w);
        assert_close(&what, point.gradient().unwrap(), &slopes, 1e-8);
        let hessian = point.hessian().unwrap().unwrap();
        let whole = block(hessian, &all, &all);
        check_own_blocks(&what, hessian, &[vec![0, 2], vec![1], vec![3, 4]], 1e-12);
        let mut diagonal = [0.0; 5];
        hessian.diagonal(&mut diagonal).unwrap();
        for j in all {
            let [ahead, behind] = [step, -step].map(|by| gradient(&risk, SparseRef::new(&all, &moved(j, by))));
            let bends: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * step)).collect();
            assert_close(&what, &whole[j], &bends, 1e-7);
            assert_close(&what, &[diagonal[j]], &[whole[j][j]], 1e-12);
        }
        assert_close(
            &what,
            &block(hessian, &[1, 3], &[4, 0, 1]).concat(),
            &[whole[4][1], whole[4][3], whole[0][1], whole[0][3], whole[1][1], whole[1][3]],
            1e-12,
        );
    }
}

#[test]
fn an_integer_weight_is_a_repeated_row_under_breslow() {
    let data = Data::new(50, 4, 3);
    let which: Vec<usize> = (0..50).flat_map(|i| vec![i; data.weights[i] as usize]).collect();
    let pick = |v: &[f64]| -> Vec<f64> { which.iter().map(|&i| v[i]).collect() };
    let (time, entry) = (pick(&data.time), pick(&data.entry));
    let event: Vec<bool> = which.iter().map(|&i| data.event[i]).collect();
    let strata: Vec<usize> = which.iter().map(|&i| data.strata[i]).collect();
    let repeated =
        Survival { entry: Some(&entry), strata: Some(&strata), ties: Ties::Breslow, ..Survival::new(&time, &event) };
    let risk = JointRisk::new(data.x.rows(&which).dense(), Cox::new(&repeated).unwrap()).unwrap();
    let weighted = data.risk(data.full(Ties::Breslow), 0.0);
    let w = [0.4, -0.3, 0.2, 0.5];
    let (a, b) = [&risk, &weighted].map(|risk| risk.at(SparseRef::new(&[0, 1, 2, 3], &w)).unwrap()).into();
    // Every copy is at risk for every copy: c log(sum c exp z) either way.
    assert_close("value", &[a.value()], &[b.value()], 1e-12);
    assert_close("gradient", a.gradient().unwrap(), b.gradient().unwrap(), 1e-11);
}

#[test]
fn neither_storage_nor_offsets_nor_the_scale_of_time_matter() {
    let data = Data::new(80, 6, 4);
    let w = SparseRef::new(&[1, 3, 4], &[0.8, -0.4, 0.3]);
    for (what, survival) in every_kind(&data) {
        let plain = data.risk(survival, 0.01);
        let point = plain.at(w).unwrap();
        for (storage, design) in data.x.every_storage() {
            let risk = JointRisk::new(design, Cox::new(&survival).unwrap()).unwrap().with_ridge(0.01).unwrap();
            let other = risk.at(w).unwrap();
            let tolerance = if storage.contains("32") { 1e-6 } else { 1e-12 };
            assert_close(&format!("{what}, {storage}"), &[other.value()], &[point.value()], tolerance);
            assert_close(storage, other.gradient().unwrap(), point.gradient().unwrap(), 10.0 * tolerance);
        }
        let far = data.x.map(|_, j, v| v + [0.0, 1e6, -300.0, 5.0, 1e4, 0.0][j]);
        let risk = JointRisk::new(far.dense(), Cox::new(&survival).unwrap()).unwrap().with_ridge(0.01).unwrap();
        let moved = risk.at(w).unwrap();
        assert_close(&what, &[moved.value()], &[point.value()], 1e-8);
        assert_close(&what, moved.gradient().unwrap(), point.gradient().unwrap(), 1e-7);
        let [times, entries] = [&data.time, &data.entry].map(|t| t.iter().map(|t| t.powi(3)).collect::<Vec<f64>>());
        let cubed = Survival { time: &times, entry: survival.entry.map(|_| &entries[..]), ..survival };
        assert_eq!(data.risk(cubed, 0.01).at(w).unwrap().value(), point.value(), "{what}: only the order counts");
    }
}

#[test]
fn exponentials_do_not_overflow() {
    let data = Data::new(40, 3, 5);
    for (what, survival) in every_kind(&data) {
        let cox = Cox::new(&survival).unwrap();
        let z: Vec<f64> = (0..40).map(|i| data.x.at(i, 0)).collect();
        let far: Vec<f64> = z.iter().map(|z| z + 5000.0).collect();
        let (near, away) = (cox.at(&z), cox.at(&far));
        assert_close(&what, &[away.value()], &[near.value()], 1e-9);
        assert_close(&what, away.derivatives(), near.derivatives(), 1e-9);
        let wide: Vec<f64> = z.iter().map(|z| 100.0 * z).collect();
        assert!(cox.at(&wide).value() > 1.0 && cox.at(&wide).value().is_finite(), "{what}");
        let beyond: Vec<f64> = z.iter().map(|z| 1e6 * z).collect();
        assert!(!cox.at(&beyond).value().is_nan(), "{what}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let refused = |survival: &Survival, words: &str| {
        let message = Cox::new(survival).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    };
    let (time, event) = ([1.0, 2.0, 3.0], [true, false, true]);
    refused(&Survival::new(&time, &[false; 3]), "all 3 rows are censored");
    refused(&Survival::new(&[1.0, 0.0, 2.0], &event), "row 1");
    refused(&Survival::new(&[1.0, -3.0, 2.0], &event), "positive times");
    refused(&Survival::new(&[1.0, f64::NAN, 2.0], &event), "not finite");
    refused(&Survival::new(&time, &[true]), "length");
    refused(&Survival { entry: Some(&[0.0, 2.0, 0.0]), ..Survival::new(&time, &event) }, "row 1 enters at 2");
    refused(&Survival { weights: Some(&[0.0, 1.0, 0.0]), ..Survival::new(&time, &event) }, "censored");
    refused(&Survival::new(&[], &[]), "at least one row");
    assert!("neither".parse::<Ties>().unwrap_err().to_string().contains("efron, breslow"));
}

/// Nelson and Aalen's estimate where all predictions are equal; survival falls from 1.
#[test]
fn baselines_by_hand() {
    let (time, event) = ([1.0, 1.0, 6.0, 6.0, 8.0, 9.0], [true, false, true, true, false, true]);
    let cox = Cox::new(&Survival { ties: Ties::Breslow, ..Survival::new(&time, &event) }).unwrap();
    let [baseline] = &cox.baselines(&[7.0; 6])[..] else { panic!("one stratum") };
    assert_eq!(baseline.times, [1.0, 6.0, 9.0]);
    assert_close("hazard", &baseline.hazard, &[1.0 / 6.0, 1.0 / 6.0 + 0.5, 1.0 / 6.0 + 1.5], 1e-14);
    assert!((baseline.reference - 7.0).abs() < 1e-14);
    assert_eq!(baseline.survival(0.5, 7.0), 1.0);
    assert!((baseline.survival(7.0, 7.0) - (-2.0f64 / 3.0).exp()).abs() < 1e-14);
    assert!((baseline.survival(7.0, 7.0 + 2f64.ln()) - (-4.0f64 / 3.0).exp()).abs() < 1e-14);
    let strata = [5, 5, 5, 2, 2, 2];
    let apart = Survival { strata: Some(&strata), ..Survival::new(&time, &event) };
    let both = Cox::new(&apart).unwrap().baselines(&[0.0; 6]);
    assert_eq!(both[0].times, [6.0, 9.0]);
    assert_eq!(both[1].times, [1.0, 6.0]);
}
