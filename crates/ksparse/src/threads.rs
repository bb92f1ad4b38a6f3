//! How many threads the products use.
//!
//! Parallel loops run on the current rayon pool: all cores by default, or exactly as many as a
//! [`Threads`] handle holds. Work is split by output entry and never by summand, so **the bits of a
//! result do not depend on the number of threads**.

use crate::error::{Error, Result};
use faer::MatMut;
use rayon::prelude::*;

/// A fixed number of threads.
///
/// ```
/// let two = ksparse::Threads::new(2)?;
/// let answer = two.run(|| 6 * 7); // solvers called in here use two threads
/// assert_eq!(answer, 42);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug)]
pub struct Threads {
    pool: rayon::ThreadPool,
}

impl Threads {
    /// Exactly `count` threads; 0 means one per core.
    pub fn new(count: usize) -> Result<Self> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .build()
            .map(|pool| Self { pool })
            .map_err(|e| Error::Threads { count, reason: e.to_string() })
    }

    /// Runs `work` with these threads and returns what it returns.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }
}

/// Whether `operations` (multiply-adds) are worth waking a second thread for.
pub(crate) fn worth_splitting(operations: usize) -> bool {
    operations > 200_000 && rayon::current_num_threads() > 1
}

/// `out[s] = value(rows[s])`, side by side when `operations` are worth it.
pub(crate) fn for_each_row(rows: &[usize], operations: usize, out: &mut [f64], value: impl Fn(usize) -> f64 + Sync) {
    let one = |(o, &i): (&mut f64, &usize)| *o = value(i);
    if worth_splitting(operations) {
        out.par_iter_mut().zip(rows).with_min_len(64).for_each(one);
    } else {
        out.iter_mut().zip(rows).for_each(one);
    }
}

/// Calls `work(b, block)` for the blocks of `width` columns of a matrix, in parallel when `operations` are worth it.
pub(crate) fn for_column_blocks(
    mut matrix: MatMut<'_, f64>,
    width: usize,
    operations: usize,
    work: impl Fn(usize, MatMut<'_, f64>) + Sync,
) {
    let mut blocks = Vec::with_capacity(matrix.ncols().div_ceil(width));
    while matrix.ncols() > width {
        let (block, rest) = matrix.split_at_col_mut(width);
        blocks.push(block);
        matrix = rest;
    }
    blocks.push(matrix);
    if worth_splitting(operations) {
        blocks.into_par_iter().enumerate().for_each(|(b, block)| work(b, block));
    } else {
        blocks.into_iter().enumerate().for_each(|(b, block)| work(b, block));
    }
}
