//! A block of rows.

use super::{Frame, Question};
use crate::design::Design;
use crate::error::{Error, Result, check_finite, check_len};
use crate::linalg::MatrixMut;
use crate::loss::Loss;
use crate::objective::{Hessian, Objective, Point, Risk};
use crate::sparsity::SparseRef;
use std::borrow::Cow;

/// Some rows with their targets: today's risk over them, before anything is divided by a number of rows.
pub struct Shard<'a> {
    design: Box<dyn Design + 'a>,
    target: Cow<'a, [f64]>,
    weights: Option<Cow<'a, [f64]>>,
    offset: Option<Cow<'a, [f64]>>,
}

impl<'a> Shard<'a> {
    /// Rows and their targets; there may be none.
    pub fn new(design: Box<dyn Design + 'a>, target: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        let target = target.into();
        check_len("target", target.len(), design.nrows())?;
        Ok(Self { design, target, weights: None, offset: None })
    }

    /// With sample weights; unlike those of a whole data set they may all be 0.
    pub fn with_weights(mut self, weights: Option<Cow<'a, [f64]>>) -> Result<Self> {
        if let Some(weights) = &weights {
            check_len("weights", weights.len(), self.target.len())?;
            check_finite("weights", weights)?;
            if let Some(negative) = weights.iter().find(|w| **w < 0.0) {
                return Err(Error::Data(format!("a sample weight is {negative}: weights must be 0 or more")));
            }
        }
        self.weights = weights;
        Ok(self)
    }

    /// With an offset of every prediction.
    pub fn with_offset(mut self, offset: Option<Cow<'a, [f64]>>) -> Result<Self> {
        if let Some(offset) = &offset {
            check_len("offset", offset.len(), self.target.len())?;
            check_finite("offset", offset)?;
        }
        self.offset = offset;
        Ok(self)
    }

    /// The sums asked for. The bits depend on these rows, the frame and the question alone.
    pub fn answer(&self, loss: &dyn Loss, frame: &Frame, question: &Question) -> Result<Vec<f64>> {
        let p = self.design.ncols();
        let length = question.answer_length(p, frame.dim(p));
        let weight = self.weights.as_ref().map_or(self.target.len() as f64, |w| w.iter().sum());
        if weight == 0.0 {
            let mut nothing = vec![0.0; length];
            if *question == Question::Totals {
                (nothing[0], nothing[2]) = (self.target.len() as f64, self.design.cost());
            }
            return Ok(nothing);
        }
        let answer = match question {
            Question::Rows { set } => Ok(self.rows(frame, set)),
            Question::Totals => self.totals(loss, weight),
            Question::Deviations { centres, target } => Ok(self.deviations(centres, *target)),
            Question::Value { support, x } => {
                let risk = self.risk(loss, frame)?;
                Ok(vec![weight * Objective::value(&risk, SparseRef::new(support, x))?])
            }
            Question::Full { support, x } => full(&self.risk(loss, frame)?, support, x, weight),
            Question::On { set, x } => on(&self.risk(loss, frame)?, set, x, weight),
            Question::Block { support, x, left, right } => {
                let risk = self.risk(loss, frame)?;
                let mut block = vec![0.0; length];
                let point = risk.at(SparseRef::new(support, x))?;
                let out = MatrixMut::from_columns(left.len(), right.len(), &mut block);
                second(&*point, loss)?.block(left, right, out)?;
                block.iter_mut().for_each(|b| *b *= weight);
                Ok(block)
            }
        };
        self.design.health()?;
        answer
    }

    fn risk<'s>(&'s self, loss: &'s dyn Loss, frame: &Frame) -> Result<Risk<'s>> {
        let target = match frame.target_shift {
            0.0 => Cow::Borrowed(&*self.target),
            shift => Cow::Owned(self.target.iter().map(|y| y - shift).collect()),
        };
        let mut risk = Risk::from_boxes(frame.apply(&*self.design), target, Box::new(loss))?;
        if let Some(weights) = &self.weights {
            risk = risk.with_weights(weights)?;
        }
        if let Some(offset) = &self.offset {
            risk = risk.with_offset(offset)?;
        }
        Ok(risk)
    }

