//! The columns of a support by rows, packed for products that are repeated.
//!
//! A row of a text has some twenty entries in a support, so that a product costs less for its arithmetic than for what
//! stands around it. Rows come in blocks, and within a block in order of their length: the processor then foresees
//! where a row ends. Columns come in panels of [`PANEL`], whose numbers fit into 16 bits and whose vectors into the
//! cache; a number is cut to the panel's width, which costs less than checking it.
//!
//! Blocks and panels follow from the matrix alone, and sums run block by block: the bits of a product do not depend on
//! the number of threads.

use super::block::{BLOCK, Block, Exchange, PANEL, Table};
use crate::kernels::Entry;
use crate::threads::worth_splitting;
use rayon::prelude::*;

/// Blocks are added up in at most so many groups.
const GROUPS: usize = 64;

/// The same for products of columns, of which every group has a table of its own, and how many products a group has for
/// every entry of that table at least: adding tables up stays a small part of it.
const TABLES: usize = 8;
const PER_ENTRY: f64 = 4.0;

/// Some columns of a sparse design, by rows: a list of blocks for every panel.
pub(super) struct Packed {
    nrows: usize,
    nnz: usize,
    panels: Vec<Vec<Block>>,
}

fn table(x: &[f64]) -> Table {
    let mut table = [0.0; PANEL];
    table[..x.len()].copy_from_slice(x);
    table
}

impl Packed {
    pub fn new<T: Entry>(nrows: usize, source: &[(&[u32], &[T])]) -> Self {
        let mut packed = Self { nrows, nnz: 0, panels: Vec::new() };
        packed.fill(source);
        packed
    }

    /// Takes up other columns, in the memory of those before.
    pub fn fill<T: Entry>(&mut self, source: &[(&[u32], &[T])]) {
        self.nnz = source.iter().map(|c| c.0.len()).sum();
        self.panels.resize_with(source.len().div_ceil(PANEL), Vec::new);
        for (blocks, columns) in self.panels.iter_mut().zip(source.chunks(PANEL)) {
            blocks.resize_with(self.nrows.div_ceil(BLOCK), Block::default);
            let fill = |(b, block): (usize, &mut Block)| {
                block.fill(b * BLOCK, BLOCK.min(self.nrows - b * BLOCK), columns);
            };
            if worth_splitting(self.nnz) {
                blocks.par_iter_mut().enumerate().for_each(fill);
            } else {
                blocks.iter_mut().enumerate().for_each(fill);
            }
        }
    }

    /// Takes up other columns where most of them are there already: `before[c]` is where the new column c was. A
    /// quarter of the time that filling takes.
    pub fn exchange<T: Entry>(&mut self, source: &[(&[u32], &[T])], before: &[Option<usize>]) {
        let kept = before.iter().flatten().count();
        if self.panels.len() != 1 || source.len() > PANEL || 2 * kept < source.len() {
            return self.fill(source);
        }
        self.nnz = source.iter().map(|c| c.0.len()).sum();
        let exchange = Exchange::new(source, before);
        let change = |(b, block): (usize, &mut Block)| block.exchange(b * BLOCK, &exchange);
        if worth_splitting(self.nnz) {
            self.panels[0].par_iter_mut().enumerate().for_each(change);
        } else {
            self.panels[0].iter_mut().enumerate().for_each(change);
        }
    }

    pub fn nnz(&self) -> usize {
        self.nnz
    }

    /// `out = A x`.
    pub fn mul(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (blocks, x) in self.panels.iter().zip(x.chunks(PANEL)) {
            let x = &table(x);
            let add = |(block, out): (&Block, &mut [f64])| block.add_products(x, out);
            if worth_splitting(self.nnz) {
                blocks.par_iter().zip(out.par_chunks_mut(BLOCK)).for_each(add);
            } else {
                blocks.iter().zip(out.chunks_mut(BLOCK)).for_each(add);
            }
        }
    }

    /// `out = A X` for several vectors, both by rows.
    pub fn mul_outputs(&self, x: &[f64], outputs: usize, out: &mut [f64]) {
        out.fill(0.0);
        for (blocks, x) in self.panels.iter().zip(x.chunks(PANEL * outputs)) {
            let add = |(block, out): (&Block, &mut [f64])| block.add_products_by_rows(x, outputs, out);
            if worth_splitting(self.nnz * outputs) {
                blocks.par_iter().zip(out.par_chunks_mut(BLOCK * outputs)).for_each(add);
            } else {
                blocks.iter().zip(out.chunks_mut(BLOCK * outputs)).for_each(add);
            }
        }
    }

