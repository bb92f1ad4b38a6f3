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
    bench.ok("split data.svm --test 0.2 --seed 4");
    assert_ne!(bench.read("data.test.svm"), test);
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