    fn each_weight(&self) -> Cow<'_, [f64]> {
        self.weights.as_deref().map_or_else(|| Cow::Owned(vec![1.0; self.target.len()]), Cow::Borrowed)
    }

    fn rows(&self, frame: &Frame, set: &[usize]) -> Vec<f64> {
        let (n, design) = (self.target.len(), frame.apply(&*self.design));
        let mut out = vec![0.0; n * set.len()];
        for (column, j) in out.chunks_mut(n.max(1)).zip(set) {
            design.mul(SparseRef::new(std::slice::from_ref(j), &[1.0]), column);
        }
        out.extend(self.target.iter().map(|y| y - frame.target_shift));
        out.extend_from_slice(&self.each_weight());
        match &self.offset {
            Some(offset) => out.extend_from_slice(offset),
            None => out.resize(out.len() + n, 0.0),
        }
        out
    }

    fn totals(&self, loss: &dyn Loss, weight: f64) -> Result<Vec<f64>> {
        loss.check_target(&self.target)?;
        let weights = self.each_weight();
        let mut out = vec![0.0; 4 + self.design.ncols()];
        self.design.tmul(&weights, &mut out[4..]);
        if let Some(index) = out[4..].iter().position(|s| !s.is_finite()) {
            return Err(Error::NotFinite { what: "sum of a column (so the data)", index });
        }
        out[0] = self.target.len() as f64;
        out[1] = weight;
        out[2] = self.design.cost();
        out[3] = self.target.iter().zip(&*weights).map(|(y, w)| w * y).sum();
        Ok(out)
    }

    fn deviations(&self, centres: &[f64], target: f64) -> Vec<f64> {
        let weights = self.each_weight();
        let mut out = vec![0.0; 1 + self.design.ncols()];
        self.design.deviations(&weights, centres, &mut out[1..]);
        out[0] = self.target.iter().zip(&*weights).map(|(y, w)| w * (y - target).powi(2)).sum();
        out
    }
}

/// The second derivatives at a point; smooth losses have them everywhere.
fn second<'p>(point: &'p dyn Point, loss: &dyn Loss) -> Result<&'p dyn Hessian> {
    point.hessian()?.ok_or_else(|| corners(loss))
}

pub(super) fn corners(loss: &dyn Loss) -> Error {
    Error::Data(format!("the {} loss has corners: rows in shards need a smooth one", loss.name()))
}

fn full(risk: &Risk, support: &[usize], x: &[f64], weight: f64) -> Result<Vec<f64>> {
    let point = risk.at(SparseRef::new(support, x))?;
    let dim = risk.dim();
    let mut out = vec![0.0; 1 + 2 * dim];
    out[0] = point.value();
    out[1..=dim].copy_from_slice(point.gradient()?);
    second(&*point, risk.loss())?.diagonal(&mut out[1 + dim..])?;
    out.iter_mut().for_each(|o| *o *= weight);
    Ok(out)
}

fn on(risk: &Risk, set: &[usize], x: &[f64], weight: f64) -> Result<Vec<f64>> {
    let m = set.len();
    let mut f = risk.restrict(set)?;
    let mut out = vec![0.0; 1 + m];
    let (value, gradient) = out.split_at_mut(1);
    value[0] = f.move_to(x, gradient)?;
    let hessian = f.second().hessian().ok_or_else(|| corners(risk.loss()))?;
    let mut square = vec![0.0; m * m];
    hessian.matrix(MatrixMut::from_columns(m, m, &mut square))?;
    for (c, column) in square.chunks(m.max(1)).enumerate() {
        out.extend_from_slice(&column[c..]);
    }
    out.iter_mut().for_each(|o| *o *= weight);
    Ok(out)
}
