//! The real binary, driven as a shell drives it.

#![allow(clippy::unwrap_used, clippy::needless_range_loop)]

mod bad_input;
mod bad_targets;
mod bench;
mod bound;
mod bounds;
mod claims;
mod fit;
mod formats;
mod graph;
mod help;
mod joint;
mod moments;
mod outputs;
mod papers;
mod path;
mod predict;
mod published;
mod shards;
mod signals;
mod tables;
mod tools;
mod words;
