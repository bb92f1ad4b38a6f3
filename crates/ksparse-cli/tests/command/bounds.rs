//! Signs and boxes of coefficients, as options.

use crate::bench::{Bench, numbers};
use std::fmt::Write;

/// y = 2 up - 3 down + 0.5 small, and a column that says nothing.
fn bench() -> Bench {
    let bench = Bench::new();
    let mut text = "up,down,small,none,y\n".to_string();
    for i in 0..60 {
        let x = [(1.3 * f64::from(i)).sin(), (0.7 * f64::from(i)).cos(), f64::from(7 * i % 11) / 5.0, f64::from(i % 4)];
        let y = 2.0 * x[0] - 3.0 * x[1] + 0.5 * x[2] + 0.01 * f64::from(i % 3);
        let _ = writeln!(text, "{},{},{},{},{y}", x[0], x[1], x[2], x[3]);
    }
    bench.file("rows.csv", &text);
    bench
}

#[test]
fn coefficients_stay_within_their_bounds_and_say_where() {
    let bench = bench();
    let fit = bench.json("fit rows.csv -k 2 --json");
    assert_eq!(fit["feature_names"], serde_json::json!(["up", "down"]));
    assert!(fit.get("at_bounds").is_none());
    let signs = bench.json("fit rows.csv -k 2 --nonnegative --json");
    assert!(numbers(&signs["coefficients"]).iter().all(|w| *w > 0.0), "{signs}");
    assert!(!signs["feature_names"].to_string().contains("down"), "{signs}");
    for standardize in ["", "--standardize"] {
        let line = format!("fit rows.csv -k 3 --lower -1 --upper up=1.5,small=9 --json {standardize}");
        let boxed = bench.json(&line);
        let coefficients = numbers(&boxed["coefficients"]);
        assert_eq!(boxed["feature_names"], serde_json::json!(["up", "down", "small"]));
        assert!((coefficients[0] - 1.5).abs() < 1e-9 && (coefficients[1] + 1.0).abs() < 1e-9, "{boxed}");
        assert_eq!(boxed["at_bounds"], serde_json::json!([0, 1]));
    }
    let shown = bench.ok("fit rows.csv -k 2 --upper up=1");
    assert!(shown.contains("at bounds  up"), "{shown}");
    assert!(bench.ok("fit rows.csv -k 2 --upper up=100").contains("no coefficient"));
}

#[test]
fn bounds_that_cannot_be_are_refused() {
    let bench = bench();
    let refused = |line: &str, words: &str| {
        let done = bench.run(line);
        assert!(done.code == 2 && done.stderr.contains(words), "{line}: {} {}", done.code, done.stderr);
    };
    refused("fit rows.csv -k 2 --lower up=2 --upper up=1", "lower bound 2 of column up is above its upper bound 1");
    refused("fit rows.csv -k 2 --lower 1", "leave out 0");
    refused("fit rows.csv -k 2 --lower upp=0", "upp");
    refused("fit rows.csv -k 2 --lower up=much", "not a number");
    refused("fit rows.csv -k 2 --upper up=1,down", "no `=`");
    refused("fit rows.csv -k 2 --nonnegative --solver iht", "--solver auto");
    refused("fit rows.csv -k auto --nonnegative", "say it with -k");
    refused("fit rows.csv -k 2 --nonnegative --certify --lambda 0.1", "leave out --certify");
    refused("fit rows.csv -k 2 --nonnegative --loss multinomial --target none", "not for the multinomial loss");
}
