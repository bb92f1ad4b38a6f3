//! The risk of a joint loss at a point.

use super::JointRisk;
use crate::error::Result;
use crate::linalg::MatrixMut;
use crate::loss::JointPoint;
use crate::objective::point::by_blocks;
use crate::objective::{Hessian, Objective, Point};
use crate::sparsity::SparseRef;
use crate::threads::worth_splitting;
use faer::linalg::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Columns that are written out at a time.
const PACK: usize = 8;

/// f at x: the predictions, and the loss there.
pub(super) struct AtPoint<'a> {
    risk: &'a JointRisk<'a>,
    indices: Vec<usize>,
    values: Vec<f64>,
    loss: Box<dyn JointPoint + 'a>,
    gradient: OnceLock<Vec<f64>>,
}

impl<'a> AtPoint<'a> {
    pub fn new(risk: &'a JointRisk<'a>, x: SparseRef) -> Result<Self> {
        let z = risk.predictions(x);
        risk.design.health()?;
        let (indices, values) = (x.indices.to_vec(), x.values.to_vec());
        Ok(Self { risk, indices, values, loss: risk.loss.at(&z), gradient: OnceLock::new() })
    }

    fn x(&self) -> SparseRef<'_> {
        SparseRef::new(&self.indices, &self.values)
    }
}

impl Point for AtPoint<'_> {
    fn value(&self) -> f64 {
        self.loss.value() + self.risk.penalty(self.x())
    }

    fn gradient(&self) -> Result<&[f64]> {
        let gradient = self.gradient.get_or_init(|| {
            let mut out = vec![0.0; self.risk.dim()];
            self.risk.design.tmul_outputs(self.loss.derivatives(), self.risk.outputs(), &mut out);
            self.x().iter().for_each(|(at, v)| out[at] += self.risk.ridge_at(at) * v);
            out
        });
        self.risk.design.health()?;
        Ok(gradient)
    }

    fn hessian(&self) -> Result<Option<&dyn Hessian>> {
        Ok(Some(self))
    }
}

/// `M X` for some columns of a design, one column after the other.
pub(super) fn reduced(risk: &JointRisk, loss: &dyn JointPoint, columns: &[usize]) -> Mat<f64> {
    let (n, rank) = (risk.design.nrows(), loss.rank());
    let mut out = vec![0.0; rank * columns.len()];
    let fill = |(columns, out): (&[usize], &mut [f64])| {
        let mut written = vec![0.0; n * columns.len()];
        for (&j, column) in columns.iter().zip(written.chunks_mut(n)) {
            risk.design.mul(SparseRef::new(&[j], &[1.0]), column);
        }
        loss.reduce(&written, out);
    };
    let packs = columns.chunks(PACK).zip(out.chunks_mut(PACK * rank.max(1)));
    if worth_splitting(10 * n * columns.len()) {
        packs.collect::<Vec<_>>().into_par_iter().for_each(fill);
    } else {
        packs.for_each(fill);
    }
    MatRef::from_column_major_slice(&out, rank, columns.len()).to_owned()
}

impl AtPoint<'_> {
    /// Adds the parts of the diagonal that belong to an output: those of all columns, or of some.
    fn diagonal_of(&self, c: usize, columns: Option<&[usize]>) -> Vec<f64> {
        let design = &*self.risk.design;
        let mut squares = vec![0.0; columns.map_or(design.ncols(), <[usize]>::len)];
        if let Some((_, weights)) = self.loss.weights(c, c) {
            match columns {
                None => design.squares(&weights, &mut squares),
                Some(columns) => design.squares_at(&weights, columns, &mut squares),
            }
        }
        if self.loss.rank() > 0 {
            let all: Vec<usize> = columns.map_or_else(|| (0..design.ncols()).collect(), <[usize]>::to_vec);
            // Some columns at a time: M X of all would be as large as X.
            for (columns, squares) in all.chunks(32 * PACK).zip(squares.chunks_mut(32 * PACK)) {
                let reduced = reduced(self.risk, &*self.loss, columns);
                for (square, reduced) in squares.iter_mut().zip(reduced.col_iter()) {
                    *square = (*square - reduced.squared_norm_l2()).max(0.0);
                }
            }
        }
        squares
    }
}

impl AtPoint<'_> {
    /// The weighted products of some columns with others.
    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64]) -> Mat<f64> {
        let design = &*self.risk.design;
        let mut part = Mat::zeros(left.len(), right.len());
        if left.len() == 1 && right.iter().copied().eq(0..design.ncols()) {
            // A whole row: one pass over the data.
            let (mut column, mut row) = (vec![0.0; weights.len()], vec![0.0; right.len()]);
            design.mul(SparseRef::new(left, &[1.0]), &mut column);
            column.iter_mut().zip(weights).for_each(|(x, w)| *x *= w);
            design.tmul(&column, &mut row);
            row.into_iter().enumerate().for_each(|(b, v)| part[(0, b)] = v);
        } else {
            design.cross(left, right, weights, MatrixMut::over(&mut part));
        }
        part
    }
}

