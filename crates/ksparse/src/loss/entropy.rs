//! `u log u - u`: what the conjugates of the log link are made of.

/// `u log u - u`, 0 at 0.
pub(super) fn entropy(u: f64) -> f64 {
    at_zero(u, 0.0, |u| u * u.ln() - u)
}

/// `f(u)` for u > 0 and its limit for the rest.
pub(super) fn at_zero(u: f64, limit: f64, f: impl Fn(f64) -> f64) -> f64 {
    if u > 0.0 { f(u) } else { limit }
}

/// argmax over u >= 0 of `u z - (u log u - u) - (weight/2) (u - from)^2`, the root of `z - log u - weight (u - from)`.
///
/// In t = log u this is `weight exp(t) + t = z + weight from`, increasing and convex in t: from above the root Newton's
/// method falls to it without a step too far.
pub(super) fn proximal(from: f64, z: f64, weight: f64) -> f64 {
    let goal = z + weight * from;
    // Above the root: there `t <= goal`, and `weight exp(t) <= goal - t <= goal + |t|`.
    let mut t = goal;
    if goal > 0.0 {
        t = t.min((goal / weight).ln().max(0.0) + 1.0);
    }
    for _ in 0..100 {
        let rise = weight * t.exp();
        let next = t - (rise + t - goal) / (1.0 + rise);
        if next >= t || next.is_nan() {
            break;
        }
        t = next;
    }
    t.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proximal_point_is_a_root() {
        for from in [0.0, 1e-3, 1.0, 40.0, 1e6] {
            for z in [-800.0, -3.0, 0.0, 2.0, 50.0, 700.0] {
                for weight in [1e-8, 0.1, 1.0, 30.0, 1e8] {
                    let u = proximal(from, z, weight);
                    assert!(u >= 0.0 && u.is_finite(), "{from} {z} {weight}: {u}");
                    // Where u underflows, so does all that depends on it.
                    if u > 1e-300 {
                        let (pull, back) = (z - u.ln(), weight * (u - from));
                        let size = z.abs() + u.ln().abs() + weight * (u + from);
                        assert!((pull - back).abs() <= 1e-12 * size + 1e-15, "{from} {z} {weight}: {u}");
                    }
                }
            }
        }
    }
}
