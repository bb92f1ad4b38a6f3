//! `ksparse fit`: what it says is what is.

use crate::bench::{Bench, columns, indices, numbers};
use serde_json::Value;

/// f of a fit, by plain loops over the numbers of the file: nothing of the library is used.
fn recomputed(fit: &Value, names: &[String], table: &[Vec<f64>], weights: Option<&[f64]>, standardize: bool) -> f64 {
    let target = names.iter().position(|name| name == "y").unwrap();
    let features: Vec<usize> = (0..names.len()).filter(|&j| j != target && names[j] != "w").collect();
    let (support, coefficients) = (indices(&fit["support"]), numbers(&fit["coefficients"]));
    let n = table[0].len();
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let total: f64 = (0..n).map(weight).sum();
    let scale = fit["logistic_scale"].as_f64().unwrap_or(1.0);
    let gamma = fit["huber_gamma"].as_f64().unwrap_or(1.0);
    let mut mean = 0.0;
    for i in 0..n {
        let z: f64 = support.iter().zip(&coefficients).map(|(&j, c)| c * table[features[j]][i]).sum::<f64>()
            + fit["intercept"].as_f64().unwrap();
        let y = table[target][i];
        let m = y * z;
        let loss = match fit["loss"].as_str().unwrap() {
            "squared" => 0.5 * (y - z) * (y - z),
            "logistic" => (1.0 + (-scale * m).exp()).ln(),
            "squared-hinge" => 0.5 * (1.0 - m).max(0.0).powi(2),
            "hinge" => (1.0 - m).max(0.0),
            "huber" if m >= 1.0 => 0.0,
            "huber" if m < 1.0 - gamma => 1.0 - m - gamma / 2.0,
            "huber" => (1.0 - m).powi(2) / (2.0 * gamma),
            other => panic!("{other}"),
        };
        mean += weight(i) * loss / total;
    }
    let size = |j: usize| {
        if !standardize {
            return 1.0;
        }
        let column = &table[features[j]];
        let centre = column.iter().sum::<f64>() / n as f64;
        (column.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / n as f64).sqrt()
    };
    let ridge: f64 = support.iter().zip(&coefficients).map(|(&j, c)| (c * size(j)).powi(2)).sum();
    mean + 0.5 * fit["lambda"].as_f64().unwrap() * ridge
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-10 * a.abs().max(1.0), "{a} and {b}");
}

#[test]
fn the_objective_is_f_at_the_vector_returned() {
    let bench = Bench::with_data();
    bench.ok("simulate logistic --rows 90 --cols 25 --nonzeros 4 -o signs.csv");
    let cases = [
        ("data.csv", "--loss squared", false),
        ("data.csv", "--loss squared --lambda 0.3 --no-intercept", false),
        ("data.csv", "--loss squared --lambda 0.3 --standardize", true),
        ("data.csv", "--solver fgrahtp --max-iter 3", false),
        ("data.csv", "--solver foba --keep x7", false),
        ("signs.csv", "", false),
        ("signs.csv", "--logistic-scale 2 --lambda 0.01", false),
        ("signs.csv", "--loss hinge --lambda 0.05", false),
        ("signs.csv", "--loss hinge --lambda 0.05 --solver htp", false),
        ("signs.csv", "--loss hinge --lambda 0.05 --solver sdiht --blocks 10 --no-intercept", false),
        ("signs.csv", "--solver diht --lambda 0.1 --standardize", true),
        ("signs.csv", "--solver svrght --batch 8 --lambda 0.01", false),
        ("signs.csv", "--loss squared-hinge --lambda 0.01 --solver grasp", false),
        ("signs.csv", "--loss huber --huber-gamma 0.5 --lambda 0.02 --standardize", true),
    ];
    for (file, options, standardize) in cases {
        let fit = bench.json(&format!("fit {file} -k 3 {options} --json"));
        let (names, table) = columns(&bench.read(file));
        close(fit["objective"].as_f64().unwrap(), recomputed(&fit, &names, &table, None, standardize));
        let of = if standardize { "standardised columns" } else { "input columns" };
        assert_eq!(fit["objective_of"], of);
        let support = indices(&fit["support"]);
        assert!(support.windows(2).all(|pair| pair[0] < pair[1]) && support.len() <= 4);
    }
}

