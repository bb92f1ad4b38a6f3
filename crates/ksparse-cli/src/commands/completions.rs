//! `ksparse completions`: what a shell needs to complete the command.

use crate::cli::Cli;
use crate::failure::Result;
use crate::screen::Screen;
use clap::CommandFactory;
use clap_complete::Shell;

/// Print completions for a shell
///
/// For bash, put them where it looks for them:
///
///     ksparse completions bash > ~/.local/share/bash-completion/completions/ksparse
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

pub fn run(args: &CompletionsArgs, screen: Screen) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ksparse", &mut text);
    screen.print(&String::from_utf8_lossy(&text))
}
