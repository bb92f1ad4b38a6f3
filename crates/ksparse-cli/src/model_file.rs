//! Model files on disk.

use crate::failure::{Failure, Result};
use ksparse_io::model::Model;
use std::path::Path;

/// Reads a model; every refusal names the file.
pub fn load(path: &Path) -> Result<Model> {
    let refused = |why: String| Failure::Input(format!("{}: {why}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| refused(format!("cannot read the model: {error}")))?;
    Model::from_json(&String::from_utf8_lossy(&bytes)).map_err(|error| refused(error.to_string()))
}
