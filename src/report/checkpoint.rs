use schemars::JsonSchema;
use serde::Serialize;

use super::{Evidence, Moment};
use crate::checkpoint::{Answer, Kind};

/// What a pod template tells of checkpoints, and what becomes of them. It tells how the workload is configured; of
/// checkpoints that exist, only `snapshots` tells.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointReport {
    /// What has the template: `job/ns/x`, `jobset/ns/x`, `cronjob/ns/x`.
    pub object: String,
    /// The replicated Jobs of a `JobSet` whose templates tell the same.
    pub replicated_jobs: Vec<String>,
    /// The framework recognised, by its own name.
    pub framework: Option<&'static str>,
    /// Whether checkpoints are configured to be saved.
    pub saves: SavesReport,
    /// Whether a new start would take one up.
    pub resumes: AnswerReport,
    /// Whether they outlive the pod.
    pub durable: DurableReport,
    /// What would delete them, what comes first by itself. Empty where nothing of the cluster does, as with a bucket, or
    /// where it is not known.
    pub deleted_by: Vec<DeletionReport>,
    /// What saves on SIGTERM, and the time it has; `null` where nothing does, as far as is told.
    pub sigterm: Option<SigtermReport>,
    /// Snapshots of the claim, and checkpoints and snapshots of the pods, that are in the data.
    pub snapshots: Vec<SnapshotReport>,
    /// Where each fact comes from.
    pub evidence: Vec<Evidence>,
}

/// Whether checkpoints are configured to be saved, where, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SavesReport {
    /// The answer.
    pub answer: Answer,
    /// Why.
    pub why: String,
    /// The place as written, credentials cut; `null` where it is not told.
    pub place: Option<String>,
    /// How often, as written: `500 steps`.
    pub every: Option<String>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnswerReport {
    /// The answer.
    pub answer: Answer,
    /// Why.
    pub why: String,
}

/// Whether checkpoints outlive the pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DurableReport {
    /// The answer; `yes` does not say for how long, see `deletedBy`.
    pub answer: Answer,
    /// What the place is made of.
    pub kind: Kind,
    /// Why.
    pub why: String,
    /// The claim that they lie on.
    pub claim: Option<String>,
}

/// One way in which checkpoints would be deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeletionReport {
    /// What does it.
    pub by: DeletedBy,
    /// In words, with the field that says so.
    pub why: String,
    /// When it is, or was, due; `null` where that cannot be named.
    pub at: Option<Moment>,
}

/// What would delete checkpoints, in the order in which it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DeletedBy {
    /// `ttlSecondsAfterFinished` of the `JobSet` passes: nobody has to do anything.
    JobSetTtl,
    /// `ttlSecondsAfterFinished` of the Job passes, and its pods are deleted with it.
    JobTtl,
    /// A restart of the container.
    ContainerRestart,
    /// The end of the pod: every restart that makes a new one.
    PodDeletion,
    /// The loss of the node, or a start on another.
    NodeLoss,
    /// The `JobSet` is deleted, as it must be to be made anew once it has finished.
    JobSetDeletion,
    /// Another object that owns the claim is deleted, or is already.
    OwnerDeletion,
    /// The claim is deleted.
    ClaimDeletion,
    /// The namespace is deleted.
    NamespaceDeletion,
}

/// A saver on SIGTERM and the time it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SigtermReport {
    /// What makes it save: `--enable_jit_checkpoint`.
    pub saver: String,
    /// Seconds between SIGTERM and SIGKILL.
    pub grace_seconds: i64,
    /// Whether these are Kubernetes' default.
    pub grace_is_default: bool,
    /// What is to be said of it.
    pub why: String,
}

/// An object that stands for something that was taken of a claim or a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotReport {
    /// `VolumeSnapshot`, `PodCheckpoint` or `PodSnapshot`.
    pub kind: &'static str,
    /// The object: `volumesnapshot/ns/x`.
    pub object: String,
    /// The claim or pod it was taken of, by name.
    pub of: String,
    /// Whether it can be used; `null` where that is not told.
    pub ready: Option<bool>,
    /// Why it cannot be used, in its controller's words.
    pub error: Option<String>,
    /// When it was taken, or else was asked for.
    pub at: Option<Moment>,
    /// The node that a `PodCheckpoint` lies on: on others it is of no use.
    pub node: Option<String>,
}
