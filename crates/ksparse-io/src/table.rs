//! What a file holds: a matrix, and perhaps a target, weights and names.

use crate::categories::Category;
use crate::error::{Error, Result};
use crate::mapped::Mapped;
use crate::names::find_column;
use crate::options::{Compression, Format};
use crate::text::short;
use crate::words::{Setting, Words};
use ksparse::design::{Dense, Design, Sparse};

/// The contents of a file.
#[derive(Debug)]
pub struct Table {
    /// The features.
    pub matrix: Matrix,
    /// Labels or responses, as they stand in the file.
    pub target: Option<Target>,
    /// The name of the target's column.
    pub target_name: Option<String>,
    /// Sample weights, finite and not negative.
    pub weights: Option<Vec<f64>>,
    /// What is added to every prediction, finite.
    pub offset: Option<Vec<f64>>,
    /// Times, entries and strata, finite; see [`Beside`](crate::Beside).
    pub beside: [Option<Vec<f64>>; 3],
    /// Names of the features.
    pub names: Option<Vec<String>>,
    /// Features that are columns of indicators, by the column of words they stand for.
    pub categories: Vec<Category>,
    /// The file's format.
    pub format: Format,
    /// How it was compressed.
    pub compression: Option<Compression>,
    /// The file's name as given, for messages.
    pub source: String,
    /// What the reader decided and a person may want to know.
    pub notes: Vec<String>,
}

impl Table {
    /// What the target's column is called where it stands among the features: by its own name, or `y`, unless a feature
    /// has that name.
    pub fn target_column(&self) -> String {
        self.unlike_features(self.target_name.as_deref().unwrap_or("y"))
    }

    /// The same for the column of weights.
    pub fn weight_column(&self) -> String {
        self.unlike_features("weight")
    }

    /// The name, or with a number that makes it no feature's.
    fn unlike_features(&self, name: &str) -> String {
        let taken = |name: &str| self.names.as_ref().is_some_and(|names| names.iter().any(|known| known == name));
        let numbered = (2..).map(|number| format!("{name}.{number}"));
        std::iter::once(name.to_string()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
    }

    /// A matrix and nothing else, as if read from nowhere.
    pub fn new(matrix: Matrix) -> Self {
        Self {
            matrix,
            target: None,
            target_name: None,
            weights: None,
            offset: None,
            beside: [None, None, None],
            names: None,
            categories: Vec::new(),
            format: Format::Ksb,
            compression: None,
            source: "memory".into(),
            notes: Vec::new(),
        }
    }

    /// n.
    pub fn nrows(&self) -> usize {
        self.matrix.design().nrows()
    }

    /// p.
    pub fn ncols(&self) -> usize {
        self.matrix.design().ncols()
    }

    /// The design.
    pub fn design(&self) -> &dyn Design {
        self.matrix.design()
    }

    /// The index (from 0) of a feature given by its name, or by its number (from 1; -1 is the last).
    pub fn feature(&self, name: &str) -> Result<usize> {
        find_column(name, self.names.as_deref(), self.ncols())
            .map_err(|no| Error::request(format!("{}: {} feature `{name}`", self.source, no.many()), no.hint()))
    }

    /// The features that a name or number means: one, or the indicators of a column of words.
    pub fn features(&self, name: &str) -> Result<Vec<usize>> {
        match self.categories.iter().find(|category| category.feature.as_deref() == Some(name)) {
            Some(category) => Ok(category.columns().collect()),
            None => self.feature(name).map(|column| vec![column]),
        }
    }

    /// What a column is called: its name, or its number counted from 1.
    pub fn called(&self, column: usize) -> String {
        self.names.as_ref().map_or_else(|| (column + 1).to_string(), |names| names[column].clone())
    }

    /// The target, or an error that says how to name one.
    pub fn target(&self) -> Result<&Target> {
        self.target.as_ref().ok_or_else(|| {
            Error::input(
                &*self.source,
                "there is no target",
                Words::from("name its column with ") + Setting::Target + " or its file with " + Setting::TargetFile,
            )
        })
    }

    /// Some of the rows, copied, in the order given.
    pub fn rows(&self, rows: &[usize]) -> Result<Self> {
        Ok(Self {
            matrix: self.matrix.rows(rows)?,
            target: self.target.as_ref().map(|t| t.rows(rows)),
            target_name: self.target_name.clone(),
            weights: self.weights.as_ref().map(|w| rows.iter().map(|&i| w[i]).collect()),
            offset: self.offset.as_ref().map(|o| rows.iter().map(|&i| o[i]).collect()),
            beside: self.beside.clone().map(|b| b.map(|b| rows.iter().map(|&i| b[i]).collect())),
            names: self.names.clone(),
            categories: self.categories.clone(),
            format: self.format,
            compression: self.compression,
            source: self.source.clone(),
            notes: Vec::new(),
        })
    }
}

/// A matrix in one of its storages.
#[derive(Debug)]
pub enum Matrix {
    /// All entries, column after column.
    Dense(Dense<'static, f64>),
    /// The non-zeros of each column.
    Sparse(Sparse<'static, f64>),
    /// In a file that is mapped into memory.
    Mapped(Mapped),
}

/// A matrix seen by its storage, whoever owns it.
#[derive(Debug, Clone, Copy)]
pub enum MatrixRef<'a> {
    /// All entries.
    Dense(&'a Dense<'a, f64>),
    /// The non-zeros.
    Sparse(&'a Sparse<'a, f64>),
}

impl Matrix {
    /// For products.
    pub fn design(&self) -> &dyn Design {
        match self.view() {
            MatrixRef::Dense(dense) => dense,
            MatrixRef::Sparse(sparse) => sparse,
        }
    }

