//! Models as files: readable JSON that holds the non-zero coefficients and what is needed to use them.
//!
//! ```json
//! {
//!   "format": "ksparse-model", "version": 1, "created_by": "ksparse 0.1.0",
//!   "loss": { "name": "logistic", "scale": 1.0 }, "labels": { "two": { "negative": "no", "positive": "yes" } },
//!   "lambda": 0.00001, "k": 2, "solver": "auto", "status": "support-stable", "objective": 0.31, "standardized": false,
//!   "n": 100, "p": 5, "target": "bought", "intercept": -0.2,
//!   "coefficients": [ { "column": 1, "feature": "age", "value": 0.25 }, { "column": 4, "feature": "visits",
//!   "value": 1.5 } ]
//! }
//! ```
//!
//! Columns are counted from 0. Numbers are written such that the same bits are read back. A version is raised when an
//! older reader would misunderstand the file; readers refuse versions they do not know and ignore fields they do not
//! know.

use crate::categories::{self, Category, WordColumns};
use crate::labels::Labels;
use ksparse::LinearModel;
use ksparse::loss::{self, Loss, TargetKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;

/// What stands in the field `format`.
pub const FORMAT: &str = "ksparse-model";
/// The version written, and the latest that can be read.
pub const VERSION: u32 = 1;

/// A fitted model with its history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The program that wrote it.
    #[serde(default)]
    pub created_by: String,
    /// The loss it was fitted under.
    pub loss: LossSpec,
    /// What -1 and +1 are called in the data, for losses with labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
    /// How it came about.
    #[serde(flatten)]
    pub fit: Fit,
    /// The name of the column of offsets, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
    /// The intercept, 0 when none was fitted.
    pub intercept: f64,
    /// The non-zeros, by ascending column.
    pub coefficients: Vec<Coefficient>,
}

/// How a model of any kind came about, and on what data. Its fields stand among those of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// The ridge the coefficients were fitted under.
    pub lambda: f64,
    /// The ridge the columns were selected under, where that is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select_lambda: Option<f64>,
    /// How many columns could be chosen, or groups of them.
    pub k: usize,
    /// The solver's name.
    pub solver: String,
    /// How the search ended.
    pub status: String,
    /// f at the solution, in the problem the solver saw (the standardised one if `standardized`).
    pub objective: f64,
    /// Whether the columns were centred and scaled for the fit. The coefficients are for the columns as they are either
    /// way.
    #[serde(default)]
    pub standardized: bool,
    /// Rows it was fitted to.
    pub n: usize,
    /// Columns of those rows.
    pub p: usize,
    /// The name of the target column (of events), if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The columns of words, whose indicators the coefficients are of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Category>,
}

/// One non-zero coefficient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coefficient {
    /// The column, counted from 0.
    pub column: usize,
    /// Its name, if the columns have names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    /// The coefficient on the scale of the column.
    pub value: f64,
}

/// A loss by name, with its parameter, which is written under its own name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "LossFields", into = "LossFields")]
pub struct LossSpec {
    /// As the library's table of losses spells it.
    pub name: String,
    /// Its parameter, the default if there is none here.
    pub parameter: Option<f64>,
}

impl LossSpec {
    /// The loss itself.
    pub fn build(&self) -> ksparse::Result<Box<dyn Loss>> {
        loss::family(&self.name)?.build(self.parameter)
    }

    /// Its parameter with its name, where one is given.
    pub fn named_parameter(&self) -> Option<(&'static str, f64)> {
        self.parameter_name().zip(self.parameter)
    }

    fn parameter_name(&self) -> Option<&'static str> {
        loss::family(&self.name).ok()?.parameter.map(|parameter| parameter.name)
    }
}

/// A [`LossSpec`] as it stands in a file. Fields that are not known are ignored, and an unknown name is found later.
#[derive(Serialize, Deserialize)]
struct LossFields {
    name: String,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

impl TryFrom<LossFields> for LossSpec {
    type Error = String;

    fn try_from(fields: LossFields) -> Result<Self, String> {
        let mut spec = Self { name: fields.name, parameter: None };
        if let Some((name, value)) = spec.parameter_name().and_then(|name| Some((name, fields.rest.get(name)?))) {
            let number = value.as_f64().ok_or_else(|| format!("the {name} of its loss is no number"))?;
            spec.parameter = Some(number);
        }
        Ok(spec)
    }
}

impl From<LossSpec> for LossFields {
    fn from(spec: LossSpec) -> Self {
        let rest = spec.named_parameter().into_iter().map(|(name, value)| (name.to_string(), value.into())).collect();
        Self { name: spec.name, rest }
    }
}

/// What is wrong with a model file.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// It is no JSON, or not that of a model.
    #[error("not a ksparse model: {0}; give a model file that ksparse has written")]
    NotAModel(String),
    /// A later version of this library wrote it.
    #[error("a model of version {found}, but this ksparse reads versions up to {latest}: update ksparse")]
    Newer {
        /// The version of the file.
        found: u64,
        /// The latest that can be read.
        latest: u32,
    },
    /// It contradicts itself.
    #[error("a damaged ksparse model: {0}; fit it again")]
    Damaged(String),
}

