//! Counts, positive numbers and wild targets, under every solver: brute force, weights, storages, threads, bounds,
//! offsets, targets that do not suit.

use crate::common::{Table, normal, rng};
use ksparse::certificate::{CertifyOptions, certify};
use ksparse::design::{Dense, Design};
use ksparse::loss::{FAMILIES, Loss, Poisson, TargetKind};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::select::{Criterion, CrossValidation, Folds, Problem};
use ksparse::simulate::{self, Correlation};
use ksparse::solver::{self, Effort, METHODS, Solver};
use ksparse::{Auto, Error, Grid, Objective, Path, Risk, SparseRef, Sparsity, Threads};
use rand::Rng;
use std::ops::ControlFlow;

const NEW: [&str; 3] = ["robust", "poisson", "gamma"];

struct Data {
    x: Table,
    y: Vec<f64>,
    loss: Box<dyn Loss>,
}

/// Two columns of nine matter.
fn data(name: &str, seed: u64) -> Data {
    let rng = &mut rng(seed);
    let x = Table::from_fn(50, 9, |_, _| normal(rng));
    let loss = FAMILIES.iter().find(|family| family.name == name).unwrap().build(None).unwrap();
    let target = |i: usize, rng: &mut rand_chacha::ChaCha8Rng| {
        let signal = 0.8 * x.at(i, 2) - 0.6 * x.at(i, 7) + 0.4;
        match loss.target() {
            // Knuth's way to a Poisson number.
            TargetKind::Count => {
                let (stop, mut product, mut count) = ((-signal.exp()).exp(), rng.random::<f64>(), 0.0);
                while product > stop {
                    product *= rng.random::<f64>();
                    count += 1.0;
                }
                count
            }
            TargetKind::Positive => -(1.0 - rng.random::<f64>()).ln() * signal.exp() + 1e-3,
            _ => 3.0 * signal + normal(rng) + if i % 10 == 3 { 40.0 } else { 0.0 },
        }
    };
    let y = (0..x.n).map(|i| target(i, rng)).collect();
    Data { x, y, loss }
}

impl Data {
    fn risk(&self, ridge: f64) -> Risk<'_> {
        self.on(self.x.dense(), ridge)
    }

    fn on<'a>(&'a self, design: impl Design + 'a, ridge: f64) -> Risk<'a> {
        Risk::new(design, &self.y, &*self.loss).unwrap().with_ridge(ridge).unwrap().with_intercept()
    }
}

/// What a model of f foresees may be beyond what exp can hold, where columns are of very different sizes and almost as
/// many as rows are taken.
#[test]
fn points_foreseen_that_overflow_are_not_the_end() {
    let data = simulate::poisson(50, 200, 8, Correlation::Independent, 252);
    let size = |j: usize| (((j * 7919 + 13) % 1000) as f64 / 1000.0 * 6.0 - 3.0).exp();
    let columns: Vec<f64> = (0..200).flat_map(|j| data.design.column(j).iter().map(move |v| v * size(j))).collect();
    let x = Dense::from_columns(50, 200, columns).unwrap();
    let risk = Risk::new(&x, &data.target, Poisson).unwrap().with_ridge(1e-4).unwrap().with_intercept();
    for k in [30, 40] {
        for effort in [Effort::QUICK, Effort::NORMAL] {
            let solution = Auto { effort, ..Auto::default() }.fit(&risk, &Sparsity::new(k)).unwrap();
            assert!(solution.value < 1e-3, "k = {k}: {}", solution.value);
        }
    }
}

