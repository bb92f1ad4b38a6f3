//! Cancelling: a token that is set at the n-th question, for every n, ends every solver soon and loses nothing.

use crate::common::{Problem, Table, rng};
use ksparse::certificate::{CertifyOptions, certify};
use ksparse::design::{Columns, Costs, Design};
use ksparse::graphical::{Covariance, Precision, Units};
use ksparse::loss::{FAMILIES, TargetKind};
use ksparse::select::{CrossValidation, Folds};
use ksparse::solver::{self, Limits, METHODS, Needs, Settings, Solver};
use ksparse::{Cancel, Error, Grid, MatrixMut, Objective, Path, Risk, Solution, SparseRef, Sparsity, Status, simulate};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

fn with(name: &str, cancel: Cancel) -> Box<dyn Solver> {
    solver::method(name).unwrap().build(&Settings { cancel, ..Settings::default() }).unwrap()
}

/// Solves with a token that is set at the n-th question, for n rising until the run comes to its own end: every answer
/// is feasible, as good as its value says, no worse than anything shown before, and no worse than with less patience.
fn at_every_question(name: &str, objective: &dyn Objective, k: usize, start: Option<&Solution>) {
    let (mut questions, mut last, mut stopped) = (0, f64::INFINITY, 0);
    loop {
        let mut seen = f64::INFINITY;
        let cancel = Cancel::after(questions);
        let found = with(name, cancel).solve(objective, &Sparsity::new(k), start, &mut |progress| {
            seen = f64::min(seen, progress.value);
            ControlFlow::Continue(())
        });
        let found = found.unwrap_or_else(|error| panic!("{name} after {questions} questions: {error}"));
        let what = format!("{name} after {questions} questions, {:?}", found.status);
        assert!(found.support.len() <= k + objective.free().len(), "{what}");
        let value = objective.value(found.as_sparse()).unwrap();
        assert!((value - found.value).abs() <= 1e-9 * value.abs().max(1e-3), "{what}: {value} is not {}", found.value);
        if found.status != Status::Stopped {
            assert!(stopped >= 2, "{what}: asked {stopped} times only");
            return;
        }
        // A broken-off epoch of random blocks ends at a point that a longer run never looks at. `exact` shows values of
        // the loss with its corners rounded, which has other minima.
        let rounded = name == "exact" && objective.profile().corners;
        assert!(rounded || found.value <= seen * (1.0 + 1e-12), "{what}: {} after {seen}", found.value);
        let wanders = rounded || name == "sdiht";
        assert!(wanders || found.value <= last * (1.0 + 1e-12), "{what}: {} after {last}", found.value);
        (last, stopped) = (found.value, stopped + 1);
        questions += 1 + questions / 16;
    }
}

#[test]
fn every_solver_ends_at_any_question_with_the_best_it_knows() {
    let rng = &mut rng(81);
    for family in FAMILIES.iter().filter(|family| ["squared", "logistic", "hinge"].contains(&family.name)) {
        let loss = family.build(None).unwrap();
        let corners = loss.smoothness().has_corners();
        let problem = Problem::new(Table::gaussian(rng, 40, 12, 0.4), loss, 3, 2.0, rng).ridge(0.05).intercept();
        let risk = problem.risk();
        let smooth_only = ["grasp", "fbs", "foba", "model-search", "working-set"];
        for method in METHODS.iter().filter(|method| !(corners && smooth_only.contains(&method.name))) {
            at_every_question(method.name, &risk, 3, None);
        }
    }
}

#[test]
fn a_start_is_not_lost() {
    let rng = &mut rng(82);
    let loss = FAMILIES[0].build(None).unwrap();
    let problem = Problem::new(Table::gaussian(rng, 40, 12, 0.4), loss, 3, 2.0, rng).ridge(0.05);
    let risk = problem.risk();
    let good = solver::by_name("auto").unwrap().fit(&risk, &Sparsity::new(3)).unwrap();
    for method in METHODS {
        let found = with(method.name, Cancel::after(0)).fit_from(&risk, &Sparsity::new(3), &good).unwrap();
        assert!(found.value <= good.value + 1e-12, "{}: {} from {}", method.name, found.value, good.value);
        assert_eq!(found.status, Status::Stopped, "{}", method.name);
        at_every_question(method.name, &risk, 3, Some(&good));
    }
}

