//! Inner loops over contiguous memory, compiled for the widest vectors of the machine.
//!
//! The loops are plain Rust with a fixed number of independent sums (`pulp`'s vectors where the compiler needs
//! telling); `pulp` picks, at run time, the version compiled with AVX2 and FMA where the processor has them. The order
//! of every sum is fixed, so the same machine gives the same bits.

mod columns;
mod listed;
pub(crate) mod logistic;
pub(crate) mod softmax;
pub(crate) mod wide;
pub(crate) use columns::dot_chosen;
use columns::{Product, Square, alone, sums};
pub(crate) use listed::add_listed_rows;
use pulp::{Arch, Simd, WithSimd};
use std::sync::OnceLock;

/// How an entry of a design is stored; sums are always in f64.
pub trait Entry: Copy + Default + Send + Sync + std::fmt::Debug + 'static + private::Sealed {
    /// The value as f64, exactly.
    fn widen(self) -> f64;
}

impl Entry for f64 {
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }
}

impl Entry for f32 {
    #[inline(always)]
    fn widen(self) -> f64 {
        self as f64
    }
}

mod private {
    use super::Simd;
    use super::columns::{of_f32, of_f64};

    /// What an entry and the number of its row add to the sum of a column.
    pub trait Term {
        fn add<S: Simd>(simd: S, x: S::f64s, r: S::f64s, sum: S::f64s) -> S::f64s;
        fn one(x: f64, r: f64) -> f64;
    }

    /// How columns of an entry are added up; no other crate can say.
    pub trait Sealed: Sized {
        /// `out[j]` is the sum of the terms of column j, with the vectors of one instruction set.
        fn sums<S: Simd, K: Term>(simd: S, columns: &[Self], r: &[f64], out: &mut [f64]);
    }

    impl Sealed for f32 {
        #[inline(always)]
        fn sums<S: Simd, K: Term>(_simd: S, columns: &[f32], r: &[f64], out: &mut [f64]) {
            of_f32::<K>(columns, r, out);
        }
    }

    impl Sealed for f64 {
        #[inline(always)]
        fn sums<S: Simd, K: Term>(simd: S, columns: &[f64], r: &[f64], out: &mut [f64]) {
            of_f64::<S, K>(simd, columns, r, out);
        }
    }
}

fn arch() -> Arch {
    static ARCH: OnceLock<Arch> = OnceLock::new();
    *ARCH.get_or_init(Arch::new)
}

/// A named operation for `pulp` to compile once per instruction set. (A closure would do, but the compiler then makes a
/// function of its body, without the instruction set.)
macro_rules! operation {
    ($name:ident<$($lifetime:lifetime),+> { $($field:ident: $type:ty),+ } -> $output:ty, |$simd:ident| $body:expr) => {
        struct $name<$($lifetime),+, T> {
            $($field: $type),+
        }

        impl<$($lifetime),+, T: Entry> WithSimd for $name<$($lifetime),+, T> {
            type Output = $output;

            #[inline(always)]
            fn with_simd<S: Simd>(self, $simd: S) -> Self::Output {
                let $name { $($field),+ } = self;
                $body
            }
        }
    };
}

// After the macro, which it uses.
mod gains;
pub(crate) use gains::{Gains, highest};

/// Independent sums per column: four AVX2 vectors hide the latency of the additions.
const LANES: usize = 16;

/// Adds up the lanes, halves first.
#[inline(always)]
fn total<const N: usize>(mut lanes: [f64; N]) -> f64 {
    let mut width = N / 2;
    while width > 0 {
        for l in 0..width {
            lanes[l] += lanes[l + width];
        }
        width /= 2;
    }
    lanes[0]
}

