//! The command line: what can be said. Help, completions and man pages come from these definitions.

use crate::commands::{
    completions, convert, demo, fit, graph, lda, man, path, predict, show, simulate, split, theory, verify,
};
use crate::screen::Screen;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Commands with more options than this say in `-h` only those that most people want.
const MANY: usize = 12;

/// Those, by the names of their fields.
const WANTED: [&str; 18] = [
    "target",
    "k",
    "loss",
    "lambda",
    "certify",
    "time_limit",
    "cv",
    "rule",
    "output",
    "json",
    "plot",
    "proba",
    "score",
    "to",
    "shards",
    "test",
    "dir",
    "overwrite",
];

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

impl Cli {
    /// What was said. `--help` shows every option; `-h` fits a screen.
    pub fn said() -> Result<Self, clap::Error> {
        let mut command = Self::command().mut_subcommands(|command| match command.get_arguments().count() {
            0..=MANY => command,
            _ => command.mut_args(|arg| {
                let wanted = arg.is_positional() || WANTED.contains(&arg.get_id().as_str());
                arg.hide_short_help(!wanted)
            }),
        });
        let mut matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches_mut(&mut matches).map_err(|refusal| refusal.format(&mut command))
    }
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