#[test]
fn networks_end_too() {
    let samples = simulate::precision(60, 2, 12, 5).train;
    let model = Precision::new(Covariance::from_samples(&samples, Units::Standardized).unwrap()).unwrap();
    for method in METHODS.iter().filter(|method| matches!(method.needs, Needs::Gradients | Needs::Hessian)) {
        at_every_question(method.name, &model, 10, None);
    }
}

/// A design that counts the products asked of it.
struct Counting<'a> {
    inner: &'a dyn Design,
    products: &'a AtomicUsize,
    cancel: &'a Cancel,
    /// Set the token after so many products.
    patience: usize,
}

impl Counting<'_> {
    fn count(&self) {
        if self.products.fetch_add(1, Ordering::Relaxed) == self.patience {
            self.cancel.set();
        }
    }
}

struct CountingColumns<'a>(Box<dyn Columns + 'a>, &'a Counting<'a>);

impl Columns for CountingColumns<'_> {
    fn ncols(&self) -> usize {
        self.0.ncols()
    }
    fn mul(&self, x: &[f64], out: &mut [f64]) {
        self.1.count();
        self.0.mul(x, out);
    }
    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.1.count();
        self.0.tmul(r, out);
    }
    fn gram(&mut self, weights: &[f64], out: MatrixMut<'_>) {
        self.1.count();
        self.0.gram(weights, out);
    }
    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.1.count();
        self.0.squares(weights, out);
    }
    fn column(&self, c: usize, n: usize, out: &mut Vec<(usize, f64)>) {
        self.0.column(c, n, out);
    }
    fn costs(&self) -> Costs {
        self.0.costs()
    }
}

impl Design for Counting<'_> {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }
    fn ncols(&self) -> usize {
        self.inner.ncols()
    }
    fn mul(&self, w: SparseRef, out: &mut [f64]) {
        self.count();
        self.inner.mul(w, out);
    }
    fn tmul(&self, r: &[f64], out: &mut [f64]) {
        self.count();
        self.inner.tmul(r, out);
    }
    fn tmul_at(&self, r: &[f64], columns: &[usize], out: &mut [f64]) {
        self.count();
        self.inner.tmul_at(r, columns, out);
    }
    fn squares(&self, weights: &[f64], out: &mut [f64]) {
        self.count();
        self.inner.squares(weights, out);
    }
    fn squares_at(&self, weights: &[f64], columns: &[usize], out: &mut [f64]) {
        self.count();
        self.inner.squares_at(weights, columns, out);
    }
    fn deviations(&self, weights: &[f64], centres: &[f64], out: &mut [f64]) {
        self.inner.deviations(weights, centres, out);
    }
    fn magnitudes(&self, weights: &[f64], out: &mut [f64]) {
        self.inner.magnitudes(weights, out);
    }
    fn cross(&self, left: &[usize], right: &[usize], weights: &[f64], out: MatrixMut<'_>) {
        self.count();
        self.inner.cross(left, right, weights, out);
    }
    fn gather<'b>(&'b self, support: &[usize]) -> Box<dyn Columns + 'b> {
        Box::new(CountingColumns(self.inner.gather(support), self))
    }
    fn row(&self, i: usize, out: &mut Vec<(usize, f64)>) {
        self.inner.row(i, out);
    }
    fn dot_rows(&self, rows: &[usize], w: &[f64], out: &mut [f64]) {
        self.count();
        self.inner.dot_rows(rows, w, out);
    }
    fn add_rows(&self, rows: &[usize], factors: &[f64], out: &mut [f64]) {
        self.count();
        self.inner.add_rows(rows, factors, out);
    }
    fn cost(&self) -> f64 {
        self.inner.cost()
    }
    fn health(&self) -> ksparse::Result<()> {
        self.inner.health()
    }
}

