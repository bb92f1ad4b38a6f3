//! The search of `auto` where columns outnumber rows: a support that no exchange improves is one of very many there.
#![allow(clippy::unwrap_used)]

use ksparse::loss::Squared;
use ksparse::simulate::{self, Correlation};
use ksparse::solver::{self, Solver};
use ksparse::{Auto, Risk, Sparsity, Threads};

#[test]
fn auto_is_never_above_a_greedy_method_where_columns_outnumber_rows() {
    for seed in 0..6 {
        let data = simulate::linear(30, 300, 6, Correlation::Ar1(0.6), 1.0, seed);
        let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap().with_intercept();
        for k in [2, 7] {
            let found = Auto::default().fit(&risk, &Sparsity::new(k)).unwrap();
            for name in ["fbs", "foba", "grasp", "grahtp"] {
                let other = solver::by_name(name).unwrap().fit(&risk, &Sparsity::new(k)).unwrap();
                let (a, b) = (found.value, other.value);
                assert!(a <= b * (1.0 + 1e-9), "seed {seed}, k = {k}: {a} above {b} by {name}");
            }
        }
    }
}

#[test]
fn kicks_do_not_depend_on_the_number_of_threads() {
    let data = simulate::linear(40, 500, 8, Correlation::Ar1(0.6), 1.0, 3);
    let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap().with_intercept();
    let fit = |threads| Threads::new(threads).unwrap().run(|| Auto::default().fit(&risk, &Sparsity::new(8)).unwrap());
    let one = fit(1);
    for threads in [2, 8] {
        let other = fit(threads);
        assert_eq!((&other.support, &other.coefficients), (&one.support, &one.coefficients), "{threads} threads");
    }
}
