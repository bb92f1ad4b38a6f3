//! Model files on disk.

use crate::failure::{Failure, Result};
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
