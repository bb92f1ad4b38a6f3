//! Some rows of a packed matrix, and the loops over them.

use crate::kernels::{self, Entry};

/// Columns of a panel.
pub(super) const PANEL: usize = 4096;

/// Rows of a block. Its entries stay in the cache while they are put in place.
pub(super) const BLOCK: usize = 2048;

/// A vector over the columns of a panel.
pub(super) type Table = [f64; PANEL];

/// The new place of a column that has none.
const GONE: u16 = u16::MAX;

/// At most [`BLOCK`] rows of at most [`PANEL`] columns.
#[derive(Default)]
pub(super) struct Block {
    /// Rows within the block, the shortest first (as they were when it was filled).
    order: Vec<u16>,
    /// Where their entries begin, and where the last end.
    starts: Vec<u32>,
    /// Perhaps longer than what is in use.
    columns: Vec<u16>,
    values: Vec<f64>,
    /// For an exchange to write to.
    other: (Vec<u16>, Vec<f64>),
}

/// Which columns go, where the others go, and who comes.
pub(super) struct Exchange<'a, T> {
    /// The new place of every old column.
    places: [u16; PANEL],
    /// New columns with their places.
    newcomers: Vec<(u16, &'a [u32], &'a [T])>,
}

impl<'a, T: Entry> Exchange<'a, T> {
    /// `before[c]` is where the column c of `source` was.
    pub fn new(source: &[(&'a [u32], &'a [T])], before: &[Option<usize>]) -> Self {
        let mut exchange = Self { places: [GONE; PANEL], newcomers: Vec::new() };
        for (c, (&(rows, values), old)) in source.iter().zip(before).enumerate() {
            match old {
                Some(old) => exchange.places[*old] = c as u16,
                None => exchange.newcomers.push((c as u16, rows, values)),
            }
        }
        exchange
    }
}

/// The part of some ascending rows that lies in a block.
fn within(rows: &[u32], first: usize, nrows: usize) -> std::ops::Range<usize> {
    let start = rows.partition_point(|&i| (i as usize) < first);
    start..start + rows[start..].partition_point(|&i| (i as usize) < first + nrows)
}

/// Entries of some columns in the rows from `first` on, turned into rows: `(next, columns, values)`, the entries of row
/// i ending at `next[i]`. `order` says which rows come first once their lengths are known.
fn turn<'a, T: Entry>(
    source: impl Iterator<Item = (u16, &'a [u32], &'a [T])> + Clone,
    first: usize,
    nrows: usize,
    order: impl FnOnce(&[u32]) -> Vec<u32>,
    (columns, values): (&mut Vec<u16>, &mut Vec<f64>),
) -> Vec<u32> {
    let mut lengths = vec![0u32; nrows];
    let parts: Vec<_> = source.map(|(c, rows, values)| (c, rows, values, within(rows, first, nrows))).collect();
    for (_, rows, _, range) in &parts {
        rows[range.clone()].iter().for_each(|&i| lengths[i as usize - first] += 1);
    }
    let total: usize = parts.iter().map(|part| part.3.len()).sum();
    grow(columns, values, total);
    let mut next = order(&lengths);
    for (c, rows, entries, range) in parts {
        for (&i, v) in rows[range.clone()].iter().zip(&entries[range]) {
            let slot = &mut next[i as usize - first];
            columns[*slot as usize] = c;
            values[*slot as usize] = v.widen();
            *slot += 1;
        }
    }
    next
}

fn grow(columns: &mut Vec<u16>, values: &mut Vec<f64>, length: usize) {
    columns.resize(columns.len().max(length), 0);
    values.resize(values.len().max(length), 0.0);
}

impl Block {
    /// The rows from `first` on of the columns in `source`.
    pub fn fill<T: Entry>(&mut self, first: usize, nrows: usize, source: &[(&[u32], &[T])]) {
        let Self { order, starts, columns, values, .. } = self;
        let numbered = source.iter().enumerate().map(|(c, &(rows, values))| (c as u16, rows, values));
        let by_length = |lengths: &[u32]| {
            order.clear();
            order.extend(0..nrows as u16);
            order.sort_by_key(|&i| lengths[i as usize]);
            starts.clear();
            let (mut next, mut end) = (vec![0; nrows], 0);
            for &i in &*order {
                starts.push(end);
                next[i as usize] = end;
                end += lengths[i as usize];
            }
            starts.push(end);
            next
        };
        turn(numbered, first, nrows, by_length, (columns, values));
    }

