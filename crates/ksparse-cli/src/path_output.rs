//! Where a path goes: its files, and the table or the JSON object.

use crate::commands::path::PathArgs;
use crate::failure::{Failure, Result};
use crate::output;
use crate::page;
use crate::path_report::PathReport;
use crate::plot;
use crate::screen::Screen;
use ksparse::Solver;
use std::path::PathBuf;

/// Writes the files and prints the table or the JSON object.
pub fn deliver(args: &PathArgs, report: &PathReport, solver: &dyn Solver, screen: Screen) -> Result<()> {
    let files = [
        (&args.plot, args.plot.is_some().then(|| plot::path(report))),
        (&args.report, args.report.is_some().then(|| page::path(report, &args.solver.called(solver)))),
        (&args.output, report.chosen.as_ref().map(|chosen| chosen.model.to_json())),
    ];
    let written = output::write_all(&files);
    if output::to_standard_output(&[&args.output, &args.plot, &args.report]) {
        return written;
    }
    // Even where a file could not be written: the result is not lost.
    let done = |path: &Option<PathBuf>| path.clone().filter(|_| written.is_ok());
    let text = match args.json {
        true => report.json(&args.solver.called(solver)),
        false => {
            let files = [("model", done(&args.output)), ("plot", done(&args.plot)), ("report", done(&args.report))];
            report.table(&args.solver.called(solver), &files, screen.verbose)
        }
    };
    screen.print(&text).and(written)?;
    match &args.output {
        Some(path) if report.chosen.is_none() => Err(Failure::Work(format!(
            "{} was not written: the path was stopped before a k was chosen",
            path.display()
        ))),
        _ => Ok(()),
    }
}
