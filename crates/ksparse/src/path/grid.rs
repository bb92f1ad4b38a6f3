//! Paths for a falling sequence of ridges.

use super::{Path, PathProgress, PathSolution, sweep};
use crate::error::{Result, check_option};
use crate::objective::{Objective, Risk};
use crate::solver::{Progress, Solution, Solver, Status};
use std::ops::ControlFlow;
use std::time::Instant;

/// Every pair of a k and a ridge lambda.
///
/// With k alone, weak signals are either out or in at full strength, and the larger k the more noise is fitted; a ridge
/// shrinks what is in, so that the best pair predicts better than the best k. Lambdas are solved from the largest down,
/// each path with the one before it as a source of candidates, so that the value of a cell rises neither with k nor
/// with a falling lambda.
///
/// ```
/// use ksparse::{Grid, Risk, design::Dense, loss::Squared, solver::Auto};
/// let x = Dense::from_rows(4, 2, &[1., 0., 0., 1., 1., 1., 2., 0.])?;
/// let risk = Risk::new(&x, &[1.0, 1.0, 2.5, 2.0], Squared::default())?;
/// let grid = Grid::over(1..=2, [0.0, 0.1]).fit(&risk, &Auto::default())?;
/// assert_eq!(grid.lambdas, [0.1, 0.0]);
/// assert!(grid.at(2, 0.0).unwrap().value < grid.at(2, 0.1).unwrap().value);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// The k, and the options of every path; its time limit is for the whole grid.
    pub path: Path,
    /// The ridges, descending, without repeats.
    pub lambdas: Vec<f64>,
}

impl Grid {
    /// A grid over these k and lambdas (sorted here, repeats dropped).
    pub fn over(ks: impl IntoIterator<Item = usize>, lambdas: impl IntoIterator<Item = f64>) -> Self {
        let mut lambdas: Vec<f64> = lambdas.into_iter().collect();
        lambdas.sort_by(|a, b| b.total_cmp(a));
        lambdas.dedup();
        Self { path: Path::over(ks), lambdas }
    }

    /// The same grid with these coordinates forced in, free of charge.
    pub fn keep(mut self, coordinates: impl IntoIterator<Item = usize>) -> Self {
        self.path = self.path.keep(coordinates);
        self
    }

    /// How many cells.
    pub fn len(&self) -> usize {
        self.path.ks.len() * self.lambdas.len()
    }

    /// Whether there is no cell at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `Err` for a value outside its range.
    pub fn validate(&self) -> Result<()> {
        self.path.validate()?;
        let ok = !self.lambdas.is_empty()
            && self.lambdas.iter().all(|l| *l >= 0.0 && l.is_finite())
            && self.lambdas.windows(2).all(|pair| pair[0] > pair[1]);
        let expected = "at least one lambda, non-negative, finite, descending, without repeats";
        check_option(ok, "lambdas", format!("{:?}", self.lambdas), expected)
    }

    /// One path per lambda, unwatched. The ridge of `risk` itself is not used.
    pub fn fit(&self, risk: &Risk, solver: &dyn Solver) -> Result<GridSolution> {
        self.solve(risk, solver, &mut |_| ControlFlow::Continue(()))
    }

    /// One path per lambda; `watch` as for [`Path::solve`].
    pub fn solve(
        &self,
        risk: &Risk,
        solver: &dyn Solver,
        watch: &mut dyn FnMut(&PathProgress) -> ControlFlow<()>,
    ) -> Result<GridSolution> {
        self.solve_under(&|lambda| Ok(Box::new(risk.reridged(lambda)?)), solver, watch)
    }

    /// The same for what there is to minimise under each lambda.
    pub fn solve_under<'a>(
        &self,
        objective: &dyn Fn(f64) -> Result<Box<dyn Objective + 'a>>,
        solver: &dyn Solver,
        watch: &mut dyn FnMut(&PathProgress) -> ControlFlow<()>,
    ) -> Result<GridSolution> {
        self.validate()?;
        let started = Instant::now();
        let (ks, total) = (self.path.ks.len(), self.len());
        let mut paths: Vec<PathSolution> = Vec::with_capacity(self.lambdas.len());
        for (row, &lambda) in self.lambdas.iter().enumerate() {
            let ridged = objective(lambda)?;
            let mut report = |k: usize, done: usize, solver: &Progress| {
                watch(&PathProgress { k, lambda: Some(lambda), done: row * ks + done, total, solver: *solver })
            };
            let hints = paths.last().map_or(&[][..], |path| &path.solutions);
            let path = sweep::run(&self.path, started, &*ridged, solver, hints, &mut report)?;
            paths.push(path);
            if paths[row].stopped.is_some() {
                break;
            }
        }
        Ok(GridSolution { lambdas: self.lambdas[..paths.len()].to_vec(), paths })
    }
}

/// The solutions of a [`Grid`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GridSolution {
    /// The lambdas solved for, descending: all that were asked for unless the grid was stopped.
    pub lambdas: Vec<f64>,
    /// One path per lambda.
    pub paths: Vec<PathSolution>,
}

impl GridSolution {
    /// The solution of one cell, if it was solved for.
    pub fn at(&self, k: usize, lambda: f64) -> Option<&Solution> {
        let row = self.lambdas.iter().position(|l| *l == lambda)?;
        self.paths[row].at(k)
    }

    /// [`Status::Stopped`] or [`Status::TimeLimit`] when the grid was cut short.
    pub fn stopped(&self) -> Option<Status> {
        self.paths.last().and_then(|path| path.stopped)
    }
}
