//! Targets that are more than a number per row: several classes, survival times.

pub mod fit;
pub mod predict;
mod report;

use crate::args::loss::LossArgs;
use crate::args::parse::Words;
use crate::args::survival::SurvivalArgs;
use crate::data::Data;
use crate::failure::{Failure, Result, in_file};
use ksparse::loss::{Survival, Ties};
use ksparse::select::Observed;
use ksparse_io::{Beside, Labels, Table, Target, all_labels, places};

/// What was observed, as the library needs it.
pub enum Task {
    Survival(Times),
    Classes {
        of: Vec<usize>,
        names: Vec<String>,
    },
    /// Labels in their order.
    Ordered {
        of: Vec<usize>,
        levels: Vec<String>,
    },
}

/// Survival times of a table.
pub struct Times {
    pub time: Vec<f64>,
    pub event: Vec<bool>,
    pub entry: Option<Vec<f64>>,
    /// Numbers of strata, and what each is called.
    pub strata: Option<Vec<usize>>,
    pub labels: Vec<f64>,
    pub events: Labels,
    pub ties: Ties,
}

impl Task {
    /// The task of a table, if it is one of these: by `--loss`, by `--time`, or because the target is words, three and
    /// more.
    pub fn asked(
        data: &Data,
        loss: &LossArgs,
        survival: &SurvivalArgs,
        positive: Option<&str>,
    ) -> Result<Option<Self>> {
        let table = &data.table;
        match loss.loss.as_deref() {
            Some("cox") => Ok(Some(Self::Survival(Times::new(table, positive, loss.ties)?))),
            None if survival.time.is_some() => Ok(Some(Self::Survival(Times::new(table, positive, loss.ties)?))),
            Some(other) if survival.time.is_some() => Err(Failure::Input(format!(
                "--time is for survival times, and this is the {other} loss: take --loss cox"
            ))),
            Some("ordinal") => Self::ordered(table, loss.levels.as_ref()).map(Some),
            _ if loss.levels.is_some() => Err(Failure::Input(
                "--levels gives labels an order, which only the ordinal loss has a use for: take --loss ordinal"
                    .to_string(),
            )),
            Some("multinomial") => Self::classes(table).map(Some),
            None if positive.is_none() && has_many_words(table) => Self::classes(table).map(Some),
            _ => Ok(None),
        }
    }

    fn classes(table: &Table) -> Result<Self> {
        let target = table.target()?;
        let names = all_labels(target);
        if names.len() < 2 {
            let first = names.first().map_or("", String::as_str);
            let message = format!(
                "{}: the target is {first} in every row (one class only), so there is nothing to learn; check --target",
                table.source
            );
            return Err(Failure::Input(message));
        }
        if 2 * names.len() > target.len() {
            let (source, labels, rows) = (&table.source, names.len(), target.len());
            let message = match odd_words(target) {
                Some((row, word, others)) => format!(
                    "{source}: the target of row {row} is `{word}`, not a number{others}: mend it for a regression, or \
                     check --target"
                ),
                None => format!(
                    "{source}: the target has {labels} labels in {rows} rows, too many for classes: check --target"
                ),
            };
            return Err(Failure::Input(message));
        }
        Ok(Self::Classes { of: places(target, &names)?, names })
    }

    /// Labels in the order that is given, or that of numbers.
    fn ordered(table: &Table, levels: Option<&Words>) -> Result<Self> {
        let Self::Classes { of, names } = Self::classes(table)? else {
            return Err(Failure::Input("labels are expected".to_string()));
        };
        let Some(levels) = levels.map(|words| &words.0) else {
            if matches!(table.target()?, Target::Text(_)) {
                let shown = names.join(",");
                return Err(Failure::Input(format!(
                    "{}: words have no order of their own: say it with --levels, the lowest first (the labels are \
                     {shown})",
                    table.source
                )));
            }
            return Ok(Self::Ordered { of, levels: names });
        };
        let complain = |what: String| Err(Failure::Input(format!("{}: --levels {what}", table.source)));
        if let Some(twice) = levels.iter().enumerate().find(|(at, level)| levels[..*at].contains(level)) {
            return complain(format!("names {} twice", twice.1));
        }
        if let Some(missing) = names.iter().find(|name| !levels.contains(name)) {
            return complain(format!("leaves out {missing}, which is in the data: name every label, the lowest first"));
        }
        if let Some(unknown) = levels.iter().find(|level| !names.contains(level)) {
            return complain(format!("names {unknown}, which no row has: leave it out"));
        }
        Ok(Self::Ordered { of: places(table.target()?, levels)?, levels: levels.clone() })
    }

