//! What stands in for a device where there is none: the same tasks by plain loops over this computer's memory. It is
//! for tests of everything above the driver, and slow.

use crate::device::{BLOCK, Compressed, Device, Entries, Factor, Item, Measure, Task, Which};
use crate::fault::{Fault, Result};
use bytemuck::Pod;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory of a computer that is addressed like that of a device.
#[derive(Debug)]
pub struct StandIn {
    total: u64,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    /// By address, in units that suit every entry.
    chunks: BTreeMap<u64, Vec<u64>>,
    taken: u64,
    next: u64,
    /// Tasks until one fails; `None`: never.
    until_failure: Option<u64>,
}

impl StandIn {
    /// With so many bytes.
    pub fn new(total: u64) -> Self {
        Self { total, memory: Mutex::new(Memory { next: 1 << 20, ..Memory::default() }) }
    }

    /// The device is lost after so many more tasks.
    pub fn fail_after(&self, tasks: u64) {
        self.memory().until_failure = Some(tasks);
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    /// The bytes at an address; a task that reaches beyond its memory is a defect of this crate.
    fn bytes(&mut self, at: u64, bytes: u64) -> &mut [u8] {
        let (base, chunk) = self.chunks.range_mut(..=at).next_back().unwrap_or_else(|| panic!("nothing at {at}"));
        let from = (at - base) as usize;
        &mut bytemuck::cast_slice_mut(chunk)[from..from + bytes as usize]
    }

    fn read<T: Pod>(&mut self, at: u64, count: u64) -> Vec<T> {
        let mut values = vec![T::zeroed(); count as usize];
        bytemuck::cast_slice_mut(&mut values).copy_from_slice(self.bytes(at, count * size_of::<T>() as u64));
        values
    }

    fn write<T: Pod>(&mut self, at: u64, values: &[T]) {
        self.bytes(at, size_of_val(values) as u64).copy_from_slice(bytemuck::cast_slice(values));
    }

    /// So many values.
    fn values(&mut self, at: u64, single: bool, count: u64) -> Vec<f64> {
        if single { self.read::<f32>(at, count).into_iter().map(f64::from).collect() } else { self.read(at, count) }
    }

    /// Some columns of a matrix, over all its rows.
    fn columns(&mut self, x: Entries, rows: u64, which: &[u64]) -> Vec<Vec<f64>> {
        let Some(last) = which.iter().max().filter(|_| rows > 0) else { return vec![Vec::new(); which.len()] };
        let all = self.values(x.at, x.single, (rows - 1) * x.row_stride + last * x.column_stride + 1);
        let column = |&j: &u64| (0..rows).map(|i| all[(i * x.row_stride + j * x.column_stride) as usize]).collect();
        which.iter().map(column).collect()
    }

    /// Some rows of a matrix: its transpose has them for columns.
    fn rows(&mut self, x: Entries, columns: u64, list: u64, count: u64) -> Vec<Vec<f64>> {
        let turned = Entries { row_stride: x.column_stride, column_stride: x.row_stride, ..x };
        let which = self.which(Which { list: Some(list), count });
        self.columns(turned, columns, &which)
    }

    fn which(&mut self, which: Which) -> Vec<u64> {
        match which.list {
            None => (0..which.count).collect(),
            Some(list) => self.read::<u32>(list, which.count).into_iter().map(u64::from).collect(),
        }
    }

    fn factors(&mut self, factor: Factor, low: u64, rows: u64) -> Vec<f64> {
        match factor {
            Factor::One => vec![1.0; rows as usize],
            Factor::Weights(at) => self.read(at + 8 * low, rows),
            Factor::Roots(at) => self.read::<f64>(at + 8 * low, rows).into_iter().map(f64::sqrt).collect(),
        }
    }

    /// Rows and values of a sparse column.
    fn column(&mut self, x: Compressed, j: u64) -> Vec<(u64, f64)> {
        let ends: Vec<u64> = self.read(x.pointers + 8 * j, 2);
        self.pieces(x, ends[0], ends[1] - ends[0])
    }

    fn pieces(&mut self, x: Compressed, start: u64, length: u64) -> Vec<(u64, f64)> {
        let rows: Vec<u32> = self.read(x.indices + 4 * start, length);
        let size = if x.single { 4 } else { 8 };
        let values = self.values(x.values + size * start, x.single, length);
        rows.into_iter().map(u64::from).zip(values).collect()
    }

    fn run(&mut self, task: &Task) {
        match *task {
            Task::Reduce { x, rows, which, vector, measure, segment, out } => {
                let (list, v): (Vec<u64>, Vec<f64>) = (self.which(which), self.read(vector, rows));
                let (columns, centres) = (self.columns(x, rows, &list), self.centres(measure, which.count));
                let mut sums = Vec::new();
                for start in (0..rows as usize).step_by(segment as usize) {
                    for (column, &centre) in columns.iter().zip(&centres) {
                        let part = column.iter().zip(&v).skip(start).take(segment as usize);
                        sums.push(part.map(|(x, v)| term(measure, *x, *v, centre)).sum());
                    }
                }
                self.write::<f64>(out, &sums);
            }
            Task::AddUp { parts, segments, count, out } => {
                let parts: Vec<f64> = self.read(parts, segments * count);
                let sum = |e: usize| parts.iter().skip(e).step_by(count as usize).sum::<f64>();
                self.write(out, &(0..count as usize).map(sum).collect::<Vec<_>>());
            }
            Task::Combine { x, rows, which, factors, out } => {
                let (list, w): (Vec<u64>, Vec<f64>) = (self.which(which), self.read(factors, which.count));
                let mut sums = vec![0.0; rows as usize];
                for (column, w) in self.columns(x, rows, &list).iter().zip(&w) {
                    sums.iter_mut().zip(column).for_each(|(sum, x)| *sum += w * x);
                }
                self.write(out, &sums);
            }
            Task::Gather { x, rows, which, factor, out } => {
                let (factors, list) = (self.factors(factor, 0, rows), self.which(which));
                let columns = self.columns(x, rows, &list);
                let weighted = |column: &Vec<f64>| column.iter().zip(&factors).map(|(x, f)| f * x).collect::<Vec<_>>();
                let all: Vec<f64> = columns.iter().flat_map(weighted).collect();
                self.write(out, &all);
            }
            Task::DotRows { x, columns, list, count, w, out } => {
                let (rows, w): (Vec<Vec<f64>>, Vec<f64>) = (self.rows(x, columns, list, count), self.read(w, columns));
                let dot = |row: &Vec<f64>| row.iter().zip(&w).map(|(x, w)| x * w).sum();
                self.write::<f64>(out, &rows.iter().map(dot).collect::<Vec<_>>());
            }
            Task::AddRows { x, columns, list, count, factors, out } => {
                let (rows, f): (Vec<Vec<f64>>, Vec<f64>) =
                    (self.rows(x, columns, list, count), self.read(factors, count));
                let mut sums: Vec<f64> = self.read(out, columns);
                for (row, f) in rows.iter().zip(&f) {
                    sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += f * x);
                }
                self.write(out, &sums);
            }
            Task::Multiply { a, b, shift, count, out } => {
                let (a, b): (Vec<f64>, Vec<f64>) = (self.read(a, count), self.read(b, count));
                self.write(out, &a.iter().zip(&b).map(|(a, b)| (a + shift) * b).collect::<Vec<_>>());
            }
            Task::Product { left, left_stride, m, right, right_stride, n, rows, batches, add, out } => {
                for batch in 0..batches {
                    let at = out + 8 * batch * m * n;
                    let mut sums: Vec<f64> = if add { self.read(at, m * n) } else { vec![0.0; (m * n) as usize] };
                    for b in 0..n {
                        let y: Vec<f64> = self.read(right + 8 * (b * right_stride + batch * rows), rows);
                        for a in 0..m {
                            let x: Vec<f64> = self.read(left + 8 * (a * left_stride + batch * rows), rows);
                            sums[(b * m + a) as usize] += x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>();
                        }
                    }
                    self.write(at, &sums);
                }
            }
            _ => self.run_sparse(task),
        }
    }

