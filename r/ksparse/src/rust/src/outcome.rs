//! Fitted models as R gets them: one list of vectors, an entry per k.

use crate::value::Value;
use ksparse::loss::Baseline;
use ksparse::{LinearModel, Objective, Result, Solution};

/// A model of k columns, and how it was found.
pub struct Fitted {
    pub k: usize,
    pub solution: Solution,
    /// One per output, over the same columns.
    pub models: Vec<LinearModel>,
    /// The mean loss, without the ridge.
    pub loss: f64,
    /// Columns whose coefficient a bound holds back.
    pub held: Vec<usize>,
    /// Of survival times: a baseline hazard per stratum.
    pub baselines: Vec<Baseline>,
    /// Of ordered classes: the cut points.
    pub thresholds: Vec<f64>,
}

impl Fitted {
    /// `bare` is the objective without a ridge.
    pub fn new(k: usize, solution: Solution, models: Vec<LinearModel>, bare: &dyn Objective) -> Result<Self> {
        let loss = bare.value(solution.as_sparse())?;
        Ok(Self { k, solution, models, loss, held: Vec::new(), baselines: Vec::new(), thresholds: Vec::new() })
    }
}

/// What belongs to all of them, and the columns of their table.
pub fn table(fitted: Vec<Fitted>, lambda: f64, null_loss: f64) -> Value {
    let reals = |of: &dyn Fn(&Fitted) -> f64| Value::Reals(fitted.iter().map(of).collect());
    let words = |of: &dyn Fn(&Fitted) -> String| Value::Words(fitted.iter().map(of).collect());
    let lists = |of: &dyn Fn(&Fitted) -> Value| Value::List(fitted.iter().map(of).collect());
    Value::Record(vec![
        ("k", Value::Counts(fitted.iter().map(|one| one.k).collect())),
        ("lambda", Value::Real(lambda)),
        ("null_loss", Value::Real(null_loss)),
        ("objective", reals(&|one| one.solution.value)),
        ("loss", reals(&|one| one.loss)),
        ("lower_bound", reals(&|one| one.solution.lower_bound().unwrap_or(f64::NEG_INFINITY))),
        ("iterations", Value::Counts(fitted.iter().map(|one| one.solution.iterations).collect())),
        ("status", words(&|one| one.solution.status.code().to_string())),
        ("message", words(&|one| one.solution.status.to_string())),
        ("remedy", words(&|one| one.solution.status.remedy().map_or("", |remedy| remedy.code()).to_string())),
        ("support", lists(&|one| Value::indices(&one.models[0].support))),
        ("coef", lists(&|one| Value::Reals(one.models.iter().flat_map(|m| m.coefficients.clone()).collect()))),
        ("intercept", lists(&|one| Value::Reals(one.models.iter().map(|m| m.intercept).collect()))),
        ("held", lists(&|one| Value::indices(&one.held))),
        ("baselines", lists(&|one| Value::List(one.baselines.iter().map(baseline).collect()))),
        ("thresholds", lists(&|one| Value::Reals(one.thresholds.clone()))),
    ])
}

fn baseline(of: &Baseline) -> Value {
    Value::Record(vec![
        ("time", Value::Reals(of.times.clone())),
        ("hazard", Value::Reals(of.hazard.clone())),
        ("reference", Value::Real(of.reference)),
    ])
}
