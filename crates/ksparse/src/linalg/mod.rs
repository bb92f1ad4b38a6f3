//! Dense matrices: a view for the public traits, and what the library does with faer behind them.

mod view;

pub use view::MatrixMut;
