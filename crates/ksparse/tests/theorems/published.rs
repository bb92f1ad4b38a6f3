//! The methods as published: what the word sets, what the trace says of their steps, what an iteration is.

use super::{at_most, watched};
use ksparse::loss::{Hinge, Logistic, Loss, Squared};
use ksparse::simulate::{Correlation, Simulated, linear, logistic};
use ksparse::solver::{
    self, Diht, DualStep, Fbs, Foba, Grahtp, Grasp, METHODS, Needs, PUBLISHED, Sdiht, Settings, Solver, Status, Step,
    StochasticStep, Svrght, Value,
};
use ksparse::{Error, Risk, Solution, Sparsity, design::Dense};

const K: usize = 5;

fn regression() -> Simulated<Dense<'static>> {
    linear(60, 30, K, Correlation::Ar1(0.6), 0.5, 4)
}

fn risk<'a>(data: &'a Simulated<Dense<'static>>, ridge: f64) -> Risk<'a> {
    Risk::new(&data.design, &data.target, Squared::default()).unwrap().with_ridge(ridge).unwrap()
}

fn found(solution: &Solution) -> (&[usize], &[f64], usize) {
    (&solution.support, &solution.coefficients, solution.iterations)
}

#[test]
fn the_word_sets_what_the_papers_have() {
    let data = regression();
    let risk = risk(&data, 0.5);
    let by_hand: Vec<Box<dyn Solver>> = vec![
        Box::new(Grahtp { step: Step::Theory, ..Grahtp::default() }),
        Box::new(Grahtp { step: Step::Theory, ..Grahtp::fast() }),
        Box::new(Grahtp { step: Step::Theory, ..Grahtp::htp() }),
        Box::new(Grahtp { step: Step::Theory, ..Grahtp::iht() }),
        Box::new(Grasp { debias: false, ..Grasp::default() }),
        Box::new(Fbs::default()),
        Box::new(Foba::default()),
        Box::new(Svrght { step: StochasticStep::Constant, refit: false, ..Svrght::default() }),
        Box::new(Diht { step: DualStep::Theory, refit: false, ..Diht::default() }),
        Box::new(Sdiht { step: DualStep::Theory, refit: false, ..Sdiht::default() }),
    ];
    let from_papers: Vec<&str> = METHODS.iter().filter(|m| m.published().is_some()).map(|m| m.name).collect();
    assert_eq!(from_papers, by_hand.iter().map(|solver| solver.name()).collect::<Vec<_>>());
    for expected in &by_hand {
        let name = expected.name();
        let published = solver::published(name).unwrap().fit(&risk, &Sparsity::new(K)).unwrap();
        let expected = expected.fit(&risk, &Sparsity::new(K)).unwrap();
        assert_eq!(found(&published), found(&expected), "{name}");
        // Where the paper has something else than the default, so has the answer.
        let own = solver::by_name(name).unwrap().fit(&risk, &Sparsity::new(K)).unwrap();
        let same = solver::method(name).unwrap().published().unwrap().is_empty();
        assert_eq!(found(&published) == found(&own), same, "{name}");
    }
}

#[test]
fn what_is_given_goes_before_what_is_published() {
    let data = regression();
    let risk = risk(&data, 0.5);
    let given = |options: &[(&str, Value)]| Settings {
        options: options.iter().map(|(name, value)| (name.to_string(), value.clone())).collect(),
        ..Settings::default()
    };
    let published = (PUBLISHED.name, Value::Flag(true));
    for order in [[("step", Value::Number(7.0)), published.clone()], [published.clone(), ("step", Value::Number(7.0))]]
    {
        let mixed = solver::method("diht").unwrap().build(&given(&order)).unwrap();
        let expected = Diht { step: DualStep::Fixed(7.0), refit: false, ..Diht::default() };
        let (mixed, expected) = (mixed.fit(&risk, &Sparsity::new(K)), expected.fit(&risk, &Sparsity::new(K)));
        assert_eq!(found(&mixed.unwrap()), found(&expected.unwrap()));
    }
    // Off is as if it had not been said; not a flag is an error; methods of our own do not have it.
    let off = solver::method("diht").unwrap().build(&given(&[(PUBLISHED.name, Value::Flag(false))])).unwrap();
    let own = Diht::default().fit(&risk, &Sparsity::new(K)).unwrap();
    assert_eq!(found(&off.fit(&risk, &Sparsity::new(K)).unwrap()), found(&own));
    let wrong = solver::method("diht").unwrap().build(&given(&[(PUBLISHED.name, Value::Number(1.0))]));
    assert!(matches!(wrong, Err(Error::InvalidOption { option: "published", .. })));
    for method in METHODS.iter().filter(|method| method.published().is_none()) {
        assert!(matches!(solver::published(method.name), Err(Error::UnknownName { .. })), "{}", method.name);
    }
    assert!(METHODS.iter().filter(|method| method.needs == Needs::Ridge).count() > 2);
}

