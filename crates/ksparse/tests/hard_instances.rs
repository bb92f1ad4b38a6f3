//! Instances on which greedy methods and published packages end far from the best support.
use ksparse::loss::{Logistic, Squared};
use ksparse::simulate::{self, Correlation};
use ksparse::solver::{Fbs, Grahtp, Solver};
use ksparse::{Auto, Risk, Sparsity};
use rayon::prelude::*;

/// Columns correlated 0.9^|i-j|, n = 500, p = 5000, k = 30: orthogonal matching pursuit ends several times above the
/// refit on the true support.
#[test]
fn auto_is_at_or_below_the_refit_on_the_true_support() {
    let worse: Vec<String> = (1..=8u64)
        .into_par_iter()
        .filter_map(|seed| {
            let data = simulate::linear(500, 5000, 30, Correlation::Ar1(0.9), 0.5, seed);
            let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap();
            let truth = Grahtp::default().fit(&risk, &Sparsity::new(0).keep(data.support.clone())).unwrap().value;
            let auto = Auto::default().fit(&risk, &Sparsity::new(30)).unwrap().value;
            (auto > truth * (1.0 + 1e-9)).then(|| format!("seed {seed}: auto {auto}, truth {truth}"))
        })
        .collect();
    assert!(worse.is_empty(), "{worse:#?}");
}

/// Problems too large for the starts that guarantee it on small ones: `auto` is still never worse than `grahtp` and
/// `fbs`.
#[test]
fn auto_is_never_worse_than_the_methods_it_is_made_of() {
    for seed in 1..=4 {
        let data = simulate::logistic(1000, 1000, 60, Correlation::Ar1(0.5), seed);
        let logistic = Risk::new(&data.design, &data.target, Logistic::new(2.0).unwrap()).unwrap();
        let risk = logistic.with_ridge(1e-4).unwrap();
        let k = Sparsity::new(60);
        let auto = Auto::default().fit(&risk, &k).unwrap().value;
        let grahtp = Grahtp::default().fit(&risk, &k).unwrap().value;
        let fbs = Fbs::default().fit(&risk, &k).unwrap().value;
        assert!(auto <= grahtp * (1.0 + 1e-9), "seed {seed}: auto {auto}, grahtp {grahtp}");
        assert!(auto <= fbs * (1.0 + 1e-9), "seed {seed}: auto {auto}, fbs {fbs}");
    }
}
