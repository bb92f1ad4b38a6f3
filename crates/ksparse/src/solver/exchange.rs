//! Exact exchange: one coordinate out, one in, scored over all pairs at once.
//!
//! At a point minimised on its support F, let `G = H_FF`, `C = H_F.` (a column per candidate), `V = G^-1 C`, `d = diag(G^-1)`, g the gradient and
//! `e_j = H_jj - V_j . C_j`, what is left of candidate j given F. The quadratic model of f says that exchanging a in F for j outside, and
//! refitting the rest, lowers f by
//!
//! ```text
//! gain(a, j) = 1/2 [ (-g_j + V_aj w_a / d_a)^2 / (e_j + V_aj^2 / d_a)  -  w_a^2 / d_a ]
//! ```
//!
//! (drop a: the rest of F answers and f rises by `w_a^2 / (2 d_a)`; then add j to what remains). All |F| x p exchanges cost O(|F| p) once V is
//! there. For a quadratic f the score is exact, so a point where no pair gains is optimal among all supports one exchange away. No
//! exchange gains more than adding j alone would, `g_j^2 / (2 e_j)`: candidates are screened by it.

use super::Status;
use super::run::{Iterate, Run};
use crate::error::Result;
use crate::restricted::{Cholesky, Ended, InnerOptions};
use crate::sparsity::top_by;
use crate::threads::for_column_blocks;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// How the search for exchanges is bounded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// Candidates scored per round at first.
    pub narrow: usize,
    /// Candidates of the last look, before concluding that no pair gains.
    pub wide: usize,
    /// Single exchanges tried by a refit, per round, before giving up (only when f is not quadratic).
    pub tries: usize,
    /// Precision of trial refits.
    pub refit: InnerOptions,
}

/// An exchange with its predicted gain: place in the support (`None`: a vacant place), coordinate to enter.
#[derive(Debug, Clone, Copy)]
struct Pair {
    gain: f64,
    place: Option<usize>,
    enters: usize,
}

/// Exchanges coordinates while f falls. `Some(status)` when a limit ended it.
pub(super) fn polish(run: &mut Run, mut at: Iterate, effort: &Effort) -> Result<(Iterate, Option<Status>)> {
    let mut gradient = vec![0.0; run.objective.dim()];
    let mut width = effort.narrow.min(effort.wide);
    loop {
        run.gradient(&at, &mut gradient)?;
        let Some(pairs) = best_pairs(run, &at, &gradient, width) else { return Ok((at, None)) };
        match take_some(run, &at, &pairs, effort)? {
            Some(next) => {
                let limit = run.record(&at, &next, f64::NAN);
                at = next;
                if limit.is_some() {
                    return Ok((at, limit));
                }
            }
            None if width < effort.wide => width = effort.wide,
            None => return Ok((at, None)),
        }
        if run.out_of_time() {
            return Ok((at, Some(Status::TimeLimit)));
        }
    }
}

/// The next point: many pairs at once if that falls at least half as far as the best pair alone promises, else fewer.
fn take_some(run: &Run, at: &Iterate, pairs: &[Pair], effort: &Effort) -> Result<Option<Iterate>> {
    let Some(best) = pairs.first() else { return Ok(None) };
    let promising = pairs.iter().take_while(|p| p.gain >= 0.2 * best.gain).count();
    let mut count = promising.min((run.budget.k / 4).max(1));
    while count > 1 {
        if let Some(next) = attempt(run, at, &pairs[..count], 0.5 * best.gain, effort)? {
            return Ok(Some(next));
        }
        count /= 2;
    }
    for pair in pairs.iter().take(effort.tries) {
        if let Some(next) = attempt(run, at, std::slice::from_ref(pair), 0.0, effort)? {
            return Ok(Some(next));
        }
    }
    Ok(None)
}

/// The point after these exchanges, if f falls by more than `least`.
fn attempt(run: &Run, at: &Iterate, pairs: &[Pair], least: f64, effort: &Effort) -> Result<Option<Iterate>> {
    let mut gone: Vec<usize> = pairs.iter().filter_map(|p| p.place).collect();
    gone.sort_unstable();
    let mut support: Vec<usize> = (0..at.support.len())
        .filter(|i| gone.binary_search(i).is_err())
        .map(|i| at.support[i])
        .chain(pairs.iter().map(|p| p.enters))
        .collect();
    support.sort_unstable();
    let x = run.carry(at, &support);
    let bound = at.value - least - 1e-10 * at.value.abs();
    let options = InnerOptions { abandon_above: bound, ..effort.refit };
    let (next, ended) = run.try_refit(support, x, &options)?;
    Ok((ended != Ended::Abandoned && next.value < bound).then_some(next))
}

