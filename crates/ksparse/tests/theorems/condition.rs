//! Condition C, the inequalities it implies and the gradient bounds, on random points.

use super::{distance, gradient, norm, random_support, random_vector, rng, truncated_norm};
use faer::Mat;
use ksparse::Risk;
use ksparse::design::Design;
use ksparse::loss::{Huber, Logistic, Loss, Squared, SquaredHinge};
use ksparse::simulate::{Correlation, logistic, precision};
use ksparse::theory::{self, ConditionC, Curvature};
use rand::Rng;

/// `||d - zeta c|| / ||d||` for a difference d of points and c of gradients.
fn ratio(condition: &ConditionC, d: &[f64], c: &[f64]) -> f64 {
    let shrunk: Vec<f64> = d.iter().zip(c).map(|(d, c)| d - condition.zeta * c).collect();
    norm(&shrunk) / norm(d)
}

/// Checks the condition and what it implies for one pair; returns the share of rho that was used.
fn check_pair(condition: &ConditionC, d: &[f64], c: &[f64]) -> f64 {
    let found = ratio(condition, d, c);
    assert!(found <= condition.rho + 1e-10, "{found} above {}", condition.rho);
    let implied = condition.curvature();
    let stretch = norm(c) / norm(d);
    assert!(stretch >= implied.strong - 1e-10 && stretch <= implied.smooth + 1e-10);
    found / condition.rho
}

#[test]
fn condition_c_holds_for_every_loss() {
    let losses: [Box<dyn Loss>; 4] = [
        Box::new(Squared::default()),
        Box::new(Logistic::new(2.0).unwrap()),
        Box::new(SquaredHinge),
        Box::new(Huber::new(0.5).unwrap()),
    ];
    let (n, p, s, ridge) = (50, 12, 4, 0.2);
    let mut rng = rng(1);
    for loss in losses {
        let data = logistic(n, p, 3, Correlation::Ar1(0.5), 2);
        let risk =
            Risk::from_boxes(Box::new(data.design), data.target.into(), loss).unwrap().with_ridge(ridge).unwrap();
        let highest = risk.loss().smoothness().bound().unwrap();
        let least = if risk.loss().is_quadratic() { highest } else { 0.0 };
        let gram = theory::restricted_eigenvalues(risk.design(), risk.weights(), s).unwrap();
        let exact = gram.of_loss(least, highest, ridge).unwrap();
        let from_rows = theory::risk_curvature(&risk, s).unwrap();
        assert!(from_rows.smooth >= exact.smooth && from_rows.strong <= exact.strong);
        let mut used = 0.0f64;
        for round in 0..600 {
            let support = random_support(p, s, &mut rng);
            let x = random_vector(p, &support, 2.0, &mut rng);
            let mut y = random_vector(p, &support, 2.0, &mut rng);
            if round % 2 == 0 {
                // Near pairs see the local curvature.
                y = x.iter().zip(&y).map(|(x, y)| x + 1e-3 * y).collect();
            }
            let (gx, gy) = (gradient(&risk, &x), gradient(&risk, &y));
            let d: Vec<f64> = support.iter().map(|&j| x[j] - y[j]).collect();
            let c: Vec<f64> = support.iter().map(|&j| gx[j] - gy[j]).collect();
            for curvature in [exact, from_rows] {
                check_pair(&curvature.condition_c().unwrap(), &d, &c);
                let zeta = 0.5 * curvature.strong / curvature.smooth.powi(2);
                check_pair(&curvature.condition_c_at(zeta).unwrap(), &d, &c);
                used = used.max(check_pair(&curvature.sharp_condition_c().unwrap(), &d, &c));
            }
        }
        assert!(used > 0.6, "{:?}: random pairs reach {used} of rho only", risk.loss());
    }
}