#[test]
fn an_iteration_is_a_step_and_refits_are_counted_apart() {
    let data = linear(80, 60, 8, Correlation::Ar1(0.8), 0.5, 3);
    let risk = risk(&data, 1e-3);
    // S3 of a constant step is one refit, and the start another.
    let published = solver::published("grahtp").unwrap().fit(&risk, &Sparsity::new(8)).unwrap();
    assert_eq!(published.refits, published.iterations + 1);
    assert!(published.trace.iter().enumerate().all(|(t, row)| row.iteration == t + 1 && row.refits == t + 2));
    // The default tries more supports than it keeps.
    let own = Grahtp::default().fit(&risk, &Sparsity::new(8)).unwrap();
    assert!(own.refits > own.iterations + 1, "{} refits in {} iterations", own.refits, own.iterations);
    assert!(own.trace.windows(2).all(|pair| pair[0].refits < pair[1].refits && pair[1].refits <= own.refits));
    // FGraHTP minimises nothing, but for the free coordinates at the start.
    assert_eq!(solver::published("fgrahtp").unwrap().fit(&risk, &Sparsity::new(8)).unwrap().refits, 1);
}

#[test]
fn the_trace_has_the_step_as_it_was_set() {
    let data = regression();
    let (risk, n) = (risk(&data, 0.5), 60.0);
    let steps = |solver: &dyn Solver| -> Vec<f64> {
        let (solution, iterates) = watched(solver, &risk, K, None);
        let trace: Vec<f64> = solution.trace.iter().map(|row| row.step.unwrap()).collect();
        assert_eq!(trace, iterates.iter().map(|iterate| iterate.step).collect::<Vec<_>>());
        trace
    };
    let all = |steps: &[f64], eta: f64| steps.iter().all(|step| (step / eta - 1.0).abs() < 1e-14);
    let (limits, eta) = (at_most(6), 1e-3);
    for solver in [Grahtp::default(), Grahtp::fast(), Grahtp::htp(), Grahtp::iht()] {
        let fixed = Grahtp { step: Step::Fixed(eta), limits: limits.clone(), ..solver };
        assert!(all(&steps(&fixed), eta), "{}", fixed.name());
    }
    // The theorem's step of HTP is GraHTP's on the mean, in its own units.
    let theory = |solver: Grahtp| steps(&Grahtp { step: Step::Theory, limits: limits.clone(), ..solver })[0];
    assert!((theory(Grahtp::htp()) * n / theory(Grahtp::default()) - 1.0).abs() < 1e-14);
    let diht = |step: DualStep| steps(&Diht { step, refit: false, limits: limits.clone() });
    assert!(all(&diht(DualStep::Fixed(3.0)), 3.0));
    // eta_t = N / (mu (t + 1)) from t = 0; mu is 1 here, and k < N.
    let expected: Vec<f64> = (1..=6).map(|t| n / f64::from(t)).collect();
    assert!(diht(DualStep::Theory).iter().zip(&expected).all(|(found, eta)| (found / eta - 1.0).abs() < 1e-14));
    // SDIHT: m times as long, and a row is an epoch of m steps.
    let sdiht = Sdiht { step: DualStep::Theory, refit: false, blocks: Some(4), limits: limits.clone(), seed: 1 };
    let expected: Vec<f64> = (1..=6).map(|epoch| 4.0 * n / f64::from(4 * epoch)).collect();
    assert!(steps(&sdiht).iter().zip(&expected).all(|(found, eta)| (found / eta - 1.0).abs() < 1e-14));
    let svrght = Svrght { step: StochasticStep::Constant, refit: false, limits, ..Svrght::default() };
    let constant = steps(&svrght);
    assert!(all(&constant, constant[0]));
}

#[test]
fn where_the_theorem_has_no_step_the_whole_condition_is_said() {
    let data = logistic(30, 40, K, Correlation::Independent, 2);
    let hinge = |k: usize| {
        let risk = Risk::new(&data.design, &data.target, Hinge).unwrap().with_ridge(0.1).unwrap();
        solver::published("diht").unwrap().fit(&risk, &Sparsity::new(k))
    };
    // k = 35 is no less than N = 30, but not all columns are in.
    for k in [K, 35] {
        let error = hinge(k).unwrap_err().to_string();
        for part in ["smooth", "independent rows", "500", "columns", "number"] {
            assert!(error.contains(part), "{error}");
        }
    }
    assert!(hinge(40).is_ok());
    let smooth: Box<dyn Loss> = Box::new(Logistic::default());
    let risk = Risk::new(&data.design, &data.target, smooth).unwrap().with_ridge(0.1).unwrap();
    assert_ne!(solver::published("diht").unwrap().fit(&risk, &Sparsity::new(K)).unwrap().status, Status::Diverged);
}
