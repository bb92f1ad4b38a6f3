//! Several outputs from the same columns: multinomial regression and least squares of several responses. References,
//! derivatives, brute force over groups of coefficients, and what must not matter.

use crate::common::{Table, assert_close, block, check_form, check_own_blocks, gradient, normal, rng};
use ksparse::loss::{JointLoss, Multinomial, Responses};
use ksparse::objective::{JointRisk, Point};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::solver::{self, METHODS, Needs};
use ksparse::{Auto, Objective, Path, Solution, Solver, SparseRef, Sparsity, Threads};
use rand::Rng;

const OUTPUTS: usize = 3;

/// Rows whose classes and responses depend on columns 1 and p - 2.
struct Data {
    x: Table,
    classes: Vec<usize>,
    responses: Vec<f64>,
    weights: Vec<f64>,
}

impl Data {
    fn new(n: usize, p: usize, seed: u64) -> Self {
        let rng = &mut rng(seed);
        let x = Table::gaussian(rng, n, p, 0.4);
        let effects: Vec<[f64; 2]> = vec![[1.5, 0.3], [-1.0, 1.2], [0.2, -1.6]];
        let score = |i: usize, c: usize| effects[c][0] * x.at(i, 1) + effects[c][1] * x.at(i, p - 2);
        let mut responses = vec![0.0; n * OUTPUTS];
        (0..n * OUTPUTS).for_each(|at| responses[at] = score(at % n, at / n) + 0.5 * normal(rng) + 2.0);
        let best = |i: usize| (0..OUTPUTS).max_by(|&a, &b| responses[a * n + i].total_cmp(&responses[b * n + i]));
        let classes = (0..n).map(|i| best(i).unwrap()).collect();
        let weights = (0..n).map(|_| f64::from(rng.random_range(1u32..4))).collect();
        Self { x, classes, responses, weights }
    }

    fn loss(&self, name: &str, weights: Option<&[f64]>) -> Box<dyn JointLoss> {
        match name {
            "multinomial" => Box::new(Multinomial::new(&self.classes, OUTPUTS, weights).unwrap()),
            _ => Box::new(Responses::new(&self.responses, OUTPUTS, weights).unwrap()),
        }
    }

    fn risk(&self, name: &str) -> JointRisk<'static> {
        let loss = self.loss(name, None).into();
        JointRisk::from_arcs(std::sync::Arc::new(self.x.dense()), loss).unwrap().with_ridge(0.02).unwrap()
    }

    /// f by plain loops; coefficients by columns, intercepts last.
    fn by_loops(&self, name: &str, weights: Option<&[f64]>, w: &[f64], ridge: f64) -> f64 {
        let (n, p) = (self.x.n, self.x.p);
        let (mut sum, mut total) = (0.0, 0.0);
        for i in 0..n {
            let z: Vec<f64> = (0..OUTPUTS)
                .map(|c| (0..p).map(|j| self.x.at(i, j) * w[j * OUTPUTS + c]).sum::<f64>() + w[p * OUTPUTS + c])
                .collect();
            let weight = weights.map_or(1.0, |w| w[i]);
            sum += weight
                * match name {
                    "multinomial" => z.iter().map(|z| z.exp()).sum::<f64>().ln() - z[self.classes[i]],
                    _ => (0..OUTPUTS).map(|c| 0.5 * (z[c] - self.responses[c * n + i]).powi(2)).sum(),
                };
            total += weight;
        }
        sum / total + 0.5 * ridge * w[..p * OUTPUTS].iter().map(|w| w * w).sum::<f64>()
    }
}

const NAMES: [&str; 2] = ["multinomial", "responses"];

