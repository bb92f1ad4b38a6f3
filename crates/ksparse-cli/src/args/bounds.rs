//! `--nonnegative`, `--lower` and `--upper`: signs and boxes of coefficients.

use super::columns;
use crate::failure::{Failure, Result};
use ksparse::objective::Bounds;
use ksparse_io::Table;
use std::path::PathBuf;

/// The flags, as messages name them.
pub const BOUNDS: &str = "--nonnegative, --lower and --upper";

/// What coefficients may be.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Model")]
pub struct BoundArgs {
    /// No coefficient below 0 (the intercept may be)
    #[arg(long)]
    pub nonnegative: bool,

    /// What coefficients are at least: a number for all, or one for each column named, as in age=0,dose=-1.5 or
    /// with @FILE one in every line of a file; 0 must be allowed, since columns that are not selected have it
    #[arg(long, value_name = "BOUNDS", allow_hyphen_values = true)]
    pub lower: Option<String>,

    /// What coefficients are at most, likewise
    #[arg(long, value_name = "BOUNDS", allow_hyphen_values = true)]
    pub upper: Option<String>,

    /// What the coefficients add up to, as 1 for the weights of a portfolio (with --nonnegative none of them short)
    #[arg(long, value_name = "SUM", allow_hyphen_values = true)]
    pub total: Option<f64>,
}

impl BoundArgs {
    /// Whether there are any bounds.
    pub fn given(&self) -> bool {
        self.nonnegative || self.lower.is_some() || self.upper.is_some()
    }

    /// `Err` beside a solver that knows nothing of them.
    pub fn check(&self, solver: &dyn ksparse::Solver) -> Result<()> {
        if let Some(total) = self.total.filter(|total| !total.is_finite()) {
            return Err(Failure::Input(format!("--total {total} is no sum of coefficients: give a finite number")));
        }
        if self.given() && solver.name() != "auto" {
            let message = "take --solver auto: it refits every model within them";
            return Err(Failure::Input(format!("{BOUNDS} are bounds on coefficients; {message}")));
        }
        Ok(())
    }

    /// `Err` for a sum, where there may be more than a coefficient for a column.
    pub fn check_no_total(&self) -> Result<()> {
        let message = "--total is for targets of a number per row, not for classes or survival times: leave it out";
        self.total.map_or(Ok(()), |_| Err(Failure::Input(message.to_string())))
    }

    /// The files that bounds stand in.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        [&self.lower, &self.upper].into_iter().filter_map(|text| columns::file(text.as_deref()))
    }

    /// The bounds of the columns of a table, if any were given.
    pub fn of(&self, table: &Table) -> Result<Option<Bounds>> {
        if !self.given() {
            return Ok(None);
        }
        let mut lower = columns::numbers("--lower", self.lower.as_deref(), f64::NEG_INFINITY, table)?;
        if self.nonnegative {
            lower.iter_mut().for_each(|bound| *bound = bound.max(0.0));
        }
        let upper = columns::numbers("--upper", self.upper.as_deref(), f64::INFINITY, table)?;
        let crossed = lower.iter().zip(&upper).enumerate().find(|(_, (low, high))| low > high);
        if let Some((j, (low, high))) = crossed {
            return Err(Failure::Input(format!(
                "the lower bound {low} of column {} is above its upper bound {high}: exchange them, or leave one out",
                table.called(j)
            )));
        }
        let outside = |(_, (low, high)): &(usize, (&f64, &f64))| **low > 0.0 || **high < 0.0;
        if let Some((j, (low, high))) = lower.iter().zip(&upper).enumerate().find(outside) {
            return Err(Failure::Input(format!(
                "the bounds {low} and {high} of column {} leave out 0, which the coefficient of a column that is not \
                 selected is: let --lower be at most 0 and --upper at least 0",
                table.called(j)
            )));
        }
        Ok(Some(Bounds::new(lower, upper)?))
    }
}
