//! What all targets do: read bytes with options drawn from the first few, then use what came out. Used by the fuzz
//! targets beside this file and by the tests of `ksparse-io` (`tests/attack`), which need no fuzzer.

pub mod seeds;

use ksparse::SparseRef;
use ksparse_io::model::Model;
use ksparse_io::{Format, Header, Labels, Matrix, Need, ReadOptions, Storage, Table, read, read_bytes, verify};
use std::path::PathBuf;

/// A name, and what is done with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// Every target by its name.
pub const TARGETS: [Target; 10] = [
    ("svmlight", |data| run(data, Some(Format::Svmlight))),
    ("delimited", |data| run(data, Some(Format::Delimited))),
    ("npy", |data| run(data, Some(Format::Npy))),
    ("npz", |data| run(data, Some(Format::Npz))),
    ("mtx", |data| run(data, Some(Format::MatrixMarket))),
    ("parquet", |data| run(data, Some(Format::Parquet))),
    ("ksb", ksb),
    ("compressed", |data| run(data, None)),
    ("target", target),
    ("model", model),
];

/// Options from the first two bytes, and the rest.
pub fn options(data: &[u8]) -> Option<(ReadOptions, &[u8])> {
    let ([a, b], rest) = data.split_first_chunk::<2>()?;
    let pick = |byte: &u8, shift: u32| (byte >> shift & 3) as usize;
    let options = ReadOptions {
        zero_based: a & 1 == 1,
        features: (a & 2 == 2).then_some(50),
        // Small matrices most of the time, and sometimes whatever the file claims.
        max_features: (b & 48 != 16).then_some(1 << 12),
        header: [Header::Auto, Header::Auto, Header::Yes, Header::No][pick(a, 2)],
        separator: [None, None, Some(b','), Some(b' ')][pick(a, 4)],
        need: [Need::Optional, Need::Required, Need::Absent, Need::Optional][pick(a, 6)],
        target: [None, None, Some("1".into()), Some("-1".into())][pick(b, 0)].clone(),
        weights: [None, None, None, Some("2".into())][pick(b, 2)].clone(),
        drop: if b & 48 == 48 { vec!["3".into()] } else { Vec::new() },
        storage: [Storage::Auto, Storage::Auto, Storage::Dense, Storage::Sparse][pick(b, 6)],
        ..ReadOptions::default()
    };
    Some((options, rest))
}

/// Reads `data` as `format`; errors are fine, panics are not.
pub fn run(data: &[u8], format: Option<Format>) {
    if let Some((options, rest)) = options(data)
        && let Ok(table) = read_bytes("fuzz", rest.to_vec(), &ReadOptions { format, ..options })
    {
        exercise(&table);
    }
}

/// The mapped form, mapped and from memory, its checksums made right so that what lies behind them is reached.
pub fn ksb(data: &[u8]) {
    let Some((options, rest)) = options(data) else { return };
    let mut bytes = rest.to_vec();
    // One in two stays unsealed.
    if data[0] & 4 == 0 {
        seal(&mut bytes);
    }
    let file = scratch("ksb");
    std::fs::write(&file, &bytes).expect("a scratch file");
    let _ = verify(&file);
    if let Ok(table) = read(&file, &options) {
        exercise(&table);
    }
    let format = Some(Format::Ksb);
    if let Ok(table) = read_bytes("fuzz", bytes, &ReadOptions { format, ..options }) {
        exercise(&table);
    }
}

const HEADER: usize = 192;
const FOOTER: usize = 36;

/// Recomputes the checksums where there is room for them; sections are taken from the header as it stands.
fn seal(bytes: &mut [u8]) {
    if bytes.len() < HEADER + FOOTER {
        return;
    }
    let sum = crc32fast::hash(&bytes[..136]);
    bytes[136..140].copy_from_slice(&sum.to_le_bytes());
    let footer = bytes.len() - FOOTER;
    for s in 0..6 {
        let long = |at: usize| bytes[at..at + 8].iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b)) as usize;
        let (start, length) = (long(40 + 16 * s), long(48 + 16 * s));
        let sum = start.checked_add(length).and_then(|end| bytes.get(start..end)).map_or(0, crc32fast::hash);
        bytes[footer + 4 * s..footer + 4 * s + 4].copy_from_slice(&sum.to_le_bytes());
    }
    let sum = crc32fast::hash(&bytes[footer..footer + 24]);
    bytes[footer + 24..footer + 28].copy_from_slice(&sum.to_le_bytes());
}

/// A file that holds the target alone, beside a small matrix.
pub fn target(data: &[u8]) {
    let file = scratch("target");
    std::fs::write(&file, data).expect("a scratch file");
    let options = ReadOptions { target_file: Some(file), ..ReadOptions::default() };
    if let Ok(table) = read_bytes("fuzz", b"1,2\n3,4\n5,7\n".to_vec(), &options) {
        exercise(&table);
    }
}

/// A model file, which is written as it was read.
pub fn model(data: &[u8]) {
    if let Ok(model) = Model::from_json(&String::from_utf8_lossy(data)) {
        let again = Model::from_json(&model.to_json());
        assert!(again.is_ok_and(|again| again == model));
        assert!(model.loss.build().is_ok());
    }
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("ksparse-fuzz-{}.{name}", std::process::id()))
}

/// Removes what the targets left behind.
pub fn clean() {
    for name in ["ksb", "target"] {
        let _ = std::fs::remove_file(scratch(name));
    }
}

/// Uses everything a table promises.
pub fn exercise(table: &Table) {
    let (n, p) = (table.nrows(), table.ncols());
    assert!(n > 0 && p > 0);
    assert!(table.target.as_ref().is_none_or(|t| t.len() == n));
    assert!(table.weights.as_ref().is_none_or(|w| w.len() == n && w.iter().all(|w| *w >= 0.0)));
    assert!(table.names.as_ref().is_none_or(|names| names.len() == p));
    if n > 1 << 20 || p > 1 << 20 {
        return;
    }
    let design = table.design();
    let (mut over_rows, mut over_columns, mut row) = (vec![0.0; n], vec![0.0; p], Vec::new());
    design.tmul(&vec![1.0; n], &mut over_columns);
    design.mul(SparseRef::new(&[p - 1], &[1.0]), &mut over_rows);
    design.row(n - 1, &mut row);
    if !matches!(table.matrix, Matrix::Mapped(_)) {
        assert!(row.iter().all(|e| e.1.is_finite()));
    }
    if let Some(target) = &table.target {
        let _ = target.numbers();
        if let Ok(labels) = Labels::find(target) {
            let signs = labels.signs(target);
            assert!(signs.is_ok_and(|s| s.contains(&1.0) && s.contains(&-1.0)));
        }
        let _ = Labels::with_positive(target, "1:3,a").map(|l| l.signs(target));
    }
}
