//! Counts, classes and survival times from sparse models.
//!
//! | function | target |
//! |---|---|
//! | [`poisson`] | Poisson with mean `exp(w'x)` |
//! | [`multinomial`] | class c with probability proportional to `exp(w_c'x)` |
//! | [`ordinal`] | ordered classes of about the same size, cut from `w'x` plus logistic noise |
//! | [`cox`] | exponential times with hazard `exp(w'x)`, censored by exponential ones |
//!
//! Rows are N(0, Sigma). Coefficients are of random sign and size U(1, 2) / sqrt(k), so that predictions have about the
//! same spread whatever k is.

use super::{Correlation, NOISE, Simulated, effect, gaussian_rows, plant, predicted, predictor, stream};
use crate::design::Dense;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Counts: `y ~ Poisson(exp(w'x))`.
pub fn poisson(n: usize, p: usize, k: usize, correlation: Correlation, seed: u64) -> Simulated<Dense<'static>> {
    let mut data = predicted(n, p, k, correlation, seed, |rng| effect(rng) / length(k));
    let rng = &mut stream(seed, NOISE);
    // By the times between arrivals: as many as fit into one unit.
    let count = |z: f64, rng: &mut ChaCha8Rng| {
        let (mut left, mut count) = (z.min(10.0).exp() - arrival(rng), 0.0);
        while left > 0.0 {
            count += 1.0;
            left -= arrival(rng);
        }
        count
    };
    data.target.iter_mut().for_each(|z| *z = count(*z, rng));
    data
}

/// Classes 0, 1, ... that share their columns: `coefficients` has a row of one per class for every column of the
/// support, one row after the other.
pub fn multinomial(
    n: usize,
    p: usize,
    k: usize,
    classes: usize,
    correlation: Correlation,
    seed: u64,
) -> Simulated<Dense<'static>> {
    let design = gaussian_rows(n, p, correlation, seed);
    let mut rows = Vec::new();
    let (support, _) = plant(p, k, seed, |rng| {
        rows.push((0..classes).map(|_| 2.0 * effect(rng) / length(k)).collect::<Vec<f64>>());
        0.0
    });
    let of = |c: usize| rows.iter().map(|row| row[c]).collect::<Vec<f64>>();
    let scores: Vec<Vec<f64>> = (0..classes).map(|c| predictor(&design, &support, &of(c))).collect();
    let rng = &mut stream(seed, NOISE);
    // The largest of scores with Gumbel noise is a draw from the softmax.
    let mut class = |i: usize| {
        let noisy: Vec<f64> = scores.iter().map(|z| z[i] - arrival(rng).ln()).collect();
        (1..classes).fold(0, |best, c| if noisy[c] > noisy[best] { c } else { best })
    };
    let target = (0..n).map(|i| class(i) as f64).collect();
    Simulated { design, target, support, coefficients: rows.concat() }
}

/// Ordered classes 0, 1, ...: `2 w'x` plus logistic noise, cut where every class gets its share of the rows.
pub fn ordinal(
    n: usize,
    p: usize,
    k: usize,
    classes: usize,
    correlation: Correlation,
    seed: u64,
) -> Simulated<Dense<'static>> {
    let mut data = predicted(n, p, k, correlation, seed, |rng| 2.0 * effect(rng) / length(k));
    let rng = &mut stream(seed, NOISE);
    // The difference of two Gumbel variables is a logistic one.
    let noisy: Vec<f64> = data.target.iter().map(|z| z + arrival(rng).ln() - arrival(rng).ln()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_unstable_by(|&a, &b| noisy[a].total_cmp(&noisy[b]).then(a.cmp(&b)));
    order.iter().enumerate().for_each(|(rank, &i)| data.target[i] = (rank * classes / n) as f64);
    data
}

/// Survival times: hazard `exp(w'x)`, about a third of the rows censored. The target is the time, and beside it stands
/// whether the event happened.
pub fn cox(
    n: usize,
    p: usize,
    k: usize,
    correlation: Correlation,
    seed: u64,
) -> (Simulated<Dense<'static>>, Vec<bool>) {
    let mut data = predicted(n, p, k, correlation, seed, |rng| effect(rng) / length(k));
    let rng = &mut stream(seed, NOISE);
    let draws: Vec<(f64, f64)> = data.target.iter().map(|z| (arrival(rng) / z.exp(), 2.0 * arrival(rng))).collect();
    let event = draws.iter().map(|(life, end)| life <= end).collect();
    data.target = draws.iter().map(|(life, end)| life.min(*end).max(f64::MIN_POSITIVE)).collect();
    (data, event)
}

/// Of k coefficients of size 1 together.
fn length(k: usize) -> f64 {
    (k.max(1) as f64).sqrt()
}

/// An exponential time of mean 1.
fn arrival(rng: &mut ChaCha8Rng) -> f64 {
    -(1.0 - rng.random::<f64>()).ln()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_of_their_kind_and_follow_the_truth() {
        let counts = poisson(2000, 5, 2, Correlation::Ar1(0.5), 3);
        assert!(counts.target.iter().all(|y| *y >= 0.0 && y.fract() == 0.0));
        let z = predictor(&counts.design, &counts.support, &counts.coefficients);
        let expected: f64 = z.iter().map(|z| z.exp()).sum();
        let sum: f64 = counts.target.iter().sum();
        assert!((sum - expected).abs() < 5.0 * expected.sqrt(), "{sum} against {expected}");

        let classes = multinomial(600, 6, 2, 4, Correlation::Independent, 3);
        assert_eq!(classes.coefficients.len(), 4 * classes.support.len());
        assert!((0..4).all(|c| classes.target.iter().filter(|y| **y == f64::from(c)).count() > 30));

        let ordered = ordinal(600, 6, 2, 3, Correlation::Independent, 3);
        assert!((0..3).all(|c| ordered.target.iter().filter(|y| **y == f64::from(c)).count() == 200));
        let z = predictor(&ordered.design, &ordered.support, &ordered.coefficients);
        let mean =
            |c: f64| z.iter().zip(&ordered.target).filter(|(_, y)| **y == c).map(|(z, _)| z).sum::<f64>() / 200.0;
        assert!(mean(0.0) < mean(1.0) && mean(1.0) < mean(2.0));

        let (times, event) = cox(1000, 6, 2, Correlation::Independent, 3);
        let happened = event.iter().filter(|e| **e).count();
        assert!((400..900).contains(&happened), "{happened}");
        // Who has the higher hazard goes first.
        let z = predictor(&times.design, &times.support, &times.coefficients);
        let (mut early, mut late) = (0.0, 0.0);
        for (z, t) in z.iter().zip(&times.target) {
            *(if *t < 0.3 { &mut early } else { &mut late }) += z;
        }
        assert!(early > late + 100.0, "{early} against {late}");
        assert!(times.target.iter().all(|t| *t > 0.0));
    }
}
