//! Small files in every format for the fuzzers to start from: `cargo run -p ksparse-io --example fuzz_seeds --
//! fuzz/corpus`.

#[allow(dead_code)]
#[path = "../fuzz/lib.rs"]
mod fuzz;

use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let root = std::env::args().nth(1).ok_or("name a directory")?;
    for seed in fuzz::seeds::seeds()? {
        let dir = Path::new(&root).join(seed.target);
        fs::create_dir_all(&dir)?;
        fs::write(dir.join(seed.name), seed.bytes)?;
    }
    Ok(())
}
