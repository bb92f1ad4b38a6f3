//! Long work beside a live interpreter.
//!
//! The work runs on a thread of its own, the interpreter free. The calling thread waits for it, looks for signals
//! (Ctrl-C) some twenty times a second, and calls the user's callback: always on the thread that called the fit, as
//! users of plots and thread-local contexts need it.
//!
//! A solver asks its watcher once per iteration, which may be long on large data. So that Ctrl-C ends a fit soon even
//! then, it sets the token that the solver asks between blocks of work. What such a fit returns is never used.

use crate::error::to_py;
use crate::pool;
use ksparse::{Cancel, Progress};
use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often the calling thread looks for signals.
const PULSE: Duration = Duration::from_millis(50);

/// A question of the worker to the callback: a report, and where to put the answer (whether to go on).
struct Question {
    report: Report,
    answer: SyncSender<bool>,
}

/// What a callback is told.
pub struct Report {
    pub iteration: usize,
    pub value: f64,
    pub support: Vec<usize>,
    pub coefficients: Vec<f64>,
    pub entered: usize,
    pub step: Option<f64>,
    pub seconds: f64,
    /// k, lambda, fold, cells done, cells in all: on paths.
    pub cell: Option<Cell>,
}

impl Report {
    pub fn of(progress: &Progress, cell: Option<Cell>) -> Self {
        Self {
            iteration: progress.iteration,
            value: progress.value,
            support: progress.support.to_vec(),
            coefficients: progress.coefficients.to_vec(),
            entered: progress.entered,
            step: progress.step,
            seconds: progress.seconds,
            cell,
        }
    }
}

/// Where on a grid a report comes from.
#[derive(Clone, Copy)]
pub struct Cell {
    pub k: usize,
    pub lambda: Option<f64>,
    pub fold: Option<usize>,
    pub done: usize,
    pub total: usize,
}

/// The worker's end.
pub struct Watch<'a> {
    pub cancel: &'a Cancel,
    questions: Sender<Question>,
    listening: bool,
    /// The last iteration the callback was told of: where, and which.
    told: Mutex<Option<Place>>,
}

/// The iteration, and the k, ridge and fold it belongs to.
type Place = (usize, Option<(usize, Option<u64>, Option<usize>)>);

impl Watch<'_> {
    /// Whether to go on, after telling the callback, if there is one.
    pub fn ask(&self, progress: &Progress, cell: Option<Cell>) -> ControlFlow<()> {
        if self.go_on().is_break() || !self.listening || !self.is_news(progress, cell) {
            return self.go_on();
        }
        let report = Report::of(progress, cell);
        let (answer, answered) = mpsc::sync_channel(1);
        let asked = self.questions.send(Question { report, answer });
        if asked.is_ok() && answered.recv() == Ok(true) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Whether this is another iteration: solvers ask whether to go on more often than that.
    fn is_news(&self, progress: &Progress, cell: Option<Cell>) -> bool {
        let cell = cell.map(|cell| (cell.k, cell.lambda.map(f64::to_bits), cell.fold));
        let place = Some((progress.iteration, cell));
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *told, place) != place
    }

    /// Whether to go on, without a word to the callback.
    pub fn go_on(&self) -> ControlFlow<()> {
        if self.cancel.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Runs `work` on `threads` threads (0: one per core) and returns what it returns, or the exception of a signal or of
/// the callback, which sets the token that the solvers of the work have.
pub fn supervise<R: Send>(
    py: Python<'_>,
    threads: usize,
    callback: Option<Py<PyAny>>,
    cancel: &Cancel,
    work: impl FnOnce(&Watch) -> ksparse::Result<R> + Send,
) -> PyResult<R> {
    let pool = pool::lend(threads).map_err(to_py)?;
    py.detach(|| {
        std::thread::scope(|scope| {
            let (questions, inbox) = mpsc::channel::<Question>();
            let watch = Watch { cancel, questions, listening: callback.is_some(), told: Mutex::new(None) };
            // The watch, and with it the channel, ends with the work, even if that should panic.
            let worker = scope.spawn(move || pool.run(move || work(&watch)));
            let mut raised = None;
            loop {
                let outcome = match inbox.recv_timeout(PULSE) {
                    Ok(question) => {
                        let outcome = match &callback {
                            Some(callback) if raised.is_none() => tell(callback, question.report),
                            _ => Ok(false),
                        };
                        // The worker waits for this; should it have gone, nobody minds.
                        let _ = question.answer.send(matches!(outcome, Ok(true)));
                        outcome.map(|_| ())
                    }
                    Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals()),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if let Err(error) = outcome {
                    cancel.set();
                    raised.get_or_insert(error);
                }
            }
            let result = worker.join();
            match (raised, result) {
                (Some(error), _) => Err(error),
                (None, Ok(result)) => result.map_err(to_py),
                (None, Err(_)) => {
                    Err(PyRuntimeError::new_err("ksparse failed unexpectedly: please report this as a bug"))
                }
            }
        })
    })
}

/// Calls the callback; whether to go on: not after `True` or `StopIteration`.
fn tell(callback: &Py<PyAny>, report: Report) -> PyResult<bool> {
    Python::attach(|py| {
        py.check_signals()?;
        match callback.call1(py, (crate::outcome::report(py, report)?,)) {
            Ok(answer) => Ok(!answer.is_truthy(py)?),
            Err(error) if error.is_instance_of::<PyStopIteration>(py) => Ok(false),
            Err(error) => Err(error),
        }
    })
}
