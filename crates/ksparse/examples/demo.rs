//! The library at work on simulated data whose truth is known: two hard problems for every solver, then the choice of
//! k.
//!
//! `cargo run --release --package ksparse --example demo`
#![allow(clippy::print_stdout)]

use ksparse::design::{Dense, Rows};
use ksparse::loss::{Logistic, Loss, Squared};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::select::{CrossValidation, Folds, Problem, Rule, mean_squared_error};
use ksparse::simulate::{self, Correlation, Simulated};
use ksparse::{Auto, Grid, Objective, Path, Result, Risk, Sparsity, solver};
use std::time::Instant;

/// `htp` and `iht` are left out: with the default step they are `grahtp` and `fgrahtp`.
const SOLVERS: [&str; 6] = ["auto", "grahtp", "fgrahtp", "grasp", "fbs", "foba"];

fn main() -> Result<()> {
    println!("The lower objective is the better answer; hits are true columns among those chosen.\n");
    println!("1. Regression: 500 rows, 5000 columns, neighbours correlated 0.9, 30 true coefficients\n");
    compare(&regression(1), Squared::default(), 0.0)?;
    count_successes(20)?;

    let data = simulate::logistic(1000, 1000, 50, Correlation::Ar1(0.5), 1);
    println!(
        "\n2. Classification: logistic loss, 1000 rows, 1000 columns, neighbours correlated 0.5, 50 true coefficients\n"
    );
    compare(&data, Logistic::default(), 1e-4)?;

    println!("\n3. How many coefficients? 200 rows, 500 columns, neighbours correlated 0.7, 8 true coefficients\n");
    choose_k()
}

fn regression(seed: u64) -> Simulated<Dense<'static>> {
    simulate::linear(500, 5000, 30, Correlation::Ar1(0.9), 0.5, seed)
}

/// Every solver at the true k. The lower objective is the better answer; with noise it need not be on the true support.
fn compare(data: &Simulated<Dense>, loss: impl Loss, lambda: f64) -> Result<()> {
    let k = data.support.len();
    let risk = Risk::new(&data.design, &data.target, loss)?.with_ridge(lambda)?;
    println!("{:<13} {:>10} {:>6} {:>11} {:>8}  status", "solver", "objective", "hits", "iterations", "seconds");
    for name in SOLVERS {
        let started = Instant::now();
        let found = solver::by_name(name)?.fit(&risk, &Sparsity::new(k))?;
        let seconds = started.elapsed().as_secs_f64();
        let hits = hits(&found.support, &data.support);
        println!(
            "{name:<13} {:>10.6} {hits:>6} {:>11} {seconds:>8.3}  {}",
            found.value, found.iterations, found.status
        );
    }
    println!("{:<13} {:>10.6} {k:>6}", "true support", refit(&risk, &data.support)?);
    Ok(())
}

/// How often each solver ends at or below the refit on the true support, over `draws` draws of the first problem.
fn count_successes(draws: u64) -> Result<()> {
    let mut successes = [0; SOLVERS.len()];
    for seed in 1..=draws {
        let data = regression(seed);
        let risk = Risk::new(&data.design, &data.target, Squared::default())?;
        let truth = refit(&risk, &data.support)?;
        for (name, count) in SOLVERS.iter().zip(&mut successes) {
            let found = solver::by_name(name)?.fit(&risk, &Sparsity::new(data.support.len()))?;
            *count += usize::from(found.value <= truth * (1.0 + 1e-9));
        }
    }
    let counts: Vec<String> = SOLVERS.iter().zip(successes).map(|(name, count)| format!("{name} {count}")).collect();
    println!("\nas good as the true support, in {draws} such draws: {}", counts.join(", "));
    Ok(())
}

/// A path over k beside its cross-validation, and how its models predict rows that took no part in either.
fn choose_k() -> Result<()> {
    let (train, new) = (200, 1000);
    let data = simulate::linear(train + new, 500, 8, Correlation::Ar1(0.7), 2.0, 3);
    let design = Rows::new(&data.design, (0..train).collect())?;
    let new_design = Rows::new(&data.design, (train..train + new).collect())?;
    let (target, new_target) = data.target.split_at(train);
    let loss = Squared::default();
    let problem = Problem { standardize: true, ..Problem::new(&design, target, &loss) };

    let started = Instant::now();
    let training = problem.on_all_rows()?;
    let path = Path::over(0..=14).fit(&training.risk, &Auto::default())?;
    let validation =
        CrossValidation { rule: Rule::OneStandardError, ..CrossValidation::over(Grid::over(0..=14, [0.0])) };
    let chosen = validation.fit(&problem, &Folds::seeded(train, 5, 1)?, &Auto::default())?;
    let seconds = started.elapsed().as_secs_f64();

    let best = chosen.table.best().k;
    println!("{:>3} {:>10} {:>5} {:>19} {:>9}", "k", "objective", "hits", "5-fold error +- se", "new rows");
    for ((k, found), cell) in path.iter().zip(chosen.table.cells()) {
        let model = training.model(found);
        let hits = hits(&model.support, &data.support);
        let error = mean_squared_error(&model.predict(&new_design)?, new_target, None)?;
        let note = match (k == chosen.k, k == best) {
            (true, true) => "  <- best, and chosen",
            (true, false) => "  <- chosen: the smallest within one standard error of the best",
            (false, true) => "  <- best",
            (false, false) => "",
        };
        let validated = format!("{:.3} +- {:.3}", cell.mean, cell.standard_error);
        println!("{k:>3} {:>10.4} {hits:>5} {validated:>19} {error:>9.3}{note}", found.value);
    }
    println!(
        "\nerrors are mean squared errors; the noise alone has 4. Path, validation and refit took {seconds:.2} s."
    );
    println!("chosen columns {:?}", chosen.model.support);
    println!("true columns   {:?}", data.support);
    Ok(())
}

fn refit(risk: &Risk, support: &[usize]) -> Result<f64> {
    Ok(minimise(&mut *risk.restrict(support)?, &mut vec![0.0; support.len()], &InnerOptions::EXACT)?.value)
}

fn hits(found: &[usize], truth: &[usize]) -> usize {
    found.iter().filter(|j| truth.contains(j)).count()
}
