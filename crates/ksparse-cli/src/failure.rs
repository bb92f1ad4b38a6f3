//! What goes wrong, with the exit code it deserves: 1 when the work failed, 2 for bad usage or input.

use crate::args::options;
use ksparse::solver::METHODS;
use std::io;

/// A `Result` with a [`Failure`].
pub type Result<T> = std::result::Result<T, Failure>;

/// Why a command ended early.
#[derive(Debug)]
pub enum Failure {
    /// The request or the data make no sense: exit 2.
    Input(String),
    /// The request was fine, the machine did not follow (a full disk, no threads): exit 1.
    Work(String),
    /// Whoever read our output has had enough: exit 0.
    BrokenPipe,
}

impl Failure {
    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::BrokenPipe => 0,
            Self::Work(_) => 1,
            Self::Input(_) => 2,
        }
    }

    /// What to print, if anything.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Input(message) | Self::Work(message) => Some(message),
            Self::BrokenPipe => None,
        }
    }

    /// The same failure, saying where it happened.
    pub fn within(self, place: impl std::fmt::Display) -> Self {
        match self {
            Self::Input(message) => Self::Input(format!("{place}: {message}")),
            Self::Work(message) => Self::Work(format!("{place}: {message}")),
            other => other,
        }
    }

    /// A file that could not be written.
    pub fn writing(error: ksparse_io::Error) -> Self {
        if error.is_broken_pipe() {
            return Self::BrokenPipe;
        }
        let error = worded(&error);
        Self::Work(format!("{error}; nothing was written: choose another place or make room"))
    }

    /// A conversion: what could not be written is no fault of the input.
    pub fn converting(error: ksparse_io::Error) -> Self {
        if error.is_of_writing() { Self::writing(error) } else { Self::from(error) }
    }
}

/// A refusal that does not name its file itself.
pub fn in_file(file: &str, error: ksparse_io::Error) -> Failure {
    Failure::from(error).within(file)
}

/// What could not be read, or makes no sense: the input's fault. See [`Failure::writing`] for the other direction.
impl From<ksparse_io::Error> for Failure {
    fn from(error: ksparse_io::Error) -> Self {
        Self::Input(worded(&error))
    }
}

/// The message, with options by the names of the command.
pub fn worded(error: &ksparse_io::Error) -> String {
    error.worded(&|setting| format!("--{}", setting.name().replace(['_', ' '], "-")))
}

/// What could not be printed.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Work(format!("cannot print: {error}")),
        }
    }
}

impl From<ksparse::Error> for Failure {
    fn from(error: ksparse::Error) -> Self {
        match &error {
            ksparse::Error::Threads { .. } => Self::Work(error.to_string()),
            ksparse::Error::InvalidOption { option, value, expected } => match flag(option) {
                Some(flag) => Self::Input(format!("{flag} is {value}, but must be {expected}")),
                None => Self::Input(error.to_string()),
            },
            other => match other.remedy() {
                Some(ksparse::Remedy::AddRidge) => Self::Input(format!("{error}: give --lambda a value above 0")),
                _ => Self::Input(error.to_string()),
            },
        }
    }
}

/// What the command calls an option of the library.
fn flag(option: &str) -> Option<String> {
    Some(
        match option {
            "lambda" => "--lambda",
            "tolerance" => "--tol",
            "max_iterations" => "--max-iter",
            name if METHODS.iter().any(|method| method.has_option(name)) => return Some(options::flag(name)),
            _ => return None,
        }
        .to_string(),
    )
}
