//! What the suites share: explicit matrices, seeded problems, objectives by plain loops, checks every answer must pass.
#![allow(dead_code)]

use ksparse::design::{Dense, Design, Sparse};
use ksparse::loss::{Huber, Logistic, Loss, Squared, SquaredHinge, TargetKind};
use ksparse::objective::Hessian;
use ksparse::solver::{self, Solution, Solver};
use ksparse::{MatrixMut, Objective, Risk, SparseRef};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub fn normal(rng: &mut ChaCha8Rng) -> f64 {
    rng.sample(StandardNormal)
}

pub fn normals(rng: &mut ChaCha8Rng, len: usize) -> Vec<f64> {
    (0..len).map(|_| normal(rng)).collect()
}

/// A matrix written out: what every design is compared with.
#[derive(Debug, Clone)]
pub struct Table {
    pub n: usize,
    pub p: usize,
    /// By rows.
    pub entries: Vec<f64>,
}

impl Table {
    pub fn from_fn(n: usize, p: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let entries = (0..n * p).map(|e| entry(e / p.max(1), e % p.max(1))).collect();
        Self { n, p, entries }
    }

    /// Normal entries; `rho` is the correlation between any two columns.
    pub fn gaussian(rng: &mut ChaCha8Rng, n: usize, p: usize, rho: f64) -> Self {
        let common = normals(rng, n);
        Self::from_fn(n, p, |i, _| rho.sqrt() * common[i] + (1.0 - rho).sqrt() * normal(rng))
    }

    /// Normal entries of which a share is kept, the others 0.
    pub fn sparse(rng: &mut ChaCha8Rng, n: usize, p: usize, share: f64) -> Self {
        Self::from_fn(n, p, |_, _| if rng.random::<f64>() < share { normal(rng) } else { 0.0 })
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.p + j]
    }

    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.p..(i + 1) * self.p]
    }

    /// The columns listed, in that order.
    pub fn columns(&self, which: &[usize]) -> Self {
        Self::from_fn(self.n, which.len(), |i, c| self.at(i, which[c]))
    }

    /// The rows listed, in that order.
    pub fn rows(&self, which: &[usize]) -> Self {
        Self::from_fn(which.len(), self.p, |r, j| self.at(which[r], j))
    }

    pub fn with_ones(&self) -> Self {
        Self::from_fn(self.n, self.p + 1, |i, j| if j < self.p { self.at(i, j) } else { 1.0 })
    }

    pub fn map(&self, f: impl Fn(usize, usize, f64) -> f64) -> Self {
        Self::from_fn(self.n, self.p, |i, j| f(i, j, self.at(i, j)))
    }

    /// Every entry rounded to the nearest f32.
    pub fn rounded(&self) -> Self {
        self.map(|_, _, v| f64::from(v as f32))
    }

    pub fn dense(&self) -> Dense<'static> {
        Dense::from_rows(self.n, self.p, &self.entries).unwrap()
    }

    pub fn dense32(&self) -> Dense<'static, f32> {
        let entries: Vec<f32> = self.entries.iter().map(|&v| v as f32).collect();
        Dense::from_rows(self.n, self.p, &entries).unwrap()
    }

    fn compressed(&self) -> (Vec<u64>, Vec<u32>, Vec<f64>) {
        let (mut pointers, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..self.p {
            for i in (0..self.n).filter(|&i| self.at(i, j) != 0.0) {
                indices.push(i as u32);
                values.push(self.at(i, j));
            }
            pointers.push(indices.len() as u64);
        }
        (pointers, indices, values)
    }

    pub fn csc(&self) -> Sparse<'static> {
        let (pointers, indices, values) = self.compressed();
        Sparse::from_columns(self.n, self.p, pointers, indices, values).unwrap()
    }

    pub fn csc32(&self) -> Sparse<'static, f32> {
        let (pointers, indices, values) = self.compressed();
        let values: Vec<f32> = values.into_iter().map(|v| v as f32).collect();
        Sparse::from_columns(self.n, self.p, pointers, indices, values).unwrap()
    }

    /// The four storages of the same entries (which should be f32 numbers for them to be the same).
    pub fn every_storage(&self) -> Vec<(&'static str, Box<dyn Design>)> {
        vec![
            ("dense", Box::new(self.dense())),
            ("dense f32", Box::new(self.dense32())),
            ("sparse", Box::new(self.csc())),
            ("sparse f32", Box::new(self.csc32())),
        ]
    }
}

