//! Derivatives, by differences: of risks, on supports, along lines.

use super::problems;
use crate::common::{self, assert_close, block, check_own_blocks, close, gradient, normals, rng};
use ksparse::restricted::Restricted;
use ksparse::{MatrixMut, Objective, SparseRef};

/// `(f(x + h e_c) - f(x - h e_c)) / 2h` for each coordinate and each output of f.
fn differences(x: &[f64], mut f: impl FnMut(&[f64]) -> Vec<f64>) -> Vec<Vec<f64>> {
    let h = 1e-6;
    (0..x.len())
        .map(|c| {
            let mut at = |step: f64| {
                let mut moved = x.to_vec();
                moved[c] += step;
                f(&moved)
            };
            at(h).iter().zip(at(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
        })
        .collect()
}

#[test]
fn risks_have_the_derivatives_they_report() {
    for (name, problem) in problems() {
        let risk = problem.risk();
        let dim = risk.dim();
        let all: Vec<usize> = (0..dim).collect();
        let x: Vec<f64> = normals(&mut rng(7), dim).iter().map(|v| 0.4 * v).collect();
        let point = SparseRef::new(&all, &x);

        let mut slope = vec![f64::NAN; dim];
        let value = risk.value_and_gradient(point, &mut slope);
        assert!(close(value, problem.value_at(point), 1e-12, 0.0), "{name}: value");
        assert!(close(risk.value(point), value, 1e-13, 0.0), "{name}: value alone");
        let numeric = differences(&x, |x| vec![problem.value_at(SparseRef::new(&all, x))]).concat();
        assert_close(&format!("{name}: gradient"), &slope, &numeric, 1e-6);

        let numeric = differences(&x, |x| gradient(&risk, SparseRef::new(&all, x)));
        let at = risk.at(point).unwrap();
        assert_eq!((at.value(), at.gradient().unwrap()), (value, &slope[..]), "{name}: the point");
        let hessian = at.hessian().unwrap().unwrap();
        let mut diagonal = vec![f64::NAN; dim];
        hessian.diagonal(&mut diagonal).unwrap();
        let expected: Vec<f64> = (0..dim).map(|c| numeric[c][c]).collect();
        assert_close(&format!("{name}: diagonal"), &diagonal, &expected, 1e-6);
        let mut some = vec![f64::NAN; 3];
        hessian.diagonal_at(&[7, 0, dim - 1], &mut some).unwrap();
        assert_close(&name, &some, &[diagonal[7], diagonal[0], diagonal[dim - 1]], 1e-12);
        assert!(risk.profile().hessian.is_some(), "{name}: the Hessian has its price");
        let majorant = risk.majorant().unwrap().unwrap();
        assert!(diagonal.iter().zip(&majorant).all(|(d, m)| *d <= m * (1.0 + 1e-12)), "{name}: majorant");
        let groups: Vec<Vec<usize>> = vec![vec![4], vec![0, 3], vec![dim - 1, 1], (5..dim - 1).collect()];
        check_own_blocks(&name, hessian, &groups, 1e-12);
        let (left, right) = ([4, 0, dim - 1], [3, dim - 1, 0, 4, 8]);
        let block = block(hessian, &left, &right);
        for (b, &j) in right.iter().enumerate() {
            let found = &block[b];
            let expected: Vec<f64> = left.iter().map(|&i| numeric[j][i]).collect();
            assert_close(&format!("{name}: block column {j}"), found, &expected, 2e-6);
        }
    }
}

#[test]
fn restricted_risks_are_the_risk_on_the_support() {
    for (name, problem) in problems() {
        let risk = problem.risk();
        let support = [0, 2, 3, 7, risk.dim() - 1];
        let x: Vec<f64> = normals(&mut rng(8), 5).iter().map(|v| 0.4 * v).collect();
        let whole = gradient(&risk, SparseRef::new(&support, &x));
        let mut restricted = risk.restrict(&support).unwrap();
        assert_eq!(restricted.dim(), 5);
        let mut slope = vec![f64::NAN; 5];
        let value = restricted.move_to(&x, &mut slope).unwrap();
        assert!(close(value, problem.value_at(SparseRef::new(&support, &x)), 1e-12, 0.0), "{name}: value");
        assert_close(&name, &slope, &support.map(|j| whole[j]), 1e-12);

        let at = risk.at(SparseRef::new(&support, &x)).unwrap();
        let hessian = block(at.hessian().unwrap().unwrap(), &support, &support);
        assert!(close(restricted.form().size, problem.value_at(SparseRef::ZERO), 1e-12, 0.0), "{name}: f(0)");
        let second = restricted.second().hessian().unwrap();
        let mut lower = [f64::NAN; 25];
        second.matrix(MatrixMut::from_columns(5, 5, &mut lower)).unwrap();
        let v = normals(&mut rng(9), 5);
        let (mut product, mut diagonal, mut majorant) = (vec![0.0; 5], vec![0.0; 5], vec![0.0; 5]);
        second.product(&v, &mut product).unwrap();
        second.diagonal(&mut diagonal).unwrap();
        second.majorant(&mut majorant).unwrap();
        for b in 0..5 {
            let row: f64 = (0..5).map(|a| hessian[a][b] * v[a]).sum();
            assert!(close(product[b], row, 1e-12, 1e-3), "{name}: product");
            assert!(close(diagonal[b], hessian[b][b], 1e-12, 1e-3), "{name}: diagonal");
            assert!(diagonal[b] <= majorant[b] * (1.0 + 1e-12), "{name}: majorant");
            for a in b..5 {
                assert!(close(lower[5 * b + a], hessian[b][a], 1e-12, 1e-3), "{name}: matrix");
            }
        }
    }
}

#[test]
fn lines_are_the_function_along_them() {
    for (name, problem) in problems() {
        let risk = problem.risk();
        let support = [0, 2, 3, 7, risk.dim() - 1];
        let random = normals(&mut rng(18), 10);
        let (x, d) = random.split_at(5);
        let mut restricted = risk.restrict(&support).unwrap();
        let mut gradient = vec![f64::NAN; 5];
        restricted.move_to(x, &mut gradient).unwrap();
        let point = |step: f64| -> Vec<f64> { x.iter().zip(d).map(|(x, d)| x + step * d).collect() };
        let slope_of = |g: &[f64]| g.iter().zip(d).map(|(g, d)| g * d).sum::<f64>();
        let mut line = restricted.line(x, d).unwrap();
        for step in [1.0, 0.25, 2.0, 0.5] {
            let probe = line.probe(step).unwrap();
            let at = point(step);
            let whole = common::gradient(&risk, SparseRef::new(&support, &at));
            let slope = slope_of(&support.map(|j| whole[j]));
            assert!(close(probe.value, problem.value_at(SparseRef::new(&support, &at)), 1e-12, 0.0), "{name}: value");
            assert!(close(probe.slope, slope, 1e-11, 1e-3), "{name}: slope {} {slope}", probe.slope);
        }
        // Not the point last probed: the function is moved there all the same, second derivatives too.
        let reached = line.settle(0.25, &mut gradient).unwrap();
        let mut again = risk.restrict(&support).unwrap();
        let mut expected = vec![f64::NAN; 5];
        assert_eq!(again.move_to(&point(0.25), &mut expected).unwrap(), reached, "{name}: as if moved there");
        assert_eq!(gradient, expected, "{name}: as if moved there");
        let diagonal = |f: &mut dyn Restricted| {
            let mut out = vec![f64::NAN; 5];
            f.second().hessian().unwrap().diagonal(&mut out).unwrap();
            out
        };
        assert_eq!(diagonal(&mut *restricted), diagonal(&mut *again), "{name}");
        // And back: as if nothing had been asked.
        let before = diagonal(&mut *restricted);
        let mut line = restricted.line(&point(0.25), d).unwrap();
        line.probe(3.0).unwrap();
        line.back().unwrap();
        assert_eq!(diagonal(&mut *restricted), before, "{name}");
    }
}
