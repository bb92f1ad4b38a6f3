//! The commands, one file each: its arguments, its help, its work.

pub mod completions;
pub mod convert;
pub mod demo;
pub mod fit;
pub mod graph;
pub mod lda;
pub mod man;
pub mod path;
pub mod predict;
pub mod show;
pub mod simulate;
pub mod split;
pub mod theory;
pub mod verify;

use crate::cli::{Cli, Command};
use crate::failure::Result;

/// Runs the command asked for.
pub fn run(cli: &Cli) -> Result<()> {
    let screen = cli.screen;
    match &cli.command {
        Command::Fit(args) => fit::run(args, screen),
        Command::Predict(args) => predict::run(args, screen),
        Command::Path(args) => path::run(args, screen),
        Command::Graph(args) => graph::run(args, screen),
        Command::Lda(args) => lda::run(args, screen),
        Command::Theory(args) => theory::run(args, screen),
        Command::Show(args) => show::run(args, screen),
        Command::Convert(args) => convert::run(args, screen),
        Command::Split(args) => split::run(args, screen),
        Command::Verify(args) => verify::run(args, screen),
        Command::Simulate(args) => simulate::run(args, screen),
        Command::Demo(args) => demo::run(args, screen),
        Command::Completions(args) => completions::run(args, screen),
        Command::Man(args) => man::run(args, screen),
    }
}
