//! Linear discriminant analysis with a sparse shared precision matrix.
//!
//! ```text
//! score_l(x) = x'O m_l - m_l'O m_l / 2 + log pi_l,     the class with the largest score wins
//! ```
//!
//! m_l and pi_l are means and frequencies of the classes, O a precision matrix fitted to the covariance within classes.

use super::covariance::{Covariance, Units, read, sizes};
use super::network::Network;
use crate::design::Design;
use crate::error::{Error, Result, check_finite, check_len};
use crate::kernels::dot;
use crate::sparsity::top_by;
use faer::Mat;

/// The classes of some samples, with their means: what remains once the means are subtracted is what a precision matrix
/// is fitted to.
///
/// ```
/// use ksparse::{Solver, Sparsity, design::Dense, graphical::{Classes, Confusion, Precision, Units}, solver::Grahtp};
/// let x = Dense::from_rows(6, 2, &[0.0, 0.1, 1.0, 0.8, 2.0, 2.2, 3.0, 0.1, 4.0, 0.9, 5.1, 2.0])?;
/// let labels = [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0];
/// let classes = Classes::of(&x, &labels)?;
/// let model = Precision::new(classes.covariance(&x, Units::Original)?)?;
/// let rule = classes.rule(&model.network(&Grahtp::default().fit(&model, &Sparsity::new(1))?), model.covariance());
/// let predicted = rule.predict(&x)?;
/// let table = Confusion::of(&predicted, &labels, 1.0);
/// assert_eq!((table.sensitivity(), table.specificity(), table.mcc()), (1.0, 1.0, 1.0));
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Classes {
    labels: Vec<f64>,
    /// The class of every row.
    of_row: Vec<usize>,
    counts: Vec<usize>,
    /// A mean per class.
    means: Vec<Vec<f64>>,
}

impl Classes {
    /// The classes are the distinct values of `labels`, ascending; at least two.
    pub fn of(samples: &dyn Design, labels: &[f64]) -> Result<Self> {
        let (n, p) = (samples.nrows(), samples.ncols());
        check_len("labels", labels.len(), n)?;
        check_finite("labels", labels)?;
        let mut distinct = labels.to_vec();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        if distinct.len() < 2 {
            return Err(Error::Data(format!("{} class among {n} rows: a rule needs at least two", distinct.len())));
        }
        let of_row: Vec<usize> = labels.iter().map(|l| distinct.partition_point(|d| d < l)).collect();
        let mut counts = vec![0; distinct.len()];
        of_row.iter().for_each(|&c| counts[c] += 1);
        let columns = read(samples)?;
        let mut means = vec![vec![0.0; p]; distinct.len()];
        for (i, &c) in of_row.iter().enumerate() {
            let weight = 1.0 / counts[c] as f64;
            means[c].iter_mut().enumerate().for_each(|(j, m)| *m += weight * columns[(i, j)]);
        }
        Ok(Self { labels: distinct, of_row, counts, means })
    }

    /// The distinct labels, ascending.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// The covariance within classes of the samples they were made from: each row less the mean of its class, divided
    /// by n.
    pub fn covariance(&self, samples: &dyn Design, units: Units) -> Result<Covariance> {
        let mut columns = read(samples)?;
        let sizes = sizes(&columns);
        self.subtract_means(&mut columns, &self.of_row)?;
        Ok(Covariance::from_deviations(columns, &sizes, units))
    }

    /// The second moments of other labelled samples about the class means of these, in the units of `like`.
    pub fn of_others(&self, samples: &dyn Design, labels: &[f64], like: &Covariance) -> Result<Covariance> {
        let class = |label: &f64| {
            let c = self.labels.partition_point(|d| d < label);
            let known = self.labels.get(c) == Some(label);
            if known { Ok(c) } else { Err(Error::Data(format!("class {label} is not among those trained on"))) }
        };
        let of_row = labels.iter().map(class).collect::<Result<Vec<usize>>>()?;
        let mut columns = read(samples)?;
        self.subtract_means(&mut columns, &of_row)?;
        Ok(like.of_deviations(columns))
    }

    fn subtract_means(&self, columns: &mut Mat<f64>, of_row: &[usize]) -> Result<()> {
        check_len("labels", of_row.len(), columns.nrows())?;
        check_len("columns of the samples", columns.ncols(), self.means[0].len())?;
        for j in 0..columns.ncols() {
            columns.col_as_slice_mut(j).iter_mut().zip(of_row).for_each(|(v, &c)| *v -= self.means[c][j]);
        }
        Ok(())
    }

    /// The rule with this precision matrix, which is in the units of `covariance`.
    pub fn rule(&self, network: &Network, covariance: &Covariance) -> Rule {
        let p = self.means[0].len();
        let n: usize = self.counts.iter().sum();
        let (o, scale) = (network.precision(), covariance.scale());
        let mut directions = Vec::new();
        let mut offsets = Vec::new();
        for (mean, &count) in self.means.iter().zip(&self.counts) {
            let scaled: Vec<f64> = mean.iter().zip(scale).map(|(m, s)| m / s).collect();
            let mut direction: Vec<f64> = (0..p).map(|i| dot(o.col_as_slice(i), &scaled)).collect();
            offsets.push((count as f64 / n as f64).ln() - 0.5 * dot(&direction, &scaled));
            direction.iter_mut().zip(scale).for_each(|(d, s)| *d /= s);
            directions.push(direction);
        }
        Rule { labels: self.labels.clone(), directions, offsets }
    }
}

