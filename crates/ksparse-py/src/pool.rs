//! Thread pools, each lent to one fit at a time.
//!
//! The threads of a fit wait while its callback runs. Were a pool shared, a fit inside that callback would wait for
//! threads that wait for it, and fits of several Python threads would run one after another. So a fit takes a pool out
//! of the store, or starts one, and puts it back. Starting one of 16 takes a millisecond, ten times a small fit, which
//! is why some are kept.

use ksparse::{Result, Threads};
use std::sync::{Mutex, MutexGuard};

/// So many idle threads are kept beside the pool that came back last.
const SPARE: usize = 64;

/// A pool on loan: back in the store when dropped.
pub struct Lent(Option<Pool>);

struct Pool {
    /// Threads do not survive a fork: a pool serves the process that started it.
    process: u32,
    /// What was asked for; 0 is one thread per core.
    request: usize,
    size: usize,
    threads: Threads,
}

/// Idle pools, the last that came back at the end.
static IDLE: Mutex<Vec<Pool>> = Mutex::new(Vec::new());

/// The store, unless another thread has it: in a forked process that may be for ever, and going without costs little.
fn store() -> Option<MutexGuard<'static, Vec<Pool>>> {
    IDLE.try_lock().ok()
}

/// A pool of so many threads (0: one per core) for the caller alone.
pub fn lend(request: usize) -> Result<Lent> {
    let process = std::process::id();
    if let Some(mut idle) = store()
        && let Some(place) = idle.iter().rposition(|pool| pool.process == process && pool.request == request)
    {
        return Ok(Lent(Some(idle.remove(place))));
    }
    let threads = Threads::new(request)?;
    let size = threads.run(rayon::current_num_threads);
    Ok(Lent(Some(Pool { process, request, size, threads })))
}

impl Lent {
    /// Runs `work` on these threads.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Some(pool) => pool.threads.run(work),
            None => work(),
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let (Some(pool), Some(mut idle)) = (self.0.take(), store()) else { return };
        // What a fork left behind has no threads to stop, and locks that nobody will ever open.
        while let Some(place) = idle.iter().position(|other| other.process != pool.process) {
            std::mem::forget(idle.remove(place));
        }
        while !idle.is_empty() && idle.iter().map(|other| other.size).sum::<usize>() > SPARE {
            idle.remove(0);
        }
        idle.push(pool);
    }
}
