//! What conjugate gradients are helped by under a softmax.
//!
//! ```text
//! H = blocks(A' W_cc A + lambda) + what is between outputs
//! P = Z B^-1 Z + (I - Z) / lambda,      Z: takes off every feature its mean over the outputs
//! ```
//!
//! A softmax does not feel what all outputs have in common, so that there H is lambda and nothing else; on the rest the
//! blocks of the outputs with themselves are most of it. B is these blocks, factors of k x k instead of k C x k C, and
//! the products needed then hardly depend on how the columns are correlated (Isolet, k = 30: 6 for a loose refit, not
//! hundreds); or their diagonal, where columns are too many for factors or have few rows in common. What it is made at
//! matters as much: where classes part, curvatures are far below those at 0.

use crate::design::Columns;
use crate::error::Result;
use crate::linalg::{Cholesky, MatrixMut};
use crate::loss::JointPoint;
use crate::restricted::Preconditioner;
use faer::Mat;

/// P at some point: it need not be at the one that H belongs to.
pub(super) struct Shared {
    part: Part,
    /// Of every feature.
    ridge: Vec<f64>,
    outputs: usize,
}

/// B.
enum Part {
    Blocks(Vec<Cholesky>),
    Diagonal(Vec<f64>),
}

impl Shared {
    /// By blocks, for all outputs of the columns; `ridge` has one for every coordinate.
    pub fn blocks(columns: &mut dyn Columns, here: &dyn JointPoint, ridge: &[f64], outputs: usize) -> Self {
        let k = columns.ncols();
        let ridge: Vec<f64> = ridge.iter().step_by(outputs).copied().collect();
        let factor = |c: usize| {
            let mut block = Mat::zeros(k, k);
            if let Some((_, weights)) = here.weights(c, c) {
                columns.gram(&weights, MatrixMut::over(&mut block));
            }
            ridge.iter().enumerate().for_each(|(a, ridge)| block[(a, a)] += ridge);
            Cholesky::new(block, None)
        };
        let factors = (0..outputs).map(factor).collect();
        Self { part: Part::Blocks(factors), ridge, outputs }
    }

    /// Whether it is made of factors.
    pub fn has_factors(&self) -> bool {
        matches!(self.part, Part::Blocks(_))
    }

    /// By the diagonal of H.
    pub fn diagonal(diagonal: Vec<f64>, ridge: &[f64], outputs: usize) -> Self {
        Self { part: Part::Diagonal(diagonal), ridge: ridge.iter().step_by(outputs).copied().collect(), outputs }
    }
}

/// Takes off every row its mean; the means.
fn centre(rows: &mut [f64], outputs: usize) -> Vec<f64> {
    let centred = rows.chunks_exact_mut(outputs).map(|row| {
        let mean = row.iter().sum::<f64>() / outputs as f64;
        row.iter_mut().for_each(|v| *v -= mean);
        mean
    });
    centred.collect()
}

impl Preconditioner for Shared {
    fn apply(&mut self, r: &[f64], out: &mut [f64]) -> Result<()> {
        out.copy_from_slice(r);
        let means = centre(out, self.outputs);
        match &self.part {
            Part::Blocks(factors) => {
                for (c, factor) in factors.iter().enumerate() {
                    let mut part: Vec<f64> = out.iter().skip(c).step_by(self.outputs).copied().collect();
                    factor.solve(&mut part);
                    out.iter_mut().skip(c).step_by(self.outputs).zip(part).for_each(|(out, v)| *out = v);
                }
            }
            Part::Diagonal(diagonal) => {
                out.iter_mut().zip(diagonal).for_each(|(out, d)| *out = if *d > 0.0 { *out / d } else { *out });
            }
        }
        centre(out, self.outputs);
        for ((row, mean), ridge) in out.chunks_exact_mut(self.outputs).zip(means).zip(&self.ridge) {
            if *ridge > 0.0 {
                row.iter_mut().for_each(|v| *v += mean / ridge);
            }
        }
        Ok(())
    }
}
