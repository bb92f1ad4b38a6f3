//! Apache Parquet: flat columns of numbers and of words. Nested columns are refused.
//!
//! The crate is used without Arrow: columns of numbers are all that is needed, and its build stays short.

use crate::assemble::{from_full_columns, full_size};
use crate::categories::{self, Coded, Dictionary};
use crate::error::{Error, Place, Result, display_name};
use crate::memory::Memory;
use crate::options::{Format, ReadOptions};
use crate::roles::{self, Columns, Role};
use crate::source::Source;
use crate::table::{MatrixRef, Table, Target};
use crate::target::Labels;
use crate::text;
use crate::words::{Setting, Words};
use bytes::Bytes;
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Arc, Once};

/// One column.
enum Column {
    Numbers(Vec<f64>),
    Words(Vec<String>),
}

thread_local! {
    /// Whether a panic of this thread is going to be caught and told as an error.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Reads a table.
pub(crate) fn read(source: &mut Source, options: &ReadOptions) -> Result<Table> {
    let name = source.name.clone();
    guarded(&name, || {
        let reader =
            SerializedFileReader::new(Bytes::from(source.read_all()?)).map_err(|error| damaged(&name, &error))?;
        let rows = 0..rows(&reader);
        let mut table = decode(&reader, &name, &source.memory, rows, options)?;
        table.compression = source.compression;
        Ok(table)
    })
}

/// Reads a plain file as `count` tables of consecutive rows, of which no more than one is in memory.
pub(crate) fn pieces(
    path: &Path,
    count: usize,
    options: &ReadOptions,
    mut with: impl FnMut(Table) -> Result<()>,
) -> Result<()> {
    let name = display_name(path);
    let file = File::open(path).map_err(|error| Error::io(path, "open", error))?;
    let reader = guarded(&name, || SerializedFileReader::new(file).map_err(|error| damaged(&name, &error)))?;
    let all = rows(&reader);
    crate::sharded::enough(&name, all, count)?;
    for s in 0..count {
        let rows = all * s / count..all * (s + 1) / count;
        let memory = Memory::new(&name, options.memory);
        with(guarded(&name, || decode(&reader, &name, &memory, rows, options))?)?;
    }
    Ok(())
}

fn damaged(name: &str, error: &ParquetError) -> Error {
    let problem = format!("the Parquet data are damaged ({error})");
    Error::input(name, problem, "the file was cut short or altered: write it again")
}

/// Rows of all row groups.
fn rows(reader: &dyn FileReader) -> usize {
    reader.metadata().row_groups().iter().map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).sum()
}

/// Does something with damaged data, perhaps.
fn guarded<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    // The decoders panic on some damaged pages. What they work on is dropped with the panic, so nothing half-done is
    // seen.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CAUGHT.get() {
                before(info);
            }
        }));
    });
    CAUGHT.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    CAUGHT.set(false);
    outcome.unwrap_or_else(|_| {
        Err(Error::input(name, "the Parquet data are damaged", "the file was cut short or altered: write it again"))
    })
}