/// However long the work is, only some products with the data come after the token is set, in refits too.
#[test]
fn few_products_follow() {
    // Two relaxations side by side, each in its Newton steps: what `exact` may be in the middle of.
    const FEW: usize = 100;
    let rng = &mut rng(83);
    let loss = FAMILIES[1].build(None).unwrap();
    let table = Table::gaussian(rng, 60, 30, 0.6);
    let problem = Problem::new(table.clone(), loss, 6, 2.0, rng);
    let dense = table.dense();
    for method in METHODS {
        let mut patience = 0;
        loop {
            let (products, cancel) = (AtomicUsize::new(0), Cancel::new());
            let counting = Counting { inner: &dense, products: &products, cancel: &cancel, patience };
            let risk = Risk::new(&counting, &problem.y, &*problem.loss).unwrap().with_ridge(0.01).unwrap();
            let found = with(method.name, cancel.clone()).fit(&risk, &Sparsity::new(6)).unwrap();
            let after = products.load(Ordering::Relaxed).saturating_sub(patience + 1);
            assert!(after <= FEW, "{}: {after} products after the {patience}th", method.name);
            if found.status != Status::Stopped {
                break;
            }
            patience += 1 + patience / 4;
        }
    }
}

#[test]
fn certificates_keep_their_best_bound() {
    let rng = &mut rng(84);
    let loss = FAMILIES[1].build(None).unwrap();
    let problem = Problem::new(Table::gaussian(rng, 60, 20, 0.5), loss, 4, 2.0, rng).ridge(0.01);
    let risk = problem.risk();
    let sparsity = Sparsity::new(4);
    let fit = solver::by_name("auto").unwrap().fit(&risk, &sparsity).unwrap();
    let bound = |cancel: Cancel| {
        let options = CertifyOptions { cancel, ..CertifyOptions::default() };
        certify(&risk, &sparsity, &fit, &options, &mut |_| ControlFlow::Continue(())).unwrap().lower_bound
    };
    let whole = bound(Cancel::NEVER);
    let mut last = f64::NEG_INFINITY;
    for questions in [0, 1, 2, 5, 10, 30, 100, 300, 1000] {
        let found = bound(Cancel::after(questions));
        assert!(found.is_finite() && found >= last && found <= fit.value, "{questions}: {found} after {last}");
        last = found;
    }
    assert!(last <= whole);
}

#[test]
fn paths_and_folds_end_with_what_they_have() {
    let data = simulate::linear(60, 30, 4, simulate::Correlation::Ar1(0.5), 0.5, 7);
    let loss = FAMILIES.iter().find(|family| family.target == TargetKind::Real).unwrap().build(None).unwrap();
    let risk = Risk::new(&data.design, &data.target, &*loss).unwrap();
    let whole = Path::over(1..=6).fit(&risk, &*solver::by_name("auto").unwrap()).unwrap();
    let values = |path: &ksparse::path::PathSolution| path.solutions.iter().map(|s| s.value).collect::<Vec<_>>();
    let (mut questions, mut ended) = (0, false);
    while !ended {
        let cancel = Cancel::after(questions);
        let path = Path { cancel: cancel.clone(), ..Path::over(1..=6) };
        let found = path.fit(&risk, &*with("auto", cancel)).unwrap();
        assert!(found.solutions.windows(2).all(|pair| pair[1].value <= pair[0].value), "after {questions}");
        ended = found.stopped.is_none();
        assert!(!ended || values(&found) == values(&whole), "after {questions}");
        questions += 1 + questions / 3;
    }
    let problem = ksparse::select::Problem::new(&data.design, &data.target, &*loss);
    let folds = Folds::seeded(60, 5, 1).unwrap();
    let mut grid = Grid::over(1..=4, [0.0]);
    let cancel = Cancel::after(3);
    grid.path.cancel = cancel.clone();
    let stopped = CrossValidation::over(grid).fit(&problem, &folds, &*with("auto", cancel));
    assert!(matches!(stopped, Err(Error::Data(_))), "no two folds are done: {stopped:?}");
}

#[test]
fn limits_without_a_token_ask_nobody() {
    assert_eq!(Limits::default().cancel, Cancel::NEVER);
    assert!(!Cancel::NEVER.is_set());
    Cancel::NEVER.set();
    assert!(!Cancel::NEVER.is_set());
}
