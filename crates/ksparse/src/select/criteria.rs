//! Information criteria: fit plus a price per coefficient, the least total wins.
//!
//! With n rows (the total weight: a weight counts repeats), p features, s of them with a non-zero coefficient and
//! `d = s + 1` degrees of freedom with an intercept, `d = s` without:
//!
//! ```text
//! fit  =  n log(RSS / n)                              squared loss (Gaussian noise of unknown variance)
//!         2 sum_i c_i l(z_i, y_i) = -2 log likelihood  losses that are a negative log-likelihood (logistic)
//!
//! AIC  =  fit + 2 d
//! BIC  =  fit + d log n
//! EBIC =  fit + d log n + 2 gamma log C(p, s)
//! GIC  =  fit + s log(p) log(log n)
//! ```
//!
//! * Constants that all models share (the variance among them) are left out of fit and d.
//! * The ridge is no part of the fit, and shrunken coefficients are counted in full: with lambda > 0 the price is an
//!   upper bound.
//! * With as many degrees of freedom as rows the variance cannot be estimated: the criterion is infinite on squared
//!   loss, so that a model that merely interpolates is never chosen. A residual at rounding error (`RSS <= 1e-24 sum c
//!   y^2`) counts as that bound, so that of several exact fits the smallest wins.
//! * Losses that are no likelihood (squared hinge, Huber, hinge) have no criterion: that is an error, cross-validate
//!   instead.
//! * Weights mean repeats here; weights of another kind should first be scaled to sum to the number of rows.
//!
//! H. Akaike 1974; G. Schwarz 1978; J. Chen, Z. Chen, "Extended Bayesian information criteria for model selection with
//! large model spaces", Biometrika 95, 2008 (gamma = 0 is BIC, 1 the strictest, 0.5 usual); Y. Fan, C. Y. Tang, "Tuning
//! parameter selection in high dimensional penalized likelihood", JRSS B 75, 2013, for GIC in the form that J. Zhu et
//! al., PNAS 117, 2020 (abess) use.

use crate::error::{Error, Result, check_option};
use crate::objective::Risk;
use crate::path::{GridSolution, PathSolution};
use crate::solver::Solution;

/// An information criterion.
///
/// ```
/// use ksparse::{Path, Risk, design::Dense, loss::Squared, select::Criterion, solver::Auto};
/// let x = Dense::from_columns(6, 2, vec![1., 2., 3., 4., 5., 6., 1., -1., 1., 1., -1., 1.])?;
/// let y = [2.1, 3.9, 6.05, 7.9, 10.1, 11.95]; // twice column 0, and noise
/// let risk = Risk::new(&x, &y, Squared::default())?;
/// let path = Path::over(0..=2).fit(&risk, &Auto::default())?;
/// assert_eq!(Criterion::Bic.choose(&risk, &path)?.k, 1);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Criterion {
    /// Akaike's: aims at prediction, overfits when p is large.
    Aic,
    /// Bayesian: finds the true model when p is fixed.
    Bic,
    /// Extended Bayesian: charges for the number of models of a size too.
    Ebic {
        /// From 0 (BIC) to 1; 0.5 is usual.
        gamma: f64,
    },
    /// Generalised: finds the true model when p grows with n.
    Gic,
}

/// A cell that a criterion chose.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Choice {
    /// Its k.
    pub k: usize,
    /// Its lambda.
    pub lambda: f64,
    /// The criterion of every cell, in the order of the path (of the paths one after another for a grid).
    pub scores: Vec<f64>,
    /// Which of them is the chosen one.
    pub index: usize,
}

impl Criterion {
    /// The names [`by_name`](Self::by_name) answers to.
    pub const NAMES: [&str; 4] = ["aic", "bic", "ebic", "gic"];

