//! The bytes of a file: opened, decompressed, looked at.

use crate::error::{Error, Result, display_name};
use crate::memory::Memory;
use crate::options::{Compression, Format};
use crate::text::BYTE_ORDER_MARK;
use liblzma::stream::{self, Stream};
use std::fs::File;
use std::io::{self, BufReader, Chain, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

/// Bytes looked at to find out what a file is.
const HEAD: usize = 1 << 16;

/// An open file, its compression already removed.
pub(crate) struct Source {
    /// The name errors speak of.
    pub name: String,
    /// How the file is compressed.
    pub compression: Option<Compression>,
    /// What may be taken for its contents.
    pub memory: Arc<Memory>,
    /// The file itself, if it is a plain one: it can be mapped.
    pub file: Option<File>,
    /// All bytes: the first ones, kept to be looked at, and the rest.
    pub reader: Chain<Cursor<Vec<u8>>, Box<dyn Read + Send>>,
}

impl Source {
    /// Opens a file or, for `-`, standard input. `memory` is the limit on what its contents may take.
    pub fn open(path: &Path, memory: Option<u64>) -> Result<Self> {
        let name = display_name(path);
        if path == Path::new("-") {
            return Self::new(name, Box::new(io::stdin()), memory);
        }
        let fail = |e| Error::io(path, "open", e);
        let file = File::open(path).map_err(fail)?;
        let about = file.metadata().map_err(fail)?;
        if about.is_dir() {
            return Err(Error::input(&*name, "this is a directory", "name a file in it"));
        }
        let plain = if about.is_file() { Some(file.try_clone().map_err(fail)?) } else { None };
        Ok(Self { file: plain, ..Self::new(name, Box::new(file), memory)? })
    }

    /// The same for bytes that come from elsewhere.
    pub fn new(name: String, mut raw: Box<dyn Read + Send>, memory: Option<u64>) -> Result<Self> {
        let memory = Arc::new(Memory::new(&name, memory));
        let fail = |e| read_error(&memory, None, e);
        let start = read_up_to(&mut raw, 6).map_err(fail)?;
        let compression = compression_of(&start);
        let raw = Cursor::new(start).chain(raw);
        let mut reader: Box<dyn Read + Send> = match compression {
            None => Box::new(raw),
            Some(kind) => decompressor(kind, BufReader::with_capacity(1 << 16, raw), memory.room()).map_err(fail)?,
        };
        let mut head = read_up_to(&mut reader, HEAD).map_err(|e| read_error(&memory, compression, e))?;
        // Text may start with a mark, which is no part of its first word.
        if head.starts_with(BYTE_ORDER_MARK) {
            head.drain(..BYTE_ORDER_MARK.len());
        }
        if head.is_empty() {
            return Err(Error::input(
                &*name,
                "the file is empty",
                "check that it was written or downloaded completely",
            ));
        }
        Ok(Self { name, compression, memory, file: None, reader: Cursor::new(head).chain(reader) })
    }

    /// The first bytes: 64 KiB, or all if the file is shorter.
    pub fn head(&self) -> &[u8] {
        self.reader.get_ref().0.get_ref()
    }

    /// The first bytes, but at least so many whole lines that `enough` is content (or all).
    pub fn head_until(&mut self, enough: impl Fn(&[u8]) -> bool) -> Result<&[u8]> {
        loop {
            let (head, rest) = self.reader.get_mut();
            if enough(head.get_ref()) {
                break;
            }
            let step = head.get_ref().len().max(HEAD);
            self.memory.take(step, || "the first lines".into())?;
            let got = rest.take(step as u64).read_to_end(head.get_mut());
            if got.map_err(|e| read_error(&self.memory, self.compression, e))? == 0 {
                break;
            }
        }
        Ok(self.head())
    }

    /// All bytes at once.
    pub fn read_all(&mut self) -> Result<Vec<u8>> {
        let (mut bytes, room) = (Vec::new(), self.memory.room());
        let got = self.reader.by_ref().take(room.saturating_add(1)).read_to_end(&mut bytes);
        got.map_err(|e| read_error(&self.memory, self.compression, e))?;
        self.memory.take(bytes.len(), || "the contents".into())?;
        Ok(bytes)
    }

    /// The format by content, then by name, then by content again.
    pub fn format(&self, path: &Path) -> Result<Format> {
        let head = self.head();
        if let Some(format) = magic(head) {
            return Ok(format);
        }
        if head.contains(&0) {
            return Err(Error::input(
                &*self.name,
                "this is neither text nor a binary format we know",
                "the formats are svmlight, csv, tsv, npy, npz, mtx, ksb and parquet; other tables can be saved as csv",
            ));
        }
        let named = Format::from_path(path, true).filter(|f| matches!(f, Format::Svmlight | Format::Delimited));
        Ok(named.unwrap_or_else(|| if looks_like_svmlight(head) { Format::Svmlight } else { Format::Delimited }))
    }
}

/// An error while reading: damage of compressed data is the file's fault, anything else the system's.
pub(crate) fn read_error(memory: &Memory, compression: Option<Compression>, error: io::Error) -> Error {
    let name = &*memory.name;
    let limited = error.get_ref().and_then(|inner| inner.downcast_ref::<stream::Error>());
    if error.kind() == io::ErrorKind::OutOfMemory
        || matches!(limited, Some(stream::Error::MemLimit | stream::Error::Mem))
    {
        return memory.refused(memory.room().saturating_add(1), "the contents".into());
    }
    let Some(kind) = compression else {
        return Error::Io { file: name.to_string(), action: "read", source: error };
    };
    let problem = if error.kind() == io::ErrorKind::UnexpectedEof {
        format!("the .{} data end too early", kind.extension())
    } else {
        format!("the .{} data are damaged ({error})", kind.extension())
    };
    Error::input(name, problem, "the file was cut short or altered: fetch or compress it again")
}

/// Fills a buffer as far as the data go.
fn read_up_to(reader: &mut impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(limit);
    reader.by_ref().take(limit as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// By the first bytes.
fn compression_of(start: &[u8]) -> Option<Compression> {
    match start {
        [0x1f, 0x8b, ..] => Some(Compression::Gzip),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Compression::Bzip2),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
        _ => None,
    }
}

/// All of them read on through concatenated streams, as the command-line tools do. An .xz file says how much its
/// decoder needs, which may be gigabytes; the others need little.
fn decompressor(
    kind: Compression,
    raw: impl io::BufRead + Send + 'static,
    memory: u64,
) -> io::Result<Box<dyn Read + Send>> {
    Ok(match kind {
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(raw)),
        Compression::Xz => {
            let stream = Stream::new_stream_decoder(memory, stream::CONCATENATED)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(raw, stream))
        }
        Compression::Zstd => Box::new(zstd::Decoder::with_buffer(raw)?),
    })
}

