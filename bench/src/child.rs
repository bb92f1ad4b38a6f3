//! Child processes with a cap on processor time and one thread each.

use crate::Outcome;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How a child ended.
#[derive(Serialize, Deserialize)]
pub enum Ended {
    /// Well; its standard output.
    Printed(String),
    /// Killed at the cap.
    TimeOut,
    /// Otherwise; why, in its own words.
    Failed(String),
}

/// Variables that tell the peers' libraries how many threads to use.
const THREAD_VARIABLES: [&str; 5] =
    ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS"];

/// When the child was started, in seconds since 1970: from there its first, cold, fit is timed.
pub const STARTED: &str = "KSPARSE_BENCH_STARTED";

/// By the wall a child may take so many times its cap: on a busy machine it waits, and a time-out must mean that the
/// time was used.
const PATIENCE: u32 = 30;

/// Runs `program` with `arguments`, `input` on its standard input, for at most `cap` of processor time.
pub fn run(program: &Path, arguments: &[&str], input: &str, cap: Duration) -> Outcome<Ended> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for variable in THREAD_VARIABLES {
        command.env(variable, "1");
    }
    // XLA has a thread pool of its own.
    command.env("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1");
    command.env("JAX_PLATFORMS", "cpu");
    command.env(STARTED, SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64().to_string());
    let mut child = command.spawn().map_err(|e| format!("cannot start {}: {e}", program.display()))?;
    let seconds = Some(cap.as_secs().max(1));
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // A child that has ended already needs no cap.
        let _ = prlimit(Some(pid), Resource::Cpu, Rlimit { current: seconds, maximum: seconds });
    }
    // A child that ends without reading its input is judged by how it ended, not by the broken pipe.
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(input.as_bytes());
    }
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let clock = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if clock.elapsed() > PATIENCE * cap {
            child.kill()?;
            child.wait()?;
            return Ok(Ended::TimeOut);
        }
        thread::sleep(Duration::from_millis(20));
    };
    let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
    Ok(match status.signal() {
        _ if status.success() => Ended::Printed(stdout),
        // At both limits the kernel kills, as we do; what else could kill is the system short of memory, before its
        // time was up.
        Some(KILLED) if clock.elapsed() >= cap => Ended::TimeOut,
        Some(signal) => Ended::Failed(match reason(&stderr) {
            "" => signal_name(signal),
            said => format!("{}, {said}", signal_name(signal)),
        }),
        None => Ended::Failed(reason(&stderr).to_string()),
    })
}

const KILLED: i32 = 9;

fn signal_name(signal: i32) -> String {
    match signal {
        4 => "illegal instruction".to_string(),
        6 => "aborted".to_string(),
        8 => "arithmetic error".to_string(),
        KILLED => "killed".to_string(),
        7 | 11 => "segmentation fault".to_string(),
        other => format!("signal {other}"),
    }
}

/// The line that says why: after the place of a Rust panic, last in a Python traceback.
fn reason(stderr: &str) -> &str {
    let mut lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let panic = lines.by_ref().find(|line| line.contains("panicked at")).and_then(|_| lines.next());
    panic.or_else(|| stderr.trim().lines().last()).unwrap_or("")
}

/// Reads a pipe to its end beside the wait, so that a talkative child never blocks.
fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn shell(script: &str, cap: u64) -> Ended {
        run(Path::new("/bin/sh"), &["-c", script], "words", Duration::from_secs(cap)).unwrap()
    }

    #[test]
    fn ends_are_told_apart() {
        assert!(matches!(shell("cat; echo $OMP_NUM_THREADS", 9), Ended::Printed(out) if out == "words1\n"));
        assert!(matches!(shell("while :; do :; done", 1), Ended::TimeOut));
        assert!(matches!(shell("echo of what >&2; exit 3", 9), Ended::Failed(why) if why == "of what"));
        assert!(matches!(shell("kill -SEGV $$", 9), Ended::Failed(why) if why == "segmentation fault"));
    }
}
