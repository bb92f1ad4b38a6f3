//! Exact exchange: one coordinate out, one in, scored over all pairs at once.
//!
//! At a point minimised on its support F, let `G = H_FF`, `C = H_F.` (a column per candidate), `V = G^-1 C`, `d =
//! diag(G^-1)`, g the gradient and `e_j = H_jj - V_j . C_j`, what is left of candidate j given F. The quadratic model
//! of f says that exchanging a in F for j outside, and refitting the rest, lowers f by
//!
//! ```text
//! gain(a, j) = 1/2 [ (-g_j + V_aj w_a / d_a)^2 / (e_j + V_aj^2 / d_a)  -  w_a^2 / d_a ]
//! ```
//!
//! (drop a: the rest of F answers and f rises by `w_a^2 / (2 d_a)`; then add j to what remains). All |F| x p exchanges
//! cost O(|F| p) once V is there. For a quadratic f the score is exact, so a point where no pair gains is optimal among
//! all supports one exchange away. No exchange gains more than adding j alone would, `g_j^2 / (2 e_j)`: candidates are
//! screened by it.

use super::Status;
use super::grouped::GroupedScores;
use super::model::{LocalModel, block};
use super::run::{Iterate, Run};
use crate::error::Result;
use crate::kernels::{Gains, dot, highest};
use crate::linalg::Cholesky;
use crate::restricted::{Ended, InnerOptions};
use crate::threads::for_column_blocks;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// How the search for exchanges is bounded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    /// Candidates scored per round at first.
    pub narrow: usize,
    /// Candidates of the last look, before concluding that no pair gains.
    pub wide: usize,
    /// Single exchanges tried by a refit, per round, before giving up (only when f is not quadratic).
    pub tries: usize,
    /// Whether every pair is tried by a refit before concluding (small problems; the model may be wrong).
    pub every_pair: bool,
    /// Precision of trial refits.
    pub refit: InnerOptions<'static>,
}

/// An exchange with its predicted gain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub gain: f64,
    /// The place in the list of those that may leave (`None`: a vacant place), the number of the one to enter.
    pub place: Option<usize>,
    pub enters: usize,
}

impl Pair {
    /// Larger gains first, ties to the smaller newcomer.
    pub fn better(&self, other: &Self) -> std::cmp::Ordering {
        other.gain.total_cmp(&self.gain).then(self.enters.cmp(&other.enters))
    }
}

/// What a quadratic model at a point says about exchanges, of coordinates or of groups.
pub(super) trait Proposals {
    /// Disjoint exchanges that gain more than `least`, best first.
    fn pairs(&self, run: &Run, least: f64) -> Vec<Pair>;

    /// Where the model expects f's minimum after these exchanges (exactly for one pair): coordinates with values,
    /// unordered.
    fn after(&self, at: &Iterate, pairs: &[Pair]) -> Vec<(usize, f64)>;
}

/// The proposals for the `width` most promising newcomers; `None` when the objective offers no Hessian.
fn proposals(run: &Run, at: &Iterate, width: usize) -> Result<Option<Box<dyn Proposals>>> {
    let gradient = run.gradient(at)?;
    if run.budget.is_grouped() {
        let scores = GroupedScores::new(run, at, gradient, width)?;
        return Ok(scores.map(|scores| Box::new(scores) as Box<dyn Proposals>));
    }
    let scores = Scores::new(run, at, gradient, width)?;
    Ok(scores.map(|scores| Box::new(scores) as Box<dyn Proposals>))
}

/// What letting the cheapest member go costs on the quadratic model, in units of what the best newcomer would gain
/// alone; 0 where the model has no answer.
pub(super) fn margin(run: &Run, at: &Iterate) -> Result<f64> {
    if run.budget.is_grouped() {
        return Ok(0.0);
    }
    let Some(scores) = Scores::new(run, at, run.gradient(at)?, usize::MAX)? else { return Ok(0.0) };
    let cheapest = (0..at.support.len()).map(|a| scores.model.cost(a)).fold(f64::INFINITY, f64::min);
    let alone = scores.gradient.iter().zip(&scores.left).filter(|(_, left)| **left > 0.0);
    Ok(cheapest / alone.map(|(g, left)| g * g / left).fold(0.0, f64::max))
}

