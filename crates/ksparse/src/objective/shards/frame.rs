//! What is done to every row before it is used: centring, scaling, an intercept.

use crate::design::moments::{Moments, may_be_far};
use crate::design::{Design, Scaled, WithIntercept, check_penalty_factors};
use crate::error::{Error, Result};
use crate::objective::LinearModel;
use crate::solver::Solution;

/// The same for all shards, found from sums over all of them. The default is the data as given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frame {
    /// Columns far from 0, ascending, and what is subtracted from them before any product.
    pub moved: Vec<(usize, f64)>,
    /// What is subtracted from every column after that, by a correction of the products; empty for nothing.
    pub rest: Vec<f64>,
    /// What every column is divided by; empty for 1.
    pub scale: Vec<f64>,
    /// Where there is an intercept, what its coordinate is multiplied by to become it.
    pub unit: Option<f64>,
    /// What is subtracted from the target.
    pub target_shift: f64,
}

/// Means and mean squares about them, over all shards.
pub(super) struct Spread {
    pub means: Vec<f64>,
    pub squares: Vec<f64>,
    pub target_mean: f64,
    pub target_square: f64,
}

impl Frame {
    /// As [`Risk`](crate::Risk) arranges its data, and as [`Scaled::standardize`] scales them.
    pub(super) fn new(spread: &Spread, intercept: bool, standardize: bool, of_residual: bool) -> Result<Self> {
        let mut frame = Self { unit: intercept.then_some(1.0), ..Self::default() };
        if !intercept && !standardize {
            return Ok(frame);
        }
        let p = spread.means.len();
        let (mut rest, mut scale, mut largest) = (vec![0.0; p], vec![1.0; p], 0.0f64);
        for (j, (&mean, &square)) in spread.means.iter().zip(&spread.squares).enumerate() {
            let deviation = square.sqrt();
            if !deviation.is_finite() {
                return Err(Error::Overflow { what: "square of a column" });
            }
            let constant = deviation <= 4.0 * f64::EPSILON * mean.abs();
            let moments = Moments { anchor: mean, rest: 0.0, deviation: if constant { 0.0 } else { deviation } };
            let centred = standardize || mean.abs() > deviation;
            if centred && may_be_far(mean, moments.deviation.powi(2)) && moments.is_far() {
                frame.moved.push((j, moments.shift()));
                rest[j] = mean - moments.shift();
            } else if centred {
                rest[j] = mean;
            }
            if standardize && !constant {
                if !square.is_normal() {
                    let what = "overflow or vanish: multiply it by a power of ten that brings it nearer to 1";
                    return Err(Error::Data(format!("the squares of column {j} (counted from 0) {what}")));
                }
                scale[j] = deviation;
            }
            largest = largest.max(if centred { deviation } else { deviation.hypot(mean) } / scale[j]);
        }
        if rest.iter().any(|m| *m != 0.0) {
            frame.rest = rest;
        }
        if standardize {
            frame.scale = scale;
        }
        if intercept && largest > 0.0 && largest.is_finite() {
            // A power of two, as in a risk: multiplying by it changes no digit.
            frame.unit = Some(largest.log2().round().clamp(-400.0, 400.0).exp2());
        }
        let target = Moments { anchor: spread.target_mean, rest: 0.0, deviation: spread.target_square.sqrt() };
        if intercept && of_residual && target.is_far() {
            frame.target_shift = target.shift();
        }
        Ok(frame)
    }

    /// The ridge on column j multiplied by `factors[j]`: the column divided by the root of it, as
    /// [`Scaled::with_penalty_factors`] has it.
    pub(super) fn penalise(&mut self, factors: &[f64], columns: usize) -> Result<()> {
        check_penalty_factors(factors, columns)?;
        self.scale.resize(columns, 1.0);
        self.scale.iter_mut().zip(factors).for_each(|(scale, factor)| *scale *= factor.sqrt());
        Ok(())
    }

    /// Coordinates of a point, for data of so many columns.
    pub fn dim(&self, columns: usize) -> usize {
        columns + usize::from(self.unit.is_some())
    }

    /// The numbers it consists of.
    pub fn length(&self) -> usize {
        2 * self.moved.len() + self.rest.len() + self.scale.len() + 2
    }

    /// Rows as they are worked with.
    pub(super) fn apply<'d>(&self, data: &'d dyn Design) -> Box<dyn Design + 'd> {
        let as_given = self.moved.is_empty() && self.rest.is_empty() && self.scale.is_empty();
        let inner: Box<dyn Design + 'd> =
            if as_given { Box::new(data) } else { Box::new(Scaled::known(data, &self.moved, &self.rest, &self.scale)) };
        match self.unit {
            Some(unit) => Box::new(WithIntercept::in_units(inner, unit)),
            None => inner,
        }
    }

    /// What is subtracted from column j, and what it is divided by then.
    fn of(&self, j: usize) -> (f64, f64) {
        let moved = self.moved.binary_search_by_key(&j, |moved| moved.0).map_or(0.0, |at| self.moved[at].1);
        (moved + self.rest.get(j).unwrap_or(&0.0), *self.scale.get(j).unwrap_or(&1.0))
    }

    /// A point as a model of the data as given, of so many columns.
    pub(super) fn model(&self, solution: &Solution, columns: usize) -> LinearModel {
        let mut model = LinearModel { intercept: self.target_shift, ..LinearModel::default() };
        for (&j, &c) in solution.support.iter().zip(&solution.coefficients) {
            if j == columns {
                model.intercept += c * self.unit.unwrap_or(1.0);
            } else {
                let (centre, scale) = self.of(j);
                model.support.push(j);
                model.coefficients.push(c / scale);
                model.intercept -= centre * (c / scale);
            }
        }
        model
    }

    /// A model as a point: what [`model`](Self::model) makes of it is that model again, to rounding.
    pub(super) fn start(&self, model: &LinearModel, columns: usize) -> Solution {
        let (mut support, mut coefficients) = (model.support.clone(), model.coefficients.clone());
        let mut intercept = model.intercept - self.target_shift;
        for (&j, c) in support.iter().zip(&mut coefficients) {
            let (centre, scale) = self.of(j);
            intercept += centre * *c;
            *c *= scale;
        }
        if let Some(unit) = self.unit {
            support.push(columns);
            coefficients.push(intercept / unit);
        }
        Solution::guess(support, coefficients)
    }
}
