//! What a wait looks at itself of an object that is watched.

use anyhow::Context as _;

/// What of an object's JSON a wait looks at itself.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Names {
    pub(super) metadata: Metadata,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) creation_timestamp: Option<String>,
    owner_references: Vec<Owner>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Owner {
    api_version: String,
    kind: String,
    name: String,
    controller: bool,
}

impl Names {
    pub(super) fn of(object: &[u8]) -> anyhow::Result<Self> {
        serde_json::from_slice(object).context("the server sent an object that cannot be read")
    }

    /// Whether a `CronJob` of that name controls it.
    pub(super) fn is_run_of(&self, cron_job: &str) -> bool {
        self.metadata.owner_references.iter().any(|owner| {
            owner.controller
                && owner.kind == "CronJob"
                && owner.api_version.starts_with("batch/")
                && owner.name == cron_job
        })
    }
}