#[test]
fn scikit_learn_agrees() {
    let reference: serde_json::Value = serde_json::from_str(include_str!("reference.json")).unwrap();
    let rows = |key: &str| -> Vec<Vec<f64>> { serde_json::from_value(reference[key].clone()).unwrap() };
    let (x, responses) = (rows("x"), rows("responses"));
    let (n, p) = (x.len(), x[0].len());
    let table = Table::from_fn(n, p, |i, j| x[i][j]);
    let classes: Vec<usize> = serde_json::from_value(reference["classes"].clone()).unwrap();
    let given: Vec<f64> = serde_json::from_value(reference["weights"].clone()).unwrap();
    let target: Vec<f64> = (0..2 * n).map(|at| responses[at % n][at / n]).collect();
    let ridge = reference["ridge"].as_f64().unwrap();
    for (kind, weights) in [("plain", None), ("weighted", Some(&given[..]))] {
        let losses: [Box<dyn JointLoss>; 2] = [
            Box::new(Multinomial::new(&classes, 3, weights).unwrap()),
            Box::new(Responses::new(&target, 2, weights).unwrap()),
        ];
        for (name, loss) in NAMES.iter().zip(losses) {
            let risk = JointRisk::from_arcs(std::sync::Arc::new(table.dense()), loss.into()).unwrap();
            let risk = risk.with_ridge(ridge).unwrap().with_intercept();
            let found = Auto::default().fit(&risk, &Sparsity::new(p).in_groups(risk.groups())).unwrap();
            let models = risk.models(&found);
            let part = &reference[kind][name];
            let coefficients: Vec<Vec<f64>> = serde_json::from_value(part["coefficients"].clone()).unwrap();
            let intercepts: Vec<f64> = serde_json::from_value(part["intercepts"].clone()).unwrap();
            let of = |model: &ksparse::LinearModel| model.coefficients.clone();
            let what = format!("{name}, {kind}");
            assert_close(&what, &models.iter().flat_map(of).collect::<Vec<_>>(), &coefficients.concat(), 1e-6);
            // Classes' intercepts are known up to a constant.
            let centred = |b: Vec<f64>| -> Vec<f64> {
                let mean = if *name == "multinomial" { b.iter().sum::<f64>() / b.len() as f64 } else { 0.0 };
                b.into_iter().map(|b| b - mean).collect()
            };
            let own = centred(models.iter().map(|model| model.intercept).collect());
            assert_close(&what, &own, &centred(intercepts), 1e-6);
        }
    }
}

#[test]
fn values_are_those_of_the_definition_and_derivatives_those_of_the_values() {
    let data = Data::new(40, 4, 1);
    let rng = &mut rng(2);
    for name in NAMES {
        for weights in [None, Some(&data.weights[..])] {
            let risk =
                JointRisk::from_arcs(std::sync::Arc::new(data.x.dense()), data.loss(name, weights).into()).unwrap();
            let risk = risk.with_ridge(0.1).unwrap().with_intercept();
            let dim = risk.dim();
            assert_eq!((dim, risk.free()), (15, &[12, 13, 14][..]));
            let all: Vec<usize> = (0..dim).collect();
            let w: Vec<f64> = (0..dim).map(|_| 0.6 * normal(rng)).collect();
            // The intercepts of the risk are in its own units.
            let models = risk.models(&Solution::guess(all.clone(), w.clone()));
            let mut plain = w.clone();
            (0..OUTPUTS).for_each(|c| plain[12 + c] = models[c].intercept);
            let point = risk.at(SparseRef::new(&all, &w)).unwrap();
            assert_close(name, &[point.value()], &[data.by_loops(name, weights, &plain, 0.1)], 1e-12);
            let again = risk.start(&models);
            assert_close(name, &again.coefficients, &w, 1e-12);

            let step = 1e-5;
            let moved = |j: usize, by: f64| {
                let mut w = w.clone();
                w[j] += by;
                w
            };
            let value = |w: &[f64]| risk.at(SparseRef::new(&all, w)).unwrap().value();
            let slopes: Vec<f64> =
                all.iter().map(|&j| (value(&moved(j, step)) - value(&moved(j, -step))) / (2.0 * step)).collect();
            assert_close(name, point.gradient().unwrap(), &slopes, 1e-7);
            let hessian = point.hessian().unwrap().unwrap();
            let whole = block(hessian, &all, &all);
            let rows: Vec<Vec<usize>> =
                (0..dim / OUTPUTS).map(|j| (j * OUTPUTS..(j + 1) * OUTPUTS).collect()).collect();
            check_own_blocks(name, hessian, &rows, 1e-12);
            check_own_blocks(name, hessian, &[vec![0, 4], vec![2, 5, 6, 7], (8..dim).collect()], 1e-12);
            let mut diagonal = vec![0.0; dim];
            hessian.diagonal(&mut diagonal).unwrap();
            let mut restricted = risk.restrict(&all).unwrap();
            restricted.move_to(&w, &mut vec![0.0; dim]).unwrap();
            for j in 0..dim {
                let [ahead, behind] = [step, -step].map(|by| gradient(&risk, SparseRef::new(&all, &moved(j, by))));
                let bends: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * step)).collect();
                assert_close(name, &whole[j], &bends, 1e-6);
                assert_close(name, &[diagonal[j]], &[whole[j][j]], 1e-12);
                let (mut unit, mut column) = (vec![0.0; dim], vec![0.0; dim]);
                unit[j] = 1.0;
                restricted.second().hessian().unwrap().product(&unit, &mut column).unwrap();
                assert_close(name, &column, &whole[j], 1e-12);
            }
            let mut matrix = vec![0.0; dim * dim];
            let out = ksparse::MatrixMut::from_columns(dim, dim, &mut matrix);
            restricted.second().hessian().unwrap().matrix(out).unwrap();
            (0..dim).for_each(|b| assert_close(name, &matrix[b * dim + b..(b + 1) * dim], &whole[b][b..], 1e-12));
        }
    }
}

