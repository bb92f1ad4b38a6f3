//! Targets that cannot be: each is refused, with what to do, and nothing is written.

use crate::bench::Bench;
use std::fmt::Write;

/// Columns to take a target from; `what` replaces the values of one column in row 3.
fn rows(column: &str, what: &str) -> String {
    let names = ["x1", "x2", "count", "size", "time", "died", "kind"];
    let mut text = names.join(",") + "\n";
    for i in 0..30 {
        let x = [(1.3 * f64::from(i)).sin(), (0.7 * f64::from(i)).cos()];
        let mut row = vec![x[0].to_string(), x[1].to_string(), (i % 4).to_string(), (1 + i % 5).to_string()];
        row.extend([(1 + i % 7).to_string(), (i % 2).to_string(), ["a", "b", "c"][i as usize % 3].to_string()]);
        if i == 2
            && let Some(at) = names.iter().position(|name| *name == column)
        {
            row[at] = what.to_string();
        }
        let _ = writeln!(text, "{}", row.join(","));
    }
    text
}

#[test]
fn each_says_what_to_do() {
    let bench = Bench::new();
    const COX: &str = "--time time --target died --drop count,size,kind";
    const NUMBER: &str = "--drop time,died,kind";
    for (column, what, rest, words) in [
        ("count", "-1", "--loss poisson --target count", "not negative"),
        ("size", "0", "--loss gamma --target size", "above 0"),
        ("size", "-2", "--loss gamma --target size", "above 0"),
        ("died", "2", COX, "--positive"),
        ("died", "perhaps", COX, "--positive"),
        ("time", "0", COX, "positive times"),
        ("time", "-3", COX, "positive times"),
        ("time", "soon", COX, "`soon` is not a number"),
        ("kind", "", "--loss multinomial --target kind --drop count,size,time,died", "missing"),
    ] {
        bench.file("rows.csv", rows(column, what));
        let rest = if rest == COX || column == "kind" { rest.to_string() } else { format!("{rest} {NUMBER}") };
        let done = bench.run(&format!("fit rows.csv -k 1 {rest} -o model.json"));
        assert!(done.code == 2 && done.stderr.contains(words), "{column} {what}: {} {}", done.code, done.stderr);
        assert_eq!(bench.files(), ["rows.csv"], "{column} {what}");
    }
    // A class of one row can be learned, but not held out; one that was never seen is told at predict.
    const CLASSES: &str = "--loss multinomial --target kind --drop count,size,time,died";
    bench.file("rows.csv", rows("kind", "rare"));
    bench.ok(&format!("fit rows.csv -k 1 {CLASSES} -o model.json"));
    let done = bench.run(&format!("path rows.csv -k 0:1 {CLASSES} --cv 3"));
    assert!(done.code != 0 && done.stderr.contains("leave the class out"), "{} {}", done.code, done.stderr);
    bench.file("new.csv", rows("kind", "never"));
    let done = bench.run("predict model.json new.csv --score");
    assert!(done.code == 2 && done.stderr.contains("never"), "{} {}", done.code, done.stderr);
}