/// Disjoint exchanges with a positive predicted gain, best first; `None` when the objective offers no Hessian.
fn best_pairs(run: &Run, at: &Iterate, gradient: &[f64], width: usize) -> Option<Vec<Pair>> {
    let hessian = run.objective.hessian(at.as_sparse())?;
    let k = at.support.len();
    let counted = k - run.budget.free.len();
    let candidates = screen(run, at, gradient, &*hessian, width);
    if candidates.is_empty() || run.budget.k == 0 {
        return Some(Vec::new());
    }
    let mut curvature = vec![0.0; candidates.len()];
    hessian.diagonal_at(&candidates, &mut curvature);
    let inverse = Cholesky::new(hessian.block(&at.support, &at.support), None).inverse();
    let cross = hessian.block(&at.support, &candidates);

    // Per place of the support: what leaving costs, and the two factors of the formula.
    let movable: Vec<bool> = at.support.iter().map(|&j| !run.budget.is_free(j)).collect();
    let inverse_d: Vec<f64> = (0..k).map(|a| 1.0 / inverse[(a, a)]).collect();
    let ratio: Vec<f64> = (0..k).map(|a| at.x[a] * inverse_d[a]).collect();
    let cost: Vec<f64> = (0..k).map(|a| if movable[a] { at.x[a] * ratio[a] } else { f64::INFINITY }).collect();

    // V and, per candidate, its best place: computed in blocks of candidates.
    let mut solved = Mat::<f64>::zeros(k, candidates.len());
    for_column_blocks(solved.as_mut(), 64, k * k * candidates.len(), |b, target| {
        let block = cross.subcols(b * 64, target.ncols());
        matmul(target, Accum::Replace, &inverse, block, 1.0, Par::Seq);
    });
    let vacant = counted < run.budget.k;
    let least = 1e-9 * at.value.abs();
    let best_place = |c: usize, taken: &[bool]| -> Option<Pair> {
        let (v, enters) = (solved.col_as_slice(c), candidates[c]);
        let left: f64 = curvature[c] - v.iter().zip(cross.col_as_slice(c)).map(|(v, c)| v * c).sum::<f64>();
        let g = gradient[enters];
        // Dependent on F to rounding error: exchanging it changes nothing.
        if left <= 1e-9 * curvature[c] {
            return None;
        }
        if vacant {
            let gain = 0.5 * g * g / left;
            return (gain > least).then_some(Pair { gain, place: None, enters });
        }
        let (mut best, mut place) = (2.0 * least, None);
        for a in 0..k {
            let top = v[a] * ratio[a] - g;
            let gain = top * top / (left + v[a] * v[a] * inverse_d[a]) - cost[a];
            if gain > best && !taken[a] {
                (best, place) = (gain, Some(a));
            }
        }
        place.map(|_| Pair { gain: 0.5 * best, place, enters })
    };

    let mut taken = vec![false; k];
    let mut ranked: Vec<(Pair, usize)> =
        (0..candidates.len()).filter_map(|c| best_place(c, &taken).map(|p| (p, c))).collect();
    let order = |a: &(Pair, usize), b: &(Pair, usize)| b.0.gain.total_cmp(&a.0.gain).then(a.0.enters.cmp(&b.0.enters));
    ranked.sort_unstable_by(order);
    let mut pairs = Vec::new();
    let mut vacancies = run.budget.k - counted;
    for (pair, c) in ranked {
        // A place already given away: the candidate takes its best among the others.
        let pair = match pair.place {
            Some(a) if taken[a] => best_place(c, &taken),
            Some(_) => Some(pair),
            None if vacancies == 0 => None,
            None => {
                vacancies -= 1;
                Some(pair)
            }
        };
        if let Some(pair) = pair {
            if let Some(a) = pair.place {
                taken[a] = true;
            }
            pairs.push(pair);
        }
    }
    pairs.sort_unstable_by(|a, b| b.gain.total_cmp(&a.gain).then(a.enters.cmp(&b.enters)));
    Some(pairs)
}

/// The `width` coordinates outside that promise most on their own, ascending.
fn screen(
    run: &Run,
    at: &Iterate,
    gradient: &[f64],
    hessian: &dyn crate::objective::Hessian,
    width: usize,
) -> Vec<usize> {
    let dim = gradient.len();
    let mut outside = vec![true; dim];
    at.support.iter().for_each(|&j| outside[j] = false);
    run.budget.free.iter().for_each(|&j| outside[j] = false);
    let count = outside.iter().filter(|o| **o).count();
    if width >= count {
        return (0..dim).filter(|&j| outside[j]).collect();
    }
    let mut curvature = vec![0.0; dim];
    hessian.diagonal(&mut curvature);
    let mut chosen = top_by(dim, width, |j| {
        if outside[j] && curvature[j] > 0.0 { gradient[j] * gradient[j] / curvature[j] } else { 0.0 }
    });
    chosen.sort_unstable();
    chosen
}