    fn run_sparse(&mut self, task: &Task) {
        match *task {
            Task::SparseReduce { x, items, count, vector, measure, out } => {
                let mut sums = Vec::new();
                for [start, both] in self.read::<Item>(items, count) {
                    let slot = both >> 32;
                    let centre = self.centres(measure, slot + 1)[slot as usize];
                    let piece = self.pieces(x, start, both & u64::from(u32::MAX));
                    let longest = piece.iter().map(|(i, _)| i + 1).max().unwrap_or(0);
                    let v: Vec<f64> = self.read(vector, longest);
                    sums.push(piece.iter().map(|(i, value)| term(measure, *value, v[*i as usize], centre)).sum());
                }
                self.write::<f64>(out, &sums);
            }
            Task::Misplaced { x, rows, items, count, out } => {
                let mut counts = Vec::new();
                for [start, both] in self.read::<Item>(items, count) {
                    let first: u64 = self.read(x.pointers + 8 * (both >> 32), 1)[0];
                    let length = both & u64::from(u32::MAX);
                    // With the entry before, where there is one in the column.
                    let before = u64::from(start > first);
                    let list: Vec<u32> = self.read(x.indices + 4 * (start - before), length + before);
                    let unordered = list.windows(2).filter(|w| w[0] >= w[1]).count();
                    let beyond = |row: &&u32| u64::from(**row) >= rows;
                    counts.push((unordered + list[before as usize..].iter().filter(beyond).count()) as f64);
                }
                self.write::<f64>(out, &counts);
            }
            Task::AddUpItems { parts, first, count, out } => {
                let first: Vec<u32> = self.read(first, count + 1);
                let parts: Vec<f64> = self.read(parts, u64::from(first[count as usize]));
                let sums: Vec<f64> =
                    first.windows(2).map(|w| parts[w[0] as usize..w[1] as usize].iter().sum()).collect();
                self.write(out, &sums);
            }
            Task::Bounds { x, list, count, blocks, out } => {
                let mut bounds: Vec<u32> = Vec::new();
                for j in self.which(Which { list: Some(list), count }) {
                    let column = self.column(x, j);
                    bounds.extend((0..=blocks).map(|b| column.partition_point(|(i, _)| *i < b * BLOCK) as u32));
                }
                self.write(out, &bounds);
            }
            Task::SparseCombine { x, rows, list, count, bounds, blocks, factors, out } => {
                let mut sums = vec![0.0; rows as usize];
                let (bounds, w): (Vec<u32>, Vec<f64>) =
                    (self.read(bounds, count * (blocks + 1)), self.read(factors, count));
                for (c, j) in self.which(Which { list: Some(list), count }).into_iter().enumerate() {
                    let column = self.column(x, j);
                    let whole = &bounds[c * (blocks as usize + 1)..(c + 1) * (blocks as usize + 1)];
                    for (i, value) in &column[whole[0] as usize..whole[blocks as usize] as usize] {
                        sums[*i as usize] += w[c] * value;
                    }
                }
                self.write(out, &sums);
            }
            Task::Densify { x, list, count, low, height, factor, out } => {
                let factors = match factor {
                    Factor::One => self.factors(factor, 0, height),
                    _ => Vec::new(),
                };
                for (c, j) in self.which(Which { list: Some(list), count }).into_iter().enumerate() {
                    for (i, value) in self.column(x, j).into_iter().filter(|(i, _)| (low..low + height).contains(i)) {
                        let f = factors.first().copied().unwrap_or_else(|| self.factors(factor, i, 1)[0]);
                        self.write(out + 8 * (height * c as u64 + i - low), &[f * value]);
                    }
                }
            }
            _ => unreachable!("{task:?} is not about a sparse matrix"),
        }
    }

