//! The graphical lasso: the convex baseline.
//!
//! ```text
//! minimise  -log det O + <S, O> + lambda sum_{i != j} |O_ij|
//! ```
//!
//! by blocks: with W = O^-1 fixed but for row and column j, what is left is a lasso of variable j on the others, `min_b
//! b'W_11 b / 2 - s_12'b + lambda ||b||_1`, and `w_12 = W_11 b`. J. Friedman, T. Hastie, R. Tibshirani, "Sparse inverse
//! covariance estimation with the graphical lasso", Biostatistics 9, 2008.
//!
//! The diagonal is not penalised. A path goes down in lambda; `S + (lambda' / lambda)(W - S)` takes W from one penalty
//! to the next: it stays positive definite and dual feasible. (The duality gap is no stopping rule here: it is zero
//! column by column from the first pass on.)

use super::covariance::Covariance;
use super::network::Network;
use crate::error::{Error, Result, check_option};
use crate::kernels::axpy;
use faer::Mat;

/// The graphical lasso.
///
/// ```
/// use ksparse::{graphical::{Covariance, GraphicalLasso, Units}, simulate};
/// let sample = simulate::precision(500, 10, 10, 3);
/// let s = Covariance::from_samples(&sample.train, Units::Original)?;
/// let path = GraphicalLasso::default().path(&s, &GraphicalLasso::penalties(&s, 5, 0.05))?;
/// assert!(path[0].edges().is_empty());
/// assert!(path[4].edges().len() > path[1].edges().len());
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GraphicalLasso {
    /// Stop when no entry of W moves by more than this fraction of the penalty in a pass. Default 1e-4.
    pub tolerance: f64,
    /// At most so many passes over the variables per penalty. Default 200.
    pub max_passes: usize,
}

impl Default for GraphicalLasso {
    fn default() -> Self {
        Self { tolerance: 1e-4, max_passes: 200 }
    }
}

/// Where the blocks stand.
struct State {
    /// W.
    w: Mat<f64>,
    /// Column j: the coefficients of the lasso of variable j on the others.
    coefficients: Mat<f64>,
}

impl GraphicalLasso {
    /// `count` penalties in geometric progression from the least that leaves no edge to `ratio` times that.
    pub fn penalties(covariance: &Covariance, count: usize, ratio: f64) -> Vec<f64> {
        let s = covariance.matrix();
        let p = s.nrows();
        let largest =
            (0..p).flat_map(|j| (j + 1..p).map(move |i| (i, j))).map(|(i, j)| s[(i, j)].abs()).fold(0.0, f64::max);
        let step = |i: usize| if count > 1 { i as f64 / (count - 1) as f64 } else { 0.0 };
        (0..count).map(|i| largest * ratio.powf(step(i))).collect()
    }

    /// The network of one penalty.
    pub fn fit(&self, covariance: &Covariance, penalty: f64) -> Result<Network> {
        Ok(self.path(covariance, &[penalty])?.remove(0))
    }

    /// The networks of penalties in falling order, each started from the one before.
    pub fn path(&self, covariance: &Covariance, penalties: &[f64]) -> Result<Vec<Network>> {
        check_option(self.tolerance > 0.0, "tolerance", self.tolerance, "positive")?;
        check_option(self.max_passes > 0, "max_passes", self.max_passes, "at least 1")?;
        let ok = penalties.iter().all(|l| *l > 0.0 && l.is_finite()) && penalties.windows(2).all(|l| l[1] < l[0]);
        check_option(ok && !penalties.is_empty(), "penalties", format!("{penalties:?}"), "positive, in falling order")?;
        let s = covariance.matrix();
        let p = s.nrows();
        if let Some(j) = (0..p).find(|&j| s[(j, j)] <= 0.0) {
            return Err(Error::Data(format!(
                "variable {j} is constant: the graphical lasso needs a positive variance"
            )));
        }
        let mut state = State {
            w: Mat::from_fn(p, p, |i, j| if i == j { s[(i, j)] } else { 0.0 }),
            coefficients: Mat::zeros(p, p),
        };
        // W = diag S belongs to the least penalty that leaves no edge.
        let mut before = Self::penalties(covariance, 1, 1.0)[0];
        let mut networks = Vec::with_capacity(penalties.len());
        for &penalty in penalties {
            if penalty < before {
                let share = penalty / before;
                for j in 0..p {
                    for i in (0..p).filter(|&i| i != j) {
                        state.w[(i, j)] = s[(i, j)] + share * (state.w[(i, j)] - s[(i, j)]);
                    }
                }
                before = penalty;
            }
            networks.push(self.solve(s, penalty, &mut state)?);
        }
        Ok(networks)
    }

