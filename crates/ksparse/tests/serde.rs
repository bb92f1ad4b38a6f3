//! What comes out survives being written down.
#![cfg(feature = "serde")]
use ksparse::loss::Squared;
use ksparse::simulate::{self, Correlation};
use ksparse::solver::{self, NAMES};
use ksparse::{LinearModel, Risk, Solution, Sparsity, Status};

#[test]
fn solutions_and_models_come_back_as_they_were() {
    let data = simulate::linear(60, 20, 4, Correlation::Independent, 0.5, 3);
    let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap();
    let risk = risk.with_ridge(0.1).unwrap().with_intercept();
    for name in NAMES {
        let solution = solver::by_name(name).unwrap().fit(&risk, &Sparsity::new(4)).unwrap();
        let written = serde_json::to_string(&solution).unwrap();
        assert_eq!(serde_json::from_str::<Solution>(&written).unwrap(), solution, "{name}");
        let model = risk.model(&solution);
        let written = serde_json::to_string(&model).unwrap();
        assert_eq!(serde_json::from_str::<LinearModel>(&written).unwrap(), model, "{name}");
    }
}

#[test]
fn a_status_has_one_spelling() {
    for status in [
        Status::SupportStable,
        Status::Tolerance,
        Status::Optimal,
        Status::Exhausted,
        Status::Complete,
        Status::Cycled,
        Status::Unattained,
        Status::Diverged,
        Status::MaxIterations,
        Status::TimeLimit,
        Status::Stopped,
    ] {
        assert_eq!(serde_json::to_value(status).unwrap(), status.code());
    }
}
