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
//! kept). So a search that grows, exchanges and drops thousands of times never solves a system.

use super::run::Run;
use crate::error::Result;
use crate::kernels::{axpy, axpy4, highest_newcomer};
use crate::linalg::MatrixMut;
use crate::objective::Hessian;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// The coordinates that a search may use, with the rows of H over them: each computed once while there is room for
/// them.
pub(super) struct Space<'a> {
    hessian: &'a dyn Hessian,
    /// Ascending; everything else here goes by places in this list.
    pub coordinates: Vec<usize>,
    rows: Vec<OnceLock<Arc<[f64]>>>,
    /// Rows that may still be kept.
    room: AtomicUsize,
    /// e below this is rounding error.
    floor: Vec<f64>,
    /// Whether a coordinate is counted in k.
    counted: Vec<bool>,
}

/// Bytes that rows may take.
const MEMORY: usize = 256 << 20;

impl<'a> Space<'a> {
    /// The free coordinates must be among the coordinates.
    pub fn new(run: &Run, hessian: &'a dyn Hessian, coordinates: Vec<usize>) -> Result<Self> {
        let mut floor = vec![0.0; coordinates.len()];
        hessian.diagonal_at(&coordinates, &mut floor)?;
        floor.iter_mut().for_each(|h| *h *= 1e-9);
        let rows = coordinates.iter().map(|_| OnceLock::new()).collect();
        let counted = coordinates.iter().map(|&j| !run.budget.is_free(j)).collect();
        let room = AtomicUsize::new(MEMORY / 8 / coordinates.len().max(1));
        Ok(Self { hessian, coordinates, rows, room, floor, counted })
    }

    fn row(&self, place: usize) -> Result<Arc<[f64]>> {
        if let Some(row) = self.rows[place].get() {
            return Ok(Arc::clone(row));
        }
        let mut row = faer::Mat::zeros(1, self.coordinates.len());
        self.hessian.block(&[self.coordinates[place]], &self.coordinates, MatrixMut::over(&mut row))?;
        let row: Arc<[f64]> = (0..self.coordinates.len()).map(|m| row[(0, m)]).collect();
        if self.room.fetch_update(Relaxed, Relaxed, |room| room.checked_sub(1)).is_ok() {
            let _ = self.rows[place].set(Arc::clone(&row));
        }
        Ok(row)
    }
}

/// A support with everything above, over the coordinates of a [`Space`]; all indices are places there.
#[derive(Clone)]
pub(super) struct Wide<'s> {
    space: &'s Space<'s>,
    /// F in the order of entry, free coordinates first.
    support: Vec<usize>,
    free: usize,
    /// The minimum on F, and f there.
    x: Vec<f64>,
    pub value: f64,
    /// V by rows: one per member of F, over all coordinates.
    solved: Vec<Vec<f64>>,
    /// G^-1.
    inverse: Vec<Vec<f64>>,
    gradient: Vec<f64>,
    left: Vec<f64>,
    inside: Vec<bool>,
    /// Multiply-adds so far.
    pub work: f64,
}

impl<'s> Wide<'s> {
    /// Over the free coordinates alone, given f and its gradient at 0.
    pub fn new(space: &'s Space<'s>, value: f64, gradient: &[f64]) -> Result<Self> {
        let size = space.coordinates.len();
        let mut state = Self {
            space,
            support: Vec::new(),
            free: 0,
            x: Vec::new(),
            value,
            solved: Vec::new(),
            inverse: Vec::new(),
            gradient: space.coordinates.iter().map(|&j| gradient[j]).collect(),
            left: space.floor.iter().map(|f| 1e9 * f).collect(),
            inside: vec![false; size],
            work: 0.0,
        };
        for place in (0..size).filter(|&place| !space.counted[place]) {
            if state.left[place] > space.floor[place] {
                state.enter(place)?;
                state.free += 1;
            }
        }
        Ok(state)
    }

