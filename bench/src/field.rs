//! ksparse in the field of its peers: many workloads, everything the judge can say, a table and a figure.
//!
//! What is finished is kept, fit by fit and then as one file per data set, so that an interrupted run goes on where it
//! was (`--resume`).

use crate::Outcome;
use crate::contest::{Contest, Row, text, write_whole};
use crate::options::Options;
use crate::workload;
use crate::{figure, table};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

/// A workload, the seeds to run, the rows held out, and the peers.
struct Part {
    workload: &'static str,
    seeds: u64,
    held_out: usize,
    peers: &'static [&'static str],
}

/// All that fit a dense logistic regression.
const LOGISTIC: &[&str] = &[
    "abess",
    "abess-wide",
    "abess-approx",
    "scope",
    "htp",
    "htp-tuned",
    "iht",
    "grasp",
    "scope-omp",
    "foba",
    "l0learn-l0",
    "l0learn-l0l2",
    "skglm-l1",
    "skglm-mcp",
    "celer",
    "sklearn-liblinear",
    "sklearn-saga",
    "liblinear",
];
/// The best of each package among them.
const LOGISTIC_SOME: &[&str] = &[
    "abess",
    "abess-wide",
    "abess-approx",
    "scope",
    "l0learn-l0l2",
    "skglm-l1",
    "skglm-mcp",
    "celer",
    "sklearn-liblinear",
];
/// Those that fit a dense linear regression.
const LINEAR: &[&str] = &[
    "abess",
    "abess-wide",
    "scope",
    "htp",
    "htp-tuned",
    "omp",
    "l0learn-l0",
    "l0learn-l0l2",
    "skglm-l1",
    "skglm-mcp",
    "celer",
];
const LINEAR_SOME: &[&str] =
    &["abess", "abess-wide", "scope", "omp", "l0learn-l0", "l0learn-l0l2", "skglm-mcp", "celer"];
const TEXT: &[&str] = &["abess", "scope", "l0learn-l0", "skglm-l1", "celer", "sklearn-liblinear", "liblinear"];
const TEXT_SOME: &[&str] = &["abess", "l0learn-l0", "skglm-l1", "celer", "liblinear"];
const NETWORK: &[&str] = &["sklearn-glasso", "skglm-glasso"];

fn plan(options: &Options) -> Vec<Part> {
    let part = |workload, seeds, held_out, peers| Part { workload, seeds, held_out, peers };
    if options.tiny {
        return vec![
            part("tiny-logistic", 2, 100, LOGISTIC),
            part("tiny-linear", 1, 100, LINEAR),
            part("tiny-text", 1, 100, TEXT),
            part("tiny-network", 1, 60, NETWORK),
        ];
    }
    if options.quick {
        return vec![
            part("e1-1000", 1, 5000, LOGISTIC_SOME),
            part("linear-hard", 1, 1000, LINEAR_SOME),
            part("rcv1-500", 1, 5000, &["skglm-l1", "liblinear"]),
            part("network-60", 1, 100, NETWORK),
        ];
    }
    vec![
        part("e1-1000", 2, 5000, LOGISTIC),
        part("e1-500", 1, 5000, LOGISTIC_SOME),
        part("e1-2000", 1, 5000, LOGISTIC_SOME),
        part("e1i-1000", 1, 5000, LOGISTIC_SOME),
        part("linear", 2, 1000, LINEAR),
        part("linear-hard", 3, 1000, LINEAR),
        part("rcv1-500", 1, 5000, TEXT),
        part("rcv1-file", 1, 0, TEXT_SOME),
        part("riboflavin-file", 3, 0, LINEAR_SOME),
        part("network-60", 3, 100, NETWORK),
        part("linear-1k", 2, 1000, LINEAR_SOME),
        part("logistic-1k", 2, 1000, LOGISTIC_SOME),
        part("gisette-file", 1, 0, LOGISTIC_SOME),
        part("logistic-5k", 1, 1000, LOGISTIC_SOME),
        part("linear-5k", 1, 1000, LINEAR_SOME),
        part("leukemia-file", 1, 0, LOGISTIC_SOME),
        part("arcene-file", 2, 0, LOGISTIC_SOME),
        part("news20-file", 1, 0, TEXT_SOME),
        part("news20-500", 1, 5000, TEXT_SOME),
        part("network-120", 1, 100, NETWORK),
        part("linear-10k", 1, 1000, LINEAR_SOME),
        part("logistic-10k", 1, 1000, LOGISTIC_SOME),
        part("e1i-500", 1, 5000, LOGISTIC_SOME),
        part("e1i-2000", 1, 5000, LOGISTIC_SOME),
    ]
}

