//! From a table to a file.

use crate::error::{Error, Result};
use crate::options::{Compression, Format, Need, ReadOptions, WriteOptions};
use crate::output::write_atomically;
use crate::read::read;
use crate::source::Source;
use crate::table::{Table, Target};
use crate::words::{Setting, Words};
use crate::{delimited, ksb, mtx, npy, npz, svmlight, target};
use std::io::{self, Write};
use std::path::Path;

/// Writes a table; `-` is standard output. Format and compression follow the file's name, unless the options say
/// otherwise.
///
/// A format that holds a matrix only gets its target in a second file beside it: `name.y.npy` for `name.npy`,
/// `name.y.txt` for `name.mtx`. Returns what a person should know: the second file, names that got lost.
pub fn write(table: &Table, path: &Path, options: &WriteOptions) -> Result<Vec<String>> {
    let format = match options.format.or_else(|| Format::from_path(path, false)) {
        Some(format) => format,
        None => {
            return Err(Error::request(
                format!("{}: the name does not say which format to write", path.display()),
                Words::from("end it in .svm, .csv, .tsv, .npy, .npz, .mtx, .ksb or .parquet, or say ")
                    + Setting::Format,
            ));
        }
    };
    let mut notes = check(table, format, path)?;
    let compression = options.compression.or_else(|| Compression::from_path(path));
    let options = WriteOptions { separator: options.separator.or_else(|| separator(path)), ..options.clone() };
    let body = |out: &mut dyn Write| -> io::Result<()> {
        match format {
            Format::Svmlight => svmlight::write(table, out, &options),
            Format::Delimited => delimited::write(table, out, &options),
            Format::Npy => npy::write_matrix(table, out),
            Format::Npz => npz::write(table, out),
            Format::MatrixMarket => mtx::write(table, out),
            Format::Ksb => ksb::write(table, out),
            Format::Parquet => write_parquet(table, out),
        }
    };
    // The second file first: once the data are there, they are complete.
    if let (Some(values), Some(beside)) = (&table.target, target::companion(path, format)) {
        write_atomically(&beside, |out| match format {
            Format::Npy => npy::write_target(out, values),
            _ => (0..values.len()).try_for_each(|i| writeln!(out, "{}", values.label(i))),
        })?;
        notes.push(format!("the target is in {}", beside.display()));
    }
    write_atomically(path, |out| compressed(compression, out, body))?;
    Ok(notes)
}

/// Reads one file and writes another; `relabel` may change the target on the way. Returns the table and what got lost
/// in writing.
///
/// Where the matrix would not fit into the memory allowed (at most 2 GiB unless the options say otherwise) and the
/// text is svmlight, `.ksb` is written by reading the text several times.
pub fn convert(
    from: &Path,
    to: &Path,
    reading: &ReadOptions,
    writing: &WriteOptions,
    relabel: impl FnOnce(Target) -> Result<Target>,
) -> Result<(Table, Vec<String>)> {
    let memory = reading.memory.unwrap_or_else(|| crate::memory::free().min(2 << 30));
    if can_stream(from, to, reading, writing)? && bytes_needed(from) > memory {
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        ksb::from_svmlight(from, to, reading, memory, relabel)?;
        return Ok((read(to, &ReadOptions { need: Need::Optional, ..ReadOptions::default() })?, Vec::new()));
    }
    let mut table = read(from, reading)?;
    table.target = table.target.map(relabel).transpose().map_err(|error| error.within(&table.source))?;
    let lost = write(&table, to, writing)?;
    Ok((table, lost))
}

/// Whether a file can be read again and again, holds nothing but labels and entries, and becomes a mapped file.
fn can_stream(from: &Path, to: &Path, reading: &ReadOptions, writing: &WriteOptions) -> Result<bool> {
    let becomes = writing.format.or_else(|| Format::from_path(to, false)) == Some(Format::Ksb)
        && writing.compression.or_else(|| Compression::from_path(to)).is_none();
    let roles = reading.target.is_some()
        || reading.target_file.is_some()
        || reading.weights.is_some()
        || reading.offset.is_some()
        || reading.beside.iter().any(Option::is_some)
        || !reading.drop.is_empty();
    if !becomes || roles || !std::fs::metadata(from).is_ok_and(|file| file.is_file()) {
        return Ok(false);
    }
    let format = match reading.format {
        Some(format) => format,
        None => Source::open(from, None)?.format(from)?,
    };
    Ok(format == Format::Svmlight)
}

