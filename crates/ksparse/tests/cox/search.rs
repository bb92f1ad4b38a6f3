//! Solvers on the partial likelihood.

use super::{Data, by_loops, every_kind};
use crate::common::{Table, check_form, every_solver};
use ksparse::design::Design;
use ksparse::loss::{Cox, Ties};
use ksparse::objective::JointRisk;
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::solver::{self, METHODS, Needs};
use ksparse::{Auto, Error, Objective, Path, Solver, Sparsity, Status, Threads};

/// The least f over all supports of k columns.
fn brute_force(risk: &JointRisk, k: usize) -> f64 {
    let p = risk.dim();
    let supports = (0u32..1 << p).filter(|set| set.count_ones() as usize == k);
    let least = supports.map(|set| {
        let support: Vec<usize> = (0..p).filter(|j| set >> j & 1 == 1).collect();
        let mut x = vec![0.0; k];
        minimise(&mut *risk.restrict(&support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap().value
    });
    least.fold(f64::INFINITY, f64::min)
}

#[test]
fn auto_finds_the_best_support() {
    let (mut cases, mut optimal) = (0, 0);
    for seed in 0..3 {
        let data = Data::new(50, 10, 10 + seed);
        for (what, survival) in every_kind(&data) {
            let risk = data.risk(survival, 0.01);
            for k in [1, 3] {
                let best = brute_force(&risk, k);
                let found = Auto::default().fit(&risk, &Sparsity::new(k)).unwrap();
                assert!(found.value >= best - 1e-8, "{what}: {} below {best}", found.value);
                (cases, optimal) = (cases + 1, optimal + usize::from(found.value <= best + 1e-8));
            }
        }
    }
    assert_eq!(optimal, cases, "the best of all in {optimal} of {cases}");
}

/// Every solver that takes a smooth function: feasible, with the value it claims, none better than the best.
#[test]
fn every_solver_takes_it() {
    let data = Data::new(60, 9, 20);
    let survival = data.full(Ties::Efron);
    let risk = data.risk(survival, 0.02);
    let best = brute_force(&risk, 2);
    for solver in every_solver() {
        let found = solver.fit(&risk, &Sparsity::new(2)).unwrap();
        check_form(solver.name(), &found, 9);
        assert!(found.support.len() <= 2, "{}: {:?}", solver.name(), found.support);
        let model = risk.model(&found);
        let z = model.predict(&data.x.dense()).unwrap();
        let value = by_loops(&survival, &z) + 0.01 * model.coefficients.iter().map(|c| c * c).sum::<f64>();
        assert!((value - found.value).abs() <= 1e-9, "{}: {} claimed, {value}", solver.name(), found.value);
        assert!(found.value >= best - 1e-8, "{}: {} below {best}", solver.name(), found.value);
    }
    for method in METHODS.iter().filter(|method| matches!(method.needs, Needs::Samples | Needs::Ridge)) {
        let refused = solver::by_name(method.name).unwrap().fit(&risk, &Sparsity::new(2));
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{}: {refused:?}", method.name);
    }
}

#[test]
fn the_path_never_rises_and_threads_change_no_bit() {
    let data = Data::new(120, 40, 30);
    let risk = data.risk(data.full(Ties::Efron), 0.01);
    let fits = [1, 2, 8].map(|threads| {
        let path = || Path::over(0..=8).fit(&risk, &Auto::default()).unwrap().solutions;
        Threads::new(threads).unwrap().run(path)
    });
    for (one, other) in fits[0].iter().zip(fits[1].iter()).chain(fits[0].iter().zip(fits[2].iter())) {
        assert_eq!((&one.support, &one.coefficients), (&other.support, &other.coefficients));
        assert_eq!(one.value.to_bits(), other.value.to_bits());
    }
    assert!(fits[0].windows(2).all(|pair| pair[1].value <= pair[0].value));
    assert_eq!(fits[0][2].support, [1, 38], "the two columns that matter");
}

#[test]
fn storage_and_a_start_do_not_matter() {
    let data = Data::new(70, 12, 40);
    let survival = data.full(Ties::Breslow);
    let risk = data.risk(survival, 0.01);
    let found = Auto::default().fit(&risk, &Sparsity::new(3)).unwrap();
    let sparse: Box<dyn Design> = Box::new(data.x.csc());
    let other = JointRisk::new(sparse, Cox::new(&survival).unwrap()).unwrap().with_ridge(0.01).unwrap();
    let again = Auto::default().fit(&other, &Sparsity::new(3)).unwrap();
    assert_eq!(found.support, again.support);
    assert!((found.value - again.value).abs() < 1e-10);
    let start = risk.start(&[risk.model(&found)]);
    let warm = Auto::default().fit_from(&risk, &Sparsity::new(3), &start).unwrap();
    assert!(warm.value <= found.value + 1e-12);
}

/// A column that orders the events perfectly: f falls for ever, and says so.
#[test]
fn a_monotone_likelihood_is_unattained() {
    let x = Table::from_fn(20, 3, |i, j| if j == 1 { -(i as f64) } else { ((i * 7 + j) % 5) as f64 });
    let time: Vec<f64> = (1..=20).map(f64::from).collect();
    let survival = ksparse::loss::Survival::new(&time, &[true; 20]);
    let risk = JointRisk::new(x.dense(), Cox::new(&survival).unwrap()).unwrap();
    let found = Auto::default().fit(&risk, &Sparsity::new(1)).unwrap();
    assert_eq!((found.support, found.status), (vec![1], Status::Unattained));
    let ridged = Auto::default().fit(&risk.with_ridge(1e-3).unwrap(), &Sparsity::new(1)).unwrap();
    assert_eq!(ridged.support, [1]);
    assert_ne!(ridged.status, Status::Unattained);
}
