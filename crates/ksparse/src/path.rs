//! Solutions for a sequence of k, each started from its neighbours.
//!
//! For `k_1 < k_2 < ...` the values `f_i = min f(x) subject to ||x||_0 <= k_i` fall with i, and neighbouring answers
//! share most of their support. A [`Path`] uses both facts:
//!
//! 1. **Forward.** k_1 is solved from zero, every later k from the answer before it, which is feasible: if the solver
//!    ends above it, the old answer is kept. So **the values of a path never rise with k**.
//! 2. **Backward.** The answer for k_{i+1}, with its weakest coordinates dropped and the rest refitted, is a candidate
//!    for k_i. It costs one small minimisation, and the solver runs again from it only if it beats what the forward
//!    pass found; an improved answer is then passed forward again. Forward selection's early mistakes are undone here.
//!
//! A [`Grid`] does the same for every ridge lambda of a falling sequence, the answer for the larger lambda being one
//! more candidate.
//!
//! ```
//! use ksparse::{Path, Risk, design::Dense, loss::Squared, solver::Auto};
//! // Columns 0 and 1 explain y together, column 2 is the best single one.
//! let x = Dense::from_rows(4, 3, &[1., 0., 1.1, 0., 1., 0.9, 1., 1., 1.8, 2., 0., 1.9])?;
//! let risk = Risk::new(&x, &[1.0, 1.0, 2.0, 2.0], Squared::default())?;
//! let path = Path::over(0..=2).fit(&risk, &Auto::default())?;
//! assert_eq!(path.at(1).unwrap().support, [2]);
//! assert_eq!(path.at(2).unwrap().support, [0, 1]);
//! # Ok::<(), ksparse::Error>(())
//! ```

mod grid;
mod sweep;

pub use grid::{Grid, GridSolution};

use crate::cancel::Cancel;
use crate::error::{Error, Result, check_option};
use crate::objective::Objective;
use crate::solver::{Progress, Solution, Solver, Status};
use crate::sparsity::{Partition, Sparsity};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Which k to solve for, and how thoroughly.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The values of k, ascending, without repeats; 0 is the model without features.
    pub ks: Vec<usize>,
    /// Coordinates forced in, free of charge, at every k (see [`Sparsity::keep`](crate::Sparsity::keep)). Default none.
    pub keep: Vec<usize>,
    /// Groups of coordinates, of which k then counts how many are in (see
    /// [`Sparsity::in_groups`](crate::Sparsity::in_groups)). Default none.
    pub groups: Option<Arc<Partition>>,
    /// At most so many backward passes, each with the forward pass over what it improved; they end by themselves when
    /// nothing improves. 0 is the plain warm-started path. Default 3.
    pub sweeps: usize,
    /// Also solve every k from zero and keep the better of the two: about twice the time, and then no answer is worse
    /// than the solver's own for that k. On correlated designs the sweeps gain more for less. Default false.
    pub from_zero: bool,
    /// End with the first k whose f is at most this: a residual that is small enough. Default none: all of them.
    pub enough: Option<f64>,
    /// At most so much time for the whole path; what was found by then is returned. Default none.
    pub time_limit: Option<Duration>,
    /// A token asked between blocks of the path's own work; the solver has the same one in its limits, so that it ends
    /// soon too. What was found by then is returned. Default never.
    pub cancel: Cancel,
}

impl Path {
    /// A path over these k (sorted here, repeats dropped).
    pub fn over(ks: impl IntoIterator<Item = usize>) -> Self {
        let mut ks: Vec<usize> = ks.into_iter().collect();
        ks.sort_unstable();
        ks.dedup();
        Self {
            ks,
            keep: Vec::new(),
            groups: None,
            sweeps: 3,
            from_zero: false,
            enough: None,
            time_limit: None,
            cancel: Cancel::NEVER,
        }
    }

    /// The same path with these coordinates forced in, free of charge.
    pub fn keep(mut self, coordinates: impl IntoIterator<Item = usize>) -> Self {
        self.keep.extend(coordinates);
        self
    }

    /// The constraint for one k.
    pub fn sparsity(&self, k: usize) -> Sparsity {
        Sparsity { k, keep: self.keep.clone(), groups: self.groups.clone() }
    }

