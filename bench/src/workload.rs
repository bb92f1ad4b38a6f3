//! The data sets: names, shapes and settings.

use crate::Outcome;
use crate::real::File;
use ksparse::simulate::{self, Correlation, Simulated, Text};
use ksparse_io::{Matrix, Table, Target};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Which objective the answers are scored with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LossName {
    /// `log(1 + exp(-scale m))`.
    Logistic,
    /// `(1/2) (y - z)^2`.
    Squared,
    /// `-log det O + <S, O>` of a precision matrix O; k counts edges.
    LogDet,
}

/// A family of data sets, one per seed.
#[derive(Debug, Clone)]
pub struct Workload {
    /// What it is called in tables and on the command line.
    pub name: &'static str,
    /// One line for the report.
    pub about: &'static str,
    /// At most so many non-zeros.
    pub k: usize,
    /// The loss.
    pub loss: LossName,
    /// Its scale (logistic only).
    pub scale: f64,
    /// The ridge.
    pub lambda: f64,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    Logistic { n: usize, p: usize, correlation: Correlation },
    Linear { n: usize, p: usize, correlation: Correlation, noise: f64 },
    Text(Text),
    Network { n: usize, p: usize },
    File(File),
}

/// Rows to fit on, rows held out, and the truth where it is known.
pub struct Drawn {
    /// Rows to fit on, with their labels or responses as numbers.
    pub train: Table,
    /// Rows held out, perhaps none.
    pub test: Option<Table>,
    /// Where the truth is not zero. Of a precision matrix: `i p + j` of its edges i < j.
    pub support: Vec<usize>,
    /// The true coefficients there.
    pub coefficients: Vec<f64>,
    /// The diagonal of the true precision matrix; empty otherwise.
    pub diagonal: Vec<f64>,
}

impl Workload {
    /// Whether it needs a folder of real data.
    pub fn is_file(&self) -> bool {
        matches!(self.source, Source::File(_))
    }

    /// The data of a seed, with `held_out` further rows of the same truth (a file decides itself how many). `folder`
    /// has the files.
    pub fn draw(&self, seed: u64, held_out: usize, folder: Option<&Path>) -> Outcome<Drawn> {
        match &self.source {
            Source::Logistic { n, p, correlation } => {
                split(simulate::logistic(n + held_out, *p, self.k, *correlation, seed), Matrix::Dense, *n)
            }
            Source::Linear { n, p, correlation, noise } => {
                split(simulate::linear(n + held_out, *p, self.k, *correlation, *noise, seed), Matrix::Dense, *n)
            }
            Source::Text(shape) => {
                split(simulate::text(&Text { n: shape.n + held_out, ..*shape }, seed), Matrix::Sparse, shape.n)
            }
            Source::Network { n, p } => {
                let data = simulate::precision(*n, held_out.max(1), *p, seed);
                Ok(Drawn {
                    train: Table::new(Matrix::Dense(data.train)),
                    test: (held_out > 0).then(|| Table::new(Matrix::Dense(data.tune))),
                    support: data.edges.iter().map(|(i, j)| i * p + j).collect(),
                    coefficients: data.edges.iter().map(|&(i, j)| data.precision[(i, j)]).collect(),
                    diagonal: (0..*p).map(|i| data.precision[(i, i)]).collect(),
                })
            }
            Source::File(file) => {
                let folder = folder.ok_or_else(|| format!("{} needs --data, the folder with its file", self.name))?;
                let (train, test) = file.read(folder, self.loss, seed)?;
                let test = Some(test);
                Ok(Drawn { train, test, support: Vec::new(), coefficients: Vec::new(), diagonal: Vec::new() })
            }
        }
    }
}

/// The first `n` rows, and the others held out.
fn split<D>(data: Simulated<D>, storage: fn(D) -> Matrix, n: usize) -> Outcome<Drawn> {
    let rows = data.target.len();
    let whole = Table { target: Some(Target::Numbers(data.target)), ..Table::new(storage(data.design)) };
    let (train, test) = if rows > n {
        let part = |range: std::ops::Range<usize>| whole.rows(&range.collect::<Vec<_>>());
        (part(0..n)?, Some(part(n..rows)?))
    } else {
        (whole, None)
    };
    Ok(Drawn { train, test, support: data.support, coefficients: data.coefficients, diagonal: Vec::new() })
}

