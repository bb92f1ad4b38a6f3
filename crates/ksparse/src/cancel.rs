//! A request to stop, which long work asks about between its blocks.

use crate::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A token that somebody else may set, at any time and from any thread: a signal handler, a button, a deadline.
///
/// Solvers (through [`Limits`](crate::solver::Limits)), certificates and paths ask it between blocks of work (a pass
/// over the data, a Newton step, a product of conjugate gradients, a node of a tree) and end soon with the best they
/// know, [`Status::Stopped`](crate::Status::Stopped). The default is never set and costs nothing to ask.
///
/// ```
/// use ksparse::{Cancel, Risk, Solver, Sparsity, Status, loss::Squared, simulate, solver::{Auto, Limits}};
/// let data = simulate::linear(100, 50, 5, simulate::Correlation::Independent, 0.1, 1);
/// let risk = Risk::new(&data.design, &data.target, Squared::default())?;
/// let cancel = Cancel::new();
/// let auto = Auto { limits: Limits { cancel: cancel.clone(), ..Limits::default() }, ..Auto::default() };
/// cancel.set(); // from another thread, say
/// assert_eq!(auto.fit(&risk, &Sparsity::new(5))?.status, Status::Stopped);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel(Option<Arc<State>>);

#[derive(Debug)]
struct State {
    set: AtomicBool,
    /// Questions to be answered before the token sets itself.
    patience: AtomicUsize,
    /// When it sets itself, and the token that it is set with.
    deadline: Option<(Instant, Cancel)>,
}

impl Cancel {
    /// One that is never set.
    pub const NEVER: Self = Self(None);

    /// One that can be set, by this handle or any clone of it.
    pub fn new() -> Self {
        Self::after(usize::MAX)
    }

    /// One that sets itself when it is asked for the time after so many questions: for tests of who asks, and of what
    /// is left when the answer is yes.
    pub fn after(questions: usize) -> Self {
        Self::with(questions, None)
    }

    /// One that sets itself after this time, and before it whenever this one is set.
    #[must_use]
    pub fn within(&self, time: Duration) -> Self {
        // A time beyond all clocks never comes.
        Instant::now()
            .checked_add(time)
            .map_or_else(|| self.clone(), |at| Self::with(usize::MAX, Some((at, self.clone()))))
    }

    fn with(questions: usize, deadline: Option<(Instant, Self)>) -> Self {
        Self(Some(Arc::new(State { set: AtomicBool::new(false), patience: AtomicUsize::new(questions), deadline })))
    }

    /// Asks all who have this token to stop.
    pub fn set(&self) {
        if let Some(state) = &self.0 {
            state.set.store(true, Ordering::Relaxed);
        }
    }

    /// Whether to stop: asked between blocks of work.
    pub fn is_set(&self) -> bool {
        let Some(state) = &self.0 else { return false };
        if state.set.load(Ordering::Relaxed) {
            return true;
        }
        if let Some((deadline, other)) = &state.deadline {
            return other.is_set() || Instant::now() >= *deadline;
        }
        // Counted only where somebody wants it counted: threads do not share a cache line for nothing.
        if state.patience.load(Ordering::Relaxed) == usize::MAX {
            return false;
        }
        let spent = state.patience.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if spent.is_err() {
            self.set();
        }
        spent.is_err()
    }

    /// Whether its time is up, and nobody has asked to stop.
    pub(crate) fn is_late(&self) -> bool {
        let Some((deadline, other)) = self.0.as_ref().and_then(|state| state.deadline.as_ref()) else { return false };
        Instant::now() >= *deadline && !other.is_set()
    }

    /// The token that this one was made from by [`within`](Self::within), or this one.
    pub(crate) fn without_deadline(&self) -> Self {
        let deadline = self.0.as_ref().and_then(|state| state.deadline.as_ref());
        deadline.map_or_else(|| self.clone(), |(_, other)| other.clone())
    }

    /// `Err(Cancelled)` once it is set: for work that can be given up by `?`.
    pub(crate) fn ask(&self) -> Result<()> {
        if self.is_set() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Two handles are the same when they are of one token.
impl PartialEq for Cancel {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_is_the_same_token() {
        let cancel = Cancel::new();
        let other = cancel.clone();
        assert!(!cancel.is_set() && cancel == other && cancel != Cancel::new() && Cancel::NEVER == Cancel::default());
        other.set();
        assert!(cancel.is_set() && cancel.ask() == Err(Error::Cancelled));
    }

    #[test]
    fn a_deadline_is_kept_and_hands_on_what_it_was_made_from() {
        let cancel = Cancel::new();
        let (late, never) = (cancel.within(Duration::ZERO), cancel.within(Duration::MAX));
        let early = cancel.within(Duration::from_secs(1 << 30));
        assert!(late.is_set() && late.is_late() && !early.is_set() && !never.is_set() && !cancel.is_set());
        assert!(Cancel::NEVER.within(Duration::ZERO).is_late() && late.without_deadline() == cancel);
        cancel.set();
        assert!(early.is_set() && never.is_set() && !early.is_late() && !late.is_late());
    }

    #[test]
    fn patience_ends() {
        let cancel = Cancel::after(2);
        let answers: Vec<bool> = (0..5).map(|_| cancel.is_set()).collect();
        assert_eq!(answers, [false, false, true, true, true]);
    }
}
