//! What every number that the default solver decides by is worth: each halved and doubled, on simulated problems of
//! every kind it meets and, given a folder, on real ones.

use crate::Outcome;
use ksparse::design::{Design, Scaled};
use ksparse::graphical::{Covariance, Precision, Units};
use ksparse::loss::{Hinge, Logistic, Loss, Squared};
use ksparse::simulate::{self, Correlation, Text};
use ksparse::solver::{Plan, Solver};
use ksparse::{Auto, Objective, Risk, Sparsity, Threads};
use ksparse_io::{Matrix, ReadOptions, Storage};
use rayon::prelude::*;
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;

/// What is fitted, and with how many non-zeros.
struct Problem {
    name: String,
    objective: Box<dyn Objective>,
    k: usize,
}

/// f and the processor seconds of one thread.
type Fit = (f64, f64);

/// Fits every problem under every plan, `threads` of them side by side with one thread each; prints a table.
pub fn ablation(folder: Option<&Path>, threads: usize) -> Outcome {
    let mut problems = simulated()?;
    if let Some(folder) = folder {
        problems.extend(real(folder)?);
    }
    let mut plans = vec![("as it is", 1.0, Plan::USUAL)];
    for name in Plan::NAMES {
        for factor in [0.5, 2.0] {
            let mut plan = Plan::USUAL;
            *plan.get_mut(name).ok_or("no such number")? *= factor;
            plans.push((name, factor, plan));
        }
    }
    let jobs: Vec<(usize, usize)> =
        (0..problems.len()).flat_map(|problem| (0..plans.len()).map(move |plan| (plan, problem))).collect();
    let fits: Vec<Outcome<Fit>> = Threads::new(threads)?.run(|| {
        let fit = |(plan, problem): (usize, usize)| fit(&problems[problem], plans[plan].2);
        jobs.par_iter().with_max_len(1).copied().map(fit).collect()
    });
    let mut rows = vec![vec![(0.0, 0.0); problems.len()]; plans.len()];
    for ((plan, problem), fit) in jobs.into_iter().zip(fits) {
        rows[plan][problem] = fit?;
    }
    println!("| problem | k | f | seconds |\n|---|---|---|---|");
    for (problem, (f, seconds)) in problems.iter().zip(&rows[0]) {
        println!("| {} | {} | {f:.6e} | {seconds:.3} |", problem.name, problem.k);
    }
    println!("\n| number | value | f, mean (%) | lower, higher on | worst (%) | where | seconds |");
    println!("{}", "|---".repeat(7) + "|");
    for ((name, factor, mut plan), row) in plans.into_iter().zip(&rows).skip(1) {
        let value = *plan.get_mut(name).ok_or("no such number")?;
        println!("{}", line(&format!("| {name} x {factor} | {value:e}"), row, &rows[0], &problems));
    }
    Ok(())
}

/// How a plan did beside the usual one.
fn line(head: &str, row: &[Fit], usual: &[Fit], problems: &[Problem]) -> String {
    let above: Vec<f64> = row.iter().zip(usual).map(|(a, b)| (a.0 / b.0).ln()).collect();
    let time: f64 = row.iter().zip(usual).map(|(a, b)| (a.1 / b.1).ln()).sum();
    let count = row.len() as f64;
    let (lower, higher) = (above.iter().filter(|a| **a < -1e-6).count(), above.iter().filter(|a| **a > 1e-6).count());
    let worst = (0..row.len()).max_by(|&a, &b| above[a].total_cmp(&above[b])).unwrap_or(0);
    let place = if above[worst] > 1e-6 { problems[worst].name.as_str() } else { "" };
    format!(
        "{head} | {:+.2} | {lower}, {higher} | {:+.2} | {place} | {:.2} |",
        100.0 * above.iter().sum::<f64>() / count,
        100.0 * above[worst],
        (time / count).exp()
    )
}

fn fit(problem: &Problem, plan: Plan) -> Outcome<Fit> {
    let seconds = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
    };
    Threads::new(1)?.run(|| {
        let started = seconds();
        let solution = Auto { plan, ..Auto::default() }.fit(&*problem.objective, &Sparsity::new(problem.k))?;
        Ok((solution.value, seconds() - started))
    })
}

fn risk(
    design: impl Design + 'static,
    target: Vec<f64>,
    loss: Box<dyn Loss>,
    ridge: f64,
) -> Outcome<Box<dyn Objective>> {
    Ok(Box::new(Risk::new(design, target, loss)?.with_ridge(ridge)?.with_intercept()))
}