/// The least f over all choices of k columns.
fn brute_force(risk: &JointRisk, k: usize) -> f64 {
    let sets = (0u32..1 << risk.features()).filter(|set| set.count_ones() as usize == k);
    let least = sets.map(|set| {
        let columns = (0..risk.features()).filter(|j| set >> j & 1 == 1);
        let mut support: Vec<usize> = columns.flat_map(|j| j * OUTPUTS..(j + 1) * OUTPUTS).collect();
        support.extend_from_slice(risk.free());
        let mut x = vec![0.0; support.len()];
        minimise(&mut *risk.restrict(&support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap().value
    });
    least.fold(f64::INFINITY, f64::min)
}

#[test]
fn auto_finds_the_best_columns() {
    let (mut cases, mut optimal) = (0, 0);
    for name in NAMES {
        for seed in 0..6 {
            let data = Data::new(30, 9, 10 + seed);
            let risk = if seed % 2 == 0 { data.risk(name) } else { data.risk(name).with_intercept() };
            for k in [1, 2, 4] {
                let best = brute_force(&risk, k);
                let found = Auto::default().fit(&risk, &Sparsity::new(k).in_groups(risk.groups())).unwrap();
                check_form(name, &found, risk.dim());
                assert!(found.value >= best - 1e-8, "{name}: {} below {best}", found.value);
                assert_eq!(found.support.len(), k * OUTPUTS + risk.free().len());
                (cases, optimal) = (cases + 1, optimal + usize::from(found.value <= best + 1e-8));
            }
        }
    }
    assert!(optimal + 1 >= cases, "the best of all in {optimal} of {cases}");
}

/// Every solver that takes a smooth function and groups.
#[test]
fn every_solver_takes_them() {
    let data = Data::new(60, 8, 30);
    for name in NAMES {
        let risk = data.risk(name).with_intercept();
        let best = brute_force(&risk, 2);
        for method in METHODS.iter().filter(|method| method.needs == Needs::Gradients) {
            let solver = solver::by_name(method.name).unwrap();
            let found = solver.fit(&risk, &Sparsity::new(2).in_groups(risk.groups())).unwrap();
            let what = format!("{name} by {}", method.name);
            check_form(&what, &found, risk.dim());
            let models = risk.models(&found);
            assert!(models.iter().all(|model| model.support == models[0].support && model.support.len() <= 2));
            assert!(found.value >= best - 1e-8, "{what}: {} below {best}", found.value);
        }
    }
}

#[test]
fn weights_are_repeated_rows_and_storage_does_not_matter() {
    let data = Data::new(40, 6, 40);
    let which: Vec<usize> = (0..40).flat_map(|i| vec![i; data.weights[i] as usize]).collect();
    let classes: Vec<usize> = which.iter().map(|&i| data.classes[i]).collect();
    let responses: Vec<f64> = (0..OUTPUTS)
        .flat_map(|c| which.iter().map(move |&i| (c, i)))
        .map(|(c, i)| data.responses[c * 40 + i])
        .collect();
    let repeated = Data { x: data.x.rows(&which), classes, responses, weights: vec![] };
    for name in NAMES {
        let fit = |risk: JointRisk| {
            let risk = risk.with_ridge(0.02).unwrap().with_intercept();
            Auto::default().fit(&risk, &Sparsity::new(2).in_groups(risk.groups())).unwrap()
        };
        let once =
            fit(JointRisk::from_arcs(std::sync::Arc::new(data.x.dense()), data.loss(name, Some(&data.weights)).into())
                .unwrap());
        let many = fit(repeated.risk(name));
        assert_eq!(once.support, many.support, "{name}");
        assert!((once.value - many.value).abs() < 1e-10, "{name}: {} against {}", once.value, many.value);
        let sparse =
            fit(JointRisk::from_arcs(std::sync::Arc::new(data.x.csc()), data.loss(name, Some(&data.weights)).into())
                .unwrap());
        assert_eq!(once.support, sparse.support, "{name}");
        assert!((once.value - sparse.value).abs() < 1e-10, "{name}");
    }
}

#[test]
fn threads_change_no_bit_and_paths_never_rise() {
    let data = Data::new(150, 30, 50);
    for name in NAMES {
        let risk = data.risk(name).with_intercept();
        let path = Path { groups: Some(risk.groups().into()), ..Path::over(0..=5) };
        let fits = [1, 2, 8]
            .map(|threads| Threads::new(threads).unwrap().run(|| path.fit(&risk, &Auto::default()).unwrap().solutions));
        for other in &fits[1..] {
            for (a, b) in fits[0].iter().zip(other) {
                assert_eq!(
                    (&a.support, &a.coefficients, a.value.to_bits()),
                    (&b.support, &b.coefficients, b.value.to_bits())
                );
            }
        }
        assert!(fits[0].windows(2).all(|pair| pair[1].value <= pair[0].value), "{name}");
        let alone = Auto::default().fit(&risk, &Sparsity::new(3).in_groups(risk.groups())).unwrap();
        assert_eq!(
            (&alone.support, alone.value.to_bits()),
            (&fits[0][3].support, fits[0][3].value.to_bits()),
            "{name}"
        );
        assert_eq!(risk.models(&fits[0][2])[0].support, [1, 28], "{name}");
    }
}

/// f over some rows of coefficients is f with the others at 0.
#[test]
fn a_narrowed_risk_is_the_risk_on_its_rows() {
    let data = Data::new(40, 7, 52);
    for name in NAMES {
        let risk = data.risk(name).with_intercept();
        let rows = [0, 2, 3, 6, 7];
        let listed: Vec<usize> = rows.iter().flat_map(|row| row * OUTPUTS..(row + 1) * OUTPUTS).collect();
        assert!(risk.narrowed(&listed[1..]).unwrap().is_none(), "{name}: half a row");
        let part = risk.narrowed(&listed).unwrap().unwrap();
        assert_eq!(part.dim(), listed.len());
        assert_eq!(part.free().iter().map(|&place| listed[place]).collect::<Vec<usize>>(), risk.free());
        let rng = &mut rng(53);
        let (all, x): (Vec<usize>, Vec<f64>) = (0..listed.len()).map(|place| (place, normal(rng))).unzip();
        let (small, whole) =
            (part.at(SparseRef::new(&all, &x)).unwrap(), risk.at(SparseRef::new(&listed, &x)).unwrap());
        assert_close(name, &[small.value()], &[whole.value()], 1e-13);
        let slopes: Vec<f64> = listed.iter().map(|&j| whole.gradient().unwrap()[j]).collect();
        assert_close(name, small.gradient().unwrap(), &slopes, 1e-12);
        let bends = |point: &dyn Point, list: &[usize]| block(point.hessian().unwrap().unwrap(), list, list).concat();
        assert_close(name, &bends(&*small, &all), &bends(&*whole, &listed), 1e-12);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let say = |error: ksparse::Error| error.to_string();
    assert!(say(Multinomial::new(&[0, 1, 1], 3, None).unwrap_err()).contains("class 2 of 3 has no row"));
    assert!(say(Multinomial::new(&[0, 1, 3], 3, None).unwrap_err()).contains("out of range"));
    assert!(say(Multinomial::new(&[0, 0], 1, None).unwrap_err()).contains("at least 2"));
    assert!(say(Responses::new(&[1.0, f64::NAN], 1, None).unwrap_err()).contains("not finite"));
    assert!(say(Responses::new(&[1.0, 2.0, 3.0], 2, None).unwrap_err()).contains("length"));
    let far = Multinomial::new(&[0, 1], 2, None).unwrap();
    assert!((far.at(&[5000.0, 0.0, 0.0, 5000.0]).value() - 0.0).abs() < 1e-12);
    assert!((far.at(&[0.0, 5000.0, 5000.0, 0.0]).value() - 5000.0).abs() < 1e-9);
}

/// Where columns outnumber rows: no column taken out for another lowers f, whichever two they are.
#[test]
fn no_exchange_improves_several_responses() {
    for seed in 0..4 {
        let data = Data::new(20, 30, 60 + seed);
        let risk = if seed % 2 == 0 { data.risk("responses") } else { data.risk("responses").with_intercept() };
        let found = Auto::default().fit(&risk, &Sparsity::new(5).in_groups(risk.groups())).unwrap();
        let columns = risk.models(&found)[0].support.clone();
        let value = |columns: &[usize]| {
            let mut support: Vec<usize> = columns.iter().flat_map(|j| j * OUTPUTS..(j + 1) * OUTPUTS).collect();
            support.extend_from_slice(risk.free());
            support.sort_unstable();
            let mut x = vec![0.0; support.len()];
            minimise(&mut *risk.restrict(&support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap().value
        };
        assert!((value(&columns) - found.value).abs() < 1e-10);
        for out in &columns {
            for new in (0..30).filter(|j| !columns.contains(j)) {
                let other: Vec<usize> = columns.iter().copied().filter(|j| j != out).chain([new]).collect();
                assert!(value(&other) >= found.value - 1e-9, "seed {seed}: {new} for {out}");
            }
        }
    }
}
