//! Several classes and survival times: fitted, chosen, predicted, refused.

use crate::bench::{Bench, indices, numbers};
use std::fmt::Write;

/// 120 rows of which columns b and e matter: a class in words, a time with an event, an entry, a stratum.
fn bench() -> Bench {
    let bench = Bench::new();
    let mut state = 12345u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut text = "a,b,c,d,e,kind,days,died,late,site\n".to_string();
    for _ in 0..120 {
        let x: Vec<f64> = (0..5).map(|_| 2.0 * uniform() - 1.0).collect();
        let score = 3.0 * x[1] - 2.0 * x[4];
        let kind = if score < -1.0 {
            "low"
        } else if score > 1.0 {
            "high"
        } else {
            "middle"
        };
        let life = -(1.0 - uniform()).ln() * (-score).exp();
        let end = 0.2 + 2.0 * uniform();
        let (days, died) = ((100.0 * life.min(end)).ceil(), life <= end);
        let x: Vec<String> = x.iter().map(|x| format!("{x:.4}")).collect();
        let site = 1 + usize::from(uniform() > 0.5);
        let _ = writeln!(text, "{},{kind},{days},{},{},{site}", x.join(","), u8::from(died), 0.25 * days);
    }
    bench.file("rows.csv", &text);
    bench
}

const COX: &str = "--time days --event died --drop kind,late,site";
const CLASSES: &str = "--target kind --drop days,died,late,site";

#[test]
fn survival_times_are_fitted_and_predicted() {
    let bench = bench();
    let fit = bench.json(&format!("fit rows.csv -k 2 {COX} --json -o cox.json"));
    assert_eq!(fit["feature_names"], serde_json::json!(["b", "e"]));
    assert_eq!(fit["loss"], "cox");
    assert!(numbers(&fit["coefficients"][0])[0] > 1.0);
    let again = bench.json(&format!("fit rows.csv -k 2 --loss cox {COX} --json"));
    assert_eq!(again["objective"], fit["objective"]);
    let scored = bench.json("predict cox.json rows.csv --drop kind,late,site --json");
    assert!(scored["concordance"].as_f64().unwrap() > 0.75, "{scored}");
    // Risks without times, and survival curves that fall.
    let text = bench.read("rows.csv");
    let bare: Vec<String> = text.lines().map(|line| line.split(',').take(5).collect::<Vec<_>>().join(",")).collect();
    bench.file("bare.csv", &(bare.join("\n") + "\n"));
    assert_eq!(bench.ok("predict cox.json bare.csv -q").lines().count(), 120);
    let curves = bench.ok("predict cox.json bare.csv -q --at 10,50,150");
    let mut lines = curves.lines();
    assert_eq!(lines.next(), Some("10,50,150"));
    for line in lines {
        let s: Vec<f64> = line.split(',').map(|s| s.parse().unwrap()).collect();
        assert!(1.0 >= s[0] && s[0] >= s[1] && s[1] >= s[2] && s[2] >= 0.0, "{line}");
    }
    assert!(bench.ok("show cox.json").contains("hazard ratio"));
    assert_eq!(bench.ok("show cox.json --json"), bench.read("cox.json"));
}

#[test]
fn strata_entries_and_ties() {
    let bench = bench();
    let columns = "--time days --event died --entry late --strata site --drop kind";
    bench.ok(&format!("fit rows.csv -k 2 {columns} --ties breslow -o cox.json"));
    let model: serde_json::Value = serde_json::from_str(&bench.read("cox.json")).unwrap();
    assert_eq!(model["survival"]["labels"], serde_json::json!([1.0, 2.0]));
    assert_eq!(model["survival"]["baselines"].as_array().unwrap().len(), 2);
    assert_eq!(model["survival"]["ties"], "breslow");
    assert_eq!(bench.ok("predict cox.json rows.csv -q --drop kind,late --at 30").lines().count(), 121);
}

