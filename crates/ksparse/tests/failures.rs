//! Failure injected into every fallible call of an objective: the error reaches the user with its cause, whatever the
//! solver was doing.

use crate::common::{Problem, Table, rng, smooth_losses};
use ksparse::design::{Columns, Design};
use ksparse::loss::{Hinge, Smoothness};
use ksparse::objective::{Hessian, Point, Profile, Samples};
use ksparse::restricted::{Form, InnerOptions, Line, Outcome, Probe, Restricted, Second, SupportHessian};
use ksparse::solver::{self, ForwardRule, Grahtp, Solver};
use ksparse::{Error, MatrixMut, Objective, Path, Result, Risk, SparseRef, Sparsity};
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug, PartialEq)]
struct Gone(usize);

impl std::fmt::Display for Gone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "worker {} is gone", self.0)
    }
}

impl std::error::Error for Gone {}

/// Another objective, of which a certain call fails.
struct Failing<'a> {
    inner: &'a dyn Objective,
    left: AtomicUsize,
}

impl Failing<'_> {
    fn call(&self) -> Result<()> {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 { Err(Error::evaluation(Gone(7))) } else { Ok(()) }
    }
}

impl Objective for Failing<'_> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn at<'a>(&'a self, x: SparseRef<'_>) -> Result<Box<dyn Point + 'a>> {
        self.call()?;
        Ok(Box::new(FailingPoint { all: self, inner: self.inner.at(x)? }))
    }
    fn value(&self, x: SparseRef) -> Result<f64> {
        self.call()?;
        self.inner.value(x)
    }
    fn free(&self) -> &[usize] {
        self.inner.free()
    }
    fn profile(&self) -> Profile {
        self.inner.profile()
    }
    fn restrict<'a>(&'a self, support: &[usize]) -> Result<Box<dyn Restricted + 'a>> {
        self.call()?;
        Ok(Box::new(FailingRestricted { all: self, inner: self.inner.restrict(support)? }))
    }
    fn repair(&self, support: &[usize], x: &mut [f64]) -> Result<()> {
        self.call()?;
        self.inner.repair(support, x)
    }
    fn majorant(&self) -> Result<Option<Vec<f64>>> {
        self.call()?;
        self.inner.majorant()
    }
    fn smoothness(&self, s: usize) -> Result<Smoothness> {
        self.call()?;
        self.inner.smoothness(s)
    }
    fn samples(&self) -> Option<Samples<'_>> {
        self.inner.samples()
    }
}

struct FailingPoint<'a> {
    all: &'a Failing<'a>,
    inner: Box<dyn Point + 'a>,
}

impl Point for FailingPoint<'_> {
    fn value(&self) -> f64 {
        self.inner.value()
    }
    fn gradient(&self) -> Result<&[f64]> {
        self.all.call()?;
        self.inner.gradient()
    }
    fn hessian(&self) -> Result<Option<&dyn Hessian>> {
        self.all.call()?;
        Ok(self.inner.hessian()?.is_some().then_some(self))
    }
}

impl Hessian for FailingPoint<'_> {
    fn diagonal(&self, out: &mut [f64]) -> Result<()> {
        self.all.call()?;
        self.inner.hessian()?.unwrap().diagonal(out)
    }
    fn diagonal_at(&self, coordinates: &[usize], out: &mut [f64]) -> Result<()> {
        self.all.call()?;
        self.inner.hessian()?.unwrap().diagonal_at(coordinates, out)
    }
    fn block(&self, left: &[usize], right: &[usize], out: MatrixMut<'_>) -> Result<()> {
        self.all.call()?;
        self.inner.hessian()?.unwrap().block(left, right, out)
    }
}

struct FailingRestricted<'a> {
    all: &'a Failing<'a>,
    inner: Box<dyn Restricted + 'a>,
}

