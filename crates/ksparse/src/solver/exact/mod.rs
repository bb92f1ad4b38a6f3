//! The global optimum, proven: branch and bound over supports.
//!
//! A node decides some coordinates (groups of them, where k counts groups): in (whole, free of charge) or out. The rest
//! share what is left of k. Its *bound* is the optimum of the perspective relaxation with these decisions
//! (`relaxation`), so that no support below the node does better. A node whose bound reaches the best fit known (the
//! incumbent) is closed. Otherwise its most fractional coordinate is decided both ways. The node with the lowest bound
//! comes first; the lowest bound of all nodes, open or closed, bounds the optimum.
//!
//! * *Incumbent*: the answer of [`Auto`], then whatever the k largest coefficients of a node's relaxation give when
//!   refitted.
//! * *Fixing*: from one dual vector with scores u, k shares left and t the k-th largest |u|, deciding j in raises the
//!   bound by `(lambda/2)(t^2 - u_j^2)`; where that reaches the incumbent, j is out below this node. Likewise for
//!   coordinates that must be in.
//! * *Squared loss*: everything is computed from the moments X'X and X'y, so a node costs nothing in n. A multiple d of
//!   the identity that X'X can spare (its least eigenvalue) is moved to the ridge, which leaves f as it is and tightens
//!   the relaxation. Where X'X has full rank there need be no other ridge.
//! * *Losses with corners* (hinge) are rounded off, for each node only as sharply as its bound needs: dual vectors of
//!   the rounded loss are dual vectors of the loss itself.
//!
//! The problem is NP-hard: with a meaningful ridge, hundreds of columns and k up to 15 or so are within reach; with a
//! tiny ridge and correlated columns the tree grows without end. A run that hits a limit returns the incumbent, and the
//! bound reached is in the last row of its trace.

mod moments;
mod node;

use super::registry::{Method, Needs};
use super::run::{Iterate, Run};
use super::{Auto, Limits, Progress, Solution, Solver, Status};
use crate::dual::Dual;
use crate::error::{Error, Result};
use crate::objective::{Objective, Risk};
use crate::restricted::{InnerOptions, minimise};
use crate::sparsity::{SparseRef, Sparsity};
use moments::Quadratic;
use node::{Node, Tree};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How often a long relaxation asks whether to go on; the first asks at once.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(50);

/// Branch and bound. Needs a [`Risk`] with a ridge, or the squared loss and X'X of full rank.
///
/// ```
/// use ksparse::{Risk, Solver, Sparsity, Status, loss::Squared, simulate::{self, Correlation}};
/// use ksparse::solver::Exact;
/// let data = simulate::linear(100, 30, 5, Correlation::Ar1(0.8), 1.0, 1);
/// let risk = Risk::new(&data.design, &data.target, Squared::default())?.with_ridge(0.05)?;
/// let solution = Exact::default().fit(&risk, &Sparsity::new(5))?;
/// assert_eq!(solution.status, Status::Optimal); // there is none better, to a millionth
/// let bound = solution.lower_bound().unwrap();
/// assert!(bound <= solution.value && solution.value - bound <= 1e-6 * solution.value);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Exact {
    /// `tolerance`: the relative gap at which the incumbent counts as optimal, default 1e-6; `max_iterations`: how many
    /// nodes, default 100,000; `time_limit` as everywhere.
    pub limits: Limits,
}

impl Default for Exact {
    fn default() -> Self {
        Self { limits: Limits { tolerance: 1e-6, max_iterations: 100_000, ..Limits::default() } }
    }
}

/// Its entry in the table of solvers.
pub(super) const METHOD: Method = Method {
    about: "the best model of all, proven, by branch and bound: hundreds of columns, k up to 15, no tiny ridge",
    needs: Needs::Ridge,
    knows_bound: true,
    ..Method::new("exact", |given| Ok(Box::new(Exact { limits: given.limits(Exact::default().limits) })))
};

impl Solver for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn solve(
        &self,
        objective: &dyn Objective,
        sparsity: &Sparsity,
        start: Option<&Solution>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Solution> {
        let need = "the samples of an empirical risk";
        let risk = &Risk::of(objective.samples().ok_or(Error::Unsupported { solver: self.name(), need })?);
        self.limits.validate()?;
        // Says what is wrong with lambda before anything is done.
        let quadratic = Quadratic::new(risk);
        let dual = match &quadratic {
            Some(quadratic) if quadratic.ridge > 0.0 => Dual::of_any_ridge(risk, sparsity)?,
            Some(_) => {
                let expected = "positive, or X'X of full rank: more rows than columns, none a combination of others";
                return Err(Error::InvalidOption { option: "lambda", value: risk.ridge().to_string(), expected });
            }
            None => Dual::new(risk, sparsity)?,
        };
        let levels = self.levels(risk)?;
        let started = Instant::now();
        let auto = Auto { limits: Limits { max_iterations: 1000, ..self.limits.clone() }, ..Auto::default() };
        let first = auto.solve(&levels[0], sparsity, start, watch)?;
        let time_limit = self.limits.time_limit.map(|limit| limit.saturating_sub(started.elapsed()));
        let limits = Limits { time_limit, ..self.limits.clone() };
        let run = Run::new(self.name(), &levels[0], sparsity, &limits, watch)?;
        run.unless_cancelled(start, |run| {
            let options = InnerOptions { cancel: &self.limits.cancel, ..InnerOptions::EXACT };
            let refit = |support: Vec<usize>, x: Vec<f64>| refit(risk, &levels, support, x, &options);
            let value = risk.value(first.as_sparse());
            run.know(&Iterate::new(first.support.clone(), first.coefficients.clone(), value, true));
            let best = refit(first.support, first.coefficients)?;
            if first.status == Status::Stopped {
                return run.finish(best, Status::Stopped);
            }
            let deadline = self.limits.time_limit.and_then(|limit| started.checked_add(limit));
            let tree = Tree::new(dual, &levels, quadratic, self.limits.tolerance).until(deadline, &self.limits.cancel);
            self.search(run, tree, best, |support| {
                let zeros = vec![0.0; support.len()];
                refit(support, zeros)
            })
        })
    }
}

