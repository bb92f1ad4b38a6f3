#![no_main]
//! Whatever the content says it is: decompression and detection first.
libfuzzer_sys::fuzz_target!(|data: &[u8]| ksparse_io_fuzz::run(data, None));
