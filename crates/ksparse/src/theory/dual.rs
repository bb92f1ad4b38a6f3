//! The theorems on dual ascent: how near the dual vector is after t steps, when support and gap are settled.
//!
//! With N samples of equal weight, ridge lambda, a 1/mu-smooth loss, R the largest norm of a row, a dual domain in
//! which `|a_i| <= r` and `|l_i*'(a_i)| <= q`, and abar the largest point of D:
//!
//! ```text
//! D(b) <= D(a) + g'(b - a) - (gamma/2) ||b - a||^2,   gamma = (lambda N mu + sigma_min(X,k)^2) / (lambda N^2)
//! ||g|| <= (r R^2 + lambda q) / (lambda sqrt N)
//! eta_t = 1 / (gamma (t+1))   gives   ||a_t - abar||^2 <= c1 (1 + ln t) / t,
//!                             c1 = N^3 (r R^2 + lambda q)^2 / (lambda N mu + sigma_min^2)^2
//! ```
//!
//! (SDIHT with m blocks: steps and c1 times m, in expectation.) With `margin = min over F of |w_j| - max outside F of
//! |grad_j P(w)| / lambda` positive at w = w(abar), F its support: u moves by at most sigma_max(X) / (lambda N) times
//! what a moves by, so supp(w(a_t)) = F once that is below margin / 2. From there on
//!
//! ```text
//! P(w(a_t)) - D(a_t) <= ||g|| (1 + sigma_max(X)^2 / (mu lambda N)) ||a_t - abar||
//!                    <= sqrt( c1 c2 (1 + ln t) / t ) / (lambda sqrt N),   c2 = (r R^2 + lambda q)^2 (1 + ...)^2
//! ```
//!
//! B. Liu, X.-T. Yuan, L. Wang, Q. Liu, D. Metaxas, ICML 2017, who take R = 1. The numbers of steps here are the first
//! for which these bounds do, a little smaller than the closed forms that are usually printed.

use super::spectrum::{largest_gram_eigenvalue, least_row_gram_eigenvalue};
use crate::error::{Error, Result, check_option};
use crate::objective::Risk;

/// What the theorems on dual ascent are made of.
///
/// ```
/// use ksparse::{Risk, loss::Huber, simulate, theory::DualRates};
/// let data = simulate::logistic(40, 8, 3, simulate::Correlation::Independent, 1);
/// let risk = Risk::new(&data.design, &data.target, Huber::new(1.0)?)?.with_ridge(20.0)?;
/// let rates = DualRates::of(&risk, 3)?;
/// assert_eq!((rates.largest_dual, rates.largest_slope), (1.0, 1.0));
/// // Dual vectors of this loss are at most sqrt N apart: the bound says more than that from here on.
/// let t = rates.steps_until(40.0).unwrap();
/// assert!(rates.distance_squared(t) <= 40.0 && t < 1000);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DualRates {
    /// N.
    pub samples: f64,
    /// lambda.
    pub ridge: f64,
    /// mu: l is 1/mu-smooth.
    pub strong_convexity: f64,
    /// sigma_min(X, k)^2, or a lower bound on it.
    pub least_eigenvalue: f64,
    /// sigma_max(X)^2, or an upper bound on it.
    pub largest_eigenvalue: f64,
    /// R^2, the largest squared norm of a row.
    pub row_norm_squared: f64,
    /// r: no |a_i| is larger.
    pub largest_dual: f64,
    /// q: no |l_i*'(a_i)| is larger.
    pub largest_slope: f64,
    /// m: 1 for DIHT.
    pub blocks: f64,
}

/// Beyond what any domain that has ends reaches.
const FAR: f64 = 1e300;

impl DualRates {
    /// Those of a risk: `Err` where the theorems say nothing. They need a ridge, equal weights, no intercept, and a
    /// bounded domain on which the conjugate has a slope (Huber's smoothed hinge, the hinge); for other losses give
    /// r and q of the iterates to [`on_domain`](Self::on_domain).
    pub fn of(risk: &Risk, k: usize) -> Result<Self> {
        check_ridge(risk)?;
        let conjugate = risk.loss().conjugate();
        let (mut largest_dual, mut largest_slope) = (0.0f64, 0.0f64);
        for &y in risk.target() {
            for end in [FAR, -FAR].map(|far| conjugate.project(far, y)) {
                largest_dual = largest_dual.max(end.abs());
                largest_slope = largest_slope.max(conjugate.derivative(end, y).abs());
            }
        }
        if largest_dual >= FAR || !largest_slope.is_finite() {
            let need = "a loss whose conjugate has a bounded domain and slope there (huber, hinge)";
            return Err(Error::Unsupported { solver: "DualRates", need });
        }
        Self::on_domain(risk, k, largest_dual, largest_slope)
    }

