//! Fits to survival times, classes, ordered or not, and several responses.

use crate::design::Reading;
use crate::error::to_py;
use crate::options::{Constraint, Search};
use crate::outcome::{self, Rows, indices};
use crate::supervise::{Cell, supervise};
use ksparse::loss::{Baseline, Survival, Ties};
use ksparse::select::{self, CvProgress, JointProblem, JointValidation, Metric, Observed, Rule};
use ksparse::{Cancel, LinearModel, Solution};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Data and what was observed, read from a dictionary with these keys; which of them counts is a matter of `kind`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct JointData<'py> {
    design: Reading<'py>,
    /// "cox", "multinomial", "ordinal" or "responses".
    kind: String,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    time: Option<PyReadonlyArray1<'py, f64>>,
    event: Option<PyReadonlyArray1<'py, bool>>,
    entry: Option<PyReadonlyArray1<'py, f64>>,
    strata: Option<PyReadonlyArray1<'py, i64>>,
    ties: String,
    /// How many outputs there are, the class of each row, the responses one after the other.
    count: usize,
    classes: Option<PyReadonlyArray1<'py, i64>>,
    responses: Option<PyReadonlyArray1<'py, f64>>,
    intercept: bool,
    standardize: bool,
    penalty_factors: Option<PyReadonlyArray1<'py, f64>>,
}

/// What Python holds, borrowed.
struct Held<'a> {
    weights: Option<&'a [f64]>,
    survival: Option<Survival<'a>>,
    strata: Option<Vec<usize>>,
    classes: Option<Vec<usize>>,
    ordered: bool,
    responses: Option<&'a [f64]>,
    count: usize,
    intercept: bool,
    standardize: bool,
    penalty_factors: Option<&'a [f64]>,
}

fn whole(numbers: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    outcome::row_numbers(numbers)
}

impl JointData<'_> {
    fn held(&self) -> PyResult<Held<'_>> {
        let survival = match (self.kind.as_str(), &self.time, &self.event) {
            ("cox", Some(time), Some(event)) => {
                let entry = self.entry.as_ref().map(|entry| entry.as_slice()).transpose()?;
                let ties: Ties = self.ties.parse().map_err(to_py)?;
                Some(Survival { entry, ties, ..Survival::new(time.as_slice()?, event.as_slice()?) })
            }
            _ => None,
        };
        Ok(Held {
            weights: self.weights.as_ref().map(|weights| weights.as_slice()).transpose()?,
            survival,
            strata: self.strata.as_ref().map(whole).transpose()?,
            classes: self.classes.as_ref().map(whole).transpose()?,
            ordered: self.kind == "ordinal",
            responses: self.responses.as_ref().map(|values| values.as_slice()).transpose()?,
            count: self.count,
            intercept: self.intercept,
            standardize: self.standardize,
            penalty_factors: self.penalty_factors.as_ref().map(|factors| factors.as_slice()).transpose()?,
        })
    }
}

impl Held<'_> {
    fn problem<'b>(&'b self, design: &'b dyn ksparse::design::Design, constraint: &'b Constraint) -> JointProblem<'b> {
        let observed = match (self.survival, &self.classes, self.responses) {
            (Some(survival), ..) => Observed::Survival(Survival { strata: self.strata.as_deref(), ..survival }),
            (None, Some(of), _) if self.ordered => Observed::Ordered { of, count: self.count },
            (None, Some(of), _) => Observed::Classes { of, count: self.count },
            (None, None, values) => Observed::Responses { values: values.unwrap_or_default(), count: self.count },
        };
        JointProblem {
            weights: self.weights,
            intercept: self.intercept,
            standardize: self.standardize,
            penalty_factors: self.penalty_factors,
            groups: constraint.groups.as_deref(),
            bounds: constraint.bounds.as_ref(),
            ..JointProblem::new(design, observed)
        }
    }
}

/// What belongs to a model beside its coefficients.
struct Beside {
    baselines: Vec<Baseline>,
    thresholds: Vec<f64>,
}

impl Beside {
    fn of(problem: &JointProblem, model: &LinearModel) -> ksparse::Result<Self> {
        Ok(Self { baselines: problem.baselines(model)?, thresholds: problem.thresholds(model)? })
    }
}

/// Fits models of at most `k` columns beside those kept, one per output.
#[pyfunction]
#[pyo3(signature = (data, search, k, alpha, callback=None))]
pub fn fit_joint<'py>(
    py: Python<'py>,
    data: JointData<'py>,
    search: Search<'py>,
    k: usize,
    alpha: f64,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let cancel = Cancel::new();
    let (held, solver, view) = (data.held()?, search.solver(&cancel)?, data.design.view()?);
    let constraint = search.constraint()?;
    let (solution, models, beside, held) = supervise(py, search.threads, callback, &cancel, |watch| {
        let design = view.design()?;
        let problem = held.problem(&*design, &constraint);
        let training = problem.on_all_rows()?;
        let (objective, sparsity) = (training.objective(alpha)?, problem.sparsity(k, &search.keep));
        let solution = solver.solve(&*objective, &sparsity, None, &mut |progress| watch.ask(progress, None))?;
        let models = training.models(&solution);
        let beside = Beside::of(&problem, &models[0])?;
        let held = training.held_back(alpha, &solution)?;
        Ok((solution, models, beside, held))
    })?;
    let out = described(py, solution, models, beside)?;
    if let Some(held) = held {
        out.set_item("at_bounds", indices(py, held))?;
    }
    Ok(out)
}

