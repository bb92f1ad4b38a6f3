//! Where outputs go: through open files and links, never over an input, and never half.

#![cfg(unix)]

use crate::bench::{Bench, Done};
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Runs a line with standard output appended to a file.
fn appended(bench: &Bench, line: &str, file: &str) -> Done {
    let log = OpenOptions::new().create(true).append(true).open(bench.path(file)).unwrap();
    Done::from(bench.command(line).stdout(log).stderr(Stdio::piped()).output().unwrap())
}

fn refused(bench: &Bench, line: &str, says: &str) {
    let done = bench.run(line);
    assert!(done.code == 2 && done.stderr.contains(says), "ksparse {line}\n{}{}", done.stdout, done.stderr);
}

#[test]
fn standard_output_by_any_name_is_appended_to() {
    let bench = Bench::with_data();
    let plain = bench.ok("convert data.csv - --to csv");
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        bench.file("log", "before\n");
        let done = appended(&bench, &format!("convert data.csv {name} --to csv"), "log");
        assert_eq!((done.code, bench.read("log")), (0, format!("before\n{plain}")), "{name}");
    }
    // The model, then the table: neither is lost.
    let done = appended(&bench, "fit data.csv -k 3 -o /dev/stdout", "fit");
    let text = bench.read("fit");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(text.starts_with("{\n") && text.contains("ksparse-model") && text.contains("(intercept)"), "{text}");
    // Also where a file is written from its start.
    let from_start = fs::File::create(bench.path("fresh")).unwrap();
    assert!(bench.command("fit data.csv -k 3 -o /dev/stdout").stdout(from_start).status().unwrap().success());
    let lines = |text: &str| text.lines().filter(|line| !line.contains(" time ")).count();
    assert_eq!(lines(&bench.read("fresh")), lines(&text));
    // A file that standard output goes to already.
    let done = appended(&bench, "fit data.csv -k 3 -o fit", "fit");
    assert!(done.code == 2 && done.stderr.contains("standard output"), "{}", done.stderr);
    assert_eq!(bench.read("fit"), text);
}

#[test]
fn a_dangling_link_is_followed() {
    let bench = Bench::with_data();
    symlink("real.json", bench.path("link.json")).unwrap();
    bench.ok("fit data.csv -k 3 -o link.json");
    assert!(fs::symlink_metadata(bench.path("link.json")).unwrap().is_symlink());
    assert!(bench.read("real.json").contains("ksparse-model"));
}

#[test]
fn an_output_is_never_an_input() {
    let bench = Bench::with_data();
    bench.ok("fit data.csv -k 3 -o model.json");
    fs::hard_link(bench.path("data.csv"), bench.path("hard.csv")).unwrap();
    symlink("data.csv", bench.path("soft.csv")).unwrap();
    let (data, model) = (bench.read("data.csv"), bench.read("model.json"));
    for output in ["data.csv", "./data.csv", "hard.csv", "soft.csv"] {
        refused(&bench, &format!("fit data.csv -k 3 -o {output}"), "read as data.csv");
        refused(&bench, &format!("predict model.json data.csv -o {output}"), "read as data.csv");
        refused(&bench, &format!("convert data.csv {output}"), "read as data.csv");
    }
    refused(&bench, "fit data.csv -k 3 --trace data.csv", "read as data.csv");
    refused(&bench, "path data.csv -k 1:3 -o data.csv", "read as data.csv");
    refused(&bench, "graph data.csv -k 3 -o hard.csv", "read as data.csv");
    refused(&bench, "predict model.json data.csv -o model.json", "read as model.json");
    refused(&bench, "split data.csv --test-output data.csv", "read as data.csv");
    refused(&bench, "split data.csv --train-output a.csv --test-output ./a.csv", "written as a.csv");
    refused(&bench, "fit data.csv -k 3 -o same --trace same", "written as same");
    assert_eq!((bench.read("data.csv"), bench.read("model.json")), (data, model));
    assert!(!bench.path("a.csv").exists() && !bench.path("same").exists());
}

#[test]
fn a_link_planted_beside_an_output_is_left_alone() {
    let bench = Bench::with_data();
    bench.file("precious", "old");
    // A name that could be foreseen once: the number of the process is the shell's.
    let done = bench.run_after("ln -s precious .out.csv.$$-0.tmp", "convert data.csv out.csv");
    assert_eq!((done.code, bench.read("precious").as_str()), (0, "old"), "{}", done.stderr);
    assert!(fs::symlink_metadata(bench.path("out.csv")).unwrap().is_file());
    assert_eq!(bench.read("out.csv"), bench.read("data.csv"));
}

