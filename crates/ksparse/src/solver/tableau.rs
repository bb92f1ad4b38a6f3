//! Exchanges on the quadratic model of f, one after the other, each knowing those before it.
//!
//! Over a support F and some candidates C, the model says how the coordinates on F and the gradient on C answer to the
//! gradient on F and to the coordinates on C:
//!
//! ```text
//! x_F = x* + G^-1 g_F - V x_C        G = H_FF, V = G^-1 H_FC, E = H_CC - H_CF V,
//! g_C = r  + V' g_F   + E x_C        x* the minimum on F, r the gradient there
//! ```
//!
//! Trading places between one of the left and its partner on the right (a principal pivot, as in the simplex method)
//! takes a coordinate into F or out of it, and the table is that of the new F. So the gains of all exchanges (see
//! `exchange.rs`) are at hand after every exchange, for one pass over the table instead of a new factor. A list of
//! exchanges found so costs one refit of f; that of pairs scored side by side would take several, since they get in
//! each other's way.

use super::Status;
use super::exchange::screen;
use super::model::{LocalModel, block};
use super::run::{Iterate, Run};
use crate::error::Result;
use crate::kernels::{Gains, axpy, dot, highest};
use crate::restricted::{Ended, InnerOptions};
use crate::threads::for_column_blocks;
use faer::linalg::matmul::matmul;
use faer::prelude::ReborrowMut;
use faer::{Accum, Mat, Par};

/// Columns of the table that a thread takes at a time.
const WIDTH: usize = 64;

/// Single exchanges that the model praises and f refuses before the search ends.
const TRIES: usize = 3;

/// Improves a point by lists of exchanges until the model knows none that gains more than `least`. `Some(status)` when
/// a limit ended it. `at` as it is without second derivatives.
pub(super) fn pursue(
    run: &mut Run,
    at: Iterate,
    width: usize,
    least: f64,
    refit: &InnerOptions,
) -> Result<(Iterate, Option<Status>)> {
    pursue_below(run, at, width, least, refit, f64::INFINITY)
}

/// [`pursue`], where only points below `record_below` count as iterations: the way there does not.
pub(super) fn pursue_below(
    run: &mut Run,
    mut at: Iterate,
    width: usize,
    least: f64,
    refit: &InnerOptions,
    mut record_below: f64,
) -> Result<(Iterate, Option<Status>)> {
    loop {
        let Some(mut tableau) = Tableau::new(run, &at, width)? else { return Ok((at, None)) };
        let Some(next) = improve(run, &at, &mut tableau, least, refit)? else { return Ok((at, None)) };
        let limit = run.note(&at, &next, &mut record_below);
        at = next;
        if limit.is_some() {
            return Ok((at, limit));
        }
    }
}

/// The point after a list of exchanges: of the whole list if f falls at least a quarter as far as the model says, else
/// of its first half, and so on.
fn improve(
    run: &Run,
    at: &Iterate,
    tableau: &mut Tableau,
    least: f64,
    refit: &InnerOptions,
) -> Result<Option<Iterate>> {
    let mut most = (run.budget.k / 4).max(1);
    for _ in 0..TRIES {
        tableau.descend(least, most);
        while let Some(promised) = tableau.promised() {
            let wanted = if tableau.list.len() > 1 { 0.25 * promised } else { 0.0 };
            let bound = at.value - wanted - 1e-10 * at.value.abs();
            let (support, x) = tableau.point();
            let options = InnerOptions { abandon_above: bound, ..*refit };
            let (next, ended) = run.try_refit(support, x, &options)?;
            if ended != Ended::Abandoned && next.value < bound {
                return Ok(Some(next));
            }
            tableau.undo(tableau.list.len() / 2);
        }
        most = 1;
    }
    Ok(None)
}

/// A pair of coordinates, by their places in the table, and what all exchanges up to this one gain.
struct Exchange {
    leaves: Option<usize>,
    enters: usize,
    promised: f64,
}

pub(super) struct Tableau {
    /// F and the candidates.
    coordinates: Vec<usize>,
    inside: Vec<bool>,
    /// Who may move: not the free coordinates, nor a newcomer that f has refused.
    movable: Vec<bool>,
    /// What each left-hand side answers to each right-hand side.
    table: Mat<f64>,
    /// The left-hand sides where all right-hand sides are 0.
    base: Vec<f64>,
    /// Curvatures below this are rounding error.
    floor: Vec<f64>,
    vacancies: usize,
    list: Vec<Exchange>,
}

