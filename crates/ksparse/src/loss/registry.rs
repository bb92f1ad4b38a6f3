//! The losses by name: one table, from which front ends take names, help, parameters and defaults.
//!
//! A new loss is a file with a `FAMILY` beside the loss, and a line in [`FAMILIES`].

use super::{Loss, TargetKind, gamma, hinge, huber, logistic, poisson, robust, squared, squared_hinge};
use crate::error::{Error, Result};

/// All losses, the first two being the defaults for numbers and for two labels.
pub const FAMILIES: &[Family] = &[
    squared::FAMILY,
    logistic::FAMILY,
    squared_hinge::FAMILY,
    huber::FAMILY,
    hinge::FAMILY,
    robust::FAMILY,
    poisson::FAMILY,
    gamma::FAMILY,
];

/// A loss as front ends know it.
///
/// ```
/// use ksparse::loss::{self, FAMILIES, TargetKind};
/// let labels: Vec<&str> = FAMILIES.iter().filter(|f| f.target == TargetKind::Sign).map(|f| f.name).collect();
/// assert_eq!(labels, ["logistic", "squared-hinge", "huber", "hinge"]);
/// let family = loss::family("logistic")?;
/// assert_eq!(family.parameter.unwrap().name, "scale");
/// assert_eq!(family.build(Some(2.0))?.name(), "logistic");
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Family {
    /// As the command line, model files and Python spell it.
    pub name: &'static str,
    /// Further spellings that are understood.
    pub aliases: &'static [&'static str],
    /// Which targets it accepts.
    pub target: TargetKind,
    /// l in the prediction z, the target y and the margin m = y z.
    pub formula: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// The ridge when none is given: 0 where a minimum exists without one.
    pub default_ridge: f64,
    /// Its one parameter.
    pub parameter: Option<Parameter>,
    /// The loss with a given parameter, or its default.
    pub(super) build: fn(Option<f64>) -> Result<Box<dyn Loss>>,
}

/// The parameter of a loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Its value when none is given.
    pub default: f64,
}

impl Family {
    /// What most losses have in common.
    pub(super) const fn new(
        name: &'static str,
        target: TargetKind,
        build: fn(Option<f64>) -> Result<Box<dyn Loss>>,
    ) -> Self {
        // When k columns separate two classes, f falls for ever without a ridge.
        let default_ridge = match target {
            TargetKind::Sign => 1e-5,
            TargetKind::Real | TargetKind::Count | TargetKind::Positive => 0.0,
        };
        Self { name, aliases: &[], target, formula: "", about: "", default_ridge, parameter: None, build }
    }

    /// The loss; `Err` for a parameter out of range, or one that it does not have.
    pub fn build(&self, parameter: Option<f64>) -> Result<Box<dyn Loss>> {
        if let (None, Some(value)) = (self.parameter, parameter) {
            let (option, expected) = ("parameter of the loss", "left out: this loss has none");
            return Err(Error::InvalidOption { option, value: value.to_string(), expected });
        }
        (self.build)(parameter)
    }
}

/// A loss's entry in the table, by its name or another spelling of it; `_` is as good as `-`.
pub fn family(name: &str) -> Result<&'static Family> {
    let wanted = name.replace('_', "-");
    let found = FAMILIES.iter().find(|family| family.name == wanted || family.aliases.contains(&wanted.as_str()));
    found.ok_or_else(|| {
        let choices = FAMILIES.iter().map(|family| family.name).collect::<Vec<_>>().join(", ");
        Error::UnknownName { what: "loss", name: name.to_string(), choices }
    })
}

/// A loss of all predictions together, as front ends know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct JointFamily {
    /// As the command line and model files spell it.
    pub name: &'static str,
    /// What it takes for a target.
    pub target: &'static str,
    /// What it is for.
    pub about: &'static str,
}

/// All losses of that kind that front ends have a target for.
pub const JOINT_FAMILIES: &[JointFamily] = &[
    JointFamily {
        name: "multinomial",
        target: "three labels and more",
        about: "a probability for every class; a column is in for all of them, and k counts columns",
    },
    JointFamily {
        name: "ordinal",
        target: "labels in an order",
        about: "proportional odds: one prediction per row, and cut points between the labels",
    },
    JointFamily {
        name: "cox",
        target: "survival times and events",
        about: "how columns multiply the hazard, by the partial likelihood",
    },
];

/// The ridge of these losses when none is given: f may fall for ever without one.
pub const JOINT_RIDGE: f64 = 1e-5;

/// A joint loss's entry in the table, by its name.
pub fn joint_family(name: &str) -> Result<&'static JointFamily> {
    JOINT_FAMILIES.iter().find(|family| family.name == name).ok_or_else(|| {
        let choices = JOINT_FAMILIES.iter().map(|family| family.name).collect::<Vec<_>>().join(", ");
        Error::UnknownName { what: "loss", name: name.to_string(), choices }
    })
}

/// A loss by its name, with its default parameter.
pub fn by_name(name: &str) -> Result<Box<dyn Loss>> {
    family(name)?.build(None)
}
