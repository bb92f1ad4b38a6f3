//! How far a fit can be from the best model of its size: `--certify`, and the bounds that some solvers bring along.

use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::progress::Watcher;
use crate::report::{count, seconds, significant};
use crate::screen::{Screen, bold};
use ksparse::certificate::{Certificate, CertifyOptions, Conditions, certify};
use ksparse::{Risk, Solution, Sparsity};
use ksparse_plot::{Axis, Chart, Marker, Series};
use serde::Serialize;
use std::time::Duration;

/// A proven lower bound on f, and what it says about a fit. These are fields of `fit --json`.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Bound {
    /// No model of this size has a lower f.
    pub lower_bound: f64,
    /// f less the bound.
    pub gap: f64,
    /// The gap as a fraction of f.
    pub relative_gap: f64,
    /// Whether the fit is proven optimal: the relative gap is at most a millionth.
    pub certified: bool,
    /// What `--certify` took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certify_seconds: Option<f64>,
    /// The value of the relaxation that `--certify` solves: no dual bound goes beyond it, however long one searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relaxation: Option<f64>,
    /// The conditions of sparse strong duality at the fit, under which the bound closes, where `--certify` looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
}

/// A bound with the way to it.
pub struct Certified {
    pub bound: Bound,
    /// (epoch or iteration, relative gap).
    history: Vec<(f64, f64)>,
    unit: &'static str,
    /// The relative gap below which no dual bound can go, where that is known.
    floor: Option<f64>,
}

impl Certified {
    /// What a solver knows by itself (branch and bound, dual ascent).
    pub fn by_solver(solution: &Solution) -> Option<Self> {
        let lower_bound = solution.lower_bound()?;
        let relative =
            |value: f64, bound: f64| if value > 0.0 { (value - bound).max(0.0) / value } else { value - bound };
        let relative_gap = relative(solution.value, lower_bound);
        let bound = Bound {
            lower_bound,
            gap: (solution.value - lower_bound).max(0.0),
            relative_gap,
            certified: relative_gap <= CertifyOptions::default().tolerance,
            certify_seconds: None,
            relaxation: None,
            conditions: None,
        };
        let row = |row: &ksparse::solver::TraceRow| Some((row.iteration as f64, relative(row.value, row.dual?)));
        Some(Self { bound, history: solution.trace.iter().filter_map(row).collect(), unit: "iteration", floor: None })
    }

    /// What a search of at most so many seconds finds; the solver's own bound if that is better.
    pub fn by_search(
        risk: &Risk,
        sparsity: &Sparsity,
        solution: &Solution,
        limit: f64,
        screen: Screen,
    ) -> Result<Self> {
        // A limit beyond what a Duration holds is no limit.
        let time_limit = Duration::try_from_secs_f64(limit).ok();
        let watcher = Watcher::spinner(screen, "bound");
        let options = CertifyOptions { time_limit, cancel: interrupt::token(), ..CertifyOptions::default() };
        let found = certify(risk, sparsity, solution, &options, &mut |epoch| watcher.epoch(epoch))?;
        let of = found.value.max(f64::MIN_POSITIVE);
        let history = found.history.iter().map(|epoch| (epoch.epoch as f64, epoch.gap / of)).collect();
        let floor = (found.value - found.relaxation) / of;
        let Certificate { lower_bound, gap, relative_gap, certified, seconds, relaxation, conditions, .. } = found;
        let (certify_seconds, relaxation) = (Some(seconds), Some(relaxation));
        let conditions = Some(conditions);
        let mut bound = Bound { lower_bound, gap, relative_gap, certified, certify_seconds, relaxation, conditions };
        if let Some(own) = Self::by_solver(solution).filter(|own| own.bound.lower_bound > lower_bound) {
            bound = Bound { certify_seconds, relaxation, conditions, ..own.bound };
        }
        Ok(Self { bound, history, unit: "epoch", floor: (floor > 0.0).then_some(floor) })
    }

    /// The gap against the epochs of the search.
    pub fn plot(&self, source: &str) -> String {
        let Bound { lower_bound, relative_gap, certified, .. } = self.bound;
        let verdict = if certified {
            format!("proven optimal: no model of this size has f below {}", significant(lower_bound))
        } else {
            format!(
                "no model of this size has f below {}: at most {} lower",
                significant(lower_bound),
                percent(relative_gap)
            )
        };
        let mut gaps = Series::new("", self.history.clone());
        if self.history.len() > 60 {
            gaps = gaps.marker(Marker::None);
        }
        let mut chart = Chart::new(format!("Gap to the bound: {source}"))
            .subtitle(verdict)
            .x(Axis::linear(self.unit))
            .y(Axis::log("relative gap (f - bound) / f"))
            .with(gaps)
            .size(760.0, 420.0);
        if let Some(floor) = self.floor {
            chart = chart.at_y(floor, "the best that a dual bound can do");
        }
        chart.to_svg()
    }
}

impl Bound {
    /// Lines for people: a name and what there is to say.
    pub fn facts(&self, k: usize) -> Vec<(&'static str, String)> {
        let taken = self.certify_seconds.map_or(String::new(), |taken| format!(" (found in {})", seconds(taken)));
        let size = count(k, "coefficient");
        let bound =
            format!("{}: no model with {size} and this lambda goes below{taken}", significant(self.lower_bound));
        let gap = if self.certified {
            let share = percent(self.relative_gap);
            format!("{}: no model of this size is lower by more than {share}", bold("proven optimal"))
        } else {
            format!("{}: the best model of this size is lower by at most that", bold(&percent(self.relative_gap)))
        };
        vec![("bound", bound), ("gap", gap)]
    }
}

/// A share of f in per cent.
fn percent(share: f64) -> String {
    if share > 1.0 { "more than 100 %".to_string() } else { format!("{} %", significant((share * 1e6).ceil() / 1e4)) }
}

/// The dual problem exists with a ridge only.
pub fn needs_ridge(who: &str, lambda: f64) -> Result<()> {
    if lambda > 0.0 {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "{who} needs a ridge, and lambda is 0: give --lambda, say --lambda 0.01 (the bound comes from the dual \
         problem, which exists with lambda > 0 only)"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_up() {
        assert_eq!((percent(0.0312345), percent(2.0)), ("3.1235 %".to_string(), "more than 100 %".to_string()));
        assert_eq!(percent(1e-7), "0.0001 %");
    }
}
