//! The coordinates that a search on a quadratic f may use, with the rows of its Hessian.

use crate::cancel::Cancel;
use crate::error::Result;
use crate::linalg::MatrixMut;
use crate::objective::{Hessian, Point};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Bytes that rows may take.
const MEMORY: usize = 256 << 20;

/// Rows made in one product.
const TOGETHER: usize = 64;

/// Rows of H, each computed once while there is room for them.
struct Rows<'a> {
    hessian: &'a dyn Hessian,
    /// Every coordinate, of the first output where there are several.
    all: Vec<usize>,
    rows: Vec<OnceLock<Arc<[f64]>>>,
    /// Rows that may still be kept.
    room: AtomicUsize,
    cancel: Cancel,
}

impl Rows<'_> {
    fn row(&self, j: usize) -> Result<Arc<[f64]>> {
        self.cancel.ask()?;
        if let Some(row) = self.rows[j].get() {
            return Ok(Arc::clone(row));
        }
        let mut row = faer::Mat::zeros(1, self.all.len());
        self.hessian.block(&[self.all[j]], &self.all, MatrixMut::over(&mut row))?;
        let row: Arc<[f64]> = (0..self.all.len()).map(|m| row[(0, m)]).collect();
        if self.room.fetch_update(Relaxed, Relaxed, |room| room.checked_sub(1)).is_ok() {
            let _ = self.rows[j].set(Arc::clone(&row));
        }
        Ok(row)
    }

    /// Makes those of some rows that are not there yet: together they are products of blocks, several times as fast as
    /// a pass for each. Where memory runs out none is made, since which of them are kept then would depend on the
    /// threads.
    fn make(&self, mut wanted: Vec<usize>) -> Result<()> {
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|&j| self.rows[j].get().is_none());
        if wanted.len() < 2 || self.room.load(Relaxed) < wanted.len() {
            return Ok(());
        }
        for wanted in wanted.chunks(TOGETHER) {
            self.cancel.ask()?;
            let left: Vec<usize> = wanted.iter().map(|&j| self.all[j]).collect();
            let mut block = faer::Mat::zeros(left.len(), self.all.len());
            self.hessian.block(&left, &self.all, MatrixMut::over(&mut block))?;
            for (a, &j) in wanted.iter().enumerate() {
                let _ = self.rows[j].set((0..self.all.len()).map(|m| block[(a, m)]).collect());
            }
            self.room.fetch_sub(wanted.len(), Relaxed);
        }
        Ok(())
    }
}

/// The coordinates that a search may use.
pub(in crate::solver) struct Space<'a> {
    origin: &'a dyn Point,
    rows: Arc<Rows<'a>>,
    /// Ascending; everything else here goes by places in this list.
    pub(super) coordinates: Vec<usize>,
    /// f and its gradient at 0, output by output.
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
    /// Outputs that have the Hessian in common.
    pub(super) outputs: usize,
    pub(super) diagonal: Vec<f64>,
    /// Coordinates that are in and not counted in k.
    pub(super) free: &'a [usize],
    pub(super) counted: Vec<bool>,
    /// Work of a row's entry that must be computed.
    pub(super) entry: f64,
}

impl<'a> Space<'a> {
    /// All coordinates of the f that is at 0 in `origin`, or where it has several outputs all coordinates of one of
    /// them; `entry` is what an entry of H costs.
    pub fn new(
        origin: &'a dyn Point,
        hessian: &'a dyn Hessian,
        free: &'a [usize],
        entry: f64,
        outputs: usize,
        cancel: Cancel,
    ) -> Result<Self> {
        let all: Vec<usize> = (0..origin.gradient()?.len()).step_by(outputs).collect();
        let rows = all.iter().map(|_| OnceLock::new()).collect();
        let room = AtomicUsize::new(MEMORY / 8 / all.len().max(1));
        let coordinates = (0..all.len()).collect();
        Self::over(origin, Arc::new(Rows { hessian, all, rows, room, cancel }), free, entry, outputs, coordinates)
    }

    fn over(
        origin: &'a dyn Point,
        rows: Arc<Rows<'a>>,
        free: &'a [usize],
        entry: f64,
        outputs: usize,
        coordinates: Vec<usize>,
    ) -> Result<Self> {
        let mut diagonal = vec![0.0; coordinates.len()];
        let of_first: Vec<usize> = coordinates.iter().map(|j| j * outputs).collect();
        rows.hessian.diagonal_at(&of_first, &mut diagonal)?;
        let gradient = origin.gradient()?;
        let of = |c: usize| coordinates.iter().map(move |j| gradient[j * outputs + c]);
        Ok(Self {
            origin,
            rows,
            value: origin.value(),
            gradient: (0..outputs).flat_map(of).collect(),
            outputs,
            diagonal,
            free,
            counted: coordinates.iter().map(|j| free.binary_search(j).is_err()).collect(),
            entry,
            coordinates,
        })
    }

    /// The row of the coordinate at a place, over the coordinates here.
    pub(super) fn row(&self, place: usize) -> Result<Vec<f64>> {
        let row = self.rows.row(self.coordinates[place])?;
        let whole = row.len() == self.coordinates.len();
        Ok(if whole { row.to_vec() } else { self.coordinates.iter().map(|&j| row[j]).collect() })
    }

    /// Makes the rows of some coordinates.
    pub(super) fn make(&self, coordinates: Vec<usize>) -> Result<()> {
        self.rows.make(coordinates)
    }

    /// The same over some of the coordinates.
    pub(super) fn part(&self, coordinates: Vec<usize>) -> Result<Self> {
        Self::over(self.origin, Arc::clone(&self.rows), self.free, self.entry, self.outputs, coordinates)
    }
}
