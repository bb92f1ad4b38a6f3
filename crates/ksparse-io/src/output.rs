//! Whole files or none: written beside, then renamed.

use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Lets `body` write a file that appears under its name only when it is complete: a failure leaves what was there before.
///
/// `-` is standard output. What is no regular file (a pipe, `/dev/null`) is written to directly. A link is followed.
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
    let fail = |e| Error::io(path, "write", e);
    if path == Path::new("-") {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        return body(&mut out).and_then(|()| out.flush()).map_err(|source| Error::Io {
            file: "standard output".into(),
            action: "write",
            source,
        });
    }
    // Follows links, so that renaming replaces what they point to and not them.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if fs::metadata(&path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        let file = OpenOptions::new().write(true).open(&path).map_err(fail)?;
        return fill(file, body).map(drop).map_err(fail);
    }
    if path.is_dir() {
        return Err(fail(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")));
    }
    let beside = Beside::create(&path).map_err(fail)?;
    let file = beside.open().map_err(fail)?;
    let file = fill(file, body).map_err(fail)?;
    if let Ok(old) = fs::metadata(&path) {
        file.set_permissions(old.permissions()).map_err(fail)?;
    }
    // Some file systems report a full disk only here.
    file.sync_all().map_err(fail)?;
    beside.rename(&path).map_err(fail)
}

fn fill(file: File, body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut out = BufWriter::with_capacity(1 << 20, file);
    match body(&mut out) {
        Ok(()) => out.into_inner().map_err(|e| e.into_error()),
        Err(e) => {
            // Not flushed again on the way out: that would fail again.
            drop(out.into_parts());
            Err(e)
        }
    }
}

/// A file of the same directory that goes away unless it is renamed.
struct Beside {
    path: PathBuf,
    renamed: bool,
}

impl Beside {
    fn create(path: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no file name"))?;
        let mut beside = std::ffi::OsString::from(".");
        beside.push(name);
        beside.push(format!(".{}-{}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        Ok(Self { path: path.with_file_name(beside), renamed: false })
    }

    fn open(&self) -> io::Result<File> {
        OpenOptions::new().write(true).create(true).truncate(true).open(&self.path)
    }

    fn rename(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.renamed {
            // Best effort: there is nobody to tell.
            let _ = fs::remove_file(&self.path);
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
