//! The columns of a sparse support: lists of their pieces and of where blocks of rows begin in them; the entries stay
//! where they are.

use crate::dense_columns::FACTOR;
use crate::device::{BLOCK, Measure, Task};
use crate::fault::Result;
use crate::pool::Piece;
use crate::products::{fill, weighted};
use crate::session::Turn;
use crate::sparse::{CudaSparse, Items};
use ksparse::MatrixMut;
use ksparse::design::{Columns, Costs, Design};

/// Some columns of a sparse design; nothing on the device where that failed, which the session's health knows.
pub(crate) struct SparseColumns<'a> {
    design: &'a CudaSparse,
    support: Vec<usize>,
    there: Option<There>,
}

struct There {
    list: Piece,
    items: Items,
    bounds: Piece,
    blocks: u64,
}

impl There {
    fn new(turn: &Turn, design: &CudaSparse, support: &[usize]) -> Result<Self> {
        let (count, blocks) = (support.len() as u64, (design.nrows() as u64).div_ceil(BLOCK));
        let (list, items) = (turn.list(support)?, design.items(turn, support)?);
        let bounds = turn.room::<u32>(count * (blocks + 1), "the columns of a support")?;
        if count > 0 {
            let x = design.entries();
            turn.run(Task::Bounds { x, list: list.at(), count, blocks, out: bounds.at() })?;
        }
        Ok(Self { list, items, bounds, blocks })
    }
}

impl<'a> SparseColumns<'a> {
    pub fn new(design: &'a CudaSparse, support: &[usize]) -> Self {
        let there = design.session().work(|turn| There::new(turn, design, support));
        Self { design, support: support.to_vec(), there }
    }

    fn work<T>(&self, work: impl FnOnce(&Turn, &There) -> Result<T>) -> Option<T> {
        let there = self.there.as_ref()?;
        self.design.session().work(|turn| work(turn, there))
    }

    /// `A x`, on the device.
    fn combined(&self, turn: &Turn, there: &There, x: &[f64]) -> Result<Piece> {
        let (rows, factors) = (self.design.nrows() as u64, turn.vector(x)?);
        let z = turn.room::<f64>(rows, "a vector")?;
        turn.run(Task::SparseCombine {
            x: self.design.entries(),
            rows,
            list: there.list.at(),
            count: self.support.len() as u64,
            bounds: there.bounds.at(),
            blocks: there.blocks,
            factors: factors.at(),
            out: z.at(),
        })?;
        Ok(z)
    }

    fn measure(&self, vector: &[f64], kind: Measure, out: &mut [f64]) {
        self.work(|turn, there| {
            let vector = turn.vector(vector)?;
            there.items.measure(turn, self.design.entries(), vector.at(), kind, out)
        });
    }
}

impl Columns for SparseColumns<'_> {
    fn ncols(&self) -> usize {
        self.support.len()
    }

    fn change(&mut self, support: &[usize]) -> bool {
        self.there = None;
        self.there = self.design.session().work(|turn| There::new(turn, self.design, support));
        self.support = support.to_vec();
        true
    }

    fn mul(&self, x: &[f64], out: &mut [f64]) {
        self.work(|turn, there| {
            let z = self.combined(turn, there, x)?;
            turn.download(z.at(), out)
        });
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.measure(r, Measure::Dot, out);
    }

    fn normal(&self, weights: &[f64], x: &[f64], shift: f64, _between: &mut [f64], out: &mut [f64]) -> f64 {
        let sum = self.work(|turn, there| {
            let z = self.combined(turn, there, x)?;
            let sum = weighted(turn, &z, weights, shift)?;
            there.items.measure(turn, self.design.entries(), z.at(), Measure::Dot, out).map(|()| sum)
        });
        sum.unwrap_or(f64::NAN)
    }

    fn gram(&mut self, weights: &[f64], out: MatrixMut<'_>) {
        if self.support.is_empty() {
            return;
        }
        let k = self.support.len() as u64;
        self.design.session().work(|turn| {
            let result = turn.room::<f64>(k * k, "a Gram matrix")?;
            self.design.crossed(turn, &self.support, None, weights, result.at())?;
            fill(turn, result.at(), out, true)
        });
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.measure(weights, Measure::Square, out);
    }

    fn costs(&self) -> Costs {
        let (n, k) = (self.design.nrows() as f64, self.support.len() as f64);
        // A gathered multiply-add costs about four streaming ones.
        Costs {
            product: 4.0 * self.design.stored(&self.support) as f64,
            gram: n * k * k / WRITTEN_OUT + FACTOR * k * k * k,
        }
    }
}

/// What divides the size of a Gram matrix to give its cost: that of 400,000 x 500, of the columns written out, takes 15
/// ms on an H200, where a product with them (25 million entries) takes less than one.
const WRITTEN_OUT: f64 = 40.0;
