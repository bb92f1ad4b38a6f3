//! The softmax of many rows at once, by the exponential of the logistic loss.

use super::arch;
use super::logistic::exp_of_negative;
use pulp::{Simd, WithSimd};

/// Entries side by side.
const WIDTH: usize = 8;

struct Softmax<'a, 'b> {
    rows: &'a mut [f64],
    logs: &'b mut [f64],
}

impl WithSimd for Softmax<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let width = self.rows.len() / self.logs.len().max(1);
        for (row, log) in self.rows.chunks_exact_mut(width.max(1)).zip(&mut *self.logs) {
            let mut top = f64::NEG_INFINITY;
            for z in &*row {
                top = if *z > top || z.is_nan() { *z } else { top };
            }
            row.iter_mut().for_each(|z| *z = top - *z);
            *log = top;
        }
        // All rows in one go: few classes would leave most places beside each other empty.
        let (groups, tail) = self.rows.as_chunks_mut::<WIDTH>();
        for group in groups {
            for z in group {
                *z = exp_of_negative(*z);
            }
        }
        tail.iter_mut().for_each(|z| *z = exp_of_negative(*z));
        for (row, log) in self.rows.chunks_exact_mut(width.max(1)).zip(self.logs) {
            let (groups, tail) = row.as_chunks_mut::<WIDTH>();
            let mut sums = [0.0; WIDTH];
            for group in groups {
                for l in 0..WIDTH {
                    sums[l] += group[l];
                }
            }
            for (sum, e) in sums.iter_mut().zip(tail) {
                *sum += *e;
            }
            let pairs = [sums[0] + sums[4], sums[1] + sums[5], sums[2] + sums[6], sums[3] + sums[7]];
            let sum = (pairs[0] + pairs[2]) + (pairs[1] + pairs[3]);
            for p in row {
                *p /= sum;
            }
            *log += sum.ln();
        }
    }
}

/// Turns rows of predictions into probabilities; `logs` are the logarithms of the sums of exponentials, and as many as
/// there are rows. Exponentials are relative to the largest of the row: none overflows.
pub(crate) fn softmax(rows: &mut [f64], logs: &mut [f64]) {
    arch().dispatch(Softmax { rows, logs })
}

struct Bend<'a, 'b> {
    p: &'a [f64],
    v: &'a [f64],
    shares: &'a [f64],
    out: &'b mut [f64],
}

impl WithSimd for Bend<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let width = self.p.len() / self.shares.len().max(1);
        for (i, share) in self.shares.iter().enumerate() {
            let row = i * width..(i + 1) * width;
            let (p, v, out) = (&self.p[row.clone()], &self.v[row.clone()], &mut self.out[row]);
            let (p_groups, p_tail) = p.as_chunks::<WIDTH>();
            let (v_groups, v_tail) = v.as_chunks::<WIDTH>();
            let mut sums = [0.0; WIDTH];
            for (p, v) in p_groups.iter().zip(v_groups) {
                for l in 0..WIDTH {
                    sums[l] += p[l] * v[l];
                }
            }
            let pairs = [sums[0] + sums[4], sums[1] + sums[5], sums[2] + sums[6], sums[3] + sums[7]];
            let mut mean = (pairs[0] + pairs[2]) + (pairs[1] + pairs[3]);
            for (p, v) in p_tail.iter().zip(v_tail) {
                mean += p * v;
            }
            for ((out, p), v) in out.iter_mut().zip(p).zip(v) {
                *out = share * p * (v - mean);
            }
        }
    }
}

/// `out_i = shares_i (diag(p_i) - p_i p_i') v_i` for rows of probabilities: a product with the Hessian.
pub(crate) fn bend(p: &[f64], v: &[f64], shares: &[f64], out: &mut [f64]) {
    arch().dispatch(Bend { p, v, shares, out })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of every length around the groups of eight, beside the formula.
    #[test]
    fn probabilities_and_logarithms_are_those_of_the_formula() {
        for width in 1..20 {
            let z: Vec<f64> = (0..3 * width).map(|e| ((e * 7919) % 23) as f64 * 0.9 - 8.0).collect();
            let (mut rows, mut logs) = (z.clone(), [0.0; 3]);
            softmax(&mut rows, &mut logs);
            for ((row, z), log) in rows.chunks(width).zip(z.chunks(width)).zip(logs) {
                let sum: f64 = z.iter().map(|z| z.exp()).sum();
                assert!((log - sum.ln()).abs() <= 1e-14 * log.abs().max(1.0), "{width}");
                row.iter().zip(z).for_each(|(p, z)| assert!((p - z.exp() / sum).abs() <= 1e-15, "{width}"));
            }
        }
        for width in 1..20 {
            let numbers =
                |step: usize| -> Vec<f64> { (0..2 * width).map(|e| ((e * step) % 13) as f64 / 13.0).collect() };
            let (p, v, shares, mut out) = (numbers(5), numbers(7), [0.3, 0.7], vec![f64::NAN; 2 * width]);
            bend(&p, &v, &shares, &mut out);
            for (e, out) in out.iter().enumerate() {
                let row = e / width * width..(e / width + 1) * width;
                let mean: f64 = row.map(|e| p[e] * v[e]).sum();
                assert!((out - shares[e / width] * p[e] * (v[e] - mean)).abs() <= 1e-14, "{width}");
            }
        }
        let (mut far, mut log) = ([5000.0, 0.0, -5000.0], [0.0]);
        softmax(&mut far, &mut log);
        assert_eq!((far, log), ([1.0, 0.0, 0.0], [5000.0]));
        let (mut unknown, mut log) = ([f64::NAN, 0.0], [0.0]);
        softmax(&mut unknown, &mut log);
        assert!(log[0].is_nan());
    }
}
