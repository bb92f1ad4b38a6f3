//! What the run is held to, and whether it got there.

use crate::contest::Row;
use serde::Serialize;
use serde_json::Value;

/// One line of the list of goals.
#[derive(Debug, Clone, Serialize)]
pub struct Goal {
    /// What is asked.
    pub asked: String,
    /// What was found.
    pub found: String,
    /// Whether that is enough.
    pub met: bool,
}

/// Two objectives closer than this (relatively) are the same.
const SAME: f64 = 1e-9;

/// Everything that this run lets one check.
pub fn check(rows: &[Row], kernels: &Value, memory: &[Value]) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (workload, peers) in
        [("e1-2000", &["abess", "abess-wide", "abess-approx"][..]), ("linear", &["abess", "abess-wide"][..])]
    {
        for &peer in peers {
            goals.extend(faster(
                rows,
                workload,
                peer,
                "4 times as fast (aim 10), objective no worse",
                |own, peer| (peer.cpu / own.cpu, own.score.value <= peer.score.value * (1.0 + SAME)),
                |ratio| ratio >= 4.0,
            ));
        }
    }
    for peer in ["liblinear-at-k", "liblinear-at-k-1e-4"] {
        goals.extend(faster(
            rows,
            "rcv1",
            peer,
            "within 2 fits (aim 1), objective lower",
            |own, peer| (own.cpu / peer.cpu, own.score.value < peer.score.value),
            |ratio| ratio <= 2.0,
        ));
    }
    for own in rows.iter().filter(|r| r.workload == "news20" && r.solver == "ksparse") {
        goals.push(Goal {
            asked: "news20's shape, k=1000: finishes (aim: below a second)".to_string(),
            found: format!("{}, {:.2} s wall, {:.2} s CPU", own.outcome, own.wall, own.cpu),
            met: own.ok(),
        });
    }
    for kernel in kernels.as_array().into_iter().flatten() {
        if let Some(share) = kernel["share_of_read"].as_f64() {
            goals.push(Goal {
                asked: format!("{}, {} thread(s): 90 % of a plain read", word(kernel, "kernel"), kernel["threads"]),
                found: format!("{:.0} %", 100.0 * share),
                met: share >= 0.9,
            });
        }
    }
    // Beside a design of a few megabytes the program itself is what one would measure.
    let large = |found: &&Value| found["design"].as_f64().is_none_or(|bytes| bytes > 1e7);
    for found in memory.iter().filter(large) {
        let ratio = found["peak"].as_f64().unwrap_or(f64::NAN) / found["design"].as_f64().unwrap_or(f64::NAN);
        goals.push(Goal {
            asked: format!("{}: peak memory below 2.5 designs", word(found, "workload")),
            found: found["failed"].as_str().map_or(format!("{ratio:.2}"), |why| format!("failed: {why}")),
            met: ratio < 2.5,
        });
    }
    goals.extend(truth_reached(rows));
    for workload in ["e1-1000", "e1-2000"] {
        goals.extend(below(rows, workload, &["abess", "abess-wide", "scope", "scope-double"]));
        goals.extend(below(rows, workload, &["abess-approx"]));
    }
    goals.extend(honest(rows));
    goals
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("?")
}

/// The answers of `solver` on a workload, beside ksparse's row of the same seed: a failure of ksparse stays in and
/// counts against it (its figures are NaN, which no comparison accepts), a peer without an answer is left out.
fn beside<'r>(rows: &'r [Row], workload: &'r str, solver: &str) -> Vec<(&'r Row, &'r Row)> {
    let of = |name: &str| rows.iter().filter(move |r| r.workload == workload && r.solver == name).collect::<Vec<_>>();
    let (own, other) = (of("ksparse"), of(solver));
    let answered = |seed| other.iter().copied().find(|r| r.seed == seed && r.ok());
    own.into_iter().filter_map(|own| answered(own.seed).map(|peer| (own, peer))).collect()
}

fn faster(
    rows: &[Row],
    workload: &str,
    peer: &str,
    asked: &str,
    compare: impl Fn(&Row, &Row) -> (f64, bool),
    enough: impl Fn(f64) -> bool,
) -> Option<Goal> {
    let mut found: Vec<(f64, bool)> =
        beside(rows, workload, peer).into_iter().map(|(own, peer)| compare(own, peer)).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (first, last, middle) = (found.first()?.0, found.last()?.0, found[found.len() / 2].0);
    let good = found.iter().filter(|f| f.1).count();
    Some(Goal {
        asked: format!("{workload}, {peer}: {asked}"),
        found: format!(
            "ratio {middle:.2} (median; {first:.2} to {last:.2}), objective so on {good} of {} seeds",
            found.len()
        ),
        met: enough(middle) && good == found.len(),
    })
}

fn truth_reached(rows: &[Row]) -> Option<Goal> {
    let pairs = beside(rows, "linear-hard", "truth");
    let good = pairs.iter().filter(|(own, truth)| own.score.value <= truth.score.value * (1.0 + SAME)).count();
    (!pairs.is_empty()).then(|| Goal {
        asked: "linear-hard: at or below the refit on the true support on every seed".to_string(),
        found: format!("{good} of {}", pairs.len()),
        met: good == pairs.len(),
    })
}

fn below(rows: &[Row], workload: &str, peers: &[&str]) -> Option<Goal> {
    let own: Vec<&Row> = rows.iter().filter(|r| r.workload == workload && r.solver == "ksparse").collect();
    let best = |seed: u64| {
        rows.iter()
            .filter(|r| r.workload == workload && r.seed == seed && peers.contains(&r.solver.as_str()) && r.ok())
            .map(|r| r.score.value)
            .reduce(f64::min)
    };
    let compared: Vec<(f64, f64)> = own.iter().filter_map(|r| best(r.seed).map(|b| (r.score.value, b))).collect();
    let good = compared.iter().filter(|(own, best)| *own < best * (1.0 - SAME)).count();
    let margin = compared.iter().map(|(own, best)| 1.0 - own / best).fold(f64::INFINITY, f64::min);
    (!compared.is_empty()).then(|| Goal {
        asked: format!("{workload}: strictly below the best of {} on every seed", peers.join(", ")),
        found: format!("{good} of {}; smallest margin {:.1} %", compared.len(), 100.0 * margin),
        met: good == compared.len(),
    })
}

/// ksparse's own figure is the judge's at the same coefficients, and these are optimal on their support.
fn honest(rows: &[Row]) -> Option<Goal> {
    let own: Vec<&Row> = rows.iter().filter(|r| r.reported.is_finite() && r.score.as_returned.is_finite()).collect();
    let worst = |f: fn(&Row) -> f64| own.iter().map(|r| f(r)).fold(0.0, f64::max);
    let claim = worst(|r| (r.reported - r.score.as_returned).abs() / r.score.as_returned.abs());
    let slack = worst(|r| (r.score.as_returned - r.score.value).abs() / r.score.value.abs());
    (!own.is_empty()).then(|| Goal {
        asked: "ksparse's reported objective is the judge's at the same coefficients (1e-9), and optimal there (1e-6)"
            .to_string(),
        found: format!("largest relative differences {claim:.1e} and {slack:.1e} in {} fits", own.len()),
        met: claim < 1e-9 && slack < 1e-6,
    })
}
