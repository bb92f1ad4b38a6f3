//! Real data: files of a folder, split into rows to fit on and rows held out.

use crate::Outcome;
use crate::workload::LossName;
use ksparse::design::{Dense, Design, Sparse};
use ksparse_io::{Labels, Matrix, MatrixRef, ReadOptions, Storage, Table, Target};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// What is done to the rows before anybody sees them.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Treatment {
    /// Nothing.
    AsTheyAre,
    /// Each row scaled to norm 1.
    UnitRows,
    /// Each column (and a response) centred, each column divided by its standard deviation, as found on the rows to fit
    /// on: the problem has no intercept.
    Standardised,
}

/// A file by name, with how to read it.
#[derive(Debug, Clone, Copy)]
pub struct File {
    name: &'static str,
    /// A file of its own for the rows held out; otherwise a fifth of the rows, chosen by the seed.
    test: Option<&'static str>,
    features: Option<usize>,
    /// Labels that count as +1; of two classes the larger when empty.
    positive: &'static str,
    treatment: Treatment,
}

impl File {
    const fn new(name: &'static str, treatment: Treatment) -> Self {
        Self { name, test: None, features: None, positive: "", treatment }
    }

    /// RCV1-v2 news stories, corporate and economic against government and markets.
    pub const RCV1: Self =
        Self { features: Some(47_236), ..Self::new("rcv1_binary_23749.svm.xz", Treatment::AsTheyAre) };
    /// Words of 20 Newsgroups, the last ten classes against the first ten.
    pub const NEWS20: Self =
        Self { features: Some(62_061), positive: "11:20", ..Self::new("news20.svm.xz", Treatment::UnitRows) };
    /// Digits 4 and 9 among distractors.
    pub const GISETTE: Self =
        Self { features: Some(5000), ..Self::new("gisette_scale.t.svm.xz", Treatment::Standardised) };
    /// Mass spectra.
    pub const ARCENE: Self = Self { features: Some(10_000), ..Self::new("arcene.svm.xz", Treatment::Standardised) };
    /// Gene expression; 34 rows of its own to test on.
    pub const LEUKEMIA: Self = Self {
        features: Some(7129),
        test: Some("leukemia.t.svm.xz"),
        ..Self::new("leukemia.svm.xz", Treatment::Standardised)
    };
    /// Gene expression and a production rate.
    pub const RIBOFLAVIN: Self = Self::new("riboflavin.csv.xz", Treatment::Standardised);

    /// Rows to fit on and rows held out, targets as numbers.
    pub fn read(&self, folder: &Path, loss: LossName, seed: u64) -> Outcome<(Table, Table)> {
        let (mut train, mut test) = match self.test {
            Some(name) => (self.table(&folder.join(self.name), loss)?, self.table(&folder.join(name), loss)?),
            None => {
                let whole = self.table(&folder.join(self.name), loss)?;
                let mut order: Vec<usize> = (0..whole.nrows()).collect();
                order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
                let (test, train) = order.split_at(order.len() / 5);
                (whole.rows(train)?, whole.rows(test)?)
            }
        };
        match self.treatment {
            Treatment::AsTheyAre => {}
            Treatment::UnitRows => {
                train.matrix = unit_rows(&train.matrix)?;
                test.matrix = unit_rows(&test.matrix)?;
            }
            Treatment::Standardised => {
                let units = units(&train.matrix);
                train.matrix = standardised(&train.matrix, &units)?;
                test.matrix = standardised(&test.matrix, &units)?;
                if loss == LossName::Squared {
                    let y = train.target()?.numbers()?;
                    let mean = y.iter().sum::<f64>() / y.len() as f64;
                    for table in [&mut train, &mut test] {
                        let centred = table.target()?.numbers()?.iter().map(|y| y - mean).collect();
                        table.target = Some(Target::Numbers(centred));
                    }
                }
            }
        }
        Ok((train, test))
    }

    /// The file, its labels as -1 and +1.
    fn table(&self, path: &Path, loss: LossName) -> Outcome<Table> {
        let storage = if self.treatment == Treatment::Standardised { Storage::Dense } else { Storage::Sparse };
        let options = ReadOptions { features: self.features, storage, ..ReadOptions::default() };
        let mut table = ksparse_io::read(path, &options)?;
        if loss == LossName::Logistic {
            let target = table.target()?;
            let labels = match self.positive {
                "" => Labels::find(target)?,
                positive => Labels::with_positive(target, positive)?,
            };
            table.target = Some(Target::Numbers(labels.signs(target)?));
        }
        Ok(table)
    }
}

fn unit_rows(matrix: &Matrix) -> Outcome<Matrix> {
    let MatrixRef::Sparse(x) = matrix.view() else { return Err("only sparse rows are scaled to norm 1".into()) };
    let mut norms = vec![0.0; x.nrows()];
    let columns = || (0..x.ncols()).map(|j| x.column(j));
    for (rows, values) in columns() {
        rows.iter().zip(values).for_each(|(&i, v)| norms[i as usize] += v * v);
    }
    let mut pointers = vec![0u64];
    pointers.extend(columns().scan(0u64, |end, (rows, _)| {
        *end += rows.len() as u64;
        Some(*end)
    }));
    let rows: Vec<u32> = columns().flat_map(|(rows, _)| rows).copied().collect();
    let values: Vec<f64> = columns()
        .flat_map(|(rows, values)| rows.iter().zip(values))
        .map(|(&i, v)| v / norms[i as usize].sqrt().max(f64::MIN_POSITIVE))
        .collect();
    Ok(Matrix::Sparse(Sparse::from_columns(x.nrows(), x.ncols(), pointers, rows, values)?))
}

/// Mean and scale of each column; a constant column has scale 0.
fn units(matrix: &Matrix) -> Vec<(f64, f64)> {
    let MatrixRef::Dense(x) = matrix.view() else { return Vec::new() };
    let n = x.nrows() as f64;
    let of = |column: &[f64]| {
        let mean = column.iter().sum::<f64>() / n;
        let sd = (column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        (mean, if sd > 1e-9 * mean.abs() { sd.recip() } else { 0.0 })
    };
    (0..x.ncols()).map(|j| of(x.column(j))).collect()
}

fn standardised(matrix: &Matrix, units: &[(f64, f64)]) -> Outcome<Matrix> {
    let MatrixRef::Dense(x) = matrix.view() else { return Err("only dense columns are standardised".into()) };
    let column = |(j, &(mean, scale)): (usize, &(f64, f64))| x.column(j).iter().map(move |v| (v - mean) * scale);
    let values: Vec<f64> = units.iter().enumerate().flat_map(column).collect();
    Ok(Matrix::Dense(Dense::from_columns(x.nrows(), x.ncols(), values)?))
}
