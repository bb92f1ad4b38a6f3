//! A Python function as an objective.
//!
//! Python hands over three callables that take and return plain float64 arrays (whatever library the user's own function is written
//! with): value and gradient, optionally a block of the Hessian and its diagonal. They are called on the thread that called `minimize`, so
//! that thread-local settings hold. The first exception is kept, everything after it is answered without asking, and it is
//! raised in the end as it was.

use crate::error::to_py;
use crate::options::Search;
use crate::outcome;
use faer::{Mat, MatMut};
use ksparse::objective::{Hessian, Objective};
use ksparse::restricted::{FromGradients, Restricted, SecondOrder};
use ksparse::solver::Solution;
use ksparse::{Path, Progress, Result, SparseRef, Sparsity};
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyStopIteration, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What Python knows of a function, read from a dictionary with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Callables {
    dim: usize,
    /// x -> (f, gradient).
    value_and_gradient: Py<PyAny>,
    /// x -> f, where that is cheaper.
    value: Option<Py<PyAny>>,
    /// (x, rows, columns) -> that part of the Hessian.
    hessian_block: Option<Py<PyAny>>,
    /// x -> the Hessian's diagonal.
    hessian_diagonal: Option<Py<PyAny>>,
}

impl Callables {
    /// `Err` unless vectors of this length can be had.
    fn check_size(&self) -> PyResult<()> {
        let what = || format!("a search over dim = {} variables", self.dim);
        crate::room::check(what, &[(&[crate::room::VECTORS, self.dim], size_of::<f64>())])
    }
}

/// Minimises a function with at most `k` non-zero coordinates beside those kept.
#[pyfunction]
#[pyo3(signature = (function, search, k, start=None, callback=None))]
pub fn minimize<'py>(
    py: Python<'py>,
    function: Callables,
    search: Search<'py>,
    k: usize,
    start: Option<(Vec<usize>, Vec<f64>)>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    function.check_size()?;
    let solver = search.solver()?;
    let objective = Function::new(function);
    let sparsity = Sparsity::new(k).keep(search.keep.iter().copied());
    let start = start.map(|(support, coefficients)| Solution::guess(support, coefficients));
    let found = py.detach(|| {
        solver.solve(&objective, &sparsity, start.as_ref(), &mut |progress| objective.ask(callback.as_ref(), progress))
    });
    outcome::solution(py, objective.settle(found)?)
}

/// Minimises a function for each k (ascending), each from its neighbours.
#[pyfunction]
#[pyo3(signature = (function, search, ks, callback=None))]
pub fn minimize_path<'py>(
    py: Python<'py>,
    function: Callables,
    search: Search<'py>,
    ks: Vec<usize>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    function.check_size()?;
    let solver = search.solver()?;
    let objective = Function::new(function);
    let path = Path::over(ks).keep(search.keep.iter().copied());
    let found = py.detach(|| {
        path.solve(&objective, &*solver, &mut |progress| objective.ask(callback.as_ref(), &progress.solver))
    });
    let out = PyList::empty(py);
    for solution in objective.settle(found)?.solutions {
        out.append(outcome::solution(py, solution)?)?;
    }
    Ok(out)
}

struct Function {
    python: Callables,
    raised: Mutex<Option<PyErr>>,
}

impl Function {
    fn new(python: Callables) -> Self {
        Self { python, raised: Mutex::new(None) }
    }

    fn raised(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls Python unless it has failed before; `None` when it fails or has failed.
    fn call<R>(&self, call: impl FnOnce(Python<'_>) -> PyResult<R>) -> Option<R> {
        if self.raised().is_some() {
            return None;
        }
        match Python::attach(call) {
            Ok(result) => Some(result),
            Err(error) => {
                self.raised().get_or_insert(error);
                None
            }
        }
    }

    /// Tells the callback; ends the run after an exception, `True` or `StopIteration`.
    fn ask(&self, callback: Option<&Py<PyAny>>, progress: &Progress) -> ControlFlow<()> {
        let go_on = self.call(|py| {
            py.check_signals()?;
            let Some(callback) = callback else { return Ok(true) };
            let report = crate::supervise::Report::of(progress, None);
            match callback.call1(py, (outcome::report(py, report)?,)) {
                Ok(answer) => Ok(!answer.is_truthy(py)?),
                Err(error) if error.is_instance_of::<PyStopIteration>(py) => Ok(false),
                Err(error) => Err(error),
            }
        });
        if go_on == Some(true) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// The user's exception, if there was one, before anything the solver says.
    fn settle<R>(&self, found: Result<R>) -> PyResult<R> {
        match self.raised().take() {
            Some(error) => Err(error),
            None => found.map_err(to_py),
        }
    }

    fn dense<'py>(&self, py: Python<'py>, x: SparseRef) -> Bound<'py, PyAny> {
        x.to_dense(self.python.dim).into_pyarray(py).into_any()
    }

    /// Rows and columns of the Hessian at x; zeros once Python has failed.
    fn block(&self, x: SparseRef, rows: &[usize], columns: &[usize]) -> Mat<f64> {
        let block = self.python.hessian_block.as_ref().and_then(|hessian| {
            self.call(|py| {
                let indices = |list: &[usize]| outcome::indices(py, list.to_vec());
                let block = hessian.call1(py, (self.dense(py, x), indices(rows), indices(columns)))?;
                let block: PyReadonlyArray2<'_, f64> = block.extract(py)?;
                if block.shape() != [rows.len(), columns.len()] {
                    return Err(PyValueError::new_err("the block of the Hessian has the wrong shape"));
                }
                let array = block.as_array();
                Ok(Mat::from_fn(rows.len(), columns.len(), |i, j| array[(i, j)]))
            })
        });
        block.unwrap_or_else(|| Mat::zeros(rows.len(), columns.len()))
    }
}

impl Objective for Function {
    fn dim(&self) -> usize {
        self.python.dim
    }