operation!(Dot<'a> { x: &'a [T], r: &'a [f64] } -> f64, |_simd| alone::<T, Product>(x, r));

operation!(WeightedDeviation<'a> { x: &'a [T], m: f64, w: &'a [f64] } -> f64, |_simd| {
    let (x_body, x_tail) = x.as_chunks::<LANES>();
    let (w_body, w_tail) = w.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (x, w) in x_body.iter().zip(w_body) {
        for l in 0..LANES {
            let v = x[l].widen() - m;
            sums[l] += v * v * w[l];
        }
    }
    let mut tail = 0.0;
    for (x, w) in x_tail.iter().zip(w_tail) {
        let v = x.widen() - m;
        tail += v * v * w;
    }
    total(sums) + tail
});

operation!(Axpy<'a, 'b> { a: f64, x: &'a [T], out: &'b mut [f64] } -> (), |_simd| {
    for (o, x) in out.iter_mut().zip(x) {
        *o += a * x.widen();
    }
});

operation!(Axpy4<'a, 'b> { a: [f64; 4], x: [&'a [T]; 4], out: &'b mut [f64] } -> (), |_simd| {
    let n = out.len();
    let x = x.map(|c| &c[..n]);
    for i in 0..n {
        out[i] += (a[0] * x[0][i].widen() + a[1] * x[1][i].widen())
            + (a[2] * x[2][i].widen() + a[3] * x[3][i].widen());
    }
});

/// `out[j] = column_j . r` for the columns stored one after another in `columns`.
pub(crate) fn dot_columns<T: Entry>(columns: &[T], r: &[f64], out: &mut [f64]) {
    sums::<T, Product>(columns, r, out);
}

/// `out[j] = sum_i w_i x_ij^2` likewise.
pub(crate) fn weighted_squares<T: Entry>(columns: &[T], w: &[f64], out: &mut [f64]) {
    sums::<T, Square>(columns, w, out);
}

/// `x . r`.
pub(crate) fn dot<T: Entry>(x: &[T], r: &[f64]) -> f64 {
    arch().dispatch(Dot { x, r })
}

/// `sum_i w_i x_i^2`.
pub(crate) fn weighted_square<T: Entry>(x: &[T], w: &[f64]) -> f64 {
    weighted_deviation(x, 0.0, w)
}

/// `sum_i w_i (x_i - m)^2`.
pub(crate) fn weighted_deviation<T: Entry>(x: &[T], m: f64, w: &[f64]) -> f64 {
    arch().dispatch(WeightedDeviation { x, m, w })
}

/// `out += a x`.
pub(crate) fn axpy<T: Entry>(a: f64, x: &[T], out: &mut [f64]) {
    arch().dispatch(Axpy { a, x, out })
}

/// `out += sum_c a[c] x[c]` for four columns: one pass over `out` instead of four.
pub(crate) fn axpy4<T: Entry>(a: [f64; 4], x: [&[T]; 4], out: &mut [f64]) {
    arch().dispatch(Axpy4 { a, x, out })
}

/// Columns of a strip: one AVX-512 vector.
pub(crate) const STRIP: usize = 8;

struct TimesStrip<'a, 'b> {
    starts: &'a [usize],
    entries: &'a [(u32, f64)],
    strip: &'a [[f64; STRIP]],
    out: &'b mut [[f64; STRIP]],
}

impl WithSimd for TimesStrip<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for (row, out) in self.starts.windows(2).zip(self.out) {
            let mut sums = [0.0; STRIP];
            for &(c, v) in &self.entries[row[0]..row[1]] {
                let x = &self.strip[c as usize];
                for l in 0..STRIP {
                    sums[l] += v * x[l];
                }
            }
            *out = sums;
        }
    }
}

/// A sparse matrix times eight columns stored side by side. Row r of the matrix has the `entries` (column, value) from
/// `starts[r]` on.
pub(crate) fn times_strip(starts: &[usize], entries: &[(u32, f64)], strip: &[[f64; STRIP]], out: &mut [[f64; STRIP]]) {
    arch().dispatch(TimesStrip { starts, entries, strip, out })
}

/// Euclidean norm.
pub(crate) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}
