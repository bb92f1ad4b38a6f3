//! The thin line between this crate and a device: memory, copies and tasks.
//!
//! Everything above it is plain Rust and the same for the driver (`driver.rs`), which speaks to CUDA, and
//! [`stand_in`](crate::stand_in), which does the same work in this computer's memory for tests. Memory is named by
//! addresses, as CUDA does; tasks are done in the order they are given, and a download waits for all before it.

use crate::fault::Result;

/// A device, or what stands in for one.
pub trait Device: Send + Sync {
    /// Its name, for people.
    fn name(&self) -> &str;

    /// Bytes that are free, and all there are.
    fn memory(&self) -> Result<(u64, u64)>;

    /// New memory, aligned for any entry.
    fn allocate(&self, bytes: u64) -> Result<u64>;

    /// Gives memory back that [`allocate`](Self::allocate) gave.
    fn release(&self, at: u64);

    /// `Err` unless memory that somebody else owns is on this device, and as long as that.
    fn check_foreign(&self, at: u64, bytes: u64) -> Result<()>;

    /// Copies to the device.
    fn upload(&self, from: &[u8], to: u64) -> Result<()>;

    /// Copies from the device, once everything asked of it before is done.
    fn download(&self, from: u64, to: &mut [u8]) -> Result<()>;

    /// Sets bytes to 0.
    fn clear(&self, at: u64, bytes: u64) -> Result<()>;

    /// Starts a task.
    fn run(&self, task: &Task) -> Result<()>;
}

/// Entries of a dense matrix: (i, j) is at `i * row_stride + j * column_stride`, counted in entries.
#[derive(Debug, Clone, Copy)]
pub struct Entries {
    /// The first one.
    pub at: u64,
    /// f32, not f64.
    pub single: bool,
    /// From a row to the next.
    pub row_stride: u64,
    /// From a column to the next. One of the two strides is 1.
    pub column_stride: u64,
}

impl Entries {
    /// f64, column after column.
    pub fn columns(at: u64, rows: u64) -> Self {
        Self { at, single: false, row_stride: 1, column_stride: rows.max(1) }
    }

    /// Whether entries of a column lie side by side.
    pub fn by_columns(&self) -> bool {
        self.row_stride == 1
    }
}

/// Entries of a sparse matrix by columns: pointers (u64), rows (u32, ascending within a column), values.
#[derive(Debug, Clone, Copy)]
pub struct Compressed {
    /// Where columns start, and where the last one ends.
    pub pointers: u64,
    /// The rows.
    pub indices: u64,
    /// The values.
    pub values: u64,
    /// f32, not f64.
    pub single: bool,
}

/// Which columns: the numbers (u32) at `list`, or all from the first on.
#[derive(Debug, Clone, Copy)]
pub struct Which {
    /// Where the numbers are.
    pub list: Option<u64>,
    /// How many.
    pub count: u64,
}

/// What is summed over the rows of a column, v being a vector over the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// `x v`.
    Dot,
    /// `x^2 v`.
    Square,
    /// `(x - centre)^2 v`; the address of the centres, one for each column asked for.
    Deviation(u64),
    /// `v` where there is an entry (sparse columns only).
    Weight,
}

/// What rows are multiplied by.
#[derive(Debug, Clone, Copy)]
pub enum Factor {
    /// Nothing.
    One,
    /// The weights at this address.
    Weights(u64),
    /// Their roots.
    Roots(u64),
}

/// A piece of a sparse column: its first entry, and in the halves of one word how many entries it has and whose it is,
/// a place in the list of columns.
pub type Item = [u64; 2];

/// A piece from `start` on.
pub fn item(start: u64, length: u32, slot: u32) -> Item {
    [start, u64::from(length) | u64::from(slot) << 32]
}

/// Rows that a warp takes in [`Task::SparseCombine`].
pub const BLOCK: u64 = 256;

/// What a device computes. All vectors and all results are f64.
#[derive(Debug, Clone, Copy)]
#[rustfmt::skip]
#[allow(missing_docs)]
pub enum Task {
    /// `out[s * count + c]` = the measure of column c over segment s of the rows, each of `segment` rows.
    Reduce { x: Entries, rows: u64, which: Which, vector: u64, measure: Measure, segment: u64, out: u64 },
    /// `out[e] = sum_s parts[s * count + e]`.
    AddUp { parts: u64, segments: u64, count: u64, out: u64 },
    /// `out[i] = sum_c factors[c] X[i, c]`.
    Combine { x: Entries, rows: u64, which: Which, factors: u64, out: u64 },
    /// `out[c * rows + i] = factor[i] X[i, c]`.
    Gather { x: Entries, rows: u64, which: Which, factor: Factor, out: u64 },
    /// `out[s] = sum_j X[list[s], j] w[j]` for `count` rows.
    DotRows { x: Entries, columns: u64, list: u64, count: u64, w: u64, out: u64 },
    /// `out[j] += sum_s factors[s] X[list[s], j]`.
    AddRows { x: Entries, columns: u64, list: u64, count: u64, factors: u64, out: u64 },
    /// `out[e]` = the measure over the entries of item e.
    SparseReduce { x: Compressed, items: u64, count: u64, vector: u64, measure: Measure, out: u64 },
    /// `out[e]` = how many entries of item e, whose slots are columns, have a row that is not above the one before it
    /// in the column, or is not below `rows`.
    Misplaced { x: Compressed, rows: u64, items: u64, count: u64, out: u64 },
    /// `out[c] = sum of parts[first[c]..first[c + 1]]`, `first` being u32.
    AddUpItems { parts: u64, first: u64, count: u64, out: u64 },
    /// `out[c * (blocks + 1) + b]` (u32) = where block b of [`BLOCK`] rows begins in column `list[c]`.
    Bounds { x: Compressed, list: u64, count: u64, blocks: u64, out: u64 },
    /// `out[i] = sum_c factors[c] X[i, list[c]]`, given the bounds of these columns.
    SparseCombine { x: Compressed, rows: u64, list: u64, count: u64, bounds: u64, blocks: u64, factors: u64, out: u64 },
    /// `out[c * height + i - low] = factor[i] X[i, list[c]]` for the entries of rows from `low`; the rest stays.
    Densify { x: Compressed, list: u64, count: u64, low: u64, height: u64, factor: Factor, out: u64 },
    /// `out[i] = (a[i] + shift) b[i]`.
    Multiply { a: u64, b: u64, shift: f64, count: u64, out: u64 },
    /// `out = left' right`, or that is added: `left` has m columns, `right` n, both of `rows` rows; their columns begin
    /// `left_stride` and `right_stride` entries after each other. In `batches` pieces of the rows, the results of which
    /// come one after another.
    Product {
        left: u64, left_stride: u64, m: u64, right: u64, right_stride: u64, n: u64, rows: u64, batches: u64, add: bool,
        out: u64,
    },
}