impl Tableau {
    /// Around a point and its `width` best candidates. `None` when the objective offers no Hessian.
    pub fn new(run: &Run, at: &Iterate, width: usize) -> Result<Option<Self>> {
        let point = run.point(at)?;
        let Some(hessian) = point.hessian()? else { return Ok(None) };
        let gradient = run.gradient(at)?;
        let candidates = screen(run, at, gradient, width)?;
        let (k, count) = (at.support.len(), candidates.len());
        let slope: Vec<f64> = at.support.iter().map(|&j| gradient[j]).collect();
        let coordinates: Vec<usize> = at.support.iter().chain(&candidates).copied().collect();
        // All of H first; each quarter becomes that of the table in its place.
        let mut table = block(hessian, &coordinates, &coordinates)?;
        let model = LocalModel::new(run, at, slope, table.submatrix(0, 0, k, k).to_owned());
        let (mut inverse, mut cross, mut solved, mut rest) = table.as_mut().split_at_mut(k, k);
        inverse.copy_from(&model.inverse);
        let across = cross.as_ref().transpose();
        for_column_blocks(solved.as_mut(), WIDTH, count * k * k, |b, target| {
            let right = model.inverse.subcols(b * WIDTH, target.ncols());
            matmul(target, Accum::Replace, across, right, 1.0, Par::Seq);
        });
        let solved_then = solved.as_ref();
        for_column_blocks(rest.as_mut(), WIDTH, count * count * k, |b, target| {
            let right = cross.as_ref().subcols(b * WIDTH, target.ncols());
            matmul(target, Accum::Add, solved_then, right, -1.0, Par::Seq);
        });
        for c in 0..count {
            (0..k).for_each(|a| cross[(a, c)] = -solved[(c, a)]);
        }
        let answer = |c: usize| dot(&table.col_as_slice(k + c)[..k], &model.slope);
        let outside = candidates.iter().enumerate().map(|(c, &j)| gradient[j] + answer(c));
        let base = model.x.iter().copied().chain(outside).collect();
        let mut floor = vec![0.0; count];
        hessian.diagonal_at(&candidates, &mut floor)?;
        let floor = std::iter::repeat_n(0.0, k).chain(floor.into_iter().map(|f| 1e-9 * f)).collect();
        let movable =
            at.support.iter().map(|&j| !run.budget.is_free(j)).chain(candidates.iter().map(|_| true)).collect();
        Ok(Some(Self {
            inside: (0..k + count).map(|t| t < k).collect(),
            coordinates,
            movable,
            table,
            base,
            floor,
            vacancies: run.budget.full() - k,
            list: Vec::new(),
        }))
    }

    /// How many exchanges the list holds.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Who enters by the last exchange of the list.
    pub fn newcomer(&self) -> Option<usize> {
        self.list.last().map(|exchange| self.coordinates[exchange.enters])
    }

    /// Coordinates that are not offered.
    pub fn refuse(&mut self, coordinates: &[usize]) {
        for (t, j) in self.coordinates.iter().enumerate() {
            self.movable[t] &= self.inside[t] || !coordinates.contains(j);
        }
    }

    /// What the model says the list gains; `None` for an empty one.
    pub fn promised(&self) -> Option<f64> {
        self.list.last().map(|e| e.promised)
    }

    /// Appends the best exchange, and the next, up to `most` of them that gain more than `least` each.
    pub fn descend(&mut self, least: f64, most: usize) {
        while self.list.len() < most {
            let Some((gain, leaves, enters)) = self.best(least) else { break };
            let promised = self.promised().unwrap_or(0.0) + gain;
            leaves.into_iter().chain([enters]).for_each(|t| self.pivot(t));
            self.list.push(Exchange { leaves, enters, promised });
        }
    }

    /// Takes the exchanges beyond the first `count` back. A single one taken back is not offered again.
    pub fn undo(&mut self, count: usize) {
        let refused = self.list.len() == 1;
        while self.list.len() > count {
            if let Some(Exchange { leaves, enters, .. }) = self.list.pop() {
                [enters].into_iter().chain(leaves).for_each(|t| self.pivot(t));
                self.movable[enters] &= !refused;
            }
        }
    }

    /// The exchange that gains most, if that is more than `least`: gain, who leaves, who enters. Ties to the earlier in
    /// the table.
    fn best(&self, least: f64) -> Option<(f64, Option<usize>, usize)> {
        let size = self.base.len();
        let mut gains = Gains::default();
        for t in 0..size {
            let inverse = 1.0 / self.table[(t, t)];
            let ratio = self.base[t] * inverse;
            let may_leave = self.inside[t] && self.movable[t] && inverse > 0.0;
            if may_leave {
                gains.push(ratio, inverse, self.base[t] * ratio);
            } else {
                gains.push(0.0, 0.0, f64::INFINITY);
            }
        }
        let vacant = self.vacancies > self.list.iter().filter(|e| e.leaves.is_none()).count();
        // What the newcomer gains alone: no exchange gains more, so the best ones first spare most of the others.
        let alone = |t: usize| self.base[t] * self.base[t] / self.table[(t, t)];
        let outside = (0..size).filter(|&t| !self.inside[t] && self.movable[t] && self.table[(t, t)] > self.floor[t]);
        let mut newcomers: Vec<(f64, usize)> = outside.map(|t| (alone(t), t)).collect();
        newcomers.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut best = (2.0 * least, None, None);
        for (alone, enters) in newcomers {
            let (left, g) = (self.table[(enters, enters)], self.base[enters]);
            if alone <= best.0 {
                break;
            }
            if vacant {
                best = (alone, None, Some(enters));
                break;
            }
            if let Some((gain, t)) = highest(self.table.col_as_slice(enters), &gains, g, left, best.0) {
                best = (gain, Some(t), Some(enters));
            }
        }
        let (gain, leaves, enters) = best;
        enters.map(|enters| (0.5 * gain, leaves, enters))
    }