/// A conversion that takes some seconds, caught with its file half written.
fn converting(bench: &Bench) -> Child {
    let mut child =
        bench.command("convert big.csv big.csv.xz").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while !bench.files().iter().any(|name| name.ends_with(".tmp")) {
        assert!(
            started.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none(),
            "never began to write"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn a_signal_ends_a_conversion_and_leaves_nothing() {
    let bench = Bench::new();
    bench.ok("simulate linear --rows 3000 --cols 300 -o big.csv");
    for signal in ["-TERM", "-INT"] {
        let mut child = converting(&bench);
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert_eq!(bench.files(), ["big.csv"], "{signal}");
    }
}

#[test]
fn a_second_interrupt_leaves_nothing_either() {
    let bench = Bench::new();
    bench.ok("simulate linear --rows 3000 --cols 300 -o big.csv");
    let mut child = converting(&bench);
    let interrupt = || Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success();
    // Not yet waited for, the process is there to be signalled even when the first has ended it.
    assert!(interrupt());
    std::thread::sleep(Duration::from_millis(20));
    assert!(interrupt());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(bench.files(), ["big.csv"]);
}

#[test]
fn a_file_larger_than_allowed_is_an_error() {
    let bench = Bench::with_data();
    let done = bench.run_after("ulimit -f 8", "convert data.csv out.mtx");
    assert!(done.code == 1 && done.stderr.contains("out.mtx: cannot write"), "{} {}", done.code, done.stderr);
    assert!(bench.files().iter().all(|name| !name.ends_with(".tmp") && name != "out.mtx"), "{:?}", bench.files());
}

#[test]
fn mapped_files_come_through_pipes_and_fifos() {
    let bench = Bench::with_data();
    bench.ok("convert data.csv data.ksb");
    let fit = "-k 3 --json -q";
    let support = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["coefficients"].clone();
    let expected = support(&bench.ok(&format!("fit data.ksb {fit}")));
    assert_eq!(support(&bench.ok(&format!("fit data.ksb --no-mmap {fit}"))), expected);
    assert!(Command::new("mkfifo").arg(bench.path("fifo")).status().unwrap().success());
    let bytes = fs::read(bench.path("data.ksb")).unwrap();
    let (fifo, copy) = (bench.path("fifo"), bytes.clone());
    let writer = std::thread::spawn(move || fs::write(fifo, copy).unwrap());
    assert_eq!(support(&bench.ok(&format!("fit fifo {fit}"))), expected);
    writer.join().unwrap();
    let mut child = bench.command(&format!("fit /dev/stdin {fit}"));
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &bytes).unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(support(&text), expected);
}

/// Mapped, it would end the command (SIGBUS).
#[test]
fn a_file_read_into_memory_may_be_cut_during_a_fit() {
    let bench = Bench::with_data();
    bench.ok("convert data.csv data.ksb");
    // Steps too short to arrive anywhere, and no end of them.
    let line = "fit data.ksb --no-mmap -k 3 --solver fgrahtp --step 1e-12 --tol 0 --max-iter 1000000000 --verbose";
    let mut child = bench.command(line).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines().map(|line| line.unwrap());
    let at = |line: String| line.strip_prefix("iteration ").and_then(|line| line.split(':').next()?.parse().ok());
    let first: usize = told.find_map(at).unwrap();
    bench.file("data.ksb", "");
    // Further on than what the pipe may hold from before.
    assert!(told.filter_map(at).any(|later: usize| later > first + 10_000));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_damaged_file_is_told_from_a_sound_one() {
    let bench = Bench::with_data();
    bench.ok("convert data.csv data.ksb");
    bench.ok("convert data.csv data.ksb.zst");
    assert!(bench.ok("verify data.ksb").contains("all checksums match"));
    bench.ok("verify data.ksb.zst");
    let mut bytes = fs::read(bench.path("data.ksb")).unwrap();
    bytes[192 + 1000] ^= 1;
    bench.file("bad.ksb", &bytes);
    // Opening it does not look at values; this does.
    refused(&bench, "verify bad.ksb", "the checksum of the values does not match");
    bench.file("short.ksb", &bytes[..bytes.len() / 2]);
    refused(&bench, "verify short.ksb", "ends too early");
    refused(&bench, "verify data.csv", "no .ksb file");
    // A checksum in the compressed form too.
    let mut bytes = fs::read(bench.path("data.ksb.zst")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    bench.file("bad.ksb.zst", &bytes);
    refused(&bench, "fit bad.ksb.zst -k 1", "damaged");
}
