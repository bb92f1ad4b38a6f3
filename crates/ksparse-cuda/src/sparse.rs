//! A sparse design on a device.

use crate::dense::check_size;
use crate::device::{Compressed, Factor, Measure, Task, item};
use crate::fault::{Fault, Result};
use crate::pool::Piece;
use crate::products::{Memory, batches, fill};
use crate::session::{Session, Turn};
use crate::sparse_columns::SparseColumns;
use bytemuck::Pod;
use ksparse::design::{Columns, Design, Entry, Occupied, Sparse, Traffic};
use ksparse::{MatrixMut, SparseRef};
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// A sparse matrix by columns in device memory: 32-bit rows, values f64 or f32; sums are f64.
///
/// Solvers that read single rows (dual and stochastic ones) get them from a copy in this computer's memory, made when
/// the first row is asked for.
pub struct CudaSparse {
    session: Arc<Session>,
    x: Compressed,
    rows: usize,
    /// Where columns begin: here as well as on the device.
    pointers: Vec<u64>,
    every: Items,
    by_row: OnceLock<Option<Sparse<'static>>>,
    _own: Piece,
    _memory: Arc<Memory>,
}

/// Entries of a column that a warp adds up at most; longer columns are cut.
const PIECE: u64 = 1024;

/// Bytes of columns written out at a time for a product, and columns.
const PANEL: u64 = 256 << 20;
const WIDE: usize = 4096;

/// Columns below which empty ones cost too little to be left out: as in memory.
const MANY: usize = 1 << 16;

/// Columns cut into pieces of similar length, on the device.
pub(crate) struct Items {
    items: Piece,
    first: Piece,
    pieces: u64,
    columns: u64,
}

impl Items {
    pub fn new(turn: &Turn, pointers: &[u64], columns: impl Iterator<Item = usize>) -> Result<Self> {
        let (mut items, mut first) = (Vec::new(), vec![0u32]);
        for (slot, j) in columns.enumerate() {
            let end = pointers[j + 1];
            let mut start = pointers[j];
            while start < end {
                let length = (end - start).min(PIECE) as u32;
                items.push(item(start, length, slot as u32));
                start += u64::from(length);
            }
            first.push(items.len() as u32);
        }
        let (pieces, columns) = (items.len() as u64, first.len() as u64 - 1);
        let what = "the pieces of columns";
        Ok(Self { items: turn.bring(&items, what)?, first: turn.bring(&first, what)?, pieces, columns })
    }

    /// A measure of these columns; vector and centres are on the device.
    pub fn measure(&self, turn: &Turn, x: Compressed, vector: u64, kind: Measure, out: &mut [f64]) -> Result<()> {
        let task = |items, count, out| Task::SparseReduce { x, items, count, vector, measure: kind, out };
        self.summed(turn, task, out)
    }

    /// What a task says of every piece, added up for every column: the task's arguments are where the pieces are, how
    /// many, and where its answers go.
    fn summed(&self, turn: &Turn, task: impl FnOnce(u64, u64, u64) -> Task, out: &mut [f64]) -> Result<()> {
        let sums = turn.room::<f64>(self.columns, "a vector")?;
        let parts = turn.room::<f64>(self.pieces, "partial sums")?;
        if self.pieces > 0 {
            turn.run(task(self.items.at(), self.pieces, parts.at()))?;
        }
        if self.columns > 0 {
            let (first, count) = (self.first.at(), self.columns);
            turn.run(Task::AddUpItems { parts: parts.at(), first, count, out: sums.at() })?;
        }
        turn.download(sums.at(), out)
    }
}

/// Where the entries of a sparse matrix lie that somebody else owns: by columns, rows 32-bit and ascending.
#[derive(Debug, Clone)]
pub struct SparseLayout {
    /// Rows.
    pub rows: usize,
    /// Where columns begin, and the last one ends.
    pub pointers: Vec<u64>,
    /// Where the rows are.
    pub indices: u64,
    /// Where the values are.
    pub values: u64,
    /// f32, not f64.
    pub single: bool,
}

impl CudaSparse {
    /// A copy of a design in memory.
    pub fn new<T: Entry + Pod>(session: &Arc<Session>, x: &Sparse<'_, T>) -> Result<Self> {
        let (mut indices, mut values, mut pointers) = (Vec::new(), Vec::new(), vec![0]);
        indices.reserve_exact(x.nnz());
        values.reserve_exact(x.nnz());
        for j in 0..x.ncols() {
            let (rows, entries) = x.column(j);
            indices.extend_from_slice(rows);
            values.extend_from_slice(entries);
            pointers.push(indices.len() as u64);
        }
        let (indices, values) = {
            let turn = session.turn();
            (turn.bring(&indices, "the design")?, turn.bring(&values, "the design")?)
        };
        let (rows, single) = (x.nrows(), size_of::<T>() == 4);
        let layout = SparseLayout { rows, pointers, indices: indices.at(), values: values.at(), single };
        Self::over(session, layout, Arc::new(Memory::Own(vec![indices, values])))
    }

