//! Memory is asked for before it is taken: a file of a few bytes may claim any number of rows, or swell when it is
//! decompressed.
//!
//! A reader keeps count of what it holds, the pieces and what is made of them, and is refused beyond its limit. So is
//! every allocation whose size a file decides and the system does not grant.

use crate::error::{Error, Result};
use crate::words::{Setting, Words};
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

/// What one reader may take.
#[derive(Debug)]
pub(crate) struct Memory {
    /// The file's name, for messages.
    pub name: String,
    limit: u64,
    taken: AtomicU64,
}

impl Memory {
    /// With a limit in bytes, or with what the system has left.
    pub fn new(name: &str, limit: Option<u64>) -> Self {
        Self { name: name.to_string(), limit: limit.unwrap_or_else(free), taken: AtomicU64::new(0) }
    }

    /// Bytes that may still be taken.
    pub fn room(&self) -> u64 {
        self.limit.saturating_sub(self.taken.load(Ordering::Relaxed))
    }

    /// `Err` if so many bytes more are too many; `what` says what for.
    pub fn take(&self, bytes: usize, what: impl FnOnce() -> String) -> Result<()> {
        let bytes = bytes as u64;
        let before = self.taken.fetch_add(bytes, Ordering::Relaxed);
        if before.checked_add(bytes).is_some_and(|total| total <= self.limit) {
            return Ok(());
        }
        // Given back at once: the sum must not overflow, whatever is asked for next.
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
        Err(self.refused(before.saturating_add(bytes), what()))
    }

    /// `Err` if there is no room for the vectors that whoever uses a table of this shape needs, however few of its
    /// entries are stored.
    pub fn check_shape(&self, nrows: usize, ncols: usize) -> Result<()> {
        let bytes = (nrows.saturating_add(ncols) as u64).saturating_mul(2 * size_of::<f64>() as u64);
        if bytes <= self.room() {
            return Ok(());
        }
        Err(self.refused(bytes, format!("vectors over {nrows} rows and {ncols} columns")))
    }

    /// So many zeros.
    pub fn zeros<T: Clone + Default>(&self, count: usize, what: impl Fn() -> String) -> Result<Vec<T>> {
        let bytes = count.saturating_mul(size_of::<T>());
        self.take(bytes, &what)?;
        let mut values = Vec::new();
        values.try_reserve_exact(count).map_err(|_| self.refused(bytes as u64, what()))?;
        values.resize(count, T::default());
        Ok(values)
    }

    /// The error for something that does not fit.
    pub fn refused(&self, bytes: u64, what: String) -> Error {
        Error::input(
            &*self.name,
            format!("{what} do not fit into memory: {} are needed, {} are to be had", size(bytes), size(self.limit)),
            Words::from("check the sizes the file claims; if they are meant, raise ")
                + Setting::Memory
                + " or use a machine that has more",
        )
    }
}

/// Bytes as people read them.
fn size(bytes: u64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
    let unit = (bytes.max(1).ilog10() / 3) as usize;
    if unit == 0 {
        format!("{bytes} bytes")
    } else {
        format!("{:.1} {}", bytes as f64 / 1e3f64.powi(unit as i32), units[unit])
    }
}

/// What the system has left for this process: memory and swap that are free, within what a control group and the
/// limit on its address space allow. Where the system does not tell (it is no Linux), there is no limit but what
/// allocations are granted.
pub fn free() -> u64 {
    let field = |file: &str, name: &str, column: usize| -> Option<u64> {
        let text = fs::read_to_string(file).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().nth(column)?.parse().ok()
    };
    let number = |file: &str, column: usize| -> Option<u64> {
        fs::read_to_string(file).ok()?.split_whitespace().nth(column)?.parse().ok()
    };
    let kilobytes = |name: &str| field("/proc/meminfo", name, 0).map(|kb| kb.saturating_mul(1024));
    let system = kilobytes("MemAvailable:").map(|free| free.saturating_add(kilobytes("SwapFree:").unwrap_or(0)));
    let group = number("/sys/fs/cgroup/memory.max", 0)
        .map(|most| most.saturating_sub(number("/sys/fs/cgroup/memory.current", 0).unwrap_or(0)));
    // Half of the address space left: it also holds stacks and what growing buffers leave behind.
    let space = field("/proc/self/limits", "Max address space", 0)
        .map(|most| most.saturating_sub(4096 * number("/proc/self/statm", 0).unwrap_or(0)) / 2);
    [system, group, space].into_iter().flatten().min().unwrap_or(u64::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_adds_up() {
        let memory = Memory::new("x.mtx", Some(1000));
        memory.take(600, String::new).unwrap();
        let error = memory.take(600, || "3 rows".into()).unwrap_err().to_string();
        assert!(error.contains("x.mtx: 3 rows do not fit into memory: 1.2 kB are needed, 1.0 kB"), "{error}");
        assert!(error.contains("`memory`"), "{error}");
        assert_eq!(memory.room(), 400);
        assert!(memory.take(usize::MAX, String::new).is_err() && memory.take(400, String::new).is_ok());
        assert!(memory.zeros::<f64>(usize::MAX, String::new).is_err());
        assert!(Memory::new("x", Some(u64::MAX)).zeros::<f64>(usize::MAX / 16, String::new).is_err());
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!(
            [size(0), size(999), size(34_359_738_320), size(u64::MAX)],
            ["0 bytes", "999 bytes", "34.4 GB", "18.4 EB"]
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_tells() {
        assert!(free() > 1 << 20 && free() < 1 << 60, "{}", free());
    }
}
