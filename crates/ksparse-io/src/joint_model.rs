//! Models of several outputs or of survival times as files.
//!
//! ```json
//! {
//!   "format": "ksparse-joint-model", "version": 1, "created_by": "ksparse 0.1.0", "loss": "multinomial",
//!   "lambda": 0.001, "k": 1, "solver": "auto", "status": "support-stable", "objective": 0.4, "standardized": false,
//!   "n": 100, "p": 5, "target": "kind", "outputs": [ "a", "b", "c" ], "intercepts": [ 0.1, 0.2, -0.3 ],
//!   "coefficients": [ { "column": 1, "feature": "age", "values": [ 0.25, -1.5, 1.25 ] } ]
//! }
//! ```
//!
//! Under the loss "cox" there is one output, `risk`, and a baseline hazard for every stratum. Otherwise as for other
//! models: columns are counted from 0, the same bits are read back.

use crate::categories::WordColumns;
use crate::labels::Labels;
use crate::model::{self, Fit, ModelError};
use ksparse::LinearModel;
use ksparse::loss::{self, Baseline};
use serde::{Deserialize, Serialize};

/// What stands in the field `format`.
pub const FORMAT: &str = "ksparse-joint-model";
/// The version written, and the latest that can be read.
pub const VERSION: u32 = 1;

/// A fitted model with its history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JointModel {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The program that wrote it.
    #[serde(default)]
    pub created_by: String,
    /// The loss it was fitted under, by name.
    pub loss: String,
    /// How it came about.
    #[serde(flatten)]
    pub fit: Fit,
    /// What the outputs are called: the classes, or `risk`.
    pub outputs: Vec<String>,
    /// Their intercepts.
    pub intercepts: Vec<f64>,
    /// The columns in use, ascending.
    pub coefficients: Vec<Row>,
    /// What survival times need beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survival: Option<SurvivalPart>,
    /// What ordered labels need beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<OrdinalPart>,
}

/// Ordered labels and what lies between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrdinalPart {
    /// The labels, the lowest first.
    pub levels: Vec<String>,
    /// The cut points between each and the next, ascending.
    pub thresholds: Vec<f64>,
}

/// The coefficients of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The column, counted from 0.
    pub column: usize,
    /// Its name, if the columns have names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    /// One coefficient per output.
    pub values: Vec<f64>,
}

/// Columns and baselines of a model of survival times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SurvivalPart {
    /// What was done with ties.
    pub ties: String,
    /// The column of times, as it was named.
    pub time: String,
    /// The column of strata, as it was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strata: Option<String>,
    /// What the events are called in the data.
    pub events: Labels,
    /// The label of every stratum; 0 alone where there are none.
    pub labels: Vec<f64>,
    /// Its baseline.
    pub baselines: Vec<BaselinePart>,
}

/// A cumulative baseline hazard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselinePart {
    /// Times of events, ascending.
    pub times: Vec<f64>,
    /// The cumulative hazard from each on.
    pub hazard: Vec<f64>,
    /// The prediction it belongs to.
    pub reference: f64,
}

impl From<Baseline> for BaselinePart {
    fn from(Baseline { times, hazard, reference }: Baseline) -> Self {
        Self { times, hazard, reference }
    }
}

impl From<&BaselinePart> for Baseline {
    fn from(part: &BaselinePart) -> Self {
        Self { times: part.times.clone(), hazard: part.hazard.clone(), reference: part.reference }
    }
}

impl JointModel {
    /// Whether the text is that of such a model, and not of another.
    pub fn is(text: &str) -> bool {
        let head: Option<serde_json::Value> = serde_json::from_str(text).ok();
        head.as_ref().and_then(|head| head.get("format")).and_then(|format| format.as_str()) == Some(FORMAT)
    }