fn simulated() -> Outcome<Vec<Problem>> {
    let mut all = Vec::new();
    let mut add = |name: String, k: usize, objective: Box<dyn Objective>| all.push(Problem { name, objective, k });
    for seed in 1..=3 {
        for n in [500, 1000, 2000] {
            let data = simulate::logistic(n, 1000, 100, Correlation::Ar1(0.5), seed);
            let loss = Box::new(Logistic::new(2.0)?);
            add(format!("logistic {n} x 1000, {seed}"), 100, risk(data.design, data.target, loss, 1e-4)?);
        }
        let data = simulate::linear(70, 1000, 15, Correlation::Ar1(0.7), 1.0, seed);
        add(
            format!("linear 70 x 1000, {seed}"),
            12,
            risk(data.design, data.target, Box::new(Squared::default()), 0.0)?,
        );
        let data = simulate::linear(25, 40, 5, Correlation::Ar1(0.7), 4.0, seed);
        add(format!("linear 25 x 40, {seed}"), 5, risk(data.design, data.target, Box::new(Squared::default()), 0.0)?);
        let data = simulate::linear(600, 3000, 60, Correlation::Ar1(0.95), 1.0, seed);
        add(
            format!("linear 600 x 3000, {seed}"),
            90,
            risk(data.design, data.target, Box::new(Squared::default()), 1e-3)?,
        );
        let data = simulate::logistic(80, 2000, 10, Correlation::Ar1(0.7), seed);
        add(
            format!("logistic 80 x 2000, {seed}"),
            8,
            risk(data.design, data.target, Box::new(Logistic::default()), 0.01)?,
        );
        let data = simulate::logistic(400, 200, 10, Correlation::Ar1(0.5), seed);
        add(format!("hinge 400 x 200, {seed}"), 10, risk(data.design, data.target, Box::new(Hinge), 0.01)?);
        for p in [30, 60] {
            let sample = simulate::precision(10 * p, 1, p, seed);
            let model = Precision::new(Covariance::from_samples(&sample.train, Units::Original)?)?;
            add(format!("network of {p}, {seed}"), p, Box::new(model));
        }
    }
    let shape = Text { p: 20_000, ..Text::rcv1() };
    for k in [100, 400] {
        let data = simulate::text(&shape, 1);
        let loss = Box::new(Logistic::new(2.0)?);
        add(format!("text {} x {}", shape.n, shape.p), k, risk(data.design, data.target, loss, 1e-5)?);
    }
    Ok(all)
}

/// Files, features, sizes and ridges; those of a ridge above 1e-3 are standardised.
const REAL: [(&str, usize, &[usize], f64); 6] = [
    ("riboflavin.csv.xz", 4088, &[6, 12], 0.0),
    ("leukemia.svm.xz", 7129, &[6, 12], 0.01),
    ("colon-cancer.svm.xz", 2000, &[6, 12], 0.01),
    ("PCMAC.svm.xz", 3289, &[50, 300], 1e-4),
    ("gisette_scale.t.svm.xz", 5000, &[100], 1e-4),
    ("rcv1_binary_23749.svm.xz", 47_236, &[100, 500, 1000], 1e-5),
];

fn real(folder: &Path) -> Outcome<Vec<Problem>> {
    let mut all = Vec::new();
    for (file, features, ks, ridge) in REAL {
        let path = folder.join(file);
        if !path.exists() {
            eprintln!("{file} is not there");
            continue;
        }
        for &k in ks {
            let dense = ridge == 0.0 || ridge > 1e-3;
            let storage = if dense { Storage::Dense } else { Storage::Sparse };
            let table =
                ksparse_io::read(&path, &ReadOptions { features: Some(features), storage, ..ReadOptions::default() })?;
            let target = table.target()?.numbers()?.to_vec();
            let loss: Box<dyn Loss> =
                if ridge == 0.0 { Box::new(Squared::default()) } else { Box::new(Logistic::new(2.0)?) };
            let name = file.split('.').next().unwrap_or(file).to_string();
            let design: Box<dyn Design> = match table.matrix {
                Matrix::Dense(dense) => Box::new(dense),
                Matrix::Sparse(sparse) => Box::new(sparse),
                Matrix::Mapped(_) => return Err("a mapped file".into()),
            };
            let objective = if ridge > 1e-3 {
                risk(Scaled::standardize(design, None)?, target, loss, ridge)?
            } else {
                risk(design, target, loss, ridge)?
            };
            all.push(Problem { name, objective, k });
        }
    }
    Ok(all)
}
