//! NumPy's array files: a magic word, a Python dictionary as header, the numbers.

mod write;

pub(crate) use write::{write_header, write_matrix, write_numbers, write_strings, write_target};

use crate::assemble::{from_full_columns, from_full_rows};
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::options::{Format, ReadOptions};
use crate::source::{Source, read_error};
use crate::table::{Table, Target};
use crate::text;
use crate::words::{Setting, Words};
use std::io::{self, Read};

/// What the header says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header {
    kind: Kind,
    /// Bytes of an item.
    size: usize,
    big_endian: bool,
    /// Column after column.
    pub fortran: bool,
    /// Lengths by dimension; none for a single value.
    pub shape: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Float,
    Signed,
    Unsigned,
    Bytes,
    Unicode,
}

/// Reads a matrix.
pub(crate) fn read(source: &mut Source, options: &ReadOptions) -> Result<Table> {
    let (name, memory) = (source.name.clone(), source.memory.clone());
    let wrap = |e: Fault| e.into_error(&memory, source.compression);
    let header = Header::read(&mut source.reader).map_err(wrap)?;
    let [nrows, ncols] = header.shape[..] else {
        return Err(Error::input(
            &*name,
            format!("the array has {} dimensions instead of two", header.shape.len()),
            Words::from("save it as rows by columns; a target alone is given with ") + Setting::TargetFile,
        ));
    };
    let wrap = |e: Fault| e.into_error(&memory, source.compression);
    let values = header.numbers(&mut source.reader, &memory).map_err(wrap)?;
    at_end(&mut source.reader).map_err(wrap)?;
    let mut table = Table::new(matrix(&memory, &header, nrows, ncols, values, options)?);
    (table.format, table.compression, table.source) = (Format::Npy, source.compression, name);
    Ok(table)
}

/// A matrix out of the numbers of an array, which must be finite.
pub(crate) fn matrix(
    memory: &Memory,
    header: &Header,
    nrows: usize,
    ncols: usize,
    values: Vec<f64>,
    options: &ReadOptions,
) -> Result<crate::table::Matrix> {
    let name = &*memory.name;
    if nrows == 0 || ncols == 0 {
        return Err(Error::input(
            name,
            format!("the array is empty ({nrows} x {ncols})"),
            "give at least a row and a column",
        ));
    }
    if let Some(at) = values.iter().position(|v| !v.is_finite()) {
        let (i, j) = if header.fortran { (at % nrows, at / nrows) } else { (at / ncols, at % ncols) };
        return Err(Error::input(name, format!("row {}, column {} is {}", i + 1, j + 1, values[at]), text::FINITE));
    }
    if header.fortran {
        from_full_columns(memory, nrows, ncols, values, options.storage)
    } else {
        from_full_rows(memory, vec![values], ncols, options.storage)
    }
}

/// Reads a target: n, n x 1 or 1 x n numbers or strings.
pub(crate) fn read_vector(source: &mut Source) -> Result<Target> {
    let memory = source.memory.clone();
    let wrap = |e: Fault| e.into_error(&memory, source.compression);
    let target = vector(&mut source.reader, &memory.name, &memory).map_err(wrap)?;
    at_end(&mut source.reader).map_err(wrap)?;
    Ok(target)
}

/// The same out of an archive.
pub(crate) fn vector(reader: &mut impl Read, name: &str, memory: &Memory) -> Outcome<Target> {
    let header = Header::read(reader)?;
    if header.shape.iter().filter(|&&d| d != 1).count() > 1 {
        return Err(Fault::Content(format!("the target has the shape {:?} instead of one dimension", header.shape)));
    }
    if matches!(header.kind, Kind::Bytes | Kind::Unicode) {
        return Ok(Target::Text(header.strings(reader, memory)?));
    }
    let values = header.numbers(reader, memory)?;
    if let Some(i) = values.iter().position(|v| !v.is_finite()) {
        return Err(Fault::Content(format!("{name}: entry {} is {}", i + 1, values[i])));
    }
    Ok(Target::Numbers(values))
}

/// What can go wrong while the bytes are read.
pub(crate) enum Fault {
    Io(io::Error),
    Content(String),
    Memory(Error),
}

pub(crate) type Outcome<T> = std::result::Result<T, Fault>;

