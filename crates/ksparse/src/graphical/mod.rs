//! Sparse precision matrices: a network with exactly k edges.
//!
//! ```text
//! minimise  -log det O + <S, O>   over  alpha I <= O <= beta I  with at most k edges (2 k off-diagonal non-zeros)
//! ```
//!
//! S is the covariance of p variables; in a Gaussian model `O_ij = 0` says that variables i and j are independent given
//! all others, so the non-zeros of O are the edges of a network. The graphical lasso reaches sparsity through a
//! penalty, which also shrinks the entries it keeps; here the number of edges is asked for and the entries are
//! maximum-likelihood.
//!
//! [`Precision`] is an [`Objective`](crate::Objective) over the lower triangle with the diagonal free, so the solvers
//! and paths of this library run on it as they are.

mod adm;
mod barrier;
mod component;
mod covariance;
mod discriminant;
mod glasso;
mod network;
mod precision;
mod recipe;
mod support;
mod triangle;
mod tune;

pub use covariance::{Covariance, Units};
pub use discriminant::{Classes, Confusion, Rule, screen_by_t};
pub use glasso::GraphicalLasso;
pub use network::{Edge, Network, f_score};
pub use precision::{Bounds, Method, Precision};
pub use recipe::{Interval, Recipe};
pub use triangle::{coordinate, entry};
pub use tune::{
    Family, Stability, Tuned, by_edges, cross_validate, cross_validate_within, ebic, held_out, log_likelihood,
};
