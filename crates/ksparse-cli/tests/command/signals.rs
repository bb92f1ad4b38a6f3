//! Pipes that close and keys that interrupt.

#![cfg(unix)]

use crate::bench::{Bench, Done};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

#[test]
fn a_closed_pipe_is_success() {
    let bench = Bench::with_data();
    bench.ok("fit data.csv -k 3 -o model.json");
    // More than a pipe holds.
    bench.ok("simulate linear --rows 20000 --cols 30 -o many.csv");
    for line in [
        "predict model.json many.csv",
        "simulate linear --rows 5000 --cols 50",
        "convert many.csv - --to csv",
        "--help",
    ] {
        let mut child = bench.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        let mut first = [0u8; 16];
        out.read_exact(&mut first).unwrap();
        drop(out);
        let done = Done::from(child.wait_with_output().unwrap());
        assert_eq!((done.code, done.stderr.contains("panicked")), (0, false), "ksparse {line}\n{}", done.stderr);
        assert!(!done.stderr.contains("error"), "ksparse {line}\n{}", done.stderr);
    }
}

#[test]
fn an_interrupt_reports_the_best_so_far() {
    let bench = Bench::with_data();
    // Steps too short to arrive anywhere, and no end of them.
    let line =
        "fit data.csv -k 3 --solver fgrahtp --step 1e-12 --tol 0 --max-iter 1000000000 --verbose --json -o model.json";
    let mut child = bench.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    told.read_line(&mut first).unwrap();
    assert!(first.starts_with("iteration 1:"), "{first}");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let drained = std::thread::spawn(move || std::io::copy(&mut told, &mut std::io::sink()));
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drained.join().unwrap().unwrap();
    let fit: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(fit["status"], "stopped");
    assert_eq!(bench.json("show model.json --json")["status"], "stopped");
}
