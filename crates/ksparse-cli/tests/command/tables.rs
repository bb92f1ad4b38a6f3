//! What people see, with times masked.

use crate::bench::Bench;

/// Times are what they are: `12 ms` and `0.31 s` become `TIME`.
fn masked(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut words: Vec<String> = line.split(' ').map(str::to_string).collect();
        for i in 1..words.len() {
            if matches!(words[i].as_str(), "ms" | "s") && words[i - 1].parse::<f64>().is_ok() {
                words[i - 1] = "TIME".to_string();
                words[i] = String::new();
            }
        }
        lines.push(words.join(" ").trim_end().to_string());
    }
    lines.join("\n")
}

#[test]
fn tables_of_every_command() {
    let bench = Bench::with_data();
    for (name, line) in [
        ("fit", "fit data.csv -k 4 -o model.json"),
        ("fit-svmlight", "fit data.svm -k 4 --standardize --lambda 0.01"),
        ("fit-labels", "fit labels.csv -k 2 --lambda 0.01 -o labels.json"),
        ("fit-many", "fit data.csv -k 25"),
        ("path", "path data.csv -k 0:6 -o model.json"),
        ("path-cv", "path labels.csv -k 1:3 --lambdas 0.1,0.01 --cv 4"),
        ("path-long", "path data.csv -k 0:29"),
        ("show", "show model.json"),
        ("show-labels", "show labels.json"),
        ("predict", "predict model.json data.csv --score"),
        ("predict-labels", "predict labels.json labels.csv --score"),
        ("convert", "convert data.csv data.mtx"),
        ("split", "split data.csv"),
        ("simulate", "simulate text -n 20 -p 30 -o text.svm --truth truth.json"),
    ] {
        insta::assert_snapshot!(format!("table-{name}"), masked(&bench.ok(line)));
    }
}
