//! Bad files: a message with the file, the place and the remedy; never a panic.

use ksparse_io::{Format, Header, Need, ReadOptions, Storage, Table, read, read_bytes, write};
use std::path::Path;

fn message(text: &[u8], options: &ReadOptions) -> String {
    match read_bytes("data", text.to_vec(), options) {
        Ok(table) => panic!("{} was read as {} x {}", String::from_utf8_lossy(text), table.nrows(), table.ncols()),
        Err(error) => error.to_string(),
    }
}

/// Every message names the file, and holds all the parts given.
fn check(format: Format, cases: &[(&str, &[&str])]) {
    for (text, parts) in cases {
        let options = ReadOptions { format: Some(format), target: column_of(format), ..ReadOptions::default() };
        let message = message(text.as_bytes(), &options);
        assert!(message.starts_with("data"), "{message}");
        for part in *parts {
            assert!(message.contains(part), "`{text}` gave `{message}`, which lacks `{part}`");
        }
    }
}

fn column_of(format: Format) -> Option<String> {
    (format == Format::Delimited).then(|| "1".into())
}

#[test]
fn svmlight() {
    check(
        Format::Svmlight,
        &[
            ("\n\n# nothing\n", &["no rows"]),
            ("1 1:2\n1 0:3\n", &["line 2, byte 3", "index 0", "`zero_based`"]),
            ("1 -4:3\n", &["line 1, byte 3", "index -4 is negative"]),
            ("1 99999999999999999999999:3\n", &["line 1", "implausibly large", "`features`"]),
            ("1 4000000000:3\n", &["line 1", "implausibly large", "`features`"]),
            ("1 3:1 2:1\n", &["line 1, byte 7", "index 2 comes after a larger one", "sort"]),
            ("1 1:1\n\n-1 2:1 2:5\n", &["line 3, byte 8", "index 2 stands twice"]),
            ("1 1:nan\n", &["line 1, byte 5", "`nan` is not finite", "impute"]),
            ("1 1:1 2:-inf\n", &["byte 9", "`-inf` is not finite"]),
            ("1 1:1e999\n", &["is not finite"]),
            ("inf 1:1\n", &["label", "`inf` is not finite"]),
            ("1 1:abc\n", &["line 1, byte 5", "`abc` is not a number"]),
            ("1 a:1\n", &["line 1, byte 3", "`a` is not an index"]),
            ("1 1:\n", &["line 1", "index 1", "missing"]),
            ("1 1:1 2\n", &["line 1, byte 7", "`2` where an index:value pair was expected", "cut short"]),
            ("1 1:1 :2\n", &["is not an index"]),
            ("1 1:1\n2:3\n", &["line 2", "no label"]),
            ("1:1\n2:3\n", &["line 1", "no label", "`target_file`"]),
            ("1,3 1:1\n", &["several labels", "csv"]),
            ("\u{1}x 1:1\n", &["line 1", "is not text"]),
            ("1\n-1\n", &["no features"]),
            ("1 1:1 2:\u{0}\n", &["line 1"]),
        ],
    );
}

#[test]
fn svmlight_options() {
    let with = |options: ReadOptions| message(b"1 1:1 7:1\n", &options);
    let features = with(ReadOptions { features: Some(5), ..ReadOptions::default() });
    assert!(features.contains("index 7 is beyond the 5 features given"), "{features}");
    let zero = ReadOptions { zero_based: true, features: Some(8), ..ReadOptions::default() };
    assert_eq!(read_bytes("data", b"1 0:1 7:1\n".to_vec(), &zero).unwrap().ncols(), 8);
    // What is said to be there is believed.
    let narrow = ReadOptions { max_features: Some(5), ..ReadOptions::default() };
    assert!(with(narrow.clone()).contains("implausibly large"));
    let wide = ReadOptions { features: Some(9), ..narrow };
    assert_eq!(read_bytes("data", b"1 7:1\n".to_vec(), &wide).unwrap().ncols(), 9);
}

