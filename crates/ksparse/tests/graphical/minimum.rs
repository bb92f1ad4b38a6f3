//! S3: the minimum on a support, against high precision, against theory, one method against the other.

use super::{apart, eigenvalues, matrix, model, support};
use faer::Mat;
use ksparse::graphical::{Bounds, Covariance, Method, Precision, coordinate, entry};
use ksparse::restricted::{self, Ended, InnerOptions};
use ksparse::{Objective, SparseRef};

/// The minimum on a support, from zeros.
fn minimise(model: &Precision, support: &[usize]) -> (Mat<f64>, f64) {
    let mut x = vec![0.0; support.len()];
    let outcome = restricted::minimise(&mut *model.restrict(support).unwrap(), &mut x, &InnerOptions::EXACT).unwrap();
    assert_eq!(outcome.ended, Ended::Converged);
    let value = model.value(SparseRef::new(support, &x)).unwrap();
    assert!((value - outcome.value).abs() <= 1e-9 * value.abs().max(1.0), "{value} against {}", outcome.value);
    (model.matrix(SparseRef::new(support, &x)), value)
}

#[test]
fn both_methods_match_fifty_digits() {
    let cases: serde_json::Value = serde_json::from_str(include_str!("reference.json")).unwrap();
    for case in cases.as_array().unwrap() {
        let s = matrix(&case["covariance"]);
        let edges: Vec<(usize, usize)> = serde_json::from_value(case["edges"].clone()).unwrap();
        let (value, expected) = (case["value"].as_f64().unwrap(), matrix(&case["precision"]));
        let on = support(s.nrows(), &edges);
        for method in [Method::Newton, Method::Adm] {
            // Bounds so wide that none is active, as in the reference.
            let wide = Bounds { alpha: 1e-4, beta: 1e4 };
            let covariance = Covariance::from_matrix(s.as_ref(), None).unwrap();
            let model = Precision::new(covariance).unwrap().with_bounds(wide).unwrap().with_method(method);
            let (o, found) = minimise(&model, &on);
            assert!((found - value).abs() < 1e-7, "{} by {method:?}: {found} against {value}", case["name"]);
            let size = (0..s.nrows()).map(|i| expected[(i, i)]).fold(0.0, f64::max);
            assert!(apart(&o, &expected) < 1e-4 * size, "{} by {method:?}: {}", case["name"], apart(&o, &expected));
        }
    }
}

#[test]
fn the_gradient_vanishes_on_the_support() {
    let model = model(60, 12, 2);
    let edges: Vec<(usize, usize)> = (0..12).flat_map(|i| [(i, (i + 1) % 12), (i, (i + 5) % 12)]).collect();
    let on = support(12, &edges);
    let mut x = vec![0.0; on.len()];
    restricted::minimise(&mut *model.restrict(&on).unwrap(), &mut x, &InnerOptions::EXACT).unwrap();
    let at = model.at(SparseRef::new(&on, &x)).unwrap();
    let gradient = at.gradient().unwrap();
    assert!(on.iter().all(|&c| gradient[c].abs() < 1e-6), "the covariances on the support are those of the data");
}

#[test]
fn all_edges_give_the_inverse_covariance() {
    let model = model(50, 10, 3);
    let on: Vec<usize> = (0..model.dim()).collect();
    let (o, _) = minimise(&model, &on);
    let product = &o * model.covariance().matrix();
    let identity = Mat::from_fn(10, 10, |i, j| f64::from(u8::from(i == j)));
    assert!(apart(&product, &identity) < 1e-6);
}

#[test]
fn active_bounds_clip_the_spectrum() {
    // With all edges the minimiser shares the eigenvectors of S: its eigenvalues are 1 / s clipped to the bounds. Rank
    // 4 of 8.
    for (n, alpha, beta) in [(4, 1e-3, 20.0), (40, 0.8, 1.5), (4, 0.3, 3.0)] {
        let base = model(n, 8, 4);
        let bounds = Bounds { alpha, beta };
        let s = eigenvalues(base.covariance().matrix());
        let expected: f64 = s.iter().map(|s| (1.0 / s.max(1e-300)).clamp(alpha, beta)).map(|o| -o.ln()).sum::<f64>()
            + s.iter().map(|s| s * (1.0 / s.max(1e-300)).clamp(alpha, beta)).sum::<f64>();
        for method in [Method::Newton, Method::Adm] {
            let model = base.clone().with_bounds(bounds).unwrap().with_method(method);
            let on: Vec<usize> = (0..model.dim()).collect();
            let (o, value) = minimise(&model, &on);
            assert!(
                (value - expected).abs() < 1e-6 * expected.abs().max(1.0),
                "{method:?}: {value} against {expected}"
            );
            let values = eigenvalues(&o);
            assert!(values[0] >= alpha - 1e-8 && values[7] <= beta + 1e-8, "{values:?} outside {bounds:?}");
        }
    }
}

#[test]
fn newton_and_adm_agree_on_random_supports() {
    for seed in 0..6 {
        let p = 15;
        let base = model(if seed % 2 == 0 { 60 } else { 10 }, p, seed);
        let edges: Vec<(usize, usize)> = (0..p)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .filter(|(i, j)| (i * 31 + j * 17 + seed as usize * 7).is_multiple_of(5))
            .collect();
        // Every third time bounds that bite.
        let base = if seed % 3 == 2 { base.with_bounds(Bounds { alpha: 0.4, beta: 6.0 }).unwrap() } else { base };
        let on = support(p, &edges);
        let (newton, fast) = minimise(&base, &on);
        let (adm, slow) = minimise(&base.clone().with_method(Method::Adm), &on);
        assert!((fast - slow).abs() < 1e-6 * slow.abs().max(1.0), "seed {seed}: {fast} against {slow}");
        let size = (0..p).map(|i| adm[(i, i)]).fold(0.0, f64::max);
        assert!(apart(&newton, &adm) < 1e-3 * size, "seed {seed}: {}", apart(&newton, &adm));
        for o in [&newton, &adm] {
            let values = eigenvalues(o);
            let Bounds { alpha, beta } = base.bounds();
            assert!(values[0] >= alpha * (1.0 - 1e-8) && values[p - 1] <= beta * (1.0 + 1e-8));
            for i in 0..p {
                for j in 0..i {
                    assert_eq!(o[(i, j)], o[(j, i)]);
                    assert!(o[(i, j)] == 0.0 || on.binary_search(&coordinate(i, j)).is_ok());
                }
            }
        }
    }
}

#[test]
fn a_start_outside_the_cone_is_moved_inside() {
    let model = model(40, 5, 1);
    let on = support(5, &[(0, 1), (1, 2), (3, 4)]);
    let (best, _) = minimise(&model, &on);
    let mut x: Vec<f64> = on.iter().map(|&c| if entry(c).0 == entry(c).1 { -1.0 } else { 50.0 }).collect();
    model.repair(&on, &mut x).unwrap();
    assert!(model.value(SparseRef::new(&on, &x)).unwrap().is_finite());
    let mut wild = vec![1e6; on.len()];
    restricted::minimise(&mut *model.restrict(&on).unwrap(), &mut wild, &InnerOptions::EXACT).unwrap();
    assert!(apart(&best, &model.matrix(SparseRef::new(&on, &wild))) < 1e-5);
}
