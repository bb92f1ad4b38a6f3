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
fn a_chosen_model_and_a_path_stay_within_bounds() {
    let bench = bench();
    for line in ["fit rows.csv -k auto", "path rows.csv", "path rows.csv -k 0:3 --cv 4", "path rows.csv -k 1:3"] {
        let found = bench.json(&format!("{line} --nonnegative --upper up=1.5 --json -o model.json"));
        let model: serde_json::Value = serde_json::from_str(&bench.read("model.json")).unwrap();
        let rows = model["coefficients"].as_array().unwrap();
        let weights: Vec<f64> = rows.iter().map(|row| row["value"].as_f64().unwrap()).collect();
        assert!(weights.iter().all(|w| (0.0..=1.5 + 1e-9).contains(w)), "{line}: {model}");
        let held = found.get("at_bounds").or_else(|| found["chosen"].get("at_bounds"));
        assert!(held.is_some_and(|held| held == &serde_json::json!([0])), "{line}: {found}");
    }
    bench.ok("fit rows.csv -k auto --nonnegative --loss multinomial --target none -o classes.json");
    let classes: serde_json::Value = serde_json::from_str(&bench.read("classes.json")).unwrap();
    let rows = classes["coefficients"].as_array().unwrap();
    assert!(rows.iter().flat_map(|row| numbers(&row["values"])).all(|w| w >= 0.0), "{classes}");
}

#[test]
fn coefficients_add_up_to_a_total() {
    let bench = bench();
    for more in ["", "--standardize", "--nonnegative", "--loss robust"] {
        let fit = bench.json(&format!("fit rows.csv -k 3 --total 1 --lambda 0.01 {more} --json"));
        let sum: f64 = numbers(&fit["coefficients"]).iter().sum();
        assert!((sum - 1.0).abs() < 1e-8, "{more}: {fit}");
    }
    for more in ["", "--standardize", "--nonnegative", "--upper 0.4"] {
        let chosen = bench.json(&format!("fit rows.csv -k auto --total 1 {more} --json"));
        let sum: f64 = numbers(&chosen["coefficients"]).iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{more}: {chosen}");
        let same = bench.json(&format!("path rows.csv --total 1 {more} --json"));
        assert_eq!(same["chosen"]["coefficients"], chosen["coefficients"], "{more}");
        let path = bench.json(&format!("path rows.csv -k 3:5 --lambda 0.01 --total 1 {more} --json"));
        let values: Vec<f64> =
            path["path"].as_array().unwrap().iter().map(|cell| cell["objective"].as_f64().unwrap()).collect();
        assert!(values.windows(2).all(|pair| pair[1] <= pair[0]), "{more}: {values:?}");
        let alone = bench.json(&format!("fit rows.csv -k 4 --lambda 0.01 --total 1 {more} --json"));
        let (alone, of_path) = (alone["objective"].as_f64().unwrap(), values[1]);
        assert!((alone - of_path).abs() < 1e-7 * alone, "{more}: {alone} {of_path}");
        bench.json(&format!("path rows.csv --criterion bic --total 1 {more} --json"));
    }
    for (line, words) in [
        ("path rows.csv -k 0:3 --total 1", "begin with k = 1"),
        ("fit rows.csv -k 2 --total 1 --certify --lambda 0.1", "leave out --certify"),
        ("fit rows.csv -k 2 --total inf", "finite"),
        ("fit rows.csv -k 2 --total 1 --nonnegative --upper 0.1", "add up to 0.2"),
        ("fit rows.csv -k 2 --total 1 --loss multinomial --target none", "a number per row"),
    ] {
        let done = bench.run(line);
        assert!(done.code == 2 && done.stderr.contains(words), "{line}: {}", done.stderr);
    }
}

/// Of classes every coefficient is bounded, of survival times the one there is.
#[test]
fn several_outputs_stay_within_bounds_too() {
    let bench = bench();
    let values = |json: &serde_json::Value| -> Vec<f64> {
        let rows = json["coefficients"].as_array().unwrap();
        rows.iter().flat_map(|row| numbers(&row["values"])).collect()
    };
    for standardize in ["", "--standardize"] {
        let line = format!("fit rows.csv -k 2 --loss multinomial --target none --lambda 0.001 {standardize}");
        bench.ok(&format!("{line} -o free.json"));
        bench.ok(&format!("{line} --lower -0.1 --upper 0.2 -o boxed.json"));
        let read = |file: &str| values(&serde_json::from_str(&bench.read(file)).unwrap());
        assert!(read("free.json").iter().any(|w| *w < -0.1 || *w > 0.2), "{:?}", read("free.json"));
        let boxed = read("boxed.json");
        assert!(boxed.iter().all(|w| (-0.1 - 1e-12..=0.2 + 1e-12).contains(w)) && boxed.len() == 8, "{boxed:?}");
    }
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
    refused("fit rows.csv -k 2 --nonnegative --certify --lambda 0.1", "leave out --certify");
    refused("path rows.csv --nonnegative --solver iht", "--solver auto");
    refused("fit rows.csv -k 2 --nonnegative --loss multinomial --target none --solver iht", "--solver auto");
}

