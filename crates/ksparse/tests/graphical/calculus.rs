//! Derivatives against finite differences, values against plain formulas.

use super::{eigenvalues, model, support};
use faer::Mat;
use ksparse::graphical::{coordinate, entry};
use ksparse::{MatrixMut, Objective, SparseRef};

/// A point inside the cone on a few edges of 7 nodes, two of its components larger than one node.
fn point() -> (Vec<usize>, Vec<f64>) {
    let support = support(7, &[(0, 1), (1, 2), (0, 2), (4, 6)]);
    let x =
        support.iter().map(|&c| if entry(c).0 == entry(c).1 { 2.0 + 0.1 * c as f64 } else { 0.3 - 0.05 * c as f64 });
    (support.clone(), x.collect())
}

#[test]
fn value_is_log_det_and_trace() {
    let model = model(40, 7, 1);
    let (support, x) = point();
    let o = model.matrix(SparseRef::new(&support, &x));
    let s = model.covariance().matrix();
    let trace: f64 = (0..7).flat_map(|i| (0..7).map(move |j| (i, j))).map(|e| s[e] * o[e]).sum();
    let log_det: f64 = eigenvalues(&o).iter().map(|v| v.ln()).sum();
    assert!((model.value(SparseRef::new(&support, &x)).unwrap() - (trace - log_det)).abs() < 1e-10);
}

#[test]
fn gradient_by_finite_differences() {
    let model = model(40, 7, 1);
    let (support, x) = point();
    let at = model.at(SparseRef::new(&support, &x)).unwrap();
    let gradient = at.gradient().unwrap();
    let dense = SparseRef::new(&support, &x).to_dense(model.dim());
    let all: Vec<usize> = (0..model.dim()).collect();
    for c in 0..model.dim() {
        let at = |h: f64| {
            let mut moved = dense.clone();
            moved[c] += h;
            model.value(SparseRef::new(&all, &moved)).unwrap()
        };
        let h = 1e-5;
        let slope = (at(h) - at(-h)) / (2.0 * h);
        assert!((gradient[c] - slope).abs() < 1e-7, "{:?}: {} against {slope}", entry(c), gradient[c]);
    }
}

#[test]
fn hessian_by_finite_differences() {
    let model = model(40, 7, 1);
    let (support, x) = point();
    let all: Vec<usize> = (0..model.dim()).collect();
    let dense = SparseRef::new(&support, &x).to_dense(model.dim());
    let point = model.at(SparseRef::new(&support, &x)).unwrap();
    let hessian = point.hessian().unwrap().unwrap();
    let mut block = Mat::zeros(model.dim(), model.dim());
    let mut columns = vec![f64::NAN; model.dim() * model.dim()];
    hessian.block(&all, &all, MatrixMut::from_columns(model.dim(), model.dim(), &mut columns)).unwrap();
    block.col_iter_mut().zip(columns.chunks(model.dim())).for_each(|(mut c, from)| {
        from.iter().enumerate().for_each(|(i, v)| c[i] = *v);
    });
    let (mut diagonal, mut some) = (vec![0.0; model.dim()], vec![0.0; 2]);
    hessian.diagonal(&mut diagonal).unwrap();
    hessian.diagonal_at(&[coordinate(1, 0), coordinate(3, 3)], &mut some).unwrap();
    assert_eq!(some, [diagonal[coordinate(1, 0)], diagonal[coordinate(3, 3)]]);
    let gradient_at = |c: usize, h: f64| {
        let mut moved = dense.clone();
        moved[c] += h;
        model.at(SparseRef::new(&all, &moved)).unwrap().gradient().unwrap().to_vec()
    };
    for c in 0..model.dim() {
        let h = 1e-5;
        let (up, down) = (gradient_at(c, h), gradient_at(c, -h));
        for b in 0..model.dim() {
            let bend = (up[b] - down[b]) / (2.0 * h);
            assert!(
                (block[(b, c)] - bend).abs() < 1e-7,
                "{:?} {:?}: {} against {bend}",
                entry(b),
                entry(c),
                block[(b, c)]
            );
        }
        assert!((block[(c, c)] - diagonal[c]).abs() < 1e-14);
    }
    // The restriction says the same: matrix, products, diagonal, gradient.
    let mut restricted = model.restrict(&support).unwrap();
    let mut slope = vec![0.0; support.len()];
    restricted.move_to(&x, &mut slope).unwrap();
    let second = restricted.second().hessian().unwrap();
    let whole = point.gradient().unwrap();
    let v: Vec<f64> = (0..support.len()).map(|a| (a as f64 * 1.7).sin()).collect();
    let mut product = vec![0.0; support.len()];
    second.product(&v, &mut product).unwrap();
    let mut own = vec![0.0; support.len()];
    second.diagonal(&mut own).unwrap();
    let d = support.len();
    let mut lower = vec![f64::NAN; d * d];
    second.matrix(MatrixMut::from_columns(d, d, &mut lower)).unwrap();
    for (a, &c) in support.iter().enumerate() {
        for (b, &e) in support[..=a].iter().enumerate() {
            assert!((lower[d * b + a] - block[(c, e)]).abs() < 1e-12, "{:?} {:?}", entry(c), entry(e));
        }
        assert!((slope[a] - whole[c]).abs() < 1e-12);
        assert!((own[a] - diagonal[c]).abs() < 1e-12);
        let expected: f64 = support.iter().zip(&v).map(|(&b, v)| block[(c, b)] * v).sum();
        assert!((product[a] - expected).abs() < 1e-12, "{} against {expected}", product[a]);
    }
}

#[test]
fn infinite_outside_the_cone_and_the_bounds() {
    let model = model(40, 3, 1);
    let support = support(3, &[(0, 1)]);
    let value = |diagonal: f64, off: f64| {
        let x: Vec<f64> =
            support.iter().map(|&c| if entry(c).0 == entry(c).1 { diagonal } else { off * 2f64.sqrt() }).collect();
        model.value(SparseRef::new(&support, &x)).unwrap()
    };
    let middle = (model.bounds().alpha * model.bounds().beta).sqrt();
    assert!(value(middle, 0.1 * middle).is_finite());
    assert_eq!(value(middle, 1.5 * middle), f64::INFINITY);
    assert_eq!(value(0.0, 0.0), f64::INFINITY);
    assert_eq!(value(2.0 * model.bounds().beta, 0.0), f64::INFINITY);
    assert_eq!(value(0.5 * model.bounds().alpha, 0.0), f64::INFINITY);
    assert_eq!(model.value(SparseRef::ZERO).unwrap(), f64::INFINITY);
}
