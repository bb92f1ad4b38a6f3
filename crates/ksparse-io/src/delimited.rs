//! Text with a row per line: commas, semicolons, tabs, bars or blanks between the fields.
//!
//! Fields may be quoted (`"a ""quoted"" one"`), but not span lines: that lets blocks of lines be parsed side by side.
//! Blank lines and lines that start with `#` are skipped.

mod write;

pub(crate) use write::write;

use crate::assemble::from_full_rows;
use crate::categories::{self, Coded, Dictionary};
use crate::error::{Error, Place, Result};
use crate::memory::Memory;
use crate::options::{Beside, Format, Header, ReadOptions};
use crate::roles::{self, Columns, Role};
use crate::source::Source;
use crate::table::Table;
use crate::target::Labels;
use crate::text::{Block, Held, bare, finite, is_missing, number, parse_blocks, with_point};
use crate::words::{Setting, Words};
use std::borrow::Cow;

/// What was found out before the rows are read.
struct Plan {
    separator: u8,
    decimal_comma: bool,
    /// The line of the header.
    header: Option<u64>,
    names: Option<Vec<String>>,
    roles: Vec<Role>,
}

/// What one block holds.
#[derive(Default)]
struct Parsed {
    values: Vec<f64>,
    labels: Labels,
    weights: Vec<f64>,
    offset: Vec<f64>,
    beside: [Vec<f64>; 3],
    /// Words of the categories, whose codes are among the values.
    words: Vec<Dictionary>,
    rows: usize,
}

impl Held for Parsed {
    fn bytes(&self) -> usize {
        self.values.bytes()
            + self.labels.bytes()
            + self.weights.bytes()
            + self.offset.bytes()
            + self.beside.iter().map(Held::bytes).sum::<usize>()
            + self.words.iter().map(Dictionary::bytes).sum::<usize>()
    }
}

/// What to do about a header that is none.
fn no_header() -> Words {
    Words::from("if the first line is data, say ") + Setting::NoHeader
}

/// Reads the whole source.
pub(crate) fn read(source: &mut Source, options: &ReadOptions) -> Result<Table> {
    let (name, memory) = (source.name.clone(), source.memory.clone());
    let mut notes = Vec::new();
    let head = source.head_until(|bytes| usable_lines(bytes).count() > 2)?;
    let plan = plan(&memory, head, options, &mut notes)?;
    let blocks = parse_blocks(source, |block| plan.block(&name, block))?;
    if blocks.iter().all(|b| b.rows == 0) {
        let problem = if plan.header.is_some() { "there is a header but no row" } else { "there are no rows" };
        return Err(Error::input(&*name, problem, no_header()));
    }
    let (mut values, mut labels, mut weights, mut offset) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut beside = [const { Vec::new() }; 3];
    let features: Vec<usize> = (0..plan.roles.len()).filter(|&j| plan.roles[j].is_feature()).collect();
    let mut coded: Vec<Coded> = plan.categories(&features).collect();
    for mut block in blocks {
        for (coded, words) in coded.iter_mut().zip(std::mem::take(&mut block.words)) {
            let code = coded.words.merge(words);
            for row in block.values.chunks_exact_mut(features.len()) {
                row[coded.place] = code[row[coded.place] as usize] as f64;
            }
        }
        values.push(block.values);
        labels.push(block.labels);
        weights.extend(block.weights);
        offset.extend(block.offset);
        beside.iter_mut().zip(block.beside).for_each(|(all, part)| all.extend(part));
    }
    let mut table = Table::new(from_full_rows(&memory, values, features.len(), options.storage)?);
    table.target = plan.columns(Role::Target).next().map(|_| Labels::join(labels));
    table.weights = plan.columns(Role::Weights).next().map(|_| weights);
    table.offset = plan.columns(Role::Offset).next().map(|_| offset);
    for ((which, values), out) in Beside::ALL.into_iter().zip(beside).zip(&mut table.beside) {
        *out = plan.columns(Role::Beside(which)).next().map(|_| values);
    }
    if let Some(names) = &plan.names {
        table.names = Some(features.iter().map(|&j| names[j].clone()).collect());
        table.target_name = plan.columns(Role::Target).next().map(|j| names[j].clone());
    }
    (table.format, table.compression, table.source, table.notes) = (Format::Delimited, source.compression, name, notes);
    categories::expand(&mut table, coded, &memory, &options.words, options.storage)?;
    Ok(table)
}