/// The least f over all supports of k columns.
fn brute_force(risk: &Risk, k: usize) -> f64 {
    let p = risk.features();
    let mut best = f64::INFINITY;
    for set in (0u32..1 << p).filter(|set| set.count_ones() as usize == k) {
        let support: Vec<usize> = (0..p).filter(|j| set >> j & 1 == 1).chain(risk.free().to_vec()).collect();
        let mut x = vec![0.0; support.len()];
        let outcome = minimise(&mut *risk.restrict(&support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap();
        best = best.min(outcome.value);
    }
    best
}

#[test]
fn against_every_support() {
    for name in NEW {
        for seed in 1..4 {
            let data = data(name, seed);
            let risk = data.risk(0.01);
            for k in [1, 2, 3] {
                let best = brute_force(&risk, k);
                for method in METHODS {
                    let found = solver::by_name(method.name).unwrap().fit(&risk, &Sparsity::new(k));
                    let found = found.unwrap_or_else(|error| panic!("{} on {name}: {error}", method.name));
                    let what = format!("{} on {name}, seed {seed}, k {k}: {}", method.name, found.status);
                    assert!(found.value >= best - 1e-7 * best.abs(), "{what}: {} below {best}", found.value);
                    if let Some(bound) = found.lower_bound() {
                        assert!(bound <= best * (1.0 + 1e-9), "{what}: bound {bound} above {best}");
                    }
                    if ["auto", "exact"].contains(&method.name) {
                        assert!(found.value <= best * (1.0 + 1e-6), "{what}: {} above {best}", found.value);
                    }
                }
                let auto = Auto::default().fit(&risk, &Sparsity::new(k)).unwrap();
                let watch = &mut |_: &_| ControlFlow::Continue(());
                let proof = certify(&risk, &Sparsity::new(k), &auto, &CertifyOptions::default(), watch).unwrap();
                assert!(proof.lower_bound <= best && proof.lower_bound > 0.0, "{name}: {} {best}", proof.lower_bound);
            }
        }
    }
}

#[test]
fn derivatives_of_the_risk_match_finite_differences() {
    for name in NEW {
        let data = data(name, 5);
        let risk = data.risk(0.1);
        let (all, x): (Vec<usize>, Vec<f64>) = (0..risk.dim()).map(|j| (j, 0.1 * (j as f64 - 3.0))).unzip();
        let mut gradient = vec![0.0; risk.dim()];
        risk.value_and_gradient(SparseRef::new(&all, &x), &mut gradient);
        for j in 0..risk.dim() {
            let h = 1e-6;
            let moved = |step: f64| {
                let mut there = x.clone();
                there[j] += step;
                risk.value(SparseRef::new(&all, &there))
            };
            let slope = (moved(h) - moved(-h)) / (2.0 * h);
            assert!((slope - gradient[j]).abs() <= 1e-6 * (1.0 + slope.abs()), "{name}, {j}: {slope} {}", gradient[j]);
        }
    }
}

#[test]
fn weights_are_repeated_rows_and_storage_and_threads_do_not_matter() {
    for name in NEW {
        let data = data(name, 7);
        let weights: Vec<f64> = (0..data.x.n).map(|i| (i % 3) as f64).collect();
        let rows: Vec<usize> = (0..data.x.n).flat_map(|i| vec![i; i % 3]).collect();
        let repeated = Table::from_fn(rows.len(), data.x.p, |i, j| data.x.at(rows[i], j));
        let y: Vec<f64> = rows.iter().map(|&i| data.y[i]).collect();
        let weighted = data.risk(0.02).with_weights(&weights).unwrap();
        let same = Risk::new(repeated.dense(), &y, &*data.loss).unwrap().with_ridge(0.02).unwrap().with_intercept();
        let fit = |risk: &Risk| Auto::default().fit(risk, &Sparsity::new(2)).unwrap();
        let (one, other) = (fit(&weighted), fit(&same));
        assert_eq!(one.support, other.support, "{name}");
        assert!((one.value - other.value).abs() <= 1e-10 * one.value, "{name}: {} {}", one.value, other.value);
        let (dense, sparse) = (fit(&data.risk(0.02)), fit(&data.on(data.x.csc(), 0.02)));
        assert_eq!(dense.support, sparse.support, "{name}");
        assert!((dense.value - sparse.value).abs() <= 1e-10 * dense.value, "{name}");
        for threads in [1, 4] {
            let again = Threads::new(threads).unwrap().run(|| fit(&data.risk(0.02)));
            assert_eq!((again.value.to_bits(), &again.support), (dense.value.to_bits(), &dense.support), "{name}");
        }
    }
}

/// Its loss overflows wherever the coefficients are not tiny.
#[test]
fn a_row_without_weight_is_no_row() {
    for name in NEW {
        let mut data = data(name, 8);
        let without = Table::from_fn(data.x.n - 1, data.x.p, |i, j| data.x.at(i + 1, j));
        data.x = Table::from_fn(data.x.n, data.x.p, |i, j| data.x.at(i, j) * if i == 0 { 1e5 } else { 1.0 });
        let weights: Vec<f64> = (0..data.x.n).map(|i| if i == 0 { 0.0 } else { 1.0 }).collect();
        let weighted = data.risk(0.02).with_weights(&weights).unwrap();
        let same =
            Risk::new(without.dense(), &data.y[1..], &*data.loss).unwrap().with_ridge(0.02).unwrap().with_intercept();
        for method in METHODS.iter().filter(|method| !["exact", "model-search"].contains(&method.name)) {
            let solver = method.build(&solver::Settings::default()).unwrap();
            let fit = |risk: &Risk| solver.fit(risk, &Sparsity::new(2));
            match (fit(&weighted), fit(&same)) {
                (Ok(one), Ok(other)) => assert_eq!(one.support, other.support, "{name} {}", method.name),
                (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string(), "{name} {}", method.name),
                (one, other) => panic!("{name} {}: {one:?} {other:?}", method.name),
            }
        }
    }
}

#[test]
fn an_offset_is_added_to_every_prediction() {
    for name in NEW {
        let data = data(name, 11);
        let offset: Vec<f64> = (0..data.x.n).map(|i| 0.3 * (i as f64 * 0.7).sin()).collect();
        let weights: Vec<f64> = (0..data.x.n).map(|i| 1.0 + (i % 4) as f64).collect();
        let plain = || Risk::new(data.x.dense(), &data.y, &*data.loss).unwrap().with_ridge(0.05).unwrap();
        let risk = plain().with_offset(&offset).unwrap().with_weights(&weights).unwrap().with_intercept();
        let other = plain().with_weights(&weights).unwrap().with_offset(&offset).unwrap().with_intercept();
        let found = Auto::default().fit(&risk, &Sparsity::new(2)).unwrap();
        assert_eq!(found.value.to_bits(), Auto::default().fit(&other, &Sparsity::new(2)).unwrap().value.to_bits());
        let model = risk.model(&found);
        let z: Vec<f64> = model.predict(&data.x.dense()).unwrap().iter().zip(&offset).map(|(z, o)| z + o).collect();
        let mean: f64 = (0..z.len()).map(|i| weights[i] * data.loss.value(z[i], data.y[i])).sum::<f64>()
            / weights.iter().sum::<f64>();
        let ridge = 0.025 * model.coefficients.iter().map(|w| w * w).sum::<f64>();
        assert!((found.value - mean - ridge).abs() <= 1e-9 * found.value, "{name}: {} {}", found.value, mean + ridge);
        assert!(found.value <= brute_force(&risk, 2) * (1.0 + 1e-7), "{name}");
        for solver in ["exact", "diht", "svrght"] {
            let bound = solver::by_name(solver).unwrap().fit(&risk, &Sparsity::new(2)).unwrap();
            assert!(bound.lower_bound().is_none_or(|bound| bound <= found.value * (1.0 + 1e-9)), "{solver} on {name}");
        }
        assert!(plain().with_offset(&offset[1..]).is_err());
    }
    let labels = Table::from_fn(4, 1, |i, _| i as f64);
    let risk = Risk::new(labels.dense(), &[1.0, -1.0, 1.0, -1.0], ksparse::loss::Logistic::default()).unwrap();
    let message = risk.with_offset(&[0.0; 4]).err().unwrap().to_string();
    assert!(message.contains("logistic") && message.contains("offset"), "{message}");
}

#[test]
fn k_is_chosen_and_paths_are_solved() {
    for name in NEW {
        let data = data(name, 13);
        let dense = data.x.dense();
        let offset: Vec<f64> = (0..data.x.n).map(|i| 0.1 * (i % 5) as f64).collect();
        let problem = Problem { offset: Some(&offset), ..Problem::new(&dense, &data.y, &*data.loss) };
        let folds = Folds::seeded(data.x.n, 5, 1).unwrap();
        let chosen = CrossValidation::over(Grid::over(0..=5, [1e-3])).fit(&problem, &folds, &Auto::default()).unwrap();
        assert!(chosen.k >= 1 && chosen.solution.value.is_finite(), "{name}: k {}", chosen.k);
        let training = problem.on_all_rows().unwrap();
        let path = Path::over(0..=5).fit(&training.risk, &Auto::default()).unwrap();
        assert!(path.solutions.windows(2).all(|pair| pair[1].value <= pair[0].value), "{name}");
    }
    let counts = data("poisson", 17);
    let risk = counts.risk(1e-3);
    let grid = Grid::over(0..=4, [1e-3]).fit(&risk, &Auto::default()).unwrap();
    let chosen = Criterion::by_name("bic").unwrap().choose_cell(&risk, &grid).unwrap();
    assert!(chosen.scores.iter().all(|score| score.is_finite()));
}

#[test]
fn targets_that_do_not_suit_are_named() {
    let x = Table::from_fn(3, 1, |i, _| i as f64);
    for (name, y, word) in [
        ("poisson", [1.0, -1.0, 2.0], "not negative"),
        ("gamma", [1.0, 0.0, 2.0], "above 0"),
        ("robust", [1.0, f64::NAN, 2.0], "target"),
    ] {
        let loss = ksparse::loss::by_name(name).unwrap();
        let message = Risk::new(x.dense(), &y, &*loss).err().unwrap().to_string();
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn large_counts_do_not_overflow() {
    let loss = ksparse::loss::by_name("poisson").unwrap();
    let x = Table::from_fn(20, 2, |i, j| if j == 0 { i as f64 } else { (i % 3) as f64 });
    let y: Vec<f64> = (0..20).map(|i| (i as f64 * 0.9).exp().floor()).collect();
    for intercept in [false, true] {
        let risk = Risk::new(x.dense(), &y, &*loss).unwrap();
        let risk = if intercept { risk.with_intercept() } else { risk };
        for name in solver::GENERAL {
            let found = solver::by_name(name).unwrap().fit(&risk, &Sparsity::new(2));
            match found {
                Ok(found) => assert!(found.value.is_finite() && found.coefficients.iter().all(|c| c.is_finite())),
                Err(error) => assert!(matches!(error, Error::Overflow { .. }), "{name}: {error}"),
            }
        }
        let found = Auto::default().fit(&risk, &Sparsity::new(2)).unwrap();
        assert!(found.value < 1e-2 * risk.value(SparseRef::ZERO), "{}", found.value);
    }
}
