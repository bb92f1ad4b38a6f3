//! Child processes with a time cap and one thread each.

use crate::Outcome;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How a child ended.
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

/// Runs `program` with `arguments`, `input` on its standard input, for at most `cap`.
pub fn run(program: &Path, arguments: &[&str], input: &str, cap: Duration) -> Outcome<Ended> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for variable in THREAD_VARIABLES {
        command.env(variable, "1");
    }
    // XLA has a thread pool of its own.
    command.env("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1");
    command.env("JAX_PLATFORMS", "cpu");
    let mut child = command.spawn().map_err(|e| format!("cannot start {}: {e}", program.display()))?;
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
        if clock.elapsed() > cap {
            child.kill()?;
            child.wait()?;
            return Ok(Ended::TimeOut);
        }
        thread::sleep(Duration::from_millis(20));
    };
    let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
    Ok(if status.success() { Ended::Printed(stdout) } else { Ended::Failed(reason(&stderr).to_string()) })
}

/// The line that says why: after the place of a Rust panic, last in a Python traceback.
fn reason(stderr: &str) -> &str {
    let mut lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let panic = lines.by_ref().find(|line| line.contains("panicked at")).and_then(|_| lines.next());
    panic.or_else(|| stderr.trim().lines().last()).unwrap_or("without a word")
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
