//! One fit in this process: timed, or with its peak memory.

use crate::Outcome;
use crate::data::Loaded;
use ksparse::{Sparsity, Threads, solver};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::path::Path;
use std::time::Instant;

/// Processor seconds of this process, all threads together.
pub fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

/// A fit longer than this is not repeated.
const LONG: f64 = 5.0;

/// Fits up to `repeats` times and prints times and answer as JSON. The clock runs from the arrays in memory to the solution.
pub fn fit(dir: &Path, solver: &str, threads: usize, repeats: usize) -> Outcome {
    let data = Loaded::read(dir)?;
    let solver = solver::by_name(solver)?;
    let pool = Threads::new(threads)?;
    let (mut wall, mut cpu, mut last) = (Vec::new(), Vec::new(), None);
    while wall.len() < repeats.max(1) && wall.last().is_none_or(|&w| w < LONG) {
        let (clock, used) = (Instant::now(), cpu_seconds());
        let risk = data.risk()?;
        last = Some(pool.run(|| solver.fit(&risk, &Sparsity::new(data.meta.k)))?);
        wall.push(clock.elapsed().as_secs_f64());
        cpu.push(cpu_seconds() - used);
    }
    let solution = last.ok_or("no fit was run")?;
    let answer = json!({
        "wall": wall, "cpu": cpu, "support": solution.support, "coefficients": solution.coefficients,
        "reported": solution.value, "note": format!("{}; {} iterations", solution.status, solution.iterations),
    });
    println!("{answer}");
    Ok(())
}

/// Fits once on one thread and prints the resident memory before and at the peak of the fit, in bytes.
///
/// Before: the whole process with the data loaded, that is the design as given (once), the target, and the program itself. The
/// kernel's high-water mark is reset at that point, so the peak is that of the fit and of nothing earlier.
pub fn memory(dir: &Path, solver: &str) -> Outcome {
    let data = Loaded::read(dir)?;
    let solver = solver::by_name(solver)?;
    let pool = Threads::new(1)?;
    std::fs::write("/proc/self/clear_refs", "5")
        .map_err(|e| format!("cannot reset the memory high-water mark: {e}"))?;
    let before = resident("VmRSS")?;
    let risk = data.risk()?;
    pool.run(|| solver.fit(&risk, &Sparsity::new(data.meta.k)))?;
    let peak = resident("VmHWM")?;
    println!("{}", json!({"design": data.meta.design_bytes(), "before": before, "peak": peak}));
    Ok(())
}

/// A line of /proc/self/status, in bytes.
fn resident(field: &str) -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|l| l.starts_with(field)).ok_or("this system does not tell resident memory")?;
    let kilobytes: u64 = line.split_whitespace().nth(1).ok_or("an odd line in /proc/self/status")?.parse()?;
    Ok(1024 * kilobytes)
}