#[test]
fn weights_are_those_of_the_column_named() {
    let bench = Bench::new();
    let mut text = "a,b,w,y\n".to_string();
    for i in 0..20 {
        let x = f64::from(i);
        text.push_str(&format!("{},{},{},{}\n", x.sin(), (2.0 * x).cos(), 1 + i % 3, 3.0 * x.sin() + 0.1 * x.cos()));
    }
    bench.file("weighted.csv", text);
    let fit = bench.json("fit weighted.csv -k 1 --weights w --lambda 0.1 --json");
    let (names, table) = columns(&bench.read("weighted.csv"));
    close(fit["objective"].as_f64().unwrap(), recomputed(&fit, &names, &table, Some(&table[2]), false));
    assert_eq!((fit["p"].as_u64(), &fit["feature_names"][0]), (Some(2), &Value::from("a")));
}

#[test]
fn the_json_object_has_every_field() {
    let bench = Bench::with_data();
    let fit = bench.json("fit data.csv -k 3 --json");
    let fields = [
        "objective",
        "loss",
        "lambda",
        "k",
        "solver",
        "support",
        "coefficients",
        "intercept",
        "feature_names",
        "iterations",
        "status",
        "seconds",
        "read_seconds",
        "n",
        "p",
    ];
    for field in fields {
        assert!(!fit[field].is_null(), "{field}");
    }
    assert_eq!((fit["n"].as_u64(), fit["p"].as_u64(), fit["k"].as_u64()), (Some(80), Some(30), Some(3)));
    assert_eq!((&fit["loss"], &fit["solver"], fit["lambda"].as_f64()), (&"squared".into(), &"auto".into(), Some(0.0)));
}

#[test]
fn the_truth_is_found_and_every_solver_runs() {
    let bench = Bench::with_data();
    bench.ok(
        "simulate linear --rows 80 --cols 30 --nonzeros 3 --correlation 0.5 --seed 5 -o data.csv --truth truth.json",
    );
    let truth: Value = serde_json::from_str(&bench.read("truth.json")).unwrap();
    let expected: Vec<u64> =
        truth["coefficients"].as_array().unwrap().iter().map(|c| c["column"].as_u64().unwrap()).collect();
    for solver in ["auto", "grahtp", "fgrahtp", "htp", "iht", "grasp", "fbs", "foba"] {
        let fit = bench.json(&format!("fit data.csv -k 3 --solver {solver} --json"));
        assert_eq!(fit["solver"], solver);
        assert_eq!(fit["support"], Value::from(expected.clone()), "{solver}");
    }
}

#[test]
fn the_loss_follows_the_target() {
    let bench = Bench::with_data();
    let of = |line: &str| bench.json(&format!("{line} --json"))["loss"].as_str().unwrap().to_string();
    assert_eq!(of("fit data.csv -k 2"), "squared");
    assert_eq!(of("fit labels.csv -k 2"), "logistic");
    bench.file("ones.svm", "1 1:1\n2 1:2 2:1\n1 2:3\n2 1:5\n");
    assert_eq!(of("fit ones.svm -k 1"), "logistic");
    bench.file("halves.svm", "1.5 1:1\n2 1:2 2:1\n1.5 2:3\n2 1:5\n");
    assert_eq!(of("fit halves.svm -k 1"), "squared");
    assert_eq!(of("fit halves.svm -k 1 --loss squared-hinge"), "squared-hinge");
    let shown = bench.ok("fit labels.csv -k 2");
    assert!(shown.contains("logistic (the target holds words)") && shown.contains("no is -1, yes is +1"), "{shown}");
    // Class numbers are numbers, with a word of warning.
    let rows: String = (0..60).map(|i| format!("{} 1:{} 2:{}\n", 1 + i % 3, i, i * i % 7)).collect();
    bench.file("classes.svm", rows);
    let done = bench.run("fit classes.svm -k 1");
    assert!(done.code == 0 && done.stderr.contains("--positive"), "{}", done.stderr);
    assert_eq!(of("fit classes.svm -k 1 --positive 2:3"), "logistic");
}