/// Processor time of a solver's process.
pub const CAP: Duration = Duration::from_secs(60);

/// Runs what is asked for and writes the results (`.json`), the tables (`.md`) and the figure (`.svg`).
pub fn run(options: &Options) -> Outcome {
    let parts = chosen(options)?;
    let contest = Contest::new(options.python.as_deref(), CAP)?;
    let cells = options.work.join("field");
    if cells.exists() && !options.resume {
        fs::remove_dir_all(&cells)?;
    }
    fs::create_dir_all(&cells)?;
    let mut rows: Vec<Row> = Vec::new();
    // Seed after seed: however early a run ends, it has seen most workloads.
    for seed in 1..=parts.iter().map(|part| part.seeds).max().unwrap_or(0) {
        for part in parts.iter().filter(|part| seed <= part.seeds) {
            let cell = cells.join(format!("{}-{seed}.json", part.workload));
            if cell.exists() {
                rows.extend(serde_json::from_str::<Vec<Row>>(&fs::read_to_string(&cell)?)?);
                continue;
            }
            let dir = options.work.join(format!("field-{}-{seed}", part.workload));
            let (number, held_out, place) = (seed.to_string(), part.held_out.to_string(), text(&dir));
            let folder = options.data.as_deref().map(text);
            let mut arguments = vec!["data", part.workload, &number, &place, &held_out];
            arguments.extend(folder.as_deref());
            contest.own(&arguments)?;
            let kept = cell.with_extension("");
            fs::create_dir_all(&kept)?;
            let found = contest.fits(&dir, &[1], part.peers, Some(&kept))?;
            write_whole(&cell, &serde_json::to_string(&found)?)?;
            fs::remove_dir_all(&kept)?;
            fs::remove_dir_all(&dir)?;
            rows.extend(found);
        }
    }
    let about: BTreeMap<&str, &str> = options.about.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    if let Some(parent) = options.out.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(&options.out, serde_json::to_string_pretty(&json!({"about": about, "rows": rows}))? + "\n")?;
    fs::write(options.out.with_extension("md"), table::markdown(&options.about, &rows))?;
    fs::write(options.out.with_extension("svg"), figure::svg(&rows, &figure::FRONT, 3))?;
    fs::write(options.out.with_extension("all.svg"), figure::svg(&rows, &figure::everything(), 3))?;
    eprintln!("written: {} and the same as .md, .svg and .all.svg", options.out.display());
    Ok(())
}

/// The parts asked for: files only where there is a folder of them, and `--only` where given.
fn chosen(options: &Options) -> Outcome<Vec<Part>> {
    let mut parts = plan(options);
    if let Some(odd) = options.only.iter().find(|name| parts.iter().all(|part| part.workload != **name)) {
        let names: Vec<&str> = parts.iter().map(|part| part.workload).collect();
        return Err(format!("--only {odd}: this run has {}", names.join(", ")).into());
    }
    parts.retain(|part| options.only.is_empty() || options.only.iter().any(|name| name == part.workload));
    if options.data.is_none() {
        parts.retain(|part| workload::by_name(part.workload).is_ok_and(|w| !w.is_file()));
    }
    Ok(parts)
}
