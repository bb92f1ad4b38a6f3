//! How many features? A path, three information criteria and cross-validation on data whose true k is known.
//!
//! `cargo run --release --example choose_k`
#![allow(clippy::print_stdout)]

use ksparse::select::{Criterion, CrossValidation, Folds, Metric, Problem, Rule};
use ksparse::{Auto, Grid, Path, loss::Squared, simulate};

fn main() -> ksparse::Result<()> {
    let data = simulate::linear(300, 100, 6, simulate::Correlation::Ar1(0.5), 2.0, 1);
    println!("true k 6, support {:?}\n", data.support);
    let loss = Squared::default();
    let problem = Problem { standardize: true, ..Problem::new(&data.design, &data.target, &loss) };
    let solver = Auto::default();

    // One path, the criteria on top of it.
    let training = problem.on_all_rows()?;
    let path = Path::over(0..=12).fit(&training.risk, &solver)?;
    let bic = Criterion::Bic.choose(&training.risk, &path)?;
    let ebic = Criterion::Ebic { gamma: 0.5 }.choose(&training.risk, &path)?;
    let gic = Criterion::Gic.choose(&training.risk, &path)?;

    // Ten folds over the same k, without and with a ridge.
    let validation = CrossValidation {
        metric: Metric::Deviance,
        rule: Rule::OneStandardError,
        ..CrossValidation::over(Grid::over(0..=12, [0.0, 0.05]))
    };
    let folds = Folds::seeded(300, 10, 1)?;
    let chosen = validation.fit(&problem, &folds, &solver)?;

    println!("{:>3} {:>10} {:>9} {:>9} {:>9}   cross-validated deviance", "k", "f", "BIC", "EBIC", "GIC");
    for (i, (k, solution)) in path.iter().enumerate() {
        let cell = chosen.table.cells().iter().find(|c| c.k == k && c.lambda == 0.0);
        let (mean, error) = cell.map_or((f64::NAN, f64::NAN), |c| (c.mean, c.standard_error));
        println!(
            "{k:>3} {:>10.5} {:>9.2} {:>9.2} {:>9.2}   {mean:.4} +- {error:.4}",
            solution.value, bic.scores[i], ebic.scores[i], gic.scores[i]
        );
    }
    let best = chosen.table.best();
    println!("\nBIC chooses {}, EBIC {}, GIC {}", bic.k, ebic.k, gic.k);
    println!("cross-validation: best mean at k {} lambda {}", best.k, best.lambda);
    println!("within one standard error of it: k {} lambda {}", chosen.k, chosen.lambda);
    println!("refitted on all rows: support {:?}", chosen.model.support);
    Ok(())
}
