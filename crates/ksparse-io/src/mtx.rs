//! Matrix Market: a banner, comments, the sizes, then entries (`coordinate`) or all values by columns (`array`).
//!
//! real, integer and pattern; general, symmetric and skew-symmetric (the lower triangle is stored).

use crate::assemble::{check_columns, check_rows, from_full_columns, from_triplets, full_size};
use crate::error::{Error, Place, Result};
use crate::options::{Format, ReadOptions};
use crate::source::Source;
use crate::table::{Matrix, MatrixRef, Table};
use crate::text::{Block, finite, parse_blocks, push_number, show};
use std::io::{self, Write};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// The first lines.
#[derive(Debug)]
struct Header {
    coordinate: bool,
    pattern: bool,
    symmetry: Symmetry,
    nrows: usize,
    ncols: usize,
    /// Entries or values that follow.
    count: usize,
    /// The line of the sizes.
    line: u64,
}

/// Reads a matrix.
pub(crate) fn read(source: &mut Source, options: &ReadOptions) -> Result<Table> {
    let (name, memory) = (source.name.clone(), source.memory.clone());
    let header = Header::find(source)?;
    let (nrows, ncols) = (header.nrows, header.ncols);
    if nrows == 0 || ncols == 0 {
        return Err(Error::input(
            &*name,
            format!("the matrix is empty ({nrows} x {ncols})"),
            "give at least a row and a column",
        ));
    }
    check_rows(&name, nrows)?;
    check_columns(Place::line(&name, header.line), ncols, options)?;
    memory.check_shape(nrows, ncols)?;
    let matrix = if header.coordinate { header.entries(source, options)? } else { header.array(source, options)? };
    let mut table = Table::new(matrix);
    (table.format, table.compression, table.source) = (Format::MatrixMarket, source.compression, name);
    Ok(table)
}

/// Reads a target: a matrix with one column or one row.
pub(crate) fn read_vector(source: &mut Source) -> Result<Vec<f64>> {
    let name = source.name.clone();
    let table = read(source, &ReadOptions::default())?;
    let (n, p) = (table.nrows(), table.ncols());
    if n != 1 && p != 1 {
        return Err(Error::input(&*name, format!("a {n} x {p} matrix is no target"), "give one column"));
    }
    let mut values = source.memory.zeros(n.max(p), || format!("{} values", n.max(p)))?;
    let mut row = Vec::new();
    for i in 0..n {
        table.design().row(i, &mut row);
        row.iter().for_each(|&(j, v)| values[i.max(j)] = v);
    }
    Ok(values)
}

impl Header {
    /// Looks through the first lines.
    fn find(source: &mut Source) -> Result<Self> {
        let name = source.name.clone();
        let sizes_known = |bytes: &[u8]| {
            let lines = bytes.split(|&b| b == b'\n').skip(1);
            lines.filter(|l| !l.starts_with(b"%") && !l.trim_ascii().is_empty()).count() > 1
        };
        let head = source.head_until(sizes_known)?;
        let mut lines = (1u64..).zip(head.split(|&b| b == b'\n'));
        let banner = lines.next().map_or(&[][..], |l| l.1);
        let sizes = lines.find(|(_, l)| !l.starts_with(b"%") && !l.trim_ascii().is_empty());
        let Some((line, sizes)) = sizes else {
            return Err(Error::input(&*name, "there is no line of sizes", "the file was cut short"));
        };
        Self::parse(&name, &String::from_utf8_lossy(banner), line, sizes)
    }

