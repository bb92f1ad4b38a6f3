//! How well predicted risks order survival times.

use crate::error::{Error, Result, check_finite, check_len};
use crate::loss::Survival;

/// Harrell's concordance: of all pairs of which one is known to have had its event before the other, the share in which
/// that one had the higher prediction; equal predictions count half. Pairs are formed within strata and weighted by the
/// product of their weights. `Err` where no pair can be compared.
///
/// ```
/// use ksparse::{loss::Survival, select::concordance};
/// let survival = Survival::new(&[1.0, 2.0, 3.0], &[true, false, true]);
/// assert_eq!(concordance(&[3.0, 0.0, 1.0], &survival)?, 1.0); // 1 before 2 and before 3
/// assert_eq!(concordance(&[1.0, 2.0, 0.0], &survival)?, 0.5);
/// # Ok::<(), ksparse::Error>(())
/// ```
pub fn concordance(z: &[f64], survival: &Survival) -> Result<f64> {
    let n = z.len();
    check_len("time", survival.time.len(), n)?;
    check_len("event", survival.event.len(), n)?;
    check_finite("prediction", z)?;
    let weight = |i: usize| survival.weights.map_or(1.0, |w| w[i]);
    let stratum = |i: usize| survival.strata.map_or(0, |s| s[i]);
    // Ranks of the predictions; equal ones share one.
    let mut sorted = z.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup();
    let rank = |i: usize| sorted.partition_point(|v| *v < z[i]);
    // Latest first, and of one time the censored ones first: they outlived the events of that time.
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_unstable_by(|&a, &b| {
        let later = survival.time[b].total_cmp(&survival.time[a]);
        stratum(a).cmp(&stratum(b)).then(later).then(survival.event[a].cmp(&survival.event[b])).then(a.cmp(&b))
    });
    let (mut won, mut pairs) = (0.0, 0.0);
    for stratum in order.chunk_by(|&a, &b| stratum(a) == stratum(b)) {
        let mut outlived = Sums(vec![0.0; sorted.len() + 1]);
        for moment in
            stratum.chunk_by(|&a, &b| (survival.time[a], survival.event[a]) == (survival.time[b], survival.event[b]))
        {
            for &i in moment.iter().filter(|&&i| survival.event[i]) {
                let (below, upto) = (outlived.below(rank(i)), outlived.below(rank(i) + 1));
                won += weight(i) * 0.5 * (below + upto);
                pairs += weight(i) * outlived.below(sorted.len());
            }
            moment.iter().for_each(|&i| outlived.add(rank(i), weight(i)));
        }
    }
    if pairs > 0.0 {
        return Ok(won / pairs);
    }
    let remedy = "it takes an event that somebody outlived: give more rows, or fewer folds";
    Err(Error::Data(format!("no two survival times can be compared: {remedy}")))
}

/// Sums over ranges from 0 that change one entry at a time (a Fenwick tree).
struct Sums(Vec<f64>);

impl Sums {
    fn add(&mut self, at: usize, value: f64) {
        let mut node = at + 1;
        while node < self.0.len() {
            self.0[node] += value;
            node += node & node.wrapping_neg();
        }
    }

    /// Over the entries before one.
    fn below(&self, at: usize) -> f64 {
        let (mut node, mut sum) = (at, 0.0);
        while node > 0 {
            sum += self.0[node];
            node -= node & node.wrapping_neg();
        }
        sum
    }
}
