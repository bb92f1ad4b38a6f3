//! split, simulate, show, completions, man, demo.

use crate::bench::Bench;
use serde_json::Value;

#[test]
fn a_split_shares_out_rows_and_classes() {
    let bench = Bench::new();
    let rows: String = (0..100).map(|i| format!("{} 1:{} 2:1\n", if i % 5 == 0 { 1 } else { -1 }, i + 1)).collect();
    bench.file("data.svm", &rows);
    let shown = bench.ok("split data.svm --test 0.2 --seed 3");
    assert!(shown.contains("80 rows, data.train.svm") && shown.contains("20 rows, data.test.svm"), "{shown}");
    let (train, test) = (bench.read("data.train.svm"), bench.read("data.test.svm"));
    assert_eq!(test.lines().filter(|line| line.starts_with("1 ")).count(), 4);
    let mut together: Vec<&str> = train.lines().chain(test.lines()).collect();
    let mut whole: Vec<&str> = rows.lines().collect();
    together.sort_unstable();
    whole.sort_unstable();
    assert_eq!(together, whole);
    bench.ok("split data.svm --test 0.2 --seed 3 --train-output a.csv.gz --test-output b.svm");
    assert_eq!(bench.read("b.svm"), test);
    bench.ok("split data.svm --test 0.2 --seed 4 --overwrite");
    assert_ne!(bench.read("data.test.svm"), test);
}

/// Neither beside the data, nor over a file whose name was made from another.
#[test]
fn nothing_is_written_that_was_not_asked_for() {
    let bench = Bench::with_data();
    std::fs::create_dir(bench.path("else")).unwrap();
    std::fs::rename(bench.path("data.csv"), bench.path("else/data.csv")).unwrap();
    bench.ok("split else/data.csv");
    assert!(bench.path("data.train.csv").exists() && !bench.path("else/data.train.csv").exists());
    let train = bench.read("data.train.csv");
    let done = bench.run("split else/data.csv --seed 2");
    assert!(done.code == 2 && done.stderr.contains("data.train.csv: is there already"), "{}", done.stderr);
    assert!(done.stderr.contains("--overwrite") && bench.read("data.train.csv") == train, "{}", done.stderr);
    bench.ok("split else/data.csv --seed 2 --train-output data.train.csv --test-output data.test.csv");
    assert_ne!(bench.read("data.train.csv"), train);
    bench.ok("split else/data.csv --dir else");
    assert!(bench.path("else/data.test.csv").exists());
    // Dense formats put the target beside their file.
    bench.file("out.y.npy", "precious");
    let done = bench.run("convert else/data.csv out.npy");
    assert!(done.code == 2 && done.stderr.contains("out.y.npy: is there already"), "{}", done.stderr);
    assert!(!bench.path("out.npy").exists() && bench.read("out.y.npy") == "precious");
    bench.ok("convert else/data.csv out.npy --overwrite");
    let done = bench.run("split out.npy --train-output a.npy --test-output out.test.npy");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let done = bench.run("split out.npy --train-output a.npy --test-output out.test.npy");
    assert!(done.code == 2 && done.stderr.contains("a.y.npy"), "{}", done.stderr);
}

#[test]
fn quiet_is_quiet() {
    let bench = Bench::with_data();
    bench.ok("fit data.csv -k 3 -o model.json");
    for line in [
        "convert data.csv out.npy",
        "convert data.csv parts --shards 2",
        "split data.csv",
        "simulate linear -n 20 -p 5 -o new.csv",
        "man --dir pages",
    ] {
        let done = bench.run(&format!("{line} --quiet"));
        assert_eq!((done.code, &*done.stdout, &*done.stderr), (0, "", ""), "{line}");
    }
    // What was asked for is printed, and nothing beside it.
    for line in ["fit data.csv -k 99", "predict model.json data.csv", "path data.csv -k 1:3", "graph data.csv -k 2"] {
        let done = bench.run(&format!("{line} --quiet"));
        assert!(done.code == 0 && !done.stdout.is_empty() && done.stderr.is_empty(), "{line}: {}", done.stderr);
    }
}

#[test]
fn simulated_data_come_with_their_truth() {
    let bench = Bench::new();
    for model in ["linear", "logistic", "sensing", "two-means", "text"] {
        bench.ok(&format!("simulate {model} -n 50 -p 40 -k 3 --seed 2 -o {model}.csv --truth {model}.json"));
        let truth = bench.json(&format!("show {model}.json --json"));
        let scored = bench.json(&format!("predict {model}.json {model}.csv --score --json"));
        // The objective of the truth is half its deviance.
        let (objective, deviance) = (truth["objective"].as_f64().unwrap(), scored["deviance"].as_f64().unwrap());
        assert!((objective - deviance / 2.0).abs() < 1e-9, "{model}: {objective} {deviance}");
        let piped = bench.ok(&format!("simulate {model} -n 50 -p 40 -k 3 --seed 2 --format csv"));
        assert_eq!(piped, bench.read(&format!("{model}.csv")), "{model}");
    }
    bench.ok("simulate precision -n 30 -p 10 -o rows.csv --truth edges.json");
    let edges: Value = serde_json::from_str(&bench.read("edges.json")).unwrap();
    assert!(edges["edges"].as_array().is_some());
    assert_eq!(bench.read("rows.csv").lines().count(), 31);
}

#[test]
fn shells_and_manuals_are_served() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(bench.ok(&format!("completions {shell}")).contains("simulate"), "{shell}");
    }
    assert!(bench.ok("man").contains(".TH ksparse 1"));
    bench.ok("man --dir pages");
    let page = bench.read("pages/ksparse-fit.1");
    assert!(page.contains("lambda"));
}

#[test]
fn the_demo_works_and_names_its_picture() {
    let bench = Bench::new();
    let shown = bench.ok("demo --dir out");
    for piece in ["$ ksparse fit out/", "accuracy", "<- chosen", "The picture is out/path.svg"] {
        assert!(shown.contains(piece), "no `{piece}` in\n{shown}");
    }
    assert!(bench.read("out/path.svg").contains("</svg>"));
}

#[test]
fn examples_in_the_help_run() {
    for command in ["fit", "path", "simulate"] {
        let bench = Bench::new();
        let help = bench.ok(&format!("{command} --help"));
        let examples: Vec<&str> = help.lines().filter_map(|line| line.trim().strip_prefix("ksparse ")).collect();
        assert!(examples.len() >= 2, "{command}: {examples:?}");
        for example in examples {
            bench.ok(example);
        }
    }
}
