//! The memory-mapped form: the arrays of a design as they lie in memory, little-endian, each on a 64-byte border.
//!
//! ```text
//!   0  magic (8 bytes)        8  version, u32       12  storage, u32: 0 dense, 1 sparse
//!  16  n   24  p   32  stored entries               (u64 each)
//!  40  six sections, offset and length in bytes (u64 each):
//!      pointers (p + 1 u64)  rows (u32)  values (f64)  target (n f64)  weights (n f64)  text (JSON: names, labels)
//! 136  CRC-32 of the bytes before
//! 192  sections
//! end  CRC-32 of each section (6 u32), CRC-32 of these 24 bytes, magic
//! ```
//!
//! A section of length 0 is absent. Opening checks the header, the lengths, the end and, in one pass at the speed of
//! memory, that the pointers and row indices of a sparse matrix are in order: no index of an opened file can lie
//! outside. The values, two thirds of a sparse file and all of a dense one, are not touched; [`verify`] compares them
//! with their checksums.

mod streamed;
mod write;

pub(crate) use streamed::from_svmlight;
pub(crate) use write::write;

use crate::error::{Error, Result};
use crate::mapped::{Borrowed, Mapped};
use crate::options::Format;
use crate::source::Source;
use crate::table::{Matrix, MatrixRef, Table, Target};
use crate::words::Words;
use ksparse::design::{Dense, Sparse};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

/// The first and last bytes. Not text, and damaged by any program that takes it for text.
pub(crate) const MAGIC: &[u8; 8] = b"\x89KSB\r\n\x1a\n";
const VERSION: u32 = 1;
const HEADER: usize = 192;
const FOOTER: usize = 36;
const BORDER: usize = 64;

const POINTERS: usize = 0;
const ROWS: usize = 1;
const VALUES: usize = 2;
const TARGET: usize = 3;
const WEIGHTS: usize = 4;
const TEXT: usize = 5;

/// What is kept as JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Text {
    #[serde(skip_serializing_if = "Option::is_none")]
    target_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
}

/// The sizes and places of everything.
#[derive(Debug, Clone, PartialEq)]
struct Layout {
    sparse: bool,
    nrows: usize,
    ncols: usize,
    stored: usize,
    sections: [Range<usize>; 6],
}

fn damaged(name: &str, problem: impl Into<Words>) -> Error {
    Error::input(name, problem, "the file was cut short or altered: convert the data again")
}

/// Nothing else is ever written; a file from elsewhere may hold anything under the right checksums.
fn check_finite(name: &str, what: &str, values: &[f64]) -> Result<()> {
    match values.iter().find(|v| !v.is_finite()) {
        None => Ok(()),
        Some(v) => Err(Error::input(name, format!("{what} is {v}"), crate::text::FINITE)),
    }
}

impl Layout {
    fn new(sparse: bool, nrows: usize, ncols: usize, stored: usize, lengths: [usize; 6]) -> Self {
        let mut at = HEADER;
        let sections = lengths.map(|length| {
            let start = at;
            at = (start + length).next_multiple_of(BORDER);
            start..start + length
        });
        Self { sparse, nrows, ncols, stored, sections }
    }

    /// Where the footer starts.
    fn end(&self) -> usize {
        self.sections[TEXT].end.next_multiple_of(BORDER)
    }

    fn header(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(u32::from(self.sparse).to_le_bytes());
        let sizes = [self.nrows, self.ncols, self.stored].into_iter();
        let places = self.sections.iter().flat_map(|s| [s.start, s.len()]);
        sizes.chain(places).for_each(|v| bytes.extend((v as u64).to_le_bytes()));
        let check = crc32fast::hash(&bytes);
        bytes.extend(check.to_le_bytes());
        bytes.resize(HEADER, 0);
        bytes
    }

    /// Reads and checks a header against the length of its file.
    fn parse(name: &str, header: &[u8], file_length: u64) -> Result<Self> {
        if header.len() < HEADER || !header.starts_with(MAGIC) {
            return Err(damaged(name, "the header is incomplete"));
        }
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let version = word(8);
        if version > VERSION {
            return Err(Error::input(
                name,
                format!("version {version} of the form is newer than this program, which knows {VERSION}"),
                "use a newer ksparse, or convert the data again with this one",
            ));
        }
        if crc32fast::hash(&header[..136]) != word(136) {
            return Err(damaged(name, "the checksum of the header does not match"));
        }
        let long = |at: usize| (u64::from(word(at)) | u64::from(word(at + 4)) << 32) as usize;
        let (sparse, nrows, ncols, stored) = (word(12) == 1, long(16), long(24), long(32));
        let lengths: [usize; 6] = std::array::from_fn(|s| long(48 + 16 * s));
        if lengths.iter().any(|&l| l as u64 > file_length) {
            return Err(damaged(name, format!("the file ends too early, after {file_length} bytes")));
        }
        // The header is genuine; the arithmetic is checked all the same.
        let bad = || damaged(name, "the sizes in the header contradict each other");
        let wide =
            |count: usize, bytes: usize| count.checked_mul(bytes).filter(|&b| b as u64 <= file_length).ok_or_else(bad);
        let expected = if sparse {
            [wide(ncols.saturating_add(1), 8)?, wide(stored, 4)?, wide(stored, 8)?]
        } else {
            let full = nrows.checked_mul(ncols).ok_or_else(bad)?;
            [0, 0, if stored == full { wide(stored, 8)? } else { return Err(bad()) }]
        };
        let by_row = |length: usize| length == 0 || nrows.checked_mul(8) == Some(length);
        let layout = Self::new(sparse, nrows, ncols, stored, lengths);
        if lengths[..3] != expected || !by_row(lengths[TARGET]) || !by_row(lengths[WEIGHTS]) {
            return Err(bad());
        }
        if layout.header()[..] != header[..HEADER] {
            return Err(bad());
        }
        let length = (layout.end() + FOOTER) as u64;
        if file_length != length {
            let what = if file_length < length { "ends too early" } else { "goes on too long" };
            return Err(damaged(name, format!("the file {what}: {file_length} bytes where {length} were expected")));
        }
        Ok(layout)
    }

