//! Where the bytes of an output go, and whether that is where an input comes from.

use crate::error::{Error, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a name leads to, links followed.
#[derive(Debug, PartialEq)]
pub(crate) enum Destination {
    /// Standard output, by whatever name.
    StandardOutput,
    /// Another file that is open already, by its number (`/dev/fd/3`): it goes on from where it is.
    Open(PathBuf),
    /// A pipe, a terminal, a device: there is nothing to replace.
    Device(PathBuf),
    /// A plain file, or none yet.
    Plain(PathBuf),
}

/// Systems follow no more links than that.
const MOST_LINKS: usize = 40;

impl Destination {
    pub fn of(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::StandardOutput);
        }
        let mut path = path.to_path_buf();
        for _ in 0..MOST_LINKS {
            // Looked at before it is followed: as a link it would lead to the file behind the descriptor, which must
            // not be replaced.
            match descriptor(&path) {
                Some(Descriptor { number: 1, own: true }) => return Ok(Self::StandardOutput),
                Some(_) => return Ok(Self::Open(path)),
                None => {}
            }
            match fs::symlink_metadata(&path) {
                Ok(about) if about.is_symlink() => {
                    let to = fs::read_link(&path)?;
                    path = path.parent().map_or_else(|| to.clone(), |parent| parent.join(&to));
                }
                Ok(about) if about.is_file() => return Ok(Self::Plain(path)),
                Ok(about) if about.is_dir() => {
                    return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
                }
                Ok(_) => return Ok(Self::Device(path)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Plain(path)),
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("the link leads to links without end"))
    }
}

/// An open file by its number.
struct Descriptor {
    number: u32,
    /// Of this process.
    own: bool,
}

/// Whether a path names an open file: `/dev/fd/1`, `/proc/self/fd/1` and what they are called after links in their
/// directories.
fn descriptor(path: &Path) -> Option<Descriptor> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let directory = fs::canonicalize(path.parent()?).ok()?;
    let parts: Vec<&str> = directory.iter().filter_map(|part| part.to_str()).collect();
    match parts[..] {
        ["/", "dev", "fd"] => Some(Descriptor { number, own: true }),
        ["/", "proc", process, .., "fd"] => Some(Descriptor { number, own: process.parse() == Ok(std::process::id()) }),
        _ => None,
    }
}

/// Whether what is written to this path goes to standard output.
pub fn is_standard_output(path: &Path) -> bool {
    matches!(Destination::of(path), Ok(Destination::StandardOutput))
}

/// `Err` if a file to be written is one of those to be read, is where standard output goes, or is to be written
/// twice: whatever the names and links that lead to it. `-` is no file, and neither are pipes and devices.
pub fn check_outputs(outputs: &[impl AsRef<Path>], inputs: &[impl AsRef<Path>]) -> Result<()> {
    let mut taken: Vec<(Identity, String)> = Vec::new();
    for input in inputs.iter().map(AsRef::as_ref) {
        let file = if input == Path::new("-") { Path::new("/dev/stdin") } else { input };
        taken.extend(Identity::of(file).map(|identity| (identity, format!("read as {}", input.display()))));
    }
    taken.extend(Identity::of(Path::new("/dev/stdout")).map(|identity| (identity, "standard output".into())));
    for output in outputs.iter().map(AsRef::as_ref) {
        let Ok(Destination::Plain(path)) = Destination::of(output) else { continue };
        let Some(identity) = Identity::of(&path).or_else(|| Identity::of_none(&path)) else { continue };
        if let Some((_, what)) = taken.iter().find(|(other, _)| *other == identity) {
            return Err(Error::request(
                format!("{}: this file is {what} too, which writing would destroy", output.display()),
                "choose another name for the output",
            ));
        }
        taken.push((identity, format!("written as {}", output.display())));
    }
    Ok(())
}

/// What makes two names the same file.
#[derive(Debug, PartialEq)]
enum Identity {
    /// The device and the number on it.
    #[cfg(unix)]
    Number(u64, u64),
    /// The path without links and dots.
    Path(PathBuf),
}

impl Identity {
    /// Of a regular file that exists.
    fn of(path: &Path) -> Option<Self> {
        let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(Self::Number(about.dev(), about.ino()))
        }
        #[cfg(not(unix))]
        {
            drop(about);
            fs::canonicalize(path).ok().map(Self::Path)
        }
    }

    /// Of a file that is yet to be.
    fn of_none(path: &Path) -> Option<Self> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(Self::Path(fs::canonicalize(parent).ok()?.join(path.file_name()?)))
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn names_of_open_files_are_known() {
        for name in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1"] {
            assert!(is_standard_output(Path::new(name)), "{name}");
        }
        assert!(matches!(Destination::of(Path::new("/dev/fd/2")).unwrap(), Destination::Open(_)));
        assert!(matches!(Destination::of(Path::new("/dev/null")).unwrap(), Destination::Device(_)));
        assert!(matches!(Destination::of(Path::new("fd/1")).unwrap(), Destination::Plain(_)));
    }

    #[test]
    fn links_are_followed_also_to_nothing_but_not_in_circles() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        symlink("b", at("a")).unwrap();
        symlink(at("c"), at("b")).unwrap();
        assert_eq!(Destination::of(&at("a")).unwrap(), Destination::Plain(at("c")));
        symlink("round", at("round")).unwrap();
        assert!(Destination::of(&at("round")).unwrap_err().to_string().contains("without end"));
    }

    #[test]
    fn outputs_that_are_inputs_or_each_other_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("data"), "1").unwrap();
        fs::write(at("other"), "1").unwrap();
        fs::hard_link(at("data"), at("hard")).unwrap();
        symlink("data", at("soft")).unwrap();
        symlink("fresh", at("dangling")).unwrap();
        let refused = |outputs: &[&str], inputs: &[&str]| {
            let paths = |names: &[&str]| names.iter().map(|name| at(name)).collect::<Vec<_>>();
            check_outputs(&paths(outputs), &paths(inputs)).is_err()
        };
        for name in ["data", "hard", "soft", "./data", "../data"] {
            let expected = name != "../data";
            assert_eq!(refused(&[name], &["data"]), expected, "{name}");
        }
        assert!(refused(&["new", "./new"], &[]) && refused(&["fresh", "dangling"], &[]));
        assert!(!refused(&["new", "other", "fresh"], &["data"]));
        assert!(check_outputs(&["-", "/dev/null", "/dev/null"], &["-"]).is_ok());
    }
}