    /// `out = A' r`.
    pub fn tmul(&self, r: &[f64], out: &mut [f64]) {
        for (blocks, out) in self.panels.iter().zip(out.chunks_mut(PANEL)) {
            self.add_up(blocks, out, |block, first, out| {
                block.add_rows(&r[first..], out);
                0.0
            });
        }
    }

    /// See [`Columns::normal`](crate::design::Columns::normal): both products in one pass over the entries, rows of
    /// weight 0 left out. `None` where columns are in several panels.
    pub fn normal(&self, weights: &[f64], x: &[f64], shift: f64, out: &mut [f64]) -> Option<f64> {
        let [blocks] = &*self.panels else { return None };
        let x = &table(x);
        Some(self.add_up(blocks, out, |block, first, out| block.add_normal(&weights[first..], x, shift, out)))
    }

    /// What `add` puts into a table for the blocks of a panel, given with their first rows; the sum of what it returns.
    fn add_up(&self, blocks: &[Block], out: &mut [f64], add: impl Fn(&Block, usize, &mut Table) -> f64 + Sync) -> f64 {
        let (size, width) = (blocks.len().div_ceil(GROUPS).max(1), out.len());
        let group = |g: usize, sums: &mut Table| {
            sums[..width].fill(0.0);
            let members = blocks.iter().enumerate().skip(g * size).take(size);
            members.map(|(b, block)| add(block, b * BLOCK, sums)).sum::<f64>()
        };
        let groups = 0..blocks.len().div_ceil(size);
        let more = |sums: &[f64], out: &mut [f64]| out.iter_mut().zip(sums).for_each(|(o, v)| *o += v);
        out.fill(0.0);
        if worth_splitting(self.nnz) {
            let part = |g: usize| {
                let mut sums = [0.0; PANEL];
                let total = group(g, &mut sums);
                (sums[..width].to_vec(), total)
            };
            let parts: Vec<(Vec<f64>, f64)> = groups.into_par_iter().map(part).collect();
            parts.iter().map(|(sums, total)| (more(sums, out), total).1).sum()
        } else {
            let (mut sums, mut all) = ([0.0; PANEL], 0.0);
            for g in groups {
                all += group(g, &mut sums);
                more(&sums, out);
            }
            all
        }
    }

    /// The products of the columns, each in part at `[b k + a]` and in part at `[a k + b]`: a pair stands as it does in
    /// a row. `None` where columns are in several panels.
    pub fn gram(&self, weights: &[f64], k: usize) -> Option<Vec<f64>> {
        let [blocks] = &*self.panels else { return None };
        let products = self.nnz as f64 * self.nnz as f64 / (2 * self.nrows).max(1) as f64;
        let groups = ((products / (PER_ENTRY * (k * k) as f64)) as usize).clamp(1, TABLES);
        let size = blocks.len().div_ceil(groups).max(1);
        let part = |(g, members): (usize, &[Block])| {
            let mut table = vec![0.0; k * k];
            for (b, block) in members.iter().enumerate() {
                let weights = &weights[(g * size + b) * BLOCK..];
                block.rows().for_each(|(i, columns, values)| add_outer(weights[i], columns, values, k, &mut table));
            }
            table
        };
        let add = |mut all: Vec<f64>, more: Vec<f64>| {
            all.iter_mut().zip(more).for_each(|(all, v)| *all += v);
            all
        };
        let tables = if worth_splitting(products as usize) {
            blocks.par_chunks(size).enumerate().map(part).collect::<Vec<_>>().into_iter().reduce(add)
        } else {
            blocks.chunks(size).enumerate().map(part).reduce(add)
        };
        Some(tables.unwrap_or_else(|| vec![0.0; k * k]))
    }
}

/// Adds the products of the entries of a row, each of a pair once, where the first of them says: the work is the
/// squares of the row lengths, not k^2 merges.
#[inline(always)]
pub(super) fn add_outer<I: Copy + Into<u32>>(w: f64, columns: &[I], values: &[f64], k: usize, table: &mut [f64]) {
    if w == 0.0 {
        return;
    }
    for (e, (&b, &v)) in columns.iter().zip(values).enumerate() {
        let (b, scaled) = (b.into() as usize, w * v);
        let line = &mut table[b * k..(b + 1) * k];
        for (&a, u) in columns[e..].iter().zip(&values[e..]) {
            line[a.into() as usize] += scaled * u;
        }
    }
}
