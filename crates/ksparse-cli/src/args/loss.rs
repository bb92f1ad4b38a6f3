//! `--loss` and its parameters, as the library's table of losses has them.

use super::{columns, parse};
use crate::failure::{Failure, Result};
use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use ksparse::loss::{FAMILIES, Family, JOINT_FAMILIES, Parameter, Ties};
use ksparse_io::Table;
use std::fmt::Write;

/// What is minimised, beside the data.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Model")]
pub struct LossArgs {
    /// How a prediction is charged for [default: logistic for a target with two labels, multinomial for more words, cox
    /// with --time, squared otherwise]
    #[arg(long, value_name = "NAME", value_parser = names())]
    pub loss: Option<String>,

    #[arg(long, value_name = "L", value_parser = parse::non_negative, allow_hyphen_values = true, help = ridge())]
    pub lambda: Option<f64>,

    /// What lambda is multiplied by for single columns, as in age=0.1,dose=4, or with @FILE one in every line of a
    /// file: positive numbers, 1 for columns not named
    #[arg(long, value_name = "FACTORS", allow_hyphen_values = true)]
    pub penalty_factors: Option<String>,

    /// Fit no intercept (it is neither penalised nor counted in k)
    #[arg(long)]
    pub no_intercept: bool,

    /// Centre and scale the columns first; coefficients are reported for the columns as they are in the file
    #[arg(long, visible_alias = "standardise")]
    pub standardize: bool,

    /// Events at one time under the loss cox: efron takes them out of the risk set one after the other, breslow leaves
    /// them all in
    #[arg(long, value_name = "NAME", default_value = "efron")]
    pub ties: Ties,

    /// The labels of the target in their order under the loss ordinal, the lowest first, as in low,middle,high; numbers
    /// have an order of their own
    #[arg(long, value_name = "LABELS", value_parser = parse::words)]
    pub levels: Option<parse::Words>,

    #[command(flatten)]
    pub parameters: Parameters,
}

impl LossArgs {
    /// What the ridge of every column is multiplied by, where that was said.
    pub fn factors(&self, table: &Table) -> Result<Option<Vec<f64>>> {
        let Some(text) = self.penalty_factors.as_deref() else { return Ok(None) };
        let factors = columns::numbers("--penalty-factors", Some(text), 1.0, table)?;
        let Some(j) = factors.iter().position(|factor| !(factor.is_finite() && *factor > 0.0)) else {
            return Ok(Some(factors));
        };
        let remedy = match factors[j] == 0.0 {
            true => "it must be above 0; 1e-6, say, leaves the column next to unpenalised",
            false => "it must be a positive number",
        };
        Err(Failure::Input(format!("the penalty factor of column {} is {}: {remedy}", table.called(j), factors[j])))
    }

    /// The parameter of this loss as given, or its default; `Err` where one of another loss was given.
    pub fn parameter(&self, family: &Family) -> Result<Option<f64>> {
        if let Some((other, option, _)) = self.parameters.0.iter().find(|(name, ..)| *name != family.name) {
            return Err(Failure::Input(format!(
                "--{option} is for the {other} loss, and this is the {} loss: leave it out, or take --loss {other}",
                family.name
            )));
        }
        let given = self.parameters.0.first().map(|(.., value)| *value);
        Ok(given.or(family.parameter.map(|parameter| parameter.default)))
    }
}

/// The parameters that were given: the loss, the option, the value.
#[derive(Debug, Default)]
pub struct Parameters(Vec<(&'static str, String, f64)>);

fn with_parameter() -> impl Iterator<Item = (&'static Family, Parameter, String)> {
    FAMILIES.iter().filter_map(|family| {
        let parameter = family.parameter?;
        Some((family, parameter, format!("{}-{}", family.name, parameter.name)))
    })
}

impl clap::Args for Parameters {
    fn augment_args(command: Command) -> Command {
        with_parameter().fold(command, |command, (_, parameter, option)| {
            let letter = parameter.name[..1].to_uppercase();
            let option = Arg::new(option.clone()).long(option).value_name(letter).help(parameter.about);
            let option = option.default_value(parameter.default.to_string()).value_parser(parse::positive);
            command.arg(option.allow_hyphen_values(true))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Parameters {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let mut given = Self::default();
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        let said = |option: &String| matches.value_source(option) == Some(ValueSource::CommandLine);
        for (family, _, option) in with_parameter().filter(|(.., option)| said(option)) {
            self.0.extend(matches.get_one::<f64>(&option).map(|value| (family.name, option.clone(), *value)));
        }
        Ok(())
    }
}

fn names() -> PossibleValuesParser {
    let single = FAMILIES
        .iter()
        .map(|family| clap::builder::PossibleValue::new(family.name).aliases(family.aliases.iter().copied()));
    let joint = JOINT_FAMILIES.iter().map(|family| clap::builder::PossibleValue::new(family.name));
    PossibleValuesParser::new(single.chain(joint))
}

fn ridge() -> String {
    let without: Vec<&str> = FAMILIES.iter().filter(|f| f.default_ridge == 0.0).map(|f| f.name).collect();
    format!(
        "The ridge in f = mean loss + lambda/2 ||w||^2 [default: 0 for {} loss, 1e-5 for the others]",
        without.join(", ")
    )
}

/// The losses, a line each, for the help of `fit`.
pub fn explained() -> String {
    let mut text = String::new();
    let width = FAMILIES.iter().map(|family| family.formula.len()).max().unwrap_or(0);
    for (label, title) in [(false, "for numbers y"), (true, "for labels y = -1 or +1, m = y z")] {
        let _ = writeln!(text, "Losses of the prediction z, {title}:");
        for family in FAMILIES.iter().filter(|family| family.target.is_label() == label) {
            let option = family.parameter.map(|parameter| format!(" (--{}-{})", family.name, parameter.name));
            let (name, formula, about) = (family.name, family.formula, family.about);
            let _ = writeln!(text, "  {name:13}  {formula:width$}  {about}{}", option.unwrap_or_default());
        }
    }
    let _ = writeln!(text, "Losses of all rows together:");
    for family in JOINT_FAMILIES {
        let _ = writeln!(text, "  {:13}  {:width$}  {}", family.name, format!("for {}", family.target), family.about);
    }
    text
}
