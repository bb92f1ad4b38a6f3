//! How networks are made from covariance matrices: bounds, the method on supports, where a search starts.

use super::covariance::Covariance;
use super::network::Network;
use super::precision::{Bounds, Method, Precision};
use crate::error::Result;
use crate::path::{Path, PathProgress, PathSolution};
use crate::solver::{Progress, Solver, Status};
use std::ops::ControlFlow;
use std::time::Instant;

/// What bounds the eigenvalues of a precision matrix.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Interval {
    /// The bounds of [`Precision::new`], whatever the units.
    #[default]
    Automatic,
    /// Those of [`Precision::with_xi`].
    Xi(f64),
    /// These.
    Given(Bounds),
}

/// What a [`Precision`] is made with beside a covariance matrix, and where the search on it starts: for whoever makes
/// many, one per fold or half.
///
/// ```
/// use ksparse::{Path, graphical::{Covariance, Recipe, Units}, simulate, solver};
/// let sample = simulate::precision(300, 10, 8, 1);
/// let s = Covariance::from_samples(&sample.train, Units::Standardized)?;
/// let published = solver::method("grahtp")?.build(&solver::Settings {
///     options: vec![("step".to_string(), solver::Value::Number(0.05))],
///     ..Default::default()
/// })?;
/// let networks = Recipe::PUBLISHED.family(Path::over([0, 4]), &*published)(&s)?;
/// assert_eq!(networks[1].edges().len(), 4);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Recipe {
    /// The bounds. Default automatic.
    pub interval: Interval,
    /// How f is minimised on a support. Default Newton.
    pub method: Method,
    /// Every search starts at alpha I, as in the paper, instead of at the answer for the k before or the best diagonal.
    pub from_alpha: bool,
}

impl Recipe {
    /// As the paper of the modified GraHTP has it: xi = 0.01, the alternating direction method, alpha I.
    pub const PUBLISHED: Self = Self { interval: Interval::Xi(1e-2), method: Method::Adm, from_alpha: true };

    /// The objective of a covariance matrix.
    pub fn model(&self, covariance: Covariance) -> Result<Precision> {
        let model = Precision::new(covariance)?.with_method(self.method);
        match self.interval {
            Interval::Automatic => Ok(model),
            Interval::Xi(xi) => model.with_xi(xi),
            Interval::Given(bounds) => model.with_bounds(bounds),
        }
    }

    /// One solution per k of the path.
    pub fn solve(
        &self,
        model: &Precision,
        path: &Path,
        solver: &dyn Solver,
        watch: &mut dyn FnMut(&PathProgress) -> ControlFlow<()>,
    ) -> Result<PathSolution> {
        if !self.from_alpha {
            return path.solve(model, solver, watch);
        }
        path.validate()?;
        let (start, total, begun) = (model.start(), path.ks.len(), Instant::now());
        let mut solved = PathSolution { ks: Vec::new(), solutions: Vec::new(), stopped: None };
        for (done, &k) in path.ks.iter().enumerate() {
            let mut report = |solver: &Progress| watch(&PathProgress { k, lambda: None, done, total, solver: *solver });
            let solution = solver.solve(model, &path.sparsity(k), Some(&start), &mut report)?;
            let late = done + 1 < total && path.time_limit.is_some_and(|limit| begun.elapsed() >= limit);
            let ended = [(solution.status == Status::Stopped, Status::Stopped), (late, Status::TimeLimit)];
            solved.stopped = ended.into_iter().find(|(ended, _)| *ended).map(|(_, status)| status);
            solved.ks.push(k);
            solved.solutions.push(solution);
            if solved.stopped.is_some() {
                break;
            }
        }
        Ok(solved)
    }

    /// The family with a network per k of a path.
    pub fn family<'a>(
        &self,
        path: Path,
        solver: &'a dyn Solver,
    ) -> impl Fn(&Covariance) -> Result<Vec<Network>> + Sync + use<'a> {
        let recipe = *self;
        move |covariance| {
            let model = recipe.model(covariance.clone())?;
            let solved = recipe.solve(&model, &path, solver, &mut |_| ControlFlow::Continue(()))?;
            Ok(solved.solutions.iter().map(|solution| model.network(solution)).collect())
        }
    }
}
