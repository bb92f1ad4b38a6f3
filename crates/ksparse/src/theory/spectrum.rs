//! Eigenvalues: of a symmetric matrix, of a whole Gram matrix, of all its small blocks.

use super::Curvature;
use crate::design::{Design, gram};
use crate::error::{Error, Result, check_finite, check_len, check_option};
use crate::linalg;
use crate::sparsity::SparseRef;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, Par};

/// Supports visited by [`restricted_eigenvalues`] at most, and their number times s^3.
const MOST_SUPPORTS: f64 = 1e6;
const MOST_WORK: f64 = 4e9;

/// The least and the largest eigenvalue of `X_F' diag(weights) X_F` over **all** supports with |F| = s: the exact m_s
/// and M_s of half the weighted sum of squares. For small problems only; `Err` when there are more than a million
/// supports (or too much work).
///
/// Supports smaller than s need no visit: the eigenvalues of a block lie between those of any larger one. An s above p
/// means p.
pub fn restricted_eigenvalues(design: &dyn Design, weights: &[f64], s: usize) -> Result<Curvature> {
    let p = design.ncols();
    check_len("weights", weights.len(), design.nrows())?;
    check_finite("weights", weights)?;
    check_option(weights.iter().all(|&w| w >= 0.0), "weights", "negative somewhere", "non-negative")?;
    check_option(s > 0 && p > 0, "s", s, "positive, with at least one column")?;
    let s = s.min(p);
    let supports = (0..s).map(|i| (p - i) as f64 / (i + 1) as f64).product::<f64>();
    let ok = supports <= MOST_SUPPORTS && supports * (s as f64).powi(3) <= MOST_WORK;
    check_option(ok, "s", s, "so small (or so near p) that p choose s supports can all be visited")?;
    if s == 1 {
        let mut squares = vec![0.0; p];
        design.squares(weights, &mut squares);
        check_finite("design column", &squares)?;
        return curvature(squares);
    }
    let gram = gram(design, weights);
    let mut block = Mat::zeros(s, s);
    let mut extremes = vec![f64::INFINITY, 0.0];
    let mut support: Vec<usize> = (0..s).collect();
    loop {
        for b in 0..s {
            for a in b..s {
                block[(a, b)] = gram[(support[a], support[b])];
            }
        }
        let eigenvalues = linalg::eigenvalues(block.as_ref());
        check_finite("eigenvalue (so the data)", &eigenvalues)?;
        extremes = vec![extremes[0].min(eigenvalues[0]), extremes[1].max(eigenvalues[s - 1])];
        // The next support in lexicographic order.
        let Some(i) = (0..s).rev().find(|&i| support[i] < p - s + i) else { return curvature(extremes) };
        support[i] += 1;
        for a in i + 1..s {
            support[a] = support[a - 1] + 1;
        }
    }
}

/// From non-negative numbers up to rounding.
fn curvature(eigenvalues: Vec<f64>) -> Result<Curvature> {
    let least = eigenvalues.iter().fold(f64::INFINITY, |m, &e| m.min(e)).max(0.0);
    let largest = eigenvalues.iter().fold(0.0f64, |m, &e| m.max(e));
    if largest == 0.0 {
        return Err(Error::Data("the design has no entry that is not zero".to_string()));
    }
    Curvature::new(least, largest)
}

/// Up to this size of its shorter side, and this many multiply-adds, a Gram matrix is formed.
const LARGEST_GRAM: usize = 2000;
const MOST_PRODUCTS: f64 = 2e10;