    /// Lets a coordinate and its gradient trade places; twice is nothing.
    fn pivot(&mut self, t: usize) {
        let size = self.base.len();
        let inverse = 1.0 / self.table[(t, t)];
        let column: Vec<f64> = self.table.col_as_slice(t).iter().map(|v| v * inverse).collect();
        // Every column for itself; that of t is written below.
        for_column_blocks(self.table.as_mut(), WIDTH, size * size, |b, mut block| {
            for c in (0..block.ncols()).filter(|c| b * WIDTH + c != t) {
                let Some(target) = block.rb_mut().col_mut(c).try_as_col_major_mut() else { continue };
                let target = target.as_slice_mut();
                let share = target[t];
                axpy(-share, &column, target);
                target[t] = -share * inverse;
            }
        });
        let share = self.base[t];
        axpy(-share, &column, &mut self.base);
        self.base[t] = -share * inverse;
        self.table.col_as_slice_mut(t).copy_from_slice(&column);
        self.table[(t, t)] = inverse;
        self.inside[t] = !self.inside[t];
    }

    /// The support after the list and the minimum of the model on it.
    pub fn point(&self) -> (Vec<usize>, Vec<f64>) {
        let inside = (0..self.base.len()).filter(|&t| self.inside[t]);
        let mut point: Vec<(usize, f64)> = inside.map(|t| (self.coordinates[t], self.base[t])).collect();
        point.sort_unstable_by_key(|e| e.0);
        point.into_iter().unzip()
    }
}

#[cfg(all(test, feature = "simulate"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::loss::Squared;
    use crate::simulate::{self, Correlation};
    use crate::solver::{Limits, Progress};
    use crate::{Risk, Sparsity};
    use std::ops::ControlFlow;

    /// On a quadratic the model is f itself: what a list of exchanges promises is what a refit finds, and taken back it
    /// leaves nothing behind.
    #[test]
    fn promises_are_exact_on_a_quadratic() {
        for seed in 0..20 {
            let data = simulate::linear(60, 30, 8, Correlation::Ar1(0.8), 0.5, seed);
            let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap().with_ridge(1e-3).unwrap();
            let (limits, watch) = (Limits::default(), &mut |_: &Progress| ControlFlow::Continue(()));
            let run = Run::with_subgradient("test", &risk, &Sparsity::new(8).keep([1]), &limits, watch).unwrap();
            // One place is vacant, the others are taken by the wrong columns for the most part.
            let at = run.refit(vec![0, 1, 4, 5, 11, 18, 21, 27], vec![0.0; 8], &InnerOptions::EXACT).unwrap();
            let mut tableau = Tableau::new(&run, &at, 15).unwrap().unwrap();
            let (table, base) = (tableau.table.clone(), tableau.base.clone());
            tableau.descend(1e-6, 5);
            assert!(tableau.list[0].leaves.is_none() && tableau.list.iter().skip(1).all(|e| e.leaves.is_some()));
            let mut reached = Vec::new();
            while let Some(promised) = tableau.promised() {
                let (support, x) = tableau.point();
                assert!(support.contains(&1), "forced in");
                let refitted = run.refit(support, vec![0.0; x.len()], &InnerOptions::EXACT).unwrap();
                assert!((at.value - refitted.value - promised).abs() < 1e-9, "seed {seed}: {promised}");
                assert!(refitted.x.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-7), "seed {seed}");
                reached.push(refitted.value);
                tableau.undo(tableau.list.len() - 1);
            }
            // Best last, each exchange a gain.
            assert!(!reached.is_empty() && reached.windows(2).all(|w| w[0] < w[1]), "{reached:?}");
            let apart = (&tableau.table - &table).norm_max();
            assert!(
                apart < 1e-8 * table.norm_max() && tableau.base.iter().zip(&base).all(|(a, b)| (a - b).abs() < 1e-8)
            );
            // The last one taken back alone counts as refused.
            assert_eq!(tableau.movable.iter().filter(|m| !**m).count(), 2);
        }
    }
}
