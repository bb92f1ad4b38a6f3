//! Files written by commands: whole or not at all.

use crate::failure::{Failure, Result};
use crate::interrupt;
use std::path::{Path, PathBuf};

/// Writes a file beside its place and renames it; the first Ctrl-C waits for that.
pub fn write(path: &Path, contents: &[u8]) -> Result<()> {
    interrupt::listening(|| ksparse_io::write_atomically(path, |out| out.write_all(contents))).map_err(Failure::writing)
}

/// A place, if one was named, and what is to be there, if anything is.
pub type File<'a> = (&'a Option<PathBuf>, Option<String>);

/// Writes those files that have a name and contents; all are tried, the first failure is told.
pub fn write_all(files: &[File]) -> Result<()> {
    let mut result = Ok(());
    for (path, contents) in files {
        if let (Some(path), Some(contents)) = (path, contents) {
            result = result.and(write(path, contents.as_bytes()));
        }
    }
    result
}

/// `Err` for a file that could not be written later on, better now than after an hour of work; and for one that is an
/// input too, or named twice.
pub fn check(paths: &[&Option<PathBuf>], inputs: &[PathBuf]) -> Result<()> {
    let paths: Vec<&Path> = paths.iter().filter_map(|path| path.as_deref()).collect();
    ksparse_io::check_outputs(&paths, inputs)?;
    for path in paths {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if path.as_os_str() == "-" || path.exists() && !path.is_dir() {
            continue;
        }
        let problem = match (path.is_dir(), parent.is_dir()) {
            (true, _) => "it is a directory".to_string(),
            (_, false) => format!("there is no directory {}", parent.display()),
            _ => match std::fs::metadata(parent) {
                Ok(about) if about.permissions().readonly() => format!("{} may only be read", parent.display()),
                Ok(_) => continue,
                Err(error) => error.to_string(),
            },
        };
        return Err(Failure::Work(format!("{}: cannot write: {problem}; choose another place", path.display())));
    }
    Ok(())
}

/// The same for a file of data, and the target that some formats put beside it.
pub fn check_data(path: &Path, inputs: &[PathBuf]) -> Result<()> {
    check(&[&Some(path.to_path_buf()), &ksparse_io::target_beside(path)], inputs)
}

/// `Err` for a file that is there already although nobody named it: its name was made from another.
pub fn check_unnamed(paths: &[Option<PathBuf>], overwrite: bool) -> Result<()> {
    match paths.iter().flatten().find(|path| !overwrite && path.exists()) {
        Some(path) => Err(Failure::Input(format!(
            "{}: is there already, and would be written though it was not named: --overwrite replaces it, or choose \
             another place",
            path.display()
        ))),
        None => Ok(()),
    }
}

/// Whether one of these files is standard output, which then holds nothing else.
pub fn to_standard_output(paths: &[&Option<PathBuf>]) -> bool {
    paths.iter().any(|path| path.as_deref() == Some(Path::new("-")))
}
