//! The subjects, and how they are split.

use super::STRONG;
use crate::frame::{Failure, Result};
use ksparse::design::{Dense, Design, Rows};
use ksparse::graphical::screen_by_t;
use ksparse::{SparseRef, simulate};
use ksparse_io::{Need, ReadOptions, Target};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Samples with labels: +1 for the positives.
#[derive(Debug)]
pub(super) struct Labelled {
    pub samples: Dense<'static>,
    pub labels: Vec<f64>,
}

impl Labelled {
    /// With the genes that there are to choose from: the strongest, the others, or all.
    pub fn pool(self, which: &str) -> Result<Self> {
        if which.is_empty() {
            return Ok(self);
        }
        let keep_strong = which == STRONG;
        let columns = self.samples.ncols();
        // 300 of 1400.
        let mut strong = screen_by_t(&self.samples, &self.labels, 3 * columns / 14)?;
        strong.sort_unstable();
        let kept: Vec<usize> = (0..columns).filter(|j| strong.binary_search(j).is_ok() == keep_strong).collect();
        let values: Vec<f64> = kept.iter().flat_map(|&j| self.samples.column(j).to_vec()).collect();
        Ok(Self { samples: Dense::from_columns(self.labels.len(), kept.len(), values)?, labels: self.labels })
    }
}

/// A training and a test part with the genes that the training part chose.
pub(super) struct Split {
    pub train: Dense<'static>,
    pub train_labels: Vec<f64>,
    pub test: Dense<'static>,
    pub test_labels: Vec<f64>,
}

impl Split {
    /// 5 positives and 16 negatives to test on; the t test sees the training part alone.
    pub fn draw(data: &Labelled, genes: usize, seed: u64) -> Result<Self> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut test = Vec::new();
        for (label, count) in [(1.0, 5), (-1.0, 16)] {
            let mut rows: Vec<usize> = (0..data.labels.len()).filter(|&i| data.labels[i] == label).collect();
            rows.shuffle(&mut random);
            test.extend(rows.into_iter().take(count));
        }
        test.sort_unstable();
        let train: Vec<usize> = (0..data.labels.len()).filter(|i| test.binary_search(i).is_err()).collect();
        let labels = |rows: &[usize]| rows.iter().map(|&i| data.labels[i]).collect::<Vec<f64>>();
        let (train_labels, test_labels) = (labels(&train), labels(&test));
        let whole = take(&data.samples, &train)?;
        let chosen = screen_by_t(&whole, &train_labels, genes)?;
        let columns = |design: &Dense| {
            let values: Vec<f64> = chosen.iter().flat_map(|&j| design.column(j).to_vec()).collect();
            Dense::from_columns(design.nrows(), chosen.len(), values)
        };
        Ok(Self { train: columns(&whole)?, train_labels, test: columns(&take(&data.samples, &test)?)?, test_labels })
    }

    /// Genes divided by their deviation over all of the training part, classes or not.
    pub fn in_overall_units(self) -> Result<Self> {
        let deviation = |values: &[f64]| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let square = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / values.len() as f64;
            if square > 0.0 { square.sqrt() } else { 1.0 }
        };
        let units: Vec<f64> = (0..self.train.ncols()).map(|j| deviation(self.train.column(j))).collect();
        let divided = |part: &Dense| {
            let values = units.iter().enumerate().flat_map(|(j, unit)| part.column(j).iter().map(move |v| v / unit));
            Dense::from_columns(part.nrows(), units.len(), values.collect::<Vec<f64>>())
        };
        Ok(Self { train: divided(&self.train)?, test: divided(&self.test)?, ..self })
    }
}

/// Some rows, copied.
pub(super) fn take(samples: &Dense, rows: &[usize]) -> Result<Dense<'static>> {
    let view = Rows::new(samples, rows.to_vec())?;
    let mut values = vec![0.0; rows.len() * samples.ncols()];
    for (j, column) in values.chunks_exact_mut(rows.len()).enumerate() {
        view.mul(SparseRef::new(&[j], &[1.0]), column);
    }
    Ok(Dense::from_columns(rows.len(), samples.ncols(), values)?)
}

pub(super) fn read(path: &std::path::Path) -> Result<Labelled> {
    let content = |problem: String| Failure::Content { path: path.to_path_buf(), problem };
    let options = ReadOptions {
        need: Need::Required,
        target: Some("response".to_string()),
        drop: vec!["sample".to_string()],
        ..ReadOptions::default()
    };
    let table = ksparse_io::read(path, &options).map_err(|error| content(error.to_string()))?;
    let Some(Target::Text(words)) = &table.target else {
        return Err(content("the column `response` should hold pCR and RD".to_string()));
    };
    let labels = words.iter().map(|word| if word == "pCR" { 1.0 } else { -1.0 }).collect();
    let mut values = vec![0.0; table.nrows() * table.ncols()];
    for (j, column) in values.chunks_exact_mut(table.nrows()).enumerate() {
        table.design().mul(SparseRef::new(&[j], &[1.0]), column);
    }
    Ok(Labelled { samples: Dense::from_columns(table.nrows(), table.ncols(), values)?, labels })
}

/// 133 samples of 200 variables with a sparse precision matrix; the positives are shifted in a quarter of them.
pub(super) fn stand_in() -> Result<Labelled> {
    let sample = simulate::precision(133, 1, 200, 1);
    let labels: Vec<f64> = (0..133).map(|i| if i < 34 { 1.0 } else { -1.0 }).collect();
    let mut values: Vec<f64> = (0..200).flat_map(|j| sample.train.column(j).to_vec()).collect();
    for column in values.chunks_exact_mut(133).step_by(4) {
        column[..34].iter_mut().for_each(|v| *v += 0.4);
    }
    Ok(Labelled { samples: Dense::from_columns(133, 200, values)?, labels })
}
