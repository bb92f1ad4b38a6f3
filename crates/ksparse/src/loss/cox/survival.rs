//! Survival times as they are given, and put in order.

use crate::error::{Error, Result, check_finite, check_len, check_option, check_weights};

/// What to do where several events share a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ties {
    /// Everyone at risk is at risk for each of them.
    Breslow,
    /// They are taken out one after the other, each as an even share of all who had an event: nearer to what untied
    /// times would have given.
    #[default]
    Efron,
}

impl std::str::FromStr for Ties {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "breslow" => Ok(Self::Breslow),
            "efron" => Ok(Self::Efron),
            _ => Err(Error::UnknownName {
                what: "way with ties",
                name: name.to_string(),
                choices: "efron, breslow".to_string(),
            }),
        }
    }
}

impl std::fmt::Display for Ties {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Breslow => "breslow",
            Self::Efron => "efron",
        })
    }
}

/// How long each sample was watched, and whether the end was the event or only the end of watching.
#[derive(Debug, Clone, Copy)]
pub struct Survival<'a> {
    /// When watching ended: positive.
    pub time: &'a [f64],
    /// Whether by an event.
    pub event: &'a [bool],
    /// When watching began, if not at 0: before the time it ended.
    pub entry: Option<&'a [f64]>,
    /// Strata, by any numbers: each has a baseline hazard of its own.
    pub strata: Option<&'a [usize]>,
    /// Weights of the samples.
    pub weights: Option<&'a [f64]>,
    /// What to do with events at one time.
    pub ties: Ties,
}

/// Survival times in the order of strata and times.
pub(super) struct Arranged {
    pub weights: Vec<f64>,
    /// The strata numbered from 0 in the order of their labels.
    pub stratum: Vec<usize>,
    pub strata: usize,
    /// Time and stratum of every moment; where strata begin; each sample's moments at risk, and that of its event.
    pub moments: Vec<(f64, usize)>,
    pub starts: Vec<usize>,
    pub ranges: Vec<(usize, usize)>,
    pub event: Vec<Option<usize>>,
}

impl<'a> Survival<'a> {
    /// Times and events alone, ties by Efron.
    pub fn new(time: &'a [f64], event: &'a [bool]) -> Self {
        Self { time, event, entry: None, strata: None, weights: None, ties: Ties::default() }
    }

    fn check(&self) -> Result<()> {
        let n = self.time.len();
        check_len("event", self.event.len(), n)?;
        check_finite("time", self.time)?;
        if let Some(row) = self.time.iter().position(|t| *t <= 0.0) {
            let expected = "positive times: count from the moment watching began, and leave out who left at once";
            return Err(Error::Target { loss: "cox", row, value: self.time[row], expected });
        }
        if let Some(entry) = self.entry {
            check_len("entry", entry.len(), n)?;
            check_finite("entry", entry)?;
            if let Some(row) = (0..n).find(|&i| entry[i] >= self.time[i]) {
                let (from, to) = (entry[row], self.time[row]);
                let remedy = "a sample must enter before it leaves: correct the row, or leave it out";
                return Err(Error::Data(format!("row {row} enters at {from} and leaves at {to}: {remedy}")));
            }
        }
        if let Some(strata) = self.strata {
            check_len("strata", strata.len(), n)?;
        }
        Ok(())
    }

    pub(super) fn arrange(&self) -> Result<Arranged> {
        self.check()?;
        let n = self.time.len();
        let weights = self.weights.map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
        check_option(n > 0, "survival times", "empty", "at least one row")?;
        check_weights(&weights, n)?;
        let label = |i: usize| self.strata.map_or(0, |strata| strata[i]);
        let mut labels: Vec<usize> = (0..n).map(label).collect();
        labels.sort_unstable();
        labels.dedup();
        let stratum: Vec<usize> = (0..n).map(|i| labels.partition_point(|l| *l < label(i))).collect();
        // Who has no weight has no event either.
        let happens = |i: usize| self.event[i] && weights[i] > 0.0;
        let mut moments: Vec<(f64, usize)> =
            (0..n).filter(|&i| happens(i)).map(|i| (self.time[i], stratum[i])).collect();
        if moments.is_empty() {
            let remedy = "without an event nothing can be said about risks: check which value means that it happened";
            return Err(Error::Data(format!("all {n} rows are censored: {remedy}")));
        }
        moments.sort_unstable_by(|a, b| a.1.cmp(&b.1).then(a.0.total_cmp(&b.0)));
        moments.dedup();
        // How many moments lie before a time of a stratum, or at it too.
        let before = |s: usize, t: f64| moments.partition_point(|m| m.1 < s || (m.1 == s && m.0 < t));
        let until = |s: usize, t: f64| moments.partition_point(|m| m.1 < s || (m.1 == s && m.0 <= t));
        let starts: Vec<usize> = (0..labels.len()).map(|s| before(s, f64::NEG_INFINITY)).collect();
        let entered = |i: usize| self.entry.map_or(starts[stratum[i]], |entry| until(stratum[i], entry[i]));
        let ranges = (0..n).map(|i| (entered(i), until(stratum[i], self.time[i]))).collect();
        let event = (0..n).map(|i| happens(i).then(|| before(stratum[i], self.time[i]))).collect();
        Ok(Arranged { weights, strata: labels.len(), stratum, moments, starts, ranges, event })
    }
}
