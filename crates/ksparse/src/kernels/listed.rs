//! Sums of rows of a table: what a sparse matrix does to several vectors kept side by side.

use super::{Entry, arch};
use pulp::{Simd, WithSimd};

/// How the number of a row is stored.
pub(crate) trait Place: Copy + Send + Sync {
    fn place(self) -> usize;
}

impl Place for u16 {
    #[inline(always)]
    fn place(self) -> usize {
        self as usize
    }
}

impl Place for u32 {
    #[inline(always)]
    fn place(self) -> usize {
        self as usize
    }
}

struct AddListedRows<'a, 'b, I, T> {
    rows: &'a [I],
    factors: &'a [T],
    table: &'a [f64],
    out: &'b mut [f64],
}

impl<I: Place, T: Entry> WithSimd for AddListedRows<'_, '_, I, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _simd: S) {
        let mut from = self.lanes::<16>(0);
        from = self.lanes::<8>(from);
        from = self.lanes::<4>(from);
        self.lanes::<1>(from);
    }
}

impl<I: Place, T: Entry> AddListedRows<'_, '_, I, T> {
    /// L entries of the rows at a time, from a place on as long as there are so many; how far it came.
    #[inline(always)]
    fn lanes<const L: usize>(&mut self, mut from: usize) -> usize {
        let width = self.out.len();
        while from + L <= width {
            let mut sums = [0.0; L];
            for (row, factor) in self.rows.iter().zip(self.factors) {
                let (at, factor) = (row.place() * width + from, factor.widen());
                let entries = &self.table[at..at + L];
                for l in 0..L {
                    sums[l] += factor * entries[l];
                }
            }
            for (out, sum) in self.out[from..].iter_mut().zip(sums) {
                *out += sum;
            }
            from += L;
        }
        from
    }
}

/// `out += sum_e factors[e] table[rows[e]]`, the rows of the table as long as `out`.
pub(crate) fn add_listed_rows<I: Place, T: Entry>(rows: &[I], factors: &[T], table: &[f64], out: &mut [f64]) {
    arch().dispatch(AddListedRows { rows, factors, table, out })
}
