//! SVR-GHT in the table of solvers, and its options.

use super::{StochasticStep, Svrght};
use crate::solver::registry::{Choice, FLAG, Method, Needs, PUBLISHED, Value};

/// Its entry in the table of solvers.
pub(in crate::solver) const METHOD: Method = Method {
    about: "stochastic gradients with reduced variance, k kept (Li et al. 2016): steps on batches of rows",
    needs: Needs::Samples,
    options: &[PUBLISHED, STEP, BATCH, INNER_STEPS, REFIT],
    ..Method::new("svrght", |given| {
        let own = Svrght::default();
        Ok(Box::new(Svrght {
            batch: given.count(&BATCH)?,
            inner_steps: given.count(&INNER_STEPS)?,
            step: given.get(&STEP, read)?.unwrap_or(own.step),
            seed: given.seed.unwrap_or(own.seed),
            refit: given.flag(&REFIT)?.unwrap_or(own.refit),
            limits: given.limits(own.limits),
        }))
    })
};
const STEP: Choice = Choice {
    published: Some("constant"),
    ..Choice::new(
        "step",
        "'adaptive', 'constant' or a number",
        "Length of a stochastic step: kept while f falls, the same all along by the smoothness of f, or this",
    )
};
const BATCH: Choice =
    Choice::new("batch", "a whole number", "Rows in a mini-batch; default: by k and the sizes of the rows");
const INNER_STEPS: Choice = Choice::new(
    "inner_steps",
    "a whole number",
    "Stochastic steps between two gradients over all rows; default: as many as draw n rows",
);
const REFIT: Choice = Choice {
    published: Some("false"),
    ..Choice::new("refit", FLAG, "Minimise f on the support found before returning")
};

fn read(value: &Value) -> Option<StochasticStep> {
    match value {
        Value::Number(eta) => Some(StochasticStep::Fixed(*eta)),
        Value::Word(word) if word == "adaptive" => Some(StochasticStep::Adaptive),
        Value::Word(word) if word == "constant" => Some(StochasticStep::Constant),
        _ => None,
    }
}
