//! The whole run: data, fits, judge, kernels, memory; then the report.

use crate::Outcome;
use crate::child::{self, Ended};
use crate::goals;
use crate::report;
use crate::workload;
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Options of `run`.
pub struct Options {
    quick: bool,
    tiny: bool,
    python: Option<PathBuf>,
    work: PathBuf,
    out: PathBuf,
    about: Vec<(String, String)>,
}

impl Options {
    /// From the command line; `--about key=value` goes into the report as it is.
    pub fn parse(words: &[&str]) -> Outcome<Self> {
        let mut options = Self {
            quick: false,
            tiny: false,
            python: None,
            work: "bench/scratch".into(),
            out: "bench/scratch/results.json".into(),
            about: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().copied().ok_or(format!("{word} needs a value"));
            match word {
                "--quick" => options.quick = true,
                "--tiny" => options.tiny = true,
                "--python" => options.python = Some(value()?.into()),
                "--work" => options.work = value()?.into(),
                "--out" => options.out = value()?.into(),
                "--about" => {
                    let pair = value()?;
                    let (key, text) = pair.split_once('=').ok_or("--about needs key=value")?;
                    options.about.push((key.to_string(), text.to_string()));
                }
                _ => return Err(format!("unknown option {word}").into()),
            }
        }
        Ok(options)
    }
}

/// One solver on one data set.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The workload's name.
    pub workload: &'static str,
    /// The seed.
    pub seed: u64,
    /// The solver, with its threads if not 1.
    pub solver: String,
    /// "ok", "time-out" or what went wrong.
    pub outcome: String,
    /// Shortest wall time in seconds.
    pub wall: f64,
    /// Shortest processor time in seconds.
    pub cpu: f64,
    /// Every repeat: wall, processor.
    pub repeats: Vec<(f64, f64)>,
    /// The judge's score; NaN without a judge.
    pub value: f64,
    /// The judge's value at the returned coefficients (ksparse only).
    pub as_returned: f64,
    /// What the solver itself reported (ksparse only).
    pub reported: f64,
    /// Coordinates of the truth among those returned.
    pub hits: usize,
    /// Anything else.
    pub note: String,
}

impl Row {
    /// Whether there is an answer.
    pub fn ok(&self) -> bool {
        self.outcome == "ok"
    }
}

/// What a fit prints.
#[derive(Deserialize)]
struct Answer {
    wall: Vec<f64>,
    cpu: Vec<f64>,
    support: Vec<usize>,
    coefficients: Option<Vec<f64>>,
    reported: Option<f64>,
    note: String,
}

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
const TEXT_PEERS: &[&str] = &["liblinear", "liblinear-1e-4"];

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

/// A peer's fit may take so long (its repeats together three times that)...
const CAP: Duration = Duration::from_secs(120);
/// ...but liblinear's process first searches for the strength that leaves k non-zeros, untimed.
const SEARCH_CAP: Duration = Duration::from_secs(900);

