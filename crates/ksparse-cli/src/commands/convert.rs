//! `ksparse convert`: a data file in another format.

use crate::args::data::DataArgs;
use crate::failure::{Failure, Result};
use crate::output;
use crate::report::{Facts, seconds};
use crate::screen::Screen;
use ksparse_io::{Format, Labels, Need, Target, WriteOptions};
use std::path::PathBuf;
use std::time::Instant;

/// Convert a data file to another format, or to the .ksb form that opens at once
///
/// Format and compression of the output follow its name: .svm .csv .tsv .npz .npy .mtx .ksb, with .gz .bz2 .xz or .zst
/// behind it. .ksb is mapped into memory when it is read: it opens in milliseconds and may be larger than memory.
/// svmlight text that needs more than --memory (or 2048 MB) is read several times on its way to .ksb.
#[derive(Debug, clap::Args)]
pub struct ConvertArgs {
    #[command(flatten)]
    pub data: DataArgs,

    /// The file to write; - is standard output
    #[arg(value_name = "OUT")]
    pub output: PathBuf,

    /// The format to write, when the name of OUT does not tell
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub to: Option<String>,

    /// Cut the rows into N files of .ksb in the folder OUT, one in memory at a time: `ksparse fit OUT` maps them one
    /// after the other
    #[arg(long, value_name = "N", help_heading = "Output", conflicts_with_all = ["to", "to_zero_based"],
          value_parser = clap::value_parser!(u64).range(1..=99_999))]
    pub shards: Option<u64>,

    /// Count the columns of svmlight output from 0
    #[arg(long, help_heading = "Output")]
    pub to_zero_based: bool,

    /// Replace the file of the target, which some formats put beside OUT, where there is one already
    #[arg(long, help_heading = "Output")]
    pub overwrite: bool,
}

pub fn run(args: &ConvertArgs, screen: Screen) -> Result<()> {
    let started = Instant::now();
    let writing = WriteOptions {
        format: args.to.as_deref().map(str::parse::<Format>).transpose()?,
        zero_based: args.to_zero_based,
        ..WriteOptions::default()
    };
    let relabel = |target: Target| match &args.data.reading.positive {
        Some(positive) => Ok(Target::Numbers(Labels::with_positive(&target, positive)?.signs(&target)?)),
        None => Ok(target),
    };
    let options = args.data.reading.options(Need::Optional)?;
    if let Some(count) = args.shards {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if args.output.is_file() || ksparse_io::is_standard_output(&args.output) {
            let message = format!("{}: is no folder, which --shards writes to; name one", args.output.display());
            return Err(Failure::Input(message));
        }
        let files = ksparse_io::convert_shards(&args.data.data, &args.output, count, &options, relabel)
            .map_err(Failure::converting)?;
        let mut facts = Facts::default();
        facts.add("written", format!("{} files in {}", files.len(), args.output.display()));
        facts.add("time", seconds(started.elapsed().as_secs_f64()));
        return screen.confirm(&facts.to_string());
    }
    output::check_data(&args.output, &args.data.files())?;
    output::check_unnamed(&[ksparse_io::target_beside(&args.output)], args.overwrite)?;
    let (table, lost) =
        ksparse_io::convert(&args.data.data, &args.output, &options, &writing, relabel).map_err(Failure::converting)?;
    table.notes.iter().for_each(|note| screen.note(note));
    lost.iter().for_each(|lost| screen.warn(lost));
    if ksparse_io::is_standard_output(&args.output) {
        return Ok(());
    }
    let mut facts = Facts::default();
    facts.add("rows", table.nrows().to_string());
    facts.add("columns", table.ncols().to_string());
    facts.add("non-zeros", table.matrix.nnz().to_string());
    facts.add("written", args.output.display().to_string());
    facts.add("time", seconds(started.elapsed().as_secs_f64()));
    screen.confirm(&facts.to_string())
}
