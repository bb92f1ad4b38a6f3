//! The one error type of the library.

use std::sync::Arc;

/// A `Result` with this library's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What can be wrong with a problem, an option or a request.
///
/// "Not converged" is no error: it is a [`Status`](crate::solver::Status).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two arguments disagree about a length.
    #[error("{what} has length {found}, expected {expected}")]
    Shape {
        /// The argument.
        what: &'static str,
        /// The length the other arguments imply.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// A NaN or an infinity in the input, or one that came out of it.
    #[error(
        "{what} is not finite at position {index}: remove or impute missing and infinite values, and divide too large \
         ones by a power of ten"
    )]
    NotFinite {
        /// The argument or quantity.
        what: &'static str,
        /// Where (row, column or coordinate, counted from 0).
        index: usize,
    },
    /// Finite input whose sums or products are beyond what a number can hold.
    #[error("the {what} overflows: the numbers are too large; divide the columns or the target by a power of ten")]
    Overflow {
        /// The quantity.
        what: &'static str,
    },
    /// A column in units that leave no room for its squares.
    #[error("column {column} (counted from 0) is {problem}")]
    Column {
        /// The column, counted from 0.
        column: usize,
        /// What is wrong, and what to do.
        problem: &'static str,
    },
    /// An option outside its range.
    #[error("option `{option}` is {value}, but must be {expected}")]
    InvalidOption {
        /// The option's name.
        option: &'static str,
        /// The value it was given.
        value: String,
        /// The range, in words.
        expected: &'static str,
    },
    /// A target the loss does not accept.
    #[error("target {value} in row {row} does not suit the {loss} loss, which needs {expected}")]
    Target {
        /// The loss's name.
        loss: &'static str,
        /// The row, counted from 0.
        row: usize,
        /// The offending value.
        value: f64,
        /// What the loss needs, in words.
        expected: &'static str,
    },
    /// An index beyond the end of what it points into.
    #[error("{what} {index} is out of range: there are {bound}")]
    IndexOutOfRange {
        /// What is counted.
        what: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        bound: usize,
    },
    /// Sparse storage that is not in canonical form.
    #[error("sparse matrix: {problem} in column {column}")]
    Storage {
        /// What is wrong.
        problem: &'static str,
        /// The column, counted from 0.
        column: usize,
    },
    /// A solver asked an objective for something it does not offer.
    #[error("`{solver}` needs {need}, which this objective does not offer")]
    Unsupported {
        /// The solver's (or routine's) name.
        solver: &'static str,
        /// What is missing.
        need: &'static str,
    },
    /// A name nobody answers to.
    #[error("unknown {what} `{name}`; the choices are {choices}")]
    UnknownName {
        /// What kind of thing was named.
        what: &'static str,
        /// The name.
        name: String,
        /// The names that exist.
        choices: String,
    },
    /// The data cannot support what was asked (too few rows for the folds, one class only, ...).
    #[error("{0}")]
    Data(String),
    /// Something an objective evaluates could not be: a user's function raised, a worker or a device failed.
    #[error("the objective cannot be evaluated: {0}")]
    Evaluation(#[source] Cause),
    /// The work was [cancelled](crate::Cancel) before it had anything to show.
    #[error("stopped on request, before there was an answer")]
    Cancelled,
    /// The operating system refused the threads.
    #[error("cannot start {count} threads: {reason}")]
    Threads {
        /// How many were asked for.
        count: usize,
        /// The system's reason.
        reason: String,
    },
}

/// What would help, for a front end to say in its own words: the library does not know what an option is called there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// A ridge above 0.
    AddRidge,
    /// More iterations.
    MoreIterations,
    /// A shorter step, or the solver's own.
    ShorterStep,
}

impl Remedy {
    /// One word for programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::AddRidge => "add-ridge",
            Self::MoreIterations => "more-iterations",
            Self::ShorterStep => "shorter-step",
        }
    }
}