/// Exchanges coordinates while f falls. Points below `record_below` count as iterations; the way there does not.
/// `Some(status)` when a limit ended it.
pub(super) fn polish(
    run: &mut Run,
    mut at: Iterate,
    reach: &Reach,
    mut record_below: f64,
) -> Result<(Iterate, Option<Status>)> {
    let mut width = reach.narrow.min(reach.wide);
    loop {
        let scores = proposals(run, &at, width)?;
        let mut next = match &scores {
            Some(scores) => take_some(run, &at, &**scores, reach)?,
            None => None,
        };
        let narrow = scores.is_some() && width < reach.wide;
        if next.is_none() && !narrow && reach.every_pair {
            next = take_any(run, &at, reach)?;
        }
        let limit = match next {
            Some(next) => {
                let limit = run.note(&at, &next, &mut record_below);
                at = next;
                limit
            }
            None if narrow => {
                width = reach.wide;
                None
            }
            None => return Ok((at, None)),
        };
        if limit.is_some() {
            return Ok((at, limit));
        }
    }
}

/// The next point: many pairs at once if that falls at least half as far as the best pair alone promises, else fewer.
fn take_some(run: &Run, at: &Iterate, scores: &dyn Proposals, reach: &Reach) -> Result<Option<Iterate>> {
    let pairs = scores.pairs(run, run.trifle(at, 1e-9)?);
    let Some(best) = pairs.first() else { return Ok(None) };
    let promising = pairs.iter().take_while(|p| p.gain >= 0.2 * best.gain).count();
    let mut count = promising.min((run.budget.k / 4).max(1));
    while count > 1 {
        if let Some(next) = attempt(run, at, scores.after(at, &pairs[..count]), 0.5 * best.gain, reach)? {
            return Ok(Some(next));
        }
        count /= 2;
    }
    for pair in pairs.iter().take(reach.tries) {
        if let Some(next) = attempt(run, at, scores.after(at, std::slice::from_ref(pair)), 0.0, reach)? {
            return Ok(Some(next));
        }
    }
    Ok(None)
}

/// The first exchange that lowers f, small coefficients and large gradients first.
fn take_any(run: &Run, at: &Iterate, reach: &Reach) -> Result<Option<Iterate>> {
    let (gradient, budget) = (run.gradient(at)?, &run.budget);
    let inside = budget.units_of(&at.support);
    let sorted = |mut units: Vec<(f64, usize)>| {
        units.sort_by(|a, b| a.0.total_cmp(&b.0));
        units.into_iter().map(|scored| scored.1).collect::<Vec<usize>>()
    };
    let counted = |unit: &usize| budget.members(*unit).all(|j| !budget.is_free(j));
    let outside = (0..budget.units()).filter(|unit| counted(unit) && inside.binary_search(unit).is_err());
    let entering = sorted(outside.map(|unit| (-budget.score(unit, |j| gradient[j].abs()), unit)).collect());
    let leaving = sorted(inside.iter().map(|&unit| (budget.score(unit, |j| at.at(j).abs()), unit)).collect());
    for &enters in &entering {
        for &leaves in &leaving {
            let stayed = at.as_sparse().iter().filter(|(j, _)| budget.unit(*j) != Some(leaves));
            let point = stayed.chain(budget.members(enters).map(|j| (j, 0.0))).collect();
            if let Some(next) = attempt(run, at, point, 0.0, reach)? {
                return Ok(Some(next));
            }
        }
    }
    Ok(None)
}

/// The minimum on the support of `point`, started there, if it is more than `least` below `at`.
fn attempt(
    run: &Run,
    at: &Iterate,
    mut point: Vec<(usize, f64)>,
    least: f64,
    reach: &Reach,
) -> Result<Option<Iterate>> {
    point.sort_unstable_by_key(|e| e.0);
    let (support, x): (Vec<usize>, Vec<f64>) = point.into_iter().unzip();
    let bound = at.value - least - run.trifle(at, 1e-10)?;
    let options = InnerOptions { abandon_above: bound, ..reach.refit };
    let (next, ended) = run.try_refit(support, x, &options)?;
    Ok((ended != Ended::Abandoned && next.value < bound).then_some(next))
}

