//! Cells and rows, and how they are written as lines.

use super::{Failure, Result};

/// One piece of work: a method on a problem. Its fields decide its rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// Data set, paper, case: whatever has no field of its own.
    pub variant: String,
    /// The seed of data and method.
    pub seed: u64,
    /// The method.
    pub method: String,
    /// Samples.
    pub n: usize,
    /// Features.
    pub p: usize,
    /// Non-zeros allowed.
    pub k: usize,
    /// The ridge.
    pub lambda: f64,
    /// Its seconds are reported: nothing else runs beside it.
    pub timed: bool,
}

impl Cell {
    /// What tells cells apart, as the first columns of a line.
    pub fn key(&self) -> String {
        let Self { variant, seed, method, n, p, k, lambda, .. } = self;
        format!("{variant},{seed},{method},{n},{p},{k},{lambda:e}")
    }

    /// A row of this cell.
    pub fn row(&self) -> Row {
        Row { cell: self.clone(), ..Row::default() }
    }
}

/// One line of results.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// Whose result it is. A row may change `k` or `method` of its cell (a path computed in one go).
    pub cell: Cell,
    /// What kind of row: empty for a plain result, else a word of the experiment's own (`trace`).
    pub record: String,
    /// The experiment's own measures, in their order; NaN where there is none.
    pub measures: Vec<f64>,
    /// f at the answer.
    pub objective: f64,
    /// CPU seconds.
    pub seconds: f64,
    /// Iterations of the method.
    pub iterations: usize,
}

impl Row {
    /// With these measures.
    pub fn measures(self, measures: impl Into<Vec<f64>>) -> Self {
        Self { measures: measures.into(), ..self }
    }
}

/// Columns before and after an experiment's own.
const BEFORE: &str = "variant,seed,method,n,p,k,lambda,record";
const AFTER: &str = "objective,seconds,iterations,cell,part";

/// The header line.
pub(super) fn header(measures: &[&str]) -> String {
    let own: String = measures.iter().map(|m| format!(",{m}")).collect();
    format!("{BEFORE}{own},{AFTER}")
}

/// The lines of a finished cell. The last two columns name the cell and number its rows, so that a cell written in part
/// is known as such.
pub(super) fn lines(cell: &Cell, rows: &[Row], measures: usize) -> String {
    let mut out = String::new();
    for (i, row) in rows.iter().enumerate() {
        let own: String = (0..measures).map(|m| format!(",{}", number(row.measures.get(m).copied()))).collect();
        let cell_key = cell.key().replace(',', ";");
        out.push_str(&format!(
            "{},{}{own},{},{:.6},{},{cell_key},{}/{}\n",
            row.cell.key(),
            row.record,
            number(Some(row.objective)),
            row.seconds,
            row.iterations,
            i + 1,
            rows.len()
        ));
    }
    out
}

/// Shortest text that reads back the same; nothing for NaN.
fn number(v: Option<f64>) -> String {
    v.filter(|v| !v.is_nan()).map_or_else(String::new, |v| format!("{v:?}"))
}

/// A row, the key of its cell, its number and the number of rows of that cell; `None` for a line that is not whole.
pub(super) fn parse(line: &str, measures: usize) -> Option<(Row, String, usize, usize)> {
    let fields: Vec<&str> = line.split(',').collect();
    if fields.len() != 8 + measures + 5 {
        return None;
    }
    let float = |text: &str| if text.is_empty() { Some(f64::NAN) } else { text.parse::<f64>().ok() };
    let own = &fields[8..8 + measures];
    let [objective, seconds, iterations, cell, part] = fields[8 + measures..] else { return None };
    let (number, count) = part.split_once('/')?;
    let row = Row {
        cell: Cell {
            variant: fields[0].to_string(),
            seed: fields[1].parse().ok()?,
            method: fields[2].to_string(),
            n: fields[3].parse().ok()?,
            p: fields[4].parse().ok()?,
            k: fields[5].parse().ok()?,
            lambda: fields[6].parse().ok()?,
            timed: false,
        },
        record: fields[7].to_string(),
        measures: own.iter().map(|text| float(text)).collect::<Option<Vec<f64>>>()?,
        objective: float(objective)?,
        seconds: float(seconds)?,
        iterations: iterations.parse().ok()?,
    };
    Some((row, cell.replace(';', ","), number.parse().ok()?, count.parse().ok()?))
}

/// Refuses what would break a line.
pub(super) fn check(cell: &Cell) -> Result<()> {
    let bad = |text: &str| text.contains([',', ';', '\n', '"']);
    if bad(&cell.variant) || bad(&cell.method) {
        return Err(Failure::Usage(format!("the cell {cell:?} has a comma, semicolon, quote or line break in a name")));
    }
    Ok(())
}
