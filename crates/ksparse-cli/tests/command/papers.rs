//! What the papers have, from the command: starting points, dual vectors, scales, networks by ADM, theorems.

use crate::bench::Bench;
use serde_json::Value;

/// 200 samples of 12 variables with a sparse precision matrix.
fn network() -> Bench {
    let bench = Bench::new();
    bench.ok("simulate precision --rows 200 --cols 12 -o data.csv");
    bench
}

fn number(object: &Value, key: &str) -> f64 {
    object[key].as_f64().unwrap_or_else(|| panic!("{key} in {object}"))
}

#[test]
fn a_fit_starts_where_it_is_told_to() {
    let bench = Bench::with_data();
    bench.ok("fit data.csv -k 4 --solver grahtp -o model.json");
    // A fixed point of the method: one look, and nothing moves.
    let again = bench.json("fit data.csv -k 4 --solver grahtp --published --start model.json --max-iter 1 --json");
    let first = bench.json("fit data.csv -k 4 --solver grahtp --published --max-iter 1 --json");
    let model: Value = serde_json::from_str(&bench.read("model.json")).unwrap();
    assert!((number(&again, "objective") / number(&model, "objective") - 1.0).abs() < 1e-9);
    assert!(number(&first, "objective") > number(&model, "objective"));
    bench.file("narrow.csv", "a,y\n1,2\n2,4\n3,7\n");
    for (line, named) in [
        ("fit data.csv -k 4 --start none.json", "none.json"),
        ("fit narrow.csv -k 1 --start model.json", "same columns"),
        ("fit data.csv -k auto --start model.json", "--start"),
    ] {
        let done = bench.run(line);
        assert!(done.code == 2 && done.stderr.contains(named), "{line}: {}", done.stderr);
    }
}

#[test]
fn dual_ascent_writes_its_vector() {
    let bench = Bench::with_data();
    let line = "fit data.csv -k 4 --lambda 0.5 --no-intercept --solver diht";
    let fit = bench.json(&format!("{line} --dual dual.txt --json"));
    let a: Vec<f64> = bench.read("dual.txt").lines().map(|line| line.parse().unwrap()).collect();
    let y: Vec<f64> = {
        let text = bench.read("data.csv");
        let at = text.lines().next().unwrap().split(',').position(|name| name == "y").unwrap();
        text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect()
    };
    assert_eq!(a.len(), y.len());
    // D(a) = -mean(a^2 / 2 + a y) - lambda/2 ||w(a)||^2 is no more than its first part, and no less than the bound.
    let conjugate = -a.iter().zip(&y).map(|(a, y)| 0.5 * a * a + a * y).sum::<f64>() / y.len() as f64;
    assert!(conjugate >= number(&fit, "lower_bound"));
    // Strong duality, as numbers: at a fit that leaves no gap the smallest coefficient is no less than the largest
    // gradient outside, over lambda; at one that leaves a gap it is less.
    for (lambda, closes) in [(100, true), (1, false)] {
        let fit = bench.json(&format!("fit data.csv -k 2 --lambda {lambda} --no-intercept --certify --json"));
        let (inside, outside) =
            (number(&fit["conditions"], "smallest_inside"), number(&fit["conditions"], "largest_outside"));
        assert_eq!((fit["certified"].as_bool(), inside >= outside), (Some(closes), closes), "{fit}");
    }
    let done = bench.run("fit data.csv -k 4 --dual dual.txt");
    assert!(done.code == 2 && done.stderr.contains("--solver diht"), "{}", done.stderr);
}

#[test]
fn losses_have_the_scales_of_the_papers() {
    let bench = Bench::with_data();
    // c (y - z)^2 / 2 with the ridge c lambda is c times the usual.
    let fit = |line: &str| bench.json(&format!("fit data.csv -k 4 --json {line}"));
    let (usual, paper) = (fit("--lambda 0.1"), fit("--lambda 0.2 --squared-scale 2"));
    assert_eq!((number(&usual, "squared_scale"), number(&paper, "squared_scale")), (1.0, 2.0));
    assert_eq!(usual["support"], paper["support"]);
    assert!((number(&paper, "objective") / number(&usual, "objective") - 2.0).abs() < 1e-9);
    bench.ok("fit data.csv -k 4 --lambda 0.2 --squared-scale 2 -o model.json");
    assert!(bench.read("model.json").contains("\"scale\": 2.0"));
    bench.ok("predict model.json data.csv --score");
}

