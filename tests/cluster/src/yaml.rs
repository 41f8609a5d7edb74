//! YAML files as JSON values.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// The documents of a file, without the empty ones.
pub(crate) fn documents(path: &Path) -> Result<Vec<Value>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut documents: Vec<Value> = serde_saphyr::from_multiple_with_options(&text, unlimited())
        .with_context(|| format!("{} is not YAML", path.display()))?;
    documents.retain(|document| !document.is_null());
    Ok(documents)
}

/// JobSet's CRD is larger than the reader's default budget, and these files are our own.
fn unlimited() -> serde_saphyr::Options {
    let mut options = serde_saphyr::Options::default();
    options.budget = None;
    options
}
