//! Small files in every format for the fuzzers to start from: `cargo run -p ksparse-io --example fuzz_seeds -- fuzz/corpus`.
//!
//! Each starts with the two bytes from which a fuzz target draws its options.

use ksparse_io::{Compression, ReadOptions, Table, WriteOptions, read_bytes, write};
use std::error::Error;
use std::fs;
use std::path::Path;

const SPARSE: &[u8] = b"+1 qid:2 1:0.5 4:-2e3 # tail\n-1 2:1\n+1\n-1 3:7 9:1e-5\n";
const WORDS: &[u8] = b"ham 1:1 12:2\nspam 2:1\n3 1:2\n";
const DENSE: &[u8] = b"sample,response,\"g,1\",g2\nM1,pCR,1,2.5\nM2,RD,-3,4e2\nM3,pCR,0,1\n";
const BLANKS: &[u8] = b"1.5 2  3\n4 5 6\n\n# x\n7 8 9e-3\n";
const MARKET: [&[u8]; 3] = [
    b"%%MatrixMarket matrix coordinate integer symmetric\n% c\n3 3 2\n1 1 7\n3 1 3\n",
    b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4.5\n",
    b"%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 1\n2 3\n",
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = std::env::args().nth(1).ok_or("name a directory")?;
    let put = |target: &str, name: &str, bytes: &[u8]| -> Result<(), Box<dyn Error>> {
        let dir = Path::new(&root).join(target);
        fs::create_dir_all(&dir)?;
        let bytes = if target == "target" { bytes.to_vec() } else { [&[0, 0], bytes].concat() };
        Ok(fs::write(dir.join(name), bytes)?)
    };
    let scratch = std::env::temp_dir().join(format!("ksparse-seeds-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    for (name, text) in [("sparse", SPARSE), ("words", WORDS), ("dense", DENSE)] {
        let table: Table = read_bytes(name, text.to_vec(), &ReadOptions::default())?;
        for (end, target) in
            [("svm", "svmlight"), ("csv", "delimited"), ("npy", "npy"), ("npz", "npz"), ("mtx", "mtx"), ("ksb", "ksb")]
        {
            let file = scratch.join(format!("{name}.{end}"));
            write(&table, &file, &WriteOptions::default())?;
            put(target, name, &fs::read(&file)?)?;
        }
        put("target", &format!("{name}.npy"), &fs::read(scratch.join(format!("{name}.y.npy")))?)?;
        for compression in Compression::ALL {
            let file = scratch.join(format!("{name}.csv.{}", compression.extension()));
            write(&table, &file, &WriteOptions::default())?;
            put("compressed", &format!("{name}.{}", compression.extension()), &fs::read(&file)?)?;
        }
    }
    put("svmlight", "raw", SPARSE)?;
    put("delimited", "raw", DENSE)?;
    put("delimited", "blanks", BLANKS)?;
    for (i, text) in MARKET.iter().enumerate() {
        put("mtx", &format!("market{i}"), text)?;
    }
    put("target", "lines", b"y\n1\n2\n3\n")?;
    put("target", "words", b"a\nb\na\n")?;
    fs::remove_dir_all(&scratch)?;
    Ok(())
}