pub fn smooth_losses() -> Vec<Box<dyn Loss>> {
    vec![
        Box::new(Squared::default()),
        Box::new(Logistic::default()),
        Box::new(SquaredHinge),
        Box::new(Huber::new(0.5).unwrap()),
    ]
}

/// Data with a `k`-sparse truth, and what the loss should make of them.
pub struct Problem {
    pub x: Table,
    pub y: Vec<f64>,
    pub loss: Box<dyn Loss>,
    pub weights: Option<Vec<f64>>,
    pub ridge: f64,
    pub intercept: bool,
}

impl Problem {
    /// The same with the corners of its loss rounded, whose f is at most half the width lower; `None` without corners.
    pub fn rounded(&self) -> Option<Self> {
        let (x, y, weights) = (self.x.clone(), self.y.clone(), self.weights.clone());
        let loss = || Box::new(Huber::new(1e-6).unwrap());
        self.loss.smoothness().has_corners().then(|| Self { x, y, weights, loss: loss(), ..*self })
    }

    /// Targets from `k` columns spread over the table; signal to noise `ratio` (in standard deviations).
    pub fn new(x: Table, loss: Box<dyn Loss>, k: usize, ratio: f64, rng: &mut ChaCha8Rng) -> Self {
        let truth: Vec<usize> = (0..k.min(x.p)).map(|c| c * x.p / k.max(1)).collect();
        let effects: Vec<f64> = truth.iter().map(|_| (1.0 + rng.random::<f64>()) * sign(normal(rng))).collect();
        let signal: Vec<f64> =
            (0..x.n).map(|i| truth.iter().zip(&effects).map(|(&j, b)| x.at(i, j) * b).sum()).collect();
        let spread = (signal.iter().map(|s| s * s).sum::<f64>() / x.n as f64).sqrt().max(1e-3);
        let y = signal.iter().map(|s| s + spread / ratio * normal(rng)).collect();
        let mut problem = Self { x, y, loss, weights: None, ridge: 0.0, intercept: false };
        if problem.loss.target() == TargetKind::Sign {
            problem.y.iter_mut().for_each(|y| *y = sign(*y));
        }
        problem
    }

    pub fn ridge(mut self, lambda: f64) -> Self {
        self.ridge = lambda;
        self
    }

    pub fn intercept(mut self) -> Self {
        self.intercept = true;
        self
    }

    pub fn weights(mut self, weights: Vec<f64>) -> Self {
        self.weights = Some(weights);
        self
    }

    /// The risk over any storage of the design.
    pub fn risk_on<'a>(&'a self, design: impl Design + 'a) -> Risk<'a> {
        let mut risk = Risk::from_boxes(Box::new(design), self.y.as_slice().into(), boxed(&*self.loss)).unwrap();
        if let Some(weights) = &self.weights {
            risk = risk.with_weights(weights).unwrap();
        }
        risk = risk.with_ridge(self.ridge).unwrap();
        if self.intercept { risk.with_intercept() } else { risk }
    }

    pub fn risk(&self) -> Risk<'_> {
        self.risk_on(self.x.dense())
    }

    pub fn dim(&self) -> usize {
        self.x.p + usize::from(self.intercept)
    }

    /// f by plain loops over the explicit matrix.
    pub fn value(&self, x: SparseRef) -> f64 {
        let mut w = vec![0.0; self.x.p + 1];
        x.iter().for_each(|(j, v)| w[j] = v);
        let (mut loss, mut total) = (0.0, 0.0);
        for i in 0..self.x.n {
            let c = self.weights.as_ref().map_or(1.0, |w| w[i]);
            let z: f64 = self.x.row(i).iter().zip(&w).map(|(x, w)| x * w).sum();
            loss += c * self.loss.at(z + w[self.x.p], self.y[i]).value;
            total += c;
        }
        loss / total + 0.5 * self.ridge * w[..self.x.p].iter().map(|w| w * w).sum::<f64>()
    }

    /// f of the model that a solution of the risk stands for, likewise.
    pub fn value_of(&self, solution: &Solution) -> f64 {
        let mut model = self.risk().model(solution);
        model.support.push(self.x.p);
        model.coefficients.push(model.intercept);
        self.value(SparseRef::new(&model.support, &model.coefficients))
    }

    /// f at a point of the risk, likewise.
    pub fn value_at(&self, x: SparseRef) -> f64 {
        self.value_of(&Solution::guess(x.indices.to_vec(), x.values.to_vec()))
    }

    /// What is returned must be well formed, feasible, finite, and have the value it claims.
    pub fn check(&self, what: &str, solution: &Solution, k: usize, keep: &[usize]) {
        check_form(what, solution, self.dim());
        let free = |j: &usize| keep.contains(j) || *j == self.x.p;
        let counted = solution.support.iter().filter(|j| !free(j)).count();
        assert!(counted <= k, "{what}: {counted} coordinates for k = {k}");
        let (claimed, found) = (solution.value, self.value_of(solution));
        let unit = found.abs().max(1e-6 * self.value(SparseRef::ZERO));
        assert!((claimed - found).abs() <= 1e-9 * unit, "{what}: claims {claimed}, has {found}");
    }
}

