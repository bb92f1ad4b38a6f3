//! What to compare when nobody says: values of k and ridges, from the data.
//!
//! * **Ridges** are multiples of the typical curvature `h`, the median over the columns of the second derivative of the
//!   mean loss at 0: a ridge of `h` halves the coefficient of such a column on its own, whatever the units of X.
//! * **k** runs from 0 to 8, then in steps of a factor sqrt 2, up to what the rows can tell apart: four columns for
//!   every row of the smaller class, two for every row of a regression; beyond 1024 only where the curve still falls.

use crate::error::Result;
use crate::loss::TargetKind;
use crate::objective::{Objective, Risk};

/// Ridges to select under, in units of curvature: the usual one, which is kept unless another is clearly better, a
/// strong one, which ranks columns nearly one by one, and a weak one, which asks how well k columns do alone.
const STRONG: f64 = 10.0;
const USUAL: f64 = 1.0;
const WEAK: f64 = 0.01;
/// From so many rows on the strong one goes first, and the others are asked for no more than about what it chooses:
/// with few columns of many it is as good or better (held-out errors under it and under the usual one: rcv1, 512 of
/// 47236 columns, .0362 and .0389; news20, 512 of 62061, .065 and .069; PCMAC, 128 of 3289, .105 and .110).
const STEADY: usize = 500;
/// Ridges to refit under: exponents of 10 in halves. Only those around the best are tried.
const REFIT: std::ops::RangeInclusive<i32> = -8..=4;
/// k beyond this are tried only where the choice lies beyond half of it.
const FIRST: usize = 1024;

/// The typical curvature of a column; 1 where nothing curves.
pub fn typical_curvature(risk: &Risk) -> Result<f64> {
    let curvature = match risk.loss().smoothness() {
        smoothness if smoothness.has_corners() => 1.0,
        _ => risk.target().iter().zip(risk.weights()).map(|(&y, w)| w * risk.loss().at(0.0, y).curvature).sum(),
    };
    let squares = risk.weighted_squares();
    risk.design().health()?;
    let columns = (0..squares.len()).filter(|j| !risk.free().contains(j));
    Ok(typical(columns.map(|j| curvature * squares[j]).filter(|h| *h > 0.0).collect()))
}

/// The median; 1 where there is none.
pub(super) fn typical(mut curvatures: Vec<f64>) -> f64 {
    if curvatures.is_empty() {
        return 1.0;
    }
    let middle = curvatures.len() / 2;
    let (_, median, _) = curvatures.select_nth_unstable_by(middle, f64::total_cmp);
    if median.is_finite() { *median } else { 1.0 }
}

/// The ridges to select under, descending.
pub fn select_ridges(unit: f64) -> Vec<f64> {
    [STRONG, USUAL, WEAK].iter().map(|c| c * unit).collect()
}

/// Whether rows are so many that the strongest ridge goes first.
pub fn strongest_first(rows: usize) -> bool {
    rows >= STEADY
}

/// The one of them that is usual.
pub fn usual_ridge(unit: f64) -> f64 {
    USUAL * unit
}

/// The ridges to refit under, descending.
pub fn refit_ridges(unit: f64) -> Vec<f64> {
    REFIT.rev().map(|half| unit * 10f64.powf(0.5 * f64::from(half))).collect()
}

/// The largest k worth asking for, of so many columns.
pub fn largest_k(risk: &Risk, columns: usize) -> usize {
    let rows = match risk.loss().target() {
        TargetKind::Real | TargetKind::Count | TargetKind::Positive => 2 * risk.target().len(),
        TargetKind::Sign => {
            let positive = risk.target().iter().filter(|y| **y > 0.0).count();
            4 * positive.min(risk.target().len() - positive)
        }
    };
    rows.max(1).min(columns)
}

/// The values of k up to `largest` that are tried at first, ascending.
pub fn first_ks(largest: usize) -> Vec<usize> {
    let mut ks = vec![0];
    ks.extend((0..).map(step).take_while(|&k| k < largest.min(FIRST)));
    ks.push(largest.min(FIRST));
    ks.dedup();
    ks
}

/// The same without those below `least`, which alone is left where that is more than all of them.
pub fn ks_from(least: usize, largest: usize) -> Vec<usize> {
    let mut ks = first_ks(largest);
    ks.retain(|k| *k >= least);
    if ks.is_empty() { vec![least] } else { ks }
}

/// Values of k up to `largest` beyond those tried, when the best of them lies at their end; ascending.
pub fn further_ks(tried: &[usize], largest: usize) -> Vec<usize> {
    let last = tried.last().copied().unwrap_or(0).max(1);
    let further = (1..=4).map(|half| (last as f64 * std::f64::consts::SQRT_2.powi(half)).round() as usize);
    let mut ks: Vec<usize> = further.map(|k| k.min(largest)).filter(|&k| k > last).collect();
    ks.dedup();
    ks
}

/// 1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256 ...
fn step(place: u32) -> usize {
    match place {
        0..8 => place as usize + 1,
        _ => 2f64.powf(0.5 * f64::from(place - 1)).round() as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_runs_from_nothing_to_what_the_data_carry() {
        assert_eq!(first_ks(0), [0]);
        assert_eq!(first_ks(1), [0, 1]);
        assert_eq!(first_ks(5), [0, 1, 2, 3, 4, 5]);
        assert_eq!(first_ks(100), [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 23, 32, 45, 64, 91, 100]);
        assert_eq!(first_ks(1_000_000).last(), Some(&1024));
        assert_eq!(further_ks(&[0, 1024], 3000), [1448, 2048, 2896, 3000]);
        assert_eq!(further_ks(&[0, 1024], 1024), [0; 0]);
    }
}
