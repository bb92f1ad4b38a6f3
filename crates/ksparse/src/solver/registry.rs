//! The solvers by name: one table, from which front ends take names, help, options and what each solver needs.
//!
//! A new solver is a file with a `METHOD` beside the solver, and a line in [`METHODS`].
//!
//! **As published.** The defaults of methods from papers are tuned variants of them (steps that need no tuning, refits
//! at the end). Every such method has the option [`PUBLISHED`], which sets each of its other options to what its paper
//! has ([`Choice::published`]) unless that is given too. Methods of this library's own do not have it.

use super::{Limits, Solver};
use super::{auto, diht, exact, fbs, foba, grahtp, grasp, model_search, sdiht, svrght, working_set};
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use std::time::Duration;

/// All solvers, the default first.
pub const METHODS: &[Method] = &[
    auto::METHOD,
    grahtp::METHOD,
    grahtp::FAST,
    grahtp::HTP,
    grahtp::IHT,
    grasp::METHOD,
    fbs::METHOD,
    foba::METHOD,
    model_search::METHOD,
    working_set::METHOD,
    svrght::METHOD,
    diht::METHOD,
    sdiht::METHOD,
    exact::METHOD,
];

/// What a solver asks of an objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Needs {
    /// Nothing: every smooth objective will do.
    Gradients,
    /// Second derivatives.
    Hessian,
    /// Samples: a [`Risk`](crate::Risk).
    Samples,
    /// Samples and a ridge.
    Ridge,
}

/// An option that some solvers have: its name and what it may be, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub values: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// What the method's paper has, where that is not the default.
    pub published: Option<&'static str>,
}

impl Choice {
    pub(super) const fn new(name: &'static str, values: &'static str, about: &'static str) -> Self {
        Self { name, values, about, published: None }
    }
}

/// The option by which every method from a paper is had as its paper has it.
pub const PUBLISHED: Choice = Choice::new("published", FLAG, "The method as its paper has it, not our variant of it");

/// The values of options that are on or off.
pub(super) const FLAG: &str = "true or false";

/// A solver as front ends know it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Method {
    /// As the command line and Python spell it.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// What it asks of an objective.
    pub needs: Needs,
    /// Whether its solutions come with a lower bound.
    pub knows_bound: bool,
    /// Its options beside limits and seed.
    pub options: &'static [Choice],
    pub(super) build: fn(&Settings) -> Result<Box<dyn Solver>>,
}

impl Method {
    pub(super) const fn new(name: &'static str, build: fn(&Settings) -> Result<Box<dyn Solver>>) -> Self {
        Self { name, about: "", needs: Needs::Gradients, knows_bound: false, options: &[], build }
    }

    /// Whether it has an option of this name.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.name == name)
    }

    /// What [`PUBLISHED`] sets, option and value; `None` for methods of this library's own.
    ///
    /// ```
    /// use ksparse::solver;
    /// assert_eq!(solver::method("diht")?.published(), Some(vec![("step", "theory"), ("refit", "false")]));
    /// assert_eq!(solver::method("fbs")?.published(), Some(vec![])); // is published as it stands
    /// assert_eq!(solver::method("auto")?.published(), None);
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn published(&self) -> Option<Vec<(&'static str, &'static str)>> {
        let settings = self.options.iter().filter_map(|option| Some((option.name, option.published?)));
        self.has_option(PUBLISHED.name).then(|| settings.collect())
    }

    /// The solver; `Err` for an option that it does not have, or that is not what it should be.
    pub fn build(&self, settings: &Settings) -> Result<Box<dyn Solver>> {
        if let Some((name, _)) = settings.options.iter().find(|(name, _)| !self.has_option(name)) {
            let known: Vec<&str> = self.options.iter().map(|option| option.name).collect();
            let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
            let choices = format!("those of `{}`: {known}", self.name);
            return Err(Error::UnknownName { what: "solver option", name: name.clone(), choices });
        }
        if settings.flag(&PUBLISHED)? != Some(true) {
            return (self.build)(settings);
        }
        let mut settings = settings.clone();
        for (name, value) in self.published().unwrap_or_default() {
            if settings.options.iter().all(|(given, _)| given != name) {
                settings.options.push((name.to_string(), Value::of(value)));
            }
        }
        (self.build)(&settings)
    }
}

/// The value of an option.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number, whole ones too.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// One of some words.
    Word(String),
}