    fn value_and_gradient(&self, x: SparseRef, gradient: &mut [f64]) -> f64 {
        let value = self.call(|py| {
            let pair = self.python.value_and_gradient.call1(py, (self.dense(py, x),))?;
            let (value, array): (f64, PyReadonlyArray1<'_, f64>) = pair.extract(py)?;
            let array = array.as_slice()?;
            if array.len() != gradient.len() {
                let (found, expected) = (array.len(), gradient.len());
                return Err(PyValueError::new_err(format!("the gradient has length {found}, expected {expected}")));
            }
            gradient.copy_from_slice(array);
            Ok(value)
        });
        value.unwrap_or_else(|| {
            gradient.fill(0.0);
            f64::NAN
        })
    }

    fn value(&self, x: SparseRef) -> f64 {
        match &self.python.value {
            None => self.value_and_gradient(x, &mut vec![0.0; self.dim()]),
            Some(value) => self.call(|py| value.call1(py, (self.dense(py, x),))?.extract(py)).unwrap_or(f64::NAN),
        }
    }

    fn restrict<'a>(&'a self, support: &[usize]) -> Box<dyn Restricted + 'a> {
        let gradients = FromGradients::new(self, support);
        if self.python.hessian_block.is_none() {
            return Box::new(gradients);
        }
        Box::new(Newton { function: self, gradients, support: support.to_vec(), x: vec![0.0; support.len()] })
    }

    fn hessian<'a>(&'a self, x: SparseRef) -> Option<Box<dyn Hessian + 'a>> {
        self.python.hessian_block.as_ref()?;
        Some(Box::new(HessianAt { function: self, indices: x.indices.to_vec(), values: x.values.to_vec() }))
    }

    fn block_cost(&self, left: usize, right: usize) -> f64 {
        if self.python.hessian_block.is_some() { left as f64 * right as f64 } else { f64::INFINITY }
    }
}

/// The function on a support, with second derivatives.
struct Newton<'a> {
    function: &'a Function,
    gradients: FromGradients<'a, Function>,
    support: Vec<usize>,
    x: Vec<f64>,
}

impl Newton<'_> {
    fn block(&self) -> Mat<f64> {
        self.function.block(SparseRef::new(&self.support, &self.x), &self.support, &self.support)
    }
}

impl Restricted for Newton<'_> {
    fn dim(&self) -> usize {
        self.support.len()
    }

    fn value_and_gradient(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        self.x.copy_from_slice(x);
        self.gradients.value_and_gradient(x, gradient)
    }

    fn second_order(&self) -> SecondOrder {
        SecondOrder::Matrix
    }

    fn hessian(&mut self, mut out: MatMut<'_, f64>) {
        out.copy_from(self.block());
    }

    fn hessian_diagonal(&mut self, out: &mut [f64]) {
        let block = self.block();
        out.iter_mut().enumerate().for_each(|(c, o)| *o = block[(c, c)]);
    }

    fn majorant_diagonal(&mut self, out: &mut [f64]) {
        self.hessian_diagonal(out);
    }
}

/// Second derivatives at one point.
struct HessianAt<'a> {
    function: &'a Function,
    indices: Vec<usize>,
    values: Vec<f64>,
}

impl HessianAt<'_> {
    fn x(&self) -> SparseRef<'_> {
        SparseRef::new(&self.indices, &self.values)
    }
}

impl Hessian for HessianAt<'_> {
    fn diagonal(&self, out: &mut [f64]) {
        let diagonal = self.function.python.hessian_diagonal.as_ref().and_then(|diagonal| {
            self.function.call(|py| {
                let values = diagonal.call1(py, (self.function.dense(py, self.x()),))?;
                let values: PyReadonlyArray1<'_, f64> = values.extract(py)?;
                Ok(values.as_slice()?.to_vec())
            })
        });
        match diagonal {
            Some(values) if values.len() == out.len() => out.copy_from_slice(&values),
            _ => out.fill(0.0),
        }
    }

    fn diagonal_at(&self, coordinates: &[usize], out: &mut [f64]) {
        let mut all = vec![0.0; self.function.dim()];
        self.diagonal(&mut all);
        out.iter_mut().zip(coordinates).for_each(|(o, &j)| *o = all[j]);
    }

    fn block(&self, left: &[usize], right: &[usize]) -> Mat<f64> {
        self.function.block(self.x(), left, right)
    }
}
