//! `ksparse predict`: the same bits as the library, scores by hand, columns by name.

use crate::bench::{Bench, columns, indices, numbers};
use ksparse::LinearModel;
use ksparse_io::ReadOptions;
use serde_json::Value;

#[test]
fn a_saved_model_predicts_the_same_bits() {
    let bench = Bench::with_data();
    for file in ["data.csv", "data.svm"] {
        let fit = bench.json(&format!("fit {file} -k 4 --standardize -o model.json --json"));
        let model = LinearModel {
            support: indices(&fit["support"]),
            coefficients: numbers(&fit["coefficients"]),
            intercept: fit["intercept"].as_f64().unwrap(),
        };
        let table = ksparse_io::read(&bench.path(file), &ReadOptions::default()).unwrap();
        let expected = model.predict(table.design()).unwrap();
        let printed: Vec<f64> =
            bench.ok(&format!("predict model.json {file} -q")).lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(
            printed.iter().map(|z| z.to_bits()).collect::<Vec<_>>(),
            expected.iter().map(|z| z.to_bits()).collect::<Vec<_>>()
        );
        assert_eq!(bench.ok("show model.json --json"), bench.read("model.json"));
    }
}

#[test]
fn scores_are_what_they_are_called() {
    let bench = Bench::with_data();
    bench.ok("fit data.csv -k 3 -o model.json");
    let report = bench.json("predict model.json data.csv --json");
    let z = numbers(&report["predictions"]);
    let (names, table) = columns(&bench.read("data.csv"));
    let y = &table[names.iter().position(|name| name == "y").unwrap()];
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let mse = mean(y.iter().zip(&z).map(|(y, z)| (y - z).powi(2)).collect());
    let centre = mean(y.clone());
    let variance = mean(y.iter().map(|y| (y - centre).powi(2)).collect());
    let near = |name: &str, value: f64| assert!((report[name].as_f64().unwrap() - value).abs() < 1e-12, "{name}");
    near("mse", mse);
    near("deviance", mse);
    near("r2", 1.0 - mse / variance);
    assert!(report["auc"].is_null());

    // Labels: the predictions speak the language of the file.
    bench.ok("fit labels.csv -k 3 --lambda 0.01 -o model.json");
    let labels = bench.ok("predict model.json labels.csv -q");
    assert!(labels.lines().all(|line| line == "yes" || line == "no"));
    let report = bench.json("predict model.json labels.csv --proba --json");
    let probabilities = numbers(&report["predictions"]);
    let truth: Vec<String> = bench.read("labels.csv").lines().skip(1).map(|line| line.to_string()).collect();
    let right = truth.iter().zip(&probabilities).filter(|(line, q)| line.contains("yes") == (**q > 0.5)).count();
    assert_eq!(report["accuracy"].as_f64().unwrap(), 1.0 - report["error"].as_f64().unwrap());
    assert!((report["accuracy"].as_f64().unwrap() - right as f64 / 80.0).abs() < 1e-12);
    assert!(report["auc"].as_f64().unwrap() > 0.9);
    let agree = labels.lines().zip(&probabilities).all(|(label, q)| (label == "yes") == (*q > 0.5));
    assert!(agree);
}

#[test]
fn predictions_and_scores_go_where_they_belong() {
    let bench = Bench::with_data();
    bench.ok("fit data.csv -k 3 -o model.json");
    let done = bench.run("predict model.json data.csv");
    assert_eq!(done.stdout.lines().count(), 80);
    assert!(done.stderr.contains("mse"), "{}", done.stderr);
    let shown = bench.ok("predict model.json data.csv -o out.txt");
    assert!(shown.contains("mse") && shown.contains("out.txt"), "{shown}");
    assert_eq!(bench.read("out.txt"), done.stdout);
    assert!(bench.ok("predict model.json data.csv --score").contains("mse"));
    assert!(bench.json("predict model.json data.csv --score --json")["predictions"].is_null());
    // Without a target there is nothing to score.
    let unlabelled: String = {
        let (names, table) = columns(&bench.read("data.csv"));
        let kept: Vec<usize> = (0..names.len()).filter(|&j| names[j] != "y").collect();
        let line = |fields: Vec<String>| fields.join(",") + "\n";
        let mut text = line(kept.iter().map(|&j| names[j].clone()).collect());
        for i in 0..table[0].len() {
            text.push_str(&line(kept.iter().map(|&j| table[j][i].to_string()).collect()));
        }
        text
    };
    bench.file("new.csv", unlabelled);
    assert_eq!(bench.ok("predict model.json new.csv"), done.stdout);
    let refused = bench.run("predict model.json new.csv --score");
    assert!(refused.code == 2 && refused.stderr.contains("--target"), "{}", refused.stderr);
}

