//! A quadratic f at its minimum on a support, with what every coordinate outside could do there.
//!
//! With `G = H_FF`, for every coordinate m: `V_m = G^-1 H_Fm`, what is left of it `e_m = H_mm - H_mF V_m`, and the
//! gradient `g_m`. A coordinate j enters by the row `r_m = H_jm - H_jF V_m` (the part of H that F does not explain),
//! one leaves by its own row of V:
//!
//! ```text
//! j enters:  f -= g_j^2 / (2 e_j)       a leaves:  f += x_a^2 / (2 d_a),  d = diag(G^-1)
//! a for j :  f -= 1/2 [ (g_j - V_aj x_a / d_a)^2 / (e_j + V_aj^2 / d_a) - x_a^2 / d_a ]
//! ```
//!
//! Both rows are sums of rows of H, which are kept: one pass over those of F changes g and e, and V itself is needed
//! for the few pairs only that may gain. So a search that grows, exchanges and drops thousands of times never solves a
//! system. Which pairs these are says a bound: no exchange for j gains more than j alone would, and as `V_aj^2 / d_a`
//! is at most `u^2 = H_jj - e_j`, the part of j that F explains, one gains more than b / 2 only if
//!
//! ```text
//! sqrt(x_a^2 / d_a) < [ |g_j| u + sqrt(H_jj (g_j^2 - e_j b)) ] / e_j
//! ```
//!
//! Where f has several outputs with one H (several responses), x and g have a column for each, and their squares above
//! are sums over the outputs: a coordinate is then in for all of them.

mod inverse;
mod space;

pub(super) use space::Space;

use super::landscape::{Landscape, Place, Start};
use crate::error::Result;
use crate::kernels::wide::{Members, Newcomers, Slopes, highest_alone, highest_pair, promising, shift};
use inverse::Inverse;
use std::sync::Arc;

/// A coordinate of which less is left than this share cannot enter: what is left is rounding error, or soon would be.
const DEPENDENT: f64 = 1e-8;

/// The share of entering coordinates whose row is not there yet, on average. (Work is counted by it and not by what
/// happened: threads may come upon a row in any order.)
const NEW_ROWS: f64 = 0.1;

/// A fall of f below this share of f(0) is none.
const NOTHING: f64 = 1e-13;

impl Landscape for Space<'_> {
    type Place<'s>
        = Wide<'s>
    where
        Self: 's;

    fn units(&self) -> &[usize] {
        &self.coordinates
    }

    fn begin<'s>(&'s self, support: &[usize]) -> Result<Wide<'s>> {
        let mut state = Wide {
            space: self,
            support: Vec::new(),
            free: 0,
            x: Vec::new(),
            value: self.value,
            rows: Vec::new(),
            inverse: Inverse::default(),
            gradient: self.gradient.clone(),
            left: self.curvature.clone(),
            work: 0.0,
        };
        for j in self.free {
            if let Ok(place) = self.coordinates.binary_search(j)
                && state.left[place] > DEPENDENT * self.curvature[place]
            {
                state.enter(place)?;
                state.free += 1;
            }
        }
        for j in support {
            if let Ok(place) = self.coordinates.binary_search(j)
                && state.can_enter(place)
            {
                state.enter(place)?;
            }
        }
        Ok(state)
    }

    fn free(&self) -> &[usize] {
        self.free
    }

    fn prepare(&self, starts: &[Start]) -> Result<()> {
        self.make(starts.iter().flat_map(|start| &start.support).copied().collect())
    }

    fn leaps(&self) -> f64 {
        0.0
    }

    fn probes(&self) -> usize {
        0
    }

    fn narrowed(&self, coordinates: Vec<usize>) -> Result<Self> {
        self.part(coordinates)
    }
}