impl Plan {
    fn columns(&self, role: Role) -> impl Iterator<Item = usize> + '_ {
        self.roles.iter().enumerate().filter(move |(_, r)| **r == role).map(|(j, _)| j)
    }

    /// Features of words, none of them known yet.
    fn categories<'a>(&'a self, features: &'a [usize]) -> impl Iterator<Item = Coded> + 'a {
        features.iter().enumerate().filter_map(|(place, &j)| match self.roles[j] {
            Role::Category { forced } => Some(Coded { place, words: Dictionary::default(), forced }),
            _ => None,
        })
    }

    fn block(&self, name: &str, block: &Block) -> Result<Parsed> {
        let mut parsed = Parsed::default();
        parsed
            .words
            .resize_with(self.roles.iter().filter(|r| matches!(r, Role::Category { .. })).count(), Dictionary::default);
        for (line, text) in block.lines().filter(|(line, text)| Some(*line) != self.header && usable(text)) {
            self.row(name, line, text, &mut parsed)?;
            parsed.rows += 1;
        }
        Ok(parsed)
    }

    fn row(&self, name: &str, line: u64, text: &[u8], out: &mut Parsed) -> Result<()> {
        let (mut count, mut category) = (0, 0);
        for field in fields(text, self.separator) {
            let field = field.map_err(|problem| Error::input(Place::line(name, line), problem, "close the quotes"))?;
            let field = if self.decimal_comma { pointed(field) } else { field };
            let place = || {
                let column = self.names.as_ref().and_then(|names| names.get(count).cloned());
                let column = column.map_or_else(|| format!("column {}", count + 1), |n| format!("column `{n}`"));
                Place::line(name, line).part(column)
            };
            match self.roles.get(count) {
                Some(Role::Feature) => match number(&field) {
                    Some(v) if v.is_finite() => out.values.push(v),
                    _ => out.values.push(finite(&field, place)?),
                },
                Some(Role::Category { .. }) => {
                    out.values.push(out.words[category].code(&field, place)? as f64);
                    category += 1;
                }
                Some(Role::Target) => out.labels.push(&field, place)?,
                Some(Role::Weights) => out.weights.push(weight(finite(&field, place)?, place)?),
                Some(Role::Offset) => out.offset.push(finite(&field, place)?),
                Some(Role::Beside(which)) => out.beside[*which as usize].push(finite(&field, place)?),
                Some(Role::Skip) | None => {}
            }
            count += 1;
        }
        if count == self.roles.len() {
            return Ok(());
        }
        Err(Error::input(
            Place::line(name, line),
            format!("{count} fields where {} were expected", self.roles.len()),
            "the line may be cut short, or the separator is not the one detected",
        ))
    }
}

fn weight(v: f64, place: impl FnOnce() -> Place) -> Result<f64> {
    if v >= 0.0 {
        Ok(v)
    } else {
        Err(Error::input(place(), format!("the weight {v} is negative"), "weights must be 0 or more"))
    }
}

/// Looks at the first lines: separator, header, roles.
fn plan(memory: &Memory, head: &[u8], options: &ReadOptions, notes: &mut Vec<String>) -> Result<Plan> {
    let name = &*memory.name;
    let lines: Vec<(u64, &[u8])> = usable_lines(head).take(3).collect();
    let Some(&(first_number, first)) = lines.first() else {
        return Err(Error::input(name, "there are no rows", "the file holds only blank lines and comments"));
    };
    let sample: Vec<&[u8]> = lines.iter().map(|l| l.1).collect();
    let decimal_comma = options.decimal_comma;
    let detected = || detect_separator(&sample[..sample.len().min(2)], decimal_comma);
    let separator = options.separator.unwrap_or_else(detected);
    if decimal_comma && separator == b',' {
        let problem = "a comma cannot stand between columns and for decimal points";
        return Err(Error::input(name, problem, "put semicolons or tabs between the columns"));
    }
    // A field is a name at least, which takes more than its text.
    let fields_of = |text: &[u8]| 1 + text.iter().filter(|&&b| b == separator || b == b'\t').count();
    memory.take(80 * sample.iter().map(|text| fields_of(text)).sum::<usize>(), || "the names of the columns".into())?;
    let split = |line: u64, text| {
        let bad = |problem| Error::input(Place::line(name, line), problem, "close the quotes");
        let read = |field| if decimal_comma { pointed(field) } else { field };
        fields(text, separator).map(|f| f.map(read).map_err(bad)).collect::<Result<Vec<_>>>()
    };
    let top = split(first_number, first)?;
    let second = lines.get(1).map(|&(line, text)| split(line, text)).transpose()?;
    let header = match options.header {
        Header::Yes => true,
        Header::No => false,
        Header::Auto => looks_like_header(first, &top, second.as_deref(), separator),
    };
    let data = if header { second.as_deref() } else { Some(&top[..]) };
    let Some(data) = data else {
        return Err(Error::input(name, "there is a header but no row", no_header()));
    };
    let mut names = match header {
        false => None,
        true => {
            let name_of = |f: &Cow<'_, [u8]>| String::from_utf8_lossy(f).trim().to_string();
            Some(top.iter().map(name_of).collect::<Vec<String>>())
        }
    };
    // R leaves the name of the column of row names out.
    let row_names = names.as_ref().is_some_and(|names| names.len() + 1 == data.len());
    if let Some(names) = names.as_mut().filter(|_| row_names) {
        names.insert(0, String::new());
    }
    if let Some(names) = &names
        && names.len() != data.len()
    {
        return Err(Error::input(
            Place::line(name, lines[1].0),
            format!("{} fields where the header has {}", data.len(), names.len()),
            "the line may be cut short, or the separator is not the one detected",
        ));
    }
    let words: Vec<bool> =
        data.iter().map(|f| number(f).is_none() && !is_missing(f) && with_point(f).is_none()).collect();
    let columns = Columns { file: name, names: names.as_deref(), words: &words, row_names };
    let roles = roles::assign(&columns, options, notes)?;
    Ok(Plan { separator, decimal_comma, header: header.then_some(first_number), names, roles })
}

