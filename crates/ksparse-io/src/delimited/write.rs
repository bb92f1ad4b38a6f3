//! Tables as text.

use crate::options::WriteOptions;
use crate::table::{Table, Target};
use crate::text::{push_number, show};
use std::io::{self, Write};

/// Writes a header and the rows: the target first, then the weights, then the features.
pub(crate) fn write(table: &Table, out: &mut dyn Write, options: &WriteOptions) -> io::Result<()> {
    let separator = options.separator.unwrap_or(b',');
    let (design, n, p) = (table.matrix.design(), table.nrows(), table.ncols());
    let mut line = Vec::new();
    if table.target.is_some() {
        push_field(&mut line, &table.target_column(), separator)?;
        line.push(separator);
    }
    if table.weights.is_some() {
        push_field(&mut line, &table.weight_column(), separator)?;
        line.push(separator);
    }
    for j in 0..p {
        match &table.names {
            Some(names) => push_field(&mut line, &names[j], separator)?,
            None => line.extend_from_slice(format!("x{}", j + 1).as_bytes()),
        }
        line.push(separator);
    }
    end_line(&mut line);
    out.write_all(&line)?;
    let mut row = Vec::new();
    for i in 0..n {
        line.clear();
        match &table.target {
            Some(Target::Numbers(values)) => push_number(&mut line, values[i]),
            Some(Target::Text(values)) => push_field(&mut line, &values[i], separator)?,
            None => {}
        }
        if table.target.is_some() {
            line.push(separator);
        }
        if let Some(weights) = &table.weights {
            push_number(&mut line, weights[i]);
            line.push(separator);
        }
        design.row(i, &mut row);
        let mut entries = row.iter().peekable();
        for j in 0..p {
            let entry = entries.next_if(|e| e.0 == j);
            push_number(&mut line, entry.map_or(0.0, |e| e.1));
            line.push(separator);
        }
        end_line(&mut line);
        out.write_all(&line)?;
    }
    Ok(())
}

fn end_line(line: &mut Vec<u8>) {
    line.pop();
    line.push(b'\n');
}

/// Text, quoted when it must be.
fn push_field(line: &mut Vec<u8>, text: &str, separator: u8) -> io::Result<()> {
    let bytes = text.as_bytes();
    if bytes.contains(&b'\n') || bytes.contains(&b'\r') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{}` spans lines", show(bytes))));
    }
    // Whatever might be taken for a separator or a comment.
    let odd = |b: &u8| *b == separator || b"\"\t ;,|#".contains(b);
    if bytes.iter().any(odd) || bytes.is_empty() {
        line.push(b'"');
        for &b in bytes {
            if b == b'"' {
                line.push(b'"');
            }
            line.push(b);
        }
        line.push(b'"');
    } else {
        line.extend_from_slice(bytes);
    }
    Ok(())
}
