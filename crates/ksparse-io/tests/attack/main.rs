//! An attack on every reader: seeds altered by a numbered rule, read in a process of at most 1 GB of address space.
//! Whatever the bytes, reading them is an error or gives a table that can be used: a panic, an abort or a case that
//! takes seconds is a failure, and its input is kept.
//!
//! ```text
//! cargo test -p ksparse-io --test attack the first thousands of cases, as every `cargo test` runs them cargo test -p
//! ksparse-io --test attack -- --seconds 600 as many as ten minutes allow: `make attack` cargo test -p ksparse-io
//! --test attack -- --from 1000000 --seconds 600 others cargo test -p ksparse-io --test attack -- --case 1234 one of
//! them, here and now
//! ```
//!
//! A child process runs the cases and tells each number before it begins; the parent watches it, and starts another
//! one behind a case that ended it.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used, dead_code)]

mod case;
#[path = "../../fuzz/lib.rs"]
mod fuzz;
mod mutate;

use case::Case;
use rustix::process::{Resource, Rlimit, setrlimit};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Cases of a plain `cargo test`: a few seconds.
const SLICE: u64 = 4000;
/// A case takes milliseconds; one that takes this long hangs, however busy the machine.
const HANGS: Duration = Duration::from_secs(20);
/// The address space of the child, stacks and libraries included.
const SPACE: u64 = 1 << 30;
/// Enough to look at.
const MOST_FAILURES: usize = 20;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    // Words that are not known belong to other tests of the same command line.
    let option = |name: &str| -> Option<u64> {
        let at = words.iter().position(|word| word == name)?;
        Some(words.get(at + 1)?.parse().expect("a number after the option"))
    };
    let from = option("--from").unwrap_or(0);
    if let Some(first) = option("--child") {
        child(first)
    } else if let Some(number) = option("--case") {
        limit();
        run(&Case::new(number, &fuzz::seeds::seeds().unwrap()));
        println!("case {number}: no failure");
    } else if words.iter().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    } else {
        let (deadline, last) = match option("--seconds") {
            Some(seconds) => (Some(Instant::now() + Duration::from_secs(seconds)), u64::MAX),
            None => (None, from + SLICE),
        };
        return watch(from, last, deadline);
    }
    ExitCode::SUCCESS
}

fn limit() {
    setrlimit(Resource::As, Rlimit { current: Some(SPACE), maximum: Some(SPACE) }).unwrap();
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).unwrap();
}

fn run(case: &Case) {
    let target = fuzz::TARGETS.iter().find(|(name, _)| *name == case.target).unwrap();
    target.1(&case.data);
}

/// Runs cases for ever, telling the number of each first.
fn child(first: u64) {
    limit();
    let seeds = fuzz::seeds::seeds().unwrap();
    let mut out = std::io::stdout();
    for number in first.. {
        let case = Case::new(number, &seeds);
        out.write_all(&number.to_le_bytes()).and_then(|()| out.flush()).unwrap();
        run(&case);
    }
}

/// A child from a case on, and the numbers it tells.
fn start(first: u64) -> (Child, Receiver<u64>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    // Two threads whatever the machine: each takes its part of the address space.
    command.args(["--child", &first.to_string()]).env("RAYON_NUM_THREADS", "2").stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut told = child.stdout.take().unwrap();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut number = [0; 8];
        while told.read_exact(&mut number).is_ok() && sender.send(u64::from_le_bytes(number)).is_ok() {}
    });
    (child, receiver)
}

/// Runs the cases from `first` until `last` or the deadline.
fn watch(first: u64, last: u64, deadline: Option<Instant>) -> ExitCode {
    let (started, mut next, mut failures) = (Instant::now(), first, 0);
    while next < last && deadline.is_none_or(|deadline| Instant::now() < deadline) && failures < MOST_FAILURES {
        let (mut child, told) = start(next);
        let mut current = None;
        let what = loop {
            match told.recv_timeout(HANGS) {
                Ok(number) => current = Some(number),
                Err(RecvTimeoutError::Timeout) => break Some("hangs".to_string()),
                Err(RecvTimeoutError::Disconnected) => break Some(format!("ends: {}", child.wait().unwrap())),
            }
            if current >= Some(last) || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break None;
            }
        };
        // It may be gone already.
        let _ = child.kill();
        let _ = child.wait();
        let number = current.expect("a child that runs a case");
        next = number + 1;
        if let Some(what) = what {
            failures += 1;
            let case = Case::new(number, &fuzz::seeds::seeds().unwrap());
            let file = keep(number, &case);
            eprintln!("case {number} ({}) {what}\n  its input: {}", case.target, file.display());
        }
    }
    println!("{} cases in {:.0} s, {failures} failures", next - first, started.elapsed().as_secs_f64());
    fuzz::clean();
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Saves the bytes of a case that failed.
fn keep(number: u64, case: &Case) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("attack");
    let file = dir.join(format!("{number}.{}", case.target));
    std::fs::create_dir_all(&dir).and_then(|()| std::fs::write(&file, &case.data)).unwrap();
    file
}
