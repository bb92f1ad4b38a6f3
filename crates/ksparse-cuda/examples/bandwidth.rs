//! How fast X'r runs on the device at hand: gigabytes of the design read in a second, vectors' travel included.
//!
//! `cargo run --release --package ksparse-cuda --example bandwidth -- [gigabytes | folder rows columns]`, the folder
//! holding a sparse matrix by columns as `bench/gpu/measure.py` writes it: pointers.bin, rows.bin, values.bin.
#![allow(clippy::print_stdout)]

use ksparse::design::{Design, Sparse};
use ksparse_cuda::{CudaDense, CudaSparse, Layout, Session};
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let device = ksparse_cuda::open(0)?;
    println!("{}", device.name());
    if let [folder, rows, columns] = &words[..] {
        return sparse(&Session::new(device), folder, rows.parse()?, columns.parse()?);
    }
    let gigabytes: f64 = words.first().map_or(Ok(4.0), |word| word.parse())?;
    let bytes = (gigabytes * 1e9) as u64;
    let at = device.allocate(bytes)?;
    // Numbers near 1, which are neither zero nor all the same, whether they are read as f64 or as f32.
    let noise: Vec<u8> =
        (0..1u64 << 22).flat_map(|i| (0x3ff0_0000_3f80_0000 ^ ((i * 0x9e37) & 0xffff)).to_le_bytes()).collect();
    for start in (0..bytes).step_by(noise.len()) {
        device.upload(&noise[..noise.len().min((bytes - start) as usize)], at + start)?;
    }
    for (rows, single) in [(20_000, false), (20_000, true), (1_000_000, false), (1_000_000, true), (500, false)] {
        let columns = (bytes as usize / if single { 4 } else { 8 }) / rows;
        for (order, strides) in [("columns", (1, rows)), ("rows", (columns, 1))] {
            let layout = Layout { rows, columns, single, strides };
            let x = CudaDense::foreign(&Session::new(device.clone()), at, layout, Box::new(()))?;
            let (r, mut out) = (vec![1.0 / rows as f64; rows], vec![0.0; columns]);
            let seconds = median(&x, &r, &mut out)?;
            let entry = if single { "f32" } else { "f64" };
            let rate = (rows * columns * if single { 4 } else { 8 }) as f64 / seconds / 1e9;
            println!("{rows:>8} x {columns:<8} {entry} by {order:<8} {:8.3} ms {rate:8.0} GB/s", 1e3 * seconds);
        }
    }
    device.release(at);
    Ok(())
}

/// The time of X'r, the median of some.
fn median(x: &dyn Design, r: &[f64], out: &mut [f64]) -> Result<f64, ksparse::Error> {
    let mut seconds = Vec::new();
    for _ in 0..21 {
        let started = Instant::now();
        x.tmul(r, out);
        seconds.push(started.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    x.health().map(|()| seconds[10])
}

fn sparse(session: &Arc<Session>, folder: &str, rows: usize, columns: usize) -> Result<(), Box<dyn std::error::Error>> {
    let read = |name: &str| std::fs::read(format!("{folder}/{name}.bin"));
    let pointers: Vec<u64> = bytes(&read("pointers")?).map(u64::from_le_bytes).collect();
    let indices: Vec<u32> = bytes(&read("rows")?).map(u32::from_le_bytes).collect();
    let values: Vec<f64> = bytes(&read("values")?).map(f64::from_le_bytes).collect();
    let single: Vec<f32> = values.iter().map(|&v| v as f32).collect();
    let x = Sparse::from_columns(rows, columns, pointers.clone(), indices.clone(), values)?;
    let y = Sparse::from_columns(rows, columns, pointers, indices, single)?;
    let (r, mut out) = (vec![1.0 / rows as f64; rows], vec![0.0; columns]);
    for (entry, design) in [("f64", CudaSparse::new(session, &x)?), ("f32", CudaSparse::new(session, &y)?)] {
        let seconds = median(&design, &r, &mut out)?;
        println!("{rows} x {columns}, {} entries {entry}: {:.3} ms with the vectors' travel", x.nnz(), 1e3 * seconds);
    }
    Ok(())
}

fn bytes<const N: usize>(all: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    all.as_chunks::<N>().0.iter().copied()
}
