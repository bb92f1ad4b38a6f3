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
//! Each costs O(k p), and a row of H when a coordinate enters for the first time (one pass over the data; rows are
//! kept). So a search that grows, exchanges and drops thousands of times never solves a system. An exchange gains no
//! more than its newcomer alone would, which spares all but some fifty newcomers the comparison with every member.
//!
//! Where f has several outputs with one H (several responses), x and g have a column for each, and their squares above
//! are sums over the outputs: a coordinate is then in for all of them.

mod space;

pub(super) use space::Space;

use super::landscape::{Landscape, Place, Start};
use crate::error::Result;
use crate::kernels::{axpy, axpy4, highest_newcomer};

/// A coordinate of which less is left than this share cannot enter: what is left is rounding error, or soon would be.
const DEPENDENT: f64 = 1e-8;

/// The share of entering coordinates whose row is not there yet, on average. (Work is counted by it and not by what
/// happened: threads may come upon a row in any order.)
const NEW_ROWS: f64 = 0.1;

/// With more newcomers than this to compare with every member, it is quicker to go through V from end to end.
const MANY: usize = 500;

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
            solved: Vec::new(),
            inverse: Vec::new(),
            gradient: self.gradient.clone(),
            left: self.diagonal.clone(),
            inside: vec![false; self.coordinates.len()],
            work: 0.0,
        };
        for j in self.free {
            if let Ok(place) = self.coordinates.binary_search(j)
                && state.left[place] > DEPENDENT * self.diagonal[place]
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
    /// V by rows: one per member of F, over all coordinates.
    solved: Vec<Vec<f64>>,
    /// G^-1.
    inverse: Vec<Vec<f64>>,
    /// Output by output.
    gradient: Vec<f64>,
    left: Vec<f64>,
    inside: Vec<bool>,
    /// Multiply-adds so far.
    work: f64,
}

impl<'s> Wide<'s> {
    /// Whether a coordinate outside can enter.
    #[inline]
    fn can_enter(&self, j: usize) -> bool {
        self.space.counted[j] && !self.inside[j] && self.left[j] > DEPENDENT * self.space.diagonal[j]
    }

    /// Takes j in.
    fn enter(&mut self, j: usize) -> Result<()> {
        let mut row = self.space.row(j)?;
        let (outputs, size) = (self.space.outputs, row.len());
        self.work += ((2 * self.support.len() + 2 + outputs) as f64 + NEW_ROWS * self.space.entry) * row.len() as f64;
        let shares: Vec<f64> = self.support.iter().map(|&a| row[a]).collect();
        let (fours, rest) = shares.as_chunks::<4>();
        for (c, four) in fours.iter().enumerate() {
            let solved: [&[f64]; 4] = std::array::from_fn(|i| &self.solved[4 * c + i][..]);
            axpy4(four.map(|share| -share), solved, &mut row);
        }
        for (share, solved) in rest.iter().zip(&self.solved[4 * fours.len()..]) {
            axpy(-share, solved, &mut row);
        }
        let pivot = row[j];
        let mut steps = vec![0.0; outputs];
        for (step, gradient) in steps.iter_mut().zip(self.gradient.chunks_mut(size)) {
            *step = -gradient[j] / pivot;
            self.value += 0.5 * gradient[j] * *step;
            axpy(*step, &row, gradient);
        }
        self.left.iter_mut().zip(&row).for_each(|(e, r)| *e -= r * (r / pivot));
        let answers: Vec<f64> = self.solved.iter().map(|solved| solved[j]).collect();
        for (answer, (solved, x)) in answers.iter().zip(self.solved.iter_mut().zip(self.x.chunks_mut(outputs))) {
            axpy(-answer / pivot, &row, solved);
            x.iter_mut().zip(&steps).for_each(|(x, step)| *x -= answer * step);
        }
        for (b, line) in self.inverse.iter_mut().enumerate() {
            line.iter_mut().zip(&answers).for_each(|(v, a)| *v += answers[b] * a / pivot);
            line.push(-answers[b] / pivot);
        }
        let last = answers.iter().map(|a| -a / pivot).chain([1.0 / pivot]).collect();
        self.inverse.push(last);
        row.iter_mut().for_each(|r| *r /= pivot);
        self.solved.push(row);
        self.support.push(j);
        self.x.extend(steps);
        self.inside[j] = true;
        Ok(())
    }

