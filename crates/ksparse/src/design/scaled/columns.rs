//! Columns of a support, centred and scaled.

use crate::design::{Columns, Costs, add_to_rows, totals};
use crate::linalg::MatrixMut;

/// `(X - 1 m')' R / s` from `X' R` (in `out`, by rows) and the sums of R.
pub(super) fn correct_products(centre: &[f64], scale: &[f64], totals: &[f64], out: &mut [f64]) {
    for ((row, m), s) in out.chunks_exact_mut(totals.len()).zip(centre).zip(scale) {
        row.iter_mut().zip(totals).for_each(|(o, total)| *o = (*o - m * total) / s);
    }
}

/// `sum w (x - m)^2 / s^2` from `sum w x^2` (in `out`), `sum w x` and `sum w`.
pub(super) fn correct_squares(centre: &[f64], scale: &[f64], sums: &[f64], total: f64, out: &mut [f64]) {
    for (j, o) in out.iter_mut().enumerate() {
        let (m, s) = (centre[j], scale[j]);
        *o = ((*o - 2.0 * m * sums[j] + m * m * total) / s / s).max(0.0);
    }
}

pub(super) struct ScaledColumns<'a> {
    pub body: Box<dyn Columns + 'a>,
    pub centre: Vec<f64>,
    pub scale: Vec<f64>,
    /// Those of all columns of the design.
    pub all: (&'a [f64], &'a [f64]),
}

impl Columns for ScaledColumns<'_> {
    fn ncols(&self) -> usize {
        self.centre.len()
    }

    fn change(&mut self, support: &[usize]) -> bool {
        let changed = self.body.change(support);
        if changed {
            self.centre = support.iter().map(|&j| self.all.0[j]).collect();
            self.scale = support.iter().map(|&j| self.all.1[j]).collect();
        }
        changed
    }

    fn mul(&self, x: &[f64], out: &mut [f64]) {
        let values: Vec<f64> = x.iter().zip(&self.scale).map(|(x, s)| x / s).collect();
        let shift: f64 = values.iter().zip(&self.centre).map(|(v, m)| v * m).sum();
        self.body.mul(&values, out);
        out.iter_mut().for_each(|o| *o -= shift);
    }

    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.body.tmul(r, out);
        let total: f64 = r.iter().sum();
        for ((o, m), s) in out.iter_mut().zip(&self.centre).zip(&self.scale) {
            *o = (*o - m * total) / s;
        }
    }

    fn normal(&self, weights: &[f64], x: &[f64], shift: f64, between: &mut [f64], out: &mut [f64]) -> f64 {
        let values: Vec<f64> = x.iter().zip(&self.scale).map(|(x, s)| x / s).collect();
        let centred: f64 = values.iter().zip(&self.centre).map(|(v, m)| v * m).sum();
        let total = self.body.normal(weights, &values, shift - centred, between, out);
        for ((o, m), s) in out.iter_mut().zip(&self.centre).zip(&self.scale) {
            *o = (*o - m * total) / s;
        }
        total
    }

    fn mul_outputs(&self, x: &[f64], outputs: usize, out: &mut [f64]) {
        let mut values = x.to_vec();
        let mut shifts = vec![0.0; outputs];
        for ((row, m), s) in values.chunks_exact_mut(outputs).zip(&self.centre).zip(&self.scale) {
            for (v, shift) in row.iter_mut().zip(&mut shifts) {
                *v /= s;
                *shift += *v * m;
            }
        }
        self.body.mul_outputs(&values, outputs, out);
        add_to_rows(-1.0, &shifts, out);
    }

    fn tmul_outputs(&self, r: &[f64], outputs: usize, out: &mut [f64]) {
        self.body.tmul_outputs(r, outputs, out);
        correct_products(&self.centre, &self.scale, &totals(r, outputs), out);
    }

    fn gram(&mut self, weights: &[f64], mut out: MatrixMut<'_>) {
        let k = self.centre.len();
        let mut sums = vec![0.0; k];
        self.body.tmul(weights, &mut sums);
        self.body.gram(weights, out.reborrow());
        let total: f64 = weights.iter().sum();
        let (m, s) = (&self.centre, &self.scale);
        for b in 0..k {
            for a in b..k {
                let corrected = out[(a, b)] - m[a] * sums[b] - sums[a] * m[b] + m[a] * m[b] * total;
                out[(a, b)] = corrected / (s[a] * s[b]);
            }
        }
    }

    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        let mut sums = vec![0.0; self.centre.len()];
        self.body.tmul(weights, &mut sums);
        self.body.squares(weights, out);
        correct_squares(&self.centre, &self.scale, &sums, weights.iter().sum(), out);
    }

    fn squares_outputs(&self, weights: &[f64], outputs: usize, out: &mut [f64]) {
        let mut sums = vec![0.0; out.len()];
        self.body.tmul_outputs(weights, outputs, &mut sums);
        self.body.squares_outputs(weights, outputs, out);
        let totals = totals(weights, outputs);
        let rows = out.chunks_exact_mut(outputs).zip(sums.chunks_exact(outputs));
        for ((row, sums), (m, s)) in rows.zip(self.centre.iter().zip(&self.scale)) {
            for ((o, sum), total) in row.iter_mut().zip(sums).zip(&totals) {
                *o = ((*o - 2.0 * m * sum + m * m * total) / s / s).max(0.0);
            }
        }
    }

    fn costs(&self) -> Costs {
        self.body.costs()
    }
}
