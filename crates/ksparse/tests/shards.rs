//! Rows in shards: the objective over them is the risk over all rows, and a search takes few rounds.
use ksparse::design::{Dense, Design, Rows, Sparse};
use ksparse::loss::{self, Loss};
use ksparse::objective::{Blocks, Frame, Question, Rounds, Shard, Summed, SummedOptions};
use ksparse::select::Problem;
use ksparse::simulate::{self, Correlation, Text};
use ksparse::solver::{self, METHODS, Needs, WorkingSet};
use ksparse::{Auto, Cancel, Error, MatrixMut, Objective, Solver, SparseRef, Sparsity, Status, Threads};
use std::borrow::Cow;

/// Data of any kind, with the borders of its shards.
struct Case<'a> {
    design: &'a dyn Design,
    target: &'a [f64],
    weights: Option<&'a [f64]>,
    offset: Option<&'a [f64]>,
    loss: &'a dyn Loss,
    borders: Vec<usize>,
}

impl<'a> Case<'a> {
    fn new(design: &'a dyn Design, target: &'a [f64], loss: &'a dyn Loss, shards: usize) -> Self {
        let n = target.len();
        let borders = (0..=shards).map(|s| n * s / shards).collect();
        Self { design, target, weights: None, offset: None, loss, borders }
    }

    fn blocks(&self) -> Blocks<'_> {
        Blocks::new(self.borders.len() - 1, self.loss, |s| {
            let rows = self.borders[s]..self.borders[s + 1];
            let part = |all: Option<&[f64]>| all.map(|all| Cow::Owned(all[rows.clone()].to_vec()));
            Shard::new(Box::new(Rows::new(self.design, rows.clone().collect())?), &self.target[rows.clone()])?
                .with_weights(part(self.weights))?
                .with_offset(part(self.offset))
        })
    }

    fn problem<'b>(&'b self, options: &'b SummedOptions) -> Problem<'b> {
        Problem {
            weights: self.weights,
            offset: self.offset,
            intercept: options.intercept,
            standardize: options.standardize,
            penalty_factors: (!options.penalty_factors.is_empty()).then_some(&options.penalty_factors),
            ..Problem::new(self.design, self.target, self.loss)
        }
    }
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

/// 90 x 12, one column far from 0, one constant, one mostly empty; targets for every family.
fn data() -> (Dense<'static>, Sparse<'static>, Vec<f64>) {
    let made = simulate::linear(90, 12, 4, Correlation::Ar1(0.4), 0.3, 3);
    let mut values: Vec<f64> = (0..12).flat_map(|j| made.design.column(j).to_vec()).collect();
    values[..90].iter_mut().for_each(|v| *v += 5000.0);
    values[90..180].fill(2.0);
    values[180..270].iter_mut().enumerate().for_each(|(i, v)| *v *= f64::from(u8::from(i % 9 == 0)));
    let dense = Dense::from_columns(90, 12, values.clone()).unwrap();
    let (mut pointers, mut rows, mut stored) = (vec![0u64], Vec::new(), Vec::new());
    for column in values.chunks(90) {
        for (i, v) in column.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            rows.push(i as u32);
            stored.push(*v);
        }
        pointers.push(rows.len() as u64);
    }
    let sparse = Sparse::from_columns(90, 12, pointers, rows, stored).unwrap();
    (dense, sparse, made.target)
}

/// A target that suits a loss, from numbers.
fn suited(numbers: &[f64], loss: &dyn Loss) -> Vec<f64> {
    let suits = |y: &f64| match loss.target() {
        loss::TargetKind::Real => *y,
        loss::TargetKind::Count => y.abs().round(),
        loss::TargetKind::Positive => 0.5 + y.abs(),
        loss::TargetKind::Sign => y.signum(),
    };
    numbers.iter().map(suits).collect()
}

const LOSSES: [&str; 5] = ["squared", "logistic", "poisson", "gamma", "robust"];

