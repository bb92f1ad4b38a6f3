//! Targets: collected from text, read from a file of their own.

use crate::error::{Error, Place, Result};
use crate::options::{Compression, Format};
use crate::source::Source;
use crate::table::Target;
use crate::text::{self, is_missing, number, short, show};
use crate::{mtx, npy};
use std::path::{Path, PathBuf};

/// Labels as they come: numbers until the first word, words from then on.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    numbers: Vec<f64>,
    words: Option<Vec<String>>,
}

impl Labels {
    pub fn len(&self) -> usize {
        self.words.as_ref().map_or(self.numbers.len(), Vec::len)
    }

    /// Bytes it takes, near enough: a word is some bytes on the heap beside itself.
    pub fn bytes(&self) -> usize {
        8 * self.numbers.len() + self.words.as_ref().map_or(0, |words| words.iter().map(|w| 40 + w.len()).sum())
    }

    pub fn push(&mut self, field: &[u8], place: impl FnOnce() -> Place) -> Result<()> {
        match number(field) {
            Some(v) if !v.is_finite() => {
                return Err(Error::input(place(), format!("the target `{}` is not finite", show(field)), text::FINITE));
            }
            Some(v) => match &mut self.words {
                Some(words) => words.push(short(v)),
                None => self.numbers.push(v),
            },
            None if is_missing(field) => return Err(Error::input(place(), "the target is missing", text::FINITE)),
            None => match std::str::from_utf8(field) {
                Ok(word) if !word.chars().any(char::is_control) => {
                    let numbers = &mut self.numbers;
                    // A number has one short form, so nothing is lost by having read it as one.
                    let words = self.words.get_or_insert_with(|| numbers.drain(..).map(short).collect());
                    words.push(word.to_string());
                }
                _ => {
                    return Err(Error::input(
                        place(),
                        format!("`{}` is not text", show(field)),
                        "check the format of the file and its encoding, which should be UTF-8",
                    ));
                }
            },
        }
        Ok(())
    }

    /// The parts in a row. A word anywhere makes words of all.
    pub fn join(parts: Vec<Self>) -> Target {
        if parts.iter().all(|b| b.words.is_none()) {
            return Target::Numbers(parts.into_iter().flat_map(|b| b.numbers).collect());
        }
        let words = |b: Self| b.words.unwrap_or_else(|| b.numbers.iter().copied().map(short).collect());
        Target::Text(parts.into_iter().flat_map(words).collect())
    }
}

/// Where `write` puts the target of a format that holds a matrix only, and `read` looks for it: `name.y.npy` beside
/// `name.npy`, `name.y.txt` beside `name.mtx`.
pub(crate) fn companion(path: &Path, format: Format) -> Option<PathBuf> {
    let extension = match format {
        Format::Npy => "y.npy",
        Format::MatrixMarket => "y.txt",
        _ => return None,
    };
    if path == Path::new("-") {
        return None;
    }
    let mut path = path.to_path_buf();
    if Compression::from_path(&path).is_some() {
        path.set_extension("");
    }
    path.set_extension(extension);
    Some(path)
}

/// The file beside this one that holds its target, or would, by its name.
pub fn target_beside(path: &Path) -> Option<PathBuf> {
    Format::from_path(path, false).and_then(|format| companion(path, format))
}

/// A target alone: NumPy, Matrix Market, or text with one value per line (and perhaps a name on top).
pub(crate) fn read(path: &Path, nrows: usize, memory: Option<u64>) -> Result<Target> {
    let mut source = Source::open(path, memory)?;
    let name = source.name.clone();
    let target = match source.format(path)? {
        Format::Npy => npy::read_vector(&mut source)?,
        Format::MatrixMarket => Target::Numbers(mtx::read_vector(&mut source)?),
        Format::Svmlight | Format::Delimited => lines(&mut source, nrows)?,
        other => {
            return Err(Error::input(
                &*name,
                format!("a target cannot be read from {}", other.name()),
                "give it as text with one value per line, or as .npy",
            ));
        }
    };
    if target.len() != nrows {
        return Err(Error::input(
            &*name,
            format!("{} values for {nrows} rows", target.len()),
            "the target needs one value per row of the data",
        ));
    }
    Ok(target)
}

fn lines(source: &mut Source, nrows: usize) -> Result<Target> {
    let name = source.name.clone();
    let bytes = source.read_all()?;
    let filled = |(_, line): &(usize, &[u8])| !line.is_empty();
    let lines: Vec<(usize, &[u8])> =
        bytes.split(|&b| b == b'\n').map(|l| l.trim_ascii()).enumerate().filter(filled).collect();
    let skip = usize::from(lines.len() == nrows + 1 && number(lines[0].1).is_none());
    let mut labels = Labels::default();
    for (i, line) in &lines[skip..] {
        labels.push(line, || Place::line(&name, *i as u64 + 1))?;
    }
    Ok(Labels::join(vec![labels]))
}
