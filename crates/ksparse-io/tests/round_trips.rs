//! What is written is read: every format to every other, under every compression.

use ksparse::design::Dense;
use ksparse::loss::Squared;
use ksparse::{Auto, Risk, Solver, Sparsity, simulate};
use ksparse_io::{Compression, Format, Header, Matrix, Need, ReadOptions, Table, Target, WriteOptions, read, write};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

const FORMATS: &[(&str, Format)] = &[
    ("svm", Format::Svmlight),
    ("csv", Format::Delimited),
    ("tsv", Format::Delimited),
    ("txt", Format::Delimited),
    ("npy", Format::Npy),
    ("npz", Format::Npz),
    ("mtx", Format::MatrixMarket),
    ("ksb", Format::Ksb),
    #[cfg(feature = "parquet")]
    ("parquet", Format::Parquet),
];

fn has_names(format: Format) -> bool {
    matches!(format, Format::Delimited | Format::Npz | Format::Ksb | Format::Parquet)
}

/// Writes and reads again.
fn through(table: &Table, dir: &Path, file: &str, format: Format) -> Table {
    let path: PathBuf = dir.join(file);
    write(table, &path, &WriteOptions::default()).unwrap();
    let column = |present: bool, name: String| present.then_some(name);
    let in_columns = matches!(format, Format::Delimited | Format::Parquet);
    let options = ReadOptions {
        need: Need::Optional,
        header: Header::Yes,
        target: column(in_columns && table.target.is_some(), table.target_column()),
        weights: column(in_columns && table.weights.is_some(), table.weight_column()),
        ..ReadOptions::default()
    };
    let again = read(&path, &options).unwrap();
    assert_eq!(again.format, format, "{file}");
    again
}

fn entries(table: &Table) -> Vec<Vec<(usize, u64)>> {
    let mut row = Vec::new();
    (0..table.nrows())
        .map(|i| {
            table.design().row(i, &mut row);
            row.iter().map(|e| (e.0, e.1.to_bits())).collect()
        })
        .collect()
}

fn assert_same(found: &Table, expected: &Table, format: Format, what: &str) {
    assert_eq!((found.nrows(), found.ncols()), (expected.nrows(), expected.ncols()), "{what}");
    assert_eq!(entries(found), entries(expected), "{what}");
    match (&expected.target, format) {
        (None, Format::Svmlight) => assert_eq!(found.target, Some(Target::Numbers(vec![0.0; found.nrows()]))),
        (target, _) => assert_eq!(&found.target, target, "{what}"),
    }
    assert_eq!(found.weights, expected.weights, "{what}");
    if has_names(format) && expected.names.is_some() {
        assert_eq!(found.names, expected.names, "{what}");
    }
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => Just(0.0),
        2 => (-20i32..20).prop_map(f64::from),
        1 => any::<f64>().prop_filter("finite, and zero has no sign", |v| v.is_finite() && *v != 0.0),
    ]
}

fn word() -> impl Strategy<Value = String> {
    // Nor names that readers take for a target or for row names where nothing else is said: those have tests of their
    // own.
    const SPECIAL: [&str; 21] = [
        "na",
        "none",
        "null",
        "nan",
        "inf",
        "infinity",
        "y",
        "target",
        "label",
        "class",
        "response",
        "outcome",
        "id",
        "ids",
        "name",
        "names",
        "sample",
        "sample_id",
        "row",
        "weight",
        "weights",
    ];
    prop_oneof!["[a-z][a-z0-9_.-]{0,6}", "x[,;|\"']y", "[äßλ中]{1,3}"]
        .prop_filter("not a way to write nothing", |w| !SPECIAL.contains(&w.as_str()))
}

fn table() -> impl Strategy<Value = Table> {
    (1usize..6, 1usize..6).prop_flat_map(|(n, p)| {
        let target = prop_oneof![
            Just(None),
            prop::collection::vec(value(), n).prop_map(|v| Some(Target::Numbers(v))),
            prop::collection::vec(word(), n).prop_map(|v| Some(Target::Text(v))),
        ];
        let names =
            prop::option::of(prop::collection::hash_set(word(), p).prop_map(|names| names.into_iter().collect()));
        let weights = prop::option::weighted(0.2, prop::collection::vec((0u32..9).prop_map(f64::from), n));
        (prop::collection::vec(value(), n * p), target, names, weights).prop_map(
            move |(values, target, names, weights)| {
                let mut table = Table::new(Matrix::Dense(Dense::from_columns(n, p, values).unwrap()));
                (table.target, table.names, table.weights) = (target, names, weights);
                table.target_name = table.target.as_ref().map(|_| "the target".into());
                table
            },
        )
    })
}

