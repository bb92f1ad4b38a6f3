//! Numbers and tables as people read them.

use serde::Serialize;
use std::fmt::Write;

/// A number with six significant digits, without trailing zeros; very large and very small ones with an exponent.
pub fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-4..15).contains(&exponent) {
        let text = format!("{value:.5e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trim_zeros(digits));
    }
    trim_zeros(&format!("{value:.*}", (5 - exponent).clamp(0, 12) as usize)).to_string()
}

fn trim_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

/// An object for machines, ending in a newline.
pub fn json(object: &impl Serialize) -> String {
    // Neither a map with keys that are no text nor a writer that may fail is involved.
    let mut text = serde_json::to_string_pretty(object).unwrap_or_default();
    text.push('\n');
    text
}

/// Seconds as people read them.
pub fn seconds(value: f64) -> String {
    if value < 0.0995 { format!("{:.0} ms", 1e3 * value) } else { format!("{value:.2} s") }
}

/// A count with its noun, in the plural unless it is one.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Characters of a cell.
const WIDEST: usize = 100;

/// Columns of text under headings: the first to the left, the others to the right.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new(headings: &[&str]) -> Self {
        Self { rows: vec![headings.iter().map(ToString::to_string).collect()] }
    }

    /// One more row, of as many cells as there are headings. Nobody reads a cell of more than a hundred characters:
    /// it is cut.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(cut).collect());
    }

    /// The lines of the table; the first is that of the headings.
    pub fn lines(&self) -> Vec<String> {
        let columns = self.rows[0].len();
        let width = |c: usize| self.rows.iter().map(|row| row[c].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let line = |row: &Vec<String>| {
            let mut text = String::new();
            for (c, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                // Padding by hand: `{:>w$}` counts characters too, but the first column goes to the other side.
                let gap = width - cell.chars().count();
                let (before, after) = if c == 0 { (0, gap) } else { (gap + 2, 0) };
                let _ = write!(text, "{:before$}{cell}{:after$}", "", "");
            }
            text.trim_end().to_string()
        };
        self.rows.iter().map(line).collect()
    }
}

/// The start of a long text.
fn cut(text: String) -> String {
    match text.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Facts under each other: names to the left, values beside them.
#[derive(Default)]
pub struct Facts {
    rows: Vec<(&'static str, String)>,
}

impl Facts {
    /// One more fact.
    pub fn add(&mut self, name: &'static str, value: impl Into<String>) {
        self.rows.push((name, value.into()));
    }
}

impl std::fmt::Display for Facts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        self.rows.iter().try_for_each(|(name, value)| writeln!(f, "{name:width$}  {value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-0.129_635_9, "-0.129636"),
            (123_456.7, "123457"),
            (1e-5, "1e-5"),
            (-2.5e20, "-2.5e20"),
            (0.000_123_456_78, "0.000123457"),
            (999_999.96, "1000000"),
        ];
        for (value, text) in cases {
            assert_eq!(significant(value), text);
        }
        assert_eq!((seconds(0.0123), seconds(1.5)), ("12 ms".to_string(), "1.50 s".to_string()));
    }

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["feature", "x"]);
        table.row(vec!["é".to_string(), "1.5".to_string()]);
        assert_eq!(table.lines(), ["feature    x", "é        1.5"]);
    }
}
