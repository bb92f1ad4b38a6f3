//! `ksparse split`: a part of the rows to train on, the rest to test on.

use crate::args::data::DataArgs;
use crate::args::parse;
use crate::failure::{Failure, Result};
use crate::output;
use crate::report::Facts;
use crate::screen::Screen;
use ksparse_io::{Need, Table, Target, WriteOptions};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::path::{Path, PathBuf};

/// Split a data file into a part to train on and a part to test on
///
/// Rows are drawn at random, the same for the same seed. Where the target has classes (words, or at most 20 distinct
/// whole numbers), every class has its share in both parts. The rows of a part keep their order, its file keeps format
/// and compression: data.svm.xz becomes data.train.svm.xz and data.test.svm.xz. Files that are there already stay,
/// unless they were named or --overwrite is given.
#[derive(Debug, clap::Args)]
pub struct SplitArgs {
    #[command(flatten)]
    pub data: DataArgs,

    /// The share of the rows to test on
    #[arg(long, value_name = "SHARE", default_value = "0.2", value_parser = parse::share, allow_hyphen_values = true)]
    pub test: f64,

    /// The seed of the draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Where to write both parts [default: the current folder]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub dir: Option<PathBuf>,

    /// The file to train on, instead of the name made from that of the data
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub train_output: Option<PathBuf>,

    /// The file to test on, likewise
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub test_output: Option<PathBuf>,

    /// Replace files that are there already, under names that were not given
    #[arg(long, help_heading = "Output")]
    pub overwrite: bool,
}

pub fn run(args: &SplitArgs, screen: Screen) -> Result<()> {
    let table = ksparse_io::read(&args.data.data, &args.data.reading.options(Need::Optional)?)?;
    table.notes.iter().for_each(|note| screen.note(note));
    let test = draw(&classes(&table), args.test, args.seed);
    let parts: [Vec<usize>; 2] = [false, true].map(|part| (0..test.len()).filter(|&i| test[i] == part).collect());
    if parts.iter().any(Vec::is_empty) {
        let message = format!(
            "{}: {} rows are too few to test on a share of {}: give more rows or another --test",
            table.source,
            table.nrows(),
            args.test
        );
        return Err(Failure::Input(message));
    }
    let train_file = args.train_output.clone().unwrap_or_else(|| named(&args.data.data, args.dir.as_deref(), "train"));
    let test_file = args.test_output.clone().unwrap_or_else(|| named(&args.data.data, args.dir.as_deref(), "test"));
    let outputs = [&train_file, &test_file].map(|file| [Some(file.clone()), ksparse_io::target_beside(file)]);
    output::check(&outputs.iter().flatten().collect::<Vec<_>>(), &args.data.files())?;
    let unnamed = |given: &Option<PathBuf>, [file, beside]: &[Option<PathBuf>; 2]| {
        [file.clone().filter(|_| given.is_none()), beside.clone()]
    };
    let unnamed = [unnamed(&args.train_output, &outputs[0]), unnamed(&args.test_output, &outputs[1])];
    output::check_unnamed(unnamed.as_flattened(), args.overwrite)?;
    let mut facts = Facts::default();
    for ((name, file), rows) in [("train", train_file), ("test", test_file)].into_iter().zip(&parts) {
        let part = table.rows(rows)?;
        let writing = WriteOptions {
            format: Some(table.format),
            zero_based: args.data.reading.zero_based,
            ..WriteOptions::default()
        };
        let lost = ksparse_io::write(&part, &file, &writing).map_err(Failure::writing)?;
        lost.iter().for_each(|lost| screen.warn(lost));
        facts.add(name, format!("{} rows, {}", rows.len(), file.display()));
    }
    screen.confirm(&facts.to_string())
}

/// A number per row: its class where the target has classes, the same for all otherwise.
fn classes(table: &Table) -> Vec<f64> {
    match &table.target {
        Some(Target::Numbers(values)) => {
            let mut distinct = values.clone();
            distinct.sort_by(f64::total_cmp);
            distinct.dedup();
            let classes = distinct.len() <= 20 && distinct.iter().all(|value| value.fract() == 0.0);
            if classes { values.clone() } else { vec![0.0; values.len()] }
        }
        Some(Target::Text(words)) => {
            let mut distinct: Vec<&String> = words.iter().collect();
            distinct.sort_unstable();
            distinct.dedup();
            words.iter().map(|word| distinct.partition_point(|known| *known < word) as f64).collect()
        }
        None => vec![0.0; table.nrows()],
    }
}

/// Whether each row is to be tested on. Rows lie in a line, class after class, shuffled within; every (1 / share)-th is
/// taken, so that each class has its share and their sum is right as well.
fn draw(classes: &[f64], share: f64, seed: u64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by(|&a, &b| classes[a].total_cmp(&classes[b]));
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for class in order.chunk_by_mut(|&a, &b| classes[a] == classes[b]) {
        class.shuffle(&mut random);
    }
    let mut test = vec![false; classes.len()];
    let taken = |place: usize| (place as f64 * share + 0.5).floor();
    for (place, &row) in order.iter().enumerate() {
        test[row] = taken(place + 1) > taken(place);
    }
    test
}

/// `data.train.svm.xz` for `data.svm.xz`.
fn named(data: &Path, dir: Option<&Path>, part: &str) -> PathBuf {
    let name = match data.file_name() {
        Some(name) if data.as_os_str() != "-" => name.to_string_lossy().into_owned(),
        _ => "data.svm".to_string(),
    };
    // The end that tells format and compression: up to two extensions.
    let compressed = [".gz", ".bz2", ".xz", ".zst"].iter().find(|end| name.ends_with(**end)).copied().unwrap_or("");
    let stem = &name[..name.len() - compressed.len()];
    let at = stem.rfind('.').filter(|&at| at > 0).unwrap_or(stem.len());
    let file = format!("{}.{part}{}{compressed}", &stem[..at], &stem[at..]);
    dir.unwrap_or(Path::new("")).join(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_its_share() {
        let classes: Vec<f64> = (0..1000).map(|i| if i % 10 == 0 { 1.0 } else { -1.0 }).collect();
        let test = draw(&classes, 0.2, 7);
        let taken = |class: f64| (0..1000).filter(|&i| test[i] && classes[i] == class).count();
        assert_eq!((taken(1.0), taken(-1.0)), (20, 180));
        assert_eq!(test, draw(&classes, 0.2, 7));
        assert_ne!(test, draw(&classes, 0.2, 8));
        assert_eq!(draw(&[0.0; 23749], 0.2, 1).iter().filter(|t| **t).count(), 4750);
    }

    #[test]
    fn parts_keep_the_end_of_the_name() {
        let name = |data: &str| named(Path::new(data), None, "test");
        assert_eq!(name("a/data.svm.xz"), Path::new("data.test.svm.xz"));
        assert_eq!(name("data"), Path::new("data.test"));
        assert_eq!(named(Path::new("a/b.c.csv"), Some(Path::new("d")), "train"), Path::new("d/b.c.train.csv"));
    }
}