#[test]
fn sums_over_shards_are_the_risk_over_all_rows() {
    let (dense, sparse, numbers) = data();
    let weights: Vec<f64> = (0..90).map(|i| f64::from(i % 4)).collect();
    let offset: Vec<f64> = (0..90).map(|i| 0.01 * f64::from(i % 7)).collect();
    let factors: Vec<f64> = (0..12).map(|j| 0.5 + f64::from(j % 5)).collect();
    for name in LOSSES {
        let loss = loss::by_name(name).unwrap();
        let target = suited(&numbers, &*loss);
        for (design, intercept, standardize, weighted) in
            [(&dense as &dyn Design, true, false, true), (&sparse, true, true, true), (&sparse, false, false, false)]
        {
            let mut case = Case::new(design, &target, &*loss, 4);
            case.borders = vec![0, 0, 31, 32, 90, 90];
            case.weights = weighted.then_some(&weights);
            case.offset = (weighted && loss.absorb(0.5, target[0]).is_some()).then_some(&offset);
            let penalty_factors = if weighted { factors.clone() } else { Vec::new() };
            let options = SummedOptions { ridge: 0.01, intercept, standardize, penalty_factors };
            let blocks = case.blocks();
            let summed = Summed::new(&blocks, &*loss, options.clone()).unwrap();
            let problem = case.problem(&options);
            let training = problem.on_all_rows().unwrap();
            let risk = training.risk.reridged(0.01).unwrap();
            // The two may put the intercept in other units: what a model means must agree.
            let model = ksparse::LinearModel { support: vec![3, 5], coefficients: vec![0.02, -0.03], intercept: 0.1 };
            let model = ksparse::LinearModel { intercept: if intercept { 0.1 } else { 0.0 }, ..model };
            let (a, b) = (summed.start(&model), training.start(&model));
            if standardize || intercept {
                let again = summed.model(&a);
                assert_eq!(again.support, model.support);
                assert!(near(again.intercept, model.intercept, 1e-9), "{name}: {again:?}");
            }
            let (a, b) = (summed.at(a.as_sparse()).unwrap(), risk.at(b.as_sparse()).unwrap());
            assert!(near(a.value(), b.value(), 1e-11), "{name}: {} against {}", a.value(), b.value());
            // Columns that are centred alike: those far from 0 are moved by the mean, which weights of offsets change.
            let columns: Vec<usize> = (2..12).collect();
            for j in 2..12 {
                assert!(near(a.gradient().unwrap()[j], b.gradient().unwrap()[j], 1e-9), "{name}: column {j}");
            }
            let block = |point: &dyn ksparse::objective::Point| {
                let mut block = vec![0.0; 3 * 10];
                let hessian = point.hessian().unwrap().unwrap();
                hessian.block(&[3, 4, 7], &columns, MatrixMut::from_columns(3, 10, &mut block)).unwrap();
                let mut diagonal = vec![0.0; point.gradient().unwrap().len()];
                hessian.diagonal(&mut diagonal).unwrap();
                block.extend_from_slice(&diagonal[2..12]);
                block
            };
            // Rows of negligible curvature may be left out of second derivatives, by shard.
            for (a, b) in block(&*a).into_iter().zip(block(&*b)) {
                assert!(near(a, b, 1e-4), "{name}: {a} against {b}");
            }
        }
    }
}

