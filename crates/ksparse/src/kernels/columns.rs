//! Sums over the columns of a dense matrix, `sum_i x_ij r_i` and `sum_i r_i x_ij^2`, for columns stored one after
//! another: several at a time, so that r comes from the cache once for all of them.

use super::private::Term;
use super::{Entry, arch, total};
use faer::Mat;
use pulp::{Simd, WithSimd};

/// Columns from this length on are long: they come from memory, and eight streams fetch more of it than four; short
/// ones are in the cache.
const LONG: usize = 512;

/// Independent sums of a column where the compiler makes the vectors: they hide the latency of the additions.
const LANES: usize = 16;
/// Columns of f32 from this length on come from far: their r does not stay in the nearest cache.
const FAR: usize = 8192;
/// Rows of such a column before the next one's turn.
const PART: usize = 256;

/// `x r`.
pub(super) struct Product;

impl Term for Product {
    #[inline(always)]
    fn add<S: Simd>(simd: S, x: S::f64s, r: S::f64s, sum: S::f64s) -> S::f64s {
        simd.mul_add_e_f64s(x, r, sum)
    }

    #[inline(always)]
    fn one(x: f64, r: f64) -> f64 {
        x * r
    }
}

/// `r x^2`.
pub(super) struct Square;

impl Term for Square {
    #[inline(always)]
    fn add<S: Simd>(simd: S, x: S::f64s, r: S::f64s, sum: S::f64s) -> S::f64s {
        simd.mul_add_e_f64s(simd.mul_f64s(x, r), x, sum)
    }

    #[inline(always)]
    fn one(x: f64, r: f64) -> f64 {
        x * r * x
    }
}

struct Columns<'a, 'b, T, K> {
    columns: &'a [T],
    r: &'a [f64],
    out: &'b mut [f64],
    term: std::marker::PhantomData<K>,
}

impl<T: Entry, K: Term> WithSimd for Columns<'_, '_, T, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        T::sums::<S, K>(simd, self.columns, self.r, self.out);
    }
}

/// `out[j]` is the sum of the terms of column j.
pub(crate) fn sums<T: Entry, K: Term>(columns: &[T], r: &[f64], out: &mut [f64]) {
    if r.is_empty() {
        return out.fill(0.0);
    }
    arch().dispatch(Columns { columns, r, out, term: std::marker::PhantomData::<K> });
}

struct Chosen<'a, 'b> {
    matrix: &'a Mat<f64>,
    which: &'a [u32],
    r: &'a [f64],
    out: &'b mut [f64],
}

impl WithSimd for Chosen<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { matrix, which, r, out } = self;
        let ((groups, rest), (sums, others)) = (which.as_chunks::<4>(), out.as_chunks_mut::<4>());
        for (&[a, b, c, d], sums) in groups.iter().zip(sums) {
            let columns = [
                matrix.col_as_slice(a as usize),
                matrix.col_as_slice(b as usize),
                matrix.col_as_slice(c as usize),
                matrix.col_as_slice(d as usize),
            ];
            *sums = together::<S, Product, 4, 2>(simd, columns, r);
        }
        for (&j, sum) in rest.iter().zip(others) {
            [*sum] = together::<S, Product, 1, 2>(simd, [matrix.col_as_slice(j as usize)], r);
        }
    }
}

/// `out[a] = column . r` for column `which[a]` of a matrix.
pub(crate) fn dot_chosen(matrix: &Mat<f64>, which: &[u32], r: &[f64], out: &mut [f64]) {
    arch().dispatch(Chosen { matrix, which, r, out });
}

#[inline(always)]
pub(super) fn of_f64<S: Simd, K: Term>(simd: S, columns: &[f64], r: &[f64], out: &mut [f64]) {
    if r.len() >= LONG {
        by::<S, K, 8, 1>(simd, columns, r, out);
    } else {
        by::<S, K, 4, 2>(simd, columns, r, out);
    }
}

/// `C` columns at a time, with `U` vector sums for each.
#[inline(always)]
fn by<S: Simd, K: Term, const C: usize, const U: usize>(simd: S, columns: &[f64], r: &[f64], out: &mut [f64]) {
    let n = r.len();
    let (mut groups, mut blocks) = (out.chunks_exact_mut(C), columns.chunks_exact(C * n));
    for (group, block) in (&mut groups).zip(&mut blocks) {
        let columns = std::array::from_fn(|c| &block[c * n..(c + 1) * n]);
        group.copy_from_slice(&together::<S, K, C, U>(simd, columns, r));
    }
    for (column, o) in blocks.remainder().chunks_exact(n).zip(groups.into_remainder()) {
        *o = alone::<f64, K>(column, r);
    }
}

