//! Who may stop the folds, and when.

use super::CvProgress;
use crate::cancel::Cancel;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A watcher of cross-validation: called from one thread at a time, though not always from the same one.
pub(super) type Watch<'a> = dyn FnMut(&CvProgress) -> ControlFlow<()> + Send + 'a;

/// What the folds share while they run.
pub(super) struct Control<'a, 'w> {
    watch: Mutex<&'a mut Watch<'w>>,
    stop: AtomicBool,
    pub started: Instant,
    /// Set when nobody needs an answer any more, or when the time is up.
    pub cancel: Cancel,
}

impl<'a, 'w> Control<'a, 'w> {
    pub fn new(watch: &'a mut Watch<'w>) -> Self {
        Self::until(watch, Instant::now(), Cancel::NEVER)
    }

    /// The same for work that began at `started` and ends when this token is set.
    pub fn until(watch: &'a mut Watch<'w>, started: Instant, cancel: Cancel) -> Self {
        Self { watch: Mutex::new(watch), stop: AtomicBool::new(false), started, cancel }
    }

    /// Tells the watcher; whether to go on.
    pub fn report(&self, progress: &CvProgress) -> ControlFlow<()> {
        // Never waits: a watcher that itself starts parallel work could otherwise meet another fold on its own thread.
        if let Ok(mut watch) = self.watch.try_lock()
            && watch(progress).is_break()
        {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.go_on()
    }

    /// Whether to go on: nobody has said no, and there is time.
    pub fn go_on(&self) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) || self.cancel.is_set() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Whether the watcher, and not the clock, has said no.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
