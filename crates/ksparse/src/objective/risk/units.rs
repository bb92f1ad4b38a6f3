//! Between models in the user's units and points in those of the risk.

use super::Risk;
use crate::objective::LinearModel;
use crate::solver::Solution;

impl Risk<'_> {
    /// The solution as a model: intercept apart.
    pub fn model(&self, solution: &Solution) -> LinearModel {
        let mut model = LinearModel::default();
        for (&j, &c) in solution.support.iter().zip(&solution.coefficients) {
            if self.free.contains(&j) {
                model.intercept += c * self.unit;
            } else {
                model.support.push(j);
                model.coefficients.push(c);
                model.intercept -= c * self.shift(j);
            }
        }
        model.intercept += self.target_shift;
        model
    }

    /// A model as a point of this risk: what [`model`](Self::model) makes of it is that model again, to rounding.
    pub fn start(&self, model: &LinearModel) -> Solution {
        let (mut support, mut coefficients) = (model.support.clone(), model.coefficients.clone());
        if let Some(&last) = self.free.first() {
            let moved: f64 = support.iter().zip(&coefficients).map(|(&j, c)| c * self.shift(j)).sum();
            support.push(last);
            coefficients.push((model.intercept - self.target_shift + moved) / self.unit);
        }
        Solution::guess(support, coefficients)
    }

    /// What the last coordinate is multiplied by to become the intercept.
    pub(crate) fn intercept_unit(&self) -> f64 {
        self.unit
    }

    /// What was subtracted from column j.
    fn shift(&self, j: usize) -> f64 {
        self.moved.binary_search_by_key(&j, |moved| moved.0).map_or(0.0, |at| self.moved[at].1)
    }
}
