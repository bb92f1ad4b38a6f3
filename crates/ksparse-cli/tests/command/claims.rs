//! What files and options claim is checked before it is believed.

use crate::bench::{Bench, columns, numbers};
use std::io::{Cursor, Write};
use std::time::{Duration, Instant};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A refusal that tells how much was asked for.
fn too_large(bench: &Bench, line: &str, says: &[&str]) {
    // With 8 GB for the reader, also where there is more.
    let done = if cfg!(unix) { bench.run_after("ulimit -v 16000000", line) } else { bench.run(line) };
    assert_eq!(done.code, 2, "ksparse {line}\n{}{}", done.stdout, done.stderr);
    for part in says.iter().chain(&["do not fit into memory", "--memory"]) {
        assert!(done.stderr.contains(part), "ksparse {line} lacks `{part}`\n{}", done.stderr);
    }
}

#[test]
fn sizes_that_cannot_be() {
    let bench = Bench::with_data();
    let head = "%%MatrixMarket matrix coordinate real general\n";
    bench.file("rows.mtx", format!("{head}4294967290 1 1\n1 1 1\n"));
    for line in ["fit rows.mtx -k 1 --target 1", "graph rows.mtx -k 1", "convert rows.mtx out.npy"] {
        too_large(&bench, line, &["rows.mtx", "4294967290 rows", "GB"]);
    }
    too_large(&bench, "fit data.svm -k 1 --features 99999999999999", &["99999999999999 columns", "PB"]);
    bench.file("wide.svm", "1 134217728:1\n-1 1:1\n");
    too_large(&bench, "fit wide.svm -k 1 --memory 100", &["wide.svm", "134217728 columns"]);
}