#[test]
fn any_number_of_shards_gives_the_fit_over_all_rows() {
    let (dense, sparse, numbers) = data();
    for name in LOSSES {
        let loss = loss::by_name(name).unwrap();
        let target = suited(&numbers, &*loss);
        for design in [&dense as &dyn Design, &sparse] {
            let options = SummedOptions { ridge: 1e-3, standardize: true, ..SummedOptions::default() };
            let problem = Problem { standardize: true, ..Problem::new(design, &target, &*loss) };
            let training = problem.on_all_rows().unwrap();
            let risk = training.risk.reridged(1e-3).unwrap();
            let whole = training.model(&WorkingSet::default().fit(&risk, &Sparsity::new(3)).unwrap());
            // Flat at 0, Huber's and the robust loss were left without a column by both.
            assert_eq!(whole.support.len(), 3, "{name}");
            for shards in [1, 2, 7] {
                let case = Case::new(design, &target, &*loss, shards);
                let blocks = case.blocks();
                let summed = Summed::new(&blocks, &*loss, options.clone()).unwrap();
                let solution = WorkingSet::default().fit(&summed, &Sparsity::new(3)).unwrap();
                let model = summed.model(&solution);
                assert_eq!(model.support, whole.support, "{name}, {shards} shards");
                let value = |model| risk.value(training.start(model).as_sparse());
                assert!(near(value(&model), value(&whole), 1e-9), "{name}, {shards} shards");
                assert!(near(solution.value, value(&whole), 1e-9), "{name}, {shards} shards: what it says of itself");
            }
        }
    }
}

/// Classes that stand in shards of their own, rows that weigh nothing, blocks without rows.
#[test]
fn shards_may_be_empty_and_one_sided() {
    let made = simulate::logistic(200, 20, 4, Correlation::Ar1(0.3), 5);
    let order: Vec<usize> = {
        let sign = |s: f64| (0..200).filter(|&i| made.target[i] == s).collect::<Vec<_>>();
        [sign(1.0), sign(-1.0)].concat()
    };
    let design = Rows::new(&made.design, order.clone()).unwrap();
    let target: Vec<f64> = order.iter().map(|&i| made.target[i]).collect();
    let ones = target.iter().filter(|y| **y > 0.0).count();
    let loss = loss::by_name("logistic").unwrap();
    let mut case = Case::new(&design, &target, &*loss, 1);
    let fit = |case: &Case| {
        let blocks = case.blocks();
        let options = SummedOptions { ridge: 1e-3, ..SummedOptions::default() };
        let summed = Summed::new(&blocks, case.loss, options).unwrap();
        WorkingSet::default().fit(&summed, &Sparsity::new(4)).unwrap()
    };
    let whole = fit(&case);
    case.borders = vec![0, 0, ones, ones, ones + 1, 200, 200];
    let split = fit(&case);
    assert_eq!(split.support, whole.support);
    assert!(near(split.value, whole.value, 1e-9));

    let nothing = vec![0.0; 200];
    case.weights = Some(&nothing);
    let blocks = case.blocks();
    let refused = Summed::new(&blocks, &*loss, SummedOptions::default()).err().unwrap();
    assert!(refused.to_string().contains("weigh nothing"), "{refused}");
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    let made = simulate::logistic(3000, 60, 8, Correlation::Ar1(0.5), 1);
    let loss = loss::by_name("logistic").unwrap();
    let case = Case::new(&made.design, &made.target, &*loss, 5);
    let fit = |threads: usize| {
        Threads::new(threads).unwrap().run(|| {
            let blocks = case.blocks();
            let summed = Summed::new(&blocks, &*loss, SummedOptions::default()).unwrap();
            let solution = WorkingSet::default().fit(&summed, &Sparsity::new(8)).unwrap();
            (solution.support, solution.coefficients, solution.value)
        })
    };
    assert_eq!(fit(1), fit(3));
}

