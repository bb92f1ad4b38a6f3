//! What the R package calls.
//!
//! Vectors come in as they lie in R's memory (`args`, `matrix`), the work runs on a thread of its own while R's thread
//! looks for interrupts and answers what only it can (`supervise`), results leave as plain lists (`value`), errors as
//! R's (`error`). Checking what users pass, names and defaults are in `R/`; nothing here is called by users directly.

mod args;
mod choose;
mod error;
mod evidence;
mod fit;
mod function;
mod graph;
mod joint;
mod matrix;
mod outcome;
mod problem;
mod search;
mod supervise;
mod value;
