//! Writing arrays as NumPy does.

use crate::assemble::full_size;
use crate::table::{MatrixRef, Table, Target};
use std::io::{self, Write};

/// Writes a header; 64 bytes or a multiple, as NumPy does.
pub(crate) fn write_header(out: &mut dyn Write, descr: &str, fortran: bool, shape: &[usize]) -> io::Result<()> {
    let lengths: String = shape.iter().map(|d| format!("{d}, ")).collect();
    let lengths = if shape.len() == 1 { lengths.trim_end() } else { lengths.trim_end_matches(", ") };
    let order = if fortran { "True" } else { "False" };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({lengths}), }}");
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(text.len() as u16).to_le_bytes())?;
    out.write_all(text.as_bytes())
}

/// A vector of numbers.
pub(crate) fn write_numbers(out: &mut dyn Write, values: &[f64]) -> io::Result<()> {
    write_header(out, "<f8", false, &[values.len()])?;
    values.iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))
}

/// A vector of strings, as wide as the longest.
pub(crate) fn write_strings(out: &mut dyn Write, values: &[String]) -> io::Result<()> {
    let width = values.iter().map(|v| v.chars().count()).max().unwrap_or(0).max(1);
    if width >= 1024 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a label or name has more than 1023 characters"));
    }
    write_header(out, &format!("<U{width}"), false, &[values.len()])?;
    for value in values {
        let codes = value.chars().map(|c| c as u32).chain(std::iter::repeat(0)).take(width);
        codes.into_iter().try_for_each(|c| out.write_all(&c.to_le_bytes()))?;
    }
    Ok(())
}

/// A target.
pub(crate) fn write_target(out: &mut dyn Write, target: &Target) -> io::Result<()> {
    match target {
        Target::Numbers(values) => write_numbers(out, values),
        Target::Text(values) => write_strings(out, values),
    }
}

/// The matrix in full, column after column.
pub(crate) fn write_matrix(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let (n, p) = (table.nrows(), table.ncols());
    full_size(&table.source, n, p).map_err(io::Error::other)?;
    write_header(out, "<f8", true, &[n, p])?;
    let mut full = vec![0.0; n];
    for j in 0..p {
        let column = match table.matrix.view() {
            MatrixRef::Dense(dense) => dense.column(j),
            MatrixRef::Sparse(sparse) => {
                full.fill(0.0);
                let (rows, values) = sparse.column(j);
                rows.iter().zip(values).for_each(|(&i, &v)| full[i as usize] = v);
                &full
            }
        };
        column.iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))?;
    }
    Ok(())
}
