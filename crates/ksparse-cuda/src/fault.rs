//! What goes wrong on a device, with what would help.

/// A result of work on a device.
pub type Result<T> = std::result::Result<T, Fault>;

/// Why a device did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The driver is not there, or sees no device.
    #[error("there is no CUDA device: {0}")]
    NoDevice(String),
    /// A library of CUDA is not there.
    #[error(
        "the library {0} was not found: install it (pip install nvidia-cublas, or the CUDA toolkit) and put its folder \
         into LD_LIBRARY_PATH; CuPy and PyTorch bring it along"
    )]
    NoLibrary(&'static str),
    /// Not enough memory.
    #[error(
        "{what} needs {} on the device, where {} of {} are free: take f32 entries, fewer rows or columns, fewer folds \
         at a time, or free what other programs hold there", bytes(*needed), bytes(*free), bytes(*total)
    )]
    Memory {
        /// What it was for.
        what: &'static str,
        /// Bytes asked for.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// Bytes in all.
        total: u64,
    },
    /// Memory of another owner that cannot be used.
    #[error("{0}")]
    Foreign(String),
    /// A call failed: the device is lost, a program beside this one broke it, the driver is too old.
    #[error("the device failed ({code}) in {call}: what it held is lost; start the program again, and see nvidia-smi")]
    Lost {
        /// What was called.
        call: &'static str,
        /// The driver's word for it.
        code: String,
    },
}

/// A number of bytes in words.
fn bytes(count: u64) -> String {
    match count {
        0..1_000_000 => format!("{count} bytes"),
        1_000_000..1_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

impl From<Fault> for ksparse::Error {
    fn from(fault: Fault) -> Self {
        Self::evaluation(fault)
    }
}