/// All of them. The `tiny` ones are for trying the machinery.
pub fn all() -> Vec<Workload> {
    use Correlation::{Ar1, Independent};
    use LossName::{LogDet, Logistic, Squared};
    let workload =
        |name, about, k, loss, scale, lambda, source| Workload { name, about, k, loss, scale, lambda, source };
    // E1 of the papers: p = 1000, k = 100, lambda = 1e-4.
    let e1 = |name, about, n, p, k, correlation| {
        workload(name, about, k, Logistic, 2.0, 1e-4, Source::Logistic { n, p, correlation })
    };
    let linear = |name, about, n, p, k, correlation| {
        workload(name, about, k, Squared, 1.0, 0.0, Source::Linear { n, p, correlation, noise: 0.5 })
    };
    let text = |name, about, k, shape| workload(name, about, k, Logistic, 2.0, 1e-5, Source::Text(shape));
    let network = |name, about, n, p, k| workload(name, about, k, LogDet, 1.0, 0.0, Source::Network { n, p });
    let file = |name, about, k, lambda, file| workload(name, about, k, Logistic, 2.0, lambda, Source::File(file));
    let tiny_text = Text { n: 500, p: 2000, mean_tokens: 40.0 };
    vec![
        e1("e1-2000", "dense logistic, AR(1) rows 0.5, n=2000 p=1000 k=100 lambda=1e-4", 2000, 1000, 100, Ar1(0.5)),
        e1("e1-1000", "dense logistic, AR(1) rows 0.5, n=1000 p=1000 k=100 lambda=1e-4", 1000, 1000, 100, Ar1(0.5)),
        e1("e1-500", "dense logistic, AR(1) rows 0.5, n=500 p=1000 k=100 lambda=1e-4", 500, 1000, 100, Ar1(0.5)),
        e1(
            "e1i-2000",
            "dense logistic, independent rows, n=2000 p=1000 k=100 lambda=1e-4",
            2000,
            1000,
            100,
            Independent,
        ),
        e1(
            "e1i-1000",
            "dense logistic, independent rows, n=1000 p=1000 k=100 lambda=1e-4",
            1000,
            1000,
            100,
            Independent,
        ),
        e1("e1i-500", "dense logistic, independent rows, n=500 p=1000 k=100 lambda=1e-4", 500, 1000, 100, Independent),
        linear("linear", "dense linear, independent, n=1000 p=10000 k=50 noise 0.5", 1000, 10_000, 50, Independent),
        linear("linear-hard", "dense linear, AR(1) 0.9, n=500 p=5000 k=30 noise 0.5", 500, 5000, 30, Ar1(0.9)),
        text("rcv1", "text model, n=20000 p=47236, 75 entries a row, k=1000 lambda=1e-5", 1000, Text::rcv1()),
        text("news20", "text model, n=20000 p=1355191, 450 entries a row, k=1000 lambda=1e-5", 1000, Text::news20()),
        text("rcv1-500", "text model, n=20000 p=47236, 75 entries a row, k=500 lambda=1e-5", 500, Text::rcv1()),
        text("news20-500", "text model, n=20000 p=1355191, 450 entries a row, k=500 lambda=1e-5", 500, Text::news20()),
        linear("linear-1k", "dense linear, independent, n=500 p=1000 k=10 noise 0.5", 500, 1000, 10, Independent),
        linear("linear-5k", "dense linear, independent, n=2500 p=5000 k=50 noise 0.5", 2500, 5000, 50, Independent),
        linear(
            "linear-10k",
            "dense linear, independent, n=5000 p=10000 k=100 noise 0.5",
            5000,
            10_000,
            100,
            Independent,
        ),
        e1("logistic-1k", "dense logistic, independent, n=500 p=1000 k=10 lambda=1e-4", 500, 1000, 10, Independent),
        e1("logistic-5k", "dense logistic, independent, n=2500 p=5000 k=50 lambda=1e-4", 2500, 5000, 50, Independent),
        e1(
            "logistic-10k",
            "dense logistic, independent, n=5000 p=10000 k=100 lambda=1e-4",
            5000,
            10_000,
            100,
            Independent,
        ),
        network("network-60", "precision matrix, a tenth of the pairs, n=100 p=60 k=177 edges", 100, 60, 177),
        network("network-120", "precision matrix, a tenth of the pairs, n=200 p=120 k=714 edges", 200, 120, 714),
        file("rcv1-file", "RCV1 stories, four fifths of 23749 rows, p=47236 k=500 lambda=1e-5", 500, 1e-5, File::RCV1),
        file(
            "news20-file",
            "20 newsgroups in two halves, four fifths of 15935 rows, p=62061 k=500 lambda=1e-5",
            500,
            1e-5,
            File::NEWS20,
        ),
        file("gisette-file", "GISETTE, four fifths of 1000 rows, p=5000 k=50 lambda=1e-4", 50, 1e-4, File::GISETTE),
        file("arcene-file", "ARCENE, four fifths of 200 rows, p=10000 k=20 lambda=1e-3", 20, 1e-3, File::ARCENE),
        file("leukemia-file", "leukemia, n=38 p=7129 k=5 lambda=1e-3", 5, 1e-3, File::LEUKEMIA),
        Workload {
            loss: Squared,
            scale: 1.0,
            ..file(
                "riboflavin-file",
                "riboflavin, four fifths of 71 rows, p=4088 k=10, no ridge",
                10,
                0.0,
                File::RIBOFLAVIN,
            )
        },
        e1("tiny-logistic", "to try the machinery", 200, 100, 10, Ar1(0.5)),
        linear("tiny-linear", "to try the machinery", 100, 200, 5, Ar1(0.5)),
        text("tiny-text", "to try the machinery", 30, tiny_text),
        network("tiny-network", "to try the machinery", 60, 12, 6),
    ]
}

/// The workload of that name.
pub fn by_name(name: &str) -> Outcome<Workload> {
    let known: Vec<&str> = all().iter().map(|w| w.name).collect();
    all()
        .into_iter()
        .find(|w| w.name == name)
        .ok_or_else(|| format!("no workload named {name}; there are {}", known.join(", ")).into())
}
