//! `ksparse`: sparse models from data files, without writing code.
//!
//! Text becomes arguments (`args`), arguments become a request that has been checked against the data, the request is
//! run (`commands`, one file each) and its result reported. Results go to standard output, everything else to standard
//! error.

mod args;
mod certified;
mod choosing;
mod cli;
mod commands;
mod data;
mod failure;
mod hint;
mod interrupt;
mod joint;
mod model_file;
mod network_file;
mod network_report;
mod outcome;
mod output;
mod page;
mod path_output;
mod path_report;
mod plot;
mod prepared;
mod progress;
mod report;
mod screen;
mod sharded;

use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match cli::Cli::said() {
        Ok(cli) => cli,
        Err(mut refusal) => {
            hint::at_what_is_meant(&mut refusal);
            // Help and version are refusals too, to standard output and with code 0. A closed pipe is no failure.
            let _ = refusal.print();
            return ExitCode::from(if refusal.use_stderr() { 2 } else { 0 });
        }
    };
    interrupt::install();
    match commands::run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                cli.screen.error(message);
            }
            ExitCode::from(failure.code())
        }
    }
}
