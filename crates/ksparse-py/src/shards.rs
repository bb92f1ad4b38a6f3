//! Rows in shards: what one block of rows answers, on a worker, and the fit over all of them, on the driver.
//!
//! Questions and frames travel as dictionaries of arrays, which any engine can send. The driver calls back into Python
//! for every round, on the thread that called the fit, so that Ctrl-C arrives there; an exception ends the fit and is
//! raised as it was.

use crate::error::to_py;
use crate::options::Search;
use crate::outcome;
use crate::pool;
use crate::problem::{Data, named_loss};
use ksparse::objective::{Communication, Frame, Question, Rounds, Summed, SummedOptions};
use ksparse::solver::Solution;
use ksparse::{Cancel, Error, LinearModel, Progress, Result};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyStopIteration, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// What a block of rows answers to a question.
#[pyfunction]
#[pyo3(signature = (data, frame, question, threads))]
pub fn shard_answer<'py>(
    py: Python<'py>,
    data: Data<'py>,
    frame: &Bound<'py, PyDict>,
    question: &Bound<'py, PyDict>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (frame, question) = (read_frame(frame)?, read_question(question)?);
    let view = data.view()?;
    let pool = pool::lend(threads).map_err(to_py)?;
    let answer = py.detach(|| pool.run(|| view.answer(&frame, &question))).map_err(to_py)?;
    Ok(answer.into_pyarray(py))
}

/// What is fitted, read from a dictionary with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Sharded {
    pub loss: String,
    pub loss_parameter: Option<f64>,
    alpha: f64,
    intercept: bool,
    standardize: bool,
    penalty_factors: Option<Vec<f64>>,
}

impl Sharded {
    pub fn options(self) -> SummedOptions {
        SummedOptions {
            ridge: self.alpha,
            intercept: self.intercept,
            standardize: self.standardize,
            penalty_factors: self.penalty_factors.unwrap_or_default(),
        }
    }
}

/// Fits one model over shards. `rounds` has `count`, `ask(question, frame)` for what all shards answer, added up, and
/// `each(question, frame)` for their answers one by one.
#[pyfunction]
#[pyo3(signature = (rounds, problem, search, k, start=None, callback=None))]
pub fn fit_shards<'py>(
    py: Python<'py>,
    rounds: Py<PyAny>,
    problem: Sharded,
    search: Search<'py>,
    k: usize,
    start: Option<(Vec<usize>, Vec<f64>, f64)>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let count = rounds.getattr(py, "count")?.extract(py)?;
    search.refuse_bounds("over shards")?;
    let solver = search.solver(&Cancel::NEVER)?;
    let sparsity = search.sparsity(k)?;
    let loss = named_loss(&problem.loss, problem.loss_parameter).map_err(to_py)?;
    let start = start.map(|(support, coefficients, intercept)| LinearModel { support, coefficients, intercept });
    let rounds = PythonRounds { rounds, count, frame: Mutex::new(None) };
    let options = problem.options();
    let raised = Mutex::new(None);
    let found = py.detach(|| {
        let summed = Summed::new(&rounds, &*loss, options)?;
        let start = start.as_ref().map(|model| summed.start(model));
        let solution = solver.solve(&summed, &sparsity, start.as_ref(), &mut |progress| {
            let told = Python::attach(|py| tell(py, callback.as_ref(), progress, &summed));
            match told {
                Ok(true) => ControlFlow::Continue(()),
                Ok(false) => ControlFlow::Break(()),
                Err(error) => {
                    raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        Ok((summed.model(&solution), solution, summed.communication(), summed.rows()))
    });
    if let Some(error) = raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let (model, solution, said, rows): (LinearModel, Solution, Communication, u64) = found.map_err(to_py)?;
    let out = outcome::model(py, solution, model)?;
    out.set_item("rows", rows)?;
    out.set_item("communication", communication(py, &said)?)?;
    Ok(out)
}

/// What shards and driver have told each other.
pub fn communication<'py>(py: Python<'py>, said: &Communication) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("rounds", said.rounds)?;
    out.set_item("bytes_up", said.up)?;
    out.set_item("bytes_down", said.down)?;
    out.set_item("seconds", said.seconds)?;
    Ok(out)
}

/// Tells the callback where the fit stands, as a model of the user's columns; whether to go on.
fn tell(py: Python<'_>, callback: Option<&Py<PyAny>>, progress: &Progress, summed: &Summed) -> PyResult<bool> {
    py.check_signals()?;
    let Some(callback) = callback else { return Ok(true) };
    let here = Solution::guess(progress.support.to_vec(), progress.coefficients.to_vec());
    let model = summed.model(&here);
    let mut report = crate::supervise::Report::of(progress, None);
    (report.support, report.coefficients) = (model.support, model.coefficients);
    let report = outcome::report(py, report)?;
    report.set_item("intercept", model.intercept)?;
    match callback.call1(py, (report,)) {
        Ok(answer) => Ok(!answer.is_truthy(py)?),
        Err(error) if error.is_instance_of::<PyStopIteration>(py) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Rounds made by Python.
struct PythonRounds {
    rounds: Py<PyAny>,
    count: usize,
    /// The last frame, as it was handed over: the same object while it is the same.
    frame: Mutex<Option<(Frame, Py<PyDict>)>>,
}

impl PythonRounds {
    fn call<R>(&self, method: &str, question: &Question, frame: &Frame, read: Read<R>) -> Result<R> {
        let answer = Python::attach(|py| {
            let frame = self.frame(py, frame)?;
            let answer = self.rounds.call_method1(py, method, (write_question(py, question)?, frame))?;
            read(answer.bind(py))
        });
        answer.map_err(Error::evaluation)
    }

    fn frame(&self, py: Python<'_>, frame: &Frame) -> PyResult<Py<PyDict>> {
        let mut last = self.frame.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, written)) if known == frame => Ok(written.clone_ref(py)),
            _ => {
                let written = write_frame(py, frame)?.unbind();
                *last = Some((frame.clone(), written.clone_ref(py)));
                Ok(written)
            }
        }
    }
}

