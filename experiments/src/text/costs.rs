//! What iterations cost, and what that depends on.

use crate::compare::GRADIENT;
use crate::frame::{Curves, Row};

/// What an iteration of GraHTP costs beside one of FGraHTP, and why.
pub(super) struct Costs {
    /// Seconds of one over seconds of the other.
    pub ratio: f64,
    /// The share of all non-zeros in the columns that GraHTP chose, at the first and the last k.
    pub shares: (f64, f64),
    /// At how many k FGraHTP is the faster one.
    pub faster: (usize, usize),
}

impl Costs {
    pub fn new(rows: &[&Row]) -> Option<Self> {
        let curves = |value: fn(&Row) -> f64| Curves::new(rows, &GRADIENT, |row| row.cell.k, value);
        let seconds = curves(|row| row.seconds);
        Some(Self {
            ratio: curves(|row| row.seconds / row.iterations.max(1) as f64).ratio("grahtp", "fgrahtp")?,
            shares: curves(|row| row.measures[1]).ends("grahtp")?,
            faster: seconds.best(&["fgrahtp"], &["grahtp"], 1.0),
        })
    }

    pub fn say(&self) -> String {
        format!(
            "the columns that GraHTP has chosen and minimises on hold {:.0} to {:.0} % of all non-zeros (smallest k, \
             largest k); one of its iterations costs {:.1} of FGraHTP's.",
            100.0 * self.shares.0,
            100.0 * self.shares.1,
            self.ratio
        )
    }
}