/// Everything the gain of an exchange depends on, for a list of candidates.
struct Scores {
    model: LocalModel,
    candidates: Vec<usize>,
    /// `V = G^-1 C`.
    solved: Mat<f64>,
    /// g at the model's minimum, per candidate.
    gradient: Vec<f64>,
    /// e: curvature left given the support, 0 for a candidate that depends on it.
    left: Vec<f64>,
    vacancies: usize,
}

impl Scores {
    /// `None` when the objective offers no Hessian.
    fn new(run: &Run, at: &Iterate, gradient: &[f64], width: usize) -> Result<Option<Self>> {
        let point = run.point(at)?;
        let Some(hessian) = point.hessian()? else { return Ok(None) };
        let k = at.support.len();
        let candidates = screen(run, at, gradient, width)?;
        let slope: Vec<f64> = at.support.iter().map(|&j| gradient[j]).collect();
        let model = LocalModel::new(run, at, slope, block(hessian, &at.support, &at.support)?);
        let cross = block(hessian, &at.support, &candidates)?;
        let mut solved = Mat::<f64>::zeros(k, candidates.len());
        for_column_blocks(solved.as_mut(), 64, k * k * candidates.len(), |b, target| {
            let block = cross.subcols(b * 64, target.ncols());
            matmul(target, Accum::Replace, &model.inverse, block, 1.0, Par::Seq);
        });
        let mut left = vec![0.0; candidates.len()];
        hessian.diagonal_at(&candidates, &mut left)?;
        let mut at_minimum = vec![0.0; candidates.len()];
        for (c, &j) in candidates.iter().enumerate() {
            let v = solved.col_as_slice(c);
            let rest = left[c] - dot(v, cross.col_as_slice(c));
            // Dependent on the support to rounding error: exchanging it changes nothing.
            left[c] = if rest > 1e-9 * left[c] { rest } else { 0.0 };
            at_minimum[c] = gradient[j] - dot(v, &model.slope);
        }
        let vacancies = run.budget.k + run.budget.free.len() - k;
        Ok(Some(Self { model, candidates, solved, gradient: at_minimum, left, vacancies }))
    }

    /// The exchange that suits this candidate best, if any gains more than `least`.
    fn best_place(&self, c: usize, gains: &Gains, least: f64) -> Option<Pair> {
        let (v, left, g, enters) = (self.solved.col_as_slice(c), self.left[c], self.gradient[c], self.candidates[c]);
        if left <= 0.0 {
            return None;
        }
        if self.vacancies > 0 {
            let gain = 0.5 * g * g / left;
            return (gain > least).then_some(Pair { gain, place: None, enters });
        }
        let (best, a) = highest(v, gains, -g, left, 2.0 * least)?;
        Some(Pair { gain: 0.5 * best, place: Some(a), enters })
    }

    /// The value the model expects the newcomer of an exchange to take.
    fn arrival(&self, pair: &Pair) -> f64 {
        let c = self.candidates.partition_point(|&j| j < pair.enters);
        let (v, left, g) = (self.solved.col_as_slice(c), self.left[c], self.gradient[c]);
        let Some(a) = pair.place else { return -g / left };
        let inverse = 1.0 / self.model.inverse[(a, a)];
        (v[a] * (self.model.x[a] * inverse) - g) / (left + v[a] * v[a] * inverse)
    }

