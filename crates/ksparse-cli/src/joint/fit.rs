//! Fits to such targets: one k, or the best of several by cross-validation.

use super::Task;
use super::report;
use crate::args::bounds::BoundArgs;
use crate::args::choice::ValidationArgs;
use crate::args::device::DeviceArgs;
use crate::args::loss::LossArgs;
use crate::args::parse::Words;
use crate::args::solve::SolverArgs;
use crate::args::survival::SurvivalArgs;
use crate::choosing::warn;
use crate::data::Data;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::outcome::Times;
use crate::output;
use crate::prepared::{grouped, kept};
use crate::progress::Watcher;
use crate::report::count;
use crate::screen::Screen;
use ksparse::loss::JOINT_RIDGE;
use ksparse::select::{Choose, Chosen, Deal, JointProblem, Metric, Refits, Rule};
use ksparse::{LinearModel, Solution, Solver};
use ksparse_io::joint_model::{FORMAT, JointModel, OrdinalPart, Row, SurvivalPart, VERSION};
use ksparse_io::model::Fit;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What was asked for.
pub struct Request<'a> {
    pub data: Data,
    pub task: Task,
    pub keep: Option<&'a Words>,
    pub groups: Option<&'a Path>,
    pub bounds: &'a BoundArgs,
    pub survival: &'a SurvivalArgs,
    pub loss: &'a LossArgs,
    pub device: &'a DeviceArgs,
    pub choice: Choice,
    pub solver: &'a dyn Solver,
    pub seed: u64,
    pub output: &'a Option<PathBuf>,
    pub json: bool,
}

/// Which k.
pub enum Choice {
    Given(usize),
    Compared {
        ks: Option<Vec<usize>>,
        lambdas: Option<Vec<f64>>,
        folds: Option<Deal>,
        metric: Option<Metric>,
        rule: Rule,
        time_limit: Option<Duration>,
    },
}

impl Choice {
    /// These sizes and ridges by cross-validation, or such as suit the data.
    pub fn compared(
        ks: Option<Vec<usize>>,
        lambdas: Option<Vec<f64>>,
        how: &ValidationArgs,
        solver: &SolverArgs,
    ) -> Result<Self> {
        Ok(Self::Compared {
            rule: how.rule(if ks.is_none() { Rule::Lean } else { Rule::Best })?,
            metric: how.asked_metric()?,
            folds: how.cv,
            time_limit: solver.time_limit(),
            ks,
            lambdas,
        })
    }
}

/// `Err` for options that mean nothing here.
pub fn refuse(task: &Task, options: &[(&str, bool)]) -> Result<()> {
    match options.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::Input(format!("{option} is not for the {} loss: leave it out", task.loss()))),
    }
}

/// A fit and what it took.
struct Found {
    solution: Solution,
    models: Vec<LinearModel>,
    k: usize,
    lambda: f64,
    /// What it was chosen among.
    chosen: Option<Chosen>,
}

