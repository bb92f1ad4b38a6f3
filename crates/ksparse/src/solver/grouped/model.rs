//! The quadratic model of f on a support of groups, and what it says about a group that leaves.

use crate::kernels::axpy;
use crate::linalg::Cholesky;
use crate::solver::run::{Iterate, Run};
use faer::Mat;

/// The part of the diagonal that is added to it. What the classes of a multinomial loss share is felt by no sample, and
/// without a ridge the Hessian is singular there; a coefficient's share in it must not count as its worth.
const DAMPING: f64 = 1e-6;

/// f near a point, on its support: minimiser and inverse Hessian.
pub(in crate::solver) struct GroupedModel {
    /// Where the model has its minimum: the point itself, less a Newton step if it was not minimised to the end.
    pub x: Vec<f64>,
    /// `G^-1`, G the Hessian on what has not been dropped.
    pub inverse: Mat<f64>,
    /// The gradient on the support at the point the model was made at.
    pub slope: Vec<f64>,
    /// The groups of the support and the places of their coordinates in it.
    pub units: Vec<(usize, Vec<usize>)>,
}

/// What it takes for a group to leave, the others answering.
pub(in crate::solver) struct Departure {
    /// Twice the rise of f.
    pub cost: f64,
    /// `R` with `R' R = D^-1`, D the group's block of `G^-1`.
    pub root: Mat<f64>,
    /// `D^-1 w`, w the group's coefficients.
    pub pull: Vec<f64>,
}

impl GroupedModel {
    /// `slope` is the gradient on the support, `hessian` the lower triangle of the second derivatives there.
    pub fn new(run: &Run, at: &Iterate, slope: Vec<f64>, hessian: Mat<f64>) -> Self {
        let damping: Vec<f64> = (0..slope.len()).map(|a| DAMPING * hessian[(a, a)]).collect();
        let inverse = Cholesky::new(hessian, Some(&damping)).inverse();
        let mut x = at.x.clone();
        for (b, g) in slope.iter().enumerate() {
            subtract(&mut x, *g, inverse.col_as_slice(b));
        }
        let mut units: Vec<(usize, Vec<usize>)> =
            run.budget.units_of(&at.support).into_iter().map(|unit| (unit, Vec::new())).collect();
        for (place, &j) in at.support.iter().enumerate() {
            if let Some(unit) = run.budget.unit(j)
                && let Ok(found) = units.binary_search_by_key(&unit, |unit| unit.0)
            {
                units[found].1.push(place);
            }
        }
        Self { x, inverse, slope, units }
    }

    /// What the group at this place of the list would take with it.
    pub fn departure(&self, unit: usize) -> Departure {
        let places = &self.units[unit].1;
        let block = Mat::from_fn(places.len(), places.len(), |a, b| self.inverse[(places[a], places[b])]);
        let factor = Cholesky::new(block, None);
        let mut pull: Vec<f64> = places.iter().map(|&p| self.x[p]).collect();
        factor.solve(&mut pull);
        let cost = pull.iter().zip(places).map(|(pull, &p)| pull * self.x[p]).sum();
        Departure { cost, root: factor.root(), pull }
    }

    /// Takes some groups out, those that cost least one after the other; returns which places are left.
    pub fn drop_cheapest(&mut self, drops: usize) -> Vec<usize> {
        let mut left = vec![true; self.units.len()];
        for _ in 0..drops {
            let departures = (0..left.len()).filter(|&unit| left[unit]).map(|unit| (self.departure(unit).cost, unit));
            // The larger of equals: ties go to the smaller.
            let cheapest = departures.min_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let Some((_, unit)) = cheapest else { break };
            left[unit] = false;
            for place in self.units[unit].1.clone() {
                self.hold(place);
            }
        }
        let gone: Vec<usize> =
            self.units.iter().zip(&left).filter(|(_, left)| !**left).flat_map(|(unit, _)| unit.1.clone()).collect();
        (0..self.x.len()).filter(|place| !gone.contains(place)).collect()
    }

    /// Holds a coordinate at 0: the others move, and the inverse becomes that of the smaller Hessian.
    fn hold(&mut self, place: usize) {
        let column = self.inverse.col_as_slice(place).to_vec();
        let pivot = column[place];
        if pivot <= 0.0 {
            return;
        }
        let share = self.x[place] / pivot;
        subtract(&mut self.x, share, &column);
        self.x[place] = 0.0;
        for (b, &v) in column.iter().enumerate().filter(|(b, _)| *b != place) {
            if v != 0.0 {
                subtract(self.inverse.col_as_slice_mut(b), v / pivot, &column);
            }
        }
        self.inverse.col_as_slice_mut(place).fill(0.0);
    }

    /// Where the model has its minimum once these groups have gone and nothing has come.
    pub fn without(&self, mut x: Vec<f64>, units: &[usize]) -> Vec<f64> {
        let gone: Vec<usize> = units.iter().flat_map(|&unit| self.units[unit].1.iter().copied()).collect();
        let block = Mat::from_fn(gone.len(), gone.len(), |a, b| self.inverse[(gone[a], gone[b])]);
        let mut shift: Vec<f64> = gone.iter().map(|&p| x[p]).collect();
        Cholesky::new(block, None).solve(&mut shift);
        for (s, &p) in shift.iter().zip(&gone) {
            subtract(&mut x, *s, self.inverse.col_as_slice(p));
        }
        x
    }
}

fn subtract(from: &mut [f64], factor: f64, what: &[f64]) {
    axpy(-factor, what, from);
}
