//! Files written by commands: whole or not at all.

use crate::failure::{Failure, Result};
use crate::interrupt;
use std::path::Path;

/// Writes a file beside its place and renames it; the first Ctrl-C waits for that.
pub fn write(path: &Path, contents: &[u8]) -> Result<()> {
    interrupt::listening(|| ksparse_io::write_atomically(path, |out| out.write_all(contents))).map_err(Failure::writing)
}
