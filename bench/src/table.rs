//! The field as Markdown: first ksparse beside the best of its peers, then a table per workload.

use crate::contest::Row;
use crate::field::CAP;
use crate::summary::{Line, lines};
use crate::workload::{self, Workload};
use std::fmt::Write;

/// Two objectives this close (relatively) count as the same.
const SAME: f64 = 1e-3;

/// The page.
pub fn markdown(about: &[(String, String)], rows: &[Row]) -> String {
    let mut out = String::from("# ksparse in the field\n\n");
    for (key, text) in about {
        put(&mut out, format_args!("- {key}: {text}"));
    }
    put(
        &mut out,
        format_args!(
            "- one thread each; medians over the seeds; seconds are of the best of up to three fits after the first, \
                cold ones of the whole process up to the end of its first fit; \
             {} CPU seconds a process\n\
             - `returned` is at the coefficients as the solver gives them, `refit` after the judge's exact refit on \
             their support; `test` is the share of wrong \
             labels, the mean squared error or a network's objective on rows held out; `estimation` is the distance to \
             the true coefficients over their length",
            CAP.as_secs()
        ),
    );
    let met: Vec<(Workload, Vec<Line>)> = workload::all()
        .into_iter()
        .map(|w| (lines(rows, w.name), w))
        .filter(|(lines, _)| !lines.is_empty())
        .map(|(lines, w)| (w, lines))
        .collect();
    out.push_str(
        "\n## ksparse beside the best of its peers\n\nObjectives after the refit; a time beside each. *As good, \
            fastest*: the fastest peer whose objective is at most 0.1 % higher. \
         Errors are the better of returned and refit.\n\n\
         | workload | ksparse | lowest objective of a peer | as good, fastest | test: ksparse, best peer | estimation: \
         ksparse, best peer |\n|---|---|---|---|---|---|\n",
    );
    for (workload, lines) in &met {
        put(&mut out, format_args!("| {} | {} |", workload.name, beside(lines)));
    }
    for (workload, lines) in &met {
        let seeds = lines.iter().map(|line| line.answered.1).max().unwrap_or(0);
        let plural = if seeds == 1 { "" } else { "s" };
        put(&mut out, format_args!("\n## {}: {} ({seeds} seed{plural})\n", workload.name, workload.about));
        out.push_str(
            "| solver | CPU s | wall s | cold CPU s | cold wall s | peak MB | returned | refit | precision | recall | \
                test returned | test refit | estimation returned | estimation refit |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for line in lines {
            put(&mut out, format_args!("{}", full(line)));
        }
    }
    out
}

fn beside(lines: &[Line]) -> String {
    let Some(own) = lines.iter().find(|line| line.solver == "ksparse") else { return "| | | |".to_string() };
    let peers: Vec<&Line> = lines.iter().filter(|line| line.is_peer()).collect();
    let least = |what: &dyn Fn(&Line) -> f64| {
        peers.iter().copied().filter(|peer| !what(peer).is_nan()).min_by(|a, b| what(a).total_cmp(&what(b)))
    };
    let lowest = least(&|peer| peer.score.value);
    let as_good = peers
        .iter()
        .filter(|peer| peer.score.value <= own.score.value + SAME * own.score.value.abs())
        .min_by(|a, b| a.cpu.total_cmp(&b.cpu));
    let timed = |line: &Line| format!("{} in {} s", figure(line.score.value), figure(line.cpu));
    let pair = |what: fn(&Line) -> f64| match least(&what) {
        Some(best) if !what(own).is_nan() => {
            format!("{}, {} ({})", figure(what(own)), figure(what(best)), best.full_name())
        }
        _ => figure(what(own)),
    };
    format!(
        "{} | {} | {} | {} | {}",
        timed(own),
        lowest.map_or("none".to_string(), |peer| format!("{}: {}", peer.full_name(), timed(peer))),
        as_good.map_or("none".to_string(), |peer| format!("{}: {} s", peer.full_name(), figure(peer.cpu))),
        pair(Line::test),
        pair(Line::estimation),
    )
}

fn full(line: &Line) -> String {
    let failure = line.failure.as_deref().unwrap_or_default();
    let (good, all) = line.answered;
    if good == 0 {
        return format!("| {} | **{}** | | | | | | | | | | | | |", line.full_name(), cell(failure));
    }
    let score = &line.score;
    let note =
        if failure.is_empty() { String::new() } else { format!(" ({} of {all}: {})", all - good, cell(failure)) };
    let numbers = [
        line.cpu,
        line.wall,
        line.cold_cpu,
        line.cold_wall,
        line.peak / 1e6,
        score.as_returned,
        score.value,
        score.precision,
        score.recall,
        score.test_returned,
        score.test,
        score.estimation_returned,
        score.estimation,
    ];
    format!("| {}{note} | {} |", line.full_name(), numbers.map(figure).join(" | "))
}

/// Text that keeps to its cell.
fn cell(text: &str) -> String {
    text.replace('|', "/").replace('\n', " ")
}

fn put(out: &mut String, text: std::fmt::Arguments) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

/// A number with four significant digits, or nothing where there is none.
pub fn figure(value: f64) -> String {
    if value.is_nan() {
        return String::new();
    }
    let digits = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    let decimals = (3.0 - digits).clamp(0.0, 6.0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::figure;

    #[test]
    fn figures_have_four_digits() {
        assert_eq!(
            [figure(0.0110712), figure(12.3456), figure(1234.5), figure(-104.42)],
            ["0.01107", "12.35", "1234", "-104.4"]
        );
        assert_eq!(figure(f64::NAN), "");
    }
}
