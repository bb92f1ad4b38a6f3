//! The data sets: names, shapes and settings.

use crate::Outcome;
use ksparse::design::{Dense, Sparse};
use ksparse::simulate::{self, Correlation, Simulated, Text};
use serde::{Deserialize, Serialize};

/// Which objective the answers are scored with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LossName {
    /// `log(1 + exp(-scale m))`.
    Logistic,
    /// `(1/2) (y - z)^2`.
    Squared,
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
    Logistic { n: usize, p: usize },
    Linear { n: usize, p: usize, correlation: Correlation, noise: f64 },
    Text(Text),
}

/// A design of either kind.
pub enum Drawn {
    /// Dense.
    Dense(Simulated<Dense<'static>>),
    /// Sparse.
    Sparse(Simulated<Sparse<'static>>),
}

impl Workload {
    /// The data of a seed.
    pub fn draw(&self, seed: u64) -> Drawn {
        match &self.source {
            Source::Logistic { n, p } => Drawn::Dense(simulate::logistic(*n, *p, self.k, Correlation::Ar1(0.5), seed)),
            Source::Linear { n, p, correlation, noise } => {
                Drawn::Dense(simulate::linear(*n, *p, self.k, *correlation, *noise, seed))
            }
            Source::Text(shape) => Drawn::Sparse(simulate::text(shape, seed)),
        }
    }
}

/// All of them. The `tiny` ones are for trying the machinery.
pub fn all() -> Vec<Workload> {
    let e1 = |name, about, n, p, k| Workload {
        name,
        about,
        k,
        loss: LossName::Logistic,
        scale: 2.0,
        lambda: 1e-4,
        source: Source::Logistic { n, p },
    };
    let linear = |name, about, n, p, k, correlation| Workload {
        name,
        about,
        k,
        loss: LossName::Squared,
        scale: 1.0,
        lambda: 0.0,
        source: Source::Linear { n, p, correlation, noise: 0.5 },
    };
    let text = |name, about, k, shape| Workload {
        name,
        about,
        k,
        loss: LossName::Logistic,
        scale: 2.0,
        lambda: 1e-5,
        source: Source::Text(shape),
    };
    use Correlation::{Ar1, Independent};
    let tiny_text = Text { n: 500, p: 2000, mean_tokens: 40.0 };
    vec![
        e1("e1-2000", "dense logistic, AR(1) rows 0.5, n=2000 p=1000 k=100 lambda=1e-4", 2000, 1000, 100),
        e1("e1-1000", "dense logistic, AR(1) rows 0.5, n=1000 p=1000 k=100 lambda=1e-4", 1000, 1000, 100),
        linear("linear", "dense linear, independent, n=1000 p=10000 k=50 noise 0.5", 1000, 10_000, 50, Independent),
        linear("linear-hard", "dense linear, AR(1) 0.9, n=500 p=5000 k=30 noise 0.5", 500, 5000, 30, Ar1(0.9)),
        text("rcv1", "text model, n=20000 p=47236, 75 entries a row, k=1000 lambda=1e-5", 1000, Text::rcv1()),
        text("news20", "text model, n=20000 p=1355191, 450 entries a row, k=1000 lambda=1e-5", 1000, Text::news20()),
        e1("tiny-logistic", "to try the machinery", 200, 100, 10),
        linear("tiny-linear", "to try the machinery", 100, 200, 5, Ar1(0.5)),
        text("tiny-text", "to try the machinery", 30, tiny_text),
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
