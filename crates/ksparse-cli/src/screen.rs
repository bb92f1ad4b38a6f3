//! What a person sees: results on standard output, everything else on standard error, colour on terminals only.

use crate::failure::Result;
use std::io::{IsTerminal, Write};

/// How much to say.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct Screen {
    /// Print results only: no progress, notes or warnings
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print more: every coefficient, every iteration
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[1;33m";
const RED: &str = "\x1b[1;31m";
const RESET: &str = "\x1b[0m";

/// Text that stands out.
pub fn bold(text: &str) -> String {
    format!("{BOLD}{text}{RESET}")
}

/// Text that steps back.
pub fn dim(text: &str) -> String {
    format!("{DIM}{text}{RESET}")
}

/// Text of what won.
pub fn green(text: &str) -> String {
    format!("{GREEN}{text}{RESET}")
}

impl Screen {
    /// A result, to standard output; where that is no terminal, without colour.
    pub fn print(&self, text: &str) -> Result<()> {
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes())?;
        Ok(out.flush()?)
    }

    /// What was done, where the result is a file: nothing to say for who wants results only.
    pub fn confirm(&self, text: &str) -> Result<()> {
        if self.quiet { Ok(()) } else { self.print(text) }
    }

    /// Something worth knowing.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.tell(&format!("{DIM}note:{RESET} {text}"));
        }
    }

    /// Something that may not be what was meant.
    pub fn warn(&self, text: &str) {
        if !self.quiet {
            self.tell(&format!("{YELLOW}warning:{RESET} {text}"));
        }
    }

    /// What went wrong; this is never kept quiet.
    pub fn error(&self, text: &str) {
        self.tell(&format!("{RED}error:{RESET} {text}"));
    }

    /// A line on standard error. Nobody can be told if that fails.
    pub fn tell(&self, line: &str) {
        let _ = writeln!(anstream::stderr().lock(), "{line}");
    }

    /// Whether progress has anyone to look at it.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && std::io::stderr().is_terminal()
    }
}
