//! The products against what the memory can deliver, measured alternately in one process so that both see the same
//! machine.
//!
//! On one thread the clock is the processor time: on a busy machine the shortest of several wall times favours the
//! shorter of two pieces of work, which more often gets through between two interruptions. With more threads only the
//! wall can be timed, and the figure is worth something on an idle machine only.

use crate::Outcome;
use crate::fit::cpu_seconds;
use crate::workload;
use ksparse::Threads;
use ksparse::design::{Dense, Design, Entry};
use ksparse_io::MatrixRef;
use pulp::Arch;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::Instant;

/// Prints the figures as JSON.
pub fn kernels(quick: bool) -> Outcome {
    // Far beyond any cache: 400 MB (quick: 160 MB) in f64, half of it in f32.
    let (n, p) = if quick { (2000, 10_000) } else { (2500, 20_000) };
    let mut rows = Vec::new();
    let wide: Vec<f64> = (0..n * p).map(|e| ((e % 1013) as f64 - 506.0) / 506.0).collect();
    for threads in [1, 2] {
        rows.push(dense("dense f64 X'r", n, p, &wide, threads, &wide)?);
    }
    let narrow: Vec<f32> = wide.iter().map(|&v| v as f32).collect();
    for threads in [1, 2] {
        rows.push(dense("dense f32 X'r", n, p, &narrow, threads, &wide)?);
    }
    drop((wide, narrow));
    let texts: &[&str] = if quick { &["rcv1"] } else { &["rcv1", "news20"] };
    for name in texts {
        let drawn = workload::by_name(name)?.draw(1, 0, None)?;
        if let MatrixRef::Sparse(x) = drawn.train.matrix.view() {
            let r: Vec<f64> = (0..x.nrows()).map(|i| (i as f64).sin()).collect();
            let mut out = vec![0.0; x.ncols()];
            for threads in [1, 2] {
                let pool = Threads::new(threads)?;
                let seconds = best(threads, 15, || pool.run(|| x.tmul(&r, black_box(&mut out))));
                let bytes = 12 * x.nnz() + 16 * x.ncols();
                rows.push(json!({
                    "kernel": format!("CSC X'r, {name}"), "threads": threads, "nnz": x.nnz(),
                    "nanoseconds_per_entry": 1e9 * seconds / x.nnz() as f64,
                    "gigabytes_per_second": 1e-9 * bytes as f64 / seconds,
                }));
            }
        }
    }
    println!("{}", Value::Array(rows));
    Ok(())
}

/// `X'r` and a read of as many bytes, in turns.
fn dense<T: Entry>(label: &str, n: usize, p: usize, values: &[T], threads: usize, memory: &[f64]) -> Outcome<Value> {
    let pool = Threads::new(threads)?;
    let x = Dense::from_columns(n, p, values)?;
    let r: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let mut out = vec![0.0; p];
    let bytes = size_of_val(values);
    let memory = &memory[..bytes / 8];
    let (mut product, mut read) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..15 {
        read = read.min(best(threads, 1, || black_box(pool.run(|| stream(memory)))));
        product = product.min(best(threads, 1, || pool.run(|| x.tmul(&r, black_box(&mut out)))));
    }
    Ok(json!({
        "kernel": label, "threads": threads, "megabytes": bytes as f64 / 1e6,
        "gigabytes_per_second": 1e-9 * bytes as f64 / product,
        "read_gigabytes_per_second": 1e-9 * bytes as f64 / read, "share_of_read": read / product,
    }))
}

/// The shortest of `times` runs, in seconds: of the processor on one thread, by the wall on more.
fn best<R>(threads: usize, times: usize, mut work: impl FnMut() -> R) -> f64 {
    let timed = |_| {
        let (clock, used) = (Instant::now(), cpu_seconds());
        black_box(work());
        if threads == 1 { cpu_seconds() - used } else { clock.elapsed().as_secs_f64() }
    };
    (0..times).map(timed).fold(f64::INFINITY, f64::min)
}

/// Reads every byte once: the sum, in as many independent accumulators as it takes to wait for the memory only.
fn stream(values: &[f64]) -> f64 {
    let block = 1 << 17;
    if rayon::current_num_threads() == 1 { sum(values) } else { values.par_chunks(block).map(sum).sum() }
}

fn sum(values: &[f64]) -> f64 {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let (body, tail) = values.as_chunks::<32>();
            let mut lanes = [0.0; 32];
            for chunk in body {
                for (lane, v) in lanes.iter_mut().zip(chunk) {
                    *lane += v;
                }
            }
            lanes.iter().chain(tail).sum()
        },
    )
}
