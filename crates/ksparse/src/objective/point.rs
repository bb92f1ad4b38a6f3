//! f at one point.

use crate::error::Result;
use crate::linalg::MatrixMut;

/// An objective evaluated at one x. What its parts have in common (a linear predictor, an inverse) is computed once and
/// kept.
pub trait Point: Sync {
    /// f(x).
    fn value(&self) -> f64;

    /// The whole gradient.
    fn gradient(&self) -> Result<&[f64]>;

    /// Second derivatives, where the objective has them here; `None` where it does not.
    fn hessian(&self) -> Result<Option<&dyn Hessian>>;
}

/// A value and a gradient, and no more.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstOrder {
    /// f(x).
    pub value: f64,
    /// The gradient there.
    pub gradient: Vec<f64>,
}

impl Point for FirstOrder {
    fn value(&self) -> f64 {
        self.value
    }

    fn gradient(&self) -> Result<&[f64]> {
        Ok(&self.gradient)
    }

    fn hessian(&self) -> Result<Option<&dyn Hessian>> {
        Ok(None)
    }
}

/// Second derivatives of an objective at one point.
pub trait Hessian: Sync {
    /// Its diagonal.
    fn diagonal(&self, out: &mut [f64]) -> Result<()>;

    /// Some entries of its diagonal.
    fn diagonal_at(&self, coordinates: &[usize], out: &mut [f64]) -> Result<()>;

    /// The rows `left` and columns `right` of it (make `right` the longer list).
    fn block(&self, left: &[usize], right: &[usize], out: MatrixMut<'_>) -> Result<()>;

    /// The blocks of groups with themselves, one after the other: m x m numbers for one of m coordinates. No coordinate
    /// is in two groups, none is empty.
    fn own_blocks(&self, groups: &[Vec<usize>]) -> Result<Vec<f64>> {
        by_blocks(self, groups)
    }
}

/// Groups are taken together up to so many coordinates: a product of few columns takes as long to prepare as to
/// compute (66 groups of 1 to 5 of 100 rows: 90 microseconds one by one, 30 so).
const TOGETHER: usize = 16;

/// [`Hessian::own_blocks`] by blocks of the matrix.
pub(super) fn by_blocks<H: Hessian + ?Sized>(hessian: &H, groups: &[Vec<usize>]) -> Result<Vec<f64>> {
    let mut out = Vec::with_capacity(groups.iter().map(|group| group.len() * group.len()).sum());
    let mut rest = groups;
    while !rest.is_empty() {
        let sizes = rest.iter().scan(0, |sum, group| {
            *sum += group.len();
            Some(*sum)
        });
        let (taken, after) = rest.split_at(sizes.take_while(|sum| *sum <= TOGETHER).count().max(1));
        let all = taken.concat();
        let mut block = vec![0.0; all.len() * all.len()];
        hessian.block(&all, &all, MatrixMut::from_columns(all.len(), all.len(), &mut block))?;
        let mut start = 0;
        for group in taken {
            let columns = block.chunks(all.len()).skip(start).take(group.len());
            columns.for_each(|column| out.extend_from_slice(&column[start..start + group.len()]));
            start += group.len();
        }
        rest = after;
    }
    Ok(out)
}
