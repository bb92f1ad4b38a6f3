//! How k is chosen.

use super::loss::LossArgs;
use super::parse::Lambdas;
use super::solve::SolverArgs;
use crate::choosing::{Request, ridges};
use crate::failure::Result;
use ksparse::select::{Criterion, Deal, Metric, Rule};

/// How cross-validation chooses.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Choice of k")]
pub struct ValidationArgs {
    /// Choose by cross-validation with N folds (of equal shares of both classes, for labels), NxT to deal them T times
    /// [default where no k is given: 5x5 below 250 rows, 5x2, or 3 from 1000 rows on]
    #[arg(long, value_name = "N|NxT")]
    pub cv: Option<Deal>,

    /// What cross-validation measures [default: deviance]
    #[arg(long, value_name = "NAME", value_parser = Metric::NAMES)]
    pub metric: Option<String>,

    /// Which of the models compared is taken: best, the best mean; lean, the smallest k nearly as good; 1se, the
    /// smallest k within one standard error of the best [default: lean where no k is given, else best]
    #[arg(long, value_name = "NAME", conflicts_with = "one_se", value_parser = Rule::NAMES)]
    pub rule: Option<String>,

    /// The same as --rule 1se
    #[arg(long)]
    pub one_se: bool,
}

/// What decides.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Choice of k")]
pub struct ChoiceArgs {
    #[command(flatten)]
    pub validation: ValidationArgs,

    /// Choose by an information criterion [default: ebic for the squared and the logistic loss]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["cv", "metric", "rule", "one_se"],
          value_parser = Criterion::NAMES)]
    pub criterion: Option<String>,

    /// Fit the model chosen (without -k) to N random halves of the rows as well: how often they select each column
    #[arg(long, value_name = "N", conflicts_with = "criterion", value_parser = clap::value_parser!(u32).range(1..))]
    pub resamples: Option<u32>,

    /// Take the average of the models of those halves (50 unless --resamples says otherwise), their columns united
    #[arg(long, conflicts_with = "criterion")]
    pub ensemble: bool,
}

/// Halves of an ensemble.
const HALVES: u32 = 50;

impl ValidationArgs {
    /// The first option that is given.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            ("--cv", self.cv.is_some()),
            ("--metric", self.metric.is_some()),
            ("--rule", self.rule.is_some()),
            ("--one-se", self.one_se),
        ];
        options.into_iter().find_map(|(name, given)| given.then_some(name))
    }

    /// What is measured, if that was said.
    pub fn asked_metric(&self) -> Result<Option<Metric>> {
        Ok(self.metric.as_deref().map(Metric::by_name).transpose()?)
    }

    /// What is measured.
    pub fn metric(&self) -> Result<Metric> {
        Ok(self.asked_metric()?.unwrap_or(Metric::Deviance))
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
            resamples: 0,
            ensemble: false,
            time_limit: solver.time_limit(),
        })
    }
}

impl ChoiceArgs {
    /// All that a choice without a k needs.
    pub fn request(&self, lambdas: Option<&Lambdas>, loss: &LossArgs, solver: &SolverArgs) -> Result<Request> {
        let resamples = self.resamples.unwrap_or(if self.ensemble { HALVES } else { 0 }) as usize;
        let request = self.validation.request(lambdas, loss, solver)?;
        Ok(Request { resamples, ensemble: self.ensemble, ..request })
    }
}