    fn solve(&self, s: &Mat<f64>, penalty: f64, state: &mut State) -> Result<Network> {
        let p = s.nrows();
        // Inner lassos are solved further than the passes.
        let fine = 1e-2 * self.tolerance * penalty;
        for _ in 0..self.max_passes {
            let moved = (0..p).map(|j| regress(s, penalty, state, j, fine)).fold(0.0, f64::max);
            if moved <= self.tolerance * penalty {
                break;
            }
        }
        Ok(Network::new(read_off(s, state)?))
    }
}

/// The lasso of variable j on the others, by coordinate descent; row and column j of W follow. Returns how far
/// they moved at most.
fn regress(s: &Mat<f64>, penalty: f64, state: &mut State, j: usize, fine: f64) -> f64 {
    let p = s.nrows();
    let target = s.col_as_slice(j);
    let b = state.coefficients.col_as_slice_mut(j);
    let mut product = vec![0.0; p];
    for i in (0..p).filter(|&i| b[i] != 0.0) {
        axpy(b[i], state.w.col_as_slice(i), &mut product);
    }
    let update = |i: usize, b: &mut [f64], product: &mut [f64]| -> f64 {
        let curvature = state.w[(i, i)];
        let pull = target[i] - product[i] + curvature * b[i];
        let next = (pull.abs() - penalty).max(0.0).copysign(pull) / curvature;
        let change = next - b[i];
        if change != 0.0 {
            axpy(change, state.w.col_as_slice(i), product);
            b[i] = next;
        }
        change.abs() * curvature
    };
    // All coordinates, then those in use until they settle, and so on.
    for _ in 0..1000 {
        let mut moved = 0.0f64;
        for i in (0..p).filter(|&i| i != j) {
            moved = moved.max(update(i, b, &mut product));
        }
        if moved <= fine {
            break;
        }
        let active: Vec<usize> = (0..p).filter(|&i| b[i] != 0.0).collect();
        for _ in 0..1000 {
            let moved = active.iter().map(|&i| update(i, b, &mut product)).fold(0.0, f64::max);
            if moved <= fine {
                break;
            }
        }
    }
    let mut moved = 0.0f64;
    for i in (0..p).filter(|&i| i != j) {
        moved = moved.max((state.w[(i, j)] - product[i]).abs());
        state.w[(i, j)] = product[i];
        state.w[(j, i)] = product[i];
    }
    moved
}

/// O from W and the coefficients: `O_jj = 1 / (s_jj - w_12'b)`, `o_12 = -b O_jj`. An entry is 0 where either of its two
/// regressions says so.
fn read_off(s: &Mat<f64>, state: &State) -> Result<Mat<f64>> {
    let p = s.nrows();
    let mut half = Mat::zeros(p, p);
    for j in 0..p {
        let b = state.coefficients.col_as_slice(j);
        let explained: f64 = (0..p).filter(|&i| i != j).map(|i| state.w[(i, j)] * b[i]).sum();
        let diagonal = 1.0 / (s[(j, j)] - explained);
        if diagonal <= 0.0 || !diagonal.is_finite() {
            return Err(Error::Data(
                "the graphical lasso lost positive definiteness: take larger penalties".to_string(),
            ));
        }
        half.col_as_slice_mut(j).iter_mut().zip(b).for_each(|(o, b)| *o = -b * diagonal);
        half[(j, j)] = diagonal;
    }
    Ok(Mat::from_fn(p, p, |i, j| {
        let (a, b): (f64, f64) = (half[(i, j)], half[(j, i)]);
        if a == 0.0 || b == 0.0 { 0.0 } else { 0.5 * (a + b) }
    }))
}
