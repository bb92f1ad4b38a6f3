//! Which row is held out when.

use crate::error::{Error, Result, check_finite, check_option};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// A partition of the rows into folds, each held out once.
///
/// ```
/// use ksparse::select::Folds;
/// let labels = [1.0, 1.0, 1.0, 1.0, -1.0, -1.0];
/// let folds = Folds::stratified(&labels, 2, 7)?;
/// for fold in 0..folds.count() {
///     let held_out = folds.held_out(fold);
///     assert_eq!(held_out.iter().filter(|&&i| labels[i] == 1.0).count(), 2);
///     assert_eq!(held_out.len() + folds.training(fold).len(), 6);
/// }
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Folds {
    of_row: Vec<usize>,
    count: usize,
}

impl Folds {
    /// Rows dealt at random into `count` folds whose sizes differ by at most one; the same for the same seed.
    pub fn seeded(rows: usize, count: usize, seed: u64) -> Result<Self> {
        check_count(count)?;
        if rows < count {
            return Err(Error::Data(format!("{rows} rows are too few for {count} folds")));
        }
        let mut order: Vec<usize> = (0..rows).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        Ok(Self::dealt(&order, count))
    }

    /// Like [`seeded`](Self::seeded), with every class (distinct value of `target`) spread evenly over the folds.
    pub fn stratified(target: &[f64], count: usize, seed: u64) -> Result<Self> {
        check_count(count)?;
        check_finite("target", target)?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut order: Vec<usize> = (0..target.len()).collect();
        order.sort_by(|&a, &b| target[a].total_cmp(&target[b]));
        if order.is_empty() {
            return Err(Error::Data(format!("0 rows are too few for {count} folds")));
        }
        for class in order.chunk_by_mut(|&a, &b| target[a] == target[b]) {
            if class.len() < count {
                let (value, rows) = (target[class[0]], class.len());
                return Err(Error::Data(format!(
                    "class {value} has {rows} rows, too few for {count} stratified folds"
                )));
            }
            class.shuffle(&mut random);
        }
        // One deal through all classes, one after another: classes and folds are balanced at once.
        Ok(Self::dealt(&order, count))
    }

    /// Row i is held out with fold `of_row[i]`; folds are counted from 0 and none is empty.
    pub fn given(of_row: Vec<usize>) -> Result<Self> {
        let count = of_row.iter().max().map_or(0, |most| most.saturating_add(1));
        check_count(count)?;
        if count > of_row.len() {
            let problem = format!("{} rows cannot fill the folds 0 to {}", of_row.len(), count - 1);
            return Err(Error::Data(problem));
        }
        let mut sizes = vec![0; count];
        of_row.iter().for_each(|&fold| sizes[fold] += 1);
        match sizes.iter().position(|&size| size == 0) {
            Some(fold) => Err(Error::Data(format!("fold {fold} of 0 to {} has no rows", count - 1))),
            None => Ok(Self { of_row, count }),
        }
    }

    fn dealt(order: &[usize], count: usize) -> Self {
        let mut of_row = vec![0; order.len()];
        for (place, &row) in order.iter().enumerate() {
            of_row[row] = place % count;
        }
        Self { of_row, count }
    }

    /// How many folds.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The fold of every row.
    pub fn of_row(&self) -> &[usize] {
        &self.of_row
    }

    /// The rows of a fold, ascending.
    pub fn held_out(&self, fold: usize) -> Vec<usize> {
        (0..self.of_row.len()).filter(|&i| self.of_row[i] == fold).collect()
    }

    /// The rows of all other folds, ascending.
    pub fn training(&self, fold: usize) -> Vec<usize> {
        (0..self.of_row.len()).filter(|&i| self.of_row[i] != fold).collect()
    }
}

fn check_count(count: usize) -> Result<()> {
    check_option(count >= 2, "folds", count, "at least 2")
}
