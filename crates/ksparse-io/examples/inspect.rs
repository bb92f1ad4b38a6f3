//! What files hold: `cargo run --release -p ksparse-io --example inspect -- FILE...`
#![allow(clippy::print_stdout, clippy::print_stderr)]

use ksparse_io::{Labels, MatrixRef, Need, ReadOptions, Target, read};
use std::time::Instant;

fn main() {
    for file in std::env::args().skip(1) {
        let start = Instant::now();
        match read(file.as_ref(), &ReadOptions { need: Need::Optional, ..Default::default() }) {
            Err(error) => eprintln!("{error}"),
            Ok(table) => {
                let seconds = start.elapsed().as_secs_f64();
                let storage = match table.matrix.view() {
                    MatrixRef::Dense(_) => "dense",
                    MatrixRef::Sparse(_) => "sparse",
                };
                let target = match &table.target {
                    None => "no target".to_string(),
                    Some(target) => match (Labels::find(target), target) {
                        (Ok(labels), _) => {
                            let positive = labels.signs(target).map_or(0, |s| s.iter().filter(|s| **s > 0.0).count());
                            format!("{labels}: {} / {positive}", target.len() - positive)
                        }
                        (Err(_), Target::Numbers(_)) => "a number".into(),
                        (Err(_), Target::Text(_)) => "words".into(),
                    },
                };
                let (n, p, nnz) = (table.nrows(), table.ncols(), table.matrix.nnz());
                println!("{file}: {n} x {p}, {nnz} non-zeros, {storage}; {target}; {:.1} ms", 1e3 * seconds);
                table.notes.iter().for_each(|note| println!("  {note}"));
            }
        }
    }
}
