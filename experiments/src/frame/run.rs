//! Running the cells of an experiment.

use super::cell::{self, Cell, Row};
use super::store::{Store, write_file};
use super::{Experiment, Failure, Result, Settings, html, machine};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs what is not there yet, then draws figures and page. With `draw`, only draws.
pub fn run(experiment: &dyn Experiment, settings: &Settings, draw: bool) -> Result<()> {
    let mut store = Store::open(experiment, settings)?;
    let asked = |cell: &Cell| {
        settings.only.is_empty() || settings.only.iter().any(|words| describe(cell).contains(words.as_str()))
    };
    let mut cells = if draw { Vec::new() } else { experiment.cells(settings)? };
    cells.retain(asked);
    let mut keys = HashSet::new();
    for cell in &cells {
        cell::check(cell)?;
        if !keys.insert(cell.key()) {
            return Err(Failure::Usage(format!("{}: two cells {}", experiment.id(), cell.key())));
        }
    }
    let missing: Vec<Cell> = cells.iter().filter(|cell| !store.has(cell)).cloned().collect();
    println!("{}  {}: {} cells, {} to run", experiment.id(), experiment.title(), cells.len(), missing.len());
    let bar = progress(experiment.id(), missing.len() as u64);
    let (timed, free): (Vec<Cell>, Vec<Cell>) = missing.into_iter().partition(|cell| cell.timed);
    run_cells(experiment, settings, &free, settings.jobs, &mut store, &bar)?;
    let beside = if settings.together { settings.jobs } else { 1 };
    run_cells(experiment, settings, &timed, beside, &mut store, &bar)?;
    bar.finish_and_clear();
    if !draw {
        store.close(&cells)?;
        let about = machine::about(&store.rows());
        write_file(&settings.out.join(format!("{}.about", experiment.id())), &about)?;
    }
    let rows = store.rows();
    for file in html::write_page(experiment, &rows, settings)? {
        println!("{}", file.display());
    }
    Ok(())
}

/// Cells on `jobs` workers; each worker has a pool of one thread, so that a fit uses one core.
fn run_cells(
    experiment: &dyn Experiment,
    settings: &Settings,
    cells: &[Cell],
    jobs: usize,
    store: &mut Store,
    bar: &ProgressBar,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let shared = Mutex::new((store, None::<Failure>));
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(cells.len()) {
            scope.spawn(|| {
                while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                    bar.set_message(describe(cell));
                    let outcome = alone(|| experiment.run(cell, settings));
                    let mut shared = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    let saved = outcome.and_then(|rows| shared.0.add(cell, filled(cell, rows)));
                    bar.inc(1);
                    if let Err(failure) = saved {
                        shared.1.get_or_insert(failure);
                        next.store(cells.len(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let (_, failure) = shared.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    failure.map_or(Ok(()), Err)
}

/// A cell without rows would be run again and again: it gets an empty one.
fn filled(cell: &Cell, rows: Vec<Row>) -> Vec<Row> {
    if rows.is_empty() { vec![Row { record: "nothing".to_string(), objective: f64::NAN, ..cell.row() }] } else { rows }
}

/// Runs `work` on a pool of one thread.
fn alone<R: Send>(work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    ksparse::Threads::new(1)?.run(work)
}

fn describe(cell: &Cell) -> String {
    format!("{} {} n={} p={} k={} seed {}", cell.variant, cell.method, cell.n, cell.p, cell.k, cell.seed)
}

/// A bar on a terminal, nothing elsewhere.
fn progress(id: &str, cells: u64) -> ProgressBar {
    let bar = ProgressBar::new(cells);
    if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {elapsed} (left {eta}) {wide_msg}")
    {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(id.to_string());
    bar
}
