//! Cholesky factors: of a positive definite matrix, and of a semi-definite one whose dependent directions are frozen.

use super::symmetric::inverse;
use crate::kernels::axpy;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt;
use faer::{Conj, Mat, MatMut, Par};

/// L with `matrix = L L'` (the lower triangle is read); `None` unless the matrix is positive definite. On one thread.
pub(crate) fn cholesky(mut matrix: Mat<f64>) -> Option<Mat<f64>> {
    factor_in_place(&mut matrix).then_some(matrix)
}

fn factor_in_place(matrix: &mut Mat<f64>) -> bool {
    let p = matrix.nrows();
    let need = llt::factor::cholesky_in_place_scratch::<f64>(p, Par::Seq, Default::default());
    let outcome = with_stack(need, |stack| {
        let plain = Default::default();
        llt::factor::cholesky_in_place(matrix.as_mut(), plain, Par::Seq, stack, Default::default())
    });
    outcome.is_ok() && (0..p).all(|i| matrix[(i, i)] > 0.0 && matrix[(i, i)].is_finite())
}

/// `H = S^-1 L L' S^-1` with S making the diagonal 1. A direction that depends on the others (a collinear column, an
/// empty one) is frozen: its pivot is replaced by 1, so that it takes no part instead of blowing up.
pub(crate) struct Cholesky {
    factor: Mat<f64>,
    scale: Vec<f64>,
}

/// Pivots below this, relative to a unit diagonal, are rounding error.
const SINGULAR: f64 = 1e-12;

/// From this size on an inverse is computed by blocks of columns, side by side: of a small matrix that takes up to
/// three times the operations.
const LARGE: usize = 384;

impl Cholesky {
    /// Factors `matrix` (lower triangle) with `damping` added to its diagonal.
    pub fn new(mut matrix: Mat<f64>, damping: Option<&[f64]>) -> Self {
        Self::again(None, &mut matrix, damping)
    }

    /// The same in the memory of an earlier factor: of a large matrix half of the time is the first touch of its pages.
    /// `matrix` is scratch afterwards.
    pub fn again(earlier: Option<Self>, matrix: &mut Mat<f64>, damping: Option<&[f64]>) -> Self {
        let k = matrix.nrows();
        let (mut factor, mut scale) = earlier.map_or_else(|| (Mat::new(), Vec::new()), |old| (old.factor, old.scale));
        if let Some(damping) = damping {
            for c in 0..k {
                matrix[(c, c)] += damping[c];
            }
        }
        scale.clear();
        let diagonal = (0..k).map(|c| matrix[(c, c)]);
        scale.extend(diagonal.map(|d| if d > 0.0 && d.is_finite() { 1.0 / d.sqrt() } else { 1.0 }));
        for b in 0..k {
            let column = &mut matrix.col_as_slice_mut(b)[b..];
            column.iter_mut().zip(&scale[b..]).for_each(|(v, s)| *v *= s * scale[b]);
        }
        match factor.nrows() == k {
            true => factor.copy_from(&*matrix),
            false => factor = matrix.clone(),
        }
        if !factor_in_place(&mut factor) || !(0..k).all(|c| factor[(c, c)] * factor[(c, c)] > SINGULAR) {
            // The exception takes the slow road (faer's own pivot replacement leaves the old pivot in the factor).
            factor_freezing(matrix);
            std::mem::swap(&mut factor, matrix);
        }
        Self { factor, scale }
    }

    /// `x = H^-1 x`.
    pub fn solve(&self, x: &mut [f64]) {
        x.iter_mut().zip(&self.scale).for_each(|(x, s)| *x *= s);
        let k = x.len();
        let rhs = MatMut::from_column_major_slice_mut(x, k, 1);
        let need = llt::solve::solve_in_place_scratch::<f64>(k, 1, Par::Seq);
        with_stack(need, |stack| {
            llt::solve::solve_in_place_with_conj(self.factor.as_ref(), Conj::No, rhs, Par::Seq, stack);
        });
        x.iter_mut().zip(&self.scale).for_each(|(x, s)| *x *= s);
    }

    /// `L^-1 S`, whose square is `H^-1`, for a small matrix.
    pub fn root(&self) -> Mat<f64> {
        let k = self.scale.len();
        let mut root = Mat::zeros(k, k);
        for c in 0..k {
            let column = root.col_as_slice_mut(c);
            column[c] = self.scale[c];
            for b in c..k {
                column[b] /= self.factor[(b, b)];
                let done = column[b];
                let below = self.factor.col_as_slice(b)[b + 1..].iter();
                column[b + 1..].iter_mut().zip(below).for_each(|(x, l)| *x -= done * l);
            }
        }
        root
    }

