//! ksparse beside its peers: the program behind `bench/run`.
//!
//! ```text
//! run     [--quick] [--python <interpreter>] --work <dir> --out <file.json>    everything, as one report
//! data    <workload> <seed> <dir>                                    writes the data all solvers read
//! fit     <dir> <solver> <threads> <repeats>                         fits, prints the answer as JSON
//! kernels [--quick]                                                  products against a plain read of memory
//! memory  <dir> <solver>                                             peak resident memory of one fit
//! ```
//!
//! `run` starts the others (and the peers' adapters in Python) as child processes, one per fit: a solver that crashes, leaks or
//! takes too long harms nobody else's figures.

mod child;
mod data;
mod fit;
mod goals;
mod kernels;
mod report;
mod run;
mod workload;

use std::path::Path;
use std::process::ExitCode;

/// What every command returns: the text of an error is for the person at the terminal.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

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
        ["run", options @ ..] => run::run(&run::Options::parse(options)?),
        ["data", name, seed, dir] => data::write(&workload::by_name(name)?, seed.parse()?, Path::new(dir)),
        ["fit", dir, solver, threads, repeats] => fit::fit(Path::new(dir), solver, threads.parse()?, repeats.parse()?),
        ["kernels", options @ ..] => kernels::kernels(options.contains(&"--quick")),
        ["memory", dir, solver] => fit::memory(Path::new(dir), solver),
        _ => Err("usage: run | data | fit | kernels | memory (see the top of bench/src/main.rs)".into()),
    }
}
