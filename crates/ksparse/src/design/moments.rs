//! Means and deviations that an offset does not spoil.
//!
//! `E[x^2] - m^2` loses twice the digits that x and its mean have in common. Here every deviation is taken from the
//! numbers themselves: a pass for the mean, a pass for the squares about it, and for numbers far from 0 (beside their
//! spread) both after subtracting one of them.

use super::Design;

/// Weighted mean, as an anchor and what is added to it, and standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moments {
    /// A number among those summed, or next to it.
    pub anchor: f64,
    /// The mean less the anchor.
    pub rest: f64,
    /// The population standard deviation; exactly 0 for numbers that are all the same.
    pub deviation: f64,
}

/// A mean is far from 0 when it is at least so many standard deviations away: up to here sums of products lose no more
/// than three digits.
const FAR: f64 = 30.0;

impl Moments {
    /// Of numbers that have a positive weight. Deviations are divided by the largest of them, so that no square
    /// overflows or vanishes.
    pub fn of(values: &[f64], weights: &[f64]) -> Self {
        let counted = || values.iter().zip(weights).filter(|(_, w)| **w > 0.0);
        let anchor = counted().next().map_or(0.0, |(x, _)| *x);
        let total: f64 = counted().map(|(_, w)| w).sum();
        let size = counted().fold(0.0f64, |size, (x, _)| size.max((x - anchor).abs()));
        if size == 0.0 || !size.is_finite() {
            return Self { anchor, rest: 0.0, deviation: size };
        }
        let mean = |f: &dyn Fn(f64) -> f64| counted().map(|(x, w)| w * f((x - anchor) / size)).sum::<f64>() / total;
        let first = mean(&|d| d);
        // What rounding has left of the mean is known too.
        let left = mean(&|d| d - first);
        let square = mean(&|d| (d - first) * (d - first)) - left * left;
        Self { anchor, rest: size * (first + left), deviation: size * square.max(0.0).sqrt() }
    }

    /// Whether sums over these numbers would drown in their offset.
    pub fn is_far(&self) -> bool {
        (self.anchor + self.rest).abs() >= FAR * self.deviation && self.anchor != 0.0
    }

    /// A number near the mean with so few digits that numbers about it lose none when it is subtracted: a multiple of
    /// the power of two below the deviation. A constant is its own.
    pub fn shift(&self) -> f64 {
        let unit = self.deviation.log2().floor().exp2();
        let shift = ((self.anchor + self.rest) / unit).round() * unit;
        if shift.is_finite() { shift } else { self.anchor }
    }
}

/// The weighted means of the columns of a design and the squares of their deviations, two passes. The weights sum to 1.
pub(crate) fn column_moments(design: &dyn Design, weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut means, mut squares) = (vec![0.0; design.ncols()], vec![0.0; design.ncols()]);
    design.tmul(weights, &mut means);
    design.deviations(weights, &means, &mut squares);
    (means, squares)
}

/// Whether a column may be far from 0, from its mean and the mean square about it as two passes give them. Where they
/// overflow, it may.
pub(crate) fn may_be_far(mean: f64, square: f64) -> bool {
    mean != 0.0 && (square.sqrt() <= mean.abs() / FAR || !square.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_changes_the_mean_alone() {
        let weights = [0.1, 0.4, 0.0, 0.3, 0.2];
        let near = [1.0, -2.5, 1e9, 0.25, 3.0];
        let at_zero = Moments::of(&near, &weights);
        for offset in [1.0, 1e4, -1e8, 1e12, 2f64.powi(48)] {
            let values: Vec<f64> = near.iter().map(|x| x + offset).collect();
            let moved = Moments::of(&values, &weights);
            assert_eq!(moved.deviation, at_zero.deviation, "{offset}");
            assert_eq!((moved.anchor - offset, moved.rest), (at_zero.anchor, at_zero.rest));
            assert_eq!(moved.is_far(), offset != 1.0);
            // The shift is subtracted without an error.
            let shift = moved.shift();
            assert!(values.iter().zip(near).all(|(v, n)| v - shift == n - (shift - offset)), "{offset}");
        }
        assert!(!at_zero.is_far());
    }

    #[test]
    fn constants_and_extremes() {
        let weights = [0.25; 4];
        let constant = Moments::of(&[0.1; 4], &weights);
        assert_eq!((constant.deviation, constant.shift()), (0.0, 0.1));
        assert!(constant.is_far() && !Moments::of(&[0.0; 4], &weights).is_far());
        for unit in [1e-200, 1e-100, 1e100, 1e200] {
            let large = Moments::of(&[unit, 2.0 * unit, 3.0 * unit, 4.0 * unit], &weights);
            assert!((large.deviation / unit - 1.25f64.sqrt()).abs() < 1e-14);
            assert!(!large.is_far());
        }
    }
}
