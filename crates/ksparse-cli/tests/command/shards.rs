//! Data in several files: cut, fitted and predicted one after the other.

use crate::bench::Bench;
use serde_json::Value;

fn number(object: &Value, name: &str) -> f64 {
    object[name].as_f64().unwrap_or_else(|| panic!("{name} in {object}"))
}

/// A refusal that says certain things.
fn refused(bench: &Bench, line: &str, says: &[&str]) {
    let done = bench.run(line);
    assert_eq!(done.code, 2, "ksparse {line}\n{}{}", done.stdout, done.stderr);
    for part in says {
        assert!(done.stderr.contains(part), "ksparse {line} lacks `{part}`\n{}", done.stderr);
    }
}

/// What a command prints, and the most bytes it had resident: asked for while it runs, as the last answer before its
/// end.
#[cfg(target_os = "linux")]
fn resident(bench: &Bench, line: &str) -> (String, u64) {
    let mut command = bench.command(line);
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let waiting = std::thread::spawn(move || child.wait_with_output().unwrap());
    let mut peak = 0;
    while !waiting.is_finished() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(1024 * kilobytes.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let output = waiting.join().unwrap();
    assert!(output.status.success() && peak > 0, "{}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout).unwrap(), peak)
}

/// Fits of the whole and of its parts agree, whatever the format the parts were cut from.
#[test]
fn parts_are_fitted_as_the_whole() {
    let bench = Bench::new();
    bench.ok("simulate logistic -n 300 -p 40 -k 5 --seed 4 -o data.csv");
    bench.ok("convert data.csv data.svm");
    bench.ok("convert data.csv data.ksb");
    bench.ok("convert data.csv data.csv.gz");
    let whole = bench.json("fit data.csv -k 5 --lambda 1e-3 --solver working-set --json");
    for (from, shards) in [("data.csv", 4), ("data.svm", 3), ("data.ksb", 7), ("data.csv.gz", 1)] {
        bench.ok(&format!("convert {from} {from}.parts --shards {shards}"));
        let parts = bench.json(&format!("fit {from}.parts -k 5 --lambda 1e-3 --json"));
        assert_eq!(parts["support"], whole["support"], "{from}");
        assert_eq!(parts["labels"], whole["labels"], "{from}");
        let (a, b) = (number(&parts, "objective"), number(&whole, "objective"));
        assert!((a - b).abs() <= 1e-9 * b, "{from}: {a} {b}");
        assert_eq!((number(&parts, "n"), number(&parts, "p")), (300.0, 40.0));
        let said = &parts["communication"];
        assert_eq!(number(said, "shards"), f64::from(shards));
        assert!(number(said, "rounds") <= 30.0 && number(said, "passes") <= 15.0, "{said}");
    }
    // Names of columns stay, and predictions over the parts are those over the whole.
    bench.ok("fit data.csv.parts/part-*.ksb -k 5 --lambda 1e-3 -o model.json");
    assert!(bench.read("model.json").contains("\"feature\""));
    assert_eq!(bench.ok("predict model.json data.csv.parts"), bench.ok("predict model.json data.csv"));
    let scores = |data: &str| bench.json(&format!("predict model.json {data} --score --json"));
    assert_eq!(scores("data.csv.parts"), scores("data.csv"));
}

#[test]
fn weights_standardisation_and_the_intercept_come_along() {
    let bench = Bench::new();
    let rows: String = (0..120)
        .map(|i| {
            let (a, b) = (f64::from(i % 7), f64::from(i % 11) * 100.0 + 5000.0);
            format!("{},{},{},{}\n", a, b, f64::from(i % 3), 3.0 * a - 0.01 * b + f64::from(i % 5))
        })
        .collect();
    bench.file("data.csv", format!("a,b,w,y\n{rows}"));
    bench.ok("convert data.csv parts --shards 5 --weights w");
    for options in ["", "--standardize", "--no-intercept", "--loss robust"] {
        let whole = bench.json(&format!("fit data.csv -k 1 --weights w {options} --solver working-set --json"));
        let parts = bench.json(&format!("fit parts -k 1 {options} --json"));
        assert_eq!(parts["support"], whole["support"], "{options}");
        let (a, b) = (number(&parts, "objective"), number(&whole, "objective"));
        assert!((a - b).abs() <= 1e-9 * b.abs(), "{options}: {a} {b}");
    }
}

#[test]
fn what_parts_cannot_be() {
    let bench = Bench::new();
    bench.ok("simulate linear -n 40 -p 5 -k 2 -o data.csv");
    refused(&bench, "fit nowhere/*.ksb -k 1", &["nowhere"]);
    std::fs::create_dir(bench.path("empty")).unwrap();
    refused(&bench, "fit empty -k 1", &["a folder stands for the files *.ksb in it", "--shards"]);
    refused(&bench, "convert data.csv data.csv --shards 2", &["is no folder"]);
    refused(&bench, "convert data.csv parts --shards 41", &["40 rows", "fewer"]);
    bench.ok("convert data.csv parts --shards 2");
    refused(&bench, "path parts --criterion bic", &["--criterion", "several files"]);
    refused(&bench, "path parts --cv 3 --metric auc", &["--metric auc", "several files"]);
    refused(&bench, "path parts --ensemble", &["--ensemble", "several files"]);
    refused(&bench, "fit parts -k auto --start model.json", &["--start"]);
    refused(&bench, "fit parts -k 1 --total 1", &["--total", "several files"]);
    refused(&bench, "fit parts -k 1 --certify", &["--certify", "several files"]);
    refused(&bench, "fit parts -k 1 --solver svrght", &["svrght", "samples"]);
    bench.ok("simulate linear -n 40 -p 6 -k 2 -o wide.csv");
    bench.ok("convert wide.csv wide --shards 1");
    std::fs::copy(bench.path("wide/part-00000.ksb"), bench.path("parts/part-00009.ksb")).unwrap();
    refused(&bench, "fit parts -k 1", &["part-00009.ksb", "6 columns", "has 5"]);
}

/// The same folds, the same scores, the same cell as with all rows in one place, whatever the loss; folds are read
/// together.
#[test]
fn a_choice_over_parts_is_the_choice_over_the_whole() {
    let bench = Bench::new();
    bench.ok("simulate logistic -n 300 -p 30 -k 4 --seed 4 -o labels.csv");
    bench.ok("simulate linear -n 300 -p 30 -k 4 --seed 4 -o numbers.csv");
    for (data, options) in [
        ("labels", "--lambdas 1e-1,1e-3 --cv 3"),
        ("labels", "--lambda 1e-2 --cv 2 --metric error --rule 1se --standardize"),
        ("numbers", "--lambda 1e-3 --cv 2x2 --seed 7"),
        ("numbers", "--lambda 1e-2 --cv 3 --loss robust --rule lean"),
    ] {
        bench.ok(&format!("convert {data}.csv {data} --shards 3"));
        let line = |data: &str| format!("path {data} -k 0,2,4,6 --solver working-set {options} --json");
        let (parts, whole) = (bench.json(&line(data)), bench.json(&line(&format!("{data}.csv"))));
        let chosen = |of: &Value| (of["chosen"]["k"].clone(), of["chosen"]["lambda"].clone());
        assert_eq!(chosen(&parts), chosen(&whole), "{data} {options}");
        let cells = |of: &Value| of["path"].as_array().unwrap().clone();
        assert_eq!(cells(&parts).len(), cells(&whole).len());
        for (a, b) in cells(&parts).iter().zip(&cells(&whole)) {
            assert_eq!((&a["k"], &a["lambda"], &a["support"]), (&b["k"], &b["lambda"], &b["support"]), "{options}");
            for name in ["score", "standard_error", "objective"] {
                let (a, b) = (number(a, name), number(b, name));
                assert!((a - b).abs() <= 1e-4 * b.abs().max(1e-2), "{options}, {name}: {a} {b}");
            }
        }
        assert!(number(&parts["communication"], "rounds") < 150.0, "{}", parts["communication"]);
    }
    // By itself, as a table and as a model.
    let found = bench.json("fit labels -k auto --json");
    assert!(number(&found, "k") >= 2.0 && number(&found, "lambda") > 0.0, "{found}");
    assert_eq!(
        found,
        serde_json::from_str::<Value>(&bench.ok("fit labels -k auto --json --threads 1"))
            .map(|again| with_times_of(again, &found))
            .unwrap()
    );
    let table = bench.ok("path labels -o model.json --plot path.svg --report path.html");
    assert!(table.contains("<- chosen") && table.contains("rounds over them"), "{table}");
    assert!(bench.read("model.json").contains("coefficients") && bench.read("path.html").contains("<html"));
    // What was finished when the time is up decides.
    assert_eq!(
        number(&bench.json("path labels -k 1,4 --lambda 1e-2 --cv 2 --time-limit 0 --json")["chosen"], "k"),
        1.0
    );
}

/// An object with the times and the waiting of another.
fn with_times_of(mut object: Value, other: &Value) -> Value {
    for name in ["seconds", "read_seconds"] {
        object[name] = other[name].clone();
    }
    object["communication"]["waiting_seconds"] = other["communication"]["waiting_seconds"].clone();
    object
}

/// A design of three times the memory allowed: the process stays within it, the fit is the same, and no byte is read
/// more than 15 times.
#[cfg(target_os = "linux")]
#[test]
fn a_design_larger_than_memory() {
    let bench = Bench::new();
    // 20,000 x 450 numbers: 72 MB.
    bench.ok("simulate logistic -n 20000 -p 450 -k 10 --seed 2 -o data.ksb");
    bench.ok("convert data.ksb parts --shards 18");
    let line = "fit parts -k 10 --memory 24 --threads 2 --json";
    let (parts, peak) = resident(&bench, line);
    let whole = bench.json("fit data.ksb -k 10 --json");
    let parts: Value = serde_json::from_str(&parts).unwrap();
    assert_eq!(parts["support"], whole["support"]);
    assert!(peak <= 24 << 20, "{} MB at the peak", peak >> 20);
    assert!(number(&parts["communication"], "passes") <= 15.0, "{}", parts["communication"]);
    refused(&bench, "fit parts -k 10 --memory 6", &["--memory 6", "--shards"]);
    // A choice takes little more: folds are rows that weigh nothing, and are read together.
    let line = "path parts -k 5,10 --cv 3 --lambda 1e-3 --memory 30 --threads 2 --json";
    let (chosen, most) = resident(&bench, line);
    let chosen: Value = serde_json::from_str(&chosen).unwrap();
    assert_eq!(number(&chosen["chosen"], "k"), 10.0);
    assert!(most <= 30 << 20, "{} MB at the peak", most >> 20);
    assert!(number(&chosen["communication"], "passes") <= 30.0, "{}", chosen["communication"]);
}
