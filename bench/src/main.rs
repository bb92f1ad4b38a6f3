//! ksparse beside its peers: the program behind `bench/run`.
//!
//! ```text
//! run     [--quick] [--python <interpreter>] --work <dir> --out <file.json>    the goals, as one report
//! field   [--data <folder>] [--only <workloads>] [--resume] ... as run         ksparse in the field of its peers
//! data    <workload> <seed> <dir> <rows held out> [<folder>]         writes the data all solvers read
//! fit     <dir> <solver> <threads> <repeats>                         fits, prints the answer as JSON
//! kernels [--quick]                                                  products against a plain read of memory
//! memory  <dir> <solver>                                             peak resident memory of one fit
//! graphs  <dir> [--quick] [<interpreter>]                            networks: minimisers, a fit, paths, a large fit
//! search  genes <folder> <best-known.csv> <effort> <threads>         f beside the best that anything has found
//! search  simulated <every which problem> <threads>                  f beside greedy methods, and more effort
//! search  signs <trials> <threads>                                    sparse vectors of +-1 from few products
//! ablation <threads> [<folder>]                                      every number of the default solver, changed
//! ```
//!
//! `run` and `field` start the others (and the peers' adapters in Python) as child processes, one per fit: a solver
//! that crashes, leaks or takes too long harms nobody else's figures.

mod ablation;
mod child;
mod contest;
mod data;
mod field;
mod figure;
mod fit;
mod goals;
mod graphs;
mod kernels;
mod options;
mod real;
mod report;
mod run;
mod search;
mod summary;
mod table;
mod workload;

use options::Options;
use std::path::Path;
use std::process::ExitCode;

/// What every command returns: the text of an error is for the person at the terminal.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ksparse-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(words: &[&str]) -> Outcome {
    match words {
        ["run", words @ ..] => run::run(&Options::parse(words)?),
        ["field", words @ ..] => field::run(&Options::parse(words)?),
        ["data", name, seed, dir, held_out, folder @ ..] => {
            let folder = folder.first().map(Path::new);
            data::write(&workload::by_name(name)?, seed.parse()?, Path::new(dir), held_out.parse()?, folder)
        }
        ["fit", dir, solver, threads, repeats] => fit::fit(Path::new(dir), solver, threads.parse()?, repeats.parse()?),
        ["kernels", options @ ..] => kernels::kernels(options.contains(&"--quick")),
        ["graphs", dir, "--quick", python @ ..] => graphs::graphs(Path::new(dir), python.first().map(Path::new), true),
        ["graphs", dir, python @ ..] => graphs::graphs(Path::new(dir), python.first().map(Path::new), false),
        ["search", "genes", folder, known, effort, threads] => {
            search::genes(Path::new(folder), Path::new(known), effort.parse()?, threads.parse()?)
        }
        ["search", "simulated", share, threads] => search::simulated(share.parse()?, threads.parse()?),
        ["search", "signs", trials, threads] => search::signs(trials.parse()?, threads.parse()?),
        ["ablation", threads, folder @ ..] => ablation::ablation(folder.first().map(Path::new), threads.parse()?),
        ["memory", dir, solver] => fit::memory(Path::new(dir), solver),
        _ => {
            let commands = "run | field | data | fit | kernels | memory | graphs | search | ablation";
            Err(format!("usage: {commands} (see the top of bench/src/main.rs)").into())
        }
    }
}
