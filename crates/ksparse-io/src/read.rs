//! From a file to a table.

use crate::categories::WordColumns;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::names::{NotFound, distinguish, find_column};
use crate::options::{Beside, Format, Need, ReadOptions};
use crate::roles::{self, Columns, Role};
use crate::source::Source;
use crate::table::{Matrix, MatrixRef, Table, Target};
use crate::text::FINITE;
use crate::words::{Setting, Words};
use crate::{delimited, ksb, mtx, npy, npz, svmlight, target};
use ksparse::design::{Dense, Sparse};
use std::path::Path;

/// Reads a data file; `-` is standard input. Format and compression are found by content, unless the options say
/// otherwise.
///
/// All values are finite, rows and columns are at least one; where a target is required there is one. (Values of a
/// mapped file are not looked at.)
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    let source = Source::open(path, options.memory)?;
    read_source(source, path, options)
}

/// The same from bytes in memory, which errors call `name`.
pub fn read_bytes(name: &str, bytes: Vec<u8>, options: &ReadOptions) -> Result<Table> {
    let source = Source::new(name.to_string(), Box::new(std::io::Cursor::new(bytes)), options.memory)?;
    // Standard input has no second file beside it either.
    read_source(source, Path::new("-"), options)
}

fn read_source(mut source: Source, path: &Path, options: &ReadOptions) -> Result<Table> {
    let format = match options.format {
        Some(format) => format,
        None => source.format(path)?,
    };
    if let Some(p) = options.features {
        source.memory.check_shape(0, p)?;
        if p >= u32::MAX as usize {
            let problem = Words::from(Setting::Features) + format!(" {p} is more than 2^32 - 2");
            return Err(Error::request(problem, "give the number of columns"));
        }
    }
    let table = match format {
        Format::Svmlight => svmlight::read(&mut source, options)?,
        Format::Delimited => delimited::read(&mut source, options)?,
        Format::Npy => npy::read(&mut source, options)?,
        Format::Npz => npz::read(&mut source, options)?,
        Format::MatrixMarket => mtx::read(&mut source, options)?,
        Format::Ksb => match source.file.take().filter(|_| source.compression.is_none() && !options.no_mmap) {
            Some(file) => ksb::open(source.name.clone(), &file)?,
            None => ksb::read(&mut source)?,
        },
        Format::Parquet => read_parquet(&mut source, options)?,
    };
    finish(table, &source.memory, path, options)
}

