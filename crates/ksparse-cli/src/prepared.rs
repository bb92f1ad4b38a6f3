//! Everything a fit needs before a solver is called: data, task, ridge, columns to keep, groups.

use crate::args::bounds::BoundArgs;
use crate::args::data::ReadingArgs;
use crate::args::device::DeviceArgs;
use crate::args::loss::LossArgs;
use crate::args::parse::Words;
use crate::data::{Data, Task};
use crate::failure::{Failure, Result, worded};
use crate::report::count;
use crate::screen::Screen;
use ksparse::Sparsity;
use ksparse::design::Design;
use ksparse::objective::Bounds;
use ksparse::select::Problem;
use ksparse::sparsity::Partition;
use ksparse_io::Table;
use std::path::Path;
use std::sync::Arc;

/// A request, checked against its data.
pub struct Prepared {
    pub data: Data,
    pub task: Task,
    pub lambda: f64,
    /// What the ridge of every column is multiplied by.
    pub penalty_factors: Option<Vec<f64>>,
    pub keep: Vec<usize>,
    pub groups: Option<Arc<Partition>>,
    /// What the coefficients of the columns may be.
    bounds: Option<Bounds>,
    /// What they add up to.
    total: Option<f64>,
    /// The column of offsets, as it was named.
    pub offset: Option<String>,
    pub intercept: bool,
    pub standardize: bool,
    /// The matrix once more, on a device.
    there: Option<Box<dyn Design>>,
}

impl Prepared {
    /// Settles what the arguments left open about data that have been read.
    pub fn new(
        data: Data,
        reading: &ReadingArgs,
        loss: &LossArgs,
        keep: Option<&Words>,
        groups: Option<&Path>,
        screen: Screen,
    ) -> Result<Self> {
        let (positive, offset) = (reading.positive.as_deref(), reading.offset.clone());
        let task = Task::new(&data, loss, positive, screen)?;
        let lambda = loss.lambda.unwrap_or(task.default_ridge);
        let penalty_factors = loss.factors(&data.table)?;
        let keep = kept(keep, &data.table)?;
        let groups = grouped(groups, &data.table)?;
        Ok(Self {
            data,
            task,
            lambda,
            penalty_factors,
            keep,
            groups,
            bounds: None,
            total: None,
            offset,
            intercept: !loss.no_intercept,
            standardize: loss.standardize,
            there: None,
        })
    }

    /// With bounds on the coefficients, if any were given.
    pub fn within(mut self, bounds: &BoundArgs) -> Result<Self> {
        self.bounds = bounds.of(&self.data.table)?;
        self.total = bounds.total;
        Ok(self)
    }

    /// With the matrix where it was asked for.
    pub fn on(mut self, device: &DeviceArgs) -> Result<Self> {
        self.there = device.bring(&self.data.table)?;
        Ok(self)
    }

    fn design(&self) -> &dyn Design {
        self.there.as_deref().unwrap_or_else(|| self.data.table.design())
    }

    /// The library's view of it.
    pub fn problem(&self) -> Problem<'_> {
        Problem {
            weights: self.data.table.weights.as_deref(),
            offset: self.data.table.offset.as_deref(),
            intercept: self.intercept,
            standardize: self.standardize,
            penalty_factors: self.penalty_factors.as_deref(),
            groups: self.groups.as_deref(),
            bounds: self.bounds.as_ref(),
            total: self.total,
            ..Problem::new(self.design(), &self.task.y, &*self.task.loss)
        }
    }

    /// The constraint for a k.
    pub fn sparsity(&self, k: usize) -> Sparsity {
        Sparsity { k, keep: self.keep.clone(), groups: self.groups.clone() }
    }

    /// k, or the number of columns (or groups) if that is less.
    pub fn at_most_all(&self, k: usize, screen: Screen) -> usize {
        let all = self.problem().units(&self.keep);
        let what = if self.groups.is_some() { "group" } else { "column" };
        if k > all {
            let free = if self.keep.is_empty() { "" } else { " beside those kept" };
            screen.warn(&format!("k = {k} is more than the {}{free}: taking all of them", count(all, what)));
        }
        k.min(all)
    }

    /// A refusal of the library, naming the file it is about.
    pub fn blame(&self, error: ksparse::Error) -> Failure {
        let table = &self.data.table;
        let failure = match &error {
            ksparse::Error::Column { column, problem } => {
                let name =
                    table.names.as_ref().map_or_else(|| (column + 1).to_string(), |names| names[*column].clone());
                Failure::Input(format!("column `{name}` is {problem}"))
            }
            _ => Failure::from(error),
        };
        failure.within(&table.source)
    }
}

/// The columns to keep, ascending.
pub fn kept(named: Option<&Words>, table: &Table) -> Result<Vec<usize>> {
    let columns = named.map_or(&[][..], |words| &words.0);
    let mut keep = columns.iter().map(|name| table.features(name)).collect::<ksparse_io::Result<Vec<_>>>()?.concat();
    keep.sort_unstable();
    keep.dedup();
    Ok(keep)
}

/// The groups of a file, and columns of words that are in none of them, each a group of indicators.
pub fn grouped(file: Option<&Path>, table: &Table) -> Result<Option<Arc<Partition>>> {
    let mut groups = file.map(|file| read_groups(file, table)).transpose()?.unwrap_or_default();
    let mut taken = vec![false; table.ncols()];
    groups.iter().flatten().for_each(|&j| taken[j] = true);
    for category in &table.categories {
        let columns: Vec<usize> = category.columns().filter(|&j| !taken[j]).collect();
        groups.extend((columns.len() > 1).then_some(columns));
    }
    let partition = (!groups.is_empty()).then(|| Partition::new(groups)).transpose();
    partition.map(|partition| partition.map(Arc::new)).map_err(Failure::from)
}

/// A group of columns in every line of a file; empty lines and those that begin with # are passed over.
fn read_groups(file: &Path, table: &Table) -> Result<Vec<Vec<usize>>> {
    let refused = |why: String| Failure::Input(format!("{}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| refused(format!("cannot read the groups: {error}")))?;
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let mut groups = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let column = |name: &str| match name.trim() {
            "" => {
                Err(refused(format!("line {number}: an entry of the list is empty; write names separated by commas")))
            }
            name => table.features(name).map_err(|error| refused(format!("line {number}: {}", worded(&error)))),
        };
        groups.push(line.split(',').map(column).collect::<Result<Vec<_>>>()?.concat());
    }
    let mut seen = vec![false; table.ncols()];
    if let Some(&twice) = groups.iter().flatten().find(|&&j| std::mem::replace(&mut seen[j], true)) {
        return Err(refused(format!("column {} stands twice; groups must not overlap", table.called(twice))));
    }
    Ok(groups)
}