    /// The support's own part of [`after`](Self::after).
    fn expected(&self, pairs: &[Pair]) -> Vec<f64> {
        let mut x = self.model.x.clone();
        let inverse = &self.model.inverse;
        if let [pair] = pairs {
            let c = self.candidates.partition_point(|&j| j < pair.enters);
            let arrival = self.arrival(pair);
            // Adding j moves the rest by -arrival V_j; dropping a then moves it along G^-1_a so that a ends at 0.
            for (x, v) in x.iter_mut().zip(self.solved.col_as_slice(c)) {
                *x -= arrival * v;
            }
            if let Some(a) = pair.place {
                let shift = x[a] / inverse[(a, a)];
                x.iter_mut().zip(inverse.col_as_slice(a)).for_each(|(x, v)| *x -= shift * v);
            }
            return x;
        }
        // Several: what is left once all of them have gone, newcomers at 0.
        let gone: Vec<usize> = pairs.iter().filter_map(|p| p.place).collect();
        let block = Mat::from_fn(gone.len(), gone.len(), |i, j| inverse[(gone[i], gone[j])]);
        let mut shift: Vec<f64> = gone.iter().map(|&a| x[a]).collect();
        Cholesky::new(block, None).solve(&mut shift);
        for (s, &a) in shift.iter().zip(&gone) {
            x.iter_mut().zip(inverse.col_as_slice(a)).for_each(|(x, v)| *x -= s * v);
        }
        x
    }
}

impl Proposals for Scores {
    fn pairs(&self, run: &Run, least: f64) -> Vec<Pair> {
        if run.budget.k == 0 {
            return Vec::new();
        }
        let k = self.model.x.len();
        let mut gains = Gains::default();
        for a in 0..k {
            let inverse = 1.0 / self.model.inverse[(a, a)];
            gains.push(self.model.x[a] * inverse, inverse, self.model.cost(a));
        }
        let mut taken = vec![false; k];
        let mut ranked: Vec<(Pair, usize)> =
            (0..self.candidates.len()).filter_map(|c| self.best_place(c, &gains, least).map(|p| (p, c))).collect();
        ranked.sort_unstable_by(|a, b| a.0.better(&b.0));
        let mut vacancies = self.vacancies;
        let mut pairs = Vec::new();
        for (pair, c) in ranked {
            // A place already given away: the candidate takes its best among the others.
            let pair = match pair.place {
                Some(a) if taken[a] => self.best_place(c, &gains, least),
                None if vacancies == 0 => None,
                _ => Some(pair),
            };
            let Some(pair) = pair else { continue };
            match pair.place {
                Some(a) => {
                    taken[a] = true;
                    gains.close(a);
                }
                None => vacancies -= 1,
            }
            pairs.push(pair);
        }
        pairs.sort_unstable_by(Pair::better);
        pairs
    }

    fn after(&self, at: &Iterate, pairs: &[Pair]) -> Vec<(usize, f64)> {
        let mut point: Vec<(usize, f64)> = at.support.iter().copied().zip(self.expected(pairs)).collect();
        let mut gone: Vec<usize> = pairs.iter().filter_map(|p| p.place).collect();
        gone.sort_unstable_by(|a, b| b.cmp(a));
        gone.into_iter().for_each(|place| {
            point.swap_remove(place);
        });
        let alone = pairs.len() == 1;
        point.extend(pairs.iter().map(|p| (p.enters, if alone { self.arrival(p) } else { 0.0 })));
        point
    }
}

/// The `width` units of the budget outside that promise most on their own (`|g_j|` in units of curvature, of a group
/// the length), ascending.
pub(super) fn screen(run: &Run, at: &Iterate, gradient: &[f64], width: usize) -> Result<Vec<usize>> {
    let budget = &run.budget;
    let mut inside = vec![false; gradient.len()];
    at.support.iter().for_each(|&j| inside[j] = true);
    let outside = |unit: &usize| budget.members(*unit).all(|j| !inside[j] && !budget.is_free(j));
    if width >= (0..budget.units()).filter(outside).count() {
        return Ok((0..budget.units()).filter(outside).collect());
    }
    let units = run.units(at)?;
    let pull = |j: usize| match units {
        _ if inside[j] => 0.0,
        None => gradient[j].abs(),
        Some(h) if h[j] > 0.0 => gradient[j].abs() / h[j].sqrt(),
        Some(_) => 0.0,
    };
    let mut chosen = budget.top(width, pull);
    chosen.sort_unstable();
    Ok(chosen)
}
