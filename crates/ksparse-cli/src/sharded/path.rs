//! `ksparse path` on data in several files.

use super::choose::{Request, choose};
use super::{Asked, opened};
use crate::args::device::Place;
use crate::commands::path::PathArgs;
use crate::failure::Result;
use crate::outcome::Times;
use crate::path_output::deliver;
use crate::path_report::{Cell, Choice, Models, PathReport};
use crate::screen::Screen;
use ksparse::select::Rule;
use ksparse::{LinearModel, Risk, Solution, Solver};
use std::path::PathBuf;
use std::time::Instant;

pub fn run(args: &PathArgs, paths: Vec<PathBuf>, solver: &dyn Solver, screen: Screen) -> Result<()> {
    refuse(args)?;
    let (data, loss, survival) = (&args.data, &args.loss, &args.survival);
    let asked = Asked { data, loss, survival, keep: args.keep.as_ref(), solver: &args.solver };
    let (files, prepared, few) = opened(&asked, paths, screen)?;
    let solver: &dyn Solver = if solver.name() == "auto" { &few } else { solver };
    let started = Instant::now();
    let given = Request::automatic(args.choice.request(args.lambdas.as_ref(), &args.loss, &args.solver)?);
    let ks = args.k.as_ref().map(|ks| ks.0.clone());
    if let Some(&most) = ks.as_ref().and_then(|ks| ks.last()) {
        prepared.at_most_all(most, screen);
    }
    let request = Request {
        // As for one file: a single ridge where sizes are given.
        lambdas: given.lambdas.or_else(|| ks.as_ref().map(|_| vec![prepared.lambda])),
        rule: if ks.is_some() { args.choice.validation.rule(Rule::Best)? } else { given.rule },
        path: true,
        ks,
        ..given
    };
    let made = choose(&files, &prepared, &request, solver, screen)?;
    let times = Times { fit: started.elapsed().as_secs_f64(), read: prepared.data.seconds };
    let selection = &made.selection;
    let solved = &selection.path;
    let mut cells = Cell::all(solved);
    for cell in &mut cells {
        let scored = selection.table.cells().iter().find(|one| (one.k, one.lambda) == (cell.k, cell.lambda));
        cell.score = scored.map(|one| (one.mean, Some(one.standard_error)));
    }
    let index = cells.iter().position(|cell| (cell.k, cell.lambda) == (selection.k, selection.lambda));
    let choice = index.map(|index| Choice { index, score: request.metric.name(), by: made.by.clone() });
    let models =
        Known { solutions: solved.paths.iter().flat_map(|path| &path.solutions).collect(), made: &selection.models };
    let chosen = Some(made.fitted(&prepared, &args.solver.called(solver)));
    let report =
        PathReport { prepared: &prepared, training: &models, cells: &cells, choice, chosen, times, solved, made: None };
    deliver(args, &report, solver, screen)
}

/// Solutions and the models they are.
struct Known<'a> {
    solutions: Vec<&'a Solution>,
    made: &'a [LinearModel],
}

impl Models for Known<'_> {
    fn model(&self, solution: &Solution) -> LinearModel {
        let place = self.solutions.iter().position(|known| std::ptr::eq(*known, solution));
        place.and_then(|place| self.made.get(place)).cloned().unwrap_or_default()
    }

    fn risk(&self) -> Option<&Risk<'_>> {
        None
    }
}

/// What needs single rows of all files at once.
fn refuse(args: &PathArgs) -> Result<()> {
    super::refuse(&[
        ("--criterion", args.choice.criterion.is_some()),
        ("--resamples", args.choice.resamples.is_some()),
        ("--ensemble", args.choice.ensemble),
        ("--metric auc", args.choice.validation.metric.as_deref() == Some("auc")),
        ("--groups", args.groups.is_some()),
        ("--nonnegative, --lower or --upper", args.bounds.given()),
        ("--device", args.device.device != Place::Processor),
        ("--target-file", args.data.reading.target_file.is_some()),
    ])
}
