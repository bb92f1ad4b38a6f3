//! A matrix to be filled, whoever owns its memory.

use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut};
use std::ops::{Index, IndexMut};

/// A matrix by columns, each of them contiguous: what designs and Hessians write their products to.
///
/// ```
/// use ksparse::MatrixMut;
/// let mut values = [0.0; 6];
/// let mut matrix = MatrixMut::from_columns(2, 3, &mut values);
/// matrix[(0, 2)] = 5.0;
/// matrix.col_mut(1).fill(1.0);
/// assert_eq!(values, [0.0, 0.0, 1.0, 1.0, 5.0, 0.0]);
/// ```
#[derive(Debug)]
pub struct MatrixMut<'a> {
    columns: MatMut<'a, f64>,
}

impl<'a> MatrixMut<'a> {
    /// Over values in column-major order, `nrows * ncols` of them.
    ///
    /// # Panics
    ///
    /// If there are more or fewer.
    pub fn from_columns(nrows: usize, ncols: usize, values: &'a mut [f64]) -> Self {
        Self { columns: MatMut::from_column_major_slice_mut(values, nrows, ncols) }
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.columns.nrows()
    }

    /// Number of columns.
    pub fn ncols(&self) -> usize {
        self.columns.ncols()
    }

    /// Column `c`.
    pub fn col_mut(&mut self, c: usize) -> &mut [f64] {
        self.columns.rb_mut().col_mut(c).try_as_col_major_mut().map_or(&mut [], |column| column.as_slice_mut())
    }

    /// The same matrix, borrowed for a while.
    pub fn reborrow(&mut self) -> MatrixMut<'_> {
        MatrixMut { columns: self.columns.rb_mut() }
    }

    /// Sets every entry.
    pub fn fill(&mut self, value: f64) {
        self.columns.fill(value);
    }

    pub(crate) fn over(matrix: &'a mut Mat<f64>) -> Self {
        Self { columns: matrix.as_mut() }
    }

    pub(crate) fn faer(self) -> MatMut<'a, f64> {
        self.columns
    }
}

impl Index<(usize, usize)> for MatrixMut<'_> {
    type Output = f64;

    fn index(&self, entry: (usize, usize)) -> &f64 {
        &self.columns[entry]
    }
}

impl IndexMut<(usize, usize)> for MatrixMut<'_> {
    fn index_mut(&mut self, entry: (usize, usize)) -> &mut f64 {
        &mut self.columns[entry]
    }
}
