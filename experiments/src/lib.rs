//! The experiments of the papers, each by one command.
//!
//! ```text
//! ksparse-experiments list
//! ksparse-experiments E1 [--quick] [--data DIR] [--replicas N] [--seed S] [--out DIR] [--jobs N]
//! ksparse-experiments report [--out DIR] [--to FILE.html]
//! ```
//!
//! An experiment is a list of cells (one method on one problem of one seed). A finished cell is appended to
//! `DIR/E1.csv`; a run that was interrupted goes on where it was. When all cells are there, figures (`E1-*.svg`) and a
//! page (`E1.html`) are drawn from the rows, and `E1.about` says when, with which version and on which machine.
//!
//! # To add an experiment
//!
//! 1. `src/e9.rs`: a struct that implements [`frame::Experiment`]: `cells` lists the work, `run` does one cell, `page`
//!    draws figures and tables and compares with the paper. `e1.rs` is the model to follow; [`frame`] says what each
//!    method owes.
//! 2. `src/lib.rs`: the module, and a line in [`experiments`].
//!
//! `list`, the options, progress, resuming, the report and the test that runs every experiment with `--quick` then know
//! it.

mod algorithm2;
mod collections;
mod compare;
mod e1;
mod e4;
mod e5;
mod e6;
mod e7;
mod e8;
pub mod frame;
pub mod methods;
mod text;

use frame::Experiment;

/// Every experiment, in order.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(e1::LogisticSimulation::default()),
        Box::new(text::TextClassification::logistic()),
        Box::new(text::TextClassification::l2_svm()),
        Box::new(e4::PrecisionSimulation),
        Box::new(e5::BreastCancer::default()),
        Box::new(e6::RidgeEstimation::default()),
        Box::new(e7::DualSpeed::default()),
        Box::new(e8::ModelChoice),
    ]
}
