//! `--loss` and its parameters.

use super::parse;
use crate::failure::Result;
use ksparse::loss::{self, Huber, Logistic, Loss};

/// The losses, as `--loss` spells them.
pub const NAMES: [&str; 5] = ["squared", "logistic", "squared-hinge", "huber", "hinge"];

/// The ridge when none is given: squared loss has a minimiser without one; the others need one on separable classes.
pub fn default_lambda(loss: &str) -> f64 {
    if loss == "squared" { 0.0 } else { 1e-5 }
}

/// What is minimised, beside the data.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Model")]
pub struct LossArgs {
    /// How a prediction is charged for [default: logistic for a target with two labels, squared otherwise]
    #[arg(long, value_name = "NAME", value_parser = NAMES)]
    pub loss: Option<String>,

    /// The ridge in f = mean loss + lambda/2 ||w||^2 [default: 0 for squared loss, 1e-5 for the others]
    #[arg(long, value_name = "L", value_parser = parse::non_negative, allow_hyphen_values = true)]
    pub lambda: Option<f64>,

    /// Fit no intercept (it is neither penalised nor counted in k)
    #[arg(long)]
    pub no_intercept: bool,

    /// Centre and scale the columns first; coefficients are reported for the columns as they are in the file
    #[arg(long, visible_alias = "standardise")]
    pub standardize: bool,

    /// The c of the logistic loss log(1 + exp(-c y z)): 1 is the usual one, 2 that of the GraHTP papers
    #[arg(long, value_name = "S", default_value = "1", value_parser = parse::positive, allow_hyphen_values = true)]
    pub logistic_scale: f64,

    /// Width of the quadratic piece of the Huber (smoothed hinge) loss
    #[arg(long, value_name = "G", default_value = "0.25", value_parser = parse::positive, allow_hyphen_values = true)]
    pub huber_gamma: f64,
}

impl LossArgs {
    /// The loss of this name with the parameters given.
    pub fn build(&self, name: &str) -> Result<Box<dyn Loss>> {
        Ok(match name {
            "logistic" => Box::new(Logistic::new(self.logistic_scale)?),
            "huber" => Box::new(Huber::new(self.huber_gamma)?),
            _ => loss::by_name(name)?,
        })
    }
}
