//! Which coordinates may be non-zero: the budget `k`, free coordinates, groups, and picking winners.
//!
//! Ties always go to the smaller index, so that every run is deterministic.

mod groups;

pub use groups::Partition;

use crate::error::{Error, Result};
use groups::Units;
use std::cmp::Ordering;
use std::sync::Arc;

/// A vector given by its non-zero entries. Indices are distinct, in any order.
///
/// ```
/// use ksparse::SparseRef;
/// let w = SparseRef::new(&[3, 1], &[2.5, -1.0]);
/// assert_eq!(w.to_dense(5), [0.0, -1.0, 0.0, 2.5, 0.0]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SparseRef<'a> {
    /// The coordinates.
    pub indices: &'a [usize],
    /// Their values, in the same order.
    pub values: &'a [f64],
}

impl<'a> SparseRef<'a> {
    /// The vector with `values[i]` at `indices[i]`.
    pub fn new(indices: &'a [usize], values: &'a [f64]) -> Self {
        debug_assert_eq!(indices.len(), values.len());
        Self { indices, values }
    }

    /// The zero vector.
    pub const ZERO: SparseRef<'static> = SparseRef { indices: &[], values: &[] };

    /// Pairs of coordinate and value.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + 'a {
        self.indices.iter().copied().zip(self.values.iter().copied())
    }

    /// The same vector with every entry stored.
    pub fn to_dense(&self, dim: usize) -> Vec<f64> {
        let mut dense = vec![0.0; dim];
        for (j, v) in self.iter() {
            dense[j] = v;
        }
        dense
    }
}

/// The constraint: at most `k` non-zero coordinates, `keep` free of charge.
///
/// ```
/// use ksparse::{Auto, Risk, Solver, Sparsity, loss::Squared, simulate::{Correlation, linear}};
/// let data = linear(60, 20, 3, Correlation::Independent, 0.1, 1);
/// let risk = Risk::new(&data.design, &data.target, Squared::default())?;
/// assert_eq!(Auto::default().fit(&risk, &Sparsity::new(3))?.support.len(), 3);
/// // Columns 0 and 1 are in whatever they do for f, and three others beside them.
/// let solution = Auto::default().fit(&risk, &Sparsity::new(3).keep([0, 1]))?;
/// assert!(solution.support.starts_with(&[0, 1]));
/// assert_eq!(solution.support.len(), 5);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sparsity {
    /// How many coordinates may be non-zero, free ones not counted. More than there are means all.
    pub k: usize,
    /// Coordinates that are never thresholded and not counted in `k` (forced-in variables), beside those
    /// the objective itself declares free (an intercept, a diagonal).
    pub keep: Vec<usize>,
    /// Groups of coordinates that are in or out together, of which `k` then counts how many are in. A coordinate that
    /// is kept belongs to none. Default: every coordinate stands alone.
    pub groups: Option<Arc<Partition>>,
}

impl Sparsity {
    /// At most `k` non-zeros.
    pub fn new(k: usize) -> Self {
        Self { k, keep: Vec::new(), groups: None }
    }

    /// The same budget with these coordinates forced in, free of charge.
    pub fn keep(mut self, coordinates: impl IntoIterator<Item = usize>) -> Self {
        self.keep.extend(coordinates);
        self
    }

    /// The same budget, counted in groups.
    ///
    /// ```
    /// use ksparse::{Auto, Risk, Solver, Sparsity, loss::Squared, simulate, sparsity::Partition};
    /// let data = simulate::linear(100, 12, 3, simulate::Correlation::Independent, 0.1, 1);
    /// let risk = Risk::new(&data.design, &data.target, Squared::default())?;
    /// let thirds = Partition::of_labels(&[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    /// let solution = Auto::default().fit(&risk, &Sparsity::new(1).in_groups(thirds))?;
    /// assert_eq!(solution.support.len(), 4);
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn in_groups(mut self, groups: impl Into<Arc<Partition>>) -> Self {
        self.groups = Some(groups.into());
        self
    }
}

