//! Matrices out of the pieces that readers deliver, stored by how full they are.

use crate::error::{Error, Place, Result};
use crate::memory::Memory;
use crate::options::{ReadOptions, Storage};
use crate::table::Matrix;
use crate::words::{Setting, Words};
use ksparse::design::{Dense, Sparse};

/// Rows of sparse entries, columns ascending.
#[derive(Debug, Default)]
pub(crate) struct SparseRows {
    /// Where each row ends in the other two.
    pub ends: Vec<usize>,
    /// Columns, from 0.
    pub columns: Vec<u32>,
    /// Values, none of them zero.
    pub values: Vec<f64>,
}

impl Storage {
    /// Whether a matrix with so many non-zeros is to be stored in full.
    pub(crate) fn is_dense(self, nrows: usize, ncols: usize, nnz: usize) -> bool {
        match self {
            Self::Dense => true,
            Self::Sparse => false,
            // A product with a stored non-zero costs several times one of a full column, at one and a half times the
            // memory. In 128 bits: a hostile header may ask for any shape.
            Self::Auto => 3 * nnz as u128 >= nrows as u128 * ncols as u128,
        }
    }
}

/// The number of entries of a full matrix, if it can be addressed.
pub(crate) fn full_size(name: &str, nrows: usize, ncols: usize) -> Result<usize> {
    nrows.checked_mul(ncols).filter(|&size| size <= isize::MAX as usize / 8).ok_or_else(|| {
        Error::input(name, format!("{nrows} x {ncols} entries do not fit into memory"), "use a sparse format")
    })
}

/// A full matrix of zeros, or an error where the system has no room for it.
fn zeros(memory: &Memory, nrows: usize, ncols: usize) -> Result<Vec<f64>> {
    let size = full_size(&memory.name, nrows, ncols)?;
    memory.zeros(size, || format!("{nrows} x {ncols} entries"))
}

/// `Err` unless rows can be indexed by 32 bits.
pub(crate) fn check_rows(name: &str, nrows: usize) -> Result<()> {
    if nrows < u32::MAX as usize {
        return Ok(());
    }
    Err(Error::input(name, format!("{nrows} rows are more than 2^32 - 2"), "split the file"))
}

/// `Err` if a header asks for more columns than is plausible.
pub(crate) fn check_columns(place: impl Into<Place>, ncols: usize, options: &ReadOptions) -> Result<()> {
    if ncols <= options.column_limit() {
        return Ok(());
    }
    let (problem, remedy) = match options.features {
        Some(p) => (format!("{ncols} columns are more than the {p} features given"), "correct "),
        None => (format!("{ncols} columns are implausibly many"), "if they are meant, give their number with "),
    };
    Err(Error::input(place, problem, Words::from(remedy) + Setting::Features))
}

/// From blocks of sparse rows.
pub(crate) fn from_sparse_rows(
    memory: &Memory,
    blocks: Vec<SparseRows>,
    ncols: usize,
    storage: Storage,
) -> Result<Matrix> {
    let nrows = blocks.iter().map(|b| b.ends.len()).sum();
    let nnz = blocks.iter().map(|b| b.columns.len()).sum();
    check_rows(&memory.name, nrows)?;
    if storage.is_dense(nrows, ncols, nnz) {
        let mut values = zeros(memory, nrows, ncols)?;
        for_entries(blocks, |i, j, v| values[j * nrows + i] = v);
        return Ok(Matrix::Dense(Dense::from_columns(nrows, ncols, values)?));
    }
    let columns = || format!("{ncols} columns");
    let (mut pointers, entries) = (memory.zeros::<u64>(ncols + 1, columns)?, || format!("{nnz} entries"));
    for block in &blocks {
        block.columns.iter().for_each(|&j| pointers[j as usize + 1] += 1);
    }
    for j in 0..ncols {
        pointers[j + 1] += pointers[j];
    }
    memory.take(size_of_val(&*pointers), columns)?;
    let mut next = pointers.clone();
    let (mut rows, mut values) = (memory.zeros::<u32>(nnz, entries)?, memory.zeros(nnz, entries)?);
    for_entries(blocks, |i, j, v| {
        let slot = next[j] as usize;
        next[j] += 1;
        rows[slot] = i as u32;
        values[slot] = v;
    });
    Ok(Matrix::Sparse(Sparse::from_columns(nrows, ncols, pointers, rows, values)?))
}

/// Row after row; each block is freed when done.
fn for_entries(blocks: Vec<SparseRows>, mut each: impl FnMut(usize, usize, f64)) {
    let mut first = 0;
    for block in blocks {
        block.for_entries(first, &mut each);
        first += block.ends.len();
    }
}

impl SparseRows {
    /// Bytes it takes.
    pub fn bytes(&self) -> usize {
        8 * self.ends.capacity() + 4 * self.columns.capacity() + 8 * self.values.capacity()
    }

    /// Row, column and value of each entry; `first` is the number of the first row.
    pub fn for_entries(&self, first: usize, mut each: impl FnMut(usize, usize, f64)) {
        let mut start = 0;
        for (i, &end) in self.ends.iter().enumerate() {
            for (&j, &v) in self.columns[start..end].iter().zip(&self.values[start..end]) {
                each(first + i, j as usize, v);
            }
            start = end;
        }
    }
}

