//! What a solver is doing: a line on standard error, on terminals only; every iteration with `--verbose`. Ctrl-C
//! is none of its business: solvers have the token of `interrupt`.

use crate::report::{count, significant};
use crate::screen::Screen;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ksparse::Progress;
use ksparse::certificate::Epoch;
use ksparse::path::PathProgress;
use ksparse::select::{CellDone, CvProgress};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Watches a solver.
pub struct Watcher {
    bar: ProgressBar,
    screen: Screen,
    /// Coordinates from here on are intercepts, and so many coordinates belong to a column.
    columns: (usize, usize),
    /// The last iteration told: solvers ask whether to go on more often than that.
    told: AtomicUsize,
}

impl Watcher {
    /// A line for work whose length is not known.
    pub fn spinner(screen: Screen, what: &str) -> Self {
        Self::new(screen, ProgressBar::new_spinner(), "{spinner} {prefix}: {msg} [{elapsed}]", what)
    }

    /// A bar for a path over so many cells.
    pub fn bar(screen: Screen, what: &str, cells: usize) -> Self {
        let bar = ProgressBar::new(cells as u64);
        Self::new(screen, bar, "{prefix} {bar:24} {pos}/{len} {msg} [{elapsed}]", what)
    }

    fn new(screen: Screen, bar: ProgressBar, template: &str, what: &str) -> Self {
        let hidden = !screen.shows_progress() || screen.verbose;
        bar.set_draw_target(if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) });
        bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(what.to_string());
        if !hidden {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { bar, screen, columns: (usize::MAX, 1), told: AtomicUsize::new(0) }
    }

    /// The same, knowing how many columns there are, with so many coefficients each.
    pub fn over(mut self, columns: usize, outputs: usize) -> Self {
        self.columns = (columns * outputs, outputs);
        self
    }

    /// The columns of a support.
    fn count(&self, support: &[usize]) -> usize {
        let (intercepts, outputs) = self.columns;
        let mut columns: Vec<usize> = support.iter().filter(|&&at| at < intercepts).map(|at| at / outputs).collect();
        columns.dedup();
        columns.len()
    }

    /// An iteration of a solver.
    pub fn iteration(&self, progress: &Progress) -> ControlFlow<()> {
        if self.screen.verbose {
            if self.told.swap(progress.iteration, Ordering::Relaxed) == progress.iteration {
                return ControlFlow::Continue(());
            }
            let step = progress.step.map_or(String::new(), |step| format!(", step {}", significant(step)));
            self.screen.tell(&format!(
                "iteration {}: objective {}, {}{step}, {:.3} s",
                progress.iteration,
                significant(progress.value),
                count(self.count(progress.support), "column"),
                progress.seconds
            ));
        } else {
            self.bar.set_message(format!(
                "iteration {}, objective {}",
                progress.iteration,
                significant(progress.value)
            ));
        }
        ControlFlow::Continue(())
    }

    /// An epoch of the search for a bound.
    pub fn epoch(&self, epoch: &Epoch) -> ControlFlow<()> {
        let gap = significant(100.0 * epoch.gap / epoch.primal.max(f64::MIN_POSITIVE));
        let message = format!("epoch {}, bound {}, gap {gap} %", epoch.epoch, significant(epoch.dual));
        if self.screen.verbose {
            self.screen.tell(&format!("{message}, {:.3} s", epoch.seconds));
        } else {
            self.bar.set_message(message);
        }
        ControlFlow::Continue(())
    }

    /// An iteration of a solver on a path.
    pub fn cell(&self, progress: &PathProgress) -> ControlFlow<()> {
        self.bar.set_position(progress.done as u64);
        self.bar.set_message(format!("k = {}", progress.k));
        ControlFlow::Continue(())
    }

    /// A fit of a choice over several files.
    pub fn fit(&self, done: &CellDone) -> ControlFlow<()> {
        self.bar.set_length(done.total as u64);
        self.bar.set_position(done.done as u64);
        let place = done.fold.map_or("all rows".to_string(), |fold| format!("without fold {}", fold + 1));
        let message = format!("k = {}, lambda = {}, {place}", done.k, significant(done.lambda));
        if self.screen.verbose {
            self.screen.tell(&format!("{message}: objective {}", significant(done.value)));
        }
        self.bar.set_message(message);
        ControlFlow::Continue(())
    }

    /// An iteration of a solver on a path of a fold.
    pub fn fold(&self, progress: &CvProgress) -> ControlFlow<()> {
        if let Some(fold) = progress.fold {
            self.bar.set_message(format!("fold {}, k = {}", fold + 1, progress.path.k));
        }
        ControlFlow::Continue(())
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
