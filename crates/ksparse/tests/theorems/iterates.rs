//! On least squares the general methods are the textbook ones: compared with loops written here from the textbooks.

use super::{at_most, largest, watched};
use ksparse::design::{Dense, Design};
use ksparse::loss::Squared;
use ksparse::simulate::{Correlation, Simulated, linear};
use ksparse::solver::{Fbs, Grahtp, Status, Step};
use ksparse::{Risk, SparseRef, theory};

/// `A'(y - A x)`.
fn correlations(a: &Dense<'_>, y: &[f64], x: &[f64]) -> Vec<f64> {
    let mut residual = y.to_vec();
    for (j, x) in x.iter().enumerate() {
        residual.iter_mut().zip(a.column(j)).for_each(|(r, a)| *r -= a * x);
    }
    (0..a.ncols()).map(|j| a.column(j).iter().zip(&residual).map(|(a, r)| a * r).sum()).collect()
}

/// The least squares solution on some columns, by modified Gram-Schmidt.
fn least_squares(a: &Dense<'_>, y: &[f64], support: &[usize]) -> Vec<f64> {
    let dot = |u: &[f64], v: &[f64]| u.iter().zip(v).map(|(u, v)| u * v).sum::<f64>();
    let k = support.len();
    let mut q: Vec<Vec<f64>> = support.iter().map(|&j| a.column(j).to_vec()).collect();
    let mut r = vec![vec![0.0; k]; k];
    let mut rest = y.to_vec();
    let mut projections = vec![0.0; k];
    for i in 0..k {
        r[i][i] = dot(&q[i], &q[i]).sqrt();
        let unit: Vec<f64> = q[i].iter().map(|v| v / r[i][i]).collect();
        for j in i + 1..k {
            r[i][j] = dot(&unit, &q[j]);
            let along = r[i][j];
            q[j].iter_mut().zip(&unit).for_each(|(v, u)| *v -= along * u);
        }
        projections[i] = dot(&unit, &rest);
        rest.iter_mut().zip(&unit).for_each(|(v, u)| *v -= projections[i] * u);
    }
    for i in (0..k).rev() {
        let known: f64 = (i + 1..k).map(|j| r[i][j] * projections[j]).sum();
        projections[i] = (projections[i] - known) / r[i][i];
    }
    projections
}

/// One step of HTP (`debias`) or IHT.
fn textbook_step(data: &Simulated<Dense<'_>>, x: &[f64], k: usize, eta: f64, debias: bool) -> (Vec<usize>, Vec<f64>) {
    let moved: Vec<f64> = x.iter().zip(correlations(&data.design, &data.target, x)).map(|(x, c)| x + eta * c).collect();
    let support = largest(&moved, k);
    let values = if debias {
        least_squares(&data.design, &data.target, &support)
    } else {
        support.iter().map(|&j| moved[j]).collect()
    };
    (support, values)
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{what}: {a} against {b}");
    }
}

#[test]
fn grahtp_and_fgrahtp_on_least_squares_are_htp_and_iht() {
    let (mut longest, mut compared) = (0, 0);
    for seed in 0..12 {
        let (n, p, k) = [(80, 40, 6), (60, 120, 5), (100, 50, 10)][seed as usize % 3];
        let correlation = if seed % 2 == 0 { Correlation::Independent } else { Correlation::Ar1(0.7) };
        let data = linear(n, p, k, correlation, 0.3, seed);
        let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap();
        let eta = 0.95 / theory::largest_gram_eigenvalue(&data.design, &vec![1.0; n]);
        for (mut on_sum, mut on_mean, debias) in
            [(Grahtp::htp(), Grahtp::default(), true), (Grahtp::iht(), Grahtp::fast(), false)]
        {
            (on_sum.step, on_sum.limits) = (Step::Fixed(eta), at_most(40));
            (on_mean.step, on_mean.limits) = (Step::Fixed(eta * n as f64), at_most(40));
            let (solution, iterates) = watched(&on_sum, &risk, k, None);
            let (_, same) = watched(&on_mean, &risk, k, None);
            assert_eq!(iterates.len(), same.len());
            let mut x = vec![0.0; p];
            for (t, (iterate, same)) in iterates.iter().zip(&same).enumerate() {
                assert_eq!((&iterate.support, &iterate.coefficients), (&same.support, &same.coefficients));
                let (support, values) = textbook_step(&data, &x, k, eta, debias);
                assert_eq!(iterate.support, support, "seed {seed}, debias {debias}, iteration {t}");
                assert_close(&iterate.coefficients, &values, &format!("seed {seed}, debias {debias}, iteration {t}"));
                x = SparseRef::new(&support, &values).to_dense(p);
                compared += 1;
            }
            if debias {
                // HTP ends where the textbook's support repeats, and not before.
                assert_eq!(solution.status, Status::SupportStable);
                assert_eq!(textbook_step(&data, &x, k, eta, true).0, solution.support);
                longest = longest.max(iterates.len());
            } else {
                assert_eq!(iterates.len(), 40);
            }
        }
    }
    assert!(longest >= 5 && compared > 500, "too easy: {longest} iterations at most, {compared} in all");
}

#[test]
fn fbs_on_least_squares_is_orthogonal_matching_pursuit() {
    for seed in 0..10 {
        let (n, p, k) = [(50, 120, 12), (200, 30, 30)][seed as usize % 2];
        let data = linear(n, p, 8, Correlation::Ar1(0.6), 0.5, seed);
        let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap();
        let (solution, iterates) = watched(&Fbs::default(), &risk, k, None);
        assert_eq!((iterates.len(), solution.status), (k, Status::Complete));
        // OMP: the column most correlated with the residual joins, the residual is projected anew.
        let mut order: Vec<usize> = Vec::new();
        let mut x = vec![0.0; p];
        let mut before: Vec<usize> = Vec::new();
        for iterate in &iterates {
            let mut scores = correlations(&data.design, &data.target, &x);
            order.iter().for_each(|&j| scores[j] = 0.0);
            order.push(largest(&scores, 1)[0]);
            let values = least_squares(&data.design, &data.target, &order);
            x = SparseRef::new(&order, &values).to_dense(p);
            let joined: Vec<usize> = iterate.support.iter().copied().filter(|j| !before.contains(j)).collect();
            assert_eq!(joined, [order[order.len() - 1]], "seed {seed}");
            let expected: Vec<f64> = iterate.support.iter().map(|&j| x[j]).collect();
            assert_close(&iterate.coefficients, &expected, &format!("seed {seed}, size {}", order.len()));
            before.clone_from(&iterate.support);
        }
    }
}
