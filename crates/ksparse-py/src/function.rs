//! A Python function as an objective.
//!
//! Python hands over three callables that take and return plain float64 arrays (whatever library the user's own
//! function is written with): value and gradient, optionally a block of the Hessian and its diagonal. They are called
//! on the thread that called `minimize`, so that thread-local settings hold. An exception ends the solver, which hands
//! it back, and is raised as it was; one of the callback, which can only ask to stop, is kept aside.

use crate::error::to_py;
use crate::options::{Constraint, Search};
use crate::outcome;
use ksparse::objective::{BlockCost, Boxed, FromGradients, Hessian, Objective, Point, Profile, Total, Totalled};
use ksparse::path::PathProgress;
use ksparse::restricted::{Line, PointByPoint, Restricted, Second, SupportHessian};
use ksparse::solver::Solution;
use ksparse::{Cancel, Error, MatrixMut, Path, Progress, Result, SparseRef};
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyStopIteration, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ops::ControlFlow;
use std::sync::OnceLock;
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
    let solver = search.solver(&Cancel::NEVER)?;
    let objective = Function::new(function);
    let (sparsity, Constraint { bounds, total, .. }) = (search.sparsity(k)?, search.constraint()?);
    let total = total.map(|total| Total::new(vec![1.0; objective.dim()], total)).transpose().map_err(to_py)?;
    let start = start.map(|(support, coefficients)| Solution::guess(support, coefficients));
    let found = py.detach(|| {
        let watch = &mut |progress: &Progress| objective.ask(callback.as_ref(), k, progress);
        match (total, bounds) {
            (Some(total), bounds) => {
                total.solve(&objective, bounds.as_ref(), &sparsity, &*solver, start.as_ref(), watch)
            }
            (None, Some(bounds)) => solver.solve(&Boxed::new(&objective, bounds)?, &sparsity, start.as_ref(), watch),
            (None, None) => solver.solve(&objective, &sparsity, start.as_ref(), watch),
        }
    });
    outcome::solution(py, objective.settle(found)?)
}

/// Minimises a function for each k (ascending), each from its neighbours.
#[pyfunction]
#[pyo3(signature = (function, search, ks, callback=None, stop_at=None))]
pub fn minimize_path<'py>(
    py: Python<'py>,
    function: Callables,
    search: Search<'py>,
    ks: Vec<usize>,
    callback: Option<Py<PyAny>>,
    stop_at: Option<f64>,
) -> PyResult<Bound<'py, PyList>> {
    function.check_size()?;
    let solver = search.solver(&Cancel::NEVER)?;
    let objective = Function::new(function);
    let Constraint { groups, bounds, total } = search.constraint()?;
    let path = Path { groups, enough: stop_at, ..Path::over(ks).keep(search.keep.iter().copied()) };
    let found = py.detach(|| {
        let constrained: Option<Box<dyn Objective + '_>> = match (total, bounds) {
            (Some(total), bounds) => {
                let total = Total::new(vec![1.0; objective.dim()], total)?;
                Some(Box::new(Totalled::new(&objective, &total, bounds.as_ref())?))
            }
            (None, Some(bounds)) => Some(Box::new(Boxed::new(&objective, bounds)?)),
            (None, None) => None,
        };
        let watch = &mut |at: &PathProgress| objective.ask(callback.as_ref(), at.k, &at.solver);
        path.solve(constrained.as_deref().unwrap_or(&objective), &*solver, watch)
    });
    let out = PyList::empty(py);
    for solution in objective.settle(found)?.solutions {
        out.append(outcome::solution(py, solution)?)?;
    }
    Ok(out)
}

struct Function {
    python: Callables,
    /// What the callback raised.
    raised: Mutex<Option<PyErr>>,
    /// The k and the iteration the callback was last told of: solvers ask more often than that.
    told: Mutex<Option<(usize, usize)>>,
}

