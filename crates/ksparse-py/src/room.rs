//! Memory asked for before it is used: an allocation that fails inside the library would end the process.

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// Vectors of the length of a point that every search holds: pointers, the gradient, scores, an order of them.
pub const VECTORS: usize = 4;

/// `MemoryError` unless all of `parts`, so many numbers of so many bytes each, can be had at once. `what` needs them.
pub fn check(what: impl Fn() -> String, parts: &[(&[usize], usize)]) -> PyResult<()> {
    // Sizes that come from users: no product of three of them can overflow in floating point.
    let product = |counts: &[usize]| counts.iter().map(|&count| count as f64).product::<f64>();
    let bytes: f64 = parts.iter().map(|(counts, size)| product(counts) * *size as f64).sum();
    // What is asked for here is given back at once: nobody has written to it, so it cost nothing.
    let had = bytes < isize::MAX as f64 && Vec::<u8>::new().try_reserve_exact(bytes as usize).is_ok();
    if had {
        return Ok(());
    }
    let size = readable(bytes);
    Err(PyMemoryError::new_err(format!("{} needs {size} of memory, more than can be had", what())))
}

fn readable(bytes: f64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = ((bytes.log2() / 10.0) as usize).min(UNITS.len() - 1);
    format!("{:.1} {}", bytes / 1024f64.powi(power as i32), UNITS[power])
}