/// Finite, ascending, in range, one coefficient per coordinate.
pub fn check_form(what: &str, solution: &Solution, dim: usize) {
    assert_eq!(solution.support.len(), solution.coefficients.len(), "{what}");
    assert!(solution.support.windows(2).all(|w| w[0] < w[1]), "{what}: {:?}", solution.support);
    assert!(solution.support.iter().all(|&j| j < dim), "{what}: {:?}", solution.support);
    assert!(solution.coefficients.iter().all(|c| c.is_finite()), "{what}: {:?}", solution.coefficients);
    assert!(solution.value.is_finite(), "{what}: {}", solution.value);
}

/// A loss again, by its name and parameters.
fn boxed(loss: &dyn Loss) -> Box<dyn Loss> {
    match loss.name() {
        "huber" => Box::new(Huber::new(1.0 / loss.smoothness().bound().unwrap()).unwrap()),
        name => ksparse::loss::by_name(name).unwrap(),
    }
}

pub fn sign(v: f64) -> f64 {
    if v < 0.0 { -1.0 } else { 1.0 }
}

/// The solvers that need samples to draw from, or a dual. Their contracts are in `sample_solvers.rs`.
pub const NEED_SAMPLES: [&str; 3] = ["svrght", "diht", "sdiht"];

/// Those that take every smooth objective; the others have suites of their own.
pub fn every_solver() -> Vec<Box<dyn Solver>> {
    solver::GENERAL.iter().map(|name| solver::by_name(name).unwrap()).collect()
}

/// Whether two numbers agree to `tolerance`, relative to the larger of them and `unit`.
pub fn close(a: f64, b: f64, tolerance: f64, unit: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(unit)
}

pub fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let unit = expected.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    for (i, (&a, &b)) in found.iter().zip(expected).enumerate() {
        assert!(close(a, b, tolerance, unit), "{what}: {a} against {b} at {i}");
    }
}

/// The whole gradient.
pub fn gradient(objective: &dyn Objective, x: SparseRef) -> Vec<f64> {
    objective.at(x).unwrap().gradient().unwrap().to_vec()
}

/// Some rows and columns of a Hessian, by columns.
pub fn block(hessian: &dyn Hessian, left: &[usize], right: &[usize]) -> Vec<Vec<f64>> {
    let mut out = vec![f64::NAN; left.len() * right.len()];
    hessian.block(left, right, MatrixMut::from_columns(left.len(), right.len(), &mut out)).unwrap();
    out.chunks(left.len()).map(<[f64]>::to_vec).collect()
}

/// The blocks of groups with themselves are those of the whole matrix (by `tolerance` of its largest entry).
pub fn check_own_blocks(what: &str, hessian: &dyn Hessian, groups: &[Vec<usize>], tolerance: f64) {
    let own = hessian.own_blocks(groups).unwrap();
    let expected: Vec<f64> = groups.iter().flat_map(|group| block(hessian, group, group).concat()).collect();
    assert_close(what, &own, &expected, tolerance);
}

pub fn shuffled(rng: &mut ChaCha8Rng, len: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    for i in (1..len).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    order
}

/// w and the best D of every iteration.
pub fn iterates(k: usize, solver: &dyn Solver, risk: &Risk) -> Vec<(Vec<usize>, Vec<f64>, f64)> {
    let mut out = Vec::new();
    let watch = &mut |p: &ksparse::Progress| {
        out.push((p.support.to_vec(), p.coefficients.to_vec(), p.dual.unwrap()));
        std::ops::ControlFlow::Continue(())
    };
    solver.solve(risk, &ksparse::Sparsity::new(k), None, watch).unwrap();
    out
}
