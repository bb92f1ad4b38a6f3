//! `--gram`: sums of products instead of rows.

use super::data::DataArgs;
use crate::data::Data;
use crate::failure::{Failure, Result};
use crate::screen::Screen;
use ksparse::objective::Moments;
use ksparse_io::{Matrix, Need, Table, Target};
use std::time::Instant;

/// How the data are given.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Data")]
pub struct MomentArgs {
    /// The data are sums of products over rows that are elsewhere, X'X with the target among the columns: as many rows
    /// as columns, entry i, j the sum of column i times column j. A column of ones, called `1` or `(intercept)`, has
    /// the sums of the others and the number of rows; without one there is no intercept. Least squares
    #[arg(long)]
    pub gram: bool,

    /// The number of rows behind --gram, where no column of ones has it
    #[arg(long, value_name = "N", requires = "gram", value_parser = clap::value_parser!(u64).range(1..))]
    pub gram_rows: Option<u64>,
}

/// What a column of ones is called.
const ONES: [&str; 5] = ["1", "(intercept)", "intercept", "ones", "const"];

/// What a target is called where nobody says.
const TARGETS: [&str; 6] = ["y", "target", "label", "class", "response", "outcome"];

impl MomentArgs {
    /// Rows that have these sums, in place of those behind them; whether an intercept can be fitted.
    pub fn read(&self, data: &DataArgs, screen: Screen) -> Result<(Data, bool)> {
        let started = Instant::now();
        let reading = &data.reading;
        let rows = [
            ("--weights", reading.weights.is_some()),
            ("--offset", reading.offset.is_some()),
            ("--target-file", reading.target_file.is_some()),
            ("--positive", reading.positive.is_some()),
            ("--categorical", reading.categorical.is_some()),
        ];
        if let Some((option, _)) = rows.iter().find(|(_, given)| *given) {
            return Err(Failure::Input(format!("{option} is about rows, and --gram has none: leave it out")));
        }
        let mut options = reading.options(Need::Absent)?;
        let named = options.target.take();
        let table = ksparse_io::read(&data.data, &options)?;
        let refused = |why: String| Failure::Input(format!("{}: {why}", table.source));
        let all = table.ncols();
        if table.nrows() != all {
            let shape = format!("{} rows and {all} columns", table.nrows());
            return Err(refused(format!("--gram needs as many rows as columns, X'X; there are {shape}")));
        }
        let target = match named {
            Some(name) => table.feature(&name)?,
            None => find(&table, &TARGETS).ok_or_else(|| refused("which column is the target? say --target".into()))?,
        };
        let ones = find(&table, &ONES).filter(|&j| j != target);
        let entries: Vec<Vec<f64>> = (0..all).map(|j| table.matrix.column(j)).collect();
        let n = match (self.gram_rows, ones.map(|j| entries[j][j])) {
            (Some(n), Some(counted)) if counted != n as f64 => {
                return Err(refused(format!("the column of ones counts {counted} rows, and --gram-rows says {n}")));
            }
            (Some(n), _) => n as f64,
            (None, Some(counted)) => counted,
            (None, None) => return Err(refused("over how many rows are these sums? say --gram-rows N".into())),
        };
        if !(n >= 1.0 && n.fract() == 0.0 && n < 1e15) {
            return Err(refused(format!("the column of ones counts {n} rows: give the number of rows there")));
        }
        let features: Vec<usize> = (0..all).filter(|&j| j != target && Some(j) != ones).collect();
        let gram: Vec<f64> =
            features.iter().flat_map(|&j| features.iter().map(move |&i| (i, j))).map(|(i, j)| entries[j][i]).collect();
        let cross: Vec<f64> = features.iter().map(|&j| entries[target][j]).collect();
        let blame = |error: ksparse::Error| Failure::from(error).within(&table.source);
        let mut moments = Moments::new(&gram, &cross, entries[target][target], n as usize).map_err(blame)?;
        if let Some(ones) = ones {
            let means: Vec<f64> = features.iter().map(|&j| entries[ones][j] / n).collect();
            moments = moments.with_means(&means, entries[ones][target] / n).map_err(blame)?;
        } else {
            screen.note("there is no column of ones: no intercept is fitted");
        }
        let (x, y, weight) = moments.samples().map_err(blame)?;
        let mut rows = Table::new(Matrix::Dense(x));
        rows.weights = Some(vec![weight; y.len()]);
        rows.target = Some(Target::Numbers(y));
        rows.target_name = table.names.as_ref().map(|names| names[target].clone());
        rows.names = table.names.as_ref().map(|names| features.iter().map(|&j| names[j].clone()).collect());
        (rows.source, rows.format) = (table.source.clone(), table.format);
        let behind = Some(n as usize);
        Ok((Data { table: rows, seconds: started.elapsed().as_secs_f64(), behind }, ones.is_some()))
    }
}

fn find(table: &Table, wanted: &[&str]) -> Option<usize> {
    let names = table.names.as_ref()?;
    names.iter().position(|name| wanted.contains(&name.trim().to_lowercase().as_str()))
}
