#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| ksparse_io_fuzz::target(data));
