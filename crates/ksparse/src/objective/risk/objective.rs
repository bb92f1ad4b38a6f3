//! The risk as an objective.

use super::Risk;
use super::on_support::RestrictedRisk;
use super::point::RiskPoint;
use crate::design::Traffic;
use crate::error::Result;
use crate::loss::Smoothness;
use crate::objective::{BlockCost, Objective, Point, Profile, Samples};
use crate::restricted::Restricted;
use crate::sparsity::SparseRef;

impl Objective for Risk<'_> {
    fn dim(&self) -> usize {
        self.design.ncols()
    }

    fn free(&self) -> &[usize] {
        &self.free
    }

    fn at<'b>(&'b self, x: SparseRef<'_>) -> Result<Box<dyn Point + 'b>> {
        Ok(Box::new(RiskPoint::new(self, x)?))
    }

    fn value(&self, x: SparseRef) -> Result<f64> {
        let value = Risk::value(self, x);
        self.design.health()?;
        Ok(value)
    }

    fn profile(&self) -> Profile {
        let mut profile = Profile::of_gradients(self.dim());
        profile.quadratic = self.loss.is_quadratic();
        profile.corners = self.loss.smoothness().has_corners();
        profile.gradient = self.design.cost();
        let column = self.design.cost() / self.design.ncols().max(1) as f64;
        // A blocked product runs several times faster per multiply-add than a pass over memory.
        profile.hessian = (!profile.corners).then_some(BlockCost { column, entry: column / 6.0 });
        profile
    }

    fn restrict<'b>(&'b self, support: &[usize]) -> Result<Box<dyn Restricted + 'b>> {
        let restricted = RestrictedRisk::new(self, support);
        self.design.health()?;
        Ok(Box::new(restricted))
    }

    fn traffic(&self) -> Option<Traffic> {
        self.design.traffic()
    }

    fn narrowed<'b>(&'b self, coordinates: &[usize]) -> Result<Option<Box<dyn Objective + 'b>>> {
        Ok(Some(Box::new(self.over(coordinates))))
    }

    fn majorant(&self) -> Result<Option<Vec<f64>>> {
        let Smoothness::Bounded(bound) = self.loss.smoothness() else { return Ok(None) };
        let squares = self.weighted_squares().iter().enumerate();
        self.design.health()?;
        Ok(Some(squares.map(|(j, square)| bound * square + self.ridge_at(j)).collect()))
    }

    fn smoothness(&self, s: usize) -> Result<Smoothness> {
        // (1/C) sum c_i l'' (x_i'd)^2 <= sup l'' min(R_s^2, largest eigenvalue of X'CX/C) ||d||^2 for s-sparse d.
        let Smoothness::Bounded(bound) = self.loss.smoothness() else { return Ok(self.loss.smoothness()) };
        let rows = self.largest_row_norm_squared(s);
        let spectrum = crate::theory::largest_gram_eigenvalue(&*self.design, &self.weights);
        self.design.health()?;
        Ok(Smoothness::Bounded(bound * rows.min(spectrum) + self.ridge))
    }

    fn samples(&self) -> Option<Samples<'_>> {
        Some(Samples {
            design: &*self.design,
            loss: &*self.loss,
            target: self.target(),
            weights: &self.weights,
            total_weight: self.total_weight,
            ridge: self.ridge,
            free: &self.free,
            unit: self.unit,
        })
    }
}
