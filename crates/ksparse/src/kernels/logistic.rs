//! The logistic loss of many samples at once.
//!
//! An exponential and a logarithm per sample are a good part of a fit where columns are few or sparse. Both are
//! polynomials here, without branches, which the compiler turns into vector instructions: five times as fast as one
//! call of the system's library after another, and right to the last digit or two. Multiplications and additions are
//! never fused, so that every machine gets the same bits.

use super::arch;
use pulp::{Simd, WithSimd};

/// Samples side by side.
const WIDTH: usize = 8;

/// `e^-a` for a >= 0: 2^n e^r with |r| at most half of log 2, and e^r by its series. 0 where it would be denormal.
#[inline(always)]
pub(crate) fn exp_of_negative(a: f64) -> f64 {
    // log 2 in two parts: the first has zeros at its end, so that n times it is exact.
    const LN2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
    const LN2_LOW: f64 = f64::from_bits(0x3DEA_39EF_3579_3C76);
    // Added to a number, it leaves the nearest integer in the last bits.
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52
    const SERIES: [f64; 12] = [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
    ];
    let rounded = -a * std::f64::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = (-a - n * LN2_HIGH) - n * LN2_LOW;
    let mut sum = SERIES[0];
    for c in &SERIES[1..] {
        sum = sum * r + c;
    }
    let power = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
    let value = (1.0 + (r + r * r * sum)) * power;
    if a > 708.0 { 0.0 } else { value }
}

/// `log(1 + e)` for e in [0, 1], by the series of the area tangent.
#[inline(always)]
fn log_one_plus(e: f64) -> f64 {
    const SERIES: [f64; 11] = [
        1.0 / 23.0,
        1.0 / 21.0,
        1.0 / 19.0,
        1.0 / 17.0,
        1.0 / 15.0,
        1.0 / 13.0,
        1.0 / 11.0,
        1.0 / 9.0,
        1.0 / 7.0,
        1.0 / 5.0,
        1.0 / 3.0,
    ];
    // From sqrt 2 on, log 2 and the logarithm of a half of it: s then stays below 0.172.
    let large = e > std::f64::consts::SQRT_2 - 1.0;
    let (base, above, below) = if large { (std::f64::consts::LN_2, e - 1.0, e + 3.0) } else { (0.0, e, e + 2.0) };
    let s = above / below;
    let square = s * s;
    let mut sum = SERIES[0];
    for c in &SERIES[1..] {
        sum = sum * square + c;
    }
    base + 2.0 * (s + s * square * sum)
}

/// Value, derivative and curvature of `log(1 + exp(-t))`.
#[inline(always)]
pub(crate) fn logistic(t: f64) -> [f64; 3] {
    // exp of a negative number only: it cannot overflow, and both tails keep their digits.
    let e = exp_of_negative(t.abs());
    let share = 1.0 / (1.0 + e);
    let rest = e * share;
    [log_one_plus(e) - t.min(0.0), if t >= 0.0 { -rest } else { -share }, rest * share]
}

/// What is known of the samples: scale, predictions, labels, weights.
#[derive(Clone, Copy)]
pub(crate) struct Samples<'a> {
    pub scale: f64,
    pub z: &'a [f64],
    pub y: &'a [f64],
    pub weights: &'a [f64],
}

struct Evaluate<'a, 'b, const ALL: bool> {
    samples: Samples<'a>,
    first: &'b mut [f64],
    second: &'b mut [f64],
}

impl<const ALL: bool> WithSimd for Evaluate<'_, '_, ALL> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> f64 {
        let Self { samples: Samples { scale, z, y, weights }, first, second } = self;
        let mut sums = [0.0; WIDTH];
        let (z_groups, z_tail) = z.as_chunks::<WIDTH>();
        let (y_groups, y_tail) = y.as_chunks::<WIDTH>();
        let (w_groups, w_tail) = weights.as_chunks::<WIDTH>();
        let (first_groups, first_tail) = first.as_chunks_mut::<WIDTH>();
        let (second_groups, second_tail) = second.as_chunks_mut::<WIDTH>();
        for (g, ((z, y), w)) in z_groups.iter().zip(y_groups).zip(w_groups).enumerate() {
            let (mut d, mut h) = ([0.0; WIDTH], [0.0; WIDTH]);
            for l in 0..WIDTH {
                let [value, derivative, curvature] = logistic(scale * y[l] * z[l]);
                sums[l] += w[l] * value;
                d[l] = w[l] * (scale * y[l] * derivative);
                h[l] = w[l] * (scale * scale * curvature);
            }
            if ALL {
                (first_groups[g], second_groups[g]) = (d, h);
            }
        }
        let mut tail = 0.0;
        for (l, ((z, y), w)) in z_tail.iter().zip(y_tail).zip(w_tail).enumerate() {
            let [value, derivative, curvature] = logistic(scale * y * z);
            tail += w * value;
            if ALL {
                (first_tail[l], second_tail[l]) = (w * (scale * y * derivative), w * (scale * scale * curvature));
            }
        }
        let pairs = [sums[0] + sums[4], sums[1] + sums[5], sums[2] + sums[6], sums[3] + sums[7]];
        ((pairs[0] + pairs[2]) + (pairs[1] + pairs[3])) + tail
    }
}