/// Formats that say who they are.
fn magic(head: &[u8]) -> Option<Format> {
    if head.starts_with(b"\x93NUMPY") {
        Some(Format::Npy)
    } else if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        Some(Format::Npz)
    } else if head.starts_with(crate::ksb::MAGIC) {
        Some(Format::Ksb)
    } else if head.starts_with(b"PAR1") {
        Some(Format::Parquet)
    } else if head.len() >= 14 && head[..14].eq_ignore_ascii_case(b"%%MatrixMarket") {
        Some(Format::MatrixMarket)
    } else {
        None
    }
}

/// Whether some line near the start has a second word of the form `index:value`, and none contradicts.
fn looks_like_svmlight(head: &[u8]) -> bool {
    for line in head.split(|&b| b == b'\n').take(200) {
        let line = line.split(|&b| b == b'#').next().unwrap_or_default();
        let mut words = line.split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty());
        let (first, second) = (words.next(), words.next());
        if let Some(word) = second.or(first.filter(|w| w.contains(&b':'))) {
            let Some(colon) = word.iter().position(|&b| b == b':') else { return false };
            return &word[..colon] == b"qid" || (colon > 0 && word[..colon].iter().all(u8::is_ascii_digit));
        }
    }
    false
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_apart() {
        for (text, svmlight) in [
            ("+1 1:2 3:4\n", true),
            ("-1\n-1\n+1 7:1\n", true),
            ("# a comment\n1 qid:3 1:2\n", true),
            ("1:2 3:4\n", true),
            ("a,b\n1,2\n", false),
            ("1 2 3\n4 5 6\n", false),
            ("time value\n12:30 1\n", false),
            ("-1\n+1\n", false),
        ] {
            assert_eq!(looks_like_svmlight(text.as_bytes()), svmlight, "{text}");
        }
    }
}