    fn centres(&mut self, measure: Measure, count: u64) -> Vec<f64> {
        if let Measure::Deviation(centres) = measure { self.read(centres, count) } else { vec![0.0; count as usize] }
    }
}

fn term(measure: Measure, x: f64, v: f64, centre: f64) -> f64 {
    match measure {
        Measure::Dot => x * v,
        Measure::Square => x * x * v,
        Measure::Deviation(_) => (x - centre) * (x - centre) * v,
        Measure::Weight => v,
    }
}

impl Device for StandIn {
    fn name(&self) -> &str {
        "no device, a stand-in"
    }

    fn memory(&self) -> Result<(u64, u64)> {
        Ok((self.total - self.memory().taken, self.total))
    }

    fn allocate(&self, bytes: u64) -> Result<u64> {
        let (free, total) = Device::memory(self)?;
        if bytes > free {
            return Err(Fault::Memory { what: "a test", needed: bytes, free, total });
        }
        let mut memory = self.memory();
        let at = memory.next;
        // What nobody has written is no number.
        memory.chunks.insert(at, vec![u64::MAX; bytes.div_ceil(8) as usize]);
        memory.taken += bytes;
        memory.next += bytes.next_multiple_of(256);
        Ok(at)
    }

    fn release(&self, at: u64) {
        let mut memory = self.memory();
        let bytes = memory.chunks.remove(&at).map_or(0, |chunk| 8 * chunk.len() as u64);
        memory.taken = memory.taken.saturating_sub(bytes);
    }

    fn check_foreign(&self, at: u64, bytes: u64) -> Result<()> {
        let memory = self.memory();
        let chunk = memory.chunks.range(..=at).next_back();
        match chunk.is_some_and(|(base, chunk)| at + bytes <= base + 8 * chunk.len() as u64) {
            true => Ok(()),
            false => Err(Fault::Foreign(format!("{bytes} bytes at {at:#x} are not memory of the stand-in"))),
        }
    }

    fn upload(&self, from: &[u8], to: u64) -> Result<()> {
        self.memory().bytes(to, from.len() as u64).copy_from_slice(from);
        Ok(())
    }

    fn download(&self, from: u64, to: &mut [u8]) -> Result<()> {
        to.copy_from_slice(self.memory().bytes(from, to.len() as u64));
        Ok(())
    }

    fn clear(&self, at: u64, bytes: u64) -> Result<()> {
        self.memory().bytes(at, bytes).fill(0);
        Ok(())
    }

    fn run(&self, task: &Task) -> Result<()> {
        let mut memory = self.memory();
        if let Some(left) = &mut memory.until_failure {
            if *left == 0 {
                return Err(Fault::Lost { call: "a task", code: "lost on purpose".to_string() });
            }
            *left -= 1;
        }
        memory.run(task);
        Ok(())
    }
}
