//! The command `ksparse-experiments`; see the library for what it does.

use clap::Parser;
use ksparse_experiments::experiments;
use ksparse_experiments::frame::{self, Experiment, Failure, Settings};
use std::path::PathBuf;
use std::process::ExitCode;

/// The experiments of the papers on sparsity-constrained optimisation, each by one command.
#[derive(Parser)]
#[command(name = "ksparse-experiments", version)]
struct Arguments {
    /// What to run: E1, E2, ... (several, or `all`), `list`, or `report`
    #[arg(required = true, value_name = "WHAT")]
    what: Vec<String>,
    /// Small sizes: every experiment within a minute or so
    #[arg(long)]
    quick: bool,
    /// Folder of the real data files; simulated data stand in without it
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Replicas (default: the experiment's own)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    replicas: Option<u64>,
    /// First seed; replica r has seed S + r
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Where rows, figures and pages go [default: experiments-out, with --quick experiments-out/quick]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Cells run at the same time; those whose time is reported always run alone
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=256))]
    jobs: u64,
    /// Cells whose time is reported run side by side too: CPU seconds, but of cores that share memory and caches
    #[arg(long)]
    together: bool,
    /// Only cells whose name, as a run shows it, contains one of these (`--only published,'grasp n=100 p=60'`)
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    only: Vec<String>,
    /// File of the report [default: report.html in --out]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Draw figures and pages from the rows there are, without running anything
    #[arg(long)]
    draw: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("ksparse-experiments: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let all = experiments();
    let default_out = if arguments.quick { "experiments-out/quick" } else { "experiments-out" };
    let settings = Settings {
        quick: arguments.quick,
        data: arguments.data.clone(),
        replicas: arguments.replicas.map(|n| n as usize),
        seed: arguments.seed,
        out: arguments.out.clone().unwrap_or_else(|| PathBuf::from(default_out)),
        jobs: arguments.jobs as usize,
        together: arguments.together,
        only: arguments.only.clone(),
    };
    for what in chosen(&arguments.what, &all)? {
        match what {
            Task::List => list(&all),
            Task::Report => {
                let file = arguments.to.clone().unwrap_or_else(|| settings.out.join("report.html"));
                frame::report(&all, &settings, &file)?;
                println!("{}", file.display());
            }
            Task::Run(i) => frame::run(all[i].as_ref(), &settings, arguments.draw)?,
        }
    }
    Ok(())
}

enum Task {
    List,
    Report,
    Run(usize),
}

/// What the words ask for; all of them are checked before anything runs.
fn chosen(words: &[String], all: &[Box<dyn Experiment>]) -> Result<Vec<Task>, Failure> {
    let mut tasks = Vec::new();
    for word in words {
        let found = all.iter().position(|e| e.id().eq_ignore_ascii_case(word));
        match (found, word.to_ascii_lowercase().as_str()) {
            (Some(i), _) => tasks.push(Task::Run(i)),
            (None, "all") => tasks.extend((0..all.len()).map(Task::Run)),
            (None, "list") => tasks.push(Task::List),
            (None, "report") => tasks.push(Task::Report),
            _ => {
                let ids: Vec<&str> = all.iter().map(|e| e.id()).collect();
                return Err(Failure::Usage(format!(
                    "`{word}` is no experiment; there are {}, and `all`, `list`, `report`",
                    ids.join(", ")
                )));
            }
        }
    }
    Ok(tasks)
}

fn list(all: &[Box<dyn Experiment>]) {
    for experiment in all {
        println!("{}  {}", experiment.id(), experiment.title());
    }
}