    /// `Err` for a value outside its range.
    pub fn validate(&self) -> Result<()> {
        let number = self.enough.is_none_or(|enough| !enough.is_nan());
        check_option(number, "enough", "not a number", "a value of f")?;
        let ok = !self.ks.is_empty() && self.ks.windows(2).all(|pair| pair[0] < pair[1]);
        check_option(ok, "ks", format!("{:?}", self.ks), "at least one k, ascending, without repeats")
    }

    /// `Err` where the smallest k is too few for a constraint of the objective.
    fn check_least(&self, objective: &dyn Objective) -> Result<()> {
        self.ks.first().map_or(Ok(()), |&k| large_enough(objective, &self.sparsity(k)))
    }

    /// One solution per k, unwatched.
    ///
    /// ```
    /// use ksparse::{Auto, Path, Risk, loss::Squared, simulate};
    /// let data = simulate::linear(80, 30, 4, simulate::Correlation::Ar1(0.5), 0.5, 1);
    /// let risk = Risk::new(&data.design, &data.target, Squared::default())?;
    /// let path = Path::over([1, 2, 4, 8]).keep([7]).fit(&risk, &Auto::default())?;
    /// for (k, solution) in path.iter() {
    ///     assert!(solution.support.contains(&7) && solution.support.len() <= k + 1);
    /// }
    /// assert!(path.solutions.windows(2).all(|pair| pair[1].value <= pair[0].value));
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn fit(&self, objective: &dyn Objective, solver: &dyn Solver) -> Result<PathSolution> {
        self.solve(objective, solver, &mut |_| ControlFlow::Continue(()))
    }

    /// One solution per k. `watch` is called once per iteration of the solver; when it returns `Break`, or the time is
    /// up, the path ends with the k reached by then (the last of them perhaps half-way, as its status says).
    pub fn solve(
        &self,
        objective: &dyn Objective,
        solver: &dyn Solver,
        watch: &mut dyn FnMut(&PathProgress) -> ControlFlow<()>,
    ) -> Result<PathSolution> {
        self.validate()?;
        let total = self.ks.len();
        let mut report = |k: usize, done: usize, solver: &Progress| {
            watch(&PathProgress { k, lambda: None, done, total, solver: *solver })
        };
        sweep::run(self, Instant::now(), objective, solver, &[], &mut report)
    }
}

/// `Err` where k is too few for a constraint of the objective.
pub(crate) fn large_enough(objective: &dyn Objective, sparsity: &Sparsity) -> Result<()> {
    let (k, least) = (sparsity.k, objective.least_k(sparsity)?);
    if k >= least {
        return Ok(());
    }
    let problem = format!("no choice of k = {k} has coefficients that add up as they are to: begin with k = {least}");
    Err(Error::Data(problem))
}

/// What a path reports once per iteration of its solver.
#[derive(Debug, Clone, Copy)]
pub struct PathProgress<'a> {
    /// The k being solved for.
    pub k: usize,
    /// The lambda being solved for, on a [`Grid`].
    pub lambda: Option<f64>,
    /// Cells (a k, or a k and a lambda) that have an answer.
    pub done: usize,
    /// Cells in all.
    pub total: usize,
    /// The solver's own report.
    pub solver: Progress<'a>,
}

/// The solutions of a [`Path`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PathSolution {
    /// The values of k solved for, ascending: all that were asked for unless the path was stopped, or needed no more.
    pub ks: Vec<usize>,
    /// One solution per k; their values never rise.
    pub solutions: Vec<Solution>,
    /// [`Status::Stopped`] or [`Status::TimeLimit`] when the path was cut short.
    pub stopped: Option<Status>,
}

impl PathSolution {
    /// The solution for this k, if it was solved for.
    pub fn at(&self, k: usize) -> Option<&Solution> {
        self.ks.binary_search(&k).ok().map(|i| &self.solutions[i])
    }

    /// Pairs of k and solution, ascending in k.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Solution)> {
        self.ks.iter().copied().zip(&self.solutions)
    }

    /// How many k were solved in full: the last one, or all that are searched for at once, may have been interrupted.
    pub fn finished(&self) -> usize {
        let interrupted = |solution: &&Solution| self.stopped == Some(solution.status);
        self.solutions.len() - self.solutions.iter().rev().take_while(interrupted).count()
    }
}
