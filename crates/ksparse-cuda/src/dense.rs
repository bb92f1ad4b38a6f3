//! A dense design on a device.

use crate::dense_columns::DenseColumns;
use crate::device::{Entries, Factor, Measure, Task, Which};
use crate::fault::{Fault, Result};
use crate::pool::Piece;
use crate::products::{Memory, Tall, fill, measure, product};
use crate::session::{Session, Turn};
use bytemuck::Pod;
use ksparse::design::{Columns, Design, Entry, Traffic};
use ksparse::{MatrixMut, SparseRef};
use std::any::Any;
use std::sync::Arc;

/// A dense matrix in device memory, f64 or f32, by columns or by rows; sums are f64.
///
/// Every product runs there: vectors and small matrices travel. What goes wrong is noted, and
/// [`health`](Design::health) says it.
pub struct CudaDense {
    session: Arc<Session>,
    x: Entries,
    rows: usize,
    columns: usize,
    _memory: Memory,
}

/// Bytes of columns written out at a time for a product.
pub(crate) const TILE: u64 = 512 << 20;

/// Where more than this share of the columns of a matrix by rows is asked for, reading all of it is no dearer: memory
/// comes in pieces of 32 bytes.
const MOST: usize = 8;

/// Where the entries of a matrix lie that somebody else owns.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// f32, not f64.
    pub single: bool,
    /// Entries from a row to the next, and from a column to the next.
    pub strides: (usize, usize),
}

impl CudaDense {
    /// From values in column-major order.
    pub fn from_columns<T: Entry + Pod>(session: &Arc<Session>, rows: usize, columns: usize, x: &[T]) -> Result<Self> {
        Self::brought(session, rows, columns, x, (1, rows))
    }

    /// From values in row-major order, which stay that way.
    pub fn from_rows<T: Entry + Pod>(session: &Arc<Session>, rows: usize, columns: usize, x: &[T]) -> Result<Self> {
        Self::brought(session, rows, columns, x, (columns, 1))
    }

    fn brought<T: Entry + Pod>(
        session: &Arc<Session>,
        rows: usize,
        columns: usize,
        values: &[T],
        strides: (usize, usize),
    ) -> Result<Self> {
        if values.len() != rows * columns {
            let message = format!("{} values are no matrix of {rows} rows and {columns} columns", values.len());
            return Err(Fault::Foreign(message));
        }
        let piece = session.turn().bring(values, "the design")?;
        let layout = Layout { rows, columns, single: size_of::<T>() == 4, strides };
        Self::over(session, piece.at(), layout, Memory::Own(vec![piece]))
    }

    /// Over memory that somebody else owns, who must not change it and is held on to as `owner`. The memory is looked
    /// up: it must be on this device, and large enough.
    pub fn foreign(session: &Arc<Session>, at: u64, layout: Layout, owner: Box<dyn Any + Send + Sync>) -> Result<Self> {
        let Layout { rows, columns, single, strides } = layout;
        let last = rows.saturating_sub(1) * strides.0 + columns.saturating_sub(1) * strides.1;
        session.turn().check_foreign(at, (last as u64 + 1) * if single { 4 } else { 8 })?;
        Self::over(session, at, layout, Memory::Foreign(owner))
    }

    fn over(session: &Arc<Session>, at: u64, layout: Layout, memory: Memory) -> Result<Self> {
        let Layout { rows, columns, single, strides } = layout;
        check_size(rows, columns)?;
        // A single row or column lies side by side whatever its stride.
        let (row_stride, column_stride) = match strides {
            (1, along) => (1, along.max(1)),
            (along, 1) => (along.max(1), 1),
            (along, _) if columns == 1 => (along, 1),
            (_, along) if rows == 1 => (1, along),
            (a, b) => {
                let message = format!("X has strides of {a} and {b} entries: make a contiguous copy of it first");
                return Err(Fault::Foreign(message));
            }
        };
        let x = Entries { at, single, row_stride: row_stride as u64, column_stride: column_stride as u64 };
        Ok(Self { session: Arc::clone(session), x, rows, columns, _memory: memory })
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    pub(crate) fn height(&self) -> u64 {
        self.rows as u64
    }

    fn all(&self) -> Which {
        Which { list: None, count: self.columns as u64 }
    }

    /// A measure of every column.
    fn of_all(&self, vector: &[f64], centres: Option<&[f64]>, kind: fn(u64) -> Measure, out: &mut [f64]) {
        self.session.work(|turn| {
            let vector = turn.vector(vector)?;
            let centres = centres.map(|centres| turn.vector(centres)).transpose()?;
            let kind = kind(centres.as_ref().map_or(0, Piece::at));
            measure(turn, self.x, self.height(), self.all(), vector.at(), kind, out)
        });
    }

    /// A measure of some columns.
    fn of_some(&self, vector: &[f64], columns: &[usize], kind: Measure, out: &mut [f64]) {
        if !self.x.by_columns() && MOST * columns.len() > self.columns {
            let mut all = vec![0.0; self.columns];
            self.session.work(|turn| {
                let vector = turn.vector(vector)?;
                measure(turn, self.x, self.height(), self.all(), vector.at(), kind, &mut all)
            });
            return out.iter_mut().zip(columns).for_each(|(out, &j)| *out = all[j]);
        }
        self.session.work(|turn| {
            let (vector, list) = (turn.vector(vector)?, turn.list(columns)?);
            let which = Which { list: Some(list.at()), count: columns.len() as u64 };
            measure(turn, self.x, self.height(), which, vector.at(), kind, out)
        });
    }

    /// Columns written out one after another as f64.
    pub(crate) fn write_out(&self, turn: &Turn, columns: &[usize], factor: Factor, out: u64) -> Result<()> {
        let list = turn.list(columns)?;
        let which = Which { list: Some(list.at()), count: columns.len() as u64 };
        if columns.is_empty() {
            return Ok(());
        }
        turn.run(Task::Gather { x: self.x, rows: self.height(), which, factor, out })
    }

    /// `X_left' diag(weights) X_right`, on the device.
    fn crossed(&self, turn: &Turn, left: &[usize], right: &[usize], weights: &[f64]) -> Result<Piece> {
        let (n, m) = (self.height(), left.len() as u64);
        let out = turn.room::<f64>(m * right.len() as u64, "a product of columns")?;
        let weights = turn.vector(weights)?;
        let weighted = turn.room::<f64>(n * m, "the columns of a support")?;
        self.write_out(turn, left, Factor::Weights(weights.at()), weighted.at())?;
        let left = Tall { at: weighted.at(), columns: m };
        let wide = (TILE / (8 * n)).clamp(1, right.len() as u64) as usize;
        let tile = turn.room::<f64>(n * wide as u64, "columns written out")?;
        for (t, which) in right.chunks(wide).enumerate() {
            self.write_out(turn, which, Factor::One, tile.at())?;
            let right = Tall { at: tile.at(), columns: which.len() as u64 };
            product(turn, left, right, n, out.at() + 8 * m * (t * wide) as u64)?;
        }
        Ok(out)
    }
}

/// Numbers of rows and columns have 32 bits on the device.
pub(crate) fn check_size(rows: usize, columns: usize) -> Result<()> {
    let most = u32::MAX as usize;
    if rows > most || columns > most {
        let message = format!("X has {rows} rows and {columns} columns: a device takes at most 2^32 - 1 of each");
        return Err(Fault::Foreign(message));
    }
    Ok(())
}

impl Design for CudaDense {
    fn nrows(&self) -> usize {
        self.rows
    }

