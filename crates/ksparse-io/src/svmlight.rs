//! svmlight and LIBSVM text: a row per line, `label index:value index:value ... # comment`.
//!
//! Indices count from 1 and ascend strictly; zeros may be written and are dropped. `qid:N` after the label is ignored.

use crate::assemble::{SparseRows, from_sparse_rows};
use crate::error::{Error, Place, Result};
use crate::options::{Format, Need, ReadOptions, WriteOptions};
use crate::source::Source;
use crate::table::{Matrix, MatrixRef, Table, Target};
use crate::target::Labels;
use crate::text::{Block, Held, finite, for_blocks, number, push_number, show};
use crate::words::{Setting, Words};
use std::io::{self, Write};

/// What one block holds.
#[derive(Default)]
pub(crate) struct Parsed {
    pub rows: SparseRows,
    labels: Labels,
    /// 1 + the largest column.
    ncols: usize,
    /// The first line that has a label, and the first that has none.
    with_label: Option<u64>,
    without_label: Option<u64>,
}

impl Parsed {
    /// Bytes that its labels take.
    pub fn label_bytes(&self) -> usize {
        self.labels.bytes()
    }
}

impl Held for Parsed {
    fn bytes(&self) -> usize {
        self.rows.bytes() + self.labels.bytes()
    }
}

/// Reads the whole source.
pub(crate) fn read(source: &mut Source, options: &ReadOptions) -> Result<Table> {
    let (reader, memory) = (Reader::new(source, options), source.memory.clone());
    let (mut survey, mut rows) = (Survey::default(), Vec::new());
    reader.blocks(source, |mut block| {
        memory.take(block.bytes(), || "the rows".into())?;
        survey.add(&mut block);
        rows.push(block.rows);
        Ok(())
    })?;
    let facts = survey.finish(&reader.name, options)?;
    let mut table = Table::new(from_sparse_rows(&memory, rows, facts.ncols, options.storage)?);
    (table.target, table.format, table.compression) = (facts.target, Format::Svmlight, source.compression);
    table.source = reader.name;
    Ok(table)
}

/// What adds up over the blocks.
#[derive(Default)]
pub(crate) struct Survey {
    nrows: usize,
    ncols: usize,
    labels: Vec<Labels>,
    with_label: Option<u64>,
    without_label: Option<u64>,
}

/// What a whole file says beside its entries.
pub(crate) struct Facts {
    pub nrows: usize,
    pub ncols: usize,
    pub target: Option<Target>,
}

impl Survey {
    /// Counts a block, which comes after all counted before, and takes its labels.
    pub fn add(&mut self, block: &mut Parsed) {
        self.nrows += block.rows.ends.len();
        self.ncols = self.ncols.max(block.ncols);
        self.labels.push(std::mem::take(&mut block.labels));
        self.with_label = self.with_label.or(block.with_label);
        self.without_label = self.without_label.or(block.without_label);
    }

    pub fn finish(self, name: &str, options: &ReadOptions) -> Result<Facts> {
        let (with, without) = (self.with_label, self.without_label);
        if let (Some(_), Some(line)) = (with, without) {
            return Err(Error::input(
                Place::line(name, line),
                "the line has no label, but others have",
                "start every line with a label, or none",
            ));
        }
        if options.need == Need::Required && options.target_file.is_none() && without.is_some() {
            return Err(Error::input(
                Place::line(name, without.unwrap_or(1)),
                "the lines have no label",
                Words::from("start every line with its label, or name a file of labels with ") + Setting::TargetFile,
            ));
        }
        if self.nrows == 0 {
            return Err(Error::input(name, "there are no rows", "the file holds only blank lines and comments"));
        }
        let wanted = with.is_some() && options.need != Need::Absent;
        Ok(Facts {
            nrows: self.nrows,
            ncols: options.features.unwrap_or(self.ncols),
            target: wanted.then(|| Labels::join(self.labels)),
        })
    }
}

/// Turns lines into rows.
pub(crate) struct Reader<'a> {
    pub name: String,
    options: &'a ReadOptions,
}

impl<'a> Reader<'a> {
    pub fn new(source: &Source, options: &'a ReadOptions) -> Self {
        Self { name: source.name.clone(), options }
    }

    /// The number of columns the file may have.
    pub fn most_columns(&self) -> usize {
        self.options.column_limit()
    }

    /// Hands block after block to `each`.
    pub fn blocks(&self, source: &mut Source, each: impl FnMut(Parsed) -> Result<()>) -> Result<()> {
        for_blocks(source, |block| self.block(block), each)
    }

    fn block(&self, block: &Block) -> Result<Parsed> {
        let guess = block.bytes.len() / 10;
        let mut parsed = Parsed::default();
        parsed.rows.columns.reserve(guess);
        parsed.rows.values.reserve(guess);
        for (number, line) in block.lines() {
            let labels = parsed.labels.len();
            if self.line(number, line, &mut parsed)? {
                parsed.rows.ends.push(parsed.rows.columns.len());
                let labelled = parsed.labels.len() > labels;
                let first = if labelled { &mut parsed.with_label } else { &mut parsed.without_label };
                first.get_or_insert(number);
            }
        }
        Ok(parsed)
    }

