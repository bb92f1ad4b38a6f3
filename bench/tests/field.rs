//! The machinery of the comparison on small problems, without peers and without a network.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn bench(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ksparse-bench")).args(words).output().unwrap()
}

fn field(dir: &Path, more: &[&str]) -> Output {
    let (work, out) = (dir.join("work"), dir.join("field.json"));
    let mut words = vec!["field", "--tiny", "--work", work.to_str().unwrap(), "--out", out.to_str().unwrap()];
    words.extend(more);
    bench(&words)
}

#[test]
fn a_run_without_peers_has_rows_tables_and_figures_and_resumes() {
    let dir = tempfile::tempdir().unwrap();
    let output = field(dir.path(), &["--about", "date=today"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results: Value = serde_json::from_str(&fs::read_to_string(dir.path().join("field.json")).unwrap()).unwrap();
    let rows = results["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    for row in rows {
        assert_eq!((row["outcome"].as_str(), row["solver"].as_str()), (Some("ok"), Some("ksparse")), "{row}");
        for measured in ["cpu", "wall", "cold_cpu", "cold_wall", "peak", "reported"] {
            assert!(row[measured].as_f64().is_some_and(f64::is_finite), "{measured} of {row}");
        }
    }
    let page = fs::read_to_string(dir.path().join("field.md")).unwrap();
    assert!(page.contains("- date: today") && page.contains("## tiny-network"), "{page}");
    assert!(fs::read_to_string(dir.path().join("field.svg")).unwrap().starts_with("<svg"));

    // Finished data sets are kept, a missing one is done again, half of a file never stays.
    let cells = dir.path().join("work/field");
    let stamp = |name: &str| fs::metadata(cells.join(name)).unwrap().modified().unwrap();
    let before = stamp("tiny-text-1.json");
    fs::remove_file(cells.join("tiny-linear-1.json")).unwrap();
    assert!(field(dir.path(), &["--resume"]).status.success());
    assert_eq!(stamp("tiny-text-1.json"), before);
    let names: Vec<PathBuf> = fs::read_dir(&cells).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(names.len() == 5 && names.iter().all(|name| name.extension().unwrap() == "json"), "{names:?}");
}

#[test]
fn bad_requests_say_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    for (more, said) in [
        (vec!["--only", "e1-nonsense"], "tiny-logistic, tiny-linear"),
        (vec!["--data"], "--data needs a value"),
        (vec!["--nonsense"], "unknown option --nonsense"),
    ] {
        let output = field(dir.path(), &more);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && stderr.contains(said), "{stderr}");
    }
    let place = dir.path().join("rcv1");
    let output = bench(&["data", "rcv1-file", "1", place.to_str().unwrap(), "0"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("needs --data"), "{output:?}");
}

/// An interpreter with NumPy and SciPy, if there is one.
fn python() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let candidates = [root.join(".venv/bin/python"), root.join("../.venv/bin/python"), "python3".into()];
    let works = |python: &PathBuf| {
        Command::new(python).args(["-c", "import numpy, scipy"]).output().is_ok_and(|output| output.status.success())
    };
    candidates.into_iter().find(works)
}

/// The judge is an independent computation: it must find what ksparse claims, at the coefficients and after a refit on
/// their support.
#[test]
fn the_judge_agrees_with_what_ksparse_reports() {
    let Some(python) = python() else {
        eprintln!("skipped: no Python with NumPy and SciPy");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    for name in ["tiny-logistic", "tiny-linear", "tiny-text", "tiny-network"] {
        let place = dir.path().join(name);
        assert!(bench(&["data", name, "3", place.to_str().unwrap(), "50"]).status.success());
        let output = bench(&["fit", place.to_str().unwrap(), "auto", "1", "1"]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut judge = Command::new(&python)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("python/judge.py"))
            .arg(&place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        judge.stdin.take().unwrap().write_all(serde_json::json!({"own": answer}).to_string().as_bytes()).unwrap();
        let scores: Value = serde_json::from_slice(&judge.wait_with_output().unwrap().stdout).unwrap();
        let score = &scores["own"];
        let reported = answer["reported"].as_f64().unwrap();
        for (key, tolerance) in [("as_returned", 1e-9), ("value", 1e-6)] {
            let found = score[key].as_f64().unwrap();
            assert!(
                (found - reported).abs() <= tolerance * reported.abs(),
                "{name}: {key} {found}, reported {reported}"
            );
        }
        for key in ["precision", "recall", "test", "test_returned", "estimation", "estimation_returned"] {
            assert!(score[key].as_f64().is_some_and(|v| v >= 0.0), "{name}: {key} in {score}");
        }
    }
}
