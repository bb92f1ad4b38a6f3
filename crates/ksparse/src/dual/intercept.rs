//! Two problems in one unknown that an unpenalised intercept brings: the best shift of the predictions, and the nearest
//! dual vector whose weighted sum is 0. Both are roots of a monotone function.

use crate::loss::{Conjugate, Loss, weighed};

/// argmin over b of `sum_i c_i l(z_i + b, y_i)`: Newton's method, kept inside a bracket of the root of the derivative.
/// Where the infimum is not attained (one class alone) a b beyond which nothing changes.
pub(crate) fn best_shift(loss: &dyn Loss, z: &[f64], y: &[f64], c: &[f64]) -> f64 {
    let slope = |b: f64| {
        let (mut first, mut second) = (0.0, 0.0);
        for i in 0..z.len() {
            let local = loss.at(z[i] + b, y[i]);
            first += weighed(c[i], local.derivative);
            second += weighed(c[i], local.curvature);
        }
        (first, second)
    };
    root(slope)
}

/// Moves a to the point nearest in `sum_i c_i (a_i - t_i)^2` that lies in the domain and has `sum_i c_i a_i = 0`: all
/// are shifted alike, then brought back into the domain. What rounding leaves of the sum is taken from the heavier side
/// in proportion, which stays inside: every domain holds 0.
pub(super) fn project_balanced(conjugate: &dyn Conjugate, y: &[f64], c: &[f64], a: &mut [f64]) {
    let sum = |shift: f64| -> f64 { (0..y.len()).map(|i| c[i] * conjugate.project(a[i] + shift, y[i])).sum() };
    let shift = root(|b| (sum(b), 0.0));
    a.iter_mut().zip(y).for_each(|(a, &y)| *a = conjugate.project(*a + shift, y));
    let heavier = |a: &[f64], sign: f64| -> f64 { a.iter().zip(c).map(|(a, c)| c * (sign * a).max(0.0)).sum() };
    let (up, down) = (heavier(a, 1.0), heavier(a, -1.0));
    let (sign, factor) = if up > down { (1.0, down / up) } else { (-1.0, if down > 0.0 { up / down } else { 1.0 }) };
    a.iter_mut().zip(y).filter(|(a, _)| sign * **a > 0.0).for_each(|(a, &y)| *a = conjugate.project(*a * factor, y));
}

/// Where a search for a root ends: targets may have any unit.
pub(crate) const FARTHEST: f64 = 1e300;

/// A root of a non-decreasing function given with its derivative (0 where unknown): Newton steps that leave the
/// bracket, or shrink it too slowly, become bisections. Where there is none, the far end of the search.
fn root(f: impl Fn(f64) -> (f64, f64)) -> f64 {
    let (mut at, mut value) = (0.0, f(0.0));
    if value.0 == 0.0 {
        return at;
    }
    // The root lies on this side of 0; `far` is doubled until it is passed.
    let side = -value.0.signum();
    let (mut near, mut far) = (0.0, side);
    while f(far).0 * side < 0.0 {
        if far.abs() > FARTHEST {
            return far;
        }
        near = far;
        far *= 4.0;
    }
    for _ in 0..200 {
        let newton = at - value.0 / value.1;
        let inside = newton > near.min(far) && newton < near.max(far);
        let next = if value.1 > 0.0 && inside { newton } else { 0.5 * (near + far) };
        if next == at || next == near || next == far {
            return next;
        }
        let before = value.0.abs();
        (at, value) = (next, f(next));
        if value.0 == 0.0 {
            return at;
        }
        if value.0 * side < 0.0 {
            near = at
        } else {
            far = at
        }
        // A Newton step that does not halve the residue is followed by a bisection.
        if value.0.abs() > 0.5 * before {
            value.1 = 0.0;
        }
    }
    at
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::loss::{Hinge, Logistic, Squared, SquaredHinge, by_name};

    const NAMES: [&str; 5] = ["squared", "logistic", "squared-hinge", "huber", "hinge"];

    #[test]
    fn the_best_shift_is_no_worse_than_its_neighbours() {
        let z = [0.3, -2.0, 1.7, 0.0, 25.0];
        let y = [1.0, -1.0, -1.0, 1.0, 1.0];
        let c = [0.1, 0.3, 0.2, 0.15, 0.25];
        for name in NAMES {
            let loss = by_name(name).unwrap();
            let at = |b: f64| (0..5).map(|i| c[i] * loss.value(z[i] + b, y[i])).sum::<f64>();
            let b = best_shift(&*loss, &z, &y, &c);
            for h in [1e-3, 0.1, 3.0] {
                assert!(at(b) <= at(b + h) + 1e-12 && at(b) <= at(b - h) + 1e-12, "{name}: {b}");
            }
        }
    }

    #[test]
    fn one_class_alone_is_no_trouble() {
        let (z, y, c) = ([0.0, 0.5], [1.0, 1.0], [0.5, 0.5]);
        for loss in [&Logistic::default() as &dyn Loss, &SquaredHinge, &Hinge] {
            let b = best_shift(loss, &z, &y, &c);
            assert!(b.is_finite() && loss.value(b, 1.0) < 1e-8, "{loss:?}: {b}");
        }
        let mut a = [-0.5, -0.9];
        project_balanced(&Hinge, &y, &c, &mut a);
        assert_eq!(a, [0.0, 0.0]);
    }

    #[test]
    fn projections_are_balanced_and_nearest() {
        let y = [1.0, -1.0, -1.0, 1.0, 1.0];
        let c = [0.1, 0.3, 0.2, 0.15, 0.25];
        let t = [-3.0, 0.4, 0.9, -0.2, 0.7];
        for name in NAMES {
            let loss = by_name(name).unwrap();
            let conjugate = loss.conjugate();
            let mut a = t;
            project_balanced(conjugate, &y, &c, &mut a);
            let sum = |a: &[f64]| a.iter().zip(c).map(|(a, c)| c * a).sum::<f64>();
            assert!(sum(&a).abs() < 1e-15, "{name}: {}", sum(&a));
            assert!((0..5).all(|i| conjugate.value(a[i], y[i]).is_finite()), "{name}: {a:?}");
            // No feasible move along a pair brings it nearer.
            let distance = |a: &[f64]| (0..5).map(|i| c[i] * (a[i] - t[i]).powi(2)).sum::<f64>();
            for i in 0..5 {
                for j in (0..5).filter(|&j| j != i) {
                    let mut b = a;
                    b[i] += 1e-4 / c[i];
                    b[j] -= 1e-4 / c[j];
                    let feasible = [i, j].iter().all(|&l| conjugate.project(b[l], y[l]) == b[l]);
                    assert!(!feasible || distance(&b) >= distance(&a), "{name}: {i} {j}");
                }
            }
        }
        let mut a = [1.0, 2.0];
        project_balanced(&Squared::default(), &[0.0, 0.0], &[0.5, 0.5], &mut a);
        assert_eq!(a, [-0.5, 0.5]);
    }
}
