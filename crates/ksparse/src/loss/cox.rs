//! Cox's partial likelihood: how the hazards of those at risk compare, whatever the hazard they have in common.
//!
//! ```text
//! L(z) = (1 / sum c) sum over events i of  c_i (log S(t_i) - z_i),     S(t) = sum of c_j exp(z_j) over j at risk at t
//! ```
//!
//! A sample is at risk at t if it entered before t and has not left before t; every stratum has risk sets of its own.
//! Where d events share a time, Breslow counts S for each of them. Efron takes the events out one after the other, each
//! as 1/d of everyone who had one: S less l/d of their sum, l = 0 .. d - 1, each with the mean weight of the events.
//! Written as terms t, each with its weight m_t and its risk set u_t (a distribution over the samples):
//!
//! ```text
//! L = sum_t m_t log S_t - sum c_i z_i,    dL/dz = sum_t m_t u_t - c (events),
//! H = diag(sum_t m_t u_t) - sum_t m_t u_t u_t'
//! ```
//!
//! Exponentials are taken relative to the largest prediction of their stratum: nothing overflows, and terms whose risk
//! set has vanished beside the largest leave L infinite. Under Breslow an integer weight is a repeated row; under Efron
//! repeated rows are further ties.

mod baseline;
mod risk_sets;
mod survival;

pub use baseline::Baseline;
pub use survival::{Survival, Ties};

use super::{JointLoss, JointPoint};
use crate::error::Result;
use risk_sets::RiskSets;
use std::borrow::Cow;

/// Vectors that are summed over risk sets side by side.
const LANES: usize = 8;

/// The partial likelihood of some survival times, as a function of the predictions.
///
/// ```
/// use ksparse::loss::{Cox, JointLoss, Survival};
/// let cox = Cox::new(&Survival::new(&[3.0, 1.0, 2.0], &[true, true, false]))?;
/// // At the first event all three are at risk, at the last one alone.
/// assert!((cox.at(&[0.0; 3]).value() - 3f64.ln() / 3.0).abs() < 1e-15);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cox {
    sets: RiskSets,
    /// The stratum of each sample, and how many there are.
    stratum: Vec<usize>,
    strata: usize,
    /// The moment of each sample's event, if it has one.
    event: Vec<Option<usize>>,
    /// Weights as given, and divided by their sum.
    weights: Vec<f64>,
    shares: Vec<f64>,
    terms: Vec<Term>,
    /// The time and the stratum of every moment.
    moments: Vec<(f64, usize)>,
}

/// A term of the likelihood: m log(S - fraction D), S and D sums over the risk set and the events of a moment.
#[derive(Debug, Clone, Copy)]
struct Term {
    moment: usize,
    weight: f64,
    fraction: f64,
}

impl Cox {
    /// Of these survival times; `Err` for those that say nothing, or cannot be.
    pub fn new(data: &Survival) -> Result<Self> {
        let arranged = data.arrange()?;
        let sets = RiskSets::new(arranged.moments.len(), arranged.starts, arranged.ranges);
        let total: f64 = arranged.weights.iter().sum();
        let shares: Vec<f64> = arranged.weights.iter().map(|w| w / total).collect();
        let mut at: Vec<(usize, f64)> = vec![(0, 0.0); arranged.moments.len()];
        for (event, share) in arranged.event.iter().zip(&shares) {
            if let Some(moment) = *event {
                at[moment] = (at[moment].0 + 1, at[moment].1 + share);
            }
        }
        let mut terms = Vec::new();
        for (moment, &(count, share)) in at.iter().enumerate() {
            match data.ties {
                Ties::Breslow => terms.push(Term { moment, weight: share, fraction: 0.0 }),
                Ties::Efron => terms.extend((0..count).map(|l| Term {
                    moment,
                    weight: share / count as f64,
                    fraction: l as f64 / count as f64,
                })),
            }
        }
        Ok(Self {
            sets,
            stratum: arranged.stratum,
            strata: arranged.strata,
            event: arranged.event,
            weights: arranged.weights,
            shares,
            terms,
            moments: arranged.moments,
        })
    }

    /// The largest prediction of every stratum.
    fn tops(&self, z: &[f64]) -> Vec<f64> {
        let mut tops = vec![f64::NEG_INFINITY; self.strata];
        z.iter().zip(&self.stratum).for_each(|(z, &s)| tops[s] = tops[s].max(*z));
        tops
    }

    /// The sums over those who have their events at each moment.
    fn event_sums<const L: usize>(&self, y: &[[f64; L]]) -> Vec<[f64; L]> {
        let mut sums = vec![[0.0; L]; self.moments.len()];
        for (y, event) in y.iter().zip(&self.event) {
            if let Some(moment) = *event {
                sums[moment].iter_mut().zip(y).for_each(|(sum, y)| *sum += y);
            }
        }
        sums
    }

