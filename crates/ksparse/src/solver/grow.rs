//! Growing a support by blocks, each chosen by the quadratic model.
//!
//! The largest gradients often belong to coordinates that stand for the same thing, and a block of them is worth little
//! more than one. Here the newcomers of a block are chosen one after the other: with H the Hessian over some candidates
//! and g their gradient, the best next one maximises `g_j^2 / e_j`, and once it is in, g and e (what is left of the
//! curvature) are those of the others given it: a Cholesky factorisation with the gains as pivots.

use super::exchange::screen;
use super::run::{Iterate, Run};
use super::{Status, model};
use crate::error::Result;
use crate::restricted::InnerOptions;
use faer::Mat;

/// Candidates per newcomer.
const CHOICE: usize = 6;

/// Below this share of its own curvature a candidate is as good as a combination of those chosen.
const DEPENDENT: f64 = 1e-3;

/// Fills the vacant places but for `vacant` of them by tenths of k, with a refit after each block; `Some(status)` when
/// a limit ended it. `at` as it is without second derivatives.
pub(super) fn grow(
    run: &mut Run,
    mut at: Iterate,
    vacant: usize,
    refit: &InnerOptions,
) -> Result<(Iterate, Option<Status>)> {
    let full = run.budget.full() - vacant;
    let tenth = run.budget.k.div_ceil(10);
    while at.support.len() < full {
        let block = tenth.min(full - at.support.len());
        let Some(newcomers) = choose(run, &at, block)? else { break };
        let mut support = at.support.clone();
        support.extend(newcomers);
        support.sort_unstable();
        let x = run.carry(&at, &support);
        let next = run.refit(support, x, refit)?;
        let limit = run.record(&at, &next, None);
        at = next;
        if limit.is_some() {
            return Ok((at, limit));
        }
    }
    Ok((at, None))
}

/// The next `block` coordinates to enter; `None` when there are none.
fn choose(run: &Run, at: &Iterate, block: usize) -> Result<Option<Vec<usize>>> {
    let point = run.point(at)?;
    let Some(hessian) = point.hessian()? else { return Ok(None) };
    let whole = run.gradient(at)?;
    let candidates = screen(run, at, whole, CHOICE * block)?;
    let curvature = model::block(hessian, &candidates, &candidates)?;
    let count = candidates.len();
    let mut gradient: Vec<f64> = candidates.iter().map(|&j| whole[j]).collect();
    let mut left: Vec<f64> = (0..count).map(|c| curvature[(c, c)]).collect();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut chosen = Vec::new();
    while chosen.len() < block {
        let gain = |c: usize| {
            let usable = left[c] > DEPENDENT * curvature[(c, c)] && gradient[c] != 0.0;
            if usable { gradient[c] * gradient[c] / left[c] } else { 0.0 }
        };
        // Ties to the smaller index.
        let Some(best) =
            (0..count).filter(|&c| gain(c) > 0.0).max_by(|&a, &b| gain(a).total_cmp(&gain(b)).then(b.cmp(&a)))
        else {
            break;
        };
        let root = left[best].sqrt();
        let column = pivot_column(&curvature, &columns, best, root);
        let step = gradient[best] / root;
        for c in 0..count {
            gradient[c] -= step * column[c];
            left[c] -= column[c] * column[c];
        }
        left[best] = 0.0;
        columns.push(column);
        chosen.push(candidates[best]);
    }
    Ok((!chosen.is_empty()).then_some(chosen))
}

/// The next column of the factor.
fn pivot_column(matrix: &Mat<f64>, before: &[Vec<f64>], pivot: usize, root: f64) -> Vec<f64> {
    let mut column = matrix.col_as_slice(pivot).to_vec();
    for earlier in before {
        let share = earlier[pivot];
        column.iter_mut().zip(earlier).for_each(|(c, e)| *c -= share * e);
    }
    column.iter_mut().for_each(|c| *c /= root);
    column
}
