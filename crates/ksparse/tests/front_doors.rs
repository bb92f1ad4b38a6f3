//! The same problems through every door: the crate here, the Python package and the command in their own tests, all
//! against one file.
//!
//! `KSPARSE_WRITE=1 cargo test --test library front_doors` writes the file anew, from the crate.

use ksparse::simulate::{self, Correlation};
use ksparse::{Risk, Sparsity, loss, solver};
use serde_json::{Value, json};
use std::path::Path;

fn solve(case: &Value) -> (Vec<usize>, Vec<f64>, f64) {
    let size = |name: &str| case[name].as_u64().unwrap() as usize;
    let (n, p, planted, seed) = (size("n"), size("p"), size("planted"), case["seed"].as_u64().unwrap());
    let rho = case["rho"].as_f64().unwrap();
    let correlation = if rho == 0.0 { Correlation::Independent } else { Correlation::Ar1(rho) };
    let name = case["loss"].as_str().unwrap();
    let data = if name == "squared" {
        simulate::linear(n, p, planted, correlation, 0.5, seed)
    } else {
        simulate::logistic(n, p, planted, correlation, seed)
    };
    let risk = Risk::new(&data.design, &data.target, loss::by_name(name).unwrap()).unwrap();
    let risk = risk.with_ridge(case["alpha"].as_f64().unwrap()).unwrap().with_intercept();
    let solver = solver::by_name(case["solver"].as_str().unwrap()).unwrap();
    let solution = solver.fit(&risk, &Sparsity::new(size("k"))).unwrap();
    let model = risk.model(&solution);
    (model.support, model.coefficients, solution.value)
}

#[test]
fn the_crate_gives_what_the_file_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/front_doors.json");
    let mut cases: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let write = std::env::var_os("KSPARSE_WRITE").is_some();
    for case in cases.as_array_mut().unwrap() {
        let (support, coefficients, objective) = solve(case);
        if write {
            case["support"] = json!(support);
            case["coefficients"] = json!(coefficients);
            case["objective"] = json!(objective);
        }
        let expected: Vec<usize> = serde_json::from_value(case["support"].clone()).unwrap();
        assert_eq!(support, expected, "{}", case["name"]);
        let claimed = case["objective"].as_f64().unwrap();
        assert!((objective - claimed).abs() <= 1e-10 * claimed.abs(), "{}: {objective}", case["name"]);
    }
    if write {
        std::fs::write(&path, serde_json::to_string_pretty(&cases).unwrap() + "\n").unwrap();
    }
}
