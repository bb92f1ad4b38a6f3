//! `ksparse verify`: whether a .ksb file is what was written.

use crate::failure::Result;
use crate::report::Facts;
use crate::screen::Screen;
use std::path::PathBuf;

/// Compare a .ksb file with its checksums
///
/// A .ksb file is opened without looking at its values. This reads all of it once and says which part is damaged:
/// with exit code 2, and 0 if all is as it was written.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// A file that `ksparse convert` wrote, also compressed; - is standard input
    #[arg(value_name = "FILE.ksb")]
    pub file: PathBuf,
}

pub fn run(args: &VerifyArgs, screen: Screen) -> Result<()> {
    ksparse_io::verify(&args.file)?;
    let mut facts = Facts::default();
    facts.add("verified", format!("{}: all checksums match", args.file.display()));
    screen.print(&facts.to_string())
}