/// Runs everything and writes the results beside a report in Markdown.
pub fn run(options: &Options) -> Outcome {
    let bench = Bench { options, this: std::env::current_exe()? };
    cap_memory();
    let (mut rows, mut memory) = (Vec::new(), Vec::new());
    for part in plan(options) {
        for seed in 1..=part.seeds {
            let dir = options.work.join(format!("{}-{seed}", part.workload));
            bench.own(&["data", part.workload, &seed.to_string(), &text(&dir)])?;
            rows.extend(bench.fits(&part, seed, &dir)?);
            if part.memory && seed == 1 {
                match bench.own(&["memory", &text(&dir), "auto"]) {
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
    let kernels = bench.own(if options.quick || options.tiny { &["kernels", "--quick"] } else { &["kernels"] })?;
    let about: BTreeMap<&str, &str> = options.about.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let goals = goals::check(&rows, &kernels, &memory);
    let results = json!({"about": about, "rows": rows, "kernels": kernels, "memory": memory, "goals": goals});
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

/// Gives the fits half of the machine's memory: one that asks for more fails alone instead of taking the machine with it.
fn cap_memory() {
    let total = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok())
    });
    if let Some(kilobytes) = total {
        let limit = Rlimit { current: Some(512 * kilobytes), maximum: Some(512 * kilobytes) };
        if let Err(error) = setrlimit(Resource::As, limit) {
            eprintln!("no cap on memory: {error}");
        }
    }
}

struct Bench<'a> {
    options: &'a Options,
    this: PathBuf,
}

impl Bench<'_> {
    /// A command of this program in a process of its own; its output as JSON (null when it prints nothing).
    fn own(&self, arguments: &[&str]) -> Outcome<Value> {
        match child::run(&self.this, arguments, "", SEARCH_CAP)? {
            Ended::Printed(out) if out.trim().is_empty() => Ok(Value::Null),
            Ended::Printed(out) => Ok(serde_json::from_str(&out)?),
            Ended::TimeOut => Err(format!("{arguments:?}: out of time").into()),
            Ended::Failed(why) => Err(format!("{arguments:?}: {why}").into()),
        }
    }

    /// Every solver on one data set, judged.
    fn fits(&self, part: &Part, seed: u64, dir: &Path) -> Outcome<Vec<Row>> {
        let (mut rows, mut answers) = (Vec::new(), serde_json::Map::new());
        let mut add = |solver: &str, ended: Ended| -> Outcome {
            let (row, answer) = row(workload::by_name(part.workload)?.name, seed, solver, ended)?;
            eprintln!("{} seed {seed} {solver}: {} {:.3} s", row.workload, row.outcome, row.cpu);
            if let Some(answer) = answer {
                answers.insert(
                    solver.to_string(),
                    json!({"support": answer.support, "coefficients": answer.coefficients}),
                );
            }
            rows.push(row);
            Ok(())
        };
        for (threads, label) in [("1", "ksparse"), ("2", "ksparse, 2 threads")] {
            add(label, child::run(&self.this, &["fit", &text(dir), "auto", threads, "3"], "", CAP)?)?;
        }
        if let Some(python) = self.options.python.as_deref() {
            let peers = if seed <= part.peer_seeds { part.peers } else { &[] };
            for &peer in peers {
                let cap = if peer.starts_with("liblinear") { SEARCH_CAP } else { CAP * 3 };
                add(peer, child::run(python, &["bench/peers.py", peer, &text(dir), "3"], "", cap)?)?;
            }
            let truth = crate::data::Meta::read(dir)?.truth;
            if truth.len() <= workload::by_name(part.workload)?.k {
                answers.insert("truth".to_string(), json!({"support": truth}));
                rows.push(Row { solver: "truth".to_string(), ..blank(part.workload, seed, "ok") });
            }
            let input = Value::Object(answers).to_string();
            match child::run(python, &["bench/judge.py", &text(dir)], &input, SEARCH_CAP)? {
                Ended::Printed(out) => score(&mut rows, &serde_json::from_str(&out)?),
                Ended::TimeOut => return Err("the judge ran out of time".into()),
                Ended::Failed(why) => return Err(format!("the judge failed: {why}").into()),
            }
        }
        Ok(rows)
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn blank(workload: &'static str, seed: u64, outcome: &str) -> Row {
    Row {
        workload,
        seed,
        solver: String::new(),
        outcome: outcome.to_string(),
        wall: f64::NAN,
        cpu: f64::NAN,
        repeats: Vec::new(),
        value: f64::NAN,
        as_returned: f64::NAN,
        reported: f64::NAN,
        hits: 0,
        note: String::new(),
    }
}

fn row(workload: &'static str, seed: u64, solver: &str, ended: Ended) -> Outcome<(Row, Option<Answer>)> {
    let (outcome, answer) = match ended {
        Ended::Printed(out) => ("ok".to_string(), Some(serde_json::from_str::<Answer>(&out)?)),
        Ended::TimeOut => ("time-out".to_string(), None),
        Ended::Failed(why) => (format!("failed: {why}"), None),
    };
    let mut row = Row { solver: solver.to_string(), ..blank(workload, seed, &outcome) };
    if let Some(answer) = &answer {
        let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
        (row.wall, row.cpu) = (least(&answer.wall), least(&answer.cpu));
        row.repeats = answer.wall.iter().copied().zip(answer.cpu.iter().copied()).collect();
        row.reported = answer.reported.unwrap_or(f64::NAN);
        row.note.clone_from(&answer.note);
    }
    Ok((row, answer))
}

/// Puts the judge's scores into the rows.
fn score(rows: &mut [Row], scores: &Value) {
    for row in rows {
        let found = &scores[&row.solver];
        row.value = found["value"].as_f64().unwrap_or(f64::NAN);
        row.as_returned = found["as_returned"].as_f64().unwrap_or(f64::NAN);
        row.hits = found["hits"].as_u64().unwrap_or(0) as usize;
        if let Some(refused) = found["refused"].as_str() {
            row.outcome = format!("refused: {refused}");
        }
    }
}