    /// The coordinates of F with their values, ascending.
    pub fn point(&self) -> Vec<(usize, f64)> {
        let mut point: Vec<(usize, f64)> =
            self.support.iter().map(|&place| self.space.coordinates[place]).zip(self.x.iter().copied()).collect();
        point.sort_unstable_by_key(|entry| entry.0);
        point
    }

    /// Takes in those of some coordinates that are here and can enter.
    pub fn enter_all(&mut self, coordinates: impl Iterator<Item = usize>) -> Result<()> {
        for j in coordinates {
            if let Ok(place) = self.space.coordinates.binary_search(&j)
                && self.can_enter(place)
            {
                self.enter(place)?;
            }
        }
        Ok(())
    }

    /// Coordinates in all.
    pub fn dim(&self) -> usize {
        self.left.len()
    }

    /// Members that may not leave.
    pub fn free(&self) -> usize {
        self.free
    }

    /// Members that may leave.
    pub fn counted(&self) -> usize {
        self.support.len() - self.free
    }

    /// Whether a coordinate outside can enter.
    pub fn can_enter(&self, j: usize) -> bool {
        self.space.counted[j] && !self.inside[j] && self.left[j] > self.space.floor[j]
    }

    /// Takes j in.
    pub fn enter(&mut self, j: usize) -> Result<()> {
        let mut row = self.space.row(j)?.to_vec();
        self.work += (2 * self.support.len() + 3) as f64 * row.len() as f64;
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
        let step = -self.gradient[j] / pivot;
        self.value += 0.5 * self.gradient[j] * step;
        axpy(step, &row, &mut self.gradient);
        self.left.iter_mut().zip(&row).for_each(|(e, r)| *e -= r * r / pivot);
        let answers: Vec<f64> = self.solved.iter().map(|solved| solved[j]).collect();
        for (answer, (solved, x)) in answers.iter().zip(self.solved.iter_mut().zip(&mut self.x)) {
            axpy(-answer / pivot, &row, solved);
            *x -= answer * step;
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
        self.x.push(step);
        self.inside[j] = true;
        Ok(())
    }

    /// Lets the member at a place go.
    pub fn leave(&mut self, place: usize) {
        self.work += (self.support.len() + 2) as f64 * self.left.len() as f64;
        let j = self.support.remove(place);
        let x = self.x.remove(place);
        let solved = self.solved.remove(place);
        let mut column: Vec<f64> = self.inverse.iter().map(|line| line[place]).collect();
        let pivot = column.remove(place);
        self.inverse.remove(place);
        let shift = x / pivot;
        self.value += 0.5 * x * shift;
        axpy(-shift, &solved, &mut self.gradient);
        self.left.iter_mut().zip(&solved).for_each(|(e, v)| *e += v * v / pivot);
        for (b, &answer) in column.iter().enumerate() {
            let factor = answer / pivot;
            axpy(-factor, &solved, &mut self.solved[b]);
            self.solved[b][j] = -factor;
            self.x[b] -= answer * shift;
            self.inverse[b].remove(place);
            self.inverse[b].iter_mut().zip(&column).for_each(|(v, c)| *v -= factor * c);
        }
        (self.gradient[j], self.left[j]) = (-shift, 1.0 / pivot);
        self.inside[j] = false;
    }

    /// The member whose leaving costs least; the earlier of equals.
    pub fn cheapest(&self) -> usize {
        let cost = |a: usize| self.x[a] * self.x[a] / self.inverse[a][a];
        (self.free..self.support.len()).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(self.free)
    }

    /// Twice what f falls by when j enters.
    fn alone(&self, j: usize) -> f64 {
        self.gradient[j] * self.gradient[j] / self.left[j]
    }

    /// The coordinate that lowers f most by entering; the smaller of equals.
    pub fn best_newcomer(&mut self) -> Option<usize> {
        self.work += self.left.len() as f64;
        let mut best = (0.0, None);
        for j in 0..self.left.len() {
            if self.can_enter(j) && self.alone(j) > best.0 {
                best = (self.alone(j), Some(j));
            }
        }
        best.1
    }

    /// The exchange that lowers f most, if by more than `least`: place, coordinate.
    pub fn best_exchange(&mut self, least: f64) -> Option<(usize, usize)> {
        self.work += (self.support.len() + 1) as f64 * self.left.len() as f64;
        let left: Vec<f64> =
            (0..self.left.len()).map(|j| if self.can_enter(j) { self.left[j] } else { f64::INFINITY }).collect();
        let mut best = (2.0 * least, None);
        for a in self.free..self.support.len() {
            let d = self.inverse[a][a];
            let place = (self.x[a] / d, 1.0 / d, self.x[a] * self.x[a] / d);
            if let Some((gain, j)) = highest_newcomer(&self.solved[a], (&self.gradient, &left), place, best.0) {
                best = (gain, Some((a, j)));
            }
        }
        best.1
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::loss::Squared;
    use crate::objective::Objective;
    use crate::restricted::InnerOptions;
    use crate::simulate::{self, Correlation};
    use crate::solver::{Limits, Progress};
    use crate::sparsity::SparseRef;
    use crate::{Risk, Sparsity};
    use rand::{Rng, SeedableRng};
    use std::ops::ControlFlow;

    /// After any entering and leaving the state is that of a fresh refit, and the exchange it praises is the best of
    /// all.
    #[test]
    fn updates_are_refits_and_the_best_exchange_is_the_best() {
        for seed in 0..10 {
            let data = simulate::linear(30, 14, 4, Correlation::Ar1(0.7), 0.5, seed);
            let risk = Risk::new(&data.design, &data.target, Squared::default()).unwrap().with_ridge(1e-3).unwrap();
            let risk = risk.with_intercept();
            let (limits, watch) = (Limits::default(), &mut |_: &Progress| ControlFlow::Continue(()));
            let run = Run::with_subgradient("test", &risk, &Sparsity::new(4), &limits, watch).unwrap();
            let zero = risk.at(SparseRef::ZERO).unwrap();
            let space = Space::new(&run, zero.hessian().unwrap().unwrap(), (0..15).collect()).unwrap();
            let mut state = Wide::new(&space, zero.value(), zero.gradient().unwrap()).unwrap();
            let rng = &mut rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            for _ in 0..60 {
                let place = rng.random_range(0..14);
                if state.can_enter(place) && state.counted() < 6 {
                    state.enter(place).unwrap();
                } else if state.counted() > 0 {
                    state.leave(rng.random_range(state.free()..state.free() + state.counted()));
                }
            }
            let fit = |support: Vec<usize>| {
                let zeros = vec![0.0; support.len()];
                run.refit(support, zeros, &InnerOptions::EXACT).unwrap()
            };
            let point = state.point();
            let support: Vec<usize> = point.iter().map(|entry| entry.0).collect();
            let fresh = fit(support.clone());
            assert!((fresh.value - state.value).abs() < 1e-9 * zero.value(), "seed {seed}");
            assert!(fresh.x.iter().zip(&point).all(|(x, entry)| (x - entry.1).abs() < 1e-7), "seed {seed}");
            let mut least = f64::INFINITY;
            for out in support.iter().filter(|j| **j < 14) {
                for new in (0..14).filter(|j| !support.contains(j)) {
                    let mut other: Vec<usize> = support.iter().copied().filter(|j| j != out).chain([new]).collect();
                    other.sort_unstable();
                    least = least.min(fit(other).value);
                }
            }
            match state.best_exchange(1e-12) {
                Some((place, newcomer)) => {
                    state.leave(place);
                    state.enter(newcomer).unwrap();
                    assert!((state.value - least).abs() < 1e-9 * zero.value(), "seed {seed}");
                }
                None => assert!(support.len() == 1 || least >= fresh.value - 1e-9 * zero.value(), "seed {seed}"),
            }
        }
    }
}