pub fn run(request: &Request, screen: Screen) -> Result<()> {
    let started = Instant::now();
    let table = &request.data.table;
    let there = request.device.bring(table)?;
    let design = there.as_deref().unwrap_or_else(|| table.design());
    let penalty_factors = request.loss.factors(table)?;
    let groups = grouped(request.groups, table)?;
    let bounds = request.bounds.of(table)?;
    let problem = JointProblem {
        weights: table.weights.as_deref(),
        intercept: !request.loss.no_intercept,
        standardize: request.loss.standardize,
        penalty_factors: penalty_factors.as_deref(),
        groups: groups.as_deref(),
        bounds: bounds.as_ref(),
        ..JointProblem::new(design, request.task.observed())
    };
    let keep = kept(request.keep, table)?;
    let blame = |error: ksparse::Error| Failure::from(error).within(&table.source);
    let found = match &request.choice {
        Choice::Given(k) => one(request, &problem, *k, &keep, screen),
        Choice::Compared { .. } => compared(request, &problem, &keep, screen),
    }
    .map_err(blame)?;
    let baselines = problem.baselines(&found.models[0]).map_err(blame)?;
    let times = Times { fit: started.elapsed().as_secs_f64(), read: request.data.seconds };
    let survival = match &request.task {
        Task::Survival(times) => Some(SurvivalPart {
            ties: times.ties.to_string(),
            time: request.survival.time.clone().unwrap_or_default(),
            strata: request.survival.strata.clone(),
            events: times.events.clone(),
            labels: times.labels.clone(),
            baselines: baselines.into_iter().map(Into::into).collect(),
        }),
        Task::Classes { .. } | Task::Ordered { .. } => None,
    };
    let ordinal = match &request.task {
        Task::Ordered { levels, .. } => Some(OrdinalPart {
            levels: levels.clone(),
            thresholds: problem.thresholds(&found.models[0]).map_err(blame)?,
        }),
        _ => None,
    };
    let rows = found.models[0].support.iter().enumerate().map(|(place, &column)| Row {
        column,
        feature: request.data.feature_name(column).map(str::to_string),
        values: found.models.iter().map(|model| model.coefficients[place]).collect(),
    });
    let model = JointModel {
        format: FORMAT.to_string(),
        version: VERSION,
        created_by: concat!("ksparse ", env!("CARGO_PKG_VERSION")).to_string(),
        loss: request.task.loss().to_string(),
        fit: Fit {
            lambda: found.lambda,
            select_lambda: found.chosen.as_ref().map(|chosen| chosen.lambda).filter(|lambda| *lambda != found.lambda),
            k: found.k,
            solver: request.solver.name().to_string(),
            status: found.solution.status.code().to_string(),
            objective: found.solution.value,
            standardized: request.loss.standardize,
            n: table.nrows(),
            p: table.ncols(),
            target: table.target_name.clone(),
            categories: table.categories.clone(),
        },
        outputs: request.task.outputs(),
        intercepts: found.models.iter().map(|model| model.intercept).collect(),
        coefficients: rows.filter(|row| row.values.iter().any(|v| *v != 0.0)).collect(),
        survival,
        ordinal,
    };
    let written = output::write_all(&[(request.output, request.output.is_some().then(|| model.to_json()))]);
    if output::to_standard_output(&[request.output]) {
        return written;
    }
    let text = match request.json {
        true => report::json(&model, &found.solution, found.chosen.as_ref(), times),
        false => {
            let shape = format!("{}, read in {}", request.data.shape(), crate::report::seconds(times.read));
            let path = request.output.as_deref().filter(|_| written.is_ok());
            report::table(&model, &found.solution, found.chosen.as_ref(), times, &shape, path, screen.verbose)
        }
    };
    screen.print(&text).and(written)
}

fn one(request: &Request, problem: &JointProblem, k: usize, keep: &[usize], screen: Screen) -> ksparse::Result<Found> {
    let units = problem.units(keep);
    if k > units {
        let what = if problem.groups.is_some() { "group" } else { "column" };
        screen.warn(&format!("k = {k} is more than the {}: taking all of them", count(units, what)));
    }
    let (k, lambda) = (k.min(units), request.loss.lambda.unwrap_or(JOINT_RIDGE));
    let training = problem.on_all_rows()?;
    let (objective, sparsity) = (training.objective(lambda)?, problem.sparsity(k, keep));
    let watcher = Watcher::spinner(screen, request.solver.name()).over(problem.design.ncols(), problem.outputs());
    let solve = || request.solver.solve(&*objective, &sparsity, None, &mut |at| watcher.iteration(at));
    let solution = interrupt::listening(solve)?;
    Ok(Found { models: training.models(&solution), solution, k, lambda, chosen: None })
}

fn compared(request: &Request, problem: &JointProblem, keep: &[usize], screen: Screen) -> ksparse::Result<Found> {
    let Choice::Compared { ks, lambdas, folds, metric, rule, time_limit } = &request.choice else {
        return Err(ksparse::Error::Cancelled);
    };
    // As for other targets: given ridges serve both ends, and every cell is solved in full under them.
    let lambdas = lambdas.clone().or(request.loss.lambda.map(|lambda| vec![lambda]));
    let choose = Choose {
        ks: ks.clone(),
        refits: if lambdas.is_some() { Refits::Same } else { Refits::FromData },
        thorough: request.solver.name() != "auto" || lambdas.is_some(),
        lambdas,
        keep: keep.to_vec(),
        metric: *metric,
        rule: *rule,
        time_limit: *time_limit,
        cancel: interrupt::token(),
        ..Choose::default()
    };
    let folds = problem.folds(folds.unwrap_or(Deal::of(problem.design.nrows())), request.seed)?;
    let watcher = Watcher::spinner(screen, "cross-validation");
    let solve = || choose.solve_joint(problem, &folds.splits(), None, request.solver, &mut |at| watcher.fold(at));
    let chosen = interrupt::listening(solve)?;
    drop(watcher);
    warn(&chosen, screen);
    let (solution, models) = (chosen.predictors[0].solution.clone(), chosen.predictors[0].models.clone());
    Ok(Found { solution, models, k: chosen.k, lambda: chosen.refit, chosen: Some(chosen) })
}
