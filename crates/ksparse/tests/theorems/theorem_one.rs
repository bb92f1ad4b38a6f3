//! Theorem 1: with a short enough step GraHTP ends, f falls by a stated amount, FGraHTP's f converges.

use super::{Iterate, at_most, gradient, largest, watched};
use ksparse::design::Dense;
use ksparse::loss::{Huber, Logistic, Loss, Squared, SquaredHinge};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::simulate::{Correlation, linear, logistic};
use ksparse::solver::{Debias, Grahtp, Limits, Solution, Solver, Status, Step};
use ksparse::{Objective, Risk, Sparsity, theory};

fn losses() -> Vec<Box<dyn Loss>> {
    vec![
        Box::new(Squared::default()),
        Box::new(Logistic::new(2.0).unwrap()),
        Box::new(SquaredHinge),
        Box::new(Huber::new(0.5).unwrap()),
    ]
}

/// A risk on data that suit the loss.
fn risk(loss: Box<dyn Loss>, n: usize, p: usize, k: usize, rho: f64, ridge: f64, seed: u64) -> Risk<'static> {
    let data = if loss.is_quadratic() {
        linear(n, p, k, Correlation::Ar1(rho), 1.0, seed)
    } else {
        logistic(n, p, k, Correlation::Ar1(rho), seed)
    };
    Risk::from_boxes(Box::new(data.design), data.target.into(), loss).unwrap().with_ridge(ridge).unwrap()
}

/// `||H_k(x - eta grad f(x)) - x||`.
fn truncated_move(objective: &dyn Objective, at: &Iterate, k: usize, eta: f64) -> f64 {
    let x = at.as_sparse().to_dense(objective.dim());
    let moved: Vec<f64> = x.iter().zip(gradient(objective, &x)).map(|(x, g)| x - eta * g).collect();
    let kept = largest(&moved, k);
    (0..x.len()).map(|j| if kept.contains(&j) { moved[j] - x[j] } else { -x[j] }).map(|d| d * d).sum::<f64>().sqrt()
}

