//! The coordinates that a search on a quadratic f may use, with the rows of its Hessian.

use super::DEPENDENT;
use crate::cancel::Cancel;
use crate::error::Result;
use crate::kernels::wide::{BLOCK, Curvatures};
use crate::linalg::MatrixMut;
use crate::objective::{Hessian, Point};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Bytes that rows may take.
const MEMORY: usize = 256 << 20;

/// Rows made in one product.
const TOGETHER: usize = 64;

/// Places for so many coordinates.
fn padded(count: usize) -> usize {
    count.next_multiple_of(BLOCK)
}

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
    fn padded(&self, entry: impl Fn(usize) -> f64) -> Arc<[f64]> {
        let count = self.all.len();
        (0..padded(count)).map(|m| if m < count { entry(m) } else { 0.0 }).collect()
    }

    fn row(&self, j: usize) -> Result<Arc<[f64]>> {
        self.cancel.ask()?;
        if let Some(row) = self.rows[j].get() {
            return Ok(Arc::clone(row));
        }
        let mut row = faer::Mat::zeros(1, self.all.len());
        self.hessian.block(&[self.all[j]], &self.all, MatrixMut::over(&mut row))?;
        let row = self.padded(|m| row[(0, m)]);
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
                let _ = self.rows[j].set(self.padded(|m| block[(a, m)]));
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
    /// f and its gradient at 0, output by output. Whatever has an entry for every place is padded to whole blocks.
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
    /// Outputs that have the Hessian in common.
    pub(super) outputs: usize,
    /// The diagonal of H, and its root.
    pub(super) curvature: Vec<f64>,
    roots: Vec<f64>,
    /// Whoever has no more left than this cannot enter; nobody who is not counted can.
    pub(super) floor: Vec<f64>,
    /// Coordinates that are in and not counted in k.
    pub(super) free: &'a [usize],
    /// Rows over the coordinates here, where these are not all.
    cut: Vec<OnceLock<Arc<[f64]>>>,
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
        let room = AtomicUsize::new(MEMORY / 8 / padded(all.len()).max(1));
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
        let (count, size) = (coordinates.len(), padded(coordinates.len()));
        let mut curvature = vec![0.0; size];
        let of_first: Vec<usize> = coordinates.iter().map(|j| j * outputs).collect();
        rows.hessian.diagonal_at(&of_first, &mut curvature[..count])?;
        let slopes = origin.gradient()?;
        let mut gradient = vec![0.0; outputs * size];
        for (c, gradient) in gradient.chunks_exact_mut(size.max(1)).enumerate() {
            gradient.iter_mut().zip(&coordinates).for_each(|(g, j)| *g = slopes[j * outputs + c]);
        }
        let mut floor = vec![f64::INFINITY; size];
        for ((floor, j), curvature) in floor.iter_mut().zip(&coordinates).zip(&curvature) {
            if free.binary_search(j).is_err() {
                *floor = DEPENDENT * curvature;
            }
        }
        let cut =
            if count < rows.all.len() { coordinates.iter().map(|_| OnceLock::new()).collect() } else { Vec::new() };
        let roots = curvature.iter().map(|curvature| curvature.sqrt()).collect();
        let value = origin.value();
        Ok(Self { origin, rows, value, gradient, outputs, curvature, roots, floor, free, cut, entry, coordinates })
    }

    pub(super) fn curvatures(&self) -> Curvatures<'_> {
        Curvatures { curvature: &self.curvature, root: &self.roots }
    }

    /// The row of the coordinate at a place, over the coordinates here.
    pub(super) fn row(&self, place: usize) -> Result<Arc<[f64]>> {
        let Some(cut) = self.cut.get(place) else { return self.rows.row(self.coordinates[place]) };
        if let Some(row) = cut.get() {
            return Ok(Arc::clone(row));
        }
        let row = self.rows.row(self.coordinates[place])?;
        let padding = std::iter::repeat_n(0.0, self.curvature.len() - self.coordinates.len());
        let row: Arc<[f64]> = self.coordinates.iter().map(|&j| row[j]).chain(padding).collect();
        Ok(Arc::clone(cut.get_or_init(|| row)))
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
