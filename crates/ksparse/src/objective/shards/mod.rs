//! Rows in shards: f as a sum over blocks of rows that nobody has all at once.
//!
//! ```text
//! f(w) = (sum over shards of sum_i c_i l(x_i'w + b, y_i)) / (sum over shards of sum_i c_i) + (lambda / 2) ||w||^2
//! ```
//!
//! A [`Shard`] answers a [`Question`] with a list of numbers, sums over its rows that nobody has divided by anything.
//! The answers of all shards are added up by [`Tree`], neighbours first, so that the bits depend on the shards and
//! their order, and not on who computed them or when. One question to all of them is a round ([`Rounds`]): blocks one
//! after the other on this machine ([`Blocks`]), or tasks of a cluster. [`Summed`] is the objective over them; what
//! centring, scaling and an intercept do to a row is said by a [`Frame`], found in two rounds before the first
//! evaluation.

mod answer;
mod blocks;
mod frame;
mod gathered;
mod on_support;
mod question;
mod shard;
mod summed;
mod together;
mod tree;

pub use blocks::Blocks;
pub use frame::Frame;
pub use question::Question;
pub use shard::Shard;
pub use summed::{Communication, Summed, SummedOptions};
pub use together::{Asked, Passed, Passes, Seat, side_by_side};
pub use tree::Tree;

use crate::error::Result;

/// Whoever can put a question to all shards.
pub trait Rounds: Send + Sync {
    /// How many shards there are.
    fn shards(&self) -> usize;

    /// What all shards answer, added up as [`Tree`] does.
    fn ask(&self, question: &Question, frame: &Frame) -> Result<Vec<f64>>;

    /// What each shard answers, in their order.
    fn each(&self, question: &Question, frame: &Frame) -> Result<Vec<Vec<f64>>>;

    /// Bytes of all answers so far, where that is counted; by default answers are taken to be sent number by number.
    fn sent(&self) -> Option<u64> {
        None
    }
}