/// A k-sparse start far from the answer: the minimiser on the coordinates that matter least to the gradient at zero.
fn poor_start(risk: &Risk, k: usize) -> Solution {
    let slope = gradient(risk, &vec![0.0; risk.dim()]);
    let promising = largest(&slope, risk.dim() - k);
    let support: Vec<usize> = (0..risk.dim()).filter(|j| !promising.contains(j)).collect();
    let mut x = vec![0.0; k];
    minimise(&mut *risk.restrict(&support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap();
    Solution::guess(support, x)
}

#[test]
fn grahtp_ends_with_the_theoretical_step() {
    let k = 15;
    let solver = Grahtp { step: Step::Theory, limits: at_most(2000), ..Grahtp::default() };
    for loss in 0..losses().len() {
        let mut lengths = Vec::new();
        for seed in 0..40 {
            let risk = risk(losses().swap_remove(loss), 300, 60, k, 0.5, 1e-2, seed);
            let start = if seed % 2 == 0 { Solution::guess(vec![], vec![]) } else { poor_start(&risk, k) };
            let (solution, iterates) = watched(&solver, &risk, k, Some(&start));
            assert_eq!(solution.status, Status::SupportStable, "{:?}, seed {seed}", risk.loss());
            // The last iteration only confirms: the support has changed in all the others, and f has fallen.
            let (mut support, mut value) = (&start.support, risk.value(start.as_sparse()));
            for (t, iterate) in iterates.iter().enumerate() {
                let last = t + 1 == iterates.len();
                assert_eq!(iterate.support == *support, last);
                assert!(iterate.value < value || last, "{:?}, seed {seed}, iteration {t}", risk.loss());
                (support, value) = (&iterate.support, iterate.value);
            }
            assert_eq!(solution.support, *support);
            lengths.push(iterates.len());
        }
        let long = lengths.iter().filter(|&&l| l > 4).count();
        assert!(long >= 5, "{:?}: too easy, lengths {lengths:?}", losses()[loss]);
    }
}

#[test]
fn a_step_beyond_the_bound_may_cycle() {
    // What Theorem 1 rules out does happen without its condition: the test above can fail.
    let cycled = (0..40).filter(|&seed| {
        let risk = risk(Box::new(Squared::default()), 30, 40, 8, 0.5, 1e-3, seed);
        let step = Step::Fixed(20.0 / risk.smoothness(16).unwrap().bound().unwrap());
        let solver = Grahtp { step, limits: at_most(2000), ..Grahtp::default() };
        solver.fit(&risk, &Sparsity::new(8)).unwrap().status == Status::Cycled
    });
    assert!(cycled.count() > 0);
}

#[test]
fn every_step_lowers_f_as_promised() {
    let k = 3;
    let mut tightest = f64::INFINITY;
    for loss in 0..losses().len() {
        for seed in 0..8 {
            let risk = risk(losses().swap_remove(loss), 60, 14, k, 0.6, 0.05, seed);
            // Exact restricted eigenvalues of the Gram matrix, times the loss's own curvature.
            let gram = theory::restricted_eigenvalues(risk.design(), risk.weights(), 2 * k).unwrap();
            let highest = risk.loss().smoothness().bound().unwrap();
            let least = if risk.loss().is_quadratic() { highest } else { 0.0 };
            let curvature = gram.of_loss(least, highest, risk.ridge()).unwrap();
            let sharp = curvature.sharp_condition_c().unwrap();
            assert!((sharp.step_bound() * curvature.smooth - 1.0).abs() < 1e-12);
            for (condition, share) in
                [(sharp, 0.3), (sharp, 0.7), (sharp, 0.95), (curvature.condition_c().unwrap(), 0.9)]
            {
                let eta = share * condition.step_bound();
                for debias in [Debias::Exact, Debias::Nothing] {
                    let solver = Grahtp { step: Step::Fixed(eta), debias, limits: at_most(60), ..Grahtp::default() };
                    let (_, iterates) = watched(&solver, &risk, k, None);
                    let mut before = &Iterate::zero(&risk);
                    for after in &iterates {
                        let moved = truncated_move(&risk, before, k, eta);
                        let promised = condition.guaranteed_decrease(eta, moved).unwrap();
                        let decrease = before.value - after.value;
                        assert!(
                            decrease >= promised - 1e-12 * before.value,
                            "{:?}, seed {seed}, {debias:?}: {decrease} promised {promised}",
                            risk.loss()
                        );
                        if moved > 1e-3 {
                            tightest = tightest.min(decrease / promised);
                        }
                        before = after;
                    }
                }
            }
        }
    }
    // The promise is not empty: somewhere it is nearly all there is.
    assert!(tightest < 2.0, "decrease at least {tightest} times the promised one");
}

#[test]
fn f_converges_under_fgrahtp() {
    for loss in losses() {
        let risk = risk(loss, 200, 30, 5, 0.5, 0.01, 3);
        let solver = Grahtp { step: Step::Theory, limits: at_most(3000), ..Grahtp::fast() };
        let (_, iterates) = watched(&solver, &risk, 5, None);
        let values: Vec<f64> = iterates.iter().map(|i| i.value).collect();
        assert!(values.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-14)), "{:?}", risk.loss());
        let (middle, last) = (values[values.len() / 2], values[values.len() - 1]);
        assert!(middle - last <= 1e-9 * last, "{:?}: still falling, {middle} to {last}", risk.loss());
        // The limit is stationary on its support: FGraHTP's fixed points are GraHTP's.
        let end = &iterates[iterates.len() - 1];
        let slope = gradient(&risk, &end.as_sparse().to_dense(30));
        assert!(end.support.iter().all(|&j| slope[j].abs() < 1e-6), "{:?}", risk.loss());
    }
}

#[test]
fn the_theoretical_step_allows_for_an_intercept() {
    // Columns close to the intercept's own: leaving it out of the count makes the curvature a third too small.
    let (n, p) = (30, 4);
    let columns: Vec<f64> = (0..n * p).map(|e| 1.0 + 0.01 * (e as f64).sin()).collect();
    let target: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    for loss in losses() {
        let design = Dense::from_columns(n, p, columns.clone()).unwrap();
        let risk = Risk::from_boxes(Box::new(design), target.clone().into(), loss).unwrap().with_intercept();
        let solver = Grahtp { step: Step::Theory, limits: Limits::default(), ..Grahtp::default() };
        let (_, iterates) = watched(&solver, &risk, 1, None);
        // Two iterates differ in two features and the intercept.
        let gram = theory::restricted_eigenvalues(risk.design(), risk.weights(), 3).unwrap();
        let smooth = gram.smooth * risk.loss().smoothness().bound().unwrap();
        let share = iterates[0].step * smooth;
        assert!(share < 1.0 && share > 0.9, "{:?}: step {share} / M", risk.loss());
    }
}