#[test]
fn delimited() {
    check(
        Format::Delimited,
        &[
            ("# nothing\n\n", &["no rows"]),
            ("y,a,b\n", &["header but no row"]),
            ("y,a,b\n1,2,3\n4,5\n", &["line 3", "2 fields where 3 were expected", "cut short"]),
            ("y,a,b\n1,2,3\n4,5,6,7\n", &["line 3", "4 fields where 3"]),
            ("y,a,b\n1,2,3,4,5\n", &["line 2", "5 fields where the header has 3"]),
            ("y,a,b\n1,2,3\n4,NaN,6\n", &["line 3, column `a`", "`NaN` is not finite", "impute"]),
            ("y,a,b\n1,2,inf\n", &["line 2, column `b`", "not finite"]),
            ("y,a,b\n1,,3\n", &["line 2, column `a`", "missing"]),
            ("y,a,b\n1,2,3\n1,NA,3\n", &["line 3, column `a`", "missing (`NA`)"]),
            ("y,a,b\n1,2,3\n4,red,6\n", &["line 3, column `a`", "`red` is not a number", "`drop`"]),
            ("y,a,b\n1,2,3\n,2,3\n", &["line 3, column `y`", "the target is missing"]),
            ("y,a,b\n1,2,3\nnan,2,3\n", &["line 3, column `y`", "not finite"]),
            ("1,2,3\n4,x,6\n", &["line 2, column 2", "`x` is not a number"]),
            ("y,a\n1,\"2\n3,4\n", &["line 2", "quoted field does not end", "quotes"]),
            ("y;a\n1;2,5\n", &["`2,5` is not a number"]),
        ],
    );
}

#[test]
fn the_target_must_be_found() {
    let read = |text: &str, target: Option<&str>| {
        let options = ReadOptions { target: target.map(String::from), ..ReadOptions::default() };
        message(text.as_bytes(), &options)
    };
    let asks = read("a,b,c\n1,2,3\n", None);
    assert!(
        asks.contains("which column is the target?") && asks.contains("`a`, `b`, `c`") && asks.contains("`target`"),
        "{asks}"
    );
    let asks = read("1 2 3\n4 5 6\n", None);
    assert!(asks.contains("from 1 to 3") && asks.contains("`target`"), "{asks}");
    let two = read("y,label,c\n1,2,3\n", None);
    assert!(two.contains("`y`, `label`"), "{two}");
    let typo = read("sample,response,c\n1,2,3\n", Some("respons"));
    assert!(typo.contains("no column `respons`") && typo.contains("did you mean `response`?"), "{typo}");
    let out = read("a,b\n1,2\n", Some("3"));
    assert!(out.contains("no column `3`") && out.contains("from 1 to 2"), "{out}");
    let alone = read("y\n1\n", Some("y"));
    assert!(alone.contains("no column is left"), "{alone}");
}

#[test]
fn matrix_market() {
    let head = "%%MatrixMarket matrix coordinate real general\n";
    let with = |rest: &str| format!("{head}{rest}");
    let cases: Vec<(String, &[&str])> = vec![
        (with("2 2 1\n3 1 5\n"), &["line 3", "row `3` is not between 1 and 2"]),
        (with("2 2 1\n1 0 5\n"), &["line 3", "column `0` is not between 1 and 2"]),
        (with("2 2 2\n1 1 5\n"), &["line 2", "1 entries where 2 were announced"]),
        (with("2 2 2\n1 1 5\n1 1 6\n"), &["row 1, column 1 is given twice"]),
        (with("2 2 1\n1 1 nan\n"), &["line 3", "not finite"]),
        (with("2 2 1\n1 1\n"), &["line 3", "missing"]),
        (with("2 2 1\n1 1 1 1\n"), &["line 3", "after the end"]),
        (with("2 2\n1 1 1\n"), &["line 2", "no sizes", "rows columns entries"]),
        (with("-2 2 1\n"), &["line 2", "no sizes"]),
        (with("0 2 0\n"), &["empty"]),
        (with("2 9999999999 0\n"), &["line 2", "implausibly many"]),
        (with("9999999999 2 0\n"), &["more than 2^32"]),
        (with("99999999999999999999999999 2 0\n"), &["no sizes"]),
        (with("% only comments\n"), &["no line of sizes"]),
        ("%%MatrixMarket matrix\n1 1\n1\n".into(), &["line 1", "banner"]),
        ("%%MatrixMarket matrix array complex general\n1 1\n1 0\n".into(), &["`complex`"]),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n".into(), &["3 values where 4 were announced"]),
        ("%%MatrixMarket matrix array real general\n9999999 99999999999999\n1\n".into(), &["do not fit into memory"]),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 5\n".into(), &["above the diagonal"]),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 5\n".into(), &["cannot be 2 x 3"]),
    ];
    let cases: Vec<(&str, &[&str])> = cases.iter().map(|(text, parts)| (text.as_str(), *parts)).collect();
    check(Format::MatrixMarket, &cases);
    // In full it would take 32 petabytes.
    let huge = with("4000000000 1000000 1\n2 3 5\n");
    let dense = ReadOptions { storage: Storage::Dense, need: Need::Absent, ..ReadOptions::default() };
    assert!(message(huge.as_bytes(), &dense).contains("do not fit into memory"));
    let no_target = message(with("1 1 1\n1 1 5\n").as_bytes(), &ReadOptions::default());
    assert!(no_target.contains("no target") && no_target.contains("`target_file`"), "{no_target}");
}

