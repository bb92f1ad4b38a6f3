#![no_main]
//! A file that holds the target alone, beside a small matrix.
use ksparse_io::{ReadOptions, read_bytes};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let file = std::env::temp_dir().join(format!("ksparse-fuzz-target-{}", std::process::id()));
    std::fs::write(&file, data).expect("a scratch file");
    let options = ReadOptions { target_file: Some(file.clone()), ..ReadOptions::default() };
    if let Ok(table) = read_bytes("fuzz", b"1,2\n3,4\n5,7\n".to_vec(), &options) {
        ksparse_io_fuzz::exercise(&table);
    }
});