/// A [`Sparsity`] resolved against an objective: who is free, what is counted, how much of it may enter.
///
/// What is counted are units: groups of coordinates, or the coordinates themselves where there are no groups. The
/// number of a unit is then that of its coordinate.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    /// min(k, number of units).
    pub k: usize,
    /// Free coordinates, ascending, distinct.
    pub free: Vec<usize>,
    is_free: Vec<bool>,
    units: Option<Units>,
}

impl Budget {
    pub fn new(sparsity: &Sparsity, declared_free: &[usize], dim: usize) -> Result<Self> {
        let mut is_free = vec![false; dim];
        for &index in sparsity.keep.iter().chain(declared_free) {
            if index >= dim {
                return Err(Error::IndexOutOfRange { what: "free coordinate", index, bound: dim });
            }
            is_free[index] = true;
        }
        let free: Vec<usize> = (0..dim).filter(|&j| is_free[j]).collect();
        let units = sparsity.groups.as_deref().map_or(Ok(None), |groups| Units::new(groups, &is_free))?;
        let all = units.as_ref().map_or(dim - free.len(), Units::count);
        Ok(Self { k: sparsity.k.min(all), free, is_free, units })
    }

    /// The constraint with another k.
    pub fn sparsity(&self, k: usize) -> Sparsity {
        Sparsity { k, keep: self.free.clone(), groups: self.units.as_ref().map(|units| Arc::new(units.partition())) }
    }

    pub fn is_free(&self, j: usize) -> bool {
        self.is_free[j]
    }

    /// `Err` where k counts groups of several coordinates, for solvers that move single ones.
    pub fn single(&self, solver: &'static str) -> Result<()> {
        let need =
            "k to count single coordinates, not groups: take auto, exact, grahtp, grasp, fbs, foba, diht or svrght";
        if self.units.is_none() { Ok(()) } else { Err(Error::Unsupported { solver, need }) }
    }

    pub fn is_grouped(&self) -> bool {
        self.units.is_some()
    }

    /// How many coordinates a unit has, on average.
    pub fn mean_size(&self) -> f64 {
        match &self.units {
            None => 1.0,
            Some(units) => (self.is_free.len() - self.free.len()) as f64 / units.count() as f64,
        }
    }

    /// As many numbers of units there are.
    pub fn units(&self) -> usize {
        self.units.as_ref().map_or(self.is_free.len(), Units::count)
    }

    /// The unit of a coordinate that is not free.
    pub fn unit(&self, j: usize) -> Option<usize> {
        match &self.units {
            _ if self.is_free[j] => None,
            None => Some(j),
            Some(units) => units.of(j),
        }
    }

    /// The coordinates of a unit, ascending.
    pub fn members(&self, unit: usize) -> impl Iterator<Item = usize> + '_ {
        let (alone, group) = match &self.units {
            None => (Some(unit), &[][..]),
            Some(units) => (None, units.members(unit)),
        };
        alone.into_iter().chain(group.iter().copied())
    }

    /// The score of a unit: the Euclidean length of its coordinates' scores; of one alone the score itself.
    pub fn score(&self, unit: usize, score: impl Fn(usize) -> f64) -> f64 {
        match self.units.as_ref().map(|units| units.members(unit)) {
            None => score(unit),
            Some([j]) => score(*j),
            Some(many) => many.iter().map(|&j| score(j).powi(2)).sum::<f64>().sqrt(),
        }
    }

    /// The units of a support, ascending.
    pub fn units_of(&self, support: &[usize]) -> Vec<usize> {
        let mut units: Vec<usize> = support.iter().filter_map(|&j| self.unit(j)).collect();
        if self.units.is_some() {
            units.sort_unstable();
            units.dedup();
        }
        units
    }

    /// How many units a support has.
    pub fn counted(&self, support: &[usize]) -> usize {
        self.units_of(support).len()
    }

    /// A support with a unit more, ascending.
    pub fn with(&self, support: &[usize], unit: usize) -> Vec<usize> {
        let mut wider: Vec<usize> = support.iter().copied().chain(self.members(unit)).collect();
        wider.sort_unstable();
        wider
    }

    /// A support without a unit.
    pub fn without(&self, support: &[usize], unit: usize) -> Vec<usize> {
        support.iter().copied().filter(|&j| self.unit(j) != Some(unit)).collect()
    }

    /// The most coordinates that `count` units and the free ones can be.
    pub fn most(&self, count: usize) -> usize {
        self.units.as_ref().map_or(count, |units| units.largest(count)) + self.free.len()
    }

    /// The most coordinates of a feasible support.
    pub fn full(&self) -> usize {
        self.most(self.k)
    }

    /// The (at most) `count` units with the largest positive score, best first; ties to the smaller.
    pub fn top(&self, count: usize, score: impl Fn(usize) -> f64) -> Vec<usize> {
        let scored = |unit: usize| {
            if self.units.is_none() && self.is_free[unit] { 0.0 } else { self.score(unit, &score) }
        };
        top_by(self.units(), count, scored)
    }

    /// The free coordinates and those of the `count` units with the largest positive score, ascending.
    pub fn winners(&self, count: usize, score: impl Fn(usize) -> f64) -> Vec<usize> {
        let mut chosen: Vec<usize> = self.top(count, score).into_iter().flat_map(|unit| self.members(unit)).collect();
        chosen.extend_from_slice(&self.free);
        chosen.sort_unstable();
        chosen
    }
}

