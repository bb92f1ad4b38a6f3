//! Text in blocks of whole lines, parsed side by side; numbers.

use crate::error::{Error, Place, Result};
use crate::memory::Memory;
use crate::source::{Source, read_error};
use crate::words::{Setting, Words};
use rayon::prelude::*;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, sync_channel};

/// What some programs put before text in UTF-8. Files glued together have it inside too.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes of a block. Large enough that starting one costs nothing, small enough that a file of some megabytes has
/// several.
const BLOCK: usize = 1 << 20;

/// A part of a file: whole lines (the last one perhaps without its end).
pub(crate) struct Block {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Lines before it.
    pub lines_before: u64,
}

impl Block {
    /// The lines with their numbers, line ends and marks removed.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        Lines { rest: &self.bytes, number: self.lines_before }
    }
}

struct Lines<'a> {
    rest: &'a [u8],
    number: u64,
}

impl<'a> Iterator for Lines<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = match memchr::memchr(b'\n', self.rest) {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &[][..]),
        };
        self.rest = rest;
        self.number += 1;
        Some((self.number, bare(line)))
    }
}

/// A line without its end and without a mark before it.
pub(crate) fn bare(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
}

/// What was parsed, which takes memory.
pub(crate) trait Held {
    /// How many bytes.
    fn bytes(&self) -> usize;
}

impl<T> Held for Vec<T> {
    fn bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

/// Cuts a source into blocks and hands each to `parse`, several at a time; the results come back in the order of the
/// file. A thread of its own reads and decompresses meanwhile. The first error by position in the file wins, so
/// messages do not depend on threads.
pub(crate) fn parse_blocks<T: Held + Send>(
    source: &mut Source,
    parse: impl Fn(&Block) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let (mut parsed, memory) = (Vec::new(), source.memory.clone());
    for_blocks(source, parse, |block| {
        memory.take(block.bytes(), || "the rows".into())?;
        parsed.push(block);
        Ok(())
    })?;
    Ok(parsed)
}

/// The same, each result handed to `each` as soon as it is its turn: no more than a few are there at a time.
pub(crate) fn for_blocks<T: Send>(
    source: &mut Source,
    parse: impl Fn(&Block) -> Result<T> + Sync,
    mut each: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let width = rayon::current_num_threads().max(1);
    let (memory, compression) = (&*source.memory, source.compression);
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(2 * width);
        let reader = &mut source.reader;
        scope.spawn(move || {
            let mut blocks = Blocks::new(reader, memory);
            loop {
                let block = blocks.next_block();
                let last = !matches!(block, Ok(Some(_)));
                // The receiver is gone once an error was found: nothing left to do.
                if sender.send(block).is_err() || last {
                    break;
                }
            }
        });
        loop {
            let (batch, end) = next_batch(&receiver, width);
            let results: Vec<Result<T>> = batch.par_iter().with_max_len(1).map(&parse).collect();
            for result in results {
                each(result?)?;
            }
            match end {
                None => {}
                Some(Ok(())) => return Ok(()),
                Some(Err(e)) => return Err(read_error(memory, compression, e)),
            }
        }
    })
}

type Message = io::Result<Option<Block>>;

/// Up to `width` blocks, and how the file ended if it did.
fn next_batch(receiver: &Receiver<Message>, width: usize) -> (Vec<Block>, Option<io::Result<()>>) {
    let mut batch = Vec::with_capacity(width);
    while batch.len() < width {
        match receiver.recv() {
            Ok(Ok(Some(block))) => batch.push(block),
            Ok(Ok(None)) | Err(_) => return (batch, Some(Ok(()))),
            Ok(Err(e)) => return (batch, Some(Err(e))),
        }
    }
    (batch, None)
}

struct Blocks<'a, R> {
    reader: R,
    memory: &'a Memory,
    /// The begun line at the end of the last block.
    carried: Vec<u8>,
    lines: u64,
    done: bool,
}

impl<'a, R: Read> Blocks<'a, R> {
    fn new(reader: R, memory: &'a Memory) -> Self {
        Self { reader, memory, carried: Vec::new(), lines: 0, done: false }
    }