impl Value {
    /// From text: a number, `true` or `false`, or else a word.
    pub fn of(text: &str) -> Self {
        match (text.parse(), text.parse()) {
            (Ok(number), _) => Self::Number(number),
            (_, Ok(flag)) => Self::Flag(flag),
            _ => Self::Word(text.to_string()),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}

/// What a front end sets of a solver; the rest is as the solver's default has it.
///
/// ```
/// use ksparse::solver::{self, Settings, Value};
/// let options = vec![("step".to_string(), Value::Word("theory".to_string()))];
/// let settings = Settings { max_iterations: Some(50), options, ..Settings::default() };
/// assert_eq!(solver::method("htp")?.build(&settings)?.name(), "htp");
/// assert!(solver::method("fbs")?.build(&settings).is_err()); // has no step
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// [`Limits::tolerance`].
    pub tolerance: Option<f64>,
    /// [`Limits::max_iterations`].
    pub max_iterations: Option<usize>,
    /// [`Limits::time_limit`].
    pub time_limit: Option<Duration>,
    /// [`Limits::cancel`].
    pub cancel: Cancel,
    /// Of what is drawn at random.
    pub seed: Option<u64>,
    /// Options by name.
    pub options: Vec<(String, Value)>,
}

impl Settings {
    /// A method's own limits with what was given in their place.
    pub fn limits(&self, own: Limits) -> Limits {
        Limits {
            tolerance: self.tolerance.unwrap_or(own.tolerance),
            max_iterations: self.max_iterations.unwrap_or(own.max_iterations),
            time_limit: self.time_limit.or(own.time_limit),
            cancel: if self.cancel == Cancel::NEVER { own.cancel } else { self.cancel.clone() },
        }
    }

    /// An option as `read` understands it, if it was given; `Err` where it does not.
    pub(super) fn get<T>(&self, choice: &Choice, read: impl Fn(&Value) -> Option<T>) -> Result<Option<T>> {
        let Some((_, value)) = self.options.iter().find(|(name, _)| name == choice.name) else { return Ok(None) };
        let wrong = || Error::InvalidOption { option: choice.name, value: value.to_string(), expected: choice.values };
        read(value).map(Some).ok_or_else(wrong)
    }

    pub(super) fn number(&self, choice: &Choice) -> Result<Option<f64>> {
        self.get(choice, |value| if let Value::Number(number) = value { Some(*number) } else { None })
    }

    pub(super) fn count(&self, choice: &Choice) -> Result<Option<usize>> {
        self.get(choice, |value| match value {
            Value::Number(n) if *n >= 0.0 && n.fract() == 0.0 && *n < 2f64.powi(53) => Some(*n as usize),
            _ => None,
        })
    }

    pub(super) fn flag(&self, choice: &Choice) -> Result<Option<bool>> {
        self.get(choice, |value| if let Value::Flag(flag) = value { Some(*flag) } else { None })
    }
}

/// The names [`by_name`] answers to.
pub const NAMES: [&str; METHODS.len()] = names();

/// The solvers that run on every smooth [`Objective`](crate::Objective). The others need a Hessian or samples, most of
/// them with a ridge.
pub const GENERAL: [&str; count_general()] = general();

const fn names() -> [&'static str; METHODS.len()] {
    let mut names = [""; METHODS.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = METHODS[i].name;
        i += 1;
    }
    names
}

const fn count_general() -> usize {
    let (mut count, mut i) = (0, 0);
    while i < METHODS.len() {
        count += matches!(METHODS[i].needs, Needs::Gradients) as usize;
        i += 1;
    }
    count
}

const fn general() -> [&'static str; count_general()] {
    let mut names = [""; count_general()];
    let (mut found, mut i) = (0, 0);
    while i < METHODS.len() {
        if matches!(METHODS[i].needs, Needs::Gradients) {
            names[found] = METHODS[i].name;
            found += 1;
        }
        i += 1;
    }
    names
}

/// A solver's entry in the table; `_` is as good as `-`.
pub fn method(name: &str) -> Result<&'static Method> {
    let wanted = name.replace('_', "-");
    let found = METHODS.iter().find(|method| method.name == wanted);
    found.ok_or_else(|| Error::UnknownName { what: "solver", name: name.to_string(), choices: NAMES.join(", ") })
}

/// A solver with default options, by its name.
///
/// ```
/// use ksparse::solver;
/// assert_eq!(solver::by_name("grasp")?.name(), "grasp");
/// assert!(solver::by_name("lasso").is_err());
/// # Ok::<(), ksparse::Error>(())
/// ```
pub fn by_name(name: &str) -> Result<Box<dyn Solver>> {
    method(name)?.build(&Settings::default())
}

/// A solver as its paper has it, by its name: the option [`PUBLISHED`] set, and nothing else.
///
/// ```
/// use ksparse::solver;
/// assert_eq!(solver::published("grahtp")?.name(), "grahtp"); // with the constant step of the theorems
/// assert!(solver::published("auto").is_err()); // is this library's own
/// # Ok::<(), ksparse::Error>(())
/// ```
pub fn published(name: &str) -> Result<Box<dyn Solver>> {
    let options = vec![(PUBLISHED.name.to_string(), Value::Flag(true))];
    method(name)?.build(&Settings { options, ..Settings::default() })
}
