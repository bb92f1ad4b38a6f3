//! Model files on disk.

use crate::data::Data;
use crate::failure::{Failure, Result};
use ksparse::LinearModel;
use ksparse_io::joint_model::JointModel;
use ksparse_io::model::Model;
use std::path::Path;

/// A model of one linear predictor, or of several and of survival times.
pub enum AnyModel {
    Single(Box<Model>),
    Joint(Box<JointModel>),
}

/// Reads a model of either kind; every refusal names the file.
pub fn load_any(path: &Path) -> Result<AnyModel> {
    let refused = |why: String| Failure::Input(format!("{}: {why}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| refused(format!("cannot read the model: {error}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let model = match JointModel::is(&text) {
        true => JointModel::from_json(&text).map(|model| AnyModel::Joint(Box::new(model))),
        false => Model::from_json(&text).map(|model| AnyModel::Single(Box::new(model))),
    };
    model.map_err(|error| refused(error.to_string()))
}

/// A model to start from, its columns found among those of the data: by name where both have names.
pub fn load_start(path: &Path, data: &Data) -> Result<LinearModel> {
    let refused = |why: &str| Failure::Input(format!("{}: {why}", path.display()));
    let AnyModel::Single(model) = load_any(path)? else {
        return Err(refused("a fit starts from a model with one coefficient per column; this one has several"));
    };
    let mut pairs = Vec::new();
    for entry in &model.coefficients {
        let column = match (&entry.feature, &data.table.names) {
            (Some(name), Some(names)) => names.iter().position(|known| known == name),
            _ => Some(entry.column).filter(|&column| column < data.table.ncols()),
        };
        let missing = || refused("the data lack a column of this model: start from a model of the same columns");
        pairs.push((column.ok_or_else(missing)?, entry.value));
    }
    pairs.sort_by_key(|(column, _)| *column);
    let (support, coefficients) = pairs.into_iter().unzip();
    Ok(LinearModel { support, coefficients, intercept: model.intercept })
}