/// A linear rule: a direction and an offset per class.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rule {
    /// The labels of the classes, ascending.
    pub labels: Vec<f64>,
    /// `O m_l` per class, in the original units.
    pub directions: Vec<Vec<f64>>,
    /// `log pi_l - m_l'O m_l / 2` per class.
    pub offsets: Vec<f64>,
}

impl Rule {
    /// The score of every class (columns) for every row.
    pub fn scores(&self, samples: &dyn Design) -> Result<Mat<f64>> {
        let columns = read(samples)?;
        let (n, p) = (columns.nrows(), columns.ncols());
        check_len("columns of the samples", p, self.directions[0].len())?;
        let mut scores = Mat::zeros(n, self.labels.len());
        for (c, (direction, offset)) in self.directions.iter().zip(&self.offsets).enumerate() {
            let score = scores.col_as_slice_mut(c);
            score.fill(*offset);
            for (j, d) in direction.iter().enumerate() {
                score.iter_mut().zip(columns.col_as_slice(j)).for_each(|(s, x)| *s += d * x);
            }
        }
        Ok(scores)
    }

    /// The label with the largest score for every row; ties go to the first class.
    pub fn predict(&self, samples: &dyn Design) -> Result<Vec<f64>> {
        let scores = self.scores(samples)?;
        let best =
            |i: usize| (1..self.labels.len()).fold(0, |b, c| if scores[(i, c)] > scores[(i, b)] { c } else { b });
        Ok((0..scores.nrows()).map(|i| self.labels[best(i)]).collect())
    }
}

/// How predictions of two classes compare with the truth.
///
/// ```
/// use ksparse::graphical::Confusion;
/// let table = Confusion::of(&[1.0, 1.0, -1.0, -1.0], &[1.0, -1.0, -1.0, -1.0], 1.0);
/// assert_eq!((table.sensitivity(), table.specificity()), (1.0, 2.0 / 3.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Confusion {
    /// Positives called positive.
    pub true_positives: usize,
    /// Negatives called positive.
    pub false_positives: usize,
    /// Negatives called negative.
    pub true_negatives: usize,
    /// Positives called negative.
    pub false_negatives: usize,
}

impl Confusion {
    /// Counts, `positive` being the label of the positive class and all others negative.
    pub fn of(predicted: &[f64], truth: &[f64], positive: f64) -> Self {
        let count = |called: bool, is: bool| {
            predicted.iter().zip(truth).filter(|(a, b)| (**a == positive) == called && (**b == positive) == is).count()
        };
        Self {
            true_positives: count(true, true),
            false_positives: count(true, false),
            true_negatives: count(false, false),
            false_negatives: count(false, true),
        }
    }

    /// `TN / (TN + FP)`; 1 without negatives.
    pub fn specificity(&self) -> f64 {
        share(self.true_negatives, self.false_positives)
    }

    /// `TP / (TP + FN)`; 1 without positives.
    pub fn sensitivity(&self) -> f64 {
        share(self.true_positives, self.false_negatives)
    }

    /// Matthews' correlation coefficient; 0 where a row or column of the table is empty.
    pub fn mcc(&self) -> f64 {
        let (tp, fp) = (self.true_positives as f64, self.false_positives as f64);
        let (tn, fneg) = (self.true_negatives as f64, self.false_negatives as f64);
        let below = ((tp + fp) * (tp + fneg) * (tn + fp) * (tn + fneg)).sqrt();
        if below > 0.0 { (tp * tn - fp * fneg) / below } else { 0.0 }
    }
}

fn share(good: usize, bad: usize) -> f64 {
    if good + bad == 0 { 1.0 } else { good as f64 / (good + bad) as f64 }
}

/// The `count` columns with the largest two-sample t statistic (equal variances) between two classes, ascending. Screen
/// on the training rows only: a screen that has seen the test rows flatters every rule built on it.
///
/// ```
/// use ksparse::{design::Dense, graphical::screen_by_t};
/// let x = Dense::from_columns(4, 2, vec![1.0, 2.0, 1.1, 2.1, 0.0, 0.1, 5.0, 5.1])?;
/// assert_eq!(screen_by_t(&x, &[-1.0, -1.0, 1.0, 1.0], 1)?, [1]);
/// # Ok::<(), ksparse::Error>(())
/// ```
pub fn screen_by_t(samples: &dyn Design, labels: &[f64], count: usize) -> Result<Vec<usize>> {
    let classes = Classes::of(samples, labels)?;
    if classes.labels.len() != 2 {
        return Err(Error::Data(format!("a two-sample t test needs two classes, not {}", classes.labels.len())));
    }
    let columns = read(samples)?;
    let (a, b) = (classes.counts[0] as f64, classes.counts[1] as f64);
    let square = |j: usize| {
        let deviations = columns.col_as_slice(j).iter().zip(&classes.of_row).map(|(v, &c)| v - classes.means[c][j]);
        let within: f64 = deviations.map(|d| d * d).sum::<f64>() / (a + b - 2.0).max(1.0) * (1.0 / a + 1.0 / b);
        let apart = classes.means[1][j] - classes.means[0][j];
        // Equal within each class and different between: separated for certain.
        if apart == 0.0 { 0.0 } else { apart * apart / within }
    };
    let statistics: Vec<f64> = (0..columns.ncols()).map(square).collect();
    let mut chosen = top_by(statistics.len(), count, |j| statistics[j]);
    chosen.sort_unstable();
    Ok(chosen)
}
