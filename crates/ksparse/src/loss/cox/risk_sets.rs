//! Who was under observation when something happened: sums over risk sets.
//!
//! Moments (the distinct times of events of a stratum) are numbered by stratum and time, so that the moments a sample
//! is at risk are a range. Without entry times every range begins where its stratum does, and sums over all risk sets
//! are one pass over the samples and one, backwards, over the moments. With entry times a range is put together from
//! O(log) nodes of a tree over the moments: nothing is ever subtracted, so nothing cancels.

/// The moments of each sample's risk, as a range.
#[derive(Debug, Clone)]
pub(super) struct RiskSets {
    moments: usize,
    /// The first moment of every stratum.
    starts: Vec<usize>,
    ranges: Vec<(usize, usize)>,
    /// Whether some ranges begin late.
    late: bool,
}

impl RiskSets {
    /// `starts` begin the strata; `ranges` lie within them.
    pub fn new(moments: usize, starts: Vec<usize>, ranges: Vec<(usize, usize)>) -> Self {
        let late = ranges.iter().any(|(from, to)| from < to && !starts.contains(from));
        Self { moments, starts, ranges, late }
    }

    /// For every moment the sum of y over the samples at risk.
    pub fn sums<const L: usize>(&self, y: &[[f64; L]]) -> Vec<[f64; L]> {
        if self.late {
            return self.sums_by_tree(y);
        }
        let mut sums = vec![[0.0; L]; self.moments];
        for (y, &(from, to)) in y.iter().zip(&self.ranges) {
            if from < to {
                add(&mut sums[to - 1], y);
            }
        }
        for (s, &start) in self.starts.iter().enumerate() {
            let end = self.starts.get(s + 1).copied().unwrap_or(self.moments);
            for g in (start + 1..end).rev() {
                let later = sums[g];
                add(&mut sums[g - 1], &later);
            }
        }
        sums
    }

    /// For every sample the sum of `a` over the moments it is at risk.
    pub fn spread(&self, a: &[f64]) -> Vec<f64> {
        if self.late {
            return self.spread_by_tree(a);
        }
        // Sums from the start of each stratum up to and including a moment.
        let mut before = a.to_vec();
        for (s, &start) in self.starts.iter().enumerate() {
            let end = self.starts.get(s + 1).copied().unwrap_or(self.moments);
            (start + 1..end).for_each(|g| before[g] += before[g - 1]);
        }
        self.ranges.iter().map(|&(from, to)| if from < to { before[to - 1] } else { 0.0 }).collect()
    }

    fn sums_by_tree<const L: usize>(&self, y: &[[f64; L]]) -> Vec<[f64; L]> {
        let size = self.moments.max(1);
        let mut tree = vec![[0.0; L]; 2 * size];
        for (y, &range) in y.iter().zip(&self.ranges) {
            for_nodes(size, range, |node| add(&mut tree[node], y));
        }
        for node in 2..2 * size {
            let above = tree[node / 2];
            add(&mut tree[node], &above);
        }
        tree.split_off(size)
    }

    fn spread_by_tree(&self, a: &[f64]) -> Vec<f64> {
        let size = self.moments.max(1);
        let mut tree = vec![0.0; size];
        tree.extend_from_slice(a);
        for node in (1..size).rev() {
            tree[node] = tree[2 * node] + tree[2 * node + 1];
        }
        let over = |&range: &(usize, usize)| {
            let mut sum = 0.0;
            for_nodes(size, range, |node| sum += tree[node]);
            sum
        };
        self.ranges.iter().map(over).collect()
    }
}

fn add<const L: usize>(to: &mut [f64; L], what: &[f64; L]) {
    to.iter_mut().zip(what).for_each(|(to, what)| *to += what);
}

/// The nodes of a tree over `size` leaves whose leaves together are a range: node i has the children 2i and 2i + 1, and
/// leaf g is node `size + g`.
fn for_nodes(size: usize, (from, to): (usize, usize), mut visit: impl FnMut(usize)) {
    let (mut left, mut right) = (from + size, to.max(from) + size);
    while left < right {
        if left & 1 == 1 {
            visit(left);
            left += 1;
        }
        if right & 1 == 1 {
            right -= 1;
            visit(right);
        }
        (left, right) = (left / 2, right / 2);
    }
}