#[test]
fn constants_from_the_rows_bound_the_curvature() {
    let (n, p, s) = (40, 12, 4);
    let data = logistic(n, p, 3, Correlation::Ar1(0.8), 4);
    let risk = Risk::new(&data.design, &data.target, Logistic::new(2.0).unwrap()).unwrap().with_ridge(0.1).unwrap();
    let rows = risk.largest_row_norm_squared(s);
    let gram = theory::restricted_eigenvalues(&data.design, risk.weights(), s).unwrap();
    assert!(rows >= gram.smooth);
    let tight = theory::logistic_curvature(2.0, rows, 0.1).unwrap();
    let published = theory::logistic_curvature_as_published(2.0, rows, s, 0.1).unwrap();
    assert!(published.smooth > tight.smooth && tight.smooth >= gram.smooth + 0.1);
    assert!(theory::squared_hinge_curvature(rows, 0.1).unwrap().smooth >= gram.smooth + 0.1);
    // Printed without the square, the squared hinge's constant would not be a bound for rows shorter than 1...
    let short: Vec<f64> =
        (0..p).flat_map(|j| data.design.column(j).iter().map(|v| 0.05 * v).collect::<Vec<_>>()).collect();
    let short = ksparse::design::Dense::from_columns(n, p, short).unwrap();
    let shrunk = Risk::new(&short, &data.target, SquaredHinge).unwrap();
    assert!(shrunk.largest_row_norm_squared(s).sqrt() > shrunk.largest_row_norm_squared(s));
    // ...nor for long ones: one long row is all it takes.
    let long = ksparse::design::Dense::from_columns(1, 1, vec![3.0]).unwrap();
    let risk = Risk::new(&long, &[1.0], SquaredHinge).unwrap();
    let slope = |x: f64| gradient(&risk, &[x])[0];
    let stretch = (slope(0.0) - slope(0.1)) / -0.1;
    assert!(stretch > 3.0 && stretch <= theory::squared_hinge_curvature(9.0, 0.0).unwrap().smooth + 1e-12);
}

/// The inverse, by Gauss-Jordan elimination.
fn inverse(matrix: &Mat<f64>) -> Mat<f64> {
    let d = matrix.nrows();
    let (mut a, mut out) = (matrix.clone(), Mat::<f64>::identity(d, d));
    for c in 0..d {
        let pivot = a[(c, c)];
        for j in 0..d {
            a[(c, j)] /= pivot;
            out[(c, j)] /= pivot;
        }
        for i in (0..d).filter(|&i| i != c) {
            let factor = a[(i, c)];
            for j in 0..d {
                a[(i, j)] -= factor * a[(c, j)];
                out[(i, j)] -= factor * out[(c, j)];
            }
        }
    }
    out
}

fn entries(matrix: &Mat<f64>) -> Vec<f64> {
    (0..matrix.ncols()).flat_map(|j| matrix.col_as_slice(j).to_vec()).collect()
}

#[test]
fn condition_c_holds_for_the_log_determinant() {
    let d = 6;
    let mut rng = rng(5);
    let (mut checked, mut used) = (0, 0.0f64);
    for _ in 0..300 {
        // Two matrices with one random pattern; Gershgorin's discs lie within alpha and beta.
        let pattern: Vec<(usize, usize)> =
            (0..d).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|_| rng.random::<f64>() < 0.3).collect();
        let mut draw = || {
            let mut o = Mat::<f64>::zeros(d, d);
            (0..d).for_each(|i| o[(i, i)] = rng.random_range(1.5..3.0));
            for &(i, j) in &pattern {
                let v = rng.random_range(-0.2..0.2);
                o[(i, j)] = v;
                o[(j, i)] = v;
            }
            o
        };
        let (x, y) = (draw(), draw());
        let (alpha, beta) = (0.5, 4.0);
        if !theory::log_det_bounds_are_dominant(x.as_ref(), alpha, beta).unwrap()
            || !theory::log_det_bounds_are_dominant(y.as_ref(), alpha, beta).unwrap()
        {
            continue;
        }
        // Gradients S - O^-1: S cancels. Restricted to the pattern and the diagonal.
        let inside = |i: usize, j: usize| i == j || pattern.contains(&(i, j)) || pattern.contains(&(j, i));
        let (ix, iy) = (inverse(&x), inverse(&y));
        let difference = Mat::from_fn(d, d, |i, j| if inside(i, j) { iy[(i, j)] - ix[(i, j)] } else { 0.0 });
        let curvature: Curvature = theory::log_det_curvature(alpha, beta).unwrap();
        let (step, turn) = (entries(&(&x - &y)), entries(&difference));
        check_pair(&curvature.condition_c().unwrap(), &step, &turn);
        used = used.max(check_pair(&curvature.sharp_condition_c().unwrap(), &step, &turn));
        checked += 1;
    }
    assert!(checked > 200 && used > 0.5, "{checked} {used}");
}