#[test]
fn limits_end_a_fit_with_the_best_so_far() {
    let bench = Bench::with_data();
    let endless = "fit data.csv -k 3 --solver fgrahtp --step 1e-9 --tol 0 --json";
    assert_eq!(bench.json(&format!("{endless} --max-iter 7"))["iterations"], 7);
    assert_eq!(bench.json(&format!("{endless} --max-iter 7"))["status"], "max-iterations");
    assert_eq!(bench.json(&format!("{endless} --time-limit 0"))["status"], "time-limit");
}

#[test]
fn traces_and_models_are_written() {
    let bench = Bench::with_data();
    bench.ok("fit data.csv -k 3 --solver fbs -o model.json --trace trace.csv");
    let (names, table) = columns(&bench.read("trace.csv").replace(",,", ",0,"));
    assert_eq!(names.join(","), "iteration,objective,entered,left,step,refits,seconds");
    assert_eq!(table[0], [1.0, 2.0, 3.0]);
    let model: Value = serde_json::from_str(&bench.read("model.json")).unwrap();
    assert_eq!((&model["format"], &model["version"]), (&"ksparse-model".into(), &1.into()));
    assert_eq!(model["objective"].as_f64(), table[1].last().copied());
    assert_eq!(model["coefficients"].as_array().unwrap().len(), 3);
}

#[test]
fn threads_and_verbosity_change_no_bit() {
    let bench = Bench::with_data();
    let of = |options: &str| {
        let mut fit = bench.json(&format!("fit data.csv -k 5 --json {options}"));
        fit["seconds"] = 0.into();
        fit["read_seconds"] = 0.into();
        fit
    };
    assert_eq!(of("--threads 1"), of("--threads 3"));
    assert_eq!(of("--quiet"), of("--verbose"));
}

#[test]
fn every_iteration_is_told_once_with_its_columns() {
    let bench = Bench::with_data();
    for line in [
        "fit data.csv -k 3",
        "fit labels.csv -k 3",
        "fit data.csv -k 3 --solver htp",
        "fit data.csv -k 3 --solver diht --lambda 0.1",
    ] {
        let done = bench.run(&format!("{line} --verbose --json"));
        let report: Value = serde_json::from_str(&done.stdout).unwrap();
        let told: Vec<&str> = done.stderr.lines().filter(|line| line.starts_with("iteration ")).collect();
        assert_eq!(told.len() as u64, report["iterations"].as_u64().unwrap(), "{line}\n{}", done.stderr);
        assert!(told.last().unwrap().contains(", 3 columns"), "{line}\n{}", done.stderr);
    }
}

#[test]
fn too_large_a_k_means_all() {
    let bench = Bench::with_data();
    let done = bench.run("fit data.csv -k 1000 --json");
    assert!(done.stderr.contains("k = 1000 is more than the 30 columns: taking all of them"), "{}", done.stderr);
    let fit: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((done.code, fit["k"].as_u64()), (0, Some(30)));
    assert_eq!(bench.run("fit data.csv -k 1000 --quiet").stderr, "");
    assert_eq!(bench.json("fit data.csv -k 0 --json")["support"], Value::Array(Vec::new()));
}

#[test]
fn columns_can_be_kept_by_name_or_number() {
    let bench = Bench::with_data();
    for keep in ["x20,x21", "20,21"] {
        let fit = bench.json(&format!("fit data.csv -k 1 --keep {keep} --json"));
        let support = indices(&fit["support"]);
        assert!(support.len() == 3 && support.contains(&19) && support.contains(&20), "{support:?}");
    }
}