/// f at its minimum on a support: over the rounded forms of a loss with corners, each started from the last.
fn refit(
    risk: &Risk,
    levels: &[Risk],
    support: Vec<usize>,
    mut x: Vec<f64>,
    options: &InnerOptions,
) -> Result<Iterate> {
    for level in levels {
        minimise(&mut *level.restrict(&support)?, &mut x, options)?;
    }
    let value = risk.value(SparseRef::new(&support, &x));
    Ok(Iterate::new(support, x, value, true))
}

impl Exact {
    fn search(
        &self,
        run: &mut Run,
        mut tree: Tree,
        mut best: Iterate,
        refit: impl Fn(Vec<usize>) -> Result<Iterate>,
    ) -> Result<Solution> {
        let mut seen = HashSet::from([best.support.clone()]);
        tree.set_incumbent(best.value);
        let mut open = Open::new();
        // The watcher is shown the incumbent inside long relaxations too.
        let (run, ended) = (RefCell::new(run), Cell::new(None));
        let asked: Cell<Option<Instant>> = Cell::new(None);
        let interrupted = |best: &Iterate| {
            if self.limits.cancel.is_set() {
                ended.set(Some(Status::Stopped));
            }
            if ended.get().is_none() && asked.get().is_none_or(|last| last.elapsed() > BETWEEN_QUESTIONS) {
                asked.set(Some(Instant::now()));
                ended.set(run.borrow_mut().poll(best, 0, None));
            }
            ended.get().is_some()
        };
        let mut children = vec![tree.root(&|| interrupted(&best))];
        let (mut nodes, mut recorded) = (1, None);
        let status = loop {
            let before = best.clone();
            for child in children.iter().filter(|child| child.bound < tree.enough) {
                // The support that the relaxation suggests, if it is a new one.
                if seen.insert(child.rounded.clone()) {
                    let fit = refit(child.rounded.clone())?;
                    best = if fit.value < best.value { fit } else { best };
                }
            }
            tree.set_incumbent(best.value);
            open.admit(children, tree.enough);
            let bound = open.bound().min(best.value);
            let proven = bound >= tree.enough;
            run.borrow_mut().dual = Some(bound);
            run.borrow_mut().iterations = nodes;
            let cancelled = self.limits.cancel.is_set().then_some(Status::Stopped);
            let limit = ended.get().or(cancelled).or_else(|| run.borrow_mut().poll(&best, 0, None));
            // A row for what is new: a better fit, a bound noticeably higher, the end.
            let higher = recorded.is_none_or(|r| bound - r > 0.02 * (best.value - r));
            if higher || best.value < before.value || proven || limit.is_some() {
                recorded = Some(bound);
                run.borrow_mut().write(&before, &best, None);
            }
            if proven {
                break limit.filter(|l| l.outranks_convergence()).unwrap_or(Status::Optimal);
            }
            if let Some(limit) = limit {
                break limit;
            }
            // What is left are nodes that rounding errors keep from closing.
            let Some(node) = open.pop() else { break Status::Exhausted };
            children = tree.branch(&node, &|| interrupted(&best));
            nodes += children.len();
        };
        run.into_inner().finish(best, status)
    }

    /// The risk itself if its loss is smooth; else with the corners rounded off, ever sharper, down to a tenth of what
    /// the tolerance allows.
    fn levels<'a>(&self, risk: &'a Risk<'a>) -> Result<Vec<Risk<'a>>> {
        if !risk.loss().smoothness().has_corners() {
            return Ok(vec![risk.reridged(risk.ridge())?]);
        }
        let unit = risk.value(SparseRef::ZERO);
        let sharpest = self.limits.tolerance.max(1e-8);
        let mut levels = Vec::new();
        let mut width = 0.1;
        while levels.is_empty() || width > 0.02 * sharpest {
            let need = "a loss that is smooth or can be rounded off";
            let loss = risk.loss().rounded(width * unit).ok_or(Error::Unsupported { solver: self.name(), need })?;
            levels.push(risk.with_loss(loss));
            width *= 0.1;
        }
        Ok(levels)
    }
}

/// The nodes still to be branched on, lowest bound first (among equals the oldest), and the bounds of all that are not.
struct Open {
    nodes: BTreeMap<(Ordered, usize), Node>,
    admitted: usize,
    /// The lowest bound of what was closed, by its own bound or by a decision, and of nodes that rounding errors keep
    /// open though nothing is left to decide.
    floor: f64,
}

impl Open {
    fn new() -> Self {
        Self { nodes: BTreeMap::new(), admitted: 0, floor: f64::INFINITY }
    }

    fn admit(&mut self, nodes: Vec<Node>, enough: f64) {
        for node in nodes {
            self.floor = self.floor.min(node.closed);
            if node.bound >= enough || node.branch.is_none() {
                self.floor = self.floor.min(node.bound);
                continue;
            }
            self.admitted += 1;
            self.nodes.insert((Ordered(node.bound), self.admitted), node);
        }
    }

    fn pop(&mut self) -> Option<Node> {
        self.nodes.pop_first().map(|(_, node)| node)
    }

    /// What no support goes below.
    fn bound(&self) -> f64 {
        self.nodes.first_key_value().map_or(f64::INFINITY, |((bound, _), _)| bound.0).min(self.floor)
    }
}

/// A number in its total order.
#[derive(Clone, Copy, PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