/// What reading svmlight text takes at its peak: an entry of some 12 bytes of text is held twice, in rows and in
/// columns, 12 bytes each. Compressed text is about a fifth of its size.
fn bytes_needed(file: &Path) -> u64 {
    let compressed = Source::open(file, None).is_ok_and(|source| source.compression.is_some());
    std::fs::metadata(file).map_or(0, |file| file.len()).saturating_mul(if compressed { 10 } else { 2 })
}

#[cfg(feature = "parquet")]
fn write_parquet(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    crate::parquet::write(table, out)
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(_: &Table, _: &mut dyn Write) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this program was built without Parquet (feature `parquet`)"))
}

fn separator(path: &Path) -> Option<u8> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let has = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end) || name.contains(&format!("{end}.")));
    if has(&[".tsv", ".tab"]) {
        Some(b'\t')
    } else if has(&[".txt", ".dat"]) {
        Some(b' ')
    } else {
        None
    }
}

/// What a format cannot hold: an error if a fit would differ, a note if only words get lost.
fn check(table: &Table, format: Format, path: &Path) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    let matrix_only = matches!(format, Format::Npy | Format::MatrixMarket);
    if table.weights.is_some() && (matrix_only || format == Format::Svmlight) {
        return Err(Error::request(
            format!("{}: the format {} has no place for weights", path.display(), format.name()),
            "write csv, npz, parquet or ksb",
        ));
    }
    if table.target.is_some() && matrix_only && path == Path::new("-") {
        return Err(Error::request(
            format!("the format {} has no place for the target on standard output", format.name()),
            "write to a file: the target goes beside it",
        ));
    }
    if table.names.is_some() && (matrix_only || format == Format::Svmlight) {
        notes.push(format!("the format {} has no place for names: they are left out", format.name()));
    }
    if let Some(Target::Text(labels)) = &table.target {
        let odd = |c: char| match format {
            Format::Svmlight => c.is_whitespace() || c == '#' || c == ':',
            Format::Delimited | Format::MatrixMarket => c == '\n' || c == '\r',
            _ => false,
        };
        if let Some(label) = labels.iter().find(|l| l.is_empty() || l.contains(odd)) {
            return Err(Error::request(
                format!("{}: the label `{label}` cannot be written as {}", path.display(), format.name()),
                "write ksb or npz, or rename the label",
            ));
        }
    } else if table.target.is_none() && format == Format::Svmlight {
        notes.push("there is no target: every line gets the label 0".into());
    }
    Ok(notes)
}

/// Runs `body` through a compressor.
fn compressed(
    kind: Option<Compression>,
    out: &mut dyn Write,
    body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let buffered = |encoder: &mut dyn Write, body: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>| {
        let mut writer = io::BufWriter::with_capacity(1 << 16, encoder);
        body(&mut writer).and_then(|()| writer.flush())
    };
    let mut body = Some(body);
    let mut body = move |w: &mut dyn Write| body.take().map_or(Ok(()), |b| b(w));
    match kind {
        None => body(out),
        Some(Compression::Gzip) => {
            let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            buffered(&mut encoder, &mut body)?;
            encoder.finish().map(drop)
        }
        Some(Compression::Bzip2) => {
            let mut encoder = bzip2::write::BzEncoder::new(out, bzip2::Compression::default());
            buffered(&mut encoder, &mut body)?;
            encoder.finish().map(drop)
        }
        Some(Compression::Xz) => {
            let mut encoder = liblzma::write::XzEncoder::new(out, 6);
            buffered(&mut encoder, &mut body)?;
            encoder.finish().map(drop)
        }
        Some(Compression::Zstd) => {
            let mut encoder = zstd::Encoder::new(out, 3)?;
            // As the command-line tool does, and as the other compressions do without being asked: damage is noticed.
            encoder.include_checksum(true)?;
            buffered(&mut encoder, &mut body)?;
            encoder.finish().map(drop)
        }
    }
}