#[test]
fn columns_are_found_by_name() {
    let bench = Bench::new();
    bench.file("train.csv", "a,b,bought\n1,5,2\n2,3,4.1\n3,1,6\n4,2,8.1\n");
    bench.ok("fit train.csv -k 1 --target bought -o model.json");
    bench.file("new.csv", "other,bought,b,a\n9,2,5,1\n9,4,3,2\n");
    let report = bench.json("predict model.json new.csv --json");
    let z = numbers(&report["predictions"]);
    assert!((z[0] - 2.0).abs() < 0.2 && (z[1] - 4.0).abs() < 0.2, "{z:?}");
    assert!(!report["mse"].is_null());
}

#[test]
fn a_model_with_names_wants_names() {
    let bench = Bench::with_data();
    bench.ok("fit data.csv -k 3 -o model.json");
    let known = bench.ok("predict model.json data.csv -q");
    bench.ok("convert data.csv data.npy");
    for file in ["data.svm", "data.npy"] {
        let done = bench.run(&format!("predict model.json {file}"));
        assert!(done.code == 2 && done.stdout.is_empty(), "{file}: {}", done.stdout);
        assert!(done.stderr.contains("no names") && done.stderr.contains("--by-position"), "{}", done.stderr);
        assert_eq!(bench.ok(&format!("predict model.json {file} --by-position -q")), known, "{file}");
    }
    bench.ok("simulate cox -n 60 -p 6 --seed 1 -o times.csv");
    bench.ok("fit times.csv --time time --event y -k 2 -o cox.json");
    let bare: String = bench.read("times.csv").lines().skip(1).map(|line| format!("{line}\n")).collect();
    bench.file("bare.csv", bare);
    let done = bench.run("predict cox.json bare.csv --time 8 --event 1");
    assert!(done.code == 2 && done.stderr.contains("--by-position"), "{}", done.stderr);
}

/// The third column is called 3 by everyone where it has no name, and by its name where it has one.
#[test]
fn columns_have_one_name_everywhere() {
    let bench = Bench::new();
    let rows = [[0.3_f64, 5.0_f64], [1.1, 4.0], [1.9, 3.0], [3.2, 2.5], [4.1, 1.0], [4.8, 0.3]];
    let svm: String = rows.iter().map(|[a, b]| format!("{a} 1:{} 2:{b} 3:{}\n", (9.0 * b).sin(), a * 2.0)).collect();
    bench.file("data.svm", &svm);
    bench.ok("convert data.svm data.npy");
    let csv: String = rows.iter().map(|[a, b]| format!("{a},{},{b},{}\n", (9.0 * b).sin(), a * 2.0)).collect();
    bench.file("bare.csv", &csv);
    bench.file("named.csv", format!("y,a,b,c\n{csv}"));
    for (file, name) in [("data.svm", "3"), ("data.npy", "3"), ("bare.csv --target 1", "4"), ("named.csv", "c")] {
        let fit = bench.ok(&format!("fit {file} -k 1 -o model.json -q"));
        let last = if name == "4" { "3" } else { name };
        assert_eq!(fit.lines().nth(1).unwrap().split_whitespace().next(), Some(last), "{file}\n{fit}");
        assert!(bench.ok("show model.json").contains(&format!("\n{last} ")), "{}", bench.ok("show model.json"));
        let data = if name == "c" { "named.csv --drop y" } else { file.split(' ').next().unwrap() };
        let graph = bench.ok(&format!("graph {data} -k 3 -q"));
        assert!(graph.split_whitespace().any(|word| word == name), "{data}: {graph}");
        assert!(!graph.contains('V'), "{graph}");
    }
}

#[test]
fn svmlight_may_have_other_columns() {
    let bench = Bench::new();
    bench.file("train.svm", "1 1:1 3:1\n-1 1:-1\n1 1:2 3:1\n-1 2:1 3:-1\n");
    bench.ok("fit train.svm -k 2 --lambda 0.1 -o model.json");
    bench.file("narrow.svm", "1 1:1\n-1 1:-1\n");
    assert_eq!(bench.ok("predict model.json narrow.svm -q"), "1\n-1\n");
    bench.file("wide.svm", "1 1:1 9:5\n-1 1:-1\n");
    let done = bench.run("predict model.json wide.svm");
    assert_eq!(done.stdout, "1\n-1\n");
    assert!(done.stderr.contains("6 columns beyond the 3 of the model"), "{}", done.stderr);
    // Labels nobody knows: predictions, but no scores.
    bench.file("new.svm", "0 1:1\n0 1:-1\n");
    let done = bench.run("predict model.json new.svm");
    assert_eq!((done.code, done.stdout.as_str()), (0, "1\n-1\n"));
    assert!(done.stderr.contains("no scores"), "{}", done.stderr);
    let show: Value = bench.json("show model.json --json");
    assert_eq!(show["labels"]["two"]["positive"], "1");
}
