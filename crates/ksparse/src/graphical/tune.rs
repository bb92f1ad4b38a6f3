//! How many edges: held-out likelihood, cross-validation, EBIC, and how stable the edges are.
//!
//! A *family* makes networks of growing complexity from a covariance matrix: [`by_edges`] one per k, or the graphical
//! lasso one per penalty. All are tuned in the same way:
//!
//! ```text
//! held out    -log det O + <S', O>,   S' the second moments of other samples about the means trained on
//! EBIC        n (-log det O + <S, O>) + e log n + 4 gamma e log p,    e edges
//! ```
//!
//! R. Foygel, M. Drton, "Extended Bayesian information criteria for Gaussian graphical models", NeurIPS 2010; N.
//! Meinshausen, P. Buehlmann, "Stability selection", JRSS B 72, 2010.

use super::covariance::{Covariance, Units};
use super::discriminant::Classes;
use super::network::Network;
use super::recipe::Recipe;
use crate::design::{Design, Rows};
use crate::error::{Error, Result, check_len, check_option};
use crate::path::Path;
use crate::select::{CvCell, Folds};
use crate::solver::Solver;
use faer::Mat;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Networks of growing complexity, as many for every covariance matrix.
pub type Family<'a> = dyn Fn(&Covariance) -> Result<Vec<Network>> + Sync + 'a;

/// The family with a network per k of a path, by the default [`Recipe`].
///
/// ```
/// use ksparse::{Path, graphical::{self, Covariance, Units}, simulate, solver::Grahtp};
/// let sample = simulate::precision(300, 300, 12, 1);
/// let s = Covariance::from_samples(&sample.train, Units::Original)?;
/// let solver = Grahtp::default();
/// let family = graphical::by_edges(Path::over(0..=20), &solver);
/// let networks = family(&s)?;
/// let choice = graphical::held_out(&networks, &s.of_others(&sample.tune)?)?;
/// assert!(choice.index > 3);
/// # Ok::<(), ksparse::Error>(())
/// ```
pub fn by_edges(path: Path, solver: &dyn Solver) -> impl Fn(&Covariance) -> Result<Vec<Network>> + Sync + '_ {
    Recipe::default().family(path, solver)
}

/// Which network of a family a score favours.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tuned {
    /// Its place in the family: the first of those that tie.
    pub index: usize,
    /// The score of every member, lower is better.
    pub scores: Vec<f64>,
    /// The standard error of each, where there are several folds.
    pub standard_errors: Option<Vec<f64>>,
}

impl Tuned {
    fn least(scores: Vec<f64>, standard_errors: Option<Vec<f64>>) -> Result<Self> {
        let index = (0..scores.len())
            .min_by(|&a, &b| scores[a].total_cmp(&scores[b]))
            .ok_or_else(|| Error::Data("a family without networks has nothing to choose from".to_string()))?;
        Ok(Self { index, scores, standard_errors })
    }

    /// The first network within one standard error (the best one's) of the best; the best where there are no standard
    /// errors.
    pub fn one_standard_error(&self) -> usize {
        let slack = self.standard_errors.as_ref().map_or(0.0, |e| e[self.index]);
        let bound = self.scores[self.index] + slack;
        self.scores.iter().position(|s| *s <= bound).unwrap_or(self.index)
    }
}

/// Scores networks on other samples (see [`Covariance::of_others`]).
pub fn held_out(networks: &[Network], others: &Covariance) -> Result<Tuned> {
    let scores = networks.iter().map(|n| n.loss(others.matrix())).collect::<Result<Vec<f64>>>()?;
    Tuned::least(scores, None)
}

/// The mean log-likelihood of the samples behind `others` in their own units, under a network in those of `others`.
///
/// ```
/// use ksparse::{design::Dense, graphical::{self, Covariance, Network, Units}};
/// let x = Dense::from_rows(2, 1, &[-2.0, 2.0])?;
/// let standard = Covariance::from_samples(&x, Units::Standardized)?;
/// // A normal distribution of deviation 2, at 2.
/// let expected = -0.5 - (2.0 * (2.0 * std::f64::consts::PI).sqrt()).ln();
/// let found = graphical::log_likelihood(&Network::new(faer::mat![[1.0]]), &standard)?;
/// assert!((found - expected).abs() < 1e-12);
/// # Ok::<(), ksparse::Error>(())
/// ```
pub fn log_likelihood(network: &Network, others: &Covariance) -> Result<f64> {
    let constant = others.variables() as f64 * (2.0 * std::f64::consts::PI).ln();
    let units: f64 = others.scale().iter().map(|scale| scale.ln()).sum();
    Ok(-0.5 * (network.loss(others.matrix())? + constant) - units)
}