/// What solvers ask for that make do with subgradients.
pub(crate) const SMOOTH_OR_RIDGE: &str = "a smooth loss, or a ridge with a loss that has corners";

impl Error {
    /// What would help, where an option would.
    ///
    /// ```
    /// use ksparse::{Auto, Remedy, Risk, Solver, Sparsity, design::Dense, loss::Hinge};
    /// let x = Dense::from_columns(2, 1, vec![1.0, -1.0])?;
    /// let risk = Risk::new(&x, &[1.0, -1.0], Hinge)?;
    /// let refused = Auto::default().fit(&risk, &Sparsity::new(1)).unwrap_err();
    /// assert_eq!(refused.remedy(), Some(Remedy::AddRidge));
    /// # Ok::<(), ksparse::Error>(())
    /// ```
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Unsupported { need, .. } if *need == SMOOTH_OR_RIDGE => Some(Remedy::AddRidge),
            Self::InvalidOption { option: "lambda", .. } => Some(Remedy::AddRidge),
            _ => None,
        }
    }

    /// What an objective returns when it cannot be evaluated; solvers hand it to their caller as it is.
    pub fn evaluation(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Evaluation(Cause(Arc::from(cause.into())))
    }
}

/// An error from outside the library, carried through it.
#[derive(Debug, Clone)]
pub struct Cause(Arc<dyn std::error::Error + Send + Sync>);

impl Cause {
    /// The error itself, if it is of this type.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Cause {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// Two causes are the same when they are one.
impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// `Err(Shape)` unless `found == expected`.
pub(crate) fn check_len(what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
}

/// `Err(NotFinite)` at the first NaN or infinity.
pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<()> {
    // The sum of absolute values is finite exactly when all are (short of overflow): one cheap
    // vectorised pass in the good case, a search only in the bad one.
    if values.iter().map(|v| v * 0.0).sum::<f64>() == 0.0 {
        return Ok(());
    }
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(Error::NotFinite { what, index }),
        None => Ok(()),
    }
}

/// `Err` where squares at a point of a smooth f are beyond what a number holds. No step survives that: its length is 0,
/// or what it gains is anything, and a method believes that it has arrived. A smooth f falls by at least
/// g_j^2 / (2 h_j) along coordinate j, and a loss by no more than itself: the bound h_j on the curvature, a sum of
/// squares, is at least g_j^2 / (2 f).
pub(crate) fn check_squares(gradient: &[f64], value: f64) -> Result<()> {
    let steepest = gradient.iter().fold(0.0f64, |most, g| most.max(g.abs()));
    let root = if value > 0.0 { steepest / value.sqrt() } else { 0.0 };
    for (what, number) in [("square of a column", root), ("square of the gradient", steepest)] {
        if !(number * number).is_finite() {
            return Err(Error::Overflow { what });
        }
    }
    Ok(())
}

/// The sum of sample weights; `Err` unless they are finite, non-negative and not all zero.
pub(crate) fn check_weights(weights: &[f64], nrows: usize) -> Result<f64> {
    check_len("weights", weights.len(), nrows)?;
    check_finite("weights", weights)?;
    let total: f64 = weights.iter().sum();
    let problem = match weights.iter().find(|w| **w < 0.0) {
        Some(negative) => format!("{negative} somewhere"),
        None => format!("{total} in total"),
    };
    let ok = weights.iter().all(|&w| w >= 0.0) && total > 0.0 && total.is_finite();
    check_option(ok, "weights", problem, "non-negative, with a positive, finite sum")?;
    Ok(total)
}

/// `Err(InvalidOption)` unless `ok`.
pub(crate) fn check_option(
    ok: bool,
    option: &'static str,
    value: impl std::fmt::Display,
    expected: &'static str,
) -> Result<()> {
    if ok { Ok(()) } else { Err(Error::InvalidOption { option, value: value.to_string(), expected }) }
}
