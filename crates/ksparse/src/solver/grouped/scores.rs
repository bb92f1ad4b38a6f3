//! Exchanges of groups, scored over all pairs at once: the formula of `exchange.rs` with blocks for numbers.
//!
//! With V, C and `D = (G^-1)_AA` as there, `r = D^-1 w_A` and `E_J = H_JJ - C_J' V_J`, exchanging the group A for J and
//! refitting the rest lowers the quadratic model by
//!
//! ```text
//! gain(A, J) = 1/2 [ t' E^-1 t  -  w_A' r ],     t = -g_J + V_AJ' r,     E = E_J + V_AJ' D^-1 V_AJ
//! ```

use super::model::{Departure, GroupedModel};
use crate::error::Result;
use crate::kernels::dot;
use crate::solver::exchange::{Pair, Proposals, screen};
use crate::solver::model::block;
use crate::solver::run::{Iterate, Run};
use crate::threads::for_column_blocks;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

/// Everything the gain of an exchange depends on, for a list of candidates.
pub(in crate::solver) struct GroupedScores {
    model: GroupedModel,
    departures: Vec<Departure>,
    candidates: Vec<Candidate>,
    /// `V = G^-1 C`.
    solved: Mat<f64>,
    /// `R V_A` for every group A of the support below that of the group before, where `R' R = D^-1`.
    turned: Mat<f64>,
    /// `V_A' r`, a row for every group of the support.
    shifts: Mat<f64>,
    /// Where each group begins in `turned`, and the end.
    starts: Vec<usize>,
    vacancies: usize,
}

struct Candidate {
    unit: usize,
    /// Its coordinates, and where they begin among the columns of V.
    members: Vec<usize>,
    start: usize,
    /// g at the model's minimum.
    gradient: Vec<f64>,
    /// `E_J` by rows, and the squares its pivots are measured by.
    left: Vec<f64>,
    diagonal: Vec<f64>,
}

/// Room for `E` and `t` of one exchange after the other.
#[derive(Default)]
struct Room {
    e: Vec<f64>,
    t: Vec<f64>,
}

impl GroupedScores {
    /// `None` when the objective offers no Hessian.
    pub fn new(run: &Run, at: &Iterate, gradient: &[f64], width: usize) -> Result<Option<Self>> {
        let point = run.point(at)?;
        let Some(hessian) = point.hessian()? else { return Ok(None) };
        let slope: Vec<f64> = at.support.iter().map(|&j| gradient[j]).collect();
        let model = GroupedModel::new(run, at, slope, block(hessian, &at.support, &at.support)?);
        let units = screen(run, at, gradient, width)?;
        let lists: Vec<Vec<usize>> = units.iter().map(|&unit| run.budget.members(unit).collect()).collect();
        let (d, members) = (at.support.len(), lists.concat());
        let cross = block(hessian, &at.support, &members)?;
        let mut solved = Mat::<f64>::zeros(d, members.len());
        for_column_blocks(solved.as_mut(), 64, d * d * members.len(), |b, target| {
            let block = cross.subcols(b * 64, target.ncols());
            matmul(target, Accum::Replace, &model.inverse, block, 1.0, Par::Seq);
        });
        let own = hessian.own_blocks(&lists)?;
        let mut own = &own[..];
        let mut start = 0;
        let mut candidates = Vec::with_capacity(units.len());
        for (unit, members) in units.into_iter().zip(lists) {
            let m = members.len();
            let diagonal = (0..m).map(|a| own[a * m + a]).collect();
            let v = |b: usize| solved.col_as_slice(start + b);
            let entry = |a: usize, b: usize| own[b * m + a] - dot(v(b), cross.col_as_slice(start + a));
            let left = (0..m * m).map(|at| if at % m > at / m { 0.0 } else { entry(at / m, at % m) }).collect();
            own = &own[m * m..];
            let gradient = members.iter().enumerate().map(|(b, &j)| gradient[j] - dot(v(b), &model.slope)).collect();
            candidates.push(Candidate { unit, members, start, gradient, left, diagonal });
            start += m;
        }
        let departures: Vec<Departure> = (0..model.units.len()).map(|unit| model.departure(unit)).collect();
        let vacancies = run.budget.k - model.units.len();
        let mut starts = vec![0];
        starts.extend(departures.iter().scan(0, |end, departure| {
            *end += departure.pull.len();
            Some(*end)
        }));
        let (turned, shifts) = turn(&model, &departures, &solved, &starts);
        Ok(Some(Self { model, departures, candidates, solved, turned, shifts, starts, vacancies }))
    }

    /// The exchange that suits this candidate best, if any gains more than `least`.
    fn best_place(&self, c: usize, taken: &[bool], least: f64) -> Option<Pair> {
        let candidate = &self.candidates[c];
        let pair = |gain: f64, place: Option<usize>| Pair { gain, place, enters: candidate.unit };
        // No exchange gains more than its newcomer alone.
        let mut room = Room::default();
        let alone = 0.5 * candidate.arrival(None, &mut room);
        if alone <= least {
            return None;
        }
        if self.vacancies > 0 {
            return Some(pair(alone, None));
        }
        let mut best = None;
        let mut most = least;
        for (a, departure) in self.departures.iter().enumerate().filter(|(a, _)| !taken[*a]) {
            let gain = 0.5 * (candidate.arrival(Some((self, a)), &mut room) - departure.cost);
            if gain > most {
                (best, most) = (Some(a), gain);
            }
        }
        best.map(|a| pair(most, Some(a)))
    }
}

