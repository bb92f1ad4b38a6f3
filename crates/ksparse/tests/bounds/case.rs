//! Problems that provoke a bound, and the objective of a model as its user understands it, in 32 digits.

use super::double::{Double, sum};
use crate::common::{normal, rng};
use ksparse::LinearModel;
use ksparse::design::Dense;
use ksparse::loss::{Loss, TargetKind, by_name};
use ksparse::select::{Problem, Training};
use rand::Rng;

/// Everything that defines a problem.
pub struct Case {
    pub n: usize,
    pub p: usize,
    pub k: usize,
    /// By columns.
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub weights: Option<Vec<f64>>,
    pub loss: Box<dyn Loss>,
    pub lambda: f64,
    pub intercept: bool,
    pub standardize: bool,
    pub keep: Vec<usize>,
    pub tolerance: f64,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} n={} p={} k={} lambda={:e} intercept={} standardize={} keep={:?} \
             tol={:e}\nx={:?}\ny={:?}\nweights={:?}",
            self.loss.name(),
            self.n,
            self.p,
            self.k,
            self.lambda,
            self.intercept,
            self.standardize,
            self.keep,
            self.tolerance,
            self.x,
            self.y,
            self.weights
        )
    }
}

/// Of so many cases one is wide.
const WIDE: u64 = 41;

/// Columns up to which every support is tried.
const FEW: usize = 12;

const LOSSES: [&str; 5] = ["squared", "logistic", "squared-hinge", "huber", "hinge"];

impl Case {
    /// The case of a number; one in [`WIDE`] has more columns than supports can be tried.
    pub fn draw(number: u64) -> Self {
        let rng = &mut rng(7_700_000 + number);
        let loss = by_name(LOSSES[number as usize % 5]).unwrap();
        let wide = (number / 5) % WIDE == 3;
        let p = match rng.random_range(0..20) {
            _ if wide => rng.random_range(13..=60),
            0 => rng.random_range(9..=12),
            _ => rng.random_range(1..=6),
        };
        let most = if rng.random() { 8 } else { 24 };
        let n = rng.random_range(3..=most);
        let k = match p {
            13.. => rng.random_range(1..=8),
            9.. => rng.random_range(0..=2),
            _ => rng.random_range(0..=p.min(3)),
        };
        // Numbers of few digits, so that offsets leave them their differences.
        let whole = rng.random::<bool>();
        let mut draw = |spread: f64| {
            let v = normal(rng) * spread;
            if whole { v.round() } else { (v * 1024.0).round() / 1024.0 }
        };
        let truth: Vec<f64> = (0..p).map(|_| draw(2.0)).collect();
        let mut x: Vec<f64> = (0..n * p).map(|_| draw(4.0)).collect();
        let signal: Vec<f64> =
            (0..n).map(|i| (0..p.min(3)).map(|j| truth[j] * x[j * n + i]).sum::<f64>() + draw(2.0)).collect();
        let labels = loss.target() == TargetKind::Sign;
        let mut y: Vec<f64> =
            signal.iter().map(|s| if labels { if *s >= 0.0 { 1.0 } else { -1.0 } } else { *s }).collect();
        let offset = |rng: &mut rand_chacha::ChaCha8Rng| match rng.random_range(0..3) {
            0 => 0.0,
            1 => 10f64.powi(rng.random_range(0..=12)),
            _ => -(10f64.powf(rng.random_range(0.0..12.0))).round(),
        };
        if rng.random() {
            for column in x.chunks_mut(n) {
                let shift = offset(rng);
                column.iter_mut().for_each(|x| *x += shift);
            }
        }
        if rng.random_range(0..8) == 0 {
            // A constant column, and one that repeats another.
            let value = offset(rng);
            x[(p - 1) * n..].fill(value);
            if p > 2 {
                x.copy_within(0..n, n);
            }
        }
        if !labels && rng.random() {
            let shift = offset(rng);
            y.iter_mut().for_each(|y| *y += shift);
        }
        let mut lambda = 10f64.powf(rng.random_range(-12.0..6.0));
        if rng.random_range(0..3) == 0 {
            let unit = 10f64.powi(rng.random_range(-100..=100));
            x.iter_mut().for_each(|x| *x *= unit);
            lambda *= if rng.random() { unit * unit } else { 1.0 };
            if !labels && rng.random() {
                let unit = 10f64.powi(rng.random_range(-100..=100));
                y.iter_mut().for_each(|y| *y *= unit);
            }
        }
        let uneven = rng.random_range(0..3) == 0;
        let weights = uneven.then(|| (0..n).map(|_| 10f64.powf(rng.random_range(-5.0..5.0))).collect());
        let keep = if rng.random_range(0..5) == 0 { vec![p / 2] } else { Vec::new() };
        let tolerance = *[1e-9, 1e-6, 1e-6, 1e-3, 0.1, 0.5].get(rng.random_range(0..6usize)).unwrap();
        let (intercept, standardize) = (rng.random(), rng.random_range(0..3) == 0);
        Self { n, p, k, x, y, weights, loss, lambda, intercept, standardize, keep, tolerance }
    }