#[test]
fn standard_input_is_a_file() {
    use std::io::Write;
    use std::process::Stdio;
    let bench = Bench::with_data();
    let mut child = bench
        .command("fit - -k 3 --json")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bench.read("data.csv").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let piped: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(piped["coefficients"], bench.json("fit data.csv -k 3 --json")["coefficients"]);
}

#[test]
fn solvers_on_samples_take_their_own_options() {
    let bench = Bench::with_data();
    let fit = |options: &str| {
        let mut fit = bench.json(&format!("fit data.csv -k 4 --lambda 0.5 --json {options}"));
        fit["seconds"] = 0.into();
        fit["read_seconds"] = 0.into();
        fit
    };
    for options in ["--solver sdiht --blocks 7", "--solver svrght --batch 5", "--solver diht --step 0.1"] {
        assert_eq!(fit(options), fit(&format!("{options} --threads 2")), "{options}");
    }
    assert_ne!(fit("--solver sdiht --blocks 7 --max-iter 2"), fit("--solver sdiht --blocks 9 --max-iter 2"));
    for (options, named) in [
        ("--blocks 3", "--solver sdiht"),
        ("--solver diht --batch 3", "--solver svrght"),
        ("--solver svrght --step theory", "--step"),
        ("--solver sdiht --blocks 0", "--blocks"),
        ("--solver svrght --batch x", "--batch"),
    ] {
        let done = bench.run(&format!("fit data.csv -k 4 --lambda 0.5 {options}"));
        assert!(done.code != 0 && done.stderr.contains(named), "{options}: {}", done.stderr);
    }
    let done = bench.run("fit data.csv -k 4 --lambda 0 --solver diht");
    assert!(done.code != 0 && done.stderr.contains("lambda"), "{}", done.stderr);
}

/// Sixteen million columns, two of them with entries: vectors over all columns, of which a search holds many, are 128
/// MB each.
#[cfg(target_os = "linux")]
#[test]
fn empty_columns_cost_next_to_nothing() {
    let bench = Bench::new();
    bench.file("wide.svm", "1 1:1\n-1 16777216:2\n1 1:2\n-1 16777216:1\n");
    let ways = [
        "--no-intercept --loss squared",
        "--loss logistic",
        "--loss hinge --lambda 0.1",
        "--loss squared --standardize",
    ];
    for options in ways {
        let fit = format!("fit wide.svm -k 2 --threads 1 --json -q {options}");
        // The reader leaves half of the address space to others.
        let done = bench.run_after("ulimit -v 1250000", &fit);
        assert_eq!(done.code, 0, "{options}: {}", done.stderr);
        let found: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(found["coefficients"].as_array().unwrap().len(), 2, "{options}: {}", done.stdout);
    }
}

