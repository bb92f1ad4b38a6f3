//! The hazard that all samples have in common, once predictions are known.
//!
//! ```text
//! H(t) = sum over terms up to t of m_t / S_t        survival(t, z) = exp(-H(t) exp(z - reference))
//! ```
//!
//! Breslow's estimate, with Efron's sums where ties are Efron's. It belongs to a sample whose prediction is the
//! reference, the mean of all, so that neither side of the product is out of range.

use super::Cox;

/// The cumulative baseline hazard of a stratum: a step at each of its event times.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Baseline {
    /// The times of events, ascending.
    pub times: Vec<f64>,
    /// The cumulative hazard from each of them on, for a sample whose prediction is the reference.
    pub hazard: Vec<f64>,
    /// The prediction it belongs to.
    pub reference: f64,
}

impl Baseline {
    /// The cumulative hazard at a time for a sample with prediction z.
    pub fn cumulative(&self, time: f64, z: f64) -> f64 {
        match self.times.partition_point(|t| *t <= time) {
            0 => 0.0,
            steps => self.hazard[steps - 1] * (z - self.reference).exp(),
        }
    }

    /// The probability that nothing has happened by a time.
    pub fn survival(&self, time: f64, z: f64) -> f64 {
        (-self.cumulative(time, z)).exp()
    }
}

impl Cox {
    /// The baseline of every stratum, in the order of their labels, at these predictions.
    pub fn baselines(&self, z: &[f64]) -> Vec<Baseline> {
        let (point, tops) = (self.point(z), self.tops(z));
        let reference: f64 = z.iter().zip(&self.shares).map(|(z, c)| z * c).sum();
        let mut all: Vec<Baseline> = vec![Baseline { reference, ..Baseline::default() }; self.strata];
        let total: f64 = self.weights.iter().sum();
        for (term, sum) in self.terms.iter().zip(&point.sums) {
            let (time, stratum) = self.moments[term.moment];
            let Baseline { times, hazard, .. } = &mut all[stratum];
            // Sums are relative to the largest prediction.
            let jump = term.weight * total / sum * (reference - tops[stratum]).exp();
            let reached = hazard.last().copied().unwrap_or(0.0) + jump;
            if times.last() == Some(&time) {
                hazard.pop();
            } else {
                times.push(time);
            }
            hazard.push(reached);
        }
        all
    }
}