/// A file of NumPy's: what its elements are, how many, and their bytes.
fn npy(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn longs(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A sparse matrix of SciPy's with one entry and no end of rows, and a full one that swells when it is unpacked.
#[test]
fn archives_that_cannot_be() {
    let bench = Bench::new();
    let archive = |members: &[(&str, Vec<u8>)]| {
        let mut out = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in members {
            out.start_file(*name, SimpleFileOptions::default()).unwrap();
            out.write_all(bytes).unwrap();
        }
        out.finish().unwrap().into_inner()
    };
    let entry = [
        ("format.npy", npy("|S3", "()", b"csc")),
        ("shape.npy", npy("<i8", "(2,)", &longs(&[4_294_967_290, 1]))),
        ("indices.npy", npy("<i8", "(1,)", &longs(&[0]))),
        ("indptr.npy", npy("<i8", "(2,)", &longs(&[0, 1]))),
        ("data.npy", npy("<f8", "(1,)", &1f64.to_le_bytes())),
    ];
    bench.file("rows.npz", archive(&entry));
    for line in ["graph rows.npz -k 1", "convert rows.npz out.npy"] {
        too_large(&bench, line, &["rows.npz", "4294967290 rows", "GB"]);
    }
    bench.file("swells.npz", archive(&[("X.npy", npy("<f8", "(1000000, 10)", &vec![0; 80_000_000]))]));
    assert!(std::fs::metadata(bench.path("swells.npz")).unwrap().len() < 1_000_000);
    too_large(&bench, "graph swells.npz -k 1 --memory 50", &["swells.npz"]);
}

#[test]
fn matrices_made_in_full_are_checked_too() {
    let bench = Bench::new();
    bench.file("wide.svm", "1 10000000:1\n-1 1:1\n1 2:1\n");
    for line in ["graph wide.svm -k 1", "simulate linear --rows 4000000000 --cols 1000000 -o out.csv"] {
        let done = bench.run(line);
        assert!(done.code == 2 && done.stderr.contains("does not fit into memory"), "ksparse {line}\n{}", done.stderr);
    }
}

#[test]
fn what_swells_when_it_is_decompressed() {
    let bench = Bench::new();
    bench.file("big.csv", format!("a,b,y\n{}", "0,0,0\n".repeat(1_000_000)));
    for end in ["gz", "xz", "zst", "bz2"] {
        bench.ok(&format!("convert big.csv bomb.npy.{end} -q --overwrite"));
        too_large(&bench, &format!("fit bomb.npy.{end} -k 1 --memory 10"), &["bomb.npy"]);
    }
    too_large(&bench, "fit big.csv -k 1 --memory 10", &["big.csv"]);
    bench.file("line.csv", "1,".repeat(3_000_000));
    too_large(&bench, "fit line.csv -k 1 --memory 4", &["line.csv"]);
}

#[test]
fn two_columns_of_one_name_keep_their_coefficients() {
    for header in ["x,x,y", "x,,y", "a,x,y\n", "x,x.2,y"] {
        let bench = Bench::new();
        let rows: String =
            (0..20).map(|i| format!("{},{},{}\n", i % 5, (i * i) % 7, 3 * (i % 5) - 2 * ((i * i) % 7))).collect();
        bench.file("data.csv", format!("{}\n{rows}", header.trim_end()));
        let fit = bench.json("fit data.csv -k 2 --json -o model.json -q");
        assert_eq!(numbers(&fit["coefficients"]).len(), 2, "{header}");
        let predicted = bench.json("predict model.json data.csv --json -q");
        assert!(predicted["mse"].as_f64().unwrap() < 1e-20, "{header}: {predicted}");
        bench.ok("convert data.csv data.ksb -q");
        let mapped = bench.json("predict model.json data.ksb --json -q");
        assert_eq!(mapped["predictions"], predicted["predictions"], "{header}");
    }
    let bench = Bench::new();
    bench.file("twice.csv", "y,a,y\n1,2,3\n2,1,5\n4,4,1\n");
    let done = bench.run("fit twice.csv -k 1 --target y");
    assert!(done.code == 2 && done.stderr.contains("more than one column `y`"), "{}", done.stderr);
    bench.ok("fit twice.csv -k 1 --target -1 -o model.json -q");
    let done = bench.run("predict model.json twice.csv");
    assert!(done.code == 2 && done.stderr.contains("more than one column `y`"), "{}", done.stderr);
    bench.ok("predict model.json twice.csv --target -1");
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_label() {
    let bench = Bench::new();
    let text = "1 1:1 2:1\n2 1:-1\n1 1:2\n2 1:-2 2:1\n";
    bench.file("plain.svm", text);
    bench.file("marked.svm", format!("\u{feff}{text}"));
    bench.file("glued.svm", format!("{}\u{feff}{}", &text[..10], &text[10..]));
    let fit = |file: &str| bench.json(&format!("fit {file} -k 1 --positive 1 --json -q"));
    for file in ["marked.svm", "glued.svm"] {
        assert_eq!(fit(file)["coefficients"], fit("plain.svm")["coefficients"], "{file}");
    }
    bench.file("data.mtx", "\u{feff}%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n5\n");
    bench.ok("fit data.mtx -k 1 --target 1");
}

#[test]
fn a_name_of_any_length_is_shown() {
    let bench = Bench::new();
    let rows: String = (0..9).map(|i| format!("{i},{}\n", 2 * i)).collect();
    bench.file("long.csv", format!("{},y\n{rows}", "n".repeat(65_537)));
    let table = bench.ok("fit long.csv -k 1 -o model.json");
    assert!(table.contains("nnn...") && table.len() < 5000, "{}", table.len());
    bench.ok("show model.json");
    assert_eq!(bench.json("fit long.csv -k 1 --json")["feature_names"][0].as_str().unwrap().len(), 65_537);
}

#[test]
fn limits_on_time_and_threads_hold() {
    let bench = Bench::with_data();
    let started = Instant::now();
    let done = bench.run("graph data.csv -k 20 --stability 100000 --time-limit 0.5");
    assert!(done.code == 0 && done.stderr.contains("of 100000 halves"), "{}", done.stderr);
    let done = bench.run("fit data.csv -k 3 --threads 5000");
    assert!(done.code == 0 && done.stderr.contains("--threads 5000: taking"), "{}", done.stderr);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn an_exact_search_without_a_proof_does_not_speak_of_convergence() {
    let bench = Bench::with_data();
    for limit in ["--max-iter 1", "--time-limit 0"] {
        let fit = bench.json(&format!("fit data.csv -k 5 --lambda 1e-6 --solver exact {limit} --json -q"));
        let status = fit["status_text"].as_str().unwrap();
        assert!(fit["certified"] == true || status.starts_with("not proven"), "{status}");
    }
}

/// Entries of 1e200 and targets of 1e300: an error that says what to do, and no model of nothing or of what cannot be
/// read back.
#[test]
fn numbers_that_overflow_are_refused() {
    let bench = Bench::with_data();
    let (names, table) = columns(&bench.read("data.csv"));
    let scaled = |entries: f64, target: f64| {
        let row = |i: usize| {
            let unit = |j: usize| if names[j] == "y" { target } else { entries };
            let fields: Vec<String> = (0..names.len()).map(|j| format!("{:e}", unit(j) * table[j][i])).collect();
            fields.join(",") + "\n"
        };
        format!("{}\n{}", names.join(","), (0..table[0].len()).map(row).collect::<String>())
    };
    bench.file("entries.csv", scaled(1e200, 1.0));
    bench.file("target.csv", scaled(1.0, 1e300));
    bench.file("small.csv", scaled(1e-200, 1.0));
    for (file, says) in [("entries.csv", "column `x1` is too large"), ("small.csv", "column `x1` is too small")] {
        let done = bench.run(&format!("fit {file} -k 3"));
        assert!(done.code == 2 && done.stderr.contains(says), "{}", done.stderr);
    }
    for file in ["entries.csv", "target.csv"] {
        for solver in ["auto", "svrght", "diht", "sdiht", "exact", "grahtp", "iht", "fbs"] {
            let name = format!("{file}.{solver}.json");
            let done = bench.run(&format!("fit {file} -k 3 --lambda 0.1 --solver {solver} -o {name}"));
            let said = done.stderr.contains("power of ten");
            assert!(done.code == 2 && said && !bench.path(&name).exists(), "{file}, {solver}: {}", done.stderr);
        }
    }
}