fn npy(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn numpy() {
    let ones: Vec<u8> = [1.0f64; 6].iter().flat_map(|v| v.to_le_bytes()).collect();
    let nan: Vec<u8> = [1.0, f64::NAN].iter().flat_map(|v| v.to_le_bytes()).collect();
    let no_target = ReadOptions { need: Need::Absent, ..ReadOptions::default() };
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (npy("'<f8'", "False", "(2, 3)", &ones[..40]), "ends before the data do"),
        (npy("'<f8'", "False", "(1, 3)", &ones), "bytes after the end"),
        (npy("'<f8'", "False", "(6,)", &ones), "1 dimensions instead of two"),
        (npy("'<f8'", "False", "(0, 3)", b""), "empty"),
        (npy("'<f8'", "False", "(1, 2)", &nan), "row 1, column 2 is NaN"),
        (npy("'<f8'", "True", "(2, 1)", &nan), "row 2, column 1 is NaN"),
        (npy("'|O'", "False", "(1, 2)", b""), "'|O'"),
        (npy("[('a', '<f8')]", "False", "(1, 2)", b""), "named fields"),
        (npy("'<U3'", "False", "(1, 1)", &[0; 12]), "holds text"),
        (npy("'<f8'", "Maybe", "(1, 2)", b""), "fortran_order"),
        (npy("'<f8'", "False", "(9999999999, 9999999999, 3)", b""), "dimensions"),
        (npy("'<f8'", "False", "(9999999999, 9999999999)", b""), "too large"),
        (npy("'<f8'", "False", "(99999999, 999)", &ones), "ends before"),
        (npy("'<f8'", "False", "(-1, 2)", b""), "no list of lengths"),
        (b"\x93NUMPY\x07\x00".to_vec(), "version 7"),
        (b"\x93NUM".to_vec(), "ends before"),
    ];
    for (bytes, part) in cases {
        let options = ReadOptions { format: Some(Format::Npy), ..no_target.clone() };
        let message = message(&bytes, &options);
        assert!(message.starts_with("data") && message.contains(part), "{message} lacks {part}");
    }
    let types: [(&str, Vec<u8>); 7] = [
        ("'<f8'", 2f64.to_le_bytes().to_vec()),
        ("'>f8'", 2f64.to_be_bytes().to_vec()),
        ("'<f4'", 2f32.to_le_bytes().to_vec()),
        ("'<f2'", vec![0, 0x40]),
        ("'>i4'", 2i32.to_be_bytes().to_vec()),
        ("'|u1'", vec![2]),
        ("'<i8'", 2i64.to_le_bytes().to_vec()),
    ];
    for (descr, data) in types {
        let table = read_bytes("data", npy(descr, "False", "(1, 1)", &data), &no_target).unwrap();
        let mut row = Vec::new();
        table.design().row(0, &mut row);
        assert_eq!(row, [(0, 2.0)], "{descr}");
    }
}

/// A small table written under a name.
fn written(dir: &Path, name: &str) -> (std::path::PathBuf, Vec<u8>) {
    let text: String =
        (0..40).map(|i| format!("{} {}:1 {}:{}\n", i % 2, 1 + i % 7, 8 + i % 90, 0.5 + f64::from(i))).collect();
    let table: Table = read_bytes("data", text.into_bytes(), &ReadOptions::default()).unwrap();
    let path = dir.join(name);
    write(&table, &path, &Default::default()).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    (path, bytes)
}