/// An upper bound on the largest eigenvalue of `X' diag(weights) X`, for weights >= 0.
///
/// * When X is small enough (shorter side at most 2000, at most 2e10 multiply-adds), that eigenvalue itself, computed
///   from the smaller of `X'WX` and `sqrt(W) X X' sqrt(W)` (which share it), plus what rounding may have taken.
/// * Otherwise the lesser of the trace and of `max_j (B v)_j / v_j` with `B = |X|' W |X|`: for every positive v that
///   ratio is above the largest eigenvalue of B (Collatz, Wielandt), which is above the one wanted, and a few power
///   iterations make v good. Tight when X has no negative entries (counts, tf-idf), loose when signs cancel. A power or
///   Lanczos iteration on X itself would approach from below, so it would prove nothing.
pub fn largest_gram_eigenvalue(design: &dyn Design, weights: &[f64]) -> f64 {
    let (n, p) = (design.nrows(), design.ncols());
    let mut squares = vec![0.0; p];
    design.squares(weights, &mut squares);
    let trace: f64 = squares.iter().sum();
    // Sums of n or p products, each relative to a sum of absolute values that the trace bounds.
    let rounding = 4.0 * f64::EPSILON * (n + p) as f64 * trace;
    let short = n.min(p);
    if short == 0 || trace == 0.0 || !trace.is_finite() {
        return trace;
    }
    let bound = if short <= LARGEST_GRAM && short as f64 * n as f64 * p as f64 <= MOST_PRODUCTS {
        let gram = if p <= n { gram(design, weights) } else { row_gram(design, weights) };
        linalg::eigenvalues(gram.as_ref())[short - 1]
    } else {
        perron_bound(design, weights)
    };
    // `min` passes over a NaN: an eigenvalue iteration that failed leaves the trace.
    (trace + rounding).min(bound + rounding)
}

/// The least eigenvalue of `sqrt(W) X X' sqrt(W)`, n x n.
pub(crate) fn least_row_gram_eigenvalue(design: &dyn Design, weights: &[f64]) -> f64 {
    linalg::eigenvalues(row_gram(design, weights).as_ref()).first().copied().unwrap_or(0.0)
}

/// The lower triangle of `sqrt(W) X X' sqrt(W)`, a few columns of X at a time.
fn row_gram(design: &dyn Design, weights: &[f64]) -> Mat<f64> {
    const CHUNK: usize = 256;
    let (n, p) = (design.nrows(), design.ncols());
    let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
    let mut gram = Mat::<f64>::zeros(n, n);
    let mut chunk = Mat::<f64>::zeros(n, CHUNK);
    for start in (0..p).step_by(CHUNK) {
        let width = CHUNK.min(p - start);
        for c in 0..width {
            let column = chunk.col_as_slice_mut(c);
            design.mul(SparseRef::new(&[start + c], &[1.0]), column);
            column.iter_mut().zip(&roots).for_each(|(x, r)| *x *= r);
        }
        let part = chunk.subcols(0, width);
        let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        triangular::matmul(gram.as_mut(), lower, Accum::Add, part, whole, part.transpose(), whole, 1.0, Par::Seq);
    }
    gram
}

/// `min over a few v of max_j (B v)_j / v_j`, `B = |X|' W |X|`.
fn perron_bound(design: &dyn Design, weights: &[f64]) -> f64 {
    let p = design.ncols();
    let (mut v, mut image) = (vec![1.0; p], vec![0.0; p]);
    let mut row = Vec::new();
    let mut best = f64::INFINITY;
    let mut rounds = 1;
    let mut done = 0;
    while done < rounds {
        image.fill(0.0);
        let mut entries = 0;
        for (i, w) in weights.iter().enumerate() {
            design.row(i, &mut row);
            entries += row.len();
            let product = w * row.iter().map(|&(j, x)| x.abs() * v[j]).sum::<f64>();
            row.iter().for_each(|&(j, x)| image[j] += x.abs() * product);
        }
        let ratio = image.iter().zip(&v).map(|(u, v)| u / v).fold(0.0, f64::max);
        best = best.min(ratio);
        // Positive whatever underflows: the bound holds for every such v.
        let scale = image.iter().fold(f64::MIN_POSITIVE, |m, u| m.max(*u));
        v.iter_mut().zip(&image).for_each(|(v, u)| *v = (u / scale).max(1e-200));
        done += 1;
        // As many rounds as some 2e8 entries allow.
        rounds = (200_000_000 / entries.max(1)).clamp(1, 20);
    }
    best
}
