//! A learning problem as R describes it: data, loss, preparation.

use crate::args::Args;
use crate::error::to_r;
use crate::matrix::{Matrix, View};
use crate::search::Search;
use ksparse::design::Design;
use ksparse::loss::{self, Loss};
use ksparse::select::Problem;
use savvy::{ListSexp, RealSexp, Result};

/// Read from a list with these names.
pub struct Data {
    matrix: Matrix,
    target: RealSexp,
    weights: Option<RealSexp>,
    offset: Option<RealSexp>,
    loss: String,
    intercept: bool,
    standardize: bool,
    penalty_factors: Option<RealSexp>,
}

impl Data {
    pub fn new(list: ListSexp) -> Result<Self> {
        let args = Args::new(list);
        Ok(Self {
            matrix: Matrix::named(&args, "x")?,
            target: args.reals("target")?,
            weights: args.maybe_reals("weights")?,
            offset: args.maybe_reals("offset")?,
            loss: args.word("loss")?,
            intercept: args.flag("intercept")?,
            standardize: args.flag("standardize")?,
            penalty_factors: args.maybe_reals("penalty_factors")?,
        })
    }

    pub fn view(&self) -> Result<DataView<'_>> {
        let family = loss::family(&self.loss).map_err(to_r)?;
        Ok(DataView {
            matrix: self.matrix.view(),
            rest: Rest {
                target: self.target.as_slice(),
                weights: self.weights.as_ref().map(RealSexp::as_slice),
                offset: self.offset.as_ref().map(RealSexp::as_slice),
                loss: family.build(None).map_err(to_r)?,
                intercept: self.intercept,
                standardize: self.standardize,
                penalty_factors: self.penalty_factors.as_ref().map(RealSexp::as_slice),
            },
            ridge: family.default_ridge,
        })
    }
}

/// The same without R.
pub struct DataView<'a> {
    pub matrix: View<'a>,
    pub rest: Rest<'a>,
    /// Where none is given.
    pub ridge: f64,
}

/// All but the matrix.
pub struct Rest<'a> {
    target: &'a [f64],
    weights: Option<&'a [f64]>,
    offset: Option<&'a [f64]>,
    loss: Box<dyn Loss>,
    intercept: bool,
    standardize: bool,
    penalty_factors: Option<&'a [f64]>,
}

impl Rest<'_> {
    /// The problem over a design made from the matrix.
    pub fn over<'a>(&'a self, design: &'a dyn Design, search: &'a Search) -> Problem<'a> {
        Problem {
            design,
            target: self.target,
            loss: &*self.loss,
            weights: self.weights,
            offset: self.offset,
            intercept: self.intercept,
            standardize: self.standardize,
            penalty_factors: self.penalty_factors,
            groups: search.groups.as_deref(),
            bounds: search.bounds.as_ref(),
            total: search.total,
        }
    }
}