    fn check_footer(name: &str, footer: &[u8]) -> Result<[u32; 6]> {
        let word = |at: usize| u32::from_le_bytes([footer[at], footer[at + 1], footer[at + 2], footer[at + 3]]);
        if footer.len() != FOOTER || !footer.ends_with(MAGIC) || crc32fast::hash(&footer[..24]) != word(24) {
            return Err(damaged(name, "the end of the file is damaged"));
        }
        Ok(std::array::from_fn(|s| word(4 * s)))
    }

    /// The parts that are small and therefore copied.
    fn small_parts(&self, name: &str, bytes: &[u8], footer: &[u32; 6]) -> Result<Small> {
        for part in [TARGET, WEIGHTS, TEXT] {
            if crc32fast::hash(&bytes[self.sections[part].clone()]) != footer[part] {
                return Err(damaged(name, "the checksum of the target, the weights or the names does not match"));
            }
        }
        let numbers = |part: usize| {
            let bytes = &bytes[self.sections[part].clone()];
            (!bytes.is_empty())
                .then(|| bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect::<Vec<f64>>())
        };
        let text: Text = serde_json::from_slice(&bytes[self.sections[TEXT].clone()])
            .map_err(|e| damaged(name, format!("the names cannot be read ({e})")))?;
        let misfit = text.names.as_ref().is_some_and(|names| names.len() != self.ncols)
            || text.labels.as_ref().is_some_and(|labels| labels.len() != self.nrows);
        if misfit {
            return Err(damaged(name, "the number of names does not fit the matrix"));
        }
        let (target, weights) = (numbers(TARGET), numbers(WEIGHTS));
        check_finite(name, "the target", target.as_deref().unwrap_or_default())?;
        check_finite(name, "a weight", weights.as_deref().unwrap_or_default())?;
        if let Some(w) = weights.iter().flatten().find(|w| **w < 0.0) {
            return Err(damaged(name, format!("a weight is {w}")));
        }
        let target = text.labels.map(Target::Text).or(target.map(Target::Numbers));
        Ok(Small { target, target_name: text.target_name, weights, names: text.names })
    }
}

struct Small {
    target: Option<Target>,
    target_name: Option<String>,
    weights: Option<Vec<f64>>,
    names: Option<Vec<String>>,
}

impl Small {
    fn table(self, matrix: Matrix, name: String) -> Table {
        let mut table = Table::new(matrix);
        (table.target, table.target_name) = (self.target, self.target_name);
        (table.weights, table.names) = (self.weights, self.names);
        (table.format, table.source) = (Format::Ksb, name);
        table
    }
}

/// Opens a plain file without reading it.
pub(crate) fn open(name: String, file: &File) -> Result<Table> {
    if cfg!(target_endian = "big") {
        return Err(Error::input(
            &*name,
            "this machine orders bytes the other way",
            "convert the file to .npz elsewhere",
        ));
    }
    let (mapped, small) = Mapped::open(&name, file, |bytes| {
        let layout = Layout::parse(&name, bytes, bytes.len() as u64)?;
        let footer = Layout::check_footer(&name, &bytes[layout.end()..])?;
        let small = layout.small_parts(&name, bytes, &footer)?;
        let [pointers, rows, values] = [POINTERS, ROWS, VALUES].map(|s| &bytes[layout.sections[s].clone()]);
        let unaligned = |_| damaged(&name, "a section lies at an odd place");
        let values = bytemuck::try_cast_slice(values).map_err(unaligned)?;
        let matrix = if layout.sparse {
            let pointers = bytemuck::try_cast_slice(pointers).map_err(unaligned)?;
            let rows = bytemuck::try_cast_slice(rows).map_err(unaligned)?;
            let sparse = Sparse::from_columns(layout.nrows, layout.ncols, pointers, rows, values);
            Borrowed::Sparse(sparse.map_err(|e| damaged(&name, e.to_string()))?)
        } else {
            Borrowed::Dense(Dense::from_columns(layout.nrows, layout.ncols, values)?)
        };
        Ok((matrix, small))
    })?;
    Ok(small.table(Matrix::Mapped(mapped), name))
}

