//! Sums and products that dense and sparse designs share.

use crate::device::{Entries, Measure, Task, Which};
use crate::fault::Result;
use crate::pool::Piece;
use crate::session::Turn;
use ksparse::MatrixMut;

/// Blocks that keep every multiprocessor of a large device busy for some rounds. Sums are split by it, whatever the
/// device, so that their order follows from the sizes alone.
const BUSY: u64 = 4096;

/// Tiles of a product that do the same.
const TILES: u64 = 264;

/// Rows of a column that a block sums at least, where columns lie one after another and where rows do.
const LONG: u64 = 2048;
const WIDE: u64 = 256;

/// The measure of columns over all rows, brought back. `vector` and the centres are on the device.
pub(crate) fn measure(
    turn: &Turn,
    x: Entries,
    rows: u64,
    which: Which,
    vector: u64,
    measure: Measure,
    out: &mut [f64],
) -> Result<()> {
    let result = measured(turn, x, rows, which, vector, measure)?;
    turn.download(result.at(), out)
}

/// The same, left on the device.
pub(crate) fn measured(
    turn: &Turn,
    x: Entries,
    rows: u64,
    which: Which,
    vector: u64,
    measure: Measure,
) -> Result<Piece> {
    let out = turn.room::<f64>(which.count, "a vector")?;
    if which.count == 0 {
        return Ok(out);
    }
    let (blocks, least) =
        if x.by_columns() { (which.count.div_ceil(8), LONG) } else { (which.count.div_ceil(256), WIDE) };
    let segments = BUSY.div_ceil(blocks).clamp(1, (rows / least).max(1)).min(65_535);
    let segment = rows.div_ceil(segments).next_multiple_of(8);
    let segments = rows.div_ceil(segment);
    let task = |out| Task::Reduce { x, rows, which, vector, measure, segment, out };
    if segments == 1 {
        turn.run(task(out.at()))?;
    } else {
        let parts = turn.room::<f64>(segments * which.count, "partial sums")?;
        turn.run(task(parts.at()))?;
        turn.run(Task::AddUp { parts: parts.at(), segments, count: which.count, out: out.at() })?;
    }
    Ok(out)
}

/// `z = diag(weights) (z + shift)` in place on the device; the sum of that, which is added up there before.
pub(crate) fn weighted(turn: &Turn, z: &Piece, weights: &[f64], shift: f64) -> Result<f64> {
    let (there, count) = (turn.vector(weights)?, weights.len() as u64);
    let (one, mut sum) = (Which { list: None, count: 1 }, [0.0]);
    measure(turn, Entries::columns(z.at(), count), count, one, there.at(), Measure::Dot, &mut sum)?;
    turn.run(Task::Multiply { a: z.at(), b: there.at(), shift, count, out: z.at() })?;
    Ok(sum[0] + if shift == 0.0 { 0.0 } else { shift * weights.iter().sum::<f64>() })
}

/// A matrix by columns on the device: where it is and how many columns it has.
#[derive(Clone, Copy)]
pub(crate) struct Tall {
    pub at: u64,
    pub columns: u64,
}

/// Pieces that the rows of a product are cut into: few columns alone keep no device busy.
pub(crate) fn batches(m: u64, n: u64, rows: u64) -> u64 {
    TILES.div_ceil(m.div_ceil(64) * n.div_ceil(64)).clamp(1, (rows / 512).max(1))
}

/// `out = left' right`, all on the device; both have `rows` rows.
pub(crate) fn product(turn: &Turn, left: Tall, right: Tall, rows: u64, out: u64) -> Result<()> {
    let (m, n) = (left.columns, right.columns);
    let batches = batches(m, n, rows);
    let (whole, rest) = (rows / batches, rows % batches);
    let task = |skip: u64, rows_each: u64, batches: u64, out: u64| Task::Product {
        left: left.at + 8 * skip,
        left_stride: rows,
        m,
        right: right.at + 8 * skip,
        right_stride: rows,
        n,
        rows: rows_each,
        batches,
        add: false,
        out,
    };
    if batches == 1 {
        return turn.run(task(0, rows, 1, out));
    }
    let slots = batches + u64::from(rest > 0);
    let parts = turn.room::<f64>(slots * m * n, "partial products")?;
    turn.run(task(0, whole, batches, parts.at()))?;
    if rest > 0 {
        turn.run(task(whole * batches, rest, 1, parts.at() + 8 * batches * m * n))?;
    }
    turn.run(Task::AddUp { parts: parts.at(), segments: slots, count: m * n, out })
}

/// Brings a matrix back, by columns.
pub(crate) fn fill(turn: &Turn, from: u64, mut out: MatrixMut<'_>, lower: bool) -> Result<()> {
    let (m, n) = (out.nrows(), out.ncols());
    let mut values = vec![0.0; m * n];
    turn.download(from, &mut values)?;
    for (c, column) in values.chunks(m.max(1)).enumerate() {
        let first = if lower { c } else { 0 };
        out.col_mut(c)[first..].copy_from_slice(&column[first..]);
    }
    Ok(())
}

/// Who owns the memory of a design.
pub(crate) enum Memory {
    /// This crate.
    Own(#[allow(dead_code)] Vec<Piece>),
    /// Somebody else, who is held on to.
    Foreign(#[allow(dead_code)] Box<dyn std::any::Any + Send + Sync>),
}