    /// For its entries.
    pub fn view(&self) -> MatrixRef<'_> {
        match self {
            Self::Dense(dense) => MatrixRef::Dense(dense),
            Self::Sparse(sparse) => MatrixRef::Sparse(sparse),
            Self::Mapped(mapped) => mapped.view(),
        }
    }

    /// Has the system bring columns of a mapped matrix from the disk ([`Mapped::bring`]); others are there.
    pub fn bring(&self, columns: Option<&[usize]>) {
        if let Self::Mapped(mapped) = self {
            mapped.bring(columns);
        }
    }

    /// A column, all its entries.
    pub fn column(&self, j: usize) -> Vec<f64> {
        match self.view() {
            MatrixRef::Dense(dense) => dense.column(j).to_vec(),
            MatrixRef::Sparse(sparse) => {
                let mut full = vec![0.0; sparse.nrows()];
                let (rows, values) = sparse.column(j);
                rows.iter().zip(values).for_each(|(&i, &v)| full[i as usize] = v);
                full
            }
        }
    }

    /// Stored entries: n p when dense.
    pub fn stored(&self) -> usize {
        match self.view() {
            MatrixRef::Dense(dense) => dense.nrows() * dense.ncols(),
            MatrixRef::Sparse(sparse) => sparse.nnz(),
        }
    }

    /// Entries other than zero (a pass over a dense matrix).
    pub fn nnz(&self) -> usize {
        match self.view() {
            MatrixRef::Dense(dense) => {
                (0..dense.ncols()).map(|j| dense.column(j).iter().filter(|v| **v != 0.0).count()).sum()
            }
            MatrixRef::Sparse(sparse) => sparse.nnz(),
        }
    }

    /// The same rows, copied.
    fn rows(&self, rows: &[usize]) -> Result<Self> {
        let (n, p) = (self.design().nrows(), self.design().ncols());
        if let Some(&index) = rows.iter().find(|&&i| i >= n) {
            return Err(ksparse::Error::IndexOutOfRange { what: "row", index, bound: n }.into());
        }
        match self.view() {
            MatrixRef::Dense(dense) => {
                let mut values = Vec::with_capacity(rows.len() * p);
                for j in 0..p {
                    let column = dense.column(j);
                    values.extend(rows.iter().map(|&i| column[i]));
                }
                Ok(Self::Dense(Dense::from_columns(rows.len(), p, values)?))
            }
            MatrixRef::Sparse(sparse) => {
                let (mut pointers, mut columns, mut values, mut row) = (vec![0u64], Vec::new(), Vec::new(), Vec::new());
                for &i in rows {
                    sparse.row(i, &mut row);
                    columns.extend(row.iter().map(|e| e.0 as u32));
                    values.extend(row.iter().map(|e| e.1));
                    pointers.push(columns.len() as u64);
                }
                Ok(Self::Sparse(Sparse::from_rows(rows.len(), p, &pointers, &columns, &values)?))
            }
        }
    }
}

/// A target as it stands in the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// All values are numbers, and finite.
    Numbers(Vec<f64>),
    /// At least one is not.
    Text(Vec<String>),
}

impl Target {
    /// n.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(v) => v.len(),
            Self::Text(v) => v.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values, if they are numbers: what a regression needs.
    pub fn numbers(&self) -> Result<&[f64]> {
        match self {
            Self::Numbers(values) => Ok(values),
            Self::Text(values) => {
                let odd = values.iter().enumerate().find(|(_, v)| v.parse::<f64>().is_err());
                let (row, value) = odd.map_or((0, ""), |(i, v)| (i, v));
                Err(Error::request(
                    format!("the target of row {} is `{value}`, not a number", row + 1),
                    Words::from("name another target, or use a loss for two classes (") + Setting::Loss + " logistic)",
                ))
            }
        }
    }

    /// The value of a row as text: what a label is called.
    pub fn label(&self, i: usize) -> String {
        match self {
            Self::Numbers(values) => short(values[i]),
            Self::Text(values) => values[i].clone(),
        }
    }

    /// Some of the rows.
    pub fn rows(&self, rows: &[usize]) -> Self {
        match self {
            Self::Numbers(v) => Self::Numbers(rows.iter().map(|&i| v[i]).collect()),
            Self::Text(v) => Self::Text(rows.iter().map(|&i| v[i].clone()).collect()),
        }
    }
}
