//! What can be asked for.

use crate::Outcome;
use std::path::PathBuf;

/// Options of `run` and `field`.
pub struct Options {
    /// A subset.
    pub quick: bool,
    /// Small problems.
    pub tiny: bool,
    /// The interpreter with the peers; without one ksparse is measured alone.
    pub python: Option<PathBuf>,
    /// Where data live while they are needed.
    pub work: PathBuf,
    /// The results.
    pub out: PathBuf,
    /// For the head of the report.
    pub about: Vec<(String, String)>,
    /// The folder of real data (`field`).
    pub data: Option<PathBuf>,
    /// These workloads alone; all when empty (`field`).
    pub only: Vec<String>,
    /// Keep what an earlier run has finished (`field`).
    pub resume: bool,
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
            data: None,
            only: Vec::new(),
            resume: false,
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
                "--data" => options.data = Some(value()?.into()),
                "--only" => options.only.extend(value()?.split(',').map(str::to_string)),
                "--resume" => options.resume = true,
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
