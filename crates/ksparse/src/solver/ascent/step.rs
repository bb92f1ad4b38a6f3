//! How far a step of dual ascent goes: the rules, and what they measure of the data.

use crate::dual::Dual;
use crate::error::{Error, Result, check_option};
use crate::objective::{Objective, Risk};
use crate::solver::registry::Value;
use crate::sparsity::SparseRef;
use crate::theory;

/// How far a step of dual ascent goes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum DualStep {
    /// A proximal step with a weight that follows the dual values: needs no tuning, for any loss and any ridge.
    #[default]
    Adaptive,
    /// The step of the theorem, `eta_t = lambda N^2 / ((lambda N mu + sigma_min^2) (t + 1))` (SDIHT: times the number
    /// of blocks). An error where it does not exist: sigma_min is 0 for k < N, and taken as 0 unless all columns are
    /// in and there are at most 500 rows, so the hinge loss has it on such data only. Overflows at a small ridge on
    /// losses with an unbounded domain (squared, squared hinge): the status then says so.
    Theory,
    /// `eta_t = N / (mu (t + t0))` with `t0 = 1 + sigma_max^2 / (lambda N mu)`: like the theorem's, without the
    /// overflow. An error on the hinge loss (mu = 0).
    Shifted,
    /// This eta.
    Fixed(f64),
}

impl DualStep {
    /// From the value of an option.
    pub(in crate::solver) fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Number(eta) => Some(Self::Fixed(*eta)),
            Value::Word(word) => match word.as_str() {
                "adaptive" => Some(Self::Adaptive),
                "theory" => Some(Self::Theory),
                "shifted" => Some(Self::Shifted),
                _ => None,
            },
            Value::Flag(_) => None,
        }
    }
}

impl DualStep {
    pub(in crate::solver) fn validate(&self) -> Result<()> {
        match *self {
            Self::Fixed(eta) => check_option(eta > 0.0 && eta.is_finite(), "step", eta, "positive and finite"),
            _ => Ok(()),
        }
    }
}

/// How a_i moves when the prediction of its sample is z.
pub(super) enum Rule {
    /// `argmax b z - l*(b) - (weight/2) (b - a)^2`, the weight that of the block times `scale`; `failures` counts
    /// epochs in which D did not rise.
    Proximal { weights: Vec<f64>, scale: f64, failures: f64 },
    /// `Proj(a + step (z - l*'(a)))` with `step = size / (t + delay)`, or the size alone.
    SuperGradient { size: f64, delay: Option<f64> },
}

impl Rule {
    pub fn new(solver: &'static str, step: DualStep, risk: &Risk, k: usize, blocks: &[Vec<usize>]) -> Result<Self> {
        step.validate()?;
        let mu = risk.loss().conjugate().strong_convexity();
        let m = blocks.len() as f64;
        Ok(match step {
            DualStep::Adaptive => Self::Proximal { weights: block_weights(risk, blocks), scale: 1.0, failures: 0.0 },
            DualStep::Fixed(eta) => Self::SuperGradient { size: eta / risk.total_weight(), delay: None },
            DualStep::Theory => {
                let concavity = mu + least_block_eigenvalue(risk, k) / risk.ridge();
                if concavity <= 0.0 {
                    let need = "a strongly concave dual for the theorem's step: a smooth loss, or else X with \
                        independent rows, 500 at most, and k no less than its columns (or give the step as a number)";
                    return Err(Error::Unsupported { solver, need });
                }
                Self::SuperGradient { size: m / concavity, delay: Some(1.0) }
            }
            DualStep::Shifted => {
                if mu <= 0.0 {
                    let need = "a smooth loss for the shifted step (or give the step as a number)";
                    return Err(Error::Unsupported { solver, need });
                }
                let all: Vec<usize> = (0..risk.target().len()).collect();
                let delay = 1.0 + spectral_estimate(risk, &all) / (risk.ridge() * mu);
                Self::SuperGradient { size: m / mu, delay: Some(m * delay) }
            }
        })
    }

    pub fn moved(&self, dual: &Dual, block: usize, t: usize, i: usize, a: f64, z: f64) -> f64 {
        let y = dual.risk().target()[i];
        let conjugate = dual.risk().loss().conjugate();
        match self {
            Self::Proximal { weights, scale, .. } => conjugate.proximal(a, z, weights[block] * scale, y),
            Self::SuperGradient { size, delay } => {
                let step = delay.map_or(*size, |d| size / (t as f64 + d));
                conjugate.project(a + step * (z - dual.slope(i, a)), y)
            }
        }
    }

    /// Longer steps while D rises, shorter ones after an epoch in which it did not. The number of such epochs also
    /// enters by itself, so that at a kink, where they never end, the lengths fall like 1/t: fast enough to converge,
    /// slow enough to arrive.
    pub fn adapt(&mut self, rose: bool) {
        if let Self::Proximal { scale, failures, .. } = self {
            let decay = |failures: f64| 1.0 + failures / 16.0;
            let base = *scale / decay(*failures);
            *failures += if rose { 0.0 } else { 1.0 };
            *scale = base * if rose { 0.9 } else { 1.2 } * decay(*failures);
        }
    }

