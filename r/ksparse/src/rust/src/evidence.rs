//! How sure a choice is: how often columns are selected, what else is nearly as good, the path it stands on.

use crate::value::Value;
use ksparse::select::{Edge, Predictor};
use ksparse::{LinearModel, Solution};

type Field = (&'static str, Value);

/// What [`ksparse::select::Choose`] knows of it.
pub fn of_choice(predictor: &Predictor, edges: &[Edge], models: impl Fn(&Solution) -> Vec<LinearModel>) -> Vec<Field> {
    let edge = |edge: &Edge| match edge {
        Edge::LargestK => "k is the largest compared",
        Edge::LargestLambda => "the lambda that selects is the largest compared",
        Edge::SmallestLambda => "the lambda that selects is the smallest compared",
        Edge::LargestRefit => "the lambda of the coefficients is the largest compared",
        Edge::SmallestRefit => "the lambda of the coefficients is the smallest compared",
    };
    let others = predictor.alternatives.iter().map(|other| {
        Value::Record(vec![("support", Value::indices(&other.support)), ("objective", Value::Real(other.value))])
    });
    let steps = predictor.path.iter().map(|(k, solution)| (*k, models(solution)));
    let resampled = predictor.resampled.as_ref();
    vec![
        ("frequencies", Value::Reals(predictor.frequencies.clone())),
        ("resampled", Value::maybe(resampled, |resampled| Value::Reals(resampled.frequencies.clone()))),
        ("edges", Value::Words(edges.iter().map(edge).map(str::to_string).collect())),
        ("alternatives", Value::List(others.collect())),
        path(steps.collect()),
    ]
}

/// The models of every k on all rows, one per output.
pub fn path(steps: Vec<(usize, Vec<LinearModel>)>) -> Field {
    let lists =
        |of: &dyn Fn(&[LinearModel]) -> Value| Value::List(steps.iter().map(|(_, models)| of(models)).collect());
    let coefficients = |models: &[LinearModel]| models.iter().flat_map(|model| model.coefficients.clone()).collect();
    let fields = vec![
        ("k", Value::Counts(steps.iter().map(|(k, _)| *k).collect())),
        ("support", lists(&|models| Value::indices(&models[0].support))),
        ("coef", lists(&|models| Value::Reals(coefficients(models)))),
    ];
    ("path", Value::Record(fields))
}