    /// Lets the member at a place go.
    fn leave(&mut self, place: usize) {
        let (outputs, size) = (self.space.outputs, self.left.len());
        self.work += (self.support.len() + 1 + outputs) as f64 * size as f64;
        let j = self.support.remove(place);
        let x: Vec<f64> = self.x.drain(place * outputs..(place + 1) * outputs).collect();
        let solved = self.solved.remove(place);
        let mut column: Vec<f64> = self.inverse.iter().map(|line| line[place]).collect();
        let pivot = column.remove(place);
        self.inverse.remove(place);
        let shifts: Vec<f64> = x.iter().map(|x| x / pivot).collect();
        for ((x, shift), gradient) in x.iter().zip(&shifts).zip(self.gradient.chunks_mut(size)) {
            self.value += 0.5 * x * shift;
            axpy(-shift, &solved, gradient);
            gradient[j] = -shift;
        }
        self.left.iter_mut().zip(&solved).for_each(|(e, v)| *e += v * v / pivot);
        for (b, &answer) in column.iter().enumerate() {
            let factor = answer / pivot;
            axpy(-factor, &solved, &mut self.solved[b]);
            self.solved[b][j] = -factor;
            self.x[b * outputs..(b + 1) * outputs].iter_mut().zip(&shifts).for_each(|(x, shift)| *x -= answer * shift);
            self.inverse[b].remove(place);
            self.inverse[b].iter_mut().zip(&column).for_each(|(v, c)| *v -= factor * c);
        }
        self.left[j] = 1.0 / pivot;
        self.inside[j] = false;
    }

    /// The member whose leaving costs least; the earlier of equals.
    fn cheapest(&self) -> usize {
        let cost = |a: usize| self.departure(a).1;
        (self.free..self.support.len()).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(self.free)
    }

    /// A fall of f that is none.
    fn least(&self) -> f64 {
        0.5 * NOTHING * self.space.value
    }

    /// Twice what f falls by when j enters.
    fn alone(&self, j: usize) -> f64 {
        let size = self.left.len();
        let squares: f64 = (0..self.space.outputs).map(|c| self.gradient[c * size + j].powi(2)).sum();
        squares / self.left[j]
    }

    /// The coordinate that lowers f most by entering, if by more than `least`; the smaller of equals.
    fn best_newcomer(&self, least: f64) -> Option<usize> {
        let mut best = (2.0 * least, None);
        for j in 0..self.left.len() {
            if self.can_enter(j) && self.alone(j) > best.0 {
                best = (self.alone(j), Some(j));
            }
        }
        best.1
    }

    /// The exchange that lowers f most, if by more than `least`: place, coordinate.
    fn best_exchange(&mut self, least: f64) -> Option<(usize, usize)> {
        self.work += 2.0 * self.left.len() as f64;
        let first = self.best_newcomer(least)?;
        let mut best = (2.0 * least, None);
        self.compare(first, &mut best);
        // Only who would gain more alone than that can gain more.
        let mut others: Vec<(f64, usize)> = (0..self.left.len())
            .map(|j| (self.alone(j), j))
            .filter(|&(alone, j)| alone > best.0 && j != first && self.can_enter(j))
            .collect();
        if others.len() > MANY && self.space.outputs == 1 {
            self.compare_all(&mut best);
        } else {
            others.sort_unstable_by(better_first);
            let promising = others.into_iter().take_while(|(alone, _)| *alone > best.0);
            for (_, j) in promising.collect::<Vec<_>>() {
                self.compare(j, &mut best);
            }
        }
        best.1
    }

    /// What letting member a go costs: `1 / d_a` and `x_a^2 / d_a`.
    fn departure(&self, a: usize) -> (f64, f64) {
        let d = self.inverse[a][a];
        let squares: f64 = self.of_member(a).iter().map(|x| x * x).sum();
        (1.0 / d, squares / d)
    }

    /// x_a, for every output.
    fn of_member(&self, a: usize) -> &[f64] {
        &self.x[a * self.space.outputs..(a + 1) * self.space.outputs]
    }

    /// Exchanges of every member for j; twice the gain of the best goes with it.
    fn compare(&self, j: usize, best: &mut (f64, Option<(usize, usize)>)) {
        for a in self.free..self.support.len() {
            let ((unit, cost), v, d) = (self.departure(a), self.solved[a][j], self.inverse[a][a]);
            let slopes = self.of_member(a).iter().zip(self.gradient.chunks(self.left.len()));
            let squares: f64 = slopes.map(|(x, gradient)| (gradient[j] - v * (x / d)).powi(2)).sum();
            let gain = squares / (self.left[j] + v * v * unit) - cost;
            if gain > best.0 {
                *best = (gain, Some((a, j)));
            }
        }
    }

    /// Exchanges of every member for anyone outside.
    fn compare_all(&mut self, best: &mut (f64, Option<(usize, usize)>)) {
        self.work += self.support.len() as f64 * self.left.len() as f64;
        let left: Vec<f64> =
            (0..self.left.len()).map(|j| if self.can_enter(j) { self.left[j] } else { f64::INFINITY }).collect();
        for a in self.free..self.support.len() {
            let newcomers = (&self.gradient[..], &left[..]);
            let (unit, cost) = self.departure(a);
            let departure = (self.x[a] / self.inverse[a][a], unit, cost);
            if let Some((gain, j)) = highest_newcomer(&self.solved[a], newcomers, departure, best.0) {
                *best = (gain, Some((a, j)));
            }
        }
    }
}

fn better_first(a: &(f64, usize), b: &(f64, usize)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
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
