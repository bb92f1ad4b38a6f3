//! What every solver shares: the starting point, refits, the trace, the limits.

mod iterate;
mod known;
mod units;

pub(super) use iterate::{Iterate, union};

use super::{Limits, Progress, Solution, Status, TraceRow};
use crate::design::Traffic;
use crate::error::{Error, Result, SMOOTH_OR_RIDGE, check_finite, check_squares};
use crate::objective::{Objective, Point};
use crate::restricted::{self, Ended, InnerOptions, Restricted};
use crate::sparsity::{Budget, SparseRef, Sparsity};
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// One call of a solver.
pub(super) struct Run<'a> {
    pub objective: &'a dyn Objective,
    pub budget: Budget,
    pub iterations: usize,
    /// Minimisations of f on a support so far, those of trials that were not kept included.
    refits: Cell<usize>,
    limits: Limits,
    /// The best feasible point so far, kept where somebody may cancel the run.
    best: RefCell<Option<Iterate>>,
    watch: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
    trace: Vec<TraceRow>,
    started: Instant,
    before: Option<Traffic>,
    /// The lower bound to report with the next points, where the method knows one.
    pub dual: Option<f64>,
    /// f(0), once somebody asks.
    at_zero: OnceCell<f64>,
    /// f on the support of the last refit, for the next to change.
    spare: RefCell<Option<Box<dyn Restricted + 'a>>>,
    /// The last point evaluated.
    last: RefCell<Option<Evaluated<'a>>>,
}

struct Evaluated<'a> {
    support: Vec<usize>,
    x: Vec<f64>,
    point: Rc<dyn Point + 'a>,
}