impl Restricted for FailingRestricted<'_> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn move_to(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.all.call()?;
        self.inner.move_to(x, gradient)
    }
    fn second(&mut self) -> Second<'_> {
        match self.inner.second() {
            Second::None => Second::None,
            Second::Products(_) => Second::Products(self),
            Second::Matrix(_) => Second::Matrix(self),
        }
    }
    fn line<'b>(&'b mut self, x: &[f64], direction: &[f64]) -> Result<Box<dyn Line + 'b>> {
        self.all.call()?;
        Ok(Box::new(FailingLine { all: self.all, inner: self.inner.line(x, direction)? }))
    }
    fn form(&self) -> Form {
        self.inner.form()
    }
    fn minimise(&mut self, x: &mut [f64], options: &InnerOptions) -> Result<Option<Outcome>> {
        self.all.call()?;
        self.inner.minimise(x, options)
    }
}

impl SupportHessian for FailingRestricted<'_> {
    fn matrix(&mut self, out: MatrixMut<'_>) -> Result<()> {
        self.all.call()?;
        self.inner.second().hessian().unwrap().matrix(out)
    }
    fn product(&mut self, v: &[f64], out: &mut [f64]) -> Result<()> {
        self.all.call()?;
        self.inner.second().hessian().unwrap().product(v, out)
    }
    fn diagonal(&mut self, out: &mut [f64]) -> Result<()> {
        self.all.call()?;
        self.inner.second().hessian().unwrap().diagonal(out)
    }
}

struct FailingLine<'a> {
    all: &'a Failing<'a>,
    inner: Box<dyn Line + 'a>,
}

impl Line for FailingLine<'_> {
    fn probe(&mut self, step: f64) -> Result<Probe> {
        self.all.call()?;
        self.inner.probe(step)
    }
    fn settle(self: Box<Self>, step: f64, gradient: &mut [f64]) -> Result<f64> {
        self.all.call()?;
        self.inner.settle(step, gradient)
    }
    fn back(self: Box<Self>) -> Result<()> {
        self.all.call()?;
        self.inner.back()
    }
}

/// Lets the first call fail, the second, and so on, at growing distances, until nothing fails any more; returns how
/// often it did.
fn every_failure_is_reported<T>(what: &str, inner: &dyn Objective, run: impl Fn(&dyn Objective) -> Result<T>) -> usize {
    let (mut nth, mut failures) = (1, 0);
    loop {
        let failing = Failing { inner, left: AtomicUsize::new(nth) };
        match run(&failing) {
            Err(Error::Evaluation(cause)) => {
                assert_eq!(cause.downcast_ref::<Gone>(), Some(&Gone(7)), "{what}, call {nth}")
            }
            Err(other) => panic!("{what}, call {nth}: {other}"),
            Ok(_) => {
                // Past the fatal call the counter wraps round.
                let left = failing.left.load(Ordering::Relaxed);
                assert!((1..=nth).contains(&left), "{what}: the failure of call {nth} was swallowed");
                return failures;
            }
        }
        failures += 1;
        nth += 1 + nth / 8;
    }
}

#[test]
fn the_cause_reaches_the_user_through_every_solver() {
    let rng = &mut rng(61);
    for loss in smooth_losses() {
        let name = loss.name();
        let problem = Problem::new(Table::gaussian(rng, 40, 12, 0.4), loss, 3, 2.0, rng).ridge(0.05).intercept();
        let risk = problem.risk();
        let names = solver::NAMES.iter().filter(|name| !["diht", "sdiht", "svrght", "exact"].contains(name));
        let mut solvers: Vec<Box<dyn Solver>> = names.map(|name| solver::by_name(name).unwrap()).collect();
        solvers.push(Box::new(Grahtp { scaled: true, ..Grahtp::default() }));
        solvers.push(Box::new(solver::Foba { forward: ForwardRule::Decrease, ..solver::Foba::default() }));
        solvers.push(Box::new(Grahtp { debias: solver::Debias::GradientStep, ..Grahtp::default() }));
        for solver in &solvers {
            let what = format!("{} on {name}", solver.name());
            let failures = every_failure_is_reported(&what, &risk, |f| solver.fit(f, &Sparsity::new(3)));
            assert!(failures >= 5, "{what}: {failures}");
        }
        let path = Path::over(vec![1, 2, 3]);
        let auto = solver::by_name("auto").unwrap();
        let whole = |f: &dyn Objective| path.solve(f, &*auto, &mut |_| std::ops::ControlFlow::Continue(()));
        every_failure_is_reported(&format!("a path on {name}"), &risk, whole);
    }
}