#[test]
fn classes_are_fitted_and_predicted() {
    let bench = bench();
    let fit = bench.json(&format!("fit rows.csv -k 2 {CLASSES} --json -o kinds.json"));
    assert_eq!(fit["loss"], "multinomial");
    assert_eq!(indices(&fit["support"]), [1, 4]);
    assert_eq!(fit["outputs"], serde_json::json!(["high", "low", "middle"]));
    assert_eq!(fit["coefficients"].as_array().unwrap().len(), 3);
    let predict = "predict kinds.json rows.csv --drop days,died,late,site";
    let labels = bench.ok(&format!("{predict} -q"));
    let probabilities = bench.ok(&format!("{predict} -q --proba"));
    let mut rows = probabilities.lines();
    let names: Vec<&str> = rows.next().unwrap().split(',').collect();
    for (label, row) in labels.lines().zip(rows) {
        let p: Vec<f64> = row.split(',').map(|p| p.parse().unwrap()).collect();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let best = (0..3).max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap();
        assert_eq!(names[best], label);
    }
    let scored = bench.json(&format!("{predict} --json"));
    let right = (0..3).map(|c| scored["confusion"][c][c].as_u64().unwrap()).sum::<u64>();
    assert!((scored["accuracy"].as_f64().unwrap() - right as f64 / 120.0).abs() < 1e-12);
    assert!(right > 110);
    let table = bench.ok(&format!("{predict} --score"));
    assert!(table.contains("recall") && table.contains("precision"), "{table}");
    assert!(bench.ok("show kinds.json").contains("high, low, middle"));
}

#[test]
fn k_is_chosen_by_cross_validation() {
    let bench = bench();
    let chosen = bench.json(&format!("path rows.csv -k 0:4 --cv 4 --one-se --lambda 1e-3 {COX} --json"));
    assert_eq!(chosen["k"], 2);
    assert_eq!(chosen["scores"].as_array().unwrap().len(), 5);
    assert_eq!(chosen["scores"][2]["metric"], "concordance");
    let chosen = bench.json(&format!("path rows.csv -k 1:4 --cv 3 --metric error {CLASSES} --lambda 1e-3 --json"));
    assert!(chosen["k"].as_u64().unwrap() >= 2);
    let chosen = bench.json(&format!("fit rows.csv -k auto {CLASSES} --json"));
    assert!(indices(&chosen["support"]).contains(&1) && indices(&chosen["support"]).contains(&4));
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let bench = bench();
    let refused = |line: &str, words: &str| {
        let done = bench.run(line);
        assert!(done.code == 2 && done.stderr.contains(words), "{line}: {} {}", done.code, done.stderr);
    };
    refused("fit rows.csv -k 2 --time days --drop kind", "--event");
    refused("fit rows.csv -k 2 --loss cox --target died --drop kind", "--time");
    refused("fit rows.csv -k 2 --time days --event site --drop kind", "--positive");
    refused("fit rows.csv -k 2 --time a --event died --drop kind", "positive times");
    refused("fit rows.csv -k 2 --time days --event died --drop kind --loss squared", "take --loss cox");
    refused(&format!("fit rows.csv -k 2 {COX} --certify"), "--certify");
    refused("fit rows.csv -k 2 --loss multinomial --target b --drop kind", "too many for classes");
    // One word makes labels of a column of numbers: it is named, with its row.
    let spoilt: String = (0..30).map(|i| format!("{i},{i}.5\n")).collect();
    bench.file("spoilt.csv", format!("y,x\n{}", spoilt.replace("4,4.5", "oops,4.5")));
    refused("fit spoilt.csv -k 1 --target y", "the target of row 5 is `oops`, not a number");
    let censored = bench.read("rows.csv").replace(",1,", ",0,");
    bench.file("censored.csv", &censored);
    refused(&format!("fit censored.csv -k 1 {COX}"), "censored");
    bench.ok(&format!("fit rows.csv -k 2 {CLASSES} -o kinds.json"));
    bench.ok(&format!("fit rows.csv -k 2 {COX} -o cox.json"));
    refused("predict cox.json rows.csv --proba --drop kind,late,site", "--at");
    refused("predict kinds.json rows.csv --at 3 --drop days,died,late,site", "--proba");
    let strange = bench.read("rows.csv").replace("middle", "muddle");
    bench.file("strange.csv", &strange);
    refused("predict kinds.json strange.csv --score --drop days,died,late,site", "muddle");
    let lines = bench.ok("predict kinds.json strange.csv -q --drop days,died,late,site");
    assert_eq!(lines.lines().count(), 120, "nothing is lost where there are no scores");
    let renamed = bench.read("rows.csv").replacen("b,c", "bb,c", 1);
    bench.file("renamed.csv", &renamed);
    refused("predict kinds.json renamed.csv --drop days,died,late,site", "no column `b`");
}