impl From<io::Error> for Fault {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

impl Fault {
    pub fn into_error(self, memory: &Memory, compression: Option<crate::options::Compression>) -> Error {
        match self {
            Self::Memory(error) => error,
            Self::Io(e) if e.kind() == io::ErrorKind::UnexpectedEof => Error::input(
                &*memory.name,
                "the file ends before the data do",
                "it was cut short, or its header is wrong: save or fetch it again",
            ),
            Self::Io(e) => read_error(memory, compression, e),
            Self::Content(problem) => Error::input(
                &*memory.name,
                problem,
                "save it again with numpy.save or scipy.sparse.save_npz, as numbers",
            ),
        }
    }
}

fn content<T>(problem: impl Into<String>) -> Outcome<T> {
    Err(Fault::Content(problem.into()))
}

/// `Err` if bytes are left.
pub(crate) fn at_end(reader: &mut impl Read) -> Outcome<()> {
    match reader.read(&mut [0])? {
        0 => Ok(()),
        _ => content("there are bytes after the end of the array"),
    }
}

impl Header {
    pub fn read(reader: &mut impl Read) -> Outcome<Self> {
        let mut start = [0; 8];
        reader.read_exact(&mut start)?;
        if !start.starts_with(b"\x93NUMPY") {
            return content("this is not a .npy array");
        }
        let length = match start[6] {
            1 => {
                let mut length = [0; 2];
                reader.read_exact(&mut length)?;
                usize::from(u16::from_le_bytes(length))
            }
            2 | 3 => {
                let mut length = [0; 4];
                reader.read_exact(&mut length)?;
                u32::from_le_bytes(length) as usize
            }
            version => return content(format!("version {version} of the .npy format is unknown")),
        };
        if length > 1 << 16 {
            return content(format!("a header of {length} bytes is implausible"));
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text)?;
        Self::parse(&String::from_utf8_lossy(&text))
    }

    /// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`
    fn parse(text: &str) -> Outcome<Self> {
        let after = |key: &str| {
            let at = text.find(key).map(|at| &text[at + key.len()..])?;
            at.trim_start().strip_prefix(':').map(str::trim_start)
        };
        let Some(descr) = after("'descr'") else { return content("the header has no 'descr'") };
        let Some(descr) = descr.strip_prefix('\'').and_then(|d| d.split('\'').next()) else {
            return content("the array has named fields: save its columns as one array of numbers");
        };
        let fortran = match after("'fortran_order'") {
            Some(rest) if rest.starts_with("True") => true,
            Some(rest) if rest.starts_with("False") => false,
            _ => return content("the header has no 'fortran_order'"),
        };
        let shape = after("'shape'").and_then(|s| s.strip_prefix('(')).and_then(|s| s.split_once(')'));
        let Some((shape, _)) = shape else { return content("the header has no 'shape'") };
        let lengths = shape.split(',').map(str::trim).filter(|s| !s.is_empty());
        // Python 2 wrote long integers as 3L.
        let Ok(shape) =
            lengths.map(|s| s.trim_end_matches('L').parse()).collect::<std::result::Result<Vec<usize>, _>>()
        else {
            return content(format!("the shape ({shape}) is no list of lengths"));
        };
        let unusable = || content(format!("arrays of type '{descr}' hold no plain numbers"));
        let Some(order) = descr.chars().next() else { return unusable() };
        let (big_endian, rest) = match order {
            '<' | '|' | '=' => (false, &descr[1..]),
            '>' => (true, &descr[1..]),
            _ => (false, descr),
        };
        let (Some(kind), Ok(size)) = (rest.chars().next(), rest.get(1..).unwrap_or("").parse::<usize>()) else {
            return unusable();
        };
        let kind = match (kind, size) {
            ('f', 2 | 4 | 8) => Kind::Float,
            ('i', 1 | 2 | 4 | 8) => Kind::Signed,
            ('u', 1 | 2 | 4 | 8) | ('b', 1) => Kind::Unsigned,
            ('S', 1..4096) => Kind::Bytes,
            ('U', 1..1024) => Kind::Unicode,
            _ => return unusable(),
        };
        let size = if kind == Kind::Unicode { 4 * size } else { size };
        Ok(Self { kind, size, big_endian, fortran, shape })
    }

    /// Number of items.
    fn count(&self) -> Outcome<usize> {
        let total = self.shape.iter().try_fold(self.size, |total, &d| total.checked_mul(d));
        match total.filter(|&t| t <= isize::MAX as usize) {
            Some(total) => Ok(total / self.size),
            None => content(format!("the shape {:?} is too large", self.shape)),
        }
    }