    /// Those of a risk while the iterates stay where `|a_i| <= r` and `|l_i*'(a_i)| <= q`.
    pub fn on_domain(risk: &Risk, k: usize, largest_dual: f64, largest_slope: f64) -> Result<Self> {
        let n = risk.target().len();
        check_ridge(risk)?;
        let equal = risk.weights().windows(2).all(|pair| pair[0] == pair[1]);
        if !equal || risk.has_intercept() {
            let need = "samples of equal weight and no intercept";
            return Err(Error::Unsupported { solver: "DualRates", need });
        }
        check_option(largest_dual >= 0.0 && largest_dual.is_finite(), "largest_dual", largest_dual, "finite")?;
        check_option(largest_slope >= 0.0 && largest_slope.is_finite(), "largest_slope", largest_slope, "finite")?;
        let ones = vec![1.0; n];
        // 0 for k < N; over all supports of k >= N columns only where there is but one.
        let known = k >= n && k >= risk.features() && n <= 500;
        Ok(Self {
            samples: n as f64,
            ridge: risk.ridge(),
            strong_convexity: risk.loss().conjugate().strong_convexity(),
            least_eigenvalue: if known { least_row_gram_eigenvalue(risk.design(), &ones).max(0.0) } else { 0.0 },
            largest_eigenvalue: largest_gram_eigenvalue(risk.design(), &ones),
            row_norm_squared: risk.largest_row_norm_squared(risk.features()),
            largest_dual,
            largest_slope,
            blocks: 1.0,
        })
    }

    /// Of SDIHT with m blocks; what they bound is then an expectation.
    pub fn with_blocks(self, blocks: usize) -> Self {
        Self { blocks: blocks as f64, ..self }
    }

    /// lambda N mu + sigma_min^2; 0 where D is not strongly concave, and the theorems promise nothing.
    fn curvature(&self) -> f64 {
        self.ridge * self.samples * self.strong_convexity + self.least_eigenvalue
    }

    /// r R^2 + lambda q: the size of super-gradients.
    fn size(&self) -> f64 {
        self.largest_dual * self.row_norm_squared + self.ridge * self.largest_slope
    }

    /// eta_t, from t = 0; infinite where D is not strongly concave.
    pub fn step(&self, t: usize) -> f64 {
        self.blocks * self.ridge * self.samples * self.samples / (self.curvature() * (t as f64 + 1.0))
    }

    /// c1; infinite where D is not strongly concave.
    pub fn c1(&self) -> f64 {
        self.blocks * self.samples.powi(3) * (self.size() / self.curvature()).powi(2)
    }

    /// c2; infinite for mu = 0.
    pub fn c2(&self) -> f64 {
        let reach = 1.0 + self.largest_eigenvalue / (self.strong_convexity * self.ridge * self.samples);
        (self.size() * reach).powi(2)
    }

    /// The bound on `||a_t - abar||^2` after t >= 1 steps.
    pub fn distance_squared(&self, t: usize) -> f64 {
        self.c1() * decay(t)
    }

    /// The first number of steps after which `||a_t - abar||^2` is at most this, and from which on it stays so; `None`
    /// where no number will do.
    pub fn steps_until(&self, distance_squared: f64) -> Option<usize> {
        first_below(distance_squared / self.c1())
    }

    /// t0: the number of steps after which the support stands, from the margin of the condition for strong duality.
    pub fn steps_to_support(&self, margin: f64) -> Option<usize> {
        let moved = 0.5 * margin * self.ridge * self.samples;
        if margin <= 0.0 { None } else { self.steps_until(moved * moved / self.largest_eigenvalue) }
    }

    /// The bound on `P(w(a_t)) - D(a_t)` after t steps, once the support stands.
    pub fn gap(&self, t: usize) -> f64 {
        (self.c1() * self.c2() * decay(t) / self.samples).sqrt() / self.ridge
    }

    /// t1: the number of steps, no less than t0, after which the gap is at most `gap`.
    pub fn steps_to_gap(&self, margin: f64, gap: f64) -> Option<usize> {
        let level = (gap * self.ridge).powi(2) * self.samples / (self.c1() * self.c2());
        Some(self.steps_to_support(margin)?.max(first_below(level)?))
    }
}

fn check_ridge(risk: &Risk) -> Result<()> {
    check_option(risk.ridge() > 0.0, "lambda", risk.ridge(), "positive for a dual and its bound")
}

/// (1 + ln t) / t: 1 at t = 1, falling.
fn decay(t: usize) -> f64 {
    let t = t.max(1) as f64;
    (1.0 + t.ln()) / t
}

/// The first t with `decay(t) <= level`.
fn first_below(level: f64) -> Option<usize> {
    const MOST: usize = 1 << 52;
    if level.is_nan() || decay(MOST) > level {
        return None;
    }
    let (mut low, mut high) = (0, MOST);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if decay(middle) <= level { high = middle } else { low = middle }
    }
    Some(high)
}