/// What is simulated is found again.
#[test]
fn simulated_families_are_fitted() {
    let bench = Bench::new();
    let families = [
        ("poisson", "--loss poisson"),
        ("multinomial", ""),
        ("ordinal", "--loss ordinal"),
        ("cox", "--time time --event y"),
    ];
    for (model, options) in families {
        bench.ok(&format!("simulate {model} -n 400 -p 30 -k 3 --seed 4 -o {model}.csv --truth {model}.json"));
        let fit = bench.json(&format!("fit {model}.csv -k 3 {options} --json"));
        let truth: serde_json::Value = serde_json::from_str(&bench.read(&format!("{model}.json"))).unwrap();
        let support = match truth.get("support") {
            Some(support) => indices(support),
            None => truth["coefficients"]
                .as_array()
                .unwrap()
                .iter()
                .map(|c| c["column"].as_u64().unwrap() as usize)
                .collect(),
        };
        assert_eq!(indices(&fit["support"]), support, "{model}");
    }
}

/// Ordered labels: fitted, chosen, predicted; words need an order, and it is checked.
#[test]
fn ordered_labels_are_fitted_in_their_order() {
    let bench = bench();
    let rows = "rows.csv --target kind --drop days,died,late,site";
    let levels = "--levels low,middle,high --loss ordinal";
    let fit = bench.json(&format!("fit {rows} {levels} -k 2 --lambda 1e-3 --json -o order.json"));
    assert_eq!(fit["loss"], "ordinal");
    assert_eq!(fit["levels"], serde_json::json!(["low", "middle", "high"]));
    let cuts = fit["thresholds"].as_array().unwrap();
    assert!(cuts.len() == 2 && cuts[0].as_f64() < cuts[1].as_f64());
    let shown = bench.ok("show order.json");
    assert!(shown.contains("low < middle < high") && shown.contains("odds ratio"), "{shown}");
    let predict = "predict order.json rows.csv --drop days,died,late,site";
    let scores = bench.json(&format!("{predict} --score --json"));
    assert!(scores["accuracy"].as_f64().unwrap() > 0.6, "{scores}");
    let lines = bench.ok(&format!("{predict} --proba -q"));
    assert!(lines.starts_with("low,middle,high\n"), "{lines}");
    for line in lines.lines().skip(1) {
        let sum: f64 = line.split(',').map(|p| p.parse::<f64>().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{line}");
    }
    assert!(bench.ok(&format!("{predict} -q")).lines().all(|label| ["low", "middle", "high"].contains(&label)));
    let chosen = bench.json(&format!("path {rows} {levels} -k 0:3 --cv 3 --lambda 1e-3 --json"));
    assert!(chosen["k"].as_u64().unwrap() >= 1);
    let refused = |line: &str, words: &str| {
        let done = bench.run(line);
        assert!(done.code == 2 && done.stderr.contains(words), "{line}: {} {}", done.code, done.stderr);
    };
    refused(&format!("fit {rows} -k 2 --loss ordinal"), "--levels");
    refused(&format!("fit {rows} -k 2 --loss ordinal --levels low,high"), "leaves out middle");
    refused(&format!("fit {rows} -k 2 --loss ordinal --levels low,middle,high,top"), "names top");
    refused(&format!("fit {rows} -k 2 --levels low,middle,high"), "take --loss ordinal");
}