#[test]
fn a_network_as_published() {
    let bench = network();
    let line = "graph data.csv -k 7 --solver grahtp --published --step 0.05 --json";
    let published = bench.json(&format!("{line} --trace trace.csv"));
    assert_eq!(
        (published["edges"].as_array().unwrap().len(), &published["solver"]),
        (7, &"grahtp as published".into())
    );
    let trace = bench.read("trace.csv");
    assert!(trace.starts_with("iteration,objective,entered,left,step,refits,seconds\n1,"), "{trace}");
    assert!(trace.lines().skip(1).all(|line| line.split(',').nth(4) == Some("0.05")), "{trace}");
    // Its parts: the minimum on the edges found is the same by either method.
    let newton = bench.json(&format!("{line} --inner newton"));
    assert!((number(&published, "objective") - number(&newton, "objective")).abs() < 1e-6);
    // Eigenvalues within bounds of one's own.
    let tight = bench.json("graph data.csv -k 7 --eigenvalues 0.8:1.4 --json");
    assert!(number(&tight, "objective") > number(&newton, "objective"));
    let wide = bench.json("graph data.csv -k 7 --xi 0.001 --json");
    assert!(number(&wide, "objective") < number(&tight, "objective"));
    for (options, named) in [("--eigenvalues 2:1", "ALPHA"), ("--xi 0", "--xi"), ("--inner qr", "newton, adm")] {
        let done = bench.run(&format!("graph data.csv -k 7 {options}"));
        assert!(done.code == 2 && done.stderr.contains(named), "{}", done.stderr);
    }
}

#[test]
fn the_graphical_lasso_is_there_to_compare_with() {
    let bench = network();
    let edges = |line: &str| bench.json(line)["edges"].as_array().unwrap().len();
    let (few, many) = (edges("graph data.csv --glasso 0.4 --json"), edges("graph data.csv --glasso 0.05 --json"));
    assert!(few < many && many <= 66, "{few} and {many}");
    let chosen = bench.json("graph data.csv --glasso 0.05,0.2,0.4 --cv 3 --json");
    assert_eq!(
        (chosen["choice"]["scores"].as_array().unwrap().len(), &chosen["solver"]),
        (3, &"graphical lasso".into())
    );
    let done = bench.run("graph data.csv -k 5 --glasso 0.1");
    assert!(done.code == 2 && done.stderr.contains("--glasso"), "{}", done.stderr);
}

#[test]
fn discriminant_analysis_as_published() {
    let bench = network();
    let text = bench.read("data.csv");
    let mut lines = text.lines();
    let mut labelled = format!("{},class\n", lines.next().unwrap());
    for (i, line) in lines.enumerate() {
        let shifted: Vec<String> = line
            .split(',')
            .map(|field| (field.parse::<f64>().unwrap() + if i % 2 == 0 { 1.5 } else { 0.0 }).to_string())
            .collect();
        labelled.push_str(&format!("{},{}\n", shifted.join(","), ["a", "b"][i % 2]));
    }
    bench.file("labelled.csv", labelled);
    let line = "lda labelled.csv --target class -k 7 --json";
    let published = bench.json(&format!("{line} --solver grahtp --published --step 0.05"));
    let adm = bench.json(&format!("{line} --solver grahtp --inner adm --xi 0.01"));
    for found in [&published, &adm] {
        assert!(number(found, "mcc") > 0.8, "{found}");
    }
}

#[test]
fn theorems_say_what_they_promise_and_what_not() {
    let bench = Bench::new();
    bench.ok("simulate sensing --rows 400 --cols 12 --nonzeros 2 -o data.csv");
    let survey = bench.json("theory data.csv -k 2 --no-intercept --json");
    assert!(survey["theorem_2"]["exact"].as_bool().unwrap() && number(&survey["theorem_2"], "rho") < 0.41);
    assert!(number(&survey["grahtp"], "factor") < 1.0 && number(&survey["fgrahtp"], "factor") < 1.0);
    assert!(survey["dual_ascent"]["vacuous"].as_str().unwrap().contains("lambda"));
    // The step is what the method takes.
    bench.ok("fit data.csv -k 2 --no-intercept --solver grahtp --step theory --trace trace.csv");
    let step: f64 = bench.read("trace.csv").lines().nth(1).unwrap().split(',').nth(4).unwrap().parse().unwrap();
    assert_eq!(number(&survey, "step"), step);
    let table = bench.ok("theory data.csv -k 2 --lambda 1e-3");
    assert!(table.contains("Condition C does not hold") && table.contains("m_4"), "{table}");
    bench.ok("simulate logistic --rows 60 --cols 8 --nonzeros 2 -o labels.csv");
    let huber = bench.json("theory labels.csv -k 2 --loss huber --huber-gamma 1 --lambda 20 --no-intercept --json");
    assert!(number(&huber["dual_ascent"], "c1") > 0.0 && !huber["dual_ascent"]["steps_until_useful"].is_null());
    let hinge = bench.run("theory labels.csv -k 2 --loss hinge --lambda 1");
    assert!(hinge.code == 2 && hinge.stderr.contains("second derivative"), "{}", hinge.stderr);
}
