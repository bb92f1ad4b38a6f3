//! Offsets of predictions, absorbed by targets and weights.

use super::Risk;
use crate::error::{Error, Result, check_finite, check_len};
use std::borrow::Cow;

impl Risk<'_> {
    /// With an offset of every prediction: the mean of `l(x_i'w + b + o_i, y_i)`. Under a log link it is the logarithm
    /// of an exposure. `Err` for losses of labels, which cannot take one.
    ///
    /// ```
    /// use ksparse::{Objective, Risk, SparseRef, design::Dense, loss::{Loss, Poisson}};
    /// let x = Dense::from_columns(2, 1, vec![1.0, -1.0])?;
    /// let risk = Risk::new(&x, &[3.0, 0.0], Poisson)?.with_offset(&[0.5, 2.0])?;
    /// let expected = 0.5 * (Poisson.value(0.1 + 0.5, 3.0) + Poisson.value(-0.1 + 2.0, 0.0));
    /// assert!((risk.value(SparseRef::new(&[0], &[0.1])) - expected).abs() < 1e-12);
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn with_offset(mut self, offset: &[f64]) -> Result<Self> {
        check_len("offset", offset.len(), self.design.nrows())?;
        check_finite("offset", offset)?;
        let absorbed: Option<Vec<(f64, f64)>> =
            offset.iter().zip(&*self.given).map(|(&o, &y)| self.loss.absorb(o, y)).collect();
        let Some(absorbed) = absorbed else {
            return Err(Error::Data(format!("the {} loss takes no offset: leave it out", self.loss.name())));
        };
        if absorbed.iter().any(|(y, factor)| !y.is_finite() || !factor.is_normal()) {
            return Err(Error::Overflow { what: "offset" });
        }
        let (target, factors): (Vec<f64>, Vec<f64>) = absorbed.into_iter().unzip();
        self.loss.check_target(&target)?;
        if factors.iter().any(|factor| *factor != 1.0) {
            self.weights.iter_mut().zip(&factors).for_each(|(w, factor)| *w *= factor);
            self.factors = factors;
        }
        self.given = Cow::Owned(target);
        self.arrange();
        Ok(self)
    }
}