#[cfg(feature = "parquet")]
fn read_parquet(source: &mut Source, options: &ReadOptions) -> Result<Table> {
    crate::parquet::read(source, options)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(source: &mut Source, _: &ReadOptions) -> Result<Table> {
    Err(Error::input(
        &*source.name,
        "this program was built without Parquet",
        "build it with the feature `parquet`, or save the table as csv",
    ))
}

/// What all formats have in common: columns with a role, a target from elsewhere, p as asked for.
fn finish(mut table: Table, memory: &Memory, path: &Path, options: &ReadOptions) -> Result<Table> {
    memory.check_shape(table.nrows(), table.ncols())?;
    // Text and Parquet gave out their roles while reading.
    if !matches!(table.format, Format::Delimited | Format::Parquet) {
        take_columns(&mut table, memory, options)?;
    }
    if options.need == Need::Absent {
        table.target = None;
    } else if let Some(file) = &options.target_file {
        table.target = Some(target::read(file, table.nrows(), options.memory)?);
    } else if table.target.is_none()
        && let Some(beside) = target::companion(path, table.format).filter(|file| file.exists())
    {
        table.target = Some(target::read(&beside, table.nrows(), options.memory)?);
        table.notes.push(format!("the target is in {}", beside.display()));
    }
    if options.need == Need::Required {
        table.target()?;
    }
    if let Some(expected) = options.features.filter(|&p| p != table.ncols()) {
        return Err(Error::input(
            &*table.source,
            format!("{} features, where {expected} were expected", table.ncols()),
            Words::from("give the columns the model was fitted on, or correct ") + Setting::Features,
        ));
    }
    if let Some(note) = table.names.as_mut().and_then(|names| distinguish(names)) {
        table.notes.push(note);
    }
    if table.ncols() == 0 {
        return Err(Error::input(&*table.source, "there are no features", "the rows hold labels only"));
    }
    Ok(table)
}

/// Columns of a matrix that are the target, weights or left out.
fn take_columns(table: &mut Table, memory: &Memory, options: &ReadOptions) -> Result<()> {
    // A name that was meant for another file, when predicting, is none of this one's columns.
    let found = |name: &String| find_column(name, table.names.as_deref(), table.ncols());
    let known = |name: &String| !matches!(found(name), Err(NotFound::Unknown(_)));
    let target = options.target.clone().filter(|name| options.need == Need::Required || known(name));
    let others = [&options.weights, &options.offset].into_iter().chain(&options.beside);
    if target.is_none()
        && others.flatten().next().is_none()
        && options.drop.is_empty()
        && options.categorical.is_empty()
    {
        return Ok(());
    }
    let words = vec![false; table.ncols()];
    if !options.categorical.is_empty() {
        let problem = Words::from(Setting::Categorical) + " is for text and Parquet, which hold words";
        return Err(Error::input(&*table.source, problem, "give the data as csv, or make indicators of the column"));
    }
    let columns = Columns { file: &table.source, names: table.names.as_deref(), words: &words, row_names: false };
    let need = if target.is_some() { options.need } else { Need::Absent };
    let roles = roles::assign(
        &columns,
        &ReadOptions { target, need, words: WordColumns::Refused, ..options.clone() },
        &mut Vec::new(),
    )?;
    let find = |role: Role| roles.iter().position(|r| *r == role);
    if let Some(j) = find(Role::Target) {
        table.target = Some(Target::Numbers(column(table, j)?));
        table.target_name = table.names.as_ref().map(|names| names[j].clone());
    }
    if let Some(j) = find(Role::Weights) {
        let weights = column(table, j)?;
        if let Some(i) = weights.iter().position(|w| *w < 0.0) {
            let problem = format!("the weight of row {} is {}", i + 1, weights[i]);
            return Err(Error::input(&*table.source, problem, "weights must be 0 or more"));
        }
        table.weights = Some(weights);
    }
    if let Some(j) = find(Role::Offset) {
        table.offset = Some(column(table, j)?);
    }
    for which in Beside::ALL {
        if let Some(j) = find(Role::Beside(which)) {
            table.beside[which as usize] = Some(column(table, j)?);
        }
    }
    let kept: Vec<usize> = (0..roles.len()).filter(|&j| roles[j] == Role::Feature).collect();
    memory.take(12 * table.matrix.stored(), || "the remaining columns".into())?;
    table.matrix = columns_of(table, &kept)?;
    if let Some(names) = &mut table.names {
        *names = kept.iter().map(|&j| names[j].clone()).collect();
    }
    Ok(())
}

fn column(table: &Table, j: usize) -> Result<Vec<f64>> {
    let full = table.matrix.column(j);
    check_finite(table, &full)?;
    Ok(full)
}

/// Whoever opened a mapped file did not look at its values; whoever copies them does.
fn check_finite(table: &Table, values: &[f64]) -> Result<()> {
    match values.iter().find(|v| !v.is_finite()) {
        None => Ok(()),
        Some(v) => Err(Error::input(&*table.source, format!("a value is {v}"), FINITE)),
    }
}

/// Some columns, copied.
fn columns_of(table: &Table, kept: &[usize]) -> Result<Matrix> {
    let n = table.nrows();
    Ok(match table.matrix.view() {
        MatrixRef::Dense(dense) => {
            let values = kept.iter().flat_map(|&j| dense.column(j)).copied().collect::<Vec<f64>>();
            check_finite(table, &values)?;
            Matrix::Dense(Dense::from_columns(n, kept.len(), values)?)
        }
        MatrixRef::Sparse(sparse) => {
            let (mut pointers, mut rows, mut values) = (vec![0u64], Vec::new(), Vec::new());
            for &j in kept {
                let column = sparse.column(j);
                rows.extend_from_slice(column.0);
                values.extend_from_slice(column.1);
                pointers.push(rows.len() as u64);
            }
            check_finite(table, &values)?;
            Matrix::Sparse(Sparse::from_columns(n, kept.len(), pointers, rows, values)?)
        }
    })
}