/// Reads a file that cannot or shall not be mapped: from a pipe, or compressed. All of it is verified.
pub(crate) fn read(source: &mut Source) -> Result<Table> {
    let name = source.name.clone();
    let bytes = source.read_all()?;
    let layout = Layout::parse(&name, &bytes, bytes.len() as u64)?;
    let footer = Layout::check_footer(&name, &bytes[layout.end()..])?;
    layout.verify(&name, &mut &bytes[HEADER..], &footer)?;
    let small = layout.small_parts(&name, &bytes, &footer)?;
    let section = |s: usize| &bytes[layout.sections[s].clone()];
    source.memory.take(bytes.len(), || "the matrix".into())?;
    let values: Vec<f64> = section(VALUES).as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    check_finite(&name, "a value", &values)?;
    let matrix = if layout.sparse {
        let pointers: Vec<u64> = section(POINTERS).as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b)).collect();
        let rows: Vec<u32> = section(ROWS).as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
        let sparse = Sparse::from_columns(layout.nrows, layout.ncols, pointers, rows, values);
        Matrix::Sparse(sparse.map_err(|e| damaged(&name, e.to_string()))?)
    } else {
        Matrix::Dense(Dense::from_columns(layout.nrows, layout.ncols, values)?)
    };
    let mut table = small.table(matrix, name);
    table.compression = source.compression;
    Ok(table)
}

/// Compares every section of a `.ksb` file with its checksum, in one pass from end to end, and checks its pointers
/// and indices as opening does, and that all values are finite. A file that is compressed or comes through a pipe is
/// read into memory for that.
pub fn verify(path: &Path) -> Result<()> {
    let mut source = Source::open(path, None)?;
    if !source.head().starts_with(MAGIC) {
        let remedy = "give a file that `ksparse convert` wrote; other formats are checked whenever they are read";
        return Err(Error::input(&*source.name, "this is no .ksb file, or its first bytes are damaged", remedy));
    }
    let name = source.name.clone();
    let Some(mut file) = source.file.take().filter(|_| source.compression.is_none()) else {
        return read(&mut source).map(drop);
    };
    let fail = |e| Error::io(path, "read", e);
    let length = file.metadata().map_err(fail)?.len();
    io::Seek::rewind(&mut file).map_err(fail)?;
    let mut header = Vec::new();
    (&mut file).take(HEADER as u64).read_to_end(&mut header).map_err(fail)?;
    let layout = Layout::parse(&name, &header, length)?;
    let sums = layout.checksums(&mut io::BufReader::with_capacity(1 << 20, &mut file)).map_err(fail)?;
    let mut footer = Vec::new();
    io::Seek::seek(&mut file, io::SeekFrom::Start(layout.end() as u64)).map_err(fail)?;
    file.read_to_end(&mut footer).map_err(fail)?;
    layout.compare(&name, &sums, &Layout::check_footer(&name, &footer)?)?;
    let table = open(name.clone(), &file)?;
    match table.matrix.view() {
        MatrixRef::Dense(dense) => (0..table.ncols()).try_for_each(|j| check_finite(&name, "a value", dense.column(j))),
        MatrixRef::Sparse(sparse) => {
            (0..table.ncols()).try_for_each(|j| check_finite(&name, "a value", sparse.column(j).1))
        }
    }
}

impl Layout {
    fn verify(&self, name: &str, body: &mut impl Read, footer: &[u32; 6]) -> Result<()> {
        let sums = self.checksums(body).map_err(|_| damaged(name, "the file ends too early"))?;
        self.compare(name, &sums, footer)
    }

    fn compare(&self, name: &str, sums: &[u32; 6], footer: &[u32; 6]) -> Result<()> {
        let parts = ["column pointers", "row indices", "values", "target", "weights", "names"];
        match (0..6).find(|&s| sums[s] != footer[s]) {
            None => Ok(()),
            Some(s) => Err(damaged(name, format!("the checksum of the {} does not match", parts[s]))),
        }
    }

    /// Of the sections, read in order from the end of the header on.
    fn checksums(&self, body: &mut impl Read) -> io::Result<[u32; 6]> {
        let (mut sums, mut at, mut buffer) = ([0; 6], HEADER, vec![0; 1 << 16]);
        for (section, sum) in self.sections.iter().zip(&mut sums) {
            let mut hasher = crc32fast::Hasher::new();
            io::copy(&mut body.by_ref().take((section.start - at) as u64), &mut io::sink())?;
            let mut left = section.len();
            while left > 0 {
                let now = left.min(buffer.len());
                body.read_exact(&mut buffer[..now])?;
                hasher.update(&buffer[..now]);
                left -= now;
            }
            *sum = hasher.finalize();
            at = section.end;
        }
        Ok(sums)
    }
}
