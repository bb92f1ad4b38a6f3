//! Every solver on one data set, one process each, and the judge over all of them.

use crate::Outcome;
use crate::child::{self, Ended};
use crate::data::Meta;
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One solver on one data set.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// The workload's name.
    pub workload: String,
    /// The seed.
    pub seed: u64,
    /// The solver, with its threads if not 1.
    pub solver: String,
    /// "ok", "time-out" or what went wrong.
    pub outcome: String,
    /// Shortest wall time of a fit in seconds.
    #[serde(deserialize_with = "number")]
    pub wall: f64,
    /// Shortest processor time of a fit in seconds.
    #[serde(deserialize_with = "number")]
    pub cpu: f64,
    /// Wall time from the start of the process to the end of its first fit: reading, imports and compilation included.
    #[serde(deserialize_with = "number")]
    pub cold_wall: f64,
    /// Processor time of the same.
    #[serde(deserialize_with = "number")]
    pub cold_cpu: f64,
    /// Peak resident memory of the process in bytes.
    #[serde(deserialize_with = "number")]
    pub peak: f64,
    /// Every fit: wall, processor.
    pub repeats: Vec<(f64, f64)>,
    /// What the solver itself reported (ksparse only).
    #[serde(deserialize_with = "number")]
    pub reported: f64,
    /// The judge's.
    pub score: Score,
    /// Anything else.
    pub note: String,
}

/// What the judge says of an answer; NaN where it cannot.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Score {
    /// The objective after an exact refit on the support.
    #[serde(deserialize_with = "number")]
    pub value: f64,
    /// The objective at the returned coefficients.
    #[serde(deserialize_with = "number")]
    pub as_returned: f64,
    /// Coordinates returned.
    pub size: usize,
    /// How many of them are in the truth.
    pub hits: usize,
    /// Shares of the returned that are true, and of the true that are returned.
    #[serde(deserialize_with = "number")]
    pub precision: f64,
    /// See `precision`.
    #[serde(deserialize_with = "number")]
    pub recall: f64,
    /// Error on the rows held out, at the returned coefficients and after the refit: share of wrong labels, mean
    /// squared error, or the objective of a network on their covariance.
    #[serde(deserialize_with = "number")]
    pub test_returned: f64,
    /// See `test_returned`.
    #[serde(deserialize_with = "number")]
    pub test: f64,
    /// Distance to the true coefficients over their length, at the returned coefficients and after the refit.
    #[serde(deserialize_with = "number")]
    pub estimation_returned: f64,
    /// See `estimation_returned`.
    #[serde(deserialize_with = "number")]
    pub estimation: f64,
    /// Why the answer does not count.
    pub refused: Option<String>,
}

impl Default for Score {
    fn default() -> Self {
        let nan = f64::NAN;
        Self {
            value: nan,
            as_returned: nan,
            size: 0,
            hits: 0,
            precision: nan,
            recall: nan,
            test_returned: nan,
            test: nan,
            estimation_returned: nan,
            estimation: nan,
            refused: None,
        }
    }
}

/// JSON has no NaN: null stands for it.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

impl Row {
    /// Whether there is an answer.
    pub fn ok(&self) -> bool {
        self.outcome == "ok"
    }

    fn new(workload: &str, seed: u64, solver: &str, outcome: String) -> Self {
        Self {
            workload: workload.to_string(),
            seed,
            solver: solver.to_string(),
            outcome,
            wall: f64::NAN,
            cpu: f64::NAN,
            cold_wall: f64::NAN,
            cold_cpu: f64::NAN,
            peak: f64::NAN,
            repeats: Vec::new(),
            reported: f64::NAN,
            score: Score::default(),
            note: String::new(),
        }
    }
}

/// What a fit prints.
#[derive(Deserialize)]
struct Answer {
    wall: Vec<f64>,
    cpu: Vec<f64>,
    cold: (Option<f64>, f64),
    peak: Option<f64>,
    support: Vec<usize>,
    coefficients: Option<Vec<f64>>,
    diagonal: Option<Vec<f64>>,
    reported: Option<f64>,
    note: String,
}

/// A data set and who fits it.
pub struct Contest<'a> {
    /// This program.
    pub this: PathBuf,
    /// The interpreter with the peers and the judge.
    pub python: Option<&'a Path>,
    /// Processor time of a process: its fits, and what comes before them.
    pub cap: Duration,
}

/// Processor time for what is not measured: drawing data, judging, searching for a penalty outside the clock.
pub const LONG_CAP: Duration = Duration::from_secs(900);