impl<'a> Run<'a> {
    pub fn new(
        solver: &'static str,
        objective: &'a dyn Objective,
        sparsity: &Sparsity,
        limits: &Limits,
        watch: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Self> {
        if objective.profile().corners {
            return Err(Error::Unsupported { solver, need: "a gradient everywhere (a smooth loss)" });
        }
        Self::without_gradient(objective, sparsity, limits, watch)
    }

    /// For methods that search on the quadratic model, a coordinate at a time.
    pub fn with_hessian(
        solver: &'static str,
        objective: &'a dyn Objective,
        sparsity: &Sparsity,
        limits: &Limits,
        watch: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Self> {
        let run = Self::new(solver, objective, sparsity, limits, watch)?;
        if objective.profile().hessian.is_none() {
            return Err(Error::Unsupported { solver, need: "second derivatives" });
        }
        run.budget.single(solver)?;
        Ok(run)
    }

    /// For methods that make do with subgradients, and refit by the dual where there are corners, which needs a ridge.
    pub fn with_subgradient(
        solver: &'static str,
        objective: &'a dyn Objective,
        sparsity: &Sparsity,
        limits: &Limits,
        watch: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Self> {
        let has_ridge = objective.samples().is_some_and(|samples| samples.ridge() > 0.0);
        if objective.profile().corners && !has_ridge {
            return Err(Error::Unsupported { solver, need: SMOOTH_OR_RIDGE });
        }
        Self::without_gradient(objective, sparsity, limits, watch)
    }

    /// For methods that do without a gradient.
    pub fn without_gradient(
        objective: &'a dyn Objective,
        sparsity: &Sparsity,
        limits: &Limits,
        watch: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Self> {
        limits.validate()?;
        let budget = Budget::new(sparsity, objective.free(), objective.dim())?;
        // Out of time inside an iteration is like cancelled there.
        let cancel = limits.time_limit.map_or_else(|| limits.cancel.clone(), |time| limits.cancel.within(time));
        Ok(Self {
            objective,
            budget,
            iterations: 0,
            refits: Cell::new(0),
            limits: Limits { cancel, ..limits.clone() },
            best: RefCell::new(None),
            watch,
            trace: Vec::new(),
            started: Instant::now(),
            before: objective.traffic(),
            dual: None,
            at_zero: OnceCell::new(),
            spare: RefCell::new(None),
            last: RefCell::new(None),
        })
    }

    /// The first point, debiased: f at its minimum over the coordinates of the given one cut to k, or over the free
    /// ones alone.
    pub fn begin(&self, start: Option<&Solution>) -> Result<Iterate> {
        let first = self.begin_at(start)?;
        if start.is_none() {
            return Ok(first);
        }
        self.refit(first.support, first.x, &InnerOptions::EXACT)
    }

    /// The first point as it stands: the given one cut to k, or zero with the free coordinates at their best.
    pub fn begin_at(&self, start: Option<&Solution>) -> Result<Iterate> {
        if start.is_none() {
            let free = self.budget.free.clone();
            let zeros = vec![0.0; free.len()];
            return self.refit(free, zeros, &InnerOptions::EXACT);
        }
        let first = self.stand(start)?;
        if !first.value.is_finite() {
            return Err(self.not_finite()?);
        }
        self.know(&first);
        Ok(first)
    }

    /// The point as it stands, with its value.
    pub fn evaluate(&self, support: Vec<usize>, x: Vec<f64>) -> Result<Iterate> {
        self.limits.cancel.ask()?;
        self.value_at(support, x)
    }

    fn value_at(&self, support: Vec<usize>, x: Vec<f64>) -> Result<Iterate> {
        let value = self.objective.value(SparseRef::new(&support, &x))?;
        // Down to nothing along a ray: the same test as the inner minimisers', for those who take no inner steps.
        let nothing = value <= 1e-9 * self.at_zero()?.abs();
        let attained = !(nothing && self.objective.restrict(&support)?.form().tail);
        Ok(Iterate::new(support, x, value, attained))
    }

    /// f(0), computed once: the size of f.
    fn at_zero(&self) -> Result<f64> {
        if let Some(value) = self.at_zero.get() {
            return Ok(*value);
        }
        let value = self.objective.value(SparseRef::ZERO)?;
        Ok(*self.at_zero.get_or_init(|| value))
    }

    /// A fall of f from a point that is none: `share` of f there, or what rounding leaves of f(0). Without the second
    /// part a fit that explains (nearly) everything is refined for ever.
    pub fn trifle(&self, at: &Iterate, share: f64) -> Result<f64> {
        // Not every function is defined at 0 (a log-determinant): there the first part must do.
        let zero = Some(self.at_zero()?.abs()).filter(|zero| zero.is_finite()).unwrap_or(0.0);
        Ok(share * at.value.abs() + 1e-15 * zero)
    }

    /// Who is to blame for a value that is not finite: the column that spoils the gradient at zero, if one does.
    fn not_finite(&self) -> Result<Error> {
        let zero = self.objective.at(SparseRef::ZERO)?;
        Ok(match check_finite("gradient (so the data)", zero.gradient()?) {
            Err(error) => error,
            // Samples are checked on the way in: what is not finite now has overflowed.
            Ok(()) if self.objective.samples().is_some() => Error::Overflow { what: "objective" },
            Ok(()) => Error::NotFinite { what: "objective", index: 0 },
        })
    }

    /// f at a point with its derivatives. The last point asked for is kept, so that a gradient, a Hessian and units
    /// asked for one after the other are had from one evaluation.
    pub fn point(&self, at: &Iterate) -> Result<Rc<dyn Point + 'a>> {
        if let Some(last) = &*self.last.borrow()
            && last.support == at.support
            && last.x == at.x
        {
            return Ok(Rc::clone(&last.point));
        }
        self.limits.cancel.ask()?;
        let point: Rc<dyn Point + 'a> = Rc::from(self.objective.at(at.as_sparse())?);
        let (support, x) = (at.support.clone(), at.x.clone());
        *self.last.borrow_mut() = Some(Evaluated { support, x, point: Rc::clone(&point) });
        Ok(point)
    }

    /// The gradient at a point; one that is not finite names the column to blame.
    pub fn gradient<'i>(&self, at: &'i Iterate) -> Result<&'i [f64]> {
        if at.gradient.get().is_none() {
            let point = self.point(at)?;
            let gradient = point.gradient()?;
            check_finite("gradient (so the data)", gradient)?;
            if !point.value().is_finite() {
                return Err(self.not_finite()?);
            }
            // Later on it may be a step too long that overflows: that is told as such.
            if self.iterations == 0 && self.objective.samples().is_some() && !self.objective.profile().corners {
                check_squares(gradient, point.value())?;
            }
            at.gradient.get_or_init(|| gradient.to_vec());
        }
        Ok(at.gradient.get().map_or(&[], Vec::as_slice))
    }

    /// Minimises on a support (ascending, free coordinates included) from `x`.
    pub fn refit(&self, support: Vec<usize>, x: Vec<f64>, options: &InnerOptions) -> Result<Iterate> {
        Ok(self.try_refit(support, x, options)?.0)
    }

    /// [`refit`](Self::refit), also saying how it ended.
    pub fn try_refit(&self, support: Vec<usize>, x: Vec<f64>, options: &InnerOptions) -> Result<(Iterate, Ended)> {
        self.limits.cancel.ask()?;
        let mut spare = self.spare.borrow_mut();
        let reused = match &mut *spare {
            Some(spare) => spare.change(&support)?,
            None => false,
        };
        if !reused {
            *spare = None;
        }
        let restricted = match &mut *spare {
            Some(restricted) => restricted,
            none => none.insert(self.objective.restrict(&support)?),
        };
        self.minimise(&mut **restricted, support, x, options)
    }

    /// [`try_refit`](Self::try_refit) for who goes on to use f on the support.
    pub fn minimise(
        &self,
        restricted: &mut dyn Restricted,
        support: Vec<usize>,
        mut x: Vec<f64>,
        options: &InnerOptions,
    ) -> Result<(Iterate, Ended)> {
        let options = InnerOptions { cancel: &self.limits.cancel, ..*options };
        self.refits.set(self.refits.get() + 1);
        let outcome = loop {
            let outcome = match restricted::minimise(restricted, &mut x, &options) {
                Err(Error::Cancelled) => {
                    // As far as it came: perhaps below all that was known.
                    let value = self.objective.value(SparseRef::new(&support, &x))?;
                    self.offer(&support, &x, value, true);
                    return Err(Error::Cancelled);
                }
                outcome => outcome?,
            };
            if outcome.ended != Ended::NotFinite {
                break outcome;
            }
            // Where a model foresaw the minimum an exponential may overflow: then from zero.
            if x.iter().all(|x| *x == 0.0) {
                return Err(self.not_finite()?);
            }
            x.fill(0.0);
        };
        let attained = outcome.ended != Ended::Unattained;
        self.offer(&support, &x, outcome.value, attained);
        Ok((Iterate::new(support, x, outcome.value, attained), outcome.ended))
    }

    /// The work of a product with the Hessian on the support of the last refit, where it is known.
    pub fn product_cost(&self) -> Option<f64> {
        self.spare.borrow().as_ref()?.product_cost()
    }

    /// The values of `from` on another support.
    pub fn carry(&self, from: &Iterate, support: &[usize]) -> Vec<f64> {
        support.iter().map(|&j| from.at(j)).collect()
    }

    /// Notes an iteration; `Some` when a limit or the watcher ends the run.
    pub fn record(&mut self, before: &Iterate, after: &Iterate, step: Option<f64>) -> Option<Status> {
        self.iterations += 1;
        let entered = self.write(before, after, step);
        self.poll(after, entered, step)
    }

    /// Adds a row to the trace; returns how many coordinates entered.
    pub fn write(&mut self, before: &Iterate, after: &Iterate, step: Option<f64>) -> usize {
        let common = after.support.iter().filter(|j| before.support.binary_search(j).is_ok()).count();
        let (entered, left) = (after.support.len() - common, before.support.len() - common);
        self.trace.push(TraceRow { step, dual: self.dual, left, ..self.row(after, entered) });
        entered
    }

    /// A row of the trace for a point.
    fn row(&self, at: &Iterate, entered: usize) -> TraceRow {
        TraceRow {
            iteration: self.iterations,
            refits: self.refits.get(),
            value: at.value,
            entered,
            left: 0,
            step: None,
            dual: None,
            seconds: self.started.elapsed().as_secs_f64(),
            traffic: self.before.and_then(|before| Some(self.objective.traffic()?.since(before))),
        }
    }

    /// Shows the watcher where the run stands; `Some` when a limit or the watcher ends it.
    pub fn poll(&mut self, at: &Iterate, entered: usize, step: Option<f64>) -> Option<Status> {
        let progress = Progress {
            iteration: self.iterations,
            value: at.value,
            support: &at.support,
            coefficients: &at.x,
            entered,
            step,
            dual: self.dual,
            seconds: self.started.elapsed().as_secs_f64(),
        };
        self.know(at);
        if (self.watch)(&progress).is_break() {
            return Some(Status::Stopped);
        }
        let out_of_time = self.limits.time_limit.is_some_and(|limit| self.started.elapsed() >= limit);
        if self.limits.cancel.is_set() && !self.limits.cancel.is_late() {
            return Some(Status::Stopped);
        }
        if !at.attained {
            return Some(Status::Unattained);
        }
        if out_of_time {
            return Some(Status::TimeLimit);
        }
        (self.iterations >= self.limits.max_iterations).then_some(Status::MaxIterations)
    }

    /// Replaces the lower bound in the last row of the trace.
    pub fn set_last_bound(&mut self, bound: Option<f64>) {
        if let Some(row) = self.trace.last_mut() {
            row.dual = bound;
        }
    }

    /// What is left of the time limit, if there is one.
    pub fn time_left(&self) -> Option<Duration> {
        self.limits.time_limit.map(|limit| limit.saturating_sub(self.started.elapsed()))
    }

    /// Whether a move is within the tolerance.
    pub fn settled(&self, before: &Iterate, after: &Iterate) -> bool {
        let (moved, length) = after.distance(before);
        self.limits.tolerance > 0.0 && moved <= self.limits.tolerance * length
    }

    /// One of several answers of this run, as if it had been found at once.
    pub fn answer(&self, at: Iterate, status: Status) -> Result<Solution> {
        let row = self.row(&at, at.support.len());
        self.solution(at, status, vec![row])
    }

    /// The answer. Numbers beyond all bounds are none: `Err`.
    pub fn finish(&mut self, best: Iterate, status: Status) -> Result<Solution> {
        let trace = std::mem::take(&mut self.trace);
        self.solution(best, status, trace)
    }

    fn solution(&self, best: Iterate, status: Status, trace: Vec<TraceRow>) -> Result<Solution> {
        if !best.value.is_finite() {
            return Err(Error::Overflow { what: "objective at the best point" });
        }
        if check_finite("coefficients", &best.x).is_err() {
            return Err(Error::Overflow { what: "coefficients at the best point" });
        }
        Ok(Solution {
            support: best.support,
            coefficients: best.x,
            value: best.value,
            iterations: self.iterations,
            refits: self.refits.get(),
            status: if best.attained { status } else { Status::Unattained },
            trace,
            dual_vector: None,
        })
    }
}