/// A support with everything above, over the coordinates of a [`Space`]; all indices are places there.
#[derive(Clone)]
pub(super) struct Wide<'s> {
    space: &'s Space<'s>,
    /// F in the order of entry, free coordinates first.
    support: Vec<usize>,
    free: usize,
    /// The minimum on F, all outputs of a member together, and f there.
    x: Vec<f64>,
    value: f64,
    /// Rows of H, one per member of F.
    rows: Vec<Arc<[f64]>>,
    /// G^-1.
    inverse: Inverse,
    /// Output by output.
    gradient: Vec<f64>,
    /// e; minus infinity on F.
    left: Vec<f64>,
    /// Multiply-adds so far.
    work: f64,
}

impl<'s> Wide<'s> {
    /// Whether a coordinate outside can enter.
    fn can_enter(&self, j: usize) -> bool {
        self.left[j] > self.space.floor[j]
    }

    fn newcomers(&self) -> Newcomers<'_> {
        Newcomers { gradient: &self.gradient, left: &self.left, floor: &self.space.floor }
    }

    /// Moves along a sum of the members' rows: x, g and e follow.
    fn shift(&mut self, factors: &[f64], steps: &[f64], square: f64) {
        let outputs = self.space.outputs;
        for (x, factor) in self.x.chunks_exact_mut(outputs).zip(factors) {
            x.iter_mut().zip(steps).for_each(|(x, step)| *x += factor * step);
        }
        self.work += (factors.len() + 1 + outputs) as f64 * self.left.len() as f64;
        shift(&self.rows, factors, steps, square, Slopes { gradient: &mut self.gradient, left: &mut self.left });
    }

    /// Takes j in.
    fn enter(&mut self, j: usize) -> Result<()> {
        let row = self.space.row(j)?;
        self.work += NEW_ROWS * self.space.entry * row.len() as f64;
        let crosses: Vec<f64> = self.support.iter().map(|&a| row[a]).collect();
        let factors = self.inverse.factors(&crosses);
        let pivot = row[j] + crosses.iter().zip(&factors).map(|(cross, factor)| cross * factor).sum::<f64>();
        let slopes = self.gradient.iter().skip(j).step_by(row.len());
        let steps: Vec<f64> = slopes.map(|slope| -slope / pivot).collect();
        self.value -= 0.5 * pivot * steps.iter().map(|step| step * step).sum::<f64>();
        self.rows.push(row);
        self.support.push(j);
        self.x.resize(self.support.len() * steps.len(), 0.0);
        self.shift(&factors, &steps, -1.0 / pivot);
        self.inverse.enter(&factors, pivot);
        self.left[j] = f64::NEG_INFINITY;
        Ok(())
    }

    /// Lets the member at a place go.
    fn leave(&mut self, place: usize) {
        let (outputs, size) = (self.space.outputs, self.left.len());
        // V of a member is 1 for itself and 0 for the others.
        let factors = self.inverse.line(place).to_vec();
        let pivot = factors[place];
        let steps: Vec<f64> = self.x[place * outputs..(place + 1) * outputs].iter().map(|x| -x / pivot).collect();
        self.value += 0.5 * pivot * steps.iter().map(|step| step * step).sum::<f64>();
        self.shift(&factors, &steps, 1.0 / pivot);
        self.inverse.leave(place, &factors);
        self.rows.remove(place);
        self.x.drain(place * outputs..(place + 1) * outputs);
        let j = self.support.remove(place);
        self.left[j] = 1.0 / pivot;
        self.gradient.iter_mut().skip(j).step_by(size).zip(&steps).for_each(|(slope, step)| *slope = *step);
    }

    /// What letting each member go costs, `x_a^2 / d_a`; those that cannot go cost everything.
    fn costs(&self) -> Vec<f64> {
        let squares = self.x.chunks_exact(self.space.outputs).map(|x| x.iter().map(|x| x * x).sum::<f64>());
        let costs = squares.zip(self.inverse.diagonal()).map(|(square, d)| square / d);
        costs.enumerate().map(|(a, cost)| if a < self.free { f64::INFINITY } else { cost }).collect()
    }

    /// The member whose leaving costs least; the earlier of equals.
    fn cheapest(&self) -> usize {
        let costs = self.costs();
        (self.free..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or(self.free)
    }

    /// A fall of f that is none.
    fn least(&self) -> f64 {
        0.5 * NOTHING * self.space.value
    }

    /// Twice what f falls by when j enters.
    fn alone(&self, j: usize) -> f64 {
        self.gradient.iter().skip(j).step_by(self.left.len()).map(|slope| slope * slope).sum::<f64>() / self.left[j]
    }

    /// The coordinate that lowers f most by entering, if by more than `least`; the smaller of equals.
    fn best_newcomer(&self, least: f64) -> Option<usize> {
        highest_alone(self.newcomers(), 2.0 * least)
    }

    /// The exchange that lowers f most, if by more than `least`: place, coordinate.
    fn best_exchange(&mut self, least: f64) -> Option<(usize, usize)> {
        let (outputs, size, costs) = (self.space.outputs, self.left.len(), self.costs());
        let cheapest = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let mut others = promising(self.newcomers(), self.space.curvatures(), 2.0 * least, cheapest);
        self.work += 2.0 * size as f64;
        // Those with the first, which gains most alone, rule many out.
        let gains: Vec<f64> = others.iter().map(|&j| self.alone(j)).collect();
        let first = (0..gains.len()).rev().max_by(|&a, &b| gains[a].total_cmp(&gains[b]))?;
        others[..=first].rotate_right(1);
        let units: Vec<f64> = self.inverse.diagonal().map(|d| 1.0 / d).collect();
        let shifts = self.x.chunks_exact(outputs).zip(&units).flat_map(|(x, unit)| x.iter().map(move |x| x * unit));
        let shifts: Vec<f64> = shifts.collect();
        let mut order: Vec<usize> = (self.free..costs.len()).collect();
        order.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
        let inverse = self.inverse.entries();
        let members =
            Members { rows: &self.rows, inverse, shifts: &shifts, units: &units, costs: &costs, order: &order };
        let curvature = &self.space.curvature;
        let (compared, best) = highest_pair(&members, self.newcomers(), curvature, &others, 2.0 * least);
        self.work += (compared * costs.len()) as f64 / 2.0;
        best
    }
}

