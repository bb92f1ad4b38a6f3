//! What `auto` means for a network: one answer for the command, Python and the benchmarks.

use crate::solver::{Auto, Limits, ModelSearch, Solver};

/// Up to so many variables, a search that goes on after GraHTP costs milliseconds.
const SMALL: usize = 40;

/// The default solver for a network among so many variables: [`Auto`] where they are few, beyond that
/// [`ModelSearch`], which grows its support by blocks and searches for exchanges on the quadratic model.
///
/// ```
/// use ksparse::{graphical, solver::Limits};
/// assert_eq!(graphical::default_solver(10, Limits::default()).name(), "auto");
/// assert_eq!(graphical::default_solver(1000, Limits::default()).name(), "model-search");
/// ```
pub fn default_solver(variables: usize, limits: Limits) -> Box<dyn Solver> {
    if variables <= SMALL { Box::new(Auto { limits, ..Auto::default() }) } else { Box::new(ModelSearch { limits }) }
}
