//! The losses of all samples: added up in blocks that do not depend on the threads, and who of them counts.

use super::Risk;
use crate::threads::worth_splitting;
use rayon::prelude::*;

impl Risk<'_> {
    /// The mean loss at predictions z; weighted derivatives and curvatures of the losses are written.
    pub(super) fn evaluate(&self, z: &[f64], derivatives: &mut [f64], curvatures: &mut [f64]) -> f64 {
        let parts = derivatives.chunks_mut(SAMPLES).zip(curvatures.chunks_mut(SAMPLES)).enumerate();
        let part = |(b, (first, second)): (usize, (&mut [f64], &mut [f64]))| {
            let rows = b * SAMPLES..b * SAMPLES + first.len();
            let (y, weights) = (&self.target()[rows.clone()], &self.weights[rows.clone()]);
            self.loss.evaluate(&z[rows], y, weights, first, second)
        };
        add_up(z.len(), parts, part)
    }

    /// The mean loss at predictions z, in the same bits.
    pub(super) fn mean_loss(&self, z: &[f64]) -> f64 {
        let parts = z.chunks(SAMPLES).zip(self.target().chunks(SAMPLES)).zip(self.weights.chunks(SAMPLES));
        add_up(z.len(), parts, |((z, y), weights)| self.loss.total(z, y, weights))
    }
}

/// Samples whose losses are added up in one go.
const SAMPLES: usize = 8192;

/// Samples whose curvatures are counted in one go: each such part has its own 2048 sums.
const COUNTED: usize = 65_536;

/// The sum of what `part` gives for the parts of n samples, side by side where it pays, in the order of the parts.
fn add_up<P: Send>(n: usize, parts: impl Iterator<Item = P>, part: impl Fn(P) -> f64 + Sync) -> f64 {
    // A loss costs some twenty multiply-adds.
    if worth_splitting(20 * n) && n > SAMPLES {
        let sums: Vec<f64> = parts.collect::<Vec<_>>().into_par_iter().map(&part).collect();
        sums.into_iter().sum()
    } else {
        parts.map(part).sum()
    }
}

/// Sets to 0 the curvatures that are negligible beside the largest: a matrix of second derivatives made without them is
/// right to four digits, and designs skip rows of weight 0. (Matrices guide the search; values and gradients are never
/// approximated.)
pub(super) fn forget_flat(curvatures: &mut [f64]) {
    let negligible = 1e-5 * curvatures.iter().fold(0.0, |m: f64, &c| m.max(c));
    curvatures.iter_mut().for_each(|c| *c = if *c < negligible { 0.0 } else { *c });
}

/// Sets to 0 the smallest curvatures, as many as together make up at most `share` of all: on well separated classes
/// most samples say next to nothing about second derivatives.
pub(super) fn forget_least(curvatures: &mut [f64], share: f64) {
    // Sums by powers of two: the exponents of the numbers, of which a float has 2048.
    let power = |c: f64| (c.to_bits() >> 52) as usize & 2047;
    let count = |part: &[f64]| {
        let mut sums = vec![0.0; 2048];
        part.iter().for_each(|&c| sums[power(c)] += c);
        sums
    };
    let together = |mut all: Vec<f64>, part: Vec<f64>| {
        all.iter_mut().zip(part).for_each(|(all, part)| *all += part);
        all
    };
    let many = worth_splitting(curvatures.len());
    let sums = if many {
        let parts: Vec<Vec<f64>> = curvatures.par_chunks(COUNTED).map(count).collect();
        parts.into_iter().reduce(together)
    } else {
        curvatures.chunks(COUNTED).map(count).reduce(together)
    };
    let sums = sums.unwrap_or_default();
    let mut left = share * sums.iter().sum::<f64>();
    let least = sums.iter().position(|sum| {
        left -= sum;
        left < 0.0
    });
    let least = least.unwrap_or(0);
    let forget = |c: &mut f64| *c = if power(*c) < least { 0.0 } else { *c };
    if many {
        curvatures.par_iter_mut().with_min_len(SAMPLES).for_each(forget);
    } else {
        curvatures.iter_mut().for_each(forget);
    }
}

#[cfg(test)]
mod tests {
    use super::forget_least;

    /// No more than the share goes, the smallest first; nothing of zeros and of equals.
    #[test]
    fn the_least_curvatures_are_forgotten() {
        let all: Vec<f64> = (0..1000).map(|i| 0.97f64.powi(i)).collect();
        for share in [0.0, 1e-6, 1e-3, 0.1] {
            let mut kept = all.clone();
            forget_least(&mut kept, share);
            let count = kept.iter().filter(|c| **c > 0.0).count();
            assert!(kept[..count] == all[..count], "{share}: the largest stay");
            let (gone, total): (f64, f64) = (all[count..].iter().sum(), all.iter().sum());
            assert!(gone <= share * total, "{share}: {gone}");
            // A whole power of two at a time.
            assert!(share == 0.0 || gone >= 0.2 * share * total, "{share}: {gone}");
        }
        let mut equal = vec![0.25; 10];
        forget_least(&mut equal, 0.5);
        assert_eq!(equal, [0.25; 10]);
        let mut nothing = vec![0.0; 3];
        forget_least(&mut nothing, 0.5);
        assert_eq!(nothing, [0.0; 3]);
    }
}
