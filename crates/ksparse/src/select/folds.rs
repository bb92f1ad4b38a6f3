//! Which row is held out when.

use crate::error::{Error, Result, check_finite, check_option};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// How rows are dealt: into how many folds, and how many times over.
///
/// ```
/// use ksparse::select::{Deal, Folds};
/// assert_eq!(Deal::of(100), Deal { folds: 5, times: 5 });
/// let twice = "4x2".parse::<Deal>()?.out(100, None, 1)?;
/// assert_eq!((twice.count(), twice.splits()[..4] == Folds::seeded(100, 4, 1)?.splits()), (8, true));
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Deal {
    /// Into so many folds.
    pub folds: usize,
    /// So many times, each time anew.
    pub times: usize,
}

/// Below so many rows the draw of the folds decides as much as the data do: with folds dealt three times, held-out
/// errors fell from .29 to .27 (riboflavin), .15 to .14 (colon), .074 to .064 (prostate) and .20 to .19 (arcene). Five
/// times is better still: four replicas of E8 at n = 50, p = 1000, dealt 3, 5 and 8 times: .8, .2 and .1 %
/// above the relaxed lasso; leukemia .050 (3) to .044, riboflavin .276 to .272, colon and arcene the same.
const FEW_ROWS: usize = 250;
/// From so many rows on three folds of one deal tell as much as five of two do below (500 rows of E8: .13 % above the
/// relaxed lasso by one deal, .03 by two and by three; dexter .071, .069, .069).
pub(super) const MANY_ROWS: usize = 1000;

impl Deal {
    /// How rows are dealt unless something else is asked for.
    pub fn of(rows: usize) -> Self {
        match rows {
            ..FEW_ROWS => Self { folds: 5, times: 5 },
            FEW_ROWS..MANY_ROWS => Self { folds: 5, times: 2 },
            MANY_ROWS.. => Self { folds: 3, times: 1 },
        }
    }

    /// The folds of every time: stratified by the labels where there are any. The first time is that of `seed` itself.
    pub fn out(self, rows: usize, labels: Option<&[f64]>, seed: u64) -> Result<Folds> {
        let anew = |time: usize| {
            // Seeds far from those that a user gives one after the other.
            let seed = seed.wrapping_add((time as u64) << 32);
            match labels {
                Some(labels) => Folds::stratified(labels, self.folds, seed),
                None => Folds::seeded(rows, self.folds, seed),
            }
        };
        Folds::repeated((0..self.times).map(anew).collect::<Result<_>>()?)
    }
}

impl From<usize> for Deal {
    fn from(folds: usize) -> Self {
        Self { folds, times: 1 }
    }
}

impl FromStr for Deal {
    type Err = Error;

    /// `5`, or `5x3` for three times five.
    fn from_str(text: &str) -> Result<Self> {
        let (folds, times) = text.split_once('x').unwrap_or((text, "1"));
        let read = |part: &str, least: usize| part.parse().ok().filter(|&number: &usize| number >= least);
        let deal = || Some(Self { folds: read(folds, 2)?, times: read(times, 1)? });
        let expected = "a number of folds, 2 or more, or FOLDSxTIMES such as 5x3";
        deal().ok_or_else(|| Error::InvalidOption { option: "folds", value: text.to_string(), expected })
    }
}

impl Display for Deal {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self.times {
            1 => write!(f, "{}-fold cross-validation", self.folds),
            2 => write!(f, "{}-fold cross-validation, dealt twice", self.folds),
            times => write!(f, "{}-fold cross-validation, dealt {times} times", self.folds),
        }
    }
}

/// Partitions of the rows into folds, each held out once: one partition, or several dealt one after the other.
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
    /// The fold of every row, for each time they were dealt.
    deals: Vec<Vec<usize>>,
    /// Folds of one deal.
    each: usize,
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
                    "class {value} has {rows} rows, too few for {count} stratified folds: leave the class out, or take \
                     fewer folds"
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
            None => Ok(Self { deals: vec![of_row], each: count }),
        }
    }

    fn dealt(order: &[usize], count: usize) -> Self {
        let mut of_row = vec![0; order.len()];
        for (place, &row) in order.iter().enumerate() {
            of_row[row] = place % count;
        }
        Self { deals: vec![of_row], each: count }
    }

    /// Several partitions, of as many rows and folds each, as one.
    pub fn repeated(deals: Vec<Self>) -> Result<Self> {
        let alike = |deal: &&Self| (deal.rows(), deal.each) == (deals[0].rows(), deals[0].each);
        if deals.is_empty() || !deals.iter().all(|deal| alike(&deal)) {
            return Err(Error::Data("folds dealt several times need as many rows and folds each time".to_string()));
        }
        let each = deals[0].each;
        Ok(Self { deals: deals.into_iter().flat_map(|deal| deal.deals).collect(), each })
    }

    /// How many folds, of all deals.
    pub fn count(&self) -> usize {
        self.each * self.deals.len()
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.deals[0].len()
    }

    /// The fold of every row, counted from 0, for each time that the rows were dealt.
    pub fn deals(&self) -> &[Vec<usize>] {
        &self.deals
    }

    /// The rows of a fold, ascending.
    pub fn held_out(&self, fold: usize) -> Vec<usize> {
        self.rows_where(fold, |own| own)
    }

    /// The rows of all other folds of its deal, ascending.
    pub fn training(&self, fold: usize) -> Vec<usize> {
        self.rows_where(fold, |own| !own)
    }

    fn rows_where(&self, fold: usize, wanted: impl Fn(bool) -> bool) -> Vec<usize> {
        let of_row = &self.deals[fold / self.each];
        (0..of_row.len()).filter(|&i| wanted(of_row[i] == fold % self.each)).collect()
    }
}

fn check_count(count: usize) -> Result<()> {
    check_option(count >= 2, "folds", count, "at least 2")
}
