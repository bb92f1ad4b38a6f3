//! Inner loops of a search over a quadratic f by rows of its Hessian (`solver/wide.rs`, which has the formulas).
//!
//! Rows are padded with zeros to whole blocks of [`BLOCK`] places.

use super::arch;
use pulp::{Simd, WithSimd};
use std::ops::Range;
use std::sync::Arc;

/// One AVX-512 vector, or several shorter ones.
pub(crate) const BLOCK: usize = 8;

/// The arrays that a change of members moves: gradients, output by output, and what is left of every coordinate.
pub(crate) struct Slopes<'a> {
    pub gradient: &'a mut [f64],
    pub left: &'a mut [f64],
}

struct Shift<'a, 'b> {
    rows: &'a [Arc<[f64]>],
    factors: &'a [f64],
    steps: &'a [f64],
    square: f64,
    slopes: Slopes<'b>,
}

impl WithSimd for Shift<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        // Four sums at a time hide the latency of additions.
        const TOGETHER: usize = 4;
        let size = self.slopes.left.len();
        let wide = TOGETHER * S::F64_LANES;
        let body = size - size % wide;
        for start in (0..body).step_by(wide) {
            shift_at::<S, TOGETHER>(simd, &mut self, start..start + wide);
        }
        for start in (body..size).step_by(S::F64_LANES) {
            shift_at::<S, 1>(simd, &mut self, start..start + S::F64_LANES);
        }
    }
}

#[inline(always)]
fn shift_at<S: Simd, const U: usize>(simd: S, shift: &mut Shift, at: Range<usize>) {
    let size = shift.slopes.left.len();
    let mut sums = [simd.splat_f64s(0.0); U];
    for (row, &factor) in shift.rows.iter().zip(shift.factors) {
        let row = &pulp::as_arrays::<U, _>(S::as_simd_f64s(&row[at.clone()]).0).0[0];
        let factor = simd.splat_f64s(factor);
        for u in 0..U {
            sums[u] = simd.mul_add_e_f64s(row[u], factor, sums[u]);
        }
    }
    let square = simd.splat_f64s(shift.square);
    let left = S::as_mut_simd_f64s(&mut shift.slopes.left[at.clone()]).0;
    for u in 0..U {
        left[u] = simd.mul_add_e_f64s(simd.mul_f64s(sums[u], square), sums[u], left[u]);
    }
    for (c, &step) in shift.steps.iter().enumerate() {
        let gradient = S::as_mut_simd_f64s(&mut shift.slopes.gradient[c * size + at.start..c * size + at.end]).0;
        let step = simd.splat_f64s(step);
        for u in 0..U {
            gradient[u] = simd.mul_add_e_f64s(sums[u], step, gradient[u]);
        }
    }
}

/// With `t = sum_a factors[a] rows[a]`: `gradient_c += steps[c] t`, `left += square t^2`, in one pass.
pub(crate) fn shift(rows: &[Arc<[f64]>], factors: &[f64], steps: &[f64], square: f64, slopes: Slopes) {
    arch().dispatch(Shift { rows, factors, steps, square, slopes });
}

/// What newcomers are ranked by.
#[derive(Clone, Copy)]
pub(crate) struct Newcomers<'a> {
    /// Output by output.
    pub gradient: &'a [f64],
    pub left: &'a [f64],
    /// Whoever has no more left than this cannot enter.
    pub floor: &'a [f64],
}

impl Newcomers<'_> {
    /// The sum over the outputs of their squared gradients, for the places of a block.
    #[inline(always)]
    fn squares(&self, block: usize) -> [f64; BLOCK] {
        let mut squares = [0.0; BLOCK];
        for gradient in self.gradient.chunks_exact(self.left.len()) {
            let gradient = &gradient.as_chunks::<BLOCK>().0[block];
            for l in 0..BLOCK {
                squares[l] += gradient[l] * gradient[l];
            }
        }
        squares
    }
}

struct HighestAlone<'a> {
    newcomers: Newcomers<'a>,
    least: f64,
}

impl WithSimd for HighestAlone<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Option<usize> {
        let (left, floor) = (self.newcomers.left.as_chunks::<BLOCK>().0, self.newcomers.floor.as_chunks::<BLOCK>().0);
        let (mut best, mut place) = (self.least, None);
        for (block, (left, floor)) in left.iter().zip(floor).enumerate() {
            let squares = self.newcomers.squares(block);
            let mut higher = false;
            // Without the division, which only a new leader needs.
            for l in 0..BLOCK {
                higher |= (left[l] > floor[l]) & (squares[l] > best * left[l]);
            }
            if higher {
                for l in 0..BLOCK {
                    if left[l] > floor[l] && squares[l] > best * left[l] {
                        (best, place) = (squares[l] / left[l], Some(block * BLOCK + l));
                    }
                }
            }
        }
        place
    }
}

/// The place with the highest `g^2 / left` above `least` among those who can enter, the first of equals.
pub(crate) fn highest_alone(newcomers: Newcomers, least: f64) -> Option<usize> {
    arch().dispatch(HighestAlone { newcomers, least })
}

/// `curvature` and its `root` for every place.
#[derive(Clone, Copy)]
pub(crate) struct Curvatures<'a> {
    pub curvature: &'a [f64],
    pub root: &'a [f64],
}

struct Promising<'a> {
    newcomers: Newcomers<'a>,
    curvatures: Curvatures<'a>,
    least: f64,
    cheapest: f64,
}

