//! ksparse

pub mod design;
mod error;
mod kernels;
pub mod loss;
pub mod objective;
pub mod path;
pub mod restricted;
pub mod select;
pub mod simulate;
pub mod solver;
pub mod sparsity;
pub mod theory;
mod threads;

pub use error::{Error, Result};
pub use objective::{Custom, LinearModel, Objective, Risk};
pub use path::{Grid, Path};
pub use solver::{Auto, Progress, Solution, Solver, Status};
pub use sparsity::{SparseRef, Sparsity};
pub use threads::Threads;
