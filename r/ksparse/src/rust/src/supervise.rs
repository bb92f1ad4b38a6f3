//! Long work beside a live session.
//!
//! R may only be called on its own thread. So the work runs on another, and R's waits for it: it looks for an interrupt
//! some ten times a second by calling a function of R that does (`pause`), and serves what the work asks of R: to print
//! a line, to evaluate the user's function. An interrupt, or an error of such a function, sets the token that solvers
//! ask between blocks of work; when the work has ended, R goes on unwinding as if nothing had been in between.

use crate::error::to_r;
use ksparse::{Cancel, Progress, Threads};
use savvy::{FunctionArgs, FunctionSexp};
use std::any::Any;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// How often R's thread looks for an interrupt.
const PULSE: Duration = Duration::from_millis(100);
/// Lines of progress are at least so far apart.
const BETWEEN_LINES: Duration = Duration::from_millis(500);

/// The worker's end. `T` is what it may ask R for.
pub struct Watch<'a, T> {
    pub cancel: &'a Cancel,
    requests: Sender<T>,
    last_line: Option<Mutex<Instant>>,
}

impl<T: Send> Watch<'_, T> {
    /// Whether to go on.
    pub fn go_on(&self) -> ControlFlow<()> {
        if self.cancel.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Asks R for something; nobody minds if it has gone.
    pub fn ask(&self, request: T) {
        let _ = self.requests.send(request);
    }
}

impl<T: Send + From<String>> Watch<'_, T> {
    /// Whether to go on, after a line about where the work is, if one is due.
    pub fn tell(&self, at: &Progress, place: impl Fn() -> String) -> ControlFlow<()> {
        if let Some(last) = &self.last_line
            && let Ok(mut last) = last.try_lock()
            && last.elapsed() >= BETWEEN_LINES
        {
            *last = Instant::now();
            self.ask(T::from(format!("{}iteration {}, objective {:.6}", place(), at.iteration, at.value)));
        }
        self.go_on()
    }
}

/// How the work is run.
pub struct Manner {
    /// 0: one per core.
    pub threads: usize,
    pub verbose: bool,
    /// A function of R that looks for an interrupt.
    pub pause: FunctionSexp,
}

/// Runs `work` beside R's thread, which serves its requests, and returns what it returns.
pub fn supervise<T: Send, R: Send>(
    manner: &Manner,
    cancel: &Cancel,
    work: impl FnOnce(&Watch<T>) -> ksparse::Result<R> + Send,
    mut serve: impl FnMut(T) -> savvy::Result<()>,
) -> savvy::Result<R> {
    // savvy's own hook would print, on a thread that must not; it is put back when this call returns.
    std::panic::set_hook(Box::new(|_| {}));
    let threads = Threads::new(manner.threads).map_err(to_r)?;
    std::thread::scope(|scope| {
        let (requests, inbox) = mpsc::channel::<T>();
        let last_line = manner.verbose.then(|| Mutex::new(Instant::now()));
        let watch = Watch { cancel, requests, last_line };
        // The watch, and with it the channel, ends with the work, even if that should panic.
        let worker = scope.spawn(move || threads.run(move || work(&watch)));
        let mut raised: Option<savvy::Error> = None;
        let mut looked = Instant::now();
        loop {
            let served = match inbox.recv_timeout(PULSE) {
                Ok(request) if raised.is_none() => serve(request),
                // Dropped, and with it the channel of its answer.
                Ok(_) => Ok(()),
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let due = raised.is_none() && looked.elapsed() >= PULSE;
            let looked_for = served.and_then(|()| match due {
                true => {
                    looked = Instant::now();
                    manner.pause.call(FunctionArgs::new()).map(|_| ())
                }
                false => Ok(()),
            });
            if let Err(error) = looked_for {
                cancel.set();
                raised.get_or_insert(error);
            }
        }
        match (raised, worker.join()) {
            (Some(error), _) => Err(error),
            (None, Ok(result)) => result.map_err(to_r),
            (None, Err(panic)) => Err(savvy::Error::new(format!(
                "ksparse failed unexpectedly ({}): please report this as a bug",
                reason(&*panic)
            ))),
        }
    })
}

fn reason(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic")
}

/// Prints a line, on R's thread.
pub fn print(line: String) -> savvy::Result<()> {
    savvy::r_eprintln!("{line}");
    Ok(())
}