/// Whether a format has room for all that would change a fit.
fn holds(format: Format, table: &Table) -> bool {
    table.weights.is_none() || !matches!(format, Format::Svmlight | Format::Npy | Format::MatrixMarket)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_format_to_every_other(table in table(), compression in 0usize..5) {
        let dir = tempfile::tempdir().unwrap();
        let end = Compression::ALL.get(compression).map_or(String::new(), |c| format!(".{}", c.extension()));
        for &(first, from) in FORMATS.iter().filter(|f| holds(f.1, &table)) {
            let name = format!("a_{first}.{first}{end}");
            let once = through(&table, dir.path(), &name, from);
            assert_same(&once, &table, from, &name);
            prop_assert_eq!(once.compression, Compression::ALL.get(compression).copied());
            for &(second, to) in FORMATS.iter().filter(|f| holds(f.1, &table)) {
                let name = format!("b_{first}_{second}.{second}");
                let twice = through(&once, dir.path(), &name, to);
                assert_same(&twice, &once, to, &name);
            }
        }
    }
}

#[test]
fn every_format_gives_the_same_fit() {
    let dir = tempfile::tempdir().unwrap();
    let dense = simulate::linear(40, 30, 4, simulate::Correlation::Ar1(0.5), 0.5, 7);
    let sparse: Vec<f64> = (0..30)
        .flat_map(|j| dense.design.column(j).iter().map(|v| if v.abs() < 1.2 { 0.0 } else { *v }).collect::<Vec<_>>())
        .collect();
    let columns = (0..30).flat_map(|j| dense.design.column(j).to_vec()).collect::<Vec<f64>>();
    for (what, values) in [("dense", columns), ("sparse", sparse)] {
        let mut table = Table::new(Matrix::Dense(Dense::from_columns(40, 30, values).unwrap()));
        table.target = Some(Target::Numbers(dense.target.clone()));
        // Read once, so that it is stored as its share of non-zeros suggests.
        let table = through(&table, dir.path(), "first.csv", Format::Delimited);
        let mut fits = Vec::new();
        for &(end, format) in FORMATS {
            let read = through(&table, dir.path(), &format!("{what}.{end}"), format);
            assert_eq!(matches!(read.matrix.view(), ksparse_io::MatrixRef::Sparse(_)), what == "sparse", "{end}");
            let risk = Risk::new(read.design(), read.target().unwrap().numbers().unwrap(), Squared::default());
            let risk = risk.unwrap().with_ridge(1e-3).unwrap().with_intercept();
            let solution = Auto::default().fit(&risk, &Sparsity::new(4)).unwrap();
            let bits: Vec<u64> = solution.coefficients.iter().map(|v| v.to_bits()).collect();
            fits.push((end, solution.support, bits, solution.value.to_bits()));
        }
        for fit in &fits[1..] {
            assert_eq!(
                (&fit.1, &fit.2, fit.3),
                (&fits[0].1, &fits[0].2, fits[0].3),
                "{what}: {} and {}",
                fit.0,
                fits[0].0
            );
        }
    }
}

