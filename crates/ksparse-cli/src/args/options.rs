//! The options of solvers: one flag for each name in the library's table, so that no front end has a list of its own.

use crate::failure::{Failure, Result};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use ksparse::solver::{Choice, METHODS, Method, PUBLISHED, Value};

/// The options that were given, by the library's names.
#[derive(Debug, Default)]
pub struct SolverOptions(Vec<(&'static str, Value)>);

impl SolverOptions {
    /// Whether an option of this name was given.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(given, _)| *given == name)
    }

    /// Whether `--published` was given.
    pub fn published(&self) -> bool {
        self.0.contains(&(PUBLISHED.name, Value::Flag(true)))
    }

    /// Those for a method; `Err` for one that belongs to another.
    pub fn of(&self, method: &Method) -> Result<Vec<(String, Value)>> {
        let mut options = Vec::new();
        for (name, value) in &self.0 {
            // `auto` is the rule that needs no tuning, and every method has its own.
            let automatic = *value == Value::Word("auto".to_string());
            if method.has_option(name) {
                let value = if automatic { Value::Word("adaptive".to_string()) } else { value.clone() };
                options.push((name.to_string(), value));
            } else if !automatic {
                let (flag, solver) = (flag(name), method.name);
                let owners = owners(&|method| method.has_option(name)).join(", ");
                return Err(Failure::Input(format!(
                    "{flag} is for --solver {owners}, not for `{solver}`: leave it out, or take one of those"
                )));
            }
        }
        Ok(options)
    }
}

/// What the command calls an option of a solver.
pub fn flag(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

/// Every option once, in the order of the table.
fn all() -> Vec<Choice> {
    let mut found: Vec<Choice> = Vec::new();
    for option in METHODS.iter().flat_map(|method| method.options) {
        if found.iter().all(|known| known.name != option.name) {
            found.push(*option);
        }
    }
    found
}

fn owners(has: &dyn Fn(&Method) -> bool) -> Vec<&'static str> {
    METHODS.iter().filter(|method| has(method)).map(|method| method.name).collect()
}

/// What an option does, which methods have it, and what their papers have for it: a line for each meaning of the name.
fn help(name: &str) -> String {
    let mut meanings: Vec<&Choice> = Vec::new();
    for option in METHODS.iter().flat_map(|method| method.options).filter(|option| option.name == name) {
        if !meanings.contains(&option) {
            meanings.push(option);
        }
    }
    let line = |option: &&Choice| {
        let owners = owners(&|method| method.options.contains(option)).join(", ");
        let values = if is_flag(option) { String::new() } else { format!(": {}", option.values) };
        let published = option.published.map_or(String::new(), |value| format!("; published: {value}"));
        format!("{} [{owners}{values}{published}]", option.about)
    };
    meanings.iter().map(line).collect::<Vec<_>>().join("; ")
}

fn is_flag(option: &Choice) -> bool {
    option.values == PUBLISHED.values
}

impl clap::Args for SolverOptions {
    fn augment_args(command: Command) -> Command {
        all().into_iter().fold(command, |command, option| {
            let arg = Arg::new(option.name).long(option.name.replace('_', "-")).help(help(option.name));
            // Where methods disagree on what it may be, it takes a value.
            let same = METHODS.iter().flat_map(|m| m.options).filter(|o| o.name == option.name).all(is_flag);
            let arg = match option.values {
                _ if same => {
                    arg.value_name("true|false").num_args(0..=1).require_equals(true).default_missing_value("true")
                }
                "a whole number" => arg.value_name("N"),
                _ => arg.value_name("VALUE"),
            };
            let read = |text: &str| Ok::<Value, String>(Value::of(text));
            command.arg(arg.value_parser(read).allow_hyphen_values(true))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for SolverOptions {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let mut given = Self::default();
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        for option in all() {
            if matches.value_source(option.name) == Some(ValueSource::CommandLine) {
                self.0.extend(matches.get_one::<Value>(option.name).map(|value| (option.name, value.clone())));
            }
        }
        Ok(())
    }
}
