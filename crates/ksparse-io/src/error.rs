//! The one error type: which file, where in it, what was wrong, what to do.

use crate::words::{Setting, Words};
use std::fmt;
use std::io;
use std::path::Path;

/// A `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What can be wrong with a file or with what was asked of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to open, read or write.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// The file's name as given.
        file: String,
        /// What was tried.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The contents of a file are not what they should be.
    #[error("{place}: {problem}; {remedy}")]
    Input {
        /// Where.
        place: Box<Place>,
        /// What was found there.
        problem: Words,
        /// What to do about it.
        remedy: Words,
    },
    /// What was asked does not suit the data.
    #[error("{problem}; {remedy}")]
    Request {
        /// What is wrong.
        problem: Words,
        /// What to do about it.
        remedy: Words,
    },
    /// The library refused.
    #[error(transparent)]
    Core(#[from] ksparse::Error),
}

impl Error {
    /// A failed operation on a file.
    pub fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        Self::Io { file: display_name(path), action, source }
    }

    /// Contents that cannot be used.
    pub fn input(place: impl Into<Place>, problem: impl Into<Words>, remedy: impl Into<Words>) -> Self {
        Self::Input { place: Box::new(place.into()), problem: problem.into(), remedy: remedy.into() }
    }

    /// A request that cannot be granted.
    pub fn request(problem: impl Into<Words>, remedy: impl Into<Words>) -> Self {
        Self::Request { problem: problem.into(), remedy: remedy.into() }
    }

    /// The message as a front end words it, which calls settings by names of its own.
    pub fn worded(&self, name: &dyn Fn(Setting) -> String) -> String {
        match self {
            Self::Input { place, problem, remedy } => {
                format!("{place}: {}; {}", problem.worded(name), remedy.worded(name))
            }
            Self::Request { problem, remedy } => format!("{}; {}", problem.worded(name), remedy.worded(name)),
            other => other.to_string(),
        }
    }

    /// Whether the fault is the system's (a full disk, no permission), not that of the input or the request.
    pub fn is_io(&self) -> bool {
        matches!(self, Self::Io { .. })
    }

    /// Whether it is the output that failed.
    pub fn is_of_writing(&self) -> bool {
        matches!(self, Self::Io { action: "write", .. })
    }

    /// A refusal, now naming the file it is about.
    pub fn within(self, file: &str) -> Self {
        match self {
            Self::Request { problem, remedy } => Self::input(file, problem, remedy),
            other => other,
        }
    }

    /// Whether the reader of our output went away, which is no failure.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// A place in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file's name as given.
    pub file: String,
    /// The line, counted from 1.
    pub line: Option<u64>,
    /// The byte in the line, counted from 1.
    pub byte: Option<u64>,
    /// The column's name or number, or the part of the file.
    pub part: Option<String>,
}

impl Place {
    /// A line of a file.
    pub fn line(file: &str, line: u64) -> Self {
        Self { file: file.into(), line: Some(line), ..Self::default() }
    }

    /// The same with the byte in the line.
    pub fn at_byte(mut self, byte: u64) -> Self {
        self.byte = Some(byte);
        self
    }

    /// The same with the name of a column or part.
    pub fn part(mut self, part: impl Into<String>) -> Self {
        self.part = Some(part.into());
        self
    }
}

impl From<&str> for Place {
    fn from(file: &str) -> Self {
        Self { file: file.into(), ..Self::default() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(byte) = self.byte {
            write!(f, ", byte {byte}")?;
        }
        if let Some(part) = &self.part {
            write!(f, ", {part}")?;
        }
        Ok(())
    }
}

/// The name under which errors speak of a path.
pub(crate) fn display_name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

/// The name closest to a mistyped one, if any is close.
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let length = name.chars().count();
    // A name of which every letter is wrong is another name.
    let far = (length / 3).max(1).min(length.saturating_sub(1));
    known
        .into_iter()
        .take(10_000)
        .map(|k| (distance(&lower, &k.to_lowercase()), k))
        .filter(|&(d, _)| d <= far)
        .min_by_key(|&(d, _)| d)
        .map(|(_, k)| k)
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &cb) in b.iter().enumerate() {
            let best = (diagonal + usize::from(ca != cb)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_close() {
        assert_eq!(suggestion("respons", ["sample", "response"]), Some("response"));
        assert_eq!(suggestion("Y", ["x", "y"]), Some("y"));
        assert_eq!(suggestion("gene", ["sample", "response"]), None);
        assert_eq!(suggestion("z", ["x", "y"]), None);
    }
}