    fn next_block(&mut self) -> Message {
        if self.done {
            return Ok(None);
        }
        let mut bytes = std::mem::take(&mut self.carried);
        loop {
            let before = bytes.len();
            // A line without end is no text; what it takes is freed with its block and counted here only.
            if before as u64 > self.memory.room() {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            bytes.try_reserve(BLOCK).map_err(|_| io::ErrorKind::OutOfMemory)?;
            let got = self.reader.by_ref().take(BLOCK as u64).read_to_end(&mut bytes)?;
            if got < BLOCK {
                self.done = true;
                break;
            }
            if let Some(end) = memchr::memrchr(b'\n', &bytes[before..]) {
                self.carried = bytes.split_off(before + end + 1);
                break;
            }
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let lines_before = self.lines;
        self.lines += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        Ok(Some(Block { bytes, lines_before }))
    }
}

/// A decimal number, the whole of `text`. NaN and infinities come through: the caller refuses them with its own words.
#[inline]
pub(crate) fn number(text: &[u8]) -> Option<f64> {
    // The parser knows no leading plus sign.
    let text = match text {
        [b'+', rest @ ..] if !matches!(rest.first(), Some(b'+' | b'-')) => rest,
        _ => text,
    };
    fast_float2::parse::<f64, _>(text).ok()
}

/// A number written with a decimal comma, with a point instead.
pub(crate) fn with_point(text: &[u8]) -> Option<Vec<u8>> {
    let comma = memchr::memchr(b',', text)?;
    let mut point = text.to_vec();
    point[comma] = b'.';
    number(&point).map(|_| point)
}

/// Bytes of a message: cut to a reasonable length, what is not printable replaced.
pub(crate) fn show(text: &[u8]) -> String {
    let cut = &text[..text.len().min(40)];
    let shown: String =
        String::from_utf8_lossy(cut).chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.len() > cut.len() { format!("{shown}...") } else { shown }
}

/// What to do about NaN, infinities and the like.
pub(crate) const FINITE: &str = "every value must be a finite number: remove or impute missing and infinite ones";

/// A value that must be a finite number.
pub(crate) fn finite(text: &[u8], place: impl FnOnce() -> Place) -> Result<f64> {
    match number(text) {
        Some(v) if v.is_finite() => Ok(v),
        Some(_) => Err(Error::input(place(), format!("`{}` is not finite", show(text)), FINITE)),
        None if is_missing(text) => Err(Error::input(place(), missing(text), FINITE)),
        None if with_point(text).is_some() => Err(Error::input(
            place(),
            format!("`{}` is not a number", show(text)),
            Words::from("if commas stand for decimal points, say ") + Setting::DecimalComma,
        )),
        None => Err(Error::input(
            place(),
            format!("`{}` is not a number", show(text)),
            Words::from("correct it, leave the column out with ")
                + Setting::Drop
                + ", or take its values as words with "
                + Setting::Categorical,
        )),
    }
}

fn missing(text: &[u8]) -> String {
    if text.is_empty() { "the value is missing".into() } else { format!("the value is missing (`{}`)", show(text)) }
}

/// How programs write a value they do not have.
pub(crate) fn is_missing(text: &[u8]) -> bool {
    text.is_empty() || ["NA", "N/A", "?", "null", "none", "."].iter().any(|m| text.eq_ignore_ascii_case(m.as_bytes()))
}

/// Writes a number so that reading it gives the same bits, and as short as that allows.
pub(crate) fn push_number(out: &mut Vec<u8>, v: f64) {
    // Integers without a point; beyond 2^53 the exponent is shorter. Minus zero keeps its sign the long way.
    if v == v.trunc() && v.abs() < 9e15 && (v != 0.0 || v.is_sign_positive()) {
        out.extend_from_slice(itoa::Buffer::new().format(v as i64).as_bytes());
    } else {
        out.extend_from_slice(zmij::Buffer::new().format(v).as_bytes());
    }
}

/// The same as a string: a number's name as a label.
pub(crate) fn short(v: f64) -> String {
    let mut text = Vec::new();
    push_number(&mut text, v);
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_writing_and_reading() {
        for v in [0.0, -0.0, 1.0, -17.0, 0.1, 1e-300, 5e-324, 1e22, 9e15, -1.5, f64::MAX, f64::MIN_POSITIVE, 1.0 / 3.0]
        {
            let mut text = Vec::new();
            push_number(&mut text, v);
            assert_eq!(number(&text).map(f64::to_bits), Some(v.to_bits()), "{}", String::from_utf8_lossy(&text));
        }
        for (text, value) in [
            ("+1", Some(1.0)),
            ("+-1", None),
            ("++1", None),
            ("", None),
            ("1e", None),
            ("0x1", None),
            (".5", Some(0.5)),
        ] {
            assert_eq!(number(text.as_bytes()), value, "{text}");
        }
    }

    #[test]
    fn blocks_keep_lines_whole_and_count_them() {
        let text: String = (0..300_000).map(|i| format!("{i}\n")).collect();
        for text in [text.as_str(), &text[..text.len() - 1], "\n\n1", ""] {
            let memory = Memory::new("text", None);
            let mut blocks = Blocks::new(text.as_bytes(), &memory);
            let mut lines = Vec::new();
            while let Some(block) = blocks.next_block().unwrap() {
                lines.extend(block.lines().map(|(i, line)| (i, String::from_utf8(line.to_vec()).unwrap())));
            }
            let expected: Vec<(u64, String)> =
                text.lines().enumerate().map(|(i, l)| (i as u64 + 1, l.to_string())).collect();
            assert_eq!(lines, expected);
        }
    }
}