    /// A criterion by the name the command line uses; EBIC with gamma = 0.5.
    pub fn by_name(name: &str) -> Result<Self> {
        Ok(match name {
            "aic" => Self::Aic,
            "bic" => Self::Bic,
            "ebic" => Self::Ebic { gamma: 0.5 },
            "gic" => Self::Gic,
            _ => {
                let choices = Self::NAMES.join(", ");
                return Err(Error::UnknownName { what: "criterion", name: name.to_string(), choices });
            }
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Aic => "aic",
            Self::Bic => "bic",
            Self::Ebic { .. } => "ebic",
            Self::Gic => "gic",
        }
    }

    /// `Err` for a gamma outside \[0, 1\].
    pub fn validate(&self) -> Result<()> {
        match *self {
            Self::Ebic { gamma } => check_option((0.0..=1.0).contains(&gamma), "gamma", gamma, "between 0 and 1"),
            _ => Ok(()),
        }
    }

    /// What is added to the fit, for n rows, p features, s of them in use, and an intercept or none.
    pub fn penalty(&self, n: f64, p: usize, s: usize, intercept: bool) -> Result<f64> {
        self.validate()?;
        let d = (s + usize::from(intercept)) as f64;
        Ok(match *self {
            Self::Aic => 2.0 * d,
            Self::Bic => d * n.ln(),
            Self::Ebic { gamma } => d * n.ln() + 2.0 * gamma * ln_binomial(p, s),
            Self::Gic if n > std::f64::consts::E => s as f64 * (p as f64).ln() * n.ln().ln(),
            Self::Gic => return Err(Error::Data(format!("GIC needs at least 3 rows, not {n}"))),
        })
    }

    /// The criterion of one solution: lower is better.
    pub fn score(&self, risk: &Risk, solution: &Solution) -> Result<f64> {
        let model = risk.model(solution);
        let used = model.coefficients.iter().filter(|c| **c != 0.0).count();
        let n = risk.total_weight();
        let penalty = self.penalty(n, risk.features(), used, risk.has_intercept())?;
        let mean_loss = risk.loss().total(&risk.predictions(solution.as_sparse()), risk.target(), risk.weights());
        let fit = if risk.loss().is_quadratic() {
            if (used + usize::from(risk.has_intercept())) as f64 >= n {
                return Ok(f64::INFINITY);
            }
            let scale = risk.loss().at(0.0, 0.0).curvature;
            let size: f64 = risk.target().iter().zip(risk.weights()).map(|(y, c)| c * y * y).sum();
            n * (2.0 * mean_loss / scale).max(1e-24 * size).max(f64::MIN_POSITIVE).ln()
        } else if risk.loss().is_likelihood() {
            2.0 * n * mean_loss
        } else {
            let need = "a loss that is a negative log-likelihood (squared or logistic)";
            return Err(Error::Unsupported { solver: self.name(), need });
        };
        Ok(fit + penalty)
    }

    /// The best k of a path, the smallest of those that tie.
    pub fn choose(&self, risk: &Risk, path: &PathSolution) -> Result<Choice> {
        self.best(risk, path.iter().map(|(k, solution)| (k, risk.ridge(), solution)))
    }

    /// The best cell of a grid; ties go to the smallest k, then to the largest lambda.
    pub fn choose_cell(&self, risk: &Risk, grid: &GridSolution) -> Result<Choice> {
        let rows = grid.lambdas.iter().zip(&grid.paths);
        self.best(risk, rows.flat_map(|(&lambda, path)| path.iter().map(move |(k, solution)| (k, lambda, solution))))
    }

    fn best<'s>(&self, risk: &Risk, cells: impl Iterator<Item = (usize, f64, &'s Solution)>) -> Result<Choice> {
        let mut choice = Choice { k: 0, lambda: f64::NAN, scores: Vec::new(), index: 0 };
        for (index, (k, lambda, solution)) in cells.enumerate() {
            let score = self.score(risk, solution)?;
            // Lambdas come in descending order, so an equal k later on never has the larger one.
            let least = choice.scores.get(choice.index).copied().unwrap_or(f64::INFINITY);
            if index == 0 || score < least || (score == least && k < choice.k) {
                (choice.k, choice.lambda, choice.index) = (k, lambda, index);
            }
            choice.scores.push(score);
        }
        if choice.scores.is_empty() {
            return Err(Error::Data("a path without solutions has nothing to choose from".to_string()));
        }
        Ok(choice)
    }
}

/// log C(p, s) as a sum of logarithms of ratios: no factorial, no cancellation. 0 for s > p.
pub fn ln_binomial(p: usize, s: usize) -> f64 {
    let s = s.min(p.saturating_sub(s));
    (1..=s).map(|i| ((p - s + i) as f64 / i as f64).ln()).sum()
}
