//! Data files for [`ksparse`]: readers, writers and a memory-mapped form.
//!
//! ```text
//! file -> Source (decompressed, format found) -> reader -> Table { matrix, target, weights, names }
//! ```
//!
//! | format | names | holds |
//! |---|---|---|
//! | svmlight, LIBSVM | `.svm` `.svmlight` `.libsvm` | sparse rows, a label each |
//! | delimited text | `.csv` `.tsv` `.txt` `.dat` | a row per line, names in a header, the target in a column |
//! | NumPy | `.npy` | a dense matrix; the target in a column or a second file |
//! | SciPy, NumPy | `.npz` | a sparse matrix, or arrays `X` and `y` |
//! | Matrix Market | `.mtx` | a matrix; the target in a column or a second file |
//! | mapped | `.ksb` | everything, opened without reading it |
//! | Parquet | `.parquet` | columns with names (feature `parquet`) |
//!
//! Any of them may be compressed (gzip, bzip2, xz, zstd), which is seen by the content, not by the name. `-` is standard input or output.

mod assemble;
mod delimited;
mod error;
mod ksb;
mod labels;
mod mapped;
pub mod model;
mod mtx;
mod npy;
mod npz;
mod options;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod read;
mod roles;
mod source;
mod svmlight;
mod table;
mod target;
mod text;
mod write;

pub use error::{Error, Place, Result, suggestion};
pub use ksb::verify;
pub use labels::Labels;
pub use mapped::Mapped;
pub use options::{Compression, Format, Header, Need, ReadOptions, Storage, WriteOptions};
pub use output::write_atomically;
pub use read::{read, read_bytes};
pub use table::{Matrix, MatrixRef, Table, Target};
pub use write::{convert, write};