impl Model {
    /// Reads the text of a model file.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        read(text, FORMAT, VERSION, Self::validate)
    }

    /// The text of a model file, ending in a newline.
    pub fn to_json(&self) -> String {
        written(self)
    }

    /// The coefficients as the library knows them.
    pub fn linear(&self) -> LinearModel {
        LinearModel {
            support: self.coefficients.iter().map(|c| c.column).collect(),
            coefficients: self.coefficients.iter().map(|c| c.value).collect(),
            intercept: self.intercept,
        }
    }

    /// How columns of words are read for this model.
    pub fn words(&self) -> WordColumns {
        self.fit.words(self.coefficients.iter().map(|c| c.column))
    }

    fn validate(&self) -> Result<(), String> {
        self.fit.validate(self.coefficients.iter().map(|c| c.column))?;
        let loss = self.loss.build().map_err(|error| error.to_string())?;
        if loss.target() == TargetKind::Sign {
            self.labels.as_ref().ok_or("its loss has labels, and they are missing")?;
        }
        let mut names = HashSet::new();
        if let Some(name) =
            self.coefficients.iter().filter_map(|c| c.feature.as_ref()).find(|name| !names.insert(*name))
        {
            return Err(format!("two coefficients are of a column `{name}`"));
        }
        Ok(())
    }
}

impl Fit {
    /// How columns of words are read for a model that uses these columns.
    pub(crate) fn words(&self, used: impl Iterator<Item = usize>) -> WordColumns {
        WordColumns::of(&self.categories, &used.collect::<Vec<_>>())
    }

    /// The columns in use ascend and are among those there were.
    pub(crate) fn validate(&self, used: impl Iterator<Item = usize>) -> Result<(), String> {
        categories::check(&self.categories, self.p)?;
        let mut before = None;
        for column in used {
            if let Some(before) = before.filter(|before| *before >= column) {
                return Err(format!("column {column} comes after column {before}"));
            }
            if column >= self.p {
                return Err(format!("column {column} of {} columns", self.p));
            }
            before = Some(column);
        }
        Ok(())
    }
}

/// Reads a model of any kind: its head first, since a newer version may lack fields that are needed after it.
pub(crate) fn read<M: DeserializeOwned>(
    text: &str,
    format: &str,
    latest: u32,
    validate: impl Fn(&M) -> Result<(), String>,
) -> Result<M, ModelError> {
    let head: Value = serde_json::from_str(text).map_err(|error| ModelError::NotAModel(error.to_string()))?;
    if head.get("format").and_then(Value::as_str) != Some(format) {
        return Err(ModelError::NotAModel(format!("there is no \"format\": \"{format}\" in it")));
    }
    match head.get("version").and_then(Value::as_u64) {
        Some(found) if found > u64::from(latest) => return Err(ModelError::Newer { found, latest }),
        Some(1..) => {}
        _ => return Err(ModelError::Damaged("its version is missing".to_string())),
    }
    // From the text again, not from the value: errors then name line and column.
    let model: M = serde_json::from_str(text).map_err(|error| ModelError::Damaged(error.to_string()))?;
    validate(&model).map_err(ModelError::Damaged)?;
    Ok(model)
}

/// The text of a model of any kind.
pub(crate) fn written(model: &impl Serialize) -> String {
    // Neither a map with keys that are no text nor a writer that may fail is involved.
    let mut text = serde_json::to_string_pretty(model).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    impl Fit {
        pub(crate) fn example(objective: f64) -> Self {
            Self {
                lambda: 1e-5,
                select_lambda: None,
                k: 2,
                solver: "auto".to_string(),
                status: "tolerance".to_string(),
                objective,
                standardized: false,
                n: 10,
                p: 5,
                target: Some("died".to_string()),
                categories: Vec::new(),
            }
        }
    }

    fn example() -> Model {
        Model {
            format: FORMAT.to_string(),
            version: VERSION,
            created_by: "a test".to_string(),
            loss: LossSpec { name: "logistic".to_string(), parameter: Some(2.0) },
            labels: Some(Labels::Two { negative: "0".to_string(), positive: "1".to_string() }),
            fit: Fit::example(0.1 + 0.2),
            offset: None,
            intercept: -1.0 / 3.0,
            coefficients: vec![
                Coefficient { column: 1, feature: Some("a\"b".to_string()), value: 5e-324 },
                Coefficient { column: 4, feature: None, value: f64::MAX },
            ],
        }
    }

    #[test]
    fn the_same_bits_come_back() {
        let model = example();
        assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
        assert_eq!(model.linear().support, [1, 4]);
    }

    #[test]
    fn damage_is_found() {
        let good = example().to_json();
        let broken = [
            ("", "not a ksparse model"),
            ("{}", "not a ksparse model"),
            (&good[..good.len() / 2], "not a ksparse model"),
            (&good.replace("\"version\": 1", "\"version\": 2"), "update ksparse"),
            (&good.replace("\"version\": 1", "\"version\": \"x\""), "version is missing"),
            (&good.replace("\"column\": 4", "\"column\": 1"), "comes after"),
            (&good.replace("\"column\": 4", "\"column\": 5"), "of 5 columns"),
            (&good.replace("\"intercept\"", "\"other\""), "intercept"),
            (&good.replace("logistic", "logarithmic"), "unknown loss"),
            (&good.replace("\"labels\"", "\"names\""), "labels"),
            (&good.replace("\"scale\": 2.0", "\"scale\": -2.0"), "scale"),
        ];
        for (text, complaint) in broken {
            let error = Model::from_json(text).unwrap_err().to_string();
            assert!(error.contains(complaint), "{error}");
        }
    }
}