    /// What the outputs are called.
    pub fn outputs(&self) -> Vec<String> {
        match self {
            Self::Survival(_) => vec!["risk".to_string()],
            Self::Classes { names, .. } => names.clone(),
            Self::Ordered { .. } => vec!["prediction".to_string()],
        }
    }

    /// The name of the loss.
    pub fn loss(&self) -> &'static str {
        match self {
            Self::Survival(_) => "cox",
            Self::Classes { .. } => "multinomial",
            Self::Ordered { .. } => "ordinal",
        }
    }

    pub fn observed(&self) -> Observed<'_> {
        match self {
            Self::Survival(times) => Observed::Survival(times.survival()),
            Self::Classes { of, names } => Observed::Classes { of, count: names.len() },
            Self::Ordered { of, levels } => Observed::Ordered { of, count: levels.len() },
        }
    }
}

/// Whether the target is three words and more.
/// The first word among numbers, its row counted from 1, and how many more there are; of a target that is numbers for
/// the most part.
fn odd_words(target: &Target) -> Option<(usize, &str, String)> {
    let Target::Text(values) = target else { return None };
    let words: Vec<usize> = (0..values.len()).filter(|&i| values[i].trim().parse::<f64>().is_err()).collect();
    let (&first, more) = words.split_first().filter(|_| 2 * words.len() < values.len())?;
    let others = if more.is_empty() { String::new() } else { format!(" (nor are {} more)", more.len()) };
    Some((first + 1, &values[first], others))
}

fn has_many_words(table: &Table) -> bool {
    matches!(&table.target, Some(Target::Text(_))) && table.target.as_ref().is_some_and(|t| all_labels(t).len() > 2)
}

impl Times {
    fn new(table: &Table, positive: Option<&str>, ties: Ties) -> Result<Self> {
        let Some(time) = table.beside[Beside::Time as usize].clone() else {
            let message =
                "--loss cox needs the times: name their column with --time, and that of the events with --event";
            return Err(Failure::Input(message.to_string()));
        };
        let target = table.target()?;
        let events = events(target, positive).map_err(|error| in_file(&table.source, error))?;
        Self::with_events(table, time, events, ties)
    }

    /// Of a table, events being called as they are in a model.
    pub fn with_events(table: &Table, time: Vec<f64>, events: Labels, ties: Ties) -> Result<Self> {
        let event = events.signs(table.target()?).map_err(|error| in_file(&table.source, error))?;
        let given = table.beside[Beside::Strata as usize].as_ref();
        let mut labels: Vec<f64> = given.cloned().unwrap_or_else(|| vec![0.0]);
        labels.sort_unstable_by(f64::total_cmp);
        labels.dedup();
        let number = |label: &f64| labels.partition_point(|known| known < label);
        Ok(Self {
            time,
            event: event.into_iter().map(|sign| sign > 0.0).collect(),
            entry: table.beside[Beside::Entry as usize].clone(),
            strata: given.map(|given| given.iter().map(number).collect()),
            labels,
            events,
            ties,
        })
    }

    pub fn survival(&self) -> Survival<'_> {
        Survival {
            entry: self.entry.as_deref(),
            strata: self.strata.as_deref(),
            ties: self.ties,
            ..Survival::new(&self.time, &self.event)
        }
    }
}

/// What censored rows and events are called: 0 and 1, or words that say so, or what `--positive` says.
fn events(target: &Target, positive: Option<&str>) -> ksparse_io::Result<Labels> {
    if let Some(positive) = positive {
        return Labels::with_positive(target, positive);
    }
    const KNOWN: [(&str, &str); 3] = [("0", "1"), ("false", "true"), ("no", "yes")];
    let found = all_labels(target);
    for (negative, positive) in KNOWN {
        let named = |wanted: &str| found.iter().find(|label| label.eq_ignore_ascii_case(wanted)).cloned();
        let (no, yes) = (named(negative), named(positive));
        if found.iter().all(|label| Some(label) == no.as_ref() || Some(label) == yes.as_ref()) {
            let or = |label: Option<String>, name: &str| label.unwrap_or_else(|| name.to_string());
            return Ok(Labels::Two { negative: or(no, negative), positive: or(yes, positive) });
        }
    }
    let shown = found.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    let more = if found.len() > 5 { ", ..." } else { "" };
    Err(ksparse_io::Error::request(
        format!("the events are called {shown}{more}, not 0 and 1, false and true, or no and yes"),
        ksparse_io::Words::from("say which mean that it happened with ") + ksparse_io::Setting::Positive,
    ))
}
