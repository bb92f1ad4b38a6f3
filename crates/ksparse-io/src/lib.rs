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
//! Any of them may be compressed (gzip, bzip2, xz, zstd), which is seen by the content, not by the name. `-` is
//! standard input or output.
//!
//! ```
//! use ksparse::{Auto, Risk, Solver, Sparsity, loss::Logistic};
//! use ksparse_io::{Labels, ReadOptions, read_bytes};
//!
//! let text = "+1 1:2 3:0.5\n-1 2:1\n+1 1:1.5 2:0.2\n-1 2:0.7 3:1\n";
//! let table = read_bytes("example", text.into(), &ReadOptions::default())?; // or `read(path, ...)`
//! let labels = Labels::find(table.target()?)?; // -1 is -1, 1 is +1
//! let risk = Risk::new(table.design(), labels.signs(table.target()?)?, Logistic::default())?.with_ridge(0.1)?;
//! let solution = Auto::default().fit(&risk, &Sparsity::new(1))?;
//! assert_eq!(solution.support, [0]);
//! # Ok::<(), ksparse_io::Error>(())
//! ```

mod assemble;
mod categories;
mod delimited;
mod destination;
mod error;
pub mod joint_model;
mod ksb;
mod labels;
mod mapped;
mod memory;
pub mod model;
mod mtx;
mod names;
mod npy;
mod npz;
mod options;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod read;
mod roles;
mod sharded;
mod source;
mod svmlight;
mod table;
mod target;
mod text;
mod words;
mod write;

pub use categories::{Category, WordColumns};
pub use destination::{check_outputs, is_standard_output};
pub use error::{Error, Place, Result, suggestion};
pub use ksb::verify;
pub use labels::{Labels, all_labels, places};
pub use mapped::Mapped;
pub use memory::free as free_memory;
pub use options::{Beside, Compression, Format, Header, Need, ReadOptions, Storage, WriteOptions};
pub use output::{remove_unfinished, write_atomically};
pub use read::{read, read_bytes};
pub use sharded::convert_shards;
pub use table::{Matrix, MatrixRef, Table, Target};
pub use target::target_beside;
pub use words::{Setting, Words};
pub use write::{convert, write};