    /// Over memory that somebody else owns, who must not change it and is held on to as `owner`. Memory and indices are
    /// checked.
    pub fn foreign(session: &Arc<Session>, layout: SparseLayout, owner: Box<dyn Any + Send + Sync>) -> Result<Self> {
        let entries = layout.pointers.last().copied().unwrap_or(0);
        let turn = session.turn();
        if entries > 0 {
            turn.check_foreign(layout.indices, 4 * entries)?;
            turn.check_foreign(layout.values, entries * if layout.single { 4 } else { 8 })?;
        }
        drop(turn);
        if let Some(j) = layout.pointers.windows(2).position(|p| p[0] > p[1]) {
            return Err(disordered(j));
        }
        let design = Self::over(session, layout, Arc::new(Memory::Foreign(owner)))?;
        design.check_indices()?;
        Ok(design)
    }

    fn over(session: &Arc<Session>, layout: SparseLayout, memory: Arc<Memory>) -> Result<Self> {
        let SparseLayout { rows, pointers, indices, values, single } = layout;
        let columns = pointers.len().saturating_sub(1);
        check_size(rows, columns)?;
        let turn = session.turn();
        let own = turn.bring(&pointers, "the design")?;
        let every = Items::new(&turn, &pointers, 0..columns)?;
        let x = Compressed { pointers: own.at(), indices, values, single };
        let session = Arc::clone(session);
        drop(turn);
        Ok(Self { session, x, rows, pointers, every, by_row: OnceLock::new(), _own: own, _memory: memory })
    }

    /// `Err` unless rows ascend within columns, and are there. On the device: they need not travel for it.
    fn check_indices(&self) -> Result<()> {
        let (x, rows) = (self.x, self.rows as u64);
        let mut misplaced = vec![0.0; self.ncols()];
        let task = |items, count, out| Task::Misplaced { x, rows, items, count, out };
        self.every.summed(&self.session.turn(), task, &mut misplaced)?;
        misplaced.iter().position(|count| *count > 0.0).map_or(Ok(()), |j| Err(disordered(j)))
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    pub(crate) fn entries(&self) -> Compressed {
        self.x
    }

    pub(crate) fn items(&self, turn: &Turn, columns: &[usize]) -> Result<Items> {
        Items::new(turn, &self.pointers, columns.iter().copied())
    }

    /// Entries of some columns.
    pub(crate) fn stored(&self, columns: &[usize]) -> u64 {
        columns.iter().map(|&j| self.pointers[j + 1] - self.pointers[j]).sum()
    }

    fn nnz(&self) -> u64 {
        self.pointers.last().copied().unwrap_or(0)
    }

    /// The matrix in this computer's memory.
    fn by_row(&self) -> Option<&Sparse<'static>> {
        let copy = || {
            let mut indices = vec![0u32; self.nnz() as usize];
            let values = self.session.work(|turn| {
                turn.download(self.x.indices, &mut indices)?;
                let mut values = vec![0.0f64; indices.len()];
                if self.x.single {
                    let mut single = vec![0.0f32; indices.len()];
                    turn.download(self.x.values, &mut single)?;
                    values.iter_mut().zip(single).for_each(|(v, s)| *v = f64::from(s));
                } else {
                    turn.download(self.x.values, &mut values)?;
                }
                Ok(values)
            })?;
            Sparse::from_columns(self.rows, self.ncols(), self.pointers.clone(), indices, values).ok()
        };
        self.by_row.get_or_init(copy).as_ref()
    }

    /// A measure of all columns, or of those listed.
    fn measure(&self, vector: &[f64], columns: Option<&[usize]>, kind: Measure, out: &mut [f64]) {
        self.session.work(|turn| {
            let vector = turn.vector(vector)?;
            match columns {
                None => self.every.measure(turn, self.x, vector.at(), kind, out),
                Some(columns) => self.items(turn, columns)?.measure(turn, self.x, vector.at(), kind, out),
            }
        });
    }

    /// `X_left' F X_right` on the device: panels of rows are written out, and multiplied as dense ones. Where `roots`,
    /// the factors are the roots of the weights on either side, else the weights on the left.
    pub(crate) fn crossed(
        &self,
        turn: &Turn,
        left: &[usize],
        right: Option<&[usize]>,
        weights: &[f64],
        out: u64,
    ) -> Result<()> {
        let (m, n) = (left.len() as u64, right.map_or(left.len(), <[usize]>::len) as u64);
        let (weights, left) = (turn.vector(weights)?, turn.list(left)?);
        let right = right.map(|right| turn.list(right)).transpose()?;
        let factor = if right.is_some() { Factor::Weights(weights.at()) } else { Factor::Roots(weights.at()) };
        let rows = self.rows as u64;
        let written = if right.is_some() { m + n } else { m };
        let most = (PANEL / (8 * written)).clamp(1, rows);
        let batches = batches(m, n, most);
        let height = most.next_multiple_of(batches);
        let parts = turn.room::<f64>(batches * m * n, "partial products")?;
        let panels = turn.room::<f64>(height * written, "columns written out")?;
        let second = panels.at() + 8 * height * m;
        for low in (0..rows).step_by(height as usize) {
            turn.clear(panels.at(), 8 * height * written)?;
            let x = self.x;
            turn.run(Task::Densify { x, list: left.at(), count: m, low, height, factor, out: panels.at() })?;
            if let Some(right) = &right {
                let factor = Factor::One;
                turn.run(Task::Densify { x, list: right.at(), count: n, low, height, factor, out: second })?;
            }
            turn.run(Task::Product {
                left: panels.at(),
                left_stride: height,
                m,
                right: if right.is_some() { second } else { panels.at() },
                right_stride: height,
                n,
                rows: height / batches,
                batches,
                add: low > 0,
                out: parts.at(),
            })?;
        }
        turn.run(Task::AddUp { parts: parts.at(), segments: batches, count: m * n, out })
    }
}

