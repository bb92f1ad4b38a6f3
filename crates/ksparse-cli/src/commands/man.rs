//! `ksparse man`: manual pages from the definitions of the command line.

use crate::cli::Cli;
use crate::failure::{Failure, Result};
use crate::screen::Screen;
use clap::CommandFactory;
use std::path::PathBuf;

/// Print the manual page, or write one per command into a directory
///
///     ksparse man | man -l -
///     ksparse man --dir ~/.local/share/man/man1
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ManArgs {
    /// The directory for ksparse.1, ksparse-fit.1 and so on
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

pub fn run(args: &ManArgs, screen: Screen) -> Result<()> {
    if let Some(dir) = &args.dir {
        let refused = |error: std::io::Error| Failure::Work(format!("cannot write to {}: {error}", dir.display()));
        std::fs::create_dir_all(dir).map_err(refused)?;
        clap_mangen::generate_to(Cli::command(), dir).map_err(refused)?;
        screen.note(&format!("manual pages are in {}", dir.display()));
        return Ok(());
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    screen.print(&String::from_utf8_lossy(&page))
}
