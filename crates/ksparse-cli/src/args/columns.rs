//! Numbers for columns: one for all, or one for each column named, on the line or in a file.

use crate::failure::{Failure, Result};
use ksparse_io::Table;
use std::path::PathBuf;

/// The file that such a list is in, if it is in one.
pub fn file(text: Option<&str>) -> Option<PathBuf> {
    text?.strip_prefix('@').map(PathBuf::from)
}

/// A number for every column of a table: `none` for those that `text` leaves out. It is a number for all columns,
/// `age=0,dose=-1.5`, or `@FILE` with such an entry in every line.
pub fn numbers(option: &str, text: Option<&str>, none: f64, table: &Table) -> Result<Vec<f64>> {
    let mut numbers = vec![none; table.ncols()];
    let Some(text) = text else { return Ok(numbers) };
    let refused = |why: String| Failure::Input(format!("{option}: {why}"));
    let number = |text: &str| match text.trim().parse::<f64>() {
        Ok(number) if !number.is_nan() => Ok(number),
        _ => Err(refused(format!("`{}` is not a number; write 0, or age=0,dose=-1.5", text.trim()))),
    };
    let held = match file(Some(text)) {
        Some(file) => std::fs::read_to_string(&file)
            .map_err(|error| refused(format!("cannot read {}: {error}", file.display())))?,
        None if text.contains('=') => text.replace(',', "\n"),
        None => {
            numbers.fill(number(text)?);
            return Ok(numbers);
        }
    };
    let mut given = vec![false; numbers.len()];
    for part in held.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some((name, value)) = part.rsplit_once('=') else {
            return Err(refused(format!("`{part}` has no `=`; write a column and a number, as age=0")));
        };
        for column in table.features(name.trim())? {
            if std::mem::replace(&mut given[column], true) {
                return Err(refused(format!("column `{}` stands twice; leave one out", name.trim())));
            }
            numbers[column] = number(value)?;
        }
    }
    Ok(numbers)
}