/// Solvers that need no single rows give the answer they give on all rows; the others say what they need.
#[test]
fn solvers_run_or_say_what_they_need() {
    let made = simulate::linear(120, 30, 4, Correlation::Ar1(0.3), 0.2, 2);
    let loss = loss::by_name("squared").unwrap();
    let case = Case::new(&made.design, &made.target, &*loss, 3);
    let options = SummedOptions { ridge: 1e-3, ..SummedOptions::default() };
    let problem = case.problem(&options);
    let risk = problem.on_all_rows().unwrap().risk;
    let risk = risk.reridged(1e-3).unwrap();
    for method in METHODS {
        let blocks = case.blocks();
        let summed = Summed::new(&blocks, &*loss, options.clone()).unwrap();
        let solver = solver::by_name(method.name).unwrap();
        let found = solver.fit(&summed, &Sparsity::new(4));
        if matches!(method.needs, Needs::Gradients | Needs::Hessian) {
            let (found, whole) = (found.unwrap(), solver.fit(&risk, &Sparsity::new(4)).unwrap());
            // Their step is on the sum over samples, of which shards do not know the number.
            if ["htp", "iht"].contains(&method.name) {
                continue;
            }
            assert_eq!(found.support, whole.support, "{}", method.name);
            assert!(near(found.value, whole.value, 1e-6), "{}", method.name);
        } else {
            let refused = found.unwrap_err();
            assert!(matches!(refused, Error::Unsupported { .. }), "{}: {refused}", method.name);
        }
    }
    let hinge = loss::by_name("hinge").unwrap();
    let case = Case::new(&made.design, &made.target, &*hinge, 3);
    let refused = Summed::new(&case.blocks(), &*hinge, SummedOptions::default()).err().unwrap();
    assert!(refused.to_string().contains("corners"), "{refused}");
}

/// The papers' logistic simulation and the text model: at most 30 rounds, a thousandth from `auto` on all rows, and no
/// round of more than the columns and the pairs of the working set.
#[test]
fn few_rounds_for_the_answer_over_all_rows() {
    let small = simulate::logistic(2000, 1000, 100, Correlation::Ar1(0.5), 1);
    let text = simulate::text(&Text { n: 20_000, p: 20_000, mean_tokens: 40.0 }, 1);
    let loss = loss::by_name("logistic").unwrap();
    for (design, target, ridge, k) in
        [(&small.design as &dyn Design, &small.target, 1e-4, 100), (&text.design, &text.target, 1e-5, 500)]
    {
        let case = Case::new(design, target, &*loss, 2);
        let options = SummedOptions { ridge, intercept: false, ..SummedOptions::default() };
        let problem = case.problem(&options);
        let training = problem.on_all_rows().unwrap();
        let central = Auto::default().fit(&training.risk.reridged(ridge).unwrap(), &Sparsity::new(k)).unwrap();
        let blocks = case.blocks();
        let summed = Summed::new(&blocks, &*loss, options.clone()).unwrap();
        let solution = WorkingSet::default().fit(&summed, &Sparsity::new(k)).unwrap();
        let said = summed.communication();
        assert!(said.rounds <= 30, "{said:?}");
        assert!(solution.value <= 1.001 * central.value, "{} against {}", solution.value, central.value);
        let (p, set) = (design.ncols() as u64, (4 * k + 50) as u64);
        // A shard answers with two numbers per column or with half a square of the set; rows are fetched where there
        // are at most 8 for every column of the set.
        assert!(said.up <= 2 * 8 * (said.rounds * (2 * p + 1 + set * set) + 8 * set * set), "{said:?}");
        assert!(said.down <= 2 * 8 * said.rounds * (2 * set + p), "{said:?}");
    }
}

