//! The goals: data, fits, judge, kernels, memory; then the report.

use crate::Outcome;
use crate::contest::{Contest, text};
use crate::goals;
use crate::graphs;
use crate::options::Options;
use crate::report;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

/// A workload with the seeds to run and who runs on how many of them.
struct Part {
    workload: &'static str,
    seeds: u64,
    /// The peers run on the first so many seeds.
    peer_seeds: u64,
    peers: &'static [&'static str],
    memory: bool,
}

const LOGISTIC_PEERS: &[&str] = &["abess", "abess-wide", "abess-approx", "scope", "scope-double"];
const LINEAR_PEERS: &[&str] = &["abess", "abess-wide", "scope", "scope-double", "omp"];
const TEXT_PEERS: &[&str] = &["liblinear-at-k", "liblinear-at-k-1e-4"];

fn plan(options: &Options) -> Vec<Part> {
    let part = |workload, seeds, peer_seeds, peers, memory| Part { workload, seeds, peer_seeds, peers, memory };
    if options.tiny {
        return vec![
            part("tiny-logistic", 2, 1, LOGISTIC_PEERS, true),
            part("tiny-linear", 2, 1, LINEAR_PEERS, true),
            part("tiny-text", 1, 1, TEXT_PEERS, true),
        ];
    }
    if options.quick {
        return vec![
            part("e1-2000", 1, 1, LOGISTIC_PEERS, false),
            part("linear", 1, 1, LINEAR_PEERS, true),
            part("linear-hard", 5, 1, LINEAR_PEERS, false),
            part("rcv1", 1, 1, &TEXT_PEERS[..1], true),
        ];
    }
    vec![
        part("e1-2000", 5, 5, LOGISTIC_PEERS, false),
        part("e1-1000", 5, 5, LOGISTIC_PEERS, false),
        part("linear", 3, 3, LINEAR_PEERS, true),
        part("linear-hard", 20, 3, LINEAR_PEERS, false),
        part("rcv1", 3, 3, TEXT_PEERS, true),
        part("news20", 1, 1, &[], true),
    ]
}

/// Three fits of two minutes.
const CAP: Duration = Duration::from_secs(360);

/// Runs everything and writes the results beside a report in Markdown.
pub fn run(options: &Options) -> Outcome {
    let contest = Contest::new(options.python.as_deref(), CAP)?;
    let (mut rows, mut memory) = (Vec::new(), Vec::new());
    for part in plan(options) {
        for seed in 1..=part.seeds {
            let dir = options.work.join(format!("{}-{seed}", part.workload));
            contest.own(&["data", part.workload, &seed.to_string(), &text(&dir), "0"])?;
            let peers = if seed <= part.peer_seeds { part.peers } else { &[] };
            rows.extend(contest.fits(&dir, &[1, 2], peers, None)?);
            if part.memory && seed == 1 {
                match contest.own(&["memory", &text(&dir), "auto"]) {
                    Ok(Value::Object(mut found)) => {
                        found.insert("workload".to_string(), json!(part.workload));
                        memory.push(Value::Object(found));
                    }
                    Ok(_) => {}
                    // Kept in the results: a fit that runs out of memory must not vanish from the list of goals.
                    Err(error) => memory.push(json!({"workload": part.workload, "failed": error.to_string()})),
                }
            }
            fs::remove_dir_all(&dir)?;
        }
    }
    eprintln!("kernels");
    let kernels = contest.own(if options.quick || options.tiny { &["kernels", "--quick"] } else { &["kernels"] })?;
    eprintln!("networks");
    let folder = text(&options.work);
    let mut words = vec!["graphs", &folder];
    words.extend((options.quick || options.tiny).then_some("--quick"));
    let python = options.python.as_deref().map(text);
    words.extend(python.as_deref());
    let networks = contest.own(&words)?;
    let about: BTreeMap<&str, &str> = options.about.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let mut goals = goals::check(&rows, &kernels, &memory);
    goals.extend(graphs::goals(&networks));
    let results = json!({
        "about": about, "rows": rows, "kernels": kernels, "memory": memory, "networks": networks, "goals": goals,
    });
    if let Some(parent) = options.out.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(&options.out, serde_json::to_string_pretty(&results)? + "\n")?;
    let report = report::markdown(&options.about, &rows, &kernels, &memory, &goals, options.python.is_some());
    fs::write(options.out.with_extension("md"), &report)?;
    println!("{report}");
    eprintln!("written: {} and the same as .md", options.out.display());
    Ok(())
}
