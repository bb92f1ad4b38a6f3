//! The covariance matrix behind a network: from samples or given.

use crate::design::Design;
use crate::error::{Error, Result, check_finite, check_len, check_option};
use crate::linalg;
use crate::sparsity::SparseRef;
use faer::{Mat, MatRef};

/// The units of the variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Units {
    /// As they are: S is the covariance.
    #[default]
    Original,
    /// Divided by their standard deviations: S is the correlation matrix.
    Standardized,
}

/// A covariance (or correlation) matrix S with what is known about where it comes from.
///
/// ```
/// use ksparse::{design::Dense, graphical::{Covariance, Units}};
/// let x = Dense::from_rows(4, 2, &[1.0, 5.0, 2.0, 7.0, 3.0, 9.0, 4.0, 11.0])?;
/// let s = Covariance::from_samples(&x, Units::Standardized)?;
/// assert_eq!(s.mean(), [2.5, 8.0]);
/// assert!((s.matrix()[(0, 1)] - 1.0).abs() < 1e-12);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Covariance {
    matrix: Mat<f64>,
    mean: Vec<f64>,
    scale: Vec<f64>,
    rows: Option<usize>,
}

impl Covariance {
    /// `S = (1/n) sum_i (x_i - mean)(x_i - mean)'`, in the units asked for. A constant column has covariance 0 with
    /// everything, itself included (what rounding leaves of it is not taken for a signal).
    pub fn from_samples(samples: &dyn Design, units: Units) -> Result<Self> {
        let (n, p) = (samples.nrows(), samples.ncols());
        check_option(n > 0, "rows", n, "at least 1")?;
        check_option(p > 0, "columns", p, "at least 1")?;
        let mut columns = read(samples)?;
        let sizes = sizes(&columns);
        let mut mean = vec![0.0; p];
        for (j, mean) in mean.iter_mut().enumerate() {
            let column = columns.col_as_slice_mut(j);
            *mean = column.iter().sum::<f64>() / n as f64;
            column.iter_mut().for_each(|v| *v -= *mean);
        }
        Ok(Self { mean, ..Self::from_deviations(columns, &sizes, units) })
    }

    /// The same about means that are known to be 0: `S = (1/n) sum_i x_i x_i'`.
    ///
    /// ```
    /// use ksparse::{design::Dense, graphical::{Covariance, Units}};
    /// let x = Dense::from_rows(2, 1, &[1.0, 3.0])?;
    /// assert_eq!(Covariance::from_centred_samples(&x, Units::Original)?.matrix()[(0, 0)], 5.0);
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn from_centred_samples(samples: &dyn Design, units: Units) -> Result<Self> {
        check_option(samples.nrows() > 0, "rows", samples.nrows(), "at least 1")?;
        check_option(samples.ncols() > 0, "columns", samples.ncols(), "at least 1")?;
        let columns = read(samples)?;
        let sizes = sizes(&columns);
        Ok(Self::from_deviations(columns, &sizes, units))
    }

    /// From deviations, a column per variable, and the sizes of what they were subtracted from; means are set to 0.
    pub(super) fn from_deviations(mut columns: Mat<f64>, sizes: &[f64], units: Units) -> Self {
        let (n, p) = (columns.nrows(), columns.ncols());
        let mut scale = vec![1.0; p];
        for j in 0..p {
            let column = columns.col_as_slice_mut(j);
            let deviation = (column.iter().map(|v| v * v).sum::<f64>() / n as f64).sqrt();
            if deviation <= 4.0 * f64::EPSILON * sizes[j] {
                column.fill(0.0);
            } else if units == Units::Standardized {
                scale[j] = deviation;
                column.iter_mut().for_each(|v| *v /= deviation);
            }
        }
        Self { matrix: linalg::gram(&columns), mean: vec![0.0; p], scale, rows: Some(n) }
    }

    /// The second moments of other deviations in the units of this matrix.
    pub(super) fn of_deviations(&self, mut columns: Mat<f64>) -> Self {
        for (j, scale) in self.scale.iter().enumerate() {
            columns.col_as_slice_mut(j).iter_mut().for_each(|v| *v /= scale);
        }
        let rows = Some(columns.nrows());
        Self { matrix: linalg::gram(&columns), mean: self.mean.clone(), scale: self.scale.clone(), rows }
    }