    fn parse(name: &str, banner: &str, line: u64, sizes: &[u8]) -> Result<Self> {
        let lower = banner.to_ascii_lowercase();
        let words: Vec<&str> = lower.split_ascii_whitespace().collect();
        let unusable = |what: String, remedy: &str| Err(Error::input(Place::line(name, 1), what, remedy));
        let [_, "matrix", layout, field, symmetry, ..] = words[..] else {
            return unusable(
                "the banner is incomplete".into(),
                "it reads `%%MatrixMarket matrix coordinate real general`",
            );
        };
        let coordinate = match layout {
            "coordinate" => true,
            "array" => false,
            _ => return unusable(format!("unknown layout `{layout}`"), "use coordinate or array"),
        };
        let pattern = match field {
            "real" | "integer" | "double" => false,
            "pattern" if coordinate => true,
            _ => {
                return unusable(
                    format!("`{field}` values cannot be used"),
                    "use real, integer or (in coordinates) pattern",
                );
            }
        };
        let symmetry = match symmetry {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" => Symmetry::Skew,
            _ => {
                return unusable(
                    format!("`{symmetry}` matrices cannot be used"),
                    "use general, symmetric or skew-symmetric",
                );
            }
        };
        let place = || Place::line(name, line);
        let words = sizes.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        let numbers: Option<Vec<usize>> = words.map(|w| std::str::from_utf8(w).ok()?.parse().ok()).collect();
        let (nrows, ncols, entries) = match (numbers.as_deref(), coordinate) {
            (Some(&[nrows, ncols, entries]), true) => (nrows, ncols, Some(entries)),
            (Some(&[nrows, ncols]), false) => (nrows, ncols, None),
            _ => {
                let remedy = if coordinate {
                    "the line of sizes is `rows columns entries`"
                } else {
                    "the line of sizes is `rows columns`"
                };
                return Err(Error::input(place(), format!("`{}` are no sizes", show(sizes)), remedy));
            }
        };
        if symmetry != Symmetry::General && nrows != ncols {
            return Err(Error::input(
                place(),
                format!("a symmetric matrix cannot be {nrows} x {ncols}"),
                "check the sizes",
            ));
        }
        let count = match entries {
            Some(entries) => entries,
            None => {
                let full = full_size(name, nrows, ncols)?;
                match symmetry {
                    Symmetry::General => full,
                    Symmetry::Symmetric => full / 2 + nrows.div_ceil(2),
                    Symmetry::Skew => (full - nrows) / 2,
                }
            }
        };
        Ok(Self { coordinate, pattern, symmetry, nrows, ncols, count, line })
    }