/// Chooses k and the ridge by the splits, and fits the choice to all rows.
#[pyfunction]
#[pyo3(signature = (data, search, ks, alphas, splits, metric, rule, callback=None))]
#[allow(clippy::too_many_arguments)]
pub fn choose_joint<'py>(
    py: Python<'py>,
    data: JointData<'py>,
    search: Search<'py>,
    ks: Option<Vec<usize>>,
    alphas: Option<Vec<f64>>,
    splits: Vec<Rows<'py>>,
    metric: Option<String>,
    rule: &str,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let cancel = Cancel::new();
    let (held, solver, view) = (data.held()?, search.solver(&cancel)?, data.design.view()?);
    let constraint = search.constraint()?;
    let validation = JointValidation {
        ks,
        lambdas: alphas,
        keep: search.keep.clone(),
        metric: metric.map(|name| Metric::by_name(&name)).transpose().map_err(to_py)?,
        rule: Rule::by_name(rule).map_err(to_py)?,
        cancel: cancel.clone(),
    };
    let splits = outcome::splits(&splits)?;
    let (chosen, beside, held) = supervise(py, search.threads, callback, &cancel, |watch| {
        let design = view.design()?;
        let problem = held.problem(&*design, &constraint);
        let mut report = |at: &CvProgress| {
            let cell =
                Cell { k: at.path.k, lambda: at.path.lambda, fold: at.fold, done: at.path.done, total: at.path.total };
            watch.ask(&at.path.solver, Some(cell))
        };
        let chosen = validation.solve(&problem, &splits, &*solver, &mut report)?;
        let beside = Beside::of(&problem, &chosen.models[0])?;
        let held = problem.on_all_rows()?.held_back(chosen.lambda, &chosen.solution)?;
        Ok((chosen, beside, held))
    })?;
    let cells = chosen.table.cells();
    // Higher is better, as scikit-learn has it.
    let sign = if chosen.table.metric().is_gain() { 1.0 } else { -1.0 };
    let scores: Vec<Vec<f64>> = cells.iter().map(|cell| cell.scores.iter().map(|s| sign * s).collect()).collect();
    let mean: Vec<f64> = cells.iter().map(|cell| sign * cell.mean).collect();
    let index = cells.iter().position(|cell| (cell.k, cell.lambda) == (chosen.k, chosen.lambda));
    let errors: Vec<f64> = cells.iter().map(|cell| cell.standard_error).collect();
    let alphas: Vec<f64> = cells.iter().map(|cell| cell.lambda).collect();
    let out = described(py, chosen.solution.clone(), chosen.models.clone(), beside)?;
    if let Some(held) = held {
        out.set_item("at_bounds", indices(py, held))?;
    }
    out.set_item("k", chosen.k)?;
    out.set_item("alpha", chosen.lambda)?;
    out.set_item("index", index)?;
    out.set_item("ks", indices(py, cells.iter().map(|cell| cell.k).collect()))?;
    out.set_item("alphas", alphas.into_pyarray(py))?;
    out.set_item("mean", mean.into_pyarray(py))?;
    out.set_item("std_error", errors.into_pyarray(py))?;
    out.set_item("scores", PyArray2::from_vec2(py, &scores)?)?;
    Ok(out)
}

/// Harrell's concordance of predicted risks.
#[pyfunction]
#[pyo3(signature = (z, time, event, strata=None, weights=None))]
pub fn concordance(
    z: PyReadonlyArray1<'_, f64>,
    time: PyReadonlyArray1<'_, f64>,
    event: PyReadonlyArray1<'_, bool>,
    strata: Option<PyReadonlyArray1<'_, i64>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<f64> {
    let strata = strata.as_ref().map(whole).transpose()?;
    let survival = Survival {
        strata: strata.as_deref(),
        weights: weights.as_ref().map(|weights| weights.as_slice()).transpose()?,
        ..Survival::new(time.as_slice()?, event.as_slice()?)
    };
    select::concordance(z.as_slice()?, &survival).map_err(to_py)
}

/// A solution as models of the user's columns: a row of coefficients per output.
fn described<'py>(
    py: Python<'py>,
    solution: Solution,
    models: Vec<LinearModel>,
    beside: Beside,
) -> PyResult<Bound<'py, PyDict>> {
    let out = outcome::solution(py, solution)?;
    out.set_item("support", indices(py, models[0].support.clone()))?;
    let rows: Vec<Vec<f64>> = models.iter().map(|model| model.coefficients.clone()).collect();
    out.set_item("coef", PyArray2::from_vec2(py, &rows)?)?;
    out.set_item("intercept", models.iter().map(|model| model.intercept).collect::<Vec<_>>().into_pyarray(py))?;
    let list = PyList::empty(py);
    for Baseline { times, hazard, reference } in beside.baselines {
        list.append((times.into_pyarray(py), hazard.into_pyarray(py), reference))?;
    }
    out.set_item("baselines", list)?;
    out.set_item("thresholds", beside.thresholds.into_pyarray(py))?;
    Ok(out)
}