/// Some rows of a file.
fn decode(
    reader: &dyn FileReader,
    name: &str,
    memory: &Memory,
    rows: Range<usize>,
    options: &ReadOptions,
) -> Result<Table> {
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> = schema.columns().iter().map(|c| c.name().to_string()).collect();
    if let Some(nested) = schema.columns().iter().find(|c| c.max_rep_level() > 0 || c.path().parts().len() > 1) {
        return Err(Error::input(
            Place::from(name).part(format!("column `{}`", nested.path().string())),
            "the column is nested",
            "write a table with one number per row and column",
        ));
    }
    let words: Vec<bool> = schema.columns().iter().map(|c| c.physical_type() == Physical::BYTE_ARRAY).collect();
    let mut notes = Vec::new();
    let columns = Columns { file: name, names: Some(&names), words: &words, row_names: false };
    let roles = roles::assign(&columns, options, &mut notes)?;
    let nrows = rows.len();
    if nrows == 0 {
        return Err(Error::input(name, "there are no rows", "the table is empty"));
    }
    let features: Vec<usize> = (0..names.len()).filter(|&j| roles[j].is_feature()).collect();
    let wide = full_size(name, nrows, features.len())?.saturating_mul(size_of::<f64>());
    memory.take(wide, || format!("{nrows} x {} entries", features.len()))?;
    let (mut values, mut target, mut weights, mut offset) = (Vec::new(), None, None, None);
    let mut beside = [None, None, None];
    let mut coded = Vec::new();
    for j in (0..names.len()).filter(|&j| roles[j] != Role::Skip) {
        let place = || Place::from(name).part(format!("column `{}`", names[j]));
        let column = column(reader, j, &rows, &place)?;
        match (roles[j], column) {
            (Role::Target, Column::Words(words)) => {
                let mut labels = Labels::default();
                words.iter().try_for_each(|w| labels.push(w.as_bytes(), place))?;
                target = Some(Labels::join(vec![labels]));
            }
            (Role::Category { forced }, column) => {
                let mut words = Dictionary::default();
                let fields = match column {
                    Column::Words(words) => words,
                    Column::Numbers(numbers) => numbers.into_iter().map(text::short).collect(),
                };
                let code = |word: &String| words.code(word.as_bytes(), place).map(|code| code as f64);
                let codes = fields.iter().map(code).collect::<Result<Vec<f64>>>()?;
                values.extend(codes);
                let at = features.binary_search(&j).unwrap_or(0);
                coded.push(Coded { place: at, words, forced });
            }
            (_, Column::Words(_)) => {
                let remedy = Words::from("leave the column out with ") + Setting::Drop;
                return Err(Error::input(place(), "the column holds words, not numbers", remedy));
            }
            (role, Column::Numbers(numbers)) => {
                if let Some(i) = numbers.iter().position(|v| !v.is_finite() || (role == Role::Weights && *v < 0.0)) {
                    let problem = format!("row {} is {}", rows.start + i + 1, numbers[i]);
                    let remedy =
                        if role == Role::Weights { "weights must be finite and 0 or more" } else { text::FINITE };
                    return Err(Error::input(place(), problem, remedy));
                }
                match role {
                    Role::Target => target = Some(Target::Numbers(numbers)),
                    Role::Weights => weights = Some(numbers),
                    Role::Offset => offset = Some(numbers),
                    Role::Beside(which) => beside[which as usize] = Some(numbers),
                    _ => values.extend(numbers),
                }
            }
        }
    }
    let mut table = Table::new(from_full_columns(memory, nrows, features.len(), values, options.storage)?);
    (table.target, table.weights, table.offset, table.notes) = (target, weights, offset, notes);
    table.beside = beside;
    table.target_name = roles.iter().position(|r| *r == Role::Target).map(|j| names[j].clone());
    table.names = Some(features.iter().map(|&j| names[j].clone()).collect());
    (table.format, table.source) = (Format::Parquet, name.to_string());
    categories::expand(&mut table, coded, memory, &options.words, options.storage)?;
    Ok(table)
}

/// Some rows of a column.
fn column(reader: &dyn FileReader, j: usize, wanted: &Range<usize>, place: &impl Fn() -> Place) -> Result<Column> {
    let broken = |e: ParquetError| Error::input(place(), format!("the data are damaged ({e})"), "write the file again");
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let unsigned = |kind: ConvertedType| {
        matches!(kind, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64)
    };
    let unsigned = unsigned(schema.column(j).converted_type());
    let (mut numbers, mut words) = (Vec::new(), Vec::new());
    let mut end = 0;
    for g in 0..reader.num_row_groups() {
        let first = end;
        end += usize::try_from(reader.metadata().row_group(g).num_rows()).unwrap_or(0);
        // Those of the group, counted from its first.
        let rows = wanted.start.max(first) - first..wanted.end.clamp(first, end) - first;
        if rows.is_empty() {
            continue;
        }
        let (group, rows) = (reader.get_row_group(g).map_err(broken)?, (first, &rows));
        match group.get_column_reader(j).map_err(broken)? {
            ColumnReader::BoolColumnReader(r) => {
                numbers.extend(all(r, rows, place)?.into_iter().map(|v| f64::from(u8::from(v))));
            }
            ColumnReader::Int32ColumnReader(r) => {
                let widen = |v: i32| if unsigned { f64::from(v as u32) } else { f64::from(v) };
                numbers.extend(all(r, rows, place)?.into_iter().map(widen));
            }
            ColumnReader::Int64ColumnReader(r) => {
                let widen = |v: i64| if unsigned { v as u64 as f64 } else { v as f64 };
                numbers.extend(all(r, rows, place)?.into_iter().map(widen));
            }
            ColumnReader::FloatColumnReader(r) => numbers.extend(all(r, rows, place)?.into_iter().map(f64::from)),
            ColumnReader::DoubleColumnReader(r) => numbers.extend(all(r, rows, place)?),
            ColumnReader::ByteArrayColumnReader(r) => {
                words.extend(all(r, rows, place)?.iter().map(|w| String::from_utf8_lossy(w.data()).into_owned()));
            }
            _ => {
                let remedy = Words::from("write it as a number (double) or leave it out with ") + Setting::Drop;
                return Err(Error::input(place(), "the type of the column is not read", remedy));
            }
        }
    }
    if numbers.len().max(words.len()) != wanted.len() {
        return Err(Error::input(place(), "the column is shorter than the table", "write the file again"));
    }
    Ok(if words.is_empty() { Column::Numbers(numbers) } else { Column::Words(words) })
}

