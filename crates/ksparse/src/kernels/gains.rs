//! Which exchange gains most: the inner loop of every search for a pair.

use super::{Entry, arch};
use pulp::{Simd, WithSimd};

/// Curves `(v r + g)^2 / (e + v^2 d) - c` with one r, d and c per place: what an exchange gains, v, g and e belonging
/// to the newcomer.
#[derive(Default)]
pub(crate) struct Gains {
    pub r: Vec<f64>,
    pub d: Vec<f64>,
    c: Vec<f64>,
}

impl Gains {
    /// One more place.
    pub fn push(&mut self, r: f64, d: f64, c: f64) {
        self.r.push(r);
        self.d.push(d);
        self.c.push(c);
    }

    /// A place that gains nothing for anybody.
    pub fn close(&mut self, place: usize) {
        self.c[place] = f64::INFINITY;
    }
}

operation!(Highest<'a> { v: &'a [T], gains: &'a Gains, g: f64, e: f64, least: f64 } -> Option<(f64, usize)>, |_simd| {
    const WIDTH: usize = 16;
    let n = v.len();
    let (r, d, c) = (&gains.r[..n], &gains.d[..n], &gains.c[..n]);
    // Without the division, which only a new leader needs.
    let parts = |v: f64, r: f64, d: f64| {
        let top = v * r + g;
        (top * top, e + v * v * d)
    };
    let (mut best, mut place) = (least, None);
    for start in (0..n).step_by(WIDTH) {
        let end = (start + WIDTH).min(n);
        let mut higher = false;
        for t in start..end {
            let (top, bottom) = parts(v[t].widen(), r[t], d[t]);
            higher |= top > (best + c[t]) * bottom;
        }
        if higher {
            for t in start..end {
                let (top, bottom) = parts(v[t].widen(), r[t], d[t]);
                if top > (best + c[t]) * bottom {
                    (best, place) = (top / bottom - c[t], Some(t));
                }
            }
        }
    }
    place.map(|place| (best, place))
});

/// The highest of the gains for a newcomer and its place, the first of equals, if above `least`.
pub(crate) fn highest<T: Entry>(v: &[T], gains: &Gains, g: f64, e: f64, least: f64) -> Option<(f64, usize)> {
    arch().dispatch(Highest { v, gains, g, e, least })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the formula, place by place: every length around the width of a chunk, ties, closed places, no winner.
    #[test]
    fn the_highest_gain_is_the_first_of_the_highest() {
        for n in 0..70 {
            // Repeats every 20 places: ties.
            let noise = |i: usize, salt: usize| (((i % 20) * 7919 + salt * 104_729) % 1009) as f64 / 1009.0 - 0.5;
            let v: Vec<f64> = (0..n).map(|i| noise(i, 1)).collect();
            let mut gains = Gains::default();
            (0..n).for_each(|i| gains.push(noise(i, 2), 1.0 + noise(i, 3), 0.1 * (noise(i, 4) + 0.5)));
            (0..n).filter(|i| i % 7 == 3).for_each(|i| gains.close(i));
            for (g, e) in [(0.3, 0.5), (-0.8, 0.1), (0.01, 2.0)] {
                let gain = |i: usize| (v[i] * gains.r[i] + g).powi(2) / (e + v[i] * v[i] * gains.d[i]) - gains.c[i];
                let best = (0..n).map(gain).fold(f64::NEG_INFINITY, f64::max);
                for least in [-1.0, 0.05, 10.0] {
                    let found = highest(&v, &gains, g, e, least);
                    let expected = (0..n).find(|&i| best > least && gain(i) == best);
                    assert_eq!(found.map(|f| f.1), expected, "{n} places, at least {least}");
                    assert!(found.is_none_or(|f| f.0 == best));
                }
            }
        }
    }
}
