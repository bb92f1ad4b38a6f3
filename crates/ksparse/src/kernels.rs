//! Inner loops over contiguous memory, compiled for the widest vectors of the machine.
//!
//! The loops are plain Rust with fixed numbers of independent accumulators; `pulp` picks, at run time, a
//! version compiled with AVX2 where the processor has it. The accumulators fix the order of every sum,
//! so the bits are the same on every x86 machine.

use pulp::Arch;
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
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

fn arch() -> Arch {
    static ARCH: OnceLock<Arch> = OnceLock::new();
    *ARCH.get_or_init(Arch::new)
}

/// Accumulators per column: two AVX2 vectors.
const LANES: usize = 8;

#[inline(always)]
fn total(lanes: [f64; LANES]) -> f64 {
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

#[inline(always)]
fn dots<T: Entry, const C: usize>(columns: [&[T]; C], r: &[f64]) -> [f64; C] {
    let n = r.len();
    let columns = columns.map(|c| &c[..n]);
    let (r_body, r_tail) = r.as_chunks::<LANES>();
    let bodies = columns.map(|c| c.as_chunks::<LANES>().0);
    let mut sums = [[0.0; LANES]; C];
    for (i, r) in r_body.iter().enumerate() {
        for c in 0..C {
            let x = &bodies[c][i];
            for l in 0..LANES {
                sums[c][l] += x[l].widen() * r[l];
            }
        }
    }
    let done = n - r_tail.len();
    let mut out = [0.0; C];
    for c in 0..C {
        let mut tail = 0.0;
        for (x, r) in columns[c][done..].iter().zip(r_tail) {
            tail += x.widen() * r;
        }
        out[c] = total(sums[c]) + tail;
    }
    out
}

/// `out[j] = column_j . r` for the columns stored one after another in `columns`.
pub(crate) fn dot_columns<T: Entry>(columns: &[T], r: &[f64], out: &mut [f64]) {
    let n = r.len();
    if n == 0 {
        return out.fill(0.0);
    }
    arch().dispatch(
        #[inline(always)]
        || {
            // Four columns at a time read r from the cache once for the four.
            let mut groups = out.chunks_exact_mut(4);
            let mut at = 0;
            for group in &mut groups {
                let c = |i: usize| &columns[at + i * n..at + (i + 1) * n];
                group.copy_from_slice(&dots([c(0), c(1), c(2), c(3)], r));
                at += 4 * n;
            }
            for o in groups.into_remainder() {
                *o = dots([&columns[at..at + n]], r)[0];
                at += n;
            }
        },
    );
}

/// `x . y`.
pub(crate) fn dot<T: Entry>(x: &[T], y: &[f64]) -> f64 {
    arch().dispatch(
        #[inline(always)]
        || dots([x], y)[0],
    )
}

/// `sum_i w_i x_i^2`.
pub(crate) fn weighted_square<T: Entry>(x: &[T], w: &[f64]) -> f64 {
    arch().dispatch(
        #[inline(always)]
        || {
            let (x_body, x_tail) = x.as_chunks::<LANES>();
            let (w_body, w_tail) = w.as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for (x, w) in x_body.iter().zip(w_body) {
                for l in 0..LANES {
                    let v = x[l].widen();
                    sums[l] += v * v * w[l];
                }
            }
            let mut tail = 0.0;
            for (x, w) in x_tail.iter().zip(w_tail) {
                tail += x.widen() * x.widen() * w;
            }
            total(sums) + tail
        },
    )
}

/// `out += a x`.
pub(crate) fn axpy<T: Entry>(a: f64, x: &[T], out: &mut [f64]) {
    arch().dispatch(
        #[inline(always)]
        || {
            for (o, x) in out.iter_mut().zip(x) {
                *o += a * x.widen();
            }
        },
    )
}

/// `out += sum_c a[c] x[c]` for four columns: one pass over `out` instead of four.
pub(crate) fn axpy4<T: Entry>(a: [f64; 4], x: [&[T]; 4], out: &mut [f64]) {
    arch().dispatch(
        #[inline(always)]
        || {
            let n = out.len();
            let x = x.map(|c| &c[..n]);
            for i in 0..n {
                out[i] += (a[0] * x[0][i].widen() + a[1] * x[1][i].widen())
                    + (a[2] * x[2][i].widen() + a[3] * x[3][i].widen());
            }
        },
    )
}

/// Euclidean norm.
pub(crate) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}