    /// Whether there are too many supports to try them all.
    pub fn is_wide(&self) -> bool {
        self.p > FEW
    }

    pub fn design(&self) -> Dense<'_> {
        Dense::from_columns(self.n, self.p, &self.x[..]).unwrap()
    }

    pub fn training<'a>(&'a self, design: &'a Dense<'a>) -> ksparse::Result<Training<'a>> {
        let (intercept, standardize) = (self.intercept, self.standardize);
        let weights = self.weights.as_deref();
        let problem = Problem { weights, intercept, standardize, ..Problem::new(design, &self.y, &*self.loss) };
        problem.on_all_rows()
    }

    /// The supports within the budget that are as large as they may be; where there are too many, the answers given,
    /// each with changes of one and two coordinates at random, and some supports at random.
    pub fn supports(&self, answers: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let others: Vec<usize> = (0..self.p).filter(|j| !self.keep.contains(j)).collect();
        if self.is_wide() {
            return self.some_supports(&others, answers);
        }
        let size = self.k.min(others.len()) as u32;
        let chosen = |mask: u32| others.iter().enumerate().filter(move |(b, _)| mask >> b & 1 == 1).map(|(_, &j)| j);
        (0u32..1 << others.len())
            .filter(|mask| mask.count_ones() == size)
            .map(|mask| {
                let mut support: Vec<usize> = chosen(mask).chain(self.keep.iter().copied()).collect();
                support.sort_unstable();
                support
            })
            .collect()
    }

    fn some_supports(&self, others: &[usize], answers: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let rng = &mut rng(1);
        let mut found: Vec<Vec<usize>> = Vec::new();
        let mut add = |counted: &[usize]| {
            let mut support: Vec<usize> = counted.iter().chain(&self.keep).copied().collect();
            support.sort_unstable();
            support.dedup();
            if !found.contains(&support) {
                found.push(support);
            }
        };
        for answer in answers {
            let counted: Vec<usize> = answer.iter().copied().filter(|j| !self.keep.contains(j)).collect();
            add(&counted);
            for changes in [1, 1, 2] {
                let mut kicked = counted.clone();
                for _ in 0..changes.min(counted.len()) {
                    let place = rng.random_range(0..kicked.len());
                    let enters = others[rng.random_range(0..others.len())];
                    if !kicked.contains(&enters) {
                        kicked[place] = enters;
                    }
                }
                add(&kicked);
            }
        }
        for _ in 0..4 {
            add(&crate::common::shuffled(rng, others.len())[..self.k].iter().map(|&o| others[o]).collect::<Vec<_>>());
        }
        found
    }
}

/// The same problem in 32 digits: columns centred and scaled as asked for, weights that sum to 1.
pub struct Exactly<'a> {
    case: &'a Case,
    weights: Vec<Double>,
    pub columns: Vec<Vec<Double>>,
    /// What a coefficient is multiplied by to become one of the original column.
    scale: Vec<Double>,
    /// Each column's mean where there is an intercept or centring, and that of the target where it may be moved.
    pub target: Vec<Double>,
}

