//! How k is chosen.

use super::loss::LossArgs;
use super::parse::Lambdas;
use super::solve::SolverArgs;
use crate::choosing::{Request, ridges};
use crate::failure::Result;
use ksparse::select::{Criterion, Deal, Metric, Rule};

/// What decides.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Choice of k")]
pub struct ChoiceArgs {
    /// Choose by cross-validation with N folds (of equal shares of both classes, for labels), NxT to deal them T times
    /// [default without -k: 5x5 below 250 rows, 5x2, or 3 from 1000 rows on]
    #[arg(long, value_name = "N|NxT", conflicts_with = "criterion")]
    pub cv: Option<Deal>,

    /// Choose by an information criterion [default: ebic for the squared and the logistic loss]
    #[arg(long, value_name = "NAME", value_parser = Criterion::NAMES)]
    pub criterion: Option<String>,

    /// What cross-validation measures [default: deviance]
    #[arg(long, value_name = "NAME", conflicts_with = "criterion", value_parser = Metric::NAMES)]
    pub metric: Option<String>,

    /// Which of the models compared is taken: best, the best mean; lean, the smallest k nearly as good; 1se, the
    /// smallest k within one standard error of the best [default: lean without -k, best with it]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["criterion", "one_se"], value_parser = Rule::NAMES)]
    pub rule: Option<String>,

    /// The same as --rule 1se
    #[arg(long, conflicts_with = "criterion")]
    pub one_se: bool,

    /// Fit the model chosen (without -k) to N random halves of the rows as well: how often they select each column
    #[arg(long, value_name = "N", conflicts_with = "criterion", value_parser = clap::value_parser!(u32).range(1..))]
    pub resamples: Option<u32>,

    /// Take the average of the models of those halves (50 unless --resamples says otherwise), their columns united
    #[arg(long, conflicts_with = "criterion")]
    pub ensemble: bool,
}

/// Halves of an ensemble.
const HALVES: u32 = 50;

impl ChoiceArgs {
    /// What is measured.
    pub fn metric(&self) -> Result<Metric> {
        Ok(self.metric.as_deref().map_or(Ok(Metric::Deviance), Metric::by_name)?)
    }

    /// Which model is taken.
    pub fn rule(&self, default: Rule) -> Result<Rule> {
        Ok(match &self.rule {
            _ if self.one_se => Rule::OneStandardError,
            Some(name) => Rule::by_name(name)?,
            None => default,
        })
    }

    /// All that a choice without a k needs.
    pub fn request(&self, lambdas: Option<&Lambdas>, loss: &LossArgs, solver: &SolverArgs) -> Result<Request> {
        Ok(Request {
            folds: self.cv,
            metric: self.metric()?,
            rule: self.rule(Rule::Lean)?,
            lambdas: ridges(lambdas.map(|lambdas| &lambdas.0[..]), loss.lambda),
            seed: solver.seed,
            resamples: self.resamples.unwrap_or(if self.ensemble { HALVES } else { 0 }) as usize,
            ensemble: self.ensemble,
            time_limit: solver.time_limit(),
        })
    }
}