#[test]
fn trailing_empty_columns_survive_svmlight() {
    let dir = tempfile::tempdir().unwrap();
    let mut table = Table::new(Matrix::Dense(Dense::from_columns(2, 3, vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap()));
    table.target = Some(Target::Numbers(vec![1.0, -1.0]));
    let again = through(&table, dir.path(), "a.svm", Format::Svmlight);
    assert_eq!((again.ncols(), again.matrix.nnz()), (3, 1));
}

#[test]
fn text_larger_than_memory_becomes_the_same_file() {
    let dir = tempfile::tempdir().unwrap();
    let (text, small, large) = (dir.path().join("a.svm"), dir.path().join("small.ksb"), dir.path().join("large.ksb"));
    let sparse = |i: usize| format!("{} {}:{} {}:-0.5 900:1\n", 1 + i % 3, 1 + i % 7, i as f64 / 8.0, 10 + i % 400);
    let dense = |i: usize| format!("{} 1:{} 2:3 3:0.25\n", ["no", "yes"][i % 2], i as f64 / 8.0);
    let unlabelled = |i: usize| format!("{}:1 50:2\n", 1 + i % 40);
    let texts: [(&dyn Fn(usize) -> String, bool); 3] = [(&sparse, true), (&dense, false), (&unlabelled, true)];
    for (line, is_sparse) in texts {
        std::fs::write(&text, (0..2000).map(line).collect::<String>()).unwrap();
        let reading = ReadOptions { need: Need::Optional, ..ReadOptions::default() };
        for memory in [1, 5000, 20_000] {
            let write = |to: &Path, memory| {
                let reading = ReadOptions { memory: Some(memory), ..reading.clone() };
                ksparse_io::convert(&text, to, &reading, &WriteOptions::default(), Ok).unwrap().0
            };
            let (expected, found) = (write(&small, 1 << 30), write(&large, memory));
            assert!(matches!(expected.matrix, Matrix::Sparse(_)) == is_sparse);
            assert!(matches!(found.matrix, Matrix::Mapped(_)), "not streamed");
            assert!(std::fs::read(&small).unwrap() == std::fs::read(&large).unwrap(), "{memory} bytes");
        }
    }
    // The same words about the same mistake.
    std::fs::write(&text, "1 1:1\n1 0:1\n").unwrap();
    let message = |memory| {
        let reading = ReadOptions { memory: Some(memory), ..ReadOptions::default() };
        ksparse_io::convert(&text, &large, &reading, &WriteOptions::default(), Ok).unwrap_err().to_string()
    };
    assert!(message(1).contains("line 2") && message(1) == message(1 << 30), "{}", message(1));
}

#[test]
fn weights_are_not_lost_silently() {
    let mut table = Table::new(Matrix::Dense(Dense::from_columns(1, 1, vec![1.0]).unwrap()));
    table.weights = Some(vec![2.0]);
    let dir = tempfile::tempdir().unwrap();
    for end in ["svm", "npy", "mtx"] {
        let message =
            write(&table, &dir.path().join(format!("a.{end}")), &WriteOptions::default()).unwrap_err().to_string();
        assert!(message.contains("no place for weights"), "{message}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_mapped_file_serves_rows_and_other_formats() {
    let dir = tempfile::tempdir().unwrap();
    let mut table = Table::new(Matrix::Dense(Dense::from_columns(3, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap()));
    table.target = Some(Target::Text(vec!["a".into(), "b".into(), "a".into()]));
    let mapped = through(&table, dir.path(), "a.ksb", Format::Ksb);
    assert!(matches!(mapped.matrix, Matrix::Mapped(_)));
    // Asked for beforehand, or not there: all the same.
    for columns in [None, Some(&[][..]), Some(&[1]), Some(&[0, 1, 7])] {
        mapped.matrix.bring(columns);
        table.matrix.bring(columns);
        assert_eq!(entries(&mapped), entries(&table));
    }
    let some = mapped.rows(&[2, 0]).unwrap();
    assert_eq!(
        entries(&some),
        [vec![(0, 3f64.to_bits()), (1, 6f64.to_bits())], vec![(0, 1f64.to_bits()), (1, 4f64.to_bits())]]
    );
    // Overwriting the file it is mapped from leaves the map alone: the new file is another one.
    write(&mapped.rows(&[0]).unwrap(), &dir.path().join("a.ksb"), &WriteOptions::default()).unwrap();
    assert_eq!(entries(&mapped), entries(&table));
    assert!(mapped.rows(&[3]).is_err());
    ksparse_io::verify(&dir.path().join("a.ksb")).unwrap();
}

/// A feature may be called as the target's column would be: both keep a name of their own.
#[test]
fn a_feature_called_y_is_not_the_target() {
    let dir = tempfile::tempdir().unwrap();
    let dense = Dense::from_columns(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let mut table = Table::new(Matrix::Dense(dense));
    table.names = Some(vec!["y".to_string(), "weight".to_string()]);
    (table.target, table.weights) = (Some(Target::Numbers(vec![5.0, 6.0])), Some(vec![1.0, 2.0]));
    assert_eq!((table.target_column().as_str(), table.weight_column().as_str()), ("y.2", "weight.2"));
    let again = through(&table, dir.path(), "t.csv", Format::Delimited);
    assert_same(&again, &table, Format::Delimited, "csv");
}