    /// The length of the last of `taken` steps (one at least) for the trace: eta, that multiplies the super-gradient,
    /// a mean over samples of this total weight.
    pub fn length(&self, taken: usize, total: f64) -> Option<f64> {
        match self {
            Self::Proximal { weights, scale, .. } => weights.first().map(|w| total / (w * scale)),
            Self::SuperGradient { size, delay: None } => Some(size * total),
            Self::SuperGradient { size, delay: Some(delay) } => Some(size * total / (taken as f64 - 1.0 + delay)),
        }
    }
}

/// For each block, an estimate of the largest eigenvalue of `X_B' diag(c) X_B / lambda`: the curvature of `(lambda/2)
/// ||u(a)||^2` in the variables of the block, in the norm of the sample weights. One block is measured by a few power
/// iterations; the others, random as they are, are taken to have the same ratio of largest eigenvalue to trace. Single
/// samples have it exactly.
fn block_weights(risk: &Risk, blocks: &[Vec<usize>]) -> Vec<f64> {
    if blocks.len() == 1 {
        return vec![(spectral_estimate(risk, &blocks[0]) / risk.ridge()).max(f64::MIN_POSITIVE)];
    }
    let mut row = Vec::new();
    let mut trace = |block: &Vec<usize>| -> f64 {
        let mut sum = 0.0;
        for &i in block {
            risk.design().row(i, &mut row);
            sum += risk.weights()[i]
                * row.iter().filter(|(j, _)| !risk.free().contains(j)).map(|(_, v)| v * v).sum::<f64>();
        }
        sum
    };
    let traces: Vec<f64> = blocks.iter().map(&mut trace).collect();
    let ratio = if blocks[0].len() == 1 || traces[0] == 0.0 {
        1.0
    } else {
        (spectral_estimate(risk, &blocks[0]) / traces[0]).min(1.0)
    };
    // Empty rows get some weight too.
    let least = (1e-9 * traces.iter().fold(0.0, |m: f64, &t| m.max(t)) / risk.ridge()).max(f64::MIN_POSITIVE);
    traces.iter().map(|t| (ratio * t / risk.ridge()).max(least)).collect()
}

/// An estimate, from below but for a quarter more, of the largest eigenvalue of `X_B' diag(c) X_B`: a step that proves
/// too long is shortened anyway.
pub(in crate::solver) fn spectral_estimate(risk: &Risk, block: &[usize]) -> f64 {
    let (design, c) = (risk.design(), risk.weights());
    let (n, p) = (design.nrows(), design.ncols());
    let all: Vec<usize> = (0..p).collect();
    let whole = block.len() == n;
    let mut r = vec![0.0; n];
    let pull = |r: &[f64], v: &mut Vec<f64>| {
        if whole {
            design.tmul(r, v);
        } else {
            v.fill(0.0);
            let factors: Vec<f64> = block.iter().map(|&i| r[i]).collect();
            design.add_rows(block, &factors, v);
        }
        risk.free().iter().for_each(|&j| v[j] = 0.0);
    };
    // From the targets: the direction of the signal, or any other.
    for (k, &i) in block.iter().enumerate() {
        r[i] = c[i] * (1.0 + 0.1 * (k % 7) as f64);
    }
    let mut v = vec![0.0; p];
    pull(&r, &mut v);
    let mut eigenvalue = 0.0;
    for _ in 0..8 {
        let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        if norm == 0.0 || !norm.is_finite() {
            break;
        }
        v.iter_mut().for_each(|v| *v /= norm);
        if whole {
            design.mul(SparseRef::new(&all, &v), &mut r);
            r.iter_mut().zip(c).for_each(|(r, c)| *r *= c);
        } else {
            let mut z = vec![0.0; block.len()];
            design.dot_rows(block, &v, &mut z);
            block.iter().zip(z).for_each(|(&i, z)| r[i] = c[i] * z);
        }
        let before = v.clone();
        pull(&r, &mut v);
        eigenvalue = before.iter().zip(&v).map(|(a, b)| a * b).sum();
    }
    1.25 * eigenvalue
}

/// A lower bound on sigma_min(X, k)^2 / N of the theorem: the least eigenvalue, over the supports of k columns, of the
/// N x N matrix of those columns. 0 for k < N, and taken as 0 unless all columns are in.
fn least_block_eigenvalue(risk: &Risk, k: usize) -> f64 {
    let (n, p) = (risk.target().len(), risk.features());
    if k < n || k < p || n > 500 {
        return 0.0;
    }
    theory::least_row_gram_eigenvalue(risk.design(), risk.weights()).max(0.0)
}
