//! How much a search may take.

use crate::error::{Error, Result, check_option};
use std::fmt;
use std::str::FromStr;

/// How many local searches [`Auto`](super::Auto) makes where one is cheap. The number follows from operations, never
/// from a clock.
///
/// ```
/// use ksparse::solver::Effort;
/// assert_eq!("thorough".parse::<Effort>()?, Effort::THOROUGH);
/// assert_eq!("2.5".parse::<Effort>()?, Effort::times(2.5)?);
/// assert!("lots".parse::<Effort>().is_err());
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort(f64);

impl Effort {
    /// One descent, with the exchanges that improve it.
    pub const QUICK: Self = Self(0.0);
    /// Descents from several starts, and no more local searches than that: what solvers ask for that only need a good
    /// point to begin with.
    pub(super) const FEW_STARTS: Self = Self(1e-6);
    /// The default.
    pub const NORMAL: Self = Self(1.0);
    /// Ten times the local searches of the default.
    pub const THOROUGH: Self = Self(10.0);

    /// So many times the local searches of the default.
    pub fn times(factor: f64) -> Result<Self> {
        let expected = "a number that is not negative, and finite";
        check_option(factor >= 0.0 && factor.is_finite(), "effort", factor, expected)?;
        Ok(Self(factor))
    }

    /// How many times the local searches of the default.
    pub fn factor(self) -> f64 {
        self.0
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self::NORMAL
    }
}

impl FromStr for Effort {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "quick" => Ok(Self::QUICK),
            "normal" => Ok(Self::NORMAL),
            "thorough" => Ok(Self::THOROUGH),
            _ => match text.parse() {
                Ok(factor) => Self::times(factor),
                Err(_) => Err(Error::UnknownName {
                    what: "effort",
                    name: text.to_string(),
                    choices: "quick, normal, thorough, or a number: so many times normal".to_string(),
                }),
            },
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::QUICK => f.write_str("quick"),
            Self::NORMAL => f.write_str("normal"),
            Self::THOROUGH => f.write_str("thorough"),
            Self(factor) => write!(f, "{factor}"),
        }
    }
}
