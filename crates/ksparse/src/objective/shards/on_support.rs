//! The objective over shards on a set of coordinates: one round gives value, gradient and Hessian.

use super::{Question, Summed};
use crate::error::Result;
use crate::linalg::MatrixMut;
use crate::restricted::{Form, Line, PointByPoint, Restricted, Second, SupportHessian};
use crate::sparsity::SparseRef;

/// What a round said at a point.
struct Place {
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    /// The lower triangle of the Hessian by columns.
    triangle: Vec<f64>,
}

/// f over a set of coordinates; the last two places are remembered, so that going back costs no round.
pub(super) struct OnSupport<'a> {
    summed: &'a Summed<'a>,
    set: Vec<usize>,
    places: Vec<Place>,
}

impl<'a> OnSupport<'a> {
    pub fn new(summed: &'a Summed<'a>, set: &[usize]) -> Self {
        Self { summed, set: set.to_vec(), places: Vec::new() }
    }

    fn round(&self, x: &[f64]) -> Result<Place> {
        let m = self.set.len();
        let mut sums = self.summed.means(&Question::On { set: self.set.clone(), x: x.to_vec() })?;
        let mut triangle = sums.split_off(1 + m);
        let mut gradient = sums.split_off(1);
        let mut at = 0;
        for (c, &j) in self.set.iter().enumerate() {
            let ridge = self.summed.ridge_at(j);
            gradient[c] += ridge * x[c];
            triangle[at] += ridge;
            at += m - c;
        }
        let value = sums[0] + self.summed.penalty(SparseRef::new(&self.set, x));
        Ok(Place { x: x.to_vec(), value, gradient, triangle })
    }

    /// Entries of the triangle with their row and column.
    fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let m = self.set.len();
        let triangle = self.places.last().map_or(&[][..], |place| &place.triangle);
        (0..m).flat_map(move |c| (c..m).map(move |r| (r, c))).zip(triangle).map(|((r, c), v)| (r, c, *v))
    }
}

impl Restricted for OnSupport<'_> {
    fn dim(&self) -> usize {
        self.set.len()
    }

    fn change(&mut self, set: &[usize]) -> Result<bool> {
        if self.set != set {
            self.set = set.to_vec();
            self.places.clear();
        }
        Ok(true)
    }

    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let place = match self.places.iter().position(|place| place.x == x) {
            Some(known) => self.places.remove(known),
            None => self.round(x)?,
        };
        if self.places.len() > 1 {
            self.places.remove(0);
        }
        gradient.copy_from_slice(&place.gradient);
        let value = place.value;
        self.places.push(place);
        Ok(value)
    }

    fn second(&mut self) -> Second<'_> {
        Second::Matrix(self)
    }

    fn line<'b>(&'b mut self, x: &[f64], direction: &[f64]) -> Result<Box<dyn Line + 'b>> {
        Ok(Box::new(PointByPoint::new(self, x, direction)))
    }

    fn form(&self) -> Form {
        let loss = self.summed.loss();
        Form {
            quadratic: loss.is_quadratic(),
            tail: loss.has_tail() && self.set.iter().any(|&j| self.summed.ridge_at(j) == 0.0),
            jumps: loss.curvature_jumps(),
            size: self.summed.size(),
        }
    }
}

impl SupportHessian for OnSupport<'_> {
    fn matrix(&mut self, mut out: MatrixMut<'_>) -> Result<()> {
        self.entries().for_each(|(r, c, v)| out[(r, c)] = v);
        Ok(())
    }

    fn product(&mut self, v: &[f64], out: &mut [f64]) -> Result<()> {
        out.fill(0.0);
        for (r, c, h) in self.entries() {
            out[r] += h * v[c];
            if r != c {
                out[c] += h * v[r];
            }
        }
        Ok(())
    }

    fn diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        self.entries().filter(|(r, c, _)| r == c).for_each(|(r, _, h)| out[r] = h);
        Ok(())
    }
}