fn disordered(j: usize) -> Fault {
    Fault::Foreign(format!(
        "column {j} of the sparse matrix has rows out of order, twice or beyond the last: sort its indices and add up \
         duplicates first"
    ))
}

impl Design for CudaSparse {
    fn nrows(&self) -> usize {
        self.rows
    }

    fn ncols(&self) -> usize {
        self.pointers.len() - 1
    }

    fn mul(&self, w: SparseRef, out: &mut [f64]) {
        SparseColumns::new(self, w.indices).mul(w.values, out);
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.measure(r, None, Measure::Dot, out);
    }

    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
        self.measure(r, Some(columns), Measure::Dot, out);
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.measure(weights, None, Measure::Square, out);
    }

    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]) {
        self.measure(weights, Some(columns), Measure::Square, out);
    }

    fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]) {
        let mut stored = vec![0.0; out.len()];
        self.session.work(|turn| {
            let (weights, centres) = (turn.vector(weights)?, turn.vector(centres)?);
            self.every.measure(turn, self.x, weights.at(), Measure::Deviation(centres.at()), out)?;
            self.every.measure(turn, self.x, weights.at(), Measure::Weight, &mut stored)
        });
        let total: f64 = weights.iter().sum();
        for (j, p) in self.pointers.windows(2).enumerate() {
            // A full column has no zeros, whatever rounding leaves of their weight.
            if centres[j] != 0.0 && p[1] - p[0] < self.rows as u64 {
                out[j] += (total - stored[j]).max(0.0) * centres[j] * centres[j];
            }
        }
    }

    fn magnitudes(&self, weights: &[f64], out: &mut [f64]) {
        self.squares(weights, out);
    }

    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64], mut out: MatrixMut<'_>) {
        if left.is_empty() || right.is_empty() {
            return out.fill(0.0);
        }
        self.session.work(|turn| {
            let m = left.len();
            let result = turn.room::<f64>((m * right.len()) as u64, "a product of columns")?;
            // Columns with themselves are written out once, if the weights have roots.
            if left == right && m <= WIDE && weights.iter().all(|w| *w >= 0.0) {
                self.crossed(turn, left, None, weights, result.at())?;
                return fill(turn, result.at(), out, false);
            }
            for (t, right) in right.chunks(WIDE).enumerate() {
                self.crossed(turn, left, Some(right), weights, result.at() + 8 * (m * WIDE * t) as u64)?;
            }
            fill(turn, result.at(), out, false)
        });
    }

    fn gather<'a>(&'a self, support: &[usize]) -> Box<dyn Columns + 'a> {
        Box::new(SparseColumns::new(self, support))
    }

    fn row(&self, i: usize, out: &mut Vec<(usize, f64)>) {
        out.clear();
        if let Some(copy) = self.by_row() {
            copy.row(i, out);
        }
    }

    fn dot_rows(&self, rows: &[usize], w: &[f64], out: &mut [f64]) {
        if let Some(copy) = self.by_row() {
            copy.dot_rows(rows, w, out);
        }
    }

    fn add_rows(&self, rows: &[usize], factors: &[f64], out: &mut [f64]) {
        if let Some(copy) = self.by_row() {
            copy.add_rows(rows, factors, out);
        }
    }

    fn cost(&self) -> f64 {
        // As in memory, so that plans are the same.
        4.0 * self.nnz() as f64 + self.ncols() as f64
    }

    fn occupied<'a>(&'a self) -> Option<Occupied<'a>> {
        let filled = |p: &[u64]| p[0] < p[1];
        if self.ncols() < MANY || 2 * self.pointers.windows(2).filter(|p| filled(p)).count() > self.ncols() {
            return None;
        }
        let columns: Vec<usize> = (0..self.ncols()).filter(|&j| filled(&self.pointers[j..j + 2])).collect();
        let pointers = columns.iter().map(|&j| self.pointers[j]).chain([self.nnz()]).collect();
        let Compressed { indices, values, single, .. } = self.x;
        let layout = SparseLayout { rows: self.rows, pointers, indices, values, single };
        let part = Self::over(&self.session, layout, Arc::clone(&self._memory)).ok()?;
        Some(Occupied { columns, design: Box::new(part) })
    }

    fn health(&self) -> ksparse::Result<()> {
        self.session.health()
    }

    fn traffic(&self) -> Option<Traffic> {
        Some(self.session.traffic())
    }
}