impl Place for Wide<'_> {
    fn value(&self) -> f64 {
        self.value
    }

    fn support(&self) -> Vec<usize> {
        let counted = &self.support[self.free..];
        let mut support: Vec<usize> = counted.iter().map(|&place| self.space.coordinates[place]).collect();
        support.sort_unstable();
        support
    }

    fn grow(&mut self, k: usize) -> Result<()> {
        while self.support.len() - self.free < k {
            let Some(place) = self.best_newcomer(self.least()) else { break };
            self.enter(place)?;
        }
        Ok(())
    }

    fn margin(&self) -> Result<f64> {
        let cheapest = self.costs().into_iter().fold(f64::INFINITY, f64::min);
        Ok(self.best_newcomer(0.0).map_or(f64::INFINITY, |j| cheapest / self.alone(j)))
    }

    fn widen(&mut self, more: usize) -> Result<()> {
        self.grow(self.support.len() - self.free + more)
    }

    /// Scores are exact.
    fn probe(&mut self, _count: usize) -> Result<()> {
        self.widen(1)
    }

    fn settle(&mut self, k: usize) -> Result<()> {
        let least = self.least();
        while self.support.len() - self.free > k {
            self.leave(self.cheapest());
        }
        self.grow(k)?;
        // Where rounding errors make up the gains there would be no end to them.
        for _ in 0..20 + 10 * k {
            let (before, Some((place, newcomer))) = (self.value, self.best_exchange(least)) else { break };
            self.leave(place);
            if !self.can_enter(newcomer) {
                break;
            }
            self.enter(newcomer)?;
            if self.value.is_nan() || self.value >= before {
                break;
            }
        }
        Ok(())
    }

    fn work(&self) -> f64 {
        self.work
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