impl Hessian for AtPoint<'_> {
    fn diagonal(&self, out: &mut [f64]) -> Result<()> {
        let outputs = self.risk.outputs();
        if self.loss.rank() == 0 {
            let weights = self.loss.own_weights(self.risk.design.nrows(), outputs);
            self.risk.design.squares_outputs(&weights, outputs, out);
            out.iter_mut().enumerate().for_each(|(at, d)| *d += self.risk.ridge_at(at));
            return self.risk.design.health();
        }
        for c in 0..outputs {
            for (j, d) in self.diagonal_of(c, None).into_iter().enumerate() {
                out[j * outputs + c] = d + self.risk.ridge_at(j * outputs + c);
            }
        }
        self.risk.design.health()
    }

    fn diagonal_at(&self, coordinates: &[usize], out: &mut [f64]) -> Result<()> {
        let outputs = self.risk.outputs();
        for c in 0..outputs {
            let (places, columns) = of_output(coordinates, c, outputs);
            for (place, d) in places.into_iter().zip(self.diagonal_of(c, Some(&columns))) {
                out[place] = d + self.risk.ridge_at(coordinates[place]);
            }
        }
        self.risk.design.health()
    }

    fn block(&self, left: &[usize], right: &[usize], mut out: MatrixMut<'_>) -> Result<()> {
        let outputs = self.risk.outputs();
        out.fill(0.0);
        // What one output has to do with another is the same the other way round where both lists are of whole rows.
        let whole = is_of_rows(left, outputs) && is_of_rows(right, outputs);
        for c in 0..outputs {
            for d in 0..if whole { c + 1 } else { outputs } {
                let Some((sign, weights)) = self.loss.weights(c, d) else { continue };
                let ((rows, left), (columns, right)) = (of_output(left, c, outputs), of_output(right, d, outputs));
                if left.is_empty() || right.is_empty() {
                    continue;
                }
                let part = self.cross(&left, &right, &weights);
                for (b, &column) in columns.iter().enumerate() {
                    for (a, &row) in rows.iter().enumerate() {
                        out[(row, column)] = sign * part[(a, b)];
                        if whole {
                            out[(row - c + d, column - d + c)] = sign * part[(a, b)];
                        }
                    }
                }
            }
        }
        if self.loss.rank() > 0 {
            let rows = reduced(self.risk, &*self.loss, left);
            let columns = reduced(self.risk, &*self.loss, right);
            matmul::matmul(out.reborrow().faer(), Accum::Add, rows.transpose(), &columns, -1.0, Par::Seq);
        }
        let place: HashMap<usize, usize> = left.iter().enumerate().map(|(a, &at)| (at, a)).collect();
        for (b, at) in right.iter().enumerate() {
            if let Some(&a) = place.get(at) {
                out[(a, b)] += self.risk.ridge_at(*at);
            }
        }
        self.risk.design.health()
    }

    fn own_blocks(&self, groups: &[Vec<usize>]) -> Result<Vec<f64>> {
        let outputs = self.risk.outputs();
        let columns: Vec<usize> = groups.iter().filter_map(|group| group.first().map(|at| at / outputs)).collect();
        let rows = groups.iter().all(|group| group.len() == outputs && is_of_rows(group, outputs));
        if !rows || self.loss.rank() > 0 {
            return by_blocks(self, groups);
        }
        // A pass over the columns for every pair of outputs.
        let mut out = vec![0.0; groups.len() * outputs * outputs];
        let mut squares = vec![0.0; columns.len()];
        for c in 0..outputs {
            for d in 0..=c {
                let Some((sign, weights)) = self.loss.weights(c, d) else { continue };
                self.risk.design.squares_at(&weights, &columns, &mut squares);
                for ((own, square), group) in out.chunks_mut(outputs * outputs).zip(&squares).zip(groups) {
                    let ridge = if c == d { self.risk.ridge_at(group[c]) } else { 0.0 };
                    own[c * outputs + d] = sign * square + ridge;
                    own[d * outputs + c] = sign * square + ridge;
                }
            }
        }
        self.risk.design.health()?;
        Ok(out)
    }
}

/// Whether some coordinates are all outputs of one column after the other.
pub(super) fn is_of_rows(coordinates: &[usize], outputs: usize) -> bool {
    let mut rows = coordinates.chunks(outputs);
    rows.all(|row| row.iter().copied().eq(row[0] / outputs * outputs..(row[0] / outputs + 1) * outputs))
}

/// Of some coordinates those of an output: their places in the list, and their columns.
fn of_output(coordinates: &[usize], c: usize, outputs: usize) -> (Vec<usize>, Vec<usize>) {
    let of = coordinates.iter().enumerate().filter(|(_, at)| *at % outputs == c);
    of.map(|(place, at)| (place, at / outputs)).unzip()
}