/// A call whose exception becomes the error of the library that carries it.
fn call<R>(call: impl FnOnce(Python<'_>) -> PyResult<R>) -> Result<R> {
    Python::attach(call).map_err(Error::evaluation)
}

impl Function {
    fn new(python: Callables) -> Self {
        Self { python, raised: Mutex::new(None), told: Mutex::new(None) }
    }

    fn raised(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the callback; ends the run after an exception, `True` or `StopIteration`.
    fn ask(&self, callback: Option<&Py<PyAny>>, k: usize, progress: &Progress) -> ControlFlow<()> {
        let place = Some((k, progress.iteration));
        let before = std::mem::replace(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner), place);
        let callback = callback.filter(|_| before != place);
        let go_on = Python::attach(|py| {
            py.check_signals()?;
            let Some(callback) = callback else { return Ok(true) };
            let report = crate::supervise::Report::of(progress, None);
            match callback.call1(py, (outcome::report(py, report)?,)) {
                Ok(answer) => Ok(!answer.is_truthy(py)?),
                Err(error) if error.is_instance_of::<PyStopIteration>(py) => Ok(false),
                Err(error) => Err(error),
            }
        });
        match go_on {
            Ok(true) => ControlFlow::Continue(()),
            Ok(false) => ControlFlow::Break(()),
            Err(error) => {
                self.raised().get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }

    /// The callback's exception, if there was one, before anything the solver says.
    fn settle<R>(&self, found: Result<R>) -> PyResult<R> {
        match self.raised().take() {
            Some(error) => Err(error),
            None => found.map_err(to_py),
        }
    }

    fn dense<'py>(&self, py: Python<'py>, x: SparseRef) -> Bound<'py, PyAny> {
        x.to_dense(self.python.dim).into_pyarray(py).into_any()
    }

    /// The value and the gradient at x.
    fn evaluate(&self, x: SparseRef) -> Result<(f64, Vec<f64>)> {
        call(|py| {
            let pair = self.python.value_and_gradient.call1(py, (self.dense(py, x),))?;
            let (value, array): (f64, PyReadonlyArray1<'_, f64>) = pair.extract(py)?;
            let (array, expected) = (array.as_slice()?, self.python.dim);
            if array.len() != expected {
                let found = array.len();
                return Err(PyValueError::new_err(format!("the gradient has length {found}, expected {expected}")));
            }
            Ok((value, array.to_vec()))
        })
    }
}

impl Objective for Function {
    fn dim(&self) -> usize {
        self.python.dim
    }

    fn at<'a>(&'a self, x: SparseRef<'_>) -> Result<Box<dyn Point + 'a>> {
        let (value, gradient) = self.evaluate(x)?;
        let hessian = self.python.hessian_block.as_ref().map(|block| HessianAt::new(self, block, x));
        Ok(Box::new(FunctionPoint { value, gradient, hessian }))
    }

    fn value(&self, x: SparseRef) -> Result<f64> {
        match &self.python.value {
            None => Ok(self.evaluate(x)?.0),
            Some(value) => call(|py| value.call1(py, (self.dense(py, x),))?.extract(py)),
        }
    }

    fn profile(&self) -> Profile {
        let mut profile = Profile::of_gradients(self.dim());
        // A call is a pass over data that nobody knows.
        profile.hessian = self.python.hessian_block.is_some().then_some(BlockCost { column: 1.0, entry: 1.0 });
        profile
    }

    fn restrict<'a>(&'a self, support: &[usize]) -> Result<Box<dyn Restricted + 'a>> {
        let gradients = FromGradients::new(self, support);
        let Some(block) = &self.python.hessian_block else { return Ok(Box::new(gradients)) };
        let zero = vec![0.0; support.len()];
        let hessian = HessianAt::new(self, block, SparseRef::new(support, &zero));
        Ok(Box::new(Newton { gradients, hessian }))
    }
}

/// The function at a point.
struct FunctionPoint<'a> {
    value: f64,
    gradient: Vec<f64>,
    hessian: Option<HessianAt<'a>>,
}

impl Point for FunctionPoint<'_> {
    fn value(&self) -> f64 {
        self.value
    }

    fn gradient(&self) -> Result<&[f64]> {
        Ok(&self.gradient)
    }

    fn hessian(&self) -> Result<Option<&dyn Hessian>> {
        Ok(self.hessian.as_ref().map(|hessian| hessian as &dyn Hessian))
    }
}

/// Second derivatives at one point.
struct HessianAt<'a> {
    function: &'a Function,
    block: &'a Py<PyAny>,
    indices: Vec<usize>,
    values: Vec<f64>,
    /// On its own coordinates, by columns.
    own: OnceLock<Vec<f64>>,
}

