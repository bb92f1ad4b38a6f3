//! Fits to survival times, classes, ordered or not, and several responses.

use crate::choosing::{self, Comparison};
use crate::design::Reading;
use crate::error::to_py;
use crate::options::{Constraint, Search};
use crate::outcome::{self, Rows, indices};
use crate::supervise::{Cell, supervise};
use ksparse::loss::{Baseline, Survival, Ties};
use ksparse::select::{self, Choose, CvProgress, JointProblem, Metric, Observed, Predictor, Resampled};
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

    fn write(self, out: &Bound<'_, PyDict>, prefix: &str) -> PyResult<()> {
        let py = out.py();
        let list = PyList::empty(py);
        for Baseline { times, hazard, reference } in self.baselines {
            list.append((times.into_pyarray(py), hazard.into_pyarray(py), reference))?;
        }
        out.set_item(format!("{prefix}baselines"), list)?;
        out.set_item(format!("{prefix}thresholds"), self.thresholds.into_pyarray(py))
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

/// Chooses k and the ridges by the splits, and fits the choice to all rows.
#[pyfunction]
#[pyo3(signature = (data, search, comparison, splits, metric, callback=None))]
pub fn choose_joint<'py>(
    py: Python<'py>,
    data: JointData<'py>,
    search: Search<'py>,
    comparison: Comparison,
    splits: Vec<Rows<'py>>,
    metric: Option<String>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let cancel = Cancel::new();
    let (held, solver, view) = (data.held()?, search.solver(&cancel)?, data.design.view()?);
    let constraint = search.constraint()?;
    let metric = metric.map(|name| Metric::by_name(&name)).transpose().map_err(to_py)?;
    let choose = Choose { metric, ..comparison.choose(&search, &cancel)? };
    let splits = outcome::splits(&splits)?;
    let (mut chosen, beside, of_average, held, steps) = supervise(py, search.threads, callback, &cancel, |watch| {
        let design = view.design()?;
        let problem = held.problem(&*design, &constraint);
        let mut report = |at: &CvProgress| {
            let cell =
                Cell { k: at.path.k, lambda: at.path.lambda, fold: at.fold, done: at.path.done, total: at.path.total };
            watch.ask(&at.path.solver, Some(cell))
        };
        let chosen = choose.solve_joint(&problem, &splits, None, &*solver, &mut report)?;
        let training = problem.on_all_rows()?;
        let predictor = &chosen.predictors[0];
        let beside = Beside::of(&problem, &predictor.models[0])?;
        let average = predictor.resampled.as_ref().map(|resampled| Beside::of(&problem, &resampled.averages[0]));
        let held = training.held_back(chosen.refit, &predictor.solution)?;
        let steps: Vec<_> = predictor.path.iter().map(|(_, solution)| training.models(solution)).collect();
        Ok((chosen, beside, average.transpose()?, held, steps))
    })?;
    let out = choosing::table(py, &chosen)?;
    let Predictor { models, solution, frequencies, resampled, path, alternatives, .. } = chosen.predictors.remove(0);
    let predictor = described(py, solution, models, beside)?;
    if let Some(held) = held {
        predictor.set_item("at_bounds", indices(py, held))?;
    }
    choosing::evidence(&predictor, frequencies, alternatives)?;
    if let Some(Resampled { frequencies, averages }) = resampled {
        predictor.set_item("resampled_frequencies", frequencies.into_pyarray(py))?;
        rows(&predictor, "average_", &averages)?;
    }
    if let Some(beside) = of_average {
        beside.write(&predictor, "average_")?;
    }
    let list = PyList::empty(py);
    for ((k, solution), models) in path.into_iter().zip(steps) {
        let step = PyList::empty(py);
        for model in models {
            step.append(outcome::model(py, solution.clone(), model)?)?;
        }
        list.append((k, step))?;
    }
    predictor.set_item("path", list)?;
    out.set_item("predictors", PyList::new(py, [predictor])?)?;
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
    rows(&out, "", &models)?;
    beside.write(&out, "")?;
    Ok(out)
}

/// Models over the same columns: a row of coefficients per output.
fn rows(out: &Bound<'_, PyDict>, prefix: &str, models: &[LinearModel]) -> PyResult<()> {
    let py = out.py();
    let coefficients: Vec<Vec<f64>> = models.iter().map(|model| model.coefficients.clone()).collect();
    out.set_item(format!("{prefix}support"), indices(py, models[0].support.clone()))?;
    out.set_item(format!("{prefix}coef"), PyArray2::from_vec2(py, &coefficients)?)?;
    let intercepts: Vec<f64> = models.iter().map(|model| model.intercept).collect();
    out.set_item(format!("{prefix}intercept"), intercepts.into_pyarray(py))
}
