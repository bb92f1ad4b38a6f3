#![no_main]
//! The mapped form, its checksums made right so that what lies behind them is reached.
use ksparse_io::{ReadOptions, read, read_bytes, verify};

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

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((options, rest)) = ksparse_io_fuzz::options(data) else { return };
    let mut bytes = rest.to_vec();
    // One in two stays unsealed.
    if data[0] & 4 == 0 {
        seal(&mut bytes);
    }
    let file = std::env::temp_dir().join(format!("ksparse-fuzz-{}.ksb", std::process::id()));
    std::fs::write(&file, &bytes).expect("a scratch file");
    let _ = verify(&file);
    if let Ok(table) = read(&file, &options) {
        ksparse_io_fuzz::exercise(&table);
    }
    let format = Some(ksparse_io::Format::Ksb);
    if let Ok(table) = read_bytes("fuzz", bytes, &ReadOptions { format, ..options }) {
        ksparse_io_fuzz::exercise(&table);
    }
});
