//! The types that are the JSON.

use schemars::JsonSchema;
use serde::Serialize;

/// Class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Class {
    Rule,
}