    /// From the matrix itself, symmetric with a non-negative diagonal; `rows` is the number of samples behind it, where
    /// known (information criteria need it).
    ///
    /// ```
    /// use ksparse::graphical::Covariance;
    /// let s = faer::mat![[1.0, 0.5], [0.5, 2.0]];
    /// assert_eq!(Covariance::from_matrix(s.as_ref(), Some(100))?.variables(), 2);
    /// let skew = faer::mat![[1.0, 0.5], [0.4, 2.0]];
    /// assert!(Covariance::from_matrix(skew.as_ref(), None).is_err());
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn from_matrix(matrix: MatRef<'_, f64>, rows: Option<usize>) -> Result<Self> {
        let p = matrix.nrows();
        check_option(p > 0, "variables", p, "at least 1")?;
        check_len("columns of the covariance matrix", matrix.ncols(), p)?;
        let mut largest = 0.0f64;
        for j in 0..p {
            for i in 0..p {
                if !matrix[(i, j)].is_finite() {
                    return Err(Error::NotFinite { what: "covariance matrix, row", index: i });
                }
                largest = largest.max(matrix[(i, j)].abs());
            }
            if matrix[(j, j)] < 0.0 {
                return Err(Error::Data(format!("variance {} of variable {j} is negative", matrix[(j, j)])));
            }
        }
        for j in 0..p {
            for i in j + 1..p {
                let (a, b) = (matrix[(i, j)], matrix[(j, i)]);
                // What a file with eight digits may differ by.
                if (a - b).abs() > 1e-7 * largest {
                    let problem =
                        format!("the covariance matrix is not symmetric: entry ({i}, {j}) is {a}, ({j}, {i}) is {b}");
                    return Err(Error::Data(problem));
                }
                if a != 0.0 && matrix[(i, i)] * matrix[(j, j)] == 0.0 {
                    let problem = format!("variables {i} and {j} have covariance {a}, but one of them has variance 0");
                    return Err(Error::Data(problem));
                }
            }
        }
        let symmetric = Mat::from_fn(p, p, |i, j| 0.5 * (matrix[(i, j)] + matrix[(j, i)]));
        Ok(Self { matrix: symmetric, mean: vec![0.0; p], scale: vec![1.0; p], rows })
    }

    /// The second moments of other samples about the means, and in the units, of these: what a held-out likelihood is
    /// computed from.
    pub fn of_others(&self, samples: &dyn Design) -> Result<Self> {
        let (n, p) = (samples.nrows(), self.variables());
        check_len("columns of the samples", samples.ncols(), p)?;
        check_option(n > 0, "rows", n, "at least 1")?;
        let mut columns = read(samples)?;
        for (j, mean) in self.mean.iter().enumerate() {
            columns.col_as_slice_mut(j).iter_mut().for_each(|v| *v -= mean);
        }
        Ok(self.of_deviations(columns))
    }

    /// S.
    pub fn matrix(&self) -> &Mat<f64> {
        &self.matrix
    }

    /// p.
    pub fn variables(&self) -> usize {
        self.matrix.nrows()
    }

    /// n, where known.
    pub fn rows(&self) -> Option<usize> {
        self.rows
    }

    /// What was subtracted from each variable (0 for a matrix that was given).
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// What each variable was divided by.
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }
}

/// All columns of a design; `Err` for one that is not finite.
pub(super) fn read(samples: &dyn Design) -> Result<Mat<f64>> {
    let mut columns = Mat::zeros(samples.nrows(), samples.ncols());
    for j in 0..columns.ncols() {
        let column = columns.col_as_slice_mut(j);
        samples.mul(SparseRef::new(&[j], &[1.0]), column);
        if check_finite("column", column).is_err() {
            return Err(Error::NotFinite { what: "samples, column", index: j });
        }
    }
    Ok(columns)
}

/// The largest absolute value of each column.
pub(super) fn sizes(columns: &Mat<f64>) -> Vec<f64> {
    (0..columns.ncols()).map(|j| columns.col_as_slice(j).iter().fold(0.0f64, |m, v| m.max(v.abs()))).collect()
}
