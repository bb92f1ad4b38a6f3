//! What is asked in a round.

/// A question to all shards, and how long its answer is. Points are those of the [`Frame`](super::Frame): their
/// coordinates are the columns and, where there is one, the intercept.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// `[rows, weight, work of a pass, sum of c_i y_i, sum of c_i x_ij for every column]`, of the data as given.
    Totals,
    /// `[sum of c_i (y_i - target)^2, sum of c_i (x_ij - centre_j)^2 for every column]`, of the data as given.
    Deviations {
        /// About what for every column.
        centres: Vec<f64>,
        /// About what for the target.
        target: f64,
    },
    /// `[loss]`.
    Value {
        /// Where: coordinates, ascending.
        support: Vec<usize>,
        /// Their values.
        x: Vec<f64>,
    },
    /// `[loss, gradient, diagonal of the Hessian]` over all coordinates.
    Full {
        /// Where: coordinates, ascending.
        support: Vec<usize>,
        /// Their values.
        x: Vec<f64>,
    },
    /// `[loss, gradient, lower triangle of the Hessian by columns]` over a set of coordinates.
    On {
        /// The set, ascending.
        set: Vec<usize>,
        /// Where: a value for every coordinate of the set, the others being 0.
        x: Vec<f64>,
    },
    /// Rows `left` and columns `right` of the Hessian, by columns.
    Block {
        /// Where: coordinates, ascending.
        support: Vec<usize>,
        /// Their values.
        x: Vec<f64>,
        /// Rows.
        left: Vec<usize>,
        /// Columns.
        right: Vec<usize>,
    },
    /// Every row, not added up: its coordinates in the set, target, weight and offset, each of them for all rows of the
    /// shard one after the other.
    Rows {
        /// The set, ascending.
        set: Vec<usize>,
    },
}

impl Question {
    /// The length of an answer that can be added up, for shards of so many columns whose points have `dim` coordinates.
    pub fn answer_length(&self, columns: usize, dim: usize) -> usize {
        match self {
            Self::Totals => 4 + columns,
            Self::Deviations { .. } => 1 + columns,
            Self::Value { .. } => 1,
            Self::Full { .. } => 1 + 2 * dim,
            Self::On { set, .. } => 1 + set.len() + set.len() * (set.len() + 1) / 2,
            Self::Block { left, right, .. } => left.len() * right.len(),
            Self::Rows { .. } => 0,
        }
    }

    /// The numbers it consists of: what goes down to every shard, in words of eight bytes.
    pub fn length(&self) -> usize {
        match self {
            Self::Totals => 0,
            Self::Deviations { centres, .. } => centres.len() + 1,
            Self::Value { x, .. } | Self::Full { x, .. } | Self::On { x, .. } => 2 * x.len(),
            Self::Rows { set } => set.len(),
            Self::Block { x, left, right, .. } => 2 * x.len() + left.len() + right.len(),
        }
    }
}