#[test]
fn the_logistic_gradient_at_the_truth_is_as_small_as_stated() {
    let (n, p, k, s, lambda) = (400, 40, 4, 8, 1e-2);
    let (mut held, mut runs) = (0, 0);
    let mut closest = 0.0f64;
    let mut probability = 0.0;
    for seed in 0..200 {
        let correlation = if seed % 2 == 0 { Correlation::Independent } else { Correlation::Ar1(0.5) };
        let data = logistic(n, p, k, correlation, seed);
        let risk =
            Risk::new(&data.design, &data.target, Logistic::new(2.0).unwrap()).unwrap().with_ridge(lambda).unwrap();
        let truth = data.truth().to_dense(p);
        let slope = truncated_norm(&gradient(&risk, &truth), s);
        // Standard gaussian entries are 1-sub-Gaussian whatever sign the label gives them.
        let bound = theory::logistic_gradient_bound(1.0, s, n, p, lambda, truncated_norm(&truth, s)).unwrap();
        probability = bound.probability;
        held += usize::from(slope <= bound.norm);
        closest = closest.max(slope / bound.norm);
        runs += 1;
    }
    assert!(held as f64 >= probability * f64::from(runs), "{held} of {runs}, stated {probability}");
    assert!(closest > 0.2, "{closest}");
}

#[test]
fn the_squared_hinge_gradient_is_as_small_as_stated() {
    let (n, p, s, lambda) = (60, 20, 5, 0.1);
    let mut rng = rng(9);
    let mut closest = 0.0f64;
    for seed in 0..100 {
        let data = logistic(n, p, 3, Correlation::Ar1(0.3), seed);
        let risk = Risk::new(&data.design, &data.target, SquaredHinge).unwrap().with_ridge(lambda).unwrap();
        let support = random_support(p, s, &mut rng);
        let w = random_vector(p, &support, [0.01, 0.3, 3.0][seed as usize % 3], &mut rng);
        let values: Vec<f64> = support.iter().map(|&j| w[j]).collect();
        let z = risk.predictions(ksparse::SparseRef::new(&support, &values));
        let active = z.iter().zip(&data.target).filter(|(z, v)| *z * *v < 1.0).count();
        let slope = truncated_norm(&gradient(&risk, &w), s);
        let rows = risk.largest_row_norm_squared(s);
        let bound = theory::squared_hinge_gradient_bound(active, rows, n, lambda, norm(&w)).unwrap();
        assert!(slope <= bound, "seed {seed}: {slope} above {bound}");
        closest = closest.max(slope / bound);
    }
    assert!(closest > 0.15, "{closest}");
}

#[test]
fn the_log_determinant_gradient_is_as_small_as_stated() {
    for seed in 0..5 {
        let data = precision(100, 1, 20, seed);
        let n = data.train.nrows() as f64;
        let dot = |i: usize, j: usize| -> f64 {
            data.train.column(i).iter().zip(data.train.column(j)).map(|(a, b)| a * b).sum()
        };
        let sample = Mat::from_fn(20, 20, |i, j| dot(i, j) / n);
        let covariance = inverse(&data.precision);
        let slope = entries(&(&sample - &covariance));
        for s in [1, 10, 50] {
            let bound = theory::log_det_gradient_bound(s, sample.as_ref(), covariance.as_ref()).unwrap();
            let found = truncated_norm(&slope, s);
            assert!(found <= bound * (1.0 + 1e-12) && found > 0.3 * bound, "s {s}: {found} {bound}");
        }
        assert_eq!(distance(&entries(&sample), &entries(&covariance)), norm(&slope));
    }
}
