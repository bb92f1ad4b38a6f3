//! One large file as many small ones, mapped when they are used: each is read, turned round and written on its own, so
//! that no more than one is in memory.

use crate::categories::WordColumns;
use crate::error::{Error, Result, display_name};
use crate::options::{Format, Header, Need, ReadOptions, WriteOptions};
use crate::read::{read, read_bytes};
use crate::source::Source;
use crate::svmlight::{Reader, Survey};
use crate::table::{Table, Target};
use crate::words::{Setting, Words};
use crate::write::write;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Bytes that reading a piece of text takes, in bytes of text: the text, the numbers by rows and by columns.
const HELD: u64 = 4;

/// Cuts a data file into `count` files `part-00000.ksb`, `part-00001.ksb`, ... in a folder, which is made; `relabel`
/// may change the target of each on the way. Text is read a piece at a time, three times in all, and so is Parquet
/// (once); other formats are cut from the matrix in memory, or mapped. Returns the files, in the order of the rows.
pub fn convert_shards(
    from: &Path,
    folder: &Path,
    count: usize,
    reading: &ReadOptions,
    relabel: impl Fn(Target) -> Result<Target>,
) -> Result<Vec<PathBuf>> {
    let format = match reading.format {
        Some(format) => format,
        None => Source::open(from, None)?.format(from)?,
    };
    let mut parts = Parts { folder, relabel, files: Vec::new() };
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "make the folder", e))?;
    match format {
        Format::Svmlight | Format::Delimited if from != Path::new("-") => {
            cut_text(from, count, format, reading, &mut parts)?;
        }
        #[cfg(feature = "parquet")]
        Format::Parquet if is_plain(from)? => {
            // Words would be others in every file.
            let options = ReadOptions { words: WordColumns::Refused, ..reading.clone() };
            crate::parquet::pieces(from, count, &options, |table| parts.write(table))?;
        }
        _ => {
            let table = read(from, reading)?;
            let n = table.nrows();
            enough(&table.source, n, count)?;
            for s in 0..count {
                let rows: Vec<usize> = (n * s / count..n * (s + 1) / count).collect();
                parts.write(table.rows(&rows)?)?;
            }
        }
    }
    Ok(parts.files)
}

/// Whether a file can be read from anywhere: it is no pipe, and not compressed as a whole.
#[cfg(feature = "parquet")]
fn is_plain(from: &Path) -> Result<bool> {
    let source = Source::open(from, None)?;
    Ok(source.file.is_some() && source.compression.is_none())
}

/// The files written so far.
struct Parts<'a, F> {
    folder: &'a Path,
    relabel: F,
    files: Vec<PathBuf>,
}

impl<F: Fn(Target) -> Result<Target>> Parts<'_, F> {
    fn write(&mut self, mut table: Table) -> Result<()> {
        table.target = table.target.map(&self.relabel).transpose().map_err(|error| error.within(&table.source))?;
        let file = self.folder.join(format!("part-{:05}.ksb", self.files.len()));
        write(&table, &file, &WriteOptions { format: Some(Format::Ksb), ..WriteOptions::default() })?;
        self.files.push(file);
        Ok(())
    }
}

pub(crate) fn enough(name: &str, rows: usize, count: usize) -> Result<()> {
    if rows >= count {
        return Ok(());
    }
    Err(Error::input(name, format!("{rows} rows cannot be cut into {count} files"), "ask for fewer"))
}

fn cut_text<F: Fn(Target) -> Result<Target>>(
    from: &Path,
    count: usize,
    format: Format,
    reading: &ReadOptions,
    parts: &mut Parts<'_, F>,
) -> Result<()> {
    let mut options = ReadOptions { format: Some(format), words: WordColumns::Refused, ..reading.clone() };
    let name = display_name(from);
    let mut header = Vec::new();
    if format == Format::Svmlight {
        // All files have the columns of the whole.
        let mut source = Source::open(from, None)?;
        let (reader, mut survey) = (Reader::new(&source, reading), Survey::default());
        reader.blocks(&mut source, |mut block| {
            survey.add(&mut block);
            Ok(())
        })?;
        options.features = Some(survey.finish(&reader.name, reading)?.ncols);
    } else {
        header = header_of(from, &options)?;
        options.header = if header.is_empty() { Header::No } else { Header::Yes };
    }
    let lines = lines_of(from, |_| Ok(()))? - usize::from(!header.is_empty());
    enough(&name, lines, count)?;
    let most = options.memory.unwrap_or_else(crate::memory::free) / HELD;
    let (mut text, mut done, mut skip) = (header.clone(), 0usize, usize::from(!header.is_empty()));
    let mut piece = |text: &mut Vec<u8>, first: usize, last: usize| {
        let what = format!("{name}, lines {first} to {last}");
        let table = read_bytes(&what, std::mem::replace(text, header.clone()), &options)?;
        parts.write(table)
    };
    let mut first = 1;
    lines_of(from, |line| {
        if skip > 0 {
            skip -= 1;
            return Ok(());
        }
        text.extend_from_slice(line);
        if text.len() as u64 > most {
            let problem =
                format!("a file of {} lines does not fit into {} MB", lines.div_ceil(count), (most * HELD) >> 20);
            return Err(Error::input(&*name, problem, Words::from("ask for more files, or raise ") + Setting::Memory));
        }
        done += 1;
        // As many lines in each as there can be.
        if done * count / lines > (done - 1) * count / lines {
            piece(&mut text, first, done)?;
            first = done + 1;
        }
        Ok(())
    })
    .map(drop)
}

/// The first line, if it names the columns.
fn header_of(from: &Path, options: &ReadOptions) -> Result<Vec<u8>> {
    let source = Source::open(from, None)?;
    let head = source.head();
    let whole = head.iter().rposition(|b| *b == b'\n').map_or(head, |end| &head[..=end]);
    let line = whole.iter().position(|b| *b == b'\n').map_or(whole, |end| &whole[..=end]).to_vec();
    let seen = read_bytes(&source.name, whole.to_vec(), &ReadOptions { need: Need::Optional, ..options.clone() })?;
    let named = seen.names.is_some() || seen.target_name.is_some();
    Ok(if named && options.header != Header::No { line } else { Vec::new() })
}

/// Does something with every line that is not blank, its end included; how many there are.
fn lines_of(from: &Path, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<usize> {
    let source = Source::open(from, None)?;
    let mut reader = BufReader::with_capacity(1 << 20, source.reader);
    let (mut line, mut count) = (Vec::new(), 0);
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(|e| Error::io(from, "read", e))? == 0 {
            return Ok(count);
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        each(&line)?;
        count += 1;
    }
}