impl<'a> Exactly<'a> {
    pub fn new(case: &'a Case) -> Self {
        let given: Vec<Double> =
            (0..case.n).map(|i| Double::from(case.weights.as_ref().map_or(1.0, |w| w[i]))).collect();
        let total = sum(given.iter().copied());
        let weights: Vec<Double> = given.iter().map(|w| *w / total).collect();
        let mean = |values: &[Double]| sum(values.iter().zip(&weights).map(|(v, c)| *v * *c));
        let (mut columns, mut scale) = (Vec::new(), Vec::new());
        for column in case.x.chunks(case.n) {
            let mut column: Vec<Double> = column.iter().map(|x| Double::from(*x)).collect();
            let mut s = Double::from(1.0);
            // An intercept takes up whatever is subtracted from a column.
            let constant = column.iter().all(|x| *x == column[0]);
            if case.standardize || case.intercept {
                let m = if constant { column[0] } else { mean(&column) };
                column.iter_mut().for_each(|x| *x = *x - m);
            }
            if case.standardize && !constant {
                let size = column.iter().fold(0.0f64, |size, x| size.max(x.high.abs()));
                let relative: Vec<Double> = column.iter().map(|x| *x / Double::from(size)).collect();
                let squares: Vec<Double> = relative.iter().map(|x| *x * *x).collect();
                s = mean(&squares).sqrt() * Double::from(size);
                column.iter_mut().for_each(|x| *x = *x / s);
            }
            columns.push(column);
            scale.push(s);
        }
        let mut target: Vec<Double> = case.y.iter().map(|y| Double::from(*y)).collect();
        if case.intercept && case.loss.of_residual() {
            let m = mean(&target);
            target.iter_mut().for_each(|y| *y = *y - m);
        }
        Self { case, weights, columns, scale, target }
    }

    /// f of coefficients of these columns, at the best intercept near `b`.
    pub fn value(&self, support: &[usize], w: &[f64], b: f64) -> f64 {
        let case = self.case;
        let product = |i: usize| sum(support.iter().zip(w).map(|(&j, &w)| self.columns[j][i] * Double::from(w)));
        let mut z: Vec<Double> = (0..case.n).map(product).collect();
        if case.intercept {
            let shift = if case.loss.of_residual() {
                sum((0..case.n).map(|i| self.weights[i] * (self.target[i] - z[i])))
            } else {
                Double::from(b)
            };
            z.iter_mut().for_each(|z| *z = *z + shift);
        }
        let loss = sum((0..case.n).map(|i| self.weights[i] * self.loss(z[i], self.target[i])));
        // The ridge comes first: the square of a coefficient alone may vanish.
        let penalty = sum(w.iter().map(|&w| Double::from(w) * Double::from(0.5 * case.lambda) * Double::from(w)));
        (loss + penalty).to_f64()
    }

    /// f of a model of the original columns.
    pub fn value_of(&self, model: &LinearModel) -> f64 {
        let w: Vec<f64> = model
            .support
            .iter()
            .zip(&model.coefficients)
            .map(|(&j, c)| (Double::from(*c) * self.scale[j]).to_f64())
            .collect();
        // The intercept of centred columns: the original one plus what centring takes off.
        let case = self.case;
        let first = |i: usize| {
            let raw = sum(model
                .support
                .iter()
                .zip(&model.coefficients)
                .map(|(&j, &c)| Double::from(case.x[j * case.n + i]) * Double::from(c)));
            let centred = sum(model.support.iter().zip(&w).map(|(&j, &w)| self.columns[j][i] * Double::from(w)));
            (raw + Double::from(model.intercept) - centred).to_f64()
        };
        self.value(&model.support, &w, if case.intercept { first(0) } else { 0.0 })
    }

    /// The loss, exactly but for the logarithm of the logistic one.
    fn loss(&self, z: Double, y: Double) -> Double {
        let one = Double::from(1.0);
        let slack = || (one - y * z).max(Double::default());
        match self.case.loss.name() {
            "squared" => (z - y) * (z - y) * Double::from(0.5),
            "squared-hinge" => slack() * slack() * Double::from(0.5),
            "hinge" => slack(),
            "huber" => {
                // The default width.
                let width = Double::from(0.25);
                let s = slack();
                if (s - width).high >= 0.0 {
                    s - width * Double::from(0.5)
                } else {
                    s * s / (width * Double::from(2.0))
                }
            }
            _ => {
                let t = (y * z).high;
                Double::from((-t.abs()).exp().ln_1p() - t.min(0.0))
            }
        }
    }
}
