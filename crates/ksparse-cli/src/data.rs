//! A data file that has been read, and the task its target sets.

use crate::args::loss::LossArgs;
use crate::failure::{Failure, Result, in_file};
use crate::report;
use crate::screen::Screen;
use ksparse::loss::{self, FAMILIES, Loss, TargetKind};
use ksparse_io::model::LossSpec;
use ksparse_io::{Labels, ReadOptions, Table, Target};
use std::path::Path;
use std::time::Instant;

/// `Err` where a full matrix of this shape has no room: `what` says what it would be.
pub fn check_room(rows: usize, columns: usize, what: &str) -> Result<()> {
    let bytes = 8 * rows as u128 * columns as u128;
    if bytes <= u128::from(ksparse_io::free_memory()) {
        return Ok(());
    }
    let size = bytes as f64 / 1e9;
    Err(Failure::Input(format!(
        "{what} of {rows} x {columns} entries does not fit into memory: {size:.1} GB are needed; take fewer of them"
    )))
}

/// A table with the time it took to read.
pub struct Data {
    pub table: Table,
    pub seconds: f64,
    /// How many rows are behind those of the table, where they only have the sums of others.
    pub behind: Option<usize>,
}

impl Data {
    /// Reads a file, passing on what its reader thinks worth knowing.
    pub fn read_as(file: &Path, options: &ReadOptions, screen: Screen) -> Result<Self> {
        let started = Instant::now();
        let table = ksparse_io::read(file, options)?;
        table.notes.iter().for_each(|note| screen.note(note));
        Ok(Self { table, seconds: started.elapsed().as_secs_f64(), behind: None })
    }

    /// The name of a column.
    pub fn feature_name(&self, column: usize) -> Option<&str> {
        self.table.names.as_ref().map(|names| names[column].as_str())
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.behind.unwrap_or(self.table.nrows())
    }

    /// Rows and columns in words.
    pub fn shape(&self) -> String {
        let (rows, columns) = (self.rows(), self.table.ncols());
        format!("{}, {}", report::count(rows, "row"), report::count(columns, "column"))
    }
}

/// A target with the loss that suits it.
pub struct Task {
    /// -1 and +1, or numbers.
    pub y: Vec<f64>,
    /// What -1 and +1 are called in the data.
    pub labels: Option<Labels>,
    pub loss: Box<dyn Loss>,
    pub spec: LossSpec,
    /// The ridge where none is given.
    pub default_ridge: f64,
    /// Why this loss, when it was not asked for.
    pub why: Option<String>,
}

impl Task {
    /// The target of a table as the loss needs it; without `--loss`, logistic for two labels and squared otherwise.
    pub fn new(data: &Data, args: &LossArgs, positive: Option<&str>, screen: Screen) -> Result<Self> {
        let table = &data.table;
        let target = table.target()?;
        let (name, why) = match &args.loss {
            Some(name) if data.behind.is_some() && name != "squared" => {
                let message = format!("--gram is for least squares, and this is the {name} loss: leave --loss out");
                return Err(Failure::Input(message));
            }
            Some(name) => (name.as_str(), None),
            None if data.behind.is_some() => ("squared", None),
            None => {
                check_that_it_varies(target, &table.source)?;
                let (name, why) = choose_loss(target, positive.is_some());
                (name, Some(why))
            }
        };
        let family = loss::family(name)?;
        let parameter = args.parameter(family)?;
        let loss = family.build(parameter)?;
        let (y, labels) = match loss.target() {
            TargetKind::Sign => {
                let labels = match positive {
                    Some(positive) => Labels::with_positive(target, positive),
                    None => Labels::find(target),
                };
                let labels = labels.map_err(|error| in_file(&table.source, error))?;
                (labels.signs(target)?, Some(labels))
            }
            TargetKind::Real | TargetKind::Count | TargetKind::Positive => {
                if positive.is_some() {
                    let labels = FAMILIES.iter().filter(|family| family.target == TargetKind::Sign);
                    let with_labels = labels.map(|family| family.name).collect::<Vec<_>>();
                    let message = format!(
                        "--positive makes two classes, but the {name} loss is for numbers: use --loss {}",
                        with_labels.join(", ")
                    );
                    return Err(Failure::Input(message));
                }
                let numbers = target.numbers().map_err(|error| in_file(&table.source, error))?;
                (numbers.to_vec(), None)
            }
        };
        if why.is_some() && name == "squared" {
            warn_about_classes(&y, screen);
        }
        let spec = LossSpec { name: family.name.to_string(), parameter };
        Ok(Self { y, labels, loss, spec, default_ridge: family.default_ridge, why })
    }

    /// The loss, and why it was chosen if it was not asked for.
    pub fn describe(&self) -> String {
        self.why.as_ref().map_or(self.spec.name.clone(), |why| format!("{} ({why})", self.spec.name))
    }
}

/// A target that never changes is a slip (one class left in the file, the wrong column); who means it names the loss.
fn check_that_it_varies(target: &Target, file: &str) -> Result<()> {
    let first = target.label(0);
    if (1..target.len()).any(|row| target.label(row) != first) {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "{file}: the target is {first} in every row (one class only), so there is nothing to learn; check --target, \
         or the rows left in the file"
    )))
}

/// Two labels are words, or whole numbers: two distinct measurements are no classes.
fn choose_loss(target: &Target, positive: bool) -> (&'static str, String) {
    if positive {
        return ("logistic", "--positive makes two classes".to_string());
    }
    match target {
        Target::Text(_) => ("logistic", "the target holds words".to_string()),
        Target::Numbers(values) => match distinct(values, 3)[..] {
            [a, b] if a.fract() == 0.0 && b.fract() == 0.0 => {
                ("logistic", format!("the target has two values, {a} and {b}"))
            }
            _ => ("squared", "the target holds numbers".to_string()),
        },
    }
}

/// Class numbers look like a regression: say so.
fn warn_about_classes(y: &[f64], screen: Screen) {
    let classes = distinct(y, 21);
    let whole = classes.iter().all(|value| value.fract() == 0.0);
    if whole && (3..=20).contains(&classes.len()) && y.len() >= 10 * classes.len() {
        screen.warn(&format!(
            "the target has {} distinct whole numbers and is taken as numbers; if these are classes, make two of them \
             with --positive",
            classes.len()
        ));
    }
}

/// The distinct values, ascending, the first `limit` found.
fn distinct(values: &[f64], limit: usize) -> Vec<f64> {
    let mut seen: Vec<f64> = Vec::new();
    for &value in values {
        if let Err(at) = seen.binary_search_by(|known| known.total_cmp(&(value + 0.0))) {
            seen.insert(at, value + 0.0);
            if seen.len() == limit {
                break;
            }
        }
    }
    seen
}
