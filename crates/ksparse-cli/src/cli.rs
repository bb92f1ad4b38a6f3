//! The command line: what can be said. Help, completions and man pages come from these definitions.

use crate::commands::{
    completions, convert, demo, fit, graph, lda, man, path, predict, show, simulate, split, theory, verify,
};
use crate::screen::Screen;
use clap::{Parser, Subcommand};

/// Models with at most k non-zero coefficients, straight from data files
///
/// ksparse searches for the k columns of a table (of any width) that predict a target best, and fits them: it minimises
///
///     f(w) = mean loss(x'w + b, y) + lambda/2 ||w||^2      with at most k of the entries of w non-zero.
///
/// Start with `ksparse demo`, or with your own data:
///
///     ksparse fit data.csv -k 20 --target y
///     ksparse path data.csv -k 1:50 --target y --cv 5 --plot path.svg -o model.json
///     ksparse predict model.json new.csv
#[derive(Debug, Parser)]
#[command(name = "ksparse", version, verbatim_doc_comment, subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 done; 1 the work failed; 2 bad usage or bad input.")]
pub struct Cli {
    #[command(flatten)]
    pub screen: Screen,

    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Fit(fit::FitArgs),
    Predict(predict::PredictArgs),
    Path(path::PathArgs),
    Graph(graph::GraphArgs),
    Lda(lda::LdaArgs),
    Theory(theory::TheoryArgs),
    Show(show::ShowArgs),
    Convert(convert::ConvertArgs),
    Split(split::SplitArgs),
    Verify(verify::VerifyArgs),
    Simulate(simulate::SimulateArgs),
    Demo(demo::DemoArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}
