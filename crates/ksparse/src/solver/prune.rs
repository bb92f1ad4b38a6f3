//! Widen and prune: a move of many coordinates at once.
//!
//! From a point on k coordinates the m most promising ones outside are added, f is minimised on all k + m, and the m
//! cheapest are dropped again. On the quadratic model dropping a raises f by `w_a^2 / (2 d_a)`, d the diagonal of the
//! inverse Hessian, and moves the rest; inverse and point are updated after each drop, so that a coordinate whose
//! substitute has gone becomes dear. This escapes points that no single exchange improves. Dropping the smallest
//! `|w_a|` instead knows less and leads elsewhere: where coordinates share one unit (edges of a network) it is as good
//! on average, and together the two are better than either.

use super::grouped::GroupedModel;
use super::model::LocalModel;
use super::run::{Iterate, Run};
use super::swap::Ranking;
use crate::error::Result;
use crate::linalg::MatrixMut;
use crate::restricted::{InnerOptions, SupportHessian};
use faer::Mat;

/// Which coordinates of a widened support are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drop {
    /// Those whose absence costs least on the quadratic model.
    Cheapest,
    /// The smallest as they stand.
    Smallest,
}

/// The point after adding `extra` coordinates and dropping as many; `None` when the objective offers no Hessian.
pub(super) fn widen_and_prune(
    run: &Run,
    at: &Iterate,
    extra: usize,
    drop: Drop,
    refit: &InnerOptions,
) -> Result<Option<Iterate>> {
    let support = Ranking::new(&run.budget, at, run.gradient(at)?, run.units(at)?, extra).widened(at, extra);
    prune(run, at, support, drop, refit)
}

/// Minimises on `support` from `at` and drops coordinates until k are left.
pub(super) fn prune(
    run: &Run,
    at: &Iterate,
    mut support: Vec<usize>,
    drop: Drop,
    refit: &InnerOptions,
) -> Result<Option<Iterate>> {
    let mut x = run.carry(at, &support);
    let goal = run.budget.k + run.budget.free.len();
    loop {
        let mut restricted = run.objective.restrict(&support)?;
        let (wide, _) = run.minimise(&mut *restricted, support, x, refit)?;
        let surplus = run.budget.counted(&wide.support).saturating_sub(run.budget.k);
        if surplus == 0 {
            return Ok(Some(wide));
        }
        // Half of the surplus per refit, a small one at once: the model is trusted for a short way only.
        let exact = run.objective.profile().quadratic || surplus <= 1 + goal / 16;
        let drops = if exact { surplus } else { surplus.div_ceil(2) };
        let mut slope = vec![0.0; wide.support.len()];
        restricted.move_to(&wide.x, &mut slope)?;
        (support, x) = match (drop, restricted.second().hessian()) {
            (_, None) => return Ok(None),
            (Drop::Cheapest, Some(hessian)) => drop_cheapest(run, &wide, slope, hessian, drops)?,
            (Drop::Smallest, _) => drop_smallest(run, &wide, &slope, drops),
        };
        if support.len() == wide.support.len() {
            return Ok(None); // the model has nothing to say
        }
    }
}

/// The support without its `drops` cheapest coordinates, and the point the quadratic model expects there.
fn drop_cheapest(
    run: &Run,
    at: &Iterate,
    slope: Vec<f64>,
    hessian: &mut dyn SupportHessian,
    drops: usize,
) -> Result<(Vec<usize>, Vec<f64>)> {
    let k = at.support.len();
    let mut matrix = Mat::zeros(k, k);
    hessian.matrix(MatrixMut::over(&mut matrix))?;
    if run.budget.is_grouped() {
        let mut model = GroupedModel::new(run, at, slope, matrix);
        let keep = model.drop_cheapest(drops);
        return Ok((keep.iter().map(|&a| at.support[a]).collect(), keep.iter().map(|&a| model.x[a]).collect()));
    }
    let mut model = LocalModel::new(run, at, slope, matrix);
    let mut kept = vec![true; k];
    for _ in 0..drops {
        let Some(place) = model.cheapest() else { break };
        kept[place] = false;
        model.drop(place);
    }
    let keep: Vec<usize> = (0..k).filter(|&a| kept[a]).collect();
    Ok((keep.iter().map(|&a| at.support[a]).collect(), keep.iter().map(|&a| model.x[a]).collect()))
}

/// The support without its `drops` smallest coordinates after a gradient step, and that point there.
fn drop_smallest(run: &Run, at: &Iterate, slope: &[f64], drops: usize) -> (Vec<usize>, Vec<f64>) {
    let x: Vec<f64> = at.x.iter().zip(slope).map(|(x, g)| x - g).collect();
    let size = |j: usize| at.support.binary_search(&j).map_or(0.0, |a| x[a].abs());
    let mut movable: Vec<(f64, usize)> =
        run.budget.units_of(&at.support).into_iter().map(|unit| (run.budget.score(unit, size), unit)).collect();
    // Of equal ones the larger index: ties go to the smaller.
    movable.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let mut gone: Vec<usize> = movable.iter().take(drops).map(|scored| scored.1).collect();
    gone.sort_unstable();
    let stays = |a: &usize| run.budget.unit(at.support[*a]).is_none_or(|unit| gone.binary_search(&unit).is_err());
    let keep: Vec<usize> = (0..x.len()).filter(stays).collect();
    (keep.iter().map(|&a| at.support[a]).collect(), keep.iter().map(|&a| x[a]).collect())
}