/// Some values of a column in one row group, of which the number of the first row is known; a null is missing.
fn all<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    (first, wanted): (usize, &Range<usize>),
    place: &impl Fn() -> Place,
) -> Result<Vec<T::T>> {
    let broken = |e: ParquetError| Error::input(place(), format!("the data are damaged ({e})"), "write the file again");
    reader.skip_records(wanted.start).map_err(broken)?;
    let (mut values, mut levels, mut read, rows) = (Vec::new(), Vec::new(), 0, wanted.len());
    while read < rows {
        let step = (rows - read).min(1 << 16);
        let (records, _, _) = reader.read_records(step, Some(&mut levels), None, &mut values).map_err(broken)?;
        if records == 0 {
            break;
        }
        read += records;
    }
    if values.len() < read {
        let missing = first + wanted.start + levels.iter().position(|l| *l == 0).unwrap_or(0);
        return Err(Error::input(place(), format!("the value of row {} is missing", missing + 1), text::FINITE));
    }
    Ok(values)
}

/// Writes a table: the target first, then the weights, then the features, all as doubles (a target of words as
/// strings).
pub(crate) fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let wrong = |e: ParquetError| io::Error::other(e.to_string());
    let field = |name: &str, text: bool| -> io::Result<TypePtr> {
        let kind = if text { Physical::BYTE_ARRAY } else { Physical::DOUBLE };
        let converted = if text { ConvertedType::UTF8 } else { ConvertedType::NONE };
        let builder = Type::primitive_type_builder(name, kind).with_repetition(Repetition::REQUIRED);
        builder.with_converted_type(converted).build().map(Arc::new).map_err(wrong)
    };
    let mut fields = Vec::new();
    if let Some(target) = &table.target {
        fields.push(field(&table.target_column(), matches!(target, Target::Text(_)))?);
    }
    if table.weights.is_some() {
        fields.push(field(&table.weight_column(), false)?);
    }
    let (n, p) = (table.nrows(), table.ncols());
    for j in 0..p {
        let name = table.names.as_ref().map_or_else(|| format!("x{}", j + 1), |names| names[j].clone());
        fields.push(field(&name, false)?);
    }
    let schema = Type::group_type_builder("table").with_fields(fields).build().map(Arc::new).map_err(wrong)?;
    // The writer wants to own something it may send to another thread: the file is built in memory.
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::default())).map_err(wrong)?;
    let mut group = writer.next_row_group().map_err(wrong)?;
    let mut next = 0;
    let mut full = vec![0.0; n];
    while let Some(mut column) = group.next_column().map_err(wrong)? {
        let extra = usize::from(table.target.is_some()) + usize::from(table.weights.is_some());
        match (&table.target, &table.weights) {
            (Some(Target::Text(words)), _) if next == 0 => {
                let words: Vec<ByteArray> = words.iter().map(|w| ByteArray::from(w.as_str())).collect();
                column.typed::<ByteArrayType>().write_batch(&words, None, None).map_err(wrong)?;
            }
            (Some(Target::Numbers(values)), _) if next == 0 => {
                column.typed::<DoubleType>().write_batch(values, None, None).map_err(wrong)?;
            }
            (_, Some(weights)) if next + 1 == extra => {
                column.typed::<DoubleType>().write_batch(weights, None, None).map_err(wrong)?;
            }
            _ => {
                let values = match table.matrix.view() {
                    MatrixRef::Dense(dense) => dense.column(next - extra),
                    MatrixRef::Sparse(sparse) => {
                        full.fill(0.0);
                        let (rows, values) = sparse.column(next - extra);
                        rows.iter().zip(values).for_each(|(&i, &v)| full[i as usize] = v);
                        &full
                    }
                };
                column.typed::<DoubleType>().write_batch(values, None, None).map_err(wrong)?;
            }
        }
        column.close().map_err(wrong)?;
        next += 1;
    }
    group.close().map_err(wrong)?;
    writer.close().map_err(wrong)?;
    out.write_all(&bytes)
}
