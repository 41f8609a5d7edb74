use schemars::JsonSchema;
use serde::Serialize;

/// A rollout that is not done, or did not go well: what it changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutReport {
    /// The revision before: a `ReplicaSet`, or a `ControllerRevision`. `null` where it is not in the data.
    pub from: Option<String>,
    /// The revision that is rolled out.
    pub to: Option<String>,
    /// Pods of the new revision.
    pub new_pods: Option<u32>,
    /// Of these, ready ones.
    pub new_ready: Option<u32>,
    /// Pods of older revisions that are still there.
    pub old_pods: Option<u32>,
    /// Of these, ready ones.
    pub old_ready: Option<u32>,
    /// What differs between the two templates, by path.
    pub changes: Vec<TemplateChange>,
}

/// One field of a pod template that a rollout changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateChange {
    /// Its path in the template: `containers[app].image`.
    pub path: String,
    /// The value before; `null` where there was none, or where it may hold a secret.
    pub from: Option<String>,
    /// The value now; `null` where there is none, or where it may hold a secret.
    pub to: Option<String>,
    /// Whether the field was there before.
    pub was_there: bool,
    /// Whether the field is there now.
    pub is_there: bool,
}

impl std::fmt::Display for TemplateChange {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Self { path, from, to, was_there, is_there } = self;
        match (from, to, was_there, is_there) {
            (Some(from), Some(to), ..) => write!(f, "{path}: {from} → {to}"),
            (None, Some(to), false, _) => write!(f, "{path}: {to} (new)"),
            (Some(from), None, _, false) => write!(f, "{path}: {from} (gone)"),
            (_, _, false, _) => write!(f, "{path} (new)"),
            (_, _, _, false) => write!(f, "{path} (gone)"),
            _ => f.write_str(path),
        }
    }
}
