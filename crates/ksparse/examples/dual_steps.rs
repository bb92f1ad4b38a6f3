//! The steps of dual ascent side by side: the table in the documentation of DIHT.
//!
//! ```text
//! cargo run --release -p ksparse --example dual_steps
//! ```
//!
//! Relative gap (best P - best D) / best P after 50 epochs, without refits, on simulated text. The best of ten constant
//! steps is what a grid search finds.
#![allow(clippy::print_stdout)]

use ksparse::loss::{Hinge, Huber, Logistic, Loss, Squared, SquaredHinge};
use ksparse::simulate::{self, Text};
use ksparse::solver::{Diht, DualStep, Limits, Sdiht};
use ksparse::{Result, Risk, Solution, Solver, Sparsity};

fn main() -> Result<()> {
    let shape = Text { n: 4000, p: 10_000, mean_tokens: 80.0 };
    let data = simulate::text(&shape, 1);
    let (sparsity, n) = (Sparsity::new(100), shape.n as f64);
    let losses: [fn() -> Box<dyn Loss>; 5] = [
        || Box::new(Squared::default()),
        || Box::new(Logistic::default()),
        || Box::new(SquaredHinge),
        || Box::new(Huber::default()),
        || Box::new(Hinge),
    ];
    println!("| method | loss | lambda | default | shifted | theorem | best constant (its eta) |");
    println!("|---|---|---|---|---|---|---|");
    for blocks in [1, 10] {
        for loss in losses {
            for lambda in [1e-2, 1e-3, 1e-4] {
                let risk = Risk::new(&data.design, &data.target, loss())?.with_ridge(lambda)?;
                let gap = |step: DualStep| {
                    let limits = Limits { max_iterations: 50, tolerance: 0.0, ..Limits::default() };
                    let solution = if blocks == 1 {
                        Diht { step, limits: limits.clone(), refit: false }.fit(&risk, &sparsity)
                    } else {
                        Sdiht { step, limits: limits.clone(), refit: false, blocks: Some(blocks), seed: 1 }
                            .fit(&risk, &sparsity)
                    };
                    solution.ok().and_then(|s| relative_gap(&s))
                };
                let constants = (-6..=3).map(|e| n * 10f64.powi(e));
                let tried = constants.filter_map(|eta| Some((gap(DualStep::Fixed(eta))?, eta)));
                let best = tried.min_by(|a, b| a.0.total_cmp(&b.0));
                let show = |gap: Option<f64>| gap.map_or("-".to_string(), |g| format!("{g:.1e}"));
                println!(
                    "| {} | {} | {lambda:.0e} | {} | {} | {} | {} |",
                    if blocks == 1 { "DIHT" } else { "SDIHT" },
                    risk.loss().name(),
                    show(gap(DualStep::Adaptive)),
                    show(gap(DualStep::Shifted)),
                    show(gap(DualStep::Theory)),
                    best.map_or("-".to_string(), |(gap, eta)| format!("{gap:.1e} ({:.0e} N)", eta / n)),
                );
            }
        }
    }
    Ok(())
}

/// `None` when the run broke off before its last epoch.
fn relative_gap(solution: &Solution) -> Option<f64> {
    let best = solution.trace.iter().map(|row| row.value).fold(f64::INFINITY, f64::min);
    let whole = solution.trace.len() == 50;
    solution.lower_bound().filter(|_| whole).map(|bound| (best - bound) / best)
}