#[test]
fn refits_of_dual_and_stochastic_methods_report_too() {
    let rng = &mut rng(62);
    let problem = Problem::new(Table::gaussian(rng, 40, 12, 0.4), Box::new(Hinge), 3, 2.0, rng).ridge(0.05);
    let risk = problem.risk();
    for name in ["auto", "diht", "sdiht", "svrght"] {
        let solver = solver::by_name(name).unwrap();
        assert!(every_failure_is_reported(name, &risk, |f| solver.fit(f, &Sparsity::new(3))) > 0, "{name}");
    }
}

/// Another design whose products fail from a certain one on.
struct Losing<'a> {
    inner: &'a dyn Design,
    left: AtomicUsize,
}

impl Losing<'_> {
    /// One product less; whether there are any left.
    fn alive(&self) -> bool {
        let fewer = |left: usize| Some(left.saturating_sub(1));
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer).unwrap() > 1
    }

    fn unless_lost(&self, out: &mut [f64], product: impl FnOnce(&mut [f64])) {
        if self.alive() { product(out) } else { out.fill(0.0) }
    }
}

impl Design for Losing<'_> {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }
    fn ncols(&self) -> usize {
        self.inner.ncols()
    }
    fn mul(&self, w: SparseRef, out: &mut [f64]) {
        self.unless_lost(out, |out| self.inner.mul(w, out));
    }
    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.unless_lost(out, |out| self.inner.tmul(r, out));
    }
    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
        self.unless_lost(out, |out| self.inner.tmul_at(r, columns, out));
    }
    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.unless_lost(out, |out| self.inner.squares(weights, out));
    }
    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]) {
        self.unless_lost(out, |out| self.inner.squares_at(weights, columns, out));
    }
    fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]) {
        self.unless_lost(out, |out| self.inner.deviations(weights, centres, out));
    }
    fn magnitudes(&self, weights: &[f64], out: &mut [f64]) {
        self.unless_lost(out, |out| self.inner.magnitudes(weights, out));
    }
    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64], mut out: MatrixMut<'_>) {
        if self.alive() { self.inner.cross(left, right, weights, out) } else { out.fill(0.0) }
    }
    fn gather<'a>(&'a self, support: &[usize]) -> Box<dyn Columns + 'a> {
        self.alive();
        self.inner.gather(support)
    }
    fn row(&self, i: usize, out: &mut Vec<(usize, f64)>) {
        self.inner.row(i, out);
    }
    fn dot_rows(&self, rows: &[usize], w: &[f64], out: &mut [f64]) {
        self.unless_lost(out, |out| self.inner.dot_rows(rows, w, out));
    }
    fn add_rows(&self, rows: &[usize], factors: &[f64], out: &mut [f64]) {
        self.unless_lost(out, |out| self.inner.add_rows(rows, factors, out));
    }
    fn cost(&self) -> f64 {
        self.inner.cost()
    }
    fn health(&self) -> Result<()> {
        if self.left.load(Ordering::Relaxed) > 0 { Ok(()) } else { Err(Error::evaluation(Gone(9))) }
    }
}

#[test]
fn a_design_that_loses_its_device_is_reported_by_every_solver() {
    let rng = &mut rng(63);
    let x = Table::gaussian(rng, 40, 12, 0.4);
    let problem = Problem::new(x.clone(), smooth_losses().swap_remove(1), 3, 2.0, rng);
    let dense = x.dense();
    for name in solver::NAMES {
        let solver = solver::by_name(name).unwrap();
        let mut products = 1;
        loop {
            let losing = Losing { inner: &dense, left: AtomicUsize::new(products) };
            let risk = Risk::new(&losing, &problem.y, &*problem.loss).unwrap().with_ridge(0.05).unwrap();
            let found = solver.fit(&risk, &Sparsity::new(3));
            if losing.health().is_ok() {
                found.unwrap();
                break;
            }
            let Err(Error::Evaluation(cause)) = found else { panic!("{name}, product {products}: {found:?}") };
            assert_eq!(cause.downcast_ref::<Gone>(), Some(&Gone(9)), "{name}");
            products += 1 + products / 4;
        }
        assert!(products > 2, "{name}");
    }
}
