//! `ksparse._core`: what the Python package calls.
//!
//! Arrays come in as they lie in memory (`matrix`) and become a design once (`design`), the work runs with the
//! interpreter free (`supervise`), errors leave as the exceptions scikit-learn's users know (`error`). Checking what
//! users pass, defaults and everything else that Python does better is in `python/ksparse`; nothing here is called by
//! users directly.

mod bound;
mod choice;
mod choosing;
mod cuda;
mod design;
mod error;
mod fit;
mod function;
mod joint;
mod matrix;
mod moments;
mod options;
mod outcome;
mod pool;
mod precision;
mod problem;
mod room;
mod shard_choice;
mod shards;
mod simulate;
mod supervise;
mod theory;

use pyo3::prelude::*;

/// The compiled half of the package.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("SOLVERS", ksparse::solver::NAMES.to_vec())?;
    let methods = ksparse::solver::METHODS.iter();
    let options =
        methods.flat_map(|method| method.options.iter().map(|o| (method.name, o.name, o.values, o.about, o.published)));
    module.add("SOLVER_OPTIONS", options.collect::<Vec<_>>())?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    module.add_function(wrap_pyfunction!(fit::grids, module)?)?;
    module.add_function(wrap_pyfunction!(joint::fit_joint, module)?)?;
    module.add_function(wrap_pyfunction!(joint::choose_joint, module)?)?;
    module.add_function(wrap_pyfunction!(joint::concordance, module)?)?;
    module.add_function(wrap_pyfunction!(moments::rows_of_moments, module)?)?;
    module.add_function(wrap_pyfunction!(function::minimize, module)?)?;
    module.add_function(wrap_pyfunction!(function::minimize_path, module)?)?;
    module.add_function(wrap_pyfunction!(bound::certify, module)?)?;
    module.add_function(wrap_pyfunction!(precision::precision_path, module)?)?;
    module.add_function(wrap_pyfunction!(precision::precision_scores, module)?)?;
    module.add_function(wrap_pyfunction!(choice::deviance, module)?)?;
    module.add_function(wrap_pyfunction!(choice::choose, module)?)?;
    module.add_function(wrap_pyfunction!(choosing::choose_model, module)?)?;
    module.add_function(wrap_pyfunction!(choosing::choose_by_criterion, module)?)?;
    module.add_function(wrap_pyfunction!(choosing::criterion_penalty, module)?)?;
    module.add_function(wrap_pyfunction!(choosing::deal, module)?)?;
    module.add_function(wrap_pyfunction!(choosing::folds, module)?)?;
    module.add_function(wrap_pyfunction!(shards::shard_answer, module)?)?;
    module.add_function(wrap_pyfunction!(shards::fit_shards, module)?)?;
    module.add_function(wrap_pyfunction!(shard_choice::choose_over_shards, module)?)?;
    module.add_function(wrap_pyfunction!(theory::theory, module)?)?;
    module.add_class::<design::Design>()?;
    simulate::register(module)
}