    /// Whether the line holds a row.
    fn line(&self, line: u64, text: &[u8], out: &mut Parsed) -> Result<bool> {
        let at = |byte: usize| Place::line(&self.name, line).at_byte(byte as u64 + 1);
        let mut cursor = skip_blanks(text, 0);
        if cursor == text.len() || text[cursor] == b'#' {
            return Ok(false);
        }
        let end = word_end(text, cursor);
        let label = &text[cursor..end];
        if memchr::memchr(b':', label).is_none() {
            if number(label).is_none() {
                check_word(label, at(cursor))?;
            }
            out.labels.push(label, || at(cursor).part("label"))?;
            cursor = skip_blanks(text, end);
        }
        // Columns are compared with one more than the previous: 0 means none yet.
        let mut after = 0u64;
        let limit = self.options.column_limit() as u64;
        while cursor < text.len() && text[cursor] != b'#' {
            let start = cursor;
            let mut index = 0u64;
            while let Some(digit) = text.get(cursor).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
                index = index.saturating_mul(10).saturating_add(u64::from(digit));
                cursor += 1;
            }
            if cursor == start || text.get(cursor) != Some(&b':') {
                let end = word_end(text, start);
                if text[start..end].starts_with(b"qid:") {
                    cursor = skip_blanks(text, end);
                    continue;
                }
                return Err(bad_pair(&text[start..end], at(start)));
            }
            let column = if self.options.zero_based { index } else { index.wrapping_sub(1) };
            if column >= limit || column < after {
                return Err(self.bad_index(index, column, after, at(start)));
            }
            let value = cursor + 1;
            cursor = word_end(text, value);
            // The common case first; the slow path finds the words for the rest.
            let v = match number(&text[value..cursor]) {
                Some(v) if v.is_finite() => v,
                _ => finite(&text[value..cursor], || at(value).part(format!("index {index}")))?,
            };
            after = column + 1;
            if v != 0.0 {
                out.rows.columns.push(column as u32);
                out.rows.values.push(v);
            }
            cursor = skip_blanks(text, cursor);
        }
        out.ncols = out.ncols.max(after as usize);
        Ok(true)
    }

    fn bad_index(&self, index: u64, column: u64, after: u64, place: Place) -> Error {
        let limit = self.options.column_limit();
        if index == 0 && !self.options.zero_based {
            let remedy = Words::from("if this file counts from 0, say ") + Setting::ZeroBased;
            Error::input(place, "index 0, but indices count from 1", remedy)
        } else if column >= limit as u64 {
            let (problem, remedy) = match self.options.features {
                Some(p) => (
                    format!("index {index} is beyond the {p} features given"),
                    Words::from("raise ") + Setting::Features + " or correct the line",
                ),
                None => (
                    format!("index {index} is implausibly large"),
                    Words::from("if it is meant, give the number of columns with ") + Setting::Features,
                ),
            };
            Error::input(place, problem, remedy)
        } else if column + 1 == after {
            Error::input(place, format!("index {index} stands twice in the line"), "give every index once")
        } else {
            Error::input(place, format!("index {index} comes after a larger one"), "sort the indices of each line")
        }
    }
}

#[inline]
fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

#[inline]
fn word_end(text: &[u8], mut at: usize) -> usize {
    while !matches!(text.get(at), None | Some(b' ' | b'\t' | b'#')) {
        at += 1;
    }
    at
}

/// A label that is a word must be no list of several labels.
fn check_word(label: &[u8], place: Place) -> Result<()> {
    if label.contains(&b',') && label.split(|&b| b == b',').all(|part| number(part).is_some()) {
        return Err(Error::input(
            place,
            format!("several labels, `{}`", show(label)),
            Words::from("choose one label per row; if this is comma-separated text, say ") + Setting::Format + " csv",
        ));
    }
    Ok(())
}

fn bad_pair(word: &[u8], place: Place) -> Error {
    let problem = match word.iter().position(|&b| b == b':') {
        Some(colon) if word[0] == b'-' && word[1..colon].iter().all(u8::is_ascii_digit) => {
            format!("index {} is negative", show(&word[..colon]))
        }
        Some(colon) => format!("`{}` is not an index", show(&word[..colon])),
        None => format!("`{}` where an index:value pair was expected", show(word)),
    };
    Error::input(place, problem, "a line is `label index:value index:value ...`, perhaps cut short here")
}

/// Writes the rows. If the last columns are empty, the first row gets a zero in the last one, so that p is not lost.
pub(crate) fn write(table: &Table, out: &mut dyn Write, options: &WriteOptions) -> io::Result<()> {
    let (design, n) = (table.matrix.design(), table.nrows());
    let first = usize::from(!options.zero_based);
    let mut widest = match &table.matrix {
        _ if n == 0 || design.ncols() == 0 => true,
        matrix => last_column_is_used(matrix),
    };
    let (mut line, mut row) = (Vec::new(), Vec::new());
    for i in 0..n {
        line.clear();
        match &table.target {
            Some(Target::Numbers(values)) => push_number(&mut line, values[i]),
            Some(Target::Text(values)) => line.extend_from_slice(values[i].as_bytes()),
            None => line.push(b'0'),
        }
        design.row(i, &mut row);
        if !widest && row.last().is_none_or(|e| e.0 + 1 < design.ncols()) {
            row.push((design.ncols() - 1, 0.0));
            widest = true;
        }
        for &(j, v) in &row {
            line.push(b' ');
            line.extend_from_slice(itoa::Buffer::new().format(j + first).as_bytes());
            line.push(b':');
            push_number(&mut line, v);
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

fn last_column_is_used(matrix: &Matrix) -> bool {
    let j = matrix.design().ncols() - 1;
    match matrix.view() {
        MatrixRef::Dense(dense) => dense.column(j).iter().any(|v| *v != 0.0),
        MatrixRef::Sparse(sparse) => !sparse.column(j).0.is_empty(),
    }
}
