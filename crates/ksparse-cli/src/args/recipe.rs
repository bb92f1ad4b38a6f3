//! How a precision matrix is searched for, beside its solver: `graph` and `lda`.

use super::parse;
use super::solve::SolverArgs;
use ksparse::graphical::{Bounds, Interval, Method, Recipe};

/// Bounds of the eigenvalues, and the method on a given set of edges.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Search")]
pub struct RecipeArgs {
    /// How f is minimised on a set of edges: newton, or adm, the alternating direction method of the paper [default:
    /// newton; adm with --published]
    #[arg(long, value_name = "NAME", value_parser = ["newton", "adm"])]
    pub inner: Option<String>,

    /// Keep eigenvalues between alpha = 1/(||S|| + p xi) and beta = (p - alpha tr S)/xi, as in the paper [default: 0.01
    /// of the mean variance; 0.01 with --published]
    #[arg(long, value_name = "XI", value_parser = parse::positive, allow_hyphen_values = true,
          conflicts_with = "eigenvalues")]
    pub xi: Option<f64>,

    /// Keep eigenvalues between these two instead
    #[arg(long, value_name = "ALPHA:BETA", value_parser = interval, allow_hyphen_values = true)]
    pub eigenvalues: Option<(f64, f64)>,
}

impl RecipeArgs {
    /// What was asked for; the rest as the paper or this library has it.
    pub fn recipe(&self, solver: &SolverArgs) -> Recipe {
        let mut recipe = if solver.options.published() { Recipe::PUBLISHED } else { Recipe::default() };
        if let Some(name) = &self.inner {
            recipe.method = if name == "adm" { Method::Adm } else { Method::Newton };
        }
        if let Some(xi) = self.xi {
            recipe.interval = Interval::Xi(xi);
        }
        if let Some((alpha, beta)) = self.eigenvalues {
            recipe.interval = Interval::Given(Bounds { alpha, beta });
        }
        recipe
    }
}

fn interval(text: &str) -> Result<(f64, f64), String> {
    let (alpha, beta) = text.split_once(':').ok_or("write ALPHA:BETA, as in 0.1:10")?;
    let (alpha, beta) = (parse::positive(alpha)?, parse::positive(beta)?);
    if alpha < beta { Ok((alpha, beta)) } else { Err("ALPHA must be less than BETA".to_string()) }
}
