//! A point of a run.

use crate::sparsity::SparseRef;
use std::cell::OnceCell;

/// A feasible point: active coordinates (ascending, free ones included), their values, f there.
#[derive(Debug, Clone)]
pub(in crate::solver) struct Iterate {
    pub support: Vec<usize>,
    pub x: Vec<f64>,
    pub value: f64,
    /// False when f has no minimum on this support.
    pub attained: bool,
    /// The whole gradient here, computed on the first request.
    pub(super) gradient: OnceCell<Vec<f64>>,
    /// The units of the coordinates here, likewise.
    pub(super) units: OnceCell<Option<Vec<f64>>>,
}

impl Iterate {
    pub fn new(support: Vec<usize>, x: Vec<f64>, value: f64, attained: bool) -> Self {
        Self { support, x, value, attained, gradient: OnceCell::new(), units: OnceCell::new() }
    }

    pub fn as_sparse(&self) -> SparseRef<'_> {
        SparseRef::new(&self.support, &self.x)
    }

    /// The value at coordinate j, 0 off the support.
    pub fn at(&self, j: usize) -> f64 {
        self.support.binary_search(&j).map_or(0.0, |i| self.x[i])
    }

    /// `||self - other||` and `||other||`.
    pub fn distance(&self, other: &Iterate) -> (f64, f64) {
        let mut square: f64 = self.support.iter().zip(&self.x).map(|(&j, x)| (x - other.at(j)).powi(2)).sum();
        for (&j, y) in other.support.iter().zip(&other.x) {
            if self.support.binary_search(&j).is_err() {
                square += y * y;
            }
        }
        (square.sqrt(), other.x.iter().map(|y| y * y).sum::<f64>().sqrt())
    }
}

/// The coordinates in either support, ascending.
pub(in crate::solver) fn union(a: &[usize], b: &[usize]) -> Vec<usize> {
    let mut all: Vec<usize> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}
