//! `--gram`: sums of products in place of rows.

use crate::bench::{Bench, columns, numbers};
use std::fmt::Write;

/// Rows, and their sums of products with and without a column of ones.
fn bench() -> Bench {
    let bench = Bench::with_data();
    let (names, table) = columns(&bench.read("data.csv"));
    let ones = vec![1.0; table[0].len()];
    for (file, with) in [("sums.csv", true), ("plain.csv", false)] {
        let mut all: Vec<(&str, &Vec<f64>)> = names.iter().map(String::as_str).zip(&table).collect();
        if with {
            all.push(("(Intercept)", &ones));
        }
        let mut text = all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(",") + "\n";
        for (_, a) in &all {
            let sums = all.iter().map(|(_, b)| a.iter().zip(*b).map(|(a, b)| a * b).sum::<f64>().to_string());
            let _ = writeln!(text, "{}", sums.collect::<Vec<_>>().join(","));
        }
        bench.file(file, text);
    }
    bench
}

#[test]
fn fits_paths_and_proofs_are_those_of_the_rows() {
    let bench = bench();
    for (rest, tolerance) in [
        ("-k 3", 1e-6),
        ("-k 3 --standardize --lambda 0.1", 1e-6),
        ("-k 2 --lambda 0.1 --solver exact", 1e-6),
        ("-k 2 --solver exact", 1e-6),
        ("-k 2 --lambda 0.5 --certify", 1e-6),
        ("-k 3 --nonnegative", 1e-6),
    ] {
        let rows = bench.json(&format!("fit data.csv {rest} --json"));
        let sums = bench.json(&format!("fit sums.csv --gram {rest} --json"));
        for field in ["support", "n", "p", "feature_names", "k"] {
            assert_eq!(rows[field], sums[field], "{rest}: {field}");
        }
        let (a, b) = (numbers(&rows["coefficients"]), numbers(&sums["coefficients"]));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < tolerance), "{rest}: {a:?} {b:?}");
        for field in ["objective", "intercept"] {
            let (a, b) = (rows[field].as_f64().unwrap(), sums[field].as_f64().unwrap());
            assert!((a - b).abs() < tolerance, "{rest}: {field}, {a} against {b}");
        }
    }
    for criterion in ["bic", "ebic"] {
        let rows = bench.json(&format!("path data.csv -k 0:6 --criterion {criterion} --json -o rows.json"));
        let sums = bench.json(&format!("path sums.csv --gram -k 0:6 --criterion {criterion} --json -o sums.json"));
        assert_eq!(rows["chosen"]["k"], sums["chosen"]["k"]);
    }
    let score = |model: &str| bench.json(&format!("predict {model} data.csv --score --json"))["r2"].as_f64().unwrap();
    assert!((score("rows.json") - score("sums.json")).abs() < 1e-6);
    let rows = bench.json("fit data.csv -k 3 --no-intercept --json");
    let sums = bench.json("fit plain.csv --gram --gram-rows 80 -k 3 --json");
    assert_eq!((&rows["support"], &rows["n"]), (&sums["support"], &sums["n"]));
}

#[test]
fn sums_that_cannot_be_are_refused() {
    let bench = bench();
    bench.file("short.csv", "y,a,b\n1,2,3\n2,3,4\n");
    bench.file("no.csv", "y,a,1\n1,5,1\n5,1,1\n1,1,4\n");
    for (line, words) in [
        ("fit plain.csv --gram -k 2", "--gram-rows"),
        ("fit short.csv --gram -k 1", "as many rows as columns"),
        ("fit no.csv --gram -k 1", "no rows have these moments"),
        ("fit sums.csv --gram --gram-rows 7 -k 1", "--gram-rows says 7"),
        ("fit sums.csv --gram -k auto", "holds rows out"),
        ("path sums.csv --gram -k 1:3 --cv 5", "holds rows out"),
        ("fit sums.csv --gram -k 2 --loss logistic", "least squares"),
        ("fit sums.csv --gram -k 2 --weights x1", "is about rows"),
        ("fit data.csv -k 2 --gram-rows 5", "--gram"),
        ("fit labels.csv -k 2 --solver exact --lambda 0", "needs a ridge"),
    ] {
        let done = bench.run(line);
        assert!(done.code == 2 && done.stderr.contains(words), "{line}: {} {}", done.code, done.stderr);
    }
}