#[test]
fn groups_are_in_or_out_as_a_whole() {
    let bench = Bench::with_data();
    bench.file("groups.txt", "# pairs\nx1, x2\n\nx3,4\n-1,x6\n");
    for solver in ["auto", "fbs", "foba", "grahtp", "diht", "svrght"] {
        let found =
            bench.json(&format!("fit data.csv -k 2 --lambda 0.01 --groups groups.txt --solver {solver} --json"));
        let support: Vec<u64> = found["support"].as_array().unwrap().iter().map(|j| j.as_u64().unwrap()).collect();
        for pair in [[0, 1], [2, 3]] {
            let inside = pair.iter().filter(|j| support.contains(j)).count();
            assert_ne!(inside, 1, "{solver}: {support:?}");
        }
    }
    let path = bench.json("path data.csv -k 1:3 --groups groups.txt --json");
    assert!(path["path"].as_array().is_some_and(|cells| cells.len() == 3), "{path}");
    let chosen = bench.json("fit data.csv -k auto --groups groups.txt --json");
    let support: Vec<u64> = chosen["support"].as_array().unwrap().iter().map(|j| j.as_u64().unwrap()).collect();
    assert!([[0, 1], [2, 3]].iter().all(|pair| support.contains(&pair[0]) == support.contains(&pair[1])), "{chosen}");
    for (text, complaint) in [("x1,x2\nx2,x3\n", "stands twice"), ("x1,nobody\n", "nobody"), ("x1,,x2\n", "empty")] {
        bench.file("wrong.txt", text);
        let done = bench.run("fit data.csv -k 2 --groups wrong.txt");
        assert!(done.code == 2 && done.stderr.contains(complaint), "{}", done.stderr);
    }
    let proven = bench.json("fit data.csv -k 2 --groups groups.txt --solver exact --lambda 0.1 --json");
    let found = bench.json("fit data.csv -k 2 --groups groups.txt --lambda 0.1 --json");
    assert_eq!(proven["status"], "optimal", "{proven}");
    assert!(proven["objective"].as_f64().unwrap() <= found["objective"].as_f64().unwrap() * (1.0 + 1e-9), "{proven}");
}

#[test]
fn counts_and_positive_numbers_with_an_offset() {
    let bench = Bench::new();
    let rows: Vec<(f64, f64, f64)> =
        (0..60).map(|i| f64::from(i) * 0.37).map(|t| (t.sin(), (2.1 * t).cos(), 0.2 * t)).collect();
    let mut text = String::from("y,a,b,c,exposure\n");
    for (i, (a, b, o)) in rows.iter().enumerate() {
        let y = ((0.9 * a + 0.5 * o).exp() + f64::from(i as u32 % 2)).floor();
        text.push_str(&format!("{y},{a},{b},{},{o}\n", a * b));
    }
    bench.file("counts.csv", &text);
    let fit = bench.json("fit counts.csv -k 2 --loss poisson --offset exposure --lambda 0.01 --json -o model.json");
    let (support, w) = (indices(&fit["support"]), numbers(&fit["coefficients"]));
    let intercept = fit["intercept"].as_f64().unwrap();
    let (_, columns) = columns(&text);
    let mut mean = 0.0;
    for i in 0..rows.len() {
        let z = intercept + columns[4][i] + support.iter().zip(&w).map(|(&j, w)| columns[j + 1][i] * w).sum::<f64>();
        let y = columns[0][i];
        mean += (z.exp() - y * z + if y > 0.0 { y * y.ln() } else { 0.0 } - y) / rows.len() as f64;
    }
    let expected = mean + 0.005 * w.iter().map(|w| w * w).sum::<f64>();
    let found = fit["objective"].as_f64().unwrap();
    assert!((found - expected).abs() <= 1e-9 * expected, "{found} against {expected}");
    // The model knows its offset; means are predicted, or the linear predictor if that is asked for.
    let means = bench.json("predict model.json counts.csv --json");
    let scores = bench.json("predict model.json counts.csv --json --decision");
    for (mean, z) in numbers(&means["predictions"]).iter().zip(numbers(&scores["predictions"])) {
        assert!((mean.ln() - z).abs() < 1e-9, "{mean} {z}");
    }
    for (options, complaint) in [
        ("--loss gamma", "above 0"),
        ("--loss poisson --offset nobody", "nobody"),
        ("--loss poisson --target a", "not negative"),
        ("--loss logistic --positive 0 --offset exposure", "takes no offset"),
        ("--loss squared --robust-width 2", "--loss robust"),
    ] {
        let done = bench.run(&format!("fit counts.csv -k 1 {options}"));
        assert!(done.code == 2 && done.stderr.contains(complaint), "{options}: {}", done.stderr);
    }
    bench.ok("path counts.csv -k 0:3 --loss poisson --offset exposure --cv 4");
    bench.ok("fit counts.csv -k 2 --loss robust --robust-width 0.5 --offset exposure");
}
