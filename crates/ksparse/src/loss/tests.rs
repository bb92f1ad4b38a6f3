//! Contracts that every loss must meet, against numerical derivatives and suprema.
#![allow(clippy::unwrap_used)]

use super::*;
use rand::{Rng, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

fn every_loss() -> Vec<Box<dyn Loss>> {
    vec![
        Box::new(Squared::default()),
        Box::new(Squared::new(2.0).unwrap()),
        Box::new(Logistic::default()),
        Box::new(Logistic::new(2.0).unwrap()),
        Box::new(SquaredHinge),
        Box::new(Huber::default()),
        Box::new(Huber::new(1.5).unwrap()),
        Box::new(Hinge),
        Box::new(Robust::default()),
        Box::new(Robust::new(0.3).unwrap()),
        Box::new(Poisson),
        Box::new(Gamma),
    ]
}

fn targets(loss: &dyn Loss) -> Vec<f64> {
    match loss.target() {
        TargetKind::Real => vec![-1.7, 0.0, 2.3],
        TargetKind::Sign => vec![-1.0, 1.0],
        TargetKind::Count => vec![0.0, 1.0, 3.0],
        TargetKind::Positive => vec![0.2, 1.0, 4.5],
    }
}

/// Predictions away from every kink of every loss above.
fn predictions() -> impl Iterator<Item = f64> {
    (-60..=60).map(|i| i as f64 * 0.0837 + 0.00113)
}

#[test]
fn derivatives_match_finite_differences() {
    for loss in every_loss() {
        for y in targets(&*loss) {
            for z in predictions() {
                let h = 1e-5;
                let (lo, at, hi) = (loss.at(z - h, y), loss.at(z, y), loss.at(z + h, y));
                let slope = (hi.value - lo.value) / (2.0 * h);
                let bend = (hi.derivative - lo.derivative) / (2.0 * h);
                assert!((slope - at.derivative).abs() < 1e-7, "{loss:?} y={y} z={z}");
                assert!((bend - at.curvature).abs() < 1e-6, "{loss:?} y={y} z={z}");
                assert_eq!(loss.value(z, y), at.value);
                if let Some(bound) = loss.smoothness().bound() {
                    assert!(at.curvature <= bound * (1.0 + 1e-12));
                }
            }
        }
    }
}

#[test]
fn smoothness_is_attained() {
    for loss in every_loss() {
        let Smoothness::Bounded(bound) = loss.smoothness() else {
            let corners = loss.name() == "hinge";
            assert_eq!(loss.smoothness(), if corners { Smoothness::Corners } else { Smoothness::Unbounded });
            assert_eq!(loss.conjugate().strong_convexity(), 0.0);
            continue;
        };
        let y = targets(&*loss)[0];
        let top = (-2000..2000).map(|i| loss.at(i as f64 * 1e-3, y).curvature).fold(0.0, f64::max);
        assert!((top - bound).abs() < 1e-6 * bound, "{loss:?}: {top} against {bound}");
        assert!((loss.conjugate().strong_convexity() * bound - 1.0).abs() < 1e-12);
    }
}

#[test]
fn conjugates_match_numerical_suprema() {
    // sup_z (a z - l(z)) over a fine grid, for a in the interior of the domain.
    for loss in every_loss() {
        for y in targets(&*loss) {
            for step in 1..20 {
                let a = loss.at(f64::from(step) * 0.35 - 3.5, y).derivative;
                let conjugate = loss.conjugate().value(a, y);
                let sup = (-400_000..=400_000)
                    .map(|i| f64::from(i) * 1e-4)
                    .map(|z| a * z - loss.value(z, y))
                    .fold(f64::NEG_INFINITY, f64::max);
                assert!((sup - conjugate).abs() < 1e-6, "{loss:?} y={y} a={a}: {sup} against {conjugate}");
            }
        }
    }
}

#[test]
fn fenchel_young_holds_with_equality_at_the_derivative() {
    for loss in every_loss() {
        let conjugate = loss.conjugate();
        for y in targets(&*loss) {
            for z in predictions() {
                let local = loss.at(z, y);
                let tight = local.value + conjugate.value(local.derivative, y) - local.derivative * z;
                assert!(tight.abs() < 1e-9, "{loss:?} y={y} z={z}: {tight}");
                for b in predictions() {
                    let a = conjugate.project(b, y);
                    assert!(conjugate.value(a, y).is_finite(), "{loss:?}: projection of {b} leaves the domain");
                    assert_eq!(conjugate.project(a, y), a, "{loss:?}: projection moves a point of the domain");
                    assert!(local.value + conjugate.value(a, y) - a * z > -1e-9, "{loss:?} y={y} z={z} a={a}");
                }
            }
        }
    }
}

#[test]
fn conjugate_derivatives_match_finite_differences() {
    for loss in every_loss() {
        let conjugate = loss.conjugate();
        for y in targets(&*loss) {
            // Interior points of every domain: -y times something in (0, 1).
            for t in [0.1, 0.37, 0.5, 0.93] {
                let (a, h) = (-y * t, 1e-6);
                let inside = [a - h, a + h].iter().all(|&b| conjugate.project(b, y) == b);
                if a == 0.0 || !inside {
                    continue;
                }
                let slope = (conjugate.value(a + h, y) - conjugate.value(a - h, y)) / (2.0 * h);
                assert!((slope - conjugate.derivative(a, y)).abs() < 1e-5, "{loss:?} y={y} a={a}");
            }
        }
    }
}

#[test]
fn no_overflow_far_out() {
    for loss in every_loss() {
        for y in targets(&*loss) {
            for z in [-1e4, -800.0, -40.0, 40.0, 800.0, 1e4] {
                let local = loss.at(z, y);
                assert!(local.value >= 0.0 && !local.derivative.is_nan() && local.curvature >= 0.0, "{loss:?} {z}");
                // With the log link f itself is beyond all numbers there: infinite, which a line search shies from.
                let bounded = !matches!(loss.smoothness(), Smoothness::Unbounded);
                assert!(!bounded || [local.value, local.derivative, local.curvature].iter().all(|v| v.is_finite()));
            }
        }
    }
    // Both tails keep their digits.
    let logistic: &dyn Loss = &Logistic::default();
    assert_eq!(logistic.value(-700.0, 1.0), 700.0);
    assert!((logistic.value(40.0, 1.0) / (-40f64).exp() - 1.0).abs() < 1e-12);
}

#[test]
fn labels_are_checked() {
    assert!(Logistic::default().check_target(&[1.0, -1.0]).is_ok());
    let error = Logistic::default().check_target(&[1.0, 0.0]).unwrap_err();
    assert!(error.to_string().contains("row 1"), "{error}");
    assert!(Squared::default().check_target(&[0.0, f64::NAN]).is_err());
    assert!(Huber::new(0.0).is_err() && Logistic::new(f64::NAN).is_err() && Squared::new(-1.0).is_err());
}

#[test]
fn proximal_steps_of_the_logistic_loss_solve_their_equation() {
    // Newton's method alone goes round in circles on a few in ten thousand of these.
    let rng = &mut ChaCha8Rng::seed_from_u64(11);
    for _ in 0..50_000 {
        let loss = Logistic::new(*[0.5, 1.0, 2.0].choose(rng).unwrap()).unwrap();
        let (conjugate, y) = (loss.conjugate(), if rng.random() { 1.0 } else { -1.0 });
        let weight = 10f64.powf(rng.random_range(-3.0..7.0));
        let share = [rng.random_range(0.0..1.0), 10f64.powf(rng.random_range(-8.0..0.0))].choose(rng).copied().unwrap();
        let a = -y * loss.scale() * if rng.random() { share } else { 1.0 - share };
        let z = rng.random_range(-1.0..1.0) * 10f64.powf(rng.random_range(-1.0..2.0));
        let b = conjugate.proximal(a, z, weight, y);
        // b = l'(t) at t = z - weight (b - a); what is missing, in units of b.
        let at = loss.at(z - weight * (b - a), y);
        let missing = (b - at.derivative) / (1.0 + weight * at.curvature);
        assert!(missing.abs() <= 1e-13 * (1.0 + z.abs()), "a={a} z={z} weight={weight} y={y}: {b}, {missing:e}");
    }
}

#[test]
fn proximal_steps_are_the_best_of_their_neighbours() {
    for loss in every_loss() {
        let conjugate = loss.conjugate();
        for y in targets(&*loss) {
            for z in [-40.0, -3.0, -0.4, 0.0, 0.9, 1.0, 2.5, 1e4] {
                for weight in [1e-6, 1e-2, 1.0, 30.0, 1e7] {
                    for start in [-5.0, -0.7, -1e-9, 0.0, 0.3, 4.0] {
                        let a = conjugate.project(start, y);
                        let gain = |b: f64| b * z - conjugate.value(b, y) - 0.5 * weight * (b - a).powi(2);
                        let b = conjugate.proximal(a, z, weight, y);
                        let what = format!("{loss:?} y={y} z={z} weight={weight} a={a}: {b}");
                        assert!(b.is_finite() && conjugate.project(b, y) == b, "{what}");
                        let slack = 1e-12 * (1.0 + gain(b).abs());
                        for h in [1e-7, 1e-4, 0.1, 1.0] {
                            let rivals = [b + h, b - h].map(|r| conjugate.project(r, y));
                            assert!(rivals.iter().all(|&r| gain(b) >= gain(r) - slack), "{what}");
                        }
                    }
                    // With hardly any weight the step goes all the way.
                    if !loss.smoothness().has_corners() && z.abs() < 100.0 {
                        let all_the_way = loss.at(z, y).derivative;
                        // (Of a slope of e^40 even that weight is felt.)
                        if all_the_way.abs() > 1e3 {
                            continue;
                        }
                        let b = conjugate.proximal(conjugate.project(0.0, y), z, 1e-12, y);
                        assert!((b - all_the_way).abs() <= 1e-9 * (1.0 + all_the_way.abs()), "{loss:?} {z}");
                    }
                }
            }
        }
    }
}
