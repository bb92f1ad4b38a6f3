//! GraHTP, FGraHTP, HTP and IHT in the table of solvers, and their options.

use super::{Debias, Grahtp, Step};
use crate::error::Result;
use crate::solver::Solver;
use crate::solver::registry::{Choice, FLAG, Method, PUBLISHED, Settings, Value};

pub(in crate::solver) const METHOD: Method = Method {
    about: "gradient step, keep k, minimise on them (Yuan, Li, Zhang 2014); the step a number of swaps",
    options: OPTIONS,
    ..Method::new("grahtp", |given| Grahtp::default().with(given))
};
pub(in crate::solver) const FAST: Method = Method {
    about: "the same without the inner minimisation: very cheap iterations, many of them, a rougher answer",
    options: OPTIONS,
    ..Method::new("fgrahtp", |given| Grahtp::fast().with(given))
};
pub(in crate::solver) const HTP: Method = Method {
    about: "GraHTP with the step on the sum of squares, as Foucart (2011) writes it for least squares",
    options: OPTIONS,
    ..Method::new("htp", |given| Grahtp::htp().with(given))
};
pub(in crate::solver) const IHT: Method = Method {
    about: "FGraHTP likewise (Blumensath, Davies 2009)",
    options: OPTIONS,
    ..Method::new("iht", |given| Grahtp::iht().with(given))
};
const OPTIONS: &[Choice] = &[PUBLISHED, STEP, DEBIAS, SCALED];
const STEP: Choice = Choice {
    published: Some("theory"),
    ..Choice::new(
        "step",
        "'adaptive', 'theory' or a number",
        "Length of a gradient step: found anew each time, 0.99/M_2k as in the theorems, or this",
    )
};
const DEBIAS: Choice = Choice::new(
    "debias",
    "'exact', 'newton', 'gradient' or 'none'",
    "On the k coordinates kept: minimise f, take one Newton step, one gradient step, or nothing",
);
const SCALED: Choice =
    Choice::new("scaled", FLAG, "Compare coordinates in units of curvature; with the adaptive step only");

impl Grahtp {
    /// These options with what was given in their place.
    fn with(self, given: &Settings) -> Result<Box<dyn Solver>> {
        let step = given.get(&STEP, |value| match value {
            Value::Number(length) => Some(Step::Fixed(*length)),
            Value::Word(word) if word == "adaptive" => Some(Step::Adaptive),
            Value::Word(word) if word == "theory" => Some(Step::Theory),
            _ => None,
        })?;
        let debias = given.get(&DEBIAS, |value| match value {
            Value::Word(word) => match word.as_str() {
                "exact" => Some(Debias::Exact),
                "newton" => Some(Debias::NewtonStep),
                "gradient" => Some(Debias::GradientStep),
                "none" => Some(Debias::Nothing),
                _ => None,
            },
            _ => None,
        })?;
        Ok(Box::new(Self {
            step: step.unwrap_or(self.step),
            debias: debias.unwrap_or(self.debias),
            scaled: given.flag(&SCALED)?.unwrap_or(self.scaled),
            limits: given.limits(self.limits),
            ..self
        }))
    }
}