impl<'a> Contest<'a> {
    /// With this program as ksparse; gives the fits half of the machine's memory: one that asks for more fails alone
    /// instead of taking the machine with it.
    pub fn new(python: Option<&'a Path>, cap: Duration) -> Outcome<Self> {
        let total = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
            text.lines()
                .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok())
        });
        if let Some(kilobytes) = total {
            let limit = Rlimit { current: Some(512 * kilobytes), maximum: Some(512 * kilobytes) };
            if let Err(error) = setrlimit(Resource::As, limit) {
                eprintln!("no cap on memory: {error}");
            }
        }
        Ok(Self { this: std::env::current_exe()?, python, cap })
    }

    /// A command of this program in a process of its own; its output as JSON (null when it prints nothing).
    pub fn own(&self, arguments: &[&str]) -> Outcome<Value> {
        match child::run(&self.this, arguments, "", LONG_CAP)? {
            Ended::Printed(out) if out.trim().is_empty() => Ok(Value::Null),
            Ended::Printed(out) => Ok(serde_json::from_str(&out)?),
            Ended::TimeOut => Err(format!("{arguments:?}: out of time").into()),
            Ended::Failed(why) => Err(format!("{arguments:?}: {why}").into()),
        }
    }

    /// ksparse on these numbers of threads, then the peers, then the judge. The data are in `dir`. With a folder to
    /// keep them in, fits found there are not repeated.
    pub fn fits(&self, dir: &Path, threads: &[usize], peers: &[&str], kept: Option<&Path>) -> Outcome<Vec<Row>> {
        let meta = Meta::read(dir)?;
        let place = text(dir);
        let (mut rows, mut answers) = (Vec::new(), serde_json::Map::new());
        let mut add = |solver: &str, ended: Ended| -> Outcome {
            let (row, answer) = row(&meta, solver, ended)?;
            eprintln!("{} seed {} {solver}: {} {:.3} s", row.workload, row.seed, row.outcome, row.cpu);
            if let Some(Answer { support, coefficients, diagonal, .. }) = answer {
                let answer = json!({"support": support, "coefficients": coefficients, "diagonal": diagonal});
                answers.insert(solver.to_string(), answer);
            }
            rows.push(row);
            Ok(())
        };
        for &threads in threads {
            let label = if threads == 1 { "ksparse".to_string() } else { format!("ksparse, {threads} threads") };
            let arguments = ["fit", &place, "auto", &threads.to_string(), "3"];
            add(&label, once(kept, &label, || child::run(&self.this, &arguments, "", self.cap))?)?;
        }
        let Some(python) = self.python else { return Ok(rows) };
        for &peer in peers {
            let cap = if peer.starts_with("liblinear-at") { LONG_CAP } else { self.cap };
            let arguments = ["bench/python/peers.py", peer, &place, "3"];
            add(peer, once(kept, peer, || child::run(python, &arguments, "", cap))?)?;
        }
        if !meta.truth.is_empty() && meta.truth.len() <= meta.k {
            answers.insert("truth".to_string(), json!({"support": meta.truth}));
            rows.push(Row::new(&meta.workload, meta.seed, "truth", "ok".to_string()));
        }
        let input = Value::Object(answers).to_string();
        let mut scores: BTreeMap<String, Score> =
            match child::run(python, &["bench/python/judge.py", &place], &input, LONG_CAP)? {
                Ended::Printed(out) => serde_json::from_str(&out)?,
                Ended::TimeOut => return Err("the judge ran out of time".into()),
                Ended::Failed(why) => return Err(format!("the judge failed: {why}").into()),
            };
        for row in &mut rows {
            row.score = scores.remove(&row.solver).unwrap_or_default();
            if let Some(refused) = &row.score.refused {
                row.outcome = format!("refused: {refused}");
            }
        }
        Ok(rows)
    }
}

/// How a fit ended: as kept, or run now and kept.
fn once(kept: Option<&Path>, solver: &str, run: impl FnOnce() -> Outcome<Ended>) -> Outcome<Ended> {
    let Some(folder) = kept else { return run() };
    let file = folder.join(format!("{solver}.json"));
    if file.exists() {
        return Ok(serde_json::from_str(&fs::read_to_string(&file)?)?);
    }
    let ended = run()?;
    write_whole(&file, &serde_json::to_string(&ended)?)?;
    Ok(ended)
}

/// Beside, then renamed: an interrupted run leaves no half of a file.
pub fn write_whole(path: &Path, contents: &str) -> Outcome {
    let beside = path.with_extension("part");
    fs::write(&beside, contents)?;
    Ok(fs::rename(beside, path)?)
}

/// A path as an argument.
pub fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn row(meta: &Meta, solver: &str, ended: Ended) -> Outcome<(Row, Option<Answer>)> {
    let (outcome, answer) = match ended {
        Ended::Printed(out) => ("ok".to_string(), Some(serde_json::from_str::<Answer>(&out)?)),
        Ended::TimeOut => ("time-out".to_string(), None),
        Ended::Failed(why) if why.contains("No module named") => ("not installed".to_string(), None),
        Ended::Failed(why) => (format!("failed: {why}"), None),
    };
    let mut row = Row::new(&meta.workload, meta.seed, solver, outcome);
    if let Some(answer) = &answer {
        let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
        (row.wall, row.cpu) = (least(&answer.wall), least(&answer.cpu));
        (row.cold_wall, row.cold_cpu) = (answer.cold.0.unwrap_or(f64::NAN), answer.cold.1);
        row.peak = answer.peak.unwrap_or(f64::NAN);
        row.repeats = answer.wall.iter().copied().zip(answer.cpu.iter().copied()).collect();
        row.reported = answer.reported.unwrap_or(f64::NAN);
        row.note.clone_from(&answer.note);
    }
    Ok((row, answer))
}
