//! Where the data are and how to read them.

use super::parse::{self, Words};
use crate::failure::Result;
use ksparse_io::{Format, Header, Need, ReadOptions};
use std::path::{Path, PathBuf};

/// A data file and what it does not say itself.
#[derive(Debug, clap::Args)]
pub struct DataArgs {
    /// The data: svmlight, CSV, TSV, blank-separated text, .npy, .npz, .mtx or .ksb, also compressed; - is standard
    /// input. `fit` and `predict` take several .ksb files too, as a folder or a pattern in quotes ('data/*.ksb')
    #[arg(value_name = "DATA")]
    pub data: PathBuf,

    #[command(flatten)]
    pub reading: ReadingArgs,
}

impl DataArgs {
    /// The files that are read.
    pub fn files(&self) -> Vec<PathBuf> {
        self.reading.files(&self.data)
    }
}

/// How to read a data file.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Data")]
pub struct ReadingArgs {
    /// The column to predict: its name, or its number counted from 1 (-1 is the last) [default: the one named y,
    /// target, label, ...]
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub target: Option<String>,

    /// A file with the target alone, one value per row (for .npy, .npz, .mtx)
    #[arg(long, value_name = "FILE", conflicts_with = "target")]
    pub target_file: Option<PathBuf>,

    /// The column with a weight for every row: its name or number
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub weights: Option<String>,

    /// The column that is added to every prediction, the logarithm of an exposure for example: its name or number
    /// [losses for numbers]
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub offset: Option<String>,

    /// Columns that are no features (identifiers, say): names or numbers, separated by commas
    #[arg(long, value_name = "COLS", value_parser = parse::words, allow_hyphen_values = true)]
    pub drop: Option<Words>,

    /// Columns whose values are categories even where they are numbers, as codes are: names or numbers, separated by
    /// commas. Columns of words always are: each becomes indicators of its words but the first, in or out together
    #[arg(long, value_name = "COLS", value_parser = parse::words, allow_hyphen_values = true)]
    pub categorical: Option<Words>,

    /// Labels that count as +1, all others as -1: a list or range, as in `spam` or 1,4,11:20
    #[arg(long, value_name = "LABELS", allow_hyphen_values = true)]
    pub positive: Option<String>,

    /// The number of columns of svmlight data [default: the largest index in the file]
    #[arg(long, value_name = "P")]
    pub features: Option<usize>,

    /// The columns of svmlight data are counted from 0
    #[arg(long)]
    pub zero_based: bool,

    /// Text columns have no header: the first line is data
    #[arg(long)]
    pub no_header: bool,

    /// What separates text columns: a character, or `comma`, `semicolon`, `tab` or `blank` (any run of blanks)
    /// [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = parse::separator)]
    pub separator: Option<u8>,

    /// Numbers of text columns have a decimal comma: 2,5 is two and a half
    #[arg(long)]
    pub decimal_comma: bool,

    /// Megabytes that reading may take; what would take more is an error [default: what is free]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..))]
    pub memory: Option<u64>,

    /// Read .ksb files into memory instead of mapping them: a mapped file must not be shortened while it is in use
    #[arg(long)]
    pub no_mmap: bool,

    /// The format, when neither name nor content tell: svmlight, csv, tsv, npy, npz, mtx, ksb
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
}

impl ReadingArgs {
    /// The files that are read: this one, its target beside it, the target alone.
    pub fn files(&self, data: &Path) -> Vec<PathBuf> {
        let beside = ksparse_io::target_beside(data).filter(|file| file.exists());
        [Some(data.to_path_buf()), beside, self.target_file.clone()].into_iter().flatten().collect()
    }

    /// What the reader is to be told.
    pub fn options(&self, need: Need) -> Result<ReadOptions> {
        let format = self.format.as_deref().map(str::parse::<Format>).transpose()?;
        Ok(ReadOptions {
            format,
            zero_based: self.zero_based,
            features: self.features,
            separator: self.separator,
            decimal_comma: self.decimal_comma,
            header: if self.no_header { Header::No } else { Header::Auto },
            need,
            target: self.target.clone(),
            target_file: self.target_file.clone(),
            weights: self.weights.clone(),
            offset: self.offset.clone(),
            categorical: self.categorical.as_ref().map_or_else(Vec::new, |words| words.0.clone()),
            drop: self.drop.as_ref().map_or_else(Vec::new, |words| words.0.clone()),
            memory: self.memory.map(|megabytes| megabytes.saturating_mul(1 << 20)),
            no_mmap: self.no_mmap,
            ..ReadOptions::default()
        })
    }
}