/// What an object of Python has counted as sent, if it counts.
pub fn sent(rounds: &Py<PyAny>) -> Option<u64> {
    Python::attach(|py| rounds.getattr(py, "sent").and_then(|sent| sent.extract(py)).ok())
}

type Read<R> = fn(&Bound<'_, PyAny>) -> PyResult<R>;

impl Rounds for PythonRounds {
    fn shards(&self) -> usize {
        self.count
    }

    fn ask(&self, question: &Question, frame: &Frame) -> Result<Vec<f64>> {
        self.call("ask", question, frame, |answer| {
            Ok(answer.extract::<PyReadonlyArray1<'_, f64>>()?.as_slice()?.to_vec())
        })
    }

    fn each(&self, question: &Question, frame: &Frame) -> Result<Vec<Vec<f64>>> {
        self.call("each", question, frame, |answers| {
            let answers = answers.extract::<Vec<PyReadonlyArray1<'_, f64>>>()?;
            answers.iter().map(|answer| Ok(answer.as_slice()?.to_vec())).collect()
        })
    }

    fn sent(&self) -> Option<u64> {
        sent(&self.rounds)
    }
}

pub fn write_frame<'py>(py: Python<'py>, frame: &Frame) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let (columns, shifts): (Vec<usize>, Vec<f64>) = frame.moved.iter().copied().unzip();
    out.set_item("moved", outcome::indices(py, columns))?;
    out.set_item("shifts", shifts.into_pyarray(py))?;
    out.set_item("rest", frame.rest.clone().into_pyarray(py))?;
    out.set_item("scale", frame.scale.clone().into_pyarray(py))?;
    out.set_item("unit", frame.unit)?;
    out.set_item("target_shift", frame.target_shift)?;
    Ok(out)
}

fn read_frame(frame: &Bound<'_, PyDict>) -> PyResult<Frame> {
    Ok(Frame {
        moved: places(frame, "moved")?.into_iter().zip(numbers(frame, "shifts")?).collect(),
        rest: numbers(frame, "rest")?,
        scale: numbers(frame, "scale")?,
        unit: item(frame, "unit")?.extract()?,
        target_shift: item(frame, "target_shift")?.extract()?,
    })
}

pub fn write_question<'py>(py: Python<'py>, question: &Question) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let put = |name: &str, list: &[usize]| out.set_item(name, outcome::indices(py, list.to_vec()));
    let at = |support: &[usize], x: &[f64]| {
        put("support", support)?;
        out.set_item("x", x.to_vec().into_pyarray(py))
    };
    let kind = match question {
        Question::Totals => "totals",
        Question::Deviations { centres, target } => {
            out.set_item("centres", centres.clone().into_pyarray(py))?;
            out.set_item("target", *target)?;
            "deviations"
        }
        Question::Value { support, x } => {
            at(support, x)?;
            "value"
        }
        Question::Full { support, x } => {
            at(support, x)?;
            "full"
        }
        Question::On { set, x } => {
            at(set, x)?;
            "on"
        }
        Question::Block { support, x, left, right } => {
            at(support, x)?;
            put("left", left)?;
            put("right", right)?;
            "block"
        }
        Question::Rows { set } => {
            put("support", set)?;
            "rows"
        }
    };
    out.set_item("kind", kind)?;
    Ok(out)
}

fn read_question(question: &Bound<'_, PyDict>) -> PyResult<Question> {
    let kind: String = item(question, "kind")?.extract()?;
    let support = || places(question, "support");
    let x = || numbers(question, "x");
    Ok(match kind.as_str() {
        "totals" => Question::Totals,
        "deviations" => Question::Deviations {
            centres: numbers(question, "centres")?,
            target: item(question, "target")?.extract()?,
        },
        "value" => Question::Value { support: support()?, x: x()? },
        "full" => Question::Full { support: support()?, x: x()? },
        "on" => Question::On { set: support()?, x: x()? },
        "rows" => Question::Rows { set: support()? },
        "block" => {
            let (left, right) = (places(question, "left")?, places(question, "right")?);
            Question::Block { support: support()?, x: x()?, left, right }
        }
        other => return Err(PyValueError::new_err(format!("no shard knows the question {other:?}"))),
    })
}

fn item<'py>(from: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    from.get_item(name)?.ok_or_else(|| PyValueError::new_err(format!("{name} is missing")))
}

fn numbers(from: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<f64>> {
    Ok(item(from, name)?.extract::<PyReadonlyArray1<'_, f64>>()?.as_slice()?.to_vec())
}

fn places(from: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<usize>> {
    outcome::row_numbers(&item(from, name)?.extract()?)
}