/// `R V_A` and `V_A' r` for all groups A, which begin in the first at `starts`.
fn turn(model: &GroupedModel, departures: &[Departure], solved: &Mat<f64>, starts: &[usize]) -> (Mat<f64>, Mat<f64>) {
    let mut turned = Mat::zeros(starts[departures.len()], solved.ncols());
    let mut shifts = Mat::zeros(departures.len(), solved.ncols());
    for (a, (departure, (_, places))) in departures.iter().zip(&model.units).enumerate() {
        let rows = Mat::from_fn(places.len(), solved.ncols(), |row, c| solved[(places[row], c)]);
        let out = turned.subrows_mut(starts[a], places.len());
        matmul(out, Accum::Replace, &departure.root, &rows, 1.0, Par::Seq);
        for c in 0..solved.ncols() {
            shifts[(a, c)] = rows.col_as_slice(c).iter().zip(&departure.pull).map(|(v, r)| v * r).sum();
        }
    }
    (turned, shifts)
}

impl Candidate {
    /// `t' E^-1 t` where a group leaves, or none; `E^-1 t`, the values it is expected to take, in the room for t.
    fn arrival(&self, leaves: Option<(&GroupedScores, usize)>, room: &mut Room) -> f64 {
        let size = self.members.len();
        let Room { e, t } = room;
        t.clear();
        t.extend(self.gradient.iter().map(|g| -g));
        e.clear();
        e.extend_from_slice(&self.left);
        if let Some((scores, a)) = leaves {
            let rows = scores.starts[a]..scores.starts[a + 1];
            let turned = |b: usize| &scores.turned.col_as_slice(self.start + b)[rows.clone()];
            for b in 0..size {
                t[b] += scores.shifts[(a, self.start + b)];
                for c in 0..=b {
                    e[b * size + c] += turned(b).iter().zip(turned(c)).map(|(x, y)| x * y).sum::<f64>();
                }
            }
        }
        solve(e, &self.diagonal, t)
    }
}

/// Solves `E x = t` by elimination (E's lower triangle, by rows), x in the place of t; returns `t' x`. A direction that
/// depends on those before it to rounding error takes no part.
fn solve(e: &mut [f64], diagonal: &[f64], t: &mut [f64]) -> f64 {
    let size = t.len();
    let mut energy = 0.0;
    for b in 0..size {
        let pivot = e[b * size + b];
        if pivot <= 1e-9 * diagonal[b] || pivot <= 0.0 {
            // Marked, for the way back.
            e[b * size + b] = 0.0;
            t[b] = 0.0;
            continue;
        }
        energy += t[b] * t[b] / pivot;
        for a in b + 1..size {
            let factor = e[a * size + b] / pivot;
            t[a] -= factor * t[b];
            for c in b + 1..=a {
                e[a * size + c] -= factor * e[c * size + b];
            }
        }
    }
    for b in (0..size).rev() {
        let pivot = e[b * size + b];
        if pivot > 0.0 {
            let rest: f64 = (b + 1..size).map(|a| e[a * size + b] * t[a]).sum();
            t[b] = (t[b] - rest) / pivot;
        }
    }
    energy
}

impl Proposals for GroupedScores {
    fn pairs(&self, run: &Run, least: f64) -> Vec<Pair> {
        if run.budget.k == 0 {
            return Vec::new();
        }
        let mut taken = vec![false; self.departures.len()];
        let none = taken.clone();
        let count = self.candidates.len();
        let mut ranked: Vec<(Pair, usize)> =
            (0..count).into_par_iter().filter_map(|c| self.best_place(c, &none, least).map(|p| (p, c))).collect();
        ranked.sort_unstable_by(|a, b| a.0.better(&b.0));
        let mut vacancies = self.vacancies;
        let mut pairs = Vec::new();
        for (pair, c) in ranked {
            // A place already given away: the candidate takes its best among the others.
            let pair = match pair.place {
                Some(a) if taken[a] => self.best_place(c, &taken, least),
                None if vacancies == 0 => None,
                _ => Some(pair),
            };
            let Some(pair) = pair else { continue };
            match pair.place {
                Some(a) => taken[a] = true,
                None => vacancies -= 1,
            }
            pairs.push(pair);
        }
        pairs.sort_unstable_by(Pair::better);
        pairs
    }

    fn after(&self, at: &Iterate, pairs: &[Pair]) -> Vec<(usize, f64)> {
        let mut x = self.model.x.clone();
        let gone: Vec<usize> = pairs.iter().filter_map(|pair| pair.place).collect();
        let entering = |pair: &Pair| self.candidates.iter().find(|candidate| candidate.unit == pair.enters);
        let mut arrived = Vec::new();
        for candidate in pairs.iter().filter_map(entering) {
            let values = match pairs {
                // Exactly for one pair: what comes moves the rest before the other goes.
                [pair] => {
                    let mut room = Room::default();
                    candidate.arrival(pair.place.map(|a| (self, a)), &mut room);
                    room.t
                }
                _ => vec![0.0; candidate.members.len()],
            };
            for (b, value) in values.iter().enumerate() {
                let v = self.solved.col_as_slice(candidate.start + b);
                x.iter_mut().zip(v).for_each(|(x, v)| *x -= value * v);
            }
            arrived.extend(candidate.members.iter().copied().zip(values));
        }
        let x = self.model.without(x, &gone);
        let left = |place: &usize| !gone.iter().any(|&unit| self.model.units[unit].1.contains(place));
        let stayed = (0..x.len()).filter(left).map(|place| (at.support[place], x[place]));
        stayed.chain(arrived).collect()
    }
}
