//! The choice of k and the ridge over several files, by cross-validation: rows held out weigh nothing where they lie.

use super::Files;
use super::fit::{Shards, options};
use super::rounds::MappedRounds;
use crate::choosing::{self, dealt, words};
use crate::failure::Result;
use crate::interrupt;
use crate::outcome::Fitted;
use crate::prepared::Prepared;
use crate::progress::Watcher;
use crate::screen::Screen;
use ksparse::Solver;
use ksparse::select::{Deal, Metric, Rule, ShardedSelection, ShardedValidation};
use std::time::Duration;

/// What was asked for.
pub struct Request {
    pub ks: Option<Vec<usize>>,
    pub lambdas: Option<Vec<f64>>,
    pub folds: Option<Deal>,
    pub metric: Metric,
    pub rule: Rule,
    pub seed: u64,
    /// Whether every cell is fitted to all rows as well.
    pub path: bool,
    pub time_limit: Option<Duration>,
}

impl Request {
    /// Among sizes that suit the data.
    pub fn automatic(asked: choosing::Request) -> Self {
        let choosing::Request { lambdas, folds, metric, rule, seed, time_limit, .. } = asked;
        Self { ks: None, lambdas, folds, metric, rule, seed, path: false, time_limit }
    }
}

/// What was chosen, by what, and what the files took.
pub struct Made {
    pub selection: ShardedSelection,
    pub by: String,
    pub shards: Shards,
}

impl Made {
    /// The model of the chosen cell.
    pub fn fitted<'a>(&self, prepared: &'a Prepared, solver: &str) -> Fitted<'a> {
        let ShardedSelection { k, lambda, model, solution, .. } = &self.selection;
        Fitted::new(prepared, model.clone(), solution, solver, *k).with_lambda(*lambda).with_shards(self.shards)
    }
}

/// Vectors over all columns that a chain of fits holds: frame, points, gradients and curvatures.
const VECTORS: u64 = 16;
/// And bytes beside: its threads and models of f over working sets.
const CHAIN: u64 = 1 << 20;

pub fn choose(
    files: &Files,
    prepared: &Prepared,
    request: &Request,
    solver: &dyn Solver,
    screen: Screen,
) -> Result<Made> {
    let deal = request.folds.unwrap_or(Deal::of(prepared.task.y.len()));
    let folds = dealt(prepared, deal, request.seed)?;
    let rounds = MappedRounds { held: Some((&folds, request.metric)), ..MappedRounds::new(files, prepared) };
    let room = files.options.memory.unwrap_or_else(ksparse_io::free_memory) / 4;
    let validation = ShardedValidation {
        ks: request.ks.clone(),
        lambdas: request.lambdas.clone(),
        keep: prepared.keep.clone(),
        metric: request.metric,
        rule: request.rule,
        options: options(prepared),
        time_limit: request.time_limit,
        path: request.path,
        at_once: (room / (CHAIN + 8 * VECTORS * files.columns as u64)).clamp(1, 32) as usize,
    };
    let watcher = Watcher::bar(screen, "cross-validation", 0);
    let loss = &*prepared.task.loss;
    let chosen = interrupt::listening(|| validation.solve(&rounds, loss, solver, &mut |done| watcher.fit(done)));
    drop(watcher);
    let selection = chosen.map_err(|error| prepared.blame(error))?;
    if selection.at_edge {
        screen.warn("the chosen k is the largest that was compared: a larger one may be better");
    }
    let by = format!("{deal}: {} {}", words(request.rule), request.metric.name());
    let shards = Shards::new(files, &rounds, selection.communication);
    Ok(Made { selection, by, shards })
}
