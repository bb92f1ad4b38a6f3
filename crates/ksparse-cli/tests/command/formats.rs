//! Every format to every other gives the same fit.

use crate::bench::Bench;
use serde_json::Value;

fn answer(bench: &Bench, file: &str, options: &str) -> Value {
    let mut fit = bench.json(&format!("fit {file} -k 4 {options} --effort quick --json -q"));
    let fields = fit.as_object_mut().unwrap();
    for field in ["seconds", "read_seconds", "feature_names"] {
        fields.remove(field);
    }
    fit
}

#[test]
fn every_format_to_every_other_gives_the_same_fit() {
    let bench = Bench::new();
    bench.ok("simulate logistic --rows 60 --cols 20 --nonzeros 4 -o dense.csv");
    bench.ok("simulate text --rows 80 --cols 60 --tokens 6 -o sparse.svm");
    let ends = ["svm", "csv", "tsv", "npy", "npz", "mtx", "ksb", "svm.gz", "csv.xz", "mtx.bz2", "ksb.zst"];
    for first in ["dense.csv", "sparse.svm"] {
        let expected = answer(&bench, first, "");
        let stem = first.split('.').next().unwrap();
        let direct = |end: &str| format!("{stem}-direct.{end}");
        for end in ends {
            bench.ok(&format!("convert {first} {} -q --overwrite", direct(end)));
            assert_eq!(answer(&bench, &direct(end), ""), expected, "{end}");
        }
        for (from, to) in ends.iter().flat_map(|from| ends.map(|to| (*from, to))) {
            let there = format!("{stem}-there.{to}");
            bench.ok(&format!("convert {} {there} -q --overwrite", direct(from)));
            // Formats with names differ where the way led through one without; of the others the bytes are compared,
            // which is quicker.
            if ["csv", "tsv", "ksb", "npz"].iter().any(|named| to.starts_with(named)) {
                assert_eq!(answer(&bench, &there, ""), expected, "{from} to {to}");
            } else {
                let read = |name: &str| std::fs::read(bench.path(name)).unwrap();
                assert_eq!(read(&there), read(&direct(to)), "{from} to {to}");
            }
        }
    }
}

#[test]
fn labels_survive() {
    let bench = Bench::with_data();
    let expected = answer(&bench, "labels.csv", "--lambda 0.01");
    for end in ["tsv", "svm", "ksb", "csv.zst"] {
        let file = format!("copy.{end}");
        bench.ok(&format!("convert labels.csv {file} -q --overwrite"));
        assert_eq!(answer(&bench, &file, "--lambda 0.01"), expected, "{end}");
    }
    bench.ok("convert labels.csv signs.svm --positive no");
    assert_eq!(answer(&bench, "signs.svm", "")["labels"]["two"]["positive"], "1");
}

#[test]
fn text_larger_than_memory_is_converted_piece_by_piece() {
    let bench = Bench::new();
    bench.ok("simulate text --rows 9000 --cols 3000 --tokens 30 -o big.svm");
    bench.ok("convert big.svm at-once.ksb -q");
    bench.ok("convert big.svm in-pieces.ksb --memory 1 -q");
    let read = |name: &str| std::fs::read(bench.path(name)).unwrap();
    assert!(read("big.svm").len() > 1 << 20, "large enough to be read in pieces");
    assert!(read("at-once.ksb") == read("in-pieces.ksb"));
}

#[test]
fn decimal_commas_are_read_when_they_are_announced() {
    let bench = Bench::with_data();
    let points = bench.read("data.csv");
    let known = answer(&bench, "data.csv", "");
    for (file, between) in [("semicolons.csv", ";"), ("tabs.tsv", "\t")] {
        bench.file(file, points.replace(',', between).replace('.', ","));
        let done = bench.run(&format!("fit {file} -k 3"));
        assert!(done.code == 2 && done.stderr.contains("--decimal-comma"), "{}", done.stderr);
        assert_eq!(answer(&bench, file, "--decimal-comma"), known, "{file}");
    }
    let done = bench.run("fit data.csv -k 3 --decimal-comma --separator comma");
    assert!(done.code == 2 && done.stderr.contains("semicolons or tabs"), "{}", done.stderr);
}

#[test]
fn a_separator_of_ones_own() {
    let bench = Bench::new();
    let lines: String = (0..20).map(|i| format!("{}|{}|{}\n", i % 5, (i * 7) % 11, 2 * (i % 5))).collect();
    bench.file("bars.txt", format!("a|b|y\n{lines}"));
    bench.file("commas.csv", format!("a|b|y\n{lines}").replace('|', ","));
    assert_eq!(answer(&bench, "bars.txt", "--separator |"), answer(&bench, "commas.csv", "--separator comma"));
    let refused = bench.run("fit bars.txt -k 1 --separator abc");
    assert!(refused.code == 2 && refused.stderr.contains("semicolon"), "{}", refused.stderr);
}
