//! How to search: a solver and its options, the constraint, limits.

use crate::args::{Args, counts};
use crate::error::to_r;
use crate::supervise::Manner;
use ksparse::objective::Bounds;
use ksparse::solver::{self, Settings, Solver, Value};
use ksparse::sparsity::Partition;
use ksparse::{Cancel, Grid, Sparsity};
use savvy::{IntegerSexp, ListSexp, Result, Sexp, savvy_err};
use std::sync::Arc;
use std::time::Duration;

/// Read from a list with these names.
pub struct Search {
    pub solver: String,
    settings: Settings,
    time_limit: Option<Duration>,
    pub seed: u64,
    /// Columns that are in at no charge, and columns that are in or out together; counted from 0.
    pub keep: Vec<usize>,
    pub groups: Option<Arc<Partition>>,
    pub ks: Option<Vec<usize>>,
    pub lambda: Option<f64>,
    pub bounds: Option<Bounds>,
    pub total: Option<f64>,
    pub cancel: Cancel,
}

impl Search {
    /// The search, which any thread may have, and what is R's alone.
    pub fn new(list: ListSexp) -> Result<(Self, Manner)> {
        let args = Args::new(list);
        let (cancel, seed) = (Cancel::new(), args.number("seed")? as u64);
        let time_limit = match args.maybe_number("time_limit")? {
            // A limit beyond what a Duration holds is no limit.
            Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
            None => None,
        };
        let mut settings = Settings {
            tolerance: args.maybe_number("tol")?,
            max_iterations: args.maybe_number("max_iter")?.map(|n| n as usize),
            time_limit,
            cancel: cancel.clone(),
            seed: Some(seed),
            ..Settings::default()
        };
        if let Some(options) = args.maybe_list("options")? {
            for (name, value) in options.iter() {
                settings.options.push((name.to_string(), option(name, value)?));
            }
        }
        let groups = args.maybe_list("groups")?.map(partition).transpose()?;
        let bounds = match (args.maybe_reals("lower")?, args.maybe_reals("upper")?) {
            (Some(lower), Some(upper)) => Some(Bounds::new(lower.to_vec(), upper.to_vec()).map_err(to_r)?),
            _ => None,
        };
        let solver = args.word("solver")?;
        if bounds.is_some() && solver != "auto" {
            return Err(savvy_err!(
                "bounds on coefficients take `solver = \"auto\"`, which refits every model within them"
            ));
        }
        let manner =
            Manner { threads: args.count("threads")?, verbose: args.flag("verbose")?, pause: args.function("pause")? };
        let search = Self {
            solver,
            settings,
            time_limit,
            seed,
            keep: args.counts("keep")?,
            groups,
            ks: args.maybe_counts("k")?,
            lambda: args.maybe_number("lambda")?,
            bounds,
            total: args.maybe_number("total")?,
            cancel,
        };
        Ok((search, manner))
    }

    pub fn solver(&self) -> Result<Box<dyn Solver>> {
        solver::method(&self.solver).and_then(|method| method.build(&self.settings)).map_err(to_r)
    }

    pub fn sparsity(&self, k: usize) -> Sparsity {
        Sparsity { k, keep: self.keep.clone(), groups: self.groups.clone() }
    }

    /// The models for these k under these ridges, each from its neighbours.
    pub fn grid(&self, ks: Vec<usize>, lambdas: Vec<f64>) -> Grid {
        let mut grid = Grid::over(ks, lambdas).keep(self.keep.iter().copied());
        grid.path.groups = self.groups.clone();
        grid.path.time_limit = self.time_limit;
        grid.path.cancel = self.cancel.clone();
        grid
    }

    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }
}

fn partition(list: ListSexp) -> Result<Arc<Partition>> {
    let group = |element: Sexp| Ok(counts(&IntegerSexp::try_from(element)?));
    let groups = list.values_iter().map(group).collect::<Result<Vec<_>>>()?;
    Partition::new(groups).map(Arc::new).map_err(to_r)
}

/// The value of an option of a solver, from what R has for it.
fn option(name: &str, value: Sexp) -> Result<Value> {
    if value.is_logical() {
        Ok(Value::Flag(bool::try_from(value)?))
    } else if value.is_string() {
        Ok(Value::Word(<&str>::try_from(value)?.to_string()))
    } else if value.is_numeric() {
        Ok(Value::Number(f64::try_from(value)?))
    } else {
        Err(savvy_err!("option `{name}` of the solver must be a number, TRUE, FALSE or a word"))
    }
}
