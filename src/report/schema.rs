use schemars::Schema;
use schemars::generate::SchemaSettings;

use super::{Explanation, FailureLine, FailureReport, Restart, Version};

/// JSON Schema (draft 2020-12) of `-o json`.
pub fn report_schema() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<FailureReport>()
}

/// JSON Schema (draft 2020-12) of what `explain -o json` prints.
pub fn explanation_schema() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Explanation>()
}

/// JSON Schema (draft 2020-12) of a line of `-o jsonl`.
pub fn failure_schema() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<FailureLine>()
}

/// JSON Schema (draft 2020-12) of what `restart -o json` prints.
pub fn restart_schema() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Restart>()
}

/// JSON Schema (draft 2020-12) of what `version -o json` prints.
pub fn version_schema() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Version>()
}