/// The weighted sum of the losses; their weighted derivatives and curvatures go to `first` and `second`.
pub(crate) fn evaluate(samples: Samples<'_>, first: &mut [f64], second: &mut [f64]) -> f64 {
    arch().dispatch(Evaluate::<true> { samples, first, second })
}

/// The weighted sum of the losses alone, in the same bits.
pub(crate) fn total(samples: Samples<'_>) -> f64 {
    arch().dispatch(Evaluate::<false> { samples, first: &mut [], second: &mut [] })
}

struct Each<'a, 'b> {
    curvatures: &'b mut [f64],
    slopes: &'b mut [f64],
    weights: &'a [f64],
}

impl WithSimd for Each<'_, '_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> f64 {
        let (t_groups, t_tail) = self.curvatures.as_chunks_mut::<WIDTH>();
        let (s_groups, s_tail) = self.slopes.as_chunks_mut::<WIDTH>();
        let (w_groups, w_tail) = self.weights.as_chunks::<WIDTH>();
        let mut sums = [0.0; WIDTH];
        for ((t, s), w) in t_groups.iter_mut().zip(s_groups).zip(w_groups) {
            for l in 0..WIDTH {
                let [value, slope, bend] = logistic(t[l]);
                // What has no weight says nothing, though its loss be infinite.
                sums[l] += if w[l] > 0.0 { w[l] * value } else { 0.0 };
                (t[l], s[l]) = (w[l] * bend, w[l] * slope);
            }
        }
        let mut tail = 0.0;
        for ((t, s), w) in t_tail.iter_mut().zip(s_tail).zip(w_tail) {
            let [value, slope, bend] = logistic(*t);
            tail += if *w > 0.0 { w * value } else { 0.0 };
            (*t, *s) = (w * bend, w * slope);
        }
        let pairs = [sums[0] + sums[4], sums[1] + sums[5], sums[2] + sums[6], sums[3] + sums[7]];
        ((pairs[0] + pairs[2]) + (pairs[1] + pairs[3])) + tail
    }
}

/// The weighted sum of `log(1 + exp(-t))`; the weighted derivatives go to `slopes`, the curvatures to the place of t.
pub(crate) fn logistics(t: &mut [f64], slopes: &mut [f64], weights: &[f64]) -> f64 {
    arch().dispatch(Each { curvatures: t, slopes, weights })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beside the system's library, over the whole range and at its ends.
    #[test]
    fn exponential_and_logarithm_are_right_to_two_units() {
        let near = |ours: f64, theirs: f64| (ours - theirs).abs() <= 3.0 * f64::EPSILON * theirs.abs();
        for i in 0..200_000 {
            let a = 708.0 * (i as f64 / 2e5).powi(4);
            assert!(near(exp_of_negative(a), (-a).exp()), "exp(-{a:e})");
            let e = (-a).exp().min(1.0);
            assert!(near(log_one_plus(e), e.ln_1p()), "log(1 + {e:e})");
        }
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert_eq!(exp_of_negative(800.0), 0.0);
        assert_eq!(exp_of_negative(f64::INFINITY), 0.0);
        assert_eq!(log_one_plus(0.0), 0.0);
        assert!(logistic(f64::NAN).iter().any(|v| v.is_nan()));
        assert_eq!(logistic(f64::NEG_INFINITY)[0], f64::INFINITY);
    }

    /// Groups and tails of every length: the sum is that of the samples, and both functions agree in every bit.
    #[test]
    fn many_samples_are_the_sum_of_each() {
        for n in 0..40 {
            let z: Vec<f64> = (0..n).map(|i| (i as f64 - 17.0) * 0.7).collect();
            let y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
            let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 5) as f64).collect();
            let samples = Samples { scale: 2.0, z: &z, y: &y, weights: &weights };
            let (mut first, mut second) = (vec![0.0; n], vec![0.0; n]);
            let sum = evaluate(samples, &mut first, &mut second);
            assert_eq!(sum, total(samples));
            let each = |i: usize| logistic(2.0 * y[i] * z[i]);
            let plain: f64 = (0..n).map(|i| weights[i] * each(i)[0]).sum();
            assert!((sum - plain).abs() <= 1e-14 * plain);
            for i in 0..n {
                assert_eq!(first[i], weights[i] * (2.0 * y[i] * each(i)[1]));
                assert_eq!(second[i], weights[i] * (4.0 * each(i)[2]));
            }
        }
    }
}