#[inline(always)]
fn together<S: Simd, K: Term, const C: usize, const U: usize>(simd: S, columns: [&[f64]; C], r: &[f64]) -> [f64; C] {
    let (groups_r, _) = pulp::as_arrays::<U, _>(S::as_simd_f64s(r).0);
    let groups: [&[[S::f64s; U]]; C] =
        columns.map(|c| &pulp::as_arrays::<U, _>(S::as_simd_f64s(c).0).0[..groups_r.len()]);
    let mut sums = [[simd.splat_f64s(0.0); U]; C];
    for (i, r) in groups_r.iter().enumerate() {
        for c in 0..C {
            for u in 0..U {
                sums[c][u] = K::add(simd, groups[c][i][u], r[u], sums[c][u]);
            }
        }
    }
    let done = groups_r.len() * U * S::F64_LANES;
    // Loops, and no closures: the compiler makes functions of those, without the instruction set.
    let mut out = [0.0; C];
    for c in 0..C {
        let mut sum = sums[c][0];
        for next in &sums[c][1..] {
            sum = simd.add_f64s(sum, *next);
        }
        let mut tail = 0.0;
        for (x, r) in columns[c][done..].iter().zip(&r[done..]) {
            tail += K::one(*x, *r);
        }
        out[c] = simd.reduce_sum_f64s(sum) + tail;
    }
    out
}

/// Column after column, whose vectors are the compiler's: it widens entries as it goes. Of long columns eight in turn,
/// some rows of each, since as many streams fetch more from memory than one: in half of the time for 31,250 x 1000, in
/// a quarter more where all is in the cache. Sums and bits are the same.
#[inline(always)]
pub(super) fn of_f32<K: Term>(columns: &[f32], r: &[f64], out: &mut [f64]) {
    let n = r.len();
    let together = if n < FAR { 0 } else { out.len() / 8 * 8 };
    let (groups, rest) = out.split_at_mut(together);
    let (blocks, columns) = columns.split_at(together * n);
    for (group, block) in groups.chunks_exact_mut(8).zip(blocks.chunks_exact(8 * n)) {
        group.copy_from_slice(&in_turn::<K>(block, r));
    }
    for (column, o) in columns.chunks_exact(n).zip(rest) {
        *o = alone::<f32, K>(column, r);
    }
}

#[inline(always)]
fn in_turn<K: Term>(block: &[f32], r: &[f64]) -> [f64; 8] {
    let n = r.len();
    let tail = n - n % LANES;
    let columns: [&[f32]; 8] = std::array::from_fn(|c| &block[c * n..(c + 1) * n]);
    let mut sums = [[0.0; LANES]; 8];
    for start in (0..tail).step_by(PART) {
        let end = (start + PART).min(tail);
        // Written out: what an instruction reads next is foreseen by what the same one has read before. As a loop this
        // takes twice the time.
        macro_rules! each {
            ($($c:literal)+) => {
                $(sums[$c] = with_more::<f32, K>(sums[$c], &columns[$c][start..end], &r[start..end]);)+
            };
        }
        each!(0 1 2 3 4 5 6 7);
    }
    let mut out = [0.0; 8];
    for c in 0..8 {
        out[c] = total(sums[c]) + last::<f32, K>(&columns[c][tail..], &r[tail..]);
    }
    out
}

/// One column.
#[inline(always)]
pub(super) fn alone<T: Entry, K: Term>(x: &[T], r: &[f64]) -> f64 {
    let tail = r.len() - r.len() % LANES;
    total(with_more::<T, K>([0.0; LANES], &x[..tail], &r[..tail])) + last::<T, K>(&x[tail..], &r[tail..])
}

/// Some sums and the terms of further rows.
#[inline(always)]
fn with_more<T: Entry, K: Term>(mut sums: [f64; LANES], x: &[T], r: &[f64]) -> [f64; LANES] {
    for (x, r) in x.as_chunks::<LANES>().0.iter().zip(r.as_chunks::<LANES>().0) {
        for l in 0..LANES {
            sums[l] += K::one(x[l].widen(), r[l]);
        }
    }
    sums
}

/// The terms of the last rows.
#[inline(always)]
fn last<T: Entry, K: Term>(x: &[T], r: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (x, r) in x.iter().zip(r) {
        sum += K::one(x.widen(), *r);
    }
    sum
}
