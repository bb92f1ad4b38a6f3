//! Text collections: the real files where they are given, the simulated text model of the same shape otherwise.

use crate::frame::{Failure, Result, Settings};
use ksparse::design::{Design, Sparse};
use ksparse::simulate::{self, Text};
use ksparse_io::{Labels, ReadOptions, Storage};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// A collection split in two.
#[derive(Debug)]
pub struct Split {
    /// Rows to fit on.
    pub train: Sparse<'static>,
    /// Their labels, -1 and +1.
    pub train_labels: Vec<f64>,
    /// Rows to test on.
    pub test: Sparse<'static>,
    /// Their labels.
    pub test_labels: Vec<f64>,
}

/// Where documents come from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Source {
    /// A file in the folder of `--data`, the labels that count as +1 (all of two classes when empty), p, and whether
    /// rows are scaled to norm 1.
    File { name: &'static str, positive: &'static str, features: usize, unit_rows: bool },
    /// The text model.
    Model(Text),
}

/// A collection by name, with how many of its rows are for fitting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Collection {
    /// The name in rows and figures.
    pub name: &'static str,
    source: Source,
    /// Rows to fit on.
    pub train: usize,
    /// Rows to test on.
    pub test: usize,
    /// So many of its most frequent words are left out.
    without: usize,
}

/// The collections of a run: rcv1 and news20 as files with `--data`, of their shapes without, a small one for a quick
/// run without.
pub fn collections(settings: &Settings) -> Vec<Collection> {
    let file = |name, positive, features, unit_rows| Source::File { name, positive, features, unit_rows };
    match (&settings.data, settings.quick) {
        (Some(_), _) => vec![
            Collection {
                name: "rcv1",
                source: file("rcv1_binary_23749.svm.xz", "", 47_236, false),
                train: 12_000,
                test: 11_749,
                without: 0,
            },
            Collection {
                name: "news20",
                source: file("news20.svm.xz", "11:20", 62_061, true),
                train: 8_000,
                test: 7_935,
                without: 0,
            },
        ],
        (None, true) => vec![model("small text", Text { n: 1600, p: 4000, mean_tokens: 60.0 }, 800)],
        (None, false) => vec![
            model("rcv1 shape", Text { n: 40_242, ..Text::rcv1() }, 20_242),
            model("news20 shape", Text { n: 19_996, ..Text::news20() }, 10_000),
        ],
    }
}

fn model(name: &'static str, shape: Text, train: usize) -> Collection {
    Collection { name, source: Source::Model(shape), train, test: shape.n - train, without: 0 }
}

impl Collection {
    /// The text model with ten times the rows of news20 and its vocabulary, all rows to fit on.
    pub fn large(name: &'static str) -> Self {
        let shape = Text { n: 200_000, mean_tokens: Text::rcv1().mean_tokens, ..Text::news20() };
        model(name, shape, shape.n)
    }

    /// p.
    pub fn features(&self) -> usize {
        let all = match self.source {
            Source::File { features, .. } => features,
            Source::Model(shape) => shape.p,
        };
        all - self.without
    }

    /// The same without its most frequent words: documents of which any k columns hold less.
    pub fn rarer(self) -> Self {
        let name = match self.name {
            "rcv1" => "rcv1 rare words",
            "rcv1 shape" => "rcv1 shape rare words",
            _ => "small text rare words",
        };
        Self { name, without: if self.features() > 10_000 { 1000 } else { 100 }, ..self }
    }

    /// Whether it is one without its most frequent words.
    pub fn is_rarer(&self) -> bool {
        self.without > 0
    }

    /// The same with all rows to fit on.
    pub fn whole(self) -> Self {
        Self { train: self.train + self.test, test: 0, ..self }
    }

    /// Reads or simulates it, and splits its rows at random by the seed.
    pub fn load(&self, settings: &Settings, seed: u64) -> Result<Split> {
        let (design, labels) = match (self.source, &settings.data) {
            (Source::Model(shape), _) => {
                let data = simulate::text(&shape, seed);
                (data.design, data.target)
            }
            (Source::File { name, positive, features, .. }, Some(folder)) => {
                read(&folder.join(name), positive, features)?
            }
            (Source::File { name, .. }, None) => {
                return Err(Failure::Usage(format!("{} needs --data with the file {name}", self.name)));
            }
        };
        let unit_rows = matches!(self.source, Source::File { unit_rows: true, .. });
        let mut order: Vec<usize> = (0..design.nrows()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let (train, test) = order.split_at(self.train.min(order.len()));
        let of = |rows: &[usize]| rows.iter().map(|&i| labels[i]).collect();
        let kept = rarest(&design, self.without);
        Ok(Split {
            train: copied(&design, train, &kept, unit_rows)?,
            train_labels: of(train),
            test: copied(&design, test, &kept, unit_rows)?,
            test_labels: of(test),
        })
    }
}

fn read(path: &Path, positive: &str, features: usize) -> Result<(Sparse<'static>, Vec<f64>)> {
    let failure = |problem: String| Failure::Content { path: path.to_path_buf(), problem };
    let options = ReadOptions { features: Some(features), storage: Storage::Sparse, ..ReadOptions::default() };
    let table = ksparse_io::read(path, &options).map_err(|e| failure(e.to_string()))?;
    let labelled = || {
        let target = table.target()?;
        let labels = if positive.is_empty() { Labels::find(target)? } else { Labels::with_positive(target, positive)? };
        labels.signs(target)
    };
    let labels = labelled().map_err(|e| failure(e.to_string()))?;
    match table.matrix {
        ksparse_io::Matrix::Sparse(design) => Ok((design, labels)),
        _ => Err(failure("not a sparse matrix".to_string())),
    }
}

/// All columns but the `without` fullest.
fn rarest(design: &Sparse<'static>, without: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..design.ncols()).collect();
    order.sort_by_key(|&j| std::cmp::Reverse(design.column(j).0.len()));
    let mut kept = order.split_off(without.min(order.len()));
    kept.sort_unstable();
    kept
}

/// Some rows and columns of a design, copied, each row scaled to norm 1 if asked.
fn copied(design: &Sparse<'static>, rows: &[usize], kept: &[usize], unit: bool) -> Result<Sparse<'static>> {
    let mut place = vec![None; design.ncols()];
    kept.iter().enumerate().for_each(|(to, &from)| place[from] = Some(to as u32));
    let (mut pointers, mut columns, mut values, mut row) = (vec![0u64], Vec::new(), Vec::new(), Vec::new());
    for &i in rows {
        design.row(i, &mut row);
        row.retain(|(j, _)| place[*j].is_some());
        let norm = row.iter().map(|(_, v)| v * v).sum::<f64>().sqrt();
        let scale = if unit && norm > 0.0 { 1.0 / norm } else { 1.0 };
        columns.extend(row.iter().filter_map(|(j, _)| place[*j]));
        values.extend(row.iter().map(|(_, v)| v * scale));
        pointers.push(columns.len() as u64);
    }
    Ok(Sparse::from_rows(rows.len(), kept.len(), &pointers, &columns, &values)?)
}