/// Names stand where numbers follow. Quoted numbers count as names.
fn looks_like_header(line: &[u8], top: &[Cow<'_, [u8]>], second: Option<&[Cow<'_, [u8]>]>, separator: u8) -> bool {
    let name = |f: &[u8]| number(f).is_none() && !is_missing(f);
    let Some(second) = second else { return top.iter().any(|f| name(f)) };
    let all_quoted = || raw_fields(line, separator).all(|f| f.starts_with(b"\""));
    top.iter().zip(second).any(|(a, b)| name(a) && number(b).is_some())
        || top.iter().all(|f| name(f) || f.is_empty())
        || (all_quoted()
            && !second.iter().all(|f| name(f))
            && top.iter().any(|f| !f.is_empty())
            && line.contains(&b'"'))
}

fn usable(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    !line.is_empty() && line[0] != b'#'
}

/// The whole lines that hold something (the last one counts if nothing follows it; the caller sees to that).
fn usable_lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let lines = bytes.split(|&b| b == b'\n').enumerate();
    lines.map(|(i, l)| (i as u64 + 1, bare(l))).filter(|(_, l)| usable(l))
}

/// Of tab, semicolon, comma, bar and blank, the one that cuts the most numbers out of the last of these lines, which is
/// data, and stands in all of them outside quotes. In doubt the first; a comma if there is none, and it may.
fn detect_separator(lines: &[&[u8]], decimal_comma: bool) -> u8 {
    // A decimal comma tells that the semicolon separates, read or not.
    let is_number = |f: &[u8]| number(f).is_some() || with_point(f).is_some();
    let score = |separator: u8| {
        let everywhere = lines.iter().all(|line| raw_fields(line, separator).nth(1).is_some());
        let data = lines.last().copied().unwrap_or_default();
        everywhere.then(|| fields(data, separator).flatten().filter(|f| is_number(f)).count())
    };
    let mut best: Option<(usize, u8)> = None;
    for separator in [b'\t', b';', b',', b'|', b' '] {
        if decimal_comma && separator == b',' {
            continue;
        }
        if let Some(numbers) = score(separator)
            && best.is_none_or(|(most, _)| numbers > most)
        {
            best = Some((numbers, separator));
        }
    }
    best.map_or(if decimal_comma { b';' } else { b',' }, |(_, separator)| separator)
}

/// A field whose comma stands for a decimal point with the point.
fn pointed(field: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    with_point(&field).map_or(field, Cow::Owned)
}

/// The fields as they stand, quotes included.
fn raw_fields(line: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let line = if separator == b' ' { line.trim_ascii() } else { line };
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let is_separator = |b: u8| if separator == b' ' { b == b' ' || b == b'\t' } else { b == separator };
        // A separator between quotes is none. Doubled quotes close and open again, which comes to the same.
        let quoted =
            text.first() == Some(&b'"') || (separator != b' ' && text.trim_ascii_start().first() == Some(&b'"'));
        let end = if quoted {
            let mut open = false;
            text.iter().position(|&b| {
                open ^= b == b'"';
                !open && is_separator(b)
            })
        } else {
            text.iter().position(|&b| is_separator(b))
        };
        let Some(end) = end else {
            rest = None;
            return Some(text);
        };
        let after = &text[end + 1..];
        rest = Some(if separator == b' ' { after.trim_ascii_start() } else { after });
        Some(&text[..end])
    })
}

/// The fields, blanks around them and quotes removed.
fn fields(line: &[u8], separator: u8) -> impl Iterator<Item = std::result::Result<Cow<'_, [u8]>, &'static str>> {
    raw_fields(line, separator).map(|raw| {
        let field = raw.trim_ascii();
        let Some(inner) = field.strip_prefix(b"\"") else { return Ok(Cow::Borrowed(field)) };
        let Some(inner) = inner.strip_suffix(b"\"") else {
            return Err("a quoted field does not end on its line");
        };
        if !inner.contains(&b'"') {
            return Ok(Cow::Borrowed(inner));
        }
        let mut plain = Vec::with_capacity(inner.len());
        let mut bytes = inner.iter();
        while let Some(&b) = bytes.next() {
            if b == b'"' && bytes.next() != Some(&b'"') {
                return Err("a quote inside a quoted field is not doubled");
            }
            plain.push(b);
        }
        Ok(Cow::Owned(plain))
    })
}
