//! The choice of k.

use ksparse::graphical::{self, Covariance, GraphicalLasso, Precision, Stability, Units, f_score};
use ksparse::select::Folds;
use ksparse::solver::{Grahtp, Solver};
use ksparse::{Objective, Path, Sparsity, Threads, simulate};

#[test]
fn scores_are_the_formulas() {
    let sample = simulate::precision(80, 70, 8, 1);
    let s = Covariance::from_samples(&sample.train, Units::Standardized).unwrap();
    let solver = Grahtp::default();
    let networks = graphical::by_edges(Path::over([0, 3, 6, 9]), &solver)(&s).unwrap();
    assert_eq!(networks.iter().map(|n| n.edges().len()).collect::<Vec<_>>(), [0, 3, 6, 9]);
    let model = Precision::new(s.clone()).unwrap();
    let ebic = graphical::ebic(&networks, &s, 0.5).unwrap();
    for (network, score) in networks.iter().zip(&ebic.scores) {
        let value = model.value(model.guess(network.precision()).as_sparse()).unwrap();
        let e = network.edges().len() as f64;
        let by_hand = 80.0 * value + e * 80f64.ln() + 2.0 * e * 8f64.ln();
        assert!((score - by_hand).abs() < 1e-8, "{score} against {by_hand}");
    }
    // Held out: the samples of the tuning set, in the units and about the means of the training set.
    let others = s.of_others(&sample.tune).unwrap();
    let tuned = graphical::held_out(&networks, &others).unwrap();
    let column =
        |j: usize| -> Vec<f64> { sample.tune.column(j).iter().map(|v| (v - s.mean()[j]) / s.scale()[j]).collect() };
    let (a, b) = (column(2), column(5));
    let by_hand = a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>() / 70.0;
    assert!((others.matrix()[(2, 5)] - by_hand).abs() < 1e-12);
    assert_eq!(tuned.index, (0..4).min_by(|&a, &b| tuned.scores[a].total_cmp(&tuned.scores[b])).unwrap());
    let nobody = Covariance::from_matrix(s.matrix().as_ref(), None).unwrap();
    assert!(graphical::ebic(&networks, &nobody, 0.5).is_err());
}

#[test]
fn cross_validation_scores_what_was_not_trained_on() {
    let sample = simulate::precision(60, 2, 6, 2);
    let folds = Folds::seeded(60, 3, 1).unwrap();
    let solver = Grahtp::default();
    let family = graphical::by_edges(Path::over([0, 4]), &solver);
    let tuned = graphical::cross_validate(&sample.train, Units::Original, &folds, &family).unwrap();
    let mut means = [0.0; 2];
    for fold in 0..3 {
        let rows = |which: Vec<usize>| ksparse::design::Rows::new(&sample.train, which).unwrap();
        let s = Covariance::from_samples(&rows(folds.training(fold)), Units::Original).unwrap();
        let other = s.of_others(&rows(folds.held_out(fold))).unwrap();
        for (mean, network) in means.iter_mut().zip(family(&s).unwrap()) {
            *mean += network.loss(other.matrix()).unwrap() / 3.0;
        }
    }
    assert!(tuned.scores.iter().zip(means).all(|(a, b)| (a - b).abs() < 1e-12));
    assert!(tuned.one_standard_error() <= tuned.index);
}

#[test]
fn the_truth_is_found_with_many_samples() {
    let sample = simulate::precision(4000, 4000, 15, 3);
    let s = Covariance::from_samples(&sample.train, Units::Original).unwrap();
    let solver = Grahtp::default();
    let truth = sample.edges.len();
    let networks = graphical::by_edges(Path::over(0..=2 * truth), &solver)(&s).unwrap();
    let found = |index: usize| -> f64 {
        let edges: Vec<(usize, usize)> = networks[index].edges().iter().map(|e| e.nodes).collect();
        f_score(&edges, &sample.edges)
    };
    assert_eq!(found(graphical::ebic(&networks, &s, 0.5).unwrap().index), 1.0);
    let tuned = graphical::held_out(&networks, &s.of_others(&sample.tune).unwrap()).unwrap();
    assert!(found(tuned.index) > 0.9);
    // The same family of tools tunes the graphical lasso.
    let penalties = GraphicalLasso::penalties(&s, 20, 0.01);
    let lassos = GraphicalLasso::default().path(&s, &penalties).unwrap();
    let lasso = graphical::held_out(&lassos, &s.of_others(&sample.tune).unwrap()).unwrap();
    assert!(lassos[lasso.index].edges().len() > truth, "the lasso tuned for likelihood keeps too many edges");
}

#[test]
fn frequencies_are_the_same_for_any_number_of_threads() {
    let sample = simulate::precision(100, 2, 10, 4);
    let stability = Stability { resamples: 12, seed: 5, ..Stability::default() };
    let run = |threads: usize| {
        Threads::new(threads).unwrap().run(|| {
            stability
                .frequencies(&sample.train, Units::Original, &|s| {
                    let model = Precision::new(s.clone())?;
                    Ok(model.network(&Grahtp::default().fit(&model, &Sparsity::new(5))?))
                })
                .unwrap()
        })
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(one, two);
    for i in 0..10 {
        assert_eq!(one[(i, i)], 0.0);
        assert!((0..10).all(|j| one[(i, j)] == one[(j, i)] && (0.0..=1.0).contains(&one[(i, j)])));
    }
    let bad = Stability { share: 0.0, ..stability };
    assert!(bad.frequencies(&sample.train, Units::Original, &|_| unreachable!()).is_err());
}
