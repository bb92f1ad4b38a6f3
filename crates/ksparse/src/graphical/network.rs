//! A precision matrix read as a network.

use crate::error::{Error, Result, check_len};
use crate::linalg::{cholesky, log_det};
use faer::Mat;

/// A pair of variables that depend on each other given all others.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Edge {
    /// The pair, smaller index first.
    pub nodes: (usize, usize),
    /// The entry of the precision matrix.
    pub weight: f64,
    /// `-O_ij / sqrt(O_ii O_jj)`: the correlation of the two given all others.
    pub partial_correlation: f64,
}

/// A sparse precision matrix.
///
/// ```
/// use ksparse::graphical::Network;
/// let network = Network::new(faer::mat![[2.0, -1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]);
/// assert_eq!(network.edges().len(), 1);
/// assert_eq!(network.edges()[0].partial_correlation, 0.5);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Network {
    precision: Mat<f64>,
    edges: Vec<Edge>,
}

impl Network {
    /// The network of a symmetric matrix with a positive diagonal: an edge per off-diagonal pair that is not 0.
    pub fn new(precision: Mat<f64>) -> Self {
        let p = precision.nrows();
        let mut edges = Vec::new();
        for i in 0..p {
            for j in i + 1..p {
                let weight = precision[(i, j)];
                if weight != 0.0 {
                    let partial_correlation = -weight / (precision[(i, i)] * precision[(j, j)]).sqrt();
                    edges.push(Edge { nodes: (i, j), weight, partial_correlation });
                }
            }
        }
        Self { precision, edges }
    }

    /// O.
    pub fn precision(&self) -> &Mat<f64> {
        &self.precision
    }

    /// The edges, in lexicographic order.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// `-log det O + <S, O>` for another covariance matrix: twice the negative log-likelihood per sample, without its
    /// constant.
    pub fn loss(&self, covariance: &Mat<f64>) -> Result<f64> {
        let p = self.precision.nrows();
        check_len("covariance matrix", covariance.nrows(), p)?;
        let factor = cholesky(self.precision.clone())
            .ok_or_else(|| Error::Data("the precision matrix is not positive definite".to_string()))?;
        let mut linear = 0.0;
        for j in 0..p {
            linear += crate::kernels::dot(covariance.col_as_slice(j), self.precision.col_as_slice(j));
        }
        Ok(linear - log_det(&factor))
    }

    /// `||O - other||_F`.
    pub fn distance(&self, other: &Mat<f64>) -> f64 {
        let p = self.precision.nrows();
        let square = |j: usize| -> f64 {
            self.precision.col_as_slice(j).iter().zip(other.col_as_slice(j)).map(|(a, b)| (a - b).powi(2)).sum()
        };
        (0..p).map(square).sum::<f64>().sqrt()
    }
}

/// The harmonic mean of precision and recall of the edges `found` (both lists sorted); 1 when both are empty.
///
/// ```
/// use ksparse::graphical::f_score;
/// assert_eq!(f_score(&[(0, 1), (0, 2)], &[(0, 1), (1, 2)]), 0.5);
/// ```
pub fn f_score(found: &[(usize, usize)], truth: &[(usize, usize)]) -> f64 {
    if found.is_empty() && truth.is_empty() {
        return 1.0;
    }
    let common = found.iter().filter(|e| truth.binary_search(e).is_ok()).count();
    2.0 * common as f64 / (found.len() + truth.len()) as f64
}