/// Scores networks by the extended Bayesian criterion; gamma from 0 (BIC) to 1, 0.5 is usual.
pub fn ebic(networks: &[Network], covariance: &Covariance, gamma: f64) -> Result<Tuned> {
    check_option((0.0..=1.0).contains(&gamma), "gamma", gamma, "between 0 and 1")?;
    let rows = covariance.rows().ok_or(Error::Unsupported { solver: "ebic", need: "the number of samples" })?;
    let (n, p) = (rows as f64, covariance.variables() as f64);
    let score = |network: &Network| {
        let edges = network.edges().len() as f64;
        Ok(n * network.loss(covariance.matrix())? + edges * (n.ln() + 4.0 * gamma * p.ln()))
    };
    Tuned::least(networks.iter().map(score).collect::<Result<Vec<f64>>>()?, None)
}

/// Cross-validates a family: trained on all folds but one, scored on that one. Folds run in parallel.
///
/// ```
/// use ksparse::{Path, graphical::{self, Units}, select::Folds, simulate, solver::Grahtp};
/// let sample = simulate::precision(200, 10, 10, 1);
/// let solver = Grahtp::default();
/// let family = graphical::by_edges(Path::over([0, 2, 4, 6, 8]), &solver);
/// let tuned = graphical::cross_validate(&sample.train, Units::Original, &Folds::seeded(200, 5, 1)?, &family)?;
/// assert_eq!(tuned.scores.len(), 5);
/// # Ok::<(), ksparse::Error>(())
/// ```
pub fn cross_validate(samples: &dyn Design, units: Units, folds: &Folds, family: &Family) -> Result<Tuned> {
    check_len("folds", folds.rows(), samples.nrows())?;
    by_fold(folds, |fold| {
        let train = Covariance::from_samples(&Rows::new(samples, folds.training(fold))?, units)?;
        let other = train.of_others(&Rows::new(samples, folds.held_out(fold))?)?;
        Ok(held_out(&family(&train)?, &other)?.scores)
    })
}

/// The same within classes: the rows held out are scored about the class means of those trained on.
///
/// ```
/// use ksparse::{Path, graphical::{self, Units}, select::Folds, simulate, solver::Grahtp};
/// let sample = simulate::precision(200, 10, 10, 1);
/// let labels: Vec<f64> = (0..200).map(|i| f64::from(i % 2)).collect();
/// let solver = Grahtp::default();
/// let family = graphical::by_edges(Path::over([0, 2, 4, 6, 8]), &solver);
/// let folds = Folds::stratified(&labels, 5, 1)?;
/// let tuned = graphical::cross_validate_within(&sample.train, &labels, Units::Original, &folds, &family)?;
/// assert_eq!(tuned.scores.len(), 5);
/// # Ok::<(), ksparse::Error>(())
/// ```
pub fn cross_validate_within(
    samples: &dyn Design,
    labels: &[f64],
    units: Units,
    folds: &Folds,
    family: &Family,
) -> Result<Tuned> {
    check_len("labels", labels.len(), samples.nrows())?;
    check_len("folds", folds.rows(), samples.nrows())?;
    let part = |rows: Vec<usize>| -> Result<(Rows<&dyn Design>, Vec<f64>)> {
        let labels = rows.iter().map(|&i| labels[i]).collect();
        Ok((Rows::new(samples, rows)?, labels))
    };
    by_fold(folds, |fold| {
        let (inside, own) = part(folds.training(fold))?;
        let (outside, other) = part(folds.held_out(fold))?;
        let classes = Classes::of(&inside, &own)?;
        let train = classes.covariance(&inside, units)?;
        let others = classes.of_others(&outside, &other, &train)?;
        Ok(held_out(&family(&train)?, &others)?.scores)
    })
}

/// Scores every fold, side by side, and averages.
fn by_fold(folds: &Folds, score: impl Fn(usize) -> Result<Vec<f64>> + Sync) -> Result<Tuned> {
    let scores: Vec<Vec<f64>> = (0..folds.count()).into_par_iter().map(&score).collect::<Result<_>>()?;
    let sizes: Vec<f64> = (0..folds.count()).map(|fold| folds.held_out(fold).len() as f64).collect();
    average(&scores, &sizes, folds.deals().len())
}