    fn data<'a>(&'a self, block: &'a Block) -> impl Iterator<Item = (u64, &'a [u8])> {
        block
            .lines()
            .filter(|(line, text)| *line > self.line && !text.starts_with(b"%") && !text.trim_ascii().is_empty())
    }

    fn check_count(&self, name: &str, found: usize) -> Result<()> {
        if found == self.count {
            return Ok(());
        }
        let what = if self.coordinate { "entries" } else { "values" };
        let problem = format!("{found} {what} where {} were announced", self.count);
        Err(Error::input(Place::line(name, self.line), problem, "the file was cut short, or its sizes are wrong"))
    }

    /// `row column value` lines, counted from 1.
    fn entries(&self, source: &mut Source, options: &ReadOptions) -> Result<Matrix> {
        let name = source.name.clone();
        let blocks = parse_blocks(source, |block| {
            let mut triplets = Vec::new();
            for (line, text) in self.data(block) {
                triplets.push(self.entry(text, || Place::line(&name, line))?);
            }
            Ok(triplets)
        })?;
        let found = blocks.iter().map(Vec::len).sum();
        self.check_count(&name, found)?;
        let mirrored = if self.symmetry == Symmetry::General { 0 } else { found };
        source.memory.take(size_of::<(u32, u32, f64)>() * (found + 2 * mirrored), || format!("{found} entries"))?;
        let mut triplets: Vec<(u32, u32, f64)> = blocks.into_iter().flatten().collect();
        if self.symmetry != Symmetry::General {
            let sign = if self.symmetry == Symmetry::Skew { -1.0 } else { 1.0 };
            let mirrored: Vec<_> = triplets.iter().filter(|t| t.0 != t.1).map(|&(i, j, v)| (j, i, sign * v)).collect();
            triplets.extend(mirrored);
        }
        from_triplets(&source.memory, self.nrows, self.ncols, &triplets, options.storage)
    }

    fn entry(&self, text: &[u8], place: impl Fn() -> Place) -> Result<(u32, u32, f64)> {
        let mut words = text.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        let index = |word: Option<&[u8]>, bound: usize, what: &str| {
            let parsed = word.and_then(|w| std::str::from_utf8(w).ok()?.parse::<usize>().ok());
            match parsed {
                Some(i) if i >= 1 && i <= bound => Ok(i - 1),
                _ => Err(Error::input(
                    place(),
                    format!("the {what} `{}` is not between 1 and {bound}", show(word.unwrap_or_default())),
                    "an entry is `row column value`, counted from 1; the line may be cut short",
                )),
            }
        };
        let (i, j) = (index(words.next(), self.nrows, "row")?, index(words.next(), self.ncols, "column")?);
        let v = if self.pattern { 1.0 } else { finite(words.next().unwrap_or_default(), &place)? };
        let unexpected = |problem: String| Err(Error::input(place(), problem, "check the banner and the line"));
        if let Some(word) = words.next() {
            return unexpected(format!("`{}` after the end of the entry", show(word)));
        }
        match self.symmetry {
            Symmetry::Symmetric if i < j => unexpected("an entry above the diagonal of a symmetric matrix".into()),
            Symmetry::Skew if i <= j => unexpected("an entry not below the diagonal of a skew-symmetric matrix".into()),
            _ => Ok((i as u32, j as u32, v)),
        }
    }

    /// One value per line, by columns.
    fn array(&self, source: &mut Source, options: &ReadOptions) -> Result<Matrix> {
        let name = source.name.clone();
        let blocks = parse_blocks(source, |block| {
            let mut values = Vec::new();
            for (line, text) in self.data(block) {
                for word in text.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()) {
                    values.push(finite(word, || Place::line(&name, line))?);
                }
            }
            Ok(values)
        })?;
        let found = blocks.iter().map(Vec::len).sum();
        self.check_count(&name, found)?;
        let (n, p, memory) = (self.nrows, self.ncols, &source.memory);
        memory.take(8 * found, || format!("{found} values"))?;
        let values = blocks.concat();
        if self.symmetry == Symmetry::General {
            return from_full_columns(memory, n, p, values, options.storage);
        }
        let mut full = memory.zeros(n * p, || format!("{n} x {p} entries"))?;
        let (skew, mut given) = (self.symmetry == Symmetry::Skew, values.into_iter());
        for j in 0..p {
            for i in j + usize::from(skew)..n {
                let v = given.next().unwrap_or(0.0);
                full[j * n + i] = v;
                full[i * n + j] = if skew { -v } else { v };
            }
        }
        from_full_columns(memory, n, p, full, options.storage)
    }
}

/// Writes the matrix: coordinates if it is stored sparse, else an array.
pub(crate) fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let (n, p) = (table.nrows(), table.ncols());
    let mut line = Vec::new();
    match table.matrix.view() {
        MatrixRef::Dense(dense) => {
            writeln!(out, "%%MatrixMarket matrix array real general\n{n} {p}")?;
            for j in 0..p {
                line.clear();
                for &v in dense.column(j) {
                    push_number(&mut line, v);
                    line.push(b'\n');
                }
                out.write_all(&line)?;
            }
        }
        MatrixRef::Sparse(sparse) => {
            writeln!(out, "%%MatrixMarket matrix coordinate real general\n{n} {p} {}", sparse.nnz())?;
            for j in 0..p {
                line.clear();
                let (rows, values) = sparse.column(j);
                for (&i, &v) in rows.iter().zip(values) {
                    line.extend_from_slice(itoa::Buffer::new().format(i as usize + 1).as_bytes());
                    line.push(b' ');
                    line.extend_from_slice(itoa::Buffer::new().format(j + 1).as_bytes());
                    line.push(b' ');
                    push_number(&mut line, v);
                    line.push(b'\n');
                }
                out.write_all(&line)?;
            }
        }
    }
    Ok(())
}
