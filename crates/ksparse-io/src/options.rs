//! What a reader or a writer may be told.

use crate::categories::WordColumns;
use crate::error::{Error, Result, suggestion};
use crate::words::Setting;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// svmlight or LIBSVM text: `label index:value ...`.
    Svmlight,
    /// Text with a row per line, fields separated by commas, semicolons, tabs or blanks.
    Delimited,
    /// NumPy's array file.
    Npy,
    /// A zip archive of arrays: SciPy's sparse matrices, or arrays `X` and `y`.
    Npz,
    /// Matrix Market, coordinate or array.
    MatrixMarket,
    /// The memory-mapped form of this project.
    Ksb,
    /// Apache Parquet (needs the feature `parquet`).
    Parquet,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Svmlight, Self::Delimited, Self::Npy, Self::Npz, Self::MatrixMarket, Self::Ksb, Self::Parquet];

    /// The names `from_str` knows, the preferred one of each format first.
    const NAMES: [(&'static str, Self); 18] = [
        ("svmlight", Self::Svmlight),
        ("libsvm", Self::Svmlight),
        ("svm", Self::Svmlight),
        ("svml", Self::Svmlight),
        ("csv", Self::Delimited),
        ("tsv", Self::Delimited),
        ("tab", Self::Delimited),
        ("txt", Self::Delimited),
        ("dat", Self::Delimited),
        ("delimited", Self::Delimited),
        ("npy", Self::Npy),
        ("npz", Self::Npz),
        ("mtx", Self::MatrixMarket),
        ("mm", Self::MatrixMarket),
        ("matrix-market", Self::MatrixMarket),
        ("ksb", Self::Ksb),
        ("parquet", Self::Parquet),
        ("pq", Self::Parquet),
    ];

    /// The preferred name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, f)| *f == self).map_or("unknown", |(name, _)| name)
    }

    /// What the end of a file's name says, compression set aside. Nothing for `.txt`, `.dat` and the like when
    /// `certain`: they may hold anything.
    pub(crate) fn from_path(path: &Path, certain: bool) -> Option<Self> {
        let mut path = path.to_path_buf();
        if Compression::from_path(&path).is_some() {
            path.set_extension("");
        }
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        if certain && ["txt", "dat", "tab"].contains(&extension.as_str()) {
            return None;
        }
        extension.parse().ok()
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let wanted = name.to_ascii_lowercase();
        if let Some((_, format)) = Self::NAMES.iter().find(|(known, _)| *known == wanted) {
            return Ok(*format);
        }
        let close = suggestion(name, Self::NAMES.iter().map(|(known, _)| *known));
        let hint = close.map_or(String::new(), |c| format!("did you mean `{c}`? "));
        Err(Error::request(
            format!("unknown format `{name}`"),
            format!("{hint}the formats are svmlight, csv, tsv, npy, npz, mtx, ksb, parquet"),
        ))
    }
}

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// `.gz`
    Gzip,
    /// `.bz2`
    Bzip2,
    /// `.xz`
    Xz,
    /// `.zst`
    Zstd,
}

impl Compression {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Gzip, Self::Bzip2, Self::Xz, Self::Zstd];

    /// The end of a file's name, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Gzip => "gz",
            Self::Bzip2 => "bz2",
            Self::Xz => "xz",
            Self::Zstd => "zst",
        }
    }

    /// By the end of a file's name: for writing. Reading goes by content.
    pub(crate) fn from_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL.into_iter().find(|c| c.extension() == extension)
    }
}

/// Whether delimited text starts with a line of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Header {
    /// It does if the first line has a field that is no number where the second line has one.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// Whether a target is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Need {
    /// A file without one is an error: fitting.
    #[default]
    Required,
    /// It is taken when there is one: predicting.
    Optional,
    /// Every column is a feature; labels of svmlight lines are dropped: graphs.
    Absent,
}

/// Columns of numbers that are kept beside the features: what survival times are made of, the events apart, which are
/// the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// When watching ended.
    Time,
    /// When it began.
    Entry,
    /// Which rows have a baseline in common.
    Strata,
}

impl Beside {
    /// All of them, in the order of [`ReadOptions::beside`] and [`Table::beside`](crate::Table::beside).
    pub const ALL: [Self; 3] = [Self::Time, Self::Entry, Self::Strata];

    pub(crate) fn setting(self) -> Setting {
        match self {
            Self::Time => Setting::Time,
            Self::Entry => Setting::Entry,
            Self::Strata => Setting::Strata,
        }
    }
}

/// How a matrix is to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Storage {
    /// By the share of non-zeros, whatever the format of the file: dense from one third on. So the same data give the
    /// same fit from every format.
    #[default]
    Auto,
    /// All entries.
    Dense,
    /// The non-zeros.
    Sparse,
}

/// How to read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The format; by content and name when `None`.
    pub format: Option<Format>,
    /// svmlight indices count from 0 (from 1 by default).
    pub zero_based: bool,
    /// p, where the file may not tell (svmlight: the largest index otherwise). Larger indices are then an error.
    pub features: Option<usize>,
    /// The largest p that is believed without `features`; 2^27 when `None`. An index of billions is a mistake far more
    /// often than data, and would cost memory by the gigabyte.
    pub max_features: Option<usize>,
    /// Whether delimited text has a header.
    pub header: Header,
    /// The separator of delimited text; detected when `None`. A blank stands for any run of blanks and tabs.
    pub separator: Option<u8>,
    /// Numbers of delimited text have a decimal comma: `2,5` is two and a half.
    pub decimal_comma: bool,
    /// Whether a target is needed.
    pub need: Need,
    /// The target's column, by name or number (from 1; -1 is the last). `None`: the column called y, target, label,
    /// class, response or outcome.
    pub target: Option<String>,
    /// A file that holds the target alone, one value per row.
    pub target_file: Option<PathBuf>,
    /// The column of sample weights, by name or number.
    pub weights: Option<String>,
    /// The column of offsets, which are added to predictions, by name or number.
    pub offset: Option<String>,
    /// Columns of survival times, by name or number; see [`Beside`] for their order.
    pub beside: [Option<String>; 3],
    /// Columns to leave out, by name or number.
    pub drop: Vec<String>,
    /// Columns whose values are categories even where they are numbers, by name or number. Columns of words are.
    pub categorical: Vec<String>,
    /// What becomes of columns of words.
    pub words: WordColumns,
    /// How to store the matrix.
    pub storage: Storage,
    /// Bytes that reading may take; what the system has left when `None`. What would take more is an error, but for
    /// svmlight text that [`crate::convert`] makes into `.ksb`: it is read several times instead.
    pub memory: Option<u64>,
    /// Reads `.ksb` files into memory instead of mapping them: for files that someone may shorten or overwrite
    /// meanwhile.
    pub no_mmap: bool,
}

impl ReadOptions {
    /// The number of columns a file may ask for.
    pub(crate) fn column_limit(&self) -> usize {
        self.features.or(self.max_features).unwrap_or(1 << 27)
    }
}

/// How to write.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// The format; by the file's name when `None`.
    pub format: Option<Format>,
    /// The compression; by the file's name when `None`.
    pub compression: Option<Compression>,
    /// svmlight indices count from 0.
    pub zero_based: bool,
    /// The separator of delimited text; by the file's name when `None`: a tab for `.tsv` and `.tab`, a blank for `.txt`
    /// and `.dat`, else a comma.
    pub separator: Option<u8>,
}
