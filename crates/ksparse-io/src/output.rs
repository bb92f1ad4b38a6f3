//! Whole files or none: written beside, then renamed.

use crate::destination::Destination;
use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// Lets `body` write a file that appears under its name only when it is complete: a failure leaves what was there
/// before.
///
/// `-` and `/dev/stdout` are standard output. What is no regular file (a pipe, `/dev/null`) or is open already
/// (`/dev/fd/3`) is written to directly, behind what it holds. A link is followed, also to a file that is yet to be.
///
/// ```
/// use std::io::Write;
/// let path = std::env::temp_dir().join("ksparse-io-doc.txt");
/// ksparse_io::write_atomically(&path, |w| writeln!(w, "hello"))?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "hello\n");
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), ksparse_io::Error>(())
/// ```
pub fn write_atomically(path: &Path, body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let file = if path == Path::new("-") { "standard output".into() } else { path.display().to_string() };
    put(path, body).map_err(|source| Error::Io { file, action: "write", source })
}

fn put(path: &Path, body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    match Destination::of(path)? {
        Destination::StandardOutput => {
            let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
            body(&mut out)?;
            out.flush()
        }
        Destination::Open(path) => fill(&OpenOptions::new().append(true).open(path)?, body),
        Destination::Device(path) => fill(&OpenOptions::new().write(true).open(path)?, body),
        Destination::Plain(path) => {
            let beside = Beside::create(&path)?;
            fill(beside.file.as_file(), body)?;
            if let Ok(old) = fs::metadata(&path) {
                beside.file.as_file().set_permissions(old.permissions())?;
            }
            // Some file systems report a full disk only here.
            beside.file.as_file().sync_all()?;
            beside.rename(&path)
        }
    }
}

fn fill(file: &File, body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, file);
    match body(&mut out) {
        Ok(()) => out.flush(),
        Err(e) => {
            // Not flushed again on the way out: that would fail again.
            drop(out.into_parts());
            Err(e)
        }
    }
}

/// The files under construction; `None` once there may be no more.
static UNFINISHED: Mutex<Option<Vec<PathBuf>>> = Mutex::new(Some(Vec::new()));

/// Removes the files under construction and refuses new ones: for a program that is about to end in the middle of its
/// work, as on Ctrl-C. (It locks, so it must not be called inside a signal handler, but on a thread that hears of the
/// signal.)
pub fn remove_unfinished() {
    for path in unfinished().take().into_iter().flatten() {
        // Best effort: there is nobody to tell.
        let _ = fs::remove_file(path);
    }
}

fn unfinished() -> MutexGuard<'static, Option<Vec<PathBuf>>> {
    // A list of paths is whole at any time, whoever panicked.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file of the same directory that goes away unless it is renamed.
struct Beside {
    file: NamedTempFile,
    _listed: Listed,
}

/// An entry of the list, for as long as this lives.
struct Listed(PathBuf);

impl Beside {
    fn create(path: &Path) -> io::Result<Self> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Created while the list is held, so that no file escapes who cleans up.
        let mut list = unfinished();
        let Some(list) = list.as_mut() else {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "the program is about to end"));
        };
        // A name that nobody can foresee.
        let mut builder = tempfile::Builder::new();
        builder.prefix(".ksparse-").suffix(".tmp");
        let file = builder.make_in(parent, open_new)?;
        list.push(file.path().to_path_buf());
        let listed = Listed(file.path().to_path_buf());
        Ok(Self { file, _listed: listed })
    }

    fn rename(self, path: &Path) -> io::Result<()> {
        self.file.persist(path).map(drop).map_err(|e| e.error)
    }
}

/// A new file, with the permissions of any new file; an error where there is one already, or a link, which somebody
/// else may have planted.
fn open_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

impl Drop for Listed {
    fn drop(&mut self) {
        if let Some(list) = unfinished().as_mut() {
            list.retain(|path| *path != self.0);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_beside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.json");
        write_atomically(&path, |w| w.write_all(b"old")).unwrap();
        let failed = write_atomically(&path, |w| {
            w.write_all(&[0; 1 << 21])?;
            Err(io::Error::other("no"))
        });
        assert!(failed.unwrap_err().to_string().contains("model.json"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_atomically(&link, |w| w.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn a_planted_link_is_never_written_through() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("precious"), "old").unwrap();
        // With a name that could be foreseen, and links to a file and to none under it.
        for target in ["precious", "nothing yet"] {
            std::os::unix::fs::symlink(at(target), at("planted.tmp")).unwrap();
            let mut builder = tempfile::Builder::new();
            let found = builder.prefix("planted").suffix(".tmp").rand_bytes(0).make_in(dir.path(), open_new);
            assert_eq!(found.unwrap_err().kind(), io::ErrorKind::AlreadyExists, "{target}");
            fs::remove_file(at("planted.tmp")).unwrap();
        }
        assert_eq!(fs::read(at("precious")).unwrap(), b"old");
        assert!(!at("nothing yet").exists());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_and_a_missing_directory_are_errors() {
        let full = write_atomically(Path::new("/dev/full"), |w| w.write_all(&[0; 100])).unwrap_err();
        assert!(full.to_string().contains("/dev/full: cannot write"), "{full}");
        assert!(write_atomically(Path::new("/nowhere/at/all"), |w| w.write_all(b"x")).is_err());
        assert!(write_atomically(Path::new("/tmp"), |w| w.write_all(b"x")).is_err());
        assert!(write_atomically(Path::new("/dev/null"), |w| w.write_all(b"x")).is_ok());
    }
}