impl<'a> HessianAt<'a> {
    fn new(function: &'a Function, block: &'a Py<PyAny>, x: SparseRef) -> Self {
        Self { function, block, indices: x.indices.to_vec(), values: x.values.to_vec(), own: OnceLock::new() }
    }

    fn x(&self) -> SparseRef<'_> {
        SparseRef::new(&self.indices, &self.values)
    }

    fn move_to(&mut self, x: &[f64]) {
        self.values.copy_from_slice(x);
        self.own.take();
    }

    /// Rows and columns of it, by columns.
    fn columns(&self, rows: &[usize], columns: &[usize]) -> Result<Vec<f64>> {
        call(|py| {
            let indices = |list: &[usize]| outcome::indices(py, list.to_vec());
            let x = self.function.dense(py, self.x());
            let block = self.block.call1(py, (x, indices(rows), indices(columns)))?;
            let block: PyReadonlyArray2<'_, f64> = block.extract(py)?;
            if block.shape() != [rows.len(), columns.len()] {
                return Err(PyValueError::new_err("the block of the Hessian has the wrong shape"));
            }
            Ok(block.as_array().t().iter().copied().collect())
        })
    }

    /// Its columns on its own coordinates, asked for once.
    fn own(&self) -> Result<impl Iterator<Item = &[f64]>> {
        if self.own.get().is_none() {
            let columns = self.columns(&self.indices, &self.indices)?;
            self.own.get_or_init(|| columns);
        }
        Ok(self.own.get().map_or(&[][..], Vec::as_slice).chunks(self.indices.len().max(1)))
    }
}

impl Hessian for HessianAt<'_> {
    fn diagonal(&self, out: &mut [f64]) -> Result<()> {
        let Some(diagonal) = &self.function.python.hessian_diagonal else {
            for (j, o) in out.iter_mut().enumerate() {
                *o = self.columns(&[j], &[j])?.iter().sum();
            }
            return Ok(());
        };
        call(|py| {
            let values = diagonal.call1(py, (self.function.dense(py, self.x()),))?;
            let values: PyReadonlyArray1<'_, f64> = values.extract(py)?;
            let (values, expected) = (values.as_slice()?, out.len());
            if values.len() != expected {
                let found = values.len();
                return Err(PyValueError::new_err(format!(
                    "the diagonal of the Hessian has length {found}, expected {expected}"
                )));
            }
            out.copy_from_slice(values);
            Ok(())
        })
    }

    fn diagonal_at(&self, coordinates: &[usize], out: &mut [f64]) -> Result<()> {
        let mut all = vec![0.0; self.function.dim()];
        self.diagonal(&mut all)?;
        out.iter_mut().zip(coordinates).for_each(|(o, &j)| *o = all[j]);
        Ok(())
    }

    fn block(&self, left: &[usize], right: &[usize], mut out: MatrixMut<'_>) -> Result<()> {
        let columns = self.columns(left, right)?;
        columns.chunks(left.len().max(1)).enumerate().for_each(|(c, from)| out.col_mut(c).copy_from_slice(from));
        Ok(())
    }
}

/// The function on a support, with second derivatives.
struct Newton<'a> {
    gradients: FromGradients<'a, Function>,
    hessian: HessianAt<'a>,
}

impl Restricted for Newton<'_> {
    fn dim(&self) -> usize {
        self.gradients.dim()
    }

    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.hessian.move_to(x);
        self.gradients.move_to(x, gradient)
    }

    fn second(&mut self) -> Second<'_> {
        Second::Matrix(&mut self.hessian)
    }

    fn line<'b>(&'b mut self, x: &[f64], direction: &[f64]) -> Result<Box<dyn Line + 'b>> {
        Ok(Box::new(PointByPoint::new(self, x, direction)))
    }
}

impl SupportHessian for HessianAt<'_> {
    fn matrix(&mut self, mut out: MatrixMut<'_>) -> Result<()> {
        self.own()?.enumerate().for_each(|(c, from)| out.col_mut(c).copy_from_slice(from));
        Ok(())
    }

    fn product(&mut self, v: &[f64], out: &mut [f64]) -> Result<()> {
        out.fill(0.0);
        for (column, v) in self.own()?.zip(v) {
            out.iter_mut().zip(column).for_each(|(o, h)| *o += h * v);
        }
        Ok(())
    }

    fn diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        for (c, (column, o)) in self.own()?.zip(out).enumerate() {
            *o = column[c];
        }
        Ok(())
    }
}
