//! Every format to every other gives the same fit.

use crate::bench::Bench;
use serde_json::Value;

fn answer(bench: &Bench, file: &str, options: &str) -> Value {
    let mut fit = bench.json(&format!("fit {file} -k 4 {options} --json -q"));
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
        for end in ends {
            let there = format!("{stem}-1.{end}");
            bench.ok(&format!("convert {first} {there} -q"));
            assert_eq!(answer(&bench, &there, ""), expected, "{there}");
            for other in ends {
                // From each to each would be a hundred fits; the files are compared instead, and each fitted once.
                let back = format!("{stem}-2.{other}");
                bench.ok(&format!("convert {there} {back} -q"));
                let direct = format!("{stem}-3.{other}");
                bench.ok(&format!("convert {first} {direct} -q"));
                if !other.starts_with("csv")
                    && !other.starts_with("tsv")
                    && !other.starts_with("ksb")
                    && !other.starts_with("npz")
                {
                    let read = |name: &str| std::fs::read(bench.path(name)).unwrap();
                    assert_eq!(read(&back), read(&direct), "{there} to {other}");
                } else {
                    // These keep names, which not every format on the way has.
                    assert_eq!(answer(&bench, &back, ""), expected, "{there} to {other}");
                }
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
        bench.ok(&format!("convert labels.csv {file} -q"));
        assert_eq!(answer(&bench, &file, "--lambda 0.01"), expected, "{end}");
    }
    bench.ok("convert labels.csv signs.svm --positive no");
    assert_eq!(answer(&bench, "signs.svm", "")["labels"]["two"]["positive"], "1");
}
