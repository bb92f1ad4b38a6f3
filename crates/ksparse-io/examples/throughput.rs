//! How fast text is read, in megabytes per second: `cargo run --release -p ksparse-io --example throughput
//! [MEGABYTES]`.
//!
//! The text is made up like a news collection (75 words of 47,236 a row, six decimals). One thread parses; a second one
//! only copies the bytes in, as it would from a disk.
#![allow(clippy::print_stdout)]

use ksparse::Threads;
use ksparse_io::{ReadOptions, read, read_bytes};
use rand::{Rng, SeedableRng};
use std::fmt::Write;
use std::time::Instant;

fn text(bytes: usize) -> Vec<u8> {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let mut text = String::with_capacity(bytes + 2000);
    while text.len() < bytes {
        text.push_str(if rng.random_bool(0.5) { "+1" } else { "-1" });
        let mut index = 0;
        loop {
            index += rng.random_range(1..1259);
            if index > 47_236 {
                break;
            }
            write!(text, " {index}:{:.6}", rng.random_range(0.001..0.4)).expect("a string grows");
        }
        text.push('\n');
    }
    text.into_bytes()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let megabytes: usize = std::env::args().nth(1).map_or(Ok(100), |a| a.parse())?;
    let text = text(megabytes << 20);
    let size = text.len() as f64 / 1e6;
    for count in [1, 2] {
        let threads = Threads::new(count)?;
        let mut best = f64::INFINITY;
        let mut shape = (0, 0, 0);
        for _ in 0..3 {
            let bytes = text.clone();
            let start = Instant::now();
            let table = threads.run(|| read_bytes("made up", bytes, &ReadOptions::default()))?;
            best = best.min(start.elapsed().as_secs_f64());
            shape = (table.nrows(), table.ncols(), table.matrix.nnz());
        }
        println!("svmlight, {count} thread(s): {size:.0} MB, {shape:?}: {:.0} MB/s", size / best);
    }
    let path = std::env::temp_dir().join(format!("ksparse-throughput-{}.ksb", std::process::id()));
    let table = read_bytes("made up", text, &ReadOptions::default())?;
    ksparse_io::write(&table, &path, &Default::default())?;
    let start = Instant::now();
    let mapped = read(&path, &ReadOptions::default())?;
    println!(
        "the mapped form of it ({} non-zeros) opens in {:.1} ms",
        mapped.matrix.nnz(),
        1e3 * start.elapsed().as_secs_f64()
    );
    std::fs::remove_file(&path)?;
    Ok(())
}
