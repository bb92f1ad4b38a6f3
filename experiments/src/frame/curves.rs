//! Curves of a measure over n or k, one per method, and questions to them.

use super::summary::{Summary, by, mean_line};
use super::{Row, Table, Verdict};
use crate::methods;
use ksparse_plot::{Axis, Chart};

/// A measure over n or k, averaged over replicas, for each method.
#[derive(Debug, Clone)]
pub struct Curves(Vec<(String, Vec<(usize, Summary)>)>);

impl Curves {
    /// The curves of `value` over `key` in these rows; the methods in this order.
    pub fn new(rows: &[&Row], methods: &[&str], key: impl Fn(&Row) -> usize, value: impl Fn(&Row) -> f64) -> Self {
        let curve = |method: &str| {
            let own = rows.iter().copied().filter(|row| row.cell.method == method);
            (method.to_string(), by(own, &key, &value))
        };
        Self(methods.iter().map(|method| curve(method)).filter(|(_, curve)| !curve.is_empty()).collect())
    }

    /// The curve of a method; empty without rows.
    pub fn of(&self, method: &str) -> &[(usize, Summary)] {
        self.0.iter().find(|(name, _)| name == method).map_or(&[], |(_, curve)| curve)
    }

    /// The mean of a method at a point.
    pub fn at(&self, method: &str, x: usize) -> Option<f64> {
        self.of(method).iter().find(|(at, _)| *at == x).map(|(_, s)| s.mean)
    }

    /// The points of the first method.
    pub fn xs(&self) -> Vec<usize> {
        self.0.first().map_or_else(Vec::new, |(_, curve)| curve.iter().map(|(x, _)| *x).collect())
    }

    /// The methods there are.
    pub fn methods(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// At how many points `holds` is true, and at how many it could be asked.
    pub fn count(&self, holds: impl Fn(&Self, usize) -> Option<bool>) -> (usize, usize) {
        let answers: Vec<bool> = self.xs().into_iter().filter_map(|x| holds(self, x)).collect();
        (answers.iter().filter(|a| **a).count(), answers.len())
    }

    /// At how many points the best of `some` is within `slack` of the best of all of `others`; lower is better.
    pub fn best(&self, some: &[&str], others: &[&str], slack: f64) -> (usize, usize) {
        self.count(|c, x| {
            let least = |methods: &[&str]| methods.iter().filter_map(|m| c.at(m, x)).reduce(f64::min);
            Some(least(some)? <= slack * least(others)?)
        })
    }

    /// The geometric mean over all points of the ratio of two methods.
    pub fn ratio(&self, a: &str, b: &str) -> Option<f64> {
        self.ratio_where(a, b, |_| true)
    }

    /// The same over some points.
    pub fn ratio_where(&self, a: &str, b: &str, keep: impl Fn(usize) -> bool) -> Option<f64> {
        let xs = self.xs().into_iter().filter(|x| keep(*x));
        let logs: Vec<f64> =
            xs.filter_map(|x| Some((self.at(a, x)? / self.at(b, x)?).ln())).filter(|v| v.is_finite()).collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }

    /// First and last value of a method.
    pub fn ends(&self, method: &str) -> Option<(f64, f64)> {
        let curve = self.of(method);
        (curve.len() > 1).then(|| (curve[0].1.mean, curve[curve.len() - 1].1.mean))
    }

    /// A chart of all curves with bands of one standard error.
    pub fn chart(&self, title: &str, x: Axis, y: Axis) -> Chart {
        let mut chart = Chart::new(title).x(x).y(y);
        for (method, curve) in &self.0 {
            chart = chart.with(mean_line(methods::label(method), curve).colour(methods::colour(method)));
        }
        chart
    }

    /// A table: a row per method, a column per point.
    pub fn table(&self, caption: &str, corner: &str, format: impl Fn(&Summary) -> String) -> Table {
        let xs = self.xs();
        let names: Vec<String> = xs.iter().map(|x| x.to_string()).collect();
        let header: Vec<&str> = [corner].into_iter().chain(names.iter().map(String::as_str)).collect();
        let mut table = Table::new(caption, &header);
        for (method, curve) in &self.0 {
            let cell = |x: &usize| curve.iter().find(|(at, _)| at == x).map_or_else(String::new, |(_, s)| format(s));
            table.push([methods::label(method).to_string()].into_iter().chain(xs.iter().map(cell)));
        }
        table
    }
}

/// All: agrees; most (over half): in part; otherwise differs; none asked: `None`.
pub fn verdict((yes, of): (usize, usize)) -> Option<Verdict> {
    match (yes, of) {
        (_, 0) => None,
        (yes, of) if yes == of => Some(Verdict::Agrees),
        (yes, of) if 2 * yes > of => Some(Verdict::Partly),
        _ => Some(Verdict::Differs),
    }
}
