//! The choice of k and alpha over shards that Python has: it makes the passes and scores the rows held out.

use crate::error::to_py;
use crate::options::Search;
use crate::outcome;
use crate::problem::named_loss;
use crate::shards::{Sharded, communication, sent, write_frame, write_question};
use ksparse::objective::{Asked, Frame, Passes};
use ksparse::select::{CellDone, FoldedShards, Rule, ShardedValidation};
use ksparse::{Cancel, Error, LinearModel, Result};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// Chooses k and alpha by cross-validation, and fits them to all rows. `shards` has `count`, `folds`, `ask(asked)` for
/// what all shards answer to each of some questions, added up, `each(asked)` for their answers to one, and
/// `scores(models)` for the scores of the rows held out, by folds; a question is `(fold or None, question, frame)`.
/// `ks` and `alphas` are `None` for those from the data.
#[pyfunction]
#[pyo3(signature = (shards, problem, search, ks, alphas, rule, callback=None))]
#[allow(clippy::too_many_arguments)]
pub fn choose_over_shards<'py>(
    py: Python<'py>,
    shards: Py<PyAny>,
    problem: Sharded,
    search: Search<'py>,
    ks: Option<Vec<usize>>,
    alphas: Option<Vec<f64>>,
    rule: &str,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let solver = search.solver(&Cancel::NEVER)?;
    let loss = named_loss(&problem.loss, problem.loss_parameter).map_err(to_py)?;
    let validation = ShardedValidation {
        ks,
        lambdas: alphas,
        keep: search.keep.clone(),
        rule: Rule::by_name(rule).map_err(to_py)?,
        options: problem.options(),
        time_limit: search.time_limit()?,
        ..ShardedValidation::default()
    };
    let (count, folds) = (shards.getattr(py, "count")?.extract(py)?, shards.getattr(py, "folds")?.extract(py)?);
    let shards = PythonShards { shards, count, folds, frames: Mutex::new(Vec::new()) };
    let raised = Mutex::new(None);
    let chosen = py.detach(|| {
        validation.solve(&shards, &*loss, &*solver, &mut |done| match Python::attach(|py| {
            tell(py, callback.as_ref(), done)
        }) {
            Ok(true) => ControlFlow::Continue(()),
            Ok(false) => ControlFlow::Break(()),
            Err(error) => {
                raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                ControlFlow::Break(())
            }
        })
    });
    if let Some(error) = raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let chosen = chosen.map_err(to_py)?;
    let out = outcome::model(py, chosen.solution, chosen.model)?;
    let cells = chosen.table.cells();
    let at = |cell: &ksparse::select::CvCell| (cell.k, cell.lambda) == (chosen.k, chosen.lambda);
    out.set_item("index", cells.iter().position(at))?;
    out.set_item("cells", cells.iter().map(|cell| (cell.k, cell.lambda)).collect::<Vec<_>>())?;
    out.set_item("mean", cells.iter().map(|cell| -cell.mean).collect::<Vec<_>>().into_pyarray(py))?;
    out.set_item("std_error", cells.iter().map(|cell| cell.standard_error).collect::<Vec<_>>().into_pyarray(py))?;
    let scores: Vec<Vec<f64>> = (0..folds).map(|fold| cells.iter().map(|cell| -cell.scores[fold]).collect()).collect();
    out.set_item("scores", PyArray2::from_vec2(py, &scores)?)?;
    out.set_item("rows", chosen.rows)?;
    out.set_item("communication", communication(py, &chosen.communication)?)?;
    Ok(out)
}

/// Tells the callback of a fit; whether to go on.
fn tell(py: Python<'_>, callback: Option<&Py<PyAny>>, done: &CellDone) -> PyResult<bool> {
    py.check_signals()?;
    let Some(callback) = callback else { return Ok(true) };
    let report = PyDict::new(py);
    report.set_item("k", done.k)?;
    report.set_item("alpha", done.lambda)?;
    report.set_item("fold", done.fold)?;
    report.set_item("done", done.done)?;
    report.set_item("total", done.total)?;
    report.set_item("objective", done.value)?;
    report.set_item("support", outcome::indices(py, done.model.support.clone()))?;
    report.set_item("coef", done.model.coefficients.clone().into_pyarray(py))?;
    match callback.call1(py, (report,)) {
        Ok(answer) => Ok(!answer.is_truthy(py)?),
        Err(error) if error.is_instance_of::<PyStopIteration>(py) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Passes made by Python.
struct PythonShards {
    shards: Py<PyAny>,
    count: usize,
    folds: usize,
    /// Frames as they were handed over: the same object for the same frame.
    frames: Mutex<Vec<(Frame, Py<PyDict>)>>,
}

impl PythonShards {
    fn asked<'py>(&self, py: Python<'py>, asked: &Asked) -> PyResult<Bound<'py, PyAny>> {
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        let known = frames.iter().position(|(known, _)| *known == asked.frame);
        let place = match known {
            Some(place) => place,
            None => {
                frames.push((asked.frame.clone(), write_frame(py, &asked.frame)?.unbind()));
                frames.len() - 1
            }
        };
        let frame = frames[place].1.clone_ref(py);
        Ok((asked.without, write_question(py, &asked.question)?, frame).into_pyobject(py)?.into_any())
    }
}

fn lists(answers: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<f64>>> {
    let answers = answers.extract::<Vec<PyReadonlyArray1<'_, f64>>>()?;
    answers.iter().map(|answer| Ok(answer.as_slice()?.to_vec())).collect()
}

impl Passes for PythonShards {
    fn shards(&self) -> usize {
        self.count
    }

    fn ask(&self, asked: &[Asked]) -> Result<Vec<Vec<f64>>> {
        let answers = Python::attach(|py| {
            let asked = asked.iter().map(|one| self.asked(py, one)).collect::<PyResult<Vec<_>>>()?;
            lists(self.shards.call_method1(py, "ask", (asked,))?.bind(py))
        });
        answers.map_err(Error::evaluation)
    }

    fn each(&self, asked: &Asked) -> Result<Vec<Vec<f64>>> {
        let answers =
            Python::attach(|py| lists(self.shards.call_method1(py, "each", (self.asked(py, asked)?,))?.bind(py)));
        answers.map_err(Error::evaluation)
    }

    fn sent(&self) -> Option<u64> {
        sent(&self.shards)
    }
}

impl FoldedShards for PythonShards {
    fn folds(&self) -> usize {
        self.folds
    }

    fn scores(&self, models: &[Vec<LinearModel>]) -> Result<Vec<Vec<f64>>> {
        let scores = Python::attach(|py| {
            let all = PyList::empty(py);
            for models in models {
                let list = PyList::empty(py);
                for LinearModel { support, coefficients, intercept } in models {
                    let coefficients = coefficients.clone().into_pyarray(py);
                    list.append((outcome::indices(py, support.clone()), coefficients, *intercept))?;
                }
                all.append(list)?;
            }
            lists(self.shards.call_method1(py, "scores", (all,))?.bind(py))
        });
        scores.map_err(Error::evaluation)
    }
}
