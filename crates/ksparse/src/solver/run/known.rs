//! What a run knows when it is cancelled: the best feasible point so far.

use super::{Iterate, Run};
use crate::cancel::Cancel;
use crate::error::{Error, Result, check_finite, check_len};
use crate::solver::{Solution, Status};

impl Run<'_> {
    /// Does the work of a solver; where that is cancelled on the way, the best point it has seen is the answer, or
    /// failing that the start as it stands.
    pub fn unless_cancelled(
        mut self,
        start: Option<&Solution>,
        work: impl FnOnce(&mut Self) -> Result<Solution>,
    ) -> Result<Solution> {
        match work(&mut self) {
            Err(Error::Cancelled) => {
                let known = self.best.take();
                let best = known.map_or_else(|| self.stand(start), Ok)?;
                let status = if self.limits.cancel.is_late() { Status::TimeLimit } else { Status::Stopped };
                self.finish(best, status)
            }
            done => done,
        }
    }

    /// Records a point that improves on the best so far, shows any other to the watcher.
    pub fn note(&mut self, before: &Iterate, after: &Iterate, record_below: &mut f64) -> Option<Status> {
        if after.value < *record_below {
            *record_below = after.value;
            self.record(before, after, None)
        } else {
            self.poll(after, 0, None)
        }
    }

    /// Leaves the clock to [`poll`](Self::poll): for work in short rounds, all of whose answers are to be had when the
    /// time is up.
    pub fn time_between_rounds(&mut self) {
        self.limits.cancel = self.limits.cancel.without_deadline();
    }

    /// The token that may end the run.
    pub fn cancel(&self) -> &Cancel {
        &self.limits.cancel
    }

    /// Keeps a point if it is the best so far, feasible, and somebody may ask for it.
    pub(super) fn offer(&self, support: &[usize], x: &[f64], value: f64, attained: bool) {
        let within = || self.budget.counted(support) <= self.budget.k;
        if self.limits.cancel == Cancel::NEVER || !value.is_finite() || !within() {
            return;
        }
        let mut best = self.best.borrow_mut();
        if best.as_ref().is_none_or(|best| value < best.value) {
            *best = Some(Iterate::new(support.to_vec(), x.to_vec(), value, attained));
        }
    }

    /// [`offer`](Self::offer) of a point that is not this run's own.
    pub fn know(&self, at: &Iterate) {
        self.offer(&at.support, &at.x, at.value, at.attained);
    }

    /// The given point cut to k, or zero.
    pub(super) fn stand(&self, start: Option<&Solution>) -> Result<Iterate> {
        let Some(start) = start else {
            let support = self.budget.free.clone();
            let mut x = vec![0.0; support.len()];
            self.objective.repair(&support, &mut x)?;
            return self.value_at(support, x);
        };
        let dim = self.objective.dim();
        check_len("coefficients of the start", start.coefficients.len(), start.support.len())?;
        if let Some(&index) = start.support.iter().find(|&&j| j >= dim) {
            return Err(Error::IndexOutOfRange { what: "coordinate of the start", index, bound: dim });
        }
        let mut seen = vec![false; dim];
        if let Some(j) = start.support.iter().find(|&&j| std::mem::replace(&mut seen[j], true)) {
            return Err(Error::Data(format!("the start names coordinate {j} twice")));
        }
        check_finite("start", &start.coefficients)?;
        let dense = start.as_sparse().to_dense(dim);
        let support = self.budget.winners(self.budget.k, |j| dense[j].abs());
        let mut x: Vec<f64> = support.iter().map(|&j| dense[j]).collect();
        self.objective.repair(&support, &mut x)?;
        self.value_at(support, x)
    }
}
