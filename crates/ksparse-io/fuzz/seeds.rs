//! Small files in every format to start from. Each but targets and models starts with the two bytes from which
//! options are drawn.

use ksparse_io::{Compression, ReadOptions, Table, WriteOptions, read_bytes, write};
use std::error::Error;
use std::fs;

/// A file for one of the targets.
pub struct Seed {
    pub target: &'static str,
    pub name: String,
    pub bytes: Vec<u8>,
}

const SPARSE: &[u8] = b"+1 qid:2 1:0.5 4:-2e3 # tail\n-1 2:1\n+1\n-1 3:7 9:1e-5\n";
const WORDS: &[u8] = b"ham 1:1 12:2\nspam 2:1\n3 1:2\n";
const DENSE: &[u8] = b"sample,response,\"g,1\",g2\nM1,pCR,1,2.5\nM2,RD,-3,4e2\nM3,pCR,0,1\n";
const BLANKS: &[u8] = b"1.5 2  3\n4 5 6\n\n# x\n7 8 9e-3\n";
const MARKET: [&[u8]; 3] = [
    b"%%MatrixMarket matrix coordinate integer symmetric\n% c\n3 3 2\n1 1 7\n3 1 3\n",
    b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4.5\n",
    b"%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 1\n2 3\n",
];

const MODEL: &[u8] = br#"{"format": "ksparse-model", "version": 1, "created_by": "x",
  "loss": {"name": "logistic", "scale": 1.5}, "labels": {"two": {"negative": "no", "positive": "yes"}},
  "lambda": 1e-5, "k": 2, "solver": "auto", "status": "optimal",
  "objective": 0.31, "standardized": false, "n": 100, "p": 5, "target": "y", "intercept": -0.2,
  "coefficients": [{"column": 1, "feature": "a", "value": 0.25}, {"column": 4, "feature": "b", "value": 1.5}]}"#;

/// All of them.
pub fn seeds() -> Result<Vec<Seed>, Box<dyn Error>> {
    let mut all = Vec::new();
    let mut put = |target: &'static str, name: &str, bytes: &[u8]| {
        let plain = matches!(target, "target" | "model");
        let bytes = if plain { bytes.to_vec() } else { [&[0, 0], bytes].concat() };
        all.push(Seed { target, name: name.to_string(), bytes });
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
            put(target, name, &fs::read(&file)?);
        }
        put("target", &format!("{name}.npy"), &fs::read(scratch.join(format!("{name}.y.npy")))?);
        for compression in Compression::ALL {
            let file = scratch.join(format!("{name}.csv.{}", compression.extension()));
            write(&table, &file, &WriteOptions::default())?;
            put("compressed", &format!("{name}.{}", compression.extension()), &fs::read(&file)?);
        }
    }
    put("svmlight", "raw", SPARSE);
    put("delimited", "raw", DENSE);
    put("delimited", "blanks", BLANKS);
    for (i, text) in MARKET.iter().enumerate() {
        put("mtx", &format!("market{i}"), text);
    }
    put("target", "lines", b"y\n1\n2\n3\n");
    put("target", "words", b"a\nb\na\n");
    put("model", "logistic", MODEL);
    fs::remove_dir_all(&scratch)?;
    Ok(all)
}