    fn ncols(&self) -> usize {
        self.columns
    }

    fn mul(&self, w: SparseRef, out: &mut [f64]) {
        self.session.work(|turn| {
            let (factors, list) = (turn.vector(w.values)?, turn.list(w.indices)?);
            let which = Which { list: Some(list.at()), count: w.indices.len() as u64 };
            let z = turn.room::<f64>(self.height(), "a vector")?;
            let rows = self.height();
            turn.run(Task::Combine { x: self.x, rows, which, factors: factors.at(), out: z.at() })?;
            turn.download(z.at(), out)
        });
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.of_all(r, None, |_| Measure::Dot, out);
    }

    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
        self.of_some(r, columns, Measure::Dot, out);
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.of_all(weights, None, |_| Measure::Square, out);
    }

    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]) {
        self.of_some(weights, columns, Measure::Square, out);
    }

    fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]) {
        self.of_all(weights, Some(centres), Measure::Deviation, out);
    }

    fn magnitudes(&self, weights: &[f64], out: &mut [f64]) {
        self.squares(weights, out);
    }

    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64], mut out: MatrixMut<'_>) {
        if left.is_empty() || right.is_empty() || self.rows == 0 {
            return out.fill(0.0);
        }
        self.session.work(|turn| {
            let product = self.crossed(turn, left, right, weights)?;
            fill(turn, product.at(), out, false)
        });
    }

    fn gather<'a>(&'a self, support: &[usize]) -> Box<dyn Columns + 'a> {
        Box::new(DenseColumns::new(self, support))
    }

    fn row(&self, i: usize, out: &mut Vec<(usize, f64)>) {
        let mut whole = vec![0.0; self.columns];
        self.add_rows(&[i], &[1.0], &mut whole);
        out.clear();
        out.extend(whole.into_iter().enumerate().filter(|(_, v)| *v != 0.0));
    }

    fn dot_rows(&self, rows: &[usize], w: &[f64], out: &mut [f64]) {
        if rows.is_empty() {
            return;
        }
        self.session.work(|turn| {
            let (list, w, sums) = (turn.list(rows)?, turn.vector(w)?, turn.room::<f64>(rows.len() as u64, "a vector")?);
            let (columns, count) = (self.columns as u64, rows.len() as u64);
            turn.run(Task::DotRows { x: self.x, columns, list: list.at(), count, w: w.at(), out: sums.at() })?;
            turn.download(sums.at(), out)
        });
    }

    fn add_rows(&self, rows: &[usize], factors: &[f64], out: &mut [f64]) {
        if rows.is_empty() {
            return;
        }
        self.session.work(|turn| {
            let (list, factors, sums) = (turn.list(rows)?, turn.vector(factors)?, turn.vector(out)?);
            let (columns, count) = (self.columns as u64, rows.len() as u64);
            let (list, factors) = (list.at(), factors.at());
            turn.run(Task::AddRows { x: self.x, columns, list, count, factors, out: sums.at() })?;
            turn.download(sums.at(), out)
        });
    }

    fn cost(&self) -> f64 {
        self.rows as f64 * self.columns as f64
    }

    fn health(&self) -> ksparse::Result<()> {
        self.session.health()
    }

    fn traffic(&self) -> Option<Traffic> {
        Some(self.session.traffic())
    }
}