/// A column with the factor 4 is the column halved.
#[test]
fn a_penalty_factor_is_a_column_in_other_units() {
    let bench = bench();
    let halved = bench.read("rows.csv").lines().enumerate().fold(String::new(), |mut text, (i, line)| {
        let mut fields: Vec<String> = line.split(',').map(str::to_string).collect();
        if i > 0 {
            fields[1] = (fields[1].parse::<f64>().unwrap() / 2.0).to_string();
        }
        let _ = writeln!(text, "{}", fields.join(","));
        text
    });
    bench.file("halved.csv", halved);
    bench.file("factors.txt", "# dear\ndown=4\n\nnone=1\n");
    for rest in ["", "--certify", "--solver exact", "--solver iht", "--no-intercept"] {
        let found = bench.json(&format!("fit rows.csv -k 2 --lambda 0.3 --penalty-factors down=4 --json {rest}"));
        let expected = bench.json(&format!("fit halved.csv -k 2 --lambda 0.3 --json {rest}"));
        let in_file =
            bench.json(&format!("fit rows.csv -k 2 --lambda 0.3 --penalty-factors @factors.txt --json {rest}"));
        assert_eq!(found["coefficients"], in_file["coefficients"]);
        assert_eq!(found["support"], expected["support"]);
        let (f, g) = (found["objective"].as_f64().unwrap(), expected["objective"].as_f64().unwrap());
        assert!((f - g).abs() < 1e-9, "{rest}: {f} against {g}");
        let (w, v) = (numbers(&found["coefficients"]), numbers(&expected["coefficients"]));
        assert!((w[0] - v[0]).abs() < 1e-6 && (w[1] - v[1] / 2.0).abs() < 1e-6, "{rest}: {w:?} against {v:?}");
        if let Some(bound) = found.get("lower_bound") {
            assert!((bound.as_f64().unwrap() - expected["lower_bound"].as_f64().unwrap()).abs() < 1e-4 * f, "{rest}");
        }
    }
    let path = |file: &str, factors: &str| {
        bench.json(&format!("path {file} -k 0:3 --lambda 0.3 --cv 4 --metric mse --json {factors}"))
    };
    let (found, expected) = (path("rows.csv", "--penalty-factors down=4"), path("halved.csv", ""));
    assert_eq!(found["chosen"]["k"], expected["chosen"]["k"]);
    bench.ok("convert rows.csv parts --shards 3");
    let parts = bench.json("fit parts -k 2 --lambda 0.3 --penalty-factors down=4 --json");
    let whole = bench.json("fit rows.csv -k 2 --lambda 0.3 --penalty-factors down=4 --json");
    assert!((parts["objective"].as_f64().unwrap() - whole["objective"].as_f64().unwrap()).abs() < 1e-9);
    let classes = "fit rows.csv -k 1 --loss multinomial --target none --lambda 0.1 --json";
    let (plain, dear) = (bench.json(classes), bench.json(&format!("{classes} --penalty-factors 25")));
    assert!(dear["objective"].as_f64().unwrap() > plain["objective"].as_f64().unwrap());
    for (line, words) in [
        ("down=0", "1e-6"),
        ("down=-1", "positive"),
        ("nobody=2", "nobody"),
        ("down=2,down=3", "twice"),
        ("down", "not a number"),
        ("@missing.txt", "missing.txt"),
    ] {
        let done = bench.run(&format!("fit rows.csv -k 2 --penalty-factors {line}"));
        assert!(done.code == 2 && done.stderr.contains(words), "{line}: {} {}", done.code, done.stderr);
    }
    let done = bench.run("fit rows.csv -k 2 --penalty-factors @factors.txt -o factors.txt");
    assert!(done.code == 2 && bench.read("factors.txt").contains("down=4"), "{}", done.stderr);
}
