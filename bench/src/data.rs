//! Data on disk: raw little-endian arrays and a small JSON file beside them, read by ksparse and memory-mapped by the
//! peers.
//!
//! ```text
//! meta.json      what follows, and the settings of the problem
//! target.f64     n (empty for a network)
//! dense:  x.f64  n p, column after column
//! sparse: values.f64  nnz;  rows.u32  nnz;  pointers.u64  p + 1      (compressed columns)
//! test.*         the same for the rows held out, which the judge alone reads
//! ```

use crate::Outcome;
use crate::workload::{LossName, Workload};
use ksparse::Risk;
use ksparse::design::{Dense, Design, Sparse};
use ksparse::loss::{Logistic, Squared};
use ksparse_io::{MatrixRef, Table, Target};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

/// `meta.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Meta {
    /// The workload's name.
    pub workload: String,
    /// The seed.
    pub seed: u64,
    /// Rows.
    pub n: usize,
    /// Columns.
    pub p: usize,
    /// Stored entries (n p when dense).
    pub nnz: usize,
    /// Rows held out.
    pub held_out: usize,
    /// Whether the design is stored as compressed columns.
    pub sparse: bool,
    /// At most so many non-zeros.
    pub k: usize,
    /// The loss.
    pub loss: LossName,
    /// Its scale.
    pub scale: f64,
    /// The ridge.
    pub lambda: f64,
    /// Where the truth is not zero; of a precision matrix: `i p + j` of its edges i < j.
    pub truth: Vec<usize>,
    /// The coefficients there.
    pub coefficients: Vec<f64>,
    /// The diagonal of the true precision matrix; empty otherwise.
    pub diagonal: Vec<f64>,
}

impl Meta {
    /// Bytes of the design as given.
    pub fn design_bytes(&self) -> usize {
        if self.sparse { 12 * self.nnz + 8 * (self.p + 1) } else { 8 * self.nnz }
    }

    /// `meta.json` of a directory.
    pub fn read(dir: &Path) -> Outcome<Self> {
        Ok(serde_json::from_reader(File::open(dir.join("meta.json"))?)?)
    }
}

/// Draws the data of a seed and writes them to `dir`.
pub fn write(workload: &Workload, seed: u64, dir: &Path, held_out: usize, folder: Option<&Path>) -> Outcome {
    fs::create_dir_all(dir)?;
    let drawn = workload.draw(seed, held_out, folder)?;
    put_table(dir, "", &drawn.train)?;
    if let Some(test) = &drawn.test {
        put_table(dir, "test.", test)?;
    }
    let meta = Meta {
        workload: workload.name.to_string(),
        seed,
        n: drawn.train.nrows(),
        p: drawn.train.ncols(),
        nnz: drawn.train.matrix.stored(),
        held_out: drawn.test.as_ref().map_or(0, Table::nrows),
        sparse: matches!(drawn.train.matrix.view(), MatrixRef::Sparse(_)),
        k: workload.k,
        loss: workload.loss,
        scale: workload.scale,
        lambda: workload.lambda,
        truth: drawn.support,
        coefficients: drawn.coefficients,
        diagonal: drawn.diagonal,
    };
    // Written last: a directory with a meta.json is complete.
    fs::write(dir.join("meta.json"), serde_json::to_string(&meta)?)?;
    Ok(())
}

/// Writes a matrix and its target, each file's name after `prefix`.
fn put_table(dir: &Path, prefix: &str, table: &Table) -> Outcome {
    let name = |name: &str| format!("{prefix}{name}");
    match table.matrix.view() {
        MatrixRef::Dense(x) => {
            put(dir, &name("x.f64"), (0..x.ncols()).flat_map(|j| x.column(j)).map(|v| v.to_le_bytes()))?;
        }
        MatrixRef::Sparse(x) => {
            let columns = || (0..x.ncols()).map(|j| x.column(j));
            put(dir, &name("values.f64"), columns().flat_map(|c| c.1).map(|v| v.to_le_bytes()))?;
            put(dir, &name("rows.u32"), columns().flat_map(|c| c.0).map(|i| i.to_le_bytes()))?;
            let ends = columns().scan(0u64, |end, c| {
                *end += c.0.len() as u64;
                Some(*end)
            });
            put(dir, &name("pointers.u64"), std::iter::once(0).chain(ends).map(u64::to_le_bytes))?;
        }
    }
    let target = table.target.as_ref().map(Target::numbers).transpose()?.unwrap_or_default();
    put(dir, &name("target.f64"), target.iter().map(|v| v.to_le_bytes()))
}

/// The data of a directory, in memory once.
pub struct Loaded {
    /// The settings.
    pub meta: Meta,
    /// Labels or responses.
    pub target: Vec<f64>,
    /// The design.
    pub design: Box<dyn Design>,
}

impl Loaded {
    /// Reads a directory.
    pub fn read(dir: &Path) -> Outcome<Self> {
        let meta = Meta::read(dir)?;
        let design: Box<dyn Design> = if meta.sparse {
            let values = get(dir, "values.f64", meta.nnz, f64::from_le_bytes)?;
            let rows = get(dir, "rows.u32", meta.nnz, u32::from_le_bytes)?;
            let pointers = get(dir, "pointers.u64", meta.p + 1, u64::from_le_bytes)?;
            Box::new(Sparse::from_columns(meta.n, meta.p, pointers, rows, values)?)
        } else {
            Box::new(Dense::from_columns(meta.n, meta.p, get(dir, "x.f64", meta.nnz, f64::from_le_bytes)?)?)
        };
        let labels = if meta.loss == LossName::LogDet { 0 } else { meta.n };
        let target = get(dir, "target.f64", labels, f64::from_le_bytes)?;
        Ok(Self { meta, target, design })
    }

    /// The objective everybody is scored with.
    pub fn risk(&self) -> Outcome<Risk<'_>> {
        let (design, target) = (&*self.design, self.target.as_slice());
        let risk = match self.meta.loss {
            LossName::Logistic => Risk::new(design, target, Logistic::new(self.meta.scale)?)?,
            LossName::Squared => Risk::new(design, target, Squared::default())?,
            LossName::LogDet => return Err("a network is no risk of rows".into()),
        };
        Ok(risk.with_ridge(self.meta.lambda)?)
    }
}

fn put<const B: usize>(dir: &Path, name: &str, values: impl Iterator<Item = [u8; B]>) -> Outcome {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(dir.join(name))?);
    for bytes in values {
        file.write_all(&bytes)?;
    }
    Ok(file.flush()?)
}

/// Reads exactly `len` values into a vector of exactly that capacity, so that the process holds the design once.
fn get<T, const B: usize>(dir: &Path, name: &str, len: usize, decode: fn([u8; B]) -> T) -> Outcome<Vec<T>> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(dir.join(name))?);
    let mut values = Vec::with_capacity(len);
    let mut bytes = [0; B];
    for _ in 0..len {
        file.read_exact(&mut bytes)?;
        values.push(decode(bytes));
    }
    Ok(values)
}
