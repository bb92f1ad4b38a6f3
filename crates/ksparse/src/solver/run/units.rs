//! What coordinates are measured in.

use super::{Iterate, Run};
use crate::error::{Result, check_finite};

impl Run<'_> {
    /// The units of the coordinates at a point, as curvatures, where the objective has second derivatives: the diagonal
    /// of the Hessian, but no less than a hundredth of its bound (where samples sit on straight pieces of their loss it
    /// says little or nothing).
    pub fn units<'i>(&self, at: &'i Iterate) -> Result<Option<&'i [f64]>> {
        if at.units.get().is_none() {
            let units = self.units_of(at)?;
            at.units.get_or_init(|| units);
        }
        Ok(at.units.get().and_then(Option::as_deref))
    }

    fn units_of(&self, at: &Iterate) -> Result<Option<Vec<f64>>> {
        let profile = self.objective.profile();
        if profile.hessian.is_none() {
            return Ok(None);
        }
        let point = self.point(at)?;
        let Some(hessian) = point.hessian()? else { return Ok(None) };
        let mut diagonal = vec![0.0; self.objective.dim()];
        hessian.diagonal(&mut diagonal)?;
        check_finite("curvature (so the data)", &diagonal)?;
        if !profile.quadratic
            && let Some(bound) = self.objective.majorant()?
        {
            diagonal.iter_mut().zip(&bound).for_each(|(d, b)| *d = d.max(0.01 * b));
        }
        Ok(Some(diagonal))
    }
}