/// The mean over folds of these sizes and its standard error, member by member: as in every other cross-validation.
fn average(scores: &[Vec<f64>], sizes: &[f64], times: usize) -> Result<Tuned> {
    let members = scores.iter().map(Vec::len).min().unwrap_or(0);
    let cell = |c: usize| CvCell::new(c, 0.0, scores.iter().map(|s| s[c]).collect(), sizes).scored(times as f64);
    let (means, errors) = (0..members).map(cell).map(|cell| (cell.mean, cell.standard_error)).unzip();
    Tuned::least(means, Some(errors))
}

/// How often each edge is found on random halves of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stability {
    /// How many resamples. Default 50.
    pub resamples: usize,
    /// The share of the samples in each, drawn without replacement. Default 0.5.
    pub share: f64,
    /// The seed. Default 0.
    pub seed: u64,
}

impl Default for Stability {
    fn default() -> Self {
        Self { resamples: 50, share: 0.5, seed: 0 }
    }
}

impl Stability {
    /// Symmetric, with the share of the resamples in which `fit` finds the edge. Resamples run in parallel.
    ///
    /// ```
    /// use ksparse::{Solver, Sparsity, graphical::{Precision, Stability, Units}, simulate, solver::Grahtp};
    /// let sample = simulate::precision(300, 10, 8, 1);
    /// let stability = Stability { resamples: 10, ..Stability::default() };
    /// let frequencies = stability.frequencies(&sample.train, Units::Original, &|s| {
    ///     let model = Precision::new(s.clone())?;
    ///     Ok(model.network(&Grahtp::default().fit(&model, &Sparsity::new(3))?))
    /// })?;
    /// let total: f64 = (0..8).flat_map(|i| (0..i).map(move |j| (i, j))).map(|e| frequencies[e]).sum();
    /// assert!((total - 3.0).abs() < 1e-9); // three edges a resample
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn frequencies(
        &self,
        samples: &dyn Design,
        units: Units,
        fit: &(dyn Fn(&Covariance) -> Result<Network> + Sync),
    ) -> Result<Mat<f64>> {
        self.frequencies_until(samples, units, &|s| fit(s).map(Some), &|| false).map(|(frequencies, _)| frequencies)
    }

    /// The same within limits: no resample is begun once `stop` says so, and one for which `fit` finds `None` does
    /// not count. Returns how many did, too; without any, all frequencies are 0.
    pub fn frequencies_until(
        &self,
        samples: &dyn Design,
        units: Units,
        fit: &(dyn Fn(&Covariance) -> Result<Option<Network>> + Sync),
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(Mat<f64>, usize)> {
        check_option(self.resamples > 0, "resamples", self.resamples, "at least 1")?;
        check_option(self.share > 0.0 && self.share <= 1.0, "share", self.share, "above 0 and at most 1")?;
        let n = samples.nrows();
        let size = ((self.share * n as f64).round() as usize).clamp(2.min(n), n);
        let found = |r: usize| -> Result<Option<Vec<(usize, usize)>>> {
            if stop() {
                return Ok(None);
            }
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream(r as u64 + 1);
            let mut rows: Vec<usize> = (0..n).collect();
            rows.shuffle(&mut random);
            rows.truncate(size);
            rows.sort_unstable();
            let network = fit(&Covariance::from_samples(&Rows::new(samples, rows)?, units)?)?;
            Ok(network.map(|network| network.edges().iter().map(|e| e.nodes).collect()))
        };
        let found: Vec<Option<Vec<_>>> = (0..self.resamples).into_par_iter().map(found).collect::<Result<_>>()?;
        let edges: Vec<Vec<(usize, usize)>> = found.into_iter().flatten().collect();
        let counted = edges.len();
        let mut counts = Mat::<f64>::zeros(samples.ncols(), samples.ncols());
        for (i, j) in edges.into_iter().flatten() {
            counts[(i, j)] += 1.0;
            counts[(j, i)] += 1.0;
        }
        let total = counted.max(1) as f64;
        Ok((Mat::from_fn(counts.nrows(), counts.ncols(), |i, j| counts[(i, j)] / total), counted))
    }
}
