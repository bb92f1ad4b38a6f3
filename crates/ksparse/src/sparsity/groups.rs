//! Groups of coordinates that are in or out together.

use crate::error::{Error, Result};

/// A division of the coordinates into groups: k then counts groups. A coordinate that no group names is a group of its
/// own.
///
/// ```
/// use ksparse::sparsity::Partition;
/// let groups = Partition::new([vec![0, 1, 2], vec![5, 4]])?;
/// assert_eq!(groups.groups(), [vec![0, 1, 2], vec![4, 5]]); // and 3, 6, 7, ... alone
/// assert!(Partition::new([vec![0, 1], vec![1, 2]]).is_err()); // overlapping
/// assert_eq!(Partition::of_labels(&["a", "b", "a"]).groups(), [[0, 2]]);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Partition {
    /// Those of two coordinates and more, each ascending, ordered by their first: so that neither the order in which
    /// groups are given nor that within one matters.
    groups: Vec<Vec<usize>>,
}

impl Partition {
    /// These groups. `Err` for a coordinate in two of them, or twice in one, and for a group without coordinates.
    pub fn new(groups: impl IntoIterator<Item = Vec<usize>>) -> Result<Self> {
        let mut groups: Vec<Vec<usize>> = groups.into_iter().collect();
        if let Some(empty) = groups.iter().position(Vec::is_empty) {
            return Err(Error::Data(format!("group {empty} is empty: leave it out, or name its coordinates")));
        }
        let mut all: Vec<(usize, usize)> =
            groups.iter().enumerate().flat_map(|(g, members)| members.iter().map(move |&j| (j, g))).collect();
        all.sort_unstable();
        if let Some(pair) = all.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let (j, one, other) = (pair[0].0, pair[0].1, pair[1].1);
            return Err(Error::Data(match one == other {
                true => format!("group {one} names coordinate {j} twice"),
                false => format!("coordinate {j} is in groups {one} and {other}: groups must not overlap"),
            }));
        }
        groups.iter_mut().for_each(|members| members.sort_unstable());
        groups.retain(|members| members.len() > 1);
        groups.sort_unstable();
        Ok(Self { groups })
    }

    /// A label for every coordinate: those with the same label are a group.
    pub fn of_labels<L: Ord>(labels: &[L]) -> Self {
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_by(|&a, &b| labels[a].cmp(&labels[b]).then(a.cmp(&b)));
        let runs = order.chunk_by(|&a, &b| labels[a] == labels[b]);
        let mut groups: Vec<Vec<usize>> = runs.filter(|run| run.len() > 1).map(<[usize]>::to_vec).collect();
        groups.sort_unstable();
        Self { groups }
    }

    /// How many groups there are among the first `dim` coordinates, those that are kept aside.
    ///
    /// ```
    /// use ksparse::sparsity::Partition;
    /// let groups = Partition::new([vec![0, 1, 2]])?;
    /// assert_eq!(groups.count(5, &[]), 3); // 0 to 2, 3, 4
    /// assert_eq!(groups.count(5, &[1, 4]), 2); // 0 and 2, 3
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn count(&self, dim: usize, keep: &[usize]) -> usize {
        let counted = |group: &Vec<usize>| group.iter().filter(|&j| *j < dim && !keep.contains(j)).count();
        let merged: usize = self.groups.iter().map(|group| counted(group).saturating_sub(1)).sum();
        let kept = (0..dim).filter(|j| keep.contains(j)).count();
        dim - kept - merged
    }

    /// The groups of two coordinates and more, each ascending, by their first coordinates.
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }
}

/// A [`Partition`] of the coordinates that are not free: units of search, numbered by their first coordinates.
#[derive(Debug, Clone)]
pub(super) struct Units {
    /// Where the members of each unit begin, and the end.
    starts: Vec<usize>,
    members: Vec<usize>,
    /// The unit of each coordinate; of a free one, none.
    of: Vec<Option<usize>>,
}

impl Units {
    /// `None` where every coordinate stands alone: then coordinates are the units.
    pub fn new(partition: &Partition, is_free: &[bool]) -> Result<Option<Self>> {
        let dim = is_free.len();
        if let Some(&index) = partition.groups.iter().flatten().find(|&&j| j >= dim) {
            return Err(Error::IndexOutOfRange { what: "coordinate of a group", index, bound: dim });
        }
        // The first of its coordinates that is not free stands for a group.
        let mut head: Vec<usize> = (0..dim).collect();
        let mut grouped = false;
        for group in &partition.groups {
            let counted: Vec<usize> = group.iter().copied().filter(|&j| !is_free[j]).collect();
            counted.iter().for_each(|&j| head[j] = counted[0]);
            grouped |= counted.len() > 1;
        }
        if !grouped {
            return Ok(None);
        }
        let mut of = vec![None; dim];
        let mut count = 0;
        for j in (0..dim).filter(|&j| !is_free[j]) {
            if head[j] == j {
                of[j] = Some(count);
                count += 1;
            } else {
                of[j] = of[head[j]];
            }
        }
        let mut starts = vec![0; count + 1];
        of.iter().flatten().for_each(|&unit| starts[unit + 1] += 1);
        (0..count).for_each(|unit| starts[unit + 1] += starts[unit]);
        let (mut next, mut members) = (starts.clone(), vec![0; starts[count]]);
        for (j, unit) in of.iter().enumerate().filter_map(|(j, unit)| unit.map(|unit| (j, unit))) {
            members[next[unit]] = j;
            next[unit] += 1;
        }
        Ok(Some(Self { starts, members, of }))
    }

    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The groups these are.
    pub fn partition(&self) -> Partition {
        let groups = (0..self.count()).map(|unit| self.members(unit));
        Partition { groups: groups.filter(|members| members.len() > 1).map(<[usize]>::to_vec).collect() }
    }

    pub fn members(&self, unit: usize) -> &[usize] {
        &self.members[self.starts[unit]..self.starts[unit + 1]]
    }

    pub fn of(&self, j: usize) -> Option<usize> {
        self.of[j]
    }

    /// The coordinates of the `count` largest units together.
    pub fn largest(&self, count: usize) -> usize {
        let mut sizes: Vec<usize> = self.starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes.iter().take(count).sum()
    }
}
