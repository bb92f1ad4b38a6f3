//! Designs of [ksparse](https://docs.rs/ksparse) that lie on an NVIDIA device.
//!
//! [`CudaDense`] and [`CudaSparse`] are [`Design`](ksparse::design::Design)s: every solver, loss, path and
//! cross-validation runs on them unchanged. The matrix stays on the device, and so do the columns of supports and
//! products of columns; vectors of the length of the data and small matrices travel. Losses, ranking and the small
//! systems of Newton's method stay on the processor, where they are faster.
//!
//! CUDA is found when the program runs: a program with this crate builds and starts without it, and [`open`] then says
//! that there is no device. Kernels are embedded as PTX, which the driver translates; beside the driver only cuBLAS is
//! needed.
//!
//! ```
//! use ksparse::{Auto, Risk, Solver, Sparsity, loss::Squared};
//! use ksparse_cuda::{CudaDense, Session};
//! let device = match ksparse_cuda::open(0) {
//!     Ok(device) => device,
//!     Err(none) => return println!("{none}"),
//! };
//! let x = CudaDense::from_columns(&Session::new(device), 4, 2, &[1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 0.0, 1.0]).unwrap();
//! let risk = Risk::new(x, &[3.0, 5.0, 7.0, 9.0], Squared::default()).unwrap().with_intercept();
//! assert_eq!(Auto::default().fit(&risk, &Sparsity::new(1)).unwrap().support[0], 0);
//! ```
//!
//! # The same bits
//!
//! Sums run in an order that follows from the sizes alone, without atomics, on one stream: the same call gives the same
//! bits on the same device. Another device, and the processor, round differently: f agrees to about 1e-9.
//!
//! # Failures
//!
//! No device, no library, too little memory are a [`Fault`] that says what would help. A product has no way to fail: it
//! is noted, and [`Design::health`](ksparse::design::Design::health) tells whoever evaluates something from it.

mod dense;
mod dense_columns;
pub mod device;
mod driver;
mod fault;
mod launch;
mod pool;
mod products;
mod session;
mod sparse;
mod sparse_columns;
pub mod stand_in;

pub use dense::{CudaDense, Layout};
pub use driver::open;
pub use fault::{Fault, Result};
pub use session::Session;
pub use sparse::{CudaSparse, SparseLayout};
