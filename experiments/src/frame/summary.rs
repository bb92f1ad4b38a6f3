//! Means over replicas.

use super::Row;
use ksparse_plot::Series;
use std::collections::BTreeMap;

/// Mean and spread of some numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation (0 for one).
    pub sd: f64,
}

impl Summary {
    /// The standard error of the mean.
    pub fn error(&self) -> f64 {
        self.sd / (self.count.max(1) as f64).sqrt()
    }
}

/// Mean and standard deviation of the finite numbers; `None` without any.
pub fn summarise(values: impl IntoIterator<Item = f64>) -> Option<Summary> {
    let finite: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
    if finite.is_empty() {
        return None;
    }
    let count = finite.len();
    let mean = finite.iter().sum::<f64>() / count as f64;
    let squares: f64 = finite.iter().map(|v| (v - mean).powi(2)).sum();
    Some(Summary { count, mean, sd: if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 } })
}

/// The summaries of `value` over the rows of each `key`, in the order of the keys.
pub fn by<'a>(
    rows: impl IntoIterator<Item = &'a Row>,
    key: impl Fn(&Row) -> usize,
    value: impl Fn(&Row) -> f64,
) -> Vec<(usize, Summary)> {
    let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    rows.into_iter().for_each(|row| groups.entry(key(row)).or_default().push(value(row)));
    groups.into_iter().filter_map(|(key, values)| Some((key, summarise(values)?))).collect()
}

/// A line of means over `key`, with a band of one standard error.
pub fn mean_line(name: &str, summaries: &[(usize, Summary)]) -> Series {
    let points = summaries.iter().map(|(key, s)| (*key as f64, s.mean)).collect();
    let band = summaries.iter().map(|(_, s)| (s.mean - s.error(), s.mean + s.error())).collect();
    Series::new(name, points).band(band)
}
