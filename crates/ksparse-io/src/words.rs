//! Sentences that name settings without knowing what a front end calls them.

use std::fmt;
use std::ops::Add;

/// What a user may have to set. The library speaks of the fields of [`ReadOptions`](crate::ReadOptions); a front end
/// says it in its own words ([`Error::worded`](crate::Error::worded)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Setting {
    /// Which column is the target.
    Target,
    /// Which file has the target.
    TargetFile,
    /// Which column has the weights.
    Weights,
    /// Which column has the offsets.
    Offset,
    /// Which column has the survival times.
    Time,
    /// Which column has the times of entry.
    Entry,
    /// Which column has the strata.
    Strata,
    /// Which columns are left out.
    Drop,
    /// Which columns hold categories.
    Categorical,
    /// Which labels count as +1.
    Positive,
    /// The number of columns.
    Features,
    /// That columns are counted from 0.
    ZeroBased,
    /// That there is no header.
    NoHeader,
    /// That numbers have a decimal comma.
    DecimalComma,
    /// How much memory may be used.
    Memory,
    /// That files are read instead of mapped.
    NoMmap,
    /// The format of a file.
    Format,
    /// The loss of a fit.
    Loss,
}

impl Setting {
    /// What the library calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::TargetFile => "target_file",
            Self::Weights => "weights",
            Self::Offset => "offset",
            Self::Time => "time",
            Self::Entry => "entry",
            Self::Strata => "strata",
            Self::Drop => "drop",
            Self::Categorical => "categorical",
            Self::Positive => "positive",
            Self::Features => "features",
            Self::ZeroBased => "zero_based",
            Self::NoHeader => "no header",
            Self::DecimalComma => "decimal_comma",
            Self::Memory => "memory",
            Self::NoMmap => "no_mmap",
            Self::Format => "format",
            Self::Loss => "loss",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Setting(Setting),
}

/// A sentence with settings in it: `Words::from("raise ") + Setting::Features + " or correct the line"`.
///
/// ```
/// use ksparse_io::{Setting, Words};
/// let words = Words::from("raise ") + Setting::Features + " or correct the line";
/// assert_eq!(words.to_string(), "raise `features` or correct the line");
/// assert_eq!(words.worded(&|setting| format!("--{}", setting.name())), "raise --features or correct the line");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Words(Vec<Piece>);

impl Words {
    /// The sentence, with every setting as `name` calls it.
    pub fn worded(&self, name: &dyn Fn(Setting) -> String) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Setting(setting) => name(*setting),
        };
        self.0.iter().map(piece).collect()
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(&|setting| format!("`{}`", setting.name())))
    }
}

impl From<&str> for Words {
    fn from(text: &str) -> Self {
        Self(vec![Piece::Text(text.to_string())])
    }
}

impl From<String> for Words {
    fn from(text: String) -> Self {
        Self(vec![Piece::Text(text)])
    }
}

impl From<Setting> for Words {
    fn from(setting: Setting) -> Self {
        Self(vec![Piece::Setting(setting)])
    }
}

impl<T: Into<Words>> Add<T> for Words {
    type Output = Self;

    fn add(mut self, more: T) -> Self {
        self.0.extend(more.into().0);
        self
    }
}