    /// Reads the text of a model file.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        model::read(text, FORMAT, VERSION, Self::validate)
    }

    /// The text of a model file, ending in a newline.
    pub fn to_json(&self) -> String {
        model::written(self)
    }

    /// The outputs as the library knows them.
    pub fn linear(&self) -> Vec<LinearModel> {
        let support: Vec<usize> = self.coefficients.iter().map(|row| row.column).collect();
        let of = |(c, intercept): (usize, &f64)| LinearModel {
            support: support.clone(),
            coefficients: self.coefficients.iter().map(|row| row.values[c]).collect(),
            intercept: *intercept,
        };
        self.intercepts.iter().enumerate().map(of).collect()
    }

    /// How columns of words are read for this model.
    pub fn words(&self) -> WordColumns {
        self.fit.words(self.coefficients.iter().map(|row| row.column))
    }

    fn validate(&self) -> Result<(), String> {
        self.fit.validate(self.coefficients.iter().map(|row| row.column))?;
        loss::joint_family(&self.loss).map_err(|error| error.to_string())?;
        let count = self.outputs.len();
        if count == 0 || self.intercepts.len() != count {
            return Err(format!("{count} outputs with {} intercepts", self.intercepts.len()));
        }
        if let Some(row) = self.coefficients.iter().find(|row| row.values.len() != count) {
            return Err(format!("column {} has {} coefficients for {count} outputs", row.column, row.values.len()));
        }
        if self.loss == "ordinal" {
            let part = self.ordinal.as_ref().ok_or("its cut points are missing")?;
            let ascend = part.thresholds.windows(2).all(|pair| pair[0] < pair[1]);
            let whole = ascend && part.thresholds.iter().all(|t| t.is_finite());
            let sound = whole && part.levels.len() == part.thresholds.len() + 1 && count == 1;
            return if sound { Ok(()) } else { Err("its cut points are damaged".to_string()) };
        }
        if self.loss != "cox" {
            return Ok(());
        }
        let survival = self.survival.as_ref().ok_or("its baseline hazard is missing")?;
        let sound = |part: &BaselinePart| {
            part.times.len() == part.hazard.len()
                && part.times.windows(2).all(|pair| pair[0] < pair[1])
                && part.hazard.iter().all(|h| h.is_finite())
        };
        let whole = survival.baselines.len() == survival.labels.len() && survival.baselines.iter().all(sound);
        if whole && count == 1 { Ok(()) } else { Err("its baseline hazard is damaged".to_string()) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn example() -> JointModel {
        let values = vec![0.1 + 0.2];
        JointModel {
            format: FORMAT.to_string(),
            version: VERSION,
            created_by: "a test".to_string(),
            loss: "cox".to_string(),
            fit: Fit::example(1.5),
            outputs: vec!["risk".to_string()],
            intercepts: vec![0.0],
            coefficients: vec![Row { column: 3, feature: Some("age".to_string()), values }],
            survival: Some(SurvivalPart {
                ties: "efron".to_string(),
                time: "days".to_string(),
                strata: None,
                events: Labels::Two { negative: "0".to_string(), positive: "1".to_string() },
                labels: vec![0.0],
                baselines: vec![BaselinePart { times: vec![1.0, 2.5], hazard: vec![0.1, 1.0 / 3.0], reference: -0.2 }],
            }),
            ordinal: None,
        }
    }

    #[test]
    fn the_same_bits_come_back_and_damage_is_found() {
        let good = example().to_json();
        assert!(JointModel::is(&good));
        assert_eq!(JointModel::from_json(&good).unwrap(), example());
        assert_eq!(example().linear()[0].support, [3]);
        let broken = [
            (good[..good.len() / 2].to_string(), "not a ksparse model"),
            (good.replace("\"version\": 1", "\"version\": 2"), "update ksparse"),
            (good.replace("\"column\": 3", "\"column\": 5"), "of 5 columns"),
            (good.replace("\"loss\": \"cox\"", "\"loss\": \"fox\""), "unknown loss"),
            (good.replace("\"survival\"", "\"other\""), "baseline hazard is missing"),
            (good.replace("2.5", "0.5"), "damaged"),
            (good.replace("\"risk\"", "\"a\", \"b\""), "2 outputs with 1 intercepts"),
        ];
        let levels = ["low", "high"].map(str::to_string).to_vec();
        let ordinal = JointModel {
            loss: "ordinal".to_string(),
            survival: None,
            ordinal: Some(OrdinalPart { levels, thresholds: vec![0.1 + 0.2] }),
            ..example()
        };
        let ordered = ordinal.to_json();
        assert_eq!(JointModel::from_json(&ordered).unwrap(), ordinal);
        let broken = broken.into_iter().chain([
            (ordered.replace("\"ordinal\": {", "\"other\": {"), "cut points are missing"),
            (ordered.replace("\"low\",", ""), "cut points are damaged"),
        ]);
        for (text, complaint) in broken {
            let error = JointModel::from_json(&text).unwrap_err().to_string();
            assert!(error.contains(complaint), "{error}");
        }
    }
}