/// From blocks of full rows, `ncols` values each.
pub(crate) fn from_full_rows(memory: &Memory, blocks: Vec<Vec<f64>>, ncols: usize, storage: Storage) -> Result<Matrix> {
    let nrows = blocks.iter().map(|b| b.len() / ncols.max(1)).sum();
    let nnz = blocks.iter().flatten().filter(|v| **v != 0.0).count();
    if !storage.is_dense(nrows, ncols, nnz) {
        memory.take(12 * nnz + 8 * nrows, || format!("{nnz} entries"))?;
        let sparse = blocks.into_iter().map(|block| sparse_rows(&block, ncols)).collect();
        return from_sparse_rows(memory, sparse, ncols, Storage::Sparse);
    }
    let mut values = zeros(memory, nrows, ncols)?;
    let mut first = 0;
    for block in blocks {
        let rows = block.len() / ncols.max(1);
        // Tiles of columns, so that the lines written to stay in the cache.
        for tile in (0..ncols).step_by(16) {
            for (i, row) in block.chunks_exact(ncols).enumerate() {
                for j in tile..(tile + 16).min(ncols) {
                    values[j * nrows + first + i] = row[j];
                }
            }
        }
        first += rows;
    }
    Ok(Matrix::Dense(Dense::from_columns(nrows, ncols, values)?))
}

fn sparse_rows(block: &[f64], ncols: usize) -> SparseRows {
    let mut sparse = SparseRows::default();
    for row in block.chunks_exact(ncols.max(1)) {
        for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            sparse.columns.push(j as u32);
            sparse.values.push(v);
        }
        sparse.ends.push(sparse.columns.len());
    }
    sparse
}

/// From full columns, one after another.
pub(crate) fn from_full_columns(
    memory: &Memory,
    nrows: usize,
    ncols: usize,
    values: Vec<f64>,
    storage: Storage,
) -> Result<Matrix> {
    let nnz = values.iter().filter(|v| **v != 0.0).count();
    if nrows == 0 || storage.is_dense(nrows, ncols, nnz) {
        return Ok(Matrix::Dense(Dense::from_columns(nrows, ncols, values)?));
    }
    check_rows(&memory.name, nrows)?;
    let mut columns = SparseColumns::with_capacity(memory, ncols, nnz)?;
    for column in values.chunks_exact(nrows) {
        for (i, &v) in column.iter().enumerate() {
            columns.push(i as u32, v);
        }
        columns.end();
    }
    columns.finish(memory, nrows, Storage::Sparse)
}

/// Compressed columns under construction.
#[derive(Debug)]
pub(crate) struct SparseColumns {
    pub pointers: Vec<u64>,
    pub rows: Vec<u32>,
    pub values: Vec<f64>,
}

impl SparseColumns {
    pub fn with_capacity(memory: &Memory, ncols: usize, nnz: usize) -> Result<Self> {
        memory.take(12 * nnz + 8 * (ncols + 1), || format!("{ncols} columns with {nnz} entries"))?;
        let mut pointers = Vec::with_capacity(ncols + 1);
        pointers.push(0);
        Ok(Self { pointers, rows: Vec::with_capacity(nnz), values: Vec::with_capacity(nnz) })
    }

    /// The next entry of the current column; zeros are left out.
    pub fn push(&mut self, row: u32, value: f64) {
        if value != 0.0 {
            self.rows.push(row);
            self.values.push(value);
        }
    }

    /// The column is complete.
    pub fn end(&mut self) {
        self.pointers.push(self.rows.len() as u64);
    }

    /// The matrix, in full if it is full.
    pub fn finish(self, memory: &Memory, nrows: usize, storage: Storage) -> Result<Matrix> {
        check_rows(&memory.name, nrows)?;
        let ncols = self.pointers.len() - 1;
        let dense = storage.is_dense(nrows, ncols, self.rows.len());
        let sparse = Sparse::from_columns(nrows, ncols, self.pointers, self.rows, self.values)?;
        if !dense {
            return Ok(Matrix::Sparse(sparse));
        }
        let mut values = zeros(memory, nrows, ncols)?;
        for (j, column) in values.chunks_exact_mut(nrows.max(1)).enumerate() {
            let (rows, entries) = sparse.column(j);
            rows.iter().zip(entries).for_each(|(&i, &v)| column[i as usize] = v);
        }
        Ok(Matrix::Dense(Dense::from_columns(nrows, ncols, values)?))
    }
}

/// From entries in any order; one that stands twice is refused.
pub(crate) fn from_triplets(
    memory: &Memory,
    nrows: usize,
    ncols: usize,
    triplets: &[(u32, u32, f64)],
    storage: Storage,
) -> Result<Matrix> {
    let columns = || format!("{ncols} columns");
    let mut starts = memory.zeros::<usize>(ncols + 1, columns)?;
    triplets.iter().for_each(|t| starts[t.1 as usize + 1] += 1);
    for j in 0..ncols {
        starts[j + 1] += starts[j];
    }
    memory.take(size_of_val(&*starts), columns)?;
    let mut next = starts.clone();
    let mut sorted = memory.zeros::<(u32, f64)>(triplets.len(), || format!("{} entries", triplets.len()))?;
    for &(i, j, v) in triplets {
        sorted[next[j as usize]] = (i, v);
        next[j as usize] += 1;
    }
    let mut columns = SparseColumns::with_capacity(memory, ncols, triplets.len())?;
    for (j, range) in starts.windows(2).enumerate() {
        let column = &mut sorted[range[0]..range[1]];
        column.sort_by_key(|e| e.0);
        if let Some(pair) = column.windows(2).find(|e| e[0].0 == e[1].0) {
            return Err(Error::input(
                &*memory.name,
                format!("the entry of row {}, column {} is given twice", pair[0].0 + 1, j + 1),
                "add duplicates up before saving (SciPy: sum_duplicates)",
            ));
        }
        column.iter().for_each(|&(i, v)| columns.push(i, v));
        columns.end();
    }
    columns.finish(memory, nrows, storage)
}