    /// `H^-1`, all of it.
    pub fn inverse(&self) -> Mat<f64> {
        let k = self.factor.nrows();
        let mut out = if k >= LARGE { inverse(&self.factor) } else { self.whole_inverse() };
        for b in 0..k {
            for a in b..k {
                let v = out[(a, b)] * self.scale[a] * self.scale[b];
                out[(a, b)] = v;
                out[(b, a)] = v;
            }
        }
        out
    }
}

impl Cholesky {
    /// `(L L')^-1` in one go, its lower triangle.
    fn whole_inverse(&self) -> Mat<f64> {
        let k = self.factor.nrows();
        let mut out = Mat::zeros(k, k);
        let need = llt::inverse::inverse_scratch::<f64>(k, Par::Seq);
        with_stack(need, |stack| {
            llt::inverse::inverse(out.as_mut(), self.factor.as_ref(), Par::Seq, stack);
        });
        out
    }
}

/// Left-looking Cholesky in place of the lower triangle; a pivot that is not above [`SINGULAR`] becomes 1 with nothing
/// below it. Returns how many did.
fn factor_freezing(matrix: &mut Mat<f64>) -> usize {
    let k = matrix.nrows();
    let mut frozen = 0;
    for b in 0..k {
        let mut column = matrix.col_as_slice(b)[b..].to_vec();
        for c in 0..b {
            let done = &matrix.col_as_slice(c)[b..];
            axpy(-done[0], done, &mut column);
        }
        if column[0] > SINGULAR {
            let pivot = column[0].sqrt();
            column.iter_mut().for_each(|v| *v /= pivot);
        } else {
            frozen += 1;
            column.fill(0.0);
            column[0] = 1.0;
        }
        matrix.col_as_slice_mut(b)[b..].copy_from_slice(&column);
    }
    frozen
}

fn with_stack<R>(need: StackReq, work: impl FnOnce(&mut MemStack) -> R) -> R {
    let mut buffer = MemBuffer::new(need);
    work(MemStack::new(&mut buffer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_and_inverts() {
        let h = faer::mat![[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0f64]];
        let factor = Cholesky::new(h.clone(), None);
        let mut x = [1.0, 2.0, 3.0];
        factor.solve(&mut x);
        for (i, b) in [1.0, 2.0, 3.0].into_iter().enumerate() {
            let back: f64 = (0..3).map(|j| h[(i, j)] * x[j]).sum();
            assert!((back - b).abs() < 1e-12);
        }
        let product = &h * factor.inverse();
        for i in 0..3 {
            for j in 0..3 {
                assert!((product[(i, j)] - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_dependent_direction_is_frozen() {
        // Two equal columns and an empty one: rank 1.
        let h = faer::mat![[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0f64]];
        assert_eq!(factor_freezing(&mut h.clone()), 2);
        let factor = Cholesky::new(h, None);
        let mut x = [4.0, 4.0, 0.0];
        factor.solve(&mut x);
        assert!((x[0] + x[1] - 2.0).abs() < 1e-12 && x[2] == 0.0, "{x:?}");
    }

    #[test]
    fn freezing_changes_nothing_but_the_dependent_directions() {
        // Large enough for a blocked factorisation; columns 40 and 90 repeat column 3.
        let (n, k) = (300, 130);
        let source = |c: usize| if c == 40 || c == 90 { 3 } else { c };
        let a =
            Mat::from_fn(n, k, |i, c| ((i * 131 + source(c) * 977 + i * i * source(c)) % 1009) as f64 / 1009.0 - 0.5);
        let h = a.transpose() * &a;
        let truth: Vec<f64> = (0..k).map(|c| c as f64 - 60.0).collect();
        let product = |x: &[f64]| -> Vec<f64> { (0..k).map(|i| (0..k).map(|j| h[(i, j)] * x[j]).sum()).collect() };
        let target = product(&truth);
        let factor = Cholesky::new(h.clone(), None);
        let mut x = target.clone();
        factor.solve(&mut x);
        let size = target.iter().fold(0.0f64, |m, t| m.max(t.abs()));
        for (found, wanted) in product(&x).iter().zip(&target) {
            assert!((found - wanted).abs() < 1e-9 * size, "{found} against {wanted}");
        }
    }
}