/// Beyond a million columns shards send what they touch, and the answer is the same to the last bit.
#[test]
fn of_very_many_columns_those_that_are_touched_are_sent() {
    let (n, p) = (300usize, 1_100_000usize);
    // Every row has 20 words of its own and one of five that tell the classes apart.
    let mut columns: Vec<Vec<u32>> = vec![Vec::new(); p];
    (0..n * 20).for_each(|i| columns[5 + (i * 104_729) % (p - 5)].push((i / 20) as u32));
    (0..n).for_each(|i| columns[i % 5].push(i as u32));
    let target: Vec<f64> = (0..n).map(|i| if i % 5 < 2 || i % 35 == 4 { 1.0 } else { -1.0 }).collect();
    let mut pointers = vec![0u64];
    columns.iter().for_each(|column| pointers.push(pointers[pointers.len() - 1] + column.len() as u64));
    let rows = columns.concat();
    let values = vec![1.0; rows.len()];
    let design = Sparse::from_columns(n, p, pointers, rows, values).unwrap();
    let loss = loss::by_name("logistic").unwrap();
    let case = Case::new(&design, &target, &*loss, 3);
    let blocks = case.blocks();
    let summed = Summed::new(&blocks, &*loss, SummedOptions { ridge: 1e-2, ..SummedOptions::default() }).unwrap();
    let solution = WorkingSet::default().fit(&summed, &Sparsity::new(4)).unwrap();
    assert!(solution.support.iter().all(|j| *j < 5 || *j == p), "{:?}", solution.support);
    let said = summed.communication();
    // 7005 columns have entries; a full round has two numbers for each of those a shard touches, with its place.
    assert!(
        said.up < said.rounds * (2 * 12 * 7100 + 8 * 100 * 100) && said.up < said.rounds * 3 * 8 * p as u64 / 20,
        "{said:?}"
    );
    let plain = Plain(case.blocks());
    let other = Summed::new(&plain, &*loss, SummedOptions { ridge: 1e-2, ..SummedOptions::default() }).unwrap();
    let again = WorkingSet::default().fit(&other, &Sparsity::new(4)).unwrap();
    assert_eq!((again.support, again.coefficients), (solution.support, solution.coefficients));
    assert!(other.communication().up > 20 * said.up);
}

/// The same rounds, every number sent and added.
struct Plain<'a>(Blocks<'a>);

impl Rounds for Plain<'_> {
    fn shards(&self) -> usize {
        self.0.shards()
    }

    fn ask(&self, question: &Question, frame: &Frame) -> ksparse::Result<Vec<f64>> {
        let mut level = self.each(question, frame)?;
        while level.len() > 1 {
            let pairs = level.chunks(2).map(|pair| match pair {
                [a, b] => a.iter().zip(b).map(|(a, b)| a + b).collect(),
                rest => rest[0].clone(),
            });
            level = pairs.collect();
        }
        Ok(level.remove(0))
    }

    fn each(&self, question: &Question, frame: &Frame) -> ksparse::Result<Vec<Vec<f64>>> {
        self.0.each(question, frame)
    }
}

/// What fails in a shard ends the search with its own words; a token ends it with the best point so far.
#[test]
fn failures_and_requests_to_stop() {
    let made = simulate::linear(100, 40, 4, Correlation::Ar1(0.3), 0.2, 2);
    let loss = loss::by_name("squared").unwrap();
    let case = Case::new(&made.design, &made.target, &*loss, 3);
    for broken in 0..12 {
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let blocks = Blocks::new(3, &*loss, |s| {
            if asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == broken {
                return Err(Error::evaluation("part 7 cannot be read"));
            }
            let rows: Vec<usize> = (case.borders[s]..case.borders[s + 1]).collect();
            Shard::new(Box::new(Rows::new(case.design, rows)?), &case.target[case.borders[s]..case.borders[s + 1]])
        });
        let fitted = Summed::new(&blocks, &*loss, SummedOptions::default())
            .and_then(|summed| WorkingSet::default().fit(&summed, &Sparsity::new(4)));
        let refused = fitted.unwrap_err();
        assert!(refused.to_string().contains("part 7 cannot be read"), "{broken}: {refused}");
    }
    let blocks = case.blocks();
    let summed = Summed::new(&blocks, &*loss, SummedOptions::default()).unwrap();
    let cancel = Cancel::after(2);
    let limits = solver::Limits { cancel, ..Default::default() };
    let stopped = WorkingSet { limits }.fit(&summed, &Sparsity::new(4)).unwrap();
    assert_eq!(stopped.status, Status::Stopped);
    assert!(summed.value(SparseRef::ZERO).unwrap() >= stopped.value);
}
