//! Columns of words: indicators that are in or out together, remembered by the model.

use crate::bench::{Bench, numbers};
use std::fmt::Write;

const CITIES: [(&str, f64); 4] = [("Berlin", 0.0), ("Lyon", 3.0), ("Paris", -2.0), ("Rome", 1.0)];

/// y = 2 size + the effect of the city, and three columns that say nothing.
fn rows(count: usize, first: usize) -> String {
    let mut text = "size,city,noise,member,more,y\n".to_string();
    for i in first..first + count {
        let (city, effect) = CITIES[(7 * i + i / 5) % 4];
        let size = (1.3 * i as f64).sin();
        let member = if (i / 3) % 2 == 0 { "yes" } else { "no" };
        let y = 2.0 * size + effect + 0.01 * (0.9 * i as f64).cos();
        let _ = writeln!(text, "{size},{city},{},{member},{},{y}", i * i % 7, i % 5);
    }
    text
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("rows.csv", rows(80, 0));
    bench.file("new.csv", rows(3, 80));
    bench
}

#[test]
fn words_are_in_or_out_together_and_predict() {
    let bench = bench();
    let fit = bench.json("fit rows.csv -k 2 -o model.json --json");
    let names = serde_json::json!(["size", "city=Lyon", "city=Paris", "city=Rome"]);
    assert_eq!(fit["feature_names"], names, "{fit}");
    for (found, expected) in numbers(&fit["coefficients"]).iter().zip([2.0, 3.0, -2.0, 1.0]) {
        assert!((found - expected).abs() < 0.02, "{fit}");
    }
    // Three rows have not all cities, and another first one.
    let predicted: Vec<f64> = bench.ok("predict model.json new.csv -q").lines().map(|z| z.parse().unwrap()).collect();
    let truth: Vec<f64> =
        bench.read("new.csv").lines().skip(1).map(|l| l.rsplit_once(',').unwrap().1.parse().unwrap()).collect();
    assert!(predicted.iter().zip(&truth).all(|(z, y)| (z - y).abs() < 0.05), "{predicted:?} {truth:?}");
    // A word of a column that the model does not use may be new; one of a column that it uses may not.
    bench.file("other.csv", bench.read("new.csv").replace("yes", "perhaps").replace("no,", "never,"));
    assert_eq!(bench.ok("predict model.json new.csv -q"), bench.ok("predict model.json other.csv -q"));
    bench.file("far.csv", bench.read("new.csv").replacen(CITIES[(7 * 80 + 16) % 4].0, "Oslo", 1));
    let done = bench.run("predict model.json far.csv");
    assert!(done.code == 2 && done.stderr.contains("`Oslo`, which the model has not seen"), "{}", done.stderr);
    assert!(done.stderr.contains("Berlin, Lyon, Paris, Rome"), "{}", done.stderr);
    bench.file("without.csv", "size,y\n1,2\n");
    let done = bench.run("predict model.json without.csv");
    assert!(done.code == 2 && done.stderr.contains("city=Lyon"), "{}", done.stderr);
    assert!(bench.ok("show model.json").contains("city=Paris"));
}

#[test]
fn a_name_means_all_its_words() {
    let bench = bench();
    let kept = bench.json("fit rows.csv -k 1 --keep city --json");
    assert_eq!(kept["feature_names"].as_array().unwrap().len(), 4, "{kept}");
    bench.file("groups.txt", "city,noise\nsize,member\n");
    let grouped = bench.json("fit rows.csv -k 1 --groups groups.txt --json");
    let names = grouped["feature_names"].to_string();
    assert!(names.contains("noise") && names.contains("city=Rome") || names.contains("member=yes"), "{names}");
    let path = bench.json("path rows.csv -k 0:3 --cv 4 --json");
    assert!(path["chosen"]["feature_names"].to_string().contains("city=Lyon"), "{path}");
    let dear = bench.json("fit rows.csv -k 2 --lambda 0.1 --penalty-factors city=50 --json");
    let plain = bench.json("fit rows.csv -k 2 --lambda 0.1 --json");
    assert!(dear["objective"].as_f64().unwrap() > plain["objective"].as_f64().unwrap());
    bench.ok("fit rows.csv -k 2 --nonnegative");
    // Several classes, and numbers that are categories because somebody says so.
    let classes = bench.json("fit rows.csv -k 2 --loss multinomial --target more --lambda 0.01 -o joint.json --json");
    assert_eq!(classes["k"], 2);
    bench.ok("predict joint.json new.csv -q");
    let coded = bench.json("fit rows.csv -k 2 --categorical noise,more --keep noise --json");
    assert!(coded["feature_names"].to_string().contains("noise=1"), "{coded}");
    for (line, words) in [
        ("fit rows.csv -k 2 --categorical nothing", "nothing"),
        ("convert rows.csv parts --shards 2", "is not a number"),
    ] {
        let done = bench.run(line);
        assert!(done.code == 2 && done.stderr.contains(words), "{line}: {} {}", done.code, done.stderr);
    }
    bench.file("ids.csv", "who,x,y\nanna,1,2\nbert,2,3\ncarl,3,4\n");
    let done = bench.run("fit ids.csv -k 1");
    assert_eq!(done.code, 0, "words in the first column are names of rows: {}", done.stderr);
    bench.file("ids.csv", "x,who,y\n1,anna,2\n2,bert,3\n3,carl,4\n");
    let done = bench.run("fit ids.csv -k 1");
    assert!(done.code == 2 && done.stderr.contains("--drop"), "{}", done.stderr);
}
