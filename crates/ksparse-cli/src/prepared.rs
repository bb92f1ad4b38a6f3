//! Everything a fit needs before a solver is called: data, task, ridge, columns to keep.

use crate::args::data::DataArgs;
use crate::args::loss::LossArgs;
use crate::args::parse::Words;
use crate::data::{Data, Task};
use crate::failure::{Failure, Result};
use crate::report::count;
use crate::screen::Screen;
use ksparse::select::Problem;
use ksparse_io::Need;

/// A request, checked against its data.
pub struct Prepared {
    pub data: Data,
    pub task: Task,
    pub lambda: f64,
    pub keep: Vec<usize>,
    pub intercept: bool,
    pub standardize: bool,
}

impl Prepared {
    /// Reads the data and settles what the arguments left open.
    pub fn read(data: &DataArgs, loss: &LossArgs, keep: Option<&Words>, screen: Screen) -> Result<Self> {
        let positive = data.reading.positive.as_deref();
        let data = Data::read(data, Need::Required, screen)?;
        let task = Task::new(&data.table, loss, positive, screen)?;
        let lambda = loss.lambda.unwrap_or(task.default_ridge);
        let columns = keep.map_or(&[][..], |words| &words.0);
        let mut keep = columns.iter().map(|name| data.table.feature(name)).collect::<ksparse_io::Result<Vec<_>>>()?;
        keep.sort_unstable();
        keep.dedup();
        Ok(Self { data, task, lambda, keep, intercept: !loss.no_intercept, standardize: loss.standardize })
    }

    /// The library's view of it.
    pub fn problem(&self) -> Problem<'_> {
        Problem {
            weights: self.data.table.weights.as_deref(),
            intercept: self.intercept,
            standardize: self.standardize,
            ..Problem::new(self.data.table.design(), &self.task.y, &*self.task.loss)
        }
    }

    /// k, or the number of columns if that is less.
    pub fn at_most_all(&self, k: usize, screen: Screen) -> usize {
        let all = self.data.table.ncols() - self.keep.len();
        if k > all {
            let free = if self.keep.is_empty() { "" } else { " beside those kept" };
            screen.warn(&format!("k = {k} is more than the {}{free}: taking all of them", count(all, "column")));
        }
        k.min(all)
    }

    /// A refusal of the library, naming the file it is about.
    pub fn blame(&self, error: ksparse::Error) -> Failure {
        Failure::from(error).within(&self.data.table.source)
    }
}
