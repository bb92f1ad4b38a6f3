//! Some columns turned into rows.

use crate::kernels::Entry;

/// Columns of a sparse design turned into rows.
#[derive(Debug, Clone)]
pub(super) struct ByRow {
    pointers: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl ByRow {
    pub fn new<T: Entry>(nrows: usize, source: &[(&[u32], &[T])]) -> Self {
        let mut pointers = vec![0u64; nrows + 1];
        for (rows, _) in source {
            rows.iter().for_each(|&i| pointers[i as usize + 1] += 1);
        }
        for i in 0..nrows {
            pointers[i + 1] += pointers[i];
        }
        let nnz = pointers[nrows] as usize;
        let (mut columns, mut values) = (vec![0u32; nnz], vec![0.0; nnz]);
        let mut next = pointers.clone();
        for (c, (rows, entries)) in source.iter().enumerate() {
            for (&i, v) in rows.iter().zip(*entries) {
                let slot = &mut next[i as usize];
                columns[*slot as usize] = c as u32;
                values[*slot as usize] = v.widen();
                *slot += 1;
            }
        }
        Self { pointers, columns, values }
    }

    pub fn nnz(&self) -> usize {
        self.columns.len()
    }

    pub fn entries(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.pointers[i] as usize..self.pointers[i + 1] as usize;
        (&self.columns[range.clone()], &self.values[range])
    }

    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (columns, values) = self.entries(i);
        columns.iter().map(|&c| c as usize).zip(values.iter().copied())
    }
}