    /// Lets columns go and come. Rows stay in their order, newcomers stand at their ends.
    pub fn exchange<T: Entry>(&mut self, first: usize, exchange: &Exchange<'_, T>) {
        let nrows = self.order.len();
        let (mut fresh_columns, mut fresh_values) = (Vec::new(), Vec::new());
        let in_order = |lengths: &[u32]| {
            lengths.iter().scan(0, |end, length| Some(std::mem::replace(end, *end + length))).collect()
        };
        let fresh = (&mut fresh_columns, &mut fresh_values);
        let ends = turn(exchange.newcomers.iter().copied(), first, nrows, in_order, fresh);
        let (columns, values) = &mut self.other;
        grow(columns, values, self.columns.len() + fresh_columns.len());
        let mut end = 0;
        for (slot, &i) in self.order.iter().enumerate() {
            let old = self.starts[slot] as usize..self.starts[slot + 1] as usize;
            self.starts[slot] = end as u32;
            for (&c, &v) in self.columns[old.clone()].iter().zip(&self.values[old]) {
                let place = exchange.places[c as usize % PANEL];
                (columns[end], values[end]) = (place, v);
                end += usize::from(place != GONE);
            }
            let from = if i == 0 { 0 } else { ends[i as usize - 1] as usize };
            for e in from..ends[i as usize] as usize {
                (columns[end], values[end]) = (fresh_columns[e], fresh_values[e]);
                end += 1;
            }
        }
        if let Some(last) = self.starts.last_mut() {
            *last = end as u32;
        }
        std::mem::swap(&mut self.columns, &mut self.other.0);
        std::mem::swap(&mut self.values, &mut self.other.1);
    }

    #[inline(always)]
    fn row(&self, slot: usize) -> (usize, &[u16], &[f64]) {
        let range = self.starts[slot] as usize..self.starts[slot + 1] as usize;
        (self.order[slot] as usize, &self.columns[range.clone()], &self.values[range])
    }

    /// Every row: its number within the block, its columns and values.
    pub fn rows(&self) -> impl Iterator<Item = (usize, &[u16], &[f64])> {
        (0..self.order.len()).map(|slot| self.row(slot))
    }

    /// `out += A x`.
    pub fn add_products(&self, x: &Table, out: &mut [f64]) {
        for (i, columns, values) in self.rows() {
            out[i] += dot(columns, values, x);
        }
    }

    /// `out += A X` for several vectors, both by rows.
    pub fn add_products_by_rows(&self, x: &[f64], outputs: usize, out: &mut [f64]) {
        for (i, columns, values) in self.rows() {
            kernels::add_listed_rows(columns, values, x, &mut out[i * outputs..(i + 1) * outputs]);
        }
    }

    /// `out += A' r`.
    pub fn add_rows(&self, r: &[f64], out: &mut Table) {
        for (i, columns, values) in self.rows() {
            scatter(r[i], columns, values, out);
        }
    }

    /// `out += A' r` where `r = diag(weights) (A x + shift)`; the sum of r.
    pub fn add_normal(&self, weights: &[f64], x: &Table, shift: f64, out: &mut Table) -> f64 {
        // Who takes part is settled beforehand, without a branch that nobody can foresee.
        let (mut active, mut count) = ([0u16; BLOCK], 0);
        for (slot, &i) in self.order.iter().enumerate() {
            active[count] = slot as u16;
            count += usize::from(weights[i as usize] != 0.0);
        }
        let mut total = 0.0;
        for &slot in &active[..count] {
            let (i, columns, values) = self.row(slot as usize);
            let r = weights[i] * (dot(columns, values, x) + shift);
            total += r;
            scatter(r, columns, values, out);
        }
        total
    }
}

/// `sum_e values[e] x[columns[e]]`, in four independent sums.
#[inline(always)]
fn dot(columns: &[u16], values: &[f64], x: &Table) -> f64 {
    let at = |c: u16| x[c as usize % PANEL];
    let (column_groups, column_tail) = columns.as_chunks::<4>();
    let (value_groups, value_tail) = values.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (c, v) in column_groups.iter().zip(value_groups) {
        for l in 0..4 {
            sums[l] += v[l] * at(c[l]);
        }
    }
    let mut tail = 0.0;
    for (&c, v) in column_tail.iter().zip(value_tail) {
        tail += v * at(c);
    }
    ((sums[0] + sums[2]) + (sums[1] + sums[3])) + tail
}

#[inline(always)]
fn scatter(factor: f64, columns: &[u16], values: &[f64], out: &mut Table) {
    for (&c, v) in columns.iter().zip(values) {
        out[c as usize % PANEL] += factor * v;
    }
}