#[test]
fn files_cut_short_are_refused_wherever_they_are_cut() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.svm.xz", "a.svm.gz", "a.svm.bz2", "a.svm.zst", "a.ksb", "a.npz", "a.npy", "a.mtx"] {
        let (path, bytes) = written(dir.path(), name);
        assert!(read(&path, &ReadOptions::default()).is_ok(), "{name}");
        for cut in (0..bytes.len() - 1).step_by(1 + bytes.len() / 97) {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let error = match read(&path, &ReadOptions::default()) {
                Ok(_) => panic!("{name} cut to {cut} of {} bytes was read", bytes.len()),
                Err(e) => e.to_string(),
            };
            assert!(error.contains(name) && error.contains(';'), "{name} cut to {cut}: {error}");
        }
    }
}

#[test]
fn a_truncated_xz_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let (path, bytes) = written(dir.path(), "a.svm.xz");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let error = read(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains(".xz data end too early") && error.contains("fetch"), "{error}");
}

#[test]
fn altered_bytes_of_a_mapped_file_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    let (path, bytes) = written(dir.path(), "a.ksb");
    for at in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[at] ^= 0x81;
        std::fs::write(&path, &altered).unwrap();
        // Padding and values may pass the opening; whole verification sees every change but that of padding.
        if let Ok(table) = read(&path, &ReadOptions::default()) {
            let mut out = vec![0.0; table.ncols()];
            table.design().tmul(&vec![1.0; table.nrows()], &mut out);
        } else {
            assert!(ksparse_io::verify(&path).is_err(), "byte {at}");
        }
    }
    // A row index that points outside is found at opening although its checksum is not looked at.
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let mut altered = bytes.clone();
    altered[long(56) + 3] = 0xff;
    std::fs::write(&path, &altered).unwrap();
    let error = read(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("beyond the last row") || error.contains("ascending"), "{error}");
    assert!(ksparse_io::verify(&path).unwrap_err().to_string().contains("row indices"));
    // A newer version says so.
    let mut newer = bytes;
    newer[8] = 9;
    std::fs::write(&path, &newer).unwrap();
    let error = read(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("version 9") && error.contains("newer"), "{error}");
}

#[test]
fn empty_files_directories_garbage_and_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().join("empty.csv");
    std::fs::write(&empty, "").unwrap();
    let say = |path: &Path| read(path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(say(&empty).contains("the file is empty"), "{}", say(&empty));
    assert!(say(dir.path()).contains("directory"), "{}", say(dir.path()));
    let missing = say(&dir.path().join("missing.svm"));
    assert!(missing.contains("missing.svm: cannot open"), "{missing}");
    let garbage: Vec<u8> = (0..5000u32).map(|i| (i.wrapping_mul(2654435761) >> 13) as u8).collect();
    for name in ["g.svm", "g.csv", "g"] {
        let path = dir.path().join(name);
        std::fs::write(&path, &garbage).unwrap();
        assert!(say(&path).contains("neither text nor a binary format"), "{}", say(&path));
    }
    for format in Format::ALL {
        let options = ReadOptions { format: Some(format), header: Header::No, ..ReadOptions::default() };
        assert!(read_bytes("data", garbage.clone(), &options).is_err(), "{format:?}");
    }
}

#[test]
fn altered_archives_are_refused_or_read_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let (path, bytes) = written(dir.path(), "a.npz");
    let rows = |table: &Table| {
        let mut row = Vec::new();
        let one = |i: usize| {
            table.design().row(i, &mut row);
            row.clone()
        };
        (0..table.nrows()).map(one).collect::<Vec<_>>()
    };
    let good = read(&path, &ReadOptions::default()).unwrap();
    let mut refused = 0;
    for at in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[at] ^= 0x55;
        match read_bytes("data", altered, &ReadOptions::default()) {
            // Times, flags, the local copies of names.
            Ok(table) => assert_eq!((rows(&table), &table.target), (rows(&good), &good.target), "byte {at}"),
            Err(error) => {
                refused += 1;
                assert!(error.to_string().starts_with("data"), "{error}");
            }
        }
    }
    assert!(2 * refused > bytes.len(), "{refused} of {}", bytes.len());
}

#[cfg(feature = "parquet")]
#[test]
fn altered_parquet_never_panics() {
    let dir = tempfile::tempdir().unwrap();
    let (path, bytes) = written(dir.path(), "a.parquet");
    assert!(read(&path, &ReadOptions::default()).is_ok());
    for at in (0..bytes.len()).step_by(5) {
        let mut altered = bytes.clone();
        altered[at] ^= 0x55;
        if let Err(error) = read_bytes("data", altered, &ReadOptions::default()) {
            assert!(error.to_string().starts_with("data"), "byte {at}: {error}");
        }
    }
}
