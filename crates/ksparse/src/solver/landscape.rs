//! What the ladder (`ladder.rs`) walks on: f over some of what is counted in k, and places there.

use crate::error::Result;

/// Where a search is at: a support, f at its minimum there.
pub(super) trait Place {
    fn value(&self) -> f64;

    /// The members that are counted in k, ascending.
    fn support(&self) -> Vec<usize>;

    /// Grows to k members by the best decrease.
    fn grow(&mut self, k: usize) -> Result<()>;

    /// Takes so many more members in, the most promising.
    fn widen(&mut self, more: usize) -> Result<()>;

    /// Takes in the one more that lowers f most of so many promising ones, each tried.
    fn probe(&mut self, count: usize) -> Result<()>;

    /// Grows, or drops the cheapest members, to k of them; then exchanges until nothing gains.
    fn settle(&mut self, k: usize) -> Result<()>;

    /// What letting the cheapest member go costs, in units of what the best newcomer would gain alone.
    fn margin(&self) -> Result<f64>;

    /// Multiply-adds so far.
    fn work(&self) -> f64;
}

/// f over some coordinates.
pub(super) trait Landscape: Sync + Sized {
    type Place<'s>: Place + Clone
    where
        Self: 's;

    /// What may be counted in k, ascending: coordinates, or groups of them.
    fn units(&self) -> &[usize];

    /// The minimum on those of some coordinates that are here and independent of those before them.
    fn begin<'s>(&'s self, support: &[usize]) -> Result<Self::Place<'s>>;

    /// A local search.
    fn search(&self, start: &Start) -> Result<Self::Place<'_>> {
        let mut place = self.begin(&start.support)?;
        if start.more > 0 {
            place.widen(start.more)?;
        }
        place.settle(start.k)?;
        Ok(place)
    }

    /// Coordinates that are always in and not counted in k.
    fn free(&self) -> &[usize];

    /// Does at once what searches from these supports will each ask for.
    fn prepare(&self, starts: &[Start]) -> Result<()>;

    /// The share of kicks that are leaps.
    fn leaps(&self) -> f64;

    /// Newcomers worth a refit each, where scores may be far from what it finds.
    fn probes(&self) -> usize;

    /// f over some of the coordinates, free ones among them.
    fn narrowed(&self, coordinates: Vec<usize>) -> Result<Self>;
}

/// Where a local search begins.
pub(super) struct Start {
    /// How many members its answer has.
    pub k: usize,
    /// Some that it has at first...
    pub support: Vec<usize>,
    /// ...and so many more, the most promising there.
    pub more: usize,
}