    fn point(&self, z: &[f64]) -> CoxPoint<'_> {
        let tops = self.tops(z);
        let above = |i: usize| z[i] - tops[self.stratum[i]];
        let risks: Vec<[f64; 1]> = (0..z.len()).map(|i| [self.weights[i] * above(i).exp()]).collect();
        let (all, gone) = (self.sets.sums(&risks), self.event_sums(&risks));
        let sums: Vec<f64> = self.terms.iter().map(|t| all[t.moment][0] - t.fraction * gone[t.moment][0]).collect();
        let logs: f64 = self.terms.iter().zip(&sums).map(|(t, s)| t.weight * s.ln()).sum();
        let linear: f64 = (0..z.len()).filter(|&i| self.event[i].is_some()).map(|i| self.shares[i] * above(i)).sum();
        let value = logs - linear;
        let mut point = CoxPoint {
            cox: self,
            // A risk set that has vanished: L is beyond what can be said.
            value: if value.is_finite() { value } else { f64::INFINITY },
            risks: risks.into_iter().map(|[r]| r).collect(),
            sums,
            masses: Vec::new(),
            derivatives: Vec::new(),
        };
        point.masses = point.back(|t| self.terms[t].weight);
        let mut derivatives = point.masses.clone();
        for (i, d) in derivatives.iter_mut().enumerate().filter(|(i, _)| self.event[*i].is_some()) {
            *d -= self.shares[i];
        }
        point.derivatives = derivatives;
        point
    }
}

impl JointLoss for Cox {
    fn name(&self) -> &'static str {
        "cox"
    }

    fn samples(&self) -> usize {
        self.weights.len()
    }

    fn shares(&self) -> &[f64] {
        &self.shares
    }

    fn at<'a>(&'a self, z: &[f64]) -> Box<dyn JointPoint + 'a> {
        Box::new(self.point(z))
    }

    fn ignores_shifts(&self) -> bool {
        true
    }

    fn ties_samples(&self) -> bool {
        true
    }
}

/// The partial likelihood at some predictions.
struct CoxPoint<'a> {
    cox: &'a Cox,
    value: f64,
    /// `c_i exp(z_i)`, relative to the largest of the stratum.
    risks: Vec<f64>,
    /// S of every term.
    sums: Vec<f64>,
    /// `sum_t m_t u_t`.
    masses: Vec<f64>,
    derivatives: Vec<f64>,
}

impl CoxPoint<'_> {
    /// `sum_t a_t u_t` over the samples.
    fn back(&self, a: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut all = vec![0.0; self.cox.moments.len()];
        let mut gone = all.clone();
        for (t, (term, sum)) in self.cox.terms.iter().zip(&self.sums).enumerate() {
            let share = a(t) / sum;
            all[term.moment] += share;
            gone[term.moment] += term.fraction * share;
        }
        let mut out = self.cox.sets.spread(&all);
        for ((out, risk), event) in out.iter_mut().zip(&self.risks).zip(&self.cox.event) {
            *out = risk * (*out - event.map_or(0.0, |moment| gone[moment]));
        }
        out
    }

    /// The mean of some vectors under every u_t.
    fn means<const L: usize>(&self, weighted: &[[f64; L]], mut each: impl FnMut(usize, [f64; L])) {
        let all = self.cox.sets.sums(weighted);
        let tied = self.cox.terms.iter().any(|t| t.fraction > 0.0);
        let gone = if tied { self.cox.event_sums(weighted) } else { Vec::new() };
        for (t, (term, sum)) in self.cox.terms.iter().zip(&self.sums).enumerate() {
            let mut mean = all[term.moment];
            if term.fraction > 0.0 {
                mean.iter_mut().zip(&gone[term.moment]).for_each(|(m, g)| *m -= term.fraction * g);
            }
            mean.iter_mut().for_each(|m| *m /= sum);
            each(t, mean);
        }
    }
}

impl JointPoint for CoxPoint<'_> {
    fn value(&self) -> f64 {
        self.value
    }

    fn derivatives(&self) -> &[f64] {
        &self.derivatives
    }

    fn product(&self, v: &[f64], out: &mut [f64]) {
        let weighted: Vec<[f64; 1]> = self.risks.iter().zip(v).map(|(r, v)| [r * v]).collect();
        let mut slopes = vec![0.0; self.cox.terms.len()];
        self.means(&weighted, |t, [mean]| slopes[t] = self.cox.terms[t].weight * mean);
        let tied = self.back(|t| slopes[t]);
        for (((out, v), mass), tied) in out.iter_mut().zip(v).zip(&self.masses).zip(tied) {
            *out = mass * v - tied;
        }
    }

    fn weights(&self, _: usize, _: usize) -> Option<(f64, Cow<'_, [f64]>)> {
        Some((1.0, Cow::Borrowed(&self.masses)))
    }

    fn rank(&self) -> usize {
        self.cox.terms.len()
    }

    fn reduce(&self, columns: &[f64], out: &mut [f64]) {
        let (n, rank) = (self.risks.len(), self.cox.terms.len());
        let mut weighted = vec![[0.0; LANES]; n];
        for (columns, out) in columns.chunks(LANES * n).zip(out.chunks_mut(LANES * rank)) {
            weighted.iter_mut().for_each(|w| *w = [0.0; LANES]);
            for (lane, column) in columns.chunks(n).enumerate() {
                weighted.iter_mut().zip(column).zip(&self.risks).for_each(|((w, x), r)| w[lane] = r * x);
            }
            self.means(&weighted, |t, means| {
                let root = self.cox.terms[t].weight.sqrt();
                out.chunks_mut(rank).zip(means).for_each(|(out, mean)| out[t] = root * mean);
            });
        }
    }
}
