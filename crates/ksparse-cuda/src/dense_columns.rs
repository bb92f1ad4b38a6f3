//! The columns of a support, side by side on the device.

use crate::dense::{CudaDense, TILE};
use crate::device::{Entries, Factor, Measure, Task, Which};
use crate::fault::Result;
use crate::pool::Piece;
use crate::products::{Tall, fill, measure, product, weighted};
use crate::session::Turn;
use ksparse::MatrixMut;
use ksparse::design::{Columns, Costs, Design};

/// With more columns to exchange than this, all of them are copied again in one go.
const FEW: usize = 8;

/// Columns copied side by side as f64; no memory where that failed, which the session's health knows.
pub(crate) struct DenseColumns<'a> {
    design: &'a CudaDense,
    support: Vec<usize>,
    values: Option<Piece>,
}

impl<'a> DenseColumns<'a> {
    pub fn new(design: &'a CudaDense, support: &[usize]) -> Self {
        let values = design.session().work(|turn| {
            let values = turn.room::<f64>(design.height() * support.len() as u64, "the columns of a support")?;
            design.write_out(turn, support, Factor::One, values.at())?;
            Ok(values)
        });
        Self { design, support: support.to_vec(), values }
    }

    /// Does something with the columns where they are.
    fn work<T>(&self, work: impl FnOnce(&Turn, Entries) -> Result<T>) -> Option<T> {
        let values = self.values.as_ref()?;
        self.design.session().work(|turn| work(turn, Entries::columns(values.at(), self.design.height())))
    }

    fn all(&self) -> Which {
        Which { list: None, count: self.support.len() as u64 }
    }

    /// `A x`, on the device.
    fn combined(&self, turn: &Turn, a: Entries, x: &[f64]) -> Result<Piece> {
        let (rows, factors) = (self.design.height(), turn.vector(x)?);
        let z = turn.room::<f64>(rows, "a vector")?;
        turn.run(Task::Combine { x: a, rows, which: self.all(), factors: factors.at(), out: z.at() })?;
        Ok(z)
    }
}

impl Columns for DenseColumns<'_> {
    fn ncols(&self) -> usize {
        self.support.len()
    }

    fn change(&mut self, support: &[usize]) -> bool {
        if support.len() != self.support.len() {
            return false;
        }
        let new: Vec<usize> = (0..support.len()).filter(|&c| support[c] != self.support[c]).collect();
        let n = self.design.height();
        self.work(|turn, a| {
            if new.len() > FEW {
                return self.design.write_out(turn, support, Factor::One, a.at);
            }
            let write = |&c: &usize| self.design.write_out(turn, &support[c..=c], Factor::One, a.at + 8 * n * c as u64);
            new.iter().try_for_each(write)
        });
        self.support.copy_from_slice(support);
        true
    }

    fn mul(&self, x: &[f64], out: &mut [f64]) {
        self.work(|turn, a| {
            let z = self.combined(turn, a, x)?;
            turn.download(z.at(), out)
        });
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.work(|turn, a| {
            let r = turn.vector(r)?;
            measure(turn, a, self.design.height(), self.all(), r.at(), Measure::Dot, out)
        });
    }

    fn normal(&self, weights: &[f64], x: &[f64], shift: f64, _between: &mut [f64], out: &mut [f64]) -> f64 {
        let sum = self.work(|turn, a| {
            let z = self.combined(turn, a, x)?;
            let sum = weighted(turn, &z, weights, shift)?;
            measure(turn, a, self.design.height(), self.all(), z.at(), Measure::Dot, out).map(|()| sum)
        });
        sum.unwrap_or(f64::NAN)
    }

    fn gram(&mut self, weights: &[f64], out: MatrixMut<'_>) {
        if self.support.is_empty() {
            return;
        }
        self.work(|turn, a| {
            let (rows, k) = (self.design.height(), self.support.len() as u64);
            let (weights, result) = (turn.vector(weights)?, turn.room::<f64>(k * k, "a Gram matrix")?);
            // Panels of rows: the weighted columns are never there as a whole.
            let height = (TILE / (8 * k)).clamp(1, rows);
            let panels = rows.div_ceil(height);
            let weighted = turn.room::<f64>(height * k, "the columns of a support, weighted")?;
            let parts = turn.room::<f64>(panels * k * k, "partial products")?;
            for panel in 0..panels {
                let low = panel * height;
                let (x, rows) = (Entries { at: a.at + 8 * low, ..a }, height.min(rows - low));
                let factor = Factor::Roots(weights.at() + 8 * low);
                turn.run(Task::Gather { x, rows, which: self.all(), factor, out: weighted.at() })?;
                let weighted = Tall { at: weighted.at(), columns: k };
                product(turn, weighted, weighted, rows, parts.at() + 8 * panel * k * k)?;
            }
            turn.run(Task::AddUp { parts: parts.at(), segments: panels, count: k * k, out: result.at() })?;
            fill(turn, result.at(), out, true)
        });
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.work(|turn, a| {
            let weights = turn.vector(weights)?;
            measure(turn, a, self.design.height(), self.all(), weights.at(), Measure::Square, out)
        });
    }

    fn costs(&self) -> Costs {
        let (n, k) = (self.design.nrows() as f64, self.support.len() as f64);
        Costs { product: n * k, gram: n * k * k / GRAM + FACTOR * k * k * k }
    }
}

/// Multiply-adds of a product on the device in the time that the processor takes for one of a Cholesky factor: what
/// solves with a Gram matrix waits for that. (1500 columns: 75 ms, where a product with 35 million entries takes 1.)
pub(crate) const FACTOR: f64 = 2.0;

/// What divides the size of a Gram matrix to give its cost: that of 200,000 x 300 takes 2 ms on an H200, where a
/// product with its vectors takes half a millisecond.
const GRAM: f64 = 120.0;
