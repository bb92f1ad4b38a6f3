//! Bad requests: each is a typed error that says what was wrong.

use super::*;

#[test]
fn bad_numbers_are_errors_that_name_the_place() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for loss in 0..4 {
            let mut problem = data(90, 30, 6, loss).ridge(1e-3);
            problem.x = problem.x.map(|i, j, v| if (i, j) == (17, 4) { bad } else { v });
            for intercept in [false, true] {
                problem.intercept = intercept;
                for solver in every_solver() {
                    for sparsity in [Sparsity::new(2), Sparsity::new(2).keep([4]), Sparsity::new(6)] {
                        let error = solver.fit(&problem.risk(), &sparsity).unwrap_err();
                        let named = matches!(error, Error::NotFinite { index: 4, .. });
                        assert!(named, "{} {bad} {loss}: {error}", solver.name());
                    }
                }
            }
        }
        let x = data(91, 5, 2, 0).x;
        let y = [0.0, 1.0, 2.0, bad, 4.0];
        let error = Risk::new(x.dense(), &y[..], Squared::default()).err().unwrap();
        assert_eq!(error, Error::NotFinite { what: "target", index: 3 });
        let problem = data(92, 20, 5, 0);
        for solver in every_solver() {
            let start = Solution::guess(vec![0, 3], vec![1.0, bad]);
            let error = solver.fit_from(&problem.risk(), &Sparsity::new(2), &start).unwrap_err();
            assert_eq!(error, Error::NotFinite { what: "start", index: 1 }, "{}", solver.name());
            // A function of the user's own that is not finite.
            let broken = Custom::new(3, |_, gradient| {
                gradient.fill(1.0);
                bad
            });
            assert!(
                matches!(solver.fit(&broken, &Sparsity::new(1)), Err(Error::NotFinite { .. })),
                "{}",
                solver.name()
            );
        }
    }
    let error = Risk::new(data(93, 3, 2, 0).x.dense(), &[1.0, 0.0, -1.0][..], Logistic::default()).err().unwrap();
    assert!(matches!(error, Error::Target { row: 1, .. }), "{error}");
}

#[test]
fn starts_are_checked() {
    let problem = data(100, 30, 6, 0);
    let risk = problem.risk();
    for solver in every_solver() {
        let from = |support: &[usize], values: &[f64]| {
            solver.fit_from(&risk, &Sparsity::new(2), &Solution::guess(support.to_vec(), values.to_vec()))
        };
        let name = solver.name();
        assert!(matches!(from(&[6], &[1.0]), Err(Error::IndexOutOfRange { index: 6, .. })), "{name}");
        assert!(matches!(from(&[1, 2], &[1.0]), Err(Error::Shape { .. })), "{name}");
        assert!(matches!(from(&[2, 2], &[1.0, 1.0]), Err(Error::Data(_))), "{name}");
        // Any order, more than k, zeros among them: fine.
        problem.check(name, &from(&[5, 0, 3, 1], &[1.0, -2.0, 0.0, 3.0]).unwrap(), 2, &[]);
        problem.check(name, &from(&[], &[]).unwrap(), 2, &[]);
        assert!(from(&[0], &[1e200]).is_err() || from(&[0], &[1e200]).unwrap().value.is_finite(), "{name}");
    }
}

#[test]
fn shapes_and_options_are_checked() {
    let x = data(110, 4, 2, 0).x;
    let risk = || Risk::new(x.dense(), vec![1.0, 2.0, 3.0, 4.0], Squared::default()).unwrap();
    let option = |e: Option<Error>, name: &str| match e {
        Some(Error::InvalidOption { option, .. }) => assert_eq!(option, name),
        other => panic!("{name}: {other:?}"),
    };
    assert!(matches!(
        Risk::new(x.dense(), vec![1.0; 3], Squared::default()),
        Err(Error::Shape { expected: 4, found: 3, .. })
    ));
    let none = Dense::from_columns(0, 2, Vec::<f64>::new()).unwrap();
    assert!(matches!(Risk::new(none, vec![], Squared::default()), Err(Error::Data(_))));
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        option(risk().with_ridge(bad).err(), "lambda");
        option(Squared::new(bad).err(), "squared scale");
        option(Grahtp { step: Step::Fixed(bad), ..Grahtp::default() }.fit(&risk(), &Sparsity::new(1)).err(), "step");
        option(Foba { least_gain: bad, ..Foba::default() }.fit(&risk(), &Sparsity::new(1)).err(), "least_gain");
        let limits = Limits { tolerance: bad, ..Limits::default() };
        option(
            Grahtp { limits: limits.clone(), ..Grahtp::default() }.fit(&risk(), &Sparsity::new(1)).err(),
            "tolerance",
        );
        option(Grasp { limits: limits.clone(), ..Grasp::default() }.fit(&risk(), &Sparsity::new(1)).err(), "tolerance");
    }
    option(Grahtp { step: Step::Fixed(0.0), ..Grahtp::default() }.fit(&risk(), &Sparsity::new(1)).err(), "step");
    let limits = Limits { max_iterations: 0, ..Limits::default() };
    option(Fbs { limits: limits.clone() }.fit(&risk(), &Sparsity::new(1)).err(), "max_iterations");
    assert!(matches!(risk().with_weights(&[1.0; 3]), Err(Error::Shape { .. })));
    assert!(matches!(risk().with_weights(&[1.0, 1.0, f64::NAN, 1.0]), Err(Error::NotFinite { index: 2, .. })));
    for weights in [[0.0; 4], [1.0, -1.0, 1.0, 1.0], [1e308; 4]] {
        option(risk().with_weights(&weights).err(), "weights");
    }
    assert!(matches!(solver::by_name("simplex"), Err(Error::UnknownName { what: "solver", .. })));
    assert!(matches!(loss::by_name("tweedie"), Err(Error::UnknownName { what: "loss", .. })));
    let message = solver::by_name("simplex").err().unwrap().to_string();
    assert!(solver::NAMES.iter().all(|name| message.contains(name)), "{message}");
}

#[test]
fn what_a_solver_cannot_do_is_said() {
    let mut problem = data(120, 30, 5, 1);
    problem.y[0] = -problem.y[0];
    let hinge = Risk::new(problem.x.dense(), &problem.y, Hinge).unwrap().with_ridge(0.1).unwrap();
    let unpenalised = Risk::new(problem.x.dense(), &problem.y, Hinge).unwrap();
    for solver in every_solver() {
        let name = solver.name();
        let unsupported = |risk: &Risk| match solver.fit(risk, &Sparsity::new(2)) {
            Err(Error::Unsupported { solver, .. }) => solver == name,
            Err(error) => panic!("{name}: {error}"),
            Ok(_) => false,
        };
        // A corner: by subgradients or through the dual, which needs a ridge, or not at all.
        assert_eq!(unsupported(&hinge), ["grasp", "fbs", "foba"].contains(&name), "{name}");
        assert!(unsupported(&unpenalised), "{name}");
    }
    let unknown = Custom::new(2, |x, gradient| {
        gradient.copy_from_slice(x);
        0.5 * (x[0] * x[0] + x[1] * x[1])
    });
    let theory = Grahtp { step: Step::Theory, ..Grahtp::default() };
    assert!(matches!(theory.fit(&unknown, &Sparsity::new(1)), Err(Error::Unsupported { solver: "grahtp", .. })));
}