impl WithSimd for Promising<'_> {
    type Output = Vec<usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Vec<usize> {
        let blocks = |values| <[f64]>::as_chunks::<BLOCK>(values).0;
        let Self { newcomers, curvatures, least, cheapest } = self;
        let (left, floor) = (blocks(newcomers.left), blocks(newcomers.floor));
        let (curvature, root) = (&blocks(curvatures.curvature)[..left.len()], &blocks(curvatures.root)[..left.len()]);
        let mut found = Vec::new();
        for (block, (left, floor)) in left.iter().zip(floor).enumerate() {
            let squares = newcomers.squares(block);
            let mut good = [false; BLOCK];
            let mut any = false;
            for l in 0..BLOCK {
                let (e, h) = (left[l], curvature[block][l]);
                let reach = (h - e).abs().sqrt() + root[block][l];
                good[l] =
                    (e > floor[l]) & (squares[l] > least * e) & (squares[l] * (reach * reach) > cheapest * (e * e));
                any |= good[l];
            }
            if any {
                found.extend((0..BLOCK).filter(|&l| good[l]).map(|l| block * BLOCK + l));
            }
        }
        found
    }
}

/// Who can enter, would gain more than `least` alone, and may gain something in exchange for a member whose leaving
/// costs `cheapest`, or more.
pub(crate) fn promising(newcomers: Newcomers, curvatures: Curvatures, least: f64, cheapest: f64) -> Vec<usize> {
    arch().dispatch(Promising { newcomers, curvatures, least, cheapest })
}

/// What exchanges are scored by: of every member its row, its line of the inverse, `x / d` for every output, `1 / d`
/// and `x^2 / d`.
pub(crate) struct Members<'a> {
    pub rows: &'a [Arc<[f64]>],
    pub inverse: &'a [f64],
    pub shifts: &'a [f64],
    pub units: &'a [f64],
    pub costs: &'a [f64],
    /// Their numbers, the cheapest first.
    pub order: &'a [usize],
}

struct HighestPair<'a> {
    members: &'a Members<'a>,
    newcomers: Newcomers<'a>,
    curvature: &'a [f64],
    places: &'a [usize],
    least: f64,
}

impl WithSimd for HighestPair<'_> {
    type Output = (usize, Option<(usize, usize)>);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Self::Output {
        let Self { members, newcomers, curvature, places, least } = self;
        let (count, size, left) = (members.rows.len(), newcomers.left.len(), newcomers.left);
        let outputs = newcomers.gradient.len() / size;
        let (mut best, mut pair, mut compared, mut next) = (least, None, 0, 0);
        let (mut crosses, mut gradient) = (vec![[0.0; BLOCK]; count], vec![[0.0; BLOCK]; outputs]);
        loop {
            let (mut at, mut filled) = ([0; BLOCK], 0);
            while next < places.len() && filled < BLOCK {
                let j = places[next];
                let slopes = newcomers.gradient.iter().skip(j).step_by(size);
                if slopes.map(|slope| slope * slope).sum::<f64>() > best * left[j] {
                    at[filled] = j;
                    filled += 1;
                }
                next += 1;
            }
            if filled == 0 {
                return (compared, pair);
            }
            // The last block is filled up with its first newcomer, who does not beat himself.
            let first = at[0];
            at[filled..].fill(first);
            for (cross, row) in crosses.iter_mut().zip(members.rows) {
                for l in 0..BLOCK {
                    cross[l] = row[at[l]];
                }
            }
            for (c, gradient) in gradient.iter_mut().enumerate() {
                for l in 0..BLOCK {
                    gradient[l] = newcomers.gradient[c * size + at[l]];
                }
            }
            let (mut rest, mut squares, mut limit) = ([0.0; BLOCK], [0.0; BLOCK], 0.0f64);
            for gradient in &gradient {
                for l in 0..BLOCK {
                    squares[l] += gradient[l] * gradient[l];
                }
            }
            for l in 0..BLOCK {
                rest[l] = left[at[l]];
                let h = curvature[at[l]];
                let explained = (squares[l] * (h - rest[l]).abs()).sqrt();
                let dearest = (explained + (h * (squares[l] - rest[l] * best).abs()).sqrt()) / rest[l];
                limit = limit.max(dearest * dearest);
            }
            for &a in members.order.iter().take_while(|&&a| members.costs[a] < limit) {
                compared += BLOCK;
                let mut v = [0.0; BLOCK];
                for (&inverse, cross) in members.inverse[a * count..(a + 1) * count].iter().zip(&crosses) {
                    for l in 0..BLOCK {
                        v[l] += inverse * cross[l];
                    }
                }
                let (unit, cost) = (members.units[a], members.costs[a]);
                let (mut top, mut bottom) = ([0.0; BLOCK], [0.0; BLOCK]);
                for (gradient, &shift) in gradient.iter().zip(&members.shifts[a * outputs..]) {
                    for l in 0..BLOCK {
                        let slope = gradient[l] - v[l] * shift;
                        top[l] += slope * slope;
                    }
                }
                let mut higher = false;
                for l in 0..BLOCK {
                    bottom[l] = rest[l] + v[l] * v[l] * unit;
                    higher |= top[l] > (best + cost) * bottom[l];
                }
                if higher {
                    for l in 0..BLOCK {
                        if top[l] > (best + cost) * bottom[l] {
                            (best, pair) = (top[l] / bottom[l] - cost, Some((a, at[l])));
                        }
                    }
                }
            }
        }
    }
}

/// How many pairs were compared, and the exchange of a member for one of the newcomers at some places that gains most,
/// if more than `least`. A newcomer who would gain no more than that alone is passed over, and so is a member too dear
/// for it. A member of infinite cost stays.
pub(crate) fn highest_pair(
    members: &Members,
    newcomers: Newcomers,
    curvature: &[f64],
    places: &[usize],
    least: f64,
) -> (usize, Option<(usize, usize)>) {
    arch().dispatch(HighestPair { members, newcomers, curvature, places, least })
}
