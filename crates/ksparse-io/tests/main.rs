//! All tests of the readers and writers through their public face, in one program; `attack` is one of its own, with a
//! memory limit for the whole of it.
#![allow(clippy::unwrap_used)]

mod bad_input;
mod detection;
mod parquet_pieces;
mod round_trips;
mod sources;
