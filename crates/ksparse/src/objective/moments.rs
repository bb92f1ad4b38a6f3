//! Least squares from moments alone: rows that have them.
//!
//! ```text
//! [X y]'[X y] = D C D,   C = V L V' (C has ones on its diagonal)        rows sqrt(l) v' D:  the same moments
//! ```
//!
//! At most p + 1 rows stand for all n: every sum of squares `||y - X w||^2` is that of the data, so that a risk over
//! them has the same values, gradients and solutions, and whatever works on rows works here. They are multiplied by the
//! root of their number over n, since a risk is a mean.

use super::LinearModel;
use crate::design::Dense;
use crate::error::{Error, Result, check_finite, check_len, check_option};
use crate::linalg::eigen;
use faer::Mat;

/// X'X, X'y, y'y and the number of rows they are sums over; with the means of all, for an intercept.
///
/// ```
/// use ksparse::{Auto, Risk, Solver, Sparsity, loss::Squared, objective::Moments};
/// // Of the rows (1, 2), (2, 1), (3, 3) with y = 2, 4, 6.
/// let moments = Moments::new(&[14.0, 13.0, 13.0, 14.0], &[28.0, 26.0], 56.0, 3)?;
/// let (x, y) = moments.rows()?;
/// let risk = Risk::new(&x, y, Squared::default())?;
/// let solution = Auto::default().fit(&risk, &Sparsity::new(1))?;
/// assert_eq!(solution.support, [0]);
/// assert!((solution.coefficients[0] - 2.0).abs() < 1e-12 && solution.value.abs() < 1e-12);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Moments {
    /// `[X y]'[X y]`, less the means where there are any.
    all: Mat<f64>,
    n: usize,
    means: Option<(Vec<f64>, f64)>,
}

/// How far from symmetric, and how far below 0 an eigenvalue of C may be: what rounding leaves of sums.
const ROUNDING: f64 = 1e-8;

impl Moments {
    /// X'X (p x p), X'y, y'y and n.
    pub fn new(gram: &[f64], cross: &[f64], square: f64, n: usize) -> Result<Self> {
        let p = cross.len();
        check_len("X'X", gram.len(), p * p)?;
        check_option(n > 0, "rows", n, "at least 1")?;
        check_finite("X'X", gram)?;
        check_finite("X'y", cross)?;
        check_finite("y'y", &[square])?;
        let unlike = |a: f64, b: f64, size: f64| (a - b).abs() > ROUNDING * size;
        for i in 0..p {
            for j in 0..i {
                let size = (gram[i * p + i] * gram[j * p + j]).abs().sqrt();
                if unlike(gram[i * p + j], gram[j * p + i], size) {
                    let entries = format!("entries ({i}, {j}) and ({j}, {i}), counted from 0, differ");
                    return Err(Error::Data(format!("X'X is not symmetric: {entries}; give X'X itself")));
                }
            }
        }
        let entry = |i: usize, j: usize| match (i.min(j), i.max(j)) {
            (low, high) if high < p => gram[high * p + low],
            (low, _) if low < p => cross[low],
            _ => square,
        };
        Ok(Self { all: Mat::from_fn(p + 1, p + 1, entry), n, means: None })
    }

    /// With the means of the columns and of the target: what is fitted then has an intercept
    /// ([`model`](Self::model)).
    pub fn with_means(mut self, columns: &[f64], target: f64) -> Result<Self> {
        let p = self.all.nrows() - 1;
        check_len("means", columns.len(), p)?;
        check_finite("means", columns)?;
        check_finite("means", &[target])?;
        let mean = |i: usize| if i < p { columns[i] } else { target };
        let n = self.n as f64;
        self.all = Mat::from_fn(p + 1, p + 1, |i, j| self.all[(i, j)] - n * mean(i) * mean(j));
        self.means = Some((columns.to_vec(), target));
        Ok(self)
    }