    /// Calls `each` with every item, which takes `width` bytes of memory. That grows with what is there, not with
    /// what the header claims.
    fn items(&self, reader: &mut impl Read, memory: &Memory, width: usize, mut each: impl FnMut(&[u8])) -> Outcome<()> {
        let mut left = self.count()?;
        let step = (1 << 16) / self.size;
        let mut buffer = vec![0; step * self.size];
        while left > 0 {
            let now = left.min(step) * self.size;
            reader.read_exact(&mut buffer[..now])?;
            let what = || format!("the numbers or words of an array of shape {:?}", self.shape);
            memory.take(now / self.size * width, what).map_err(Fault::Memory)?;
            buffer[..now].chunks_exact_mut(self.size).for_each(|item| {
                if self.big_endian && self.kind != Kind::Unicode {
                    item.reverse();
                }
                each(item);
            });
            left -= now / self.size;
        }
        Ok(())
    }

    /// All items as floating-point numbers.
    pub fn numbers(&self, reader: &mut impl Read, memory: &Memory) -> Outcome<Vec<f64>> {
        let mut values = Vec::new();
        match (self.kind, self.size) {
            (Kind::Bytes | Kind::Unicode, _) => return content("the array holds text, not numbers"),
            (Kind::Float, 8) => self.items(reader, memory, 8, |b| values.push(f64::from_bits(little(b))))?,
            (Kind::Float, 4) => {
                self.items(reader, memory, 8, |b| values.push(f64::from(f32::from_bits(little(b) as u32))))?
            }
            (Kind::Float, _) => self.items(reader, memory, 8, |b| values.push(half(little(b) as u16)))?,
            (Kind::Unsigned, _) => self.items(reader, memory, 8, |b| values.push(little(b) as f64))?,
            (Kind::Signed, size) => self.items(reader, memory, 8, |b| values.push(signed(little(b), size) as f64))?,
        }
        Ok(values)
    }

    /// All items as integers that are not negative: indices.
    pub fn integers(&self, reader: &mut impl Read, memory: &Memory) -> Outcome<Vec<u64>> {
        let mut values = Vec::new();
        match (self.kind, self.size) {
            (Kind::Unsigned, _) => self.items(reader, memory, 8, |b| values.push(little(b)))?,
            (Kind::Signed, size) => {
                let mut negative = None;
                self.items(reader, memory, 8, |b| {
                    let v = signed(little(b), size);
                    negative = negative.or((v < 0).then_some(v));
                    values.push(v as u64);
                })?;
                if let Some(v) = negative {
                    return content(format!("the index {v} is negative"));
                }
            }
            _ => return content("indices must be integers"),
        }
        Ok(values)
    }

    /// All items as strings.
    pub fn strings(&self, reader: &mut impl Read, memory: &Memory) -> Outcome<Vec<String>> {
        let (mut values, width) = (Vec::new(), 40 + self.size);
        match self.kind {
            Kind::Bytes => self.items(reader, memory, width, |b| {
                values.push(String::from_utf8_lossy(b).trim_end_matches('\0').to_string())
            })?,
            Kind::Unicode => self.items(reader, memory, width, |b| {
                let code = |c: &[u8; 4]| if self.big_endian { u32::from_be_bytes(*c) } else { u32::from_le_bytes(*c) };
                let text = b.as_chunks::<4>().0.iter().map(code).take_while(|c| *c != 0);
                values.push(text.map(|c| char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER)).collect());
            })?,
            _ => return content("the array holds numbers, not text"),
        }
        Ok(values)
    }
}

/// Up to eight bytes, the lowest first.
fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
}

fn signed(bits: u64, size: usize) -> i64 {
    let shift = 64 - 8 * size;
    ((bits << shift) as i64) >> shift
}

/// IEEE half precision.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_decoded() {
        for (bits, value) in
            [(0x3c00, 1.0), (0xc000, -2.0), (0x0001, 5.960464477539063e-8), (0x7bff, 65504.0), (0x3555, 0.333251953125)]
        {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        write_strings(&mut bytes, &["a".into(), "häß".into()]).unwrap();
        assert_eq!(bytes.len() % 4, 0);
        let target = vector(&mut &bytes[..], "y", &Memory::new("y", None)).ok().unwrap();
        assert_eq!(target, Target::Text(vec!["a".into(), "häß".into()]));
    }
}