/// The indices of the (at most) `count` largest strictly positive scores among `0..len`, best first;
/// ties go to the smaller index. One streaming pass: a candidate costs one comparison unless it beats
/// the `count`-th best seen so far.
///
/// ```
/// let scores = [1.0, 3.0, 0.0, 3.0];
/// assert_eq!(ksparse::sparsity::top_by(4, 2, |j| scores[j]), [1, 3]);
/// ```
pub fn top_by(len: usize, count: usize, score: impl Fn(usize) -> f64) -> Vec<usize> {
    if count == 0 {
        return Vec::new();
    }
    // A buffer of up to 2 * count contenders, cut back to `count` whenever it is full.
    let room = count.saturating_mul(2).clamp(64, len.max(64));
    let mut contenders: Vec<(f64, usize)> = Vec::with_capacity(room.min(len));
    let mut threshold = 0.0;
    for j in 0..len {
        let s = score(j);
        if s > threshold {
            contenders.push((s, j));
            if contenders.len() == room && room > count {
                contenders.select_nth_unstable_by(count - 1, better_first);
                contenders.truncate(count);
                threshold = contenders[count - 1].0;
            }
        }
    }
    contenders.sort_unstable_by(better_first);
    contenders.truncate(count);
    contenders.into_iter().map(|(_, j)| j).collect()
}

/// Larger scores first, ties to the smaller index.
pub(crate) fn better_first(a: &(f64, usize), b: &(f64, usize)) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_smaller_index() {
        let scores = [1.0, 3.0, 3.0, 0.0, 3.0];
        assert_eq!(top_by(5, 2, |j| scores[j]), [1, 2]);
        assert_eq!(top_by(5, 9, |j| scores[j]), [1, 2, 4, 0]);
    }

    #[test]
    fn agrees_with_a_full_sort() {
        // A multiplicative hash with many ties, over lengths that fill the buffer several times.
        let score = |j: usize| ((j.wrapping_mul(2_654_435_761) >> 7) % 97) as f64;
        for len in [0, 1, 10, 1000, 5000] {
            for count in [0, 1, 7, 64, 500, 6000] {
                let mut all: Vec<usize> = (0..len).filter(|&j| score(j) > 0.0).collect();
                all.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
                all.truncate(count);
                assert_eq!(top_by(len, count, score), all, "len {len}, count {count}");
            }
        }
    }

    #[test]
    fn free_coordinates_cost_nothing() {
        let budget = Budget::new(&Sparsity::new(2).keep([4]), &[0], 5).unwrap();
        assert_eq!(budget.winners(2, |j| (j + 1) as f64), [0, 2, 3, 4]);
        assert_eq!(Budget::new(&Sparsity::new(9), &[0], 5).unwrap().k, 4);
        assert!(Budget::new(&Sparsity::new(1).keep([5]), &[], 5).is_err());
    }
}
