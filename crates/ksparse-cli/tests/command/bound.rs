//! `--certify`, `--solver exact`, `--plot-gap`: bounds that hold, in numbers, words and pictures.

use crate::bench::{Bench, columns};

#[test]
fn a_certificate_adds_its_fields() {
    let bench = Bench::with_data();
    let plain = bench.json("fit data.csv -k 3 --lambda 0.1 --json");
    assert!(plain.get("lower_bound").is_none() && plain.get("certified").is_none());
    let fit = bench.json("fit data.csv -k 3 --lambda 0.1 --json --certify");
    let number = |name: &str| fit[name].as_f64().unwrap();
    let (f, bound, gap) = (number("objective"), number("lower_bound"), number("gap"));
    assert_eq!(plain["objective"], fit["objective"]);
    assert!(bound <= f && (gap - (f - bound)).abs() < 1e-9 * f, "{fit}");
    assert!((number("relative_gap") - gap / f).abs() < 1e-9 && number("certify_seconds") >= 0.0);
    assert!(bound <= number("relaxation") && number("relaxation") <= f, "{fit}");
    assert_eq!(fit["certified"], number("relative_gap") <= 1e-6);
    // With seconds, before or after the file.
    for words in ["fit data.csv --certify 5 -k 3", "fit --certify=5 data.csv -k 3", "fit -k 3 --certify 5 data.csv"] {
        assert_eq!(bench.json(&format!("{words} --lambda 0.1 --json"))["lower_bound"], fit["lower_bound"], "{words}");
    }
    // No time: the bound of the fit's own dual vector.
    assert!(bench.json("fit data.csv -k 3 --lambda 0.1 --json --certify 0")["lower_bound"].as_f64().unwrap() <= bound);
    let text = bench.ok("fit data.csv -k 3 --lambda 0.1 --certify");
    assert!(text.contains("no model with 3 coefficients") && text.contains("gap"), "{text}");
}

#[test]
fn exact_proves_what_it_returns() {
    let bench = Bench::with_data();
    let fit = bench.json("fit data.csv -k 4 --lambda 0.2 --solver exact --trace trace.csv --plot-gap gap.svg --json");
    assert_eq!((fit["status"].as_str(), fit["certified"].as_bool()), (Some("optimal"), Some(true)), "{fit}");
    assert!(fit["relative_gap"].as_f64().unwrap() <= 1e-6);
    let auto = bench.json("fit data.csv -k 4 --lambda 0.2 --json");
    assert!(fit["objective"].as_f64().unwrap() <= auto["objective"].as_f64().unwrap() * (1.0 + 1e-9));
    let (names, table) = columns(&bench.read("trace.csv").replace(",,", ",0,"));
    assert_eq!(names[7..], ["bound", "gap"]);
    assert!((0..table[0].len()).all(|row| table[7][row] <= table[1][row]));
    assert!(bench.read("gap.svg").starts_with("<svg"));
    // Least squares of full rank need no ridge.
    for line in ["fit labels.csv -k 2 --lambda 0.1 --solver exact", "fit data.csv -k 3 --solver exact"] {
        let text = bench.ok(line);
        assert!(text.contains("proven optimal"), "{text}");
    }
}

/// Branch and bound that may stop at half of f has not proven what it stopped at.
#[test]
fn a_proof_is_said_with_the_gap_it_leaves() {
    let bench = Bench::with_data();
    let line = "fit data.csv -k 4 --lambda 0.2 --solver exact --tol 0.5";
    let fit = bench.json(&format!("{line} --json"));
    let number = |name: &str| fit[name].as_f64().unwrap();
    assert!((0.01..0.5).contains(&number("relative_gap")) && fit["certified"] == false, "{fit}");
    assert!(number("lower_bound") < 0.99 * number("objective"), "{fit}");
    let text = bench.ok(line);
    assert!(text.contains("to the tolerance") && text.contains("lower by at most that"), "{text}");
    assert!(!text.contains("proven optimal"), "{text}");
}

#[test]
fn what_cannot_be_bounded_is_said() {
    let bench = Bench::with_data();
    for (words, hint) in [
        ("fit data.csv -k 3 --certify", "--lambda"),
        ("fit labels.csv -k 2 --lambda 0 --solver exact", "--lambda"),
        ("fit data.csv -k 3 --lambda 0.1 --plot-gap gap.svg", "--certify"),
        ("fit -k 3 --lambda 0.1 --certify data.csv", "write --certify last"),
        ("fit data.csv -k 3 --lambda 0.1 --certify -1", "0 or more"),
    ] {
        let done = bench.run(words);
        assert_eq!(done.code, 2, "{words}: {}", done.stderr);
        assert!(done.stderr.contains(hint), "{words}: {}", done.stderr);
    }
    assert!(!bench.files().contains(&"gap.svg".to_string()));
}