    /// Rows with these moments, for a risk without an intercept; `Err` where no rows have them.
    pub fn rows(&self) -> Result<(Dense<'static>, Vec<f64>)> {
        let size = self.all.nrows();
        let no_rows = |why: String| {
            let remedy = "give X'X, X'y, y'y, n (and means) of the same rows, to all their digits";
            Error::Data(format!("no rows have these moments: {why}; {remedy}"))
        };
        let mut roots = Vec::with_capacity(size);
        for j in 0..size {
            let square = self.all[(j, j)];
            if square < 0.0 {
                return Err(no_rows(format!("the sum of squares of column {j} (counted from 0) is {square}")));
            }
            roots.push(if square > 0.0 { square.sqrt() } else { 1.0 });
        }
        let scaled = Mat::from_fn(size, size, |i, j| self.all[(i, j)] / (roots[i] * roots[j]));
        let Some((values, vectors)) = eigen(scaled.as_ref()) else {
            return Err(no_rows("their eigenvalues cannot be found".to_string()));
        };
        if let Some(least) = values.iter().find(|l| **l < -ROUNDING * size as f64) {
            return Err(no_rows(format!("X'X, with y among the columns, has the eigenvalue {least:.3}")));
        }
        let kept: Vec<usize> = (0..size).filter(|&e| values[e] > 1e-14 * size as f64).collect();
        let rows = kept.len().max(1);
        let mean = (rows as f64 / self.n as f64).sqrt();
        let column = |j: usize| -> Vec<f64> {
            let entries = kept.iter().map(|&e| mean * values[e].sqrt() * vectors[(j, e)] * roots[j]);
            let mut column: Vec<f64> = entries.collect();
            column.resize(rows, 0.0);
            if self.all[(j, j)] == 0.0 {
                column.fill(0.0);
            }
            column
        };
        let x: Vec<f64> = (0..size - 1).flat_map(column).collect();
        Ok((Dense::from_columns(rows, size - 1, x)?, column(size - 1)))
    }

    /// Rows with these moments and the weight of each: to a weighted risk they are the data, with an intercept,
    /// standardised columns and criteria that count rows, where the means are known. `Err` where no rows have them.
    ///
    /// ```
    /// use ksparse::{Auto, Risk, Solver, Sparsity, loss::Squared, objective::Moments};
    /// // Of the rows 1, 2, 3 with y = 3, 5, 7.
    /// let moments = Moments::new(&[14.0], &[34.0], 83.0, 3)?.with_means(&[2.0], 5.0)?;
    /// let (x, y, weight) = moments.samples()?;
    /// let weights = vec![weight; y.len()];
    /// let risk = Risk::new(&x, y, Squared::default())?.with_weights(&weights)?.with_intercept();
    /// let model = risk.model(&Auto::default().fit(&risk, &Sparsity::new(1))?);
    /// assert!((model.coefficients[0] - 2.0).abs() < 1e-9 && (model.intercept - 1.0).abs() < 1e-9);
    /// assert!((risk.total_weight() - 3.0).abs() < 1e-12);
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn samples(&self) -> Result<(Dense<'static>, Vec<f64>, f64)> {
        let (x, y) = self.rows()?;
        let rows = y.len();
        let Some((columns, target)) = &self.means else { return Ok((x, y, self.n as f64 / rows as f64)) };
        // Each on both sides of the means, which so are the means of the rows.
        let both = |mean: f64, values: &[f64]| -> Vec<f64> {
            values.iter().map(|v| mean + v).chain(values.iter().map(|v| mean - v)).collect()
        };
        let values: Vec<f64> = columns.iter().enumerate().flat_map(|(j, &mean)| both(mean, x.column(j))).collect();
        let x = Dense::from_columns(2 * rows, columns.len(), values)?;
        Ok((x, both(*target, &y), self.n as f64 / (2 * rows) as f64))
    }

    /// A model of the rows as one of the data: with its intercept, where the means are known.
    pub fn model(&self, mut model: LinearModel) -> LinearModel {
        if let Some((columns, target)) = &self.means {
            let moved: f64 = model.support.iter().zip(&model.coefficients).map(|(&j, w)| columns[j] * w).sum();
            model.intercept = target - moved;
        }
        model
    }
}
